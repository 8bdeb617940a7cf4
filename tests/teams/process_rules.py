"""A call that each process rule of Teams refuses in access `strict`, and one that satisfies the rule."""

from __future__ import annotations

from tests.domains.declaration import StrictCase
from tests.teams.examples import EXAMPLES, bind, moment

_MAIN = {"teamId": "t-main"}
_GENERAL = {**_MAIN, "channelId": "c-general"}
_BODY = {"contentType": "text", "content": "Hello"}

CASES = (
    StrictCase(
        "PRC-1", "LAST_OWNER", "update_team_member", {**_MAIN, "membershipId": "m-t-main-ann", "roles": ["member"]},
        {"roles": ["owner"]}, says="t-main",
    ),
    StrictCase("PRC-1", "LAST_OWNER", "remove_team_member", {**_MAIN, "membershipId": "m-t-main-ann"},
               {"membershipId": "m-t-main-ben"}),
    StrictCase(
        "PRC-2", "OWNER_REQUIRED", "update_team", {**_MAIN, "description": "Ours"}, {"teamId": "t-side"}, role="member",
        says="t-main",
    ),
    StrictCase(
        "PRC-3", "GUEST_OWNER", "update_team_member", {**_MAIN, "membershipId": "m-t-main-dora", "roles": ["owner"]},
        {"roles": ["guest"]}, says="dora",
    ),
    StrictCase(
        "PRC-4", "ACCOUNT_DISABLED", "add_team_member", {"teamId": "t-side", "user_odata_bind": bind("cleo")},
        {"user_odata_bind": bind("eve")}, says="cleo",
    ),
    StrictCase(
        "PRC-5", "CHANNELS_RESTRICTED", "create_channel",
        {**_MAIN, "displayName": "Quiet", "membershipType": "private"}, {"membershipType": "standard"}, role="member",
        says="allowCreatePrivateChannels",
        given="UPDATE teams SET member_settings = json_set(member_settings, '$.allowCreatePrivateChannels', "
        "json('false'));",
    ),
    StrictCase(
        "PRC-6", "GENERAL_CHANNEL", "archive_channel", _GENERAL, {"channelId": "c-dev"}, says="General",
    ),
    StrictCase(
        "PRC-7", "CHANNEL_ARCHIVED", "send_channel_message", {**_MAIN, "channelId": "c-old", "body": _BODY},
        {"channelId": "c-dev"}, says="c-old",
    ),
    StrictCase(
        "PRC-8", "STANDARD_CHANNEL", "add_channel_member",
        {**_MAIN, "channelId": "c-dev", "user_odata_bind": bind("ben")}, {"channelId": "c-shared"}, says="c-dev",
    ),
    StrictCase(
        "PRC-9", "CHANNEL_OWNER_REQUIRED", "add_channel_member",
        {**_MAIN, "channelId": "c-priv", "user_odata_bind": bind("dora")}, {}, role="member", helper="admin",
        says="c-priv",
    ),
    StrictCase(
        "PRC-10", "NOT_IN_TEAM", "add_channel_member",
        {**_MAIN, "channelId": "c-priv", "user_odata_bind": bind("eve")}, {"user_odata_bind": bind("dora")}, says="eve",
    ),
    StrictCase(
        "PRC-11", "NOT_SENDER", "update_chat_message",
        {"chatId": "ann_ben", "messageId": "1770714060000", "body": _BODY}, {"messageId": "1770714000000"}, says="ben",
    ),
    StrictCase(
        "PRC-11", "NOT_SENDER", "soft_delete_channel_message", {**_GENERAL, "messageId": "msg-1"},
        {"replyId": "msg-2"}, role="member", says="ann",
    ),
    StrictCase("PRC-12", "OWN_ACCOUNT", "delete_user", {"userId": "ann"}, {"userId": "eve"}),
    StrictCase(
        "PRC-13", "GROUP_OWNER_REQUIRED", "update_group", {"groupId": "g-buyers", "description": "Ours"}, {},
        role="member", helper="admin", says="g-buyers",
    ),
    StrictCase(
        "PRC-14", "ORGANIZER_REQUIRED", "cancel_virtual_event_webinar", {"webinar_id": "w-2"}, {"webinar_id": "w-1"},
        role="member", says="w-2",
    ),
    StrictCase(
        "PRC-15", "EVENT_TIMES", "create_virtual_event_webinar",
        {**EXAMPLES["create_virtual_event_webinar"], "startDateTime": moment("2026-02-01T09:00:00")},
        {"startDateTime": moment("2026-04-30T09:00:00")},
    ),
    StrictCase(
        "PRC-15", "EVENT_TIMES", "create_virtual_event_townhall",
        {**EXAMPLES["create_virtual_event_townhall"], "endDateTime": moment("2026-05-01T08:00:00")},
        {"endDateTime": moment("2026-05-01T11:00:00")},
    ),
    StrictCase(
        "PRC-17", "CHAT_MEMBERSHIP", "create_chat",
        {**EXAMPLES["create_chat"], "members": [
            {"_odata_type": "x", "roles": [], "user_odata_bind": bind(name)} for name in ("ben", "eve")
        ]},
        {"members": EXAMPLES["create_chat"]["members"]},
    ),
    StrictCase(
        "PRC-16", "INVALID_STATE_TRANSITION", "publish_virtual_event_webinar", {"webinar_id": "w-3"},
        {"webinar_id": "w-1"},
    ),
)  # fmt: skip
