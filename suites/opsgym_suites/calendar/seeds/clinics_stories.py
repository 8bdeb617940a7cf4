"""Events of the clinics on which tasks turn."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from opsgym_suites.calendar.seeds.records import add_event
from opsgym_suites.calendar.seeds.world import ClinicsWorld

Guests = Sequence[Any]
YES, NO, MAYBE, OPEN = "accepted", "declined", "tentative", "needsAction"


def add_clinics_stories(world: ClinicsWorld) -> None:
    """All events of stories."""
    for add in (_visits, _drills, _rooms, _successions, _ending_studies):
        add(world)


def _add(
    world: ClinicsWorld, calendar: str, title: str, start: str, minutes: int, guests: Guests = (), **values: Any
) -> None:
    begin = datetime.fromisoformat(f"2027-{start.replace(' ', 'T')}")
    add_event(world, world.calendar(calendar), title, begin, minutes, guests=guests, **values)


def _visits(world: ClinicsWorld) -> None:
    """Visits that move, and what else is in the calendars on the days around."""
    _add(world, "Trial Amber", "Monitoring visit", "03-30 10:00", 90, [("noah.finch", YES), ("anjali.deshpande", YES)])
    _add(world, "Trial Amber", "Drug stock", "03-31 10:30", 60, ["noah.finch"])
    _add(world, "Trial Amber", "Consent forms", "03-31 12:00", 60, ["anjali.deshpande"], status="cancelled")
    _add(world, "Trial Amber", "Poster for the congress", "04-02 11:00", 60, ["valentina.diaz"])
    _add(world, "Trial Saffron", "Diet counselling", "03-30 13:00", 60, [("matias.vidal", YES), "gwen.abbott"])
    _add(world, "Trial Saffron", "Kitchen tour", "03-31 11:00", 90, ["gwen.abbott"])
    _add(world, "Trial Saffron", "Blood draws", "04-02 09:00", 60, ["matias.vidal"])
    _add(world, "Nursing", "Hygiene audit", "03-30 11:00", 60, ["noah.finch", ("tess.lindqvist", MAYBE)])
    _add(world, "Nursing", "Stock of gloves", "03-31 10:00", 30, transparency="transparent")
    _add(world, "Nursing", "New pumps", "03-31 11:00", 45, ["noah.finch"])
    _add(world, "Nursing", "Vaccination", "04-02 10:00", 60, ["ignacio.fuentes"])
    _add(world, "Santiago clinic", "Inspection of water", "03-30 09:00", 60, [("paula.soto", YES), "camila.rojas"])
    _add(world, "Santiago clinic", "Visit of the ministry", "03-31 10:00", 120, ["camila.rojas"])
    _add(world, "Santiago clinic", "Farewell of Elisa", "04-02 12:00", 60, ["ignacio.fuentes"])
    for person in ("Anjali Deshpande", "Gwen Abbott", "Paula Soto"):
        _add(world, person, "Notes on the audit", "04-01 07:00", 45)
    noah = world.primary(world.person("noah.finch"))
    add_event(world, noah, "Notes on the audit", datetime.fromisoformat("2027-04-01T07:00"), 45)


def _drills(world: ClinicsWorld) -> None:
    """Meetings with a room on the last day before they are asked for again."""
    _add(
        world,
        "Adelaide clinic",
        "Device check",
        "03-25 10:00",
        60,
        [("noah.j.finch", YES), ("tess.lindqvist", YES), "room.sturt"],
    )
    _add(
        world,
        "Santiago clinic",
        "Emergency drill",
        "03-25 11:00",
        60,
        [("matias.vidal", OPEN), ("ignacio.fuentes", YES), "room.maipo"],
    )
    _add(
        world,
        "Pune clinic",
        "Water test",
        "03-25 10:00",
        60,
        [("kiran.joshi", YES), ("sneha.gokhale", MAYBE), "room.mutha"],
    )
    _add(
        world,
        "Nursing",
        "Handover drill",
        "03-25 13:00",
        60,
        [("noah.finch", YES), ("owen.pryce", YES), "room.onka"],
    )


def _rooms(world: ClinicsWorld) -> None:
    """Bookings on days of stories."""

    def booked(room: str, title: str, start: str, minutes: int, guests: Guests = (), **values: Any) -> None:
        _add(world, f"Room {room}", title, start, minutes, [*guests, f"room.{room.lower()}"], **values)

    booked("Sturt", "Dietitians", "03-30 09:30", 60, ["owen.pryce"])
    booked("Gawler", "Choir", "03-30 10:00", 60, ["ruth.calder"], status="cancelled")
    booked("Onka", "Interview of a nurse", "03-30 10:00", 60, ["tess.lindqvist"])
    booked("Onka", "Shift talk", "03-31 13:30", 60, ["tess.lindqvist"])
    booked("Sturt", "Sales talk", "03-31 12:30", 60, ["dario.conti"], status="cancelled")
    booked("Gawler", "Open house", "03-31 09:00", 480, ["ruth.calder"])
    booked("Maipo", "Dialysis school", "03-30 10:30", 60, ["matias.vidal"])
    booked("Mapocho", "One to one", "03-30 12:00", 30, ["paula.soto"])
    booked("Choapa", "Lunch talk", "03-30 12:00", 60, ["camila.rojas"])
    booked("Mutha", "Supplier of salts", "03-30 10:15", 30, ["meera.kulkarni"])
    booked("Mula", "Projector is away", "03-30 09:00", 480, transparency="transparent")
    booked("Indrayani", "Town hall", "03-30 10:00", 90, ["rohan.patil"])


def _successions(world: ClinicsWorld) -> None:
    """Talks whose answers say who takes a calendar over, and what its owner keeps."""
    for calendar, yes, no, own_event in (
        ("Trial Amber", "noah.finch", "valentina.diaz", "Grant report"),
        ("Trial Cobalt", "valentina.diaz", "ignacio.fuentes", "Letter to the sponsor"),
        ("Software", "vikram.sathe", "kiran.joshi", "Licence review"),
        ("Training", "anjali.deshpande", "kiran.s.joshi", "Course fees"),
    ):
        _add(world, calendar, "Who takes over", "03-29 13:00", 30, [(yes, YES), (no, NO)])
        _add(world, calendar, own_event, "04-07 13:00", 60)
        _add(world, calendar, f"{own_event}, draft", "04-05 13:00", 60)


def _ending_studies(world: ClinicsWorld) -> None:
    """Calendars that are given up: what is in them goes on elsewhere, is called off, or waits."""
    optional_no = ("dario.conti", NO, True)
    for calendar, first, second in (
        ("Study Basalt", "noah.finch", "owen.pryce"),
        ("Study Fern", "ignacio.fuentes", "valentina.diaz"),
        ("Course of 2026", "kiran.s.joshi", "tess.lindqvist"),
        ("Migration", "kiran.joshi", "vikram.sathe"),
    ):
        _add(world, calendar, "Lessons learnt", "03-19 11:00", 60, [(first, YES)])
        _add(world, calendar, "Closing of files", "04-06 11:00", 60, [(first, YES), (second, YES)])
        _add(world, calendar, "Last interviews", "04-07 11:00", 60, [(first, YES), optional_no])
        _add(world, calendar, "Return of keys", "04-08 11:00", 30, [(second, NO), (first, YES)])
        _add(world, calendar, "Archive", "04-08 15:00", 60, [(second, OPEN), (first, YES)])
        _add(world, calendar, "Do not forget the posters", "04-09 09:00", 15)
        _add(world, calendar, "Drinks", "04-09 17:00", 60, [(first, YES)], status="cancelled")
