"""The ferry company of the seed `ferries`: who works there, who writes to them, and about what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from opsgym_suites.email.seeds.description import Company, Correspondent, Notice, Topic

PEOPLE: Sequence[Correspondent] = (
    Correspondent("astrid.falk", "Astrid Falk", 3),
    Correspondent("bjarne.holt", "Bjarne Holt", 2),
    Correspondent("conor.macrae", "Conor Macrae", 1),
    Correspondent("moira.macrae", "Moira Macrae", 0),
    Correspondent("elsa.vinter", "Elsa Vinter", 4),
    Correspondent("dag.haugland", "Dag Haugland", 2),
    Correspondent("freya.sinclair", "Freya Sinclair", 1),
    Correspondent("gavin.tulloch", "Gavin Tulloch", 5),
    Correspondent("isla.drever", "Isla Drever", 0),
    Correspondent("kirsten.moar", "Kirsten Moar", 3),
    Correspondent("noor.bakshi", "Noor Bakshi", 5),
    Correspondent("peder.strand", "Peder Strand", 4, active=False),
)
PARTNERS: Sequence[Correspondent] = (
    Correspondent("hamish.gunn@pentlandfuel.example", "Hamish Gunn", 5),
    Correspondent("liv.aasen@fjordmarine.example", "Liv Aasen", 0),
    Correspondent("tove.lund@fjordmarine.example", "Tove Lund", 3),
    Correspondent("owen.rendall@isleslarder.example", "Owen Rendall", 1),
)
HAMISH, LIV, TOVE, OWEN = (one.address for one in PARTNERS)

TOPICS: Sequence[Topic] = (
    Topic(
        "Fuel for the {ship}",
        (
            (HAMISH, "we can bunker the {ship} on {day} at {hour}:00, {count} tonnes, at {amount} in all. ok?"),
            ("me", "Yes, berth two. Bjarne signs the note."),
            (HAMISH, "done, note is with your chief"),
        ),
        "Fuel",
    ),
    Topic(
        "{ship}: spare parts",
        (
            (LIV, "the {part} for the {ship} can leave our yard on {day}; the price is {amount} including freight."),
            ("me", "Please send it to the slip, marked for Bjarne Holt."),
            (LIV, "It is on the lorry, consignment {number}."),
        ),
        "Yard",
        "offer-{number}.pdf",
        ("bjarne.holt",),
    ),
    Topic(
        "Crew for {day}",
        (
            (
                "freya.sinclair",
                "one deckhand short on the {ship} on {day}. Dag would stay on for a second leg, if you agree.",
            ),
            ("me", "Agreed, but mind his rest hours."),
            ("freya.sinclair", "Within the limit, I have checked twice."),
        ),
        "Crew",
    ),
    Topic(
        "Freight booking {number}",
        (
            (OWEN, "I'd like to book {count} metres on the {hour}:00 from {port}, chilled, every {day}."),
            ("me", "Booked for four weeks. The chilled hold has two plugs only."),
        ),
        "Freight",
        "booking-{number}.pdf",
    ),
    Topic(
        "Weather on {day}",
        (
            (
                "conor.macrae",
                "South-easterly eight on {day}. I would hold the {hour}:00 from {port} and decide at noon.",
            ),
            ("me", "Hold it. Noor tells the passengers."),
            ("conor.macrae", "Wind went round, she sailed with forty minutes' delay."),
        ),
        "Harbour",
        "",
        ("noor.bakshi",),
    ),
    Topic(
        "Complaint about the {hour}:00",
        (
            (
                "moira.macrae",
                (
                    "a passenger from {port} complains that the lift on the {ship} was out of order again. May I offer"
                    " a return ticket?"
                ),
            ),
            ("me", "Yes, and tell Bjarne about the lift."),
        ),
        "Passengers",
    ),
    Topic(
        "Costs of the {ship}",
        (
            (
                "elsa.vinter",
                "the {ship} is {amount} over budget this month. Most of it is the {part}. Is that the last of it?",
            ),
            ("me", "The last for this season, Bjarne says."),
        ),
        "Finance",
        "costs-{number}.csv",
    ),
    Topic(
        "Safety drill at {port}",
        (
            ("kirsten.moar", "the drill at {port} is on {day} at {hour}:00. The {ship} must be empty for an hour."),
            ("me", "Use the gap after the freight run."),
            ("kirsten.moar", "Good drill, {count} people, two remarks. Report follows."),
        ),
        "Safety",
    ),
)
NOTICES: Sequence[Notice] = (
    Notice(
        "Coastal Forecast <bulletin@coastwatch.example>",
        "Forecast for {day}: {port}",
        "Wind force {hour} at times, visibility good, sea state slight. Next bulletin in six hours.\n",
        "CATEGORY_UPDATES",
    ),
    Notice(
        "Ticket shop <orders@ticketquay.example>",
        "Daily report {number}",
        "{count} tickets sold online for {port}, turnover {amount}. Details on the portal.\n",
        "CATEGORY_UPDATES",
    ),
    Notice(
        "Harbour Trade Fair <fair@harbourfair.example>",
        "Only until {day}: early bird passes",
        "Meet {count} exhibitors. Early bird passes until {day}.\n",
        "CATEGORY_PROMOTIONS",
    ),
)
SLOTS: Mapping[str, Sequence[str]] = {
    "ship": ("Gannet", "Storm Petrel", "Eider", "Kittiwake"),
    "port": ("Stromvik", "Hallay", "Nesting Point", "Brough Sound"),
    "part": ("bow thruster", "cooling pump", "ramp cylinder", "radar scanner"),
}

FERRIES = Company(
    host="skerryline.example",
    people=PEOPLE,
    partners=PARTNERS,
    owner="astrid.falk",
    topics=TOPICS,
    notices=NOTICES,
    slots=SLOTS,
    labels=("Fuel", "Yard", "Crew", "Freight", "Harbour", "Passengers", "Finance", "Safety", "Legal hold"),
    messages=260,
    founded=datetime(2026, 1, 5, 8, 0),  # noqa: DTZ001 - tables keep UTC without a zone
    keys="ferries ",
    colleagues=6,
    label_names={
        "bjarne.holt": ("Engine room", "Claims"),
        "freya.sinclair": ("Rota", "Sick notes"),
        "moira.macrae": ("Complaints", "Refunds", "Answered"),
        "isla.drever": ("Confidential", "Applications"),
        "elsa.vinter": ("To pay", "Paid"),
        "conor.macrae": ("Berths", "Pilots"),
        "kirsten.moar": ("Inspections", "Drills"),
        "noor.bakshi": ("Press", "Notices"),
    },
)
"""The company of the seed `ferries`."""
