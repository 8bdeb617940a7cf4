"""Parses objects of the API server and what pods report. Pure: manifests in, observations out.

Invariant: no object, however malformed, can fail a reconcile; what cannot be parsed is a problem of that object alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias, TypeVar, cast

from pydantic import BaseModel, ValidationError

from opsgym_api.errors import Problem
from opsgym_api.jobs.exit_codes import Exit
from opsgym_api.jobs.heartbeat import HUNG
from opsgym_api.jobs.job_spec import JobSpec, PreflightReport, TrialRef, trials_at
from opsgym_api.kinds.evalmodel import EvalModel
from opsgym_api.kinds.evalrun import Condition, EvalRunSpec, EvalRunStatus, NotificationStatus
from opsgym_api.records.attempt import Attempt, Cell
from opsgym_api.records.outcomes import InfraReason
from opsgym_api.validation import problems_of
from opsgym_operator.observe.labels import (
    ANNOTATION_CELL,
    LABEL_EVAL_MODEL,
    LABEL_JOB_NAME,
    LABEL_MODEL,
    LABEL_QUEUE,
    LABEL_RUN_UID,
    PREFLIGHT,
)
from opsgym_operator.observe.objects import (
    ChunkState,
    ContainerError,
    ObservedJob,
    ObservedPod,
    ObservedPreflight,
    parse_indexes,
)

Manifest: TypeAlias = dict[str, Any]
"""A Kubernetes object, or a part of one."""
M = TypeVar("M", bound=BaseModel)

ENDED_PHASES = ("Succeeded", "Failed")
"""Phases of a pod whose containers have ended."""
AGENT = "agent"
"""Container that runs the episode."""
STARTING = frozenset({"", "ContainerCreating", "PodInitializing"})
"""Waiting reasons of containers that start. Every other reason is an error of the kubelet, whatever its version."""


@dataclass(frozen=True)
class JobTrials:
    """Trials that the pods of a task Job run, as far as harvesting needs them."""

    cell: Cell
    trials: tuple[TrialRef, ...]
    """In the order of completion indexes."""
    per_pod: int = 1
    """Trials of one completion index."""

    def at(self, index: int) -> Sequence[TrialRef]:
        """Trials of the pod at a completion index; empty if it has none."""
        return trials_at(self.trials, self.per_pod, index)


@dataclass(frozen=True)
class TerminationCause:
    """Why a pod ended without reporting the outcome of its attempt."""

    reason: InfraReason
    message: str
    began: datetime | None = None
    """When its agent started; None if it did not, or the time is unknown."""
    ended: datetime | None = None
    """When its last container ended; None if the time is unknown."""
    started: bool = True
    """Whether its agent may have started."""


# Metadata


def label(manifest: Manifest, name: str) -> str:
    """Value of a label; empty if the object does not have it."""
    return str((manifest["metadata"].get("labels") or {}).get(name, ""))


def annotation(manifest: Manifest, name: str) -> str:
    """Value of an annotation; empty if the object does not have it."""
    return str((manifest["metadata"].get("annotations") or {}).get(name, ""))


def controller_of(manifest: Manifest, kind: str) -> Mapping[str, Any]:
    """Owner reference to the object of that kind that controls this one; empty if another one or none does."""
    for owner in manifest["metadata"].get("ownerReferences") or ():
        if owner.get("controller") and owner.get("kind") == kind:
            return cast("Mapping[str, Any]", owner)
    return {}


def time_of(text: str | None) -> datetime | None:
    """A time as Kubernetes writes it."""
    return datetime.fromisoformat(text) if text else None


# The project's own kinds


def parse(model: type[M], content: object, prefix: str) -> M | tuple[Problem, ...]:
    """A part of an object as its model, or what is wrong with it. Fields that this version does not know are ignored.

    The API server has refused fields that its kinds lack, so others are of newer kinds, with defaults in every object.

    Args:
        model: The model.
        content: The part.
        prefix: Path of the part, for problems.
    """
    try:
        # As JSON, because strict types are defined for what the API server sends.
        return model.model_validate_json(json.dumps(content), strict=True, extra="ignore")
    except ValidationError as error:
        return tuple(problems_of(error, prefix, model))


@dataclass(frozen=True)
class ParsedRun:
    """Spec and status of an EvalRun."""

    spec: EvalRunSpec | None
    """None if it is invalid; `problems` then lists why."""
    problems: tuple[Problem, ...]
    status: EvalRunStatus
    """As last written; empty if it is invalid."""


def read_run(manifest: Manifest) -> ParsedRun:
    """Spec and status of an EvalRun."""
    spec, status = read_spec(manifest), read_status(manifest)
    return ParsedRun(spec, (), status) if isinstance(spec, EvalRunSpec) else ParsedRun(None, spec, status)


def read_spec(manifest: Manifest) -> EvalRunSpec | tuple[Problem, ...]:
    """Spec of an EvalRun, or what is wrong with it."""
    return parse(EvalRunSpec, manifest.get("spec"), "spec")


def read_status(manifest: Manifest) -> EvalRunStatus:
    """Status of an EvalRun as last written, without notifications and conditions that this version cannot read.

    One that is invalid otherwise is read as empty and thereby written anew.
    """
    content = manifest.get("status") or {}
    status = parse(EvalRunStatus, content, "status")
    if isinstance(status, tuple):
        status = parse(EvalRunStatus, {**content, **_readable_items(content)}, "status")
    return EvalRunStatus() if isinstance(status, tuple) else status


def _readable_items(status: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Lists of a status without items that are not valid."""
    return {
        field: [item for item in status.get(field) or () if not isinstance(parse(kind, item, field), tuple)]
        for field, kind in (("conditions", Condition), ("notifications", NotificationStatus))
    }


