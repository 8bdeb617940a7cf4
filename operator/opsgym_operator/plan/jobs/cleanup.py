"""Objects of a frozen run that must go, and Jobs that must stop.

Invariant: a Job is deleted only when no further attempt of it is needed: every pod of it is harvested, or its queue has
not admitted it, or nothing of it may start for now and Kueue would start it nevertheless, or its run has ended. Its
pods go with it, and its number stays known. Jobs with a failed pod stay for a while, a few of each run, so that the
pods' logs can be read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime

from opsgym_api.records.run import Control
from opsgym_operator.observe.labels import number_of, prefix_of
from opsgym_operator.observe.objects import ChunkState, ObservedJob, ObservedPod, ObservedRun
from opsgym_operator.plan.desired import JobPatch, ObjectRef
from opsgym_operator.plan.run.progress import RunProgress
from opsgym_operator.plan.run.start_gate import budget_closed

HOLD_AFTER_S = 20.0
"""Seconds of an outage of the store after which Jobs are held: a shorter one costs their starting pods nothing."""


FAILURES_S = 3600.0
"""Seconds for which a Job with a failed pod stays after its end."""
MOST_FAILURES = 3
"""Such Jobs of a run that stay; every other one has the same cause, or its records in the store."""


@dataclass(frozen=True)
class Stop:
    """What stops Jobs and their pods."""

    patches: tuple[JobPatch, ...] = ()
    delete: tuple[ObjectRef, ...] = ()


def stop(jobs: Iterable[ObservedJob], *, as_seen: bool = False) -> Stop:
    """Stops Jobs: their pods end, which costs no retry, and no other starts.

    Jobs of Kueue are deleted, admitted or not, since it would resume suspended ones; their trials are planned again.

    Args:
        jobs: The Jobs.
        as_seen: Whether those of Kueue are deleted only if nothing has changed them since they were seen.
    """
    live = [job for job in jobs if not job.finished and not job.deleting]
    return Stop(
        tuple(JobPatch(job.name, suspend=True) for job in live if not job.suspended and not job.queued),
        tuple(ObjectRef("Job", job.name, version=job.version if as_seen else "") for job in live if job.queued),
    )


def interrupt(run: ObservedRun, jobs: Iterable[ObservedJob], pods: Iterable[ObservedPod]) -> Stop:
    """What stops Jobs of a run whose store may not answer.

    A suspended run stops whether it does or not. In an outage Jobs without a running pod are held, since new pods would
    only wait; pods that run keep what they have paid for.
    """
    if run.suspend:
        return stop(jobs)
    if run.store_error_s < HOLD_AFTER_S:
        return Stop()
    running = {pod.job for pod in pods if pod.running}
    # Kueue may admit a Job meanwhile, and a pod of it run.
    return stop((job for job in jobs if job.name not in running), as_seen=True)


def obsolete_objects(progress: RunProgress, gate: Control, now: datetime) -> list[ObjectRef]:
    """Jobs that are not needed any more, and ConfigMaps without a Job."""
    if progress.run.store_error:
        return []  # what finished Jobs leave in the store cannot be checked
    newest, staying = _newest(progress.jobs), kept_failures(progress.jobs, now)
    obsolete = [job for job in progress.jobs if job.name not in staying and _is_obsolete(job, progress, gate, newest)]
    return [
        *_deletions(progress.run, progress.jobs, obsolete, {pod.job for pod in progress.pods}),
        *_unaffordable(progress.jobs, gate),
    ]


def _unaffordable(jobs: Iterable[ObservedJob], gate: Control) -> list[ObjectRef]:
    """Jobs that wait in a queue although the budget is spent: Kueue may not admit them for days.

    While some of it is left, Jobs stay: once they are gone, fewer trials are reserved, and others would be created.
    """
    if gate.proceed or not budget_closed(gate):
        return []
    waiting = [job for job in jobs if job.waiting_since is not None and not job.deleting]
    return [ObjectRef("Job", job.name, version=job.version) for job in waiting]


def retired_objects(run: ObservedRun, jobs: Sequence[ObservedJob], now: datetime) -> list[ObjectRef]:
    """What is left of a run that has ended, all of whose trials are accounted for.

    A Job that goes on has nothing left to do: other pods have played its trials. Its own pods would hold slots.
    """
    staying = kept_failures(jobs, now)

    def is_left(job: ObservedJob) -> bool:
        compacted = job.chunk is not ChunkState.IN_PROGRESS
        return not job.deleting and (not job.finished or (compacted and job.name not in staying))

    return _deletions(run, jobs, filter(is_left, jobs), set())


def kept_failures(jobs: Iterable[ObservedJob], now: datetime) -> Mapping[str, float]:
    """Finished Jobs that stay for their failed pods, and the seconds for which they do."""
    failed = [job for job in jobs if job.finished_at is not None and (job.failed or job.pods_failed)]
    newest = sorted(failed, key=lambda job: (job.finished_at or now, job.name))[-MOST_FAILURES:]
    left = {job.name: FAILURES_S - (now - (job.finished_at or now)).total_seconds() for job in newest}
    return {name: seconds for name, seconds in left.items() if seconds > 0}


def _deletions(
    run: ObservedRun, jobs: Iterable[ObservedJob], obsolete: Iterable[ObservedJob], with_pods: AbstractSet[str]
) -> list[ObjectRef]:
    """The obsolete Jobs, and the ConfigMaps that neither another Job nor a pod that runs on without its Job needs."""
    names = {job.name for job in obsolete}
    referenced = {job.name for job in jobs} - names | {preflight.name for preflight in run.preflights}
    config_maps = sorted(run.config_maps - referenced - with_pods)
    return [ObjectRef("Job", name) for name in sorted(names)] + [ObjectRef("ConfigMap", name) for name in config_maps]


def _newest(jobs: Iterable[ObservedJob]) -> Mapping[str, int]:
    """Highest number of a Job by the prefix of its name, which stands for a cell."""
    newest: dict[str, int] = {}
    for job in jobs:
        prefix = prefix_of(job.name)
        newest[prefix] = max(newest.get(prefix, -1), number_of(job.name))
    return newest


def _is_obsolete(job: ObservedJob, progress: RunProgress, gate: Control, newest: Mapping[str, int]) -> bool:
    if job.deleting:
        return False
    if job.finished:
        # Without a chunk the newest Job of a cell stays, so that its number is not used again.
        superseded = number_of(job.name) < newest[prefix_of(job.name)]
        number_known = job.chunk is ChunkState.WRITTEN or (job.chunk is ChunkState.GIVEN_UP and superseded)
        return job.harvested and number_known
    if progress.resolved.spec.suspend:
        return job.queued
    return budget_closed(gate) and job.suspended and not job.queued and progress.slots_by_job[job.name] == 0
