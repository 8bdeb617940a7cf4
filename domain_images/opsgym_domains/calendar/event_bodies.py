"""Bodies of event requests: what the published server checks before it looks anything up.

Invariant: a model accepts exactly the values that the published server accepts, and its messages are the ones that
`validation` turns into the published text. What may be stored and combined is decided by the tools.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from enum import StrEnum
from typing import Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import ConfigDict, Field, ValidationInfo, field_validator, model_validator

from opsgym_domains.calendar.event_times import is_zone
from opsgym_domains.calendar.validation import Part

ICAL_UID = re.compile(r"^[a-zA-Z0-9._-]+@[a-zA-Z0-9.-]+\.[a-zA-Z]{2,}$")
EMAIL = re.compile(r"^[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\.[a-zA-Z]{2,}$")
BAD_ICAL_UID = "Invalid iCalUID format. Expected something like 'abcd123@google.com'."
_BAD_SOURCE = "Invalid 'url' in source: must be an https or http URL"

_UNKNOWN: Any = ""
"""Published default of fields whose values are enumerated; it is none of them."""
_ABSENT: Any = None
"""Default of fields that may be missing but not null."""

Decline = Literal["declineNone", "declineAllConflictingInvitations", "declineOnlyNewConflictingInvitations"]
Place = Literal["homeOffice", "officeLocation", "customLocation"]


class EventType(StrEnum):
    """Kinds of events."""

    DEFAULT = "default"
    BIRTHDAY = "birthday"
    FOCUS_TIME = "focusTime"
    FROM_GMAIL = "fromGmail"
    OUT_OF_OFFICE = "outOfOffice"
    WORKING_LOCATION = "workingLocation"


class Status(StrEnum):
    """States of an event."""

    CONFIRMED = "confirmed"
    TENTATIVE = "tentative"
    CANCELLED = "cancelled"


class Visibility(StrEnum):
    """Who may see an event."""

    DEFAULT = "default"
    PUBLIC = "public"
    PRIVATE = "private"
    CONFIDENTIAL = "confidential"


class Transparency(StrEnum):
    """Whether an event blocks time."""

    OPAQUE = "opaque"
    TRANSPARENT = "transparent"


class Response(StrEnum):
    """An attendee's answer."""

    NEEDS_ACTION = "needsAction"
    DECLINED = "declined"
    TENTATIVE = "tentative"
    ACCEPTED = "accepted"


class Method(StrEnum):
    """How a reminder is sent."""

    EMAIL = "email"
    POPUP = "popup"


class Entry(StrEnum):
    """Kinds of entry points of a conference."""

    VIDEO = "video"
    PHONE = "phone"
    SIP = "sip"
    MORE = "more"


class Solution(StrEnum):
    """Kinds of conferences that an import accepts."""

    MEET = "hangoutsMeet"
    ADD_ON = "addOn"


class Body(Part):
    """Base class of the models: enumerations become texts."""

    model_config = ConfigDict(use_enum_values=True)


def is_https(url: object) -> bool:
    """Whether a value is an https URL with a host."""
    try:
        parts = urlsplit(str(url).strip())
    except ValueError:
        return False
    return parts.scheme == "https" and bool(parts.netloc)


# --- times and people ------------------------------------------------------------------------------------------------


class Moment(Body):
    """Start or end of an event: a time or a date, and a zone."""

    date_time: str | None = None
    date: str | None = None
    time_zone: str | None = None

    @field_validator("time_zone")
    @classmethod
    def _zone(cls, zone: str | None) -> str | None:
        if zone is not None and not is_zone(zone):
            raise ValueError("Invalid timeZone; validation failed")
        return zone

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if self.date_time is not None and self.date is not None:
            raise ValueError(
                "Cannot specify both dateTime and date - "
                "use either dateTime for timed events or date for all-day events"
            )
        if self.date_time is None and self.date is None:
            raise ValueError(
                "Must specify either dateTime or date - dateTime for timed events, date for all-day events"
            )
        return self


class Person(Body):
    """A creator, organizer or attendee."""

    id: str | None = None
    email: str | None = None
    display_name: str | None = None
    self: bool | None = None


class Guest(Person):
    """An attendee."""

    organizer: bool | None = False
    response_status: Response | None = Response.NEEDS_ACTION
    comment: str | None = None
    additional_guests: int | None = 0
    optional: bool | None = False
    resource: bool | None = False


class ImportedGuest(Body):
    """An attendee of an imported event."""

    email: str
    display_name: str | None = None
    optional: bool | None = False
    resource: bool | None = False
    response_status: Response = Response.NEEDS_ACTION
    comment: str | None = None
    additional_guests: int | None = 0


