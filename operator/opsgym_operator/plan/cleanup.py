"""Objects of a frozen run that must go, and Jobs that must stop.

Invariant: a Job is deleted only when no further attempt of it is needed: every pod of it is harvested, or its queue has
not admitted it, or nothing of it may start any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from opsgym_api.records.run import Control
from opsgym_operator.observe.labels import number_of, prefix_of
from opsgym_operator.observe.objects import ObservedJob, ObservedPod, ObservedRun
from opsgym_operator.plan.desired import JobPatch, ObjectRef
from opsgym_operator.plan.progress import RunProgress
from opsgym_operator.plan.start_gate import budget_closed

HOLD_AFTER_S = 20.0
"""Seconds of an outage of the store after which Jobs are held: a shorter one costs their starting pods nothing."""


def suspend_patches(jobs: Iterable[ObservedJob]) -> tuple[JobPatch, ...]:
    """Suspends Jobs, except those of Kueue, which decides itself when its Jobs run."""
    return tuple(JobPatch(job.name, suspend=True) for job in jobs if _suspendable(job))


def interrupt(run: ObservedRun, jobs: Iterable[ObservedJob], pods: Iterable[ObservedPod]) -> tuple[JobPatch, ...]:
    """Patches for the Jobs of a run that cannot be planned now: its spec is refused, or its store does not answer.

    A suspended run stops whatever is wrong with it. Otherwise Jobs without a running pod are held, since new pods would
    only wait; pods that run keep what they have paid for.
    """
    if run.suspend:
        return suspend_patches(jobs)
    if run.store_error and run.store_error_s < HOLD_AFTER_S:
        return ()
    running = {pod.job for pod in pods if pod.running}
    return suspend_patches(job for job in jobs if job.name not in running)


def _suspendable(job: ObservedJob) -> bool:
    return not (job.finished or job.deleting or job.suspended or job.queued)


def obsolete_objects(progress: RunProgress, gate: Control) -> list[ObjectRef]:
    """Jobs that are not needed any more, and ConfigMaps without a Job."""
    if progress.run.store_error:
        # What finished Jobs leave in the store cannot be checked; a suspended run still takes its Jobs from the queue.
        stopped = [job for job in progress.live_jobs if job.queued] if progress.resolved.spec.suspend else []
        return [ObjectRef("Job", job.name) for job in stopped]
    newest = _newest(progress)
    jobs = {job.name for job in progress.jobs if _is_obsolete(job, progress, gate, newest)}
    referenced = {job.name for job in progress.jobs} - jobs
    referenced |= {preflight.name for preflight in progress.run.preflights}
    config_maps = sorted(progress.run.config_maps - referenced)
    return [ObjectRef("Job", name) for name in sorted(jobs)] + [ObjectRef("ConfigMap", name) for name in config_maps]


def _newest(progress: RunProgress) -> Mapping[str, int]:
    """Highest number of a Job by the prefix of its name, which stands for a cell."""
    newest: dict[str, int] = {}
    for job in progress.jobs:
        prefix = prefix_of(job.name)
        newest[prefix] = max(newest.get(prefix, -1), number_of(job.name))
    return newest


def _is_obsolete(job: ObservedJob, progress: RunProgress, gate: Control, newest: Mapping[str, int]) -> bool:
    if job.deleting:
        return False
    if job.finished:
        # The newest Job of a cell stays, so that its pods' logs can be read and its number is not used again.
        return job.harvested and number_of(job.name) < newest[prefix_of(job.name)]
    if progress.resolved.spec.suspend:
        return job.queued
    return budget_closed(gate) and job.suspended and not job.queued and progress.slots_by_job[job.name] == 0
