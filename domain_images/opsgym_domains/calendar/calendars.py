"""Calendars: creating, reading, changing, deleting and clearing them."""

from __future__ import annotations

import json
from typing import Any

from opsgym_domains.calendar.permissions import OWNERS, READERS, WRITERS, actor_of, reach
from opsgym_domains.calendar.requests import CalendarFields, ConferenceProperties, NewCalendar
from opsgym_domains.calendar.strict_series import cancel
from opsgym_domains.calendar.tables import (
    AclRule,
    Attachment,
    Attendee,
    BirthdayProperties,
    Calendar,
    ConferenceData,
    Event,
    ExtendedProperties,
    Reminder,
    Scope,
    WorkingLocation,
)
from opsgym_domains.calendar.toolbox import tool
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym
from opsgym_domains.kit.schema import Row

PARTS_OF_EVENTS: tuple[type[Row], ...] = (
    Attachment,
    Attendee,
    BirthdayProperties,
    ConferenceData,
    ExtendedProperties,
    Reminder,
    WorkingLocation,
)
"""Classes of rows that belong to an event and go with it."""
DENIED = "Access denied: "


@tool(adds=Calendar)
async def create_calendar(gym: Gym, calendar: NewCalendar) -> dict[str, Any]:
    """Create a calendar that you own. It is never your primary calendar.

    Returns the new calendar.
    """
    properties = _stored(calendar.conference_properties) if calendar.conference_properties else "{}"
    row = Calendar(
        user_id=gym.actor.user_id,
        summary=calendar.summary,
        description=calendar.description,
        location=calendar.location,
        time_zone="UTC" if calendar.time_zone is None else calendar.time_zone,
        conference_properties=properties,
        is_primary=False,
        hidden=False,
        selected=True,
        deleted=False,
    )
    await gym.insert(row)
    await _share_with_owner(gym, row)
    shown = calendar.conference_properties or ConferenceProperties()
    return as_resource(row) | {"conferenceProperties": shown.as_json()}


@tool()
async def get_calendar(gym: Gym, calendar_id: str) -> dict[str, Any]:
    """Read one calendar by its id.

    `primary` is your primary calendar.
    """
    return as_resource((await reach(gym, await known_id(gym, calendar_id), READERS, prefix=DENIED)).calendar)


@tool(changes=Calendar)
async def patch_calendar(gym: Gym, calendar_id: str, fields: CalendarFields) -> dict[str, Any]:
    """Change some fields of a calendar. `primary` is your primary calendar.

    Give at least one field; the others keep their values. Returns the calendar.
    """
    calendar = (await reach(gym, await known_id(gym, calendar_id), WRITERS, prefix=DENIED)).calendar
    if not _changes(fields):
        raise ToolError("NO_FIELDS_TO_UPDATE", "No fields provided for patch")
    return as_resource(await gym.update(calendar, _changes(fields)))


@tool(changes=Calendar)
async def update_calendar(gym: Gym, calendar_id: str, fields: CalendarFields) -> dict[str, Any]:
    """Change fields of a calendar. `primary` is your primary calendar.

    Fields that are not given, or null, keep their values. Returns the calendar.
    """
    calendar = (await reach(gym, await known_id(gym, calendar_id), WRITERS, prefix=DENIED)).calendar
    resource = as_resource(await gym.update(calendar, _changes(fields)))
    if resource["conferenceProperties"] is None and calendar.conference_properties is not None:
        resource["conferenceProperties"] = ConferenceProperties().as_json()
    return resource


@tool(removes=Calendar)
async def delete_calendar(gym: Gym, calendar_id: str) -> dict[str, str]:
    """Delete a calendar with its events and its rules of sharing.

    A primary calendar cannot be deleted.
    """
    calendar = (await reach(gym, await known_id(gym, calendar_id), OWNERS, prefix=DENIED)).calendar
    if calendar.is_primary:
        raise ToolError("PRIMARY_CALENDAR", "Internal server error: Cannot delete primary calendar.", "calendarId")
    await delete_events(gym, calendar)
    await gym.delete([calendar])
    await gym.delete(await gym.all(AclRule, AclRule.calendar_id == calendar.calendar_id))
    return {"message": "Calendar deleted successfully"}


@tool(removes=Event)
async def clear_calendar(gym: Gym, calendar_id: str) -> int:
    """Delete all events of a primary calendar. Other calendars cannot be cleared.

    Returns the number of deleted events.
    """
    calendar = (await reach(gym, await known_id(gym, calendar_id), ("owner", "writer"), prefix=DENIED)).calendar
    if not calendar.is_primary:
        raise ToolError("NOT_PRIMARY", "Can only clear primary calendars", "calendarId")
    if gym.is_strict:
        return await cancel(gym, await gym.all(Event, Event.calendar_id == calendar.calendar_id))
    return await delete_events(gym, calendar)


async def known_id(gym: Gym, calendar_id: str) -> str:
    """The id of a calendar that a tool names, whose primary calendar may be called `primary`.

    Raises:
        ToolError: The acting user has no primary calendar.
    """
    if calendar_id.lower() != "primary":
        return calendar_id
    primary = await gym.find(Calendar, user_id=gym.actor.user_id, is_primary=True)
    if primary is None:
        raise ToolError("NOT_FOUND", f"User '{gym.actor.user_id}' has no primary calendar", "calendarId")
    return primary.calendar_id


async def delete_events(gym: Gym, calendar: Calendar) -> int:
    """Deletes all events of a calendar with their parts, and returns their number."""
    events = await gym.all(Event, Event.calendar_id == calendar.calendar_id)
    ids = [event.event_id for event in events]
    for part in PARTS_OF_EVENTS:
        await gym.delete(await gym.all(part, part.__table__.columns["event_id"].in_(ids)))
    return await gym.delete(events)


def as_resource(calendar: Calendar) -> dict[str, Any]:
    """A calendar as the tools return it."""
    return {
        "kind": "calendar#calendar",
        "etag": f"etag-{calendar.calendar_id}-{stamp(calendar)}",
        "id": calendar.calendar_id,
        "summary": calendar.summary,
        "description": calendar.description or None,
        "location": calendar.location or None,
        "timeZone": calendar.time_zone,
        "conferenceProperties": parsed(calendar.conference_properties),
    }


def stamp(calendar: Calendar) -> str:
    """The time of the last change, for etags."""
    return calendar.updated_at.isoformat() if calendar.updated_at else "None"


def parsed(text: str | None) -> Any:
    """The value of a JSON text; None if there is none, it is empty, or it is not JSON."""
    try:
        return json.loads(text or "null") or None
    except ValueError:
        return None


def _changes(fields: CalendarFields) -> dict[str, Any]:
    changes = {name: value for name, value in fields.given().items() if value is not None}
    if fields.conference_properties is not None:
        stored = _stored(fields.conference_properties)
        changes["conference_properties"] = None if stored == "{}" else stored
    return changes


def _stored(properties: ConferenceProperties) -> str:
    return json.dumps(properties.model_dump(by_alias=True, exclude_none=True))


async def _share_with_owner(gym: Gym, calendar: Calendar) -> None:
    """Adds the rules by which the owner reaches a new calendar."""
    email = (await actor_of(gym)).email
    scope = await gym.find(Scope, type="user", value=email)
    scope = scope or await gym.insert(Scope(type="user", value=email))
    for role in ("owner", "writer"):
        etag = f'"{await gym.next_id(AclRule)}"'
        await gym.insert(
            AclRule(
                calendar_id=calendar.calendar_id,
                user_id=gym.actor.user_id,
                scope_id=scope.id,
                role=role,
                etag=etag,
            )
        )
