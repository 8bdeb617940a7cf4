"""Trials as columns of one table.

Invariant: the same rows make the same table. Each trial that has ended stands in it once: by its score, or, where it
has none, by its last attempt.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from opsgym.report.model import TrialColumns
from opsgym_api.outcomes import Outcome
from opsgym_api.records import Cell
from opsgym_api.rows import AttemptRow, CellRows, RunRows, TrialRow
from opsgym_api.scores import PENDING, ending_of, last_attempts

TrialPlace = tuple[str, str, int]
"""Key of the cell, task and number of a trial."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A trial that has ended."""

    cell: Cell
    row: TrialRow | AttemptRow
    """An attempt's, if the trial has no score."""

    @property
    def place(self) -> TrialPlace:
        """Which trial it is."""
        return self.cell.key, self.row.task_id, self.row.trial


@dataclass(frozen=True)
class Positions:
    """Where cells and tasks stand in a page."""

    cells: Mapping[str, int]
    """By key, as `opsgym_api.scores.summarise` orders them: those of the plan, then those that nobody planned."""
    tasks: Mapping[str, int]
    """By id, likewise."""

    @classmethod
    def of(cls, rows: RunRows) -> Positions:
        """Those of a run."""
        cells = [*(plan.cell.key for plan in rows.run.cells), *(cell.cell.key for cell in rows.cells)]
        tasks = [*rows.run.task_ids, *(row.task_id for cell in rows.cells for row in cell.all)]
        return cls(_places(cells), _places(tasks))


def _places(names: Iterable[str]) -> dict[str, int]:
    return {name: place for place, name in enumerate(dict.fromkeys(names))}


def ended_trials(rows: RunRows, *, live: bool = False) -> list[Ended]:
    """Trials that have ended.

    Args:
        rows: The run.
        live: Whether trials may still end. They are then in the order in which they ended, so that the table grows at
            its end; otherwise in the order in which people look: what failed first, then what is not scored, then what
            passed, and inside each in the order of the plan.
    """
    found = [Ended(cell.cell, row) for cell in rows.cells for row in _ended_rows(cell)]
    positions = Positions.of(rows)
    found.sort(key=lambda trial: (positions.cells[trial.cell.key], positions.tasks[trial.row.task_id], trial.row.trial))
    return sorted(found, key=_end if live else _rank)


def _ended_rows(cell: CellRows) -> Iterator[TrialRow | AttemptRow]:
    yield from cell.trials
    yield from (row for row in last_attempts(cell).values() if ending_of(row) != PENDING)


_RANK: Mapping[Outcome | None, int] = {Outcome.FAILED: 0, Outcome.PASSED: 2}


def _rank(trial: Ended) -> int:
    return _RANK.get(trial.row.outcome, 1)


def _end(trial: Ended) -> float:
    times = trial.row.timings
    return datetime.fromisoformat(times.started_at).timestamp() + times.total_s


def outcomes_of(trials: Sequence[Ended]) -> list[str]:
    """Outcomes that there are, as they first occur."""
    return list(dict.fromkeys(str(trial.row.outcome) for trial in trials))


def reasons_of(trials: Sequence[Ended]) -> list[str]:
    """Reasons that there are, as they first occur."""
    return list(dict.fromkeys(trial.row.reason for trial in trials))


def columns_of(
    trials: Sequence[Ended], positions: Positions, modes: Mapping[TrialPlace, int], before: Mapping[TrialPlace, int]
) -> TrialColumns:
    """The table.

    Args:
        trials: Its rows.
        positions: Where cells and tasks stand in the page.
        modes: Failure modes of failed trials, as bits.
        before: Scores of the baseline; empty for none.
    """
    outcomes, reasons = _places(outcomes_of(trials)), _places(reasons_of(trials))
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
        tool_errors=[row.tool_errors if isinstance(row, TrialRow) else 0 for row in rows],
        seconds=[row.timings.total_s for row in rows],
        verifiers_passed=[passed for passed, _ in executed],
        verifiers=[total for _, total in executed],
        horizon=[row.horizon if isinstance(row, TrialRow) else None for row in rows],
        published_score=[row.published_score if isinstance(row, TrialRow) else None for row in rows],
        modes=[modes.get(trial.place, 0) for trial in trials],
        flip=list(_flips(trials, before)),
    )


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
