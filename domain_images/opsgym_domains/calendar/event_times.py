"""Times of events: how they are read from arguments, stored in rows and shown in results.

Invariant: a stored time is the wall clock's, as text in the form of the published server's SQLite; the zone stands in a
column of its own. Texts of seeds that have another form are kept and shown as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any

from dateutil import parser, tz

MIDNIGHT = time()


@dataclass(frozen=True)
class EventTime:
    """The start or the end of an event: a time with or without offset, and the zone that was given with it."""

    moment: datetime
    zone: str | None

    @property
    def stored(self) -> str:
        """The time as its column holds it."""
        return stored(self.moment)


def is_zone(name: str) -> bool:
    """Whether a text names a time zone. The empty text counts, as on the published server."""
    if name.startswith(("/", ":", ".")):
        return False
    try:
        return tz.gettz(name) is not None
    except (OSError, ValueError):
        return False


def parse_moment(text: str) -> datetime:
    """A date and time in ISO 8601, with or without offset; a date alone is midnight.

    Raises:
        ValueError: The text has another form.
    """
    try:
        moment: datetime = parser.isoparse(text.replace("Z", "+00:00"))
    except (ValueError, OverflowError):
        raise ValueError(f"Invalid datetime format: {text}") from None
    return moment


def stored(moment: datetime) -> str:
    """A time as its column holds it: the wall clock's, without offset."""
    return moment.replace(tzinfo=None).isoformat(sep=" ", timespec="microseconds")


def shown(text: str) -> datetime:
    """The time that a column holds."""
    return datetime.fromisoformat(text)


def parse_event_time(given: Mapping[str, Any]) -> EventTime:
    """Start or end of an event, from an argument with `dateTime` or `date` and perhaps `timeZone`.

    Raises:
        ValueError: A text is not a date or time.
    """
    try:
        moment = _moment(given.get("dateTime"), given.get("date"))
    except ValueError as error:
        raise ValueError(f"Invalid DateTime format: {error}") from None
    return EventTime(moment, given.get("timeZone") or "UTC")


def _moment(date_time: str | None, day: str | None) -> datetime:
    if date_time:
        return parse_moment(date_time)
    if day:
        return midnight(day)
    raise ValueError("DateTime object must have either dateTime or date")


def midnight(day: str) -> datetime:
    """The beginning of a day.

    Raises:
        ValueError: The text is not a date in ISO 8601.
    """
    return datetime.combine(date.fromisoformat(day), MIDNIGHT)


def is_after(end: datetime, start: datetime) -> bool:
    """Whether an event ends after it starts; wall clocks are compared unless both times have an offset."""
    if (start.tzinfo is None) != (end.tzinfo is None):
        start, end = start.replace(tzinfo=None), end.replace(tzinfo=None)
    return end > start


def resource_time(text: str, zone: str | None) -> dict[str, str | None]:
    """Start or end of an event as results show it. A time at midnight is shown as a date."""
    moment = shown(text)
    if moment.time() == MIDNIGHT:
        return {"dateTime": None, "date": moment.date().isoformat(), "timeZone": zone}
    return {"dateTime": moment.isoformat(), "date": None, "timeZone": zone}


def as_utc(text: str, zone: str | None) -> datetime:
    """The instant that a stored time means: by its own offset, otherwise by the zone beside it; UTC without one."""
    moment = shown(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=tz.gettz(zone or "UTC"))).astimezone(UTC)


def instant(moment: datetime) -> float:
    """Seconds since 1970 of a time; one without offset is UTC."""
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
