"""Files of the seed `consultancy` on which tasks turn.

Invariant: a situation that a task is about is stated here in full: who has which role where, what is labelled, and
what was said. Everyday files are in other folders.
"""

from __future__ import annotations

from opsgym_suites.drive.seeds.consultancy import JUN, MONA, PETER, SYLVIE
from opsgym_suites.drive.seeds.rows import folder, propose, put, remark, revise, share
from opsgym_suites.drive.seeds.world import World


def add_consultancy_stories(world: World) -> None:
    """Everything that tasks of the consultancy are about."""
    for story in (
        _leavers, _exchange_with_clients, _invoices, _trash, _requests, _review, _templates, _revisions, _press,
        _claim, _inheritance, _spaces,
    ):  # fmt: skip
        story(world)


def _leavers(world: World) -> None:
    at = "2025-03-11"
    handover = folder(world, "@gregor.haas:Handover", "gregor.haas", at)
    assert handover is not None
    share(world, handover, "yusuf.demir", "reader", at)
    put(
        world,
        "@gregor.haas:Handover/Bearing schedule.xlsx",
        "gregor.haas",
        "2025-03-12",
        shared={"marta.kowal": "writer"},
    )
    put(
        world,
        "@gregor.haas:Handover/Pier settlement log.csv",
        "gregor.haas",
        "2025-03-13",
        "date,mm\n2025-02-01,3\n2025-03-01,4",
        shared={"marta.kowal": "writer", "lukas.brandt": "reader"},
    )
    put(
        world,
        "@gregor.haas:Handover/Load test plan",
        "gregor.haas",
        "2025-03-14",
        "Two lorries of 40 t. Marta reads the gauges, Lukas writes.",
        shared={"group:bridges": "commenter"},
    )
    put(world, "@gregor.haas:Private/Flat search", "gregor.haas", "2025-01-20", "third floor, no lift, dear")
    put(world, "@gregor.haas:Private/Running plan", "gregor.haas", "2025-01-22", "ten km on Sunday")
    fans = folder(world, "@lidia.petrova:Ventilation", "lidia.petrova", "2025-05-02")
    assert fans is not None
    share(world, fans, "group:tunnels", "writer", "2025-05-02")
    put(world, "@lidia.petrova:Ventilation/Fan curves.xlsx", "lidia.petrova", "2025-05-03")
    put(
        world,
        "@lidia.petrova:Ventilation/Fire strategy draft",
        "lidia.petrova",
        "2025-05-04",
        "Escape distance 240 m. To be agreed with the fire brigade.",
        labels={"legal_hold": True},
    )
    put(
        world,
        "@lidia.petrova:Ventilation/Smoke test notes",
        "lidia.petrova",
        "2025-05-06",
        "Test on a Sunday night. Door 4 did not close.",
        shared={"samuel.osei": "writer"},
    )
    put(
        world,
        "@edwin.tuller:Bid library/Answers to standard questions",
        "edwin.tuller",
        "2025-08-01",
        "Q1: insurance. Q2: quality. Q3: carbon.",
        shared={"group:tenders": "writer"},
    )
    put(
        world,
        "@edwin.tuller:Bid library/Reference sheet Halyard.pdf",
        "edwin.tuller",
        "2025-08-02",
        shared={"joanna.prentice": "writer", "viktor.novak": "reader"},
    )
    put(
        world,
        "@edwin.tuller:Bid library/Rates 2026",
        "edwin.tuller",
        "2025-08-04",
        "lead 160, senior 120, graduate 70",
        labels={"sensitivity": "confidential"},
        shared={"joanna.prentice": "writer"},
    )
    put(
        world,
        "@edwin.tuller:Bid library/Reference sheet Corbel.pdf",
        "edwin.tuller",
        "2025-08-05",
        shared={"joanna.prentice": "commenter", PETER: "reader"},
    )
    for name, role in (("Checklist for abutments", "writer"), ("Checklist for expansion joints", "commenter")):
        put(
            world,
            f"@aoife.brennan:Checklists/{name}",
            "aoife.brennan",
            "2025-09-08",
            "1. Drainage 2. Joints 3. Paint",
            shared={"gregor.haas": role, "priya.raman": "reader"},
        )


