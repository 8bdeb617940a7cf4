"""The files of the company: its shared drives, what people own, and who has which role.

`FenmoorWorld` finds what tasks turn on by name: `document` (of `drive_files`, by its key), `account` (by HR's name),
`members` of a group, and the look-ups of every world of Drive (`file`, `drive`, `member`, `permission`).

What disagrees with the other systems, beyond the names and addresses of the cast:

- People who have left own files (`keys`, `certificates`, `bendigo-renewal`, `discounts`), are the only organizer of a
  shared drive (Blum of PumpWatch, Grady of Site technicians), file organizer (Fitch of Contracts), administrator of
  Drive (Grady), and manager of a group (Blum of engineering). Blum's account is open, those of the others are deleted.
- Groups differ from HR's managers and sites: engineering has Zielin and lacks Stark, Vaughan and Whitcombe; the
  customer desk has Castle, who is in sales; sales lacks her; the London house has Castellan and Beale, who have moved;
  the relations circle has Onslow, whom HR's does not have.
- Castle is still a writer of Contracts and of `rota`; Amato, on leave, still owns the quotes that mail says are
  Tully's.
- Shared with former colleagues and outsiders: `price-list` and `discounts` with Fitch's private address,
  `gateway-notice` and `bendigo-renewal` with contacts of customers as writers (rule SHR-3 allows commenters, SHR-2
  no one on confidential files), `ashdown-renewal` on a drive that is for the company's users only.
- `charts-article` is open to everybody with the link, while customer service keeps the article internal;
  `hudson-prices` has no label, so Drive lets it out, while mail says that it is confidential; `grievance` is readable
  by all of HR on this drive, while HR shows the case to two.
- Dates: `leavers` has another last day of Blum than HR, `absences` another day of Pinto than the calendar, `speakers`
  and `quay-plan` count on people who are away, `hudson-visit` is on the day of jury duty.
- Requests that another system decides: `REQUESTS`.
"""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from opsgym_domains.drive.tables import File, GroupMembership, User
from opsgym_suites.drive.seeds.description import Company, Everyday, Member, Space, Team
from opsgym_suites.drive.seeds.routine import Routine, finish
from opsgym_suites.drive.seeds.rows import add_people, propose, put, remark
from opsgym_suites.drive.seeds.world import World
from opsgym_suites.hybrid.cast import DOMAIN, PEOPLE, accounts, person
from opsgym_suites.hybrid.seeds.drive_files import DOCUMENTS, REMARKS, REQUESTS, Document
from opsgym_suites.hybrid.seeds.records import contacts, filled
from opsgym_suites.kit.world import NOW


def _local(name: str) -> str:
    """The address of a person of the cast before the host."""
    return person(name).address_in("drive").partition("@")[0]


def _who(who: str) -> str:
    """A grantee or author as the kit of Drive takes it."""
    if who.startswith("@"):
        return contacts()[who[1:]].address
    return who if "@" in who or who.startswith("group:") or who in ("anyone", "domain") else _local(who)


def _team(address: str, name: str, *members: str) -> Team:
    return Team(address, name, tuple(map(_local, members)))


CUSTOMER_DESK = tuple(one.name for one in PEOPLE if "csm" in one.roles and one.name != "Lorne Fitch")
TEAMS = (
    _team("drive-admins", "Drive administrators", "Osric Bellamy", "Sefton Grady"),
    _team("legal", "Legal", "Duncan Iredale", "Honora Quill"),
    _team("people", "People", *(one.name for one in PEOPLE if one.position == "HR"), "Aurelio Banks"),
    _team("relations-circle", "Relations circle", "Aurelio Banks", "Hamish Corrie", "Casper Onslow"),
    _team("service-desk", "Service desk", *(one.name for one in PEOPLE if "itsm" in one.roles)),
    _team("customer-desk", "Customer desk", *CUSTOMER_DESK, "Juno Castle"),
    _team("engineering", "Engineering", "Dorothea Blum", "Jocasta Finn", "Anselm Pryor", "Beatrix Lowell",
        "Caspian Rowe", "Piotr Zielin"),
    _team("sales", "Sales", "Magnus Orrin", "Giselle Amato", "Horatio Beale", "Ingram Tully", "Kester Dunne"),
    _team("london-house", "London house", "Lavender Crewe", "Nell Whitcombe", "Kester Dunne", "Ruben Castellan",
        "Horatio Beale"),
    _team("all-staff", "All staff", *(one.name for one in PEOPLE if one.active_in("drive"))),
)  # fmt: skip
SPACES = (
    Space("Incidents", {_local("Sunniva Hale"): "organizer", "group:service-desk": "writer",
        _local("Tobiah Mercer"): "reader", _local("Venetia Croft"): "commenter"}),
    Space("PumpWatch", {_local("Dorothea Blum"): "organizer", "group:engineering": "writer",
        _local("Wendell Achebe"): "reader"}),
    Space("Contracts", {_local("Duncan Iredale"): "organizer", "group:customer-desk": "writer",
        _local("Lorne Fitch"): "fileOrganizer", _local("Juno Castle"): "writer"}, {"domain_users_only": True}),
    Space("Customers", {_local("Tobiah Mercer"): "organizer", "group:customer-desk": "writer",
        "group:sales": "commenter"}),
    Space("People", {_local("Aurelio Banks"): "organizer", "group:people": "writer"}, {"drive_members_only": True}),
    Space("Sales", {_local("Marguerite Sloane"): "organizer", "group:sales": "writer",
        _local("Giselle Amato"): "fileOrganizer"}),
    Space("Stores", {_local("Magnus Orrin"): "organizer", _local("Duncan Iredale"): "writer"}),
    Space("Site technicians", {_local("Sefton Grady"): "organizer", "group:service-desk": "writer"}),
    Space("Handbook", {_local("Lavender Crewe"): "organizer", _local("Nell Whitcombe"): "writer",
        "group:all-staff": "reader"}),
)  # fmt: skip
EVERYDAY = (
    Everyday(
        "Incidents:Reviews/{year}",
        "Review {month} {number}",
        "{count} incidents, {number} of them at {place}. {to} opens a problem, {me} writes to the site.",
    ),
    Everyday(
        "PumpWatch:Tests/{year}",
        "Test of build {number}",
        "{to} found {count} faults in {part}. {me} tests again on {day}.",
        {"document_type": "report"},
    ),
    Everyday("PumpWatch:Charts", "#Load {month} {number}", "hour,values\n06,{number}0\n12,{number}4"),
    Everyday("Contracts:Letters/{year}", "Letter {number}.pdf", labels={"document_type": "contract"}),
    Everyday(
        "Customers:Visits/{year}",
        "Visit {number} at {place}",
        "{me} and {to}: {part} replaced, customer content. Next visit on a {day}.",
    ),
    Everyday("Customers:Pictures/{year}", "{part} {number}.png"),
    Everyday("People:Forms", "Form {number} {month}", "To be signed by {to}. {me}", {"document_type": "form"}),
    Everyday("Sales:Quotes/{year}", "#Quote {number}", "item,count\n{part},{count}"),
    Everyday("Stores:Deliveries/{year}", "Delivery {number}.pdf", labels={"document_type": "invoice"}),
    Everyday("Site technicians:Checks/{place}", "Check {number} {month}", "{count} cabinets, all closed. {me}"),
    Everyday("Handbook:House", "How we {chore} ({number})", "1. Ask {to}. 2. Write it down. Kept by {me}."),
    Everyday("@me:Notes", "Notes {day} {number}", "call {to}; {part} for {place}; expenses"),
    Everyday("@me:Expenses {year}", "Receipt {number}.pdf"),
)


