"""Changes of events in access `strict`: a patch changes what is given and clears what is null, an update replaces all.

Invariant: a change of a series holds for its occurrences; a new time or rule expands the series again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from opsgym_domains.calendar import event_parts as parts
from opsgym_domains.calendar.attendees import replace_attendees
from opsgym_domains.calendar.conference import add_conference
from opsgym_domains.calendar.event_bodies import EventChanges, Reminders
from opsgym_domains.calendar.event_queries import WriteQuery
from opsgym_domains.calendar.permissions import Reached
from opsgym_domains.calendar.strict_series import expand, holds_rule, occurrences_of, planned
from opsgym_domains.calendar.strict_times import begins, ends, strict_event_time
from opsgym_domains.calendar.tables import (
    Attachment,
    Attendee,
    BirthdayProperties,
    ConferenceData,
    Event,
    ExtendedProperties,
    Reminder,
    WorkingLocation,
)
from opsgym_domains.kit.gym import Gym

_EMPTY: Mapping[str, tuple[str, Any]] = {
    "summary": ("summary", None),
    "description": ("description", None),
    "location": ("location", None),
    "color_id": ("color_id", None),
    "status": ("status", "confirmed"),
    "visibility": ("visibility", "default"),
    "transparency": ("transparency", "opaque"),
    "guests_can_invite_others": ("guestsCanInviteOthers", True),
    "guests_can_modify": ("guestsCanModify", False),
    "guests_can_see_other_guests": ("guestsCanSeeOtherGuests", True),
    "hangout_link": ("hangoutLink", None),
    "private_copy": ("privateCopy", False),
    "locked": ("locked", False),
    "source": ("source", None),
    "focus_time_properties": ("focusTimeProperties", None),
    "out_of_office_properties": ("outOfOfficeProperties", None),
    "recurrence": ("recurrence", None),
}
"""Column of a field, and its value where the field is empty."""
_JSON = frozenset(("source", "focus_time_properties", "out_of_office_properties", "recurrence"))
_PARTS: Mapping[str, Any] = {
    "attendees": Attendee,
    "attachments": Attachment,
    "conference_data": ConferenceData,
    "birthday_properties": BirthdayProperties,
    "working_location_properties": WorkingLocation,
    "extended_properties": ExtendedProperties,
    "reminders": Reminder,
}
"""Rows of a field that has rows of its own."""


async def change_strictly(
    gym: Gym, reached: Reached, event: Event, query: WriteQuery, body: EventChanges, *, is_patch: bool
) -> None:
    """Changes an event, and the occurrences if it is a series.

    Raises:
        ToolError: A value is invalid, or the event would not end after it starts.
    """
    fields = body.model_fields_set if is_patch else set(type(body).model_fields)
    zone = reached.calendar.time_zone
    with parts.refusals():
        times = _times(event, body, zone)
        columns = _columns(body, fields)
        if lines := json.loads(columns.get("recurrence") or "[]"):
            planned(lines, begins(event, zone))
    was_series = await occurrences_of(gym, event)
    sequence = body.sequence if body.sequence is not None else event.sequence
    await gym.update(event, {**columns, **times, "sequence": (sequence or 0) + 1})
    changed_parts = await _replace_parts(gym, event.event_id, query, body, fields)
    if times or "recurrence" in columns:
        await parts.delete_with_parts(gym, was_series)
        if holds_rule(event):
            await expand(gym, event, zone)
        return
    for occurrence in was_series:
        await gym.update(occurrence, columns)
    if changed_parts and was_series:
        keys = [occurrence.event_id for occurrence in was_series]
        await parts.remove_parts(gym, keys)
        await parts.copy_parts(gym, event.event_id, keys)


def _columns(body: EventChanges, fields: set[str]) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    for field in fields & set(_EMPTY):
        name, empty = _EMPTY[field]
        value = getattr(body, field)
        if field in _JSON:
            value = json.dumps(_plain(value)) if value else None
        columns[name] = empty if value is None else value
    if body.ical_uid:
        columns["iCalUID"] = body.ical_uid
    return columns


def _plain(value: Any) -> Any:
    return value.as_json() if hasattr(value, "as_json") else value


def _times(event: Event, body: EventChanges, zone: str) -> dict[str, Any]:
    """Columns of a changed start and end.

    Raises:
        ValueError: A time has another form, or the event would not end after it starts.
    """
    if body.start is None and body.end is None:
        return {}
    start = strict_event_time(body.start, event.start_timezone or zone) if body.start else None
    end = strict_event_time(body.end, event.end_timezone or zone) if body.end else None
    if (end.moment if end else ends(event, zone)) <= (start.moment if start else begins(event, zone)):
        raise ValueError("Event end time must be after start time")
    changes: dict[str, Any] = {}
    if start is not None and body.start is not None:
        changes |= {"start_datetime": start.stored, "start_timezone": start.zone}
        if event.recurring_event_id is None:
            is_date = body.start.date_time is None
            changes["originalStartTime_date"] = start.moment.date() if is_date else None
            changes["originalStartTime_dateTime"] = None if is_date else start.stored
            changes["originalStartTime_timeZone"] = start.zone
    if end is not None:
        changes |= {"end_datetime": end.stored, "end_timezone": end.zone}
    return changes


async def _replace_parts(gym: Gym, key: str, query: WriteQuery, body: EventChanges, fields: set[str]) -> bool:
    """Replaces the rows of the given fields; whether there are any."""
    given = [name for name in _PARTS if name in fields and _is_supported(name, query)]
    for name in given:
        await parts.remove(gym, _PARTS[name], key)
    if "attendees" in given:
        await replace_attendees(gym, key, body.attendees or (), nulls=False)
    if "attachments" in given and body.attachments:
        with parts.refusals():
            parts.check_attachments(body.attachments)
        await gym.insert_all(parts.attachment_rows(key, (file["fileUrl"] for file in body.attachments)))
    if "conference_data" in given and body.conference_data:
        await add_conference(gym, key, body.conference_data)
    if "birthday_properties" in given and body.birthday_properties:
        await parts.add_birthday(gym, key)
    if "working_location_properties" in given and body.working_location_properties:
        await parts.add_place(gym, key, body.working_location_properties)
    if "extended_properties" in given and body.extended_properties:
        await gym.insert_all(parts.property_rows(key, body.extended_properties))
    if "reminders" in given and body.reminders:
        await gym.insert_all(parts.reminder_rows(key, with_own_reminders(body.reminders)))
    return bool(given)


def _is_supported(name: str, query: WriteQuery) -> bool:
    if name == "attachments":
        return bool(query.supports_attachments)
    return name != "conference_data" or bool(query.conference_data_version)


def with_own_reminders(reminders: Reminders) -> Reminders:
    """Reminders whose overrides count unless the default was asked for."""
    if reminders.overrides and "use_default" not in reminders.model_fields_set:
        return reminders.model_copy(update={"use_default": False})
    return reminders
