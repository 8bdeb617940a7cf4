"""Tool calls of Teams tasks, and the keys that the server makes in their course.

Invariant: keys come from rows or from the count of keys, so no task states one. Calls name people by their keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opsgym_api.tasks.task import ToolCall
from opsgym_domains.kit.identifiers import uuid_of
from opsgym_domains.teams.graph import BASE
from opsgym_domains.teams.tables import (
    Channel,
    Chat,
    Tag,
    Team,
    User,
    Webinar,
)
from opsgym_suites.kit.drafts import call

MEMBER = "#microsoft.graph.aadUserConversationMember"


def keys_made(made: ToolCall) -> int:
    """How many keys the server counts up in a call that it carries out."""
    given = made.arguments
    match made.name:
        case "create_team":
            return 1 + len(given["members"])
        case "add_team_members_in_bulk":
            return len(given["values"])
        case "create_teamwork_tag":
            return 1 + len(given["members"])
        case "update_teamwork_tag":
            return len(given.get("members", ()))
        case "create_call":
            return 3
        case "create_virtual_event_webinar" | "create_virtual_event_townhall":
            return 2
        case "create_chat":
            return int(given["chatType"] == "group")
        case _:
            return int(made.name in _ONE_KEY)


_ONE_KEY = {
    "create_user",
    "create_channel",
    "send_channel_message",
    "add_tabs_to_channels",
    "add_tab_to_chat",
    "add_team_member",
    "create_teamwork_tag_member",
    "create_group",
    "create_audio_routing_group",
    "pin_chat_message",
}


def key_of_result(made: ToolCall, before: int) -> str:
    """Key of the row that a call adds, where the server has counted so many keys before."""
    first = uuid_of(before + 1)
    match made.name:
        case "create_team":
            return f"team_{first.replace('-', '')}"
        case "create_channel":
            return f"channel_{first.replace('-', '')}"
        case "create_call":
            return uuid_of(before + 3)
        case "create_virtual_event_webinar" | "create_virtual_event_townhall":
            return f"{first}@{uuid_of(before + 2)}"
        case "add_team_member":
            return f"membership_{first.replace('-', '')}"
        case "create_chat" if made.arguments["chatType"] == "oneOnOne":
            return "_".join(sorted(one["user_odata_bind"].split("'")[1] for one in made.arguments["members"]))
        case "create_user" | "create_group" | "create_teamwork_tag":
            return first
        case _:
            return first.replace("-", "")


# --- looking up ------------------------------------------------------------------------------------------------------


def find_user(user: User) -> ToolCall:
    """Looks a user up by name."""
    return call("list_users", _filter=f"displayName eq '{user.display_name}'")


def find_team(team: Team) -> ToolCall:
    """Looks a team up by name."""
    return call("list_teams", _filter=f"displayName eq '{team.display_name}'")


def channels_of(team: Team) -> ToolCall:
    """Lists the channels of a team."""
    return call("list_channels", teamId=team.team_id)


def members_of(team: Team) -> ToolCall:
    """Lists the members of a team."""
    return call("list_team_members", teamId=team.team_id)


def posts_of(channel: Channel, *, replies: bool = False) -> ToolCall:
    """Lists the newest posts of a channel."""
    more = {"_expand": "replies"} if replies else {}
    return call("list_channel_messages", teamId=channel.team_id, channelId=channel.channel_id, **more)


def tags_of(team: Team) -> ToolCall:
    """Lists the tags of a team."""
    return call("list_teamwork_tags", team_id=team.team_id)


def chats() -> ToolCall:
    """Lists the acting user's chats."""
    return call("list_chats")


def lines_of(chat: Chat) -> ToolCall:
    """Lists the newest messages of a chat."""
    return call("list_chat_messages", chatId=chat.chat_id)


# --- people and groups -----------------------------------------------------------------------------------------------


def bind(user: User) -> str:
    """Reference to a user."""
    return f"{BASE}/users('{user.user_id}')"


def create_user(host: str, name: str, title: str, department: str, **more: Any) -> ToolCall:
    """Creates an account."""
    nickname = name.lower().replace(" ", ".")
    return call(
        "create_user",
        accountEnabled=True,
        displayName=name,
        mailNickname=nickname,
        userPrincipalName=f"{nickname}@{host}",
        passwordProfile={"password": "Change-me-7421", "forceChangePasswordNextSignIn": True},
        jobTitle=title,
        department=department,
        **more,
    )


def update_user(user: User, **values: Any) -> ToolCall:
    """Changes properties of an account."""
    return call("update_user", userId=user.user_id, **values)


# --- teams -----------------------------------------------------------------------------------------------------------


def seat(user: User, role: str = "member") -> dict[str, Any]:
    """A member of a team in a call."""
    return {"_odata_type": MEMBER, "roles": [role], "user_odata_bind": bind(user)}


