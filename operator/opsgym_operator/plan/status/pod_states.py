"""What the state of pods means for their run.

Invariant: complaints of the kubelet and the scheduler are reported in their own words, with the object to fix.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from opsgym_core.common.clock import utc_text
from opsgym_operator.observe.objects import ContainerError, ObservedJob, ObservedPod
from opsgym_operator.plan.status.status import Reason, RunSummary

FIRST_PODS_S = 30.0
"""Seconds within which the Job controller creates a Job's first pods, unless something prevents it."""

START_S = 60.0
"""Seconds within which a pod that has a node starts, unless something is wrong or an image is pulled."""
LATE_S = 30.0
"""Seconds after the end of its grace period by which a pod is gone, or has ended."""
GRACE_S = 30.0
"""Seconds that sidecars have for their end once the agent has ended; the kubelet kills them then."""
NODE_S = 10.0
"""Seconds for which a node does not report before its pods count as lost; until then it may only have been slow."""

_REASONS: Mapping[str, Reason] = {
    "CreateContainerConfigError": Reason.SECRET_MISSING,
    **dict.fromkeys(
        (
            "ErrImagePull",
            "ImagePullBackOff",
            "ErrImageNeverPull",
            "InvalidImageName",
            "ImageInspectError",
            "RegistryUnavailable",
            "SignatureValidationFailed",
        ),
        Reason.IMAGE_UNAVAILABLE,
    ),
}


def container_errors(pods: Sequence[ObservedPod], now: datetime) -> RunSummary | None:
    """The error that keeps a container from starting; None if there is none.

    While other pods run, an error counts once its pod has waited for START_S: the kubelet repeats a failed pull within
    seconds, and one node's short trouble should not stall a run of hundreds of pods.
    """
    others_run = any_running(pods)
    failing = [
        (pod, pod.container_error)
        for pod in pods
        if pod.container_error is not None and not (others_run and _just_started(pod, now))
    ]
    if not failing:
        return None
    pod, error = failing[0]
    further = f" (and {len(failing) - 1} more pods)" if len(failing) > 1 else ""
    reason = _REASONS.get(error.reason, Reason.POD_NOT_STARTING)
    return RunSummary(reason, f"pod {pod.name}{further}: {_message(error)}", progressing=any_running(pods))


def _just_started(pod: ObservedPod, now: datetime) -> bool:
    return pod.starting_since is not None and _since(pod.starting_since, now) < START_S


def _message(error: ContainerError) -> str:
    image = f" of image {error.image}" if error.image and error.image not in error.message else ""
    return f"{error.reason}{image}: {error.message}" if error.message else f"{error.reason}{image}"


def unschedulable(pods: Sequence[ObservedPod], pending_seconds: int, now: datetime) -> RunSummary | None:
    """Whether pods wait for a node; stalled if none runs and one has waited for longer than `pending_seconds`."""
    waiting = sorted(
        (pod for pod in pods if pod.unschedulable_since is not None),
        key=lambda pod: (pod.unschedulable_since or now, pod.name),
    )
    if not waiting:
        return None
    first = waiting[0]
    message = f"{len(waiting)} of {len(pods)} pods wait for a node: {first.unschedulable_message}"
    if any_running(pods) or _waited(first, now) < pending_seconds:
        return RunSummary(Reason.WAITING_FOR_CAPACITY, message)
    return RunSummary(Reason.UNSCHEDULABLE, f"{message}; none has run for {pending_seconds} s")


def lost(pods: Sequence[ObservedPod], now: datetime) -> RunSummary | None:
    """Pods that should be gone and are not, or whose node does not report; None if there is none.

    Nothing frees their slots and trials until Kubernetes or a user deletes them.
    """
    losses = {pod.name: loss for pod in pods if (loss := _loss(pod, now))}
    overdue = [pod for pod in pods if pod.name in losses]
    if not overdue:
        return None
    pod = min(overdue, key=lambda item: (losses[item.name][0], item.name))
    since, problem = losses[pod.name]
    further = f" (and {len(overdue) - 1} more)" if len(overdue) > 1 else ""
    node = f" on node {pod.host}" if pod.host else ""
    message = f"pod {pod.name}{further}{node} {problem.format(at=utc_text(since))}"
    others = [pod for pod in pods if pod.name not in losses]
    return RunSummary(Reason.POD_LOST, message, progressing=any_running(others))


def _loss(pod: ObservedPod, now: datetime) -> tuple[datetime, str] | None:
    """Since when a pod is lost, and what to do; None if it is not."""
    force = f"repair or remove the node, or run `kubectl delete pod {pod.name} --force` if its containers are gone"
    if pod.delete_by is not None and _since(pod.delete_by, now) >= LATE_S:
        return pod.delete_by, f"should have ended at {{at}}: its node is lost or hangs; {force}"
    if pod.containers_ended_at is not None and _since(pod.containers_ended_at, now) >= LATE_S + GRACE_S:
        return pod.containers_ended_at, f"has not ended, although its agent has at {{at}}: a sidecar hangs; {force}"
    if pod.delete_by is None and pod.node_lost_since is not None and _since(pod.node_lost_since, now) >= NODE_S:
        waits = "Kubernetes usually deletes its pods after five minutes, and other nodes take their trials"
        return pod.node_lost_since, f"has not been heard of since {{at}}: its node does not report; {waits}"
    return None


