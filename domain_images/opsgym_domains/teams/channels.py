"""Channels of teams, their members, e-mail addresses and folders."""

from __future__ import annotations

import re
from typing import Any

from sqlalchemy import func

from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym
from opsgym_domains.teams.graph import (
    BASE,
    Shown,
    bound,
    context,
    filters,
    loaded,
    object_of,
    picked,
    reduced,
    shown_time,
    sieved,
)
from opsgym_domains.teams.memberships import new_hex
from opsgym_domains.teams.odata import Columns, Related, parse_expand, parse_select
from opsgym_domains.teams.people import actor_of, tenant_of, user_of
from opsgym_domains.teams.tables import Channel, ChannelMember, ChannelTab, FilesFolder, Team, User
from opsgym_domains.teams.toolbox import tool

COLUMNS: Columns = {
    "id": Channel.channel_id,
    "displayName": Channel.display_name,
    "description": Channel.description,
    "email": Channel.email,
    "membershipType": Channel.membership_type,
    "isFavoriteByDefault": Channel.is_favorite_by_default,
    "isArchived": Channel.is_archived,
    "createdDateTime": Channel.created_date_time,
}
GENERAL = "General"
"""Name of a team's primary channel."""


def shown_channel(channel: Channel, tenant: str | None) -> Shown:
    """A channel."""
    return {
        "@odata.type": "#microsoft.graph.channel",
        "id": channel.channel_id,
        "displayName": channel.display_name,
        "description": channel.description,
        "membershipType": channel.membership_type,
        "isFavoriteByDefault": bool(channel.is_favorite_by_default),
        "tenantId": tenant,
        "teamId": channel.team_id,
        "isArchived": bool(channel.is_archived),
        "createdDateTime": shown_time(channel.created_date_time),
    }


PROPERTIES = (*(name for name in shown_channel(Channel(), None) if not name.startswith("@")), "email", "webUrl")


def listed_channel(channel: Channel, tenant: str | None) -> Shown:
    """A channel in a list, with its address."""
    address = f"{BASE}/tenants/{tenant}/teams/{channel.team_id}/channels/{channel.channel_id}"
    shown = {name: value for name, value in shown_channel(channel, tenant).items() if not name.startswith("@")}
    web = f"https://teams.microsoft.com/l/channel/{channel.channel_id}/{channel.team_id}"
    return {"@odata.id": address, **shown, "email": channel.email, "webUrl": web}


def shown_tab(tab: ChannelTab) -> Shown:
    """A tab of a channel without its app."""
    return {
        "id": tab.tab_id,
        "displayName": tab.display_name,
        "configuration": object_of(tab.configuration_json),
        "sortOrderIndex": tab.sort_order_index,
        "webUrl": tab.web_url,
    }


TAB_ORDER = ChannelTab.sort_order_index.asc()
_EXPANDABLE = {
    "filesFolder": Related(("id", "webUrl"), is_list=False),
    "members": Related(("userId", "roles")),
    "tabs": Related(tuple(shown_tab(ChannelTab()))),
}


async def channel_of(gym: Gym, team_id: str, channel_id: str) -> Channel:
    """A channel of a team.

    Raises:
        ToolError: `TEAM_NOT_FOUND`, `CHANNEL_NOT_FOUND`.
    """
    await gym.fetch(Team, team_id, field="teamId")
    channel = await gym.find(Channel, channel_id=channel_id, team_id=team_id)
    if channel is None:
        message = f"Channel '{channel_id}' does not exist in team '{team_id}'."
        raise ToolError("CHANNEL_NOT_FOUND", message, "channelId")
    return channel


@tool(adds=Channel)
async def create_channel(
    gym: Gym,
    team_id: str,
    display_name: str,
    members: list[Shown] | None = None,
    microsoft_graph_channel_creation_mode: str | None = None,
    **fields: Any,
) -> Shown:
    """Create a standard, private or shared channel in a team.

    Members count for private and shared channels; if none is given you become the owner. Returns the new channel.
    Refused if a channel of the team has the name (DUPLICATE_CHANNEL_NAME) and for an unknown team or user
    (TEAM_NOT_FOUND, USER_NOT_FOUND).
    """
    await gym.fetch(Team, team_id, field="teamId")
    await _refuse_taken_name(gym, team_id, display_name)
    channel = Channel(
        channel_id=f"channel_{await new_hex(gym)}",
        team_id=team_id,
        display_name=display_name,
        is_archived=False,
        migration_mode=microsoft_graph_channel_creation_mode,
        soft_delete=False,
        **{"membership_type": "standard", "is_favorite_by_default": False, **fields},
    )
    joining = await _first_members(gym, channel, members or [])
    await gym.insert(channel)
    await gym.insert_all(joining)
    return {
        "@odata.context": context(f"teams('{team_id}')/channels/$entity"),
        **shown_channel(channel, await tenant_of(gym)),
    }


