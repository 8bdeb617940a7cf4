"""The calendars of the company."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import ClassVar

from opsgym_suites.calendar.seeds.description import Company, Employee, Room, Series, Shared
from opsgym_suites.calendar.seeds.records import add_company, add_event, add_series
from opsgym_suites.calendar.seeds.routine import add_routine
from opsgym_suites.calendar.seeds.world import World
from opsgym_suites.hybrid.cast import ABSENCES, COMPANY, DOMAIN, SITES, accounts, person
from opsgym_suites.kit.scenarios import days
from opsgym_suites.kit.world import NOW, at

ROOMS = (
    Room("Weir", "London", 6, "screen"), Room("Sluice", "London", 12, "video conference, whiteboard"),
    Room("Culvert", "New York", 8, "video conference"), Room("Jetty", "Sydney", 8, "video conference"),
)  # fmt: skip
SHARED = (
    Shared("War room", "sunniva.hale", "Bridges of major incidents.",
        {"mirabel.stone": "writer", "nadia.petrov": "writer", "ambrose.kettle": "writer", "tobiah.mercer": "reader"}),
    Shared("Customer visits", "tobiah.mercer", "Who visits which customer.",
        {"keziah.monroe": "writer", "venetia.croft": "writer", "marguerite.sloane": "reader",
            "philippa.gow": "writer", "ambrose.kettle": "writer"}),
    Shared("People diary", "aurelio.banks", "First and last days, talks. Confidential.",
        {"casper.onslow": "writer", "perpetua.lyle": "writer", "sunniva.hale": "freeBusyReader"}),
    Shared("Releases", "wendell.achebe", "Releases of PumpWatch.",
        {"jocasta.finn": "writer", "anselm.pryor": "writer", "dorothea.blum": "writer", "sunniva.hale": "reader"}),
)  # fmt: skip
SERIES: tuple[Series, ...] = (
    ("War room", "Review of incidents", (0,), "11:00", 30, "London", ("nadia.petrov", "ruben.castellan")),
    ("Customer visits", "Pipeline of visits", (2,), "15:00", 45, "New York", ("keziah.monroe", "odalys.pinto")),
    ("Releases", "Release talk", (3,), "10:00", 60, "London", ("jocasta.finn", "anselm.pryor", "fenella.stark")),
)

MEETINGS: tuple[tuple[str, str, str, str, int, str, tuple[str, ...]], ...] = (
    ("bridge-telemetry", "War room", "Bridge on telemetry", "11-17 15:00", 30, "Europe/London",
        ("Ruben Castellan", "Nadia Okafor")),
    ("bridge-quay", "War room", "Bridge on the quay", "11-17 16:30", 30, "Europe/London",
        ("Nadia Okafor", "Yolanda Reyes")),
    ("bridge-prices", "War room", "Bridge on seal prices", "11-18 14:00", 30, "Europe/London",
        ("Piotr Zielin", "Ruben Castellan")),
    ("visit-kelder", "Customer visits", "Call with Kelder Water", "11-17 10:00", 60, "America/New_York",
        ("Elodie Marsh", "Venetia Croft")),
    ("visit-catskill", "Customer visits", "Call with Catskill Dairies", "11-18 10:00", 60, "America/New_York",
        ("Gideon Rusk", "Keziah Monroe")),
    ("visit-hudson", "Customer visits", "Call with Hudson Reservoirs", "11-19 10:00", 60, "America/New_York",
        ("Odalys Pinto", "Tobiah Mercer")),
)  # fmt: skip
"""Meetings of a kind that is not everyday: key, calendar, title, start, minutes, zone, guests."""


def _address(name: str) -> str:
    return person(name).address_in("calendar").partition("@")[0]


def _company() -> Company:
    return Company(
        name=COMPANY,
        domain=DOMAIN,
        zones={site.city: site.zone for site in SITES},
        employees=[
            Employee(
                _address(one.name),
                one.name_in("calendar"),
                one.site_in("calendar").city,
                one.position,
                active=one.active_in("calendar"),
            )
            for one in accounts("calendar")
        ],
        partners={"ottoline.brand@kelderwater.example": ("Ottoline Brand", "Europe/London")},
        rooms=ROOMS,
        managers={"London": "lavender.crewe", "New York": "magnus.orrin", "Sydney": "orla.keating"},
        shared=SHARED,
        series=SERIES,
        watched=(),
        founded=datetime(2025, 1, 6, 8, 0),  # noqa: DTZ001 - tables keep UTC without a zone
        first_week=NOW.date() - timedelta(weeks=3),
        story_days=frozenset(),
        draw=61,
        keys="fenmoor ",
    )


class FenmoorWorld(World):
    """The company's calendars, on a Monday in November."""

    company: ClassVar[Company] = _company()
    now = NOW


def calendar_world() -> FenmoorWorld:
    """The rows of the calendars, with the absences of the cast and the addresses that this system has."""
    world = FenmoorWorld()
    add_company(world)
    add_series(world)
    add_routine(world)
    for key, calendar, title, start, minutes, zone, guests in MEETINGS:
        addresses = [_address(name) for name in guests]
        add_event(world, world.calendar(calendar), title, at(start), minutes, guests=addresses, zone=zone, key=key)
    for absence in ABSENCES:
        own = world.primary(world.person(_address(absence.person)))
        away = json.dumps({"autoDeclineMode": "declineAllConflictingInvitations", "declineMessage": absence.reason})
        add_event(
            world,
            own,
            absence.reason,
            absence.first,
            round(days(absence.days).total_seconds() / 60),
            eventType="outOfOffice",
            outOfOfficeProperties=away,
        )
    return world
