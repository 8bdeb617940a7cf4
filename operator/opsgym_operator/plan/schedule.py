"""Which EvalRuns a schedule creates now, by the rules of a CronJob.

Invariant: a plan is a function of its arguments. The name of an EvalRun follows from the time it is for, so a time that
is planned repeatedly creates one EvalRun; of several missed times only the latest is made up for. Creations and
deletions do not depend on each other: while the API server refuses the ones, the others go on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError

from opsgym_api.kinds.evalrun import Condition
from opsgym_api.kinds.evalschedule import ConcurrencyPolicy, EvalScheduleSpec, EvalScheduleStatus, RunTemplate
from opsgym_operator.observe.labels import scheduled_run_name
from opsgym_operator.observe.schedules import ObservedSchedule, OwnedRun, ScheduleReason
from opsgym_operator.plan.desired import Event, ObjectRef
from opsgym_operator.plan.status.status import shortened

MOST_ACTIVE = 100
"""Names of active EvalRuns in a status."""


@dataclass(frozen=True)
class ScheduledRun:
    """An EvalRun to create for a time of a schedule."""

    name: str
    namespace: str
    schedule: str
    """Name of the EvalSchedule."""
    schedule_uid: str
    at: datetime
    """Time that the run is for."""
    template: RunTemplate


@dataclass(frozen=True)
class DesiredSchedule:
    """What should be done for an EvalSchedule now, in this order; applying it twice has the effect of once."""

    create: tuple[ScheduledRun, ...] = ()
    """EvalRuns to create; one that exists already is a success."""
    delete: tuple[ObjectRef, ...] = ()
    status: EvalScheduleStatus | None = None
    """Status to write; None if the current one is up to date."""
    events: tuple[Event, ...] = ()
    requeue_after_s: float | None = None
    """Seconds until the next plan at the latest; None if only a change calls for one."""


@dataclass(frozen=True)
class _Due:
    """What the clock calls for."""

    requeue_after_s: float | None = None
    at: datetime | None = None
    """Time to create an EvalRun for; None for none."""


def plan_schedule(schedule: ObservedSchedule, now: datetime) -> DesiredSchedule:
    """What should be done for a schedule.

    Args:
        schedule: The schedule and its EvalRuns.
        now: The time, with its zone.
    """
    if schedule.deleting:
        return DesiredSchedule()
    refusal = _refusal(schedule)
    if refusal is not None or schedule.spec is None:
        status = _status(schedule, refusal, None, now)
        events = (Event("Warning", *refusal),) if refusal and status != schedule.status else ()
        return DesiredSchedule(status=None if status == schedule.status else status, events=events)
    spec = schedule.spec
    active = [run for run in schedule.runs if run.finished_at is None and not run.deleting]
    due = _due(schedule, spec, active, now)
    replaced = _replaced(schedule, spec, active, due)
    unwanted = [*replaced, *_beyond_history(schedule, spec)]
    refusals = schedule.refusals
    create = (_scheduled_run(schedule, spec, due.at),) if due.at is not None and not refusals.create else ()
    delete = unwanted if not refusals.delete else []
    refused = [refusals.create if due.at is not None else "", refusals.delete if unwanted else ""]
    stalled = "; ".join(filter(None, refused))
    status = _status(schedule, None, create[0].at if create else None, now, stalled)
    return DesiredSchedule(
        create=create,
        delete=tuple(ObjectRef("EvalRun", run.name, run.uid) for run in delete),
        status=None if status == schedule.status else status,
        events=(
            *(Event("Normal", "Created", f"EvalRun {run.name}") for run in create),
            *(_replacement(run) for run in replaced if run in delete),
            *_stall_events(schedule.status, status),
        ),
        requeue_after_s=due.requeue_after_s,
    )


def _refusal(schedule: ObservedSchedule) -> tuple[ScheduleReason, str] | None:
    """Reason and message of why a schedule cannot be followed; None if it can."""
    if schedule.spec is None:
        return ScheduleReason.INVALID_SPEC, "; ".join(map(str, schedule.problems))
    spec = schedule.spec
    try:
        ZoneInfo(spec.time_zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        message = f"spec.timeZone: unknown time zone {spec.time_zone!r}; for instance Europe/Berlin"
        return ScheduleReason.UNKNOWN_TIME_ZONE, message
    try:
        next(CronSim(spec.schedule, datetime(2026, 1, 1, tzinfo=UTC)))
    except (CronSimError, StopIteration) as error:
        problem = str(error) or "it never occurs"
        message = f"spec.schedule: {spec.schedule!r} is not a valid schedule: {problem}; for instance 0 3 * * 1-5"
        return ScheduleReason.INVALID_SCHEDULE, message
    return None


def _due(schedule: ObservedSchedule, spec: EvalScheduleSpec, active: Sequence[OwnedRun], now: datetime) -> _Due:
    """The latest time without an EvalRun, if neither its deadline has passed nor an active run forbids it."""
    if spec.suspend:
        return _Due()
    requeue_after_s = (next_after(spec, now) - now).total_seconds()
    latest, deadline = latest_before(spec, now), spec.starting_deadline_seconds
    planned = latest <= (schedule.status.last_schedule_time or schedule.created_at)
    too_late = deadline is not None and (now - latest).total_seconds() > deadline
    forbidden = bool(active) and spec.concurrency_policy is ConcurrencyPolicy.FORBID
    return _Due(requeue_after_s, None if planned or too_late or forbidden else latest)


def latest_before(spec: EvalScheduleSpec, now: datetime) -> datetime:
    """The schedule's latest time that is not after now, in UTC."""
    # CronSim returns times before the one given, in whole seconds.
    start = now.replace(microsecond=0) + timedelta(seconds=1)
    return next(CronSim(spec.schedule, start.astimezone(ZoneInfo(spec.time_zone)), reverse=True)).astimezone(UTC)


