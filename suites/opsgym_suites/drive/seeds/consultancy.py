"""The engineering consultancy of the seed `consultancy`: who works there, and which files everyday work leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from opsgym_suites.drive.seeds.description import Company, Everyday, Member, Space, Team

PEOPLE: Sequence[Member] = (
    Member("oskar.lindqvist", "Oskar Lindqvist", 1),
    Member("nadia.rahimi", "Nadia Rahimi", 0),
    Member("ingrid.solberg", "Ingrid Solberg", 0),
    Member("tomasz.wilk", "Tomasz Wilk", 2),
    Member("beatriz.fonseca", "Beatriz Fonseca", 3),
    Member("callum.reid", "Callum Reid", 1),
    Member("marta.kovacs", "Marta Kovacs", 0),
    Member("yusuf.demir", "Yusuf Demir", 2),
    Member("marta.kowal", "Marta Kowal", 3),
    Member("priya.raman", "Priya Raman", 0),
    Member("lukas.brandt", "Lukas Brandt", 1),
    Member("aoife.brennan", "Aoife Brennan", 3),
    Member("henrik.dahl", "Henrik Dahl", 2),
    Member("chiara.conti", "Chiara Conti", 3),
    Member("samuel.osei", "Samuel Osei", 0),
    Member("elif.kaya", "Elif Kaya", 1),
    Member("viktor.novak", "Viktor Novak", 2),
    Member("joanna.prentice", "Joanna Prentice", 0),
    Member("miriam.adler", "Miriam Adler", 0),
    Member("dario.greco", "Dario Greco", 1),
    Member("zofia.baran", "Zofia Baran", 3),
    Member("tariq.aziz", "Tariq Aziz", 1),
    Member("kenji.mori", "Kenji Mori", 2),
    Member("annika.falk", "Annika Falk", 2),
    Member("gregor.haas", "Gregor Haas", 2, active=False),
    Member("lidia.petrova", "Lidia Petrova", 0, active=False),
    Member("edwin.tuller", "Edwin Tuller", 3, active=False),
)
OUTSIDERS: Sequence[Member] = (
    Member("peter.lowell@northgate.example", "Peter Lowell"),
    Member("sylvie.ferrand@calderrail.example", "Sylvie Ferrand"),
    Member("jun.ito@calderrail.example", "Jun Ito"),
    Member("mona.abbas@ostrasurvey.example", "Mona Abbas"),
)
PETER, SYLVIE, JUN, MONA = (one.address for one in OUTSIDERS)
HUGO = "hugo.leclerc@ostrasurvey.example"
"""Someone outside who has no account."""

BRIDGES = ("yusuf.demir", "marta.kowal", "priya.raman", "lukas.brandt", "aoife.brennan", "gregor.haas")
TUNNELS = ("henrik.dahl", "chiara.conti", "samuel.osei", "elif.kaya", "lidia.petrova")
TEAMS: Sequence[Team] = (
    Team("drive-admins", "Drive administrators", ("oskar.lindqvist", "nadia.rahimi")),
    Team("legal", "Legal", ("ingrid.solberg", "tomasz.wilk")),
    Team("finance", "Finance", ("beatriz.fonseca", "callum.reid", "marta.kovacs")),
    Team("bridges", "Bridge engineers", BRIDGES),
    Team("tunnels", "Tunnel engineers", TUNNELS),
    Team("tenders", "Tender office", ("viktor.novak", "joanna.prentice", "edwin.tuller")),
    Team("graduates", "Graduates", ("zofia.baran", "tariq.aziz")),
    Team("board", "Board", ("annika.falk", "viktor.novak", "beatriz.fonseca")),
    Team("all-staff", "All staff", tuple(one.address for one in PEOPLE if one.active)),
)

SPACES: Sequence[Space] = (
    Space("Bridges", {"yusuf.demir": "organizer", "group:bridges": "writer", "priya.raman": "fileOrganizer",
                      "henrik.dahl": "reader", "gregor.haas": "writer", "lukas.brandt": "writer"}),
    Space("Tunnels", {"henrik.dahl": "organizer", "group:tunnels": "writer", "chiara.conti": "fileOrganizer",
                      "zofia.baran": "commenter", "lidia.petrova": "fileOrganizer"}),
    Space("Tenders", {"viktor.novak": "organizer", "joanna.prentice": "fileOrganizer", "group:tenders": "writer",
                      "group:bridges": "commenter", "annika.falk": "reader"}),
    Space("Finance", {"beatriz.fonseca": "organizer", "group:finance": "writer", "annika.falk": "reader"},
          {"domain_users_only": True}),
    Space("Legal", {"ingrid.solberg": "organizer", "group:legal": "fileOrganizer"}, {"drive_members_only": True}),
    Space("Studio", {"dario.greco": "organizer", "domain": "reader", "joanna.prentice": "writer"}),
    Space("Graduate scheme", {"miriam.adler": "organizer", "kenji.mori": "writer", "group:graduates": "commenter"}),
    Space("Handbook", {"kenji.mori": "organizer", "miriam.adler": "writer", "group:all-staff": "reader"}),
    Space("Old intranet", {"oskar.lindqvist": "organizer", "group:all-staff": "reader"}, {"hidden": True}),
    Space("Survey archive", {"oskar.lindqvist": "organizer"}),
)  # fmt: skip

_MINUTES, _REPORT, _FORM = {"document_type": "minutes"}, {"document_type": "report"}, {"document_type": "form"}
_DRAWING = {"document_type": "drawing", "sensitivity": "internal"}
EVERYDAY: Sequence[Everyday] = (
    Everyday("Bridges:{bridge}/Minutes", "Site meeting {number}",
             "Present: {me}, {to}. Scaffolding at {spot} stays two weeks. Next meeting {day}, ten sharp.", _MINUTES),
    Everyday("Bridges:{bridge}/Drawings/{sheet}", "{sheet} detail {number} rev {letter}.dwg", "", _DRAWING),
    Everyday("Bridges:{bridge}/Reports", "Inspection of {spot}, {month} {year}.pdf", "", _REPORT),
    Everyday("Bridges:{bridge}/Calculations", "#Bearing loads {number}",
             "span,load\n1,{number}0\n2,{number}5\nchecked by {to}; {me} to confirm {spot}"),
    Everyday("Tunnels:{tunnel}/Minutes", "Shift handover {number}",
             "hi all, {spot}: grouting done, two anchors to redo. {to} orders the resin. {day} is the blast, keep out.",
             _MINUTES),
    Everyday("Tunnels:{tunnel}/Monitoring/{month} {year}", "Convergence array {number}.csv",
             "date,mm\n01,{number}\n15,{number}"),
    Everyday("Tunnels:{tunnel}/Reports", "Ventilation note {number}",
             "To {to}. The fan curve at {spot} is fine on paper. I would measure it on {day} before we sign. {me}",
             _REPORT),
    Everyday("Tunnels:{tunnel}/Drawings", "Lining section {number} rev {letter}.dwg", "", _DRAWING),
    Everyday("Tenders:Bids/{client} {year}", "Question {number} and answer",
             "Q: who checks {spot}? A: {to}, chartered, eleven years with us. Draft by {me}; numbers from finance."),
    Everyday("Tenders:Bids/{client} {year}", "#Fee build-up {number}", "grade,days\nlead,{number}\nsenior,{number}",
             {"sensitivity": "internal"}),
    Everyday("Finance:Purchase orders/{year}", "Order {number} {client}.pdf", "", {"document_type": "invoice"}),
    Everyday("Finance:Months/{year}", "#Work in progress {month}",
             "project,value\n{bridge},{number}000\n{tunnel},{number}500\nBeatriz closes the month on {day}."),
    Everyday("Studio:Pictures/{year}", "{spot} at dawn {number}.png", ""),
    Everyday("Studio:Texts", "Post about {spot} {number}",
             "Proud of the crew at {spot}! {me} took the picture, {to} stood in the rain."),
    Everyday("Handbook:Office", "How we {chore} ({number})",
             "1. Ask {to}. 2. Do it the same day. 3. Write down what changed. Kept by {me}."),
    Everyday("Graduate scheme:Rotations/{year}", "Plan {number} for {spot}",
             "Four months with {to}, then tunnels. One site day a week. Feedback to Miriam.", _FORM),
    Everyday("@me:Notes", "Notes {day} {number}",
             "call {to} about {spot}; expenses; ask whether the drawing register is still ours"),
    Everyday("@me:Expenses {year}", "Receipt {client} {number}.pdf", "", {"document_type": "invoice"}),
    Everyday("@me:Sketches", "Idea for {spot} {number}", "what if the {spot} were lighter? {me}, on the train"),
)  # fmt: skip
SLOTS: Mapping[str, Sequence[str]] = {
    "bridge": ("Project Halyard", "Project Corbel", "Project Lintel"),
    "tunnel": ("Project Bourdon", "Project Stollen"),
    "spot": ("the north pier", "the east abutment", "the footbridge", "shaft two", "the portal", "the cable saddle"),
    "client": ("Northgate", "Calderrail", "Ostrasurvey"),
    "sheet": ("Deck", "Pier", "Bearing"),
    "letter": ("A", "B", "C", "D"),
    "day": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday"),
    "chore": ("order stationery", "book the site car", "archive a project", "number drawings", "welcome visitors"),
}
REMARKS: Sequence[Sequence[str]] = (
    ("Could we state the source of this figure, please? Thanks, it would help the checker.",
     "I have read it twice and agree with the conclusion on {spot}.",
     "Please see my note on {spot}; I may well be wrong."),
    ("fine by me", "typo in line 3, otherwise ok", "who owns {spot} now?", "lgtm, ship it"),
    ("This is not what we agreed. {spot} was out of scope.", "Correct. Close it.", "Dates missing. Again."),
    ("Lovely clear page! Only {spot} puzzles me a little...", "Thank you, so much better than last time!",
     "I'd be careful with {spot}, we burnt our fingers there once."),
)  # fmt: skip
CONSULTANCY = Company(
    host="brannock.example",
    people=PEOPLE,
    outsiders=OUTSIDERS,
    teams=TEAMS,
    spaces=SPACES,
    everyday=EVERYDAY,
    slots=SLOTS,
    remarks=REMARKS,
    files=260,
    founded=datetime(2024, 2, 5, 8, 0),  # noqa: DTZ001 - tables keep UTC without a zone
    keys="brannock",
)
