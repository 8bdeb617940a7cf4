"""The rows that calls of the calendar's tools write.

Invariant: a call is followed as the server carries it out: an event with its guests, reminders and conference, and the
parts that go with it when it is deleted. A new row's key here is a name of the call, except that of the first calendar
that a solution creates, which later calls name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date
from typing import Any
from uuid import UUID, uuid5
from zoneinfo import ZoneInfo

from opsgym_api.tasks.task import ToolCall
from opsgym_domains.calendar.domain import DOMAIN
from opsgym_domains.calendar.event_times import parse_event_time
from opsgym_domains.calendar.quick_add import read
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
    WatchChannel,
    WorkingLocation,
)
from opsgym_suites.calendar.seeds.world import World
from opsgym_suites.kit import effects
from opsgym_suites.kit.drafts import call
from opsgym_suites.kit.effects import RowType, ToolEffects, WrittenRow
from opsgym_suites.kit.verifiers import Matches, May, Present

NEW_CALENDAR = str(uuid5(UUID("0d4c0c5e-5b1f-4d0c-9a55-0c3f1c6a7e21"), "1"))
"""Key of a calendar that the first call of a solution creates that needs a key: keys are counted in each database."""
PARTS: Sequence[RowType] = (
    Attachment,
    Attendee,
    BirthdayProperties,
    ConferenceData,
    ExtendedProperties,
    Reminder,
    WorkingLocation,
)
PLAIN = ("summary", "description", "location", "status", "visibility", "transparency")
Arguments = Mapping[str, Any]
Written = effects.Written[World]


# --- calendars -------------------------------------------------------------------------------------------------------


def _create_calendar(writes: Written, tool: str, given: Arguments) -> None:
    values = {
        "summary": given["summary"],
        "description": given.get("description", May()),
        "location": given.get("location", May()),
        "time_zone": given.get("timeZone", "UTC"),
        "conference_properties": May(),
        "is_primary": False,
        "hidden": False,
        "selected": True,
        "deleted": False,
    }
    writes.add(tool, Calendar, values, NEW_CALENDAR)
    for role in ("owner", "writer"):
        writes.add(tool, AclRule, {"calendar_id": NEW_CALENDAR, "role": role, "etag": May()})


def _change_calendar(writes: Written, tool: str, given: Arguments) -> None:
    columns = {
        "summary": "summary",
        "description": "description",
        "location": "location",
        "timeZone": "time_zone",
        "summaryOverride": "summary_override",
        "hidden": "hidden",
        "selected": "selected",
    }
    values = {column: given[name] for name, column in columns.items() if name in given}
    if values.get("hidden"):
        values["selected"] = False
    if "defaultReminders" in given:
        values["default_reminders"] = json.dumps(given["defaultReminders"])
    writes.change(tool, Calendar, given["calendarId"], values)


def _remove_from_list(writes: Written, tool: str, given: Arguments) -> None:
    writes.change(tool, Calendar, given["calendarId"], {"deleted": True})


def _add_to_list(writes: Written, tool: str, given: Arguments) -> None:
    _change_calendar(writes, tool, {**given, "calendarId": given["id"]})
    writes.change(tool, Calendar, given["id"], {"deleted": False})


def _replace_in_list(writes: Written, tool: str, given: Arguments) -> None:
    """A whole entry: what is not given is cleared. The server chooses the shades of a colour."""
    names = ("summary_override", "default_reminders", "notification_settings")
    cleared = dict.fromkeys(names) | {"hidden": False, "selected": True}
    shades = {"background_color": May(), "foreground_color": May()}
    properties = given.get("conferenceProperties")
    more = {
        "color_id": given.get("colorId"),
        "conference_properties": json.dumps(properties) if properties else None,
    }
    writes.change(tool, Calendar, given["calendarId"], {**cleared, **shades, **more})
    _change_calendar(writes, tool, given)


def _clear(writes: Written, tool: str, given: Arguments) -> None:
    """The events that a calendar has at that time, with their parts."""
    key = given["calendarId"]
    for event in writes.of(Event, "calendar_id", key):
        if writes.value(Event, event, "calendar_id") == key:
            _delete_event(writes, tool, {"eventId": event})


def _delete_calendar(writes: Written, tool: str, given: Arguments) -> None:
    _clear(writes, tool, given)
    for rule in writes.of(AclRule, "calendar_id", given["calendarId"]):
        writes.remove(tool, AclRule, rule)
    writes.remove(tool, Calendar, given["calendarId"])


def _watch(kind: str, path: str) -> Callable[[Written, str, Arguments], None]:
    """Follows a tool that opens a channel for a resource whose address ends in a path."""

    def follow(writes: Written, tool: str, given: Arguments) -> None:
        key = given.get("calendarId", "")
        values = {
            "id": given["id"],
            "resource_id": Present(),
            "resource_uri": f"/calendars/{key}/{path}" if key else Matches(f"/{path}$"),
            "resource_type": kind,
            "calendar_id": key,
            "webhook_address": given["address"],
            "webhook_type": "web_hook",
            "created_at": Present(),
            "expires_at": Present(),
            "is_active": "true",
            "notification_count": 0,
        }
        writes.add(tool, WatchChannel, values, given["id"])

    return follow


# --- sharing ---------------------------------------------------------------------------------------------------------


def _insert_acl_rule(writes: Written, tool: str, given: Arguments) -> None:
    scope = writes.world.one(Scope, **given["scope"])
    values = {"calendar_id": given["calendarId"], "scope_id": scope.id, "role": given["role"], "etag": May()}
    writes.add(tool, AclRule, values)


def _change_acl_rule(writes: Written, tool: str, given: Arguments) -> None:
    writes.change(tool, AclRule, given["ruleId"], {"role": given["role"]})


def _delete_acl_rule(writes: Written, tool: str, given: Arguments) -> None:
    writes.remove(tool, AclRule, given["ruleId"])


# --- events ----------------------------------------------------------------------------------------------------------


def _create_event(writes: Written, tool: str, given: Arguments, **columns: Any) -> None:
    start, end = parse_event_time(given["start"]), parse_event_time(given["end"])
    day = given["start"].get("date")
    values: dict[str, Any] = {
        "calendar_id": given["calendarId"],
        "start_datetime": start.stored,
        "end_datetime": end.stored,
        "start_timezone": _zones(start.zone, day),
        "end_timezone": _zones(end.zone, day),
        "originalStartTime_date": date.fromisoformat(day) if day else None,
        "originalStartTime_dateTime": None if day else start.stored,
        "originalStartTime_timeZone": _zones(start.zone, day),
        "description": May(),
        "location": May(),
        "color_id": May(),
        "status": "confirmed",
        "visibility": "default",
        "transparency": "opaque",
        "eventType": given.get("eventType", "default"),
        "guestsCanInviteOthers": True,
        "guestsCanModify": False,
        "guestsCanSeeOtherGuests": True,
        "sequence": 0,
        "source": "null",
        "iCalUID": May(),
        "privateCopy": False,
        "locked": False,
    }
    values |= {name: given[name] for name in PLAIN if name in given}
    if "outOfOfficeProperties" in given:
        values["outOfOfficeProperties"] = json.dumps(
            {"autoDeclineMode": "", "declineMessage": "", **given["outOfOfficeProperties"]}
        )
    key = writes.add(tool, Event, values | columns)
    _add_guests(writes, tool, key, given.get("attendees", ()))
    _add_reminders(writes, tool, key, given.get("reminders"))
    if given.get("conferenceData") and given.get("conferenceDataVersion"):
        writes.add(
            tool,
            ConferenceData,
            {
                "event_id": key,
                "request_id": May(),
                "create_solution_type": "hangoutsMeet",
                "status_code": "success",
                "entry_points": "null",
                "notes": May(),
            },
        )


def _zones(zone: str | None, day: str | None) -> str | list[str] | None:
    """Zones that a time may be stored with: a date means the same with and without one, and is in UTC without."""
    return [zone, "UTC"] if day and zone and zone != "UTC" else zone


def _import_event(writes: Written, tool: str, given: Arguments) -> None:
    """A private copy in access `strict`, which belongs to the organizer of the event that it is a copy of."""
    organizer = writes.world.person(given["organizer"]["email"])
    _create_event(
        writes,
        tool,
        given,
        iCalUID=given["iCalUID"],
        privateCopy=True,
        source=None,
        sequence=May(),
        user_id=organizer.user_id,
        organizer_id=organizer.user_id,
        organizer_email=organizer.email,
        organizer_display_name=organizer.name,
        organizer_self=False,
    )


def _quick_add(writes: Written, tool: str, given: Arguments) -> None:
    """An event that a text describes, in access `strict`; the place that it names is part of it."""
    key = given["calendarId"]
    zone = str(writes.value(Calendar, key, "time_zone"))
    now = writes.world.now.replace(tzinfo=UTC).astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    event = read(given["text"], now)
    times = {"start": event.start, "end": event.end}
    arguments = {name: {"dateTime": f"{time:%Y-%m-%dT%H:%M:%S}", "timeZone": zone} for name, time in times.items()}
    _create_event(writes, tool, {"calendarId": key, "summary": event.summary, **arguments})
    for row in writes.rows.values():
        if row.kind is Event and row.tool == tool:
            row.values |= dict.fromkeys(("sequence", "source"), May())


def _add_guests(writes: Written, tool: str, event_id: str, guests: Sequence[Arguments]) -> None:
    for guest in guests:
        is_room = bool(guest.get("resource"))
        writes.add(
            tool,
            Attendee,
            {
                "event_id": event_id,
                "user_id": writes.world.person(guest["email"]).user_id,
                "displayName": May(),
                "optional": guest.get("optional", False),
                "resource": is_room,
                "responseStatus": ["needsAction", "accepted"]
                if is_room
                else guest.get("responseStatus", "needsAction"),
                "additionalGuests": 0,
            },
        )


def _add_reminders(writes: Written, tool: str, event_id: str, reminders: Arguments | None) -> None:
    for one in (reminders or {}).get("overrides", ()):
        values = {"event_id": event_id, "method": one["method"], "minutes": one["minutes"], "use_default": False}
        writes.add(tool, Reminder, values)


def _change_event(writes: Written, tool: str, given: Arguments) -> None:
    key, values = given["eventId"], {"sequence": May(), **{name: given[name] for name in PLAIN if name in given}}
    for name, columns in (("start", ("start_datetime", "start_timezone")), ("end", ("end_datetime", "end_timezone"))):
        if name in given:
            time = parse_event_time(given[name])
            values |= dict(zip(columns, (time.stored, time.zone), strict=True))
    if "start" in given:  # in access strict, a single event's new start is its original start too
        values |= {"originalStartTime_dateTime": May(values["start_datetime"])}
        values |= {"originalStartTime_timeZone": May(values["start_timezone"])}
    writes.change(tool, Event, key, values)
    if "attendees" in given:
        _remove_parts(writes, tool, Attendee, key)
        _add_guests(writes, tool, key, given["attendees"])
    if "reminders" in given:
        _remove_parts(writes, tool, Reminder, key)
        _add_reminders(writes, tool, key, given["reminders"])


def _move_event(writes: Written, tool: str, given: Arguments) -> None:
    writes.change(tool, Event, given["eventId"], {"calendar_id": given["destination"]})


def _delete_event(writes: Written, tool: str, given: Arguments) -> None:
    for kind in PARTS:
        _remove_parts(writes, tool, kind, given["eventId"])
    writes.remove(tool, Event, given["eventId"])


def _remove_parts(writes: Written, tool: str, kind: RowType, event_id: str) -> None:
    for key in writes.of(kind, "event_id", event_id):
        writes.remove(tool, kind, key)


_FOLLOWED: Mapping[str, Callable[[Written, str, Arguments], None]] = {
    "create_calendar": _create_calendar,
    "clear_calendar": _clear,
    "delete_calendar": _delete_calendar,
    "patch_calendar": _change_calendar,
    "update_calendar": _change_calendar,
    "update_calendar_in_list": _change_calendar,
    "replace_calendar_in_list": _replace_in_list,
    "remove_calendar_from_list": _remove_from_list,
    "add_calendar_to_list": _add_to_list,
    "watch_acl": _watch("acl", "acl"),
    "watch_events": _watch("event", "events"),
    "watch_settings": _watch("settings", "settings"),
    "watch_calendar_list": _watch("calendar_list", "me/calendarList"),
    "insert_acl_rule": _insert_acl_rule,
    "patch_acl_rule": _change_acl_rule,
    "update_acl_rule": _change_acl_rule,
    "delete_acl_rule": _delete_acl_rule,
    "create_event": _create_event,
    "quick_add_event": _quick_add,
    "import_event": _import_event,
    "patch_event": _change_event,
    "update_event": _change_event,
    "move_event": _move_event,
    "delete_event": _delete_event,
}


class CalendarEffects(ToolEffects):
    """Effects of the calendar's tools, whose arguments are objects that become rows of several tables."""

    def written(self, world: Any, calls: Sequence[ToolCall]) -> list[WrittenRow]:
        """Rows that calls write on a seed, in the order in which they are first written.

        Raises:
            LookupError: A call names a person without an account.
        """
        writes = Written(world)
        for made in calls:
            if made.name in _FOLLOWED:
                _FOLLOWED[made.name](writes, made.name, made.arguments)
        return list(writes.rows.values())


def _equivalents(made: ToolCall) -> Iterator[ToolCall]:
    """The tool that replaces a calendar's fields, for the one that changes some."""
    if made.name == "patch_calendar":
        yield call("update_calendar", **made.arguments)


EFFECTS = CalendarEffects(DOMAIN.toolbox, link_types=frozenset({AclRule, Attendee}), equivalents=_equivalents)
