"""Pods of a run as the API server reports them: what each one plays, and what its state means.

Invariant: a pod is the run's by its label and by the ConfigMap of its Job, which the EvalRun owns; another pod with
copied labels is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, TypeAlias

from pydantic import ValidationError

from opsgym_api.base import Stored
from opsgym_api.jobs.exit_codes import Exit
from opsgym_api.jobs.job_spec import TrialRef, trials_at
from opsgym_api.records.attempt import Cell

Manifest: TypeAlias = Mapping[str, Any]
"""A Kubernetes object as the API server writes it."""

RUN_UID = "opsgym.dev/run-uid"
"""Label of every object of a run."""
ROLE = "opsgym.dev/role"
"""Label of a pod: `task` or `preflight`."""
INDEX = "batch.kubernetes.io/job-completion-index"
"""Label of a pod: its position among the trials of its Job."""
JOB_SPEC_KEY = "job.json"
"""Key of a Job's ConfigMap that holds what its pods run."""
NORMAL_WAITS = frozenset({"ContainerCreating", "PodInitializing"})
"""Reasons for which a container waits at a normal start."""


class State(IntEnum):
    """State of a pod; those that need a look come first."""

    FAILED = 0
    STUCK = 1
    """A container cannot start."""
    UNSCHEDULED = 2
    STARTING = 3
    ENDING = 4
    RUNNING = 5
    DONE = 6

    @property
    def text(self) -> str:
        """The state in words."""
        return {State.STUCK: "cannot start", State.UNSCHEDULED: "waits for a node"}.get(self, self.name.lower())


class _Chunk(Stored):
    """The part of a `JobSpec` that says what its pods play; other parts may be of a newer version."""

    cell: Cell
    trials: list[TrialRef]
    trials_per_pod: int = 1


@dataclass(frozen=True)
class Container:
    """A container of a pod."""

    name: str
    started: bool
    """Whether it has a log."""
    restarts: int
    """Starts after the first one."""
    problem: str = ""
    """Why it waits or how it failed; empty if neither."""


@dataclass(frozen=True)
class RunPod:
    """A pod of a run."""

    name: str
    role: str
    """`task` or `preflight`."""
    cell: Cell | None
    """None for a preflight."""
    trials: Sequence[TrialRef]
    """What it plays, in this order."""
    state: State
    problem: str
    """What keeps it from its work; empty if nothing does."""
    node: str
    """Empty without a node."""
    created_at: str
    """UTC, RFC 3339."""
    containers: Sequence[Container]
    """In the order in which they start; the agent's, or the preflight's, is the last one."""

    @property
    def work(self) -> str:
        """What it plays, in words."""
        if not self.trials:
            return self.role
        first, rest = self.trials[0], len(self.trials) - 1
        return f"{first.task_id}/{first.trial}" + (f" and {rest} more" if rest else "")

    def plays(self, task_id: str, trial: int) -> bool:
        """Whether a trial is among its trials."""
        return any((one.task_id, one.trial) == (task_id, trial) for one in self.trials)


def pods_of(uid: str, objects: Sequence[Manifest]) -> list[RunPod]:
    """The pods of a run, those that need a look first, then the newest.

    Args:
        uid: Of the EvalRun.
        objects: Pods and ConfigMaps of its namespace.
    """
    jobs = {
        _name(one): one for one in objects if one["kind"] == "ConfigMap" and _owner(one, "EvalRun").get("uid") == uid
    }
    pods = [one for one in objects if one["kind"] == "Pod" and _owner(one, "Job").get("name") in jobs]
    newest = sorted((_pod(one, jobs[_owner(one, "Job")["name"]]) for one in pods), key=lambda pod: pod.name)
    newest.sort(key=lambda pod: pod.created_at, reverse=True)
    return sorted(newest, key=lambda pod: pod.state)


def _name(manifest: Manifest) -> str:
    return str(manifest["metadata"]["name"])


