"""Who works at the company, where, and which calendars there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime

from opsgym_suites.calendar.seeds.description import Company, Employee, Room, Series, Shared

COMPANY_NAME = "Kestrel Survey"
LISBON, TORONTO, SYDNEY = "Europe/Lisbon", "America/Toronto", "Australia/Sydney"
ZONES: Mapping[str, str] = {"Lisbon": LISBON, "Toronto": TORONTO, "Sydney": SYDNEY}


EMPLOYEES: Sequence[Employee] = (
    Employee("ines.carvalho", "Inês Carvalho", "Lisbon", "Office manager"),
    Employee("rui.tavares", "Rui Tavares", "Lisbon", "Lead of field operations"),
    Employee("joao.costa", "João Costa", "Lisbon", "Surveyor"),
    Employee("joao.m.costa", "João Costa", "Lisbon", "Financial analyst"),
    Employee("marta.pinto", "Marta Pinto", "Lisbon", "Head of people"),
    Employee("tiago.lopes", "Tiago Lopes", "Lisbon", "Engineer"),
    Employee("beatriz.nunes", "Beatriz Nunes", "Lisbon", "Engineer"),
    Employee("sofia.almeida", "Sofia Almeida", "Lisbon", "Head of product"),
    Employee("pedro.rocha", "Pedro Rocha", "Lisbon", "Data engineer"),
    Employee("claire.dubois", "Claire Dubois", "Toronto", "Office manager"),
    Employee("nathan.brooks", "Nathan Brooks", "Toronto", "Lead of platform"),
    Employee("priya.raman", "Priya Raman", "Toronto", "Engineer"),
    Employee("owen.clarke", "Owen Clarke", "Toronto", "Engineer"),
    Employee("hannah.weiss", "Hannah Weiss", "Toronto", "Lead of sales"),
    Employee("marcus.bell", "Marcus Bell", "Toronto", "Account executive"),
    Employee("leila.haddad", "Leila Haddad", "Toronto", "Designer"),
    Employee("sam.okafor", "Sam Okafor", "Toronto", "Customer success manager"),
    Employee("vera.novak", "Vera Novak", "Toronto", "Chief executive"),
    Employee("grace.nguyen", "Grace Nguyen", "Sydney", "Office manager"),
    Employee("liam.walsh", "Liam Walsh", "Sydney", "Lead of delivery"),
    Employee("chloe.martin", "Chloe Martin", "Sydney", "Project manager"),
    Employee("chloe.a.martin", "Chloe Martin", "Sydney", "Surveyor"),
    Employee("ben.fraser", "Ben Fraser", "Sydney", "Engineer"),
    Employee("aisha.rahman", "Aisha Rahman", "Sydney", "Analyst"),
    Employee("tom.whitaker", "Tom Whitaker", "Sydney", "Legal counsel"),
    Employee("daniel.frost", "Daniel Frost", "Toronto", "Engineer", active=False),
)

PARTNERS: Mapping[str, tuple[str, str]] = {
    "elena.rossi@terralens.example": ("Elena Rossi", "Europe/Rome"),
    "kofi.mensah@terralens.example": ("Kofi Mensah", "Europe/London"),
    "yuna.park@harborgrid.example": ("Yuna Park", "Asia/Seoul"),
    "dale.hooper@harborgrid.example": ("Dale Hooper", "America/Vancouver"),
}
"""People of other companies with accounts: name and zone by address."""


ROOMS: Sequence[Room] = (
    Room("Sado", "Lisbon", 4, "screen"),
    Room("Tejo", "Lisbon", 8, "screen, whiteboard"),
    Room("Mondego", "Lisbon", 14, "video conference, whiteboard"),
    Room("Rouge", "Toronto", 4, "screen"),
    Room("Humber", "Toronto", 6, "video conference"),
    Room("Don", "Toronto", 10, "video conference, whiteboard"),
    Room("Coogee", "Sydney", 4, "whiteboard"),
    Room("Bondi", "Sydney", 6, "video conference"),
    Room("Manly", "Sydney", 12, "video conference, screen"),
)
MANAGERS: Mapping[str, str] = {"Lisbon": "ines.carvalho", "Toronto": "claire.dubois", "Sydney": "grace.nguyen"}
"""Who owns the rooms' calendars of a site."""


