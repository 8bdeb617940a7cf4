"""Pod groups of a frozen run. Invariant: every planned trial is in exactly one group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from opsgym_api.records.attempt import Cell, TrialId
from opsgym_api.records.run import RunRecord
from opsgym_api.tasks.suite import SuiteIndex
from opsgym_core.planning.trials import trial_order


@dataclass(frozen=True)
class PodGroup:
    """Trials that share a pod template: those of a cell, or of a hybrid cell those with the same gym servers."""

    cell: Cell
    gyms: tuple[str, ...]
    """Domains of the gym servers, in the order in which the group's first row names them."""
    task_ids: tuple[str, ...]
    whole_cell: bool = True
    """Whether the group holds all trials of its cell."""

    def trials(self, count: int) -> Iterator[TrialId]:
        """The group's trials in the order in which they start: every task once before any task a second time.

        Args:
            count: Trials of each task.
        """
        return trial_order(self.cell.key, self.task_ids, count)


def pod_groups_of(record: RunRecord, index: SuiteIndex) -> tuple[PodGroup, ...]:
    """The pod groups of a run, in the order of its cells."""
    gyms = {entry.task_id: tuple(entry.gyms) for entry in index.entries}
    groups: list[PodGroup] = []
    for planned in record.cells:
        by_gyms: dict[frozenset[str], list[str]] = {}
        for task_id in planned.task_ids:
            by_gyms.setdefault(frozenset(gyms[task_id]), []).append(task_id)
        groups += [
            PodGroup(planned.cell, gyms[task_ids[0]], tuple(task_ids), whole_cell=len(by_gyms) == 1)
            for task_ids in by_gyms.values()
        ]
    return tuple(groups)