def next_after(spec: EvalScheduleSpec, now: datetime) -> datetime:
    """The schedule's next time, in UTC."""
    times = CronSim(spec.schedule, now.astimezone(ZoneInfo(spec.time_zone)))
    # In the hour that the clock repeats, the first time may be past.
    return next(at for time in times if (at := time.astimezone(UTC)) > now)


def next_missing(schedule: ObservedSchedule, status: EvalScheduleStatus) -> datetime | None:
    """The first time of a schedule without an EvalRun, which is past if it was missed; None if it is not followed.

    Args:
        schedule: The schedule.
        status: Its status after the plan.
    """
    spec = schedule.spec
    if spec is None or spec.suspend or _refusal(schedule) is not None:
        return None
    return next_after(spec, status.last_schedule_time or schedule.created_at)


def _replaced(
    schedule: ObservedSchedule, spec: EvalScheduleSpec, active: Sequence[OwnedRun], due: _Due
) -> list[OwnedRun]:
    """Active EvalRuns that the one that is due replaces, or the latest one, if their deletion was refused then."""
    stalled = _message_of("Stalled", schedule.status.conditions)
    latest = due.at or (schedule.status.last_schedule_time if stalled else None)
    if spec.concurrency_policy is not ConcurrencyPolicy.REPLACE or spec.suspend or latest is None:
        return []
    return [run for run in active if run.scheduled_at < latest]


def _replacement(run: OwnedRun) -> Event:
    return Event("Normal", "Replaced", f"EvalRun {run.name} is deleted: the next one is due")


def _stall_events(before: EvalScheduleStatus, after: EvalScheduleStatus) -> list[Event]:
    """An event for each refusal with other words than the last one."""
    old, new = (_message_of("Stalled", status.conditions) for status in (before, after))
    return [Event("Warning", ScheduleReason.OBJECT_REFUSED, new)] if new and new != old else []


def _message_of(kind: str, conditions: Sequence[Condition]) -> str:
    return next((condition.message for condition in conditions if condition.type == kind), "")


def _scheduled_run(schedule: ObservedSchedule, spec: EvalScheduleSpec, at: datetime) -> ScheduledRun:
    name = scheduled_run_name(schedule.name, at)
    return ScheduledRun(name, schedule.namespace, schedule.name, schedule.uid, at, spec.run_template)


def _beyond_history(schedule: ObservedSchedule, spec: EvalScheduleSpec) -> list[OwnedRun]:
    """The oldest finished EvalRuns beyond the history limits; those with pending notifications stay."""
    finished = sorted(
        (run for run in schedule.runs if run.finished_at is not None and not run.deleting and not run.notifying),
        key=lambda run: (run.scheduled_at, run.name),
    )
    good, failed = [run for run in finished if run.good], [run for run in finished if not run.good]
    limits = ((good, spec.successful_runs_history_limit), (failed, spec.failed_runs_history_limit))
    return [run for runs, limit in limits for run in runs[: max(0, len(runs) - limit)]]


def _status(
    schedule: ObservedSchedule,
    refusal: tuple[ScheduleReason, str] | None,
    created_for: datetime | None,
    now: datetime,
    stalled: str = "",
) -> EvalScheduleStatus:
    before = schedule.status
    active = sorted(run.name for run in schedule.runs if run.finished_at is None and not run.deleting)
    successes = [run.finished_at for run in schedule.runs if run.good and run.finished_at is not None]
    return before.model_copy(
        update={
            "observed_generation": schedule.generation,
            "last_schedule_time": created_for or before.last_schedule_time,
            "last_successful_time": max([*successes, *filter(None, [before.last_successful_time])], default=None),
            "active": active[-MOST_ACTIVE:],
            "active_runs": len(active),
            "conditions": _conditions(schedule, refusal, stalled, now),
        }
    )


def _conditions(
    schedule: ObservedSchedule, refusal: tuple[ScheduleReason, str] | None, stalled: str, now: datetime
) -> list[Condition]:
    """`Accepted`, `Stalled` while the API server refuses something, `Pruned` while stored runs do not all stay, and the
    conditions of other controllers.
    """
    reason, message = refusal or (ScheduleReason.VALID, "")
    own = [_condition(schedule, "Accepted", "False" if refusal else "True", reason, message, now)]
    if stalled:
        own.append(_condition(schedule, "Stalled", "True", ScheduleReason.OBJECT_REFUSED, shortened(stalled), now))
    if (pruned := schedule.pruned) is not None:
        ok: Literal["True", "False"] = "True" if pruned.ok else "False"
        own.append(_condition(schedule, "Pruned", ok, pruned.reason, shortened(pruned.message), now))
    replaced = {condition.type for condition in own} | {"Stalled"} | ({"Pruned"} if schedule.keeps_all else set())
    return [*own, *(condition for condition in schedule.status.conditions if condition.type not in replaced)]


def _condition(
    schedule: ObservedSchedule,
    kind: str,
    status: Literal["True", "False"],
    reason: ScheduleReason,
    message: str,
    now: datetime,
) -> Condition:
    old = next((condition for condition in schedule.status.conditions if condition.type == kind), None)
    return Condition(
        type=kind,
        status=status,
        reason=reason.value,
        message=message,
        last_transition_time=old.last_transition_time if old is not None and old.status == status else now,
        observed_generation=schedule.generation,
    )
