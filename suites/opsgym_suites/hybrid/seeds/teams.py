"""The teams, channels, chats and events of the company.

`FenmoorWorld` finds what tasks turn on by name: `account` (by HR's name, or `@` and the key of a customer's case for a
guest), `room` (a channel as `Team:Channel`), `post_of` (a message of `teams_posts`, by its key), `owners`, `names` of a
team's members, and the look-ups of every world of Teams (`team`, `channel`, `tag`, `chat`, `chat_of`, `webinar`).

What disagrees with the other systems, beyond the names and sites of the cast:

- People who have left own teams: Blum alone PumpWatch, Grady alone Site Technicians and with Hale Major Incidents.
  Their accounts are enabled. Gow and Fitch, whose accounts are disabled, are still members of Customer Desk, Gow also
  of the private channel of the claim, and Fitch is invited to `Managers on pay`.
- Teams differ from HR's managers: Achebe is not a member of PumpWatch, whose people report to him, Zielin of IT is;
  Sales is owned by Orrin and not by Sloane; Achebe reads People, and Onslow the private channel Relations.
- Departments and houses: Castle is in the department and team of customer service, though HR has her in sales, and
  not in Sales; Vaughan is in the department IT; Castellan and Beale are in London House although they have moved, and
  Castellan is not in New York House.
- Guests: the contact of Kelder reads the team of incidents; that of Hudson is in the private channel Prices, about
  which mail is confidential.
- `New charts in PumpWatch` is presented by Pryor on a day of the calendar's conference; `Handing over well` has Blum
  as its organizer.
- Said and not done: `release-owner`, `castle-move`, `castellan-move`, `keys`, `leaver-grady`; said against another
  system: `hudson-visit`, `quay-opened`, `bendigo-silence`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from opsgym_domains.teams.memberships import members_of, owners_of
from opsgym_domains.teams.tables import Channel, ChannelMessage, Team, User
from opsgym_suites.hybrid.cast import COMPANY, DOMAIN, LONDON, NEW_YORK, PEOPLE, SYDNEY, Site, accounts, person
from opsgym_suites.hybrid.cast import Person as Member
from opsgym_suites.hybrid.seeds.records import contacts, filled
from opsgym_suites.hybrid.seeds.teams_posts import CHATS, SAID
from opsgym_suites.kit.world import NOW, at
from opsgym_suites.teams.seeds.description import (
    PRIVATE,
    ChannelPlan,
    ChatPlan,
    EventPlan,
    Organisation,
    Person,
    Post,
    TeamPlan,
)
from opsgym_suites.teams.seeds.generate import fill
from opsgym_suites.teams.seeds.world import World

GUESTS = {"kelder-charts": "Kelder Water", "hudson-start": "Hudson Reservoirs"}
"""Company of the contact of a customer's case, by the key of the case."""
DEPARTMENTS = {"HR": "People", "IT Support": "IT", "Administration": "Customer Service"}
"""Department by HR's position; the position itself if it has none."""
OTHER_DEPARTMENTS = {
    "Juno Castle": "Customer Service", "Emrys Vaughan": "IT", "Sunniva Hale": "IT", "Mirabel Stone": "IT",
    "Aurelio Banks": "People", "Tobiah Mercer": "Customer Service", "Linnea Storrs": "Customer Service",
    "Venetia Croft": "Customer Service", "Wendell Achebe": "Software Engineer", "Marguerite Sloane": "Sales",
    "Honora Quill": "Board", "Lavender Crewe": "Office", "Magnus Orrin": "Office", "Nell Whitcombe": "Office",
    "Orla Keating": "Office",
}  # fmt: skip
"""Departments that do not follow from HR's position; those of Castle and Vaughan are from before a move."""


def _key(who: str) -> str:
    """The address before the host of a person by HR's name, or of a guest by `@` and the key of the case."""
    name = contacts()[who[1:]].name if who.startswith("@") else person(who).name_in("teams")
    return name.lower().replace(" ", ".")


def _keys(*names: str) -> tuple[str, ...]:
    return tuple(map(_key, names))


def _at(*sites: Site, without: Sequence[str] = ()) -> tuple[str, ...]:
    """Names of the people who work at sites and have not left."""
    return tuple(one.name for one in PEOPLE if one.site in sites and one.left is None and one.name not in without)


def _team(
    name: str, text: str, owners: Sequence[str], members: Sequence[str], *channels: ChannelPlan, guests: Sequence[str]
    = (), apps: Sequence[str] = (), **more: object
) -> TeamPlan:  # fmt: skip
    others = [one for one in members if one not in owners]
    plan = TeamPlan(name, text, _keys(*owners), _keys(*others), _keys(*guests), channels, apps=apps)
    return replace(plan, **more)  # type: ignore[arg-type]


def _channel(name: str, text: str, members: Sequence[str] = (), **more: object) -> ChannelPlan:
    plan = ChannelPlan(name, text, PRIVATE if members else "standard", _keys(*members), threads=3)
    return replace(plan, **more)  # type: ignore[arg-type]