def _exchange_with_clients(world: World) -> None:
    exchange = folder(world, "Bridges:Project Halyard/Exchange", "yusuf.demir", "02-03")
    assert exchange is not None
    share(world, exchange, SYLVIE, "writer", "02-03 10:00")
    share(world, exchange, JUN, "reader", "02-03 10:05")
    put(
        world,
        "Bridges:Project Halyard/Exchange/Site access plan.pdf",
        "marta.kowal",
        "02-10",
        labels={"sensitivity": "internal"},
        shared={JUN: "commenter", MONA: "commenter"},
    )
    put(
        world,
        "Bridges:Project Halyard/Exchange/Interface register.xlsx",
        "priya.raman",
        "02-12",
        shared={SYLVIE: "writer"},
    )
    put(
        world,
        "Bridges:Project Halyard/Exchange/Temporary works note",
        "lukas.brandt",
        "03-02",
        "The propping at the north pier was undersized for two days. Not for the client before Ingrid has read it.",
        labels={"sensitivity": "confidential"},
    )
    put(world, "Bridges:Project Halyard/Exchange/Crane positions.dwg", "lukas.brandt", "03-09")
    for name, day, level in (
        ("Survey brief", "04-01", "internal"), ("Survey results.csv", "04-20", "internal"),
        ("Survey invoice check", "04-22", "confidential"), ("Borehole locations.csv", "04-24", "public"),
    ):  # fmt: skip
        put(
            world,
            f"Bridges:Project Corbel/Survey/{name}",
            "aoife.brennan",
            day,
            f"{name} by Ostrasurvey, checked by Aoife.",
            labels={"sensitivity": level},
        )
    board = put(
        world, "Bridges:Project Corbel/Survey/Level book.pdf", "aoife.brennan", "04-26", shared={MONA: "writer"}
    )
    share(world, board, PETER, "reader", "04-27")
    rail = folder(world, "Tunnels:Project Stollen/Possession plan", "henrik.dahl", "05-04")
    assert rail is not None
    share(world, rail, SYLVIE, "commenter", "05-04 11:00")
    for name, level in (
        ("Night shifts.xlsx", "internal"),
        ("Track access agreement.pdf", "restricted"),
        ("Radio channels", "internal"),
        ("Emergency contacts", "confidential"),
    ):
        put(
            world,
            f"Tunnels:Project Stollen/Possession plan/{name}",
            "chiara.conti",
            "05-06",
            "" if "." in name else f"{name}: see the list of Henrik.",
            labels={"sensitivity": level},
        )


def _invoices(world: World) -> None:
    for number, (client, until, hold) in enumerate((
        ("Northgate", "2026-06-30", False), ("Calderrail", "2026-09-30", False), ("Ostrasurvey", "2026-06-30", True),
        ("Northgate", "2029-12-31", False), ("Calderrail", "2026-11-15", False), ("Ostrasurvey", "2026-11-20", False),
    )):  # fmt: skip
        labels = {"document_type": "invoice", "retention_until": until} | ({"legal_hold": True} if hold else {})
        put(
            world,
            f"Finance:Invoices 2019/Invoice {client} {number + 31}.pdf",
            "callum.reid",
            f"2024-04-{10 + number}",
            labels=labels,
        )
    for number, (client, kind) in enumerate(
        (("Northgate", "contract"), ("Calderrail", "contract"), ("Ostrasurvey", "contract"), ("Northgate", "report"))
    ):
        name = f"Framework {client}.pdf" if kind == "contract" else "Summary of frameworks"
        retention = {"retention_until": "2027-03-31"} if client == "Calderrail" else {}
        put(
            world,
            f"Finance:Frameworks/{name}",
            "marta.kovacs",
            f"2025-06-{10 + number}",
            "" if kind == "contract" else "Three frameworks, all signed.",
            labels={"document_type": kind, **retention},
        )
    put(
        world,
        "Finance:Frameworks/Old/Framework Northgate.pdf",
        "callum.reid",
        "2024-06-03",
        labels={"document_type": "contract", "retention_until": "2026-12-31"},
    )


