"""What the state of pods says about a run.

Invariant: what the kubelet or the scheduler complains of is told in their words, with the object to mend.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from opsgym_operator.observed import ObservedJob, ObservedPod, PodTrouble
from opsgym_operator.status import Reason, Situation

NO_PODS_S = 30.0
"""Seconds in which the Job controller makes a Job's first pods, if nothing keeps it from that."""

_REASONS: Mapping[str, Reason] = {
    "CreateContainerConfigError": Reason.SECRET_MISSING,
    **dict.fromkeys(
        ("ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName", "ImageInspectError"),
        Reason.IMAGE_UNAVAILABLE,
    ),
}


def in_trouble(pods: Sequence[ObservedPod]) -> Situation | None:
    """What keeps containers from starting; None if nothing does."""
    troubled = [(pod, pod.trouble) for pod in pods if pod.trouble is not None]
    if not troubled:
        return None
    pod, trouble = troubled[0]
    more = f" (and {len(troubled) - 1} more pods)" if len(troubled) > 1 else ""
    reason = _REASONS.get(trouble.reason, Reason.POD_NOT_STARTING)
    return Situation(reason, f"pod {pod.name}{more}: {_told(trouble)}", progressing=any_running(pods))


def _told(trouble: PodTrouble) -> str:
    of = f" of image {trouble.image}" if trouble.image and trouble.image not in trouble.message else ""
    return f"{trouble.reason}{of}: {trouble.message}" if trouble.message else f"{trouble.reason}{of}"


def unschedulable(pods: Sequence[ObservedPod], pending_seconds: int, now: datetime) -> Situation | None:
    """Whether pods wait for a node; stalled if none runs and one has waited for too long."""
    waiting = sorted(
        (pod for pod in pods if pod.unschedulable_since is not None),
        key=lambda pod: (pod.unschedulable_since or now, pod.name),
    )
    if not waiting:
        return None
    first = waiting[0]
    message = f"{len(waiting)} of {len(pods)} pods wait for a node: {first.unschedulable_message}"
    if any_running(pods) or _waited(first, now) < pending_seconds:
        return Situation(Reason.WAITING_FOR_CAPACITY, message)
    return Situation(Reason.UNSCHEDULABLE, f"{message}; none has run for {pending_seconds} s")


def patience(pods: Sequence[ObservedPod], pending_seconds: int, now: datetime) -> float | None:
    """Seconds until waiting for a node becomes a stall; None if nothing waits, or it is one."""
    waits = [pending_seconds - _waited(pod, now) for pod in pods if pod.unschedulable_since is not None]
    left = [wait for wait in waits if wait > 0]
    return min(left) if left and not any_running(pods) else None


def _waited(pod: ObservedPod, now: datetime) -> float:
    return (now - (pod.unschedulable_since or now)).total_seconds()


def any_running(pods: Sequence[ObservedPod]) -> bool:
    """Whether a pod is at work."""
    return any(pod.running for pod in pods)


def refused(jobs: Sequence[ObservedJob], pods: Sequence[ObservedPod], account: str, now: datetime) -> Situation | None:
    """Whether something keeps a Job from having any pod."""
    with_pods = {pod.job for pod in pods}
    for job in jobs:
        idle = job.active + job.terminating == 0 and job.name not in with_pods
        fresh = job.remaining == job.completions > 0
        if idle and fresh and not job.suspended and overdue(job.started_at, now):
            return no_pods(job.name, account, progressing=any_running(pods))
    return None


def no_pods(job: str, account: str, *, progressing: bool = False) -> Situation:
    """What to say of a Job that gets no pods."""
    message = (
        f"Job {job} has no pods after {NO_PODS_S:.0f} s; `kubectl describe job {job}` says why: "
        f"a quota, an admission rule, or service account {account} is missing"
    )
    return Situation(Reason.PODS_REFUSED, message, progressing=progressing)


def overdue(started_at: datetime | None, now: datetime) -> bool:
    """Whether a Job should have pods by now."""
    return started_at is not None and (now - started_at).total_seconds() >= NO_PODS_S
