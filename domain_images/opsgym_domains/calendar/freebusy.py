"""Free and busy times of calendars.

Invariant: a busy period is an event that is confirmed and not transparent; periods that overlap or touch are one. In
access `published` wall clocks are compared and only own events count, as in the published server; in access `strict`
instants are compared and all events of the calendar count.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from dateutil import tz

from opsgym_domains.calendar.event_times import as_utc, shown
from opsgym_domains.calendar.permissions import BUSY_READERS, reach
from opsgym_domains.calendar.requests import BusyQuery
from opsgym_domains.calendar.tables import Calendar, Event
from opsgym_domains.calendar.toolbox import tool
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym

LONGEST = timedelta(days=366)
MOST_ITEMS = 50
Period = tuple[datetime, datetime]


@tool()
async def query_freebusy(gym: Gym, query: BusyQuery) -> dict[str, Any]:
    """List the busy periods of calendars within a time range of at most 366 days.

    At most 50 calendars; one that you cannot reach fails the whole query.
    """
    if len(query.items) > MOST_ITEMS:
        raise ToolError("TOO_MANY_ITEMS", "Internal server error occurred while processing the request", "items")
    try:
        calendars = await _busy_calendars(gym, query)
    except ValueError as error:
        message = f"Error processing FreeBusy query for user {gym.actor.user_id}: {error}"
        raise ToolError("INVALID_QUERY", message) from None
    return {
        "kind": "calendar#freeBusy",
        "timeMin": query.time_min,
        "timeMax": query.time_max,
        "calendars": calendars,
        "groups": None,
    }


async def _busy_calendars(gym: Gym, query: BusyQuery) -> dict[str, Any]:
    first, last = _time(query.time_min), _time(query.time_max)
    if gym.is_strict:
        zone = tz.gettz(query.time_zone or "UTC")
        first, last = (time if time.tzinfo else time.replace(tzinfo=zone) for time in (first, last))
    if (first.tzinfo is None) != (last.tzinfo is None):
        raise ValueError("can't subtract offset-naive and offset-aware datetimes")
    if not timedelta() < last - first <= LONGEST:
        raise ValueError("Time range is invalid or too large (max 366 days)")
    calendars = [await _calendar(gym, item.id) for item in query.items]
    return {calendar.calendar_id: await _busy(gym, calendar, first, last) for calendar in calendars}


def _time(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"Invalid datetime format: {text}") from None


async def _calendar(gym: Gym, calendar_id: str) -> Calendar:
    try:
        return (await reach(gym, calendar_id, BUSY_READERS if gym.is_strict else ())).calendar
    except ToolError:
        raise ValueError(f"Calendar with ID '{calendar_id}' does not exist or is not accessible") from None


async def _busy(gym: Gym, calendar: Calendar, first: datetime, last: datetime) -> dict[str, Any]:
    """Busy periods of a calendar.

    In access published, the wall clock says what overlaps, and bounds with an offset fail where a stored time has none.
    """
    periods = [_period(event, instants=gym.is_strict) for event in await _blocking(gym, calendar)]
    if not gym.is_strict:
        periods = [period for period in periods if _wall(period[0]) < _wall(last) and _wall(period[1]) > _wall(first)]
        if first.tzinfo and any(time.tzinfo is None for period in periods for time in period):
            return {"errors": [{"domain": "calendar", "reason": "backendError"}], "busy": None}
        if not first.tzinfo:
            periods = [(_wall(start), _wall(end)) for start, end in periods]
    within = [(max(start, first), min(end, last)) for start, end in periods if start < last and end > first]
    return {"errors": None, "busy": [{"start": s.isoformat(), "end": e.isoformat()} for s, e in _merged(within)]}


def _wall(time: datetime) -> datetime:
    return time.replace(tzinfo=None)


async def _blocking(gym: Gym, calendar: Calendar) -> Iterable[Event]:
    own = [] if gym.is_strict else [Event.user_id == gym.actor.user_id]
    events = await gym.all(Event, Event.calendar_id == calendar.calendar_id, Event.status == "confirmed", *own)
    return [event for event in events if event.transparency != "transparent"]


def _period(event: Event, *, instants: bool) -> Period:
    """Start and end of an event, as instants in UTC or as they are stored."""
    if instants:
        return as_utc(event.start_datetime, event.start_timezone), as_utc(event.end_datetime, event.end_timezone)
    return shown(event.start_datetime), shown(event.end_datetime)


def _merged(periods: Iterable[Period]) -> list[Period]:
    merged: list[Period] = []
    for start, end in sorted(periods):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