SHARED: Sequence[Shared] = (
    Shared(
        "Lisbon office",
        "ines.carvalho",
        "What concerns the house in Lisbon.",
        {"marta.pinto": "writer", "rui.tavares": "reader", "*": "freeBusyReader"},
        "reader",
    ),
    Shared(
        "Toronto office",
        "claire.dubois",
        "What concerns the house in Toronto.",
        {"nathan.brooks": "reader", "hannah.weiss": "reader", "vera.novak": "writer"},
        "reader",
    ),
    Shared(
        "Sydney office",
        "grace.nguyen",
        "What concerns the house in Sydney.",
        {"liam.walsh": "reader", "tom.whitaker": "writer"},
        "reader",
    ),
    Shared(
        "Field operations",
        "rui.tavares",
        "Surveys in the field and who is on them.",
        {
            "joao.costa": "writer",
            "chloe.a.martin": "writer",
            "tiago.lopes": "reader",
            "joao.m.costa": "freeBusyReader",
            "sofia.almeida": "reader",
            "chloe.martin": "freeBusyReader",
            "daniel.frost": "writer",
        },
    ),
    Shared(
        "Platform team",
        "nathan.brooks",
        "Stand-ups, releases and on-call weeks of the platform team.",
        {
            "priya.raman": "writer",
            "owen.clarke": "reader",
            "daniel.frost": "writer",
            "pedro.rocha": "reader",
            "leila.haddad": "freeBusyReader",
            "beatriz.nunes": "reader",
        },
    ),
    Shared(
        "Delivery",
        "liam.walsh",
        "Deliveries to customers.",
        {
            "chloe.martin": "writer",
            "ben.fraser": "reader",
            "aisha.rahman": "reader",
            "sam.okafor": "freeBusyReader",
            "chloe.a.martin": "none",
        },
    ),
    Shared(
        "Product",
        "sofia.almeida",
        "Reviews, research and launches.",
        {
            "leila.haddad": "writer",
            "pedro.rocha": "reader",
            "nathan.brooks": "reader",
            "hannah.weiss": "freeBusyReader",
        },
    ),
    Shared(
        "Sales",
        "hannah.weiss",
        "Calls and visits of customers.",
        {"marcus.bell": "writer", "sam.okafor": "writer", "vera.novak": "reader", "daniel.frost": "reader"},
    ),
    Shared(
        "Interviews",
        "marta.pinto",
        "Interviews with applicants. Confidential.",
        {"nathan.brooks": "reader", "liam.walsh": "reader", "priya.raman": "freeBusyReader"},
    ),
    Shared(
        "Project Atlas",
        "sofia.almeida",
        "New base map. Steering on Thursdays.",
        {
            "tiago.lopes": "writer",
            "pedro.rocha": "writer",
            "leila.haddad": "reader",
            "elena.rossi@terralens.example": "reader",
        },
    ),
    Shared(
        "Project Meridian",
        "nathan.brooks",
        "Move of the tile servers.",
        {"priya.raman": "writer", "owen.clarke": "writer", "ben.fraser": "reader", "daniel.frost": "writer"},
    ),
    Shared(
        "Project Contour",
        "chloe.martin",
        "Survey of the northern beaches.",
        {
            "chloe.a.martin": "writer",
            "ben.fraser": "reader",
            "aisha.rahman": "reader",
            "yuna.park@harborgrid.example": "reader",
        },
    ),
    Shared(
        "Terralens rollout",
        "liam.walsh",
        "Training and go-live at Terralens.",
        {"aisha.rahman": "writer", "kofi.mensah@terralens.example": "reader", "marcus.bell": "freeBusyReader"},
    ),
    Shared(
        "Board",
        "vera.novak",
        "Meetings of the board. Private.",
        {"tom.whitaker": "reader", "hannah.weiss": "freeBusyReader"},
    ),
)

