"""Dossiers of the seed `foundation`: folders in which labels, roles, remarks and requests hang together.

Invariant: as for `foundation_stories`, after which these rows come, so that the keys of the others stay.
"""

from __future__ import annotations

from opsgym_suites.drive.seeds.foundation import ANTON
from opsgym_suites.drive.seeds.rows import folder, propose, put, remark, revise, share
from opsgym_suites.drive.seeds.world import World


def add_foundation_dossiers(world: World) -> None:
    """Everything that tasks on several subjects at once are about."""
    _bursaries(world)
    _estate(world)


def _bursaries(world: World) -> None:
    place = "Programmes:Lindenbank/Bursaries"
    top = folder(world, place, "soledad.rivas", "06-01")
    assert top is not None
    share(world, top, ANTON, "reader", "06-01 10:00")
    rules = put(
        world,
        f"{place}/Bursary rules",
        "soledad.rivas",
        "06-08",
        "A bursary is 900 a term.",
        labels={"sensitivity": "public"},
    )
    revise(world, rules, "birgit.lund", "06-15", "A bursary is 1,100 a term, as the trustees agreed.")
    revise(world, rules, "arjun.patel", "06-22", "A bursary is 1,300 a term? Draft.")
    applicants = put(
        world,
        f"{place}/Applicants 2026",
        "birgit.lund",
        "06-10",
        "31 names",
        labels={"sensitivity": "confidential"},
        shared={"esther.okafor": "writer"},
    )
    payments = put(
        world,
        f"{place}/Payment dates.csv",
        "kofi.mensah",
        "06-11",
        "date,who\n01,all",
        labels={"sensitivity": "internal", "retention_until": "2026-11-16"},
    )
    notes = put(
        world,
        f"{place}/Committee notes",
        "birgit.lund",
        "06-12",
        "Two hours, four cases.",
        shared={ANTON: "commenter", "esther.okafor": "writer"},
    )
    put(world, f"{place}/List of 2024", "arjun.patel", "06-13", "18 names", labels={"retention_until": "2026-11-10"})
    for file, by, day, text in (
        (rules, "arjun.patel", "09-02", "The amount on the web is wrong. Which state did the trustees agree to?"),
        (rules, "noemi.toth", "09-03", "May I quote this in the newsletter?"),
        (notes, "birgit.lund", "09-04", "Soledad, Anton Berger sits on another committee now. Take that role away."),
        (payments, "kofi.mensah", "09-05", "No one opens this any more... may it go?"),
    ):  # fmt: skip
        remark(world, file, by, day, text)
    for file, who, role, text, day in (
        (applicants, ANTON, "reader", "The bank pays the bursaries, so we check the names.", "11-10 10:00"),
        (applicants, "patrick.doyle", "writer", "I compare names with payments; reading is enough.", "11-11 10:00"),
        (payments, "celine.moreau", "writer", "I enter the days of payment.", "11-12 10:00"),
    ):  # fmt: skip
        propose(world, file, who, [role], text, day, to="soledad.rivas")


def _estate(world: World) -> None:
    at = "@matteo.galli:Bank visits"
    top = folder(world, at, "matteo.galli", "2025-08-04")
    assert top is not None
    share(world, top, "hanne.moller", "writer", "11-12 10:00")
    branch = put(world, f"{at}/Branch list", "matteo.galli", "2025-08-05", "nine branches")
    wishes = put(
        world,
        f"{at}/Wishes of the bank",
        "matteo.galli",
        "2025-08-06",
        "a plaque, a photo",
        labels={"sensitivity": "confidential"},
        shared={"dmitri.orlov": "commenter"},
    )
    minutes = put(
        world,
        f"{at}/Minutes of June",
        "matteo.galli",
        "2025-08-07",
        "present: four",
        shared={"birgit.lund": "reader"},
    )
    remark(
        world,
        branch,
        "arjun.patel",
        "2025-08-11",
        "This would be for me.",
        ("soledad.rivas", "Kofi Mensah gets it, Arjun. Kofi knows them."),
    )
    remark(
        world, wishes, "soledad.rivas", "2025-08-12", "Dmitri Orlov carries this on, if Dmitri stays. Else Lucia Marin."
    )
    remark(world, minutes, "soledad.rivas", "2025-08-13", "Birgit Lund keeps these.")
