"""Turns allocated slots into Jobs: existing Jobs are raised first, the rest becomes a new Job with the next chunk.

Invariant: the parallelism of a Job that may have pods is never lowered, which would kill pods whose model calls are
paid for; and the number of a Job is never used twice, so that what is left of an earlier Job is not taken for the new
one's: the store keeps the numbers of Jobs that are deleted, in the names of their chunks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from opsgym_api.jobs.job_spec import TrialRef, pods_for
from opsgym_operator.observe.labels import job_prefix
from opsgym_operator.plan.desired import JobPatch, TaskJob
from opsgym_operator.plan.jobs.slots import ROUNDS, SlotAllocation, SlotDemand
from opsgym_operator.plan.run.progress import RunProgress

MOST_TRIALS = 1000
"""Trials of one Job: they must fit into a ConfigMap, and its status into an object."""


@dataclass(frozen=True)
class JobChanges:
    """What a run does with the slots that it gets."""

    patches: tuple[JobPatch, ...]
    create: tuple[TaskJob, ...]


def job_changes(progress: RunProgress, allocations: Sequence[SlotAllocation]) -> JobChanges:
    """Patches of existing Jobs and new Jobs for the allocated slots of one run."""
    patches: list[JobPatch] = []
    create: list[TaskJob] = []
    next_numbers = _next_numbers(progress)
    for allocation in allocations:
        raised, slots = _raise(allocation)
        patches += raised
        trials = _chunk(allocation, slots, busy=bool(progress.live_jobs))
        if trials:
            prefix = job_prefix(progress.run, allocation.demand.group.cell.key)
            number = next_numbers[prefix]
            next_numbers[prefix] += 1
            create.append(_task_job(progress, f"{prefix}{number}", allocation.demand, trials, slots))
    return JobChanges(tuple(patches), tuple(create))


def _raise(allocation: SlotAllocation) -> tuple[list[JobPatch], int]:
    """Patches that give slots to existing Jobs, and the slots that are left."""
    demand, slots = allocation.demand, allocation.slots
    patches: list[JobPatch] = []
    for job in () if demand.queued else demand.jobs:
        used = 0 if job.suspended else min(job.parallelism, job.remaining)
        further = min(slots, job.remaining - used)
        if further > 0:
            patches.append(JobPatch(job.name, parallelism=used + further, suspend=False if job.suspended else None))
            slots -= further
    return patches, slots


def _chunk(allocation: SlotAllocation, slots: int, *, busy: bool) -> int:
    """Trials of a new Job; 0 for no new Job.

    Args:
        allocation: What the pod group gets.
        slots: Slots of the new Job.
        busy: Whether the run has unfinished Jobs, which release further slots.
    """
    demand, fair_share = allocation.demand, allocation.fair_share
    if slots == 0 or demand.pending == 0:
        return 0
    waits = bool(demand.jobs) or (busy and demand.unit > 1)
    if demand.queued and waits and 2 * slots < min(max(fair_share, demand.unit), demand.pending_pods):
        # The parallelism of a queued Job is fixed: better one Job with half of the slots a little later than many with
        # one slot each.
        return 0
    if demand.one_round:
        return min(demand.pending, slots, MOST_TRIALS)
    chunk = max(demand.least, max(ROUNDS, demand.per_pod) * max(slots, fair_share))
    # What would be left for a Job of its own goes with this one.
    return min(chunk if demand.pending - chunk >= demand.least else demand.pending, MOST_TRIALS)


def _next_numbers(progress: RunProgress) -> defaultdict[str, int]:
    """Number of the next Job by the prefix of its name."""
    numbers = defaultdict(int, progress.run.next_numbers)
    of_pods = {pod.job for pod in progress.pods}
    for name in {job.name for job in progress.jobs} | progress.run.config_maps | of_pods:
        prefix, _, number = name.rpartition("-")
        if number.isdecimal():
            numbers[f"{prefix}-"] = max(numbers[f"{prefix}-"], int(number) + 1)
    return numbers


def _task_job(progress: RunProgress, name: str, demand: SlotDemand, size: int, slots: int) -> TaskJob:
    resolved, ledger, cell = progress.resolved, progress.ledger, demand.group.cell
    trials = list(islice(progress.pending(demand.group), size))
    # The trial with the most attempts left decides.
    fewest = min(ledger.state(trial).infra_errors for trial in trials)
    return TaskJob(
        name=name,
        cell=cell,
        gyms=demand.group.gyms,
        trials=tuple(TrialRef(task_id=trial.task_id, trial=trial.trial) for trial in trials),
        parallelism=min(slots, pods_for(len(trials), demand.per_pod)),
        retries=max(0, resolved.spec.limits.infra_retries - fewest),
        eval_model=demand.pool[1] if not demand.pool[0] else "",
        resolved=resolved,
        per_pod=demand.per_pod,
    )
