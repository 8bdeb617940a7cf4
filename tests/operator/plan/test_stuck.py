"""Every way in which a pod can be stuck, as Kubernetes 1.33 to 1.36 writes it, and what the run then shows.

Invariant: after 60 s no stuck pod is shown as plain Running.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from tests.operator.fleet import START, Fleet, SimRun, entry, model

from opsgym_api.jobs.heartbeat import HUNG
from opsgym_api.kinds.evalrun import EvalRunSpec
from opsgym_api.records.outcomes import InfraReason
from opsgym_operator.observe.objects import ObservedNamespace, ObservedPod
from opsgym_operator.observe.parse import pod_ended, read_pod, termination_cause
from opsgym_operator.plan.namespace import plan

AT = START.strftime("%Y-%m-%dT%H:%M:%SZ")


def condition(kind: str, status: str, reason: str = "", message: str = "") -> dict[str, Any]:
    fields = {"type": kind, "status": status, "lastTransitionTime": AT, "reason": reason, "message": message}
    return {name: value for name, value in fields.items() if value}


def conditions(**statuses: str) -> list[dict[str, Any]]:
    return [condition(kind, status) for kind, status in statuses.items()]


SCHEDULED = conditions(PodScheduled="True")
PLACED = conditions(PodScheduled="True", PodReadyToStartContainers="True", Ready="False", ContainersReady="False")
NO_SANDBOX = conditions(PodScheduled="True", PodReadyToStartContainers="False", Ready="False", ContainersReady="False")
RUNNING = [{"name": "agent", "image": "runner:1", "state": {"running": {"startedAt": AT}}}]


def waiting(reason: str, message: str = "", container: str = "agent") -> list[dict[str, Any]]:
    state = {"reason": reason, **({"message": message} if message else {})}
    return [{"name": container, "image": "runner:1", "state": {"waiting": state}}]


def ended(code: int, reason: str = "Error", message: str = "") -> list[dict[str, Any]]:
    state = {"exitCode": code, "reason": reason, "startedAt": AT, "finishedAt": AT, "message": message}
    return [{"name": "agent", "image": "runner:1", "state": {"terminated": state}}]


def unplaced(reason: str, message: str = "") -> dict[str, Any]:
    return {"conditions": [condition("PodScheduled", "False", reason, message)]}


def failing(reason: str, message: str = "the kubelet's words") -> dict[str, Any]:
    return {"conditions": PLACED, "containerStatuses": waiting(reason, message)}


@dataclass(frozen=True)
class Stuck:
    """A pod that makes no progress, and what the run shows."""

    status: Mapping[str, Any]
    """Status of the pod; its phase is Pending if it states none."""
    shown: str
    """Reason that the run shows."""
    says: str
    """What the message says."""
    within_s: float = 60.0
    """Seconds after which it is shown."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    causes: Mapping[str, str] = field(default_factory=dict)
    """What Events say."""


