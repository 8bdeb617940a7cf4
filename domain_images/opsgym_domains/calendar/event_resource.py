"""Events as results show them, in the form of Google's Calendar API.

Invariant: a resource has every field, null where nothing is stored. An event whose stored values have no such form is
not shown: `NotShown` says which value it is, in the published server's words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import ConfigDict, Field, ValidationError

from opsgym_domains.calendar import event_bodies as bodies
from opsgym_domains.calendar.event_times import instant, resource_time, shown
from opsgym_domains.calendar.tables import (
    Attachment,
    Attendee,
    BirthdayProperties,
    ConferenceData,
    Event,
    ExtendedProperties,
    OfficeLocation,
    Reminder,
    User,
    WorkingLocation,
)
from opsgym_domains.kit.gym import Gym
from opsgym_domains.kit.schema import Row

R = TypeVar("R", bound=Row)
_PUBLISHED_VERSION = "https://errors.pydantic.dev/2.13/"


CRASH = "Internal server error: "
"""Beginning of the published texts for what the published server does not expect."""


class NotShown(ValueError):
    """An event with stored values that no result can show.

    Attributes:
        reason: Which value it is.
    """

    def __init__(self, reason: str, *, crash: bool = False) -> None:
        super().__init__(f"{CRASH}{reason}" if crash else reason)
        self.reason = reason


class ConferenceResource(bodies.Body):
    """The conference of an event."""

    conference_solution: bodies.ConferenceSolution | None = None
    create_request: bodies.CreateRequest | None = None
    entry_points: list[bodies.EntryPoint] | None = None
    notes: str | None = None
    signature: str | None = None


class EventResource(bodies.Body):
    """An event."""

    model_config = ConfigDict(title="Event")

    kind: str = "calendar#event"
    etag: str | None = None
    id: str | None = None
    status: bodies.Status
    html_link: str | None = None
    created: str | None = None
    updated: str | None = None
    summary: str | None = None
    description: str | None = None
    location: str | None = None
    color_id: str | None = None
    creator: bodies.Person | None = None
    organizer: bodies.Person | None = None
    start: bodies.Moment
    end: bodies.Moment
    end_time_unspecified: bool | None = False
    recurrence: list[str] | None = None
    recurring_event_id: str | None = None
    original_start_time: bodies.Moment | None = None
    transparency: bodies.Transparency | None = None
    visibility: bodies.Visibility | None = bodies.Visibility.DEFAULT
    ical_uid: str | None = Field(default=None, alias="iCalUID")
    sequence: int | None = 0
    attendees: list[bodies.Guest] | None = None
    attendees_omitted: bool | None = None
    extended_properties: dict[str, Any] | None = None
    hangout_link: str | None = None
    conference_data: ConferenceResource | None = None
    guests_can_invite_others: bool | None = True
    guests_can_modify: bool | None = False
    guests_can_see_other_guests: bool | None = True
    private_copy: bool | None = None
    locked: bool | None = False
    reminders: bodies.Reminders | None = None
    source: bodies.Source | None = None
    attachments: list[dict[str, Any]] | None = None
    event_type: str | None = "default"
    birthday_properties: bodies.Birthday | None = None
    focus_time_properties: bodies.FocusTime | None = None
    out_of_office_properties: bodies.OutOfOffice | None = None
    working_location_properties: bodies.WorkingPlace | None = None


@dataclass(frozen=True)
class EventRecord:
    """An event and the rows that belong to it, each in order of insertion."""

    event: Event
    attendees: Sequence[tuple[Attendee, User | None]]
    attachments: Sequence[Attachment]
    reminders: Sequence[Reminder]
    properties: Sequence[ExtendedProperties]
    conference: ConferenceData | None
    place: WorkingLocation | None
    office: OfficeLocation | None
    birthday: BirthdayProperties | None


# --- reading ---------------------------------------------------------------------------------------------------------


async def read_records(gym: Gym, events: Sequence[Event]) -> list[EventRecord]:
    """The rows that belong to events, read with one query a table."""
    attendees = await _by_event(gym, Attendee, events)
    attachments = await _by_event(gym, Attachment, events)
    reminders = await _by_event(gym, Reminder, events)
    properties = await _by_event(gym, ExtendedProperties, events)
    conferences = await _by_event(gym, ConferenceData, events)
    places = await _by_event(gym, WorkingLocation, events)
    birthdays = await _by_event(gym, BirthdayProperties, events)
    guests = {attendee.user_id for rows in attendees.values() for attendee in rows}
    users = {user.user_id: user for user in await _with_keys(gym, User, User.user_id, guests)}
    desks = {place.officeLocationId for rows in places.values() for place in rows}
    offices = {office.id: office for office in await _with_keys(gym, OfficeLocation, OfficeLocation.id, desks)}
    return [
        EventRecord(
            event,
            attendees=[(row, users.get(row.user_id or "")) for row in attendees.get(event.event_id, ())],
            attachments=attachments.get(event.event_id, ()),
            reminders=reminders.get(event.event_id, ()),
            properties=properties.get(event.event_id, ()),
            conference=_first(conferences, event),
            place=(place := _first(places, event)),
            office=offices.get(place.officeLocationId or "") if place else None,
            birthday=_first(birthdays, event),
        )
        for event in events
    ]


async def _by_event(gym: Gym, kind: type[R], events: Sequence[Event]) -> dict[str, list[R]]:
    grouped: dict[str, list[R]] = {}
    for row in await _with_keys(gym, kind, kind.event_id, [event.event_id for event in events]):  # type: ignore[attr-defined]
        grouped.setdefault(row.event_id, []).append(row)  # type: ignore[attr-defined]
    return grouped


async def _with_keys(gym: Gym, kind: type[R], column: Any, keys: Iterable[str | None]) -> Sequence[R]:
    given = [key for key in keys if key]
    return await gym.all(kind, column.in_(given)) if given else ()


def _first(rows: Mapping[str, Sequence[R]], event: Event) -> R | None:
    return next(iter(rows.get(event.event_id, ())), None)


# --- rendering -------------------------------------------------------------------------------------------------------


def resource(record: EventRecord, *, max_attendees: int | None = None) -> dict[str, Any]:
    """An event as a result shows it.

    Args:
        record: The event.
        max_attendees: Number of attendees that are shown; None for all.

    Raises:
        NotShown: A stored value has no form in results.
    """
    try:
        data = EventResource.model_validate(_values(record)).as_json()
    except ValidationError as error:
        raise NotShown(re.sub(r"https://errors\.pydantic\.dev/[\d.]+/", _PUBLISHED_VERSION, str(error))) from None
    except (TypeError, ValueError) as error:
        raise NotShown(str(error), crash=isinstance(error, TypeError)) from None
    if max_attendees is not None and data["attendees"] and len(data["attendees"]) > max_attendees:
        data |= {"attendees": data["attendees"][:max_attendees], "attendeesOmitted": True}
    return data


def _values(record: EventRecord) -> dict[str, Any]:
    event = record.event
    organizer = _organizer(event)
    return {
        "etag": f'"{instant(event.updated_at)}"' if event.updated_at else None,
        "id": event.event_id,
        "status": event.status,
        "htmlLink": f"https://calendar.google.com/event?eid={event.event_id}",
        "created": event.created_at.isoformat() if event.created_at else None,
        "updated": event.updated_at.isoformat() if event.updated_at else None,
        "summary": event.summary,
        "description": event.description,
        "location": event.location,
        "colorId": event.color_id or None,
        "creator": organizer,
        "organizer": organizer,
        "start": resource_time(event.start_datetime, event.start_timezone),
        "end": resource_time(event.end_datetime, event.end_timezone),
        "originalStartTime": _original_start(event),
        "recurringEventId": event.recurring_event_id,
        "recurrence": json.loads(event.recurrence) if event.recurrence else [],
        "transparency": event.transparency,
        "visibility": event.visibility,
        "iCalUID": event.iCalUID,
        "sequence": event.sequence,
        "hangoutLink": event.hangoutLink,
        "guestsCanInviteOthers": event.guestsCanInviteOthers,
        "guestsCanModify": event.guestsCanModify,
        "guestsCanSeeOtherGuests": event.guestsCanSeeOtherGuests,
        "privateCopy": event.privateCopy,
        "locked": event.locked,
        "eventType": event.eventType,
        "source": parsed(event.source) or None,
        "focusTimeProperties": parsed(event.focusTimeProperties) or None,
        "outOfOfficeProperties": parsed(event.outOfOfficeProperties) or None,
        **_related(record, organizer),
    }


def _related(record: EventRecord, organizer: Mapping[str, Any]) -> dict[str, Any]:
    files = [row.file_url for row in record.attachments]
    return {
        "attendees": [_attendee(row, user, organizer) for row, user in record.attendees],
        "attendeesOmitted": False,
        "attachments": [{"fileUrl": url, "title": url.split("/")[-1] if url else "attachment"} for url in files],
        "reminders": {
            "useDefault": any(row.use_default for row in record.reminders),
            "overrides": [{"method": row.method, "minutes": row.minutes} for row in record.reminders],
        },
        "extendedProperties": _merged((row.scope, parsed(row.properties)) for row in record.properties),
        "conferenceData": _conference(record.conference) if record.conference else None,
        "workingLocationProperties": _place(record.place, record.office) if record.place else None,
        "birthdayProperties": {"type": record.birthday.type} if record.birthday else None,
    }


def parsed(text: str | None) -> Any:
    """The value of a column with JSON text."""
    return json.loads(text) if text else None


def _organizer(event: Event) -> dict[str, Any]:
    if not event.organizer_id:
        return {}
    return {
        "id": event.organizer_id,
        "email": event.organizer_email or "",
        "displayName": event.organizer_display_name or "",
        "self": bool(event.organizer_self),
    }


def _original_start(event: Event) -> dict[str, Any] | None:
    zone = event.originalStartTime_timeZone
    if event.originalStartTime_date:
        return {"date": event.originalStartTime_date.isoformat(), "timeZone": zone}
    if event.originalStartTime_dateTime:
        return {"dateTime": shown(event.originalStartTime_dateTime).isoformat(), "timeZone": zone}
    return None


def _attendee(row: Attendee, user: User | None, organizer: Mapping[str, Any]) -> dict[str, Any]:
    organizes = bool(organizer) and user is not None and user.email == organizer["email"]
    return {
        "id": row.attendees_id,
        "email": user.email if user else None,
        "displayName": row.displayName,
        "responseStatus": row.responseStatus,
        "optional": row.optional,
        "comment": row.comment,
        "additionalGuests": row.additionalGuests,
        "resource": row.resource,
        "organizer": organizes,
        "self": organizes and organizer["self"],
    }


def _merged(properties: Iterable[tuple[str, Any]]) -> dict[str, Any] | None:
    """Extended properties by scope, or None if there are none.

    Raises:
        TypeError, ValueError: The properties of a scope are not an object.
    """
    merged: dict[str, dict[str, Any]] = {"private": {}, "shared": {}}
    for scope, values in properties:
        merged[scope].update(values or {})
    return {scope: values for scope, values in merged.items() if values} or None


def _conference(row: ConferenceData) -> dict[str, Any]:
    solution = {"iconUri": row.solution_icon_uri, "name": row.solution_name}
    request = {"requestId": row.request_id or None}
    points = parsed(row.entry_points)
    if not points and row.meeting_uri:
        points = [{"entryPointType": "video", "uri": row.meeting_uri}]
    return {
        "conferenceSolution": {**_texts(solution), **_kind("key", row.solution_type)} or None,
        "createRequest": {
            **_texts(request),
            **_kind("conferenceSolutionKey", row.create_solution_type),
            **({"status": {"statusCode": row.status_code}} if row.status_code else {}),
        }
        or None,
        "entryPoints": points or None,
        "notes": row.notes or None,
        "signature": row.signature or None,
    }


def _texts(values: Mapping[str, str | None]) -> dict[str, str]:
    return {name: text for name, text in values.items() if text}


def _kind(name: str, kind: str | None) -> dict[str, Any]:
    return {name: {"type": kind}} if kind else {}


def _place(row: WorkingLocation, office: OfficeLocation | None) -> dict[str, Any]:
    return {
        "type": row.type,
        "homeOffice": parsed(row.homeOffice),
        "customLocation": {"label": row.customLocationLabel} if row.customLocationLabel else None,
        "officeLocation": _office(office) if office else None,
    }


def _office(row: OfficeLocation) -> dict[str, Any]:
    return {
        "buildingId": row.buildingId,
        "floorId": row.floorId,
        "deskId": row.deskId,
        "floorSectionId": row.floorSectionId,
        "label": row.label_,
    }
