"""What time does to the rows of a domain by itself.

Invariant: a change is stated once, as data: the server makes it when a database's clock moves, and task authors compute
the rows that they expect from the same statement. A change happens once, at its own time, when the clock passes it;
what was due before the clock's earlier time is left as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol, TypeVar

from opsgym_domains.kit.gym import Gym
from opsgym_domains.kit.schema import Row

R = TypeVar("R", bound=Row)
DUE = object()
"""Stands in `changes` for the time at which the change happens."""


@dataclass(frozen=True)
class Consequence:
    """What happens to rows that refer to a row when time changes it."""

    kind: type[Row]
    refers_by: str
    """Column that holds the changed row's key."""
    where: Mapping[str, Any]
    """Values that a row must have."""
    changes: Mapping[str, Any]


@dataclass(frozen=True)
class Deadline:
    """A change that happens to rows of a table when a time of theirs has come."""

    kind: type[Row]
    where: Mapping[str, Any]
    """Values that a row must have when the time comes."""
    since: str
    """Column of dates or times. A date counts from its first instant."""
    changes: Mapping[str, Any]
    after: timedelta = timedelta()
    """How long after that time the change happens."""
    consequences: Sequence[Consequence] = ()

    def due(self, row: Row) -> datetime | None:
        """When the change happens to a row; None if the row has no such time."""
        since = getattr(row, self.since)
        if since is None:
            return None
        start = since if isinstance(since, datetime) else datetime(since.year, since.month, since.day)  # noqa: DTZ001
        return start + self.after

    def still_applies(self, row: Row) -> bool:
        """Whether a row has the values that the change needs; an earlier change may have altered them."""
        return all(getattr(row, name) == value for name, value in self.where.items())


class Rows(Protocol):
    """Rows of a world, as task authors hold them."""

    def all(self, kind: type[R], **values: Any) -> list[R]:
        """A table's rows with these column values."""
        ...


async def pass_time(deadlines: Sequence[Deadline], gym: Gym, before: datetime, after: datetime) -> None:
    """Makes the changes of a database that happen after one time and up to another, in order of time.

    Args:
        deadlines: The domain's.
        gym: The database, in the transaction that moves its clock.
        before: Time of the clock until now.
        after: Its new time. Nothing happens if it is not later.
    """
    rows = [
        row for deadline in deadlines for row in await gym.all(deadline.kind, *_conditions(deadline, before, after))
    ]
    for time, deadline, row in _due(deadlines, rows, before, after):
        if not deadline.still_applies(row):
            continue
        then = gym.at(time)
        await then.update(row, _values(deadline.changes, time))
        for consequence in deadline.consequences:
            values = {consequence.refers_by: _key(row), **consequence.where}
            conditions = [getattr(consequence.kind, name) == value for name, value in values.items()]
            for follower in await gym.all(consequence.kind, *conditions):
                await then.update(follower, _values(consequence.changes, time))


def pass_time_in(deadlines: Sequence[Deadline], world: Rows, before: datetime, after: datetime) -> list[Row]:
    """Changes rows that a task author holds as the server would; returns the changed rows.

    Args:
        deadlines: The domain's.
        world: The rows.
        before: Time until now.
        after: The new time.
    """
    rows = [row for deadline in deadlines for row in world.all(deadline.kind, **deadline.where)]
    changed: list[Row] = []
    for time, deadline, row in _due(deadlines, rows, before, after):
        if not deadline.still_applies(row):
            continue
        changed.append(_set(row, deadline.changes, time))
        for consequence in deadline.consequences:
            values = {consequence.refers_by: _key(row), **consequence.where}
            followers = world.all(consequence.kind, **values)
            changed += [_set(follower, consequence.changes, time) for follower in followers]
    return changed


def _due(
    deadlines: Sequence[Deadline], rows: Sequence[Row], before: datetime, after: datetime
) -> list[tuple[datetime, Deadline, Row]]:
    """Changes between two times in order of time; of equal times, in the order of the deadlines and rows."""
    times = [(deadline.due(row), deadline, row) for deadline in deadlines for row in rows if type(row) is deadline.kind]
    due = [(time, deadline, row) for time, deadline, row in times if time is not None and before < time <= after]
    return sorted(due, key=lambda change: change[0])


def _conditions(deadline: Deadline, before: datetime, after: datetime) -> list[Any]:
    column = getattr(deadline.kind, deadline.since)
    # A column of dates is compared from the first instant of the day on.
    first = (before - deadline.after).replace(hour=0, minute=0, second=0, microsecond=0)
    values = [getattr(deadline.kind, name) == value for name, value in deadline.where.items()]
    return [*values, column >= first, column <= after - deadline.after]


def _set(row: Row, changes: Mapping[str, Any], time: datetime) -> Row:
    for name, value in _values(changes, time).items():
        setattr(row, name, value)
    if row.updated is not None:
        setattr(row, row.updated, time)
    return row


def _values(changes: Mapping[str, Any], time: datetime) -> dict[str, Any]:
    return {name: time if value is DUE else value for name, value in changes.items()}


def _key(row: Row) -> Any:
    return getattr(row, next(iter(row.__table__.primary_key)).name)
