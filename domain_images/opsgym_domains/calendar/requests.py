"""Models of what the tools besides the event tools take: bodies, query strings, and what both share.

Invariant: a model holds what the published REST interface accepts, no more; rules that need the database are the
tools'.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from dateutil import tz
from pydantic import AfterValidator, ConfigDict, Field, field_validator, model_validator

from opsgym_domains.calendar.event_bodies import EMAIL, EventChannel, WatchParameters
from opsgym_domains.calendar.validation import Part, Query

SOLUTIONS = ("eventHangout", "eventNamedHangout", "hangoutsMeet")
"""Kinds of conferences that a calendar may allow."""
_LABEL = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_DOMAIN = re.compile(rf"(?=.{{0,253}}$){_LABEL}(?:\.{_LABEL})*")


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
    """Fields of a calendar that its owner changes."""

    summary: Annotated[str, Field(min_length=1, max_length=255)] = ""  # not null; the default is never stored
    description: Annotated[str | None, Field(max_length=1000)] = None
    location: Annotated[str | None, Field(max_length=500)] = None
    time_zone: TimeZone | None = None
    conference_properties: ConferenceProperties | None = None

    @field_validator("summary")
    @classmethod
    def _not_blank(cls, summary: str) -> str:
        if not summary.strip():
            raise ValueError("summary must not be blank when provided")
        return summary


class NewCalendar(CalendarFields):
    """A calendar to create."""

    summary: Annotated[str, Field(min_length=1, max_length=255)]
    time_zone: TimeZone | None = "UTC"

    @field_validator("summary")
    @classmethod
    def _not_blank(cls, summary: str) -> str:
        if not summary.strip():
            raise ValueError("summary must not be blank")
        return summary


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

    @field_validator("minutes")
    @classmethod
    def _not_negative(cls, minutes: int) -> int:
        if minutes < 0:
            raise ValueError("defaultReminders[].minutes must be >= 0")
        return minutes


class LooseReminder(Part):
    """A reminder of an entry as a whole: one without a method, or with negative minutes, is dropped."""

    method: Literal["email", "popup", ""] = ""
    minutes: int


class Notification(Part):
    """A notification that the user gets about changes of the calendar."""

    method: Literal["email"]
    type: Literal["eventCreation", "eventChange", "eventCancellation", "eventResponse", "agenda"]


class LooseNotification(Part):
    """A notification of an entry as a whole: one without a method or type is dropped."""

    method: Literal["email", ""] = ""
    type: Literal["eventCreation", "eventChange", "eventCancellation", "eventResponse", "agenda", ""] = ""


class NotificationSettings(Part):
    """All notifications of a calendar."""

    notifications: list[Notification] | None = None


class LooseNotificationSettings(Part):
    """All notifications of an entry as a whole."""

    notifications: list[LooseNotification] | None = None

    @field_validator("notifications")
    @classmethod
    def _complete(cls, given: list[LooseNotification] | None) -> list[LooseNotification]:
        return [one for one in given or () if one.method and one.type]


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

    def without_blanks(self, *names: str) -> dict[str, Any]:
        """The arguments that the call contains, but those of these texts that are blank."""
        given = self.given()
        return {name: value for name, value in given.items() if name not in names or value is None or value.strip()}


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
        for unknown in [kind for kind in kinds or () if kind not in SOLUTIONS][:1]:
            known = ", ".join(SOLUTIONS)
            raise ValueError(f"Invalid conference solution type '{unknown}'. Must be one of: {known}")
        return kinds


class WholeEntry(EntryFields):
    """An entry as a whole."""

    default_reminders: list[LooseReminder] | None = None  # type: ignore[assignment]
    notification_settings: LooseNotificationSettings | None = None  # type: ignore[assignment]
    conference_properties: EntryConferences | None = None

    @field_validator("default_reminders")
    @classmethod
    def _complete(cls, given: list[LooseReminder] | None) -> list[LooseReminder] | None:
        return given and [one for one in given if one.method and one.minutes >= 0]


# --- sharing ---------------------------------------------------------------------------------------------------------


class ScopeFields(Part):
    """Whom a rule applies to."""

    type: Literal["default", "user", "group", "domain"]
    value: str | None = None

    @model_validator(mode="after")
    def _fitting(self) -> ScopeFields:
        if self.type == "default" and self.value is not None:
            raise ValueError("scope.value must be omitted for type 'default'")
        text = None if self.value is None else self.value.strip()
        if self.type in ("user", "group") and text is not None and not EMAIL.fullmatch(text):
            raise ValueError(f"scope.value must be a valid email address for type '{self.type}'")
        if self.type == "domain" and text is not None and not _DOMAIN.fullmatch(text):
            raise ValueError(f"scope.value must be a valid domain name for type '{self.type}'")
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


class OpenParameters(WatchParameters):
    """Parameters of a channel, of which unknown ones are ignored."""

    model_config = ConfigDict(extra="ignore")


class RulesChannel(EventChannel):
    """A channel of rules, whose type need not be given."""

    type: str = "web_hook"

    @field_validator("type")
    @classmethod
    def _web_hook(cls, kind: str) -> str:
        if kind.strip().lower() not in ("web_hook", "webhook"):
            raise ValueError("Only channel type 'web_hook' is supported")
        return kind


class ListChannel(RulesChannel):
    """A channel of the calendar list."""

    id: Annotated[str, Field(min_length=1)]
    type: str
    address: Annotated[str, Field(min_length=1)]
    params: OpenParameters | None = None


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
