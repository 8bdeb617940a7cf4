"""Attempt records of trials that end without a pod's report.

Invariant: every trial that will not run is recorded in the store before the run ends, so that every planned trial is
accounted for there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import islice

from opsgym_api.jobs.job_spec import trials_at
from opsgym_api.records.attempt import AttemptRecord, Cell, Timings, TrialId
from opsgym_api.records.outcomes import InfraReason, Outcome
from opsgym_api.records.run import Control
from opsgym_core.common.clock import utc_text
from opsgym_core.planning.budget import unknown_costs
from opsgym_operator.observe.objects import ObservedJob
from opsgym_operator.plan.run.progress import RunProgress
from opsgym_operator.plan.run.start_gate import budget_closed

MOST_RECORDS = 500
"""Records written by one plan; the rest follows at once, and the status is updated in between."""


def finalize_unrun(progress: RunProgress, gate: Control, now: datetime) -> tuple[list[AttemptRecord], bool]:
    """Records of trials that end without a pod's report, and whether there are more than these."""
    records = list(islice(_unrun(progress, gate, now), MOST_RECORDS + 1))
    return records[:MOST_RECORDS], len(records) > MOST_RECORDS


def _unrun(progress: RunProgress, gate: Control, now: datetime) -> Iterator[AttemptRecord]:
    cells = {group.cell.key: group.cell for group in progress.stored.pod_groups}
    for job in progress.jobs:
        if job.finished and job.harvested and not job.deleting and progress.ledger.unsettled(job.trial_ids):
            yield from _unreported(progress, job, cells, now)
    budget = progress.resolved.spec.budget
    if budget is None or not budget_closed(gate) or progress.reserved.trials > 0:
        return
    message = f"the run's budget of ${budget.max_usd:g} is spent; raise spec.budget.maxUsd to run the remaining trials"
    message += unknown_costs(progress.ledger.unknown)
    for group in progress.stored.pod_groups:
        for trial in progress.pending(group):
            if progress.ledger.state(trial).outcome is not Outcome.BUDGET_SKIPPED:
                yield _record(progress, group.cell, trial, Outcome.BUDGET_SKIPPED, "budget", message, now)


def _unreported(
    progress: RunProgress, job: ObservedJob, cells: Mapping[str, Cell], now: datetime
) -> Iterator[AttemptRecord]:
    """Records for the indexes of a Job that ended without any report of an attempt."""
    for index in sorted(job.completed | job.failed):
        trials = [TrialId(job.cell, ref.task_id, ref.trial) for ref in trials_at(job.trials, job.per_pod, index)]
        if any(progress.ledger.state(trial).outcome is not None for trial in trials):
            continue  # its pods have played; what they did not reach is planned again
        for trial in trials:
            message = f"index {index} of Job {job.name} ended without a termination message or an attempt record"
            reason = InfraReason.RUNNER_ERROR
            yield _record(progress, cells[job.cell], trial, Outcome.INFRA_ERROR, reason, message, now)


def _record(
    progress: RunProgress, cell: Cell, trial: TrialId, outcome: Outcome, reason: str, message: str, now: datetime
) -> AttemptRecord:
    return AttemptRecord(
        run=progress.run.id,
        cell=cell,
        task_id=trial.task_id,
        trial=trial.trial,
        attempt=progress.ledger.state(trial).attempts,
        outcome=outcome,
        reason=reason,
        message=message,
        timings=Timings(started_at=utc_text(now, "milliseconds")),
    )
