"""What the runs of a namespace may be together.

Invariant: a run is counted before it is frozen, so before its trials cost memory; a frozen run is never refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from opsgym_api.records.run import RunRecord
from opsgym_operator.config import Quota
from opsgym_operator.observe.objects import ObservedRun
from opsgym_operator.plan.status.status import is_finished


@dataclass(frozen=True)
class Size:
    """What a run, or several, count against a quota."""

    cells: int = 0
    trials: int = 0

    def __add__(self, other: Size) -> Size:
        """The size of both together."""
        return Size(self.cells + other.cells, self.trials + other.trials)


def size_of(record: RunRecord) -> Size:
    """The size of a frozen run, all its rounds included."""
    trials = record.rounds[-1] if record.rounds else record.trials
    return Size(len(record.cells), sum(len(planned.task_ids) for planned in record.cells) * trials)


def size_in_use(run: ObservedRun) -> Size:
    """What a run takes of its namespace's quota: nothing before it is frozen, and nothing once it has finished."""
    if is_finished(run):
        return Size()
    if run.stored is not None and run.stored.record is not None:
        return size_of(run.stored.record)
    # Its store was not read: the status says how many trials it has.
    return Size(trials=run.status.counters.get("total", 0))


def too_large(size: Size, quota: Quota) -> str:
    """Why a run can never fit into a quota; empty if it can."""
    excess = [f"{count:,} {what}, limit {most:,}" for what, count, most in _compared(size, quota)]
    advice = "split it into smaller runs, or have the quota of the namespace raised (quotas of the chart)"
    return f"the run has {'; '.join(excess)}; {advice}" if excess else ""


def exceeded(size: Size, used: Size, quota: Quota) -> str:
    """Why a run does not fit into what others leave of a quota; empty if it does."""
    own = {"cells": size.cells, "trials": size.trials}
    excess = [
        f"{own[what]:,} {what} beside {count - own[what]:,} of other runs, limit {most:,}"
        for what, count, most in _compared(size + used, quota)
    ]
    advice = "the run starts by itself when other runs of the namespace have finished or are deleted"
    return f"the run has {'; '.join(excess)}; {advice}" if excess else ""


def _compared(size: Size, quota: Quota) -> Iterator[tuple[str, int, int]]:
    """What is more than the quota allows, how many it is, and how many are allowed."""
    for what, count, most in (("cells", size.cells, quota.cells), ("trials", size.trials, quota.trials)):
        if count > most:
            yield what, count, most
