"""Arguments of event tools that travel in the query string, and the filters that they set.

Invariant: filters compare the stored text of times, as the published server does, where access is `published`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from pydantic import Field, field_validator

from opsgym_domains.calendar.event_bodies import BAD_ICAL_UID, ICAL_UID, EventType
from opsgym_domains.calendar.event_times import is_zone, parse_moment, stored
from opsgym_domains.calendar.tables import Event
from opsgym_domains.calendar.validation import Query

MAX_PAGE = 2500
_BAD_PAGE = (
    "Please enter a valid pageToken value. Page token must be greater than equal to 0 and must be string integer"
)
_NO_PROPERTY_FILTERS = (
    "Internal server error: Neither 'BinaryExpression' object nor 'Comparator' object has an attribute 'astext'"
)
_AUDIENCES = ("all", "externalOnly", "none")


class WriteQuery(Query):
    """Arguments of tools that write a whole event."""

    conference_data_version: int | None = Field(None, ge=0, le=1)
    max_attendees: int | None = Field(None, gt=0)
    send_updates: str | None = "none"
    supports_attachments: bool | None = False


class ImportQuery(Query):
    """Arguments of import_event."""

    conference_data_version: int | None = Field(None, ge=0, le=1)
    supports_attachments: bool | None = False


class SendQuery(Query):
    """Whom delete_event notifies."""

    send_updates: str | None = "all"


class MoveQuery(Query):
    """Arguments of move_event."""

    destination: str
    send_updates: str | None = "all"


class QuickQuery(Query):
    """Arguments of quick_add_event."""

    text: str
    send_updates: str | None = "all"


class WatchQuery(Query):
    """Arguments of watch_events."""

    event_types: str | None = None


class GetQuery(Query):
    """Arguments of get_event."""

    time_zone: str | None = None
    max_attendees: int | None = None


class InstancesQuery(Query):
    """Arguments of get_event_instances."""

    max_attendees: int | None = None
    max_results: int | None = Field(250, gt=0, le=MAX_PAGE, lt=MAX_PAGE)
    original_start: str | None = None
    page_token: str | None = None
    show_deleted: bool | None = False
    time_min: str | None = None
    time_max: str | None = None
    time_zone: str | None = None


class ListQuery(Query):
    """Arguments of list_events."""

    event_types: list[EventType] | None = None
    ical_uid: str | None = Field(default=None, alias="iCalUID")
    max_attendees: int | None = Field(None, gt=0)
    max_results: int | None = Field(250, gt=0, le=MAX_PAGE)
    order_by: Literal["startTime", "updated"] | None = "startTime"
    page_token: str | None = None
    private_extended_property: str | None = None
    q: str | None = None
    shared_extended_property: str | None = None
    show_deleted: bool | None = False
    show_hidden_invitations: bool | None = False
    single_events: bool | None = False
    sync_token: str | None = None
    time_max: str | None = None
    time_min: str | None = None
    time_zone: str | None = None
    updated_min: str | None = None

    @field_validator("event_types", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value


# --- checks ----------------------------------------------------------------------------------------------------------


def check_audience(audience: str | None) -> None:
    """Refuses an unknown `sendUpdates`.

    Raises:
        ValueError: The value is none of the known ones.
    """
    if audience not in _AUDIENCES:
        raise ValueError(
            f"Invalid sendUpdates value '{audience}'. Acceptable values are: 'all', 'externalOnly', 'none'"
        )


def check_uid(uid: str | None) -> None:
    """Refuses an iCalUID of another form.

    Raises:
        ValueError: The text is not empty and has another form.
    """
    if uid and not ICAL_UID.match(uid):
        raise ValueError(BAD_ICAL_UID)


def check_zone(zone: str | None) -> None:
    """Refuses a text that names no time zone.

    Raises:
        ValueError: The text is not empty and names no zone.
    """
    if zone and not is_zone(zone):
        raise ValueError("Invalid timeZone; must be a valid IANA timezone name.")


def page_start(token: str | None) -> int:
    """Number of events before a page, from its token.

    Raises:
        ValueError: The token is not a whole number of at least 0.
    """
    if not token:
        return 0
    try:
        number = int(token)
    except ValueError:
        number = -1
    if number < 0:
        raise ValueError(_BAD_PAGE)
    return number if token.isdigit() else 0


def page(events: Sequence[Event], start: int, size: int | None) -> Sequence[Event]:
    """The events of a page."""
    return events[start : None if size is None else start + size]


# --- filters ---------------------------------------------------------------------------------------------------------


def selected(events: Sequence[Event], query: ListQuery) -> list[Event]:
    """Events that meet the filters of list_events, in the requested order.

    Raises:
        ValueError: A time has another form, or a property is given, by which the published server cannot filter.
    """
    matching = in_time(events, query.time_min, query.time_max)
    if query.updated_min:
        earliest = parse_moment(query.updated_min).replace(tzinfo=None)
        matching = [event for event in matching if event.updated_at and event.updated_at >= earliest]
    if query.ical_uid:
        matching = [event for event in matching if event.iCalUID == query.ical_uid]
    elif query.q:
        pattern = LikePattern(query.q)
        matching = [event for event in matching if _has_text(event, pattern)]
    if query.event_types:
        matching = [event for event in matching if event.eventType in query.event_types]
    if any("=" in (given or "") for given in (query.private_extended_property, query.shared_extended_property)):
        raise ValueError(_NO_PROPERTY_FILTERS)
    return in_order(matching, query.order_by)


def in_time(events: Sequence[Event], time_min: str | None, time_max: str | None) -> list[Event]:
    """Events that end at or after one time and start before another, compared as stored text.

    Raises:
        ValueError: A time has another form.
    """
    matching = list(events)
    if time_min:
        earliest = stored(parse_moment(time_min))
        matching = [event for event in matching if event.end_datetime >= earliest]
    if time_max:
        latest = stored(parse_moment(time_max))
        matching = [event for event in matching if event.start_datetime < latest]
    return matching


def in_order(events: Sequence[Event], order: str | None) -> list[Event]:
    """Events by start, or the last updated first; equal ones stay in order of insertion."""
    if order == "updated":
        return sorted(events, key=lambda event: str(event.updated_at or ""), reverse=True)
    return sorted(events, key=lambda event: event.start_datetime)


def may_be_listed(event: Event, role: str | None, user_id: str) -> bool:
    """Whether list_events shows an event of a calendar to a user with a role on it."""
    if role == "owner":
        return True
    is_own_private = event.visibility == "private" and event.user_id == user_id
    return event.visibility in ("default", "public") or is_own_private


@dataclass(frozen=True)
class LikePattern:
    """What SQLite's LIKE searches for in a text: `%` and `_` are wildcards, and only ASCII letters ignore case.

    Each part between two `%` is searched for from the end of the part before it on, so that no pattern takes long
    because of its wildcards; a pattern that is longer than the text is not even read.
    """

    pattern: str

    @cached_property
    def _fewest(self) -> int:
        """Length of the shortest text that can match."""
        return len(self.pattern) - self.pattern.count("%")

    @cached_property
    def _parts(self) -> Sequence[re.Pattern[str]]:
        parts = filter(None, ascii_lower(self.pattern).split("%"))
        return [re.compile(re.escape(part).replace("_", "."), re.DOTALL) for part in parts]

    def is_in(self, text: str) -> bool:
        """Whether a part of the text matches."""
        if len(text) < self._fewest:
            return False
        lower, end = ascii_lower(text), 0
        for part in self._parts:
            match = part.search(lower, end)
            if match is None:
                return False
            end = match.end()
        return True


def ascii_lower(text: str) -> str:
    """A text with its ASCII letters in lower case."""
    return "".join(character.lower() if character.isascii() else character for character in text)


def _has_text(event: Event, pattern: LikePattern) -> bool:
    texts = (event.summary, event.description, event.location)
    return any(text is not None and pattern.is_in(text) for text in texts)
