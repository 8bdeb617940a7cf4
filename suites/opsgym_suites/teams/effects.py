"""The rows that calls of Teams' tools write.

Invariant: a call is followed as the server carries it out. Columns with JSON are judged by whom and what they name, in
any order, and keys that the server makes are not judged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from opsgym_api.tasks.task import ToolCall
from opsgym_domains.teams.domain import DOMAIN
from opsgym_domains.teams.graph import dumped
from opsgym_domains.teams.messages import JSON_FIELDS
from opsgym_domains.teams.tables import (
    AudioRoutingGroup,
    Call,
    Channel,
    ChannelMember,
    ChannelMessage,
    ChannelTab,
    Chat,
    ChatMember,
    ChatMessage,
    ChatTab,
    Group,
    Invited,
    Org,
    PinnedMessage,
    Presence,
    Tag,
    TagMember,
    Team,
    TownHall,
    TownHallCoOrganizer,
    User,
    Webinar,
    WebinarCoOrganizer,
)
from opsgym_domains.teams.team_settings import SETTINGS
from opsgym_suites.kit.effects import RowType, ToolEffects, Written, WrittenRow
from opsgym_suites.kit.verifiers import Matches, May, Present
from opsgym_suites.teams.calls import key_of_result, keys_made
from opsgym_suites.teams.seeds.world import World

Arguments = Mapping[str, Any]
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
FREE_OF_USERS = (
    "given_name",
    "surname",
    "mail",
    "usage_location",
    "preferred_language",
    "company_name",
    "preferred_name",
)
"""Columns of a new account that a request seldom names and a correct call may give."""


def column(argument: str) -> str:
    """Column by argument: `displayName` is stored as `display_name`."""
    return _CAPITAL.sub("_", argument).lower()


class Tenant(Written[World]):
    """Rows that calls have written so far.

    Args:
        world: The rows before.
        actor: Key of the acting user; empty where it does not matter.
    """

    def __init__(self, world: World, actor: str = "") -> None:
        super().__init__(world)
        self.actor = actor
        self.keys = 0
        """Keys that the server has counted up."""
        self.made = ""
        """Key of the row that the present call adds."""
        self.reactions: dict[str, list[tuple[str, str]]] = {}
        """Reactions and who reacts, of the messages whose reactions calls change."""
        self.roles: dict[str, dict[str, str]] = {}
        """Role by user, of the teams whose members calls change."""

    def user(self, reference: str) -> User:
        """A user by key, name or reference, also one that calls have added; the first one where none is named."""
        if not reference:
            return self.world.all(User)[0]
        key = reference.split("'")[1] if "'" in reference else reference.rpartition("/")[2]
        added = self.rows.get((User, key))
        if added is not None and added.operation == "adds":
            return User(
                user_id=key, **{name: added.values.get(name) for name in ("display_name", "user_principal_name")}
            )
        rows = self.world.all(User, user_id=key) or self.world.all(User, user_principal_name=key)
        return rows[0]

    def name(self, key: str) -> str:
        """Name of a user that the seed has or the solution adds."""
        return str(self.value(User, key, "display_name"))

    def members(self, team: str) -> dict[str, str]:
        """Role by user of a team, which calls may change."""
        if team not in self.roles:
            rows = self.world.all(Team, team_id=team)
            self.roles[team] = {
                str(one["userId"]): str((one["roles"] or ["member"])[0])
                for one in (self.world.members(rows[0]) if rows else [])
            }
        return self.roles[team]


def listed(pairs: Sequence[str]) -> Matches:
    """Condition: a JSON list of flat objects has as many as there are patterns, and each pattern is in one."""
    inside = "".join(rf"(?=.*{pattern})" for pattern in pairs)
    return Matches(rf"(?s)^{inside}(?:[^{{]*\{{){{{len(pairs)}}}[^{{]*$")


def members_json(roles: Mapping[str, str]) -> Matches:
    """Condition: the members of a team with their roles, in any order."""
    return listed(
        [rf'"roles": \["{role}"\], "displayName": "[^"]*", "userId": "{user}"' for user, role in roles.items()]
    )


def people_json(users: Sequence[str]) -> Matches:
    """Condition: the people of a group, in any order."""
    return listed([rf'"id": "{user}"' for user in users])


def ids_json(users: Sequence[str]) -> Matches:
    """Condition: a list with exactly these keys, in any order."""
    inside = "".join(rf'(?=.*"{user}")' for user in users)
    return Matches(rf'(?s)^{inside}\[(?:"[^"]*"(?:, )?){{{len(users)}}}\]$')


# --- people and groups -----------------------------------------------------------------------------------------------


def _create_user(writes: Tenant, tool: str, given: Arguments) -> None:
    values = {column(name): dumped(value) for name, value in given.items() if name != "passwordProfile"}
    free = {name: May() for name in FREE_OF_USERS if name not in values}
    fixed = {"org_id": writes.world.org, "is_resource_account": False, "soft_deleted": False, "user_type": "Member"}
    writes.add(tool, User, {**fixed, **free, **values}, writes.made)


def _update_user(writes: Tenant, tool: str, given: Arguments) -> None:
    key = given.get("userId") or writes.user(given["userPrincipalName"]).user_id
    named = ("userId", "userPrincipalName")
    writes.change(tool, User, key, {column(name): dumped(value) for name, value in given.items() if name not in named})


def _delete_user(writes: Tenant, tool: str, given: Arguments) -> None:
    writes.change(tool, User, given["userId"], {"soft_deleted": True})


def _create_group(writes: Tenant, tool: str, given: Arguments) -> None:
    people = {
        name: people_json([writes.user(one).user_id for one in given.get(f"{name}_odata_bind", ())])
        for name in ("owners", "members")
    }
    values = {
        "org_id": writes.world.org,
        "display_name": given["displayName"],
        "mail_nickname": given["mailNickname"],
        "description": given.get("description") or May(),
        "visibility": given.get("visibility") or May(["Private", "private"]),
        "group_types": dumped(given["groupTypes"]),
        "security_enabled": given["securityEnabled"],
        "mail_enabled": given["mailEnabled"],
        "classification": May(),
        "soft_delete": False,
        **people,
    }
    writes.add(tool, Group, values, writes.made)


def _update_group(writes: Tenant, tool: str, given: Arguments) -> None:
    values = {column(name): value for name, value in given.items() if name != "groupId"}
    writes.change(tool, Group, given["groupId"], values)


def _add_group_owner(writes: Tenant, tool: str, given: Arguments) -> None:
    group = writes.world.one(Group, group_id=given["groupId"])
    owners = [one["id"] for one in json.loads(group.owners or "[]")]
    writes.change(
        tool, Group, group.group_id, {"owners": people_json([*owners, writes.user(given["_odata_id"]).user_id])}
    )


# --- teams -----------------------------------------------------------------------------------------------------------


def _create_team(writes: Tenant, tool: str, given: Arguments) -> None:
    roles = {writes.user(one["user_odata_bind"]).user_id: (one["roles"] or ["member"])[0] for one in given["members"]}
    settings = {name: dumped({**default, **given.get(_camel(name), {})}) for name, default in SETTINGS.items()}
    values = {
        "org_id": writes.world.org,
        "team_id": Present(),
        "group_id": Present(),
        "internal_id": Present(),
        "web_url": Present(),
        "template_id": "standard",
        "display_name": given["displayName"],
        "description": given.get("description") or May(),
        "visibility": given.get("visibility", "private"),
        "specialization": May("none"),
        "classification": given.get("classification") or May(),
        "members": members_json(roles),
        "is_archived": False,
        "migration_mode": False,
        "soft_delete": False,
        **settings,
    }
    writes.roles[writes.made] = roles
    writes.add(tool, Team, values, writes.made)
    group = {
        "org_id": writes.world.org,
        "group_id": Present(),
        "display_name": given["displayName"],
        "description": given.get("description") or May(),
        "visibility": given.get("visibility", "private"),
        "group_types": dumped(["Unified"]),
        "security_enabled": False,
        "mail_enabled": True,
        "members": Present(),  # as the team was made; later members join the team alone
        "owners": Present(),
        "soft_delete": False,
    }
    writes.add(tool, Group, group)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _update_team(writes: Tenant, tool: str, given: Arguments) -> None:
    values: dict[str, Any] = {}
    for name, value in given.items():
        if isinstance(value, Mapping):
            before = json.loads(writes.value(Team, given["teamId"], column(name)) or "{}")
            values[column(name)] = dumped({**before, **value})
        elif name != "teamId":
            values[column(name)] = value
    writes.change(tool, Team, given["teamId"], values)


def _delete_team(writes: Tenant, tool: str, given: Arguments) -> None:
    writes.change(tool, Team, given["teamId"], {"soft_delete": True})
    group = writes.world.one(Team, team_id=given["teamId"]).group_id
    if writes.world.all(Group, group_id=group):
        writes.change(tool, Group, group, {"soft_delete": True})


def _store(writes: Tenant, tool: str, team: str) -> None:
    condition = {"members": members_json(writes.members(team))}
    added = writes.rows.get((Team, team))
    if added is not None and added.operation == "adds":
        added.values |= condition
    else:
        writes.change(tool, Team, team, condition)


def _join(writes: Tenant, tool: str, given: Arguments) -> None:
    for one in given.get("values", [given]):
        role = (one.get("roles") or ["member"])[0]
        writes.members(given["teamId"])[writes.user(one["user_odata_bind"]).user_id] = role
    _store(writes, tool, given["teamId"])


def _of_membership(writes: Tenant, given: Arguments) -> str:
    team = writes.world.one(Team, team_id=given["teamId"])
    (user,) = (one["userId"] for one in writes.world.members(team) if one["id"] == given["membershipId"])
    return str(user)


def _set_role(writes: Tenant, tool: str, given: Arguments) -> None:
    writes.members(given["teamId"])[_of_membership(writes, given)] = given["roles"][0]
    _store(writes, tool, given["teamId"])


def _leave(writes: Tenant, tool: str, given: Arguments) -> None:
    del writes.members(given["teamId"])[_of_membership(writes, given)]
    _store(writes, tool, given["teamId"])


# --- channels --------------------------------------------------------------------------------------------------------


def _create_channel(writes: Tenant, tool: str, given: Arguments) -> None:
    kind = given.get("membershipType", "standard")
    values = {
        "channel_id": Present(),
        "org_id": writes.world.org,
        "team_id": given["teamId"],
        "display_name": given["displayName"],
        "description": given.get("description") or May(),
        "membership_type": kind,
        "is_favorite_by_default": False,
        "is_archived": False,
        "soft_delete": False,
    }
    key = writes.add(tool, Channel, values, writes.made)
    if kind == "standard":
        return
    people = [
        (writes.user(one["user_odata_bind"]), (one.get("roles") or ["member"])[0]) for one in given.get("members", ())
    ]
    for user, role in people or [(writes.user(writes.actor), "owner")]:
        _member(writes, tool, key, user, role)


def _member(writes: Tenant, tool: str, channel: str, user: User, role: str) -> None:
    values = {
        "channel_id": channel,
        "user_id": user.user_id,
        "roles": role,
        "display_name": user.display_name,
        "email": user.mail or user.user_principal_name,
        "added_at": Present(),
    }
    writes.add(tool, ChannelMember, values)


def _update_channel(writes: Tenant, tool: str, given: Arguments) -> None:
    values = {column(name): value for name, value in given.items() if name not in ("teamId", "channelId")}
    writes.change(tool, Channel, given["channelId"], values)


def _archive(writes: Tenant, tool: str, given: Arguments) -> None:
    writes.change(tool, Channel, given["channelId"], {"is_archived": True})


def _provision(writes: Tenant, tool: str, given: Arguments) -> None:
    key, team = given["channelId"], given["teamId"]
    slug = re.sub(r"[^a-z0-9]+", "-", str(writes.value(Channel, key, "display_name")).lower()).strip("-")
    address = f"{slug}.{team[:8]}@{writes.world.org}.teams.ms"
    added = writes.rows.get((Channel, key))
    if added is not None and added.operation == "adds":
        added.values["email"] = address
    else:
        writes.change(tool, Channel, key, {"email": address})


def _admit(writes: Tenant, tool: str, given: Arguments) -> None:
    role = (given.get("roles") or ["member"])[0]
    _member(writes, tool, given["channelId"], writes.user(given["user_odata_bind"]), role)


# --- messages --------------------------------------------------------------------------------------------------------

_FREE = dict.fromkeys(
    ("subject", "summary", "locale", "mentions_json", "attachments_json", "policy_violation_json"), May()
)


def _message(given: Arguments) -> dict[str, Any]:
    values = {JSON_FIELDS.get(column(name), column(name)): dumped(value) for name, value in given.items()}
    values = {name: value for name, value in values.items() if name not in ("team_id", "channel_id", "chat_id")}
    fixed = {"message_id": Present(), "etag": Present(), "message_type": "message", "importance": "normal"}
    made = {"from_json": Present(), "reactions_json": "[]", "message_history_json": "[]"}
    return {**_FREE, **fixed, **made, **values}


def _send(writes: Tenant, tool: str, given: Arguments) -> None:
    place = {"channel_id": given["channelId"], "team_id": given["teamId"]}
    made = {"channel_identity_json": Present(), "web_url": Present()}
    writes.add(tool, ChannelMessage, {**_message(given), **place, **made})


def _say(writes: Tenant, tool: str, given: Arguments) -> None:
    values = {**_message(given), "chat_id": given["chatId"]}
    writes.add(tool, ChatMessage, {"reply_to_id": May(), "channel_identity_json": May(), **values})


def _named(given: Arguments) -> tuple[RowType, str]:
    kind: RowType = ChatMessage if "chatId" in given else ChannelMessage
    return kind, str(given.get("replyId") or given["messageId"])


def _edit(writes: Tenant, tool: str, given: Arguments) -> None:
    kind, key = _named(given)
    places = ("teamId", "channelId", "chatId", "messageId", "replyId", "model")
    values = {
        JSON_FIELDS.get(column(name), column(name)): dumped(value)
        for name, value in given.items()
        if name not in places
    }
    writes.change(tool, kind, key, {**values, "last_edited_datetime": Present()})


def _mark_deleted(writes: Tenant, tool: str, given: Arguments) -> None:
    kind, key = _named(given)
    writes.change(tool, kind, key, {"deleted_datetime": Present()})


def _restore(writes: Tenant, tool: str, given: Arguments) -> None:
    kind, key = _named(given)
    writes.change(tool, kind, key, {"deleted_datetime": None})


def _react(writes: Tenant, tool: str, given: Arguments) -> None:
    """The reactions of a message; who reacts is the acting user."""
    kind, key = _named(given)
    message = writes.world.one(kind, message_id=key)
    assert isinstance(message, ChatMessage | ChannelMessage)
    stored = str(message.reactions_json)
    before = [(one["reactionType"], one["user"]["user"]["id"]) for one in json.loads(stored)]
    present = writes.reactions.setdefault(key, [*before])
    own = (given["reactionType"], writes.actor)
    if tool.startswith("unset"):
        present[:] = [one for one in present if one != own]
    else:
        present.append(own)
    inside = "".join(
        rf'(?=.*"reactionType": "{name}", "createdDateTime": "[^"]*", "user": \{{"user": \{{"id": "{user}")'
        for name, user in present
    )
    count = rf'(?:(?!"reactionType").)*(?:"reactionType"(?:(?!"reactionType").)*){{{len(present)}}}'
    left = Matches(f"(?s)^{inside}{count}$") if present else "[]"
    reactions = stored if present == before else left
    writes.change(tool, kind, key, {"reactions_json": reactions, "message_history_json": Present()})


def _pin(writes: Tenant, tool: str, given: Arguments) -> None:
    writes.add(tool, PinnedMessage, {"chat_id": given["chatId"], "message_id": given["messageId"]})


# --- chats -----------------------------------------------------------------------------------------------------------


def _create_chat(writes: Tenant, tool: str, given: Arguments) -> None:
    key = writes.made
    if writes.world.all(Chat, chat_id=key):
        return
    values = {
        "chat_id": key if given["chatType"] == "oneOnOne" else Present(),
        "org_id": writes.world.org,
        "chat_type": given["chatType"],
        "topic": given.get("topic"),
        "soft_delete": False,
    }
    writes.add(tool, Chat, values, key)
    for one in given["members"]:
        user = writes.user(one["user_odata_bind"])
        values = {
            "chat_id": key,
            "org_id": writes.world.org,
            "user_id": user.user_id,
            "roles": ["owner", "guest", "member"],
            "tenant_id": writes.world.org,
            "display_name": user.display_name,
            "is_hidden": False,
            "added_at": Present(),
        }
        writes.add(tool, ChatMember, values)


def _update_chat(writes: Tenant, tool: str, given: Arguments) -> None:
    writes.change(tool, Chat, given["chatId"], {"topic": given["topic"]})


# --- tabs and tags ---------------------------------------------------------------------------------------------------


def _tab_values(given: Arguments) -> dict[str, Any]:
    address = (given.get("configuration") or {}).get("contentUrl")
    return {
        "tab_id": Present(),
        "display_name": given["displayName"],
        "web_url": Present(),
        "app_id": re.split(r"[/']", given["teamsApp_odata_bind"].rstrip("')"))[-1],
        "sort_order_index": Present(),
        "configuration_json": Matches(_part("contentUrl", address)) if address else May(),
    }


def _part(name: str, value: Any) -> str:
    """Pattern of a part of a configuration, which is stored as JSON in a JSON text."""
    return re.escape(json.dumps(f"{json.dumps(name)}: {json.dumps(value)}")[1:-1])


def _add_tab(writes: Tenant, tool: str, given: Arguments) -> None:
    place = {"org_id": writes.world.org, "team_id": given["teamId"], "channel_id": given["channelId"]}
    writes.add(tool, ChannelTab, {**_tab_values(given), **place})


def _add_chat_tab(writes: Tenant, tool: str, given: Arguments) -> None:
    writes.add(tool, ChatTab, {**_tab_values(given), "chat_id": given["chatId"]})


def _update_tab(writes: Tenant, tool: str, given: Arguments) -> None:
    values: dict[str, Any] = {"display_name": given["displayName"]} if "displayName" in given else {}
    if "configuration" in given:
        inside = "".join(rf"(?=.*{_part(name, value)})" for name, value in given["configuration"].items())
        values["configuration_json"] = Matches(f"^{inside}")
    writes.change(tool, ChannelTab, given["tabId"], values)


def _delete_tab(writes: Tenant, tool: str, given: Arguments) -> None:
    writes.remove(tool, ChannelTab, given["tabId"])


def _tagged(writes: Tenant, tool: str, tag: str, team: str, users: Sequence[str]) -> None:
    for key in users:
        values = {
            "tagId": tag,
            "teamId": team,
            "userId": key,
            "displayName": writes.name(key),
            "tenantId": writes.world.all(Org)[0].tenant_id,
        }
        writes.add(tool, TagMember, values)


def _create_tag(writes: Tenant, tool: str, given: Arguments) -> None:
    values = {
        "team_id": given["team_id"],
        "display_name": given["displayName"],
        "description": given.get("description") or May(),
        "tag_type": "standard",
    }
    key = writes.add(tool, Tag, values, writes.made)
    _tagged(writes, tool, key, given["team_id"], [one["userId"] for one in given["members"]])


def _update_tag(writes: Tenant, tool: str, given: Arguments) -> None:
    values = {column(name): value for name, value in given.items() if name in ("displayName", "description")}
    writes.change(tool, Tag, given["tag_id"], values)
    if "members" in given:
        for key in writes.of(TagMember, "tagId", given["tag_id"]):
            writes.remove(tool, TagMember, key)
        _tagged(writes, tool, given["tag_id"], given["team_id"], [one["userId"] for one in given["members"]])


def _give_tag(writes: Tenant, tool: str, given: Arguments) -> None:
    _tagged(writes, tool, given["tag_id"], given["team_id"], [given["userId"]])


# --- calls, presence, events -----------------------------------------------------------------------------------------


def _place_call(writes: Tenant, tool: str, given: Arguments) -> None:
    targets = [one["identity"]["user"]["id"] for one in given["targets"]]
    inside = "".join(rf'(?=.*"id": "{key}")' for key in targets)
    count = rf'(?:(?!"identity").)*(?:"identity"(?:(?!"identity").)*){{{len(targets)}}}'
    source = given["source"]["identity"]["applicationInstance"]["id"]
    values = {
        "org_id": writes.world.org,
        "callback_uri": given["callbackUri"],
        "call_chain_id": Present(),
        "direction": "outgoing",
        "state": "establishing",
        "subject": given["subject"],
        "source": Matches(f'"id": "{source}"'),
        "targets": Matches(f"(?s)^{inside}{count}$"),
        "my_participant_id": Present(),
        "requested_modalities": dumped(given["requestedModalities"]),
        "call_options": May(),
        "media_config": Present(),
        "soft_delete": False,
    }
    writes.add(tool, Call, values, writes.made)


def _route(writes: Tenant, tool: str, given: Arguments) -> None:
    values = {
        "org_id": writes.world.org,
        "call_id": given["call_id"],
        "routing_mode": given["routingMode"],
        "sources": ids_json(given["sources"]),
        "receivers": ids_json(given["receivers"]),
    }
    writes.add(tool, AudioRoutingGroup, values)


def _set_status(writes: Tenant, tool: str, given: Arguments) -> None:
    status = given["statusMessage"]
    text = re.escape(json.dumps(status["message"]["content"], ensure_ascii=False).strip('"'))
    patterns = [rf'"content": "{text}[.!]?"']
    if "expiryDateTime" in status:
        patterns.append(rf'"dateTime": "{re.escape(status["expiryDateTime"]["dateTime"])}(?:\.0+)?Z?"')
    condition = Matches("(?is)^" + "".join(rf"(?=.*{pattern})" for pattern in patterns))
    if writes.world.all(Presence, user_id=given["user_id"]):
        writes.change(tool, Presence, given["user_id"], {"status_message": condition})
    else:
        values = {"user_id": given["user_id"], "org_id": writes.world.org, "status_message": condition}
        writes.add(tool, Presence, values, given["user_id"])


def _event_values(writes: Tenant, given: Arguments) -> dict[str, Any]:
    actor = writes.user(writes.actor)
    zones = {name: given[name]["timeZone"] for name in ("startDateTime", "endDateTime")}
    return {
        "org_id": writes.world.org,
        "display_name": given["displayName"],
        "description_content_type": ["text", "html"],
        "description_content": Present(),
        "start_date_time": datetime.fromisoformat(given["startDateTime"]["dateTime"]),
        "start_time_zone": [zones["startDateTime"], "Etc/UTC"],
        "end_date_time": datetime.fromisoformat(given["endDateTime"]["dateTime"]),
        "end_time_zone": [zones["endDateTime"], "Etc/UTC"],
        "audience": given["audience"],
        "status": "draft",
        "created_by_user_id": writes.actor,
        "created_by_display_name": actor.display_name,
        "created_by_tenant_id": writes.world.all(Org)[0].tenant_id,
        "is_attendee_email_notification_enabled": [True, False],
        "external_event_information": "[]",
    }


def _helpers(writes: Tenant, tool: str, kind: RowType, place: str, given: Arguments) -> None:
    for one in given.get("coOrganizers", ()):
        values = {"org_id": writes.world.org, place: writes.made, "user_id": one["id"], "added_at": Present()}
        writes.add(tool, kind, values)


def _create_webinar(writes: Tenant, tool: str, given: Arguments) -> None:
    writes.add(tool, Webinar, _event_values(writes, given), writes.made)
    _helpers(writes, tool, WebinarCoOrganizer, "webinar_id", given)


def _create_town_hall(writes: Tenant, tool: str, given: Arguments) -> None:
    values = {"id": Present(), "is_invite_only": given.get("isInviteOnly", False)}
    writes.add(tool, TownHall, {**_event_values(writes, given), **values}, writes.made)
    _helpers(writes, tool, TownHallCoOrganizer, "townhall_id", given)
    for one in given.get("invitedAttendees", ()):
        values = {
            "org_id": writes.world.org,
            "townhall_id": writes.made,
            "identity_id": one["id"],
            "identity_type": "communicationsUserIdentity",
            "display_name": writes.name(one["id"]),
            "tenant_id": writes.world.all(Org)[0].tenant_id,
            "added_at": Present(),
        }
        writes.add(tool, Invited, values)


def _status(kind: RowType, argument: str, status: str) -> Callable[[Tenant, str, Arguments], None]:
    def set_status(writes: Tenant, tool: str, given: Arguments) -> None:
        key = given[argument]
        added = writes.rows.get((kind, key))
        if added is not None and added.operation == "adds":
            added.values["status"] = status
        else:
            writes.change(tool, kind, key, {"status": status})

    return set_status


_FOLLOWED: Mapping[str, Callable[[Tenant, str, Arguments], None]] = {
    "create_user": _create_user,
    "update_user": _update_user,
    "delete_user": _delete_user,
    "create_group": _create_group,
    "update_group": _update_group,
    "add_group_owner": _add_group_owner,
    "create_team": _create_team,
    "update_team": _update_team,
    "delete_team": _delete_team,
    "add_team_member": _join,
    "add_team_members_in_bulk": _join,
    "update_team_member": _set_role,
    "remove_team_member": _leave,
    "create_channel": _create_channel,
    "update_channel": _update_channel,
    "archive_channel": _archive,
    "provision_channel_email": _provision,
    "add_channel_member": _admit,
    "send_channel_message": _send,
    "send_chat_message": _say,
    **dict.fromkeys(("update_channel_message", "update_chat_message"), _edit),
    **dict.fromkeys(("soft_delete_channel_message", "soft_delete_chat_message"), _mark_deleted),
    **dict.fromkeys(("undo_soft_delete_channel_message", "undo_soft_delete_chat_message"), _restore),
    **dict.fromkeys(
        (
            "set_channel_message_reaction",
            "set_chat_message_reaction",
            "unset_channel_message_reaction",
            "unset_chat_message_reaction",
        ),
        _react,
    ),
    "pin_chat_message": _pin,
    "create_chat": _create_chat,
    "update_chat": _update_chat,
    "add_tabs_to_channels": _add_tab,
    "add_tab_to_chat": _add_chat_tab,
    "update_channel_tab": _update_tab,
    "delete_channel_tab": _delete_tab,
    "create_teamwork_tag": _create_tag,
    "update_teamwork_tag": _update_tag,
    "create_teamwork_tag_member": _give_tag,
    "create_call": _place_call,
    "create_audio_routing_group": _route,
    "set_user_status_message": _set_status,
    "create_virtual_event_webinar": _create_webinar,
    "publish_virtual_event_webinar": _status(Webinar, "webinar_id", "published"),
    "cancel_virtual_event_webinar": _status(Webinar, "webinar_id", "canceled"),
    "create_virtual_event_townhall": _create_town_hall,
    "cancel_virtual_event_townhall": _status(TownHall, "townhall_id", "canceled"),
}


@dataclass(frozen=True)
class TeamsEffects(ToolEffects):
    """Effects of Teams' tools, whose calls write rows of several tables."""

    actor: str = ""
    """Key of the acting user, on whom some effects depend."""

    def written(self, world: Any, calls: Sequence[ToolCall]) -> list[WrittenRow]:
        """Rows that calls write on a seed, in the order in which they are first written.

        Raises:
            LookupError: A call names a row that does not exist.
        """
        writes = Tenant(world, self.actor)
        for made in calls:
            writes.made = key_of_result(made, writes.keys)
            writes.keys += keys_made(made)
            if made.name in _FOLLOWED:
                _FOLLOWED[made.name](writes, made.name, made.arguments)
        return list(writes.rows.values())


EFFECTS = TeamsEffects(DOMAIN.toolbox, link_types=frozenset({ChannelMember, ChatMember, TagMember}))