DESK = tuple(one.name for one in PEOPLE if "csm" in one.roles and one.name != "Tobiah Mercer")
TEAMS = (
    _team("Major Incidents", "War rooms", ("Sunniva Hale", "Sefton Grady"),
        ("Nadia Okafor", "Ruben Castellan", "Piotr Zielin", "Yolanda Reyes", "Kirra Dawe", "Mirabel Stone",
            "Tobiah Mercer", "Keziah Monroe", "Venetia Croft", "Dorothea Blum"),
        _channel("Gateway 16 November", "Telemetry of the north", tabs=(("Timeline", "Runbook"),)),
        _channel("Quay switch", "Calls of Sydney"), _channel("Order desk", "Prices and parts"),
        _channel("Causes", "Not for customers", ("Sunniva Hale", "Ruben Castellan", "Dorothea Blum")),
        _channel("Printers of 2025", "Over", archived=True), guests=("@kelder-charts",), apps=("Runbook",),
        tags={"On call": _keys("Ruben Castellan", "Nadia Okafor", "Sefton Grady")}),
    _team("PumpWatch", "Telemetry for customers", ("Dorothea Blum",),
        ("Jocasta Finn", "Anselm Pryor", "Beatrix Lowell", "Caspian Rowe", "Piotr Zielin"),
        _channel("Release December", "Plan and tests", tabs=(("Builds", "Testboard"),)),
        _channel("Charts", "Drawing and loading"),
        _channel("Certificates", "Secrets", ("Dorothea Blum", "Jocasta Finn")), apps=("Testboard",),
        tags={"Release crew": _keys("Jocasta Finn", "Dorothea Blum", "Anselm Pryor")}),
    _team("Customer Desk", "Cases and visits", ("Tobiah Mercer",), (*DESK, "Juno Castle"),
        _channel("Kelder Water", "Enterprise"), _channel("Hudson Reservoirs", "Enterprise"),
        _channel("Bendigo Mines", "Enterprise"),
        _channel("Ashdown claim", "With lawyers", ("Duncan Iredale", "Fabian Trask", "Philippa Gow")),
        tags={"Notices": _keys("Venetia Croft", "Keziah Monroe")}),
    _team("Hudson Project", "Six pumps for the upper reservoir", ("Horatio Beale",),
        ("Odalys Pinto", "Winona Tabor", "Marguerite Sloane"),
        _channel("Prices", "Before the board", ("Horatio Beale", "Marguerite Sloane", "@hudson-start")),
        guests=("@hudson-start",)),
    _team("Sales", "Quotes and fairs", ("Magnus Orrin",),
        ("Marguerite Sloane", "Giselle Amato", "Horatio Beale", "Ingram Tully", "Kester Dunne"),
        _channel("Quotes", "Open ones"), _channel("Price list 2027", "Draft")),
    _team("People", "HR and payroll", ("Aurelio Banks",),
        ("Perpetua Lyle", "Casper Onslow", "Ngozi Tremaine", "Delia Fairbanks", "Hamish Corrie", "Wendell Achebe"),
        _channel("Leavers", "Who goes, and what is open"), _channel("Pay", "Runs and questions"),
        _channel("Relations", "The circle", ("Aurelio Banks", "Hamish Corrie", "Casper Onslow"))),
    _team("Site Technicians", "Cabinets, cables, badges", ("Sefton Grady",), ("Yolanda Reyes", "Kirra Dawe"),
        _channel("Badges", "Printers and blanks")),
    _team("London House", "Tanner Row", ("Lavender Crewe",),
        (*_at(LONDON), "Ruben Castellan", "Horatio Beale"), _channel("Third floor", "Desks and docks")),
    _team("New York House", "Varick Lane", ("Magnus Orrin",), _at(NEW_YORK, without=("Ruben Castellan",)),
        _channel("Visitors", "Badges at the gate")),
    _team("Sydney House", "Bourke Quay", ("Orla Keating",), _at(SYDNEY),
        _channel("Stock-taking", "28 November"), _channel("Quay", "Deliveries")),
    _team("All Company", "For everybody", ("Honora Quill",), _at(LONDON, NEW_YORK, SYDNEY), visibility="public"),
    _team("Ridgewater Merger", "Closed in spring", ("Linnea Storrs",), ("Tobiah Mercer", "Honora Quill",
        "Emrys Vaughan"), archived=True),
)  # fmt: skip
EVENTS = (
    EventPlan("New charts in PumpWatch", "For customers", at("11-24 10:00"), 45, _key("Anselm Pryor"), "published",
        "everyone", helpers=_keys("Jocasta Finn")),
    EventPlan("Handing over well", "For leavers and their teams", at("11-26 14:00"), 30, _key("Dorothea Blum"),
        "draft"),
    EventPlan("Seals of 2027", "New prices", at("12-01 15:00"), 30, _key("Marguerite Sloane"), "draft",
        helpers=_keys("Giselle Amato")),
)  # fmt: skip
TOWN_HALLS = (
    EventPlan("Results of the year", "Figures and plans", at("11-20 15:00"), 60, _key("Honora Quill")),
    EventPlan("Managers on pay", "By invitation", at("11-27 10:00"), 60, _key("Aurelio Banks"),
        invited=_keys("Sunniva Hale", "Tobiah Mercer", "Lorne Fitch", "Wendell Achebe")),
)  # fmt: skip
TALK = (
    ("Who has seen the {thing} of {place}?", "It is in the files of the channel.", "Found it, thanks."),
    ("The {thing} of {place} comes on {day}.", "Noted."),
    ("Please check the {thing} before {day}.",),
    ("{count} visitors come to {place} on {day}.", "I open the gate."),
    ("Could someone lend me {count} cables until {day}?", "Yes, they are at {place}."),
    ("Minutes of {day} are in the folder, {count} points are open.", "One of them is mine."),
)
CHATTER = ("Are you at {place} today?", "I have sent you the {thing}.", "Call me on {day}?", "Thanks for the {thing}.")


