"""Reconciles one namespace: observe, plan, apply, one reconcile at a time.

Invariant: a reconcile starts from one snapshot and ends with everything of it applied, so reconciles of a namespace
never overlap. It does not wait for a store that hangs. Whatever fails in a reconcile, there is a next one: errors are
logged, counted and retried later. Each run is harvested, planned and applied by itself: what goes wrong with one run,
the API server's refusal of its objects included, concerns that run alone. Only an API server that is unavailable to two
runs, or to a plain read, ends a reconcile.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from importlib.metadata import version

import structlog

from opsgym_core.common.backoff import Backoff
from opsgym_core.kube.client import EVALRUNS, ApiError
from opsgym_core.store.mounted import TENANT
from opsgym_operator.controller import run_metrics
from opsgym_operator.controller.context import ControllerContext
from opsgym_operator.controller.observation import (
    Memos,
    PodRefusals,
    QueueList,
    QueueNames,
    lacks_pods,
    observe,
    pods_without_network,
    snapshot_of,
)
from opsgym_operator.controller.schedules import ScheduleReconciler
from opsgym_operator.controller.stopwatch import Stopwatch
from opsgym_operator.controller.write_backoff import WriteBackoff
from opsgym_operator.kube.apply import apply_objects, apply_status, delete, read_unanswered, write_each
from opsgym_operator.kube.events import EventSeries, record_event
from opsgym_operator.kube.leadership import Claim
from opsgym_operator.manifests.jobs import manifests_of
from opsgym_operator.observe.objects import ObservedNamespace, ObservedRun
from opsgym_operator.observe.snapshot import NamespaceSnapshot, RunSnapshot
from opsgym_operator.plan.desired import Desired, Load, ObjectRef
from opsgym_operator.plan.namespace import plan
from opsgym_operator.plan.status.status import is_finished
from opsgym_operator.state.run_state import RunState

log = structlog.get_logger(__name__)

VERSION = version("opsgym-operator")
DEBOUNCE_S = 0.5
"""Least seconds between a change and the reconcile, so that changes that come together are reconciled together."""
LONGEST_DEBOUNCE_S = 5.0
"""Most of them."""
IDLE_SHARE = 4.0
"""Seconds between a change and the reconcile for each CPU second of the last one: a namespace with much in it is
reconciled less often, and leaves most of the operator's time to others and to what its watches report."""
RUNS_AT_ONCE = 4
"""Runs that are applied at the same time, each with up to `kube.apply.WRITES` requests."""
RESYNC_S = 60.0
"""Maximum seconds between reconciles of a namespace; the regular reconcile doubles as a liveness signal."""
BACKOFF = Backoff(initial_s=1.0, factor=2.0, maximum_s=30.0)
"""Delay after reconciles that failed in a row."""
WRITE_S = 2.0
"""Seconds for which a reconcile waits until what its plans want in the stores is written."""
DEADLINE_S = 240.0
"""Seconds after which a reconcile is given up, well before it counts as hung: an API server that answers each request
slowly must not get the operator restarted."""


def debounce_s(cpu_s: float) -> float:
    """Seconds between a change and the reconcile.

    Args:
        cpu_s: CPU seconds of the last reconcile.
    """
    return min(max(DEBOUNCE_S, IDLE_SHARE * cpu_s), LONGEST_DEBOUNCE_S)


def _succeeded(task: asyncio.Task[bool]) -> bool:
    return not task.cancelled() and task.exception() is None and task.result()


