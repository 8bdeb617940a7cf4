"""From an accepted spec to a frozen run: the preflight Job, and `run.json` made from what it found.

Invariant: nothing is spent before a preflight of the spec, as it and its EvalModels now stand, was well. A preflight
that was not is made anew by itself, soon at first and then less often, and at once when its content has changed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import TypeAlias

from opsgym_api.errors import InputError, Problem
from opsgym_api.evalrun import ModelEntry
from opsgym_api.orders import SuiteIndex
from opsgym_api.records import PlannedCell, RunRecord
from opsgym_operator.accept import Accepted
from opsgym_operator.config import OperatorConfig
from opsgym_operator.desired import Desired, Manifest, Need, ObjectRef
from opsgym_operator.manifests import PreflightJob, order_map, preflight_job
from opsgym_operator.names import PREFLIGHT, preflight_name
from opsgym_operator.observed import ObservedPod, ObservedPreflight, ObservedRun
from opsgym_operator.ordering import key_envs, origins, preflight_order, recordings
from opsgym_operator.plan import digest_of_rows, plan_cells, select_tasks
from opsgym_operator.pods import NO_PODS_S, in_trouble, no_pods, overdue, patience, unschedulable
from opsgym_operator.status import Reason, Situation, condition_of

AGAIN_FIRST_S = 20.0
AGAIN_MAX_S = 300.0
BASELINE_AGAIN_S = 30.0

Step: TypeAlias = tuple[Situation, Desired]
"""What is so of a run, and what to do besides saying so."""

_OWN = frozenset({
    Reason.PREFLIGHT_FAILED, Reason.PREFLIGHT_BROKE, Reason.SUITE_FILTER, Reason.SECRET_MISSING,
    Reason.IMAGE_UNAVAILABLE, Reason.POD_NOT_STARTING, Reason.PODS_REFUSED, Reason.UNSCHEDULABLE,
})  # fmt: skip
"""Stalls that a later preflight may end; until it has, they stand."""


def prepare(
    run: ObservedRun,
    accepted: Accepted,
    pods: Sequence[ObservedPod],
    config: OperatorConfig,
    now: datetime,
    version: str,
) -> Step:
    """The next step of a run that is not frozen.

    Args:
        run: The run; its store was read.
        accepted: What it needs.
        pods: Pods of its preflights that have not ended.
        config: The operator's configuration.
        now: The time.
        version: Version of opsgym, for `run.json`.
    """
    if accepted.spec.suspend:
        return Situation(Reason.SUSPENDED, "spec.suspend is true; nothing has started"), Desired()
    objects = _objects(run, accepted, config)
    name = str(objects[1]["metadata"]["name"])
    others = _others(run, name)
    current = next((found for found in run.preflights if found.name == name), None)
    if current is None:
        wanted = tuple(found for found in objects if found["kind"] == "Job" or name not in run.orders)
        return _checking(run, name), Desired(create=wanted, delete=others)
    if current.deleting:
        return _checking(run, name), Desired(delete=others)
    if current.finished_at is None:
        situation, again = _under_way(run, accepted, current, pods, config, now)
        return situation, Desired(delete=others, again_s=again)
    return _ended(run, accepted, current, others, now, version)


def _objects(run: ObservedRun, accepted: Accepted, config: OperatorConfig) -> tuple[Manifest, Manifest]:
    """The order and the Job, named for what is in them: another content is another Job."""
    specs = list(accepted.models.values())
    envs = key_envs(specs)
    order = preflight_order(run.id, accepted.spec, accepted.models, origins(run.name, accepted.spec), envs)

    def made(name: str) -> tuple[Manifest, Manifest]:
        job = PreflightJob(name, order, envs, recordings(specs))
        return order_map(run, name, PREFLIGHT, order), preflight_job(run, job, accepted.store, config)

    return made(preflight_name(run, json.dumps(made(""), sort_keys=True)))


def _others(run: ObservedRun, name: str) -> tuple[ObjectRef, ...]:
    """What is left of preflights whose content has changed since."""
    jobs = [ObjectRef("Job", found.name) for found in run.preflights if found.name != name and not found.deleting]
    return (*jobs, *(ObjectRef("ConfigMap", order) for order in sorted(run.orders) if order != name))


def _checking(run: ObservedRun, name: str) -> Situation:
    """A preflight is under way: what an earlier one complained of stands until this one has an answer."""
    stalled = condition_of(run.status, "Stalled")
    if stalled is not None and stalled.status == "True" and stalled.reason in _OWN:
        return Situation(Reason(stalled.reason), stalled.message)
    return Situation(Reason.PREFLIGHT_RUNNING, f"Job {name} checks models, tasks and the store")


def _under_way(
    run: ObservedRun,
    accepted: Accepted,
    current: ObservedPreflight,
    pods: Sequence[ObservedPod],
    config: OperatorConfig,
    now: datetime,
) -> tuple[Situation, float | None]:
    own = [pod for pod in pods if pod.job == current.name]
    seconds = accepted.spec.limits.pending_seconds
    situation = in_trouble(own) or unschedulable(own, seconds, now)
    if situation is not None:
        return situation, patience(own, seconds, now)
    if not own and overdue(current.started_at, now):
        return no_pods(current.name, config.pods.service_account_name), None
    return _checking(run, current.name), None if own else NO_PODS_S


def _ended(
    run: ObservedRun,
    accepted: Accepted,
    current: ObservedPreflight,
    others: tuple[ObjectRef, ...],
    now: datetime,
    version: str,
) -> Step:
    complaint = _complaint(current)
    if complaint is not None:
        return complaint, _again(run, current, others, now)
    baseline = _baseline(run, accepted)
    if baseline is not None:
        return baseline
    index = run.stored.index if run.stored else None
    if index is None:
        return _checking(run, current.name), Desired(
            delete=others, needs=frozenset({Need.SUITE}), again_s=AGAIN_FIRST_S
        )
    try:
        record = frozen(run, accepted, index, now, version)
    except InputError as error:
        told = "; ".join(str(problem) for problem in error.problems)
        return Situation(Reason.SUITE_FILTER, told), _again(run, current, others, now, Need.SUITE)
    return Situation(Reason.STARTING), Desired(freeze=record, delete=others, again_s=0.0)


def _complaint(current: ObservedPreflight) -> Situation | None:
    """What the preflight found wrong."""
    report = current.report
    findings = [f"{found.where}: {found.problem}" for found in report.problems] if report else []
    if findings and report:
        more = [f"and {report.more} more"] if report.more else []
        return Situation(Reason.PREFLIGHT_FAILED, "; ".join([*findings, *more]))
    if report is None or current.failure:
        told = current.failure or "its pod ended without an answer"
        return Situation(Reason.PREFLIGHT_BROKE, f"Job {current.name}: {told}")
    return None


def _again(
    run: ObservedRun, current: ObservedPreflight, others: tuple[ObjectRef, ...], now: datetime, *needs: Need
) -> Desired:
    """Deletes a preflight that was not well once it is time for the next."""
    ended = current.finished_at or now
    wait = (ended - now).total_seconds() + _pause(run, ended)
    own = (ObjectRef("Job", current.name),) if wait <= 0 else ()
    return Desired(delete=(*others, *own), needs=frozenset(needs), again_s=max(wait, 1.0))


def _pause(run: ObservedRun, ended: datetime) -> float:
    """Seconds until the next preflight: the longer the run has been stalled, the less often it is worth a pod."""
    stalled = condition_of(run.status, "Stalled")
    since = stalled.last_transition_time if stalled is not None and stalled.status == "True" else ended
    return min(AGAIN_MAX_S, max(AGAIN_FIRST_S, (ended - since).total_seconds() / 6))


def _baseline(run: ObservedRun, accepted: Accepted) -> Step | None:
    """Looks for the run to compare with, so that nothing is spent on a run that nothing can judge."""
    gate = accepted.spec.gate
    if gate is None or gate.baseline is None:
        return None
    needs = frozenset({Need.BASELINE})
    if run.baseline is None:
        return Situation(Reason.PREFLIGHT_RUNNING, f"looks for the gate's baseline {gate.baseline}"), Desired(
            needs=needs
        )
    if isinstance(run.baseline, Problem):
        return Situation(Reason.BASELINE_NOT_FOUND, str(run.baseline)), Desired(needs=needs, again_s=BASELINE_AGAIN_S)
    return None


def frozen(run: ObservedRun, accepted: Accepted, index: SuiteIndex, now: datetime, version: str) -> RunRecord:
    """`run.json`: the spec with its models written out, the tasks selected and the cells planned.

    Raises:
        InputError: The suite's filters name what is not there, or leave nothing.
    """
    spec = accepted.spec
    bad = [entry.task_id for entry in index.entries if entry.problem]
    tasks = select_tasks(spec.suite, [entry for entry in index.entries if not entry.problem], bad)
    written_out = {
        field: [ModelEntry(name=entry.name, inline=accepted.models[entry.name]) for entry in entries]
        for field, entries in (("models", spec.models), ("supporting_models", spec.supporting_models))
    }
    return RunRecord(
        run=run.id,
        name=run.name,
        spec=spec.model_copy(update=written_out).model_dump(mode="json", by_alias=True),
        task_ids=[task.task_id for task in tasks],
        cells=[
            PlannedCell(cell=plan.cell, task_ids=[task.task_id for task in plan.tasks])
            for plan in plan_cells(spec, tasks)
        ],
        trials=spec.trials,
        suite_digest=digest_of_rows((task.task_id, task.digest) for task in tasks),
        opsgym=version,
        created_at=now.isoformat().replace("+00:00", "Z"),
        schedule=run.schedule,
    )
