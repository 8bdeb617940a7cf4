"""Copies of events that come from elsewhere: import_event.

Invariant: no guest is notified, and a copy has an iCalUID. The checks and their order are the published server's.
"""

from __future__ import annotations

import json
from typing import Any

from opsgym_domains.calendar import event_parts as parts
from opsgym_domains.calendar.attendees import import_attendees, known_accounts, organizer_account
from opsgym_domains.calendar.conference import add_conference, check_solution, knows_conference
from opsgym_domains.calendar.event_bodies import ImportedEvent, Moment
from opsgym_domains.calendar.event_creation import (
    DEFAULTS,
    MIXED_TIMES,
    Original,
    check_color,
    event_time,
    occurrences_for,
    organized_by,
    original_start,
)
from opsgym_domains.calendar.event_queries import ImportQuery
from opsgym_domains.calendar.event_resource import CRASH
from opsgym_domains.calendar.event_times import EventTime, midnight, parse_moment
from opsgym_domains.calendar.event_views import resource_or_reason
from opsgym_domains.calendar.event_words import EVENT_WORDS
from opsgym_domains.calendar.permissions import WRITERS, Reached, actor_of, reach
from opsgym_domains.calendar.strict_series import expand
from opsgym_domains.calendar.tables import Event, User
from opsgym_domains.calendar.toolbox import tool
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym


@tool(adds=Event, words=EVENT_WORDS)
async def import_event(gym: Gym, calendar_id: str, query: ImportQuery, body: ImportedEvent) -> dict[str, Any] | str:
    """Add a copy of an event that has an iCalUID, without notifying guests.

    Needs the role writer or owner. In access published the calendar must already hold an event with this iCalUID, and
    in access strict it must not. With
    `organizer` the copy belongs to that user, who must have exactly the given name. Attendees must have accounts.
    Returns the copy.
    """
    reached = await reach(gym, calendar_id, WRITERS)
    if not body.ical_uid:
        raise ToolError("MISSING_FIELD", "iCalUID is required field", "iCalUID")
    users = await known_accounts(gym, body.attendees or ())
    await check_color(gym, body.color_id)
    if not gym.is_strict:
        with parts.refusals():
            _check_order(body)
    await _check_original(gym, calendar_id, body.ical_uid)
    with parts.refusals():
        start, end = _import_times(gym, reached, body)
        _refuse_mixed(start, end)
        if end.moment <= start.moment:
            raise ValueError("Event end time must be after start time")
        original = original_start(body.original_start_time, body.start, start)
        _check_import(body)
        occurrences_for(gym, body.recurrence if gym.is_strict else None, start.moment)
    organizer = await organizer_account(gym, body.organizer) if body.organizer else await actor_of(gym)
    with parts.refusals():
        check_solution(body.conference_data)
    event = await gym.insert(_imported(gym, calendar_id, body, organizer, start, end, original))
    await import_attendees(gym, event.event_id, body.attendees or (), users, body.organizer)
    await _add_imported_parts(gym, event.event_id, query, body)
    if gym.is_strict and body.recurrence:
        await expand(gym, event, reached.calendar.time_zone)
    shown = await resource_or_reason(gym, event)
    return shown | {"attendeesOmitted": True} if isinstance(shown, dict) and body.attendees_omitted else shown


def _check_order(body: ImportedEvent) -> None:
    if not (body.start.date_time and body.end.date_time):
        return
    try:
        start, end = parse_moment(body.start.date_time), parse_moment(body.end.date_time)
    except ValueError as error:
        raise ValueError(f"Validation error: {error}") from None
    if (start.tzinfo is None) != (end.tzinfo is None):
        raise ValueError(f"Validation error: {MIXED_TIMES}")
    if end <= start:
        raise ValueError("Event end time must be after start time")