def _trash(world: World) -> None:
    for name, labels, gone in (
        ("Draft budget 2025", {}, "10-02"), ("Leasing contract copier.pdf", {"retention_until": "2027-01-31"}, "10-05"),
        ("Old price list", {"retention_until": "2026-08-31"}, "10-06"), ("Seating plan", {}, "10-21"),
    ):  # fmt: skip
        put(
            world,
            f"@beatriz.fonseca:Desk/{name}",
            "beatriz.fonseca",
            "03-02",
            "" if "." in name else "old",
            labels=labels,
            trashed=gone,
        )
    for name, held, gone in (
        ("Claim chronology", True, "11-03"),
        ("Receipts March.zip", False, "09-14"),
        ("Car policy 2022", False, "09-15"),
    ):
        put(
            world,
            f"@callum.reid:Desk/{name}",
            "callum.reid",
            "02-16",
            "" if "." in name else "see Ingrid",
            labels={"legal_hold": True} if held else {},
            trashed=gone,
        )
    for name, labels, gone in (
        ("Rota May", {}, "06-01"), ("Rota June", {}, "07-01"),
        ("Blast record 14", {"retention_until": "2031-05-31"}, "10-30"), ("Rota July", {}, "08-01"),
    ):  # fmt: skip
        put(
            world,
            f"Tunnels:Project Bourdon/Rotas/{name}",
            "elif.kaya",
            "04-30",
            "early, late, night",
            labels=labels,
            trashed=gone,
        )
    put(world, "@kenji.mori:Office/Key list", "kenji.mori", "05-11", "front, back, cellar", trashed="11-09")
    put(world, "@kenji.mori:Office/Key list (old)", "kenji.mori", "2024-05-11", "front, back", trashed="11-09")
    put(
        world,
        "@kenji.mori:Office/Alarm codes",
        "kenji.mori",
        "05-12",
        "see the safe",
        labels={"sensitivity": "restricted"},
        trashed="11-10",
    )


def _requests(world: World) -> None:
    register = put(world, "Bridges:Project Lintel/Register/Risk register", "priya.raman", "08-03", "12 risks, 3 red")
    costs = put(
        world,
        "Bridges:Project Lintel/Register/Cost plan",
        "priya.raman",
        "08-04",
        "deck 40 %, piers 35 %",
        labels={"sensitivity": "confidential"},
    )
    photos = put(
        world,
        "Bridges:Project Lintel/Register/Photo log",
        "lukas.brandt",
        "08-05",
        "412 pictures",
        labels={"sensitivity": "public"},
    )
    propose(
        world,
        register,
        "zofia.baran",
        ["writer"],
        "I only want to read it for my rotation.",
        "11-10 09:12",
        to="priya.raman",
    )
    propose(
        world, register, "samuel.osei", ["writer"], "I add the tunnel risks, six rows.", "11-11 08:40", to="priya.raman"
    )
    propose(
        world, costs, PETER, ["reader"], "Northgate needs it for the steering group.", "11-12 15:02", to="priya.raman"
    )
    propose(
        world,
        costs,
        "viktor.novak",
        ["commenter"],
        "For remarks on the fee, as agreed.",
        "11-12 16:20",
        to="priya.raman",
    )
    propose(
        world,
        photos,
        MONA,
        ["writer"],
        "We'd comment on which pictures show the marks.",
        "11-13 10:31",
        to="priya.raman",
    )
    propose(
        world,
        photos,
        "tariq.aziz",
        ["reader"],
        "For the graduate evening.",
        "11-02 10:00",
        to="priya.raman",
        status="approved",
    )
    share(world, photos, "tariq.aziz", "reader", "11-02 15:00")
    model = put(world, "@samuel.osei:Models/Shaft model", "samuel.osei", "09-01", "mesh, loads, springs")
    drainage = put(
        world,
        "@samuel.osei:Models/Drainage model",
        "samuel.osei",
        "09-02",
        "three sumps",
        labels={"sensitivity": "restricted"},
    )
    propose(
        world,
        model,
        "chiara.conti",
        ["writer", "reader"],
        "Please let me change the springs, we talked about it.",
        "11-09 11:00",
        to="samuel.osei",
    )
    propose(
        world,
        model,
        "elif.kaya",
        ["commenter"],
        "A look is enough, I'd not write anything.",
        "11-09 12:00",
        to="samuel.osei",
    )
    propose(world, drainage, JUN, ["commenter"], "Calderrail checks the sumps.", "11-11 12:00", to="samuel.osei")
    propose(world, drainage, "henrik.dahl", ["writer"], "I correct sump two.", "11-12 07:55", to="samuel.osei")
    propose(
        world,
        drainage,
        "tariq.aziz",
        ["reader"],
        "For my presentation.",
        "10-12 07:55",
        to="samuel.osei",
        status="denied",
    )


