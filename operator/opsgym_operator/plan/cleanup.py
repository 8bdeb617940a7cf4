"""Objects of a frozen run that must go, and Jobs that must stop.

Invariant: a Job is deleted only when no further attempt of it is needed: every pod of it is harvested, or its queue has
not admitted it, or nothing of it may start any more.
"""

from __future__ import annotations

from collections.abc import Mapping

from opsgym_api.records.run import Control
from opsgym_operator.observe.labels import number_of, prefix_of
from opsgym_operator.observe.objects import ObservedJob
from opsgym_operator.plan.desired import JobPatch, ObjectRef
from opsgym_operator.plan.progress import RunProgress
from opsgym_operator.plan.start_gate import budget_closed


def suspend_patches(progress: RunProgress) -> list[JobPatch]:
    """Suspends the live Jobs of a suspended run, except those of Kueue, which decides itself when its Jobs run."""
    return [JobPatch(job.name, suspend=True) for job in progress.live_jobs if not job.suspended and not job.queued]


def obsolete_objects(progress: RunProgress, gate: Control) -> list[ObjectRef]:
    """Jobs that are not needed any more, and ConfigMaps without a Job."""
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