def condition_of(status: EvalRunStatus, kind: str) -> Condition | None:
    """The condition of a type; None if the status does not have it."""
    return next((condition for condition in status.conditions if condition.type == kind), None)


def read_model(manifest: Manifest) -> EvalModel | tuple[Problem, ...]:
    """An EvalModel, or what is wrong with it."""
    metadata = {"name": manifest["metadata"]["name"]}
    head = {"apiVersion": manifest["apiVersion"], "kind": manifest["kind"], "metadata": metadata}
    return parse(EvalModel, {**head, "spec": manifest.get("spec")}, "")


# Jobs and their pods


def read_job_trials(text: str) -> JobTrials | None:
    """Trials of a Job, from the spec in its ConfigMap; None if that is invalid."""
    try:
        spec = JobSpec.model_validate_json(text, extra="ignore")
    except ValidationError:
        return None
    return JobTrials(spec.cell, tuple(spec.trials), spec.trials_per_pod)


def read_job(
    manifest: Manifest,
    trials: JobTrials | None,
    pods: Iterable[Manifest] = (),
    *,
    accounted: bool,
    chunk: ChunkState = ChunkState.DUE,
) -> ObservedJob:
    """A task Job.

    Args:
        manifest: The Job.
        trials: Its trials; None if its ConfigMap is gone.
        pods: Its pods, ended ones included.
        accounted: Whether all its pods have ended and the ledger holds how.
        chunk: Whether the records of its trials are in a chunk.
    """
    metadata, spec, status = manifest["metadata"], manifest["spec"], manifest["status"]
    finished, queued = job_finished(manifest), bool(label(manifest, LABEL_QUEUE))
    waits = accounted and queued and spec.get("suspend") and not finished and not status.get("terminating", 0)
    return ObservedJob(
        name=metadata["name"],
        run_uid=str(controller_of(manifest, "EvalRun").get("uid", "")),
        cell=annotation(manifest, ANNOTATION_CELL),
        eval_model=label(manifest, LABEL_EVAL_MODEL),
        model=label(manifest, LABEL_MODEL),
        trials=trials.trials if trials else (),
        per_pod=trials.per_pod if trials else 1,
        parallelism=spec.get("parallelism", 1),
        completions=spec.get("completions", 1),
        active=status.get("active", 0),
        terminating=status.get("terminating", 0),
        completed=parse_indexes(status.get("completedIndexes", "")),
        failed=parse_indexes(status.get("failedIndexes", "")),
        suspended=bool(spec.get("suspend")),
        queued=queued,
        started_at=time_of(status.get("startTime")),
        last_pod_at=max((at for pod in pods if pod_ended(pod) and (at := _last_end(pod)) is not None), default=None),
        pods_failed=status.get("failed", 0) > 0,
        finished=finished,
        finished_at=_transition(manifest, "Complete") or _transition(manifest, "Failed"),
        deleting="deletionTimestamp" in metadata,
        harvested=finished and accounted,
        chunk=chunk,
        waiting_since=_suspended_since(manifest) if waits else None,
        version=str(metadata.get("resourceVersion", "")),
    )


