"""Permissions of users on tools in access `strict`.

Invariant: each tool has one resource, and permissions are read from the tables at every call: a user may use a resource
with any of the directory's permissions for it, whether the user or an application has it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from importlib.resources import files

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from opsgym_domains.kit.access import READ, WRITE, AccessRules
from opsgym_domains.kit.gym import Actor
from opsgym_domains.kit.tools import Tool
from opsgym_domains.teams.rules import RULEBOOK
from opsgym_domains.teams.tables import UserPermission
from opsgym_domains.teams.visibility import of_member

Names = tuple[str, ...]
PERMISSIONS: Mapping[str, tuple[Names, Names]] = {
    "users": (("User.Read.All", "User.ReadBasic.All", "Directory.Read.All"), ("User.ReadWrite.All",)),
    "chats": (
        ("Chat.Read", "Chat.ReadBasic", "Chat.Read.All"),
        ("Chat.ReadWrite", "Chat.Create", "Chat.ReadWrite.All"),
    ),
    "chat_messages": (("Chat.Read", "ChatMessage.Read"), ("Chat.ReadWrite", "ChatMessage.Send", "Chat.ReadWrite.All")),
    "channels": (
        ("Channel.ReadBasic.All", "ChannelSettings.Read.All"),
        ("Channel.Create", "ChannelSettings.ReadWrite.All"),
    ),
    "channel_messages": (("ChannelMessage.Read.All",), ("ChannelMessage.Send", "ChannelMessage.ReadWrite")),
    "files_folders": (("Files.Read.All", "Files.ReadWrite.All"), ()),
    "tabs": (("TeamsTab.Read.All",), ("TeamsTab.ReadWrite.All", "TeamsTab.Create")),
    "teams": (("Team.ReadBasic.All", "TeamSettings.Read.All"), ("Team.Create", "TeamSettings.ReadWrite.All")),
    "team_members": (("TeamMember.Read.All",), ("TeamMember.ReadWrite.All",)),
    "apps": (("AppCatalog.Read.All", "TeamsAppInstallation.ReadForTeam"), ()),
    "tags": (("TeamworkTag.Read",), ("TeamworkTag.ReadWrite",)),
    "groups": (("Group.Read.All", "GroupMember.Read.All"), ("Group.ReadWrite.All",)),
    "call_records": (("CallRecords.Read.All",), ()),
    "calls": ((), ("Calls.Initiate.All", "Calls.InitiateGroupCall.All")),
    "presence": ((), ("Presence.ReadWrite", "Presence.ReadWrite.All")),
    "webinars": (("VirtualEvent.Read", "VirtualEvent.Read.All"), ("VirtualEvent.ReadWrite",)),
    "townhalls": (("VirtualEvent.Read", "VirtualEvent.Read.All"), ("VirtualEvent.ReadWrite",)),
}
"""By resource: permissions with which it can be read, and permissions with which it can be changed (and read)."""


def access_rules(tools: Mapping[str, Tool]) -> AccessRules:
    """Access rules of the Teams server.

    Args:
        tools: All of its tools.
    """
    return AccessRules(
        resources={name: tool.run.__module__.rpartition(".")[2] for name, tool in tools.items()},
        actions=_actions,
        rulebook=RULEBOOK,
        identity_rule="ID-1",
        permission_rule="ID-2",
        scope=of_member,
        unseen=frozenset({"chat_members.chat_id", "chat_app_installations.chat_id", "channel_members.channel_id"}),
        policy=lambda: files("opsgym_domains.teams").joinpath("policy-strict.md").read_text(encoding="utf-8"),
    )


async def _actions(session: AsyncSession, actor: Actor, resource: str) -> Collection[str]:
    """What a user may do with a resource, by the permissions of the user in the own organisation."""
    held = select(UserPermission.permission_id).where(
        UserPermission.user_id == actor.user_id, UserPermission.org_id == actor.org_id
    )
    names = {grant.partition(":")[0] for grant in await session.scalars(held)}
    reading, writing = PERMISSIONS[resource]
    if not names.isdisjoint(writing):
        return READ, WRITE
    return (READ,) if not names.isdisjoint(reading) else ()