class ImportedOrganizer(Body):
    """The organizer of an imported event."""

    email: str
    display_name: str | None = None

    @field_validator("email")
    @classmethod
    def _address(cls, email: str) -> str:
        if not email:
            raise ValueError("Organizer email is required")
        if not EMAIL.match(email):
            raise ValueError("Invalid email format. Must be a valid email address as per RFC5322.")
        return email


# --- reminders, attachments, source ----------------------------------------------------------------------------------


class ReminderOverride(Body):
    """One reminder."""

    method: Method
    minutes: int = Field(gt=0, lt=40320)


class Reminders(Body):
    """The reminders of an event; the defaults replace the overrides unless they are turned off."""

    overrides: list[ReminderOverride] | None = None
    use_default: bool = True


class ImportedReminder(Body):
    """One reminder of an imported event."""

    method: str
    minutes: int = Field(gt=0, lt=40320)

    @field_validator("method")
    @classmethod
    def _known(cls, method: str) -> str:
        if method not in ("email", "popup"):
            raise ValueError("Method must be either 'email' or 'popup'")
        return method


class ImportedReminders(Body):
    """The reminders of an imported event."""

    use_default: bool = True
    overrides: list[ImportedReminder] | None = None


class ImportedAttachment(Body):
    """A file of an imported event."""

    file_url: str
    title: str | None = None
    mime_type: str | None = None
    icon_link: str | None = None
    file_id: str | None = None

    @field_validator("file_url")
    @classmethod
    def _https(cls, url: str) -> str:
        if not is_https(url):
            raise ValueError(_BAD_SOURCE)
        return url


class Source(Body):
    """Where an event comes from."""

    url: str
    title: str


# --- conferences -----------------------------------------------------------------------------------------------------


class SolutionKey(Body):
    """Kind of a conference."""

    type: str | None = None


class ConferenceSolution(Body):
    """Name and kind of a conference."""

    icon_uri: str | None = None
    key: SolutionKey | None = None
    name: str | None = None


class RequestStatus(Body):
    """State of a request for a conference."""

    status_code: str | None = None


class CreateRequest(Body):
    """Request for a new conference."""

    conference_solution_key: SolutionKey | None = None
    request_id: str | None = None
    status: RequestStatus | None = None


_SCHEMES = {
    "video": (("http", "https"), "Video entry point URI must use http or https schema"),
    "phone": (("tel",), "Phone entry point URI must use tel schema"),
    "sip": (("sip",), "SIP entry point URI must use sip schema"),
    "more": (("http", "https"), "More entry point URI must use http or https schema"),
}


def _checked_uri(uri: str | None, info: ValidationInfo) -> str:
    if not uri:
        raise ValueError("URI is required")
    schemes, message = _SCHEMES.get(str(info.data.get("entry_point_type")), ((), ""))
    if schemes and urlsplit(uri).scheme not in schemes:
        raise ValueError(message)
    return uri


def _at_most_one_each(points: list[Any] | None) -> list[Any] | None:
    counts = Counter(point.entry_point_type for point in points or ())
    for kind, name in ((Entry.VIDEO, "video"), (Entry.SIP, "SIP"), (Entry.MORE, "more")):
        if counts[kind] > 1:
            raise ValueError(f"Conference can have at most one {name} entry point")
    if points and len(points) == 1 and points[0].entry_point_type == Entry.MORE:
        raise ValueError("Conference with only a 'more' entry point is not valid")
    return points


class EntryPoint(Body):
    """A way to join a conference."""

    access_code: str | None = Field(None, max_length=128)
    entry_point_type: Entry | None = None
    label: str | None = Field(None, max_length=512)
    meeting_code: str | None = Field(None, max_length=128)
    passcode: str | None = Field(None, max_length=128)
    password: str | None = Field(None, max_length=128)
    pin: str | None = Field(None, max_length=128)
    uri: str | None = Field(None, max_length=1300)

    _uri = field_validator("uri")(_checked_uri)


class Conference(Body):
    """A conference, or a request for one."""

    conference_id: str | None = None
    conference_solution: ConferenceSolution | None = None
    create_request: CreateRequest | None = None
    entry_points: list[EntryPoint] | None = None
    notes: str | None = Field(None, max_length=2048)
    signature: str | None = None

    _one_each = field_validator("entry_points")(_at_most_one_each)

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        _check_one_form(self.conference_solution, self.entry_points, self.create_request)
        return self


def _check_one_form(solution: object, points: object, request: object) -> None:
    if request is not None and (solution is not None or points):
        raise ValueError("Cannot specify both createRequest and conferenceSolution/entryPoints")
    if request is None and (solution is None or not points):
        raise ValueError("Must specify either createRequest OR both conferenceSolution and at least one entryPoint")


