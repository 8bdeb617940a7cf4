"""Rows that a `state_difference` verifier expects and the final database does not have.

Invariant: only rows that must differ, in each of their alternatives, are expected; a row that the stored difference
shows as expected is left out. Conditions that compare with another row, a pattern or bounds are left out: what is left
is necessary, though not sufficient.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opsgym_api.records.state_difference import RowDifference, StateDifference
from opsgym_api.tasks import expected_difference
from opsgym_api.tasks.expected_difference import ExpectedDifference, ExpectedRow
from opsgym_console.analysis.failures.conditions import Condition
from opsgym_console.analysis.failures.values import canonical


@dataclass(frozen=True)
class DueRow:
    """A row that must differ from the seed."""

    table: str
    change: str
    conditions: Sequence[Condition]
    """Of its primary key, if the key is known, and of its columns."""


def due_rows(expected: ExpectedDifference) -> Iterator[DueRow]:
    """Rows that must differ, whichever alternative is chosen."""
    for alternatives in expected.alternatives:
        if len(alternatives) == 1:
            for row in alternatives[0]:
                if not row.optional:
                    yield from _each(row)


def served_keys(expected: ExpectedDifference, difference: StateDifference) -> Iterator[tuple[str, str, Any]]:
    """Table, column and value of the primary keys of rows that an expectation, optional or not, describes."""
    rows = [one for row in expected.every_row() for one in _each(row)]
    for table in difference.tables:
        for change in table.rows:
            if any(row.table == table.table and _meets(change, row) for row in rows):
                yield from ((table.table, column, canonical(value)) for column, value in change.key.items())


def is_met(row: DueRow, difference: StateDifference) -> bool:
    """Whether a stored difference has the row."""
    return any(_meets(change, row) for table in difference.tables if table.table == row.table for change in table.rows)


def _meets(change: RowDifference, row: DueRow) -> bool:
    return change.change == row.change and all(condition.holds(_fields(change)) for condition in row.conditions)


def _fields(row: RowDifference) -> Mapping[str, Any]:
    return {**row.before, **row.after, **row.key}


def _each(row: ExpectedRow) -> Iterator[DueRow]:
    values = [one for column, condition in row.values.items() if (one := _condition(column, condition)) is not None]
    for key in row.keys or [{}]:
        conditions = [*(Condition(column, value) for column, value in key.items()), *values]
        yield DueRow(row.table, row.change, conditions)


def _condition(column: str, condition: expected_difference.Condition) -> Condition | None:
    """The condition as rules compare it; None if it is not about a known value."""
    if condition.any_of is not None:
        first, *others = (Condition(column, value) for value in condition.any_of)
        return Condition(column, first.value, alternatives=tuple(others))
    if condition.has is not None:
        return Condition(column, max(condition.has, key=len), partial=True)
    if condition.text is not None:
        return Condition(column, condition.text)
    return Condition(column, condition.equals) if condition.equals is not None else None