async def _refuse_taken_name(gym: Gym, team_id: str, name: str, but: Channel | None = None) -> None:
    named = func.lower(Channel.display_name) == name.lower()
    taken = await gym.published().first(Channel, Channel.team_id == team_id, named)
    if taken is not None and taken is not but:
        message = f"Channel name '{name}' already exists in the team; use another name."
        raise ToolError("DUPLICATE_CHANNEL_NAME", message, "displayName")


async def _first_members(gym: Gym, channel: Channel, given: list[Shown]) -> list[ChannelMember]:
    """Members of a new channel; a standard channel has none, since the whole team is in it."""
    if channel.membership_type == "standard":
        return []
    people: dict[str, tuple[User, str]] = {}
    for one in given:
        user = await _user(gym, one["user_odata_bind"])
        people[user.user_id] = user, next(iter(one.get("roles") or ()), "member")
    if not people:
        actor = await actor_of(gym)
        people[actor.user_id] = actor, "owner"
    return [_member(gym, channel, user, role) for user, role in people.values()]


async def _user(gym: Gym, reference: str) -> User:
    return await user_of(gym, bound(reference, ("users",), "user_odata_bind"), "user_odata_bind")


def _member(gym: Gym, channel: Channel, user: User, role: str) -> ChannelMember:
    return ChannelMember(
        channel_id=channel.channel_id,
        user_id=user.user_id,
        roles=role,
        display_name=user.display_name,
        email=user.mail or user.user_principal_name,
        added_at=gym.now(),
    )


@tool(changes=Channel)
async def update_channel(gym: Gym, team_id: str, channel_id: str, **fields: Any) -> None:
    """Change the name, the description or the display of a channel.

    Properties that are not given keep their value. Refused without a property to change (NO_FIELDS_TO_UPDATE), for an
    unknown channel (CHANNEL_NOT_FOUND) and if another channel of the team has the name (DUPLICATE_CHANNEL_NAME).
    """
    if not fields:
        raise ToolError("NO_FIELDS_TO_UPDATE", "Give displayName, description or isFavoriteByDefault.")
    channel = await channel_of(gym, team_id, channel_id)
    if "display_name" in fields:
        await _refuse_taken_name(gym, team_id, fields["display_name"], channel)
    await gym.update(channel, fields)


@tool(row=Channel)
async def list_channels(
    gym: Gym,
    team_id: str,
    filter: str | None = None,  # noqa: A002 - published name
    select: str | None = None,
) -> Shown:
    """List the channels of a team.

    In the order of their creation. Channels that other teams share with the team are left out. Refused with
    INVALID_FILTER or UNKNOWN_PROPERTY where an option cannot be read, and for an unknown team (TEAM_NOT_FOUND).
    """
    return await _listed(gym, team_id, "channels", filter, select)


async def _listed(
    gym: Gym,
    team_id: str,
    collection: str,
    condition: str | None,
    select: str | None,
) -> Shown:
    names = parse_select(select, PROPERTIES)
    team = await gym.fetch(Team, team_id, field="teamId")
    tenant = await tenant_of(gym)
    channels = await gym.all(Channel, Channel.team_id == team_id, *filters(condition, COLUMNS))
    shown = [listed_channel(channel, tenant) for channel in channels]
    if collection == "allChannels":
        shown += sieved(_incoming(team), condition, PROPERTIES)
    return {
        "@odata.context": context(f"teams('{team_id}')/{collection}"),
        "@odata.count": len(shown),
        "value": [picked(channel, names) for channel in shown],
    }


def _incoming(team: Team) -> list[Shown]:
    """Channels that other teams share with a team."""
    incoming = loaded(team.incoming_channels, [])
    return [
        {
            "@odata.id": f"{BASE}/tenants/{channel.get('tenantId')}/teams/{team.team_id}/channels/{channel.get('id')}",
            **channel,
        }
        for channel in (incoming if isinstance(incoming, list) else [])
        if isinstance(channel, dict)
    ]


@tool(row=Channel)
async def list_all_channels(
    gym: Gym,
    team_id: str,
    filter: str | None = None,  # noqa: A002 - published name
    select: str | None = None,
) -> Shown:
    """List the channels of a team and those that other teams share with it.

    The team's own channels come first. Refused with INVALID_FILTER or UNKNOWN_PROPERTY where an option cannot be read,
    and for an unknown team (TEAM_NOT_FOUND).
    """
    return await _listed(gym, team_id, "allChannels", filter, select)


