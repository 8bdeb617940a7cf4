"""Process rules of the calendar server that access `strict` enforces.

Invariant: every rule has a number in `policy.md` or `policy-strict.md`, and its refusal states what to do instead. A
rule checks only what a write changes, so that a record that already violates a rule can still be corrected.
"""

from __future__ import annotations

from datetime import UTC, datetime

from opsgym_domains.calendar.event_times import as_utc
from opsgym_domains.calendar.tables import AclRule, Attendee, Calendar, Event, Scope, User
from opsgym_domains.kit.access import Rulebook
from opsgym_domains.kit.desk import sets_any
from opsgym_domains.kit.gym import Gym

RULEBOOK = Rulebook()
on_write, on_delete = RULEBOOK.on_write, RULEBOOK.on_delete

WRITING = frozenset({"writer", "owner"})
"""Roles that change events."""


# --- sharing ---------------------------------------------------------------------------------------------------------


@on_write(AclRule, "PRC-1", "OUTSIDE_DOMAIN")
async def only_colleagues_change_events(gym: Gym, after: AclRule, before: AclRule | None) -> str | None:
    """A user, group or domain outside the owner's mail domain gets at most the role reader."""
    if after.role not in WRITING or not sets_any(after, before, "role", "scope_id"):
        return None
    scope, owner = await gym.fetch(Scope, after.scope_id), await gym.fetch(User, after.user_id)
    domain = owner.email.partition("@")[2]
    if scope.type != "default" and (scope.value or "").rpartition("@")[2] == domain:
        return None
    return f"{scope.value or 'everybody'} is not in {domain}; give the role reader or freeBusyReader"


@on_write(AclRule, "PRC-2", "LAST_OWNER")
async def a_calendar_keeps_an_owner(gym: Gym, after: AclRule, before: AclRule | None) -> str | None:
    """The last rule that makes a user owner keeps its role."""
    if before is None or before.role != "owner" or after.role == "owner":
        return None
    return await _last_owner(gym, after)


@on_delete(AclRule, "PRC-2", "LAST_OWNER")
async def the_last_owner_stays(gym: Gym, rule: AclRule) -> str | None:
    """The last rule that makes a user owner is deleted only with its calendar."""
    if rule.role != "owner" or await gym.get(Calendar, rule.calendar_id) is None:
        return None
    return await _last_owner(gym, rule)


async def _last_owner(gym: Gym, rule: AclRule) -> str | None:
    owners = await gym.all(AclRule, AclRule.calendar_id == rule.calendar_id, AclRule.role == "owner")
    if any(other.id != rule.id for other in owners):
        return None
    return f"{rule.id} is the last rule that gives the role owner; give another user the role owner first"


# --- events ----------------------------------------------------------------------------------------------------------


@on_write(Event, "PRC-3", "EVENT_OVER")
async def events_that_are_over_keep_their_time(gym: Gym, after: Event, before: Event | None) -> str | None:
    """Times of an event that has ended do not change."""
    if before is None or not sets_any(after, before, "start_datetime", "end_datetime"):
        return None
    if as_utc(before.end_datetime, before.end_timezone) > gym.now().replace(tzinfo=UTC):
        return None
    return f"{before.event_id} ended at {before.end_datetime}; create a new event instead"


@on_write(Attendee, "PRC-4", "ROOM_TAKEN")
async def a_room_is_booked_once(gym: Gym, after: Attendee, before: Attendee | None) -> str | None:
    """A room or a device is not booked for two events at one time."""
    if not after.resource or not after.user_id or not sets_any(after, before, "event_id", "user_id", "resource"):
        return None
    event = await gym.fetch(Event, after.event_id)
    return await _clash(gym, event, after.user_id)


@on_write(Event, "PRC-4", "ROOM_TAKEN")
async def a_moved_event_finds_its_rooms_free(gym: Gym, after: Event, before: Event | None) -> str | None:
    """An event with rooms moves only to a time at which they are free."""
    if before is None or not sets_any(after, before, "start_datetime", "end_datetime", "status", "transparency"):
        return None
    for room in await gym.all(Attendee, Attendee.event_id == after.event_id, Attendee.resource.is_(True)):
        if room.user_id and (clash := await _clash(gym, after, room.user_id)):
            return clash
    return None


def _span(event: Event) -> tuple[datetime, datetime]:
    return as_utc(event.start_datetime, event.start_timezone), as_utc(event.end_datetime, event.end_timezone)


def _series_of(event: Event) -> str:
    """The series of an occurrence, or the event itself; a series shares the rooms of its occurrences."""
    return event.recurring_event_id or event.event_id


def _is_busy(event: Event) -> bool:
    """Whether an event takes time of its guests: cancelled and transparent ones do not."""
    return event.status != "cancelled" and event.transparency != "transparent"


async def _clash(gym: Gym, event: Event, room: str) -> str | None:
    bookings = await gym.all(Attendee, Attendee.user_id == room, Attendee.event_id != event.event_id)
    others = await gym.all(Event, Event.event_id.in_([booking.event_id for booking in bookings]))
    start, end = _span(event)
    for other in others:
        if _series_of(other) == _series_of(event):
            continue
        begin, finish = _span(other)
        if _is_busy(other) and _is_busy(event) and begin < end and start < finish:
            return f"{room} is booked for {other.event_id} at that time; choose another room or another time"
    return None
