"""Models of what the tools besides the event tools take: bodies, query strings, and what both share.

Invariant: a model holds what the published REST interface accepts, no more; rules that need the database are the
tools'.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from dateutil import tz
from pydantic import AfterValidator, ConfigDict, Field, field_validator, model_validator

from opsgym_domains.calendar.validation import Part, Query

SOLUTIONS = ("eventHangout", "eventNamedHangout", "hangoutsMeet")
"""Kinds of conferences that a calendar may allow."""
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")


def zone(name: str | None) -> str | None:
    """Checks the name of a time zone; empty is allowed, as in the published server."""
    if name and tz.gettz(name) is None:
        raise ValueError("Invalid timeZone; validation failed")
    return name


TimeZone = Annotated[str, AfterValidator(zone)]


# --- calendars -------------------------------------------------------------------------------------------------------


class ConferenceProperties(Part):
    """Kinds of conferences that a calendar allows."""

    allowed_conference_solution_types: list[str] | None = None

    @field_validator("allowed_conference_solution_types")
    @classmethod
    def _known(cls, kinds: list[str] | None) -> list[str] | None:
        if unknown := [kind for kind in kinds or () if kind not in SOLUTIONS]:
            raise ValueError(
                f"Invalid values for conferenceProperties.allowedConferenceSolutionTypes: {unknown}. "
                f"Allowed values are: {list(SOLUTIONS)}"
            )
        return kinds


class CalendarFields(Part):
    """Fields of a calendar that its owner sets."""

    summary: Annotated[str | None, Field(min_length=1, max_length=255)] = None
    description: Annotated[str | None, Field(max_length=1000)] = None
    location: Annotated[str | None, Field(max_length=500)] = None
    time_zone: TimeZone | None = None
    conference_properties: ConferenceProperties | None = None

    @field_validator("summary")
    @classmethod
    def _not_blank(cls, summary: str | None) -> str | None:
        if summary is not None and not summary.strip():
            raise ValueError("summary must not be blank")
        return summary


class NewCalendar(CalendarFields):
    """A calendar to create."""

    summary: Annotated[str, Field(min_length=1, max_length=255)]
    time_zone: TimeZone | None = "UTC"


# --- calendar list ---------------------------------------------------------------------------------------------------


class ListQuery(Query):
    """What of the calendar list is shown."""

    max_results: Annotated[int, Field(gt=0, le=250)] = 100
    min_access_role: Annotated[str | None, Field(pattern="^(freeBusyReader|reader|writer|owner)$")] = None
    page_token: str | None = None
    show_deleted: bool = False
    show_hidden: bool = False
    sync_token: str | None = None


class ColorFormat(Query):
    """Whether colours are given as RGB."""

    color_rgb_format: bool | None = None


class DefaultReminder(Part):
    """A reminder that events of the calendar have by default."""

    method: Literal["email", "popup"]
    minutes: int


class Notification(Part):
    """A notification that the user gets about changes of the calendar."""

    method: Literal["email"]
    type: Literal["eventCreation", "eventChange", "eventCancellation", "eventResponse", "agenda"]


class NotificationSettings(Part):
    """All notifications of a calendar."""

    notifications: list[Notification] | None = None


class EntryFields(Part):
    """Fields of an entry in the calendar list."""

    summary_override: str | None = None
    color_id: str | None = None
    background_color: str | None = None
    foreground_color: str | None = None
    hidden: bool | None = None
    selected: bool | None = None
    default_reminders: list[DefaultReminder] | None = None
    notification_settings: NotificationSettings | None = None

    @field_validator("summary_override")
    @classmethod
    def _blank_is_none(cls, text: str | None) -> str | None:
        return text if text and text.strip() else None


class NewEntry(EntryFields):
    """A calendar to put into the list."""

    id: str
    hidden: bool | None = False
    selected: bool | None = True


class EntryConferences(ConferenceProperties):
    """Kinds of conferences, with the sentence of the list's tool."""

    @field_validator("allowed_conference_solution_types")
    @classmethod
    def _known(cls, kinds: list[str] | None) -> list[str] | None:
        if unknown := next((kind for kind in kinds or () if kind not in SOLUTIONS), None):
            known = ", ".join(SOLUTIONS)
            raise ValueError(f"Invalid conference solution type '{unknown}'. Must be one of: {known}")
        return kinds


