"""Rows for tests of the Teams server: an organisation with two teams and a few chats, and a second organisation.

Ann administers the directory and owns the team; Ben is a member; Dora is a guest; Eve has no permission and is in few
places; Cleo's account is disabled; Zoe is of the other organisation.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from opsgym_domains.teams.access import PERMISSIONS
from opsgym_domains.teams.team_settings import SETTINGS

NOW = "2026-03-02T12:00:00"
TOKEN = "token-ann"
_MADE = "2026-01-05 08:00:00"
TENANT = "11111111-2222-3333-4444-555555555555"


def literal(value: Any) -> str:
    """A value in SQLite's dialect; objects and lists as JSON text."""
    if value is None:
        return "NULL"
    if isinstance(value, bool | int):
        return str(int(value))
    text = value if isinstance(value, str) else json.dumps(value)
    return "'" + text.replace("'", "''") + "'"


def insert(table: str, **values: Any) -> str:
    """A statement that adds a row."""
    columns, row = ", ".join(f'"{name}"' for name in values), ", ".join(map(literal, values.values()))
    return f'INSERT INTO "{table}" ({columns}) VALUES ({row});\n'


def user(name: str, *, org: str = "acme", token: str | None = "", **more: Any) -> str:
    """A user, who signs in as `token-<name>` unless the token is None."""
    return insert(
        "teams_users",
        **{
            "org_id": org, "user_id": name, "user_principal_name": f"{name}@{org}.test",
            "display_name": f"{name.title()} Reed", "job_title": "Clerk", "mail": f"{name}@{org}.test",
            "given_name": name.title(), "surname": "Reed", "mail_nickname": name, "account_enabled": True,
            "business_phones": ["+44-555-0100"], "user_type": "Member", "is_resource_account": False,
            "employee_hire_date": "2024-03-01 00:00:00",
            "static_token": None if token is None else token or f"token-{name}",
            "created_at": _MADE, "updated_at": _MADE, "soft_deleted": False, **more,
        },
    )  # fmt: skip


def member(name: str, role: str, team: str) -> dict[str, Any]:
    """A member of a team."""
    return {
        "@odata.type": "#microsoft.graph.aadUserConversationMember", "id": f"m-{team}-{name}", "roles": [role],
        "displayName": f"{name.title()} Reed", "userId": name, "email": f"{name}@acme.test", "tenantId": "acme",
        "visibleHistoryStartDateTime": "2026-01-05T08:00:00",
    }  # fmt: skip


def team(key: str, name: str, members: Mapping[str, str], *, org: str = "acme", **more: Any) -> str:
    """A team with members by role."""
    return insert(
        "teams",
        **{
            "org_id": org, "team_id": key, "group_id": f"g-{key}", "template_id": "standard", "display_name": name,
            "description": f"{name} people", "visibility": "private", "specialization": "none", "internal_id": key,
            "members": [member(person, role, key) for person, role in members.items()],
            **SETTINGS, "is_archived": False, "migration_mode": False,
            "web_url": f"https://teams.microsoft.com/l/team/{key}", "created_date_time": _MADE,
            "updated_date_time": _MADE, "soft_delete": False, **more,
        },
    )  # fmt: skip


def channel(key: str, team_id: str, name: str, kind: str = "standard", **more: Any) -> str:
    """A channel."""
    return insert(
        "channels",
        **{
            "channel_id": key, "org_id": "acme", "team_id": team_id, "display_name": name,
            "description": f"About {name.lower()}", "membership_type": kind, "is_favorite_by_default": False,
            "is_archived": False, "created_date_time": _MADE, "soft_delete": False, **more,
        },
    )  # fmt: skip


def channel_member(key: str, name: str, role: str) -> str:
    """A direct member of a channel."""
    return insert(
        "channel_members", channel_id=key, user_id=name, roles=role, display_name=f"{name.title()} Reed",
        email=f"{name}@acme.test", added_at=_MADE,
    )  # fmt: skip