@tool(row=Channel)
async def get_primary_channel(
    gym: Gym,
    team_id: str,
    filter: str | None = None,  # noqa: A002 - published name
    select: str | None = None,
    expand: str | None = None,
) -> Shown:
    """Read the channel General of a team.

    _expand adds its filesFolder, members or tabs. Refused if the team has no such channel, or the filter leaves it out
    (CHANNEL_NOT_FOUND), and for an unknown team (TEAM_NOT_FOUND).
    """
    names, expanded = parse_select(select, PROPERTIES), parse_expand(expand, _EXPANDABLE)
    await gym.fetch(Team, team_id, field="teamId")
    conditions = filters(filter, COLUMNS)
    channel = await gym.first(Channel, Channel.team_id == team_id, Channel.display_name == GENERAL, *conditions)
    if channel is None:
        raise ToolError("CHANNEL_NOT_FOUND", f"Team '{team_id}' has no channel {GENERAL} that is asked for.", "teamId")
    shown = picked(listed_channel(channel, await tenant_of(gym)), names)
    del shown["@odata.id"]
    shown = {"@odata.context": context(f"teams('{team_id}')/primaryChannel/$entity"), **shown}
    related = {name: await _related(gym, channel, name) for name in expanded}
    return shown | {name: reduced(related[name], expansion) for name, expansion in expanded.items()}


async def _related(gym: Gym, channel: Channel, name: str) -> Shown | list[Shown] | None:
    """What belongs to a channel: a name of `_EXPANDABLE`."""
    key = channel.channel_id
    if name == "filesFolder":
        folder = await gym.find(FilesFolder, channel_id=key)
        return None if folder is None else {"id": folder.drive_item_id, "webUrl": folder.web_url}
    if name == "tabs":
        return [shown_tab(tab) for tab in await gym.all(ChannelTab, ChannelTab.channel_id == key, order=[TAB_ORDER])]
    members = await gym.all(ChannelMember, ChannelMember.channel_id == key)
    return [{"userId": one.user_id, "roles": [one.roles]} for one in members]


@tool(adds=ChannelMember)
async def add_channel_member(
    gym: Gym,
    team_id: str,
    channel_id: str,
    user_odata_bind: str,
    roles: list[str] | None = None,
    odata_type: str | None = None,
) -> Shown:
    """Add a user to a channel, as a member or as an owner.

    Returns the new member. Refused for an unknown channel or user (CHANNEL_NOT_FOUND, USER_NOT_FOUND) and for a user
    who is in the channel already (DUPLICATE_MEMBER).
    """
    del odata_type  # every member is a user of the directory
    channel, user = await channel_of(gym, team_id, channel_id), await _user(gym, user_odata_bind)
    if await gym.get(ChannelMember, (channel_id, user.user_id)) is not None:
        raise ToolError("DUPLICATE_MEMBER", f"User {user.user_id} is already in the channel.", "user_odata_bind")
    member = await gym.insert(_member(gym, channel, user, next(iter(roles or ()), "member")))
    return {
        "id": await gym.published().count(ChannelMember),
        "roles": [member.roles],
        "displayName": member.display_name,
        "email": member.email,
        "userId": member.user_id,
        "tenantId": await tenant_of(gym),
        "visibleHistoryStartDateTime": shown_time(member.added_at),
    }


@tool(changes=Channel)
async def archive_channel(gym: Gym, team_id: str, channel_id: str) -> None:
    """Archive a channel.

    Refused for an unknown channel (CHANNEL_NOT_FOUND). A channel that is archived already stays so.
    """
    await gym.update(await channel_of(gym, team_id, channel_id), {"is_archived": True})


@tool(changes=Channel)
async def provision_channel_email(gym: Gym, team_id: str, channel_id: str) -> Shown:
    """Give a channel an e-mail address.

    Returns the address, which is made from the names of channel, team and organisation; a channel that has one keeps
    it. Refused for an unknown channel (CHANNEL_NOT_FOUND).
    """
    channel = await channel_of(gym, team_id, channel_id)
    slug = re.sub(r"[^a-z0-9]+", "-", channel.display_name.lower()).strip("-")
    address = channel.email or f"{slug}.{team_id[:8]}@{channel.org_id}.teams.ms"
    await gym.update(channel, {"email": address})
    return {"@odata.type": "#microsoft.graph.provisionChannelEmailResult", "email": address}
