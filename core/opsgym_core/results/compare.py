"""Compares two runs. Pure: rows in, a comparison out. docs/scores.md defines each number.

Invariant: only trials that are scored in both runs are compared, each with the trial of the same cell, task and number;
the result counts the trials that are scored in one run only.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

from opsgym_api.errors import InputError, Problem
from opsgym_api.records.attempt import Cell
from opsgym_api.records.run import PlannedCell
from opsgym_core.results.paired import paired_mean
from opsgym_core.results.rows import CellRows, RunRows
from opsgym_core.results.score import Ratio
from opsgym_core.results.statistics import Interval, mean

NAMED = ("model", "agent", "mode")
"""Parts of a cell whose names may differ between two runs."""


Scores: TypeAlias = Mapping[tuple[str, int], int]
"""Scored trials of a cell: 1 or 0 by task id and trial number."""


@dataclass(frozen=True)
class TaskRates:
    """Success of a task of a cell in both runs, of at least one trial each."""

    cell: Cell
    task_id: str
    before: Ratio
    after: Ratio

    @property
    def difference(self) -> float:
        """Change of the task's success, from -1 to 1."""
        return float(self.change)

    @cached_property
    def change(self) -> Fraction:
        """`difference` as a fraction."""
        before, after = self.before, self.after
        return Fraction(after.passed * before.total - before.passed * after.total, before.total * after.total)

    @property
    def pairs(self) -> float:
        """Number of pairs of trials with the noise of the difference: the harmonic mean of both numbers of trials."""
        return 2 * self.before.total * self.after.total / (self.before.total + self.after.total)


@dataclass(frozen=True)
class TaskPair(TaskRates):
    """The trials of a task that are scored in both runs."""

    lost: int
    """Trials that passed before and fail now."""
    won: int
    """Trials that failed before and pass now."""


@dataclass(frozen=True)
class Change:
    """Change between two runs, over the trials that are scored in both. A task counts once, in however many cells."""

    tasks: int
    trials: int
    lost: int
    """Trials that passed before and fail now."""
    won: int
    """Trials that failed before and pass now."""
    before: float | None
    """Success rate as the mean over tasks; None if nothing is compared."""
    after: float | None
    difference: float | None
    """`after` minus `before`."""
    interval: Interval | None
    """Interval of the difference; tasks are the unit."""
    p_value: float
    """Two-sided, of the test whether the difference is 0: below 0.05 exactly if 0 is outside `interval`."""
    only_before: int
    """Trials that are scored in the first run only."""
    only_after: int


@dataclass(frozen=True)
class CellChange:
    """Change of a cell that both runs have."""

    cell: Cell
    change: Change


@dataclass(frozen=True)
class Comparison:
    """Comparison of two runs."""

    before: str
    after: str
    same_suite: bool
    """Whether both runs have the same suite, by digest."""
    cells: Sequence[CellChange]
    """Cells that both runs have, in the order of the second."""
    total: Change
    """Change over all these cells."""
    flips: Sequence[TaskPair]
    """Tasks with a lost or won trial, largest losses first."""
    only_before: Sequence[Cell]
    """Cells of the first run only."""
    only_after: Sequence[Cell]


def compare(before: RunRows, after: RunRows) -> Comparison:
    """Compares the cells that have the same name in both runs."""
    first, second = _by_key(before), _by_key(after)
    both = [key for key in second if key in first]
    pairs = {key: pair_tasks(second[key].cell, scores_of(first[key]), scores_of(second[key])) for key in both}
    left_out = {key: _left_out(first[key], second[key]) for key in both}
    all_pairs = [pair for cell_pairs in pairs.values() for pair in cell_pairs]
    total = sum(left_out.values(), Counter())
    return Comparison(
        before=before.run.run,
        after=after.run.run,
        same_suite=before.run.suite_digest == after.run.suite_digest,
        cells=[CellChange(second[key].cell, _change(pairs[key], left_out[key])) for key in both],
        total=_change(all_pairs, total),
        flips=sorted(
            (pair for pair in all_pairs if pair.lost or pair.won),
            key=lambda pair: (pair.difference, pair.cell.key, pair.task_id),
        ),
        only_before=[scores.cell for key, scores in first.items() if key not in second],
        only_after=[scores.cell for key, scores in second.items() if key not in first],
    )


def rename_cells(rows: RunRows, names: Mapping[str, Mapping[str, str]], *, only_renamed: bool = False) -> RunRows:
    """Renames models, agents or modes of a run. A cell whose name another one takes is left out.

    Args:
        rows: The run.
        names: New name by old name, for each of `NAMED`.
        only_renamed: Whether cells that keep their name are left out.

    Raises:
        InputError: The run does not have an old name, or two renamed cells would have the same name.
    """
    cells = [cell.cell for cell in rows.cells] + [plan.cell for plan in rows.run.cells]
    for part, changed in names.items():
        values = dict.fromkeys(getattr(cell, part) for cell in cells)
        for name in changed:
            if name not in values:
                problem = f"the run has no {part} {name!r}; it has: {', '.join(values)}"
                raise InputError(rows.run.run, [Problem("--map", problem)])
    new = new_names(cells, names)
    if only_renamed:
        new = {cell: now for cell, now in new.items() if now != cell}
    twice = [key for key, count in Counter(cell.key for cell in new.values()).items() if count > 1]
    if twice:
        raise InputError(rows.run.run, [Problem("--map", f"would give several cells the name {twice[0]}")])
    planned = [PlannedCell(cell=new[plan.cell], task_ids=plan.task_ids) for plan in rows.run.cells if plan.cell in new]
    return RunRows(
        rows.run.model_copy(update={"cells": planned}),
        [replace(cell, cell=new[cell.cell]) for cell in rows.cells if cell.cell in new],
    )


