"""Reconciles the EvalSchedules of a namespace: creates and deletes their EvalRuns."""

from __future__ import annotations

from opsgym_core.kube.client import EVALRUNS, EVALSCHEDULES
from opsgym_core.metrics.registry import ScheduleTimes
from opsgym_operator.build.evalruns import scheduled_run
from opsgym_operator.controller.context import ControllerContext
from opsgym_operator.kube.apply import apply_status, create, delete
from opsgym_operator.kube.events import record_event
from opsgym_operator.observe.schedules import read_schedule
from opsgym_operator.plan.schedule import next_missing, plan_schedule


async def reconcile_schedules(context: ControllerContext, namespace: str) -> float | None:
    """Applies what each schedule of a namespace wants, and shows the schedules in the metrics.

    Returns:
        Seconds until a schedule is due; None if none will be.

    Raises:
        ApiError: The API server refused a request; what follows it was not tried.
    """
    client, cache, now = context.client, context.cache, context.now()
    runs = cache.objects(EVALRUNS, namespace)
    delays: list[float] = []
    times: dict[str, ScheduleTimes] = {}
    for manifest in cache.objects(EVALSCHEDULES, namespace):
        schedule = read_schedule(manifest, runs, now)
        desired = plan_schedule(schedule, now)
        if not schedule.deleting:
            status = desired.status or schedule.status
            times[schedule.name] = ScheduleTimes(
                status.last_schedule_time, status.last_successful_time, next_missing(schedule, status)
            )
        for ref in desired.delete:
            await delete(client, cache, namespace, ref)
        for run in desired.create:
            await create(client, cache, scheduled_run(run))
        if desired.status is not None:
            await apply_status(client, cache, EVALSCHEDULES, manifest, desired.status)
        for event in desired.events:
            await record_event(client, manifest, event, now)
        if desired.requeue_after_s is not None:
            delays.append(desired.requeue_after_s)
    context.metrics.show_schedules(namespace, times)
    return min(delays, default=None)
