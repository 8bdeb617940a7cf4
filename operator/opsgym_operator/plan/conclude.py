"""Last step of a plan: what should be done for one EvalRun, and the status that reports it.

Invariant: the status of a run is derived from the same assessment as the actions beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from opsgym_api.records.store_layout import RunKeys
from opsgym_core.common.numbers import dollars
from opsgym_operator.config import OperatorConfig
from opsgym_operator.observe.objects import ObservedJob
from opsgym_operator.plan.assess import Assessed, FrozenRun
from opsgym_operator.plan.desired import Desired, Event, ObjectRef, TaskJob
from opsgym_operator.plan.jobs.cleanup import Stop, interrupt, obsolete_objects, stop
from opsgym_operator.plan.jobs.job_chunks import job_changes
from opsgym_operator.plan.jobs.queues import seconds_until_overdue
from opsgym_operator.plan.jobs.slots import SlotAllocation
from opsgym_operator.plan.jobs.unrun import finalize_unrun
from opsgym_operator.plan.quality_gate import gate_condition, judge_gate, look_between_rounds
from opsgym_operator.plan.run.accept import unknown_webhooks
from opsgym_operator.plan.run.frozen_pods import mixed_images
from opsgym_operator.plan.run.progress import RunProgress
from opsgym_operator.plan.run.start_gate import OPEN, budget_closed
from opsgym_operator.plan.run_summary import summarize
from opsgym_operator.plan.status.notifications import with_notifications
from opsgym_operator.plan.status.pod_states import any_running, time_until_stalled
from opsgym_operator.plan.status.status import REFUSED, Reason, RunSummary, condition_events, status_of

REQUEUE_S = 30.0
"""Seconds between two plans of an unfinished run if nothing changes."""
SPEND_REQUEUE_S = 5.0
"""Seconds between two plans of a run with a budget: each plan reads what its running episodes have spent."""


def conclude(
    assessed: Assessed,
    allocations: Sequence[SlotAllocation],
    leaving: Sequence[ObservedJob],
    config: OperatorConfig,
    now: datetime,
) -> Desired:
    """What should be done for a run.

    Args:
        assessed: The run after the first step.
        allocations: Slots that its pod groups get.
        leaving: Jobs that leave their queue.
        config: The operator's configuration.
        now: The time, with its zone.
    """
    summary, desired = assessed.summary, assessed.desired
    if assessed.frozen is not None:
        summary, desired = _conclude_frozen(assessed.frozen, allocations, leaving, config, now)
    if summary is not None:
        summary = _refused(assessed, summary)
        desired = _with_status(assessed, summary, desired, config, now)
    return with_notifications(assessed.run, desired, config, now)


def _refused(assessed: Assessed, summary: RunSummary) -> RunSummary:
    """The summary of a run of which the API server refuses an object; any other summary as it is."""
    if not assessed.run.refusal or summary.ended or summary.reason in REFUSED:
        return summary
    progressing = assessed.frozen is not None and any_running(assessed.frozen.progress.pods)
    return RunSummary(Reason.OBJECT_REFUSED, assessed.run.refusal, progressing=progressing)


def _conclude_frozen(
    frozen: FrozenRun,
    allocations: Sequence[SlotAllocation],
    leaving: Sequence[ObservedJob],
    config: OperatorConfig,
    now: datetime,
) -> tuple[RunSummary, Desired]:
    """State of a frozen run, and what should be done: its verdict if its trials have ended, else its Jobs."""
    progress, gate = frozen.progress, frozen.gate
    store_error = bool(progress.run.store_error)
    records, further = ([], False) if store_error else finalize_unrun(progress, gate, now)
    done = _is_done(frozen) and not records
    if done and (step := look_between_rounds(progress, now)) is not None:
        return step
    changes = job_changes(progress, allocations)
    summary = summarize(
        progress,
        frozen.demands,
        config.pods.service_account_name,
        now,
        done=done,
        busy=bool(changes.create or changes.patches),
        quota=next((allocation.quota for allocation in allocations), None),
    )
    if summary.ended and (step := judge_gate(progress, now)) is not None:
        return step
    stopped = _stopped(frozen)
    gate_changes = gate != (progress.stored.control or OPEN) and not store_error
    return summary, Desired(
        control=gate if gate_changes else None,
        records=tuple(records),
        create=changes.create,
        patches=changes.patches if stopped is None else stopped.patches,
        delete=_deletions(frozen, stopped or Stop(), leaving, now),
        withdrawn=bool(leaving),
        events=(*_budget_events(frozen, gate_changes=gate_changes), *_job_events(changes.create)),
        requeue_after_s=_requeue_after(progress, now, further=further, ended=summary.ended),
    )


def _stopped(frozen: FrozenRun) -> Stop | None:
    """What stops Jobs of the run; None if they go on."""
    progress = frozen.progress
    if progress.resolved.spec.suspend or (progress.run.store_error and not frozen.gate.proceed):
        # Without the store, running episodes cannot read that the start gate lets none of them continue.
        return stop(progress.live_jobs)
    return interrupt(progress.run, progress.live_jobs, progress.pods) if progress.run.store_error else None


def _deletions(
    frozen: FrozenRun, stopped: Stop, leaving: Sequence[ObservedJob], now: datetime
) -> tuple[ObjectRef, ...]:
    obsolete = obsolete_objects(frozen.progress, frozen.gate, now)
    names = {ref.name for ref in obsolete}
    withdrawn = [ObjectRef("Job", job.name, version=job.version) for job in leaving]
    return (*obsolete, *(ref for ref in (*stopped.delete, *withdrawn) if ref.name not in names))


def _is_done(frozen: FrozenRun) -> bool:
    """Whether every trial is accounted for and no Job is left that might change that."""
    tally = frozen.progress.tally
    waits_for_budget = tally.budget_skipped > 0 and not budget_closed(frozen.gate)
    return tally.pending == 0 and not waits_for_budget and not frozen.progress.assigned


def _requeue_after(progress: RunProgress, now: datetime, *, further: bool, ended: bool) -> float | None:
    if further:
        return 0.0
    if ended:
        return None
    # The start gate must close while running episodes can still stop, hence their spend is read often.
    spending = progress.reserved.trials > 0 and progress.resolved.spec.budget is not None
    delays = [SPEND_REQUEUE_S if spending else REQUEUE_S]
    at = now.timestamp()
    if progress.ledger.breaker.is_open(at):
        delays.append(progress.ledger.breaker.closes_in(at))
    delays += [breaker.closes_in(at) for breaker in progress.used_up_quotas(now).values()]
    until_stalled = time_until_stalled(progress.pods, progress.resolved.spec.limits.pending_seconds, now)
    until_overdue = seconds_until_overdue(progress.live_jobs, now)
    return min([*delays, *(delay for delay in (until_stalled, until_overdue) if delay is not None)])


def _budget_events(frozen: FrozenRun, *, gate_changes: bool) -> list[Event]:
    if not gate_changes or not budget_closed(frozen.gate):
        return []
    spent = dollars(frozen.progress.ledger.spent)
    message = f"no further trial starts: {spent} of the budget is spent, the rest is reserved"
    return [Event("Normal", "BudgetClosed", message)]


def _job_events(jobs: Sequence[TaskJob]) -> list[Event]:
    if not jobs:
        return []
    trials = sum(len(job.trials) for job in jobs)
    cells = list(dict.fromkeys(job.cell.key for job in jobs))
    named = ", ".join(cells[:3]) + (f" and {len(cells) - 3} more cells" if len(cells) > 3 else "")
    return [Event("Normal", "JobsCreated", f"{len(jobs)} Jobs for {trials} trials of {named}", series=True)]


def _with_status(
    assessed: Assessed, summary: RunSummary, desired: Desired, config: OperatorConfig, now: datetime
) -> Desired:
    """Adds the status, and events for what has changed in it."""
    run = assessed.run
    progress = assessed.frozen.progress if assessed.frozen else None
    gate = gate_condition(run, progress if summary.ended else None)
    results = None
    if progress is not None:
        results = f"{progress.resolved.store.url.rstrip('/')}/{RunKeys(run.id).root.rstrip('/')}"
    summary = replace(summary, warning=unknown_webhooks(run, config))
    figures = progress.figures if progress else None
    mixed = mixed_images(progress.stored.record, progress.pods) if progress else None
    status = status_of(run, summary, figures, gate, results, now, mixed)
    events = (*desired.events, *condition_events(run.status, status))
    return replace(desired, status=None if status == run.status else status, events=events)