SANDBOX = 'FailedCreatePodSandBox: failed to setup network for sandbox "ab": no more IPs'
MOUNT = 'FailedMount: MountVolume.SetUp failed for volume "job-spec": configmap "x" not found'
STILL: dict[str, Stuck] = {
    "no scheduler": Stuck({}, "PodNotStarting", "no scheduler has looked at it"),
    "no room": Stuck(unplaced("Unschedulable", "0/3 nodes: memory"), "WaitingForCapacity", "0/3 nodes: memory", 0),
    "scheduling gate": Stuck(unplaced("SchedulingGated", "held"), "WaitingForCapacity", "SchedulingGated: held", 0),
    "scheduler fails": Stuck(unplaced("SchedulerError", "no PVC"), "WaitingForCapacity", "SchedulerError: no PVC", 0),
    "accepted by no kubelet": Stuck({"conditions": SCHEDULED}, "WaitingForPods", f"pod p0 waits since {AT}"),
    "sandbox without event": Stuck(
        {"conditions": NO_SANDBOX, "containerStatuses": waiting("ContainerCreating")}, "PodNotStarting", "no network"
    ),
    "sandbox": Stuck(
        {"conditions": NO_SANDBOX, "containerStatuses": waiting("PodInitializing")},
        "PodNotStarting",
        "no more IPs",
        causes={"p0": SANDBOX},
    ),
    "mount": Stuck(
        {"conditions": NO_SANDBOX, "containerStatuses": waiting("ContainerCreating")},
        "PodNotStarting",
        'volume "job-spec"',
        causes={"p0": MOUNT},
    ),
    "a pull that hangs": Stuck(
        {"conditions": PLACED, "containerStatuses": waiting("ContainerCreating")},
        "WaitingForPods",
        "an image is pulled",
    ),
    "a sidecar that does not start": Stuck(
        {
            "conditions": PLACED,
            "containerStatuses": waiting("PodInitializing"),
            "initContainerStatuses": [{"name": "postgres", "started": False, "state": {"running": {"startedAt": AT}}}],
        },
        "WaitingForPods",
        "a sidecar starts",
    ),
    "a sidecar that crashes": Stuck(
        {
            "conditions": PLACED,
            "containerStatuses": waiting("PodInitializing"),
            "initContainerStatuses": waiting("CrashLoopBackOff", "back-off 10s", "gym-itsm"),
        },
        "PodNotStarting",
        "CrashLoopBackOff",
        0,
    ),
    "terminating on a lost node": Stuck(
        {"phase": "Running", "containerStatuses": RUNNING, "hostIP": "10.0.0.7"},
        "PodLost",
        "on node 10.0.0.7 should have ended at",
        metadata={"deletionTimestamp": AT, "deletionGracePeriodSeconds": 30},
    ),
    "evicted from a lost node": Stuck(
        {
            "phase": "Running",
            "containerStatuses": RUNNING,
            "conditions": [
                condition("DisruptionTarget", "True", "DeletionByTaintManager", "Taint manager: deleting"),
                *conditions(Ready="False", ContainersReady="True"),
            ],
        },
        "PodLost",
        "should have ended at",
        metadata={"deletionTimestamp": AT},
    ),
    "node does not report": Stuck(
        {
            "phase": "Running",
            "containerStatuses": RUNNING,
            "conditions": conditions(PodScheduled="True", Ready="False", ContainersReady="True"),
        },
        "PodLost",
        "its node does not report",
        10,
    ),
    "phase Unknown": Stuck({"phase": "Unknown", "reason": "NodeLost"}, "PodLost", "its node does not report", 10),
    "containers that cannot be killed": Stuck(
        {"phase": "Running", "containerStatuses": ended(0, "Completed")}, "PodLost", "a sidecar hangs"
    ),
    **{
        reason: Stuck(failing(reason), "ImageUnavailable", f"{reason} of image runner:1: the kubelet's words", 0)
        for reason in (
            "ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName", "ImageInspectError",
            "RegistryUnavailable", "SignatureValidationFailed",
        )
    },
    "CreateContainerConfigError": Stuck(
        failing("CreateContainerConfigError", 'secret "k" not found'), "SecretMissing", 'secret "k" not found', 0
    ),
    **{
        reason: Stuck(failing(reason), "PodNotStarting", reason, 0)
        for reason in (
            "CreateContainerError", "RunContainerError", "PreCreateHookError", "PreStartHookError",
            "PostStartHookError",
            "CreatePodSandboxError", "ConfigPodSandboxError", "KillContainerError", "AReasonOfALaterKubelet",
        )
    },
}  # fmt: skip


def shown(stuck: Stuck, seconds: float) -> str:
    """Reason and message of a run whose only pod is stuck, some seconds after the last change of the pod."""
    fleet, run = _run()
    metadata = {"name": "p0", "uid": "u", "creationTimestamp": AT, "labels": _labels(fleet, run), **stuck.metadata}
    pod = read_pod({"metadata": metadata, "spec": {}, "status": {"phase": "Pending", **stuck.status}})
    fleet.now = START + timedelta(seconds=seconds)
    [(uid, desired)] = plan(_with(fleet.observed(), pod, stuck.causes), fleet.config, fleet.now, "1.0").items()
    status = desired.status or fleet.runs[uid].status
    progressing = next(item for item in status.conditions if item.type == "Progressing")
    return f"{progressing.reason}: {progressing.message}"


def _run() -> tuple[Fleet, SimRun]:
    fleet = Fleet()
    fleet.models["gpt"] = model("gpt", max_concurrency=1)
    spec = EvalRunSpec.model_validate({"suite": {"builtin": "quickstart"}, "models": [{"name": "gpt", "ref": "gpt"}]})
    run = fleet.apply("nightly", spec, [entry("t0")])
    fleet.plan()
    return fleet, run


def _labels(fleet: Fleet, run: SimRun) -> Mapping[str, str]:
    return {"batch.kubernetes.io/job-name": next(iter(fleet.jobs)), "opsgym.dev/run-uid": run.uid}


def _with(seen: ObservedNamespace, pod: ObservedPod, causes: Mapping[str, str]) -> ObservedNamespace:
    runs = tuple(replace(run, pod_refusals=causes) for run in seen.runs)
    return replace(seen, runs=runs, pods=(pod,))