def _review(world: World) -> None:
    method = put(
        world,
        "Tenders:Live/Northgate footbridge/Method statement",
        "joanna.prentice",
        "10-19",
        "1. Survey. 2. Piling from the river. 3. Lift in one night.",
    )
    remark(
        world,
        method,
        "yusuf.demir",
        "10-21",
        "Piling from the river needs a licence. State it.",
        ("joanna.prentice", "Added in section 2, could you look again?"),
    )
    remark(
        world,
        method,
        "marta.kowal",
        "10-22",
        "Who is the lifting supervisor? I'd name Lukas...",
        ("joanna.prentice", "I'll ask him."),
        ("lukas.brandt", "fine by me"),
    )
    remark(world, method, "viktor.novak", "10-23", "Night lift costs 18,000. Not in the fee.")
    remark(world, method, "joanna.prentice", "10-26", "Note to self: call Peter Lowell, he dislikes the night lift")
    remark(world, method, "aoife.brennan", "10-27", "Lovely! Section 3 could mention the swans :)")
    team = put(
        world,
        "Tenders:Live/Northgate footbridge/Team page",
        "joanna.prentice",
        "10-20",
        "Lead: Yusuf Demir. Lifting: to be named. Planning: Aoife Brennan.",
    )
    remark(world, team, "viktor.novak", "10-28", "Gregor is gone. Remove him from the list.")
    remark(
        world,
        team,
        "joanna.prentice",
        "10-29",
        "Lidia Petrova's CV is still linked here, replace it by Chiara Conti's",
        ("joanna.prentice", "CV asked for on the 29th"),
    )
    put(world, "Tenders:Live/Northgate footbridge/Programme.xlsx", "joanna.prentice", "10-22")


