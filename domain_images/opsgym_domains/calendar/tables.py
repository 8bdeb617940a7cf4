"""The 17 tables of the calendar server.

Invariant: names, columns, their order and their SQLite types are the published ones, so that published seeds and
queries fit. Keys are UUIDs except in `colors`. References are declared and not enforced, as in the published server.
Columns of objects hold JSON text.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any

from sqlalchemy import JSON, DateTime, ForeignKey, Index, Integer, String, Text, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.types import TypeEngine

from opsgym_domains.calendar.seeding import complete
from opsgym_domains.kit.schema import Kind, Row, new_metadata


class CalendarRow(Row):
    """Base class of the domain's rows."""

    __abstract__ = True
    metadata = new_metadata(references_are_enforced=False, complete_seed=complete)
    newest_first = no_op_is_refused = blank_is_null = False
    has_uuid = True


METADATA = CalendarRow.metadata


def _chars(length: int | None = None) -> TypeEngine[str]:
    """A text whose published length only SQLite's declaration shows; the published server does not enforce it."""
    return Text().with_variant(String(length), "sqlite")


def _ref(target: str, *, length: int | None = 255) -> Any:
    return mapped_column(_chars(length), ForeignKey(target))


Key = Annotated[str, mapped_column(_chars(255), primary_key=True)]
PlainKey = Annotated[str, mapped_column(_chars(), primary_key=True)]
Key50 = Annotated[str, mapped_column(_chars(50), primary_key=True)]
Chars = Annotated[str, mapped_column(_chars())]
Chars7 = Annotated[str, mapped_column(_chars(7))]
Chars50 = Annotated[str, mapped_column(_chars(50))]
Chars100 = Annotated[str, mapped_column(_chars(100))]
Chars255 = Annotated[str, mapped_column(_chars(255))]
Chars500 = Annotated[str, mapped_column(_chars(500))]
Json = Annotated[str, mapped_column(Text().with_variant(JSON(), "sqlite"))]
"""An object or a list as JSON text."""
Moment = Annotated[str, mapped_column(Text(collation="C").with_variant(DateTime(), "sqlite"))]
"""A time of an event as text. Seeds hold several forms, which are shown and compared as they are, as in SQLite."""
UserRef = Annotated[str, _ref("users.user_id")]
CalendarRef = Annotated[str, _ref("calendars.calendar_id")]
EventRef = Annotated[str, _ref("events.event_id")]


# --- people, colours and scopes --------------------------------------------------------------------------------------


class Color(CalendarRow):
    """A pair of colours for calendars or for events."""

    __tablename__ = "colors"
    label = "colour"
    has_uuid = False

    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    color_id: Mapped[str] = mapped_column(_chars(10))
    color_type: Mapped[str] = mapped_column(_chars(8))
    background: Mapped[Chars7]
    foreground: Mapped[Chars7]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class OfficeLocation(CalendarRow):
    """A desk, floor or building of a working location."""

    __tablename__ = "office_locations"
    label = "office location"

    id: Mapped[Key]
    buildingId: Mapped[Chars255 | None]
    deskId: Mapped[Chars255 | None]
    floorId: Mapped[Chars255 | None]
    floorSectionId: Mapped[Chars255 | None]
    label_: Mapped[str] = mapped_column("label", _chars(255))


class RecurringEvent(CalendarRow):
    """A recurring series: the rule that its events share."""

    __tablename__ = "recurring_events"
    label = "recurring event"

    recurring_event_id: Mapped[Key]
    original_recurrence: Mapped[str | None]


class Scope(CalendarRow):
    """Whom rules of sharing apply to: a user, a group, a domain, or everybody."""

    __tablename__ = "scopes"
    label = "scope"
    kinds = {"value": Kind.DOMAIN}

    id: Mapped[PlainKey]
    type: Mapped[Chars7]
    value: Mapped[Chars | None]


class User(CalendarRow):
    """A user account."""

    __tablename__ = "users"
    label = "user"
    created, updated = "created_at", "updated_at"
    kinds = {
        "email": Kind.EMAIL,
        "name": Kind.FULL_NAME,
        "given_name": Kind.GIVEN_NAME,
        "family_name": Kind.FAMILY_NAME,
        "timezone": Kind.ZONE,
    }

    user_id: Mapped[Key]
    email: Mapped[Chars255]
    name: Mapped[Chars255]
    given_name: Mapped[Chars255 | None]
    family_name: Mapped[Chars255 | None]
    picture: Mapped[Chars500 | None]
    locale: Mapped[str | None] = mapped_column(_chars(10))
    timezone: Mapped[Chars100]
    is_active: Mapped[bool]
    is_verified: Mapped[bool]
    provider: Mapped[Chars50 | None]
    provider_id: Mapped[Chars255 | None]
    static_token: Mapped[Chars255]
    access_token_hash: Mapped[str | None]
    refresh_token_hash: Mapped[str | None]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]
    last_login_at: Mapped[datetime | None]


