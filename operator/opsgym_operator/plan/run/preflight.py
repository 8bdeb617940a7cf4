"""From an accepted spec to a frozen run: the preflight Job, and `run.json` made of its result.

Invariant: nothing is spent before a preflight of the current spec and its current EvalModels has succeeded. A failed
preflight is repeated without user action, soon at first and then less often, and at once when its content changes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeAlias

from opsgym_api.errors import InputError, Problem
from opsgym_api.kinds.evalrun import ModelEntry
from opsgym_api.records.run import PlannedCell, RunPods, RunRecord
from opsgym_api.tasks.suite import SuiteIndex
from opsgym_core.common.clock import utc_text
from opsgym_core.planning.cells import plan_cells
from opsgym_core.planning.rounds import rounds_of
from opsgym_core.planning.run_id import digest_of_rows, prompt_digests
from opsgym_core.planning.select import select_tasks
from opsgym_operator.config import OperatorConfig
from opsgym_operator.observe.labels import preflight_name
from opsgym_operator.observe.objects import ObservedPod, ObservedPreflight, ObservedRun
from opsgym_operator.observe.parse import condition_of
from opsgym_operator.plan.desired import Desired, Load, ObjectRef, PreflightJob, ResolvedSpec
from opsgym_operator.plan.run.accept import model_origins
from opsgym_operator.plan.run.frozen_pods import freeze_pods, versions_of
from opsgym_operator.plan.run.pod_options import config_for
from opsgym_operator.plan.run.quota import size_of, too_large
from opsgym_operator.plan.status.pod_states import (
    FIRST_PODS_S,
    any_running,
    container_errors,
    lost,
    not_starting,
    pods_overdue,
    pods_refused,
    time_until_stalled,
    unschedulable,
)
from opsgym_operator.plan.status.status import Reason, RunSummary

RETRY_FIRST_S = 20.0
"""Seconds from the end of a failed preflight to the next one, at first."""
RETRY_MAX_S = 300.0
"""Longest such pause."""
BASELINE_RETRY_S = 30.0
"""Seconds until a missing baseline is looked up again."""

Step: TypeAlias = tuple[RunSummary, Desired]
"""State of a run, and what should be done besides reporting it."""

_PREFLIGHT_STALLS = frozenset({
    Reason.PREFLIGHT_FAILED, Reason.PREFLIGHT_ERROR, Reason.SUITE_FILTER, Reason.SECRET_MISSING,
    Reason.IMAGE_UNAVAILABLE, Reason.POD_NOT_STARTING, Reason.PODS_REFUSED, Reason.UNSCHEDULABLE,
})  # fmt: skip
"""Reasons of stalls that a later preflight may end; they are reported until it has."""


def prepare(
    run: ObservedRun,
    resolved: ResolvedSpec,
    pods: Sequence[ObservedPod],
    config: OperatorConfig,
    now: datetime,
    version: str,
) -> Step:
    """The next step of a run that is not frozen.

    Args:
        run: The run, as its store was read.
        resolved: Its spec with references resolved.
        pods: Pods of its preflights that have not ended.
        config: The operator's configuration.
        now: The time.
        version: Version of opsgym, for `run.json`.
    """
    if resolved.spec.suspend:
        return RunSummary(Reason.SUSPENDED, "spec.suspend is true; nothing has started"), Desired()
    config = config_for(resolved.spec.pods, config)
    name = preflight_name(run, _content(run, resolved, config))
    outdated = _outdated(run, name)
    current = next((preflight for preflight in run.preflights if preflight.name == name), None)
    if current is None:
        job = PreflightJob(name, resolved, with_config_map=name not in run.config_maps)
        return _checking(run, name), Desired(create=(job,), delete=outdated)
    if current.deleting:
        return _checking(run, name), Desired(delete=outdated)
    if current.finished_at is None:
        summary, delay = _under_way(run, resolved, current, pods, config, now)
        return summary, Desired(delete=outdated, requeue_after_s=delay)
    summary, desired = _finished(run, resolved, current, config, now, version)
    return summary, replace(desired, delete=(*outdated, *desired.delete))


def _content(run: ObservedRun, resolved: ResolvedSpec, config: OperatorConfig) -> str:
    """Everything that the manifests of a preflight are made of: other content makes another Job."""
    spec = resolved.spec
    source = spec.suite.object_store
    stores = [resolved.store, *([config.store_by_name[source.store]] if source else [])]
    content = {
        "suite": spec.suite.model_dump(mode="json"),
        "agents": [agent.model_dump(mode="json") for agent in spec.agents],
        "models": {name: model.model_dump(mode="json") for name, model in resolved.models.items()},
        "origins": model_origins(run.name, spec),
        "stores": [store.model_dump(mode="json") for store in stores],
        "images": config.images.model_dump(mode="json"),
        "pods": config.pods.model_dump(mode="json"),
        "logLevel": config.log_level,
        **({"heldOutSecret": config.held_out_secret} if spec.suite.held_out else {}),
    }
    return json.dumps(content, sort_keys=True)


def _outdated(run: ObservedRun, name: str) -> tuple[ObjectRef, ...]:
    """Objects of preflights whose content has changed since."""
    jobs = [
        ObjectRef("Job", preflight.name)
        for preflight in run.preflights
        if preflight.name != name and not preflight.deleting
    ]
    return (*jobs, *(ObjectRef("ConfigMap", config_map) for config_map in sorted(run.config_maps - {name})))


def _checking(run: ObservedRun, name: str) -> RunSummary:
    """A preflight is under way: what stalled the run before is reported until this preflight has ended."""
    stalled = condition_of(run.status, "Stalled")
    if stalled is not None and stalled.status == "True" and stalled.reason in _PREFLIGHT_STALLS:
        return RunSummary(Reason(stalled.reason), stalled.message)
    return RunSummary(Reason.PREFLIGHT_RUNNING, f"Job {name} checks models, tasks and the store")


def _under_way(
    run: ObservedRun,
    resolved: ResolvedSpec,
    current: ObservedPreflight,
    pods: Sequence[ObservedPod],
    config: OperatorConfig,
    now: datetime,
) -> tuple[RunSummary, float | None]:
    """State of a run whose preflight has not ended, and the seconds until it may change by time alone."""
    own = [pod for pod in pods if pod.job == current.name]
    seconds = resolved.spec.limits.pending_seconds
    summary = (
        container_errors(own, now)
        or lost(own, now)
        or not_starting(own, seconds, run.pod_refusals, now)
        or unschedulable(own, seconds, now)
    )
    if summary is not None:
        starting = summary.reason is Reason.WAITING_FOR_PODS
        return summary, FIRST_PODS_S if starting else time_until_stalled(own, seconds, now)
    if not own and pods_overdue(current.started_at, now):
        return pods_refused(current.name, config.pods.service_account_name, run.pod_refusals), FIRST_PODS_S
    until_late = time_until_stalled(own, seconds, now)
    delay = until_late if any_running(own) else min(FIRST_PODS_S, until_late or FIRST_PODS_S)
    return _checking(run, current.name), delay


def _finished(
    run: ObservedRun,
    resolved: ResolvedSpec,
    current: ObservedPreflight,
    config: OperatorConfig,
    now: datetime,
    version: str,
) -> Step:
    failure = _failure(current)
    if failure is not None and current.evicted and current.report is None:
        # Nothing is wrong with the run, and it is not worth a notification.
        return _checking(run, current.name), _retry(run, current, now)
    if failure is not None:
        return failure, _retry(run, current, now)
    baseline = _missing_baseline(run, resolved)
    if baseline is not None:
        return baseline
    index = run.stored.index if run.stored else None
    if index is None:
        desired = Desired(loads=frozenset({Load.SUITE_INDEX}), requeue_after_s=RETRY_FIRST_S)
        return _checking(run, current.name), desired
    try:
        record = freeze(run, resolved, index, freeze_pods(config, current.image_ids), now, version)
    except InputError as error:
        message = "; ".join(str(problem) for problem in error.problems)
        return RunSummary(Reason.SUITE_FILTER, message), _retry(run, current, now, Load.SUITE_INDEX)
    if excess := too_large(size_of(record), config.quota_of(run.namespace)):
        return RunSummary(Reason.TOO_LARGE, excess), Desired()
    return RunSummary(Reason.STARTING), Desired(freeze=record, requeue_after_s=0.0)


def _failure(current: ObservedPreflight) -> RunSummary | None:
    """Why a preflight failed; None if it succeeded."""
    report = current.report
    if report is not None and report.problems:
        problems = [f"{problem.where}: {problem.problem}" for problem in report.problems]
        further = [f"and {report.more} more"] if report.more else []
        return RunSummary(Reason.PREFLIGHT_FAILED, "; ".join([*problems, *further]))
    if report is None or current.failure:
        message = current.failure or "its pod ended without a report"
        return RunSummary(Reason.PREFLIGHT_ERROR, f"Job {current.name}: {message}")
    return None


def _retry(run: ObservedRun, current: ObservedPreflight, now: datetime, *loads: Load) -> Desired:
    """Deletes a failed preflight once it is time for the next one."""
    ended = current.finished_at or now
    wait = (ended - now).total_seconds() + _pause(run, ended)
    delete = (ObjectRef("Job", current.name),) if wait <= 0 else ()
    return Desired(delete=delete, loads=frozenset(loads), requeue_after_s=max(wait, 1.0))


def _pause(run: ObservedRun, ended: datetime) -> float:
    """Seconds until the next preflight: the longer a run has been stalled, the less often it is worth a pod."""
    stalled = condition_of(run.status, "Stalled")
    since = stalled.last_transition_time if stalled is not None and stalled.status == "True" else ended
    return min(RETRY_MAX_S, max(RETRY_FIRST_S, (ended - since).total_seconds() / 6))


def _missing_baseline(run: ObservedRun, resolved: ResolvedSpec) -> Step | None:
    """Waits for the run that the gate compares with, so that nothing is spent on a run that cannot be judged."""
    gate = resolved.spec.gate
    if gate is None or gate.baseline is None:
        return None
    loads = frozenset({Load.BASELINE})
    if run.baseline is None:
        summary = RunSummary(Reason.PREFLIGHT_RUNNING, f"reading the gate's baseline {gate.baseline}")
        return summary, Desired(loads=loads)
    if isinstance(run.baseline, Problem):
        summary = RunSummary(Reason.BASELINE_NOT_FOUND, str(run.baseline))
        return summary, Desired(loads=loads, requeue_after_s=BASELINE_RETRY_S)
    return None


def freeze(
    run: ObservedRun, resolved: ResolvedSpec, index: SuiteIndex, pods: RunPods, now: datetime, version: str
) -> RunRecord:
    """`run.json`: the spec with its models inlined, the selected tasks and the planned cells.

    Raises:
        InputError: The suite's filters name unknown tasks or domains, or select nothing.
    """
    spec = resolved.spec
    invalid = [entry.task_id for entry in index.entries if entry.problem]
    tasks = select_tasks(spec.suite, [entry for entry in index.entries if not entry.problem], invalid)
    inlined = {
        field: [ModelEntry(name=entry.name, inline=resolved.models[entry.name]) for entry in entries]
        for field, entries in (("models", spec.models), ("supporting_models", spec.supporting_models))
    }
    return RunRecord(
        run=run.id,
        name=run.name,
        pods=pods,
        versions={**versions_of(pods, version), **prompt_digests(spec)},
        spec=spec.model_copy(update=inlined).model_dump(mode="json", by_alias=True),
        task_ids=[task.task_id for task in tasks],
        cells=[
            PlannedCell(cell=plan.cell, task_ids=[task.task_id for task in plan.tasks])
            for plan in plan_cells(spec, tasks)
        ],
        trials=spec.trials,
        rounds=rounds_of(spec),
        suite_digest=digest_of_rows((task.task_id, task.digest) for task in tasks),
        edition=index.edition,
        opsgym=version,
        created_at=utc_text(now),
        schedule=run.schedule,
    )
