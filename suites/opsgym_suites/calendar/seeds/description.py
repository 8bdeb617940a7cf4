"""What a company's description holds: people, rooms, calendars and series, from which the rows of a seed follow.

Invariant: dates of everyday events count from the first week, so a company may stand in any year.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime


@dataclass(frozen=True)
class Employee:
    """A person of the company."""

    address: str
    """The address before the company's domain."""
    name: str
    site: str
    title: str
    active: bool = True


@dataclass(frozen=True)
class Room:
    """A room that can be booked."""

    name: str
    site: str
    seats: int
    equipment: str

    @property
    def address(self) -> str:
        """The account by which the room is invited, before the company's domain."""
        return f"room.{self.name.lower()}"

    @property
    def calendar(self) -> str:
        """Title of the room's calendar."""
        return f"Room {self.name}"


@dataclass(frozen=True)
class Shared:
    """A calendar that a team, a project or a site shares."""

    summary: str
    owner: str
    description: str
    roles: Mapping[str, str]
    """Roles by address, by `@` and a mail domain, or by `*` for everybody."""
    domain_role: str | None = None


Series = tuple[str, str, tuple[int, ...], str, int, str, tuple[str, ...]]
"""A weekly series: calendar, title, weekdays from Monday as 0, start, minutes, site of the zone, guests."""


@dataclass(frozen=True)
class Company:
    """All that a seed is generated from, apart from the events on which tasks turn."""

    name: str
    domain: str
    """Mail domain."""
    zones: Mapping[str, str]
    """Time zone by site."""
    employees: Sequence[Employee]
    partners: Mapping[str, tuple[str, str]]
    """People of other companies with accounts: name and zone by address."""
    rooms: Sequence[Room]
    managers: Mapping[str, str]
    """Who owns the calendars of a site's rooms."""
    shared: Sequence[Shared]
    series: Sequence[Series]
    watched: Sequence[str]
    """Calendars with a channel."""
    founded: datetime
    """When accounts, calendars and rules were made."""
    first_week: date
    """Monday of the first week with events."""
    story_days: frozenset[date]
    """Days on which rooms have only the bookings of stories."""
    draw: int
    """Start of the random choices."""
    keys: str = ""
    """Start of what keys are derived from, so that two companies' keys differ."""

    @property
    def partner_domains(self) -> Sequence[str]:
        """Mail domains of partners."""
        return list(dict.fromkeys(address.partition("@")[2] for address in self.partners))

    def day(self, number: int) -> date:
        """A day, counted from the first Monday as 0."""
        return date.fromordinal(self.first_week.toordinal() + number)