class WholeEntry(EntryFields):
    """An entry as a whole."""

    conference_properties: EntryConferences | None = None


# --- sharing ---------------------------------------------------------------------------------------------------------


class ScopeFields(Part):
    """Whom a rule applies to."""

    type: Literal["default", "user", "group", "domain"]
    value: str | None = None

    @model_validator(mode="after")
    def _fitting(self) -> ScopeFields:
        if self.type == "default" and self.value is not None:
            raise ValueError("scope.value must be omitted for type 'default'")
        if self.type in ("user", "group") and self.value is not None and not _EMAIL.fullmatch(self.value):
            raise ValueError(f"scope.value must be a valid email address for type '{self.type}'")
        return self


Role = Literal["none", "freeBusyReader", "reader", "writer", "owner"]


class NewRule(Part):
    """A rule, or what replaces one."""

    scope: ScopeFields
    role: Role | None = None


class RuleFields(Part):
    """Fields of a rule to change."""

    scope: ScopeFields | None = None
    role: Role | None = None


class Notify(Query):
    """Whether people are notified of a change of sharing."""

    send_notifications: bool = True


class RulesQuery(Query):
    """Which rules are listed."""

    max_results: Annotated[int, Field(ge=1, le=250)] = 100
    page_token: str | None = None
    show_deleted: bool = False
    sync_token: str | None = None


# --- channels --------------------------------------------------------------------------------------------------------


def _https(address: str) -> str:
    if not re.match(r"https://[^/?#]", address):
        raise ValueError("Invalid 'address': must be an https URL")
    return address


class ChannelParams(Part):
    """Parameters of a channel."""

    ttl: str | None = None

    @field_validator("ttl")
    @classmethod
    def _seconds(cls, ttl: str | None) -> str | None:
        if ttl is not None and not ttl.isdigit():
            raise ValueError("params.ttl must be an integer string representing seconds")
        return ttl


class ClosedChannelParams(ChannelParams):
    """Parameters of a channel without unknown ones."""

    model_config = ConfigDict(extra="forbid")


class Channel(Part):
    """A channel to open."""

    id: str
    type: str
    address: Annotated[str, AfterValidator(_https)]
    token: str | None = None
    params: ClosedChannelParams | None = None

    @field_validator("type")
    @classmethod
    def _supported(cls, kind: str) -> str:
        if kind.lower() not in ("web_hook", "webhook"):
            raise ValueError("Only channel type 'web_hook' or 'webhook' is supported")
        return kind


class ListChannel(Channel):
    """A channel of the calendar list or of rules, whose parameters may be more."""

    params: ChannelParams | None = None  # type: ignore[assignment]

    @field_validator("type")
    @classmethod
    def _supported(cls, kind: str) -> str:
        if kind not in ("web_hook", "webhook"):
            raise ValueError("Only channel type 'web_hook' is supported")
        return kind


# --- free or busy ----------------------------------------------------------------------------------------------------


class Item(Part):
    """A calendar that a query of free and busy times asks for."""

    id: str


class BusyQuery(Part):
    """A query of free and busy times."""

    time_min: str
    time_max: str
    time_zone: TimeZone | None = "UTC"
    group_expansion_max: Annotated[int | None, Field(ge=1)] = None
    calendar_expansion_max: Annotated[int | None, Field(ge=1)] = None
    items: list[Item]

    @field_validator("items")
    @classmethod
    def _some(cls, items: list[Any]) -> list[Any]:
        if not items:
            raise ValueError("At least one calendar item is required")
        return items
