"""Reconciles the EvalSchedules of a namespace: creates and deletes their EvalRuns.

Invariant: each schedule is reconciled by itself, and none depends on an EvalRun that cannot be reconciled.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import structlog

from opsgym_core.kube.client import EVALRUNS, EVALSCHEDULES, ApiError, Manifest
from opsgym_core.metrics.registry import ScheduleTimes
from opsgym_operator.build.evalruns import scheduled_run
from opsgym_operator.controller.context import ControllerContext
from opsgym_operator.controller.write_backoff import WriteBackoff
from opsgym_operator.kube.apply import apply_status, create, delete
from opsgym_operator.kube.events import record_event
from opsgym_operator.observe.schedules import ObservedSchedule, read_schedule
from opsgym_operator.plan.desired import Event
from opsgym_operator.plan.schedule import DesiredSchedule, next_missing, plan_schedule
from opsgym_operator.plan.status import Reason

log = structlog.get_logger(__name__)

FAULT_RETRY_S = 60.0
"""Seconds until a schedule that could not be reconciled is tried again, unless something changes before."""


class ScheduleReconciler:
    """Reconciles the EvalSchedules of one namespace.

    Args:
        namespace: The namespace.
        context: What all namespaces share.
    """

    def __init__(self, namespace: str, context: ControllerContext) -> None:
        self._namespace = namespace
        self._context = context
        self._backoffs: defaultdict[str, WriteBackoff] = defaultdict(WriteBackoff)
        """By uid of the schedule."""

    async def reconcile(self) -> float | None:
        """Applies what each schedule wants, and shows the schedules in the metrics.

        Returns:
            Seconds until a schedule is due; None if none will be.

        Raises:
            ApiError: The API server is unavailable.
        """
        cache = self._context.cache
        schedules, runs = cache.objects(EVALSCHEDULES, self._namespace), cache.objects(EVALRUNS, self._namespace)
        for uid in self._backoffs.keys() - {manifest["metadata"]["uid"] for manifest in schedules}:
            del self._backoffs[uid]
        delays: list[float] = []
        times: dict[str, ScheduleTimes] = {}
        for manifest in schedules:
            delay = await self._isolated(manifest, runs, times)
            delays += [] if delay is None else [delay]
        self._context.metrics.show_schedules(self._namespace, times)
        return min(delays, default=None)

    def forget(self) -> None:
        """Drops what is in memory of the schedules, and what metrics show of them."""
        self._backoffs.clear()
        self._context.metrics.show_schedules(self._namespace, {})

    async def _isolated(
        self, manifest: Manifest, runs: Sequence[Manifest], times: dict[str, ScheduleTimes]
    ) -> float | None:
        """Reconciles a schedule; what goes wrong with it delays no other one."""
        backoff = self._backoffs[manifest["metadata"]["uid"]]
        try:
            schedule = read_schedule(manifest, runs, self._context.now())
            desired = plan_schedule(schedule, self._context.now())
            _show(schedule, desired, times)
            if backoff.active:
                return backoff.retry_after_s
            await self._apply(manifest, desired)
        except ApiError as error:
            if not error.refused:
                raise
            if backoff.record(str(error)):
                event = Event("Warning", Reason.OBJECT_REFUSED, str(error))
                await record_event(self._context.client, manifest, event, self._context.now())
            return backoff.retry_after_s
        except Exception as error:  # outermost for one schedule, which must not stop the others
            self._context.metrics.count_error(type(error).__name__)
            name, problem = manifest["metadata"]["name"], type(error).__name__
            log.exception("a schedule cannot be reconciled", schedule=name, problem=problem)
            return FAULT_RETRY_S
        backoff.clear()
        return desired.requeue_after_s

    async def _apply(self, manifest: Manifest, desired: DesiredSchedule) -> None:
        client, cache = self._context.client, self._context.cache
        for ref in desired.delete:
            await delete(client, cache, self._namespace, ref)
        for run in desired.create:
            await create(client, cache, scheduled_run(run))
        if desired.status is not None and not await apply_status(
            client, cache, EVALSCHEDULES, manifest, desired.status
        ):
            return
        for event in desired.events:
            await record_event(client, manifest, event, self._context.now())


def _show(schedule: ObservedSchedule, desired: DesiredSchedule, times: dict[str, ScheduleTimes]) -> None:
    """Adds the times of a schedule as its plan leaves it."""
    if not schedule.deleting:
        status = desired.status or schedule.status
        times[schedule.name] = ScheduleTimes(
            status.last_schedule_time, status.last_successful_time, next_missing(schedule, status)
        )
