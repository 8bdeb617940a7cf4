"""From an accepted spec to a frozen run."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.operator.fleet import CONFIG, START, Fleet, SimRun, entry, model

from opsgym_api.errors import Problem
from opsgym_api.evalrun import EvalRunSpec
from opsgym_api.gate import Baseline
from opsgym_api.orders import Finding, PreflightOrder, PreflightReport, SuiteIndex
from opsgym_api.records import Cell, PlannedCell, RunRecord
from opsgym_operator.decide import plan
from opsgym_operator.desired import Desired, Need, ObjectRef
from opsgym_operator.observed import ObservedNamespace, ObservedPod, ObservedPreflight, PodTrouble, Stored

SPEC: dict[str, Any] = {"suite": {"builtin": "quickstart"}, "models": [{"name": "best", "ref": "gpt"}]}


class World:
    """One run before it is frozen, planned step by step."""

    def __init__(self, **fields: Any) -> None:
        self.fleet = Fleet()
        self.fleet.models["gpt"] = model("gpt")
        self.run: SimRun = self.fleet.apply(
            "nightly", EvalRunSpec.model_validate(SPEC | fields), [entry("a"), entry("b", "csm")]
        )
        self.preflights: tuple[ObservedPreflight, ...] = ()
        self.pods: tuple[ObservedPod, ...] = ()
        self.orders: frozenset[str] = frozenset()
        self.stored: Stored | None = Stored()
        self.more: dict[str, Any] = {}

    def observed(self) -> ObservedNamespace:
        seen = self.fleet.observed()
        run = replace(seen.runs[0], preflights=self.preflights, orders=self.orders, stored=self.stored, **self.more)
        return replace(seen, runs=(run,), pods=self.pods)

    def plan(self, seconds: float = 0) -> Desired:
        self.fleet.now += timedelta(seconds=seconds)
        [desired] = plan(self.observed(), CONFIG, self.fleet.now, "1.0").values()
        self.run.status = desired.status or self.run.status
        return desired

    def started(self) -> str:
        """Plans the preflight, and has it be there."""
        desired = self.plan()
        assert [manifest["kind"] for manifest in desired.create] == ["ConfigMap", "Job"]
        name = str(desired.create[1]["metadata"]["name"])
        self.orders = frozenset({name})
        self.preflights = (ObservedPreflight(name, started_at=self.fleet.now),)
        return name

    def ended(self, *findings: Finding, failure: str = "", more: int = 0) -> str:
        name = self.started()
        report = None if failure else PreflightReport(problems=list(findings), more=more)
        self.preflights = (ObservedPreflight(name, finished_at=self.fleet.now, report=report, failure=failure),)
        return name

    def said(self, kind: str) -> str:
        found = next(found for found in self.run.status.conditions if found.type == kind)
        return f"{found.status} {found.reason}: {found.message}".removesuffix(": ")


def test_nothing_is_done_before_the_store_was_read() -> None:
    world = World()
    world.stored = None
    assert world.plan() == Desired(needs=frozenset({Need.STORED}), again_s=10)


def test_a_store_that_does_not_answer_is_told_and_asked_again() -> None:
    world = World()
    world.stored, world.more = None, {"store_trouble": "s3://bucket: connection refused"}
    desired = world.plan()
    assert world.said("Stalled") == "True StoreUnreachable: s3://bucket: connection refused"
    assert (desired.needs, desired.again_s, desired.create) == (frozenset({Need.STORED}), 10, ())
    world.stored = Stored()
    assert world.plan().create == ()
    world.more = {}
    assert len(world.plan().create) == 2
    assert world.said("Stalled") == "False PreflightRunning"


def test_the_preflight_is_told_everything_about_models_and_suite() -> None:
    world = World()
    desired = world.plan()
    config_map, job = desired.create
    name = config_map["metadata"]["name"]
    assert name.startswith("nightly-preflight-")
    assert job["metadata"]["name"] == name
    order = PreflightOrder.model_validate(json.loads(config_map["data"]["order.json"]))
    assert (order.run, order.suite.builtin) == ("team.nightly.uid-nightly", "quickstart")
    assert [(found.name, found.model, found.origin) for found in order.models] == [
        ("best", "replay/gold", "EvalModel gpt: spec")
    ]
    assert world.said("Accepted") == "True Valid"
    assert world.said("Progressing") == f"True PreflightRunning: Job {name} checks models, tasks and the store"
    assert world.said("Succeeded") == "Unknown NotFinished"
    assert (world.run.status.phase, world.run.status.models) == ("Preflight", "best")
    assert [event.reason for event in desired.events] == ["Accepted", "PreflightRunning"]


def test_models_that_plan_or_judge_are_checked_and_frozen_with_the_evaluated_ones() -> None:
    supporting = [{"name": "sage", "ref": "gpt"}, {"name": "jury", "inline": {"model": "replay/tapes/jury.jsonl"}}]
    world = World(supportingModels=supporting, judge="jury")
    config_map, job = world.plan().create
    order = PreflightOrder.model_validate(json.loads(config_map["data"]["order.json"]))
    assert [(found.name, found.origin) for found in order.models] == [
        ("best", "EvalModel gpt: spec"),
        ("sage", "EvalModel gpt: spec"),
        ("jury", "EvalRun nightly: spec.supportingModels[1].inline"),
    ]
    assert '"configMap": {"name": "tapes"' in json.dumps(job)
    world = World(supportingModels=supporting, judge="jury")
    world.ended()
    world.stored = Stored(index=index(world))
    record = world.plan().freeze
    assert record is not None
    read = EvalRunSpec.model_validate(record.spec)
    assert [(entry.name, entry.inline and entry.inline.model) for entry in read.all_models] == [
        ("best", "replay/gold"),
        ("sage", "replay/gold"),
        ("jury", "replay/tapes/jury.jsonl"),
    ]
    assert {planned.cell.model for planned in record.cells} == {"best"}
    assert list(Stored(record=record).models) == ["best", "sage", "jury"]


def test_an_order_that_is_there_already_is_not_made_again() -> None:
    world = World()
    world.started()
    world.preflights = ()
    assert [manifest["kind"] for manifest in world.plan().create] == ["Job"]


def test_a_preflight_under_way_is_left_alone() -> None:
    world = World()
    name = world.started()
    world.pods = (ObservedPod("p", name, world.run.uid, running=True),)
    desired = world.plan()
    assert desired == Desired()


def test_a_preflight_that_is_being_deleted_is_waited_for() -> None:
    world = World()
    world.ended(FINDING)
    world.plan()
    world.preflights = (replace(world.preflights[0], deleting=True),)
    desired = world.plan(seconds=60)
    assert (desired.create, desired.delete) == ((), ())


FINDING = Finding(where="EvalModel gpt: spec.prices", problem="no price is known; add prices")


def test_what_a_preflight_finds_is_told_and_asked_again_after_a_while() -> None:
    world = World()
    name = world.ended(FINDING, Finding(where="ConfigMap t", problem="is missing"), more=3)
    desired = world.plan()
    told = "EvalModel gpt: spec.prices: no price is known; add prices; ConfigMap t: is missing; and 3 more"
    assert world.said("Stalled") == f"True PreflightFailed: {told}"
    assert world.said("Progressing") == f"False PreflightFailed: {told}"
    assert world.run.status.phase == "Stalled"
    assert (desired.delete, desired.again_s) == ((), 20)
    assert [(event.kind, event.reason) for event in desired.events] == [("Warning", "PreflightFailed")]
    desired = world.plan(seconds=20)
    assert desired.delete == (ObjectRef("Job", name),)
    assert desired.status is None, "the same is not told twice"
    world.preflights = ()
    assert [manifest["kind"] for manifest in world.plan().create] == ["Job"]
    assert world.said("Stalled").startswith("True PreflightFailed"), "it stands until another preflight was well"


def test_a_run_that_is_stalled_for_long_is_asked_less_often() -> None:
    world = World()
    world.ended(FINDING)
    world.plan()
    waits = []
    for _ in range(8):
        world.preflights = (replace(world.preflights[0], finished_at=world.fleet.now),)
        wait = world.plan().again_s
        assert wait is not None
        waits.append(wait)
        world.fleet.now += timedelta(seconds=300)
    assert waits == sorted(waits)
    assert (waits[0], waits[-1]) == (20, 300)


def test_a_mended_model_is_checked_at_once() -> None:
    world = World()
    old = world.ended(FINDING)
    world.plan()
    world.fleet.models["gpt"] = model("gpt", allow_unpriced=True)
    desired = world.plan(seconds=1)
    [config_map, job] = desired.create
    assert config_map["metadata"]["name"] == job["metadata"]["name"] != old
    assert desired.delete == (ObjectRef("Job", old), ObjectRef("ConfigMap", old))


def test_a_preflight_that_broke_is_told_with_what_is_known() -> None:
    world = World()
    name = world.ended(failure="container suite exited with 2: there is no built-in suite 'q'")
    world.plan()
    told = f"Job {name}: container suite exited with 2: there is no built-in suite 'q'"
    assert world.said("Stalled") == f"True PreflightBroke: {told}"


def test_a_report_of_a_preflight_that_could_not_finish_does_not_count() -> None:
    world = World()
    name = world.ended()
    failed = "container preflight exited with code 102"
    world.preflights = (replace(world.preflights[0], failure=failed),)
    world.stored = Stored(index=index(world))
    assert world.plan().freeze is None
    assert world.said("Stalled") == f"True PreflightBroke: Job {name}: {failed}"


def test_rows_that_cannot_be_read_are_left_out_if_the_filters_leave_them_out() -> None:
    world = World(suite={"builtin": "quickstart", "ids": ["a"]})
    world.ended()
    world.run.entries.append(entry("broken").model_copy(update={"problem": "row 3: verifiers: is required"}))
    world.stored = Stored(index=index(world))
    record = world.plan().freeze
    assert record is not None
    assert record.task_ids == ["a"]
    everything = World()
    everything.ended()
    everything.stored = world.stored
    record = everything.plan().freeze
    assert record is not None
    assert record.task_ids == ["a", "b"], "a row without a gym is in no Job"


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        (
            PodTrouble("CreateContainerConfigError", 'secret "openai" not found', "runner:1"),
            'True SecretMissing: pod p: CreateContainerConfigError of image runner:1: secret "openai" not found',
        ),
        (
            PodTrouble("ImagePullBackOff", 'Back-off pulling image "runner:1"', "runner:1"),
            'True ImageUnavailable: pod p: ImagePullBackOff: Back-off pulling image "runner:1"',
        ),
        (PodTrouble("ErrImageNeverPull", "", "r:1"), "True ImageUnavailable: pod p: ErrImageNeverPull of image r:1"),
        (PodTrouble("CreateContainerError", "boom"), "True PodNotStarting: pod p: CreateContainerError: boom"),
    ],
)
def test_a_pod_that_cannot_start_stalls_the_run_naming_what_is_missing(trouble: PodTrouble, said: str) -> None:
    world = World()
    name = world.started()
    world.pods = (ObservedPod("p", name, world.run.uid, trouble=trouble),)
    world.plan()
    assert world.said("Stalled") == said
    world.pods = (ObservedPod("p", name, world.run.uid),)
    world.plan()
    assert world.said("Stalled") == said, "between two tries of the kubelet nothing is mended"


def test_a_preflight_without_a_node_waits_and_then_stalls() -> None:
    world = World(limits={"pendingSeconds": 60})
    name = world.started()
    world.pods = (ObservedPod("p", name, world.run.uid, unschedulable_since=START, unschedulable_message="0/1 nodes"),)
    assert world.plan().again_s == 60
    assert world.said("Progressing") == "True WaitingForCapacity: 1 of 1 pods wait for a node: 0/1 nodes"
    assert world.said("Stalled") == "False WaitingForCapacity"
    assert world.plan(seconds=60).again_s is None
    assert world.said("Stalled").startswith("True Unschedulable: 1 of 1 pods wait for a node: 0/1 nodes; none has run")


def test_a_preflight_that_gets_no_pod_stalls() -> None:
    world = World()
    name = world.started()
    assert world.plan().again_s == 30
    world.plan(seconds=30)
    assert world.said("Stalled").startswith(f"True PodsRefused: Job {name} has no pods after 30 s; `kubectl describe")
    assert "service account opsgym-task" in world.said("Stalled")


def test_a_suspended_run_checks_nothing() -> None:
    world = World(suspend=True)
    assert world.plan().create == ()
    assert world.said("Progressing") == "False Suspended: spec.suspend is true; nothing has started"


def test_a_good_preflight_has_its_suite_read_and_the_run_frozen() -> None:
    world = World(suite={"builtin": "quickstart", "ids": ["b", "a"]}, trials=3)
    world.ended()
    assert world.plan().needs == frozenset({Need.SUITE})
    world.stored = Stored(index=index(world))
    desired = world.plan()
    cells = [("itsm", ["a"]), ("csm", ["b"])]
    record = desired.freeze
    assert record is not None
    spec = record.spec
    assert record == RunRecord(
        run="team.nightly.uid-nightly",
        name="nightly",
        spec=spec,
        task_ids=["a", "b"],
        cells=[
            PlannedCell(cell=Cell(model="best", agent="react", mode="oracle", domain=domain), task_ids=ids)
            for domain, ids in cells
        ],
        trials=3,
        suite_digest=record.suite_digest,
        opsgym="1.0",
        created_at="2026-01-01T00:00:00Z",
    )
    read = EvalRunSpec.model_validate(spec)
    assert read.models[0].inline == world.fleet.models["gpt"].spec
    assert read.suite == world.run.spec.suite
    assert len(record.suite_digest) == 64
    assert desired.create == ()
    assert desired.again_s == 0


def index(world: World) -> SuiteIndex:
    return SuiteIndex(entries=world.run.entries)


def test_filters_that_match_nothing_stall_the_run_until_the_suite_has_changed() -> None:
    world = World(suite={"builtin": "quickstart", "ids": ["b", "z"]})
    name = world.ended()
    world.stored = Stored(index=index(world))
    desired = world.plan()
    assert world.said("Stalled").startswith("True SuiteFilter: spec.suite.ids[1]: no task has id 'z'")
    assert (desired.freeze, desired.needs) == (None, frozenset({Need.SUITE}))
    assert world.plan(seconds=20).delete == (ObjectRef("Job", name),)
    world.run.entries.append(entry("z"))
    world.stored = Stored(index=index(world))
    assert world.plan().freeze is not None


def test_a_baseline_is_looked_for_before_anything_is_spent() -> None:
    world = World(gate={"baseline": "yesterday", "maxRegression": 0.1})
    world.ended()
    world.stored = Stored(index=index(world))
    assert world.plan().needs == frozenset({Need.BASELINE})
    world.more = {"baseline": Problem("spec.gate.baseline", "the store holds no run 'yesterday'")}
    desired = world.plan()
    assert world.said("Stalled") == ("True BaselineNotFound: spec.gate.baseline: the store holds no run 'yesterday'")
    assert (desired.needs, desired.again_s, desired.freeze) == (frozenset({Need.BASELINE}), 30, None)
    world.more = {"baseline": Baseline(None)}
    assert world.plan().freeze is not None


def test_a_last_good_run_is_not_looked_for_before_there_is_something_to_compare() -> None:
    world = World(gate={"lastGood": True, "maxRegression": 0.1})
    world.ended()
    world.stored = Stored(index=index(world))
    assert world.plan().freeze is not None


def test_a_frozen_run_names_the_schedule_that_made_it() -> None:
    world = World()
    world.ended()
    world.stored = Stored(index=index(world))
    world.more = {"schedule": "nightly"}
    freeze = world.plan().freeze
    assert freeze is not None
    assert freeze.schedule == "nightly"


def test_a_refused_spec_is_not_accepted_and_stalled_and_goes_on_when_mended() -> None:
    world = World()
    gpt = world.fleet.models.pop("gpt")
    desired = world.plan()
    told = "spec.models[0].ref: 'gpt' names no EvalModel of the namespace; there is none"
    for kind, status in (("Accepted", "False"), ("Progressing", "False"), ("Stalled", "True")):
        assert world.said(kind) == f"{status} ModelNotFound: {told}"
    assert desired.create == ()
    assert [event.reason for event in desired.events] == ["ModelNotFound"]
    world.fleet.models["gpt"] = gpt
    assert len(world.plan(seconds=5).create) == 2
    assert world.said("Accepted") == "True Valid"
    accepted, _, stalled, succeeded = world.run.status.conditions
    assert accepted.last_transition_time == stalled.last_transition_time == START + timedelta(seconds=5)
    assert succeeded.last_transition_time == START
