"""Where an agent's writes differ from the rows that failed verifiers expect.

Invariant: a mismatch is reported only against the record that comes nearest to the expected row; where no record is
near, the row counts as never written. A verifier whose verdict is unknown counts as failed: if its rows exist, no
mismatch follows. Rows of `state_difference` verifiers are known to be absent, so only writes are compared with them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from opsgym_console.analysis.failures.conditions import Condition
from opsgym_console.analysis.failures.expectations import Expectation
from opsgym_console.analysis.failures.trajectory import Call, Trajectory, creates, removes
from opsgym_console.analysis.failures.values import canonical, is_reference, leaves, records, snake

_NAME = re.compile(r"(?:^|_)(?:name|title|topic|subject)$")
"""Columns by which people recognise a record."""


@dataclass(frozen=True)
class Row:
    """A record as a call showed or wrote it."""

    fields: Mapping[str, Any]
    call: Call
    given: frozenset[str]
    """Columns that the agent gave a value in this call."""

    @property
    def written(self) -> bool:
        """Whether the agent wrote it."""
        return self.call.writes


class MismatchKind(StrEnum):
    """In which way an expectation is not met."""

    ANOTHER_RECORD = "another_record"
    """The agent wrote a reference to another record."""
    ANOTHER_VALUE = "another_value"
    """The agent wrote another value, or created the record without the value."""
    NOT_CHANGED = "not_changed"
    """The agent did not change the column of an existing record."""
    NOT_WRITTEN = "not_written"
    """The agent wrote no such record, or did not remove one that must not exist."""


@dataclass(frozen=True)
class Mismatch:
    """An expectation that the agent's writes do not meet."""

    expectation: Expectation
    kind: MismatchKind
    condition: Condition
    """The condition that does not hold; the first one where no record is near."""
    row: Row | None = None
    """The record that comes nearest; None if none is near."""

    @property
    def row_written(self) -> bool:
        """Whether the agent wrote the record, with whatever values."""
        return self.row is not None and self.row.written


def mismatches(
    expectations: Sequence[Expectation],
    others: Sequence[Expectation],
    trajectory: Trajectory,
    served: AbstractSet[tuple[str, str, Any]] = frozenset(),
) -> list[Mismatch]:
    """Where the agent's writes differ from the expected rows.

    Args:
        expectations: Rows that failed verifiers expect.
        others: Rows that passed verifiers expect; a record that is one of them is not a wrong attempt at another.
        trajectory: What the agent did.
        served: Table, column and value of the primary keys of records that the agent changed as expected; such a record
            is not a wrong attempt at another of its table.
    """
    rows = [row for call in trajectory.calls if call.succeeded for row in _rows(call)]
    result: list[Mismatch] = []
    for expectation in expectations:
        rivals = [
            other
            for other in (*expectations, *others)
            if other.columns == expectation.columns and other.conditions != expectation.conditions
        ]
        keys = {(column, value) for table, column, value in served if table == expectation.table}
        candidates = [row for row in rows if not row.written or not _serves_another(row, rivals, keys)]
        if expectation.table is None:
            result += _mismatches(expectation, candidates, trajectory)
        else:
            result += _of_absent_row(expectation, [row for row in candidates if row.written], trajectory)
    return result


def _serves_another(row: Row, rivals: Sequence[Expectation], keys: AbstractSet[tuple[str, Any]]) -> bool:
    """Whether a record is another expected one."""
    return any(other.met_by(row.fields) for other in rivals) or any(
        canonical(row.fields.get(column)) == value for column, value in keys
    )


def _rows(call: Call) -> Iterator[Row]:
    """Records that a call showed: a write's own, or those that a lookup returned, with the ids it searched by."""
    arguments = {snake(name): value for name, value in call.arguments.items()}
    returned = [{snake(name): value for name, value in record.items()} for record in records(call.data)]
    if call.writes:
        yield Row({**arguments, **(returned[0] if returned else {})}, call, frozenset(arguments))
        return
    searched_by = {name: value for name, value in arguments.items() if is_reference(name, value)}
    for record in returned:
        yield Row({**searched_by, **record}, call, frozenset())


def _mismatches(expectation: Expectation, rows: Sequence[Row], trajectory: Trajectory) -> Iterator[Mismatch]:
    first = expectation.conditions[0]
    matching = [row for row in rows if expectation.met_by(row.fields)]
    if not expectation.present:
        removed = any(removes(call.tool) for call in trajectory.written)
        if matching and not removed and not _superseded(expectation, matching[-1], rows):
            yield Mismatch(expectation, MismatchKind.NOT_WRITTEN, first, matching[-1])
        return
    if matching:
        return
    nearest = _nearest(expectation, rows)
    if nearest is None:
        if _absence_is_evidence(expectation, trajectory) and not _inside_arguments(expectation, trajectory):
            yield Mismatch(expectation, MismatchKind.NOT_WRITTEN, first)
        return
    if not _changed_later(nearest, trajectory):
        yield from _differing(expectation, nearest, trajectory)


