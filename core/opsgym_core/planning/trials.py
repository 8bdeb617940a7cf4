"""The trials of a run and the order in which they start.

Invariant: the order is a function of the cells, their tasks and the scored trials. A run that is stopped at any point
and planned again from its store goes on with exactly the trials that have no score, in the same order. Local mode and
the operator both use this module and `slots`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from typing import Generic

from opsgym_api.records.attempt import Cell, TrialId
from opsgym_core.planning.cells import CellPlan
from opsgym_core.planning.select import R
from opsgym_core.planning.slots import SlotRequest, take_turns


@dataclass(frozen=True)
class PlannedTrial(Generic[R]):
    """A trial that has no score yet."""

    cell: Cell
    task: R
    trial: int
    """Number of the trial, counted from 0."""

    @property
    def key(self) -> TrialId:
        """Identity of the trial."""
        return TrialId(self.cell.key, self.task.task_id, self.trial)


def trial_order(cell: str, task_ids: Sequence[str], trials: int) -> Iterator[TrialId]:
    """Trials of one cell, or of a group of its tasks, in the order in which they start.

    Every task has its first trial before any task has its second.

    Args:
        cell: Key of the cell.
        task_ids: Tasks in the suite's order.
        trials: Trials of each task.
    """
    return (TrialId(cell, task_id, trial) for trial, task_id in product(range(trials), task_ids))


def plan_trials(cells: Sequence[CellPlan[R]], trials: int, scored: Container[TrialId]) -> list[PlannedTrial[R]]:
    """Every trial that has no score, in the order in which the trials start if no ceiling applies.

    Cells take turns (`slots.take_turns`), so that early results cover all of them: in any prefix of the list, two cells
    differ by at most one trial, unless a cell has no more. The trials of one cell are in `trial_order`.

    Args:
        cells: The run's cells.
        trials: Trials of each task in each cell.
        scored: Trials that have a score.
    """
    queues = [_unscored(plan, trials, scored) for plan in cells]
    requests = [SlotRequest(demand=len(queue)) for queue in queues]
    order = take_turns(requests, {"": sum(map(len, queues))})
    starts = [iter(queue) for queue in queues]
    return [next(starts[cell]) for cell in order]


def _unscored(plan: CellPlan[R], trials: int, scored: Container[TrialId]) -> list[PlannedTrial[R]]:
    tasks = {task.task_id: task for task in plan.tasks}
    order = trial_order(plan.cell.key, list(tasks), trials)
    return [PlannedTrial(plan.cell, tasks[key.task_id], key.trial) for key in order if key not in scored]


class TrialQueue(Generic[R]):
    """Pending trials of a run, and which of them start next.

    Args:
        trials: The pending trials, in the order of `plan_trials`.
    """

    def __init__(self, trials: Iterable[PlannedTrial[R]]) -> None:
        self._cells: dict[str, dict[TrialId, PlannedTrial[R]]] = {}
        self._begun: Counter[str] = Counter()
        for planned in trials:
            self._cells.setdefault(planned.cell.key, {})[planned.key] = planned

    def __iter__(self) -> Iterator[PlannedTrial[R]]:
        """Pending trials, cell by cell."""
        return chain.from_iterable(pending.values() for pending in self._cells.values())

    def startable(
        self, running: Iterable[PlannedTrial[R]], ceilings: Mapping[str, int], total: int | None
    ) -> list[PlannedTrial[R]]:
        """The trials that may start now, in order; they stay in the queue until `take`.

        If all of them start, no model runs more trials than its ceiling, all models together run at most `total`, and
        no further trial could start. The budget is not checked: call `budget.budget_gate` before each start.

        Args:
            running: Trials that run now.
            ceilings: Maximum number of running trials, by the model's name in the run.
            total: Maximum number of running trials over all models; None for no bound.
        """
        models = {key: next(iter(pending.values())).cell.model for key, pending in self._cells.items() if pending}
        busy: Counter[str] = Counter()
        free = Counter(ceilings)
        for planned in running:
            busy[planned.cell.key] += 1
            free[planned.cell.model] -= 1
        cells = list(models)
        requests = [
            SlotRequest(len(self._cells[key]), used=busy[key], begun=self._begun[key], pool=models[key])
            for key in cells
        ]
        starts = [iter(self._cells[key].values()) for key in cells]
        slots = take_turns(requests, free, None if total is None else total - busy.total())
        return [next(starts[position]) for position in slots]

    def take(self, planned: PlannedTrial[R]) -> None:
        """Removes a trial that starts."""
        del self._cells[planned.cell.key][planned.key]
        self._begun[planned.cell.key] += 1

    def drop(self, cell: str) -> list[PlannedTrial[R]]:
        """Removes the pending trials of a cell, by its key, and returns them."""
        return list(self._cells.pop(cell, {}).values())

    def put_back(self, planned: PlannedTrial[R]) -> None:
        """Puts back a trial that must be tried again, ahead of its cell's others, since money was spent on it."""
        cell = planned.cell.key
        self._cells[cell] = {planned.key: planned, **self._cells.get(cell, {})}
        self._begun[cell] -= 1
