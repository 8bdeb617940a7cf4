"""Times of events in access `strict`: an event happens at instants, which its zone's wall clock names.

Invariant: what is stored is the wall clock in the zone that stands beside it, so that a series keeps its time of day
when the clocks change. A time without offset is in the zone given with it, or else in the calendar's.
"""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo

from dateutil import tz

from opsgym_domains.calendar.event_bodies import Moment
from opsgym_domains.calendar.event_times import MIDNIGHT, EventTime, midnight, parse_moment, shown
from opsgym_domains.calendar.tables import Event


def zone_of(name: str | None, calendar_zone: str) -> tzinfo:
    """A time zone, or the calendar's if the name is empty or unknown."""
    return tz.gettz(name or calendar_zone) or UTC


def strict_event_time(given: Moment, calendar_zone: str) -> EventTime:
    """Start or end of an event.

    Raises:
        ValueError: A text is not a date or time.
    """
    name = given.time_zone or calendar_zone
    zone = zone_of(name, calendar_zone)
    if given.date_time is None:
        return EventTime(midnight(given.date or "").replace(tzinfo=zone), name)
    moment = parse_moment(given.date_time)
    return EventTime(moment.astimezone(zone) if moment.tzinfo else moment.replace(tzinfo=zone), name)


def bound(text: str, zone: tzinfo) -> datetime:
    """The instant of a filter; a time without offset is in the zone.

    Raises:
        ValueError: The text has another form.
    """
    return at_zone(parse_moment(text), zone)


def at_zone(moment: datetime, zone: tzinfo) -> datetime:
    """A time with offset; one without is in the zone."""
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)


def begins(event: Event, calendar_zone: str) -> datetime:
    """The instant at which an event starts."""
    return at_zone(shown(event.start_datetime), zone_of(event.start_timezone, calendar_zone))


def ends(event: Event, calendar_zone: str) -> datetime:
    """The instant at which an event ends."""
    return at_zone(shown(event.end_datetime), zone_of(event.end_timezone, calendar_zone))


def is_all_day(event: Event) -> bool:
    """Whether an event lasts whole days: it starts and ends at midnight and was not planned for a time."""
    whole = shown(event.start_datetime).time() == shown(event.end_datetime).time() == MIDNIGHT
    return whole and not event.originalStartTime_dateTime


def resource_moment(moment: datetime, name: str | None, *, all_day: bool, zone: tzinfo | None) -> dict[str, str | None]:
    """A time as results show it.

    Args:
        moment: The instant.
        name: Zone that is stored beside it.
        all_day: Whether only the date counts.
        zone: Zone in which to show it; None for its own.
    """
    if all_day:
        return {"dateTime": None, "date": moment.date().isoformat(), "timeZone": name}
    text = (moment.astimezone(zone) if zone else moment).isoformat()
    return {"dateTime": text, "date": None, "timeZone": name}