def join(team: str | Team, user: User, role: str = "member") -> ToolCall:
    """Adds a user to a team."""
    return call("add_team_member", teamId=_id(team), _odata_type=MEMBER, roles=[role], user_odata_bind=bind(user))


def join_all(team: Team, users: Sequence[User], role: str = "member") -> ToolCall:
    """Adds several users to a team at once."""
    return call("add_team_members_in_bulk", teamId=team.team_id, values=[seat(user, role) for user in users])


def set_role(team: Team, membership: str, role: str) -> ToolCall:
    """Changes the role of a member."""
    return call("update_team_member", teamId=team.team_id, membershipId=membership, roles=[role])


def leave(team: Team, membership: str) -> ToolCall:
    """Removes a member from a team."""
    return call("remove_team_member", teamId=team.team_id, membershipId=membership)


def create_channel(
    team: str | Team, name: str, text: str = "", kind: str = "standard", members: Sequence[tuple[User, str]] = ()
) -> ToolCall:
    """Creates a channel; members of a private one have roles."""
    more: dict[str, Any] = {"description": text} if text else {}
    if members:
        more["members"] = [{"user_odata_bind": bind(user), "roles": [role]} for user, role in members]
    return call("create_channel", teamId=_id(team), displayName=name, membershipType=kind, **more)


def in_channel(tool: str, channel: Channel, **more: Any) -> ToolCall:
    """A call of a tool that needs a team and a channel."""
    return call(tool, teamId=channel.team_id, channelId=channel.channel_id, **more)


def admit(channel: Channel, user: User, role: str = "") -> ToolCall:
    """Adds a user to a private or shared channel."""
    more = {"roles": [role]} if role else {}
    return in_channel("add_channel_member", channel, user_odata_bind=bind(user), **more)


def post(channel: Channel | tuple[str, str], text: str, **more: Any) -> ToolCall:
    """Posts in a channel, which is a row or the keys of team and channel."""
    team, key = channel if isinstance(channel, tuple) else (channel.team_id, channel.channel_id)
    return call(
        "send_channel_message", teamId=team, channelId=key, body={"contentType": "text", "content": text}, **more
    )


def text_of(text: str) -> dict[str, str]:
    """The body of a message."""
    return {"contentType": "text", "content": text}


def give_tag(tag: Tag, user: User) -> ToolCall:
    """Gives a tag to one more user."""
    return call("create_teamwork_tag_member", team_id=tag.team_id, tag_id=tag.id, userId=user.user_id)


def _id(team: str | Team) -> str:
    return team if isinstance(team, str) else team.team_id


# --- chats -----------------------------------------------------------------------------------------------------------


def open_chat(users: Sequence[User], topic: str = "") -> ToolCall:
    """Creates a chat: of two users without a topic."""
    members = [
        {
            "_odata_type": MEMBER,
            "roles": ["guest" if user.user_type == "Guest" else "owner"],
            "user_odata_bind": bind(user),
        }
        for user in users
    ]
    more = {"topic": topic} if topic else {}
    return call("create_chat", chatType="group" if topic else "oneOnOne", members=members, **more)


def say(chat: Chat | str, text: str, **more: Any) -> ToolCall:
    """Sends a message in a chat."""
    return call("send_chat_message", chatId=chat if isinstance(chat, str) else chat.chat_id, body=text_of(text), **more)


# --- calls, presence, events -----------------------------------------------------------------------------------------


def set_status(user: User, text: str, until: str = "") -> ToolCall:
    """Sets the status message of a user, until a time in UTC if it is given."""
    more = {"expiryDateTime": {"dateTime": until, "timeZone": "UTC"}} if until else {}
    return call(
        "set_user_status_message",
        user_id=user.user_id,
        statusMessage={"message": {"content": text, "contentType": "text"}, **more},
    )


def plan_event(
    kind: str, name: str, text: str, start: str, end: str, helpers: Sequence[User] = (), **more: Any
) -> ToolCall:
    """Creates a webinar or a town hall, at times in UTC."""
    people = {"coOrganizers": [{"id": user.user_id} for user in helpers]} if helpers else {}
    return call(
        f"create_virtual_event_{kind}",
        displayName=name,
        description={"contentType": "text", "content": text},
        startDateTime={"dateTime": start, "timeZone": "UTC"},
        endDateTime={"dateTime": end, "timeZone": "UTC"},
        **{"audience": "organization", **more},
        **people,
    )


def webinars() -> ToolCall:
    """Lists the webinars."""
    return call("list_virtual_event_webinars")


def town_halls() -> ToolCall:
    """Lists the town halls."""
    return call("list_virtual_event_townhalls")


def at_webinar(tool: str, webinar: Webinar | str) -> ToolCall:
    """A call of a tool that needs a webinar."""
    return call(tool, webinar_id=webinar if isinstance(webinar, str) else webinar.id)
