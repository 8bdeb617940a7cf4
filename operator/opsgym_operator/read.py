"""Reads what the API server and pods write into the words of the plan. Pure: manifests in, observations out.

Invariant: nothing that is read here can stop a pass. What cannot be read is told as a problem of its own object.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias, TypeVar

from pydantic import BaseModel, ValidationError

from opsgym_api.errors import Problem
from opsgym_api.evalmodel import EvalModel
from opsgym_api.evalrun import EvalRunSpec, EvalRunStatus
from opsgym_api.orders import AttemptSummary, JobOrder, PreflightReport, TrialRef
from opsgym_api.outcomes import InfraReason
from opsgym_api.records import Cell
from opsgym_api.validation import problems_of
from opsgym_operator.observed import ObservedJob, ObservedPod, ObservedPreflight, PodTrouble, parse_indexes

Manifest: TypeAlias = Mapping[str, Any]
M = TypeVar("M", bound=BaseModel)

JOB_NAME = "batch.kubernetes.io/job-name"
"""Label of a pod: its Job."""
INDEX = "batch.kubernetes.io/job-completion-index"
"""Label of a pod: its completion index."""
ENDED = ("Succeeded", "Failed")
"""Phases of a pod that runs no more."""
AGENT = "agent"
"""Container that runs the episode."""
PREFLIGHT = "preflight"
"""Container that looks whether the run can start; also the role of its Job."""
STUCK = frozenset({
    "ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName", "ImageInspectError",
    "CrashLoopBackOff", "CreateContainerConfigError", "CreateContainerError", "RunContainerError",
})  # fmt: skip
"""Waiting reasons of containers that do not start until somebody mends something."""


@dataclass(frozen=True)
class Order:
    """What a Job's pods do, as far as harvesting needs it."""

    cell: Cell
    trials: tuple[TrialRef, ...]
    """By completion index."""


@dataclass(frozen=True)
class Ending:
    """How a pod ended that did not tell its attempt's outcome."""

    reason: InfraReason
    message: str
    began: datetime | None = None
    """When its agent started; None if it never did, or nobody knows."""
    ended: datetime | None = None
    """When it ended; None if nobody knows."""
    started: bool = True
    """Whether its agent may have started."""


def label(manifest: Manifest, name: str) -> str:
    """A label's value; empty if there is none."""
    return str((manifest["metadata"].get("labels") or {}).get(name, ""))


def annotation(manifest: Manifest, name: str) -> str:
    """An annotation's value; empty if there is none."""
    return str((manifest["metadata"].get("annotations") or {}).get(name, ""))


def time_of(text: str | None) -> datetime | None:
    """A time as Kubernetes writes it."""
    return datetime.fromisoformat(text) if text else None


def parse(model: type[M], content: object, prefix: str) -> M | tuple[Problem, ...]:
    """A part of an object as what it should be, or what is wrong with it."""
    try:
        # As JSON: strict types are defined for what a cluster sends.
        return model.model_validate_json(json.dumps(content), strict=True)
    except ValidationError as error:
        return tuple(problems_of(error, prefix, model))


def read_spec(manifest: Manifest) -> EvalRunSpec | tuple[Problem, ...]:
    """An EvalRun's spec, or what is wrong with it."""
    return parse(EvalRunSpec, manifest.get("spec"), "spec")


def read_status(manifest: Manifest) -> EvalRunStatus:
    """An EvalRun's status as last written; empty if it cannot be read, and so written anew."""
    found = parse(EvalRunStatus, manifest.get("status") or {}, "status")
    return EvalRunStatus() if isinstance(found, tuple) else found


def read_model(manifest: Manifest) -> EvalModel | tuple[Problem, ...]:
    """An EvalModel, or what is wrong with it."""
    metadata = {"name": manifest["metadata"]["name"]}
    head = {"apiVersion": manifest["apiVersion"], "kind": manifest["kind"], "metadata": metadata}
    return parse(EvalModel, {**head, "spec": manifest.get("spec")}, "")


def read_order(text: str) -> Order | None:
    """A Job's order; None if it cannot be read."""
    try:
        order = JobOrder.model_validate_json(text)
    except ValidationError:
        return None
    return Order(order.cell, tuple(order.trials))


