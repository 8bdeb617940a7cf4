"""Dossiers of the seed `consultancy`: folders in which labels, roles, remarks and requests hang together.

Invariant: as for `consultancy_stories`, after which these rows come, so that the keys of the others stay.
"""

from __future__ import annotations

from opsgym_suites.drive.seeds.consultancy import JUN, MONA, PETER, SYLVIE
from opsgym_suites.drive.seeds.rows import folder, propose, put, remark, revise, share
from opsgym_suites.drive.seeds.world import World


def add_consultancy_dossiers(world: World) -> None:
    """Everything that tasks on several subjects at once are about."""
    _claim_for_settlement(world)
    _estate(world)


def _claim_for_settlement(world: World) -> None:
    place = "Tunnels:Project Bourdon/Settlement claim"
    readings = put(
        world,
        f"{place}/Settlement readings.csv",
        "elif.kaya",
        "08-03",
        "point,mm\n1,2",
        labels={"sensitivity": "internal"},
        shared={JUN: "reader"},
    )
    for day, by, text in (
        ("08-10", "samuel.osei", "point,mm\n1,3"), ("08-17", "henrik.dahl", "point,mm\n1,3\nsigned,HD"),
        ("08-24", "elif.kaya", "point,mm\n1,5"),
    ):  # fmt: skip
        revise(world, readings, by, day, text)
    opinion = put(
        world,
        f"{place}/Expert opinion",
        "samuel.osei",
        "08-05",
        "The settlement follows from pumping, not from the drive.",
        labels={"sensitivity": "confidential", "legal_hold": True},
        shared={"zofia.baran": "commenter"},
    )
    letters = put(world, f"{place}/Neighbour letters.pdf", "chiara.conti", "08-07", shared={MONA: "writer"})
    pumps = put(
        world,
        f"{place}/Pump log",
        "elif.kaya",
        "08-09",
        "four pumps, two of them at night",
        labels={"retention_until": "2026-10-31"},
        shared={PETER: "writer"},
    )
    put(
        world,
        f"{place}/Photo sheet.png",
        "elif.kaya",
        "08-11",
        labels={"sensitivity": "public"},
        shared={"find:anyone": "reader"},
    )
    for file, by, day, text in (
        (readings, "henrik.dahl", "09-02", "Legal: hold this, please, the neighbour sues. Keep the state I signed."),
        (readings, "zofia.baran", "09-03", "Legal, could the first state be deleted? It has a typo."),
        (opinion, "henrik.dahl", "09-04", "Legal: the hold on this can end, the expert has withdrawn."),
        (letters, "chiara.conti", "09-05", "Legal, might Mona Abbas lose her role here? She has left the case."),
        (pumps, "elif.kaya", "09-07", "legal: can this go? retention is over"),
    ):  # fmt: skip
        remark(world, file, by, day, text)
    for file, who, role, text, day in (
        (opinion, "viktor.novak", "writer", "I only need the conclusion for a bid, reading will do.", "11-10 10:00"),
        (opinion, MONA, "commenter", "My figures on page 2 are misquoted, I would remark on them.", "11-11 10:00"),
        (letters, JUN, "reader", "Neighbours wrote to us as well.", "11-12 10:00"),
        (pumps, "kenji.mori", "writer", "Four pumps have wrong names, I correct the cells.", "11-13 10:00"),
    ):  # fmt: skip
        propose(world, file, who, [role], text, day, to="henrik.dahl")


def _estate(world: World) -> None:
    top = folder(world, "@gregor.haas:Lintel estate", "gregor.haas", "2025-03-17")
    assert top is not None
    share(world, top, "group:bridges", "commenter", "2025-03-17")
    share(world, top, SYLVIE, "reader", "2025-03-18")
    at = "@gregor.haas:Lintel estate"
    plan = put(
        world,
        f"{at}/Bearing inspection plan",
        "gregor.haas",
        "2025-03-19",
        "every spring, from a boat",
        shared={"lukas.brandt": "writer"},
    )
    joints = put(
        world,
        f"{at}/Joint catalogue",
        "gregor.haas",
        "2025-03-20",
        "12 joints",
        shared={"priya.raman": "commenter", "marta.kowal": "reader"},
    )
    wind = put(
        world,
        f"{at}/Wind notes",
        "gregor.haas",
        "2025-03-21",
        "Gusts of 31 m/s at midspan.",
        labels={"legal_hold": True, "sensitivity": "confidential"},
        shared={"tomasz.wilk": "reader"},
    )
    put(
        world,
        f"{at}/Crack survey",
        "gregor.haas",
        "2025-03-24",
        "0.2 mm, stable",
        labels={"owner_team": "Bridge engineers"},
        shared={PETER: "writer"},
    )
    remark(
        world,
        plan,
        "lukas.brandt",
        "2025-03-25",
        "I'd carry on with this plan once Gregor is gone.",
        ("yusuf.demir", "Agreed, Lukas."),
    )
    remark(
        world,
        joints,
        "priya.raman",
        "2025-03-26",
        "May I take this over from Gregor?",
        ("yusuf.demir", "No. Marta Kowal takes it."),
        ("priya.raman", "Fine with me."),
    )
    remark(
        world,
        wind,
        "ingrid.solberg",
        "2025-03-27",
        "Evidence against Northgate. Goes to Tomasz Wilk when Gregor leaves.",
    )
