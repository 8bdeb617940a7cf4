"""What a company's description holds: people, groups, shared drives, and the files that everyday work leaves.

Invariant: a text names people, companies and projects by slots or by the words of the description, so that variants of
the world replace them everywhere. A company is called as the first label of its host is, with a capital.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True)
class Member:
    """A person with an account."""

    address: str
    """The address before the company's host, or a whole one."""
    name: str
    voice: int = 0
    """Number of the way in which the person comments."""
    active: bool = True
    """False for an account that was deleted."""


@dataclass(frozen=True)
class Team:
    """A group of people to which files are shared."""

    address: str
    name: str
    members: Sequence[str]
    """Addresses; the first one manages the group."""


@dataclass(frozen=True)
class Space:
    """A shared drive."""

    name: str
    members: Mapping[str, str]
    """Role by member: an address, `group:` and the address of a group, or `domain`."""
    settings: Mapping[str, bool] = field(default_factory=dict)
    """Restrictions, and whether the drive is hidden."""


@dataclass(frozen=True)
class Everyday:
    """A file of a kind that occurs again and again."""

    place: str
    """Shared drive and folders with slots, for instance `Bridges:{project}/Minutes`; `@me` for a person's own files."""
    name: str
    text: str = ""
    """Content with slots; empty for a file whose content is kept elsewhere."""
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Company:
    """All that a seed is generated from, apart from the files on which tasks turn."""

    host: str
    people: Sequence[Member]
    outsiders: Sequence[Member]
    teams: Sequence[Team]
    spaces: Sequence[Space]
    everyday: Sequence[Everyday]
    slots: Mapping[str, Sequence[str]]
    """Values of the slots of places, names and texts."""
    remarks: Sequence[Sequence[str]]
    """Comments by voice, with slots."""
    files: int
    """Number of everyday files."""
    founded: datetime
    """When accounts and drives were made, and the first everyday file may be dated."""
    keys: str
    """Start of what keys are derived from, so that two companies' keys differ."""


LABELS: Sequence[tuple[str, str, str, Sequence[str]]] = (
    ("legal_hold", "Legal hold", "boolean", ()),
    ("retention_until", "Retention until", "date", ()),
    ("sensitivity", "Sensitivity", "enum", ("public", "internal", "confidential", "restricted")),
    (
        "document_type",
        "Document type",
        "enum",
        ("contract", "report", "minutes", "invoice", "drawing", "form", "other"),
    ),
    ("review_due", "Review due", "date", ()),
    ("pages", "Pages", "number", ()),
    ("owner_team", "Owner team", "string", ()),
)
"""Labels of every company: key, name, type, options."""
APPS: Sequence[tuple[str, str, Sequence[str], Sequence[str], bool]] = (
    ("Leafwriter", "text editor for the browser", ("application/vnd.google-apps.document", "text/plain"), ("txt", "md"),
     True),
    ("Gridsheet", "tables and charts", ("application/vnd.google-apps.spreadsheet", "text/csv"), ("csv", "xlsx"), True),
    ("Pagewise", "reads and annotates PDF", ("application/pdf",), ("pdf",), True),
    ("Draftplan", "viewer of technical drawings", ("image/vnd.dwg",), ("dwg", "dxf"), False),
    ("Pixelbench", "picture editor", ("image/png", "image/jpeg"), ("png", "jpg"), False),
    ("Unpacker", "opens archives", ("application/zip",), ("zip",), False),
)  # fmt: skip
"""Applications: name, description, MIME types, extensions, and whether they open files unless another is chosen."""
