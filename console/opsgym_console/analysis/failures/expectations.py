"""Rows that verifiers expect in the final state, read from their SQL queries and expected differences.

Invariant: a row that must exist is described by conditions that its verifier makes necessary, though not by all of
them; a row that must not exist is described only if the whole query was read.

Without a reference solution these rows are the only source for what the agent should have written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from opsgym_api.records.attempt import VerifierResult
from opsgym_api.records.state_difference import StateDifference
from opsgym_api.tasks.task import Task
from opsgym_console.analysis.failures.conditions import Condition
from opsgym_console.analysis.failures.difference_rows import due_rows, is_met
from opsgym_console.analysis.failures.values import canonical

if TYPE_CHECKING:
    from opsgym_console.analysis.failures.queries import Query

_FILLED_BY_SERVER = re.compile(r"(?:org|tenant)_id|created_by\w*")
"""Columns that servers fill in; neither arguments nor results of calls contain them."""


@dataclass(frozen=True)
class Expectation:
    """A row that a verifier expects to exist, or not to exist."""

    verifier: int
    """Position of the verifier in the task."""
    conditions: Sequence[Condition]
    present: bool
    """Whether the row must exist."""
    certain: bool
    """Whether the verifier is known to have failed; False if its verdict is unknown."""
    table: str | None = None
    """The row's table; None if it is read from a query."""

    @property
    def columns(self) -> set[str]:
        """Columns that it compares."""
        return {condition.column for condition in self.conditions}

    def met_by(self, fields: Mapping[str, Any]) -> bool:
        """Whether a row is the expected one."""
        return all(condition.holds(fields) for condition in self.conditions)


def expectations_of(
    result: VerifierResult, task: Task | None = None, differences: Mapping[str, StateDifference] | None = None
) -> list[Expectation]:
    """Rows that a verifier expects; none if they cannot be known.

    Args:
        result: The verifier's result.
        task: The task; rows that a `state_difference` verifier expects are read from it.
        differences: Stored state differences by gym server; rows of a failed `state_difference` verifier that they
            have are left out.
    """
    if result.verifier_type == "state_difference":
        return _of_difference(result, task, differences or {})
    return _of_query(result)


def _of_difference(
    result: VerifierResult, task: Task | None, differences: Mapping[str, StateDifference]
) -> list[Expectation]:
    if task is None or result.index >= len(task.verifiers):
        return []
    gym = result.gym_name or task.gym_servers_config[0].mcp_server_name
    difference = differences.get(gym, StateDifference())
    rows = due_rows(task.verifiers[result.index].state_difference)
    return [
        Expectation(result.index, conditions, row.change != "removed", True, row.table)
        for row in rows
        if (conditions := _usable(row.conditions)) and (result.passed or not is_met(row, difference))
    ]


def _of_query(result: VerifierResult) -> list[Expectation]:
    """Rows that a verifier's SQL query selects or counts."""
    if result.verifier_type != "database_state" or not result.query or result.comparison not in (None, "equals"):
        return []
    # sqlglot takes 0.2 s and 20 MB to import: paid only where failed trials are analysed.
    from opsgym_console.analysis.failures.queries import read_query

    query = read_query(result.query)
    if query is None:
        return []
    expected = canonical(result.expected)
    if query.selected is None and (not isinstance(expected, int) or (expected == 0 and not query.complete)):
        return []
    present = query.selected is not None or expected != 0
    return [
        Expectation(result.index, conditions, present, result.executed)
        for row in _expected_rows(query, result.expected)
        if (conditions := _usable(row))
    ]


def _expected_rows(query: Query, expected: Any) -> Iterator[Sequence[Condition]]:
    """Conditions of each row that a query selects or counts."""
    if query.selected is not None:
        table, column = query.selected
        yield from {**query.conditions, table: (*query.conditions.get(table, ()), Condition(column, expected))}.values()
        return
    count = canonical(expected)
    alternatives = query.alternatives if len(query.alternatives) == count > 1 else ()
    for alternative in alternatives:
        for table, conditions in alternative.items():
            yield (*conditions, *query.conditions.get(table, ()))
    described = {table for alternative in alternatives for table in alternative}
    for table in {**query.conditions, **query.lists}:
        shared = query.conditions.get(table, ())
        # As many values as rows: one row for each value.
        lists = [(column, values) for column, values in query.lists.get(table, ()) if len(values) == count]
        yield from ((Condition(column, value), *shared) for column, values in lists for value in values)
        if not lists and table not in described:
            yield shared


def _usable(conditions: Sequence[Condition]) -> Sequence[Condition]:
    """Conditions that agents can know; a column compared twice belongs to parts that cannot both describe one row."""
    columns = [condition.column for condition in conditions]
    return tuple(
        condition
        for condition in conditions
        if columns.count(condition.column) == 1 and not _FILLED_BY_SERVER.fullmatch(condition.column)
    )