def _person(one: Member, number: int) -> Person:
    department = OTHER_DEPARTMENTS.get(one.name, DEPARTMENTS.get(one.position, one.position))
    manages = any(other.manager == one.name for other in PEOPLE) or one.name in ("Lavender Crewe", "Magnus Orrin")
    rank = "admin" if one.name == "Osric Bellamy" else "lead" if manages else "member"
    return Person(
        one.name_in("teams"), one.position, department, one.site_in("teams").city, rank, number % 5,
        active=one.active_in("teams"),
    )  # fmt: skip


def _people() -> list[Person]:
    staff = sorted(accounts("teams"), key=lambda one: one.name != "Osric Bellamy")
    guests = [
        Person(contacts()[key].name, "Engineer", "Customer", "London", "guest", company=company)
        for key, company in GUESTS.items()
    ]
    service = Person("Pump Alarm", "Application", "IT", "London", "service")
    return [*(_person(one, number) for number, one in enumerate(staff)), *guests, service]


def _posts() -> list[Post]:
    posts = []
    for one in SAID.values():
        team, _, channel = one.channel.partition(":")
        replies = [(_key(who), filled(text)) for who, text in one.replies]
        author, text = _key(one.author), filled(one.text)
        posts.append(Post(team, channel, author, text, at(one.when), one.subject, replies))
    return posts


def _organisation() -> Organisation:
    return Organisation(
        key="fenmoor",
        name=COMPANY,
        host=DOMAIN,
        country=("United Kingdom", "GB"),
        phone="44",
        now=NOW,
        founded=at("2025-11-03 07:30"),
        people=_people(),
        apps={"Runbook": "organization", "Testboard": "store", "Whiteboard": "store"},
        teams=TEAMS,
        chats=[
            ChatPlan(_keys(*members), topic, [(_key(who), filled(text)) for who, text in lines], everyday=4)
            for topic, members, lines in CHATS
        ],
        webinars=EVENTS,
        town_halls=TOWN_HALLS,
        posts=_posts(),
        talk=TALK,
        chatter=CHATTER,
        slots={
            "thing": ("list", "key", "offer", "badge", "report"),
            "place": ("the test hall", "the quay", "the third floor", "the store"),
            "day": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday"),
            "count": ("2", "3", "5", "8"),
        },
        groups={"Mail list of fitters": (_key("Sefton Grady"), _keys("Yolanda Reyes", "Kirra Dawe"))},
        calls=20,
        school="Pump School",
    )


class FenmoorWorld(World):
    """The company's teams, on a Monday in November."""

    now = NOW

    def account(self, who: str) -> User:
        """The user of a person by HR's name, or of a guest by `@` and the key of the case.

        Raises:
            LookupError: No one at the company has the name, or no case the key.
        """
        return self.user(_key(who))

    def room(self, place: str) -> Channel:
        """A channel by its team's name, a colon and its own."""
        team, _, name = place.partition(":")
        return self.channel(self.team(team), name)

    def post_of(self, key: str) -> ChannelMessage:
        """A message of `teams_posts` by its key; `replies` gives its answers."""
        return self.post(self.room(SAID[key].channel), filled(SAID[key].text))

    def owners(self, team: Team) -> list[User]:
        """The owners of a team."""
        return [self.one(User, user_id=key) for key in owners_of(team)]

    def names(self, team: Team) -> list[str]:
        """The names of a team's members, owners and guests, as the team has them."""
        return [str(one["displayName"]) for one in members_of(team)]


def teams_world() -> FenmoorWorld:
    """The rows of Teams, with the names and sites that this system has."""
    world = fill(FenmoorWorld(), _organisation())
    for one in accounts("teams"):
        user, site = world.account(one.name), one.site_in("teams")
        user.country, user.usage_location = site.country, site.iso
    return world