class NamespaceReconciler:
    """Reconciles the EvalRuns and EvalSchedules of one namespace.

    Args:
        name: The namespace.
        context: What all namespaces share.
    """

    def __init__(self, name: str, context: ControllerContext) -> None:
        self.name = name
        self._context = context
        self._event = asyncio.Event()
        self._states: dict[str, RunState] = {}
        """By uid of the run."""
        self._shown: dict[str, str] = {}
        """Names of the runs that metrics show, by uid."""
        self._backoffs: defaultdict[str, WriteBackoff] = defaultdict(WriteBackoff)
        """Refused writes, by uid of the run."""
        self._memos = Memos()
        self._series = EventSeries()
        self._queues = QueueList(context.client, name)
        self._pod_refusals = PodRefusals(context.client, name)
        self._schedules = ScheduleReconciler(name, context)
        self._cpu = Stopwatch()
        """CPU time of the current or the last reconcile."""
        self.began_at: float | None = None
        """When the current reconcile began, by the monotonic clock; None between reconciles."""
        self.synced = False
        """Whether the namespace was tried: each run was read from its store, or that failed or is late, or a reconcile
        failed."""

    def enqueue(self) -> None:
        """Requests a reconcile soon, because something has changed."""
        self._event.set()

    async def run(self) -> None:
        """Reconciles until nothing is left of a namespace that the operator cannot serve, or until it is cancelled."""
        structlog.contextvars.bind_contextvars(namespace=self.name)
        TENANT.set(self.name)
        failures = 0
        delay: float | None = None
        while True:
            await self._wait(delay)
            self.began_at = time.monotonic()
            try:
                claim = await self._context.claim(self.name)
                if not claim.served:
                    self.synced, delay, failures = True, RESYNC_S, 0
                    if self._ends(claim):
                        return
                    continue
                with self._context.metrics.time_reconcile():
                    async with asyncio.timeout(DEADLINE_S):
                        delay = await self.reconcile_once()
                failures = 0
            except ApiError as error:
                failures += 1
                self.synced = True
                delay = max(BACKOFF.delay(failures), error.retry_after)
                self._context.metrics.count_error("api")
                log.error("reconcile failed", problem=str(error))  # noqa: TRY400 - the API server's answer says it all
            except Exception as error:  # outermost: one malformed object must not stop a namespace for ever
                failures += 1
                self.synced = True
                delay = BACKOFF.delay(failures)
                self._context.metrics.count_error(type(error).__name__)
                log.exception("reconcile failed", problem=type(error).__name__)
            finally:
                self.began_at = None

    def _ends(self, claim: Claim) -> bool:
        """Whether the operator is done with a namespace that it does not serve."""
        # Another release serves it, or may serve it before this one does again.
        self._forget()
        if claim.other:
            log.warning("the namespace is skipped, because another release serves it", release=claim.other)
            return False
        gone = self.name not in self._context.cache.namespaces()
        if gone:
            self._context.leave(self.name)
        return gone

    async def _wait(self, delay: float | None) -> None:
        """Waits for a change or until the delay is over; None waits for a change only."""
        try:
            async with asyncio.timeout(delay):
                await self._event.wait()
        except TimeoutError:
            pass
        else:
            await asyncio.sleep(debounce_s(self._cpu.seconds))
        self._event.clear()

    async def reconcile_once(self) -> float:
        """Plans and applies every run and schedule once.

        Returns:
            Seconds until the next reconcile if nothing changes.

        Raises:
            ApiError: The API server is unavailable.
        """
        await read_unanswered(self._context.client, self._context.cache, self.name)
        self._cpu = Stopwatch()
        with self._cpu:
            snapshot = snapshot_of(self._context.cache, self.name, self._memos)
            self._forget_deleted(snapshot.runs.keys())
        schedule_delay = await self._schedules.reconcile(snapshot.runs.values())
        delays = [RESYNC_S] + ([] if schedule_delay is None else [schedule_delay])
        with self._cpu:
            for run in snapshot.runs.values():
                with self._isolating(run):
                    self._harvest(run, self._state(run), snapshot)
        observed, plans = await self._plan(snapshot)
        left = await self._write_stores(plans, observed, snapshot)
        unanswered: set[str] = set()
        applying = (
            partial(self._carry_out_alone, snapshot.runs[uid], desired, observed, delays, unanswered)
            for uid, desired in left.items()
        )
        if (unavailable := await write_each(applying, RUNS_AT_ONCE)) is not None:
            raise unavailable
        await self._delete_orphans(snapshot)
        delays += [delay for uid in plans if (delay := self._backoffs[uid].retry_after_s) is not None]
        run_metrics.show_models(self._context.metrics, self.name, snapshot)
        unread = [uid for uid, desired in plans.items() if Load.STORED_RUN in desired.loads]
        states = [self._states[uid] for uid in unread if uid in self._states]
        self.synced = all(state.error or state.late for state in states)
        self._context.metrics.observe_reconcile_cpu(self._cpu.seconds)
        return min(delays)

    async def _plan(self, snapshot: NamespaceSnapshot) -> tuple[ObservedNamespace, Mapping[str, Desired]]:
        """The observation, and what should be done for each run, by uid."""
        queued = [run.spec for run in snapshot.runs.values() if run.spec is not None and run.spec.queue_name]
        classes = any(spec.queue_priority_class for spec in queued)
        queues = await self._queues.read(classes=classes) if queued else QueueNames(None)
        refusals = {uid: backoff.refusal for uid, backoff in self._backoffs.items()}
        pod_refusals = await self._pod_refusals.read(
            jobs=any(lacks_pods(run) for run in snapshot.runs.values()),
            pods=pods_without_network(snapshot, self._memos, self._context.now()),
        )
        with self._cpu:
            observed = observe(
                self.name, snapshot, self._states, queues, refusals, self._context, pod_refusals, self._memos
            )
            return observed, plan(observed, self._context.config, self._context.now(), VERSION)

    async def _carry_out_alone(
        self,
        run: RunSnapshot,
        desired: Desired,
        observed: ObservedNamespace,
        delays: list[float],
        unanswered: set[str],
    ) -> None:
        """As `_carry_out`; a failure that no other run has had is the run's, if the API server answers otherwise.

        An admission webhook chooses the code of its refusal, and one that is slow makes the API server not answer.

        Args:
            run: The run.
            desired: Its plan.
            observed: What the plan was made of.
            delays: Seconds until runs need the next reconcile.
            unanswered: Uids of runs that failed so in this reconcile.

        Raises:
            ApiError: The API server is unavailable.
        """
        try:
            await self._carry_out(run, desired, observed, delays)
        except ApiError as error:
            try:
                await self._context.client.get(EVALRUNS, self.name, run.name)
            except ApiError:
                raise error from None
            unanswered.add(run.uid)
            cause = "the API server answers other requests, so an admission webhook of the cluster may be slow or away"
            self._record_refusal(run, f"{error}; {cause}")
            if len(unanswered) > 1:
                raise

    async def _carry_out(
        self, run: RunSnapshot, desired: Desired, observed: ObservedNamespace, delays: list[float]
    ) -> None:
        """Applies what is left of a run's plan; adds the seconds until the run needs the next reconcile.

        Raises:
            ApiError: The API server is unavailable.
        """
        with self._isolating(run):
            self._log_fault(desired)
            await self._apply(run, desired, observed)
            with self._cpu:
                delays += self._delays(run, desired)
                self._finish(observed.runs_by_uid[run.uid])

    @contextmanager
    def _isolating(self, run: RunSnapshot) -> Iterator[None]:
        """Binds the run to log lines; what goes wrong in the context is logged and concerns only this run.

        Raises:
            ApiError: The API server is unavailable.
        """
        # The id that its pods log too.
        with structlog.contextvars.bound_contextvars(run=run.id):
            try:
                yield
            except ApiError as error:
                if not error.refused:
                    raise
                self._record_refusal(run, str(error))
            except Exception as error:  # noqa: BLE001 - outermost for one run, which must not stop the others
                self._count_fault(error)
                if self._backoffs[run.uid].record(f"the operator failed: {type(error).__name__}"):
                    self.enqueue()

    def _record_refusal(self, run: RunSnapshot, problem: str) -> None:
        """Reports a refusal with the next reconcile, and delays the run's next attempt to create objects."""
        if self._backoffs[run.uid].record(problem):
            log.warning("the API server refuses an object", problem=problem)
            self.enqueue()

    def _log_fault(self, desired: Desired) -> None:
        if desired.fault is not None:
            self._count_fault(desired.fault)

    def _count_fault(self, error: Exception) -> None:
        self._context.metrics.count_error(type(error).__name__)
        log.error("a run cannot be reconciled", problem=type(error).__name__, exc_info=error)

    # Runs in memory

    def _state(self, run: RunSnapshot) -> RunState | None:
        """What is in memory of a run; None while its spec is invalid or names a store that is not its own."""
        if run.spec is None:
            return None
        state = self._states.get(run.uid)
        if state is not None:
            state.spec = run.spec
            return state
        config = self._context.config
        store = run.spec.result_store or config.default_store
        if store not in config.stores_of(self.name):
            return None
        state = RunState(
            id=run.id,
            spec=run.spec,
            store=store,
            baseline_namespaces=frozenset({self.name, *config.store_by_name[store].shared_baselines}),
            stores=self._context.stores,
            metrics=self._context.metrics,
            since=self._context.since,
            enqueue=self.enqueue,
            turns=self._context.turns,
            baselines=self._context.baselines,
        )
        self._states[run.uid] = state
        return state

    def _forget(self) -> None:
        """Drops what is in memory of the namespace, and what metrics show of it."""
        self._forget_deleted(())
        self._schedules.forget()
        self._context.metrics.show_models(self.name, {}, {})

    def _forget_deleted(self, left: Iterable[str]) -> None:
        """Forgets all runs but those with these uids."""
        uids = set(left)
        for uid in self._states.keys() - uids:
            self._states.pop(uid).close()
        for uid in self._backoffs.keys() - uids:
            del self._backoffs[uid]
        for uid in self._shown.keys() - uids:
            self._context.metrics.forget_run(self.name, self._shown.pop(uid))
            self._context.dispatcher.forget(uid)
            self._series.forget(uid)

    def _harvest(self, run: RunSnapshot, state: RunState | None, snapshot: NamespaceSnapshot) -> None:
        """Records how the run's pods ended, and begins to ask the store about those that left no report."""
        if state is None:
            return
        unsettled = False
        if state.harvester is not None:
            stopping = state.spec.suspend or run.deleting
            unsettled = state.harvester.observe(
                run.task_pods, run.task_jobs, snapshot.trials_by_job, suspended=stopping
            )
            state.compact(run.task_jobs, snapshot.pods_by_job, snapshot.trials_by_job)
        state.settle(unsettled=unsettled)

    # Applying a plan

    async def _write_stores(
        self, plans: Mapping[str, Desired], observed: ObservedNamespace, snapshot: NamespaceSnapshot
    ) -> Mapping[str, Desired]:
        """Begins to read and write what plans want in the stores; what is left of the plans.

        Stores that are quick are waited for. What another one makes of its writes is left to a later plan.
        """
        writing: dict[str, asyncio.Task[bool]] = {}
        held: set[str] = set()
        for uid, desired in plans.items():
            if (state := self._states.get(uid)) is not None:
                state.read(desired.loads)
                if state.writing:
                    held.add(uid)
                elif (task := state.write(desired)) is not None:
                    writing[uid] = task
        if writing:
            await asyncio.wait(writing.values(), timeout=WRITE_S)
        held |= {uid for uid, task in writing.items() if not task.done()}
        failed = {uid for uid, task in writing.items() if task.done() and not _succeeded(task)}
        replanned = (await self._plan(snapshot))[1] if failed else {}
        left = {uid: replanned.get(uid, desired) if uid in failed else desired for uid, desired in plans.items()}
        return {uid: self._applicable(uid, desired, observed, held=uid in held) for uid, desired in left.items()}

    def _applicable(self, uid: str, desired: Desired, observed: ObservedNamespace, *, held: bool) -> Desired:
        """The part of a plan that may be applied.

        Args:
            uid: The run's uid.
            desired: Its plan.
            observed: What the plans were made of.
            held: Whether something that the plan builds on is still being written to the store.
        """
        if held:
            # Stopping pods does not wait for a store.
            return Desired(patches=desired.patches, delete=desired.delete, requeue_after_s=desired.requeue_after_s)
        state = self._states.get(uid)
        if state is not None and state.error and not observed.runs_by_uid[uid].store_error:
            # The store failed after this plan was made; the next one knows.
            return replace(desired, create=(), patches=(), delete=())
        return desired

    async def _apply(self, run: RunSnapshot, desired: Desired, observed: ObservedNamespace) -> None:
        """Applies what a plan wants in the cluster, and sends notifications.

        Raises:
            ApiError: The API server refused to write the status, or is unavailable.
        """
        context, backoff = self._context, self._backoffs[run.uid]
        delayed = bool(desired.create) and backoff.active
        observed_run = observed.runs_by_uid[run.uid]
        jobs = [] if delayed else [manifests_of(observed_run, job, context.config) for job in desired.create]
        error = await apply_objects(context.client, context.cache, self.name, jobs, desired)
        if error is not None and not error.refused:
            raise error
        if desired.withdrawn:
            self._states[run.uid].withdrawn_at = context.now()
        if error is not None:
            self._record_refusal(run, str(error))
        elif jobs or desired.patches or desired.delete or (not delayed and backoff.refusal):
            self.enqueue()
        if error is None and not delayed:
            backoff.clear()
        status, client, cache = desired.status, context.client, context.cache
        if status is not None and not await apply_status(client, cache, EVALRUNS, run.manifest, status):
            # The watch is about to report the newer object; nothing is sent of a status that was not written.
            return
        for notification in desired.settled_notifications:
            context.metrics.count_notification(notification.event, notification.state)
        for request in desired.send:
            context.dispatcher.send(run.uid, request, self.enqueue)
        await self._record_events(run, desired)

    async def _record_events(self, run: RunSnapshot, desired: Desired) -> None:
        for event in desired.events:
            if times := self._series.due(run.uid, event):
                await record_event(self._context.client, run.manifest, event, self._context.now(), times)

    async def _delete_orphans(self, snapshot: NamespaceSnapshot) -> None:
        """Deletes the Jobs of runs that were deleted without them: no operator harvests them or bounds their cost.

        Raises:
            ApiError: The API server is unavailable.
        """
        refs = (
            ObjectRef(kind, manifest["metadata"]["name"], manifest["metadata"]["uid"])
            for kind, manifest in snapshot.orphans
        )
        if (unavailable := await write_each(partial(self._delete_orphan, ref) for ref in refs)) is not None:
            raise unavailable

    async def _delete_orphan(self, ref: ObjectRef) -> None:
        try:
            await delete(self._context.client, self._context.cache, self.name, ref)
        except ApiError as error:
            if not error.refused:
                raise
            log.warning("an orphan is not deleted", kind=ref.kind, object=ref.name, problem=str(error))
        else:
            log.info("deleted what a deleted run left", kind=ref.kind, object=ref.name)

    def _finish(self, run: ObservedRun) -> None:
        """Lets go of a run once its status reports that it has ended."""
        state = self._states.get(run.uid)
        if state is not None and is_finished(run):
            state.finish(self._context.now())

    def _delays(self, run: RunSnapshot, desired: Desired) -> list[float]:
        """Shows a run in the metrics; seconds until it needs the next reconcile."""
        state = self._states.get(run.uid)
        self._shown[run.uid] = run.name
        status = run_metrics.show_run(self._context.metrics, self.name, run, desired, state)
        if state is not None:
            state.finished_at = status.finished_at
        if state is not None and state.unread and status.finished_at is not None:
            state.read([Load.FIGURES])
        delays = [desired.requeue_after_s, state.retry_after_s if state else None]
        return [delay for delay in delays if delay is not None]