def read_job(manifest: Manifest, order: Order | None, *, harvested: bool, labels: JobLabels) -> ObservedJob:
    """A task Job of ours.

    Args:
        manifest: The Job.
        order: Its order; None if that is gone.
        harvested: Whether the book holds how each of its pods ended.
        labels: What it is labelled with.
    """
    spec, status = manifest["spec"], manifest["status"]
    metadata = manifest["metadata"]
    return ObservedJob(
        name=metadata["name"],
        run_uid=labels.run_uid,
        cell=labels.cell,
        eval_model=labels.eval_model,
        model=labels.model,
        trials=order.trials if order else (),
        parallelism=spec.get("parallelism", 1),
        completions=spec.get("completions", 1),
        active=status.get("active", 0),
        terminating=status.get("terminating", 0),
        completed=parse_indexes(status.get("completedIndexes", "")),
        failed=parse_indexes(status.get("failedIndexes", "")),
        suspended=bool(spec.get("suspend")),
        queued=labels.queued,
        started_at=time_of(status.get("startTime")),
        finished=job_finished(manifest),
        deleting="deletionTimestamp" in metadata,
        harvested=harvested,
    )


@dataclass(frozen=True)
class JobLabels:
    """What a Job's labels and annotations say."""

    run_uid: str
    cell: str
    model: str
    eval_model: str
    queued: bool


def job_finished(manifest: Manifest) -> bool:
    """Whether the Job controller is done with a Job and all its pods."""
    return any(condition_is(manifest, kind, "True") for kind in ("Complete", "Failed"))


def condition_is(manifest: Manifest, kind: str, status: str) -> bool:
    """Whether an object has a condition with a status."""
    found: object = _condition(manifest, kind).get("status")
    return found == status


def pod_ended(pod: Manifest) -> bool:
    """Whether a pod runs no more."""
    return pod["status"].get("phase") in ENDED


def read_pod(pod: Manifest, *, job: str, run_uid: str, eval_model: str, model: str) -> ObservedPod:
    """A pod that has not ended."""
    scheduled = _condition(pod, "PodScheduled")
    waits = scheduled.get("status") == "False" and scheduled.get("reason") == "Unschedulable"
    return ObservedPod(
        name=pod["metadata"]["name"],
        job=job,
        run_uid=run_uid,
        eval_model=eval_model,
        model=model,
        running=pod["status"].get("phase") == "Running",
        trouble=_trouble(pod),
        unschedulable_since=time_of(scheduled.get("lastTransitionTime")) if waits else None,
        unschedulable_message=scheduled.get("message", "") if waits else "",
    )


def _trouble(pod: Manifest) -> PodTrouble | None:
    for container in _containers(pod):
        waiting = container.get("state", {}).get("waiting") or {}
        if waiting.get("reason") in STUCK:
            return PodTrouble(waiting["reason"], waiting.get("message", ""), container.get("image", ""))
    return None


def read_summary(pod: Manifest) -> AttemptSummary | None:
    """What a pod's agent said of its attempt when it ended; None if it said nothing that can be read."""
    message = (_ended(pod, AGENT) or {}).get("message", "")
    try:
        return AttemptSummary.model_validate_json(message)
    except ValidationError:
        return None


def read_preflight(job: Manifest, pods: Iterable[Manifest]) -> ObservedPreflight:
    """A preflight Job with what its pod said, if it has ended."""
    name, deleting = job["metadata"]["name"], "deletionTimestamp" in job["metadata"]
    started = time_of(job["status"].get("startTime"))
    ended = [pod for pod in pods if pod_ended(pod)]
    if not ended:
        gone = job_finished(job)
        return ObservedPreflight(
            name,
            started_at=started,
            finished_at=_transition(job, "Failed") or _transition(job, "Complete") if gone else None,
            failure="its pod is gone" if gone else "",
            deleting=deleting,
        )
    state = _ended(ended[0], PREFLIGHT) or {}
    try:
        report = PreflightReport.model_validate_json(state.get("message", ""))
    except ValidationError:
        report = None
    return ObservedPreflight(
        name,
        started_at=started,
        finished_at=_last_end(ended[0]) or time_of(job["metadata"]["creationTimestamp"]),
        report=report,
        failure="" if report is not None and state.get("exitCode") == 0 else ending_of(ended[0], PREFLIGHT).message,
        deleting=deleting,
    )


