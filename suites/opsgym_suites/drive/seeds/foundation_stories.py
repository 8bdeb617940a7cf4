"""Files of the seed `foundation` on which tasks turn.

Invariant: a situation that a task is about is stated here in full: who has which role where, what is labelled, and
what was said. Everyday files are in other folders.
"""

from __future__ import annotations

from opsgym_domains.drive.tables import File
from opsgym_suites.drive.seeds.foundation import ANTON, CARLA, RAVI, SABINE
from opsgym_suites.drive.seeds.rows import folder, propose, put, remark, revise, share
from opsgym_suites.drive.seeds.world import World


def add_foundation_stories(world: World) -> None:
    """Everything that tasks of the foundation are about."""
    for story in (
        _leavers, _partners, _holds, _retention, _requests, _sensitivity, _trustees, _scholarships, _volunteers,
        _campaign, _discussions,
    ):  # fmt: skip
        story(world)


def _folder(world: World, path: str, by: str, when: str) -> File:
    made = folder(world, path, by, when)
    if made is None:
        raise LookupError(f"{path!r} is a top level")
    return made


def _leavers(world: World) -> None:
    top = _folder(world, "@rosalind.peck:Grant files", "rosalind.peck", "2025-02-03")
    share(world, top, "group:grants", "writer", "2025-02-03")
    share(world, top, "hanne.moller", "reader", "11-12")
    field = _folder(world, "@matteo.galli:Field", "matteo.galli", "2025-07-14")
    share(world, field, "hanne.moller", "reader", "11-12")
    for name, labels, who in (
        ("Scoring guide", {}, {"florian.weiss": "writer"}), ("Reviewer pool.xlsx", {"sensitivity": "confidential"}, {}),
        ("Appeal Riverschool", {"legal_hold": True}, {"esther.okafor": "reader"}),
        ("Letter samples", {"retention_until": "2027-06-30"}, {"lucia.marin": "commenter", "dmitri.orlov": "reader"}),
    ):  # fmt: skip
        put(
            world,
            f"@rosalind.peck:Grant files/{name}",
            "rosalind.peck",
            "2025-02-05",
            "" if "." in name else f"{name}, v3",
            labels=labels,
            shared=who,
        )
    put(world, "@rosalind.peck:Own/Choir practice", "rosalind.peck", "2025-02-20", "alto, Tuesdays")
    for name, labels in (
        ("Site photos", {}),
        ("Partner assessment", {"sensitivity": "restricted"}),
        ("Route plan", {}),
    ):
        put(
            world,
            f"@matteo.galli:Field/{name}",
            "matteo.galli",
            "2025-07-14",
            f"{name}: see the van",
            labels=labels,
            shared={"kofi.mensah": "writer", "birgit.lund": "reader"},
        )
    put(
        world,
        "@thandi.nkosi:Selection/Interview questions",
        "thandi.nkosi",
        "2025-09-15",
        "Why this subject?",
        shared={"birgit.lund": "writer", "arjun.patel": "commenter"},
    )
    put(
        world,
        "@thandi.nkosi:Selection/Ranking 2026",
        "thandi.nkosi",
        "2025-11-20",
        "1 to 40",
        labels={"sensitivity": "confidential"},
        shared={"birgit.lund": "commenter", "group:trustees": "reader"},
    )
    for name in ("Packing list", "First aid sheet"):
        put(
            world,
            f"@kofi.mensah:Trips/{name}",
            "kofi.mensah",
            "2025-10-01",
            "water, maps, plasters",
            shared={"matteo.galli": "writer", "arjun.patel": "reader"},
        )


