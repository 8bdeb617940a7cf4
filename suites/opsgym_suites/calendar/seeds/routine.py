"""Everyday events: bookings of rooms, meetings of people, focus time, absences and working locations.

Invariant: days on which scenes decide by the bookings of a room have the bookings of `stories` and no others.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from opsgym_domains.calendar.tables import BirthdayProperties, ExtendedProperties, OfficeLocation, User, WorkingLocation
from opsgym_suites.calendar.seeds.description import Employee
from opsgym_suites.calendar.seeds.records import RESPONSES, add_event
from opsgym_suites.calendar.seeds.world import World

FIRST_DAY, DAYS = 14, 28
"""First day with everyday events, counted from the company's first Monday as 0, and how many days have some."""
_BOOKINGS = ("Contract talk", "Tile workshop", "Customer visit", "Training", "Retrospective", "Budget round", "Demo")
_MEETINGS = ("Catch-up", "Review of drafts", "Numbers of the month", "Onboarding", "Planning", "Call with a supplier")
_STARTS = (9, 10, 11, 13, 14, 15, 16)
_DECLINE = "declineOnlyNewConflictingInvitations"


def add_routine(world: World) -> None:
    """All everyday events."""
    choices = random.Random(world.company.draw)  # noqa: S311 - the same every time; nothing here is secret
    _room_bookings(world, choices)
    for number, employee in enumerate(one for one in world.company.employees if one.active):
        _meetings(world, employee, choices)
        _single(world, employee, number)


def _weekdays(world: World) -> Sequence[date]:
    days = (world.company.day(FIRST_DAY + number) for number in range(DAYS))
    return [day for day in days if day.weekday() < 5]


def _at(day: date, hour: int, minute: int = 0) -> datetime:
    return datetime(day.year, day.month, day.day, hour, minute)  # noqa: DTZ001 - a wall clock's time


def _room_bookings(world: World, choices: random.Random) -> None:
    for room in world.company.rooms:
        people = [one.address for one in world.company.employees if one.site == room.site and one.active]
        for day in _weekdays(world):
            for hour in sorted(choices.sample(_STARTS, 2)):
                title, minutes, guest = choices.choice(_BOOKINGS), choices.choice((30, 45, 60)), choices.choice(people)
                if day not in world.company.story_days:
                    guests = ((guest, "accepted"), room.address)
                    add_event(world, world.calendar(room.calendar), title, _at(day, hour), minutes, guests=guests)


def _meetings(world: World, employee: Employee, choices: random.Random) -> None:
    calendar = world.primary(world.person(employee.address))
    colleagues = [one.address for one in world.company.employees if one.active and one is not employee]
    others = [*colleagues, *world.company.partners]
    for day in _weekdays(world):
        hour, minutes = choices.choice(_STARTS), choices.choice((30, 45))
        guests = [(guest, choices.choice(RESPONSES)) for guest in choices.sample(others, choices.choice((1, 2)))]
        title, is_held = choices.choice(_MEETINGS), choices.random() < 0.6
        visibility = choices.choice(("default", "default", "default", "private", "confidential"))
        if is_held:
            add_event(
                world,
                calendar,
                title,
                _at(day, hour),
                minutes,
                guests=guests,
                reminders=(15,) if minutes > 30 else (),
                conference=visibility == "default" and minutes > 30,
                files=(f"https://files.{world.company.domain}/{day}/agenda.pdf",) if hour == 9 else (),
                visibility=visibility,
            )


def _single(world: World, employee: Employee, number: int) -> None:
    """Focus time, an absence, a working location and a birthday."""
    user = world.person(employee.address)
    calendar, monday = world.primary(user), world.company.day(28)
    for week in range(2):
        focus = {"autoDeclineMode": _DECLINE, "chatStatus": "doNotDisturb", "declineMessage": None}
        day = monday + timedelta(weeks=week, days=number % 4)
        add_event(
            world, calendar, "Focus", _at(day, 8), 60, eventType="focusTime", focusTimeProperties=json.dumps(focus)
        )
    absence: Mapping[str, Any] = {"autoDeclineMode": "declineAllConflictingInvitations", "declineMessage": "I am away."}
    away = _at(world.company.day(42 + number % 5), 9)
    add_event(world, calendar, "Away", away, 480, eventType="outOfOffice", outOfOfficeProperties=json.dumps(absence))
    _place(world, user, number)
    if number % 5 == 0:
        day = world.company.day(14 + 3 * number)
        event = add_event(world, calendar, f"Birthday of {employee.name}", _at(day, 0), 1440, eventType="birthday")
        event.transparency, event.visibility = "transparent", "private"
        world.add(BirthdayProperties(event_id=event.event_id, type="birthday"))
    properties = json.dumps({"costCentre": f"{4100 + number}"})
    last = add_event(world, calendar, "Travel booking", _at(monday + timedelta(days=number % 5), 12), 15)
    world.add(ExtendedProperties(event_id=last.event_id, scope="private", properties=properties))


def _place(world: World, user: User, number: int) -> None:
    day = world.company.day(21 + number % 5)
    event = add_event(
        world,
        world.primary(user),
        "Where I work",
        _at(day, 0),
        1440,
        eventType="workingLocation",
        transparency="transparent",
        visibility="public",
    )
    if number % 3 == 0:
        world.add(WorkingLocation(event_id=event.event_id, type="homeOffice", homeOffice="{}"))
        return
    office = world.add(OfficeLocation(buildingId="main", deskId=f"D{number:02d}", floorId="2", floorSectionId="east"))
    world.add(WorkingLocation(event_id=event.event_id, type="officeLocation", officeLocationId=office.id))
