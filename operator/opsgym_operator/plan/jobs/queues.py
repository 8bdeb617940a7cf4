"""Kueue's queues: which Jobs leave theirs, so that they do not hold slots that other runs could use.

Invariant: slots that a Job holds go to others only once it is gone, and it is deleted only in the state in which it was
seen waiting. So Kueue cannot admit a Job whose slots have been given away, and a model's ceiling holds.

A Job that waits in a queue holds its slots, because Kueue may admit it at any moment; but not for longer than
`PATIENCE_S` if others want them. Kueue's own label cannot be taken off instead of deleting the Job: its Workload would
stay in the queue and be given quota.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime

from opsgym_operator.observe.objects import ObservedJob, ObservedRun
from opsgym_operator.plan.jobs.slots import QueuePlace, SlotAllocation, SlotPool
from opsgym_operator.plan.run.progress import RunProgress

PATIENCE_S = 10.0
"""Seconds for which a Job holds slots that others want before Kueue has admitted it; with quota it takes about one."""
YIELD_S = 120.0
"""Seconds after Jobs of a run left their queue during which other runs are served first; then it tries again."""


def queue_place(progress: RunProgress) -> QueuePlace | None:
    """Where the run's Jobs wait for Kueue; None without a queue."""
    spec = progress.resolved.spec
    return None if spec.queue_name is None else (spec.queue_name, spec.queue_priority_class)


def yields(run: ObservedRun, now: datetime) -> bool:
    """Whether other runs are served first, because Jobs of this one have left their queue lately."""
    return run.withdrawn_at is not None and (now - run.withdrawn_at).total_seconds() < YIELD_S


def withdrawals(
    allocations: Mapping[str, Sequence[SlotAllocation]], now: datetime
) -> dict[str, tuple[ObservedJob, ...]]:
    """Jobs that leave their queue, by the uid of their run.

    Jobs leave only for groups with another queue, priority class or no queue: those in the same place would wait, too.
    """
    wanting: defaultdict[SlotPool, set[QueuePlace | None]] = defaultdict(set)
    for of_run in allocations.values():
        for allocation in of_run:
            demand = allocation.demand
            if allocation.slots < demand.wants and not demand.yields:
                wanting[demand.pool].add(demand.queue)
    return {
        uid: tuple(
            job
            for allocation in of_run
            if wanting[allocation.demand.pool] - {allocation.demand.queue}
            for job in allocation.demand.jobs
            if _is_overdue(job, now)
        )
        for uid, of_run in allocations.items()
    }


def seconds_until_overdue(jobs: Sequence[ObservedJob], now: datetime) -> float | None:
    """Seconds until the next Job may have to leave its queue; None if none waits."""
    ages = [(now - job.waiting_since).total_seconds() for job in jobs if job.waiting_since is not None]
    return min((PATIENCE_S - age for age in ages if age < PATIENCE_S), default=None)


def _is_overdue(job: ObservedJob, now: datetime) -> bool:
    return job.waiting_since is not None and (now - job.waiting_since).total_seconds() >= PATIENCE_S
