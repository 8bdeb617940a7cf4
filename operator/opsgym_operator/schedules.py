"""Carries out EvalSchedules: reads them, has them planned, makes and deletes their EvalRuns.

Invariant: an EvalRun belongs to a schedule by its owner reference, not by its name or labels, which anybody may write.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from opsgym_api.evalschedule import EvalScheduleSpec, EvalScheduleStatus
from opsgym_operator.apply import apply_status, create, delete
from opsgym_operator.client import EVALRUNS, EVALSCHEDULES, Client, Manifest
from opsgym_operator.events import tell
from opsgym_operator.metrics import Metrics, ScheduleTimes
from opsgym_operator.read import annotation, parse, read_status, time_of
from opsgym_operator.schedule import ANNOTATION_TIME, ObservedSchedule, OwnedRun, plan_schedule, times_of
from opsgym_operator.status import went_well
from opsgym_operator.watch import Watched


async def follow_schedules(
    client: Client, watched: Watched, metrics: Metrics, namespace: str, now: datetime
) -> float | None:
    """Does what each schedule of a namespace wants, and shows them; seconds until one wants something again.

    Raises:
        ApiError: The API server refused something; what follows it was not tried.
    """
    runs = watched.objects(EVALRUNS, namespace)
    waits: list[float] = []
    times: dict[str, ScheduleTimes] = {}
    for there in watched.objects(EVALSCHEDULES, namespace):
        schedule = read_schedule(there, runs, now)
        desired = plan_schedule(schedule, now)
        if not schedule.deleting:
            times[schedule.name] = times_of(schedule, desired)
        for ref in desired.delete:
            await delete(client, watched, namespace, ref)
        for manifest in desired.create:
            await create(client, watched, dict(manifest))
        if desired.status is not None:
            await apply_status(client, watched, EVALSCHEDULES, there, desired.status)
        for event in desired.events:
            await tell(client, there, event, now)
        if desired.again_s is not None:
            waits.append(desired.again_s)
    metrics.show_schedules(namespace, times)
    return min(waits, default=None)


def read_schedule(manifest: Manifest, runs: Sequence[Manifest], now: datetime) -> ObservedSchedule:
    """A schedule and the EvalRuns that it owns."""
    metadata = manifest["metadata"]
    spec = parse(EvalScheduleSpec, manifest.get("spec"), "spec")
    status = parse(EvalScheduleStatus, manifest.get("status") or {}, "status")
    return ObservedSchedule(
        name=metadata["name"],
        uid=metadata["uid"],
        namespace=metadata["namespace"],
        generation=metadata.get("generation", 0),
        created_at=time_of(metadata["creationTimestamp"]) or now,
        spec=spec if isinstance(spec, EvalScheduleSpec) else None,
        problems=() if isinstance(spec, EvalScheduleSpec) else spec,
        status=status if isinstance(status, EvalScheduleStatus) else EvalScheduleStatus(),
        runs=tuple(_owned(run, now) for run in runs if _owner(run).get("uid") == metadata["uid"]),
        deleting="deletionTimestamp" in metadata,
    )


def schedule_of(run: Manifest) -> str:
    """Name of the EvalSchedule that made an EvalRun; empty if somebody else did."""
    owner = _owner(run)
    return str(owner["name"]) if owner.get("kind") == "EvalSchedule" else ""


def _owner(run: Manifest) -> Mapping[str, Any]:
    owners = run["metadata"].get("ownerReferences") or ()
    return next((owner for owner in owners if owner.get("controller")), {})


def _owned(run: Manifest, now: datetime) -> OwnedRun:
    metadata, status = run["metadata"], read_status(run)
    return OwnedRun(
        name=metadata["name"],
        scheduled_at=_time(annotation(run, ANNOTATION_TIME)) or time_of(metadata["creationTimestamp"]) or now,
        finished_at=status.finished_at,
        good=went_well(status),
        deleting="deletionTimestamp" in metadata,
        telling=any(notice.state == "pending" for notice in status.notices),
    )


def _time(text: str) -> datetime | None:
    """A time with its zone; None if somebody wrote something else."""
    try:
        found = time_of(text)
    except ValueError:
        return None
    return found if found is not None and found.tzinfo is not None else None
