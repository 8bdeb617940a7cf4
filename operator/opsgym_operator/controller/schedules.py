"""Reconciles the EvalSchedules of a namespace: creates and deletes their EvalRuns.

Invariant: each schedule is reconciled by itself, and none depends on an EvalRun that cannot be reconciled.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from functools import partial

import structlog

from opsgym_core.kube.client import EVALSCHEDULES, ApiError, Manifest
from opsgym_core.metrics.registry import ScheduleTimes
from opsgym_core.results.retention import Series
from opsgym_operator.controller.context import ControllerContext
from opsgym_operator.controller.write_backoff import WriteBackoff
from opsgym_operator.kube.apply import apply_status, create, delete
from opsgym_operator.kube.events import record_event
from opsgym_operator.manifests.evalruns import scheduled_run
from opsgym_operator.observe.schedules import ObservedSchedule, ScheduleRefusals, read_schedule
from opsgym_operator.observe.snapshot import RunSnapshot
from opsgym_operator.plan.desired import Event
from opsgym_operator.plan.retention import StoreRetention, plan_retention
from opsgym_operator.plan.schedule import DesiredSchedule, next_missing, plan_schedule
from opsgym_operator.plan.status.status import Reason
from opsgym_operator.state.pruner import Pruner

log = structlog.get_logger(__name__)

FAULT_RETRY_S = 60.0
"""Seconds until a schedule that could not be reconciled is tried again, unless something changes before."""


@dataclass
class _Backoffs:
    """Refused writes of one schedule."""

    create: WriteBackoff = field(default_factory=WriteBackoff)
    delete: WriteBackoff = field(default_factory=WriteBackoff)
    status: WriteBackoff = field(default_factory=WriteBackoff)

    @property
    def refusals(self) -> ScheduleRefusals:
        """What was refused and may not be repeated yet."""
        create, delete = (backoff.refusal if backoff.active else "" for backoff in (self.create, self.delete))
        return ScheduleRefusals(create, delete)

    @property
    def retry_after_s(self) -> float | None:
        """Seconds until something that was refused may be repeated; None if nothing was."""
        delays = [backoff.retry_after_s for backoff in (self.create, self.delete, self.status)]
        return min((delay for delay in delays if delay is not None), default=None)


class ScheduleReconciler:
    """Reconciles the EvalSchedules of one namespace.

    Args:
        namespace: The namespace.
        context: What all namespaces share.
    """

    def __init__(self, namespace: str, context: ControllerContext) -> None:
        self._namespace = namespace
        self._context = context
        self._backoffs: defaultdict[str, _Backoffs] = defaultdict(_Backoffs)
        """By uid of the schedule."""
        self._pruner = Pruner(context.stores, context.metrics)
        self._retentions: list[StoreRetention] | None = None
        """What is kept of stored runs, as last planned; None before that."""

    async def reconcile(self, runs: Collection[RunSnapshot]) -> float | None:
        """Applies what each schedule wants, and shows the schedules in the metrics.

        Args:
            runs: The EvalRuns of the namespace.

        Returns:
            Seconds until a schedule is due; None if none will be.

        Raises:
            ApiError: The API server is unavailable.
        """
        schedules = self._context.cache.objects(EVALSCHEDULES, self._namespace)
        for uid in self._backoffs.keys() - {manifest["metadata"]["uid"] for manifest in schedules}:
            del self._backoffs[uid]
        delays: list[float] = []
        times: dict[str, ScheduleTimes] = {}
        observed: list[ObservedSchedule] = []
        for manifest in schedules:
            delay = await self._isolated(manifest, runs, times, observed)
            delays += [] if delay is None else [delay]
        self._retentions = plan_retention(self._namespace, observed, runs, self._context.config)
        self._pruner.begin(self._retentions, self._context.now())
        self._context.metrics.show_schedules(self._namespace, times)
        return min(delays, default=None)

    def forget(self) -> None:
        """Drops what is in memory of the schedules, and what metrics show of them."""
        self._backoffs.clear()
        self._pruner.close()
        self._context.metrics.show_schedules(self._namespace, {})

    def _with_pruned(self, schedule: ObservedSchedule) -> ObservedSchedule:
        """A schedule with what was deleted of its stored runs."""
        if self._retentions is None:
            return replace(schedule, keeps_all=False)
        series = Series(self._namespace, schedule.name, is_schedule=True)
        store = next((one.store for one in self._retentions if series in one.histories), None)
        if store is None:
            return schedule
        return replace(schedule, keeps_all=False, pruned=self._pruner.shown(store, schedule.name))

    async def _isolated(
        self,
        manifest: Manifest,
        runs: Collection[RunSnapshot],
        times: dict[str, ScheduleTimes],
        observed: list[ObservedSchedule],
    ) -> float | None:
        """Reconciles a schedule and adds it to those observed; what goes wrong with it delays no other one."""
        backoffs, now = self._backoffs[manifest["metadata"]["uid"]], self._context.now()
        try:
            schedule = self._with_pruned(replace(read_schedule(manifest, runs, now), refusals=backoffs.refusals))
            observed.append(schedule)
            refusals = await self._write_runs(plan_schedule(schedule, now), schedule.refusals, backoffs)
            # The same plan, without what was refused: status, events and metrics tell what was done.
            schedule = replace(schedule, refusals=refusals)
            desired = plan_schedule(schedule, now)
            _show(schedule, desired, times)
            await self._write_status(manifest, desired, backoffs.status)
        except ApiError:
            raise
        except Exception as error:  # outermost for one schedule, which must not stop the others
            self._context.metrics.count_error(type(error).__name__)
            name, problem = manifest["metadata"]["name"], type(error).__name__
            log.exception("a schedule cannot be reconciled", schedule=name, problem=problem)
            return FAULT_RETRY_S
        delays = [desired.requeue_after_s, backoffs.retry_after_s]
        return min((delay for delay in delays if delay is not None), default=None)

    async def _write_runs(
        self, desired: DesiredSchedule, refusals: ScheduleRefusals, backoffs: _Backoffs
    ) -> ScheduleRefusals:
        """Creates and deletes EvalRuns; a refusal of one prevents no other.

        Args:
            desired: The plan.
            refusals: What the plan leaves out.
            backoffs: Record what is refused.

        Returns:
            What the plan leaves out, or was refused now.

        Raises:
            ApiError: The API server is unavailable.
        """
        client, cache = self._context.client, self._context.cache
        creations = [partial(create, client, cache, scheduled_run(run)) for run in desired.create]
        deletions = [partial(delete, client, cache, self._namespace, ref) for ref in desired.delete]
        return ScheduleRefusals(
            create=refusals.create or await _write_each(creations, backoffs.create),
            delete=refusals.delete or await _write_each(deletions, backoffs.delete),
        )

    async def _write_status(self, manifest: Manifest, desired: DesiredSchedule, backoff: WriteBackoff) -> None:
        """Writes the status and records events.

        Raises:
            ApiError: The API server is unavailable.
        """
        if backoff.active:
            return
        client, cache = self._context.client, self._context.cache
        try:
            if desired.status is not None and not await apply_status(
                client, cache, EVALSCHEDULES, manifest, desired.status
            ):
                return
        except ApiError as error:
            if not error.refused:
                raise
            if backoff.record(str(error)):
                event = Event("Warning", Reason.OBJECT_REFUSED, str(error))
                await record_event(client, manifest, event, self._context.now())
            return
        backoff.clear()
        for event in desired.events:
            await record_event(client, manifest, event, self._context.now())


async def _write_each(writes: Iterable[Callable[[], Awaitable[None]]], backoff: WriteBackoff) -> str:
    """Makes each of these writes; the first refusal, in the words of the API server, or an empty text.

    Raises:
        ApiError: The API server is unavailable.
    """
    refusals: list[str] = []
    for write in writes:
        try:
            await write()
        except ApiError as error:
            if not error.refused:
                raise
            refusals.append(str(error))
    if not refusals:
        backoff.clear()
        return ""
    backoff.record(refusals[0])
    return refusals[0]


def _show(schedule: ObservedSchedule, desired: DesiredSchedule, times: dict[str, ScheduleTimes]) -> None:
    """Adds the times of a schedule as its plan leaves it."""
    if not schedule.deleting:
        status = desired.status or schedule.status
        times[schedule.name] = ScheduleTimes(
            status.last_schedule_time, status.last_successful_time, next_missing(schedule, status)
        )