def _templates(world: World) -> None:
    for name, text in (
        ("Cover letter", "Dear [client], we are pleased to submit ..."),
        ("Method statement", "1. Scope 2. Method 3. Risks"),
        ("Team page", "Lead: [name]. Checker: [name]."), ("#Fee sheet", "grade,days,rate"),
    ):  # fmt: skip
        put(
            world,
            f"Tenders:Templates/{name}",
            "joanna.prentice",
            "2025-01-15",
            text,
            labels={"owner_team": "Tender office"},
        )
    put(world, "Tenders:Templates/Retired/Cover letter", "edwin.tuller", "2024-03-01", "To whom it may concern ...")
    put(world, "Tenders:Briefs/Calderrail depot brief.pdf", "viktor.novak", "11-05")
    put(world, "Tenders:Briefs/Northgate weir brief.pdf", "viktor.novak", "11-06")
    for name in ("Welcome page", "First week", "Site safety card.pdf"):
        put(
            world,
            f"Graduate scheme:Kit/{name}",
            "miriam.adler",
            "2025-02-10",
            "" if "." in name else f"{name} for graduates",
        )
    for name, year in (
        ("Rotation report Baran", "2026"),
        ("Rotation report Aziz", "2026"),
        ("Rotation report Quist", "2025"),
    ):
        put(
            world,
            f"Graduate scheme:Inbox/{name}",
            "kenji.mori",
            f"{year}-09-01",
            "Four months, three sites.",
            labels={"document_type": "report"},
        )
    folder(world, "Graduate scheme:Reports 2026", "miriam.adler", "01-12")
    folder(world, "Graduate scheme:Reports 2025", "miriam.adler", "2025-01-13")


def _revisions(world: World) -> None:
    report = put(
        world,
        "Bridges:Project Halyard/Issued/Load assessment",
        "marta.kowal",
        "05-11",
        "Rating 30 t.",
        labels={"document_type": "report"},
    )
    for day, by, text, keep in (
        ("05-18", "marta.kowal", "Rating 32 t, checked by Lukas.", True),
        ("06-02", "lukas.brandt", "Rating 38 t, draft.", False),
        ("06-09", "marta.kowal", "Rating 36 t, checked by Priya.", False),
        ("07-01", "priya.raman", "Rating 36 t, issued to Northgate.", False),
    ):  # fmt: skip
        revise(world, report, by, day, text, keep_forever=keep)
    guide = put(
        world,
        "Handbook:Public/Visitor guide",
        "kenji.mori",
        "2025-04-01",
        "Sign in at the desk. Wear boots.",
        labels={"sensitivity": "public"},
    )
    for revision in world.revisions(guide):
        revision.published, revision.published_link = True, f"https://docs.google.com/d/{guide.id}/pub"
    revise(world, guide, "miriam.adler", "02-02", "Sign in at the desk. Wear boots and a helmet.")
    revise(world, guide, "kenji.mori", "06-15", "Sign in with the tablet. Boots, helmet, vest.")
    salary = put(
        world,
        "Handbook:Public/Pay bands",
        "miriam.adler",
        "2025-04-02",
        "Bands A to E.",
        labels={"sensitivity": "internal"},
    )
    for revision in world.revisions(salary):
        revision.published, revision.published_link = True, f"https://docs.google.com/d/{salary.id}/pub"
    revise(world, salary, "miriam.adler", "03-02", "Bands A to F.")
    inventory = put(world, "@elif.kaya:Stock/Resin stock.csv", "elif.kaya", "07-06", "tins\n40")
    for number in range(4):
        revise(world, inventory, "elif.kaya", f"0{8 + number // 2}-{10 + number}", f"tins\n{38 - 5 * number}")
    held = put(world, "@elif.kaya:Stock/Blast log.csv", "elif.kaya", "07-07", "kg\n12", labels={"legal_hold": True})
    revise(world, held, "elif.kaya", "07-09", "kg\n14")


def _press(world: World) -> None:
    for name, text, who in (
        ("Opening of the footbridge.png", "", "find:anyone"), ("Fact sheet footbridge.pdf", "", "anyone"),
        ("Interview notes", "Peter Lowell said that the weir is next. Off the record.", "anyone"),
        ("Programme of the opening", "10:00 ribbon, 10:30 cake", "find:anyone"),
    ):  # fmt: skip
        role = "writer" if name.startswith("Programme") else "reader"
        put(
            world,
            f"Studio:Press/{name}",
            "dario.greco",
            "09-21",
            text,
            shared={who: role},
            labels={"sensitivity": "internal" if name.startswith("Interview") else "public"},
        )
    put(world, "Studio:Press/Logo pack.zip", "joanna.prentice", "09-22")


