"""Events: list_events, get_event, get_event_instances, move_event, delete_event and watch_events.

Invariant: in access `published` only events that belong to the acting user are reached by their id, in calendars that
the user owns; lists also show other people's events of such a calendar.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opsgym_domains.calendar import event_parts as parts
from opsgym_domains.calendar.channels import open_channel
from opsgym_domains.calendar.event_bodies import EventChannel, EventType
from opsgym_domains.calendar.event_queries import (
    GetQuery,
    InstancesQuery,
    ListQuery,
    MoveQuery,
    SendQuery,
    WatchQuery,
    check_audience,
    check_uid,
    check_zone,
    in_time,
    may_be_listed,
    page,
    page_start,
    selected,
)
from opsgym_domains.calendar.event_resource import (
    CRASH,
    NotShown,
    read_records,
    resource,
)
from opsgym_domains.calendar.event_times import parse_moment, stored
from opsgym_domains.calendar.event_views import resource_of, resource_or_reason
from opsgym_domains.calendar.event_words import EVENT_WORDS, SERIES_WORDS
from opsgym_domains.calendar.permissions import READERS, WRITERS, Reached, reach
from opsgym_domains.calendar.strict_lists import strict_instances, strict_list
from opsgym_domains.calendar.strict_series import cancel, occurrences_of
from opsgym_domains.calendar.tables import Calendar, Event, WatchChannel
from opsgym_domains.calendar.toolbox import tool
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym


async def own_event(gym: Gym, calendar_id: str, event_id: str) -> Event:
    """An event that the acting user reaches.

    Raises:
        ToolError: The calendar holds no such event of the user.
    """
    owner = {} if gym.is_strict else {"user_id": gym.actor.user_id}
    event = await gym.find(Event, calendar_id=calendar_id, event_id=event_id, **owner)
    if event is None:
        raise ToolError("NOT_FOUND", f"Event not found: {event_id}", "eventId")
    return event


# --- reading ---------------------------------------------------------------------------------------------------------


@tool(words=EVENT_WORDS)
async def list_events(gym: Gym, calendar_id: str, query: ListQuery) -> dict[str, Any]:
    """List the events of a calendar, by start, narrowed down by filters.

    Needs the role reader or higher. Every occurrence of a series is an event of its own. Returns the calendar's name
    and zone, and events.
    """
    reached = await reach(gym, calendar_id, READERS)
    if gym.is_strict:
        return await strict_list(gym, reached, query)
    with parts.refusals():
        check_uid(query.ical_uid)
        start = page_start(query.page_token)
        check_zone(query.time_zone)
        _check_calendar_zone(reached.calendar, query.time_zone)
        state = Event.status == "cancelled" if query.show_deleted else Event.status != "cancelled"
        events = await gym.all(Event, Event.calendar_id == calendar_id, state)
        listed = [event for event in events if may_be_listed(event, reached.role, str(gym.actor.user_id))]
        matching = page(selected(listed, query), start, query.max_results)
    shown = await _resources(gym, matching, query.max_attendees)
    page_of = _page_of(gym, reached, f"etag-events-{calendar_id}", query.time_zone)
    return {**page_of, "nextPageToken": None, "nextSyncToken": None, "items": shown}


def _check_calendar_zone(calendar: Calendar, zone: str | None) -> None:
    if zone and calendar.time_zone != zone:
        raise ValueError(f"Calendar {calendar.calendar_id} not found with timezone {zone}")


def _page_of(gym: Gym, reached: Reached, etag: str, zone: str | None) -> dict[str, Any]:
    calendar = reached.calendar
    return {
        "kind": "calendar#events",
        "etag": etag,
        "summary": calendar.summary,
        "description": calendar.description,
        "updated": f"{gym.now().isoformat()}+00:00",
        "timeZone": zone or calendar.time_zone,
        "accessRole": reached.role,
        "defaultReminders": [],
    }


async def _resources(gym: Gym, events: Sequence[Event], max_attendees: int | None) -> list[dict[str, Any]]:
    records = await read_records(gym, events)
    with parts.refusals():
        return [resource(record, max_attendees=max_attendees) for record in records]


@tool(words=EVENT_WORDS)
async def get_event(gym: Gym, calendar_id: str, event_id: str, query: GetQuery) -> dict[str, Any]:
    """Show one event of a calendar.

    Needs the role reader or higher. `timeZone` must be the calendar's zone if it is given. Returns the event.
    """
    reached = await reach(gym, calendar_id, READERS)
    zone = query.time_zone
    if gym.is_strict:
        with parts.refusals():
            check_zone(zone)
    elif zone and zone.strip() and reached.calendar.time_zone != zone:
        message = f"Calendar {calendar_id} not found for user {gym.actor.user_id} in the timezone {zone}"
        raise ToolError("NOT_FOUND", f"{CRASH}{message}", "timeZone")
    event = await own_event(gym, calendar_id, event_id)
    try:
        return await resource_of(gym, event, max_attendees=query.max_attendees, zone=zone)
    except NotShown as error:
        raise ToolError("NOT_SHOWN", f"{CRASH}{error.reason}", "eventId") from None


@tool(words=SERIES_WORDS)
async def get_event_instances(gym: Gym, calendar_id: str, event_id: str, query: InstancesQuery) -> dict[str, Any]:
    """List the events of a series. `eventId` is the series' `recurringEventId`.

    Needs the role reader or higher. Returns the calendar's name and zone, and events.
    """
    reached = await reach(gym, calendar_id, READERS)
    if gym.is_strict:
        return await strict_instances(gym, reached, event_id, query)
    with parts.refusals():
        start = page_start(query.page_token)
        series = await gym.all(Event, Event.calendar_id == calendar_id, Event.recurring_event_id == event_id)
        _check_series(series, reached, event_id, str(gym.actor.user_id))
        check_zone(query.time_zone)
        matching = _instances(series, query)
    shown = await _resources(gym, page(matching, start, query.max_results), query.max_attendees)
    etag = f'"instances-{event_id}-{int(gym.now().timestamp())}"'
    return {**_page_of(gym, reached, etag, query.time_zone), "nextPageToken": None, "items": shown}


def _check_series(series: Sequence[Event], reached: Reached, series_id: str, user_id: str) -> None:
    if not series:
        raise ValueError(f"Recurring Event not found: {series_id}")
    if not may_be_listed(series[0], reached.role, user_id):
        raise ValueError(f"User '{user_id}' cannot view the recurring event '{series_id}'")
    if not series[0].recurrence:
        raise ValueError(f"Event is not recurring: {series_id}")


def _instances(series: Sequence[Event], query: InstancesQuery) -> list[Event]:
    matching = [event for event in series if query.show_deleted or event.status != "cancelled"]
    matching = in_time(matching, query.time_min, query.time_max)
    if query.original_start:
        begin = stored(parse_moment(query.original_start))
        matching = [event for event in matching if event.originalStartTime_dateTime == begin]
    return matching


# --- writing ---------------------------------------------------------------------------------------------------------


@tool(changes=Event, words=EVENT_WORDS)
async def move_event(gym: Gym, calendar_id: str, event_id: str, query: MoveQuery) -> dict[str, Any] | str:
    """Move an event of the type default to another calendar of yours.

    Needs the role writer or owner on the calendar that the event leaves. Returns the event.
    """
    with parts.refusals():
        check_audience(query.send_updates)
    await reach(gym, calendar_id, WRITERS)
    event = await own_event(gym, calendar_id, event_id)
    with parts.refusals():
        await resource_of(gym, event)
    if event.eventType != EventType.DEFAULT:
        message = (
            f"Cannot move event of type '{event.eventType}'. Only default events can be moved. Events of type "
            "'birthday', 'focusTime', 'fromGmail', 'outOfOffice', and 'workingLocation' cannot be moved."
        )
        raise ToolError("WRONG_EVENT_TYPE", message, "eventId")
    if gym.is_strict:
        await reach(gym, query.destination, WRITERS)
    elif not await gym.exists(Calendar, calendar_id=query.destination, user_id=gym.actor.user_id):
        message = f"Destination calendar {query.destination} not found for user {gym.actor.user_id}"
        raise ToolError("NOT_FOUND", message, "destination")
    for row in [event, *await _with_series(gym, event)]:
        await gym.update(row, {"calendar_id": query.destination})
    return await resource_or_reason(gym, event)


@tool(removes=Event, words=EVENT_WORDS)
async def delete_event(gym: Gym, calendar_id: str, event_id: str, query: SendQuery) -> None:
    """Delete an event; the other events of its series stay.

    Needs the role writer or owner. In access strict the event stays, with status cancelled; a series is deleted as a
    whole.
    """
    with parts.refusals():
        check_audience(query.send_updates)
    await reach(gym, calendar_id, WRITERS)
    event = await own_event(gym, calendar_id, event_id)
    try:
        await resource_of(gym, event)
    except NotShown as error:
        raise ToolError("NOT_SHOWN", f"{CRASH}{error.reason}", "eventId") from None
    if not gym.is_strict:
        await parts.delete_with_parts(gym, [event])
    elif event.status == "cancelled":
        raise ToolError("DELETED", "Resource has been deleted", "eventId")
    else:
        await cancel(gym, [event, *await _with_series(gym, event)])


async def _with_series(gym: Gym, event: Event) -> Sequence[Event]:
    """Events that share the fate of an event: the occurrences of a series in access `strict`."""
    return await occurrences_of(gym, event) if gym.is_strict else ()


# --- channels --------------------------------------------------------------------------------------------------------


@tool(adds=WatchChannel, words=EVENT_WORDS)
async def watch_events(gym: Gym, calendar_id: str, query: WatchQuery, body: EventChannel) -> dict[str, Any]:
    """Subscribe to changes of a calendar's events, or of one type of them.

    Needs the role reader or higher. The channel ends after 24 hours. Returns the channel.
    """
    kind = query.event_types
    if kind and kind not in list(EventType):
        allowed = ", ".join(f"'{name}'" for name in sorted(EventType))
        raise ToolError(
            "INVALID_VALUE", f"Invalid eventType value '{kind}'. Acceptable values are: {allowed}", "eventTypes"
        )
    await reach(gym, calendar_id, READERS)
    path = f"{calendar_id}/events" + ("" if kind is None else f"?eventTypes={kind}")
    settings = {"eventTypes": kind} if kind else {}
    return await open_channel(gym, body, "event", "events", path, calendar_id=calendar_id, settings=settings)
