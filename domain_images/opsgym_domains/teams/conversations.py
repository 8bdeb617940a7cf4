"""Channels and chats as the explore page shows them.

Invariant: every row is shown, also what is deleted or of another organisation. Text that is not JSON counts as empty.
"""

from __future__ import annotations

from opsgym_domains.kit.domain import Conversations


def _json(column: str, empty: str = "{}") -> str:
    return f"iif(json_valid({column}), {column}, '{empty}')"


def _time(column: str) -> str:
    return f"substr({column}, 1, 19)"


_PEOPLE = f"""
    people AS (
        SELECT 'teams' AS "table", t.team_id AS key, json_extract(m.value, '$.displayName') AS name,
            json_extract(m.value, '$.roles[0]') AS role
        FROM teams t, json_each({_json("t.members", "[]")}) m WHERE m.type = 'object'
        UNION ALL SELECT 'channels', channel_id, coalesce(display_name, user_id), roles FROM channel_members
        UNION ALL SELECT 'chats', chat_id, coalesce(display_name, user_id), roles FROM chat_members
    ), members AS (
        SELECT "table", key, group_concat(name, ', ') AS names,
            group_concat(name || coalesce(' (' || role || ')', ''), char(10)) AS lines
        FROM people GROUP BY "table", key
    )
"""  # noqa: S608 - names of our own tables

PLACES = f"""
    WITH {_PEOPLE}
    SELECT * FROM (
    SELECT 'Teams' AS section, 'teams' AS "table", 'team_id' AS "column", t.team_id AS key, NULL AS "of",
        t.display_name AS name, t.visibility AS kind, m.names AS people,
        iif(coalesce(t.soft_delete, 0), 'deleted', iif(t.is_archived, 'archived', NULL)) AS state, 0 AS has_messages
    FROM teams t LEFT JOIN members m ON m."table" = 'teams' AND m.key = t.team_id
    UNION ALL SELECT 'Teams', 'channels', 'channel_id', c.channel_id, c.team_id, c.display_name, c.membership_type,
        m.names, iif(coalesce(c.soft_delete, 0), 'deleted', iif(c.is_archived, 'archived', NULL)), 1
    FROM channels c LEFT JOIN members m ON m."table" = iif(c.membership_type = 'standard', 'teams', 'channels')
        AND m.key = iif(c.membership_type = 'standard', c.team_id, c.channel_id)
    UNION ALL SELECT 'Chats', 'chats', 'chat_id', c.chat_id, NULL, coalesce(nullif(c.topic, ''), m.names, c.chat_id),
        c.chat_type, m.names, iif(coalesce(c.soft_delete, 0), 'deleted', NULL), 1
    FROM chats c LEFT JOIN members m ON m."table" = 'chats' AND m.key = c.chat_id
    ) ORDER BY section DESC, "of" IS NOT NULL, name <> 'General', name COLLATE NOCASE, key
"""  # noqa: S608 - names of our own tables

FACTS = f"""
    WITH {_PEOPLE}
    SELECT 'teams' AS "table", team_id AS key, 1 AS place, 'Description' AS name, description AS value FROM teams
    UNION ALL SELECT 'channels', channel_id, 1, 'Description', description FROM channels
    UNION ALL SELECT 'channels', channel_id, 2, 'Members', 'everybody in the team' FROM channels
    WHERE membership_type = 'standard'
    UNION ALL SELECT "table", key, 2, 'Members', lines FROM members
    UNION ALL SELECT 'channels', channel_id, 3, 'Shared with', group_concat(coalesce(display_name, team_id), char(10))
    FROM shared_with_channel_teams WHERE NOT coalesce(soft_delete, 0) GROUP BY channel_id
    UNION ALL SELECT 'channels', channel_id, 4, 'E-mail address', email FROM channels
    UNION ALL SELECT 'channels', channel_id, 5, 'Tabs', group_concat(display_name, char(10))
    FROM (SELECT * FROM teams_channel_tabs ORDER BY sort_order_index) GROUP BY channel_id
    UNION ALL SELECT 'chats', chat_id, 5, 'Tabs', group_concat(display_name, char(10))
    FROM (SELECT * FROM chat_tabs ORDER BY sort_order_index) GROUP BY chat_id
    UNION ALL SELECT 'teams', team_id, 6, 'Apps', group_concat(teams_app_display_name, char(10))
    FROM installed_apps WHERE NOT coalesce(soft_delete, 0) GROUP BY team_id
    UNION ALL SELECT 'teams', g.team_id, 7, 'Tags',
        group_concat(g.display_name || coalesce(': ' || p.names, ''), char(10))
    FROM teamwork_tags g LEFT JOIN (
        SELECT "tagId", group_concat("displayName", ', ') AS names FROM teamwork_tag_members GROUP BY "tagId"
    ) p ON p."tagId" = g.id
    GROUP BY g.team_id
    UNION ALL SELECT 'teams', team_id, 8, 'Created', {_time("created_date_time")} FROM teams
    UNION ALL SELECT 'channels', channel_id, 8, 'Created', {_time("created_date_time")} FROM channels
    UNION ALL SELECT 'chats', chat_id, 8, 'Created', {_time("created_at")} FROM chats
"""  # noqa: S608 - names of our own tables


def _messages(places: str, place: str, table: str, pinned: str) -> str:
    sender, body = _json("m.from_json"), _json("m.body_json")
    return f"""
    SELECT '{places}' AS "table", m.{place} AS place, '{table}' AS row_table, 'message_id' AS row_column,
        m.message_id AS key, p.message_id AS reply_to, {_time("m.created_datetime")} AS time,
        coalesce(u.display_name, json_extract({sender}, '$.user.displayName'),
            json_extract({sender}, '$.application.displayName')) AS sender,
        m.subject AS title, json_extract({body}, '$.content') AS text, r.lines AS reactions, {pinned} AS pinned,
        {_time("m.last_edited_datetime")} AS edited, {_time("m.deleted_datetime")} AS deleted
    FROM {table} m
    LEFT JOIN {table} p ON p.message_id = m.reply_to_id AND p.{place} = m.{place} AND p.reply_to_id IS NULL
    LEFT JOIN teams_users u ON u.user_id = json_extract({sender}, '$.user.id')
    LEFT JOIN (
        SELECT message_id, group_concat(kind || ': ' || names, char(10)) AS lines
        FROM (
            SELECT o.message_id, json_extract(one.value, '$.reactionType') AS kind,
                group_concat(coalesce(json_extract(one.value, '$.user.user.displayName'), 'someone'), ', ') AS names
            FROM {table} o, json_each({_json("o.reactions_json", "[]")}) one WHERE one.type = 'object'
            GROUP BY o.message_id, kind
        ) GROUP BY message_id
    ) r ON r.message_id = m.message_id
"""  # noqa: S608 - names of our own tables


_PIN = "EXISTS (SELECT 1 FROM pinned_chat_messages n WHERE n.message_id = m.message_id AND n.chat_id = m.chat_id)"
MESSAGES = f"""
    {_messages("channels", "channel_id", "channel_messages", "0")}
    UNION ALL {_messages("chats", "chat_id", "chat_messages", _PIN)}
"""

CONVERSATIONS = Conversations(places=PLACES, facts=FACTS, messages=MESSAGES)
