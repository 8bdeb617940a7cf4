"""Process rules of access `strict`, numbered as in the policies.

Invariant: a rule judges what a write changes, so that a row which already breaks it can still be corrected.
Administrators are bound by the rules that keep records whole, and not by those on ownership. Rows that a rule asks
about are found even where the acting user does not reach them.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from opsgym_domains.kit.access import Rulebook
from opsgym_domains.kit.desk import follows, sets_any
from opsgym_domains.kit.gym import Gym
from opsgym_domains.kit.schema import Row
from opsgym_domains.teams.events import CANCELED, DRAFT, PUBLISHED, Event
from opsgym_domains.teams.graph import loaded
from opsgym_domains.teams.memberships import is_in, members_of, owners_of
from opsgym_domains.teams.messages import Message
from opsgym_domains.teams.tables import (
    Channel,
    ChannelMember,
    ChannelMessage,
    ChannelTab,
    ChatMember,
    ChatMessage,
    Group,
    Team,
    TownHall,
    TownHallCoOrganizer,
    User,
    Webinar,
    WebinarCoOrganizer,
)
from opsgym_domains.teams.visibility import ADMINISTRATORS

RULEBOOK = Rulebook()
on_write, declare = RULEBOOK.on_write, RULEBOOK.declare
EVENT_STATES = {DRAFT: (PUBLISHED, CANCELED), PUBLISHED: (CANCELED,)}
"""States that may follow a state of an event; `canceled` is final."""
_GENERAL = "General"
_WRITTEN = ("subject", "summary", "importance", "body_json", "attachments_json", "mentions_json", "from_json", "locale")
"""Columns of a message that its sender writes."""


def _administers(gym: Gym) -> bool:
    return gym.actor.role in ADMINISTRATORS


# --- teams -----------------------------------------------------------------------------------------------------------


@on_write(Team, "PRC-1", "LAST_OWNER")
async def a_team_keeps_an_owner(_gym: Gym, after: Team, before: Team | None) -> str | None:
    """A team that had an owner has one."""
    if owners_of(after) or (before is not None and not owners_of(before)):
        return None
    return f"team {after.team_id} would have no owner; give another member the role owner first"


@on_write(Team, "PRC-2", "OWNER_REQUIRED")
async def owners_change_their_team(gym: Gym, after: Team, before: Team | None) -> str | None:
    """Only owners and administrators change a team."""
    if before is None or _administers(gym) or gym.actor.user_id in owners_of(before):
        return None
    return f"only owners of team {after.team_id} may change it; report that an owner is needed"


@on_write(Team, "PRC-3", "GUEST_OWNER")
async def guests_own_nothing(gym: Gym, after: Team, before: Team | None) -> str | None:
    """A guest account does not become an owner."""
    new = set(owners_of(after)) - set(owners_of(before) if before else ())
    guests = await gym.all(User, User.user_id.in_(new), User.user_type == "Guest") if new else ()
    return f"{guests[0].user_id} is a guest account and cannot own a team; use the role guest" if guests else None


@on_write(Team, "PRC-4", "ACCOUNT_DISABLED")
async def members_can_sign_in(gym: Gym, after: Team, before: Team | None) -> str | None:
    """New members have accounts that are enabled."""
    old = {member.get("userId") for member in members_of(before)} if before else set()
    new = [member["userId"] for member in members_of(after) if member.get("userId") not in old]
    disabled = await gym.all(User, User.user_id.in_(new), User.account_enabled.is_(False)) if new else ()
    return f"the account {disabled[0].user_id} is disabled; do not add it" if disabled else None


# --- channels --------------------------------------------------------------------------------------------------------


@on_write(Channel, "PRC-5", "CHANNELS_RESTRICTED")
async def members_create_channels_where_the_team_lets_them(
    gym: Gym, after: Channel, before: Channel | None
) -> str | None:
    """Members and guests create and change channels only as the settings of the team allow."""
    team = await gym.published().get(Team, after.team_id)
    if team is None or _administers(gym) or gym.actor.user_id in owners_of(team):
        return None
    own = next((member for member in members_of(team) if member.get("userId") == gym.actor.user_id), {})
    is_guest = "guest" in (own.get("roles") or ())
    settings = loaded(team.guest_settings if is_guest else team.member_settings, {})
    is_private = before is None and after.membership_type == "private" and not is_guest
    name = "allowCreatePrivateChannels" if is_private else "allowCreateUpdateChannels"
    if settings.get(name):
        return None
    return f"team {team.team_id} does not let you ({name}); report that an owner is needed"


@on_write(Channel, "PRC-6", "GENERAL_CHANNEL")
async def the_channel_general_stays(_gym: Gym, after: Channel, before: Channel | None) -> str | None:
    """The channel General is neither renamed nor archived."""
    if before is None or before.display_name != _GENERAL or not sets_any(after, before, "display_name", "is_archived"):
        return None
    return f"the channel {_GENERAL} cannot be renamed or archived"


async def _open_channel(gym: Gym, after: Any, _before: Row | None) -> str | None:
    """Nothing is written in an archived channel."""
    channel = await gym.published().get(Channel, after.channel_id)
    if channel is None or not channel.is_archived:
        return None
    return f"channel {channel.channel_id} is archived; write in another channel"


declare("PRC-7", "CHANNEL_ARCHIVED", _open_channel, ChannelMessage, ChannelTab, ChannelMember)


@on_write(ChannelMember, "PRC-8", "STANDARD_CHANNEL")
async def a_standard_channel_is_for_the_team(gym: Gym, after: ChannelMember, _before: Any) -> str | None:
    """A standard channel has no members of its own."""
    channel = await gym.published().get(Channel, after.channel_id)
    if channel is None or channel.membership_type != "standard":
        return None
    return f"everybody in the team is in the standard channel {channel.channel_id}; add the user to the team"


@on_write(ChannelMember, "PRC-9", "CHANNEL_OWNER_REQUIRED")
async def owners_add_to_their_channel(gym: Gym, after: ChannelMember, _before: Any) -> str | None:
    """Only owners of a private or shared channel and administrators add users to it; a new channel has none yet."""
    members = await gym.published().all(ChannelMember, ChannelMember.channel_id == after.channel_id)
    if not members or _administers(gym):
        return None
    if any(member.user_id == gym.actor.user_id and member.roles == "owner" for member in members):
        return None
    return f"only owners of channel {after.channel_id} may add users; report that an owner is needed"


@on_write(ChannelMember, "PRC-10", "NOT_IN_TEAM")
async def members_of_private_channels_are_in_the_team(gym: Gym, after: ChannelMember, _before: Any) -> str | None:
    """Who is in a private channel is in its team."""
    channel = await gym.published().get(Channel, after.channel_id)
    if channel is None or channel.membership_type != "private":
        return None
    team = await gym.published().get(Team, channel.team_id)
    if team is None or is_in(team, after.user_id):
        return None
    return f"{after.user_id} is not in team {team.team_id}; add the user to the team first"


# --- messages --------------------------------------------------------------------------------------------------------


async def _own_message(gym: Gym, after: Message, before: Message | None) -> str | None:
    """Only the sender changes a message; its deletion is the sender's too, or that of an owner of the team."""
    if before is None or not sets_any(after, before, *_WRITTEN, "deleted_datetime"):
        return None
    sender = ((loaded(before.from_json, {}) or {}).get("user") or {}).get("id")
    if sender == gym.actor.user_id:
        return None
    if isinstance(after, ChannelMessage) and not sets_any(after, before, *_WRITTEN):
        team = await gym.published().get(Team, after.team_id)
        allows = team is not None and loaded(team.messaging_settings, {}).get("allowOwnerDeleteMessages")
        if team is not None and allows and (_administers(gym) or gym.actor.user_id in owners_of(team)):
            return None
    return f"message {after.message_id} is by {sender}, who alone may change or delete it; write a message of your own"


