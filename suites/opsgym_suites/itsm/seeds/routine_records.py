"""Kinds of routine incidents, articles and incident templates.

Invariant: kinds name services and group types, not people, so that any number of incidents can be generated from them.
Their words differ from those of fixtures: a search for a fixture finds only the fixture.
"""

from __future__ import annotations

from dataclasses import dataclass

FIELD, APPLICATIONS, DESK, PLATFORM = (
    "Field Support Technicians",
    "IT Support",
    "Service Desk",
    "Infrastructure Problem Team",
)


@dataclass(frozen=True)
class IncidentKind:
    """A kind of routine incident."""

    company: str
    summary: str
    description: str
    category: str
    service: str
    team_type: str
    levels: tuple[tuple[str, str], ...]
    """Impact and urgency that occur."""
    code: str
    notes: str


@dataclass(frozen=True)
class Article:
    """A knowledge article."""

    company: str
    title: str
    summary: str
    body: str
    owner: str
    state: str
    visibility: str


@dataclass(frozen=True)
class Template:
    """An incident template."""

    company: str
    name: str
    summary: str
    caller: str
    channel: str
    category: str
    impact: str
    urgency: str
    service: str
    active: bool = True


@dataclass(frozen=True)
class Routine:
    """The routine records of a seed's companies."""

    kinds: tuple[IncidentKind, ...]
    articles: tuple[Article, ...]
    templates: tuple[Template, ...]


KINDS = (
    IncidentKind(
        "Halden Freight",
        "Mail client asks for a profile",
        "After the restart of the laptop.",
        "software",
        "Workplace",
        APPLICATIONS,
        (("low", "low"), ("low", "medium")),
        "Solution Provided",
        "Mail profile made anew.",
    ),
    IncidentKind(
        "Halden Freight",
        "Password expired during the holidays",
        "Account is locked.",
        "password-reset",
        "Workplace",
        DESK,
        (("low", "high"), ("low", "medium")),
        "Solution Provided",
        "Password reset, identity checked by phone.",
    ),
    IncidentKind(
        "Halden Freight",
        "How to book a meeting room at the terminal",
        "Room list is empty.",
        "inquiry-help",
        "Workplace",
        DESK,
        (("low", "low"),),
        "Solution Provided",
        "Explained the room finder.",
    ),
    IncidentKind(
        "Halden Freight",
        "Docking station does not charge the laptop",
        "Screen works.",
        "hardware",
        "Workplace",
        FIELD,
        (("low", "low"), ("low", "medium")),
        "Solution Provided",
        "Power supply replaced.",
    ),
    IncidentKind(
        "Halden Freight",
        "Remote access ends after ten minutes",
        "From home only.",
        "network",
        "Workplace",
        PLATFORM,
        (("low", "medium"), ("medium", "medium")),
        "Workaround Provided",
        "Second access profile handed out.",
    ),
    IncidentKind(
        "Halden Freight",
        "Declaration report is slow",
        "Takes five minutes at month end.",
        "database",
        "Customs Declarations",
        PLATFORM,
        (("medium", "low"), ("medium", "medium")),
        "Known Error",
        "Report runs at night now.",
    ),
    IncidentKind(
        "Halden Freight",
        "Truck missing in the dock plan",
        "Driver is waiting at the gate.",
        "software",
        "Dock Scheduling",
        APPLICATIONS,
        (("medium", "high"), ("low", "high")),
        "User error",
        "Truck was booked for another day.",
    ),
    IncidentKind(
        "Halden Freight",
        "Signal lamp of a dock stays red",
        "Gate opens all the same.",
        "hardware",
        "Dock Scheduling",
        FIELD,
        (("low", "medium"), ("medium", "medium")),
        "Solution Provided",
        "Lamp controller restarted.",
    ),
    IncidentKind(
        "Mirelle Botanics",
        "Calendar invitations arrive twice",
        "Since the phone was added.",
        "software",
        "Office Tools",
        APPLICATIONS,
        (("low", "low"), ("low", "medium")),
        "Solution Provided",
        "Second account removed from the phone.",
    ),
    IncidentKind(
        "Mirelle Botanics",
        "Account locked after new password",
        "Phone keeps the old one.",
        "password-reset",
        "Office Tools",
        DESK,
        (("low", "high"), ("low", "medium")),
        "Resolved By Caller",
        "Caller removed the old password.",
    ),
    IncidentKind(
        "Mirelle Botanics",
        "Where to find the brand templates",
        "New colleague.",
        "inquiry-help",
        "Office Tools",
        DESK,
        (("low", "low"),),
        "Solution Provided",
        "Sent the way to the folder.",
    ),
    IncidentKind(
        "Mirelle Botanics",
        "Studio printer shows a paper jam",
        "There is no paper in it.",
        "hardware",
        "Office Tools",
        FIELD,
        (("low", "low"), ("low", "medium")),
        "Solution Provided",
        "Sensor cleaned.",
    ),
    IncidentKind(
        "Mirelle Botanics",
        "Order list loads slowly on tablets",
        "Ten seconds an order.",
        "network",
        "Warehouse Picking",
        PLATFORM,
        (("medium", "medium"), ("medium", "high")),
        "Solution Provided",
        "Tablets moved to another channel.",
    ),
    IncidentKind(
        "Mirelle Botanics",
        "Batch record cannot be saved",
        "Another user has it open.",
        "database",
        "Recipe Vault",
        PLATFORM,
        (("low", "medium"), ("medium", "medium")),
        "Known Error",
        "Lock released.",
    ),
    IncidentKind(
        "Mirelle Botanics",
        "Product picture missing in the shop",
        "One product of the bath range.",
        "software",
        "Webshop",
        APPLICATIONS,
        (("low", "low"), ("low", "medium")),
        "Solution Provided",
        "Picture uploaded again.",
    ),
    IncidentKind(
        "Mirelle Botanics",
        "Card reader of the till restarts",
        "Twice a day.",
        "hardware",
        "Till System",
        FIELD,
        (("low", "high"), ("medium", "medium")),
        "No resolution provided",
        "Not seen again.",
    ),
)