def _message(key: str, sender: str, text: str, minute: int, **more: Any) -> dict[str, Any]:
    time = f"2026-02-10 09:{minute:02}:00"
    return {
        "message_id": key, "etag": key, "message_type": "message", "created_datetime": time,
        "last_modified_datetime": time, "importance": "normal", "locale": "en-us",
        "from_json": {
            "application": None, "device": None,
            "user": {"id": sender, "displayName": f"{sender.title()} Reed", "userIdentityType": "aadUser"},
        },
        "body_json": {"contentType": "text", "content": text}, "attachments_json": "[]", "mentions_json": "[]",
        "reactions_json": "[]", "message_history_json": "[]", **more,
    }  # fmt: skip


def channel_message(key: str, channel_id: str, sender: str, text: str, minute: int, **more: Any) -> str:
    """A message in a channel of the team t-main."""
    place = {"channel_id": channel_id, "team_id": "t-main"}
    return insert("channel_messages", **_message(key, sender, text, minute, **place, **more))


def chat(key: str, kind: str, people: Mapping[str, str], topic: str | None = None) -> str:
    """A chat with members by role."""
    rows = [
        insert(
            "chats", chat_id=key, org_id="acme", topic=topic, chat_type=kind, created_at=_MADE, updated_at=_MADE,
            soft_delete=False,
        )
    ]  # fmt: skip
    rows += [
        insert(
            "chat_members", chat_id=key, org_id="acme", user_id=name, roles=role, tenant_id="acme",
            display_name=f"{name.title()} Reed", is_hidden=False, added_at=_MADE,
        )
        for name, role in people.items()
    ]  # fmt: skip
    return "".join(rows)


def chat_message(key: str, chat_id: str, sender: str, text: str, minute: int, **more: Any) -> str:
    """A message in a chat."""
    return insert("chat_messages", **_message(key, sender, text, minute, chat_id=chat_id, **more))


def app(key: str, name: str) -> str:
    """An app of the catalogue."""
    return insert(
        "teams_apps", org_id="acme", app_id=key, display_name=name, distribution_method="store", version="1.0.0",
        publishing_state="published", created_at=_MADE, updated_at=_MADE,
    )  # fmt: skip


def event(table: str, key: str, status: str = "draft", *, creator: str = "ann", **more: Any) -> str:
    """A webinar or a town hall."""
    return insert(
        table,
        **{
            "org_id": "acme", "id": key, "display_name": f"Event {key}", "description_content_type": "text",
            "description_content": "What we do", "start_date_time": "2026-04-01 09:00:00", "start_time_zone": "UTC",
            "end_date_time": "2026-04-01 10:00:00", "end_time_zone": "UTC", "audience": "organization",
            "status": status, "created_by_user_id": creator, "created_by_display_name": f"{creator.title()} Reed",
            "created_by_tenant_id": TENANT, "is_attendee_email_notification_enabled": True,
            "external_event_information": "[]", "created_at": _MADE, "updated_at": _MADE, **more,
        },
    )  # fmt: skip


def _grants() -> Iterator[str]:
    """Ann may change everything; Ben may write in teams and chats; Dora may read."""
    names = {
        "ann": [(write or read)[0] for read, write in PERMISSIONS.values()],
        "ben": [
            "User.ReadBasic.All", "Chat.ReadWrite", "Channel.Create", "ChannelMessage.Send", "Files.Read.All",
            "TeamsTab.Create", "TeamSettings.ReadWrite.All", "TeamMember.ReadWrite.All", "TeamworkTag.ReadWrite",
            "AppCatalog.Read.All", "Group.ReadWrite.All", "Presence.ReadWrite", "VirtualEvent.ReadWrite",
            "CallRecords.Read.All", "Calls.Initiate.All",
        ],
        "dora": ["User.ReadBasic.All", "Channel.ReadBasic.All", "ChannelMessage.Read.All"],
    }  # fmt: skip
    for name, permissions in names.items():
        for permission in dict.fromkeys(permissions):
            yield insert(
                "user_permissions", org_id="acme", user_id=name, permission_id=f"{permission}:delegated",
                resource_scope="all", granted_by="system", granted_at=_MADE,
            )  # fmt: skip


