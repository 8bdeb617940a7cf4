"""Meetings of the company: who is free by the clocks of a zone, and the calls that ask for it and enter a meeting.

Invariant: a time is that of the zone which is named with it; every event counts in its own zone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from opsgym_api.tasks.task import ToolCall
from opsgym_domains.calendar.tables import Calendar
from opsgym_suites.calendar.calls import create, guest
from opsgym_suites.calendar.seeds.world import Colleague
from opsgym_suites.hybrid.servers import CALENDAR
from opsgym_suites.hybrid.systems import Systems, in_utc
from opsgym_suites.kit.drafts import call, on_gym


def is_free(systems: Systems, calendar: Calendar, start: datetime, minutes: int, zone: str) -> bool:
    """Whether nothing in a calendar that blocks overlaps a time."""
    return systems.calendar_is_free(calendar, in_utc(start, zone), minutes)


def hours_after(start: datetime) -> Iterator[datetime]:
    """The hours that follow a time on its working day."""
    return (start + timedelta(hours=number) for number in range(1, 9))


def first_with(
    systems: Systems, rooms: Sequence[Calendar], times: Iterable[datetime], minutes: int, zone: str
) -> datetime:
    """The first time at which rooms are free: in `strict` they refuse the others."""
    return next(time for time in times if all(is_free(systems, room, time, minutes, zone) for room in rooms))


def in_hours(start: datetime, minutes: int, zone: str, other: str, hours: tuple[int, int]) -> bool:
    """Whether a time in a zone lies within hours of the day in another zone."""
    first = in_utc(start, zone).replace(tzinfo=UTC).astimezone(ZoneInfo(other))
    last = first + timedelta(minutes=minutes)
    return first.hour >= hours[0] and (last.hour, last.minute) <= (hours[1], 0) and first.date() == last.date()


def busy(calendars: Sequence[Calendar], first: date, last: date) -> ToolCall:
    """Asks for the busy times of calendars from one day to another, both included, whatever the zone."""
    (made,) = on_gym(
        CALENDAR.gym,
        call(
            "query_freebusy",
            timeMin=f"{first - timedelta(days=1)}T00:00:00Z",
            timeMax=f"{last + timedelta(days=2)}T00:00:00Z",
            items=[{"id": calendar.calendar_id} for calendar in calendars],
        ),
    )
    return made


def meet(
    calendar: Calendar,
    title: str,
    start: datetime,
    minutes: int,
    zone: str,
    guests: Sequence[Colleague],
    **more: Any,
) -> ToolCall:
    """Enters a meeting with guests, of whom some may be rooms."""
    attendees = [guest(one.user) for one in guests]
    (made,) = on_gym(CALENDAR.gym, create(calendar, title, start, minutes, zone, attendees=attendees, **more))
    return made


def first_hour(
    systems: Systems,
    calendars: Sequence[Calendar],
    days: tuple[date, date],
    hours: tuple[int, int],
    minutes: int,
    zone: str,
    elsewhere: Mapping[str, tuple[int, int]] | None = None,
) -> datetime:
    """The first full hour at which all calendars are free, in the zone.

    Args:
        systems: The seeds.
        calendars: Calendars of people and rooms.
        days: The first and the last day.
        hours: When it may begin and must have ended, in the zone.
        minutes: Its length.
        zone: The zone.
        elsewhere: Hours in other zones within which it must lie.

    Raises:
        LookupError: No hour suits.
    """
    for number in range((days[1] - days[0]).days + 1):
        for hour in range(*hours):
            start = datetime.combine(days[0], datetime.min.time()) + timedelta(days=number, hours=hour)
            if (
                start + timedelta(minutes=minutes) <= start.replace(hour=hours[1])
                and all(is_free(systems, one, start, minutes, zone) for one in calendars)
                and all(in_hours(start, minutes, zone, *limits) for limits in (elsewhere or {}).items())
            ):
                return start
    raise LookupError(f"no hour suits from {days[0]} to {days[1]}")
