"""Which stored runs of a namespace's schedules need not stay."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.operator.fleet import CONFIG
from tests.operator.plan.test_schedule import RUN, at, schedule, spec

from opsgym_api.kinds.evalschedule import EvalScheduleSpec
from opsgym_api.kinds.history import History, Keep
from opsgym_core.results.retention import Kind, Series, StoredRun
from opsgym_operator.config import OperatorConfig
from opsgym_operator.observe.memo import Memo
from opsgym_operator.observe.schedules import Pruned, ScheduleReason
from opsgym_operator.observe.snapshot import RunSnapshot, take_snapshot
from opsgym_operator.plan.retention import StoreRetention, plan_retention
from opsgym_operator.plan.schedule import plan_schedule

NIGHTLY = Series("team", "nightly", is_schedule=True)
HISTORY = {"records": {"days": 30}, "states": {"runs": 1}}
NOW = datetime(2026, 6, 1, tzinfo=UTC)


def planned(*runs: RunSnapshot, config: OperatorConfig = CONFIG, **fields: Any) -> list[StoreRetention]:
    return plan_retention("team", [schedule(spec(**fields))], runs, config)


def evalrun(name: str, uid: str, **status: Any) -> RunSnapshot:
    owner = {"kind": "EvalSchedule", "name": "nightly", "uid": "u1", "controller": True}
    metadata = {"name": name, "uid": uid, "namespace": "team", "ownerReferences": [owner]}
    manifest = {
        "apiVersion": "opsgym.dev/v1alpha1", "kind": "EvalRun", "metadata": metadata, "spec": RUN, "status": status
    }  # fmt: skip
    seen = take_snapshot("team", runs=[manifest], jobs=[], pods=[], config_maps=[], models=[], parsed_runs=Memo())
    return seen.runs[uid]


def stored(run: str, days: int, series: Series = NIGHTLY) -> StoredRun:
    return StoredRun(run, series, NOW - timedelta(days=days), in_cluster=True)


def test_nothing_is_planned_without_a_history_and_an_empty_one_overrides_the_installation() -> None:
    installed = CONFIG.model_copy(update={"history": History(states=Keep(days=7))})
    assert planned() == []
    assert planned(config=installed)[0].histories == {NIGHTLY: History(states=Keep(days=7))}
    assert planned(config=installed, history={}) == []
    own = planned(config=installed, history=HISTORY)[0].histories
    assert own == {NIGHTLY: History(records=Keep(days=30), states=Keep(runs=1))}


def test_only_runs_of_the_schedule_go_and_each_kind_by_its_own_time() -> None:
    [retention] = planned(history=HISTORY)
    others = [stored("team.nightly.x", 99, Series("team", "nightly")), stored("b.nightly-1.x", 99, Series("b", "n"))]
    runs = [stored("team.nightly-1.a", 40), stored("team.nightly-2.b", 20), stored("team.nightly-3.c", 1), *others]
    assert retention.due(runs, NOW) == {
        "team.nightly-1.a": (Kind.RECORDS, Kind.STATES),
        "team.nightly-2.b": (Kind.STATES,),
    }


def test_nothing_goes_of_a_run_that_goes_on_and_no_records_while_its_evalrun_exists() -> None:
    going_on, ended = evalrun("nightly-1", "1"), evalrun("nightly-2", "2", finishedAt="2026-04-01T00:00:00Z")
    [retention] = planned(going_on, ended, history=HISTORY)
    runs = [
        stored(going_on.id, 60),
        stored(ended.id, 50),
        stored("team.nightly-3.c", 40),
        stored("team.nightly-4.d", 1),
    ]
    assert retention.due(runs, NOW) == {ended.id: (Kind.STATES,), "team.nightly-3.c": (Kind.RECORDS, Kind.STATES)}


def test_the_gate_of_the_template_is_one_of_a_run_to_come() -> None:
    run = {**RUN, "gate": {"baseline": "release", "maxRegression": 0.1}}
    fields = {"schedule": "0 3 * * *", "runTemplate": {"spec": run}, "history": HISTORY}
    known = schedule(EvalScheduleSpec.model_validate(fields))
    [retention] = plan_retention("team", [known], [], CONFIG)
    assert [(series, coming.baseline) for series, coming in retention.coming] == [(NIGHTLY, "release")]


@pytest.mark.parametrize(("ok", "status"), [(True, "True"), (False, "False")])
def test_what_was_deleted_is_a_condition_until_everything_stays_again(ok: bool, status: str) -> None:
    now = at("2026-03-03T02:00:00")
    pruned = Pruned(ScheduleReason.HISTORY_KEPT, "deleted 2 objects", ok=ok)
    written = plan_schedule(schedule(spec(), keeps_all=False, pruned=pruned), now).status
    assert written is not None
    shown = [(item.type, item.status, item.message) for item in written.conditions]
    assert shown[1:] == [("Pruned", status, "deleted 2 objects")]

    restarted = plan_schedule(schedule(spec(), status=written, keeps_all=False), now)
    assert restarted.status is None, "a process that has not looked yet changes nothing"
    unset = plan_schedule(schedule(spec(), status=written), now).status
    assert unset is not None
    assert [item.type for item in unset.conditions] == ["Accepted"]
