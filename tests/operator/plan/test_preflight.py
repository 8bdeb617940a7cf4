"""From an accepted spec to a frozen run."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.operator.fleet import CONFIG, START, Fleet, SimRun, entry, model

from opsgym_api.errors import Problem
from opsgym_api.jobs.job_spec import Finding, PreflightReport, PreflightSpec
from opsgym_api.kinds.evalrun import EvalRunSpec
from opsgym_api.records.attempt import Cell
from opsgym_api.records.run import PlannedCell, RunRecord
from opsgym_api.tasks.suite import SuiteIndex
from opsgym_core.gates.judge import Baseline
from opsgym_operator.config import OperatorConfig
from opsgym_operator.observe.objects import (
    ContainerError,
    ObservedNamespace,
    ObservedPod,
    ObservedPreflight,
    StoredState,
)
from opsgym_operator.plan.desired import Desired, Load, ObjectRef, PreflightJob
from opsgym_operator.plan.namespace import plan

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
        self.config_maps: frozenset[str] = frozenset()
        self.stored: StoredState | None = StoredState()
        self.more: dict[str, Any] = {}

    def observed(self) -> ObservedNamespace:
        seen = self.fleet.observed()
        run = replace(
            seen.runs[0], preflights=self.preflights, config_maps=self.config_maps, stored=self.stored, **self.more
        )
        return replace(seen, runs=(run,), pods=self.pods)

    def plan(self, seconds: float = 0, config: OperatorConfig = CONFIG) -> Desired:
        self.fleet.now += timedelta(seconds=seconds)
        [desired] = plan(self.observed(), config, self.fleet.now, "1.0").values()
        self.run.status = desired.status or self.run.status
        return desired

    def manifests(self, desired: Desired) -> list[dict[str, Any]]:
        return self.fleet.manifests(self.run, desired)

    def started(self) -> str:
        """Plans the preflight and adds it to the observation."""
        desired = self.plan()
        assert kinds(desired) == ["ConfigMap", "Job"]
        name = desired.create[0].name
        self.config_maps = frozenset({name})
        self.preflights = (ObservedPreflight(name, started_at=self.fleet.now),)
        return name

    def ended(self, *findings: Finding, failure: str = "", more: int = 0, evicted: bool = False) -> str:
        name = self.started()
        report = None if failure else PreflightReport(problems=list(findings), more=more)
        self.preflights = (
            ObservedPreflight(name, finished_at=self.fleet.now, report=report, failure=failure, evicted=evicted),
        )
        return name

    def condition(self, kind: str) -> str:
        current = next(item for item in self.run.status.conditions if item.type == kind)
        return f"{current.status} {current.reason}: {current.message}".removesuffix(": ")


def kinds(desired: Desired) -> list[str]:
    """Kinds of the objects that a plan creates."""
    jobs = [job for job in desired.create if isinstance(job, PreflightJob)]
    assert len(jobs) == len(desired.create)
    return [kind for job in jobs for kind in (("ConfigMap", "Job") if job.with_config_map else ("Job",))]


def test_nothing_is_done_before_the_store_is_read() -> None:
    world = World()
    world.stored = None
    assert world.plan() == Desired(loads=frozenset({Load.STORED_RUN}), requeue_after_s=10)


def test_an_unreachable_store_stalls_the_run_and_is_read_again() -> None:
    world = World()
    world.stored, world.more = None, {"store_error": "s3://bucket: connection refused"}
    desired = world.plan()
    assert world.condition("Stalled") == "True StoreUnreachable: s3://bucket: connection refused"
    assert (desired.loads, desired.requeue_after_s, desired.create) == (frozenset({Load.STORED_RUN}), 10, ())
    world.stored = StoredState()
    assert world.plan().create == ()
    world.more = {}
    assert kinds(world.plan()) == ["ConfigMap", "Job"]
    assert world.condition("Stalled") == "False PreflightRunning"


def test_the_preflight_spec_has_all_models_and_the_suite() -> None:
    world = World()
    desired = world.plan()
    config_map, job = world.manifests(desired)
    name = config_map["metadata"]["name"]
    assert name.startswith("nightly-preflight-")
    assert job["metadata"]["name"] == name
    order = PreflightSpec.model_validate(json.loads(config_map["data"]["job.json"]))
    assert (order.run, order.suite.builtin) == ("team.nightly.uid-nightly", "quickstart")
    assert [(item.name, item.model, item.origin) for item in order.models] == [
        ("best", "replay/gold", "EvalModel gpt: spec")
    ]
    assert world.condition("Accepted") == "True Valid"
    assert world.condition("Progressing") == f"True PreflightRunning: Job {name} checks models, tasks and the store"
    assert world.condition("Succeeded") == "Unknown NotFinished"
    assert (world.run.status.phase, world.run.status.models) == ("Preflight", "best")
    assert [event.reason for event in desired.events] == ["Accepted", "PreflightRunning"]


def test_planner_and_judge_models_are_checked_and_frozen() -> None:
    supporting = [{"name": "sage", "ref": "gpt"}, {"name": "jury", "inline": {"model": "replay/tapes/jury.jsonl"}}]
    world = World(supportingModels=supporting, judge="jury")
    config_map, job = world.manifests(world.plan())
    order = PreflightSpec.model_validate(json.loads(config_map["data"]["job.json"]))
    assert [(item.name, item.origin) for item in order.models] == [
        ("best", "EvalModel gpt: spec"),
        ("sage", "EvalModel gpt: spec"),
        ("jury", "EvalRun nightly: spec.supportingModels[1].inline"),
    ]
    assert order.evaluated == ["best"]
    assert '"configMap": {"name": "tapes"' in json.dumps(job)
    world = World(supportingModels=supporting, judge="jury")
    world.ended()
    world.stored = StoredState(index=index(world))
    record = world.plan().freeze
    assert record is not None
    read = EvalRunSpec.model_validate(record.spec)
    assert [(entry.name, entry.inline and entry.inline.model) for entry in read.all_models] == [
        ("best", "replay/gold"),
        ("sage", "replay/gold"),
        ("jury", "replay/tapes/jury.jsonl"),
    ]
    assert {planned.cell.model for planned in record.cells} == {"best"}
    assert list(StoredState(record=record).models) == ["best", "sage", "jury"]


def test_an_existing_config_map_of_a_preflight_is_not_created_again() -> None:
    world = World()
    world.started()
    world.preflights = ()
    assert kinds(world.plan()) == ["Job"]


def test_a_running_preflight_is_left_alone() -> None:
    world = World()
    name = world.started()
    world.pods = (ObservedPod("p", name, world.run.uid, running=True),)
    desired = world.plan()
    assert desired == Desired()


def test_a_preflight_is_created_only_after_its_predecessor_is_deleted() -> None:
    world = World()
    world.ended(FINDING)
    world.plan()
    world.preflights = (replace(world.preflights[0], deleting=True),)
    desired = world.plan(seconds=60)
    assert (desired.create, desired.delete) == ((), ())


FINDING = Finding(where="EvalModel gpt: spec.prices", problem="no price is known; add prices")


def test_problems_of_a_preflight_stall_the_run_and_the_preflight_is_repeated() -> None:
    world = World()
    name = world.ended(FINDING, Finding(where="ConfigMap t", problem="is missing"), more=3)
    desired = world.plan()
    message = "EvalModel gpt: spec.prices: no price is known; add prices; ConfigMap t: is missing; and 3 more"
    assert world.condition("Stalled") == f"True PreflightFailed: {message}"
    assert world.condition("Progressing") == f"False PreflightFailed: {message}"
    assert world.run.status.phase == "Stalled"
    assert (desired.delete, desired.requeue_after_s) == ((), 20)
    assert [(event.kind, event.reason) for event in desired.events] == [("Warning", "PreflightFailed")]
    desired = world.plan(seconds=20)
    assert desired.delete == (ObjectRef("Job", name),)
    assert desired.status is None, "the same is not message twice"
    world.preflights = ()
    assert kinds(world.plan()) == ["Job"]
    assert world.condition("Stalled").startswith("True PreflightFailed"), (
        "it is reported until another preflight succeeds"
    )


def test_preflights_of_a_long_stalled_run_are_repeated_less_often() -> None:
    world = World()
    world.ended(FINDING)
    world.plan()
    waits = []
    for _ in range(8):
        world.preflights = (replace(world.preflights[0], finished_at=world.fleet.now),)
        wait = world.plan().requeue_after_s
        assert wait is not None
        waits.append(wait)
        world.fleet.now += timedelta(seconds=300)
    assert waits == sorted(waits)
    assert (waits[0], waits[-1]) == (20, 300)


def test_a_changed_evalmodel_is_checked_at_once() -> None:
    world = World()
    old = world.ended(FINDING)
    world.plan()
    world.fleet.models["gpt"] = model("gpt", allow_unpriced=True)
    desired = world.plan(seconds=1)
    [config_map, job] = world.manifests(desired)
    assert config_map["metadata"]["name"] == job["metadata"]["name"] != old
    assert desired.delete == (ObjectRef("Job", old), ObjectRef("ConfigMap", old))


def test_a_preflight_with_another_held_out_secret_is_another_one() -> None:
    def name_of(suite: dict[str, Any], secret: str) -> str:
        desired = World(suite=suite).plan(config=CONFIG.model_copy(update={"held_out_secret": secret}))
        [job] = [one for one in desired.create if isinstance(one, PreflightJob)]
        return job.name

    held_out, public = {"builtin": "quickstart", "heldOut": True}, {"builtin": "quickstart"}
    assert name_of(held_out, "quiz") != name_of(held_out, "exam")
    assert name_of(public, "quiz") == name_of(public, "exam")


def test_a_preflight_without_a_report_stalls_the_run_with_its_cause() -> None:
    world = World()
    name = world.ended(failure="container suite exited with 2: there is no built-in suite 'q'")
    world.plan()
    message = f"Job {name}: container suite exited with 2: there is no built-in suite 'q'"
    assert world.condition("Stalled") == f"True PreflightError: {message}"


def test_a_report_of_a_failed_preflight_does_not_count() -> None:
    world = World()
    name = world.ended()
    failed = "container preflight exited with code 102"
    world.preflights = (replace(world.preflights[0], failure=failed),)
    world.stored = StoredState(index=index(world))
    assert world.plan().freeze is None
    assert world.condition("Stalled") == f"True PreflightError: Job {name}: {failed}"


def test_invalid_rows_are_ignored_if_the_filters_exclude_them() -> None:
    world = World(suite={"builtin": "quickstart", "ids": ["a"]})
    world.ended()
    world.run.entries.append(entry("broken").model_copy(update={"problem": "row 3: verifiers: is required"}))
    world.stored = StoredState(index=index(world))
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
    ("error", "stalled"),
    [
        (
            ContainerError("CreateContainerConfigError", 'secret "openai" not found', "runner:1"),
            'True SecretMissing: pod p: CreateContainerConfigError of image runner:1: secret "openai" not found',
        ),
        (
            ContainerError("ImagePullBackOff", 'Back-off pulling image "runner:1"', "runner:1"),
            'True ImageUnavailable: pod p: ImagePullBackOff: Back-off pulling image "runner:1"',
        ),
        (
            ContainerError("ErrImageNeverPull", "", "r:1"),
            "True ImageUnavailable: pod p: ErrImageNeverPull of image r:1",
        ),
        (ContainerError("CreateContainerError", "boom"), "True PodNotStarting: pod p: CreateContainerError: boom"),
    ],
)
def test_a_container_error_of_a_preflight_stalls_the_run_with_its_cause(error: ContainerError, stalled: str) -> None:
    world = World()
    name = world.started()
    world.pods = (ObservedPod("p", name, world.run.uid, container_error=error),)
    world.plan()
    assert world.condition("Stalled") == stalled
    world.pods = (ObservedPod("p", name, world.run.uid),)
    world.plan()
    assert world.condition("Stalled") == stalled, "between two tries of the kubelet the problem remains"


def test_an_unschedulable_preflight_stalls_after_pending_seconds() -> None:
    world = World(limits={"pendingSeconds": 60})
    name = world.started()
    world.pods = (ObservedPod("p", name, world.run.uid, unschedulable_since=START, unschedulable_message="0/1 nodes"),)
    assert world.plan().requeue_after_s == 60
    assert world.condition("Progressing") == "True WaitingForCapacity: 1 of 1 pods wait for a node: 0/1 nodes"
    assert world.condition("Stalled") == "False WaitingForCapacity"
    assert world.plan(seconds=60).requeue_after_s is None
    assert world.condition("Stalled").startswith(
        "True Unschedulable: 1 of 1 pods wait for a node: 0/1 nodes; none has run"
    )


def test_a_preflight_without_a_pod_stalls() -> None:
    world = World()
    name = world.started()
    assert world.plan().requeue_after_s == 30
    world.plan(seconds=30)
    assert world.condition("Stalled").startswith(
        f"True PodsRefused: Job {name} has no pods after 30 s; `kubectl describe"
    )
    assert "service account opsgym-task" in world.condition("Stalled")


def test_an_evicted_preflight_is_repeated_and_stalls_nothing() -> None:
    world = World()
    name = world.ended(failure="the pod was disrupted: preempted", evicted=True)
    assert world.plan().delete == ()
    assert world.condition("Stalled").startswith("False")
    assert world.condition("Progressing").startswith("True PreflightRunning")
    assert world.plan(seconds=20).delete == (ObjectRef("Job", name),)


def test_a_suspended_run_creates_no_preflight() -> None:
    world = World(suspend=True)
    assert world.plan().create == ()
    assert world.condition("Progressing") == "False Suspended: spec.suspend is true; nothing has started"


def test_a_successful_preflight_freezes_the_run() -> None:
    world = World(suite={"builtin": "quickstart", "ids": ["b", "a"]}, trials=3)
    world.ended()
    assert world.plan().loads == frozenset({Load.SUITE_INDEX})
    world.stored = StoredState(index=index(world).model_copy(update={"edition": "2026-12"}))
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
        edition="2026-12",
        opsgym="1.0",
        versions={"operator": "1.0", "image:runner": "runner:1", "image:domains": "domains:1"},
        pods=record.pods,
        created_at="2026-01-01T00:00:00Z",
    )
    read = EvalRunSpec.model_validate(spec)
    assert read.models[0].inline == world.fleet.models["gpt"].spec
    assert read.suite == world.run.spec.suite
    assert len(record.suite_digest) == 64
    assert desired.create == ()
    assert desired.requeue_after_s == 0


def index(world: World) -> SuiteIndex:
    return SuiteIndex(entries=world.run.entries)


def test_filters_that_match_nothing_stall_the_run_until_the_suite_has_changed() -> None:
    world = World(suite={"builtin": "quickstart", "ids": ["b", "z"]})
    name = world.ended()
    world.stored = StoredState(index=index(world))
    desired = world.plan()
    assert world.condition("Stalled").startswith("True SuiteFilter: spec.suite.ids[1]: unknown task id 'z'")
    assert (desired.freeze, desired.loads) == (None, frozenset({Load.SUITE_INDEX}))
    assert world.plan(seconds=20).delete == (ObjectRef("Job", name),)
    world.run.entries.append(entry("z"))
    world.stored = StoredState(index=index(world))
    assert world.plan().freeze is not None


def test_a_baseline_is_read_before_anything_is_spent() -> None:
    world = World(gate={"baseline": "yesterday", "maxRegression": 0.1})
    world.ended()
    world.stored = StoredState(index=index(world))
    assert world.plan().loads == frozenset({Load.BASELINE})
    world.more = {"baseline": Problem("spec.gate.baseline", "the store holds no run 'yesterday'")}
    desired = world.plan()
    assert world.condition("Stalled") == (
        "True BaselineNotFound: spec.gate.baseline: the store holds no run 'yesterday'"
    )
    assert (desired.loads, desired.requeue_after_s, desired.freeze) == (frozenset({Load.BASELINE}), 30, None)
    world.more = {"baseline": Baseline(None)}
    assert world.plan().freeze is not None


def test_the_last_good_run_is_not_read_before_the_run_is_frozen() -> None:
    world = World(gate={"lastGood": True, "maxRegression": 0.1})
    world.ended()
    world.stored = StoredState(index=index(world))
    assert world.plan().freeze is not None


def test_a_frozen_run_names_its_schedule() -> None:
    world = World()
    world.ended()
    world.stored = StoredState(index=index(world))
    world.more = {"schedule": "nightly"}
    freeze = world.plan().freeze
    assert freeze is not None
    assert freeze.schedule == "nightly"


def test_a_refused_spec_stalls_until_it_is_fixed() -> None:
    world = World()
    gpt = world.fleet.models.pop("gpt")
    desired = world.plan()
    message = "spec.models[0].ref: unknown EvalModel 'gpt'; EvalModels of the namespace: none"
    for kind, status in (("Accepted", "False"), ("Progressing", "False"), ("Stalled", "True")):
        assert world.condition(kind) == f"{status} ModelNotFound: {message}"
    assert desired.create == ()
    assert [event.reason for event in desired.events] == ["ModelNotFound"]
    world.fleet.models["gpt"] = gpt
    assert kinds(world.plan(seconds=5)) == ["ConfigMap", "Job"]
    assert world.condition("Accepted") == "True Valid"
    accepted, _, stalled, succeeded, *_ = world.run.status.conditions
    assert accepted.last_transition_time == stalled.last_transition_time == START + timedelta(seconds=5)
    assert succeeded.last_transition_time == START
