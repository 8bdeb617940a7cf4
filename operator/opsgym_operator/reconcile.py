"""Looks after one namespace: observe, plan, apply, again and again, one pass at a time.

Invariant: a pass begins with what is known then and ends with everything of it written, so passes never overlap in a
namespace. Whatever happens in a pass, there will be another one: an error is logged, counted and tried again later.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version

import structlog

from opsgym_api.evalmodel import EvalModel
from opsgym_api.evalrun import EvalRunSpec
from opsgym_api.store import StoreError
from opsgym_operator.apply import apply_events, apply_objects, apply_status
from opsgym_operator.client import (
    CONFIGMAPS,
    EVALMODELS,
    EVALRUNS,
    JOBS,
    LOCALQUEUES,
    PODS,
    ApiError,
    Client,
    Manifest,
)
from opsgym_operator.config import OperatorConfig
from opsgym_operator.decide import plan
from opsgym_operator.desired import Desired, Need
from opsgym_operator.metrics import Metrics, RunCondition
from opsgym_operator.names import (
    ANNOTATION_CELL,
    LABEL_EVAL_MODEL,
    LABEL_MODEL,
    LABEL_QUEUE,
    LABEL_ROLE,
    LABEL_RUN_UID,
    PREFLIGHT,
    TASK,
)
from opsgym_operator.observed import ObservedJob, ObservedNamespace, ObservedRun
from opsgym_operator.read import (
    JOB_NAME,
    JobLabels,
    Order,
    annotation,
    label,
    pod_ended,
    read_job,
    read_model,
    read_pod,
    read_preflight,
    read_spec,
    read_status,
    time_of,
)
from opsgym_operator.runs import RunState
from opsgym_operator.schedules import follow_schedules, schedule_of
from opsgym_operator.sending import Sender
from opsgym_operator.status import condition_of
from opsgym_operator.stores import Stores
from opsgym_operator.watch import Watched

log = structlog.get_logger(__name__)

VERSION = version("opsgym-operator")
TOGETHER_S = 0.5
"""Pause before a pass, so that what happens together is looked at together."""
LONGEST_S = 60.0
"""Seconds after which a namespace is looked at anyway: that it was tells that the operator is well."""
BACKOFF_S = (1.0, 2.0, 5.0, 10.0, 30.0)
"""Pauses after passes that failed, one after the other."""
SPEND_S = 5.0
"""Seconds between two looks at what the attempts under way have spent, for runs with a budget."""
QUEUES_S = 10.0
"""Seconds for which the list of Kueue's queues is taken as current."""


@dataclass
class Cluster:
    """What all namespaces share."""

    client: Client
    watched: Watched
    stores: Stores
    config: OperatorConfig
    metrics: Metrics
    since: datetime
    """When this process started."""
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    sender: Sender = field(default_factory=Sender)
    """Tells webhooks; without any, there is nothing to send."""


@dataclass
class Seen:
    """Everything of the namespace, as one pass reads it."""

    runs: Sequence[Manifest]
    jobs: Sequence[Manifest]
    pods: Sequence[Manifest]
    orders: Mapping[str, Order]
    """Of task Jobs, by name."""
    order_names: Mapping[str, frozenset[str]]
    """Names of a run's ConfigMaps, by its uid."""
    models: Mapping[str, EvalModel]
    broken_models: Mapping[str, str]