ARTICLES = (
    Article(
        "Halden Freight",
        "Resetting a password by phone",
        "How the desk checks who calls",
        "Ask for the employee number and call back on the number in the directory before resetting.",
        "Ines Carvalho",
        "published",
        "internal",
    ),
    Article(
        "Halden Freight",
        "Booking rooms at the terminal",
        "Room finder in four steps",
        "Open the calendar, choose a site, choose a room, invite it like a person.",
        "Ebba Nyholm",
        "published",
        "external",
    ),
    Article(
        "Halden Freight",
        "Cleaning the head of a label printer",
        "Blank or pale labels",
        "Switch off, open the lid, wipe the head with alcohol, wait a minute, print a test label.",
        "Joon Park",
        "published",
        "internal",
    ),
    Article(
        "Halden Freight",
        "Second profile for remote access",
        "When the first one ends early",
        "Import the second profile from the software centre and choose it at login.",
        "Ravi Menon",
        "review",
        "internal",
    ),
    Article(
        "Halden Freight",
        "Sending a fax",
        "Where the fax gateway is",
        "The gateway was removed in 2026.",
        "Ravi Menon",
        "retired",
        "external",
    ),
    Article(
        "Halden Freight",
        "Working without tracking",
        "Paper lists for an outage",
        "Print the list of the last full hour and mark every move by hand.",
        "Nadia Haddad",
        "draft",
        "internal",
    ),
    Article(
        "Mirelle Botanics",
        "Two passwords on one phone",
        "Locked accounts after a change",
        "Remove the account from the phone before you change the password, and add it again after.",
        "Elise Garnier",
        "published",
        "external",
    ),
    Article(
        "Mirelle Botanics",
        "Brand templates",
        "Where letters and slides begin",
        "They are in the shared folder named Studio, under Templates.",
        "Elise Garnier",
        "published",
        "external",
    ),
    Article(
        "Mirelle Botanics",
        "Releasing a batch record",
        "Who may release a lock",
        "Ask the laboratory first. Then release the lock in the vault's maintenance page.",
        "Sana Qureshi",
        "published",
        "internal",
    ),
    Article(
        "Mirelle Botanics",
        "Picking on paper",
        "When tablets are offline",
        "Print the open orders by aisle and pick by list.",
        "Bruno Keller",
        "published",
        "internal",
    ),
)

TEMPLATES = (
    Template(
        "Halden Freight",
        "Locked account",
        "Account is locked",
        "Mette Krog",
        "phone",
        "password-reset",
        "low",
        "high",
        "Workplace",
    ),
    Template(
        "Halden Freight",
        "Broken handheld",
        "Handheld does not start",
        "Anders Holt",
        "walk-in",
        "hardware",
        "low",
        "medium",
        "Handheld Scanning",
    ),
    Template(
        "Halden Freight",
        "Fax question",
        "Question about a fax",
        "Grace Okafor",
        "email",
        "inquiry-help",
        "low",
        "low",
        "Fax Gateway",
        active=False,
    ),
    Template(
        "Mirelle Botanics",
        "Till does not start",
        "Till does not start",
        "Chloe Petit",
        "phone",
        "hardware",
        "medium",
        "high",
        "Till System",
    ),
    Template(
        "Mirelle Botanics",
        "Tablet offline",
        "Picking tablet is offline",
        "Marc Duval",
        "chat",
        "network",
        "low",
        "medium",
        "Warehouse Picking",
    ),
)