def _partners(world: World) -> None:
    shared = _folder(world, "Programmes:Escolaviva/For the partner", "kofi.mensah", "02-09")
    share(world, shared, CARLA, "commenter", "02-09 10:00")
    put(
        world,
        "Programmes:Escolaviva/For the partner/Timetable",
        "kofi.mensah",
        "02-10",
        "Mon maths, Tue reading",
        shared={CARLA: "reader"},
    )
    put(
        world,
        "Programmes:Escolaviva/For the partner/Building permit.pdf",
        "kofi.mensah",
        "02-11",
        shared={RAVI: "reader"},
    )
    for name, level in (
        ("Teacher contracts", "confidential"),
        ("Book list", "public"),
        ("Kitchen rota", "internal"),
        ("Child protection notes", "restricted"),
    ):
        put(
            world,
            f"Programmes:Escolaviva/Internal/{name}",
            "birgit.lund",
            "03-03",
            f"{name}, kept by Birgit",
            labels={"sensitivity": level},
        )
    river = _folder(world, "Programmes:Riverschool/Shared", "soledad.rivas", "04-07")
    share(world, river, RAVI, "reader", "04-07")
    put(world, "Programmes:Riverschool/Shared/Boat timetable", "arjun.patel", "04-08", "three trips a day")
    put(
        world,
        "Programmes:Riverschool/Shared/Agreement 2026.pdf",
        "soledad.rivas",
        "04-09",
        labels={"document_type": "contract"},
        shared={SABINE: "reader"},
    )
    put(
        world,
        "@dmitri.orlov:Bank/Statement summary",
        "dmitri.orlov",
        "06-01",
        "balances of the endowment",
        labels={"sensitivity": "confidential"},
    )
    put(
        world,
        "@dmitri.orlov:Bank/Contact sheet",
        "dmitri.orlov",
        "06-02",
        "Anton Berger, mornings",
        labels={"sensitivity": "internal"},
        shared={ANTON: "commenter"},
    )
    put(
        world,
        "@dmitri.orlov:Bank/Fee comparison",
        "dmitri.orlov",
        "06-03",
        "0.4 % against 0.6 %",
        shared={ANTON: "reader"},
    )


def _holds(world: World) -> None:
    for name, hold, by in (
        ("Incident report bus", True, "kofi.mensah"), ("Driver statement", True, "arjun.patel"),
        ("Bus timetable 2025", False, "arjun.patel"), ("Workshop invoice.pdf", False, "kofi.mensah"),
    ):  # fmt: skip
        file = put(
            world,
            f"Programmes:Riverschool/Bus/{name}",
            by,
            "01-19",
            "" if "." in name else f"{name}: as reported",
            labels={"legal_hold": True} if hold else {},
        )
        share(world, file, "esther.okafor", "writer", "01-20")
        share(world, file, "paolo.ricci", "writer", "01-20 10:00")
    _folder(world, "Programmes:Riverschool/Closed", "soledad.rivas", "01-05")
    hall = _folder(world, "@celine.moreau:Donors/Hall", "celine.moreau", "2025-12-01")
    share(world, hall, "paolo.ricci", "writer", "2025-12-02")
    for name, labels in (("Pledge of Lindenbank", {"legal_hold": True}), ("Plaque text", {}), ("Guest list", {})):
        put(
            world,
            f"@celine.moreau:Donors/Hall/{name}",
            "celine.moreau",
            "2025-12-03",
            f"{name} for the hall",
            labels=labels,
        )
    put(
        world,
        "@celine.moreau:Donors/Garden/Pledge for the garden",
        "celine.moreau",
        "2025-12-10",
        "20 trees",
        shared={"paolo.ricci": "writer", "esther.okafor": "writer"},
    )
    put(world, "@celine.moreau:Donors/Garden/Bench drawings.png", "celine.moreau", "2025-12-11")


def _retention(world: World) -> None:
    for name, until in (
        ("Voucher box 2015.pdf", "2026-10-31"), ("Voucher box 2016.pdf", "2026-11-13"),
        ("Voucher box 2017.pdf", "2026-11-17"),
        ("Voucher box 2018.pdf", "2028-12-31"),
    ):  # fmt: skip
        put(
            world,
            f"Ledger:Boxes/{name}",
            "patrick.doyle",
            "2024-01-15",
            labels={"retention_until": until},
            trashed="10-12",
        )
    put(world, "Ledger:Boxes/Cover sheet", "patrick.doyle", "2024-01-16", "boxes 2015 to 2018", trashed="10-12")
    for name, until in (("Ballot 2023", "2026-11-17"), ("Ballot 2024", "2027-11-17"), ("Seating 2023", "")):
        put(
            world,
            f"@olivia.hartmann:Staff council/{name}",
            "olivia.hartmann",
            "2024-11-18",
            "counted twice",
            labels={"retention_until": until} if until else {},
            trashed="11-02",
        )
    put(world, "@olivia.hartmann:Staff council/Notes 2023", "olivia.hartmann", "2024-11-19", "to tidy", trashed="11-03")
    plan = put(
        world,
        "@patrick.doyle:Plans/Cash plan",
        "patrick.doyle",
        "2025-03-03",
        "Q1",
        labels={"retention_until": "2026-11-17"},
    )
    for number in range(3):
        revise(world, plan, "patrick.doyle", f"2025-0{4 + number}-03", f"Q{2 + number}")


