"""New events: create_event and quick_add_event.

Invariant: the checks and their order are the published server's; a refused call leaves nothing behind. A recurring
event is a row of its own besides one row for each of its occurrences, all with the same `recurring_event_id`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from dateutil import parser

from opsgym_domains.calendar import event_parts as parts
from opsgym_domains.calendar.attendees import (
    add_attendees,
)
from opsgym_domains.calendar.conference import add_conference, check_request, check_solution, knows_conference
from opsgym_domains.calendar.event_bodies import Conference, EventType, Moment, NewEvent
from opsgym_domains.calendar.event_queries import QuickQuery, WriteQuery, check_audience
from opsgym_domains.calendar.event_times import EventTime, is_after, parse_event_time, parse_moment, stored
from opsgym_domains.calendar.event_views import resource_or_reason
from opsgym_domains.calendar.event_words import EVENT_WORDS
from opsgym_domains.calendar.permissions import WRITERS, Reached, actor_of, reach
from opsgym_domains.calendar.quick_add import read
from opsgym_domains.calendar.recurrence import InvalidRule, occurrences
from opsgym_domains.calendar.strict_changes import with_own_reminders
from opsgym_domains.calendar.strict_series import expand, planned
from opsgym_domains.calendar.strict_times import strict_event_time, zone_of
from opsgym_domains.calendar.tables import Color, Event, RecurringEvent, User
from opsgym_domains.calendar.toolbox import tool
from opsgym_domains.kit.errors import Invalid, InvalidArguments, ToolError
from opsgym_domains.kit.gym import Gym
from opsgym_domains.kit.schema import Row, columns_but

MIXED_TIMES = "can't compare offset-naive and offset-aware datetimes"
_MAX_QUICK_TEXT = 1000


@tool(adds=Event, words=EVENT_WORDS)
async def create_event(gym: Gym, calendar_id: str, query: WriteQuery, body: NewEvent) -> dict[str, Any] | str:
    """Create an event, once or as a series.

    Needs the role writer or owner. `start` and `end` have either `dateTime` or `date`. Attachments are kept only with
    `supportsAttachments`, a conference only with `conferenceDataVersion` 1. Returns the event.
    """
    reached = await reach(gym, calendar_id, WRITERS)
    with parts.refusals():
        if query.send_updates:
            check_audience(query.send_updates)
    await check_color(gym, body.color_id)
    with parts.refusals():
        start, end = (event_time(gym, reached, given) for given in (body.start, body.end))
        if not is_after(end.moment, start.moment):
            raise ValueError("Event end time must be after start time")
        original = original_start(body.original_start_time, body.start, start)
        _check_properties(body)
        parts.check_overrides(body.reminders)
        check_solution(body.conference_data)
        check_request(body.conference_data)
        dates = occurrences_for(gym, body.recurrence, start.moment)
    event = await _new_event(gym, calendar_id, body, start, end)
    event.originalStartTime_date, event.originalStartTime_dateTime, event.originalStartTime_timeZone = original
    if body.recurrence and not gym.is_strict:
        event.recurring_event_id = await _new_series(gym, body.recurrence)
    await _add(gym, [event], query, body)
    if gym.is_strict and body.recurrence:
        await expand(gym, event, reached.calendar.time_zone)
    elif _allows_occurrences(query, body):
        await _add_occurrences(gym, event, query, body, dates, _length(start, end))
    return await resource_or_reason(gym, event, max_attendees=query.max_attendees)


# --- checks ----------------------------------------------------------------------------------------------------------


async def check_color(gym: Gym, color_id: str | None) -> None:
    """Refuses a colour that events do not have.

    Raises:
        ToolError: No colour of events has the id.
    """
    if color_id is None or await gym.exists(Color, color_type="EVENT", color_id=color_id):
        return
    message = f"Invalid event colorId: '{color_id}'. Check available colors with GET /colors"
    raise ToolError("UNKNOWN_COLOR", message, "colorId")


Original = tuple[date | None, str | None, str | None]
"""Original start: date, stored time and zone."""


def original_start(given: Moment | None, start: Moment, parsed_start: EventTime) -> Original:
    """The original start of a new event: the given one, which must agree with the start, or the start.

    Raises:
        ValueError: The given one differs.
    """
    if given is None:
        if start.date:
            return parser.parse(start.date).date(), None, parsed_start.zone
        return None, parsed_start.stored, parsed_start.zone
    if (start.date and given.date_time) or (start.date_time and given.date):
        raise ValueError("originalStartTime and start must both be either all-day (date) or timed (dateTime) events")
    for name, is_actor, other in (
        ("date", given.date, start.date),
        ("dateTime", given.date_time, start.date_time),
        ("timeZone", given.time_zone, start.time_zone),
    ):
        if is_actor and other and is_actor != other:
            raise ValueError(f"originalStartTime.{name} must match start.{name} when both are provided")
    on_date = parser.parse(given.date).date() if given.date and start.date else None
    at_time = stored(parse_moment(given.date_time)) if given.date_time and start.date_time else None
    return on_date, at_time, given.time_zone


def _check_properties(body: NewEvent) -> None:
    if body.event_type != EventType.BIRTHDAY and body.birthday_properties:
        raise ValueError("Use birthday properties only when eventType is set to 'birthday'")
    if body.event_type != EventType.FOCUS_TIME and body.focus_time_properties:
        raise ValueError("Use focusTimeProperties only when eventType is set to 'focusTime'")
    if body.event_type != EventType.OUT_OF_OFFICE and body.out_of_office_properties:
        raise ValueError("Use outOfOfficeProperties only when eventType is set to 'outOfOffice'")


def event_time(gym: Gym, reached: Reached, given: Moment) -> EventTime:
    """Start or end of an event in a calendar.

    Raises:
        ValueError: A text is not a date or time.
    """
    if gym.is_strict:
        return strict_event_time(given, reached.calendar.time_zone)
    return parse_event_time(given.as_json())


def occurrences_for(gym: Gym, lines: Sequence[str] | None, start: datetime) -> list[datetime]:
    """Starts of the occurrences of a rule; none without a rule.

    Raises:
        ValueError: The rule is invalid.
    """
    if not lines:
        return []
    if gym.is_strict:
        return planned(lines, start)
    try:
        return occurrences(lines, start)
    except InvalidRule as error:
        raise ValueError(f"Invalid recurrence pattern: {error}") from None
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError(f"Recurrence validation failed: {error}") from None


# --- rows ------------------------------------------------------------------------------------------------------------


async def _new_event(gym: Gym, calendar_id: str, body: NewEvent, start: EventTime, end: EventTime) -> Event:
    """The row of a new event, not yet added."""
    event_id = str(await gym.next_id(Event))
    return Event(
        event_id=event_id,
        calendar_id=calendar_id,
        user_id=gym.actor.user_id,
        **organized_by(await actor_of(gym), is_actor=True),
        summary=body.summary,
        description=body.description,
        location=body.location,
        start_datetime=start.stored,
        end_datetime=end.stored,
        start_timezone=start.zone,
        end_timezone=end.zone,
        recurrence=json.dumps(body.recurrence) if body.recurrence else None,
        status=body.status or "confirmed",
        visibility=body.visibility or "default",
        color_id=body.color_id or None,
        eventType=body.event_type or "default",
        guestsCanInviteOthers=body.guests_can_invite_others is not False,
        guestsCanModify=bool(body.guests_can_modify),
        guestsCanSeeOtherGuests=body.guests_can_see_other_guests is not False,
        **_typed_properties(body),
        sequence=body.sequence or 0,
        source=json.dumps(body.source),
        transparency=body.transparency or "opaque",
        iCalUID=body.ical_uid or f"{event_id}@calendar.google.com",
        privateCopy=False,
        locked=False,
    )


def organized_by(user: User, *, is_actor: bool) -> dict[str, Any]:
    """Columns of an event's organizer.

    Args:
        user: The organizer.
        is_actor: Whether that is the acting user.
    """
    return {
        "organizer_id": user.user_id,
        "organizer_email": user.email,
        "organizer_display_name": user.name,
        "organizer_self": is_actor,
    }


def _typed_properties(body: NewEvent) -> dict[str, Any]:
    focus, away = body.focus_time_properties, body.out_of_office_properties
    return {
        "focusTimeProperties": json.dumps(focus.as_json()) if focus else None,
        "outOfOfficeProperties": json.dumps(away.as_json()) if away else None,
    }


async def _add(gym: Gym, events: Sequence[Event], query: WriteQuery, body: NewEvent) -> None:
    """Adds events, each with the rows that belong to it."""
    await gym.insert_all(events)
    keys = [event.event_id for event in events]
    await add_attendees(gym, keys, body.attendees or ())
    with parts.refusals():
        rows = [row for key in keys for row in _plain_parts(gym, key, query, body)]
    await gym.insert_all(rows)
    for key in keys:
        if body.conference_data and query.conference_data_version:
            await _add_conference(gym, key, body.conference_data)
        if body.working_location_properties:
            await parts.add_place(gym, key, body.working_location_properties)
        if body.birthday_properties:
            await parts.add_birthday(gym, key)


def _plain_parts(gym: Gym, key: str, query: WriteQuery, body: NewEvent) -> list[Row]:
    """Attachments, extended properties and reminders of an event.

    Raises:
        ValueError: An attachment has no https URL.
    """
    rows: list[Row] = []
    if body.attachments and query.supports_attachments is not False:
        parts.check_attachments(body.attachments)
        rows += parts.attachment_rows(key, (file["fileUrl"] for file in body.attachments))
    if body.extended_properties:
        rows += parts.property_rows(key, body.extended_properties)
    if body.reminders:
        reminders = with_own_reminders(body.reminders) if gym.is_strict else body.reminders
        rows += parts.reminder_rows(key, reminders)
    return rows


async def _add_conference(gym: Gym, event_id: str, conference: Conference) -> None:
    if await knows_conference(gym, conference.conference_id):
        message = f"Conference Id '{conference.conference_id}' already exists. Please use different ConferenceId"
        raise ToolError("DUPLICATE_CONFERENCE", message, "conferenceData")
    await add_conference(gym, event_id, conference)


async def _new_series(gym: Gym, lines: Sequence[str]) -> str:
    row = await gym.insert(RecurringEvent(original_recurrence=json.dumps(lines)))
    return row.recurring_event_id


def _allows_occurrences(query: WriteQuery, body: NewEvent) -> bool:
    """Whether occurrences can be added: not if each would need the conference id that the event itself has."""
    conference = body.conference_data
    if not query.conference_data_version or conference is None:
        return True
    return conference.create_request is None or conference.conference_id is None


def _length(start: EventTime, end: EventTime) -> timedelta:
    return _with_offset(end.moment) - _with_offset(start.moment)


def _with_offset(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


async def _add_occurrences(
    gym: Gym, event: Event, query: WriteQuery, body: NewEvent, dates: Sequence[datetime], length: timedelta
) -> None:
    copied = {name: getattr(event, name) for name in columns_but(Event, *_OF_ONE_OCCURRENCE)}
    rows = [
        Event(
            **copied,
            start_datetime=stored(begin),
            end_datetime=stored(begin + length),
            originalStartTime_dateTime=stored(begin),
            originalStartTime_timeZone=event.start_timezone,
        )
        for begin in dates
    ]
    await _add(gym, rows, query, body)


_OF_ONE_OCCURRENCE = (
    "event_id",
    "start_datetime",
    "end_datetime",
    "originalStartTime_date",
    "originalStartTime_dateTime",
    "originalStartTime_timeZone",
    "created_at",
    "updated_at",
)


# --- quick add -------------------------------------------------------------------------------------------------------


@tool(adds=Event, words=EVENT_WORDS)
async def quick_add_event(gym: Gym, calendar_id: str, query: QuickQuery) -> dict[str, Any] | str:
    """Create an event from a text, which becomes its summary.

    Needs the role writer or owner. The event fills the current hour, UTC; in access strict, date, time and place are
    read from the text. Returns the event.
    """
    with parts.refusals():
        check_audience(query.send_updates)
    reached = await reach(gym, calendar_id, WRITERS)
    _check_text(query.text)
    now, zone = gym.now(), reached.calendar.time_zone
    columns = _read_text(query.text, now, zone) if gym.is_strict else _hour(query.text, now)
    event = Event(
        calendar_id=calendar_id,
        user_id=gym.actor.user_id,
        **organized_by(await actor_of(gym), is_actor=True),
        **columns,
        **DEFAULTS,
    )
    return await resource_or_reason(gym, await gym.insert(event))


DEFAULTS: dict[str, Any] = {
    "status": "confirmed",
    "visibility": "default",
    "eventType": "default",
    "transparency": "opaque",
    "guestsCanInviteOthers": True,
    "guestsCanModify": False,
    "guestsCanSeeOtherGuests": True,
    "privateCopy": False,
    "locked": False,
}


def _hour(text: str, now: datetime) -> dict[str, Any]:
    """Columns of an event in the current hour."""
    begin = now.replace(minute=0, second=0, microsecond=0)
    return {"summary": text, "start_datetime": stored(begin), "end_datetime": stored(begin + timedelta(hours=1))}


def _read_text(text: str, now: datetime, zone: str) -> dict[str, Any]:
    """Columns of the event that a text describes."""
    wall_clock = now.replace(tzinfo=UTC).astimezone(zone_of(zone, zone)).replace(tzinfo=None)
    event = read(text, wall_clock)
    return {
        "summary": event.summary,
        "location": event.location,
        "start_datetime": stored(event.start),
        "end_datetime": stored(event.end),
        "start_timezone": zone,
        "end_timezone": zone,
        "originalStartTime_date": event.start.date() if event.all_day else None,
        "originalStartTime_dateTime": None if event.all_day else stored(event.start),
        "originalStartTime_timeZone": zone,
    }


def _check_text(text: str) -> None:
    if not text:
        raise InvalidArguments([Invalid("text", "string_too_short", "must have at least 1 character", "TOO_SHORT")])
    if len(text) > _MAX_QUICK_TEXT:
        message = f"String should have at most {_MAX_QUICK_TEXT} characters"
        raise InvalidArguments([Invalid("text", "string_too_long", message, "TOO_LONG")])
