"""What a world of the domain is generated from: a company, its people, products, customers and known issues.

Invariant: the generators read names, dates and places from a setting alone, so a further world is a further setting.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime


@dataclass(frozen=True)
class Employee:
    """An employee of the company."""

    name: str
    role: str
    city: str
    active: bool = True


@dataclass(frozen=True)
class Team:
    """A group with its members."""

    name: str
    type: str
    members: tuple[str, ...]
    active: bool = True


@dataclass(frozen=True)
class Item:
    """A product, with the group that supports it."""

    name: str
    category: str
    price: int
    team: str
    code: str = ""
    """What serial numbers begin with; empty if it has none."""
    state: str = "active"


@dataclass(frozen=True)
class KnownIssue:
    """A fault of a product, with the article that helps."""

    product: str
    summaries: tuple[str, ...]
    priorities: tuple[str, ...]
    title: str
    body: str
    visibility: str = "external"
    state: str = "published"


@dataclass(frozen=True)
class Customer:
    """An account with its location and products."""

    name: str
    domain: str
    city: str
    level: str | None
    """Support level of its entitlements; None if it has no contract."""
    products: tuple[str, ...]
    devices: int
    """Devices of each product that has serial numbers."""
    sites: tuple[str, ...]
    type: str = "customer"
    active: bool = True
    contract: str = "active"
    """Status of its support contract."""
    wide: bool = False
    """Whether its entitlement covers all products."""


@dataclass(frozen=True)
class CaseFixture:
    """A case that is written by hand."""

    key: str
    account: str
    product: str
    summary: str
    created: str
    """Month, day and time in 2026."""
    priority: str
    state: str = "new"
    contact: int = 0
    """Which of the account's active contacts; the primary one is the first."""
    channel: str = "phone"
    assignee: str | None = None
    escalation: str | None = None
    reopened: int = 0
    updated: str | None = None
    """When it changed last; drawn if None."""


@dataclass(frozen=True)
class Office:
    """A site of the company."""

    name: str
    city: str
    plot: str
    street: str


@dataclass(frozen=True)
class Article:
    """An article that belongs to no known issue."""

    title: str
    body: str
    state: str
    visibility: str
    product: str | None
    """Name of its product; None if it is about none."""


@dataclass(frozen=True)
class Periods:
    """Terms of the customers' contracts."""

    founded: datetime
    """When the firm's first records were made."""
    first_case: datetime
    """Earliest time at which a random case was registered."""
    drafted: datetime
    """When contracts that begin later were drafted."""
    previous: tuple[date, date]
    """Term of the support contracts that have ended."""
    begins: date
    """First day of the current support contracts."""
    renewals: date
    """Last day of those that end soonest: every third one."""
    later: Sequence[date]
    """Last days of the others, in turn."""
    subscription: tuple[date, date]
    warranty: tuple[date, date]
    """Term of the draft warranty contracts."""
    bought: date
    """Earliest purchase of a device."""


@dataclass(frozen=True)
class SlaSlip:
    """An SLA that was started on a case although it should not run there."""

    account: str
    product: str
    state: str
    """State of the case: the account's newest one on the product."""
    definition: str
    """Name of the SLA definition."""
    minutes: int
    """Minutes from the registration of the case to the start of the SLA."""


@dataclass(frozen=True)
class MessageSlip:
    """A notification that should not be there, or not in this form; its case is chosen as for `SlaSlip`."""

    account: str
    product: str
    state: str
    type: str
    to: str | None = None
    """Name of the employee, or of the account whose primary contact got it; the contact of the case if None."""


@dataclass(frozen=True)
class Setting:
    """A company at a moment."""

    now: datetime
    """The time at which the world stands, UTC."""
    company: str
    domain: str
    """The company's email domain."""
    phone: str
    """What the employees' phone numbers begin with."""
    countries: Mapping[str, str]
    """Countries by city."""
    offices: Sequence[Office]
    employees: Sequence[Employee]
    """The people of the company; those who write articles come ninth and later."""
    teams: Sequence[Team]
    products: Sequence[Item]
    subscribed: str
    """Product whose customers have a subscription as well."""
    sla_targets: Sequence[tuple[str, int, int]]
    """Priority, minutes to the response, minutes to the resolution."""
    retired_slas: Sequence[tuple[str, str, str, int]]
    """Name, metric, priority and minutes of SLA definitions that are no longer active."""
    known_issues: Sequence[KnownIssue]
    articles: Sequence[Article]
    """Articles beside those of the known issues."""
    customers: Sequence[Customer]
    first_names: Mapping[str, Sequence[str]]
    """First names of contacts by city."""
    last_names: Mapping[str, Sequence[str]]
    shared_name: str
    """Name of two contacts of different customers."""
    shared_by: Sequence[str]
    """The customers of these two."""
    periods: Periods
    cases: Sequence[CaseFixture]
    """Cases that tasks are about."""
    unsold: Sequence[tuple[Item, str | None]] = ()
    """Products that were entered and never sold, with the title of a draft article about it, if there is one."""
    sla_slips: Sequence[SlaSlip] = ()
    message_slips: Sequence[MessageSlip] = ()