def _suspended_since(job: Manifest) -> datetime | None:
    return _transition(job, "Suspended") or time_of(job["metadata"].get("creationTimestamp"))


def job_finished(manifest: Manifest) -> bool:
    """Whether the Job controller has finished a Job and all its pods."""
    return any(condition_is(manifest, kind, "True") for kind in ("Complete", "Failed"))


def condition_is(manifest: Manifest, kind: str, status: str) -> bool:
    """Whether an object has a condition with a status."""
    return bool(_condition(manifest, kind).get("status") == status)


def pod_ended(pod: Manifest) -> bool:
    """Whether the containers of a pod have ended."""
    return pod["status"].get("phase") in ENDED_PHASES


def read_pod(pod: Manifest) -> ObservedPod:
    """A pod that has not ended."""
    scheduled, phase = _condition(pod, "PodScheduled"), pod["status"].get("phase")
    # A pod that is being deleted is not meant to start: its conditions say what it loses, not what it waits for.
    staying = "deletionTimestamp" not in pod["metadata"]
    unschedulable = staying and scheduled.get("status") == "False"
    starting = staying and phase == "Pending" and not unschedulable
    return ObservedPod(
        name=pod["metadata"]["name"],
        job=label(pod, LABEL_JOB_NAME),
        run_uid=label(pod, LABEL_RUN_UID),
        eval_model=label(pod, LABEL_EVAL_MODEL),
        model=label(pod, LABEL_MODEL),
        running=phase == "Running",
        container_error=_container_error(pod) if staying else None,
        unschedulable_since=time_of(scheduled.get("lastTransitionTime")) if unschedulable else None,
        unschedulable_message=_unschedulable_message(scheduled) if unschedulable else "",
        starting_since=time_of(scheduled.get("lastTransitionTime") or _created_at(pod)) if starting else None,
        unscheduled=starting and not scheduled,
        sandbox_missing=condition_is(pod, "PodReadyToStartContainers", "False"),
        delete_by=time_of(pod["metadata"].get("deletionTimestamp")),
        node_lost_since=_node_lost_since(pod),
        containers_ended_at=_containers_ended_at(pod) if phase == "Running" else None,
        host=pod["status"].get("hostIP", ""),
        image_ids=tuple(image_ids(pod).items()),
    )


def _unschedulable_message(scheduled: Mapping[str, Any]) -> str:
    """Why a pod has no node: other reasons than a lack of room are gates, and errors of the scheduler."""
    reason, message = scheduled.get("reason", ""), scheduled.get("message", "")
    return str(message) if reason == "Unschedulable" else f"{reason}: {message}".removesuffix(": ")


def _created_at(pod: Manifest) -> str:
    return str(pod["metadata"].get("creationTimestamp", ""))