def _company() -> Company:
    people = [
        Member(_local(one.name), one.name_in("drive"), number % 3, active=one.active_in("drive"))
        for number, one in enumerate(PEOPLE)
    ]
    outsiders = {one.address: one.name for one in contacts().values()}
    return Company(
        host=DOMAIN,
        people=people,
        outsiders=[Member(address, name) for address, name in outsiders.items()],
        teams=TEAMS,
        spaces=SPACES,
        everyday=EVERYDAY,
        slots={
            "place": ("the test hall", "the quay", "the third floor", "the store"),
            "part": ("inlet", "starter", "meter", "panel"),
            "day": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday"),
            "count": ("2", "3", "5", "8"),
            "chore": ("order parts", "book the van", "label cables", "greet visitors"),
        },
        remarks=(
            ("Thank you, could you add the date?", "Read and agreed."),
            ("fine", "who checks the {part}?"),
            ("This differs from the last one. Why?", "Please see {place}."),
        ),
        files=130,
        founded=datetime(2025, 3, 3, 8, 0),  # noqa: DTZ001 - tables keep UTC without a zone
        keys="fenmoor",
    )


class FenmoorWorld(World):
    """The company's files, on a Monday in November."""

    company: ClassVar[Company] = _company()
    now = NOW

    def document(self, key: str) -> File:
        """A file of `drive_files` by its key.

        Raises:
            LookupError: No file has the key.
        """
        return self.fixture(File, key)

    def account(self, name: str) -> User:
        """The user of a person by HR's name.

        Raises:
            LookupError: No one at the company has the name.
        """
        return self.one(User, email=person(name).address_in("drive"))

    def members(self, group: str) -> list[User]:
        """The members of a group by the group's address before the host; the first one manages it."""
        links = self.all(GroupMembership, group_id=self.group(group).id)
        return [self.one(User, id=link.user_id) for link in links]


def _path(path: str) -> str:
    """A path as the kit takes it: the owner of files outside shared drives by address."""
    place, _, rest = filled(path).partition(":")
    return f"@{_local(place[1:])}:{rest}" if place.startswith("@") else f"{place}:{rest}"


def _add_document(world: FenmoorWorld, one: Document) -> None:
    shared = {_who(who): role for who, role in one.shared.items()}
    file = put(
        world, _path(one.path), _local(one.by), one.when, filled(one.text), labels=one.labels, shared=shared
    )  # fmt: skip
    world.register(one.key, file)


def drive_world() -> FenmoorWorld:
    """The rows of Drive, with the names and addresses that this system has."""
    world = FenmoorWorld()
    add_people(world)
    Routine(world).add()
    for one in DOCUMENTS:
        _add_document(world, one)
    for request in REQUESTS:
        document, to = world.document(request.document), _who(request.to)
        propose(world, document, _who(request.who), [request.role], request.message, request.when, to=to)
    for key, author, when, text, replies in REMARKS:
        answers = [(_who(name), words) for name, words in replies]
        remark(world, world.document(key), _who(author), when, text, *answers)
    finish(world)
    for member in accounts("drive"):
        if (address := member.address_in("drive")) != (before := world.address(_local(member.name))):
            world.change(world.user(before), email=address)
    return world
