"""The table of trials, as columns.

Invariant: the same rows give the same table. It has one row for each ended trial: the scored trial, or the last attempt
of a trial without a score.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from opsgym_api.records.attempt import Attempt, Cell, ScoredAttempt
from opsgym_api.records.outcomes import Outcome
from opsgym_console.report.model import TrialColumns
from opsgym_core.results.rows import CellRows, RunRows
from opsgym_core.results.score import PENDING, ending_of, last_attempts

TrialKey = tuple[str, str, int]
"""Key of the cell, task and number of a trial."""


@dataclass(frozen=True, slots=True)
class FinishedTrial:
    """An ended trial."""

    cell: Cell
    row: Attempt
    """The last attempt, if the trial has no score."""

    @property
    def key(self) -> TrialKey:
        """Its identity."""
        return self.cell.key, self.row.task_id, self.row.trial


@dataclass(frozen=True)
class Positions:
    """Positions of cells and tasks in a page."""

    cells: Mapping[str, int]
    """By key, in the order of `opsgym_core.results.score.summarise`: planned cells, then others."""
    tasks: Mapping[str, int]
    """By id, in the same order."""

    @classmethod
    def of(cls, rows: RunRows) -> Positions:
        """Positions for a run."""
        cells = [*(plan.cell.key for plan in rows.run.cells), *(cell.cell.key for cell in rows.cells)]
        tasks = [*rows.run.task_ids, *(row.task_id for cell in rows.cells for row in cell.all)]
        return cls(_positions(cells), _positions(tasks))


def _positions(names: Iterable[str]) -> dict[str, int]:
    return {name: position for position, name in enumerate(dict.fromkeys(names))}


def finished_trials(rows: RunRows, *, live: bool = False) -> list[FinishedTrial]:
    """Trials that have ended, in the order of the table.

    Args:
        rows: The run.
        live: Whether trials may still end. They are then in the order in which they ended, so that the table grows at
            its end; otherwise failed trials come first, then those without a score, then passed ones, each in the order
            of the plan.
    """
    trials = [FinishedTrial(cell.cell, row) for cell in rows.cells for row in _ended_rows(cell)]
    positions = Positions.of(rows)
    trials.sort(
        key=lambda trial: (positions.cells[trial.cell.key], positions.tasks[trial.row.task_id], trial.row.trial)
    )
    return sorted(trials, key=_end if live else _rank)


def _ended_rows(cell: CellRows) -> Iterator[Attempt]:
    yield from cell.trials
    yield from (row for row in last_attempts(cell).values() if ending_of(row) != PENDING)


_RANK: Mapping[Outcome | None, int] = {Outcome.FAILED: 0, Outcome.PASSED: 2}


def _rank(trial: FinishedTrial) -> int:
    return _RANK.get(trial.row.outcome, 1)


def _end(trial: FinishedTrial) -> float:
    times = trial.row.timings
    return datetime.fromisoformat(times.started_at).timestamp() + times.total_s


def outcomes_of(trials: Sequence[FinishedTrial]) -> list[str]:
    """Distinct outcomes, in the order of the table."""
    return list(dict.fromkeys(str(trial.row.outcome) for trial in trials))


def reasons_of(trials: Sequence[FinishedTrial]) -> list[str]:
    """Distinct reasons, in the order of the table."""
    return list(dict.fromkeys(trial.row.reason for trial in trials))


def columns_of(
    trials: Sequence[FinishedTrial], positions: Positions, modes: Mapping[TrialKey, int], before: Mapping[TrialKey, int]
) -> TrialColumns:
    """The columns of the table.

    Args:
        trials: Its rows.
        positions: Positions of cells and tasks in the page.
        modes: Failure modes of failed trials, as bits.
        before: Scores of the baseline; empty if there is none.
    """
    outcomes, reasons = _positions(outcomes_of(trials)), _positions(reasons_of(trials))
    rows = [trial.row for trial in trials]
    executed = [_executed(row) for row in rows]
    return TrialColumns(
        cell=[positions.cells[trial.cell.key] for trial in trials],
        task=[positions.tasks[row.task_id] for row in rows],
        trial=[row.trial for row in rows],
        outcome=[outcomes[str(row.outcome)] for row in rows],
        reason=[reasons[row.reason] for row in rows],
        cost_usd=[row.cost_usd for row in rows],
        steps=[row.steps for row in rows],
        tool_calls=[row.tool_calls for row in rows],
        tool_errors=[row.tool_errors for row in rows],
        seconds=[row.timings.total_s for row in rows],
        verifiers_passed=[passed for passed, _ in executed],
        verifiers=[total for _, total in executed],
        horizon=[row.horizon if isinstance(row, ScoredAttempt) else None for row in rows],
        published_score=[row.published_score if isinstance(row, ScoredAttempt) else None for row in rows],
        modes=[modes.get(trial.key, 0) for trial in trials],
        flip=list(_flips(trials, before)),
    )


def _executed(row: Attempt) -> tuple[int, int]:
    """Numbers of executed verifiers: passed, and all."""
    if not isinstance(row, ScoredAttempt):
        return 0, 0
    executed = [result for result in row.verifiers if result.executed]
    return sum(result.passed for result in executed), len(executed)


def _flips(trials: Sequence[FinishedTrial], before: Mapping[TrialKey, int]) -> Iterator[int]:
    for trial in trials:
        score = before.get(trial.key)
        yield 0 if score is None or not isinstance(trial.row, ScoredAttempt) else trial.row.score - score
