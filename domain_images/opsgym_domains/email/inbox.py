"""Mailboxes as the explore page shows them."""

from __future__ import annotations

from opsgym_domains.kit.domain import Mail, SearchTool

_TIME = "to_char(to_timestamp({}::bigint / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI')"
_NAMED = "(SELECT h.value FROM message_headers h WHERE h.message_part_id = p.id AND lower(h.name) = '{}' LIMIT 1)"
_ROOT = "JOIN message_parts p ON p.message_id = m.id AND p.parent_part_id IS NULL"

MAILBOXES = """
    SELECT primary_email AS key, coalesce(name, primary_email) AS name, token AS identity FROM users ORDER BY 2, 1
"""
LABELS = """
    SELECT u.primary_email AS mailbox, CASE l.type WHEN 'system' THEN l.name ELSE l.id END AS key, l.name,
        count(DISTINCT m.thread_id) AS n, count(DISTINCT m.thread_id) FILTER (WHERE un.id IS NOT NULL) AS unread
    FROM labels l JOIN users u ON u.id = l.user_id
        LEFT JOIN message_labels ml ON ml.label_id = l.id LEFT JOIN messages m ON m.id = ml.message_id
        LEFT JOIN labels ul ON ul.user_id = u.id AND ul.type = 'system' AND ul.name = 'UNREAD'
        LEFT JOIN message_labels un ON un.message_id = m.id AND un.label_id = ul.id
    GROUP BY u.primary_email, l.id, l.type, l.name ORDER BY l.type, l.name <> 'INBOX', l.name
"""
THREADS = f"""
    SELECT t.id AS key, min(t.snippet) AS snippet, {_TIME.format("max(m.internal_date_ms::bigint)")} AS time,
        count(*) AS n, (array_agg({_NAMED.format("subject")} ORDER BY m.internal_date_ms::bigint))[1] AS title,
        string_agg(DISTINCT {_NAMED.format("from")}, ', ') AS people,
        bool_or(EXISTS (SELECT FROM message_labels ml JOIN labels l ON l.id = ml.label_id
            WHERE ml.message_id = m.id AND l.type = 'system' AND l.name = 'UNREAD')) AS unread
    FROM threads t JOIN messages m ON m.thread_id = t.id {_ROOT}
    GROUP BY t.id
"""  # noqa: S608 - names of our own tables
MESSAGES = f"""
    SELECT m.thread_id AS thread, m.id AS key, {_TIME.format("m.internal_date_ms")} AS time,
        {_NAMED.format("from")} AS sender, concat_ws(', ', {_NAMED.format("to")}, {_NAMED.format("cc")}) AS recipients,
        (SELECT string_agg(l.name, ', ' ORDER BY l.name) FROM message_labels ml JOIN labels l ON l.id = ml.label_id
            WHERE ml.message_id = m.id) AS labels,
        (SELECT email_text(b.data, b.size) FROM message_part_bodies b WHERE b.message_part_id = p.id LIMIT 1) AS text,
        (SELECT string_agg(a.filename, ', ') FROM attachments a WHERE a.message_id = m.id) AS files
    FROM messages m {_ROOT}
"""  # noqa: S608 - names of our own tables

MAIL = Mail(
    table="messages",
    key="id",
    mailboxes=MAILBOXES,
    labels=LABELS,
    first_label="INBOX",
    threads=THREADS,
    messages=MESSAGES,
    search=SearchTool(
        name="list_threads",
        mailbox="userId",
        text="q",
        labels="labelIds",
        size="maxResults",
        page="pageToken",
        threads="threads",
        next_page="nextPageToken",
    ),
)