def not_starting(
    pods: Sequence[ObservedPod], pending_seconds: int, causes: Mapping[str, str], now: datetime
) -> RunSummary | None:
    """Whether pods have a node, or wait for a scheduler, and do not start.

    Stalled if none runs and one has waited for longer than `pending_seconds`, or has no scheduler, network or volumes.

    Args:
        pods: Pods of the run.
        pending_seconds: `limits.pendingSeconds`.
        causes: Why nodes could not set up pods, by pod, as far as it is known.
        now: The time.
    """
    late = [pod for pod in pods if pod.starting_since is not None and _since(pod.starting_since, now) >= START_S]
    if not late:
        return None
    pod = min(late, key=lambda item: (not _unplaced(item), item.starting_since or now, item.name))
    cause = causes.get(pod.name) or _waits_for(pod)
    since = utc_text(pod.starting_since or now, "seconds")
    waited = _since(pod.starting_since or now, now)
    message = (
        f"{len(late)} of {len(pods)} pods do not start; pod {pod.name} waits since {since}: {cause}; "
        f"`kubectl describe pod {pod.name}` shows the events of its node"
    )
    if any_running(pods) or not (_unplaced(pod) or waited >= pending_seconds):
        return RunSummary(Reason.WAITING_FOR_PODS, message)
    return RunSummary(Reason.POD_NOT_STARTING, message)


def _unplaced(pod: ObservedPod) -> bool:
    """Whether a pod that has waited for a minute waits for something that takes seconds."""
    return pod.sandbox_missing or pod.unscheduled


def _waits_for(pod: ObservedPod) -> str:
    if pod.unscheduled:
        return "no scheduler has looked at it"
    return "no network or volumes yet" if pod.sandbox_missing else "an image is pulled, or a sidecar starts"


def lacks_network(pod: ObservedPod, now: datetime) -> bool:
    """Whether a pod has waited for longer than it should for its network and volumes."""
    return pod.sandbox_missing and pod.starting_since is not None and _since(pod.starting_since, now) >= START_S


def _since(at: datetime, now: datetime) -> float:
    return (now - at).total_seconds()


def time_until_stalled(pods: Sequence[ObservedPod], pending_seconds: int, now: datetime) -> float | None:
    """Seconds, at least 1, until time alone makes a pod late, or stalls a run without running pods; None if none is."""
    waits = [START_S - _since(pod.starting_since, now) for pod in pods if pod.starting_since is not None]
    waits += [LATE_S - _since(pod.delete_by, now) for pod in pods if pod.delete_by is not None]
    waits += [NODE_S - _since(pod.node_lost_since, now) for pod in pods if pod.node_lost_since is not None]
    ends = [pod.containers_ended_at for pod in pods if pod.containers_ended_at is not None]
    waits += [LATE_S + GRACE_S - _since(end, now) for end in ends]
    if not any_running(pods):
        waits += [pending_seconds - _waited(pod, now) for pod in pods if pod.unschedulable_since is not None]
    return min((max(wait, 1.0) for wait in waits if wait > 0), default=None)


def _waited(pod: ObservedPod, now: datetime) -> float:
    return (now - (pod.unschedulable_since or now)).total_seconds()


def any_running(pods: Sequence[ObservedPod]) -> bool:
    """Whether a pod is running."""
    return any(pod.running for pod in pods)


def jobs_without_pods(
    jobs: Sequence[ObservedJob],
    pods: Sequence[ObservedPod],
    service_account: str,
    retries: int,
    causes: Mapping[str, str],
    now: datetime,
) -> RunSummary | None:
    """The first Job that should have pods and has none; None if every Job has the pods that it should have.

    Args:
        jobs: Jobs that have not finished.
        pods: Pods of the run.
        service_account: Service account of the pods.
        retries: `limits.infraRetries`.
        causes: Why pods could not be created, by Job, as far as it is known.
        now: The time.
    """
    with_pods = {pod.job for pod in pods}
    for job in jobs:
        idle = job.active + job.terminating == 0 and job.name not in with_pods and not job.suspended
        if not idle or job.remaining == 0:
            continue
        # The Job controller delays the next pod of an index that failed: 10 s, then twice as long each time.
        delay = min(10.0 * 2**retries, 600.0) if job.pods_failed else 0.0
        since = max(filter(None, (job.started_at, job.last_pod_at)), default=None)
        if pods_overdue(since, now, delay):
            return pods_refused(job.name, service_account, causes, progressing=any_running(pods))
    return None


def pods_refused(job: str, service_account: str, causes: Mapping[str, str], *, progressing: bool = False) -> RunSummary:
    """The summary of a run with a Job that gets no pods."""
    advice = (
        f"`kubectl describe job {job}` shows the cause: a quota, an admission rule, or a missing service account "
        f"{service_account}"
    )
    message = f"Job {job} has no pods after {FIRST_PODS_S:.0f} s; {causes.get(job) or advice}"
    return RunSummary(Reason.PODS_REFUSED, message, progressing=progressing)


def pods_overdue(since: datetime | None, now: datetime, delay: float = 0.0) -> bool:
    """Whether a Job without pods since this time should have some by now; `delay` is what its controller may wait."""
    return since is not None and _since(since, now) >= FIRST_PODS_S + delay