@pytest.mark.parametrize("name", STILL)
def test_a_stuck_pod_is_named_with_its_cause(name: str) -> None:
    stuck = STILL[name]
    message = shown(stuck, stuck.within_s)
    assert message.startswith(f"{stuck.shown}: ")
    assert stuck.says in message
    assert stuck.within_s <= 60


def test_a_stuck_pod_is_never_shown_as_running_after_a_minute() -> None:
    plain = [name for name, stuck in STILL.items() if shown(stuck, 61).startswith("Running")]
    assert plain == []


@pytest.mark.parametrize("name", STILL)
def test_time_alone_writes_the_status_of_a_stuck_run_at_most_once_a_minute(name: str) -> None:
    fleet, run = _run()
    metadata = {"name": "p0", "uid": "u", "creationTimestamp": AT, "labels": _labels(fleet, run)}
    stuck = STILL[name]
    status = {"phase": "Pending", **stuck.status}
    pod = read_pod({"metadata": metadata | dict(stuck.metadata), "spec": {}, "status": status})
    written: list[float] = []
    for second in range(0, 900, 7):
        fleet.now = START + timedelta(seconds=second)
        [desired] = plan(_with(fleet.observed(), pod, stuck.causes), fleet.config, fleet.now, "1.0").values()
        if desired.status is not None:
            run.status = desired.status
            written.append(second)
    assert all(later - earlier >= 60 for earlier, later in pairwise(written[1:])), written


HEALTHY: dict[str, Mapping[str, Any]] = {
    "starts": {"conditions": PLACED, "containerStatuses": waiting("ContainerCreating")},
    "runs": {
        "phase": "Running",
        "containerStatuses": RUNNING,
        "conditions": conditions(PodScheduled="True", Ready="True", ContainersReady="True"),
    },
    "is not ready because a sidecar restarts": {
        "phase": "Running",
        "containerStatuses": RUNNING,
        "conditions": conditions(PodScheduled="True", Ready="False", ContainersReady="False"),
    },
    "has just ended": {"phase": "Running", "containerStatuses": ended(0, "Completed")},
}


@pytest.mark.parametrize("name", HEALTHY)
def test_a_pod_without_trouble_is_shown_as_running(name: str) -> None:
    assert shown(Stuck(HEALTHY[name], "", ""), 59 if name in ("starts", "has just ended") else 600) == "Running: "


def failed(reason: str, message: str = "", **status: Any) -> dict[str, Any]:
    return {"phase": "Failed", **({"reason": reason, "message": message} if reason else {}), **status}


ENDED: dict[str, tuple[Mapping[str, Any], InfraReason, str]] = {
    "hung": (failed("", containerStatuses=ended(137, message=f"{HUNG}no heartbeat")), InfraReason.HUNG, "agent hung"),
    "deadline": (
        failed("DeadlineExceeded", "Pod was active on the node longer than the specified deadline"),
        InfraReason.RUNNER_ERROR,
        "DeadlineExceeded",
    ),
    "OOMKilled": (failed("", containerStatuses=ended(137, "OOMKilled")), InfraReason.RUNNER_ERROR, "OOMKilled"),
    "StartError": (
        failed("", containerStatuses=ended(128, "StartError", "failed to create containerd task: no such file")),
        InfraReason.RUNNER_ERROR,
        "(StartError): failed to create containerd task",
    ),
    "ContainerStatusUnknown": (
        failed("", containerStatuses=ended(137, "ContainerStatusUnknown", "could not be located")),
        InfraReason.RUNNER_ERROR,
        "(ContainerStatusUnknown): could not be located",
    ),
    **{
        reason: (failed(reason, "the kubelet's words"), InfraReason.RUNNER_ERROR, f"{reason}: the kubelet's words")
        for reason in (
            "Evicted", "NodeShutdown", "Terminated", "UnexpectedAdmissionError", "OutOfcpu", "OutOfmemory", "OutOfpods",
            "NodeAffinity", "Preempting", "NodeLost",
        )
    },
    **{
        reason: (
            failed("", conditions=[condition("DisruptionTarget", "True", reason, "the controller's words")]),
            InfraReason.RUNNER_ERROR,
            "the pod was disrupted: the controller's words",
        )
        for reason in (
            "PreemptionByScheduler", "DeletionByTaintManager", "EvictionByEvictionAPI", "DeletionByPodGC",
            "TerminationByKubelet",
        )
    },
}  # fmt: skip


@pytest.mark.parametrize("name", ENDED)
def test_what_ended_a_pod_is_the_reason_of_its_attempt(name: str) -> None:
    status, reason, says = ENDED[name]
    pod = {"metadata": {"name": "p0"}, "status": status}
    assert pod_ended(pod)
    cause = termination_cause(pod)
    assert cause.reason is reason
    assert says in cause.message
