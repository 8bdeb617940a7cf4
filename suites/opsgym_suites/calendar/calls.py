"""Tool calls of calendar tasks.

Invariant: keys come from rows, so no task states one. Times are wall clocks' times with the zone beside them.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

from opsgym_api.tasks.task import ToolCall
from opsgym_domains.calendar.tables import AclRule, Attendee, Calendar, Event, User
from opsgym_suites.calendar.seeds.world import World
from opsgym_suites.kit.drafts import call

LIST = call("get_calendar_list")
"""Lists the acting user's calendars."""

# --- looking up ------------------------------------------------------------------------------------------------------


def find_person(user: User) -> ToolCall:
    """Looks up a user by address."""
    return call("get_user_by_email", email=user.email)


def rules_of(calendar: Calendar) -> ToolCall:
    """Lists the rules of sharing of a calendar."""
    return call("list_acl_rules", calendarId=calendar.calendar_id, showDeleted=True)


def events_of(calendar: Calendar, first: date, last: date | None = None) -> ToolCall:
    """Lists the events of a calendar from one day to another, both included."""
    end = (last or first) + timedelta(days=1)
    return call(
        "list_events", calendarId=calendar.calendar_id, timeMin=f"{first}T00:00:00Z", timeMax=f"{end}T00:00:00Z"
    )


def all_day(calendar: Calendar, summary: str, day: date, zone: str) -> ToolCall:
    """Enters an event of a whole day."""
    return call(
        "create_event",
        calendarId=calendar.calendar_id,
        summary=summary,
        start={"date": str(day), "timeZone": zone},
        end={"date": str(day + timedelta(days=1)), "timeZone": zone},
    )


def describe(calendar: Calendar, text: str) -> ToolCall:
    """Changes the description of a calendar."""
    return call("patch_calendar", calendarId=calendar.calendar_id, description=text)


def read_event(event: Event) -> ToolCall:
    """Reads an event."""
    return call("get_event", calendarId=event.calendar_id, eventId=event.event_id)


# --- writing ---------------------------------------------------------------------------------------------------------


def moment(time: datetime, zone: str) -> dict[str, str]:
    """A time as an argument."""
    return {"dateTime": f"{time:%Y-%m-%dT%H:%M:%S}", "timeZone": zone}


def guest(user: User, **more: Any) -> dict[str, Any]:
    """A guest as an argument; a room says that it is one."""
    is_room = user.email.startswith("room.")
    return {"email": user.email, **({"resource": True} if is_room else {}), **more}


def create(calendar: Calendar | str, summary: str, start: datetime, minutes: int, zone: str, **more: Any) -> ToolCall:
    """Creates an event."""
    return call(
        "create_event",
        calendarId=calendar if isinstance(calendar, str) else calendar.calendar_id,
        summary=summary,
        start=moment(start, zone),
        end=moment(start + timedelta(minutes=minutes), zone),
        **more,
    )


def patch(event: Event, **fields: Any) -> ToolCall:
    """Changes fields of an event."""
    return call("patch_event", calendarId=event.calendar_id, eventId=event.event_id, **fields)


def cancel(event: Event) -> ToolCall:
    """Cancels an event."""
    return patch(event, status="cancelled")


def reschedule(event: Event, start: datetime) -> ToolCall:
    """Moves an event to another time of the same length."""
    zone = str(event.start_timezone)
    return patch(event, start=moment(start, zone), end=moment(start + length(event), zone))


def delete(event: Event) -> ToolCall:
    """Deletes an event."""
    return call("delete_event", calendarId=event.calendar_id, eventId=event.event_id)


def with_guests(world: World, event: Event, *, without: User) -> ToolCall:
    """Takes a guest off an event; the others keep their answers."""
    staying = [(row, user) for row, user in world.guests(event) if user is not without]
    return patch(event, attendees=[_as_stored(row, user) for row, user in staying])


def _as_stored(row: Attendee, user: User) -> dict[str, Any]:
    return guest(user, responseStatus=row.responseStatus, **({"optional": True} if row.optional else {}))


def share(calendar: Calendar | str, user: User, role: str) -> ToolCall:
    """Gives a user a role on a calendar."""
    key = calendar if isinstance(calendar, str) else calendar.calendar_id
    return call("insert_acl_rule", calendarId=key, scope={"type": "user", "value": user.email}, role=role)


def set_role(rule: AclRule, role: str) -> ToolCall:
    """Changes the role of a rule of sharing."""
    return call("patch_acl_rule", calendarId=rule.calendar_id, ruleId=rule.id, role=role)


def unshare(rule: AclRule) -> ToolCall:
    """Deletes a rule of sharing."""
    return call("delete_acl_rule", calendarId=rule.calendar_id, ruleId=rule.id)


# --- times -----------------------------------------------------------------------------------------------------------


def begins(event: Event) -> datetime:
    """The wall clock's time at which an event starts."""
    return datetime.fromisoformat(event.start_datetime)


def ends(event: Event) -> datetime:
    """The wall clock's time at which an event ends."""
    return datetime.fromisoformat(event.end_datetime)


def length(event: Event) -> timedelta:
    """How long an event lasts."""
    return ends(event) - begins(event)


def on(text: str, year: int = 2026) -> datetime:
    """A time of a year, for instance `10-28 09:00`, or the beginning of a day."""
    return datetime.fromisoformat(f"{year}-{text.replace(' ', 'T')}")


def blocks(event: Event) -> bool:
    """Whether an event makes its calendar busy."""
    return event.status == "confirmed" and event.transparency != "transparent"