def _requests(world: World) -> None:
    guide = put(world, "Grants:Handbook/Reader guide", "amina.diallo", "05-04", "How we score")
    scores = put(
        world, "Grants:Handbook/Scores 2026", "lucia.marin", "05-05", "1 to 100", labels={"sensitivity": "confidential"}
    )
    propose(
        world,
        guide,
        "leila.haddad",
        ["writer"],
        "I would like to read how you score.",
        "11-09 09:00",
        to="amina.diallo",
    )
    propose(world, guide, "arjun.patel", ["commenter"], "Two remarks on page 3.", "11-10 09:00", to="amina.diallo")
    propose(world, scores, SABINE, ["reader"], "For the audit.", "11-10 10:00", to="amina.diallo")
    propose(
        world, scores, "patrick.doyle", ["reader"], "To pay the first instalments.", "11-11 10:00", to="amina.diallo"
    )
    diary = put(world, "@florian.weiss:Visits/Diary of visits", "florian.weiss", "08-17", "Day 1. Rain.")
    costs = put(
        world,
        "@florian.weiss:Visits/Travel costs",
        "florian.weiss",
        "08-18",
        "train, bus, boat",
        labels={"sensitivity": "internal"},
    )
    propose(
        world,
        diary,
        "noemi.toth",
        ["writer"],
        "I'd quote two sentences, reading is all I need.",
        "11-12 10:00",
        to="florian.weiss",
    )
    propose(world, diary, CARLA, ["writer"], "We correct the names of our teachers.", "11-12 11:00", to="florian.weiss")
    propose(
        world,
        costs,
        "celine.moreau",
        ["writer", "commenter"],
        "I book them and correct the accounts.",
        "11-12 12:00",
        to="florian.weiss",
    )
    propose(world, costs, RAVI, ["commenter"], "Comments on the boat.", "11-13 12:00", to="florian.weiss")


def _sensitivity(world: World) -> None:
    for name, level, by in (
        ("Donor survey", "internal", "noemi.toth"), ("Salaries of the press team", "restricted", "noemi.toth"),
        ("Media contacts", "confidential", "stefan.kruger"), ("Style guide", "public", "stefan.kruger"),
    ):  # fmt: skip
        put(
            world,
            f"Press room:Desk/{name}",
            by,
            "02-16",
            f"{name}, written by the press room",
            labels={"sensitivity": level},
        )
    put(
        world,
        "@stefan.kruger:Pitches/Story of the well",
        "stefan.kruger",
        "03-16",
        "Once there was no water.",
        labels={"sensitivity": "confidential"},
        shared={"noemi.toth": "writer", "leila.haddad": "writer"},
    )
    put(
        world,
        "@stefan.kruger:Pitches/Story of the bus",
        "stefan.kruger",
        "03-17",
        "It runs again.",
        labels={"sensitivity": "internal"},
        shared={"noemi.toth": "writer"},
    )


def _trustees(world: World) -> None:
    for name, level in (("Statutes.pdf", "public"), ("Succession", "restricted"), ("Agenda December", "internal")):
        put(
            world,
            f"Trustees:Standing/{name}",
            "daniela.costa",
            "05-11",
            "" if "." in name else f"{name}, confidential talk",
            labels={"sensitivity": level},
        )
    put(
        world,
        "Ledger:Audit 2025/Trial balance",
        "celine.moreau",
        "07-06",
        "debit = credit",
        labels={"sensitivity": "internal"},
    )
    put(world, "Ledger:Audit 2025/Bank letters.pdf", "celine.moreau", "07-07")
    put(world, "Ledger:Audit 2025/Open questions", "patrick.doyle", "07-08", "Three questions of Koldeweyaudit")


