"""Rows that belong to an event: attachments, reminders, extended properties, working location and birthday.

Invariant: every part is written and removed here, for new, changed, imported and deleted events alike.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from opsgym_domains.calendar.event_bodies import ImportedReminders, Office, Reminders, WorkingPlace, is_https
from opsgym_domains.calendar.tables import (
    Attachment,
    Attendee,
    BirthdayProperties,
    ConferenceData,
    Event,
    ExtendedProperties,
    OfficeLocation,
    Reminder,
    WorkingLocation,
)
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym
from opsgym_domains.kit.schema import Row, columns_but

MAX_OVERRIDES = 5
_DEFAULT_REMINDER: Mapping[str, Any] = {"use_default": True, "method": "popup", "minutes": 10}
_OF_AN_EVENT: Sequence[Any] = (
    Attachment,
    Attendee,
    BirthdayProperties,
    ConferenceData,
    ExtendedProperties,
    Reminder,
    WorkingLocation,
)


def check_attachments(files: Sequence[Mapping[str, Any]]) -> None:
    """Refuses an attachment without an https URL.

    Raises:
        ValueError: A URL is missing or not https.
    """
    for file in files:
        if "fileUrl" not in file:
            raise ValueError("fileUrl is required")
        if not is_https(file["fileUrl"]):
            raise ValueError(f"Invalid 'fileUrl': must be an https URL {str(file['fileUrl']).strip()}")


def attachment_rows(event_id: str, urls: Iterable[str]) -> list[Row]:
    """Attachments of an event, to be added."""
    return [Attachment(event_id=event_id, file_url=url) for url in urls]


def check_overrides(reminders: Reminders | ImportedReminders | None) -> None:
    """Refuses too many reminders.

    Raises:
        ValueError: There are more than 5.
    """
    if reminders and len(reminders.overrides or ()) > MAX_OVERRIDES:
        raise ValueError("The maximum number of override reminders is 5")


def reminder_rows(event_id: str, reminders: Reminders | ImportedReminders) -> list[Row]:
    """The default reminder of an event, or the given ones if the default is turned off; to be added."""
    if reminders.use_default:
        return [Reminder(event_id=event_id, **_DEFAULT_REMINDER)]
    return [
        Reminder(event_id=event_id, use_default=False, method=override.method, minutes=override.minutes)
        for override in reminders.overrides or ()
    ]


def property_rows(event_id: str, properties: Mapping[str, Any]) -> list[Row]:
    """Extended properties of both scopes, to be added; empty ones are left out."""
    return [
        ExtendedProperties(event_id=event_id, scope=scope, properties=json.dumps(values))
        for scope in ("private", "shared")
        if (values := properties.get(scope))
    ]


async def add_place(gym: Gym, event_id: str, place: WorkingPlace, *, empty_office: bool = True) -> None:
    """Adds a working location and its office.

    Args:
        gym: The call.
        event_id: The event.
        place: The working location.
        empty_office: Whether an office without any value is added too.
    """
    office = place.office_location
    has_office = office is not None and (empty_office or any(office.as_json().values()))
    row = WorkingLocation(
        event_id=event_id,
        type=place.type,
        homeOffice=json.dumps(place.home_office),
        customLocationLabel=place.custom_location.label if place.custom_location else None,
        officeLocationId=await _add_office(gym, office) if office and has_office else None,
    )
    await gym.insert(row)


async def _add_office(gym: Gym, office: Office) -> str:
    texts = {name: text or "" for name, text in office.as_json().items()}
    row = await gym.insert(OfficeLocation(label_=texts.pop("label"), **texts))
    return row.id


async def add_birthday(gym: Gym, event_id: str) -> None:
    """Marks an event as a birthday."""
    await gym.insert(BirthdayProperties(event_id=event_id, type="birthday"))


async def remove(gym: Gym, kind: type[Row], event_id: str) -> None:
    """Removes an event's rows of a class."""
    await gym.delete(await gym.all(kind, kind.event_id == event_id))  # type: ignore[attr-defined]


async def delete_with_parts(gym: Gym, events: Sequence[Event]) -> None:
    """Deletes events and all rows that belong to them; an office location stays."""
    keys = [event.event_id for event in events]
    if not keys:
        return
    await remove_parts(gym, keys)
    await gym.delete(events)


async def copy_parts(gym: Gym, source: str, targets: Sequence[str]) -> None:
    """Gives events the rows that belong to another one; an office location is not shared."""
    copies: list[Row] = []
    for kind in _OF_AN_EVENT:
        key = next(iter(kind.__table__.primary_key)).name
        names = [_attribute(name) for name in columns_but(kind, key, "event_id", "officeLocationId")]
        for row in await gym.all(kind, kind.event_id == source):
            values = {name: getattr(row, name) for name in names}
            copies += [kind(event_id=target, **values) for target in targets]
    await gym.insert_all(copies)


def _attribute(column: str) -> str:
    """Attribute of a column: `label` is taken by the row class itself."""
    return "label_" if column == "label" else column


async def remove_parts(gym: Gym, event_ids: Sequence[str]) -> None:
    """Removes all rows that belong to events."""
    for kind in _OF_AN_EVENT:
        await gym.delete(await gym.all(kind, kind.event_id.in_(event_ids)))


@contextmanager
def refusals() -> Iterator[None]:
    """Turns a violated check into the refusal of the call."""
    try:
        yield
    except ValueError as error:
        raise ToolError("INVALID_VALUE", str(error)) from None