class ImportedSolutionKey(Body):
    """Kind of an imported conference."""

    type: Solution | None = None


class ImportedSolution(Body):
    """Name and kind of an imported conference."""

    icon_uri: str | None = None
    key: ImportedSolutionKey | None = None
    name: str | None = None


class ImportedRequestStatus(Body):
    """State of an imported request."""

    status_code: Literal["pending", "success", "failure"]


class ImportedRequest(Body):
    """Request for the conference of an imported event."""

    conference_solution_key: ImportedSolutionKey | None = None
    request_id: str | None = None
    status: ImportedRequestStatus | None = None


class ImportedEntryPoint(Body):
    """A way to join an imported conference."""

    entry_point_type: Entry
    uri: str = Field(max_length=1300)
    access_code: str | None = Field(None, max_length=128)
    meeting_code: str | None = Field(None, max_length=128)
    passcode: str | None = Field(None, max_length=128)
    password: str | None = Field(None, max_length=128)
    pin: str | None = Field(None, max_length=128)
    label: str | None = Field(None, max_length=512)

    _uri = field_validator("uri")(_checked_uri)


class ImportedConference(Body):
    """The conference of an imported event."""

    conference_id: str | None = None
    signature: str | None = None
    notes: str | None = Field(None, max_length=2048)
    conference_solution: ImportedSolution | None = None
    entry_points: list[ImportedEntryPoint] | None = None
    create_request: ImportedRequest | None = None

    _one_each = field_validator("entry_points")(_at_most_one_each)

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        _check_one_form(self.conference_solution, self.entry_points, self.create_request)
        return self


# --- properties of kinds of events -----------------------------------------------------------------------------------


class FocusTime(Body):
    """What an event of the type focusTime adds."""

    auto_decline_mode: Decline | None = Field(default=_UNKNOWN)
    chat_status: Literal["available", "doNotDisturb"] | None = Field(default=_UNKNOWN)
    decline_message: str | None = ""


class OutOfOffice(Body):
    """What an event of the type outOfOffice adds."""

    auto_decline_mode: Decline | None = Field(default=_UNKNOWN)
    decline_message: str | None = ""


class CustomLocation(Body):
    """A working location of any name."""

    label: str | None = None


class Office(Body):
    """A working location in an office."""

    building_id: str | None = None
    desk_id: str | None = None
    floor_id: str | None = None
    floor_section_id: str | None = None
    label: str | None = None


class WorkingPlace(Body):
    """What an event of the type workingLocation adds."""

    type: Place
    custom_location: CustomLocation | None = None
    home_office: Any | None = None
    office_location: Office | None = None

    @field_validator("home_office")
    @classmethod
    def _parsed(cls, home: Any) -> Any:
        try:
            return json.loads(home) if isinstance(home, str) else home
        except ValueError:
            return home


class Birthday(Body):
    """What an event of the type birthday adds."""

    type: Literal["birthday"] = "birthday"


class ImportedProperties(Body):
    """Extended properties of an imported event."""

    private: dict[str, str] | None = None
    shared: dict[str, str] | None = None


# --- requests --------------------------------------------------------------------------------------------------------


def _checked_uid(uid: str | None) -> str | None:
    if uid is None or not ICAL_UID.match(uid):
        raise ValueError(BAD_ICAL_UID)
    return uid


def _checked_source(source: dict[str, Any] | None) -> dict[str, Any] | None:
    if source is not None and not is_https(source.get("url")):
        raise ValueError(_BAD_SOURCE)
    return source


class NewEvent(Body):
    """Body of create_event."""

    end: Moment
    start: Moment
    attachments: list[dict[str, Any]] | None = None
    attendees: list[Guest] | None = None
    birthday_properties: Birthday | None = None
    color_id: str | None = None
    conference_data: Conference | None = None
    description: str | None = None
    event_type: EventType | None = EventType.DEFAULT
    extended_properties: dict[str, Any] | None = None
    focus_time_properties: FocusTime | None = None
    guests_can_invite_others: bool | None = True
    guests_can_modify: bool | None = False
    guests_can_see_other_guests: bool | None = True
    hangout_link: str | None = None
    ical_uid: str | None = Field(default=None, alias="iCalUID")
    location: str | None = None
    original_start_time: Moment | None = None
    out_of_office_properties: OutOfOffice | None = None
    recurrence: list[str] | None = None
    reminders: Reminders | None = None
    sequence: int | None = 0
    source: dict[str, Any] | None = None
    status: Status | None = Status.CONFIRMED
    summary: str | None = None
    transparency: Transparency | None = Transparency.OPAQUE
    visibility: Visibility | None = Visibility.DEFAULT
    working_location_properties: WorkingPlace | None = None

    _uid = field_validator("ical_uid")(_checked_uid)
    _source = field_validator("source")(_checked_source)


