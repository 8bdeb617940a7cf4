"""Events in access `strict`, as Google's Calendar API documents them: who sees what, lists, and series.

Invariant: a series has one event that holds the rule, and its occurrences name that event as `recurring_event_id`.
Readers see that private events exist and when, and nothing else of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from opsgym_domains.calendar.event_bodies import Status
from opsgym_domains.calendar.event_queries import InstancesQuery, ListQuery
from opsgym_domains.calendar.event_resource import EventRecord, parsed, resource
from opsgym_domains.calendar.event_times import shown
from opsgym_domains.calendar.permissions import Reached
from opsgym_domains.calendar.strict_times import (
    at_zone,
    begins,
    bound,
    ends,
    is_all_day,
    resource_moment,
    zone_of,
)
from opsgym_domains.calendar.tables import Event

_OPEN = ("default", "public")
_ALWAYS_SHOWN = frozenset(
    (
        "kind",
        "etag",
        "id",
        "status",
        "htmlLink",
        "created",
        "updated",
        "start",
        "end",
        "endTimeUnspecified",
        "recurringEventId",
        "originalStartTime",
        "transparency",
        "visibility",
        "iCalUID",
        "sequence",
        "eventType",
    )
)
"""Fields of a private event that readers of the calendar see."""


@dataclass(frozen=True)
class View:
    """How the acting user sees the events of a calendar."""

    reached: Reached
    user_id: str
    zone: str | None = None
    """Zone of shown times; None for each event's own."""

    @property
    def calendar_zone(self) -> str:
        """The calendar's zone."""
        return self.reached.calendar.time_zone

    def resource(self, record: EventRecord, *, max_attendees: int | None = None) -> dict[str, Any]:
        """An event as the user sees it.

        Raises:
            NotShown: A stored value has no form in results.
        """
        data = resource(record) | self._times(record.event)
        for name in ("creator", "organizer"):
            data[name] = {**(data[name] or {}), "self": record.event.organizer_id == self.user_id}
        for guest, (row, _user) in zip(data["attendees"], record.attendees, strict=True):
            guest["self"] = row.user_id == self.user_id
        if not self.shows_details(record):
            return {name: value if name in _ALWAYS_SHOWN else _nothing(value) for name, value in data.items()}
        if max_attendees is not None and len(data["attendees"]) > max_attendees:
            own = [guest for guest in data["attendees"] if guest["self"]]
            data |= {"attendees": own, "attendeesOmitted": True}
        return data

    def shows_details(self, record: EventRecord) -> bool:
        """Whether the user sees more than the time of an event."""
        event = record.event
        guests = [row.user_id for row, _user in record.attendees]
        return (
            event.visibility in _OPEN
            or self.reached.role in ("writer", "owner")
            or self.user_id in (event.user_id, event.organizer_id, *guests)
        )

    def _times(self, event: Event) -> dict[str, Any]:
        zone = zone_of(self.zone, self.calendar_zone) if self.zone else None
        all_day = is_all_day(event)
        start = resource_moment(begins(event, self.calendar_zone), event.start_timezone, all_day=all_day, zone=zone)
        end = resource_moment(ends(event, self.calendar_zone), event.end_timezone, all_day=all_day, zone=zone)
        original = event.originalStartTime_dateTime
        if original is None:
            return {"start": start, "end": end}
        name = event.originalStartTime_timeZone
        planned = at_zone(shown(original), zone_of(name, self.calendar_zone))
        return {
            "start": start,
            "end": end,
            "originalStartTime": resource_moment(planned, name, all_day=False, zone=zone),
        }


def _nothing(value: Any) -> Any:
    return [] if isinstance(value, list) else None


# --- lists -----------------------------------------------------------------------------------------------------------


