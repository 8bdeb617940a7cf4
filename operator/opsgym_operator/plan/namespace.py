"""Plans every EvalRun of a namespace: assess each run, allocate slots over all runs, conclude each run.

Invariant: a plan is a function of its arguments. The same observation gives the same plan, so the operator may stop at
any point; and repeated plans of what they bring about come to an end. A run that cannot be planned affects no other.

One call plans the whole namespace because its runs share models: two plans made apart would allocate a free slot twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from opsgym_operator.config import OperatorConfig
from opsgym_operator.observe.objects import ObservedJob, ObservedNamespace, ObservedRun
from opsgym_operator.plan.assess import Assessed, assess
from opsgym_operator.plan.conclude import conclude
from opsgym_operator.plan.desired import Desired
from opsgym_operator.plan.jobs.cleanup import Stop, stop
from opsgym_operator.plan.jobs.queues import withdrawals
from opsgym_operator.plan.jobs.slots import SlotAllocation, allocate
from opsgym_operator.plan.run.quota import Size, exceeded, size_in_use, size_of
from opsgym_operator.plan.status.status import Reason, RunSummary

FAULT_RETRY_S = 60.0
"""Seconds until a run that could not be planned is planned again, unless something changes before."""


def plan(namespace: ObservedNamespace, config: OperatorConfig, now: datetime, version: str) -> dict[str, Desired]:
    """What should be done for each EvalRun, by its uid; runs that are being deleted are left out.

    Args:
        namespace: The observation.
        config: The operator's configuration.
        now: The time, with its zone.
        version: Version of opsgym, for `run.json`.
    """
    runs = sorted((run for run in namespace.runs if not run.deleting), key=lambda run: (run.created_at, run.uid))
    assessed = {run.uid: _assess(run, namespace, config, now, version) for run in runs}
    assessed = _within_quota(assessed, namespace, config)
    demands = {uid: item.frozen.demands for uid, item in assessed.items() if item.frozen is not None}
    most = config.quota_of(runs[0].namespace).pods if runs else None
    allocations = allocate(demands, namespace, most)
    leaving = withdrawals(allocations, now)
    return {
        uid: _conclude(item, allocations.get(uid, ()), leaving.get(uid, ()), namespace, config, now)
        for uid, item in assessed.items()
    }


def _assess(
    run: ObservedRun, namespace: ObservedNamespace, config: OperatorConfig, now: datetime, version: str
) -> Assessed:
    try:
        return assess(run, namespace, config, now, version)
    except Exception as error:  # noqa: BLE001 - a fault in the plan of one run must not stop the others
        return _faulty(run, namespace, error)


def _within_quota(
    assessed: Mapping[str, Assessed], namespace: ObservedNamespace, config: OperatorConfig
) -> dict[str, Assessed]:
    """The runs, of which none is frozen that the quota has no room for; the oldest that fits goes first."""
    used = sum((size_in_use(run) for run in namespace.runs), Size())
    admitted = dict(assessed)
    for uid, item in assessed.items():
        if item.desired.freeze is None:
            continue
        size = size_of(item.desired.freeze)
        if excess := exceeded(size, used, config.quota_of(item.run.namespace)):
            desired = replace(item.desired, freeze=None, requeue_after_s=None)
            admitted[uid] = Assessed(item.run, desired, RunSummary(Reason.QUOTA_EXCEEDED, excess))
        else:
            used += size
    return admitted


def _conclude(
    assessed: Assessed,
    allocations: Sequence[SlotAllocation],
    leaving: Sequence[ObservedJob],
    namespace: ObservedNamespace,
    config: OperatorConfig,
    now: datetime,
) -> Desired:
    try:
        return conclude(assessed, allocations, leaving, config, now)
    except Exception as error:  # noqa: BLE001 - as above
        return conclude(_faulty(assessed.run, namespace, error), (), (), config, now)


def _faulty(run: ObservedRun, namespace: ObservedNamespace, error: Exception) -> Assessed:
    """A run that cannot be planned: its Jobs go on as they are, unless it is suspended."""
    message = f"the operator cannot plan the run ({type(error).__name__}); report the fault with the operator's log"
    stopped = stop(namespace.jobs_by_run.get(run.uid, ())) if run.suspend else Stop()
    desired = Desired(patches=stopped.patches, delete=stopped.delete, fault=error, requeue_after_s=FAULT_RETRY_S)
    return Assessed(run, desired, RunSummary(Reason.INTERNAL_ERROR, message))
