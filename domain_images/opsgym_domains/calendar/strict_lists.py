"""Lists of events in access `strict`: pages, and tokens for what changed since.

Invariant: a list ends with a sync token; a page that is not the last has a page token instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from opsgym_domains.calendar import event_parts as parts
from opsgym_domains.calendar.event_queries import InstancesQuery, ListQuery, check_uid, check_zone, page_start
from opsgym_domains.calendar.event_resource import EventRecord, read_records
from opsgym_domains.calendar.permissions import Reached
from opsgym_domains.calendar.strict_events import View, instances, listed
from opsgym_domains.calendar.tables import Event
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym


async def strict_list(gym: Gym, reached: Reached, query: ListQuery) -> dict[str, Any]:
    """Events of a calendar, with a token for the next page or for what changes from now on.

    Raises:
        ToolError: A filter or token is invalid.
    """
    view = View(reached, str(gym.actor.user_id), query.time_zone or None)
    events = await gym.all(Event, Event.calendar_id == reached.calendar.calendar_id)
    with parts.refusals():
        check_uid(query.ical_uid)
        check_zone(query.time_zone)
        start = page_start(query.page_token)
        records = listed(await read_records(gym, events), query, view, _since(query.sync_token))
    page = _page(records, start, query.max_results, view, query.max_attendees)
    is_last = page["nextPageToken"] is None
    return page | {"nextSyncToken": gym.now().isoformat() if is_last else None, "items": page.pop("items")}


def _since(token: str | None) -> datetime | None:
    if not token:
        return None
    try:
        return datetime.fromisoformat(token).replace(tzinfo=None)
    except ValueError:
        message = "Sync token is no longer valid, a full sync is required."
        raise ToolError("SYNC_TOKEN_EXPIRED", message, "syncToken") from None


async def strict_instances(gym: Gym, reached: Reached, event_id: str, query: InstancesQuery) -> dict[str, Any]:
    """Occurrences of a series.

    Raises:
        ToolError: The calendar has no such series, or a filter is invalid.
    """
    calendar_id = reached.calendar.calendar_id
    events = await gym.all(Event, Event.calendar_id == calendar_id, Event.recurring_event_id == event_id)
    series = await gym.find(Event, calendar_id=calendar_id, event_id=event_id)
    if series is None and not events:
        raise ToolError("NOT_FOUND", f"Event not found: {event_id}", "eventId")
    if not events and series is not None and not series.recurrence:
        raise ToolError("NOT_RECURRING", f"Event is not recurring: {event_id}", "eventId")
    view = View(reached, str(gym.actor.user_id), query.time_zone or None)
    with parts.refusals():
        check_zone(query.time_zone)
        start = page_start(query.page_token)
        records = instances(await read_records(gym, events), query, view)
    return _page(records, start, query.max_results, view, query.max_attendees)


def _page(
    records: Sequence[EventRecord], start: int, size: int | None, view: View, max_attendees: int | None
) -> dict[str, Any]:
    end = start + (size or len(records))
    calendar = view.reached.calendar
    with parts.refusals():
        items = [view.resource(record, max_attendees=max_attendees) for record in records[start:end]]
    return {
        "kind": "calendar#events",
        "etag": f"etag-events-{calendar.calendar_id}",
        "summary": calendar.summary,
        "description": calendar.description,
        "timeZone": view.zone or calendar.time_zone,
        "accessRole": view.reached.role,
        "defaultReminders": [],
        "nextPageToken": str(end) if end < len(records) else None,
        "items": items,
    }