def ending_of(pod: Manifest | None, container: str = AGENT) -> Ending:
    """How a pod ended that left no word, as far as its status tells.

    Args:
        pod: The pod as last seen; None if it is gone and was never seen.
        container: Its main container.
    """
    if pod is None:
        return Ending(
            InfraReason.RUNNER_ERROR, "the pod is gone and left no word; it was deleted, or its node was lost"
        )
    reason, message = _cause(pod, container)
    own = _ended(pod, container) or _status(pod, container).get("state", {}).get("running") or {}
    return Ending(reason, message, time_of(own.get("startedAt")), _last_end(pod), started=bool(own))


def _cause(pod: Manifest, container: str) -> tuple[InfraReason, str]:
    """The first that applies: what took the pod away, what killed a sidecar, how the main container ended."""
    status = pod["status"]
    disrupted = _condition(pod, "DisruptionTarget")
    if disrupted.get("status") == "True":
        return (
            InfraReason.RUNNER_ERROR,
            f"the pod was taken away: {disrupted.get('message') or disrupted.get('reason')}",
        )
    if status.get("reason"):
        return InfraReason.RUNNER_ERROR, f"the pod was ended: {status['reason']}: {status.get('message', '')}".rstrip(
            ": "
        )
    for other in _containers(pod):
        if other["name"] != container and (told := _died(other)):
            return InfraReason.GYM_LOST, told
    if (ended := _ended(pod, container)) is None:
        failed = next(((name, state) for name, state in _failures(pod) if name != container), None)
        if failed is not None:
            return InfraReason.GYM_LOST, _told(*failed)
        return InfraReason.RUNNER_ERROR, f"the pod was deleted before container {container} ended"
    if ended.get("reason") == "OOMKilled":
        advice = f"raise the memory limit of {container} in the installation's values"
        return InfraReason.RUNNER_ERROR, f"container {container} was OOMKilled; {advice}"
    return InfraReason.RUNNER_ERROR, _told(container, ended)


def _told(container: str, ended: Mapping[str, Any]) -> str:
    said = f" and said: {ended['message'].strip()[-300:]}" if ended.get("message") else " and left no word"
    return f"container {container} exited with code {ended.get('exitCode')}{said}"


def _failures(pod: Manifest) -> Iterable[tuple[str, Mapping[str, Any]]]:
    for container in _containers(pod):
        ended = (container.get("state") or {}).get("terminated") or {}
        if ended.get("exitCode"):
            yield container["name"], ended


def _died(container: Mapping[str, Any]) -> str:
    """How a sidecar was lost, now or before its last restart; empty if it was not."""
    for part in ("lastState", "state"):
        ended = (container.get(part) or {}).get("terminated") or {}
        if ended.get("reason") == "OOMKilled":
            return f"container {container['name']} was OOMKilled; raise its memory limit in the installation's values"
        if part == "lastState" and ended:
            return f"container {container['name']} ended with code {ended.get('exitCode')} in mid-episode"
    return ""


def _containers(pod: Manifest) -> Iterable[Mapping[str, Any]]:
    for part in ("initContainerStatuses", "containerStatuses"):
        yield from pod["status"].get(part) or ()


def _status(pod: Manifest, container: str) -> Mapping[str, Any]:
    return next((found for found in _containers(pod) if found["name"] == container), {})


def _ended(pod: Manifest, container: str) -> Mapping[str, Any] | None:
    ended: Mapping[str, Any] | None = _status(pod, container).get("state", {}).get("terminated")
    return ended


def _last_end(pod: Manifest) -> datetime | None:
    """When the last of its containers ended."""
    ends = [container.get("state", {}).get("terminated", {}).get("finishedAt") for container in _containers(pod)]
    return max((found for end in ends if (found := time_of(end)) is not None), default=None)


def _condition(manifest: Manifest, kind: str) -> Mapping[str, Any]:
    found: Iterable[Mapping[str, Any]] = manifest["status"].get("conditions") or ()
    return next((condition for condition in found if condition.get("type") == kind), {})


def _transition(manifest: Manifest, kind: str) -> datetime | None:
    return time_of(_condition(manifest, kind).get("lastTransitionTime"))
