"""Scenarios: tasks in which records change without the agent, or in which the gym server refuses calls.

Invariant: a change is stated once. The statements that a gym server executes and the rows that verifiers expect come
from the same `ScenarioEvent`, so they cannot contradict each other.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Generic, Self, TypeVar

from sqlalchemy import inspect

from opsgym_api.tasks.answer_patterns import NOT_DONE
from opsgym_api.tasks.event import Event
from opsgym_api.tasks.row_statements import insert_statement, update_statement
from opsgym_api.tasks.verifiers import Category, Verifier
from opsgym_domains.kit.passing import pass_time_in
from opsgym_domains.kit.schema import Row, as_dict, columns_of
from opsgym_suites.kit.verifiers import answer_says
from opsgym_suites.kit.world import World, plain

W = TypeVar("W", bound=World)
FIRST_LOOK = 1
"""Step after which most events happen: the agent has read the records and has not written yet."""


class ScenarioEvent(Generic[W]):
    """Rows that change without the agent, in the gym server's database and in the expected final state.

    Args:
        world: The seed's rows.
        advance: Time that passes with the event or over the days of the task, and does what it does by itself; the
            other changes follow.

    Attributes:
        after: The seed's rows after the event.
        statements: SQL that makes the changes, in Postgres' dialect.
    """

    def __init__(self, world: W, advance: timedelta = timedelta()) -> None:
        self.after = copied(world)
        pass_time_in(world.deadlines, self.after, world.now, world.now + advance)
        self._advance = advance
        self.statements: list[str] = []

    def change(self, row: Row, parts: Mapping[str, Sequence[str]] | None = None, /, **values: Any) -> Self:
        """Sets columns of a row, or replaces parts of their texts where the rest may change meanwhile."""
        columns, kind = as_dict(row), type(row)
        key = {column.name: columns[column.name] for column in row.__table__.primary_key}
        changed = self.after.one(kind, **key)
        texts = {
            name: str(getattr(changed, name)).replace(before, after) for name, (before, after) in (parts or {}).items()
        }
        self.statements.append(update_statement(kind.__tablename__, key, values, parts))
        self.after.change(changed, **values, **texts)
        return self

    def add(self, row: Row) -> Self:
        """Adds a row, which gets the next id."""
        values = {name: value for name, value in as_dict(self.after.add(row)).items() if value is not None}
        self.statements.append(insert_statement(type(row).__tablename__, values))
        return self

    def happens_after(self, step: int) -> Event:
        """The event, triggered after a step of the agent."""
        return Event(after_step=step, sql=self.statements)

    def happens_when(self, query: str) -> Event:
        """The event, triggered once when a query in Postgres' dialect first returns true."""
        return Event(when=query, sql=self.statements, advance_seconds=self._advance.total_seconds() or None)

    def happens_at(self, time: datetime) -> Event:
        """The event, triggered when the clock reaches a time; a task of several days moves the clock."""
        return Event(at=time.isoformat(), sql=self.statements)

    def happens_on(self, tool: str) -> Event:
        """The event, triggered by the first successful call of a tool."""
        return Event(on_tool=tool, sql=self.statements, advance_seconds=self._advance.total_seconds() or None)


def answer_admits(*reasons: str, rule: str = "REF-2") -> tuple[Verifier, Verifier]:
    """The final answer says that a part of the request was not carried out, and gives one of the reasons."""
    process = Category.PERMISSION_PROCESS
    return (
        answer_says(
            "says_what_was_not_done", f"The answer says what was not done [{rule}]", NOT_DONE, category=process
        ),
        answer_says("says_why", f"The answer gives the reason [{rule}]", *reasons, category=process),
    )


def days(number: float) -> timedelta:
    """A number of days."""
    return timedelta(days=number)


def copied(world: W) -> W:
    """A world with the same rows, which can be changed."""
    copy = type(world)(world.now, world.first_id)
    for _name, rows in world.tables():
        for row in rows:
            copy.add(_same(row))
    return copy


def _same(row: Row) -> Row:
    new, columns = _maker(type(row))
    made = new()
    vars(made).update({name: value for name, value in plain(row).items() if name in columns})
    return made


@cache
def _maker(kind: type[Row]) -> tuple[Callable[[], Row], Collection[str]]:
    """What makes a row of a kind without values, and the kind's columns: events copy hundreds of thousands of rows."""
    return inspect(kind).class_manager.new_instance, frozenset(columns_of(kind))
