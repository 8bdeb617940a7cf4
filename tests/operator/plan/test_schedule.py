"""Which EvalRuns a schedule makes, and when."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opsgym_api.errors import Problem
from opsgym_api.kinds.evalrun import Condition
from opsgym_api.kinds.evalschedule import EvalScheduleSpec, EvalScheduleStatus
from opsgym_operator.observe.schedules import ObservedSchedule, OwnedRun, ScheduleRefusals
from opsgym_operator.plan.desired import Event, ObjectRef
from opsgym_operator.plan.schedule import (
    DesiredSchedule,
    ScheduledRun,
    latest_before,
    next_after,
    plan_schedule,
)

MADE = datetime(2026, 3, 2, 12, tzinfo=UTC)  # a Monday
RUN = {"suite": {"builtin": "quickstart"}, "models": [{"name": "gold", "inline": {"model": "replay/gold"}}]}


def spec(schedule: str = "0 3 * * *", **fields: Any) -> EvalScheduleSpec:
    template = {"metadata": {"labels": {"team": "desk"}, "annotations": {"note": "x"}}, "spec": RUN}
    return EvalScheduleSpec.model_validate({"schedule": schedule, "runTemplate": template, **fields})


def schedule(schedule_spec: EvalScheduleSpec | None, *runs: OwnedRun, **fields: Any) -> ObservedSchedule:
    known: dict[str, Any] = {"name": "nightly", "uid": "u1", "namespace": "team", "generation": 1, "created_at": MADE}
    return ObservedSchedule(spec=schedule_spec, runs=runs, **known, **fields)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def made(desired: DesiredSchedule) -> list[str]:
    return [run.name for run in desired.create]


def test_a_due_schedule_creates_one_run_from_its_template() -> None:
    now = at("2026-03-03T03:00:20")
    desired = plan_schedule(schedule(spec()), now)
    accepted = Condition(
        type="Accepted", status="True", reason="Valid", last_transition_time=now, observed_generation=1
    )
    due = ScheduledRun("nightly-29541780", "team", "nightly", "u1", at("2026-03-03T03:00:00"), spec().run_template)
    assert desired == DesiredSchedule(
        create=(due,),
        status=EvalScheduleStatus(
            observed_generation=1, last_schedule_time=at("2026-03-03T03:00:00"), active_runs=0, conditions=[accepted]
        ),
        events=(Event("Normal", "Created", "EvalRun nightly-29541780"),),
        requeue_after_s=86380.0,
    )


def test_nothing_is_created_before_the_first_time() -> None:
    desired = plan_schedule(schedule(spec()), at("2026-03-02T18:00:00"))
    assert (desired.create, desired.requeue_after_s) == ((), 9 * 3600)


def test_a_time_that_is_planned_twice_creates_one_run() -> None:
    first = plan_schedule(schedule(spec()), at("2026-03-03T03:00:00"))
    assert first.status is not None
    again = plan_schedule(schedule(spec(), status=first.status), at("2026-03-03T03:00:00"))
    assert (again.create, again.status, again.events) == ((), None, ())
    lost = plan_schedule(schedule(spec()), at("2026-03-03T03:07:00"))
    assert made(lost) == made(first), "an operator that died before it wrote the status makes the same one again"


def test_only_the_latest_missed_time_is_made_up_for() -> None:
    desired = plan_schedule(schedule(spec("*/10 * * * *")), at("2026-03-03T03:04:00"))
    assert [run.at for run in desired.create] == [at("2026-03-03T03:00:00")]
    assert len(desired.create) == 1


@pytest.mark.parametrize(("late", "count"), [(59, 1), (60, 1), (61, 0)])
def test_a_time_past_its_starting_deadline_is_skipped(late: int, count: int) -> None:
    now = at("2026-03-03T03:00:00") + timedelta(seconds=late)
    desired = plan_schedule(schedule(spec(startingDeadlineSeconds=60)), now)
    assert len(desired.create) == count
    assert desired.requeue_after_s == 86400 - late


def test_a_resumed_schedule_creates_only_the_latest_run() -> None:
    now = at("2026-03-05T09:00:00")
    assert plan_schedule(schedule(spec(suspend=True)), now).create == ()
    assert made(plan_schedule(schedule(spec()), now)) == ["nightly-29544660"]


RUNNING = OwnedRun("nightly-1", at("2026-03-02T03:00:00"))


def test_allow_creates_a_run_beside_an_active_one() -> None:
    desired = plan_schedule(schedule(spec(), RUNNING), at("2026-03-03T03:00:00"))
    assert (len(desired.create), desired.delete) == (1, ())
    assert desired.status is not None
    assert (desired.status.active, desired.status.active_runs) == (["nightly-1"], 1)


def test_forbid_waits_for_the_active_run() -> None:
    changed = spec(concurrencyPolicy="Forbid")
    desired = plan_schedule(schedule(changed, RUNNING), at("2026-03-03T03:00:00"))
    assert desired.create == ()
    ended = OwnedRun("nightly-1", at("2026-03-02T03:00:00"), finished_at=at("2026-03-03T04:00:00"), good=True)
    desired = plan_schedule(schedule(changed, ended), at("2026-03-03T04:00:01"))
    assert [run.at for run in desired.create] == [at("2026-03-03T03:00:00")]


def test_replace_deletes_the_active_run() -> None:
    changed = spec(concurrencyPolicy="Replace")
    going = OwnedRun("nightly-0", at("2026-03-01T03:00:00"), deleting=True)
    desired = plan_schedule(schedule(changed, going, RUNNING), at("2026-03-03T03:00:00"))
    assert desired.delete == (ObjectRef("EvalRun", "nightly-1"),)
    assert len(desired.create) == 1
    assert [event.reason for event in desired.events] == ["Created", "Replaced"]
    assert plan_schedule(schedule(changed, RUNNING), at("2026-03-03T02:59:00")).delete == ()


QUOTA = 'POST /evalruns: evalruns "nightly-2" is forbidden: exceeded quota (HTTP 403)'
LOCKED = 'DELETE /evalruns/r0: evalruns "r0" is locked (HTTP 400)'


def stalled(status: EvalScheduleStatus | None) -> list[Condition]:
    assert status is not None
    return [condition for condition in status.conditions if condition.type == "Stalled"]


def test_a_refused_run_stalls_its_schedule_and_stays_due() -> None:
    now, later = at("2026-03-03T03:00:20"), at("2026-03-03T03:10:00")
    refused = plan_schedule(schedule(spec(), refusals=ScheduleRefusals(create=QUOTA)), now)
    [condition] = stalled(refused.status)
    assert (condition.status, condition.reason, condition.message) == ("True", "ObjectRefused", QUOTA)
    assert condition.last_transition_time == now
    assert refused.events == (Event("Warning", "ObjectRefused", QUOTA),)
    assert (refused.create, refused.status and refused.status.last_schedule_time) == ((), None)
    known = refused.status or EvalScheduleStatus()
    again = plan_schedule(schedule(spec(), status=known, refusals=ScheduleRefusals(create=QUOTA)), later)
    assert (again.status, again.events) == (None, ())
    created = plan_schedule(schedule(spec(), status=known), later)
    assert [run.at for run in created.create] == [at("2026-03-03T03:00:00")]
    assert stalled(created.status) == []


def test_a_refused_deletion_stalls_a_schedule_that_goes_on() -> None:
    ended = OwnedRun("r0", MADE, finished_at=MADE, good=True)
    changed = spec(successfulRunsHistoryLimit=0)
    now = at("2026-03-03T03:00:00")
    desired = plan_schedule(schedule(changed, ended, refusals=ScheduleRefusals(delete=LOCKED)), now)
    assert (len(desired.create), desired.delete) == (1, ())
    assert [condition.message for condition in stalled(desired.status)] == [LOCKED]
    assert desired.status is not None
    assert desired.status.last_schedule_time == now
    # Without anything to delete nothing is refused.
    unlimited = plan_schedule(schedule(spec(), ended, refusals=ScheduleRefusals(delete=LOCKED)), now)
    assert stalled(unlimited.status) == []


def test_a_replaced_run_whose_deletion_was_refused_is_deleted_later() -> None:
    changed, now = spec(concurrencyPolicy="Replace"), at("2026-03-03T03:00:00")
    refused = plan_schedule(schedule(changed, RUNNING, refusals=ScheduleRefusals(delete=LOCKED)), now)
    assert (len(refused.create), refused.delete) == (1, ())
    created = OwnedRun(refused.create[0].name, refused.create[0].at)
    later = plan_schedule(schedule(changed, RUNNING, created, status=refused.status), now + timedelta(minutes=1))
    assert later.delete == (ObjectRef("EvalRun", RUNNING.name),)
    assert stalled(later.status) == []
    done = plan_schedule(schedule(changed, created, status=later.status), now + timedelta(minutes=2))
    assert (done.create, done.delete) == ((), ())


def test_history_keeps_the_latest_of_each_kind() -> None:
    runs = [
        OwnedRun(
            f"r{day}", MADE + timedelta(days=day), finished_at=MADE + timedelta(days=day, hours=1), good=day % 2 == 0
        )
        for day in range(8)
    ]
    changed = spec(suspend=True, successfulRunsHistoryLimit=2, failedRunsHistoryLimit=0)
    desired = plan_schedule(schedule(changed, *reversed(runs), RUNNING), at("2026-03-20T00:00:00"))
    assert desired.delete == tuple(ObjectRef("EvalRun", name) for name in ("r0", "r2", "r1", "r3", "r5", "r7"))
    assert desired.status is not None
    assert desired.status.last_successful_time == MADE + timedelta(days=6, hours=1)


def test_the_last_success_outlives_its_run() -> None:
    status = EvalScheduleStatus(last_successful_time=MADE, last_schedule_time=MADE)
    desired = plan_schedule(schedule(spec(suspend=True), status=status), at("2026-03-20T00:00:00"))
    assert desired.status is not None
    assert desired.status.last_successful_time == MADE


@pytest.mark.parametrize(
    ("fields", "reason", "message"),
    [
        ({"timeZone": "Mars/Olympus"}, "UnknownTimeZone", "spec.timeZone: unknown time zone 'Mars/Olympus'"),
        ({"timeZone": "../etc/passwd"}, "UnknownTimeZone", "spec.timeZone: unknown time zone '../etc/passwd'"),
        (
            {"schedule": "61 * * * *"},
            "InvalidSchedule",
            "spec.schedule: '61 * * * *' is not a valid schedule",
        ),
        (
            {"schedule": "0 0 31 2 *"},
            "InvalidSchedule",
            "spec.schedule: '0 0 31 2 *' is not a valid schedule",
        ),
        (
            {"schedule": "0 0 * * FUNDAY"},
            "InvalidSchedule",
            "spec.schedule: '0 0 * * FUNDAY' is not a valid schedule: Bad day-of-week",
        ),
    ],
)
def test_an_invalid_schedule_is_reported_once(fields: dict[str, Any], reason: str, message: str) -> None:
    bad = schedule(spec(**fields))
    desired = plan_schedule(bad, at("2026-03-03T03:00:00"))
    assert desired.status is not None
    [accepted] = desired.status.conditions
    assert (accepted.status, accepted.reason) == ("False", reason)
    assert accepted.message.startswith(message)
    assert [event.kind for event in desired.events] == ["Warning"]
    assert desired.create == ()
    again = plan_schedule(schedule(bad.spec, status=desired.status), at("2026-03-03T04:00:00"))
    assert again == DesiredSchedule()


def test_an_invalid_spec_of_a_schedule_is_reported() -> None:
    desired = plan_schedule(schedule(None, problems=(Problem("spec.schedule", "is required"),)), MADE)
    assert desired.status is not None
    assert desired.status.conditions[0].message == "spec.schedule: is required"


def test_a_schedule_that_is_being_deleted_does_nothing() -> None:
    assert plan_schedule(schedule(spec(), deleting=True), at("2026-03-09T03:00:00")) == DesiredSchedule()


BERLIN = {"timeZone": "Europe/Berlin"}


@pytest.mark.parametrize(
    ("cron", "now", "coming"),
    [
        ("0 3 * * *", "2026-01-10T12:00:00", "2026-01-11T02:00:00"),
        ("0 3 * * *", "2026-07-10T12:00:00", "2026-07-11T01:00:00"),
        # On 29 March the clock goes from 2 to 3: half past two is made up for at three.
        ("30 2 * * *", "2026-03-28T12:00:00", "2026-03-29T01:00:00"),
        # On 25 October the hour from 2 to 3 comes twice: once is enough, and hourly schedules go on every hour.
        ("30 2 * * *", "2026-10-24T12:00:00", "2026-10-25T00:30:00"),
        ("30 2 * * *", "2026-10-25T00:30:00", "2026-10-26T01:30:00"),
        ("30 2 * * *", "2026-10-25T01:15:00", "2026-10-26T01:30:00"),
        ("30 * * * *", "2026-10-25T00:30:00", "2026-10-25T01:30:00"),
    ],
)
def test_times_follow_the_time_zone_across_clock_changes(cron: str, now: str, coming: str) -> None:
    assert next_after(spec(cron, **BERLIN), at(now)) == at(coming)


def test_a_repeated_hour_creates_one_run() -> None:
    status = EvalScheduleStatus(last_schedule_time=at("2026-10-24T00:30:00"))
    names: set[str] = set()
    for minutes in range(0, 24 * 60, 5):
        now = at("2026-10-24T22:00:00") + timedelta(minutes=minutes)
        desired = plan_schedule(schedule(spec("30 2 * * *", **BERLIN), status=status), now)
        status = desired.status or status
        names.update(made(desired))
    assert names == {"nightly-29881470"}


@given(
    st.sampled_from(["*/7 * * * *", "30 2 * * *", "0 0 1 * *", "15 3 * * 1", "0 */6 * * *"]),
    st.integers(0, 4 * 365 * 86400).map(lambda seconds: datetime(2024, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)),
    st.sampled_from(["Etc/UTC", "Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "Asia/Kathmandu"]),
)
def test_the_latest_time_is_past_and_the_next_one_is_to_come(cron: str, now: datetime, zone: str) -> None:
    changed = spec(cron, timeZone=zone)
    assert latest_before(changed, now) <= now < next_after(changed, now)
