"""Observes a namespace: one snapshot of the object cache, joined with what is in memory of each run.

Invariant: everything that a plan depends on is in the `ObservedNamespace` made here.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from opsgym_core.kube.client import (
    CONFIGMAPS,
    EVALMODELS,
    EVALRUNS,
    EVENTS,
    JOBS,
    PODS,
    ApiError,
    Client,
    Kind,
    Manifest,
)
from opsgym_operator.controller.context import ControllerContext
from opsgym_operator.kube.cache import ObjectCache
from opsgym_operator.observe.memo import Memo
from opsgym_operator.observe.objects import ChunkState, ObservedJob, ObservedNamespace, ObservedPod, ObservedRun
from opsgym_operator.observe.parse import (
    ParsedRun,
    condition_of,
    controller_of,
    pod_ended,
    read_job,
    read_pod,
    read_preflight,
    time_of,
)
from opsgym_operator.observe.schedules import schedule_of
from opsgym_operator.observe.snapshot import NamespaceSnapshot, RunSnapshot, take_snapshot
from opsgym_operator.plan.status.pod_states import lacks_network
from opsgym_operator.state.run_state import RunState

KUEUE = "kueue.x-k8s.io"
"""API group of Kueue."""
MOST_PODS = 3
"""Pods of a namespace whose events are read at once; those of one node usually have the same cause."""
QUEUES_S = 10.0
"""Seconds for which the list of Kueue's queues is considered current."""


@dataclass(frozen=True)
class Memos:
    """What was parsed of a namespace's objects in the last reconcile."""

    runs: Memo[ParsedRun] = field(default_factory=Memo)
    jobs: Memo[ObservedJob] = field(default_factory=Memo)
    pods: Memo[ObservedPod] = field(default_factory=Memo)


def snapshot_of(cache: ObjectCache, namespace: str, memos: Memos) -> NamespaceSnapshot:
    """A snapshot of a namespace's cached objects."""
    return take_snapshot(
        namespace,
        runs=cache.objects(EVALRUNS, namespace),
        jobs=cache.objects(JOBS, namespace),
        pods=cache.objects(PODS, namespace),
        config_maps=cache.objects(CONFIGMAPS, namespace),
        models=cache.objects(EVALMODELS, namespace),
        parsed_runs=memos.runs,
    )


def observe(
    namespace: str,
    snapshot: NamespaceSnapshot,
    states: Mapping[str, RunState],
    queues: QueueNames,
    refusals: Mapping[str, str],
    context: ControllerContext,
    pod_refusals: Mapping[str, str],
    memos: Memos,
) -> ObservedNamespace:
    """The input of a plan.

    Args:
        namespace: Name of the namespace.
        snapshot: Its objects.
        states: What is in memory of its runs, by uid; runs with an invalid spec have no state.
        queues: Its Kueue LocalQueues.
        refusals: Why the API server refused an object of a run, by the run's uid.
        context: What all namespaces share.
        pod_refusals: Why the Job controller could not create pods, by Job.
        memos: What was parsed before.
    """
    jobs = tuple(_observed_job(job, snapshot, states, memos) for job in snapshot.task_jobs)
    pods = tuple(_observed_pod(pod, memos) for pod in snapshot.pods if not pod_ended(pod))
    memos.jobs.forget_others()
    memos.pods.forget_others()
    return ObservedNamespace(
        runs=tuple(
            replace(
                _observed_run(namespace, run, snapshot, states.get(run.uid), refusals.get(run.uid, ""), context),
                pod_refusals=pod_refusals,
            )
            for run in snapshot.runs.values()
        ),
        jobs=jobs,
        pods=pods,
        models=snapshot.models,
        broken_models=snapshot.broken_models,
        queues=queues.names,
        priority_classes=queues.priority_classes,
        queue_problem=queues.problem,
    )


def _observed_run(
    namespace: str,
    run: RunSnapshot,
    snapshot: NamespaceSnapshot,
    state: RunState | None,
    refusal: str,
    context: ControllerContext,
) -> ObservedRun:
    metadata = run.manifest["metadata"]
    return ObservedRun(
        name=run.name,
        uid=run.uid,
        namespace=namespace,
        generation=metadata.get("generation", 0),
        created_at=time_of(metadata["creationTimestamp"]) or context.now(),
        spec=run.spec,
        problems=run.problems,
        invalid_suspend=_suspends(run.manifest),
        status=run.status,
        deleting=run.deleting,
        stored=state.stored if state else None,
        store_error=state.error if state else "",
        store_error_s=state.error_s if state else 0.0,
        withdrawn_at=state.withdrawn_at if state else None,
        refusal=refusal,
        preflights=tuple(
            read_preflight(job, snapshot.pods_by_job.get(job["metadata"]["name"], ())) for job in run.preflights
        ),
        config_maps=run.config_maps,
        next_numbers=dict(state.next_numbers) if state else {},
        baseline=state.baseline if state else None,
        schedule=schedule_of(run.manifest),
        deliveries=context.dispatcher.deliveries(run.uid),
    )


def _suspends(run: Manifest) -> bool:
    spec = run.get("spec")
    return isinstance(spec, dict) and spec.get("suspend") is True


def _observed_pod(pod: Manifest, memos: Memos) -> ObservedPod:
    metadata = pod["metadata"]
    return memos.pods.get(metadata["uid"], metadata.get("resourceVersion"), lambda: read_pod(pod))


