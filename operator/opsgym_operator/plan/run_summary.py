"""Summary state of a frozen run.

Invariant: of several states that apply, the first in the order of `summarize` is reported; a run has ended only when
every trial is accounted for and no Job is left that might change that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from opsgym_api.records.outcomes import Outcome
from opsgym_core.accounting.breaker import Fault
from opsgym_core.common.clock import utc_text
from opsgym_core.common.numbers import dollars, percent
from opsgym_core.planning.rounds import rounds_text
from opsgym_core.results.statistics import mean
from opsgym_operator.observe.objects import ObservedPod, ObservedRun
from opsgym_operator.plan.jobs.slots import SlotDemand
from opsgym_operator.plan.run.progress import RunProgress
from opsgym_operator.plan.status.pod_states import (
    any_running,
    container_errors,
    jobs_without_pods,
    lost,
    not_starting,
    unschedulable,
)
from opsgym_operator.plan.status.status import Reason, RunSummary

FAULT_SHOWN_S = 600.0
"""Seconds for which a run that goes on shows its latest infrastructure error."""
STORE_RETRY_S = 10.0
"""Seconds until a store that could not be reached is tried again."""


def summarize(
    progress: RunProgress,
    demands: Sequence[SlotDemand],
    service_account: str,
    now: datetime,
    *,
    done: bool,
    busy: bool,
    quota: int | None,
) -> RunSummary:
    """Summary state of a frozen run.

    Args:
        progress: The run.
        demands: Its demands for slots.
        service_account: Service account of its pods.
        now: The time.
        done: Whether every trial is accounted for.
        busy: Whether the run gets further slots now.
        quota: Pods that the namespace may have, if that keeps slots from its runs.
    """
    spec, pods = progress.resolved.spec, progress.pods
    return (
        (_ended(progress) if done else None)
        or (_suspended(progress) if spec.suspend else None)
        or store_unreachable(progress.run, pods)
        or _job_spec_missing(progress)
        or container_errors(pods, now)
        or _breaker_open(progress, now)
        or _quota_used_up(progress, now)
        or jobs_without_pods(
            progress.live_jobs, pods, service_account, spec.limits.infra_retries, progress.run.pod_refusals, now
        )
        or lost(pods, now)
        or not_starting(pods, spec.limits.pending_seconds, progress.run.pod_refusals, now)
        or unschedulable(pods, spec.limits.pending_seconds, now)
        or (None if busy else _waiting(progress, demands, quota))
        or RunSummary(Reason.RUNNING if progress.jobs else Reason.STARTING, _last_fault(progress, now))
    )


def _last_fault(progress: RunProgress, now: datetime) -> str:
    """The latest infrastructure error of a run that goes on; empty if there was none in the last minutes."""
    at, fault = progress.ledger.last_fault or (0.0, Fault("", ""))
    if now.timestamp() - at >= FAULT_SHOWN_S:
        return ""
    ended = utc_text(datetime.fromtimestamp(at, UTC), "seconds")
    return f"an attempt ended at {ended} as infra_error, {fault.reason}: {fault.message[:300]}"


def store_unreachable(run: ObservedRun, pods: Sequence[ObservedPod]) -> RunSummary | None:
    """The summary of a run whose store has just failed; None if it has not."""
    if not run.store_error:
        return None
    return RunSummary(Reason.STORE_UNREACHABLE, run.store_error, progressing=any_running(pods))


def _ended(progress: RunProgress) -> RunSummary:
    tally, cost = progress.tally, dollars(progress.ledger.cost_usd)
    scored = f"{tally.scored} of {tally.total} trials are scored"
    not_scored = _not_scored(tally.counters)
    if not tally.scored:
        return RunSummary(Reason.NOTHING_SCORED, f"{scored}: {not_scored}; spent {cost}")
    worst = mean(progress.judged_run.scores.worst_rates) if tally.lost else None
    bound = "" if worst is None else f" ({percent(worst)} if what is not scored failed)"
    message = f"{scored}, {percent(progress.ledger.success)} success{bound}, spent {cost}"
    if tally.budget_skipped:
        advice = "raise spec.budget.maxUsd to run the remaining trials"
        return RunSummary(Reason.BUDGET_SPENT, f"{message}; {not_scored}: {advice}")
    message += _stop(progress)
    return RunSummary(Reason.COMPLETE, f"{message}; {not_scored}" if tally.not_scored else message)


def _stop(progress: RunProgress) -> str:
    """The early stop of a run, for its message; empty without one."""
    record = progress.stored.record
    if record is None or record.stopped is None:
        return ""
    return f"; {rounds_text(record.stopped.look, stopped=True, total=progress.tally.total)}"


def _not_scored(counters: Mapping[str, int]) -> str:
    outcomes = (Outcome.INFRA_ERROR, Outcome.CONFIG_ERROR, Outcome.BUDGET_SKIPPED)
    return ", ".join(f"{counters[outcome]} {outcome}" for outcome in outcomes if counters[outcome])


def _suspended(progress: RunProgress) -> RunSummary:
    ending = f"; {len(progress.pods)} pods are terminating" if progress.pods else ""
    away = f"; the store does not answer: {progress.run.store_error}" if progress.run.store_error else ""
    message = f"spec.suspend is true; {progress.tally.pending} trials remain{ending}{away}"
    return RunSummary(Reason.SUSPENDED, message)


def _job_spec_missing(progress: RunProgress) -> RunSummary | None:
    if not progress.jobs_without_spec:
        return None
    name = progress.jobs_without_spec[0].name
    message = (
        f"ConfigMap {name} was deleted, so Job {name} cannot continue; delete the Job to have its trials planned again"
    )
    return RunSummary(Reason.JOB_SPEC_MISSING, message, progressing=any_running(progress.pods))


def _breaker_open(progress: RunProgress, now: datetime) -> RunSummary | None:
    breaker = progress.ledger.breaker
    if not breaker.is_open(now.timestamp()):
        return None
    return RunSummary(Reason.BREAKER_OPEN, f"{breaker.cause.reason}: {breaker.cause.message}")


def _quota_used_up(progress: RunProgress, now: datetime) -> RunSummary | None:
    """The summary of a run of which models wait for their quota; other models may go on."""
    breakers = progress.used_up_quotas(now)
    if not breakers:
        return None
    models, cause = ", ".join(sorted(breakers)), next(iter(breakers.values())).cause
    others = {group.cell.key for group in progress.stored.pod_groups if group.cell.model not in breakers}
    jobs = {job.name for job in progress.jobs if job.cell in others}
    advice = "raise the quota or credit of its account; its trials then go on by themselves"
    message = f"no trial of {models} starts, whose quota is used up: {advice}; {cause.message}"
    going_on = any_running([pod for pod in progress.pods if pod.job in jobs])
    return RunSummary(Reason.QUOTA_EXHAUSTED, message, progressing=going_on)


def _waiting(progress: RunProgress, demands: Sequence[SlotDemand], quota: int | None) -> RunSummary | None:
    if progress.live_jobs and all(job.queued and job.suspended for job in progress.live_jobs):
        queue = progress.resolved.spec.queue_name
        return RunSummary(Reason.WAITING_FOR_QUEUE, f"LocalQueue {queue} has not admitted the run's Jobs")
    models = dict.fromkeys(demand.group.cell.model for demand in demands if demand.wants)
    if not progress.live_jobs and any(demand.yields for demand in demands):
        queue, names = progress.resolved.spec.queue_name, ", ".join(models)
        message = f"LocalQueue {queue} did not admit the run's Jobs in time; other runs use the slots of {names}"
        return RunSummary(Reason.WAITING_FOR_QUEUE, message)
    if models and not progress.pods and not any(progress.slots_by_job.values()):
        if quota is not None:
            message = f"other runs use all {quota:,} pods that the namespace may have at the same time"
            return RunSummary(Reason.QUOTA_EXCEEDED, message)
        return RunSummary(Reason.WAITING_FOR_MODEL, f"other runs use all slots of {', '.join(models)}")
    return None
