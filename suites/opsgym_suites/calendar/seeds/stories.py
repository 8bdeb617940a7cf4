"""Events on which tasks turn. Where a title occurs twice, day or calendar tell them apart."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from opsgym_suites.calendar.seeds.company import LISBON, SYDNEY, TORONTO
from opsgym_suites.calendar.seeds.records import add_event
from opsgym_suites.calendar.seeds.world import World, stored

Guests = Sequence[Any]


def add_stories(world: World) -> None:
    """All events of stories."""
    for add in (_rooms, _exceptions, _holds, _leavers, _office_days, _private):
        add(world)


def _on(text: str) -> datetime:
    return datetime.fromisoformat(f"2026-{text.replace(' ', 'T')}")


def _rooms(world: World) -> None:
    def booked(room: str, title: str, start: str, minutes: int, guests: Guests = (), **values: Any) -> None:
        everybody = [*guests, f"room.{room.lower()}"]
        add_event(world, world.calendar(f"Room {room}"), title, _on(start), minutes, guests=everybody, **values)

    booked("Tejo", "Audit of instruments", "10-28 10:30", 60, ["rui.tavares", "joao.costa"])
    booked("Mondego", "Choir practice", "10-28 12:00", 45, ["beatriz.nunes"])
    booked("Sado", "Salary talks", "10-28 09:00", 180, ["marta.pinto"], visibility="private")
    booked("Sado", "Supplier of batteries", "10-29 14:00", 90, ["tiago.lopes"])
    booked("Tejo", "Tile workshop", "10-29 15:00", 60, ["pedro.rocha"], status="cancelled")
    booked("Mondego", "All-hands of Lisbon", "10-29 14:30", 90, ["sofia.almeida", "marta.pinto"])
    booked("Humber", "Screen is on loan from IT", "11-03 08:00", 600, transparency="transparent")
    booked("Don", "Sales offsite", "11-03 09:00", 480, ["hannah.weiss", "marcus.bell"])
    booked("Manly", "Demo for Harborgrid", "10-28 13:00", 60, ["ben.fraser"])
    booked("Manly", "Film evening", "10-28 15:30", 120, ["aisha.rahman"])
    booked("Bondi", "Interview", "10-28 14:00", 60, ["liam.walsh"])
    booked("Humber", "Budget round", "11-05 09:00", 30, ["claire.dubois"])
    booked("Don", "Training", "11-05 14:00", 60, ["sam.okafor"])
    booked("Rouge", "One to one", "11-05 09:30", 30, ["nathan.brooks"])
    booked("Bondi", "Lease of the boat", "11-05 10:00", 60, ["tom.whitaker"])
    booked("Manly", "Contour debrief", "11-05 10:30", 60, ["chloe.martin"])
    booked("Coogee", "Desk check", "11-05 11:00", 30, ["grace.nguyen"], status="cancelled")


def _exceptions(world: World) -> None:
    """Occurrences of series that were cancelled or moved before."""
    for calendar, summary, day in (
        ("Platform team", "Release train", "2026-10-28"),
        ("Product", "Design critique", "2026-11-03"),
        ("Sales", "Pipeline review", "2026-10-26"),
        ("Project Contour", "Contour progress", "2026-11-04"),
    ):
        event = world.event(calendar, summary, day)
        event.status, event.sequence = "cancelled", 1
    for calendar, summary, day, start, end in (
        ("Field operations", "Equipment check", "2026-10-27", "10-28 15:00", "10-28 16:00"),
        ("Delivery", "Customer round", "2026-10-29", "10-30 11:00", "10-30 11:45"),
        ("Product", "Roadmap sync", "2026-10-29", "10-30 10:00", "10-30 10:45"),
        ("Project Atlas", "Atlas tile review", "2026-11-02", "11-03 11:30", "11-03 12:15"),
    ):
        event = world.event(calendar, summary, day)
        event.start_datetime, event.end_datetime, event.sequence = stored(_on(start)), stored(_on(end)), 1


def _holds(world: World) -> None:
    def hold(calendar: str, title: str, start: str, guests: Guests, zone: str | None = None) -> None:
        add_event(
            world,
            world.calendar(calendar),
            f"Hold: {title}",
            _on(start),
            60,
            guests=guests,
            zone=zone,
            status="tentative",
        )

    yes, no, maybe, open_ = "accepted", "declined", "tentative", "needsAction"
    hold(
        "Project Atlas",
        "Symbols",
        "10-27 09:00",
        [("tiago.lopes", yes), ("leila.haddad", yes), ("joao.costa", no, True)],
    )
    hold("Project Atlas", "Contours", "10-28 09:00", [("tiago.lopes", yes), ("pedro.rocha", no)])
    hold("Project Atlas", "Labels", "10-30 09:00", [("pedro.rocha", yes), ("leila.haddad", open_)])
    hold("Project Atlas", "Relief", "11-02 09:00", [("pedro.rocha", yes), ("tiago.lopes", yes)])
    hold("Project Meridian", "Dry run", "10-28 11:00", [("priya.raman", yes), ("owen.clarke", yes)])
    hold("Project Meridian", "Switch of DNS", "10-29 11:00", [("priya.raman", no), ("ben.fraser", yes)])
    hold("Project Meridian", "Cold standby", "10-30 11:00", [("owen.clarke", yes), ("ben.fraser", no, True)])
    hold("Project Meridian", "Freeze", "11-05 11:00", [("priya.raman", maybe), ("owen.clarke", yes)])
    hold(
        "Terralens rollout",
        "Training for Rome",
        "10-28 18:00",
        [("elena.rossi@terralens.example", yes), ("aisha.rahman", yes)],
        "Europe/Rome",
    )
    hold(
        "Terralens rollout",
        "Training for London",
        "10-29 18:00",
        [("kofi.mensah@terralens.example", no), ("aisha.rahman", yes)],
    )
    hold("Terralens rollout", "Data check", "10-30 09:00", [("aisha.rahman", open_), ("ben.fraser", yes)])
    hold(
        "Terralens rollout",
        "Go or no-go",
        "11-04 18:00",
        [("kofi.mensah@terralens.example", yes), ("marcus.bell", no, True)],
    )
    hold("Sales", "Harborgrid pitch", "10-27 14:00", [("yuna.park@harborgrid.example", yes), ("marcus.bell", yes)])
    hold("Sales", "Harborgrid terms", "10-28 14:00", [("dale.hooper@harborgrid.example", no), ("marcus.bell", yes)])
    hold("Sales", "Price list", "10-29 14:00", [("sam.okafor", yes), ("vera.novak", yes)])
    hold("Sales", "Reference visit", "11-04 14:00", [("sam.okafor", open_), ("marcus.bell", yes)])


def _leavers(world: World) -> None:
    def meeting(calendar: str, title: str, start: str, minutes: int, guests: Guests = ()) -> None:
        add_event(world, world.calendar(calendar), title, _on(start), minutes, guests=guests)

    meeting("Platform team", "On call: Daniel Frost", "10-26 09:00", 480)
    meeting("Platform team", "Handing over of alerts", "10-27 15:00", 30, ["daniel.frost"])
    meeting("Field operations", "Drone licence: Daniel Frost", "10-28 09:00", 60)
    meeting("Field operations", "Drone check", "10-29 11:00", 45, ["daniel.frost"])
    meeting("Sales", "Demo account: Daniel Frost", "10-29 09:00", 30)
    meeting("Sales", "Technical questions", "10-30 15:00", 30, ["daniel.frost"])
    meeting("Delivery", "Car pool: Ben Fraser", "10-29 08:00", 30)
    meeting("Delivery", "Review of the kit list", "10-30 14:00", 30, ["ben.fraser"])
    meeting("Product", "Licence of the plotter: Pedro Rocha", "10-27 12:00", 30)
    meeting("Product", "Numbers of use", "10-28 15:30", 30, ["pedro.rocha"])


def _office_days(world: World) -> None:
    def entry(site: str, title: str, start: str, minutes: int, guests: Guests = (), **values: Any) -> None:
        add_event(world, world.calendar(f"{site} office"), title, _on(start), minutes, guests=guests, **values)

    entry("Lisbon", "Window cleaner", "10-30 08:00", 120)
    entry("Lisbon", "Fire drill", "10-30 11:00", 30, ["marta.pinto", "rui.tavares"])
    entry("Lisbon", "Fire drill", "11-06 11:00", 30, ["marta.pinto"])
    entry("Lisbon", "Delivery of paper", "11-04 09:30", 15)
    entry("Lisbon", "First aid course", "11-04 14:00", 120, ["beatriz.nunes", "joao.m.costa"])
    entry("Toronto", "Boiler service", "11-04 08:00", 60)
    entry("Toronto", "Flu shots", "11-04 10:00", 180, ["vera.novak", "priya.raman"])
    entry("Toronto", "Plants", "10-30 12:00", 30)
    entry("Toronto", "Tour for students", "10-30 13:30", 60, ["leila.haddad"])
    entry("Sydney", "Pest control", "10-30 07:00", 60)
    entry("Sydney", "Surf club breakfast", "10-30 08:30", 60, ["ben.fraser", "aisha.rahman"], status="cancelled")
    entry("Sydney", "Ergonomics visit", "10-30 10:00", 90, ["chloe.martin", "tom.whitaker"])


def _private(world: World) -> None:
    board, of_title = world.calendar("Board"), world.calendar
    add_event(
        world,
        board,
        "Acquisition of Harborgrid",
        _on("11-03 13:00"),
        120,
        guests=["tom.whitaker", ("hannah.weiss", "tentative")],
        visibility="confidential",
        files=("https://files.kestrelsurvey.example/board/offer.pdf",),
    )
    add_event(world, board, "Salaries of leads", _on("11-05 15:00"), 60, guests=["marta.pinto"], visibility="private")
    add_event(
        world,
        of_title("Interviews"),
        "Interview: applicant 14",
        _on("10-29 11:00"),
        60,
        guests=["nathan.brooks"],
        visibility="confidential",
    )
    add_event(
        world,
        of_title("Interviews"),
        "Interview: applicant 17",
        _on("10-30 11:00"),
        60,
        guests=["liam.walsh"],
        visibility="confidential",
        zone=SYDNEY,
    )
    for calendar, title, start, zone in (
        ("Product", "Atlas launch rehearsal", "10-27 10:00", TORONTO),
        ("Platform team", "Handover with Lisbon", "10-27 15:00", LISBON),
        ("Delivery", "Call with Toronto", "10-27 16:00", TORONTO),
        ("Field operations", "Survey window", "10-29 13:00", LISBON),
    ):
        add_event(world, of_title(calendar), title, _on(start), 60, zone=zone)
    focus = {"autoDeclineMode": "declineNone", "chatStatus": "doNotDisturb", "declineMessage": None}
    for person in ("sofia.almeida", "nathan.brooks", "liam.walsh", "hannah.weiss", "rui.tavares"):
        primary = world.primary(world.person(person))
        add_event(
            world,
            primary,
            "Deep work",
            _on("10-29 14:00"),
            120,
            eventType="focusTime",
            focusTimeProperties=json.dumps(focus),
        )
        add_event(world, primary, "Coaching", _on("10-30 16:00"), 45, guests=["marta.pinto"])
