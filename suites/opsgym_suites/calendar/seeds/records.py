"""Adds accounts, calendars, rules of sharing and events to a world."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from datetime import datetime, time, timedelta
from typing import Any
from uuid import UUID

from opsgym_domains.calendar.tables import (
    AclRule,
    Attachment,
    Attendee,
    Calendar,
    Color,
    ConferenceData,
    Event,
    RecurringEvent,
    Reminder,
    Scope,
    Setting,
    User,
    WatchChannel,
)
from opsgym_suites.calendar.seeds.description import Room, Shared
from opsgym_suites.calendar.seeds.world import World, scope_key, stored

WEEKS = 9
"""Number of weeks with events of series."""
RESPONSES = ("accepted", "accepted", "accepted", "needsAction", "tentative", "declined")


def add_company(world: World) -> None:
    """Accounts, scopes, settings, colours and calendars with their rules."""
    company = world.company
    _add_colours(world)
    _add_scopes(world)
    for one in company.employees:
        user = _user(world, f"{one.address}@{company.domain}", one.name, company.zones[one.site], active=one.active)
        primary = _calendar(world, user, one.name, one.title, company.zones[one.site], is_primary=True)
        _rule(world, primary, user, world.scope(user), "owner")
        _rule(world, primary, user, _everybody_here(world), "freeBusyReader")
    for address, (name, zone) in company.partners.items():
        _user(world, address, name, zone)
    for room in company.rooms:
        _add_room(world, room)
    for shared in company.shared:
        _shared(world, shared)
    for summary in company.watched:
        _channel(world, world.calendar(summary))


def _everybody_here(world: World) -> Scope:
    return world.one(Scope, type="domain", value=world.company.domain)


def _add_room(world: World, room: Room) -> None:
    company = world.company
    address = f"{room.address}@{company.domain}"
    _user(world, address, room.calendar, company.zones[room.site])
    owner = world.person(company.managers[room.site])
    text = f"{room.seats} seats, {room.equipment}. Invite {address}."
    calendar = _calendar(world, owner, room.calendar, text, company.zones[room.site])
    _rule(world, calendar, owner, world.scope(owner), "owner")
    _rule(world, calendar, owner, _everybody_here(world), "freeBusyReader")


def _add_colours(world: World) -> None:
    for number in range(1, 36):
        is_event = number <= 11
        shade = (number * 4_321_987) % 0xFFFFFF
        world.add(
            Color(
                id=number,
                color_id=str(number if is_event else number - 11),
                color_type="EVENT" if is_event else "CALENDAR",
                background=f"#{shade:06x}",
                foreground="#1d1d1d",
                created_at=world.company.founded,
                updated_at=world.company.founded,
            )
        )


def _add_scopes(world: World) -> None:
    company = world.company
    world.add(Scope(type="default", value=None))
    for domain in (company.domain, *company.partner_domains):
        world.add(Scope(type="domain", value=domain))
    for group in ("engineering", "leads", "all-hands"):
        world.add(Scope(type="group", value=f"{group}@{company.domain}"))


def _channel(world: World, calendar: Calendar) -> None:
    opened = world.now - timedelta(hours=3)
    key = calendar.calendar_id
    world.add(
        WatchChannel(
            id=f"channel-{calendar.summary.lower()}",
            resource_id=f"events-{key}-{key[:8]}",
            resource_uri=f"/calendars/{key}/events",
            resource_type="event",
            calendar_id=key,
            user_id=calendar.user_id,
            webhook_address=f"https://hooks.{world.company.domain}/{calendar.summary.lower()}",
            webhook_type="web_hook",
            created_at=opened,
            expires_at=opened + timedelta(hours=24),
            is_active="true",
            notification_count=0,
        )
    )


def _user(world: World, email: str, name: str, zone: str, *, active: bool = True) -> User:
    given, _, family = name.partition(" ")
    bits = random.Random(f"token {email}").getrandbits(128)  # noqa: S311 - made up, and the same every time
    user = world.add(
        User(
            email=email,
            name=name,
            given_name=given,
            family_name=family,
            locale="en",
            timezone=zone,
            is_active=active,
            is_verified=True,
            provider="google",
            static_token=str(UUID(int=bits, version=4)),
            created_at=world.company.founded,
            updated_at=world.company.founded,
        )
    )
    world.add(Scope(id=scope_key(email), type="user", value=email))
    for setting, value in (("timezone", zone), ("locale", "en"), ("weekStart", "1"), ("defaultEventLength", "30")):
        world.add(Setting(id=f"{email.partition('@')[0]}-{setting}", value=value, user_id=user.user_id))
    return user


def _calendar(
    world: World, owner: User, summary: str, description: str, zone: str, *, is_primary: bool = False
) -> Calendar:
    return world.add(
        Calendar(
            user_id=owner.user_id,
            summary=summary,
            description=description,
            location=world.company.name,
            time_zone=zone,
            conference_properties=json.dumps({"allowedConferenceSolutionTypes": ["hangoutsMeet"]}),
            is_primary=is_primary,
            hidden=False,
            selected=True,
            deleted=False,
            created_at=world.company.founded,
            updated_at=world.company.founded,
        )
    )


def _rule(world: World, calendar: Calendar, owner: User, scope: Scope, role: str) -> None:
    made = world.company.founded + timedelta(minutes=len(world.all(AclRule)))
    world.add(
        AclRule(
            calendar_id=calendar.calendar_id,
            user_id=owner.user_id,
            scope_id=scope.id,
            role=role,
            etag=f'"{made:%Y%m%d%H%M}"',
            created_at=made,
            updated_at=made,
        )
    )


def _shared(world: World, shared: Shared) -> None:
    owner = world.person(shared.owner)
    calendar = _calendar(world, owner, shared.summary, shared.description, owner.timezone)
    _rule(world, calendar, owner, world.scope(owner), "owner")
    for address, role in shared.roles.items():
        scope = world.one(Scope, type="default") if address == "*" else world.scope(world.person(address))
        _rule(world, calendar, owner, scope, role)
    if shared.domain_role:
        _rule(world, calendar, owner, world.one(Scope, type="domain", value=world.company.domain), shared.domain_role)


# --- events ----------------------------------------------------------------------------------------------------------


def add_event(
    world: World,
    calendar: Calendar,
    summary: str,
    start: datetime,
    minutes: int,
    *,
    guests: Sequence[str | tuple[str, str] | tuple[str, str, bool]] = (),
    zone: str | None = None,
    reminders: Sequence[int] = (),
    conference: bool = False,
    files: Sequence[str] = (),
    key: str | None = None,
    **values: Any,
) -> Event:
    """Adds an event of the calendar's owner.

    Args:
        world: The rows so far.
        calendar: Where it is.
        summary: Title.
        start: Wall clock's time in the zone.
        minutes: How long it lasts.
        guests: Addresses, with the response and whether the guest is optional.
        zone: Time zone; the calendar's if None.
        reminders: Minutes before the start.
        conference: Whether it has a conference.
        files: Addresses of attachments.
        key: Name by which scenes find it.
        values: Further columns.
    """
    owner = world.one(User, user_id=calendar.user_id)
    made = min(start, world.now) - timedelta(days=9, hours=2)
    event = world.add(
        Event(
            **{
                **_plain(calendar, owner, zone or calendar.time_zone),
                "summary": summary,
                "start_datetime": stored(start),
                "end_datetime": stored(start + timedelta(minutes=minutes)),
                "originalStartTime_dateTime": stored(start),
                "created_at": made,
                "updated_at": made,
                **values,
            }
        )
    )
    event.iCalUID = f"{event.event_id}@calendar.google.com"
    for guest in guests:
        _guest(world, event, guest)
    for number in reminders:
        world.add(Reminder(event_id=event.event_id, method="popup", minutes=number, use_default=False))
    for file in files:
        world.add(Attachment(event_id=event.event_id, file_url=file))
    if conference:
        world.add(
            ConferenceData(
                event_id=event.event_id,
                request_id=f"req-{event.event_id[:8]}",
                create_solution_type="hangoutsMeet",
                status_code="success",
                entry_points="null",
            )
        )
    if key:
        world.register(key, event)
    return event


def _plain(calendar: Calendar, owner: User, zone: str) -> dict[str, Any]:
    return {
        "calendar_id": calendar.calendar_id,
        "user_id": owner.user_id,
        "organizer_id": owner.user_id,
        "organizer_email": owner.email,
        "organizer_display_name": owner.name,
        "organizer_self": True,
        "start_timezone": zone,
        "end_timezone": zone,
        "originalStartTime_timeZone": zone,
        "status": "confirmed",
        "visibility": "default",
        "eventType": "default",
        "guestsCanInviteOthers": True,
        "guestsCanModify": False,
        "guestsCanSeeOtherGuests": True,
        "sequence": 0,
        "transparency": "opaque",
        "privateCopy": False,
        "locked": False,
    }


def _guest(world: World, event: Event, guest: str | tuple[str, str] | tuple[str, str, bool]) -> None:
    address, response, optional = (*((guest,) if isinstance(guest, str) else guest), "accepted", False)[:3]
    if isinstance(guest, tuple) and len(guest) == 2:
        optional = False
    user = world.person(str(address))
    world.add(
        Attendee(
            event_id=event.event_id,
            user_id=user.user_id,
            displayName=user.name,
            optional=bool(optional),
            resource=str(address).startswith("room."),
            responseStatus=str(response),
            additionalGuests=0,
        )
    )


def add_series(world: World) -> None:
    """Weekly series: every occurrence is a row, and all of a series name its rule."""
    choices = random.Random(11)  # noqa: S311 - the same every time; nothing here is secret
    names, company = ("MO", "TU", "WE", "TH", "FR"), world.company
    first, last = datetime.combine(company.first_week, time()), company.day(7 * WEEKS - 1)
    for title, summary, weekdays, start, minutes, site, guests in company.series:
        rule = json.dumps(
            [f"RRULE:FREQ=WEEKLY;BYDAY={','.join(names[day] for day in weekdays)};UNTIL={last:%Y%m%d}T235959Z"]
        )
        series = world.add(RecurringEvent(original_recurrence=rule))
        hour, minute = map(int, start.split(":"))
        for week in range(WEEKS):
            for day in weekdays:
                begin = first + timedelta(weeks=week, days=day, hours=hour, minutes=minute)
                add_event(
                    world,
                    world.calendar(title),
                    summary,
                    begin,
                    minutes,
                    guests=[(guest, choices.choice(RESPONSES)) for guest in guests],
                    zone=company.zones[site],
                    reminders=(10,) if day == weekdays[0] else (),
                    recurring_event_id=series.recurring_event_id,
                    recurrence=rule,
                )