def _node_lost_since(pod: Manifest) -> datetime | None:
    """Since when a pod's node has not reported; None if it reports.

    The node controller writes `Ready=False` to the pods of such a node and leaves `ContainersReady` as it was, which
    the kubelet would change first.
    """
    status = pod["status"]
    ready = _condition(pod, "Ready")
    unready = ready.get("status") == "False" and condition_is(pod, "ContainersReady", "True")
    gated = bool(pod.get("spec", {}).get("readinessGates"))
    if status.get("phase") == "Unknown" or status.get("reason") == "NodeLost" or (unready and not gated):
        return time_of(ready.get("lastTransitionTime") or _created_at(pod))
    return None


def _containers_ended_at(pod: Manifest) -> datetime | None:
    """When the last container besides sidecars ended; None if one has not."""
    states = [container.get("state") or {} for container in pod["status"].get("containerStatuses") or ()]
    ends = [time_of((state.get("terminated") or {}).get("finishedAt")) for state in states]
    return max((end for end in ends if end is not None), default=None) if all(ends) else None


IMAGES = {AGENT: "runner", PREFLIGHT: "runner", "postgres": "domains", "suite": "domains"}
"""Image of a container, by the container's name."""


def image_ids(pod: Manifest) -> dict[str, str]:
    """Ids of the images that a pod's node runs, by image, or by container for other ones."""
    return {
        IMAGES.get(container["name"], container["name"]): container["imageID"]
        for container in _containers(pod)
        if container.get("imageID")
    }


def _container_error(pod: Manifest) -> ContainerError | None:
    for container in _containers(pod):
        waiting = container.get("state", {}).get("waiting") or {}
        if waiting.get("reason", "") not in STARTING:
            return ContainerError(waiting["reason"], waiting.get("message", ""), container.get("image", ""))
    return None


def read_summary(pod: Manifest) -> Attempt | None:
    """The attempt that a pod's agent reported when it ended; None without a valid report of an ended attempt."""
    message = (_terminated(pod, AGENT) or {}).get("message", "")
    try:
        attempt = Attempt.from_json(message)
    except ValidationError:
        return None
    return attempt if attempt.outcome is not None else None


def read_preflight(job: Manifest, pods: Iterable[Manifest]) -> ObservedPreflight:
    """A preflight Job with the report of its pod, if that has ended.

    Args:
        job: The Job.
        pods: Its pods.
    """
    name, deleting = job["metadata"]["name"], "deletionTimestamp" in job["metadata"]
    started_at = time_of(job["status"].get("startTime"))
    pod = next((pod for pod in pods if pod_ended(pod)), None)
    if pod is None:
        finished = job_finished(job)
        return ObservedPreflight(
            name,
            started_at=started_at,
            finished_at=_transition(job, "Failed") or _transition(job, "Complete") if finished else None,
            failure="its pod is gone" if finished else "",
            evicted=finished,
            deleting=deleting,
        )
    state = _terminated(pod, PREFLIGHT) or {}
    try:
        report = PreflightReport.model_validate_json(state.get("message", ""))
    except ValidationError:
        report = None
    succeeded = report is not None and state.get("exitCode") == 0
    return ObservedPreflight(
        name,
        started_at=started_at,
        finished_at=_last_end(pod) or time_of(job["metadata"]["creationTimestamp"]),
        report=report,
        failure="" if succeeded else termination_cause(pod, PREFLIGHT).message,
        evicted=not succeeded and condition_is(pod, "DisruptionTarget", "True"),
        image_ids=image_ids(pod),
        deleting=deleting,
    )


# How pods end


def termination_cause(pod: Manifest | None, container: str = AGENT) -> TerminationCause:
    """Why a pod ended that left no report, as far as its status shows.

    Args:
        pod: The pod as last observed; None if it is gone and was never observed.
        container: Its main container.
    """
    if pod is None:
        message = "the pod is gone and left no report; it was deleted, or its node was lost"
        return TerminationCause(InfraReason.RUNNER_ERROR, message)
    reason, message = _cause(pod, container)
    own = _terminated(pod, container) or _container(pod, container).get("state", {}).get("running") or {}
    return TerminationCause(reason, message, time_of(own.get("startedAt")), _last_end(pod), started=bool(own))