def _owner(manifest: Manifest, kind: str) -> Manifest:
    """The controlling owner of an object, if it is of a kind; else nothing."""
    owners = manifest["metadata"].get("ownerReferences", ())
    owned: Manifest = next((owner for owner in owners if owner.get("controller") and owner["kind"] == kind), {})
    return owned


def _pod(pod: Manifest, job: Manifest) -> RunPod:
    chunk = _chunk(job)
    labels = pod["metadata"].get("labels", {})
    index = str(labels.get(INDEX, ""))
    containers = list(_containers(pod))
    state = _state(pod, containers)
    return RunPod(
        name=_name(pod),
        role=str(labels.get(ROLE, "")),
        cell=chunk.cell if chunk else None,
        trials=trials_at(chunk.trials, chunk.trials_per_pod, int(index)) if chunk and index.isdecimal() else (),
        state=state,
        problem=_problem(pod, state, containers),
        node=pod["spec"].get("nodeName", ""),
        created_at=str(pod["metadata"].get("creationTimestamp", "")),
        containers=containers,
    )


def _chunk(job: Manifest) -> _Chunk | None:
    """What a task Job plays, from its ConfigMap; None for a preflight."""
    try:
        return _Chunk.model_validate_json(job.get("data", {}).get(JOB_SPEC_KEY, ""))
    except ValidationError:
        return None


def _containers(pod: Manifest) -> Iterator[Container]:
    status = pod.get("status", {})
    reported = [*status.get("initContainerStatuses", ()), *status.get("containerStatuses", ())]
    by_name = {one["name"]: one for one in reported}
    for declared in (*pod["spec"].get("initContainers", ()), *pod["spec"]["containers"]):
        yield _container(declared["name"], by_name.get(declared["name"], {}))


def _container(name: str, status: Manifest) -> Container:
    restarts = int(status.get("restartCount", 0))
    state = status.get("state", {})
    ended = state.get("terminated")
    return Container(
        name,
        started="running" in state or ended is not None or restarts > 0,
        restarts=restarts,
        problem=_end_text(ended) if ended else _wait_text(state.get("waiting", {})),
    )


def _end_text(end: Manifest) -> str:
    code = end.get("exitCode", 0)
    if code == 0:
        return ""
    meaning = f" ({Exit(code).name.lower()})" if code in set(Exit) else ""
    cause = "" if end.get("reason", "Error") == "Error" else f", {end['reason']}"
    return f"ended with exit code {code}{meaning}{cause}"


def _wait_text(waiting: Manifest) -> str:
    reason = str(waiting.get("reason", ""))
    if not reason or reason in NORMAL_WAITS:
        return ""
    message = waiting.get("message", "")
    return f"{reason}: {message}" if message else reason


def _state(pod: Manifest, containers: Sequence[Container]) -> State:
    phase = pod.get("status", {}).get("phase", "Pending")
    if phase in ("Succeeded", "Failed"):
        return State.DONE if phase == "Succeeded" else State.FAILED
    if pod["metadata"].get("deletionTimestamp"):
        return State.ENDING
    if phase == "Running":
        return State.RUNNING
    if any(container.problem for container in containers):
        return State.STUCK
    return State.STARTING if pod["spec"].get("nodeName") else State.UNSCHEDULED


def _problem(pod: Manifest, state: State, containers: Sequence[Container]) -> str:
    status = pod.get("status", {})
    own = ": ".join(status[part] for part in ("reason", "message") if status.get(part))
    if state is State.UNSCHEDULED:
        return own or _unscheduled_text(status)
    if state is State.DONE:
        return ""
    texts = [f"{one.name}: {one.problem}" for one in containers if one.problem]
    texts += [f"{one.name} was started again {one.restarts} times" for one in containers if one.restarts]
    return "; ".join([own, *texts] if own else texts)


def _unscheduled_text(status: Manifest) -> str:
    waits = [one for one in status.get("conditions", ()) if (one["type"], one["status"]) == ("PodScheduled", "False")]
    return str(waits[0].get("message", "")) if waits else "no scheduler has looked at it"
