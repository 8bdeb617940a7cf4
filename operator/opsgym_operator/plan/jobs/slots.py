"""Allocates the slots of models to the pod groups of all runs.

Invariant: what the Jobs of a model may run at once never sums above the model's ceiling, whatever happens between two
plans.

A Job holds min(parallelism, remaining) slots: the Job controller refills them by itself until fewer indexes remain.
Slots that it then releases go to the run that holds the fewest, and within a run to the pod group that holds the
fewest. A chunk is a few rounds long, so a run that starts later waits for a few episodes, not for a whole evaluation.
A chunk should have the pods that are worth a Job, and those of a large run must have more, since it would need too many
Jobs otherwise. A group therefore gets as many slots as make such a chunk a few rounds long before the next group gets
any; if it gets fewer, the chunk is the smaller, unless the run would need too many Jobs.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from opsgym_api.jobs.job_spec import pods_for
from opsgym_core.planning.slots import SlotRequest, share_slots
from opsgym_operator.observe.objects import ObservedJob, ObservedNamespace, ObservedPod
from opsgym_operator.observe.pod_groups import PodGroup

SlotPool: TypeAlias = tuple[str, str]
"""Owner of slots: an EvalModel (`"", its name`), or a model declared inline (`uid of the run, name in the run`)."""
QueuePlace: TypeAlias = tuple[str, str | None]
"""A LocalQueue, and a priority class in it."""

ROUNDS = 5
"""A chunk holds about this many times its parallelism: short enough to share a model soon, long enough to keep it
busy."""
MOST_JOBS = 1000
"""Jobs into which a run is split, apart from one for each pod group: an object of its own for every few trials would
cost the API server more than their pods do."""
WORTH_PODS = 20
"""Pods that are worth a Job of their own, if a cell has as many: its objects cost the API server as much as some pods,
and the Job controller counts the pods of a Job that end together with one write."""
MOST_SHARE = 8
"""A pod group takes at most one part in so many of a model's slots for that, as long as others wait: what a run
measures first shall not be one cell."""


def least_chunk(trials: int) -> int:
    """Trials that a chunk holds at least, unless its pod group has fewer.

    Args:
        trials: Trials of the run.
    """
    return max(1, math.ceil(trials / MOST_JOBS))


@dataclass(frozen=True)
class SlotDemand:
    """Slots that a pod group holds and could use now."""

    group: PodGroup
    pool: SlotPool
    ceiling: int
    """Slots of the pool: pods that may use the model at once."""
    held: int = 0
    """Slots that the group's Jobs hold."""
    jobs: tuple[ObservedJob, ...] = ()
    """The group's Jobs that could use further slots."""
    pending: int = 0
    """Trials that may go into new Jobs; those beyond the budget are not counted."""
    begun: int = 0
    """Trials that have begun, ended ones included; of groups that hold as many slots the one with fewer comes first."""
    one_round: bool = False
    """A chunk must hold no more trials than can run at once, because the cost of a trial is not known yet."""
    queue: QueuePlace | None = None
    """Where the group's Jobs wait for Kueue, which decides when they run; None without a queue."""
    yields: bool = False
    """Whether the demands of other groups come first, because Jobs of this one have left their queue lately."""
    least: int = 1
    """Trials that a chunk holds at least, unless the group has fewer."""
    unit: int = 1
    """Slots with which such a chunk takes `ROUNDS` rounds."""
    per_pod: int = 1
    """Trials that a pod plays in turn; it takes one slot."""

    @property
    def pending_pods(self) -> int:
        """Pods of the trials that may go into new Jobs."""
        return pods_for(self.pending, self.per_pod)

    @property
    def queued(self) -> bool:
        """Whether Kueue decides when the group's Jobs run; their parallelism is then fixed at creation."""
        return self.queue is not None

    @property
    def raisable(self) -> int:
        """Further slots that existing Jobs could use."""
        if self.queued:
            return 0
        return sum(job.remaining if job.suspended else max(0, job.remaining - job.parallelism) for job in self.jobs)

    @property
    def wants(self) -> int:
        """Further slots that the group could use."""
        return self.raisable + self.pending_pods


