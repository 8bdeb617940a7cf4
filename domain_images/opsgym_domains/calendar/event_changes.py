"""Changes of events: patch_event and update_event.

Invariant: both tools change only what is given, field by field in the order of the body, as the published server does;
update_event differs in that status and visibility fall back to their defaults and that nulls are looked at.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from opsgym_domains.calendar import event_parts as parts
from opsgym_domains.calendar.attendees import remove_attendees, replace_attendees
from opsgym_domains.calendar.conference import add_conference, remove_conference
from opsgym_domains.calendar.event_bodies import EventChanges, Moment, Status, Visibility
from opsgym_domains.calendar.event_creation import MIXED_TIMES, check_color
from opsgym_domains.calendar.event_queries import WriteQuery, check_audience
from opsgym_domains.calendar.event_resource import CRASH
from opsgym_domains.calendar.event_times import EventTime, parse_event_time, shown
from opsgym_domains.calendar.event_views import resource_or_reason
from opsgym_domains.calendar.event_words import EVENT_WORDS
from opsgym_domains.calendar.events import own_event
from opsgym_domains.calendar.permissions import WRITERS, reach
from opsgym_domains.calendar.strict_changes import change_strictly
from opsgym_domains.calendar.tables import (
    Attachment,
    BirthdayProperties,
    Event,
    ExtendedProperties,
    Reminder,
    WorkingLocation,
)
from opsgym_domains.calendar.toolbox import tool
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym

_COLUMNS = {
    "summary": "summary",
    "description": "description",
    "location": "location",
    "status": "status",
    "visibility": "visibility",
    "transparency": "transparency",
    "guests_can_invite_others": "guestsCanInviteOthers",
    "guests_can_modify": "guestsCanModify",
    "guests_can_see_other_guests": "guestsCanSeeOtherGuests",
    "hangout_link": "hangoutLink",
    "ical_uid": "iCalUID",
    "private_copy": "privateCopy",
    "locked": "locked",
    "sequence": "sequence",
}
"""Fields that are stored as they are, with their columns."""


@tool(changes=Event, words=EVENT_WORDS)
async def patch_event(
    gym: Gym, calendar_id: str, event_id: str, query: WriteQuery, body: EventChanges
) -> dict[str, Any] | str:
    """Change the given fields of an event; a series is changed one event at a time.

    Needs the role writer or owner. `start` and `end` need a `timeZone`. Lists replace what is stored. Returns the
    event.
    """
    await reach(gym, calendar_id, WRITERS)
    _check_audience(query)
    if not (body.model_fields_set if gym.is_strict else _given(body)):
        raise ToolError("NO_FIELDS_TO_UPDATE", "No fields provided for update")
    return await _change(gym, calendar_id, event_id, query, body, is_patch=True)


@tool(changes=Event, words=EVENT_WORDS)
async def update_event(
    gym: Gym, calendar_id: str, event_id: str, query: WriteQuery, body: EventChanges
) -> dict[str, Any] | str:
    """Change an event; `start` and `end` must be given, both as `dateTime`.

    Needs the role writer or owner. Fields that are not given stay, except status and visibility, which become confirmed
    and default. Returns the event.
    """
    await reach(gym, calendar_id, WRITERS)
    if body.start is None or body.end is None:
        raise ToolError("MISSING_FIELD", "Both 'start' and 'end' fields are required for PUT operations", "start")
    _check_audience(query)
    body.status, body.visibility = body.status or Status.CONFIRMED, body.visibility or Visibility.DEFAULT
    return await _change(gym, calendar_id, event_id, query, body, is_patch=False)


def _check_audience(query: WriteQuery) -> None:
    if query.send_updates:
        with parts.refusals():
            check_audience(query.send_updates)


def _given(body: EventChanges) -> dict[str, Any]:
    """Fields that are not null, in the order of the body."""
    values = {name: getattr(body, name) for name in type(body).model_fields}
    return {name: value for name, value in values.items() if value is not None}


async def _change(
    gym: Gym, calendar_id: str, event_id: str, query: WriteQuery, body: EventChanges, *, is_patch: bool
) -> dict[str, Any] | str:
    await check_color(gym, body.color_id)
    event = await own_event(gym, calendar_id, event_id)
    if body.event_type is not None and body.event_type != event.eventType:
        message = f"EventType once set can not be modified. Expecting value: {event.eventType}. Got {body.event_type}"
        raise ToolError("EVENT_TYPE_IS_FIXED", message, "eventType")
    if gym.is_strict:
        await change_strictly(gym, await reach(gym, calendar_id), event, query, body, is_patch=is_patch)
        return await resource_or_reason(gym, event, max_attendees=query.max_attendees)
    given = _given(body)
    with parts.refusals():
        changes = _times(event, given, is_patch=is_patch) | _plain(event, given)
    await gym.update(event, changes)
    await _replace_parts(gym, event, query, given, is_patch=is_patch)
    return await resource_or_reason(gym, event, max_attendees=query.max_attendees)


def _plain(event: Event, given: Mapping[str, Any]) -> dict[str, Any]:
    """Columns that a change sets, without times."""
    changes = {column: given[field] for field, column in _COLUMNS.items() if field in given}
    if given.get("color_id"):
        changes["color_id"] = given["color_id"]
    if "recurrence" in given:
        if not given["recurrence"]:
            raise ValueError("recurrence must not be empty; leave it out to keep the rule")
        changes["recurrence"] = json.dumps(given["recurrence"])
    sequence = changes.get("sequence", event.sequence)
    return changes | {"sequence": 0 if sequence is None else sequence + 1}


# --- times -----------------------------------------------------------------------------------------------------------


def _times(event: Event, given: Mapping[str, Any], *, is_patch: bool) -> dict[str, Any]:
    """Columns of a changed start and end.

    Raises:
        ValueError: A time has another form, has no zone, or the event would not end after it starts.
    """
    changes: dict[str, Any] = {}
    start, end = given.get("start"), given.get("end")
    if start is not None:
        begin = _parse(start, is_patch=is_patch)
        changes |= {"start_datetime": begin.stored, "start_timezone": begin.zone}
        if end is not None:
            _check_order(begin.moment, parse_event_time(end.as_json()).moment)
    if end is not None:
        finish = _parse(end, is_patch=is_patch)
        changes |= {"end_datetime": finish.stored, "end_timezone": finish.zone}
        begin_at = parse_event_time(start.as_json()).moment if start else shown(event.start_datetime)
        _check_order(begin_at, finish.moment)
    return changes


def _parse(given: Moment, *, is_patch: bool) -> EventTime:
    if is_patch and given.time_zone is None:
        raise ValueError("Invalid DateTime format: 'timeZone'")
    if given.date_time is None and not is_patch:
        raise ValueError("Invalid DateTime format: Invalid datetime format: None")
    return parse_event_time(given.as_json())


def _check_order(start: datetime, end: datetime) -> None:
    if (start.tzinfo is None) != (end.tzinfo is None):
        raise ValueError(f"{CRASH}{MIXED_TIMES}")
    if end <= start:
        raise ValueError("Event end time must be after start time")


# --- rows that belong to the event -----------------------------------------------------------------------------------


async def _replace_parts(
    gym: Gym, event: Event, query: WriteQuery, given: Mapping[str, Any], *, is_patch: bool
) -> None:
    key = event.event_id
    if "attendees" in given and not given["attendees"]:
        await remove_attendees(gym, key)
    elif "attendees" in given:
        await replace_attendees(gym, key, given["attendees"], nulls=not is_patch)
    if "attachments" in given:
        await _replace_attachments(gym, key, query, given["attachments"])
    if "conference_data" in given and query.conference_data_version:
        await remove_conference(gym, key)
        await add_conference(gym, key, given["conference_data"], empty_request=not is_patch)
    if "birthday_properties" in given and not await gym.exists(BirthdayProperties, event_id=key):
        await parts.add_birthday(gym, key)
    if "working_location_properties" in given:
        await parts.remove(gym, WorkingLocation, key)
        await parts.add_place(gym, key, given["working_location_properties"], empty_office=not is_patch)
    if given.get("extended_properties"):
        await parts.remove(gym, ExtendedProperties, key)
        await gym.insert_all(parts.property_rows(key, given["extended_properties"]))
    if "reminders" in given:
        await parts.remove(gym, Reminder, key)
        await gym.insert_all(parts.reminder_rows(key, given["reminders"]))


async def _replace_attachments(gym: Gym, event_id: str, query: WriteQuery, files: Any) -> None:
    if files and not query.supports_attachments:
        return
    await parts.remove(gym, Attachment, event_id)
    with parts.refusals():
        parts.check_attachments(files)
    await gym.insert_all(parts.attachment_rows(event_id, (file["fileUrl"] for file in files)))