class EventChanges(Body):
    """Body of patch_event and update_event. Changes are made in the order of the fields."""

    summary: str | None = None
    description: str | None = None
    location: str | None = None
    color_id: str | None = None
    start: Moment | None = None
    end: Moment | None = None
    end_time_unspecified: bool | None = None
    event_type: EventType | None = None
    recurrence: list[str] | None = None
    status: Status | None = None
    visibility: Visibility | None = None
    transparency: Transparency | None = None
    attendees: list[Guest] | None = None
    guests_can_invite_others: bool | None = None
    guests_can_modify: bool | None = None
    guests_can_see_other_guests: bool | None = None
    attachments: list[dict[str, Any]] | None = None
    conference_data: Conference | None = None
    birthday_properties: Birthday | None = None
    focus_time_properties: FocusTime | None = None
    out_of_office_properties: dict[str, Any] | None = None
    working_location_properties: WorkingPlace | None = None
    extended_properties: dict[str, Any] | None = None
    hangout_link: str | None = None
    ical_uid: str | None = Field(default=None, alias="iCalUID")
    private_copy: bool | None = None
    locked: bool | None = None
    reminders: Reminders | None = None
    sequence: int | None = None
    source: dict[str, Any] | None = None

    _uid = field_validator("ical_uid")(_checked_uid)
    _source = field_validator("source")(_checked_source)


class ImportedEvent(Body):
    """Body of import_event. iCalUID, source and sequence may be missing, not null."""

    start: Moment
    end: Moment
    ical_uid: str = Field(default=_ABSENT, alias="iCalUID")
    summary: str | None = None
    description: str | None = None
    location: str | None = None
    color_id: str | None = None
    status: str | None = "confirmed"
    transparency: str | None = "opaque"
    visibility: str | None = "default"
    organizer: ImportedOrganizer | None = None
    attendees: list[ImportedGuest] | None = None
    attendees_omitted: bool | None = False
    guests_can_invite_others: bool | None = True
    guests_can_modify: bool | None = False
    guests_can_see_other_guests: bool | None = True
    gadget: dict[str, Any] | None = None
    recurrence: list[str] | None = None
    recurring_event_id: str | None = None
    original_start_time: Moment | None = None
    reminders: ImportedReminders | None = None
    attachments: list[ImportedAttachment] | None = None
    conference_data: ImportedConference | None = None
    source: Source = Field(default=_ABSENT)
    extended_properties: ImportedProperties | None = None
    focus_time_properties: FocusTime | None = None
    out_of_office_properties: OutOfOffice | None = None
    sequence: int = Field(default=_ABSENT)

    _uid = field_validator("ical_uid")(_checked_uid)

    @field_validator("status", "transparency", "visibility")
    @classmethod
    def _known(cls, value: str | None, info: ValidationInfo) -> str | None:
        allowed, message = _IMPORT_ENUMS[str(info.field_name)]
        if value not in allowed:
            raise ValueError(message)
        return value

    @field_validator("source")
    @classmethod
    def _https(cls, source: Source) -> Source:
        if not is_https(source.url):
            raise ValueError(_BAD_SOURCE)
        return source


_IMPORT_ENUMS: dict[str, tuple[list[str], str]] = {
    "status": ([*Status], f"Status must be one of: {[str(status) for status in Status]}"),
    "transparency": ([*Transparency], "Transparency must be either 'opaque' or 'transparent'"),
    "visibility": ([*Visibility], f"Visibility must be one of: {[str(value) for value in Visibility]}"),
}


# --- channels --------------------------------------------------------------------------------------------------------


class WatchParameters(Body):
    """Parameters of a channel."""

    model_config = ConfigDict(extra="forbid")

    ttl: str | None = None

    @field_validator("ttl")
    @classmethod
    def _seconds(cls, ttl: str | None) -> str | None:
        if ttl is None:
            return None
        if not ttl.strip().isdigit():
            raise ValueError("params.ttl must be an integer string representing seconds")
        if int(ttl) <= 0:
            raise ValueError("params.ttl must be greater than 0")
        return ttl.strip()


class EventChannel(Body):
    """Body of watch_events."""

    id: str
    type: str
    address: str
    token: str | None = None
    params: WatchParameters | None = None

    @field_validator("type")
    @classmethod
    def _web_hook(cls, kind: str) -> str:
        if kind.strip().lower() not in ("web_hook", "webhook"):
            raise ValueError("Only channel type 'web_hook' or 'webhook' is supported")
        return "web_hook"

    @field_validator("address")
    @classmethod
    def _https(cls, address: str) -> str:
        if not is_https(address):
            raise ValueError("Invalid 'address': must be an https URL")
        return address.strip()
