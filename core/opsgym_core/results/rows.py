"""Rows: attempts without their texts, from which scores and comparisons are computed.

Invariant: a row has every field of its record that a number is computed from, and no text of a query, an answer or a
prompt. An attempt has one row: that of its trial if it was scored, its own otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from opsgym_api.records.attempt import Attempt, AttemptRecord, Cell, ScoredAttempt, TrialRecord
from opsgym_api.records.outcomes import InfraReason, Outcome
from opsgym_api.records.run import RunRecord

A = TypeVar("A", bound=Attempt)


@dataclass(frozen=True, slots=True)
class CellRows:
    """Results of one cell."""

    cell: Cell
    trials: tuple[ScoredAttempt, ...]
    """One row per scored trial."""
    attempts: tuple[Attempt, ...]
    """One row per attempt that has no row in `trials`."""
    unreadable: tuple[Attempt, ...] = ()
    """How trials count that have a record which cannot be read, and no other score; see `RowCollection`."""

    @property
    def all(self) -> list[Attempt]:
        """Rows of every attempt, scored or not."""
        return [*self.trials, *self.attempts]


@dataclass(frozen=True)
class RunRows:
    """Results of a run in its store."""

    run: RunRecord
    cells: Sequence[CellRows]
    """Cells with at least one row."""


def without_score(attempt: A) -> A:
    """An attempt without a trial record in the store.

    If its attempt record has a scored outcome, the score is lost: the outcome becomes an infrastructure error.
    """
    if attempt.outcome is None or not attempt.outcome.scored:
        return attempt
    message = "the attempt ended, but the store holds no score of it"
    return replace(attempt, outcome=Outcome.INFRA_ERROR, reason=InfraReason.STORE_LOST.value, message=message)


class RowCollection:
    """Rows from several sources, one per attempt.

    Further rows of an attempt are equal to its first and ignored. A trial's row replaces the row of the scored attempt,
    because it was written later. A trial with an unreadable record and no score gets a last attempt that says so; what
    that attempt cost is unknown unless another row of the trial tells it.
    """

    def __init__(self) -> None:
        self._cells: dict[str, Cell] = {}
        self._trials: dict[str, dict[tuple[str, int], ScoredAttempt]] = {}
        self._attempts: dict[str, dict[tuple[str, int, int], Attempt]] = {}
        self._unreadable: dict[str, dict[tuple[str, int], Attempt]] = {}

    def add(self, rows: CellRows) -> None:
        """Adds rows of one cell."""
        key = rows.cell.key
        self._cells.setdefault(key, rows.cell)
        trials, attempts = self._trials.setdefault(key, {}), self._attempts.setdefault(key, {})
        for trial in rows.trials:
            trials.setdefault((trial.task_id, trial.trial), trial)
        for attempt in rows.attempts:
            attempts.setdefault((attempt.task_id, attempt.trial, attempt.attempt), attempt)
        for attempt in rows.unreadable:
            self._unreadable.setdefault(key, {})[attempt.task_id, attempt.trial] = attempt

    def scored(self, cell: str) -> Iterable[tuple[str, int]]:
        """Task id and trial number of every scored trial of a cell, by the cell's key."""
        return self._trials.get(cell, {}).keys()

    def rows(self) -> Iterator[CellRows]:
        """All rows, sorted by cell, task, trial and attempt."""
        for key, cell in sorted(self._cells.items()):
            trials, attempts = self._trials[key], self._attempts[key]
            scored = {(*trial, row.attempt) for trial, row in trials.items()}
            unscored = [attempts[attempt] for attempt in sorted(attempts) if attempt not in scored]
            unreadable = (row for trial, row in self._unreadable.get(key, {}).items() if trial not in trials)
            yield CellRows(
                cell,
                tuple(trials[trial] for trial in sorted(trials)),
                (*unscored, *(_last_attempt(row, unscored) for row in unreadable)),
            )


def _last_attempt(unreadable: Attempt, attempts: Iterable[Attempt]) -> Attempt:
    """The row of an unreadable record as the last attempt of its trial."""
    numbers = [row.attempt for row in attempts if row.trial_id == unreadable.trial_id]
    return replace(unreadable, attempt=max(numbers) + 1, cost_usd=0.0) if numbers else unreadable


def rows_of_records(trials: Iterable[TrialRecord], attempts: Iterable[AttemptRecord]) -> list[CellRows]:
    """Rows of trial and attempt records, by cell."""
    collection = RowCollection()
    for trial in trials:
        collection.add(CellRows(trial.cell, (trial.without_texts(),), ()))
    for attempt in attempts:
        collection.add(CellRows(attempt.cell, (), (attempt.narrow(Attempt),)))
    return list(collection.rows())