class WatchChannel(CalendarRow):
    """A subscription to changes: where notifications of a resource are sent."""

    __tablename__ = "watch_channels"
    label = "channel"

    id: Mapped[PlainKey]
    resource_id: Mapped[Chars]
    resource_uri: Mapped[Chars]
    resource_type: Mapped[Chars]
    calendar_id: Mapped[Chars]
    user_id: Mapped[Chars]
    webhook_address: Mapped[Chars]
    webhook_token: Mapped[Chars | None]
    webhook_type: Mapped[Chars]
    params: Mapped[str | None]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]
    last_notification_at: Mapped[datetime | None]
    is_active: Mapped[Chars]
    notification_count: Mapped[int]


# --- calendars -------------------------------------------------------------------------------------------------------


class Calendar(CalendarRow):
    """A calendar, with its entry in the owner's calendar list."""

    __tablename__ = "calendars"
    __table_args__ = (
        Index(
            "uq_calendars_primary",
            "user_id",
            unique=True,
            sqlite_where=text("is_primary = 1"),
            postgresql_where=text("is_primary"),
        ),
    )
    label = "calendar"
    created, updated = "created_at", "updated_at"
    kinds = {"summary": Kind.TITLE, "location": Kind.COMPANY}

    calendar_id: Mapped[Key]
    user_id: Mapped[UserRef]
    summary: Mapped[Chars255]
    description: Mapped[str | None]
    location: Mapped[Chars500 | None]
    time_zone: Mapped[Chars100]
    conference_properties: Mapped[str | None]
    is_primary: Mapped[bool]
    summary_override: Mapped[Chars255 | None]
    color_id: Mapped[Chars50 | None]
    background_color: Mapped[Chars7 | None]
    foreground_color: Mapped[Chars7 | None]
    hidden: Mapped[bool]
    selected: Mapped[bool]
    default_reminders: Mapped[str | None]
    notification_settings: Mapped[str | None]
    deleted: Mapped[bool]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class Setting(CalendarRow):
    """A setting of a user."""

    __tablename__ = "settings"
    label = "setting"

    id: Mapped[Key]
    value: Mapped[Chars255]
    etag: Mapped[Chars255 | None]
    user_id: Mapped[UserRef | None]


class AclRule(CalendarRow):
    """A rule of sharing: the role of a scope on a calendar. `user_id` is the calendar's owner who made it."""

    __tablename__ = "acls"
    label = "rule"
    created, updated = "created_at", "updated_at"

    id: Mapped[PlainKey]
    calendar_id: Mapped[str] = _ref("calendars.calendar_id", length=None)
    user_id: Mapped[str] = _ref("users.user_id", length=None)
    scope_id: Mapped[str] = _ref("scopes.id", length=None)
    role: Mapped[str] = mapped_column(_chars(14))
    etag: Mapped[Chars | None]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


# --- events ----------------------------------------------------------------------------------------------------------


