"""First step of a plan: what one EvalRun needs, without regard to other runs.

Invariant: nothing here depends on another run; what runs share, the slots of models, is allocated afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from opsgym_api.records.run import Control
from opsgym_operator.config import OperatorConfig
from opsgym_operator.observe.objects import ObservedJob, ObservedNamespace, ObservedRun
from opsgym_operator.observe.pod_groups import PodGroup
from opsgym_operator.plan.desired import Desired, Load, ObjectRef
from opsgym_operator.plan.jobs.cleanup import interrupt, kept_failures, retired_objects, stop
from opsgym_operator.plan.jobs.queues import queue_place, yields
from opsgym_operator.plan.jobs.slots import MOST_SHARE, ROUNDS, WORTH_PODS, SlotDemand, least_chunk
from opsgym_operator.plan.run.accept import accept, ceiling_of
from opsgym_operator.plan.run.pod_sizes import pod_sizes
from opsgym_operator.plan.run.preflight import prepare
from opsgym_operator.plan.run.progress import RunProgress
from opsgym_operator.plan.run.start_gate import affordable, start_gate
from opsgym_operator.plan.run_summary import STORE_RETRY_S, store_unreachable
from opsgym_operator.plan.status.status import Reason, RunSummary, is_finished

QUEUE_RETRY_S = 10.0
"""Seconds until a queue that was not found is looked for again."""


@dataclass(frozen=True)
class FrozenRun:
    """A run whose trials can be planned."""

    progress: RunProgress
    gate: Control
    """The start gate as it should be."""
    demands: tuple[SlotDemand, ...]


@dataclass(frozen=True)
class Assessed:
    """One run after the first step."""

    run: ObservedRun
    desired: Desired = field(default_factory=Desired)
    """What should be done for a run that is not frozen, or has finished."""
    summary: RunSummary | None = None
    """State of a run that is not frozen; None leaves the status as it is."""
    frozen: FrozenRun | None = None


def assess(
    run: ObservedRun, namespace: ObservedNamespace, config: OperatorConfig, now: datetime, version: str
) -> Assessed:
    """What a run needs now.

    Args:
        run: The run.
        namespace: The observation that it is part of.
        config: The operator's configuration.
        now: The time, with its zone.
        version: Version of opsgym, for `run.json`.
    """
    jobs = tuple(namespace.jobs_by_run.get(run.uid, ()))
    if is_finished(run):
        return Assessed(run, _retire(run, jobs, now))
    resolved = accept(run, namespace, config)
    pods = tuple(namespace.pods_by_run.get(run.uid, ()))
    if isinstance(resolved, RunSummary):
        # No watch reports that a queue comes to exist.
        awaited = resolved.reason in (Reason.QUEUE_NOT_FOUND, Reason.PRIORITY_CLASS_NOT_FOUND)
        retry_s = QUEUE_RETRY_S if awaited else None
        # A Job that goes on starts further pods by itself: with a profile or a Secret that was withdrawn, or beyond a
        # budget that cannot be read. Lower parallelism would end running pods too, and the start gate, if its store is
        # known, is read by pods that have started. So every refusal stops the Jobs, which keeps any budget as well.
        stopped = stop(jobs)
        return Assessed(run, Desired(patches=stopped.patches, delete=stopped.delete, requeue_after_s=retry_s), resolved)
    if run.stored is None:
        stopped = interrupt(run, jobs, pods)
        desired = Desired(
            patches=stopped.patches,
            delete=stopped.delete,
            loads=frozenset({Load.STORED_RUN}),
            requeue_after_s=STORE_RETRY_S,
        )
        return Assessed(run, desired, store_unreachable(run, pods))
    if run.stored.record is not None:
        progress = RunProgress(run, resolved, run.stored, jobs, pods)
        gate = start_gate(progress, now)
        return Assessed(run, frozen=FrozenRun(progress, gate, _demands(progress, gate, namespace, now)))
    if run.store_error and not run.suspend:
        return Assessed(run, Desired(requeue_after_s=STORE_RETRY_S), store_unreachable(run, pods))
    summary, desired = prepare(run, resolved, pods, config, now, version)
    return Assessed(run, desired, summary)


def _retire(run: ObservedRun, jobs: Sequence[ObservedJob], now: datetime) -> Desired:
    """Deletes what is left of a finished run, and the run itself once its time to live is over."""
    delays = list(kept_failures(jobs, now).values())
    seconds, ended = run.spec.ttl_seconds_after_finished if run.spec else None, run.status.finished_at
    if seconds is not None and ended is not None:
        left = seconds - (now - ended).total_seconds()
        if left <= 0:
            return Desired(delete=(ObjectRef("EvalRun", run.name, run.uid),))
        delays.append(left)
    return Desired(delete=tuple(retired_objects(run, jobs, now)), requeue_after_s=min(delays, default=None))


def _demands(
    progress: RunProgress, gate: Control, namespace: ObservedNamespace, now: datetime
) -> tuple[SlotDemand, ...]:
    """Demands of the pod groups that hold slots or want some."""
    entries = {entry.name: entry for entry in progress.resolved.spec.models}
    ceilings = {name: ceiling_of(entry, progress.resolved, namespace) for name, entry in entries.items()}
    least, sizes = least_chunk(progress.tally.total), pod_sizes(progress, ceilings)
    demands = []
    for group in progress.stored.pod_groups:
        entry = entries[group.cell.model]
        pool = ("", entry.ref) if entry.ref else (progress.run.uid, entry.name)
        demand = SlotDemand(
            group,
            pool,
            ceilings[entry.name],
            queue=queue_place(progress),
            yields=yields(progress.run, now),
            least=least,
            unit=_unit(group, least, ceilings[entry.name], progress, sizes[group.cell.key]),
            per_pod=sizes[group.cell.key],
        )
        demands.append(_demand(progress, gate, group, demand))
    counts = affordable(progress, [demand.pending for demand in demands])
    bounded = (
        demand if count == demand.pending else replace(demand, pending=count)
        for demand, count in zip(demands, counts, strict=True)
    )
    return tuple(demand for demand in bounded if demand.held or demand.wants)


def _unit(group: PodGroup, least: int, ceiling: int, progress: RunProgress, per_pod: int) -> int:
    """Slots with which a chunk that is worth its Job takes `ROUNDS` rounds."""
    spec = progress.resolved.spec
    trials, rounds = len(group.task_ids) * progress.trials, max(ROUNDS, per_pod)
    required = math.ceil((trials if trials < 2 * least else least) / rounds)
    if spec.queue_name is not None:  # Kueue's Jobs wait until there are enough slots for them
        return required
    worth = math.ceil(min(trials, WORTH_PODS * per_pod) / rounds)
    return max(required, min(worth, ceiling // MOST_SHARE))


def _demand(progress: RunProgress, gate: Control, group: PodGroup, demand: SlotDemand) -> SlotDemand:
    cell_jobs = progress.jobs_by_cell.get(group.cell.key, ())
    jobs = cell_jobs if group.whole_cell else _jobs_of(group, cell_jobs)
    held = sum(progress.slots_by_job[job.name] for job in jobs)
    blocked = any(not job.trials and not job.finished for job in cell_jobs)
    if not gate.start or group.cell.model in gate.stopped or progress.run.store_error or blocked:
        return replace(demand, held=held)
    spec = progress.resolved.spec
    pending = progress.count_pending(group)
    # A first round shows what a trial costs, and how long it takes.
    unknown = spec.budget is not None or spec.trials_per_pod == "auto"
    one_round = unknown and not progress.ledger.any_ended
    return replace(
        demand,
        held=held,
        jobs=tuple(job for job in jobs if not job.finished and not job.deleting),
        pending=pending,
        begun=len(group.task_ids) * progress.trials - pending,
        one_round=one_round,
        per_pod=1 if one_round else demand.per_pod,
    )


def _jobs_of(group: PodGroup, jobs: Sequence[ObservedJob]) -> list[ObservedJob]:
    """Jobs of a group that shares its cell with others: all trials of a Job are of one group."""
    task_ids = set(group.task_ids)
    return [job for job in jobs if job.trials and job.trials[0].task_id in task_ids]