class Namespace:
    """The worker of one namespace.

    Args:
        name: The namespace.
        cluster: What it shares with the others.
    """

    def __init__(self, name: str, cluster: Cluster) -> None:
        self.name = name
        self._cluster = cluster
        self._event = asyncio.Event()
        self._states: dict[str, RunState] = {}
        self._shown: dict[str, str] = {}
        """Names of the runs that metrics show, by uid."""
        self._queues: frozenset[str] | None = None
        self._queues_at = float("-inf")
        self.began: float | None = None
        """When the pass that is under way began, by the monotonic clock; None between passes."""
        self.passed = False
        """Whether everything was read from the stores once, or a store does not answer."""

    def wake(self) -> None:
        """Something has changed: look again soon."""
        self._event.set()

    async def run(self) -> None:
        """Works for ever."""
        structlog.contextvars.bind_contextvars(namespace=self.name)
        failures = 0
        again: float | None = None
        while True:
            await self._sleep(again)
            self.began = time.monotonic()
            try:
                with self._cluster.metrics.timed_pass():
                    again = await self._pass()
                failures = 0
            except ApiError as error:
                again = max(BACKOFF_S[min(failures, len(BACKOFF_S) - 1)], error.retry_after)
                failures += 1
                self._failed("api", error)
            except Exception as error:  # noqa: BLE001 - outermost: one broken object must not stop a namespace for ever
                again = BACKOFF_S[min(failures, len(BACKOFF_S) - 1)]
                failures += 1
                self._failed(type(error).__name__, error)
            finally:
                self.began = None

    def _failed(self, cause: str, error: Exception) -> None:
        self._cluster.metrics.count_error(cause)
        trace = None if isinstance(error, ApiError) else error
        log.error("a pass failed", problem=str(error) if trace is None else cause, exc_info=trace)

    async def _sleep(self, again: float | None) -> None:
        try:
            async with asyncio.timeout(again):
                await self._event.wait()
        except TimeoutError:
            pass
        else:
            await asyncio.sleep(TOGETHER_S)
        self._event.clear()

    async def _pass(self) -> float:
        """Plans and applies every run once; seconds until the next pass, whatever happens."""
        seen = self._look()
        self._forget_gone(seen)
        states = {run["metadata"]["uid"]: self._state(run) for run in seen.runs}
        for run in seen.runs:
            with self._about(run):
                await self._harvest(run, states[run["metadata"]["uid"]], seen)
        seen = self._look()
        plans = await self._plan(seen)
        pending = Counter(label(pod, LABEL_RUN_UID) for pod in seen.pods if pod["status"].get("phase") == "Pending")
        waits = [LONGEST_S]
        for run in seen.runs:
            if (desired := plans.get(run["metadata"]["uid"])) is not None:
                with self._about(run):
                    waits += await self._carry_out(run, desired, pending[run["metadata"]["uid"]])
        cluster = self._cluster
        coming = await follow_schedules(cluster.client, cluster.watched, cluster.metrics, self.name, cluster.now())
        waits += [] if coming is None else [min(coming, LONGEST_S)]
        self._show_models(seen)
        waiting = [uid for uid, desired in plans.items() if Need.STORED in desired.needs]
        self.passed = all(state.trouble for uid in waiting if (state := states[uid]) is not None)
        return min(waits)

    def _about(self, run: Manifest) -> AbstractContextManager[None]:
        """Has log lines say which run they are about, by the id that its pods log too."""
        return structlog.contextvars.bound_contextvars(run=self._id(run))

    def _id(self, run: Manifest) -> str:
        return f"{self.name}.{run['metadata']['name']}.{run['metadata']['uid']}"

    async def _carry_out(self, run: Manifest, desired: Desired, pods_pending: int) -> list[float]:
        """Does what one run's plan wants; seconds after which to look again."""
        uid = run["metadata"]["uid"]
        state = self._states.get(uid)
        if state is not None:
            state.read(desired.needs)
            try:
                if not state.paused and await state.write(desired):
                    self.wake()
            except StoreError as error:
                state.fail(str(error))
                desired = (await self._plan(self._look()))[uid]
            if state.trouble:
                # Without its store a run only says so; what is running goes on.
                desired = replace(desired, create=(), patches=(), delete=())
        await self._write(run, desired)
        self._show_run(run, state, desired, pods_pending)
        return [wait for wait in (desired.again_s, state.retry_in if state else None) if wait is not None]

    async def _write(self, there: Manifest, desired: Desired) -> None:
        client, watched = self._cluster.client, self._cluster.watched
        if await apply_objects(client, watched, self.name, desired):
            self.wake()
        if desired.status is not None:
            await apply_status(client, watched, EVALRUNS, there, desired.status)
        for notice in desired.told:
            self._cluster.metrics.count_notice(notice.event, notice.state)
        for letter in desired.send:
            self._cluster.sender.send(there["metadata"]["uid"], letter, self.wake)
        await apply_events(client, there, desired, self._cluster.now())

    async def _plan(self, seen: Seen) -> Mapping[str, Desired]:
        """What each run wants, by uid."""
        observed = await self._observe(seen)
        return plan(observed, self._cluster.config, self._cluster.now(), VERSION)

    # What is there.

    def _look(self) -> Seen:
        objects = self._cluster.watched.objects
        orders: dict[str, Order] = {}
        names: dict[str, set[str]] = {}
        for item in objects(CONFIGMAPS, self.name):
            name = item["metadata"]["name"]
            names.setdefault(label(item, LABEL_RUN_UID), set()).add(name)
            if label(item, LABEL_ROLE) == TASK and item["order"] is not None:
                orders[name] = item["order"]
        models, broken = self._models()
        return Seen(
            runs=objects(EVALRUNS, self.name),
            jobs=objects(JOBS, self.name),
            pods=objects(PODS, self.name),
            orders=orders,
            order_names={uid: frozenset(found) for uid, found in names.items()},
            models=models,
            broken_models=broken,
        )

    def _models(self) -> tuple[dict[str, EvalModel], dict[str, str]]:
        models: dict[str, EvalModel] = {}
        broken: dict[str, str] = {}
        for item in self._cluster.watched.objects(EVALMODELS, self.name):
            found = read_model(item)
            if isinstance(found, EvalModel):
                models[item["metadata"]["name"]] = found
            else:
                broken[item["metadata"]["name"]] = "; ".join(map(str, found))
        return models, broken

    async def _observe(self, seen: Seen) -> ObservedNamespace:
        runs = tuple(self._observed_run(run, seen) for run in seen.runs)
        if any(run.spec is not None and run.spec.queue_name for run in runs):
            await self._read_queues()
        pods = [pod for pod in seen.pods if not pod_ended(pod)]
        return ObservedNamespace(
            runs=runs,
            jobs=tuple(self._observed_job(job, seen) for job in seen.jobs if label(job, LABEL_ROLE) == TASK),
            pods=tuple(
                read_pod(
                    pod,
                    job=label(pod, JOB_NAME),
                    run_uid=label(pod, LABEL_RUN_UID),
                    eval_model=label(pod, LABEL_EVAL_MODEL),
                    model=label(pod, LABEL_MODEL),
                )
                for pod in pods
            ),
            models=seen.models,
            broken_models=seen.broken_models,
            queues=self._queues,
        )

    def _observed_run(self, run: Manifest, seen: Seen) -> ObservedRun:
        metadata = run["metadata"]
        spec = read_spec(run)
        uid = metadata["uid"]
        state = self._states.get(uid)
        preflights = [job for job in _of(seen.jobs, uid) if label(job, LABEL_ROLE) == PREFLIGHT]
        created = time_of(metadata["creationTimestamp"])
        return ObservedRun(
            name=metadata["name"],
            uid=uid,
            namespace=self.name,
            generation=metadata.get("generation", 0),
            created_at=created or self._cluster.now(),
            spec=spec if isinstance(spec, EvalRunSpec) else None,
            problems=() if isinstance(spec, EvalRunSpec) else spec,
            status=read_status(run),
            deleting="deletionTimestamp" in metadata,
            stored=state.stored if state else None,
            store_trouble=state.trouble if state else "",
            preflights=tuple(
                read_preflight(job, [pod for pod in seen.pods if label(pod, JOB_NAME) == job["metadata"]["name"]])
                for job in preflights
            ),
            orders=seen.order_names.get(uid, frozenset()),
            baseline=state.baseline if state else None,
            schedule=schedule_of(run),
            deliveries=self._cluster.sender.deliveries(uid),
        )

    def _observed_job(self, job: Manifest, seen: Seen) -> ObservedJob:
        uid = label(job, LABEL_RUN_UID)
        state = self._states.get(uid)
        harvest = state.harvest if state else None
        labels = JobLabels(
            run_uid=uid,
            cell=annotation(job, ANNOTATION_CELL),
            model=label(job, LABEL_MODEL),
            eval_model=label(job, LABEL_EVAL_MODEL),
            queued=bool(label(job, LABEL_QUEUE)),
        )
        harvested = harvest is not None and harvest.harvested(job, _of(seen.pods, uid))
        return read_job(job, seen.orders.get(job["metadata"]["name"]), harvested=harvested, labels=labels)

    async def _read_queues(self) -> None:
        if time.monotonic() - self._queues_at < QUEUES_S:
            return
        try:
            found = await self._cluster.client.list(LOCALQUEUES, self.name)
            self._queues = frozenset(item["metadata"]["name"] for item in found)
        except ApiError as error:
            if not error.missing:
                raise
            self._queues = None
        self._queues_at = time.monotonic()

    # What is remembered of each run.

    def _state(self, run: Manifest) -> RunState | None:
        """A run's memory; None while its spec cannot be read or names no store of the installation."""
        uid = run["metadata"]["uid"]
        spec = read_spec(run)
        if not isinstance(spec, EvalRunSpec):
            return None
        if uid in self._states:
            self._states[uid].spec = spec
            return self._states[uid]
        store = spec.result_store or self._cluster.config.default_store
        if store not in self._cluster.stores:
            return None
        self._states[uid] = RunState(
            id=self._id(run),
            spec=spec,
            store=store,
            stores=self._cluster.stores,
            metrics=self._cluster.metrics,
            since=self._cluster.since,
            wake=self.wake,
        )
        return self._states[uid]

    def _forget_gone(self, seen: Seen) -> None:
        there = {run["metadata"]["uid"] for run in seen.runs}
        for uid in self._states.keys() - there:
            self._states.pop(uid).close()
        for uid in self._shown.keys() - there:
            self._cluster.metrics.forget_run(self.name, self._shown.pop(uid))
            self._cluster.sender.forget(uid)

    async def _harvest(self, run: Manifest, state: RunState | None, seen: Seen) -> None:
        if state is None:
            return
        await state.probe()
        if state.harvest is None or state.paused:
            return
        uid = run["metadata"]["uid"]
        tasks = [job for job in _of(seen.jobs, uid) if label(job, LABEL_ROLE) == TASK]
        pods = [pod for pod in _of(seen.pods, uid) if label(pod, LABEL_ROLE) == TASK]
        stopping = state.spec.suspend or "deletionTimestamp" in run["metadata"]
        await state.attempt(state.harvest.take(pods, tasks, seen.orders, suspended=stopping))
        if not state.paused:
            state.compact(tasks, pods, seen.orders)
        if state.spec.budget is not None and time.monotonic() - state.spend_at > SPEND_S and not state.paused:
            await state.attempt(state.harvest.look_at_spend(seen.orders))
            state.spend_at = time.monotonic()

    # What is shown.

    def _show_run(self, there: Manifest, state: RunState | None, desired: Desired, pods_pending: int) -> None:
        metrics, name, uid = self._cluster.metrics, there["metadata"]["name"], there["metadata"]["uid"]
        self._shown[uid] = name
        status = desired.status or read_status(there)
        stalled = condition_of(status, "Stalled")
        condition = RunCondition(
            stalled=stalled.reason if stalled is not None and stalled.status == "True" else "",
            pods_pending=pods_pending,
            finished_at=status.finished_at,
        )
        metrics.show_condition(self.name, name, condition)
        if state is None:
            return
        gate = state.gate if status.gate else None
        metrics.show_gate(self.name, name, gate.verdict if gate else None, gate.regression if gate else None)
        if state.figures is not None:
            metrics.show_run(self.name, name, state.figures)
        elif status.finished_at is not None:
            state.read([Need.FIGURES])

    def _show_models(self, seen: Seen) -> None:
        busy = Counter(model for pod in seen.pods if not pod_ended(pod) and (model := label(pod, LABEL_EVAL_MODEL)))
        ceilings = {name: model.spec.max_concurrency for name, model in seen.models.items()}
        self._cluster.metrics.show_models(self.name, busy, ceilings)


def _of(items: Sequence[Manifest], uid: str) -> list[Manifest]:
    """Objects of one run."""
    return [item for item in items if label(item, LABEL_RUN_UID) == uid]
