"""What the state of pods means for their run.

Invariant: complaints of the kubelet and the scheduler are reported in their own words, with the object to fix.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from opsgym_operator.observe.objects import ContainerError, ObservedJob, ObservedPod
from opsgym_operator.plan.status import Reason, RunSummary

FIRST_PODS_S = 30.0
"""Seconds within which the Job controller creates a Job's first pods, unless something prevents it."""

_REASONS: Mapping[str, Reason] = {
    "CreateContainerConfigError": Reason.SECRET_MISSING,
    **dict.fromkeys(
        ("ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName", "ImageInspectError"),
        Reason.IMAGE_UNAVAILABLE,
    ),
}


def container_errors(pods: Sequence[ObservedPod]) -> RunSummary | None:
    """The error that keeps a container from starting; None if there is none."""
    failing = [(pod, pod.container_error) for pod in pods if pod.container_error is not None]
    if not failing:
        return None
    pod, error = failing[0]
    further = f" (and {len(failing) - 1} more pods)" if len(failing) > 1 else ""
    reason = _REASONS.get(error.reason, Reason.POD_NOT_STARTING)
    return RunSummary(reason, f"pod {pod.name}{further}: {_message(error)}", progressing=any_running(pods))


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


def time_until_stalled(pods: Sequence[ObservedPod], pending_seconds: int, now: datetime) -> float | None:
    """Seconds until pods that wait for a node stall their run; None if none waits, one runs, or the run is stalled."""
    waits = [pending_seconds - _waited(pod, now) for pod in pods if pod.unschedulable_since is not None]
    left = [wait for wait in waits if wait > 0]
    return min(left) if left and not any_running(pods) else None


def _waited(pod: ObservedPod, now: datetime) -> float:
    return (now - (pod.unschedulable_since or now)).total_seconds()


def any_running(pods: Sequence[ObservedPod]) -> bool:
    """Whether a pod is running."""
    return any(pod.running for pod in pods)


def jobs_without_pods(
    jobs: Sequence[ObservedJob], pods: Sequence[ObservedPod], service_account: str, now: datetime
) -> RunSummary | None:
    """The first Job that should have pods and has none; None if there is no such Job."""
    with_pods = {pod.job for pod in pods}
    for job in jobs:
        idle = job.active + job.terminating == 0 and job.name not in with_pods
        fresh = job.remaining == job.completions > 0
        if idle and fresh and not job.suspended and pods_overdue(job.started_at, now):
            return pods_refused(job.name, service_account, progressing=any_running(pods))
    return None


def pods_refused(job: str, service_account: str, *, progressing: bool = False) -> RunSummary:
    """The summary of a run with a Job that gets no pods."""
    message = (
        f"Job {job} has no pods after {FIRST_PODS_S:.0f} s; `kubectl describe job {job}` shows the cause: "
        f"a quota, an admission rule, or a missing service account {service_account}"
    )
    return RunSummary(Reason.PODS_REFUSED, message, progressing=progressing)


def pods_overdue(started_at: datetime | None, now: datetime) -> bool:
    """Whether a Job that started at this time should have pods by now."""
    return started_at is not None and (now - started_at).total_seconds() >= FIRST_PODS_S