def _scholarships(world: World) -> None:
    for name in ("Call for mentors", "Award criteria", "Interview rota"):
        put(world, f"Scholarships:Year 2027/{name}", "birgit.lund", "09-07", f"{name} for 2027")
    put(
        world,
        "Scholarships:Year 2027/Shortlist",
        "birgit.lund",
        "10-05",
        "12 names",
        labels={"sensitivity": "confidential"},
    )
    put(world, "Scholarships:Old forms/Form 2019", "arjun.patel", "2024-02-05", "fill in by hand")
    put(
        world,
        "Scholarships:Old forms/Form 2020",
        "arjun.patel",
        "2024-02-06",
        "fill in by hand",
        labels={"retention_until": "2029-12-31"},
    )


def _volunteers(world: World) -> None:
    for name, by in (
        ("Phone list", "leila.haddad"),
        ("Keys and lockers", "emil.svensson"),
        ("Thank-you cards", "leila.haddad"),
    ):
        put(world, f"Volunteer desk:Desk/{name}", by, "06-08", f"{name}: updated on Mondays")
    put(world, "Volunteer desk:Desk/Old rota", "emil.svensson", "06-09", "last year", trashed="11-01")
    top = _folder(world, "@lucia.marin:Workshops", "lucia.marin", "07-13")
    share(world, top, "group:volunteers", "writer", "07-13")
    share(world, top, "dmitri.orlov", "commenter", "07-14")
    put(
        world,
        "@lucia.marin:Workshops/Outline",
        "lucia.marin",
        "07-15",
        "warm-up, task, tea",
        shared={"emil.svensson": "reader"},
    )
    put(
        world,
        "@lucia.marin:Workshops/Fees of trainers",
        "lucia.marin",
        "07-16",
        "two at 300",
        labels={"sensitivity": "confidential"},
    )
    put(world, "@lucia.marin:Workshops/Evaluation", "lucia.marin", "07-17", "4.6 of 5")


def _campaign(world: World) -> None:
    for name, who in (
        ("Winter appeal", {"anyone": "reader"}),
        ("Donor quotes", {"anyone": "commenter"}),
        ("Picture list", {"domain": "writer"}),
        ("Print order", {"emil.svensson": "writer"}),
    ):
        put(world, f"@noemi.toth:Winter/{name}", "noemi.toth", "10-12", f"{name} of the winter campaign", shared=who)
    put(
        world,
        "@noemi.toth:Winter/Donor addresses.csv",
        "noemi.toth",
        "10-13",
        "name,street\nR,Elm",
        labels={"sensitivity": "restricted"},
        shared={"stefan.kruger": "writer"},
    )
    for number, text in enumerate(("Give warmth.", "Give warmth and light.", "Give light.")):
        path = "Press room:Live/Landing page"
        if number:
            revise(world, world.file(path), "stefan.kruger", f"10-{19 + number}", text)
        else:
            put(world, path, "stefan.kruger", "10-19", text, labels={"sensitivity": "public"})


def _discussions(world: World) -> None:
    rules = put(world, "House rules:Policies/Remote work", "olivia.hartmann", "09-14", "Two days a week at home.")
    remark(world, rules, "olivia.hartmann", "09-15", "Draft until the trustees agree")
    remark(
        world,
        rules,
        "ruben.salas",
        "09-16",
        "vpn line is wrong, see the guide",
        ("olivia.hartmann", "Corrected on 17 September"),
    )
    remark(world, rules, "ruben.salas", "09-18", "test test")
    strategy = put(
        world,
        "@daniela.costa:Strategy/Strategy 2030",
        "daniela.costa",
        "09-21",
        "Fewer, longer grants.",
        shared={"margaret.ainsley": "commenter", "jerome.fabre": "commenter", "soledad.rivas": "reader"},
    )
    remark(
        world,
        strategy,
        "margaret.ainsley",
        "09-22",
        "Too many words. Two pages.",
        ("daniela.costa", "I'll cut it to three"),
        ("jerome.fabre", "Three is lovely!"),
    )
    remark(world, strategy, "jerome.fabre", "09-23", "What about the well? It is dear to me...")
    remark(world, strategy, "jerome.fabre", "09-23 11:00", "Sorry, wrong document, please ignore")