def new_names(cells: Sequence[Cell], names: Mapping[str, Mapping[str, str]]) -> dict[Cell, Cell]:
    """New name of each cell, without the cells whose name another one takes."""
    new = {cell: _renamed(cell, names) for cell in cells}
    taken = {now.key for cell, now in new.items() if now != cell}
    return {cell: now for cell, now in new.items() if now != cell or cell.key not in taken}


def _renamed(cell: Cell, names: Mapping[str, Mapping[str, str]]) -> Cell:
    fields = {part: changed.get(getattr(cell, part), getattr(cell, part)) for part, changed in names.items()}
    return cell.model_copy(update=fields)


def _by_key(rows: RunRows) -> dict[str, CellRows]:
    """Cells by key, in the order of the plan, then cells that were not planned."""
    planned = {plan.cell.key: CellRows(plan.cell, (), ()) for plan in rows.run.cells}
    return planned | {cell.cell.key: cell for cell in rows.cells}


def scores_of(cell: CellRows) -> Scores:
    """Scores of a cell's trials."""
    return {(trial.task_id, trial.trial): trial.score for trial in cell.trials}


def pair_tasks(cell: Cell, before: Scores, after: Scores) -> list[TaskPair]:
    """Tasks of a cell with trials that are scored in both runs, sorted by id."""
    counts: defaultdict[str, Counter[tuple[int, int]]] = defaultdict(Counter)
    for task_id, trial in sorted(before.keys() & after.keys()):
        counts[task_id][before[task_id, trial], after[task_id, trial]] += 1
    return [
        TaskPair(
            cell=cell,
            task_id=task_id,
            before=Ratio(counts[1, 0] + counts[1, 1], counts.total()),
            after=Ratio(counts[0, 1] + counts[1, 1], counts.total()),
            lost=counts[1, 0],
            won=counts[0, 1],
        )
        for task_id, counts in counts.items()
    ]


def task_rates(cell: Cell, before: Scores, after: Scores) -> list[TaskRates]:
    """Tasks of a cell that both runs scored, each with all of its trials, sorted by id."""
    first, second = ratios_of(before), ratios_of(after)
    return [TaskRates(cell, task_id, first[task_id], second[task_id]) for task_id in sorted(first.keys() & second)]


def ratios_of(scores: Scores) -> dict[str, Ratio]:
    """Passed and scored trials of each task of a cell."""
    by_task: defaultdict[str, list[int]] = defaultdict(list)
    for (task_id, _), score in scores.items():
        by_task[task_id].append(score)
    return {task_id: Ratio(sum(passed), len(passed)) for task_id, passed in by_task.items()}


def _left_out(before: CellRows, after: CellRows) -> Counter[str]:
    """Number of trials that are scored in one run only, by run."""
    first, second = scores_of(before).keys(), scores_of(after).keys()
    return Counter(before=len(first - second), after=len(second - first))


def _change(pairs: Sequence[TaskPair], left_out: Counter[str]) -> Change:
    tasks = over_cells(pairs)
    trials = sum(pair.before.total for pair in pairs)
    estimate = paired_mean(by_domain(tasks), trials)
    return Change(
        tasks=len(tasks),
        trials=trials,
        lost=sum(pair.lost for pair in pairs),
        won=sum(pair.won for pair in pairs),
        before=mean(task.before for task in tasks),
        after=mean(task.after for task in tasks),
        difference=mean(float(task.difference) for task in tasks),
        interval=None if estimate is None else estimate.interval(),
        p_value=1.0 if estimate is None else estimate.p_value,
        only_before=left_out["before"],
        only_after=left_out["after"],
    )


@dataclass(frozen=True)
class TaskChange:
    """Change of a task, as the mean over the cells that have it."""

    domain: str
    before: float
    after: float
    difference: Fraction


def over_cells(pairs: Sequence[TaskRates]) -> list[TaskChange]:
    """Every task once, sorted by domain and id."""
    grouped: dict[tuple[str, str], list[TaskRates]] = {}
    for pair in pairs:
        grouped.setdefault((pair.cell.domain, pair.task_id), []).append(pair)
    return [
        TaskChange(
            domain=domain,
            before=math.fsum(pair.before.passed / pair.before.total for pair in same) / len(same),
            after=math.fsum(pair.after.passed / pair.after.total for pair in same) / len(same),
            difference=sum((pair.change for pair in same), Fraction(0)) / len(same),
        )
        for (domain, _), same in sorted(grouped.items())
    ]


def by_domain(tasks: Sequence[TaskChange]) -> list[list[float]]:
    """Differences of tasks, by domain."""
    domains: dict[str, list[float]] = {}
    for task in tasks:
        domains.setdefault(task.domain, []).append(float(task.difference))
    return list(domains.values())