_RECORD = {
    "org_id": "acme", "version": 1, "type": "groupCall", "modalities": ["audio"],
    "organizer": {"user": {"id": "ann", "displayName": "Ann Reed"}},
    "participants": [
        {"id": f"p-{name}", "identity": {"user": {"id": name, "displayName": f"{name.title()} Reed"}}}
        for name in ("ann", "ben")
    ],
    "created_at": _MADE, "updated_at": _MADE,
}  # fmt: skip

SEED = "".join(
    [
        *(
            insert(
                "teams_orgs", org_id=org, tenant_id=tenant, display_name=org.title(), domain_name=f"{org}.test",
                created_at=_MADE, updated_at=_MADE, soft_deleted=False,
            )
            for org, tenant in (("acme", TENANT), ("other", "99999999-2222-3333-4444-555555555555"))
        ),
        user("ann"), user("ben"), user("cleo", account_enabled=False), user("dora", user_type="Guest"),
        user("eve", job_title="Buyer"), user("gone", soft_deleted=True, token=None), user("zoe", org="other"),
        *(
            insert(
                "teams_user_roles", org_id="acme", user_id=name, role_id=f"role-{role}", role_name=role,
                assigned_at=_MADE,
            )
            for name, role in (("ann", "Global Administrator"), ("ben", "User"), ("cleo", "User"), ("dora", "User"))
        ),
        *_grants(),
        app("app-notes", "Notes"), app("app-plan", "Planner"),
        insert(
            "teams_templates", org_id="default", template_id="standard", display_name="Standard",
            is_system_template=True, created_date_time=_MADE, updated_date_time=_MADE, soft_delete=False,
        ),
        *(
            insert(
                "groups", org_id="acme", group_id=key, display_name=name, mail_nickname=nick, visibility="Private",
                group_types=["Unified"], security_enabled=False, mail_enabled=True, members="[]", owners=owners,
                created_date_time=_MADE, updated_date_time=_MADE, soft_delete=False,
            )
            for key, name, nick, owners in (
                ("g-t-main", "Main", "main", [{"id": "ann"}]), ("g-buyers", "Buyers", "buyers", [{"id": "ann"}]),
            )
        ),
        team("t-main", "Main", {"ann": "owner", "ben": "member", "dora": "guest", "cleo": "member"}),
        team("t-side", "Side", {"ben": "owner", "ann": "owner"}),
        team("t-eve", "Eve only", {"eve": "owner"}),
        team("t-gone", "Gone", {"ann": "owner"}, soft_delete=True),
        team("t-other", "Other", {"zoe": "owner"}, org="other"),
        channel("c-general", "t-main", "General"), channel("c-dev", "t-main", "Development"),
        channel("c-priv", "t-main", "Board", "private"), channel("c-shared", "t-main", "Partners", "shared"),
        channel("c-old", "t-main", "Archive", is_archived=True), channel("c-side", "t-side", "General"),
        channel("c-eve", "t-eve", "General"),
        channel_member("c-priv", "ann", "owner"), channel_member("c-priv", "ben", "member"),
        channel_member("c-shared", "ann", "owner"), channel_member("c-shared", "eve", "member"),
        channel_message("msg-1", "c-general", "ann", "Hello", 1),
        channel_message("msg-2", "c-general", "ben", "Good morning", 2, reply_to_id="msg-1"),
        channel_message(
            "msg-3", "c-general", "ann", "Lunch", 3,
            reactions_json=[{
                "reactionType": "like", "createdDateTime": "2026-02-10T09:04:00Z",
                "user": {"user": {"id": "ann", "displayName": "Ann Reed", "userIdentityType": "aadUser"}},
            }],
        ),
        channel_message("msg-4", "c-general", "ann", "Oops", 4, deleted_datetime="2026-02-10 09:05:00"),
        channel_message("msg-5", "c-priv", "ben", "Secret", 5),
        chat("ann_ben", "oneOnOne", {"ann": "owner", "ben": "owner"}),
        chat("chat-group", "group", {"ann": "owner", "ben": "owner", "eve": "guest"}, "Launch"),
        chat("chat-ben", "group", {"ben": "owner", "eve": "owner"}, "Without Ann"),
        chat_message("1770714000000", "ann_ben", "ann", "Hi Ben", 10),
        chat_message("1770714060000", "ann_ben", "ben", "Hi Ann", 11),
        chat_message(
            "1770714120000", "chat-group", "ann", "Plan", 12,
            reactions_json=[{
                "reactionType": "heart", "createdDateTime": "2026-02-10T09:13:00Z",
                "user": {"user": {"id": "ann", "displayName": "Ann Reed", "userIdentityType": "aadUser"}},
            }],
        ),
        chat_message("1770714180000", "chat-group", "ann", "Wrong", 13, deleted_datetime="2026-02-10 09:14:00"),
        chat_message("1770714240000", "chat-ben", "ben", "Just us", 14),
        *(
            insert(
                "teams_channel_tabs", org_id="acme", team_id="t-main", channel_id="c-general", tab_id=f"tab-{name}",
                display_name=name.title(), web_url=f"https://tabs.test/{name}", app_id=f"app-{name}",
                sort_order_index=index, configuration_json={"entityId": name, "contentUrl": f"https://c.test/{name}"},
                created_at=_MADE, updated_at=_MADE,
            )
            for name, index in (("notes", "10000100"), ("plan", "10000200"))
        ),
        insert(
            "installed_apps", org_id="acme", team_id="t-main", installation_id="inst-notes", teams_app_id="app-notes",
            teams_app_display_name="Notes", teams_app_distribution_method="store", teams_app_definition_id="def-notes",
            teams_app_definition_version="1.0.0", publishing_state="published", short_description="Notes",
            description="Notes of the team", required_resource_specific_permissions="[]",
            created_date_time=_MADE, soft_delete=False,
        ),
        insert(
            "teamwork_tags", id="tag-lead", team_id="t-main", display_name="Leads", tag_type="standard",
            created_at=_MADE, updated_at=_MADE,
        ),
        insert(
            "teamwork_tag_members", id="tm-ann", tagId="tag-lead", teamId="t-main", userId="ann",
            displayName="Ann Reed", tenantId=TENANT,
        ),
        insert(
            "channel_files_folders", channel_id="c-general", team_id="t-main", drive_item_id="item-1", name="General",
            created_date_time=_MADE, last_modified_date_time=_MADE, web_url="https://acme.test/files/General", size=10,
            drive_id="drive-1", drive_type="documentLibrary", parent_id="root-1",
            created_by_json={"user": {"id": "ann"}},
        ),
        insert(
            "calls", id="call-1", org_id="acme", callback_uri="https://bot.test/calls", direction="outgoing",
            state="established", source=None, targets="[]", requested_modalities=["audio"], created_at=_MADE,
            updated_at=_MADE, soft_delete=False,
        ),
        insert("call_records", id="rec-1", start_date_time="2026-02-01T10:00:00.500Z",
               end_date_time="2026-02-01T10:30:00Z", last_modified_date_time=None, **_RECORD),
        insert("call_records", id="rec-2", start_date_time="2026-02-03T10:00:00Z",
               end_date_time="2026-02-03T10:05:00Z", **_RECORD),
        insert("teams_presence_sessions", user_id="ben", org_id="acme", availability="Available",
               created_at=_MADE, updated_at=_MADE),
        event("virtual_event_webinars", "w-1"), event("virtual_event_webinars", "w-2", "published"),
        event("virtual_event_webinars", "w-3", "canceled"), event("virtual_event_webinars", "w-ben", creator="ben"),
        insert("virtual_event_webinar_coorganizers", org_id="acme", webinar_id="w-1", user_id="ben", added_at=_MADE),
        event("virtual_event_townhalls", "h-1", is_invite_only=False),
        event("virtual_event_townhalls", "h-invited", is_invite_only=True, creator="eve"),
        event("virtual_event_townhalls", "h-canceled", "canceled", is_invite_only=False),
    ]
)  # fmt: skip