def listed(records: Sequence[EventRecord], query: ListQuery, view: View, since: datetime | None) -> list[EventRecord]:
    """Events that meet the filters of list_events, in the requested order.

    Args:
        records: All events of the calendar.
        query: Filters.
        view: How the user sees them.
        since: Time of the sync token, None without one.

    Raises:
        ValueError: A time has another form, or the order needs single events.
    """
    if "order_by" in query.model_fields_set and query.order_by == "startTime" and not query.single_events:
        raise ValueError("The requested ordering is not available: orderBy startTime needs singleEvents=true")
    series = {record.event.event_id for record in records if record.event.recurrence}
    matching = [record for record in records if _is_listed(record.event, series, single=bool(query.single_events))]
    if since is None and not query.show_deleted:
        matching = [record for record in matching if record.event.status != Status.CANCELLED]
    if since is not None:
        matching = [record for record in matching if record.event.updated_at and record.event.updated_at >= since]
    if query.updated_min:
        earliest = bound(query.updated_min, UTC)
        matching = [record for record in matching if at_zone(_updated(record), UTC) >= earliest]
    matching = in_range(matching, query.time_min, query.time_max, view)
    matching = [record for record in matching if _meets(record, query, view)]
    if query.order_by == "updated":
        return sorted(matching, key=_updated)
    return sorted(matching, key=lambda record: begins(record.event, view.calendar_zone))


def _updated(record: EventRecord) -> datetime:
    return record.event.updated_at or datetime.min  # noqa: DTZ901 - tables keep UTC without a zone


def _is_listed(event: Event, series: set[str], *, single: bool) -> bool:
    """Whether an event is in lists of single events, or of series; an occurrence whose series is gone is in both."""
    if event.event_id in series and event.recurring_event_id is None:
        return not single
    return single or event.recurring_event_id not in series


def in_range(
    records: Sequence[EventRecord], time_min: str | None, time_max: str | None, view: View
) -> list[EventRecord]:
    """Events that end after one time and start before another.

    Raises:
        ValueError: A time has another form.
    """
    zone = zone_of(view.zone, view.calendar_zone)
    matching = list(records)
    if time_min:
        earliest = bound(time_min, zone)
        matching = [record for record in matching if ends(record.event, view.calendar_zone) > earliest]
    if time_max:
        latest = bound(time_max, zone)
        matching = [record for record in matching if begins(record.event, view.calendar_zone) < latest]
    return matching


def _meets(record: EventRecord, query: ListQuery, view: View) -> bool:
    event = record.event
    if query.event_types and event.eventType not in query.event_types:
        return False
    if query.ical_uid:
        return event.iCalUID == query.ical_uid
    given = (("private", query.private_extended_property), ("shared", query.shared_extended_property))
    if any(text and not _has_property(record, scope, text) for scope, text in given):
        return False
    return not query.q or (view.shows_details(record) and _has_text(record, query.q.casefold()))


def _has_property(record: EventRecord, scope: str, text: str) -> bool:
    name, _, value = text.partition("=")
    return any(row.scope == scope and (parsed(row.properties) or {}).get(name) == value for row in record.properties)


def _has_text(record: EventRecord, text: str) -> bool:
    event = record.event
    people = [part for row, user in record.attendees for part in (row.displayName, user.email if user else None)]
    texts = (event.summary, event.description, event.location, event.organizer_display_name, *people)
    return any(text in part.casefold() for part in texts if part)


def instances(records: Sequence[EventRecord], query: InstancesQuery, view: View) -> list[EventRecord]:
    """Occurrences that meet the filters of get_event_instances, by start.

    Raises:
        ValueError: A time has another form.
    """
    matching = in_range(records, query.time_min, query.time_max, view)
    if not query.show_deleted:
        matching = [record for record in matching if record.event.status != Status.CANCELLED]
    if query.original_start:
        planned = bound(query.original_start, zone_of(view.zone, view.calendar_zone))
        matching = [record for record in matching if _planned(record.event, view) == planned]
    return sorted(matching, key=lambda record: begins(record.event, view.calendar_zone))


def _planned(event: Event, view: View) -> datetime:
    text = event.originalStartTime_dateTime or event.start_datetime
    return at_zone(shown(text), zone_of(event.originalStartTime_timeZone, view.calendar_zone))