declare("PRC-11", "NOT_SENDER", _own_message, ChatMessage, ChannelMessage)


@on_write(ChatMember, "PRC-17", "CHAT_MEMBERSHIP")
async def users_create_chats_that_they_are_in(gym: Gym, after: ChatMember, _before: Any) -> str | None:
    """Who adds people to a chat is in it."""
    if after.user_id == gym.actor.user_id or await gym.published().get(ChatMember, (after.chat_id, gym.actor.user_id)):
        return None
    return "you must be a member of a chat that you create; name yourself among the members"


# --- people and groups -----------------------------------------------------------------------------------------------


@on_write(User, "PRC-12", "OWN_ACCOUNT")
async def users_keep_their_own_account(gym: Gym, after: User, before: User | None) -> str | None:
    """The acting user does not delete or disable the own account."""
    if before is None or after.user_id != gym.actor.user_id:
        return None
    if not after.soft_deleted and after.account_enabled is not False:
        return None
    return "you cannot delete or disable your own account; another administrator can"


@on_write(Group, "PRC-13", "GROUP_OWNER_REQUIRED")
async def owners_change_their_group(gym: Gym, after: Group, before: Group | None) -> str | None:
    """Only owners and administrators change a group."""
    if before is None or _administers(gym):
        return None
    if any(owner.get("id") == gym.actor.user_id for owner in loaded(before.owners, [])):
        return None
    return f"only owners of group {after.group_id} may change it; report that an owner is needed"


# --- events ----------------------------------------------------------------------------------------------------------


async def _organised(gym: Gym, after: Event, before: Event | None) -> str | None:
    """Only the organiser, co-organisers and administrators change an event."""
    if before is None or _administers(gym) or before.created_by_user_id == gym.actor.user_id:
        return None
    if isinstance(after, Webinar):
        organises = await gym.exists(WebinarCoOrganizer, webinar_id=after.id, user_id=gym.actor.user_id)
    else:
        organises = await gym.exists(TownHallCoOrganizer, townhall_id=after.id, user_id=gym.actor.user_id)
    return None if organises else f"event {after.id} is organised by {before.created_by_user_id}; ask the organiser"


async def _ahead(gym: Gym, after: Event, before: Event | None) -> str | None:
    """An event that is created ends after it starts and starts in the future."""
    if before is not None or after.start_date_time is None or after.end_date_time is None:
        return None
    start = _instant(after.start_date_time, after.start_time_zone)
    if _instant(after.end_date_time, after.end_time_zone) <= start:
        return "the event must end after it starts; give other times"
    return None if start > gym.now() else "the event must start in the future; give another start"


def _instant(time: datetime, zone: str | None) -> datetime:
    """The time of a clock in UTC; a zone that is not known counts as UTC."""
    try:
        place = ZoneInfo(zone or "UTC")
    except (KeyError, ValueError, OSError):
        return time
    return time.replace(tzinfo=place).astimezone(UTC).replace(tzinfo=None)


declare("PRC-14", "ORGANIZER_REQUIRED", _organised, Webinar, TownHall)
declare("PRC-15", "EVENT_TIMES", _ahead, Webinar, TownHall)
declare("PRC-16", "INVALID_STATE_TRANSITION", follows("status", EVENT_STATES, (DRAFT,)), Webinar, TownHall)
