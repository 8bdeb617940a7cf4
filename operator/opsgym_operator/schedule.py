"""Which EvalRuns a schedule makes now. A CronJob's rules, for evaluations.

Invariant: a function of its arguments. An EvalRun's name follows from the time it is for, so however often a time is
planned it makes one EvalRun; and of several times that were missed only the latest is made up for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError

from opsgym_api.errors import Problem
from opsgym_api.evalmodel import API_VERSION
from opsgym_api.evalrun import Condition
from opsgym_api.evalschedule import ConcurrencyPolicy, EvalScheduleSpec, EvalScheduleStatus
from opsgym_operator.desired import Event, Manifest, ObjectRef
from opsgym_operator.metrics import ScheduleTimes
from opsgym_operator.names import LABEL_MANAGED_BY, LABEL_PART_OF, MANAGER

LABEL_SCHEDULE = "opsgym.dev/schedule"
"""Name of the EvalSchedule that made an EvalRun."""
ANNOTATION_TIME = "opsgym.dev/scheduled-at"
"""Time that an EvalRun is for, RFC 3339."""
MOST_ACTIVE = 100
"""Names in a status."""


@dataclass(frozen=True)
class OwnedRun:
    """An EvalRun that a schedule has made."""

    name: str
    scheduled_at: datetime
    """From its annotation; its creation time if somebody took that away."""
    finished_at: datetime | None = None
    """None while it has not ended."""
    good: bool = False
    """It ended with `Succeeded`, and its gate, if it has one, holds."""
    deleting: bool = False
    telling: bool = False
    """Webhooks have not been told all of it yet."""


@dataclass(frozen=True)
class ObservedSchedule:
    """An EvalSchedule."""

    name: str
    uid: str
    namespace: str
    generation: int
    created_at: datetime
    spec: EvalScheduleSpec | None
    """None if it cannot be read; `problems` then says why."""
    problems: tuple[Problem, ...] = ()
    status: EvalScheduleStatus = field(default_factory=EvalScheduleStatus)
    """As last written; empty if it cannot be read."""
    runs: tuple[OwnedRun, ...] = ()
    """EvalRuns that it owns."""
    deleting: bool = False


@dataclass(frozen=True)
class DesiredSchedule:
    """What should be done for an EvalSchedule now, in this order; doing it twice is doing it once."""

    delete: tuple[ObjectRef, ...] = ()
    create: tuple[Manifest, ...] = ()
    """EvalRuns. That one exists already is success."""
    status: EvalScheduleStatus | None = None
    """To write in place of the status there; None if that is as it should be."""
    events: tuple[Event, ...] = ()
    again_s: float | None = None
    """Plan again after so many seconds; None: when something has changed."""


@dataclass(frozen=True)
class _Due:
    """What is to be done about the clock."""

    at: datetime | None = None
    """Time to make an EvalRun for."""
    again_s: float | None = None


def plan_schedule(schedule: ObservedSchedule, now: datetime) -> DesiredSchedule:
    """What should be done for a schedule.

    Args:
        schedule: The schedule and its EvalRuns.
        now: The time, with its zone.
    """
    if schedule.deleting:
        return DesiredSchedule()
    fault = _fault(schedule)
    if fault is not None or schedule.spec is None:
        status = _status(schedule, fault, None, now)
        events = (Event("Warning", fault[0], fault[1]),) if fault and status != schedule.status else ()
        return DesiredSchedule(status=None if status == schedule.status else status, events=events)
    spec = schedule.spec
    active = [run for run in schedule.runs if run.finished_at is None and not run.deleting]
    due = _due(schedule, spec, active, now)
    replaced = active if due.at is not None and spec.concurrency_policy is ConcurrencyPolicy.REPLACE else []
    status = _status(schedule, None, due.at, now)
    created = (_run(schedule, spec, due.at),) if due.at is not None else ()
    return DesiredSchedule(
        delete=tuple(ObjectRef("EvalRun", run.name) for run in (*replaced, *_old(schedule, spec))),
        create=created,
        status=None if status == schedule.status else status,
        events=tuple(_told(created, replaced)),
        again_s=due.again_s,
    )


def _fault(schedule: ObservedSchedule) -> tuple[str, str] | None:
    """Reason and message of what keeps a schedule from being followed."""
    if schedule.spec is None:
        return "InvalidSpec", "; ".join(map(str, schedule.problems))
    spec = schedule.spec
    try:
        ZoneInfo(spec.time_zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return "UnknownTimeZone", f"spec.timeZone: {spec.time_zone!r} is no time zone; for instance Europe/Berlin"
    try:
        next(CronSim(spec.schedule, datetime(2026, 1, 1, tzinfo=UTC)))
    except (CronSimError, StopIteration) as error:
        told = str(error) or "it never comes"
        return "InvalidSchedule", f"spec.schedule: {spec.schedule!r} is no time: {told}; for instance 0 3 * * 1-5"
    return None


def _due(schedule: ObservedSchedule, spec: EvalScheduleSpec, active: Sequence[OwnedRun], now: datetime) -> _Due:
    """The latest time that nothing was made for, if it is not too late for it and nothing is in its way."""
    if spec.suspend:
        return _Due()
    since = schedule.status.last_schedule_time or schedule.created_at
    latest = latest_before(spec, now)
    coming = (next_after(spec, now) - now).total_seconds()
    if latest <= since:
        return _Due(again_s=coming)
    deadline = spec.starting_deadline_seconds
    if deadline is not None and (now - latest).total_seconds() > deadline:
        return _Due(again_s=coming)
    if active and spec.concurrency_policy is ConcurrencyPolicy.FORBID:
        return _Due(again_s=coming)
    return _Due(at=latest, again_s=coming)


def latest_before(spec: EvalScheduleSpec, now: datetime) -> datetime:
    """The schedule's latest time that is not after now, in UTC."""
    # It looks for times before the one given, and counts in seconds.
    start = now.replace(microsecond=0) + timedelta(seconds=1)
    return next(CronSim(spec.schedule, start.astimezone(ZoneInfo(spec.time_zone)), reverse=True)).astimezone(UTC)