def _cause(pod: Manifest, container: str) -> tuple[InfraReason, str]:
    """The first that applies: what evicted the pod, what ended a sidecar, how the main container ended."""
    status, disrupted = pod["status"], _condition(pod, "DisruptionTarget")
    if disrupted.get("status") == "True":
        cause = disrupted.get("message") or disrupted.get("reason")
        return InfraReason.RUNNER_ERROR, f"the pod was disrupted: {cause}"
    if status.get("reason"):
        cause = f"{status['reason']}: {status.get('message', '')}".rstrip(": ")
        return InfraReason.RUNNER_ERROR, f"the pod was terminated: {cause}"
    sidecars = [sidecar for sidecar in _containers(pod) if sidecar["name"] != container]
    for sidecar in sidecars:
        if lost := _lost_sidecar(sidecar):
            return InfraReason.GYM_LOST, lost
    ended = _terminated(pod, container)
    if ended is None:
        for sidecar in sidecars:
            failed = (sidecar.get("state") or {}).get("terminated") or {}
            if failed.get("exitCode"):
                return InfraReason.GYM_LOST, _exit_message(sidecar["name"], failed)
        return InfraReason.RUNNER_ERROR, f"the pod was deleted before container {container} ended"
    if ended.get("reason") == "OOMKilled":
        advice = f"raise the memory limit of {container} in the installation's values"
        return InfraReason.RUNNER_ERROR, f"container {container} was OOMKilled; {advice}"
    if str(ended.get("message", "")).startswith(HUNG):
        message = f"container {container} hung: its heartbeat stood still for a minute; its log says where it hung"
        return InfraReason.HUNG, message
    reason = InfraReason.STORE_LOST if ended.get("exitCode") == Exit.STORE_LOST else InfraReason.RUNNER_ERROR
    return reason, _exit_message(container, ended)


def _exit_message(container: str, ended: Mapping[str, Any]) -> str:
    message = f": {ended['message'].strip()[-300:]}" if ended.get("message") else " without a termination message"
    reason = ended.get("reason", "")
    named = "" if reason in ("", "Error", "Completed") else f" ({reason})"
    return f"container {container} exited with code {ended.get('exitCode')}{named}{message}"


def _lost_sidecar(container: Mapping[str, Any]) -> str:
    """How a sidecar was lost, now or before its last restart; empty if it was not."""
    for part in ("lastState", "state"):
        ended = (container.get(part) or {}).get("terminated") or {}
        if ended.get("reason") == "OOMKilled":
            return f"container {container['name']} was OOMKilled; raise its memory limit in the installation's values"
        if part == "lastState" and ended:
            return f"container {container['name']} exited with code {ended.get('exitCode')} during the episode"
    return ""


def _containers(pod: Manifest) -> Iterator[Mapping[str, Any]]:
    for part in ("initContainerStatuses", "containerStatuses"):
        yield from pod["status"].get(part) or ()


def _container(pod: Manifest, name: str) -> Mapping[str, Any]:
    return next((container for container in _containers(pod) if container["name"] == name), {})


def _terminated(pod: Manifest, container: str) -> Mapping[str, Any] | None:
    terminated: Mapping[str, Any] | None = _container(pod, container).get("state", {}).get("terminated")
    return terminated


def _last_end(pod: Manifest) -> datetime | None:
    """When the last of a pod's containers ended."""
    ends = (container.get("state", {}).get("terminated", {}).get("finishedAt") for container in _containers(pod))
    return max((time for end in ends if (time := time_of(end)) is not None), default=None)


def _condition(manifest: Manifest, kind: str) -> Mapping[str, Any]:
    conditions: Iterable[Mapping[str, Any]] = manifest["status"].get("conditions") or ()
    return next((condition for condition in conditions if condition.get("type") == kind), {})


def _transition(manifest: Manifest, kind: str) -> datetime | None:
    return time_of(_condition(manifest, kind).get("lastTransitionTime"))
