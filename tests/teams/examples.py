"""A call of every Teams tool that succeeds on the seed, acting as Ann."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

GRAPH = "https://graph.microsoft.com/v1.0"


def bind(name: str) -> str:
    """A reference to a user."""
    return f"{GRAPH}/users('{name}')"


def moment(time: str) -> dict[str, str]:
    """A time of an event."""
    return {"dateTime": time, "timeZone": "UTC"}


_TEAM = {"teamId": "t-main"}
_GENERAL = {**_TEAM, "channelId": "c-general"}
_MESSAGE = {**_GENERAL, "messageId": "msg-1"}
_CHAT = {"chatId": "chat-group"}
_CHAT_MESSAGE = {**_CHAT, "messageId": "1770714120000"}
_BODY = {"contentType": "text", "content": "See you at noon"}
_EVENT = {
    "displayName": "Quarter",
    "description": {"contentType": "text", "content": "What we did"},
    "startDateTime": moment("2026-05-01T09:00:00"),
    "endDateTime": moment("2026-05-01T10:00:00"),
    "audience": "organization",
}
_NOTES = f"{GRAPH}/appCatalogs/teamsApps/app-notes"

EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    "list_users": {"_filter": "startswith(displayName, 'a') or userType eq 'Guest'"},
    "create_user": {
        "userPrincipalName": "finn@acme.test", "displayName": "Finn Reed", "accountEnabled": True,
        "mailNickname": "finn", "passwordProfile": {"password": "x", "forceChangePasswordNextSignIn": True},
    },
    "get_user": {"userId": "ben"},
    "update_user": {"userId": "ben", "jobTitle": "Manager", "skills": ["buying"]},
    "delete_user": {"userPrincipalName": "eve@acme.test"},
    "create_chat": {
        "chatType": "group", "topic": "Party",
        "members": [
            {"_odata_type": "#microsoft.graph.aadUserConversationMember", "roles": roles, "user_odata_bind": bind(name)}
            for name, roles in (("ann", ["owner"]), ("ben", []))
        ],
        "installedApps": [{"teamsApp_odata_bind": _NOTES}],
    },
    "update_chat": {**_CHAT, "topic": "Launch party"},
    "list_chats": {"_expand": "members,lastMessagePreview"},
    "list_chat_messages": {"chatId": "ann_ben"},
    "add_tab_to_chat": {**_CHAT, "displayName": "Notes", "teamsApp_odata_bind": _NOTES},
    "send_chat_message": {**_CHAT, "body": _BODY},
    "soft_delete_chat_message": _CHAT_MESSAGE,
    "undo_soft_delete_chat_message": {**_CHAT, "messageId": "1770714180000"},
    "update_chat_message": {**_CHAT_MESSAGE, "body": _BODY},
    "set_chat_message_reaction": {**_CHAT_MESSAGE, "reactionType": "like"},
    "unset_chat_message_reaction": {**_CHAT_MESSAGE, "reactionType": "heart"},
    "pin_chat_message": _CHAT_MESSAGE,
    "create_channel": {
        **_TEAM, "displayName": "Budget", "membershipType": "private",
        "members": [{"user_odata_bind": bind("ann"), "roles": ["owner"]}, {"user_odata_bind": bind("ben")}],
    },
    "update_channel": {**_TEAM, "channelId": "c-dev", "description": "What we make"},
    "list_channels": _TEAM,
    "list_all_channels": {**_TEAM, "_select": "id,displayName"},
    "get_primary_channel": {**_TEAM, "_expand": "filesFolder"},
    "add_channel_member": {**_TEAM, "channelId": "c-shared", "user_odata_bind": bind("ben"), "roles": ["owner"]},
    "archive_channel": {**_TEAM, "channelId": "c-dev"},
    "list_channel_messages": {**_GENERAL, "_expand": "replies"},
    "send_channel_message": {**_GENERAL, "body": _BODY, "subject": "Lunch"},
    "soft_delete_channel_message": _MESSAGE,
    "undo_soft_delete_channel_message": {**_GENERAL, "messageId": "msg-4"},
    "update_channel_message": {**_MESSAGE, "body": _BODY, "importance": "high"},
    "set_channel_message_reaction": {**_MESSAGE, "replyId": "msg-2", "reactionType": "like"},
    "unset_channel_message_reaction": {**_GENERAL, "messageId": "msg-3", "reactionType": "like"},
    "get_files_folder": _GENERAL,
    "list_tabs_in_channel": {**_GENERAL, "_expand": "teamsApp"},
    "add_tabs_to_channels": {**_GENERAL, "displayName": "More notes", "teamsApp_odata_bind": _NOTES},
    "provision_channel_email": _GENERAL,
    "update_channel_tab": {**_GENERAL, "tabId": "tab-notes", "displayName": "Minutes"},
    "delete_channel_tab": {**_GENERAL, "tabId": "tab-plan"},
    "create_team": {
        "template_odata_bind": f"{GRAPH}/teamsTemplates('standard')", "displayName": "Launch",
        "members": [{"roles": ["owner"], "user_odata_bind": bind("ann")}],
    },
    "list_teams": {"_count": True},
    "update_team": {**_TEAM, "description": "All of us", "guestSettings": {"allowDeleteChannels": True}},
    "delete_team": {"teamId": "t-side"},
    "list_team_members": {**_TEAM, "_filter": "roles/any(r:r eq 'owner')"},
    "add_team_member": {**_TEAM, "user_odata_bind": bind("eve")},
    "add_team_members_in_bulk": {
        **_TEAM, "values": [{"user_odata_bind": bind(name), "roles": ["member"]} for name in ("eve", "ben")],
    },
    "update_team_member": {**_TEAM, "membershipId": "m-t-main-ben", "roles": ["owner"]},
    "remove_team_member": {**_TEAM, "membershipId": "m-t-main-ben"},
    "list_installed_apps": {**_TEAM, "_expand": "teamsApp"},
    "create_teamwork_tag": {"team_id": "t-main", "displayName": "Buyers", "members": [{"userId": "ben"}]},
    "list_teamwork_tags": {"team_id": "t-main"},
    "update_teamwork_tag": {"team_id": "t-main", "tag_id": "tag-lead", "displayName": "Heads"},
    "create_teamwork_tag_member": {"team_id": "t-main", "tag_id": "tag-lead", "userId": "ben"},
    "create_group": {
        "displayName": "Sellers", "mailEnabled": True, "mailNickname": "sellers", "securityEnabled": False,
        "groupTypes": ["Unified"], "owners_odata_bind": [bind("ann")], "members_odata_bind": [bind("ben")],
    },
    "list_groups": {"_filter": "groupTypes/any(c:c eq 'Unified')", "_count": True},
    "update_group": {"groupId": "g-buyers", "description": "Who buys"},
    "add_group_owner": {"groupId": "g-buyers", "_odata_id": bind("ben")},
    "list_call_records": {},
    "get_call_record": {"id": "rec-1", "_expand": "participants_v2"},
    "list_call_sessions": {"id": "rec-1", "_expand": "segments"},
    "create_call": {
        "callbackUri": "https://bot.test/calls", "requestedModalities": ["audio"],
        "mediaConfig": {"_odata_type": "#microsoft.graph.serviceHostedMediaConfig"},
        "targets": [{"identity": {"user": {"id": "ben", "displayName": "Ben Reed"}}}],
    },
    "create_audio_routing_group": {
        "call_id": "call-1", "routingMode": "oneToOne", "sources": ["p-ann"], "receivers": ["p-ben"],
    },
    "set_user_status_message": {
        "user_id": "ann@acme.test", "statusMessage": {"message": {"content": "Away", "contentType": "text"}},
    },
    "create_virtual_event_webinar": {**_EVENT, "coOrganizers": [{"id": "ben"}]},
    "get_virtual_event_webinar": {"webinar_id": "w-1"},
    "list_virtual_event_webinars": {"_count": True},
    "publish_virtual_event_webinar": {"webinar_id": "w-1"},
    "cancel_virtual_event_webinar": {"webinar_id": "w-1"},
    "create_virtual_event_townhall": {
        **_EVENT, "isInviteOnly": True, "invitedAttendees": [{"id": "eve"}], "coOrganizers": [{"id": "ben"}],
    },
    "list_virtual_event_townhalls": {"_count": True},
    "cancel_virtual_event_townhall": {"townhall_id": "h-1"},
    "list_teams_apps": {"_filter": "displayName eq 'Notes'"},
}  # fmt: skip