def next_after(spec: EvalScheduleSpec, now: datetime) -> datetime:
    """The schedule's next time, in UTC."""
    times = CronSim(spec.schedule, now.astimezone(ZoneInfo(spec.time_zone)))
    # In the hour that the clock repeats, the first one found may be past.
    return next(at for found in times if (at := found.astimezone(UTC)) > now)


def times_of(schedule: ObservedSchedule, desired: DesiredSchedule) -> ScheduleTimes:
    """Times that metrics show of a schedule.

    Args:
        schedule: The schedule.
        desired: What is done for it now.
    """
    status = desired.status or schedule.status
    return ScheduleTimes(status.last_schedule_time, status.last_successful_time, _next(schedule, status))


def _next(schedule: ObservedSchedule, status: EvalScheduleStatus) -> datetime | None:
    """The first time that nothing was made for: in the past while it is missed."""
    spec = schedule.spec
    if spec is None or spec.suspend or _fault(schedule) is not None:
        return None
    return next_after(spec, status.last_schedule_time or schedule.created_at)


def _run(schedule: ObservedSchedule, spec: EvalScheduleSpec, at: datetime) -> Manifest:
    """The EvalRun for a time."""
    template = spec.run_template
    labels = {LABEL_MANAGED_BY: MANAGER, LABEL_PART_OF: "opsgym", LABEL_SCHEDULE: schedule.name}
    owner: dict[str, Any] = {
        "apiVersion": API_VERSION,
        "kind": "EvalSchedule",
        "name": schedule.name,
        "uid": schedule.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
    return {
        "apiVersion": API_VERSION,
        "kind": "EvalRun",
        "metadata": {
            "name": f"{schedule.name}-{int(at.timestamp()) // 60}",
            "namespace": schedule.namespace,
            "labels": dict(template.metadata.labels) | labels,
            "annotations": dict(template.metadata.annotations) | {ANNOTATION_TIME: _written(at)},
            "ownerReferences": [owner],
        },
        "spec": template.spec.model_dump(mode="json", by_alias=True, exclude_unset=True),
    }


def _old(schedule: ObservedSchedule, spec: EvalScheduleSpec) -> list[OwnedRun]:
    """Finished EvalRuns beyond what is kept of each kind, the oldest ones."""
    ended = sorted(
        (run for run in schedule.runs if run.finished_at is not None and not run.deleting and not run.telling),
        key=lambda run: (run.scheduled_at, run.name),
    )
    good, failed = [run for run in ended if run.good], [run for run in ended if not run.good]
    most = ((good, spec.successful_runs_history_limit), (failed, spec.failed_runs_history_limit))
    return [run for runs, limit in most for run in runs[: max(0, len(runs) - limit)]]


def _status(
    schedule: ObservedSchedule, fault: tuple[str, str] | None, made_for: datetime | None, now: datetime
) -> EvalScheduleStatus:
    before = schedule.status
    active = sorted(run.name for run in schedule.runs if run.finished_at is None and not run.deleting)
    good = [run.finished_at for run in schedule.runs if run.good and run.finished_at is not None]
    return before.model_copy(
        update={
            "observed_generation": schedule.generation,
            "last_schedule_time": made_for or before.last_schedule_time,
            "last_successful_time": max([*good, *filter(None, [before.last_successful_time])], default=None),
            "active": active[-MOST_ACTIVE:],
            "active_runs": len(active),
            "conditions": _conditions(schedule, fault, now),
        }
    )


def _conditions(schedule: ObservedSchedule, fault: tuple[str, str] | None, now: datetime) -> list[Condition]:
    old = next((found for found in schedule.status.conditions if found.type == "Accepted"), None)
    reason, message = fault or ("Valid", "")
    accepted = Condition(
        type="Accepted",
        status="False" if fault else "True",
        reason=reason,
        message=message,
        last_transition_time=now,
        observed_generation=schedule.generation,
    )
    if old is not None and old.status == accepted.status:
        accepted = accepted.model_copy(update={"last_transition_time": old.last_transition_time})
    return [accepted, *(found for found in schedule.status.conditions if found.type != "Accepted")]


def _told(created: Sequence[Manifest], replaced: Sequence[OwnedRun]) -> list[Event]:
    events = [
        Event("Normal", "Replaced", f"EvalRun {run.name} is deleted: it is time for the next one") for run in replaced
    ]
    return [*events, *(Event("Normal", "Created", f"EvalRun {run['metadata']['name']}") for run in created)]


def _written(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")
