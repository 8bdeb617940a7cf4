"""The rows of a calendar seed, with look-ups by name.

Invariant: keys have the form of a UUID of version 4 and follow from the table and the number of rows before, so equal
descriptions give equal worlds.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, TypeVar
from uuid import UUID

from opsgym_domains.calendar.tables import METADATA, AclRule, Attendee, Calendar, Event, Scope, User
from opsgym_domains.kit.schema import Row
from opsgym_suites.calendar.seeds.clinics import CLINICS
from opsgym_suites.calendar.seeds.company import KESTREL
from opsgym_suites.calendar.seeds.description import Company
from opsgym_suites.kit import world
from opsgym_suites.kit.world import key_of

R = TypeVar("R", bound=Row)
TIME_FORM = "%Y-%m-%d %H:%M:%S.%f"
"""How events hold times."""


@dataclass(frozen=True)
class Colleague:
    """A user as the kit of suites sees people."""

    user: User

    @property
    def user_id(self) -> str:
        """Identifier."""
        return self.user.user_id

    @property
    def first_name(self) -> str:
        """First name."""
        return self.user.given_name or self.user.name

    @property
    def last_name(self) -> str:
        """Last name."""
        return self.user.family_name or ""

    @property
    def email(self) -> str:
        """Address."""
        return self.user.email

    @property
    def name(self) -> str:
        """First and last name."""
        return self.user.name

    @property
    def scope_id(self) -> str:
        """Identifier of the scope of exactly this user."""
        return scope_key(self.user.email)


class World(world.World):
    """All rows of a seed. It stands on the Wednesday before Lisbon's clocks change; Toronto's follow a week later, and
    Sydney's changed at the beginning of the month.
    """

    metadata = METADATA
    company: ClassVar[Company] = KESTREL
    """Whose rows these are."""
    now = datetime(2026, 10, 21, 9, 0)  # noqa: DTZ001 - tables keep UTC without a zone

    def add(self, row: R) -> R:
        """Adds a row; sets its key if the row has none."""
        if type(row).has_uuid and getattr(row, key_of(type(row))) is None:
            setattr(row, key_of(type(row)), self.next_id(type(row)))
        return super().add(row)

    def next_id(self, kind: type[Row], ahead: int = 0) -> Any:
        """The key that a seed's next row of a table gets."""
        if not kind.has_uuid:
            return super().next_id(kind, ahead)
        number = len(self.all(kind)) + ahead
        bits = random.Random(f"{self.company.keys}{kind.__tablename__} {number}").getrandbits(128)  # noqa: S311 - no secret
        return str(UUID(int=bits, version=4))

    def person(self, address: str) -> User:
        """A user by address, of which the company's domain may be left out."""
        return self.one(User, email=address if "@" in address else f"{address}@{self.company.domain}")

    def colleague(self, address: str) -> Colleague:
        """A user who asks for something, by address."""
        return Colleague(self.person(address))

    def calendar(self, summary: str) -> Calendar:
        """A calendar by title."""
        return self.one(Calendar, summary=summary)

    def primary(self, user: User) -> Calendar:
        """A user's primary calendar."""
        return self.one(Calendar, user_id=user.user_id, is_primary=True)

    def event(self, calendar: str, summary: str, start: str = "") -> Event:
        """The event of a calendar with a title that starts at a time of which the beginning is given."""
        rows = self.all(Event, calendar_id=self.calendar(calendar).calendar_id, summary=summary)
        matches = [row for row in rows if row.start_datetime.startswith(start)]
        if len(matches) != 1:
            raise LookupError(f"{len(matches)} events of {calendar} are called {summary!r} and start {start!r}")
        return matches[0]

    def series(self, calendar: str, summary: str) -> list[Event]:
        """The occurrences of a series, by start."""
        rows = self.all(Event, calendar_id=self.calendar(calendar).calendar_id, summary=summary)
        return sorted(rows, key=lambda row: row.start_datetime)

    def guests(self, event: Event) -> list[tuple[Attendee, User]]:
        """The guests of an event, with their accounts."""
        rows = self.all(Attendee, event_id=event.event_id)
        return [(row, self.one(User, user_id=row.user_id)) for row in rows]

    def scope(self, user: User) -> Scope:
        """The scope of exactly one user."""
        return self.one(Scope, type="user", value=user.email)

    def rule(self, calendar: str, user: User) -> AclRule:
        """The rule of sharing that names a user on a calendar."""
        key = self.calendar(calendar).calendar_id
        return self.one(AclRule, calendar_id=key, scope_id=self.scope(user).id)

    def owned(self, user: User) -> Sequence[Calendar]:
        """The calendars that a user owns."""
        return self.all(Calendar, user_id=user.user_id)


class ClinicsWorld(World):
    """All rows of the seed `clinics`. It stands on the Tuesday before Oslo's clocks change; Adelaide's and Santiago's
    follow a week later.
    """

    company = CLINICS
    now = datetime(2027, 3, 23, 11, 0)  # noqa: DTZ001 - tables keep UTC without a zone


def scope_key(email: str) -> str:
    """Key of the scope of a user."""
    bits = random.Random(f"scope of {email}").getrandbits(128)  # noqa: S311 - nothing here is secret
    return str(UUID(int=bits, version=4))


def stored(moment: datetime) -> str:
    """A time as events hold it."""
    return moment.strftime(TIME_FORM)
