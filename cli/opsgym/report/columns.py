"""Trials as columns of one table.

Invariant: the same rows make the same table. Each trial that has ended stands in it once: by its score, or, where it
has none, by its last attempt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from opsgym.report.model import TrialColumns
from opsgym_api.outcomes import Outcome
from opsgym_api.rows import AttemptRow, CellRows, RunRows, Times, TrialRow
from opsgym_api.scores import PENDING, ending_of, last_attempts

TrialPlace = tuple[str, str, int]
"""Key of the cell, task and number of a trial."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A trial that has ended, and where its cell and its task stand in the page."""

    cell: int
    task: int
    place: TrialPlace
    row: TrialRow | AttemptRow
    """An attempt's, if the trial has no score."""


def ended_trials(rows: RunRows, cells: Mapping[str, int], tasks: Mapping[str, int]) -> list[Ended]:
    """Trials that have ended, in the order of the plan.

    Args:
        rows: The run.
        cells: Positions of cells by key.
        tasks: Positions of tasks by id.
    """
    found = [
        Ended(cells[cell.cell.key], tasks[row.task_id], (cell.cell.key, row.task_id, row.trial), row)
        for cell in rows.cells
        for row in _ended_rows(cell)
    ]
    return sorted(found, key=lambda trial: (trial.cell, trial.task, trial.row.trial))


def _ended_rows(cell: CellRows) -> Iterator[TrialRow | AttemptRow]:
    yield from cell.trials
    yield from (row for row in last_attempts(cell).values() if ending_of(row) != PENDING)


def by_outcome(trials: Sequence[Ended]) -> list[Ended]:
    """What failed first, then what is not scored, then what passed: in the order in which people look."""
    return sorted(trials, key=lambda trial: _RANK.get(trial.row.outcome, 1))


_RANK: Mapping[Outcome | None, int] = {Outcome.FAILED: 0, Outcome.PASSED: 2}


def by_end(trials: Sequence[Ended]) -> list[Ended]:
    """In the order in which they ended, so that a table of a run that goes on grows at its end."""
    return sorted(trials, key=lambda trial: _end(trial.row.timings))


def _end(times: Times) -> float:
    return datetime.fromisoformat(times.started_at).timestamp() + times.total_s


def outcomes_of(trials: Sequence[Ended]) -> list[str]:
    """Outcomes that there are, as they first occur."""
    return list(dict.fromkeys(trial.row.outcome.value for trial in trials if trial.row.outcome))


def reasons_of(trials: Sequence[Ended]) -> list[str]:
    """Reasons that there are, as they first occur."""
    return list(dict.fromkeys(trial.row.reason for trial in trials))


def columns_of(
    trials: Sequence[Ended], modes: Mapping[TrialPlace, int], before: Mapping[TrialPlace, int]
) -> TrialColumns:
    """The table.

    Args:
        trials: Its rows.
        modes: Failure modes of failed trials, as bits.
        before: Mapping[TrialPlace, int] of the baseline; empty for none.
    """
    outcomes, reasons = _places(outcomes_of(trials)), _places(reasons_of(trials))
    rows = [trial.row for trial in trials]
    executed = [_executed(row) for row in rows]
    return TrialColumns(
        cell=[trial.cell for trial in trials],
        task=[trial.task for trial in trials],
        trial=[row.trial for row in rows],
        outcome=[outcomes[row.outcome.value] if row.outcome else 0 for row in rows],
        reason=[reasons[row.reason] for row in rows],
        cost_usd=[row.cost_usd for row in rows],
        steps=[row.steps for row in rows],
        tool_calls=[row.tool_calls for row in rows],
        tool_errors=[row.tool_errors if isinstance(row, TrialRow) else 0 for row in rows],
        seconds=[row.timings.total_s for row in rows],
        verifiers_passed=[passed for passed, _ in executed],
        verifiers=[total for _, total in executed],
        horizon=[row.horizon if isinstance(row, TrialRow) else None for row in rows],
        published_score=[row.published_score if isinstance(row, TrialRow) else None for row in rows],
        modes=[modes.get(trial.place, 0) for trial in trials],
        flip=list(_flips(trials, before)),
    )


def _places(names: Sequence[str]) -> dict[str, int]:
    return {name: place for place, name in enumerate(names)}


def _executed(row: TrialRow | AttemptRow) -> tuple[int, int]:
    """Executed verifiers: those that passed, and all."""
    if isinstance(row, AttemptRow):
        return 0, 0
    return sum(found.executed and found.passed for found in row.verifiers), sum(
        found.executed for found in row.verifiers
    )


def _flips(trials: Sequence[Ended], before: Mapping[TrialPlace, int]) -> Iterator[int]:
    for trial in trials:
        then = before.get(trial.place)
        yield 0 if then is None or isinstance(trial.row, AttemptRow) else trial.row.score - then