async def _check_original(gym: Gym, calendar_id: str, uid: str) -> None:
    if gym.is_strict:
        same = (Event.calendar_id == calendar_id, Event.iCalUID == uid, Event.status != "cancelled")
        if await gym.first(Event, *same) is not None:
            message = f"The calendar already has an event with the iCalUID {uid}; change that event instead"
            raise ToolError("DUPLICATE_EVENT", message, "iCalUID")
        return
    original = await gym.find(Event, user_id=gym.actor.user_id, calendar_id=calendar_id, iCalUID=uid)
    if original is None:
        raise ToolError("NOT_FOUND", "Event does not exist with this calendar_id and iCalUID", "iCalUID")
    if original.eventType != "default":
        raise ToolError("WRONG_EVENT_TYPE", "Only event with eventType 'default' can be imported", "iCalUID")


def _import_times(gym: Gym, reached: Reached, body: ImportedEvent) -> tuple[EventTime, EventTime]:
    if gym.is_strict:
        return event_time(gym, reached, body.start), event_time(gym, reached, body.end)
    return _import_time("start", body.start), _import_time("end", body.end)


def _import_time(name: str, given: Moment) -> EventTime:
    if given.date_time:
        return EventTime(parse_moment(given.date_time), given.time_zone or "UTC")
    if not given.date:
        raise ValueError(f"Event {name} must have either dateTime or date")
    try:
        return EventTime(midnight(given.date), given.time_zone or "UTC")
    except ValueError as error:
        raise ValueError(f"Invalid {name} date format '{given.date}': {error}") from None


def _refuse_mixed(start: EventTime, end: EventTime) -> None:
    if (start.moment.tzinfo is None) != (end.moment.tzinfo is None):
        raise ValueError(f"{CRASH}{MIXED_TIMES}")


def _check_import(body: ImportedEvent) -> None:
    if body.focus_time_properties:
        raise ValueError("focusTimeProperties is not required as only 'default' eventType can be imported")
    if body.out_of_office_properties:
        raise ValueError("outOfOfficeProperties is not required as only 'default' eventType can be imported")
    parts.check_overrides(body.reminders)


def _imported(
    gym: Gym,
    calendar_id: str,
    body: ImportedEvent,
    organizer: User,
    start: EventTime,
    end: EventTime,
    original: Original,
) -> Event:
    event = Event(
        **DEFAULTS
        | {
            "status": body.status or "confirmed",
            "visibility": body.visibility or "default",
            "guestsCanInviteOthers": body.guests_can_invite_others is not False,
            "guestsCanModify": bool(body.guests_can_modify),
            "guestsCanSeeOtherGuests": body.guests_can_see_other_guests is not False,
        },
        calendar_id=calendar_id,
        user_id=organizer.user_id,
        **organized_by(organizer, is_actor=organizer.user_id == gym.actor.user_id),
        summary=body.summary,
        description=body.description,
        location=body.location,
        start_datetime=start.stored,
        end_datetime=end.stored,
        start_timezone=start.zone,
        end_timezone=end.zone,
        recurrence=json.dumps(body.recurrence) if body.recurrence else None,
        sequence=body.sequence or 0,
        source=json.dumps(body.source.as_json()) if body.source else None,
        iCalUID=body.ical_uid,
    )
    if gym.is_strict:
        event.transparency, event.color_id, event.privateCopy = body.transparency or "opaque", body.color_id, True
        event.originalStartTime_date, event.originalStartTime_dateTime, event.originalStartTime_timeZone = original
    return event


async def _add_imported_parts(gym: Gym, event_id: str, query: ImportQuery, body: ImportedEvent) -> None:
    if body.attachments and query.supports_attachments is not False:
        await gym.insert_all(parts.attachment_rows(event_id, (file.file_url for file in body.attachments)))
    conference = body.conference_data
    if conference and query.conference_data_version and not await knows_conference(gym, conference.conference_id):
        await add_conference(gym, event_id, conference)
    if body.extended_properties:
        await gym.insert_all(parts.property_rows(event_id, body.extended_properties.as_json()))
    if body.reminders:
        await gym.insert_all(parts.reminder_rows(event_id, body.reminders))