def _claim(world: World) -> None:
    for name, by, level in (
        ("Letter before action.pdf", "ingrid.solberg", "restricted"),
        ("Timeline of delays", "tomasz.wilk", "confidential"),
        ("Witness list", "tomasz.wilk", "restricted"),
    ):  # fmt: skip
        put(
            world,
            f"Legal:Calderrail claim/{name}",
            by,
            "09-07",
            "" if "." in name else f"{name}, draft of {by[:6]}",
            labels={"sensitivity": level, "legal_hold": True},
        )
    for name, hold in (("Delay notice 1.pdf", True), ("Delay notice 2.pdf", False), ("Delay notice 3.pdf", True)):
        put(
            world,
            f"Tunnels:Project Stollen/Notices/{name}",
            "henrik.dahl",
            "03-16",
            labels={"document_type": "report"} | ({"legal_hold": True} if hold else {}),
        )
    put(world, "Tunnels:Project Stollen/Notices/Weather diary", "elif.kaya", "03-17", "rain, rain, wind, rain")
    put(
        world,
        "Tunnels:Project Stollen/Shift books/Book March",
        "samuel.osei",
        "04-01",
        "night shift short of two",
        labels={"retention_until": "2030-03-31"},
    )
    put(
        world,
        "Tunnels:Project Stollen/Shift books/Book April",
        "samuel.osei",
        "05-01",
        "full shifts",
        labels={"retention_until": "2030-04-30"},
    )
    folder(world, "Tunnels:Project Stollen/Closed", "henrik.dahl", "06-01")


def _inheritance(world: World) -> None:
    top = folder(world, "@henrik.dahl:Lessons", "henrik.dahl", "2025-10-06")
    assert top is not None
    share(world, top, "group:graduates", "reader", "2025-10-06")
    share(world, top, MONA, "reader", "2025-10-07")
    put(
        world,
        "@henrik.dahl:Lessons/Tunnels/Face collapse 2012",
        "henrik.dahl",
        "2025-10-08",
        "What we learned.",
        shared={"zofia.baran": "commenter"},
    )
    put(
        world,
        "@henrik.dahl:Lessons/Tunnels/Near miss shaft two",
        "henrik.dahl",
        "2025-10-09",
        "Names inside.",
        labels={"sensitivity": "confidential"},
    )
    put(world, "@henrik.dahl:Lessons/Slides/^Talk for graduates", "henrik.dahl", "2025-10-10", "Ten slides")
    put(
        world,
        "@henrik.dahl:Appraisals/Appraisal notes 2026",
        "henrik.dahl",
        "11-02",
        "Elif, Samuel, Chiara",
        labels={"sensitivity": "restricted"},
    )
    put(world, "@henrik.dahl:Appraisals/Training wishes", "henrik.dahl", "11-03", "rope access, English")
    put(
        world,
        "@chiara.conti:Handouts/Grouting basics",
        "chiara.conti",
        "2025-11-03",
        "pressure, volume, patience",
        shared={"tariq.aziz": "reader", "zofia.baran": "writer", "group:graduates": "commenter"},
    )
    put(
        world,
        "@chiara.conti:Handouts/Segment lining",
        "chiara.conti",
        "2025-11-04",
        "rings and bolts",
        shared={"tariq.aziz": "writer"},
    )


def _spaces(world: World) -> None:
    put(world, "Old intranet:Canteen/Menu week 12", "kenji.mori", "2024-03-18", "soup", trashed="2025-01-10")
    put(world, "Old intranet:Canteen/Menu week 13", "kenji.mori", "2024-03-25", "stew", trashed="2025-01-10")
    put(world, "Survey archive:2018/Level run.csv", "oskar.lindqvist", "2024-07-01", "point,m", trashed="10-12")
    put(world, "Studio:Brand/Title picture.png", "dario.greco", "2025-05-05")
    put(world, "Studio:Brand/Title picture autumn.png", "dario.greco", "09-05")
