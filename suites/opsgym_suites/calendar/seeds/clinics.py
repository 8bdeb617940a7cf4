"""Who works at the clinics, where, and which calendars there are.

Adelaide's zone is half an hour off the full ones and ends its summer time on the same day as Santiago, while Oslo's
begins a week before; Pune's zone is half an hour off too and never changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime

from opsgym_suites.calendar.seeds.description import Company, Employee, Room, Series, Shared

ADELAIDE, SANTIAGO, PUNE = "Australia/Adelaide", "America/Santiago", "Asia/Kolkata"
ZONES: Mapping[str, str] = {"Adelaide": ADELAIDE, "Santiago": SANTIAGO, "Pune": PUNE}

EMPLOYEES: Sequence[Employee] = (
    Employee("ruth.calder", "Ruth Calder", "Adelaide", "Clinic manager"),
    Employee("owen.pryce", "Owen Pryce", "Adelaide", "Nephrologist"),
    Employee("tess.lindqvist", "Tess Lindqvist", "Adelaide", "Head of nursing"),
    Employee("noah.finch", "Noah Finch", "Adelaide", "Trial nurse"),
    Employee("noah.j.finch", "Noah Finch", "Adelaide", "Technician"),
    Employee("gwen.abbott", "Gwen Abbott", "Adelaide", "Head of trials"),
    Employee("dario.conti", "Dario Conti", "Adelaide", "Buyer"),
    Employee("camila.rojas", "Camila Rojas", "Santiago", "Clinic manager"),
    Employee("matias.vidal", "Matías Vidal", "Santiago", "Nephrologist"),
    Employee("paula.soto", "Paula Soto", "Santiago", "Head of quality"),
    Employee("ignacio.fuentes", "Ignacio Fuentes", "Santiago", "Trial nurse"),
    Employee("valentina.diaz", "Valentina Díaz", "Santiago", "Statistician"),
    Employee("tomas.araya", "Tomás Araya", "Santiago", "Technician"),
    Employee("meera.kulkarni", "Meera Kulkarni", "Pune", "Clinic manager"),
    Employee("rohan.patil", "Rohan Patil", "Pune", "Lead of software"),
    Employee("anjali.deshpande", "Anjali Deshpande", "Pune", "Trial coordinator"),
    Employee("kiran.joshi", "Kiran Joshi", "Pune", "Engineer"),
    Employee("kiran.s.joshi", "Kiran Joshi", "Pune", "Trainer"),
    Employee("sneha.gokhale", "Sneha Gokhale", "Pune", "Head of training"),
    Employee("vikram.sathe", "Vikram Sathe", "Pune", "Analyst"),
    Employee("hugo.marsh", "Hugo Marsh", "Adelaide", "Data manager", active=False),
)

PARTNERS: Mapping[str, tuple[str, str]] = {
    "sigrid.moen@dovremed.example": ("Sigrid Moen", "Europe/Oslo"),
    "lars.haugen@dovremed.example": ("Lars Haugen", "Europe/Oslo"),
    "mere.tamihana@kaurilab.example": ("Mere Tamihana", "Pacific/Auckland"),
}

ROOMS: Sequence[Room] = (
    Room("Onka", "Adelaide", 4, "screen"),
    Room("Sturt", "Adelaide", 8, "screen, video conference"),
    Room("Gawler", "Adelaide", 14, "screen, video conference, whiteboard"),
    Room("Mapocho", "Santiago", 4, "screen"),
    Room("Maipo", "Santiago", 8, "screen, video conference"),
    Room("Choapa", "Santiago", 12, "screen, video conference, whiteboard"),
    Room("Mutha", "Pune", 4, "screen"),
    Room("Mula", "Pune", 8, "screen, video conference"),
    Room("Indrayani", "Pune", 14, "screen, video conference, whiteboard"),
)
MANAGERS: Mapping[str, str] = {"Adelaide": "ruth.calder", "Santiago": "camila.rojas", "Pune": "meera.kulkarni"}

SHARED: Sequence[Shared] = (
    Shared(
        "Adelaide clinic",
        "ruth.calder",
        "What concerns the clinic in Adelaide.",
        {"tess.lindqvist": "writer", "hugo.marsh": "writer"},
        "reader",
    ),
    Shared(
        "Santiago clinic",
        "camila.rojas",
        "What concerns the clinic in Santiago.",
        {"paula.soto": "writer", "hugo.marsh": "reader"},
        "reader",
    ),
    Shared(
        "Pune clinic",
        "meera.kulkarni",
        "What concerns the clinic in Pune.",
        {"sneha.gokhale": "writer", "hugo.marsh": "writer"},
        "reader",
    ),
    Shared(
        "Trial Amber",
        "gwen.abbott",
        "Home dialysis at night.",
        {
            "anjali.deshpande": "writer",
            "noah.finch": "writer",
            "valentina.diaz": "reader",
            "paula.soto": "reader",
            "sigrid.moen@dovremed.example": "reader",
            "hugo.marsh": "writer",
        },
    ),
    Shared(
        "Trial Cobalt",
        "paula.soto",
        "New membrane.",
        {
            "ignacio.fuentes": "writer",
            "valentina.diaz": "writer",
            "anjali.deshpande": "reader",
            "gwen.abbott": "reader",
            "mere.tamihana@kaurilab.example": "reader",
            "hugo.marsh": "reader",
        },
    ),
    Shared(
        "Trial Saffron",
        "owen.pryce",
        "Salt in the diet.",
        {
            "gwen.abbott": "writer",
            "matias.vidal": "writer",
            "noah.finch": "reader",
            "anjali.deshpande": "freeBusyReader",
        },
    ),
    Shared(
        "Software",
        "rohan.patil",
        "Releases and maintenance.",
        {
            "kiran.joshi": "writer",
            "vikram.sathe": "writer",
            "tomas.araya": "freeBusyReader",
            "hugo.marsh": "writer",
        },
    ),
    Shared(
        "Training",
        "sneha.gokhale",
        "Courses for nurses and technicians.",
        {
            "kiran.s.joshi": "writer",
            "anjali.deshpande": "writer",
            "tess.lindqvist": "reader",
            "hugo.marsh": "reader",
        },
    ),
    Shared(
        "Nursing",
        "tess.lindqvist",
        "Shifts and drills of the nurses.",
        {"noah.finch": "writer", "ignacio.fuentes": "reader", "hugo.marsh": "reader"},
    ),
    Shared(
        "Quality",
        "paula.soto",
        "Audits and reviews.",
        {"valentina.diaz": "writer", "gwen.abbott": "reader", "camila.rojas": "freeBusyReader"},
    ),
    Shared(
        "Supplies",
        "dario.conti",
        "Deliveries of filters and concentrate.",
        {"ruth.calder": "writer", "camila.rojas": "writer", "meera.kulkarni": "reader"},
    ),
    Shared("Ethics board", "matias.vidal", "Private.", {"owen.pryce": "reader"}),
    Shared("Study Basalt", "gwen.abbott", "Ends this spring.", {"noah.finch": "writer", "owen.pryce": "reader"}),
    Shared("Study Fern", "paula.soto", "Ends this spring.", {"ignacio.fuentes": "writer"}),
    Shared("Course of 2026", "sneha.gokhale", "Last year's course.", {"kiran.s.joshi": "writer"}),
    Shared("Migration", "rohan.patil", "Move to the new record system.", {"kiran.joshi": "writer"}),
)

SERIES: Sequence[Series] = (
    ("Trial Amber", "Amber recruitment", (0,), "09:30", 30, "Adelaide", ("noah.finch", "anjali.deshpande")),
    (
        "Trial Amber",
        "Amber call with Oslo",
        (3,),
        "18:00",
        45,
        "Adelaide",
        ("sigrid.moen@dovremed.example", "noah.finch"),
    ),
    ("Trial Cobalt", "Cobalt figures", (1,), "11:00", 45, "Santiago", ("valentina.diaz", "ignacio.fuentes")),
    ("Trial Cobalt", "Cobalt samples", (4,), "09:00", 30, "Santiago", ("ignacio.fuentes",)),
    ("Trial Saffron", "Saffron ward round", (2,), "10:00", 60, "Adelaide", ("matias.vidal", "gwen.abbott")),
    ("Software", "Software stand-up", (0, 1, 2, 3, 4), "10:00", 15, "Pune", ("kiran.joshi", "vikram.sathe")),
    ("Software", "Release", (3,), "16:00", 60, "Pune", ("kiran.joshi", "tomas.araya")),
    ("Training", "Course for technicians", (1,), "14:00", 120, "Pune", ("kiran.s.joshi", "noah.j.finch")),
    ("Nursing", "Shift plan", (0, 3), "08:00", 30, "Adelaide", ("noah.finch",)),
    ("Quality", "Quality circle", (2,), "15:00", 60, "Santiago", ("valentina.diaz", "camila.rojas")),
    ("Supplies", "Filters arrive", (1,), "07:30", 30, "Adelaide", ("ruth.calder",)),
    ("Adelaide clinic", "Clinic huddle", (0, 2, 4), "08:45", 15, "Adelaide", ("tess.lindqvist", "owen.pryce")),
    ("Santiago clinic", "Clinic huddle", (0, 2), "08:45", 15, "Santiago", ("matias.vidal", "ignacio.fuentes")),
    ("Pune clinic", "Clinic huddle", (1, 3), "09:15", 15, "Pune", ("sneha.gokhale",)),
    ("Ethics board", "Board of ethics", (4,), "16:00", 60, "Santiago", ("owen.pryce",)),
)

CLINICS = Company(
    name="Bluegum Renal Care",
    domain="bluegumcare.example",
    zones=ZONES,
    employees=EMPLOYEES,
    partners=PARTNERS,
    rooms=ROOMS,
    managers=MANAGERS,
    shared=SHARED,
    series=SERIES,
    watched=("Supplies", "Software"),
    founded=datetime(2026, 6, 8, 8, 0),  # noqa: DTZ001 - tables keep UTC without a zone
    first_week=date(2027, 3, 1),
    story_days=frozenset(date(2027, *day) for day in ((3, 25), (3, 30), (3, 31), (4, 1))),
    draw=2027,
    keys="clinics ",
)
"""The company of the seed `clinics`."""
