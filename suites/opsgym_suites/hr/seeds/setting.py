"""What a world of the domain is generated from: an organisation, its HR department, its catalogue, its people.

Invariant: the generator reads names, places and rules from a setting alone, so a further world is a further setting.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Staff:
    """A person of the HR department, or a manager elsewhere."""

    name: str
    role: str
    skills: tuple[str, ...] = ()
    active: bool = True


@dataclass(frozen=True)
class Team:
    """A group with its members."""

    name: str
    members: tuple[str, ...]
    escalates_to: str | None = None
    """Group to which its cases escalate; None if no rule says so."""
    active: bool = True


@dataclass(frozen=True)
class Criteria:
    """Who sees cases of a service, or who approves them."""

    name: str
    type: str
    team: str | None = None
    users: tuple[str, ...] = ()
    active: bool = True


@dataclass(frozen=True)
class Service:
    """A service of the catalogue with its topic, and the team that handles it."""

    name: str
    topic: str | None
    category: str
    team: str
    skill: str | None = None
    criteria: str | None = None
    summaries: tuple[str, ...] = ()
    """Short descriptions of everyday cases."""
    steps: tuple[str, ...] = ()
    """Items of the checklists in its cases."""
    active: bool = True


@dataclass(frozen=True)
class AssignRule:
    """To whom cases of a priority, a country or a skill are assigned."""

    name: str
    priority: str
    skill: str | None
    team: str | None
    users: tuple[str, ...] = ()
    country: str | None = None
    active: bool = True


@dataclass(frozen=True)
class Employee:
    """An employee whom stories need, with the manager."""

    name: str
    manager: str
    position: str = "Administration"
    country: str = "GB"
    type: str = "full-time"
    active: bool = True
    last_day: str | None = None
    """Month and day of the last day of employment; None without one."""


@dataclass(frozen=True)
class TaskFixture:
    """A task of a case that is written by hand."""

    summary: str
    status: str
    assignee: str | None
    type: str = "checklist"
    items: tuple[tuple[str, bool], ...] = ()
    """Items of its checklist, and whether they are done."""
    survey: str | None = None
    """Who is asked to answer the survey and has not done so; the second survey of the setting is used."""


@dataclass(frozen=True)
class CaseFixture:
    """A case that is written by hand."""

    key: str
    service: str
    person: str
    summary: str
    created: str
    """Month, day and time in the year of the world's moment."""
    priority: str = "moderate"
    status: str = "draft"
    source: str = "email"
    team: str | None = None
    assignee: str | None = None
    opened_by: str | None = None
    skills: tuple[str, ...] = ()
    notes: str | None = None
    criteria: str | None = None
    approver: str | None = None
    approval: str | None = None
    account: str | None = None
    updated: str | None = None
    tasks: tuple[TaskFixture, ...] = ()
    notices: tuple[tuple[str, str, str], ...] = ()
    """Notifications about it: recipient, type and status."""


@dataclass(frozen=True)
class Article:
    """A knowledge article."""

    title: str
    body: str
    state: str
    visibility: str
    service: str | None = None
    """Service whose cases it is linked to."""


@dataclass(frozen=True)
class Setting:
    """An organisation at a moment."""

    now: datetime
    """The time at which the world stands, UTC."""
    number: int
    """Number that random choices start from."""
    organisation: str
    domain: str
    private: str
    """Domain of personal email addresses."""
    phone: str
    founded: datetime
    """When the first records were made."""
    staff: Sequence[Staff]
    """Admins, managers and agents."""
    managers: Sequence[str]
    """Those of the staff who manage employees elsewhere."""
    teams: Sequence[Team]
    skills: Sequence[tuple[str, bool]]
    categories: Sequence[tuple[str, str]]
    """Name and centre of excellence."""
    criteria: Sequence[Criteria]
    services: Sequence[Service]
    rules: Sequence[AssignRule]
    articles: Sequence[Article]
    surveys: Sequence[tuple[str, ...]]
    employees: Sequence[Employee]
    first_names: Sequence[str]
    last_names: Sequence[str]
    countries: Sequence[str]
    crowd: int
    """How many further employees there are."""
    cases: Sequence[CaseFixture]
    everyday: int
    """How many further cases there are."""
