"""The foundation of the seed `foundation`: who works there, and which files everyday work leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from opsgym_suites.drive.seeds.description import Company, Everyday, Member, Space, Team

PEOPLE: Sequence[Member] = (
    Member("ruben.salas", "Ruben Salas", 1),
    Member("hanne.moller", "Hanne Moller", 0),
    Member("esther.okafor", "Esther Okafor", 0),
    Member("paolo.ricci", "Paolo Ricci", 3),
    Member("amina.diallo", "Amina Diallo", 2),
    Member("florian.weiss", "Florian Weiss", 1),
    Member("lucia.marin", "Lucia Marin", 3),
    Member("dmitri.orlov", "Dmitri Orlov", 2),
    Member("soledad.rivas", "Soledad Rivas", 0),
    Member("kofi.mensah", "Kofi Mensah", 3),
    Member("birgit.lund", "Birgit Lund", 2),
    Member("arjun.patel", "Arjun Patel", 1),
    Member("celine.moreau", "Celine Moreau", 0),
    Member("patrick.doyle", "Patrick Doyle", 1),
    Member("noemi.toth", "Noemi Toth", 3),
    Member("stefan.kruger", "Stefan Kruger", 2),
    Member("olivia.hartmann", "Olivia Hartmann", 0),
    Member("margaret.ainsley", "Margaret Ainsley", 2),
    Member("jerome.fabre", "Jerome Fabre", 3),
    Member("daniela.costa", "Daniela Costa", 0),
    Member("leila.haddad", "Leila Haddad", 3),
    Member("emil.svensson", "Emil Svensson", 1),
    Member("rosalind.peck", "Rosalind Peck", 0, active=False),
    Member("matteo.galli", "Matteo Galli", 3, active=False),
    Member("thandi.nkosi", "Thandi Nkosi", 2, active=False),
)
OUTSIDERS: Sequence[Member] = (
    Member("carla.moniz@escolaviva.example", "Carla Moniz"),
    Member("ravi.nair@riverschool.example", "Ravi Nair"),
    Member("sabine.koch@koldeweyaudit.example", "Sabine Koch"),
    Member("anton.berger@lindenbank.example", "Anton Berger"),
)
CARLA, RAVI, SABINE, ANTON = (one.address for one in OUTSIDERS)
WANDA = "wanda.pryce@tidenews.example"
"""Someone outside who has no account."""

TEAMS: Sequence[Team] = (
    Team("drive-admins", "Drive administrators", ("ruben.salas", "hanne.moller")),
    Team("legal", "Legal", ("esther.okafor", "paolo.ricci")),
    Team("grants", "Grants", ("amina.diallo", "florian.weiss", "lucia.marin", "dmitri.orlov", "rosalind.peck")),
    Team("programmes", "Programmes", ("soledad.rivas", "kofi.mensah", "birgit.lund", "arjun.patel", "matteo.galli")),
    Team("finance", "Finance", ("celine.moreau", "patrick.doyle")),
    Team("communications", "Communications", ("noemi.toth", "stefan.kruger")),
    Team("trustees", "Trustees", ("margaret.ainsley", "jerome.fabre", "daniela.costa")),
    Team("volunteers", "Volunteers", ("leila.haddad", "emil.svensson")),
    Team("everyone", "Everyone", tuple(one.address for one in PEOPLE if one.active)),
)

SPACES: Sequence[Space] = (
    Space("Grants", {"amina.diallo": "organizer", "group:grants": "writer", "lucia.marin": "fileOrganizer",
                     "celine.moreau": "reader", "rosalind.peck": "writer"}, {"domain_users_only": True}),
    Space("Programmes", {"soledad.rivas": "organizer", "group:programmes": "writer", "kofi.mensah": "fileOrganizer",
                         "noemi.toth": "commenter", "matteo.galli": "fileOrganizer"}),
    Space("Scholarships", {"thandi.nkosi": "organizer", "birgit.lund": "fileOrganizer", "arjun.patel": "writer",
                           "group:trustees": "reader"}),
    Space("Ledger", {"celine.moreau": "organizer", "group:finance": "writer", "daniela.costa": "reader"},
          {"domain_users_only": True, "copy_requires_writer_permission": True}),
    Space("Trustees", {"daniela.costa": "organizer", "group:trustees": "writer", "esther.okafor": "reader"},
          {"drive_members_only": True}),
    Space("Press room", {"noemi.toth": "organizer", "stefan.kruger": "fileOrganizer", "domain": "reader"}),
    Space("Legal cases", {"esther.okafor": "organizer", "paolo.ricci": "fileOrganizer"}, {"drive_members_only": True}),
    Space("Volunteer desk", {"leila.haddad": "organizer", "emil.svensson": "organizer", "group:volunteers": "writer"}),
    Space("House rules", {"olivia.hartmann": "organizer", "ruben.salas": "writer", "group:everyone": "reader"}),
    Space("Anniversary 2023", {"noemi.toth": "organizer", "group:everyone": "reader"}, {"hidden": True}),
)  # fmt: skip

_FORM, _MINUTES, _REPORT = {"document_type": "form"}, {"document_type": "minutes"}, {"document_type": "report"}
EVERYDAY: Sequence[Everyday] = (
    Everyday("Grants:Round {year}/{partner}", "Application {number}",
             "{partner} asks for help with {work}. Read by {me}, second reader {to}. Score {number} of 100.", _FORM),
    Everyday("Grants:Round {year}/{partner}", "#Budget check {number}", "item,eur\n{work},{number}00\ncheck: {to}",
             {"sensitivity": "internal"}),
    Everyday("Grants:Visits/{year}", "Visit to {partner}, {month} ({number})",
             "I saw {work} with my own eyes. Children laugh a lot there! {to} should go in spring. {me}", _REPORT),
    Everyday("Grants:Letters", "Decision letter {number} {partner}.pdf", "", {"document_type": "contract"}),
    Everyday("Programmes:{partner}/Minutes", "Call {number}",
             "on the line: {me}, {to}. {work} is late by two weeks. next call {day}. no one wrote minutes last time.",
             _MINUTES),
    Everyday("Programmes:{partner}/Reports", "Quarter report {number}.pdf", "", _REPORT),
    Everyday("Programmes:{partner}/Plans", "^Plan for {work} {number}", "Goal. Steps. Who. On {day}s. Kept by {me}."),
    Everyday("Scholarships:Cohort {year}", "Profile {number}", "Studies {subject}. Mentor: {to}, on {day}s.", _FORM),
    Everyday("Scholarships:Mentors", "Notes on mentoring {subject} {number}", "Short. Late twice. Bright. Tell {to}."),
    Everyday("Ledger:Vouchers {year}", "Voucher {number} {partner}.pdf", "", {"document_type": "invoice"}),
    Everyday("Ledger:Closings", "#Closing {month} {year}", "account,eur\n4400,{number}10\n1200,{number}55\n{me}"),
    Everyday("Trustees:Meetings/{year}", "Minutes {month} {number}",
             "The trustees heard {to} on {work} and resolved to come back to it. Signed: {me}.", _MINUTES),
    Everyday("Press room:Releases/{year}", "Release {number} {work}",
             "FOR RELEASE: {partner} opens {work}. Quote of {to} to follow. Ask Noemi for pictures."),
    Everyday("Press room:Pictures", "{partner} {work} {number}.png", ""),
    Everyday("Volunteer desk:Rotas/{month} {year}", "#Rota {number}", "day,who\n{day},{me}\nnext,{to}"),
    Everyday("House rules:Guides", "Guide {number}: {chore}", "1. Breathe. 2. Ask {to}. 3. Note it here. ({me})"),
    Everyday("@me:Notebook", "{day} notes {number}", "{partner}: {work}? ask {to}; buy biscuits for the meeting"),
    Everyday("@me:Travel {year}", "Ticket {partner} {number}.pdf", "", {"document_type": "invoice"}),
    Everyday("@me:Drafts", "Draft on {work} {number}", "First thoughts on {work}. {to} will hate it. {me}"),
)  # fmt: skip
SLOTS: Mapping[str, Sequence[str]] = {
    "partner": ("Escolaviva", "Riverschool", "Lindenbank"),
    "work": ("the reading room", "the school kitchen", "the evening course", "the well", "the bus", "the summer camp"),
    "subject": ("chemistry", "nursing", "law", "music", "physics", "teaching"),
    "day": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday"),
    "chore": ("booking rooms", "claiming travel", "posting parcels", "greeting guests", "sorting the archive"),
}
REMARKS: Sequence[Sequence[str]] = (
    ("Might we say this more kindly? They will read it.", "I checked {work} against the agreement; it fits.",
     "Thank you. One question: who decided on {work}?"),
    ("ok", "numbers dont add up", "pls date this", "seen, no objection to {work}"),
    ("No. Read the guideline.", "{work} needs two signatures. There is one.", "Agreed. File it."),
    ("How wonderful about {work}!", "I cried a little, do not tell Birgit", "Could we... no, leave it, it is fine!"),
)  # fmt: skip
FOUNDATION = Company(
    host="velmora.example",
    people=PEOPLE,
    outsiders=OUTSIDERS,
    teams=TEAMS,
    spaces=SPACES,
    everyday=EVERYDAY,
    slots=SLOTS,
    remarks=REMARKS,
    files=270,
    founded=datetime(2023, 9, 4, 7, 30),  # noqa: DTZ001 - tables keep UTC without a zone
    keys="velmora",
)
