"""Lanes of a run: trials whose pods look alike. Invariant: every planned trial is in exactly one lane."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from opsgym_api.orders import SuiteIndex
from opsgym_api.records import Cell, RunRecord
from opsgym_operator.plan import TrialKey


@dataclass(frozen=True)
class Lane:
    """Trials whose pods look alike: those of a cell, or for a hybrid cell those with the same gym servers."""

    cell: Cell
    gyms: tuple[str, ...]
    """Domains, in the order in which the first of its rows names them."""
    task_ids: tuple[str, ...]

    def keys(self, trials: int) -> Iterator[TrialKey]:
        """Its trials in the order in which they should start: every task once before any a second time."""
        cell = self.cell.key
        return ((cell, task_id, trial) for trial, task_id in product(range(trials), self.task_ids))


def lanes_of(record: RunRecord, index: SuiteIndex) -> tuple[Lane, ...]:
    """The lanes of a run, in the order of its cells."""
    gyms = {entry.task_id: tuple(entry.gyms) for entry in index.entries}
    lanes: list[Lane] = []
    for planned in record.cells:
        by_set: dict[frozenset[str], list[str]] = {}
        for task_id in planned.task_ids:
            by_set.setdefault(frozenset(gyms[task_id]), []).append(task_id)
        lanes += [Lane(planned.cell, gyms[task_ids[0]], tuple(task_ids)) for task_ids in by_set.values()]
    return tuple(lanes)