@dataclass(frozen=True)
class SlotAllocation:
    """Slots that a pod group gets now."""

    demand: SlotDemand
    slots: int
    """Slots besides those that the group holds."""
    fair_share: int
    """Slots that the group would hold if all slots of its pool were shared out anew."""
    quota: int | None = None
    """Pods that the namespace may have, if that keeps slots from its groups; None if only models do."""


def allocate(
    demands: Mapping[str, Sequence[SlotDemand]], namespace: ObservedNamespace, most: int | None = None
) -> dict[str, tuple[SlotAllocation, ...]]:
    """Slots that each pod group gets now, by the uid of its run.

    Args:
        demands: Demands by the uid of their run; runs that hold as many slots are served in this order.
        namespace: Jobs and pods, which hold slots also if their run is gone.
        most: Pods of the namespace at the same time; None if only models bound them.
    """
    taken = _taken(namespace)
    by_pool: defaultdict[SlotPool, list[tuple[str, SlotDemand]]] = defaultdict(list)
    for uid, of_run in demands.items():
        for demand in of_run:
            by_pool[demand.pool].append((uid, demand))
    number = {uid: number for number, uid in enumerate(demands)}
    allocations: dict[str, list[SlotAllocation]] = {uid: [] for uid in demands}
    free = {pool: max(0, demanding[-1][1].ceiling - taken[pool]) for pool, demanding in by_pool.items()}
    useful = {pool: min(free[pool], sum(demand.wants for _, demand in by_pool[pool])) for pool in by_pool}
    limited = most is not None and sum(useful.values()) > most - taken.total()
    if most is not None and limited:
        of_pools = [SlotRequest(useful[pool], used=taken[pool]) for pool in by_pool]
        free = dict(zip(by_pool, share_slots(most - taken.total(), of_pools), strict=True))
    for pool, demanding in by_pool.items():
        ceiling = demanding[-1][1].ceiling
        requests = [
            SlotRequest(demand.wants, used=demand.held, begun=demand.begun, run=number[uid], unit=demand.unit)
            for uid, demand in demanding
        ]
        granted = _share(free[pool], [demand for _, demand in demanding], requests)
        anew = [
            SlotRequest(request.used + request.demand, begun=request.begun, run=request.run, unit=request.unit)
            for request in requests
        ]
        fair = share_slots(ceiling, anew)
        for (uid, demand), slots, fair_share in zip(demanding, granted, fair, strict=True):
            allocations[uid].append(SlotAllocation(demand, slots, fair_share, most if limited else None))
    return {uid: tuple(of_run) for uid, of_run in allocations.items()}


def _share(free: int, demands: Sequence[SlotDemand], requests: Sequence[SlotRequest]) -> list[int]:
    """Slots for each request: demands that yield share what the others leave."""
    if not any(demand.yields for demand in demands):
        return share_slots(free, requests)
    pairs = list(zip(demands, requests, strict=True))
    first = share_slots(free, [replace(request, demand=0) if demand.yields else request for demand, request in pairs])
    rest = [
        request if demand.yields else replace(request, demand=0, used=request.used + got)
        for (demand, request), got in zip(pairs, first, strict=True)
    ]
    return [sum(both) for both in zip(first, share_slots(free - sum(first), rest), strict=True)]


def pool_of(item: ObservedJob | ObservedPod) -> SlotPool:
    """The pool whose slots a Job or pod takes."""
    return ("", item.eval_model) if item.eval_model else (item.run_uid, item.model)


def _taken(namespace: ObservedNamespace) -> Counter[SlotPool]:
    """Pods that each model may have at any moment, those of deleted runs and Jobs included."""
    taken: Counter[SlotPool] = Counter()
    jobs = {job.name for job in namespace.jobs}
    pods = Counter(pod.job for pod in namespace.pods)
    for pod in namespace.pods:
        if pod.job not in jobs:
            taken[pool_of(pod)] += 1
    for job in namespace.jobs:
        taken[pool_of(job)] += job.slots(pods[job.name])
    return taken