class Event(CalendarRow):
    """An event, or one occurrence of a recurring series. Times are the wall clock's; zones stand beside them.

    `color_id` names a `colors.color_id`; the published declaration refers to another column and is left out.
    """

    __tablename__ = "events"
    label = "event"
    created, updated = "created_at", "updated_at"

    event_id: Mapped[Key]
    calendar_id: Mapped[CalendarRef]
    user_id: Mapped[UserRef]
    organizer_id: Mapped[Chars255 | None]
    organizer_email: Mapped[Chars255 | None]
    organizer_display_name: Mapped[Chars255 | None]
    organizer_self: Mapped[bool | None]
    recurring_event_id: Mapped[str | None] = _ref("recurring_events.recurring_event_id")
    summary: Mapped[Chars255 | None]
    description: Mapped[str | None]
    location: Mapped[Chars500 | None]
    start_datetime: Mapped[Moment]
    end_datetime: Mapped[Moment]
    start_timezone: Mapped[Chars100 | None]
    end_timezone: Mapped[Chars100 | None]
    recurrence: Mapped[str | None]
    status: Mapped[Chars50]
    visibility: Mapped[Chars50]
    color_id: Mapped[Chars50 | None]
    eventType: Mapped[str] = mapped_column(_chars(15))
    focusTimeProperties: Mapped[Json | None]
    guestsCanInviteOthers: Mapped[bool]
    guestsCanModify: Mapped[bool]
    guestsCanSeeOtherGuests: Mapped[bool]
    outOfOfficeProperties: Mapped[Json | None]
    sequence: Mapped[int | None]
    source: Mapped[Json | None]
    transparency: Mapped[Chars50 | None]
    iCalUID: Mapped[Chars255 | None]
    privateCopy: Mapped[bool | None]
    locked: Mapped[bool | None]
    hangoutLink: Mapped[Chars500 | None]
    originalStartTime_date: Mapped[date | None]
    originalStartTime_dateTime: Mapped[Moment | None]
    originalStartTime_timeZone: Mapped[Chars100 | None]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class Attachment(CalendarRow):
    """A file that is attached to an event."""

    __tablename__ = "attachments"
    label = "attachment"

    attachment_id: Mapped[Key]
    event_id: Mapped[EventRef]
    file_url: Mapped[str] = mapped_column(_chars(2000))


class Attendee(CalendarRow):
    """A guest of an event; a guest without an account has no `user_id`."""

    __tablename__ = "attendees"
    label = "attendee"

    attendees_id: Mapped[Key]
    comment: Mapped[Chars255 | None]
    displayName: Mapped[Chars255 | None]
    additionalGuests: Mapped[int | None]
    optional: Mapped[bool]
    resource: Mapped[bool]
    responseStatus: Mapped[Chars50]
    event_id: Mapped[EventRef]
    user_id: Mapped[UserRef | None]


class BirthdayProperties(CalendarRow):
    """What an event of the type birthday adds."""

    __tablename__ = "birthday_properties"
    __table_args__ = (UniqueConstraint("event_id", info={"code": "DUPLICATE_BIRTHDAY"}),)
    label = "birthday"

    id: Mapped[Key50]
    event_id: Mapped[EventRef]
    type: Mapped[Chars50]


class ConferenceData(CalendarRow):
    """The conference of an event."""

    __tablename__ = "conference_data"
    __table_args__ = (UniqueConstraint("event_id", info={"code": "DUPLICATE_CONFERENCE"}),)
    label = "conference"

    id: Mapped[Key50]
    event_id: Mapped[EventRef]
    solution_type: Mapped[Chars100 | None]
    solution_name: Mapped[Chars255 | None]
    solution_icon_uri: Mapped[Chars500 | None]
    request_id: Mapped[Chars255 | None]
    create_solution_type: Mapped[Chars100 | None]
    status_code: Mapped[Chars50 | None]
    entry_points: Mapped[Json | None]
    notes: Mapped[str | None]
    signature: Mapped[Chars500 | None]
    meeting_uri: Mapped[Chars500 | None]
    label_: Mapped[str | None] = mapped_column("label", _chars(255))


class ExtendedProperties(CalendarRow):
    """Properties that applications keep with an event, private to one copy or shared."""

    __tablename__ = "extended_properties"
    label = "extended properties"

    id: Mapped[Key]
    event_id: Mapped[EventRef]
    scope: Mapped[Chars7]
    properties: Mapped[Json | None]


class Reminder(CalendarRow):
    """A reminder of an event, in minutes before it starts."""

    __tablename__ = "reminders"
    label = "reminder"

    id: Mapped[Key]
    event_id: Mapped[EventRef]
    method: Mapped[str] = mapped_column(_chars(5))
    minutes: Mapped[int]
    use_default: Mapped[bool]


class WorkingLocation(CalendarRow):
    """Where the owner of an event of the type workingLocation works."""

    __tablename__ = "working_location_properties"
    __table_args__ = (UniqueConstraint("officeLocationId", info={"code": "DUPLICATE_OFFICE_LOCATION"}),)
    label = "working location"

    working_location_id: Mapped[Key]
    event_id: Mapped[EventRef]
    type: Mapped[Chars50]
    homeOffice: Mapped[Json | None]
    customLocationLabel: Mapped[Chars255 | None]
    officeLocationId: Mapped[str | None] = _ref("office_locations.id")