def _of_absent_row(expectation: Expectation, rows: Sequence[Row], trajectory: Trajectory) -> Iterator[Mismatch]:
    """How writes differ from a row that the final database does not have; without a near one it was never written."""
    nearest = _nearest(expectation, rows) if expectation.present else None
    differing = [] if nearest is None else list(_differing(expectation, nearest, trajectory))
    yield from differing or [Mismatch(expectation, MismatchKind.NOT_WRITTEN, expectation.conditions[0], nearest)]


def _nearest(expectation: Expectation, rows: Sequence[Row]) -> Row | None:
    nearest = max(rows, key=lambda row: _nearness(expectation, row), default=None)
    return nearest if nearest is not None and _is_near(expectation, nearest) else None


def _differing(expectation: Expectation, row: Row, trajectory: Trajectory) -> Iterator[Mismatch]:
    for condition in expectation.conditions:
        if condition.column in row.fields and not condition.holds(row.fields):
            yield Mismatch(expectation, _kind(condition, row, trajectory), condition, row)


def _superseded(expectation: Expectation, row: Row, rows: Sequence[Row]) -> bool:
    """Whether a later call showed the record with other values."""
    keys = [
        condition for condition in expectation.conditions if is_reference(condition.column, canonical(condition.value))
    ]
    return any(
        later.call.number > row.call.number
        and all(condition.known(later.fields) for condition in expectation.conditions)
        and all(key.holds(later.fields) for key in keys)
        for later in rows
    )


def _nearness(expectation: Expectation, row: Row) -> tuple[int, int, bool, int]:
    holding = sum(condition.holds(row.fields) for condition in expectation.conditions)
    known = sum(condition.known(row.fields) for condition in expectation.conditions)
    return holding, known, row.written, row.call.number


def _is_near(expectation: Expectation, row: Row) -> bool:
    """Whether a record can be meant as the expected row.

    At least one condition holds, half of the columns are known, no more references are unknown than hold, and a record
    with another name must have more conditions that hold than that do not.
    """
    known = [condition for condition in expectation.conditions if condition.known(row.fields)]
    holding = [condition for condition in known if condition.holds(row.fields)]
    references = [condition for condition in expectation.conditions if is_reference(condition.column, condition.value)]
    unknown = sum(not condition.known(row.fields) for condition in references)
    shared = sum(condition in holding for condition in references)
    other_name = any(_NAME.search(condition.column) and condition not in holding for condition in known)
    if not holding or 2 * len(known) < len(expectation.conditions) or unknown > shared:
        return False
    return not other_name or 2 * len(holding) > len(known)


def _absence_is_evidence(expectation: Expectation, trajectory: Trajectory) -> bool:
    """Whether the row's absence matters: its verifier failed for certain, or the request names one of its values."""
    return expectation.certain or any(
        condition.value is not None and condition.occurs_in(trajectory.request) for condition in expectation.conditions
    )


def _inside_arguments(expectation: Expectation, trajectory: Trajectory) -> bool:
    """Whether one write has all values somewhere in its arguments, for instance members inside a new team."""
    texts = [json.dumps(call.arguments, ensure_ascii=False) for call in trajectory.written]
    options = [(condition, *condition.alternatives) for condition in expectation.conditions]
    return any(all(any(one.occurs_in(text) for one in either) for either in options) for text in texts)


def _changed_later(row: Row, trajectory: Trajectory) -> bool:
    """Whether a later write named the record without showing its result, so that its values are unknown."""
    keys = {canonical(value) for name, value in row.fields.items() if is_reference(name, value)}
    return any(
        call.number > row.call.number
        and not isinstance(call.data, Mapping)
        and any(canonical(value) in keys for name, value in leaves(call.arguments) if is_reference(name, value))
        for call in trajectory.written
    )


def _kind(condition: Condition, row: Row, trajectory: Trajectory) -> MismatchKind:
    if not row.written:
        return MismatchKind.NOT_CHANGED
    if condition.column in row.given:
        reference = is_reference(condition.column, condition.value)
        return MismatchKind.ANOTHER_RECORD if reference else MismatchKind.ANOTHER_VALUE
    tried = any(call.is_error and condition.column in map(snake, call.arguments) for call in trajectory.writes)
    return MismatchKind.ANOTHER_VALUE if creates(row.call.tool) and not tried else MismatchKind.NOT_CHANGED