SERIES: Sequence[Series] = (
    (
        "Field operations",
        "Field stand-up",
        (0, 2, 4),
        "09:15",
        15,
        "Lisbon",
        ("joao.costa", "chloe.a.martin", "tiago.lopes"),
    ),
    ("Field operations", "Equipment check", (1,), "14:00", 60, "Lisbon", ("joao.costa",)),
    ("Platform team", "Platform stand-up", (0, 1, 2, 3, 4), "09:30", 15, "Toronto", ("priya.raman", "owen.clarke")),
    ("Platform team", "Release train", (2,), "13:00", 60, "Toronto", ("priya.raman", "owen.clarke", "pedro.rocha")),
    ("Delivery", "Delivery planning", (0,), "10:00", 60, "Sydney", ("chloe.martin", "ben.fraser", "aisha.rahman")),
    ("Delivery", "Customer round", (3,), "16:00", 45, "Sydney", ("chloe.martin", "sam.okafor")),
    ("Product", "Design critique", (1,), "15:00", 60, "Lisbon", ("leila.haddad", "pedro.rocha")),
    ("Product", "Roadmap sync", (3,), "16:30", 45, "Lisbon", ("nathan.brooks", "hannah.weiss", "leila.haddad")),
    ("Sales", "Pipeline review", (0,), "11:00", 60, "Toronto", ("marcus.bell", "sam.okafor", "vera.novak")),
    ("Sales", "Forecast call", (4,), "10:00", 30, "Toronto", ("marcus.bell", "vera.novak")),
    (
        "Project Atlas",
        "Atlas steering",
        (3,),
        "14:00",
        60,
        "Lisbon",
        ("tiago.lopes", "pedro.rocha", "elena.rossi@terralens.example"),
    ),
    ("Project Atlas", "Atlas tile review", (0,), "11:30", 45, "Lisbon", ("tiago.lopes", "leila.haddad")),
    (
        "Project Meridian",
        "Meridian cutover check",
        (1, 4),
        "16:00",
        30,
        "Toronto",
        ("priya.raman", "owen.clarke", "ben.fraser"),
    ),
    (
        "Project Contour",
        "Contour progress",
        (2,),
        "11:00",
        60,
        "Sydney",
        ("chloe.a.martin", "ben.fraser", "yuna.park@harborgrid.example"),
    ),
    ("Project Contour", "Contour field brief", (0,), "08:30", 30, "Sydney", ("chloe.a.martin", "aisha.rahman")),
    (
        "Terralens rollout",
        "Rollout sync",
        (1,),
        "18:00",
        45,
        "Sydney",
        ("aisha.rahman", "kofi.mensah@terralens.example"),
    ),
    ("Interviews", "Hiring round", (2,), "16:00", 45, "Lisbon", ("nathan.brooks", "liam.walsh")),
    ("Lisbon office", "House walk", (4,), "17:00", 30, "Lisbon", ("marta.pinto",)),
    ("Toronto office", "Reception handover", (0,), "08:30", 15, "Toronto", ("vera.novak",)),
    ("Sydney office", "Deliveries at the dock", (3,), "09:00", 30, "Sydney", ("tom.whitaker",)),
)
STORY_DAYS = frozenset(date.fromisoformat(day) for day in ("2026-10-28", "2026-10-29", "2026-11-03", "2026-11-05"))

KESTREL = Company(
    name=COMPANY_NAME,
    domain="kestrelsurvey.example",
    zones=ZONES,
    employees=EMPLOYEES,
    partners=PARTNERS,
    rooms=ROOMS,
    managers=MANAGERS,
    shared=SHARED,
    series=SERIES,
    watched=("Sales", "Delivery", "Product"),
    founded=datetime(2026, 1, 12, 8, 0),  # noqa: DTZ001 - tables keep UTC without a zone
    first_week=date(2026, 9, 28),
    story_days=STORY_DAYS,
    draw=2026,
)
"""The company of the seed `offices`."""