def _observed_job(
    job: Manifest, snapshot: NamespaceSnapshot, states: Mapping[str, RunState], memos: Memos
) -> ObservedJob:
    name, state = job["metadata"]["name"], states.get(str(controller_of(job, "EvalRun").get("uid", "")))
    harvester = state.harvester if state else None
    pods, trials = snapshot.pods_by_job.get(name, ()), snapshot.trials_by_job.get(name)
    accounted = harvester is not None and harvester.is_accounted(job, pods)
    chunk = state.chunk_state(name) if state is not None else ChunkState.DUE
    if chunk is ChunkState.DUE and trials is None:
        chunk = ChunkState.GIVEN_UP
    metadata = job["metadata"]
    of_pods = tuple(pod["metadata"].get("resourceVersion") for pod in pods)
    version = (metadata.get("resourceVersion"), trials is None, of_pods, accounted, chunk)
    return memos.jobs.get(
        metadata["uid"], version, lambda: read_job(job, trials, pods, accounted=accounted, chunk=chunk)
    )


@dataclass(frozen=True)
class QueueNames:
    """Kueue's LocalQueues of a namespace."""

    names: frozenset[str] | None
    """None if Kueue is not installed, or the queues cannot be listed."""
    priority_classes: frozenset[str] | None = None
    """Names of the cluster's WorkloadPriorityClasses; None if no run names one, or they cannot be listed."""
    problem: str = ""
    """Why the API server refuses to list them; empty if it does not."""


class PodRefusals:
    """Why pods of a namespace could not be created or set up, by its events, listed every `QUEUES_S` seconds.

    Args:
        client: The API server.
        namespace: The namespace.
    """

    def __init__(self, client: Client, namespace: str) -> None:
        self._client = client
        self._namespace = namespace
        self._current: Mapping[str, str] = {}
        self._listed_at = float("-inf")

    async def read(self, *, jobs: bool, pods: Sequence[str]) -> Mapping[str, str]:
        """The latest message of each Job and pod.

        Args:
            jobs: Whether a Job lacks pods.
            pods: Names of pods without network and volumes.

        Raises:
            ApiError: The API server is unavailable.
        """
        if not jobs and not pods:
            return {}
        selectors = ["reason=FailedCreate,involvedObject.kind=Job"] if jobs else []
        selectors += [f"type=Warning,involvedObject.kind=Pod,involvedObject.name={pod}" for pod in pods]
        if time.monotonic() - self._listed_at >= QUEUES_S:
            self._listed_at = time.monotonic()
            try:
                listed = [await self._client.list(EVENTS, self._namespace, fields=fields) for fields in selectors]
                events = [event for of_one in listed for event in of_one]
            except ApiError as error:
                if not error.refused:
                    raise
                return self._current
            events = sorted(events, key=lambda event: event.get("lastTimestamp") or "")
            self._current = {event["involvedObject"]["name"]: _words_of(event) for event in events}
        return self._current


def _words_of(event: Manifest) -> str:
    message = str(event.get("message", ""))
    return f"{event.get('reason')}: {message}" if event["involvedObject"].get("kind") == "Pod" else message


def pods_without_network(snapshot: NamespaceSnapshot, memos: Memos, now: datetime) -> list[str]:
    """Names of a few pods that have waited for longer than they should for network and volumes."""
    pending = [pod for pod in snapshot.pods if pod["status"].get("phase") == "Pending"]
    observed = (_observed_pod(pod, memos) for pod in pending)
    return sorted(pod.name for pod in observed if lacks_network(pod, now))[:MOST_PODS]


def lacks_pods(run: RunSnapshot) -> bool:
    """Whether the status of a run reports that a Job of it gets no pods."""
    stalled = condition_of(run.status, "Stalled")
    return stalled is not None and stalled.status == "True" and stalled.reason == "PodsRefused"


class QueueList:
    """Kueue's LocalQueues of a namespace, listed at most every `QUEUES_S` seconds.

    Args:
        client: The API server.
        namespace: The namespace.
    """

    def __init__(self, client: Client, namespace: str) -> None:
        self._client = client
        self._namespace = namespace
        self._current = QueueNames(None)
        self._listed_at = float("-inf")

    async def read(self, *, classes: bool = False) -> QueueNames:
        """The queues as last listed.

        Args:
            classes: Whether a run names a WorkloadPriorityClass.

        Raises:
            ApiError: The API server is unavailable.
        """
        if time.monotonic() - self._listed_at >= QUEUES_S:
            try:
                queues = await self._names("LocalQueue", "localqueues", self._namespace)
                self._current = QueueNames(queues, await self._classes() if classes and queues else None)
            except ApiError as error:
                if not error.refused:
                    raise
                self._current = QueueNames(None, problem="" if error.missing else str(error))
            self._listed_at = time.monotonic()
        return self._current

    async def _classes(self) -> frozenset[str] | None:
        """Names of the priority classes; None if the operator serves single namespaces and may not list them."""
        try:
            return await self._names("WorkloadPriorityClass", "workloadpriorityclasses", None)
        except ApiError as error:
            if not error.refused:
                raise
            return None

    async def _names(self, kind: str, plural: str, namespace: str | None) -> frozenset[str] | None:
        """Names of the objects of a kind, in the first API version of Kueue that has it; None if none has."""
        for version in await self._client.versions(KUEUE):
            try:
                objects = await self._client.list(Kind(version, kind, plural), namespace)
            except ApiError as error:
                if not error.missing:
                    raise
            else:
                return frozenset(item["metadata"]["name"] for item in objects)
        return None
