"""The company of the hybrid worlds: its sites, its people, who reports to whom, and who is away when.

Invariant: every domain's seed draws its people from here, so a person is the same one in all of them. What a system has
otherwise is stated with the person: a former name, an address from before a merger, a site from before a move, an
account that was left open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

System = Literal["itsm", "csm", "hr", "calendar", "email", "drive", "teams"]
"""Domains that have a seed of the company."""
COMPANY, DOMAIN = "Fenmoor Pumps", "fenmoor.example"
OLD_DOMAIN = "ridgewater.example"
"""Mail domain of the firm in Sydney before Fenmoor bought it."""
PRIVATE_DOMAIN = "homepost.example"
"""Mail domain of private addresses, which HR knows."""


@dataclass(frozen=True)
class Site:
    """A site of the company."""

    name: str
    city: str
    code: str
    """The city as CSM writes it."""
    country: str
    land: str
    """The country as CSM writes it."""
    plot: str
    street: str
    zone: str
    iso: str
    """The country as HR writes it."""


SITES = (
    Site("Fenmoor House", "London", "london", "United Kingdom", "uk", "17", "Tanner Row", "Europe/London", "GB"),
    Site(
        "Fenmoor Americas",
        "New York",
        "new_york",
        "United States",
        "usa",
        "402",
        "Varick Lane",
        "America/New_York",
        "US",
    ),
    Site("Fenmoor Pacific", "Sydney", "sydney", "Australia", "australia", "9", "Bourke Quay", "Australia/Sydney", "AU"),
)
LONDON, NEW_YORK, SYDNEY = SITES


@dataclass(frozen=True)
class Person:
    """A person who works at the company."""

    name: str
    """Given and family name, as HR has them."""
    site: Site
    position: str
    """As HR writes it."""
    manager: str | None
    """Name of the person whom they report to; None for the head of the company."""
    roles: Mapping[System, str] = field(default_factory=dict)
    """Roles in systems where they are not ordinary users. Only these people have an account in CSM."""
    names: Mapping[System, str] = field(default_factory=dict)
    """Other names in systems that did not learn of a change of name."""
    domains: Mapping[System, str] = field(default_factory=dict)
    """Other mail domains in systems that have an address from before."""
    sites: Mapping[System, Site] = field(default_factory=dict)
    """Other sites in systems that have the one before a move."""
    left: str | None = None
    """Month and day of the last day of employment; None of those who are employed."""
    open_in: tuple[System, ...] = ()
    """Systems in which the account is still active although the person has left."""
    closed_in: tuple[System, ...] = ()
    """Systems in which the account is not active although the person is employed."""
    skills: tuple[str, ...] = ()
    """Skills of people in HR."""

    def name_in(self, system: System) -> str:
        """Given and family name in a system."""
        return self.names.get(system, self.name)

    def address_in(self, system: System) -> str:
        """Mail address in a system."""
        return f"{self.name_in(system).lower().replace(' ', '.')}@{self.domains.get(system, DOMAIN)}"

    def site_in(self, system: System) -> Site:
        """Site in a system."""
        return self.sites.get(system, self.site)

    def active_in(self, system: System) -> bool:
        """Whether the account in a system is active."""
        if self.left is not None:
            return system in self.open_in
        return system not in self.closed_in


def _people() -> Sequence[Person]:
    quill, hale, banks, mercer, storrs = (
        "Honora Quill", "Sunniva Hale", "Aurelio Banks", "Tobiah Mercer", "Linnea Storrs",
    )  # fmt: skip
    achebe, sloane = "Wendell Achebe", "Marguerite Sloane"
    return (
        Person(quill, LONDON, "Manager", None, {"hr": "manager"}),
        Person(banks, LONDON, "Manager", quill, {"hr": "manager"}, skills=("Joiners", "Employment law")),
        Person(hale, LONDON, "Manager", quill, {"itsm": "manager", "hr": "manager"}),
        Person(mercer, NEW_YORK, "Manager", quill, {"csm": "manager", "hr": "manager"}),
        Person(storrs, SYDNEY, "Manager", mercer, {"csm": "manager", "hr": "manager"}),
        Person(achebe, LONDON, "Manager", quill, {"hr": "manager"}),
        Person(sloane, NEW_YORK, "Manager", quill, {"hr": "manager"}),
        # HR
        Person("Perpetua Lyle", LONDON, "HR", banks, {"hr": "admin"}),
        Person("Casper Onslow", LONDON, "HR", banks, {"hr": "agent"}, skills=("Joiners", "Absence")),
        Person("Ngozi Tremaine", LONDON, "HR", banks, {"hr": "agent"}, skills=("Payroll",)),
        Person("Delia Fairbanks", NEW_YORK, "HR", banks, {"hr": "agent"}, skills=("Joiners", "Payroll")),
        Person("Hamish Corrie", SYDNEY, "HR", banks, {"hr": "agent"}, skills=("Absence", "Employment law")),
        # IT
        Person("Osric Bellamy", LONDON, "IT Support", hale, {"itsm": "admin"}),
        Person("Mirabel Stone", NEW_YORK, "Manager", hale, {"itsm": "manager", "hr": "manager"}),
        Person("Nadia Okafor", LONDON, "IT Support", hale, {"itsm": "agent"}, names={"calendar": "Nadia Petrov"}),
        Person("Piotr Zielin", LONDON, "IT Support", hale, {"itsm": "agent"}),
        Person("Ruben Castellan", NEW_YORK, "IT Support", "Mirabel Stone", {"itsm": "agent"},
            sites={"itsm": LONDON, "teams": LONDON}),
        Person("Yolanda Reyes", NEW_YORK, "IT Support", "Mirabel Stone", {"itsm": "agent"}),
        Person("Kirra Dawe", SYDNEY, "IT Support", hale, {"itsm": "agent"},
            domains={"itsm": OLD_DOMAIN, "drive": OLD_DOMAIN}),
        Person("Sefton Grady", LONDON, "IT Support", hale, {"itsm": "agent"}, left="10-30",
            open_in=("itsm", "calendar", "teams")),
        # customer service
        Person("Isolde Wray", LONDON, "Administration", mercer, {"csm": "admin"}),
        Person("Ambrose Kettle", NEW_YORK, "Administration", mercer, {"csm": "admin", "itsm": "agent"}),
        Person("Venetia Croft", LONDON, "Manager", mercer, {"csm": "manager", "hr": "manager"}),
        Person("Duncan Iredale", SYDNEY, "Administration", storrs, {"csm": "manager"}),
        Person("Lorne Fitch", LONDON, "Administration", "Venetia Croft", {"csm": "manager"}, left="09-18"),
        Person("Fabian Trask", LONDON, "Administration", "Venetia Croft", {"csm": "agent"}),
        Person("Keziah Monroe", NEW_YORK, "Administration", mercer, {"csm": "agent"}, names={"csm": "Keziah Lund"}),
        Person("Bram Halloway", SYDNEY, "Administration", storrs, {"csm": "agent"}, domains={"csm": OLD_DOMAIN}),
        Person("Bram Hallowell", LONDON, "Administration", "Venetia Croft", {"csm": "agent"}),
        Person("Odalys Pinto", NEW_YORK, "Administration", mercer, {"csm": "agent"}),
        Person("Cyril Nott", LONDON, "Administration", "Venetia Croft", {"csm": "agent"}),
        Person("Thora Vance", SYDNEY, "Administration", storrs, {"csm": "agent"}, closed_in=("csm",)),
        Person("Elodie Marsh", LONDON, "Administration", "Venetia Croft", {"csm": "agent"}),
        Person("Gideon Rusk", NEW_YORK, "Administration", mercer, {"csm": "agent"}),
        Person("Winona Tabor", NEW_YORK, "Administration", mercer, {"csm": "agent"},
            names={"teams": "Winona Keel"}),
        Person("Lachlan Ord", SYDNEY, "Administration", storrs, {"csm": "agent"}, domains={"email": OLD_DOMAIN}),
        Person("Philippa Gow", LONDON, "Administration", "Venetia Croft", {"csm": "agent"}, left="10-16",
            open_in=("csm", "email")),
        Person("Tamsin Yarwood", LONDON, "Administration", "Venetia Croft", {"csm": "agent"},
            names={"email": "Tamsin Wardle"}),
        Person("Ezra Colby", NEW_YORK, "Administration", mercer, {"csm": "agent"}, closed_in=("drive",)),
        Person("Marnie Stroud", SYDNEY, "Administration", storrs, {"csm": "agent"}, closed_in=("email",)),
        # everybody else
        Person("Jocasta Finn", LONDON, "Software Engineer", achebe),
        Person("Anselm Pryor", LONDON, "Software Engineer", achebe),
        Person("Beatrix Lowell", LONDON, "QA", achebe, names={"itsm": "Beatrix Harrow"}),
        Person("Caspian Rowe", LONDON, "QA", achebe),
        Person("Dorothea Blum", LONDON, "Software Engineer", achebe, left="11-13",
            open_in=("itsm", "calendar", "email", "drive", "teams")),
        Person("Emrys Vaughan", SYDNEY, "Software Engineer", achebe, domains={"itsm": OLD_DOMAIN}),
        Person("Fenella Stark", SYDNEY, "QA", achebe, names={"drive": "Fenella Carrow"}),
        Person("Giselle Amato", NEW_YORK, "Sales", sloane),
        Person("Horatio Beale", NEW_YORK, "Sales", sloane, sites={"itsm": LONDON}),
        Person("Ingram Tully", NEW_YORK, "Sales", sloane, closed_in=("teams",)),
        Person("Juno Castle", SYDNEY, "Sales", sloane),
        Person("Kester Dunne", LONDON, "Sales", sloane),
        Person("Lavender Crewe", LONDON, "Administration", quill),
        Person("Magnus Orrin", NEW_YORK, "Administration", sloane),
        Person("Nell Whitcombe", LONDON, "Administration", achebe),
        Person("Orla Keating", SYDNEY, "Administration", storrs),
    )  # fmt: skip


PEOPLE = _people()


@dataclass(frozen=True)
class Absence:
    """Whole days on which a person is away."""

    person: str
    reason: str
    first: datetime
    days: int


def _day(text: str) -> datetime:
    return datetime.fromisoformat(f"2026-{text}")


ABSENCES = (
    Absence("Venetia Croft", "Annual leave", _day("11-16"), 5),
    Absence("Piotr Zielin", "Training", _day("11-18"), 2),
    Absence("Casper Onslow", "Annual leave", _day("11-23"), 5),
    Absence("Odalys Pinto", "Jury duty", _day("11-19"), 1),
    Absence("Kirra Dawe", "Annual leave", _day("11-16"), 3),
    Absence("Giselle Amato", "Parental leave", _day("11-09"), 40),
    Absence("Anselm Pryor", "Conference", _day("11-24"), 3),
)


def person(name: str) -> Person:
    """A person by the name that HR has.

    Raises:
        LookupError: No one has the name.
    """
    for one in PEOPLE:
        if one.name == name:
            return one
    raise LookupError(f"no one at {COMPANY} is named {name!r}")


def accounts(system: System) -> Sequence[Person]:
    """People with an account in a system, in order."""
    return [one for one in PEOPLE if system != "csm" or "csm" in one.roles]
