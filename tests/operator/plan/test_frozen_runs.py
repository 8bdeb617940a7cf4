"""Frozen runs: Jobs, the start gate, and how a run ends."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.operator.fleet import CONFIG, START, AttemptEnd, Fleet, SimRun, entry, model, summary

from opsgym_api.errors import Problem
from opsgym_api.jobs.job_spec import TrialRef
from opsgym_api.kinds.evalrun import Budget, Condition, EvalRunSpec
from opsgym_api.records.attempt import AttemptRecord, Cell, Timings, TrialId
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.run import Control
from opsgym_core.gates.judge import Baseline, CellScores, RunScores
from opsgym_operator.config import CredentialsConfig, OperatorConfig, PodsConfig
from opsgym_operator.observe.labels import LABEL_EVAL_MODEL
from opsgym_operator.observe.objects import ContainerError, ObservedJob, ObservedNamespace, ObservedPod, ObservedRun
from opsgym_operator.observe.schedules import succeeded
from opsgym_operator.plan.desired import Desired, JobPatch, Load, ObjectRef, TaskJob
from opsgym_operator.plan.namespace import plan
from opsgym_operator.pod_template import PodProfile

SPEC: dict[str, Any] = {"suite": {"builtin": "quickstart"}, "models": [{"name": "best", "ref": "gpt"}]}
Change = Callable[[ObservedNamespace], ObservedNamespace]
CELL = Cell(model="best", agent="react", mode="oracle", domain="itsm")


def frozen(
    count: int = 12, *, ceiling: int = 2, ending: Callable[..., AttemptEnd] | None = None, **fields: Any
) -> tuple[Fleet, SimRun]:
    """A run that has its first Jobs."""
    fleet = Fleet()
    if ending:
        fleet.ending = ending
    fleet.models["gpt"] = model("gpt", max_concurrency=ceiling)
    run = fleet.apply("nightly", EvalRunSpec.model_validate(SPEC | fields), [entry(f"t{n}") for n in range(count)])
    fleet.plan()
    return fleet, run


def planned(fleet: Fleet, change: Callable[[ObservedNamespace], ObservedNamespace] = lambda seen: seen) -> Desired:
    """The plan of the only run; its status is written."""
    [(uid, desired)] = plan(change(fleet.observed()), CONFIG, fleet.now, "1.0").items()
    fleet.runs[uid].status = desired.status or fleet.runs[uid].status
    return desired


def condition(run: SimRun, kind: str) -> str:
    current = next(item for item in run.status.conditions if item.type == kind)
    return f"{current.status} {current.reason}: {current.message}".removesuffix(": ")


def first_job(fleet: Fleet) -> str:
    return next(iter(fleet.jobs))


# Chunks


def test_a_cell_becomes_consecutive_jobs_of_five_rounds() -> None:
    fleet, _ = frozen(25)
    assert [len(job.order.trials) for job in fleet.jobs.values()] == [10]
    for index in range(9):
        fleet.end(first_job(fleet), index)
    fleet.plan()
    assert [len(job.order.trials) for job in fleet.jobs.values()] == [10, 10], "a slot is free before the first ends"
    assert [job.parallelism for job in fleet.jobs.values()] == [2, 1]
    fleet.end(first_job(fleet), 9)
    fleet.plan()
    assert [job.parallelism for job in fleet.jobs.values()] == [2], "the second is raised, the first cleared away"


def test_a_job_has_planner_and_judge_models_with_their_keys_and_recordings() -> None:
    fleet = Fleet()
    fleet.models["gpt"] = model("gpt", max_concurrency=4, credentials={"secret": "shared"})
    fleet.models["sage"] = model("sage", max_concurrency=1, credentials={"secret": "shared"})
    fleet.models["jury"] = model("jury", model="replay/tapes/jury.jsonl", credentials={"secret": "own"})
    supporting = [{"name": "sage", "ref": "sage"}, {"name": "jury", "ref": "jury"}]
    agents = [{"name": "react"}, {"name": "planned", "plan": "model", "planner": "sage"}]
    fields = {"supportingModels": supporting, "agents": agents, "judge": "jury"}
    run = fleet.apply("nightly", EvalRunSpec.model_validate(SPEC | fields), [entry(f"t{n}") for n in range(9)])
    fleet.plan()

    config_maps = {job.order.cell.agent: job for job in fleet.jobs.values()}
    assert {agent: job.order.planner and job.order.planner.name for agent, job in config_maps.items()} == {
        "react": None,
        "planned": "sage",
    }
    assert [job.order.judge and job.order.judge.name for job in config_maps.values()] == ["jury", "jury"]
    assert sum(job.parallelism for job in config_maps.values()) == 4, "the planner's ceiling takes no slots"
    manifest = config_maps["planned"].manifest
    assert manifest["metadata"]["labels"][LABEL_EVAL_MODEL] == "gpt"
    text = json.dumps(manifest)
    assert text.count('{"name": "shared", "key": "api-key"}') == 1, "a key is one variable for all models that use it"
    assert text.count('{"name": "own", "key": "api-key"}') == 1
    assert '"configMap": {"name": "tapes"' in text
    assert run.status.models == "best"


def test_no_job_has_more_than_a_thousand_trials() -> None:
    fleet, _ = frozen(1150, ceiling=400)
    assert [len(job.order.trials) for job in fleet.jobs.values()] == [1000]


def test_every_task_is_tried_once_before_any_is_tried_again() -> None:
    fleet, _ = frozen(3, trials=2)
    [job] = fleet.jobs.values()
    assert [(ref.task_id, ref.trial) for ref in job.order.trials] == [
        ("t0", 0), ("t1", 0), ("t2", 0), ("t0", 1), ("t1", 1), ("t2", 1),
    ]  # fmt: skip


def test_hybrid_tasks_run_apart_by_their_set_of_gym_servers() -> None:
    fleet = Fleet()
    fleet.models["gpt"] = model("gpt")
    rows = [entry("a", "itsm", "hr"), entry("b", "hr", "itsm"), entry("c", "itsm", "csm"), entry("d", "hr")]
    fleet.apply("nightly", EvalRunSpec.model_validate(SPEC), rows)
    fleet.plan()
    tasks_by_gyms = {tuple(job.order.gyms): [ref.task_id for ref in job.order.trials] for job in fleet.jobs.values()}
    assert tasks_by_gyms == {("itsm", "hr"): ["a", "b"], ("itsm", "csm"): ["c"], ("hr",): ["d"]}
    fleet.run_out()
    assert next(iter(fleet.runs.values())).status.progress == "4/4"


def test_cells_share_a_model_evenly() -> None:
    agents = [{"name": name} for name in ("one", "two", "three")]
    fleet, _ = frozen(20, ceiling=8, agents=agents)
    assert [job.parallelism for job in fleet.jobs.values()] == [3, 3, 2]
    assert [len(job.order.trials) for job in fleet.jobs.values()] == [15, 15, 10]


def test_a_job_number_is_never_used_twice() -> None:
    fleet, run = frozen(4, ceiling=1)
    name = first_job(fleet)
    fleet.jobs.clear()
    desired = planned(fleet)
    assert desired.delete == (ObjectRef("ConfigMap", name),), "an order without a Job is cleared away"
    assert [job.name for job in desired.create] == [name.removesuffix("0") + "1"]
    assert name in run.config_maps


def test_a_new_job_retries_a_trial_only_as_often_as_it_has_retries_left() -> None:
    fleet, run = frozen(1, ceiling=1, ending=lambda *_: (Outcome.INFRA_ERROR, 0.0))
    fleet.end(first_job(fleet), 0)
    fleet.jobs.clear()
    run.config_maps.clear()
    [job] = planned(fleet).create
    assert isinstance(job, TaskJob)
    assert job.retries == 1


def test_raising_a_ceiling_raises_live_jobs() -> None:
    fleet, _ = frozen(12, ceiling=2)
    fleet.models["gpt"] = model("gpt", max_concurrency=5)
    assert planned(fleet).patches == (JobPatch(first_job(fleet), parallelism=5),)


def test_raising_a_ceiling_raises_each_job_of_a_hybrid_cell_once() -> None:
    fleet = Fleet()
    fleet.models["gpt"] = model("gpt", max_concurrency=2)
    rows = [entry(f"{other}{number}", "itsm", other) for number in range(9) for other in ("hr", "csm")]
    fleet.apply("nightly", EvalRunSpec.model_validate(SPEC), rows)
    fleet.plan()
    assert [job.parallelism for job in fleet.jobs.values()] == [1, 1]
    fleet.models["gpt"] = model("gpt", max_concurrency=5)
    assert planned(fleet).patches == tuple(
        JobPatch(name, parallelism=parallelism) for name, parallelism in zip(fleet.jobs, (3, 2), strict=True)
    )


def test_a_frozen_run_continues_without_its_evalmodel() -> None:
    fleet, run = frozen(12, ceiling=2)
    del fleet.models["gpt"]
    fleet.run_out()
    assert run.status.progress == "12/12"
    assert condition(run, "Accepted") == "True Valid"


def test_lowering_a_ceiling_lowers_no_live_job() -> None:
    fleet, _ = frozen(12, ceiling=4)
    fleet.models["gpt"] = model("gpt", max_concurrency=1)
    desired = planned(fleet)
    assert (desired.patches, desired.create, desired.delete) == ((), (), ())


def test_pods_of_a_deleted_run_still_take_slots() -> None:
    fleet = Fleet()
    fleet.models["gpt"] = model("gpt", max_concurrency=4)
    fleet.apply("nightly", EvalRunSpec.model_validate(SPEC), [entry(f"t{n}") for n in range(9)])
    gone = ObservedJob("old", "gone", CELL.key, "gpt", "best", (TrialRef(task_id="t", trial=0),) * 2, 2, 2, active=2)
    orphan = ObservedPod("lost", "deleted-job", "gone", eval_model="gpt", running=True)
    fleet.seen = lambda seen: replace(seen, jobs=(*seen.jobs, gone), pods=(*seen.pods, orphan))
    fleet.plan()
    assert [job.parallelism for job in fleet.jobs.values()] == [1]


# Kueue


def test_jobs_of_a_queue_keep_their_parallelism_and_wait_for_their_queue() -> None:
    fleet = Fleet()
    fleet.models["gpt"] = model("gpt", max_concurrency=2)
    run = fleet.apply(
        "nightly", EvalRunSpec.model_validate(SPEC | {"queueName": "team"}), [entry(f"t{n}") for n in range(30)]
    )

    def queued(seen: ObservedNamespace) -> ObservedNamespace:
        jobs = tuple(replace(job, queued=True) for job in seen.jobs)
        return replace(seen, queues=frozenset({"team"}), jobs=jobs)

    fleet.seen = queued
    fleet.plan()
    assert condition(run, "Progressing") == "True WaitingForQueue: LocalQueue team has not admitted the run's Jobs"
    assert run.status.phase == "Waiting"
    [job] = fleet.jobs.values()
    assert job.suspended
    fleet.models["gpt"] = model("gpt", max_concurrency=9)
    assert planned(fleet).patches == (), "neither raised nor resumed"
    fleet.edit(run, suspend=True)
    for admitted in (False, True):
        job.suspended = not admitted
        desired = planned(fleet)
        assert desired.delete == (ObjectRef("Job", first_job(fleet)), ObjectRef("ConfigMap", first_job(fleet)))
        assert desired.patches == (), "whether a Job of a queue is suspended is the queue's business"


def test_a_queued_job_is_created_once_half_of_its_fair_share_is_free() -> None:
    fleet, run = frozen(200, ceiling=8)

    def queued(seen: ObservedNamespace) -> ObservedNamespace:
        jobs = tuple(replace(job, queued=True) for job in seen.jobs)
        runs = tuple(replace(run, spec=queueing) for run in seen.runs)
        return replace(seen, queues=frozenset({"team"}), jobs=jobs, runs=runs)

    queueing = EvalRunSpec.model_validate(SPEC | {"queueName": "team"})
    for index in range(35):
        fleet.end(first_job(fleet), index)
    assert planned(fleet, queued).create == (), "three slots are free"
    fleet.end(first_job(fleet), 35)
    [job] = planned(fleet, queued).create
    assert isinstance(job, TaskJob)
    assert (job.parallelism, len(job.trials)) == (4, 40)
    assert run.started == 40


# The start gate


def test_suspending_closes_the_start_gate_and_resuming_opens_it() -> None:
    fleet, run = frozen()
    fleet.edit(run, suspend=True)
    desired = planned(fleet)
    assert desired.control == Control(start=False, proceed=False, reason="suspended")
    assert desired.patches == (JobPatch(first_job(fleet), suspend=True),)
    assert condition(run, "Progressing") == (
        "False Suspended: spec.suspend is true; 12 trials remain; 2 pods are terminating"
    )
    fleet.plan()
    while fleet.end_one():
        fleet.plan()
    fleet.edit(run, suspend=False)
    desired = planned(fleet)
    assert desired.control == Control()
    assert desired.patches == (JobPatch(first_job(fleet), parallelism=2, suspend=False),)


def test_terminating_pods_hold_their_slots() -> None:
    fleet, first = frozen(12, ceiling=3)
    fleet.apply("other", EvalRunSpec.model_validate(SPEC), [entry(f"t{n}") for n in range(12)])
    fleet.edit(first, suspend=True)
    fleet.plan()
    assert fleet.busy("best") == 3
    assert len(fleet.jobs) == 1, "a Job that is suspended has pods for a while"
    fleet.end_one()
    fleet.plan()
    assert [job.parallelism for job in fleet.jobs.values()] == [3, 1]


def test_a_used_up_quota_stops_the_models_of_its_account_and_no_others() -> None:
    fleet = Fleet()
    for name, secret in (("gpt", "shared"), ("mini", "shared"), ("claude", "own")):
        spec = {"model": "openai/x", "credentials": {"secret": secret}}
        fleet.models[name] = model(name, max_concurrency=1, **spec)
    models = {"models": [{"name": name, "ref": name} for name in fleet.models]}
    run = fleet.apply("nightly", EvalRunSpec.model_validate(SPEC | models), [entry(f"t{n}") for n in range(12)])
    fleet.plan()
    lost = summary(Cell(**{**CELL.model_dump(), "model": "gpt"}), "t0", 0, 0, Outcome.INFRA_ERROR, 0.0, fleet.now)
    run.ledger.record(replace(lost, reason="model_quota", message="no credit"))

    desired = planned(fleet)

    assert desired.control == Control(stopped=["gpt", "mini"])
    assert not desired.create
    message = (
        "no trial of gpt, mini starts, whose quota is used up: raise the quota or credit of its account; its trials "
        "then go on by themselves; 1 of the last 1 attempts ended for this reason; no credit"
    )
    assert condition(run, "Stalled") == f"True QuotaExhausted: {message}"
    assert condition(run, "Progressing") == f"True QuotaExhausted: {message}"
    fleet.now += timedelta(seconds=60)
    run.control = desired.control
    assert planned(fleet).control == Control()
    assert condition(run, "Stalled").startswith("False")


def test_a_run_whose_only_model_has_no_quota_makes_no_progress() -> None:
    fleet, run = frozen(12)
    lost = summary(CELL, "t0", 0, 0, Outcome.INFRA_ERROR, 0.0, fleet.now)
    run.ledger.record(replace(lost, reason="model_quota", message="no credit"))

    desired = planned(fleet)

    assert (desired.control, desired.requeue_after_s) == (Control(stopped=["best"]), 30)
    assert condition(run, "Progressing").startswith("False QuotaExhausted")
    assert run.status.phase == "Stalled"


def test_an_open_breaker_closes_the_start_gate_and_reopens_it_for_a_probe() -> None:
    broken = True
    fleet, run = frozen(30, ceiling=5, ending=lambda *_: (Outcome.INFRA_ERROR if broken else Outcome.PASSED, 0.0))
    for index in range(5):
        fleet.end(first_job(fleet), index)
    desired = planned(fleet)
    assert desired.control == Control(start=False, reason="breaker")
    assert (desired.create, desired.patches) == ((), ())
    message = "gym_lost: 5 of the last 5 attempts ended for this reason; the gym is gone"
    assert condition(run, "Stalled") == f"True BreakerOpen: {message}"
    assert condition(run, "Progressing") == f"False BreakerOpen: {message}"
    assert desired.requeue_after_s == 30
    fleet.now += timedelta(seconds=45)
    assert planned(fleet).requeue_after_s == 15
    broken = False
    fleet.now += timedelta(seconds=15)
    run.control = desired.control
    assert planned(fleet).control == Control()
    assert condition(run, "Stalled").startswith("False")
    fleet.run_out()
    assert run.status.progress == "30/30"


def test_a_spent_budget_closes_the_start_gate_and_skips_the_remaining_trials() -> None:
    fleet, run = frozen(12, ceiling=2, ending=lambda *_: (Outcome.PASSED, 0.3), budget={"maxUsd": 1})
    fleet.run_out()
    assert run.status.counters == {
        "total": 12, "passed": 4, "failed": 0, "infra_error": 0, "config_error": 0, "budget_skipped": 8, "pending": 0,
    }  # fmt: skip
    assert run.started == 4
    message = (
        "4 of 12 trials are scored, 100.0% success (33.3% if what is not scored failed), spent $1.20; "
        "8 budget_skipped: raise spec.budget.maxUsd to run the remaining trials"
    )
    assert condition(run, "Succeeded") == f"True BudgetSpent: {message}"
    assert (run.status.not_scored, run.status.cost) == (8, "$1.20")
    assert "BudgetClosed" in [event.reason for event in run.events]


def test_a_budget_that_is_a_sum_of_rounded_costs_is_spent_in_few_jobs() -> None:
    def ending(cell: str, task: str, trial: int, attempt: int) -> AttemptEnd:
        return Outcome.PASSED, 0.1 if task == "t2" else 0.3

    assert (1 - (0.3 + 0.3 + 0.1)) / 0.3 > 1, "one more trial of 0.3 uses the budget up, and the quotient says two"
    fleet, run = frozen(12, ceiling=2, ending=ending, budget={"maxUsd": 1})
    jobs: set[str] = set()
    fleet.run_out(most=20, check=lambda: jobs.update(fleet.jobs))
    assert condition(run, "Succeeded").startswith("True BudgetSpent")
    assert (run.status.progress, run.status.cost) == ("4/12", "$1.00")
    assert len(jobs) < 6


def test_a_run_with_a_budget_is_requeued_often_while_episodes_run() -> None:
    fleet, _ = frozen(4, ceiling=2, ending=lambda *_: (Outcome.PASSED, 0.1), budget={"maxUsd": 3})
    fleet.plan()
    assert planned(fleet).requeue_after_s == 5


def test_no_trial_is_skipped_while_running_trials_may_leave_budget_over() -> None:
    def ending(cell: str, task: str, trial: int, attempt: int) -> AttemptEnd:
        return Outcome.PASSED, 0.9 if task == "t1" else 0.1

    fleet, run = frozen(20, ceiling=3, ending=ending, budget={"maxUsd": 3})
    for index in range(2):
        fleet.end(first_job(fleet), index)
        fleet.plan()
    assert run.control == Control(start=False, reason="budget"), "each trial under way may cost as much as the dearest"
    assert run.ledger.count(Outcome.BUDGET_SKIPPED) == 0
    fleet.run_out()
    assert (run.status.progress, run.status.cost) == ("20/20", "$2.80")


def spend(run: SimRun, task_id: str, cost: float) -> None:
    """Notes what an attempt that is under way has cost so far."""
    record = AttemptRecord(
        run="r",
        cell=CELL,
        task_id=task_id,
        trial=0,
        attempt=0,
        cost_usd=cost,
        timings=Timings(started_at=START.isoformat()),
    )
    run.ledger.record(record)


def test_the_spend_of_a_running_trial_is_not_reserved_twice() -> None:
    fleet, run = frozen(40, ceiling=2, ending=lambda *_: (Outcome.PASSED, 0.1), budget={"maxUsd": 1.55})
    for index in range(2):
        fleet.end(first_job(fleet), index)
        fleet.plan()
    [job] = fleet.jobs.values()
    assert len(job.order.trials) == 10
    for index in range(9):
        fleet.end(first_job(fleet), index)
    spend(run, job.order.trials[9].task_id, 0.09)
    [following] = planned(fleet).create
    assert isinstance(following, TaskJob)
    assert len(following.trials) == 4, "1.10 is spent, 0.10 reserved for one under way, 0.35 left for four"


def test_the_start_gate_stays_open_while_planned_trials_spend_their_reservation() -> None:
    fleet, run = frozen(40, ceiling=2, ending=lambda *_: (Outcome.PASSED, 0.1), budget={"maxUsd": 1.15})
    for index in range(2):
        fleet.end(first_job(fleet), index)
        fleet.plan()
    [job] = fleet.jobs.values()
    assert len(job.order.trials) == 10
    for index in job.pods:
        spend(run, job.order.trials[index].task_id, 0.09)
    assert planned(fleet).control is None
    fleet.run_out()
    assert run.status.cost == "$1.20"


def test_many_skipped_trials_are_recorded_in_batches() -> None:
    fleet, run = frozen(700, ceiling=1, ending=lambda *_: (Outcome.PASSED, 2.0), budget={"maxUsd": 1})
    fleet.end(first_job(fleet), 0)
    first = planned(fleet)
    assert (len(first.records), first.requeue_after_s) == (500, 0.0)
    record = first.records[0]
    assert (record.run, record.cell, record.task_id, record.trial, record.attempt) == (
        "team.nightly.uid-nightly", CELL, "t1", 0, 0,
    )  # fmt: skip
    assert (record.outcome, record.reason) == (Outcome.BUDGET_SKIPPED, "budget")
    assert record.message == "the run's budget of $1 is spent; raise spec.budget.maxUsd to run the remaining trials"
    fleet.run_out()
    assert run.status.counters["budget_skipped"] == 699


def test_a_budget_allows_one_round_while_no_cost_is_known() -> None:
    fleet, _ = frozen(12, ceiling=3, budget={"maxUsd": 1})
    assert [len(job.order.trials) for job in fleet.jobs.values()] == [3]


def test_a_budget_is_shared_by_all_models_of_a_run() -> None:
    fleet = Fleet(ending=lambda *_: (Outcome.PASSED, 0.1))
    fleet.models |= {name: model(name, max_concurrency=10) for name in "ab"}
    models = [{"name": name, "ref": name} for name in "ab"]
    spec = EvalRunSpec.model_validate(SPEC | {"models": models, "budget": {"maxUsd": 2.05}})
    run = fleet.apply("nightly", spec, [entry(f"t{n}") for n in range(40)])
    fleet.run_out()
    assert run.ledger.scored == 21
    assert run.started == 21


def test_suspended_jobs_are_deleted_when_the_budget_is_spent() -> None:
    fleet, run = frozen(10, ceiling=2, ending=lambda *_: (Outcome.PASSED, 0.1), budget={"maxUsd": 100})
    fleet.end_one()
    fleet.plan()
    fleet.edit(run, suspend=True)
    fleet.plan()
    while fleet.end_one():
        fleet.plan()
    fleet.edit(run, suspend=False, budget=Budget(max_usd=0.01))
    fleet.run_out()
    assert run.status.phase == "Complete"
    assert run.status.counters["budget_skipped"] == 9


# Capacity and trouble


def with_pods(*pods: ObservedPod) -> Callable[[ObservedNamespace], ObservedNamespace]:
    return lambda seen: replace(seen, pods=pods)


def test_unschedulable_pods_stall_a_run_without_running_pods_after_pending_seconds() -> None:
    fleet, run = frozen(limits={"pendingSeconds": 60})
    waiting = ObservedPod(
        "p1", first_job(fleet), run.uid, "gpt", unschedulable_since=START, unschedulable_message="0/1 nodes: memory"
    )
    at_work = ObservedPod("p0", first_job(fleet), run.uid, "gpt", running=True)
    planned(fleet, with_pods(waiting))
    assert condition(run, "Progressing") == "True WaitingForCapacity: 1 of 1 pods wait for a node: 0/1 nodes: memory"
    assert run.status.phase == "Waiting"
    fleet.now = START + timedelta(seconds=61)
    planned(fleet, with_pods(at_work, waiting))
    assert condition(run, "Progressing") == "True WaitingForCapacity: 1 of 2 pods wait for a node: 0/1 nodes: memory"
    assert condition(run, "Stalled").startswith("False")
    planned(fleet, with_pods(waiting))
    assert condition(run, "Stalled").startswith(
        "True Unschedulable: 1 of 1 pods wait for a node: 0/1 nodes: memory; none"
    )


def test_pods_that_have_a_node_and_do_not_start_are_named_and_stall_a_run_without_running_pods() -> None:
    fleet, run = frozen(limits={"pendingSeconds": 600})
    at_work = ObservedPod("p0", first_job(fleet), run.uid, "gpt", running=True)
    pulling = ObservedPod("p1", first_job(fleet), run.uid, "gpt", starting_since=START)
    fleet.now = START + timedelta(seconds=59)
    planned(fleet, with_pods(pulling))
    assert condition(run, "Progressing") == "True Running"
    fleet.now = START + timedelta(seconds=61)
    planned(fleet, with_pods(at_work, pulling))
    assert condition(run, "Progressing").startswith("True WaitingForPods: 1 of 2 pods do not start; pod p1 waits")
    without_network = replace(pulling, name="p2", sandbox_missing=True)
    planned(fleet, with_pods(pulling, without_network))
    assert condition(run, "Stalled").startswith("True PodNotStarting: 2 of 2 pods do not start; pod p2 waits since 20")
    planned(fleet, with_pods(pulling))
    assert condition(run, "Stalled").startswith("False")
    fleet.now = START + timedelta(seconds=600)
    planned(fleet, with_pods(pulling))
    assert condition(run, "Stalled").startswith("True PodNotStarting")


def test_a_pod_that_does_not_end_on_a_lost_node_is_named() -> None:
    fleet, run = frozen()
    pod = ObservedPod("p0", first_job(fleet), run.uid, "gpt", running=True, delete_by=START, host="10.0.0.7")
    fleet.now = START + timedelta(seconds=29)
    planned(fleet, with_pods(pod))
    assert condition(run, "Stalled").startswith("False")
    fleet.now = START + timedelta(seconds=30)
    planned(fleet, with_pods(pod))
    assert condition(run, "Stalled").startswith("True PodLost: pod p0 on node 10.0.0.7 should have ended at 2026-01-01")
    assert condition(run, "Progressing").startswith("False PodLost")


def test_a_half_finished_job_that_gets_no_further_pods_stalls_the_run() -> None:
    fleet, run = frozen()
    job = first_job(fleet)
    fleet.end(job, 0)

    def idle(**fields: Any) -> Change:
        def change(seen: ObservedNamespace) -> ObservedNamespace:
            left = {"active": 0, "terminating": 0, "started_at": START, "last_pod_at": START, **fields}
            return replace(seen, pods=(), jobs=tuple(replace(item, **left) for item in seen.jobs))

        return change

    fleet.now = START + timedelta(seconds=31)
    planned(fleet, idle())
    assert condition(run, "Stalled").startswith(f"True PodsRefused: Job {job} has no pods")
    planned(fleet, idle(pods_failed=True))
    assert condition(run, "Stalled").startswith("False"), "the Job controller waits after a failure"
    planned(fleet, idle(last_pod_at=fleet.now))
    assert condition(run, "Stalled").startswith("False")


def test_a_container_error_stalls_a_run_that_still_progresses() -> None:
    fleet, run = frozen()
    job = first_job(fleet)
    error = ContainerError("CreateContainerConfigError", 'secret "openai" not found')
    pods = [ObservedPod(f"p{n}", job, run.uid, "gpt", container_error=error) for n in range(3)]
    planned(fleet, with_pods(ObservedPod("p9", job, run.uid, "gpt", running=True), *pods))
    message = 'pod p0 (and 2 more pods): CreateContainerConfigError: secret "openai" not found'
    assert condition(run, "Stalled") == f"True SecretMissing: {message}"
    assert condition(run, "Progressing") == f"True SecretMissing: {message}"


def test_one_failed_pull_among_running_pods_stalls_the_run_only_if_it_lasts() -> None:
    fleet, run = frozen()
    job = first_job(fleet)
    error = ContainerError("ErrImagePull", "connection reset", "runner:1")
    failing = ObservedPod("p0", job, run.uid, "gpt", container_error=error, starting_since=START)
    running = [ObservedPod(f"p{n}", job, run.uid, "gpt", running=True) for n in range(1, 500)]
    fleet.now = START + timedelta(seconds=59)
    planned(fleet, with_pods(failing, *running))
    assert condition(run, "Stalled").startswith("False")
    fleet.now = START + timedelta(seconds=60)
    planned(fleet, with_pods(failing, *running))
    assert condition(run, "Stalled") == (
        "True ImageUnavailable: pod p0: ErrImagePull of image runner:1: connection reset"
    )


def test_a_failed_pull_stalls_a_run_of_which_nothing_runs_at_once() -> None:
    fleet, run = frozen()
    error = ContainerError("ErrImagePull", "not found", "runner:1")
    planned(
        fleet,
        with_pods(ObservedPod("p0", first_job(fleet), run.uid, "gpt", container_error=error, starting_since=fleet.now)),
    )
    assert condition(run, "Stalled").startswith("True ImageUnavailable")


def test_a_run_that_goes_on_names_its_latest_infra_error_for_ten_minutes() -> None:
    fleet, run = frozen()
    message = "container agent hung: its heartbeat stood still for a minute"
    ended = summary(CELL, "t0", 0, 0, Outcome.INFRA_ERROR, 0.0, fleet.now)
    run.ledger.record(replace(ended, reason="hung", message=message))
    fleet.now = START + timedelta(seconds=5)
    planned(fleet)
    named = f"True Running: an attempt ended at 2026-01-01T00:00:00Z as infra_error, hung: {message}"
    assert condition(run, "Progressing") == named
    assert condition(run, "Stalled").startswith("False")
    fleet.now = START + timedelta(seconds=660)
    planned(fleet)
    assert condition(run, "Progressing") == "True Running"


def test_a_job_without_pods_stalls_the_run() -> None:
    fleet, run = frozen()

    def refused(seen: ObservedNamespace) -> ObservedNamespace:
        return replace(seen, pods=(), jobs=tuple(replace(job, active=0, started_at=START) for job in seen.jobs))

    fleet.now = START + timedelta(seconds=29)
    planned(fleet, refused)
    assert condition(run, "Stalled").startswith("False")
    fleet.now = START + timedelta(seconds=30)
    planned(fleet, refused)
    assert condition(run, "Stalled").startswith(f"True PodsRefused: Job {first_job(fleet)} has no pods after 30 s")


def test_a_job_without_its_config_map_blocks_its_cell() -> None:
    fleet, run = frozen(30)
    for index in range(9):
        fleet.end(first_job(fleet), index)
    desired = planned(fleet, lambda seen: replace(seen, jobs=tuple(replace(job, trials=()) for job in seen.jobs)))
    assert (desired.create, desired.patches) == ((), ())
    name = first_job(fleet)
    message = (
        f"ConfigMap {name} was deleted, so Job {name} cannot continue; delete the Job to have its trials planned again"
    )
    assert condition(run, "Stalled") == f"True JobSpecMissing: {message}"
    fleet.jobs.clear()
    fleet.run_out()
    assert run.status.progress == "30/30"


@pytest.mark.parametrize("finished", [False, True])
def test_a_job_that_the_operator_did_not_name_stops_no_plan(finished: bool) -> None:
    fleet, run = frozen(3)

    def with_copy(seen: ObservedNamespace) -> ObservedNamespace:
        copy = replace(seen.jobs[0], name="copy-of-job", trials=(), finished=finished, harvested=finished)
        return replace(seen, jobs=(*seen.jobs, copy))

    assert planned(fleet, with_copy).delete == ()
    assert condition(run, "Accepted") == "True Valid"


def test_a_run_whose_store_fails_plans_nothing_new_and_is_stalled() -> None:
    fleet, run = frozen(30)
    for index in range(9):
        fleet.end(first_job(fleet), index)

    def lost(seen: ObservedNamespace) -> ObservedNamespace:
        return replace(seen, runs=tuple(replace(run, store_error="s3://b: refused") for run in seen.runs))

    desired = planned(fleet, lost)
    assert (desired.create, desired.control, desired.records) == ((), None, ())
    assert condition(run, "Stalled") == "True StoreUnreachable: s3://b: refused"
    assert condition(run, "Progressing") == "True StoreUnreachable: s3://b: refused"
    assert len(planned(fleet).create) == 1


def away(seconds: float) -> Change:
    """The store has not answered for so many seconds."""

    def change(seen: ObservedNamespace) -> ObservedNamespace:
        runs = (replace(run, store_error="s3://b: refused", store_error_s=seconds) for run in seen.runs)
        return replace(seen, runs=tuple(runs))

    return change


def starting(
    change: Callable[[ObservedNamespace], ObservedNamespace],
) -> Callable[[ObservedNamespace], ObservedNamespace]:
    def and_pods_start(seen: ObservedNamespace) -> ObservedNamespace:
        return change(replace(seen, pods=tuple(replace(pod, running=False) for pod in seen.pods)))

    return and_pods_start


def test_an_outage_of_the_store_suspends_jobs_without_running_pods_until_it_answers() -> None:
    fleet, _ = frozen(30)
    job = first_job(fleet)
    assert planned(fleet, starting(away(19))).patches == (), "a hiccup costs nothing"
    assert planned(fleet, away(60)).patches == (), "running pods keep what they have paid for"
    held = planned(fleet, starting(away(60)))
    assert held.patches == (JobPatch(job, suspend=True),)
    fleet.jobs[job].suspended = True
    fleet.jobs[job].pods.clear()
    resumed = planned(fleet)
    assert [(patch.name, patch.suspend) for patch in resumed.patches] == [(job, False)]


@pytest.mark.parametrize(
    "wrong",
    [
        {"store_error": "s3://b: refused"},
        {"store_error": "s3://b: refused", "stored": None},
        {"stored": None},
        {"spec": None, "invalid_suspend": True},
    ],
)
def test_suspend_stops_the_jobs_of_a_run_whatever_else_is_wrong_with_it(wrong: dict[str, Any]) -> None:
    fleet, run = frozen(30)
    fleet.edit(run, suspend=True)
    desired = planned(fleet, lambda seen: replace(seen, runs=(replace(seen.runs[0], **wrong),)))
    assert desired.patches == (JobPatch(first_job(fleet), suspend=True),)


@pytest.mark.parametrize(
    "wrong",
    [{"store_error": "s3://b: refused"}, {"stored": None}, {"spec": None, "invalid_suspend": True}, {}],
)
def test_suspend_takes_jobs_from_their_queue_whatever_else_is_wrong(wrong: dict[str, Any]) -> None:
    fleet, run = frozen(30)
    fleet.edit(run, suspend=True, notify=["removed"])

    def seen(namespace: ObservedNamespace) -> ObservedNamespace:
        jobs = tuple(replace(job, queued=True) for job in namespace.jobs)
        return replace(namespace, jobs=jobs, runs=(replace(namespace.runs[0], **wrong),))

    desired = planned(fleet, seen)
    assert ObjectRef("Job", first_job(fleet)) in desired.delete
    assert desired.patches == ()


def test_a_run_whose_store_was_removed_from_the_installation_can_be_suspended() -> None:
    fleet, run = frozen(30)
    fleet.edit(run, suspend=True, result_store="removed")
    assert planned(fleet).patches == (JobPatch(first_job(fleet), suspend=True),)
    assert condition(run, "Accepted").startswith("False StoreNotFound")


def unreadable_spec(seen: ObservedNamespace) -> ObservedNamespace:
    problem = Problem("spec.suite", "is required")
    return replace(seen, runs=tuple(replace(run, spec=None, problems=(problem,)) for run in seen.runs))


def unreadable_record(seen: ObservedNamespace) -> ObservedNamespace:
    def change(run: ObservedRun) -> ObservedRun:
        assert run.stored is not None
        assert run.stored.record is not None
        record = run.stored.record.model_copy(
            update={"spec": run.stored.record.spec | {"models": "of a later version"}}
        )
        return replace(run, stored=replace(run.stored, record=record))

    return replace(seen, runs=tuple(change(run) for run in seen.runs))


def not_read(seen: ObservedNamespace) -> ObservedNamespace:
    return replace(seen, runs=tuple(replace(run, stored=None) for run in seen.runs))


def as_before(seen: ObservedNamespace) -> ObservedNamespace:
    return seen


ALLOWING = CONFIG.model_copy(
    update={"pod_profiles": {"sandbox": PodProfile()}, "pods": PodsConfig(allowed_labels=["cost-centre"])}
)
REFUSING = {
    "profile": (ALLOWING.model_copy(update={"pod_profiles": {}}), as_before, "PodProfileNotFound"),
    "profile, not read": (ALLOWING.model_copy(update={"pod_profiles": {}}), not_read, "PodProfileNotFound"),
    "label": (ALLOWING.model_copy(update={"pods": PodsConfig()}), as_before, "PodsNotAllowed"),
    "Secret": (
        ALLOWING.model_copy(update={"credentials": CredentialsConfig(secret_names=["other"])}),
        as_before,
        "CredentialsNotAllowed",
    ),
    "store": (
        ALLOWING.model_copy(
            update={"stores": [CONFIG.stores[0].model_copy(update={"name": "other"})], "default_store": "other"}
        ),
        not_read,
        "StoreNotFound",
    ),
    "spec": (ALLOWING, unreadable_spec, "InvalidSpec"),
    "run.json": (ALLOWING, unreadable_record, "InvalidSpec"),
}
"""What refuses a run at work: the installation's new configuration, what is observed, and the reason."""


def at_work() -> tuple[Fleet, SimRun]:
    """A run of 50 trials that cost a dollar each; 10 pods of it are running, and its Jobs have as many as they can."""
    fleet = Fleet(config=ALLOWING, ending=lambda *_: (Outcome.PASSED, 1.0))
    fleet.models["gpt"] = model("gpt", max_concurrency=10, credentials={"secret": "openai"})
    pods = {"profile": "sandbox", "labels": {"cost-centre": "4711"}}
    fields = {"pods": pods, "resultStore": "results", "budget": {"maxUsd": 100}}
    run = fleet.apply("nightly", EvalRunSpec.model_validate(SPEC | fields), [entry(f"t{n}") for n in range(50)])
    fleet.plan()
    for _ in range(4):
        fleet.end_one()
        fleet.plan()
    assert (fleet.busy("best"), run.started, run.ledger.spent) == (10, 14, 4.0)
    assert sum(len(job.order.trials) for job in fleet.jobs.values()) == 50
    return fleet, run


@pytest.mark.parametrize(("config", "change", "reason"), REFUSING.values(), ids=REFUSING)
def test_a_refused_run_starts_no_pod_until_it_is_accepted_again(
    config: OperatorConfig, change: Change, reason: str
) -> None:
    fleet, run = at_work()
    fleet.config, fleet.seen = config, change
    fleet.run_out()
    assert run.condition("Stalled") == f"True {reason}"
    assert (fleet.busy("best"), run.started, run.ledger.spent) == (0, 14, 4.0)
    fleet.config, fleet.seen = ALLOWING, as_before
    fleet.run_out()
    assert run.condition("Succeeded") == "True Complete"
    assert run.status.progress == "50/50"
    assert not any(run.ledger.state(key).infra_errors for key in run.attempts), "the pods that were ended cost no retry"


@pytest.mark.parametrize(("config", "change", "reason"), REFUSING.values(), ids=REFUSING)
def test_a_budget_that_is_lowered_while_a_run_is_refused_is_kept(
    config: OperatorConfig, change: Change, reason: str
) -> None:
    fleet, run = at_work()
    fleet.config, fleet.seen = config, change
    fleet.edit(run, budget=Budget(max_usd=3))
    fleet.run_out()
    assert run.condition("Stalled") == f"True {reason}"
    fleet.config, fleet.seen = ALLOWING, as_before
    fleet.run_out()
    assert run.condition("Succeeded") == "True BudgetSpent"
    assert (run.started, run.ledger.spent, run.status.counters["budget_skipped"]) == (14, 4.0, 46)


def test_a_frozen_run_goes_on_after_its_queue_was_removed() -> None:
    fleet, run = frozen(30)
    fleet.edit(run, queue_name="removed")
    planned(fleet)
    assert condition(run, "Accepted") == "True Valid"


def test_a_frozen_run_goes_on_without_its_model_and_queue_while_its_store_is_not_read() -> None:
    fleet, run = frozen(30)
    fleet.edit(run, queue_name="removed")
    del fleet.models["gpt"]
    accepted = run.status
    desired = planned(fleet, not_read)
    assert desired == Desired(loads=frozenset({Load.STORED_RUN}), requeue_after_s=10)
    assert run.status == accepted


def test_a_spent_budget_stops_pods_while_the_store_is_away() -> None:
    fleet, run = frozen(30)
    fleet.edit(run, budget=Budget(max_usd=1))
    [ref, *_] = fleet.jobs[first_job(fleet)].order.trials
    cell = fleet.jobs[first_job(fleet)].order.cell
    run.ledger.record(summary(cell, ref.task_id, ref.trial, 0, Outcome.PASSED, 2.0, fleet.now))
    assert planned(fleet, away(1)).patches == (JobPatch(first_job(fleet), suspend=True),)


# The end


def test_a_run_that_could_score_nothing_has_not_succeeded() -> None:
    fleet, run = frozen(2, ending=lambda *_: (Outcome.CONFIG_ERROR, 0.0))
    fleet.run_out()
    message = "0 of 2 trials are scored: 2 config_error; spent $0"
    assert condition(run, "Succeeded") == f"False NothingScored: {message}"
    assert (run.status.phase, run.status.success, run.status.not_scored) == ("Failed", "–", 2)
    assert [event.kind for event in run.events if event.reason == "NothingScored"] == ["Warning"]


def test_trials_without_retries_left_are_reported_beside_the_success_rate() -> None:
    fleet, run = frozen(4, ending=lambda cell, task, *_: (Outcome.INFRA_ERROR if task == "t1" else Outcome.PASSED, 0.0))
    fleet.run_out()
    message = "3 of 4 trials are scored, 100.0% success (75.0% if what is not scored failed), spent $0; 1 infra_error"
    assert condition(run, "Succeeded") == f"True Complete: {message}"
    assert (run.status.progress, run.status.not_scored) == ("3/4", 1)
    assert run.ledger.state(TrialId(CELL.key, "t1", 0)).attempts == 3


def test_the_end_of_a_run_is_reported_once_and_its_time_stays() -> None:
    fleet, run = frozen(3)
    fleet.run_out()
    ended = run.status
    assert ended.finished_at == fleet.now
    fleet.now += timedelta(hours=1)
    assert planned(fleet) == Desired()
    assert run.status == ended


def test_a_finished_run_is_read_from_its_store_only_if_its_spec_changes() -> None:
    fleet, run = frozen(3, ending=lambda *_: (Outcome.PASSED, 0.6), budget={"maxUsd": 1})
    fleet.run_out()

    def unread(seen: ObservedNamespace) -> ObservedNamespace:
        return replace(seen, runs=tuple(replace(run, stored=None) for run in seen.runs))

    assert planned(fleet, unread) == Desired()
    fleet.edit(run, budget=Budget(max_usd=9))
    assert planned(fleet, unread) == Desired(loads=frozenset({Load.STORED_RUN}), requeue_after_s=10)
    desired = planned(fleet)
    assert desired.control == Control()
    assert [type(job) for job in desired.create] == [TaskJob]
    assert condition(run, "Succeeded") == "Unknown NotFinished"
    assert run.status.finished_at is None


def test_a_finished_run_is_deleted_after_its_ttl() -> None:
    fleet, run = frozen(2, ttlSecondsAfterFinished=60)
    fleet.run_out()
    assert planned(fleet) == Desired(requeue_after_s=60)
    fleet.now += timedelta(seconds=60)
    assert planned(fleet) == Desired(delete=(ObjectRef("EvalRun", "nightly", "uid-nightly"),))
    assert not run.gone


def test_the_gate_is_judged_at_the_end() -> None:
    fleet, run = frozen(
        4,
        ending=lambda cell, task, *_: (Outcome.PASSED if task in ("t0", "t1", "t2") else Outcome.FAILED, 0.0),
        gate={"minSuccessRate": 0.3, "maxCostUsd": 1},
    )
    assert (condition(run, "GatePassed"), run.status.gate) == ("Unknown NotFinished", None)
    fleet.run_out()
    assert condition(run, "GatePassed") == (
        "True GatePassed: success rate 75.0% (one-sided 95% bounds 35.6% and 97.4%, 4 tasks); "
        "at least 30.0% is required; cost $0; at most $1.00 is allowed; "
        "infra errors 0 of 4 trials, 0.0%; at most 2.0% is allowed; "
        "not scored 0 of 4 trials, 0.0%; at most 5.0% is allowed"
    )
    assert (run.status.gate, succeeded(run.status)) == ("GO", True)


def test_a_gate_with_too_few_tasks_to_tell_is_inconclusive_and_the_run_is_not_good() -> None:
    fleet, run = frozen(2, gate={"minSuccessRate": 0.5, "maxCostUsd": 1})
    fleet.run_out()
    assert condition(run, "GatePassed") == (
        "Unknown GateInconclusive: success rate 100.0% (one-sided 95% bounds 42.5% and 100.0%, 2 tasks); "
        "at least 50.0% is required; about 1 task more would probably decide"
    )
    assert (run.status.gate, succeeded(run.status)) == ("INCONCLUSIVE", False)
    assert [(event.kind, event.reason) for event in run.events][-1] == ("Warning", "GateInconclusive")


def test_the_verdict_is_stored_before_the_status_reports_the_end() -> None:
    fleet, run = frozen(1, gate={"maxCostUsd": 1})
    fleet.end_one()
    desired = planned(fleet)
    assert desired.gate is not None
    assert (desired.gate.run, desired.gate.verdict) == (run.record.run if run.record else "", "GO")
    assert condition(run, "Succeeded") == "Unknown NotFinished"
    run.gate = desired.gate
    fleet.now += timedelta(seconds=5)
    assert planned(fleet).gate is None, "it was decided then, and is not decided anew"
    assert condition(run, "Succeeded").startswith("True Complete")


def test_a_run_whose_gate_cannot_be_written_has_not_ended() -> None:
    fleet, run = frozen(1, gate={"maxCostUsd": 1})
    fleet.end_one()
    desired = planned(fleet, lambda seen: replace(seen, runs=(replace(seen.runs[0], store_error="it is full"),)))
    assert (desired.gate, condition(run, "Stalled")) == (None, "True StoreUnreachable: it is full")
    assert condition(run, "Succeeded") == "Unknown NotFinished"


def test_a_resumed_run_is_judged_again_at_its_next_end() -> None:
    fleet, run = frozen(
        3, ending=lambda *_: (Outcome.PASSED, 1.0), budget={"maxUsd": 1}, gate={"maxCostUsd": 2, "maxUnscoredRate": 1}
    )
    fleet.run_out()
    assert (condition(run, "Succeeded").split(":")[0], run.status.gate) == ("True BudgetSpent", "GO")
    fleet.edit(run, budget=Budget(max_usd=10))
    fleet.plan()
    assert (condition(run, "GatePassed"), run.status.gate) == ("Unknown NotFinished", None)
    fleet.run_out()
    assert (condition(run, "GatePassed"), run.status.gate) == (
        "False GateFailed: cost $3.00; at most $2.00 is allowed",
        "NO-GO",
    )
    assert run.gate is not None
    assert run.gate.verdict == "NO-GO"


def test_a_failed_gate_names_only_the_failed_conditions() -> None:
    fleet, run = frozen(2, ending=lambda *_: (Outcome.FAILED, 0.0), gate={"minSuccessRate": 0.7, "maxCostUsd": 1})
    fleet.run_out()
    assert condition(run, "GatePassed") == (
        "False GateFailed: success rate 0.0% (one-sided 95% bounds 0.0% and 57.5%, 2 tasks); at least 70.0% is required"
    )
    assert condition(run, "Succeeded").startswith("True Complete")


def test_a_run_with_a_baseline_ends_when_the_baseline_was_read() -> None:
    fleet, run = frozen(20, ending=lambda *_: (Outcome.FAILED, 0.0))
    fleet.edit(run, gate=EvalRunSpec.model_validate(SPEC | {"gate": {"baseline": "b", "maxRegression": 0.1}}).gate)
    while fleet.end_one():
        fleet.plan()
    desired = planned(fleet)
    assert desired.loads == frozenset({Load.BASELINE})
    assert condition(run, "Succeeded") == "Unknown NotFinished"
    before = {(f"t{n}", 0): 1 for n in range(20)}
    digest = run.record.suite_digest if run.record else ""
    run.baseline = Baseline(RunScores("team.b.1", digest, [CellScores(CELL, before)]))
    fleet.plan()
    assert condition(run, "GatePassed") == (
        "False GateFailed: success rate down 100.0 points (one-sided 95% bounds down 100.0 points "
        "and down 76.3 points, 20 tasks) against team.b.1; a drop of 10.0 points is allowed"
    )
    assert run.gate is not None
    assert (run.gate.baseline, run.gate.regression) == ("team.b.1", 1.0)


def test_a_gate_names_the_tasks_whose_rows_changed_since_the_baseline() -> None:
    fleet, run = frozen(20, ending=lambda *_: (Outcome.PASSED, 0.0))
    fleet.edit(run, gate=EvalRunSpec.model_validate(SPEC | {"gate": {"baseline": "b", "maxRegression": 0.3}}).gate)
    while fleet.end_one():
        fleet.plan()
    before = {(f"t{n}", 0): 1 for n in range(20)}
    digest = run.record.suite_digest if run.record else ""
    run.baseline = Baseline(RunScores("team.b.1", digest, [CellScores(CELL, before)], {"t3": "of another row"}))
    fleet.plan()
    passed = condition(run, "GatePassed")
    assert "19 tasks) against team.b.1" in passed
    assert passed.endswith("; not compared, because their rows differ: t3")


def test_a_gate_passes_if_no_earlier_run_is_good() -> None:
    fleet, run = frozen(2, gate={"lastGood": True, "maxRegression": 0.1})
    run.baseline = Baseline(None)
    fleet.run_out()
    assert condition(run, "GatePassed") == (
        "True GatePassed: infra errors 0 of 2 trials, 0.0%; at most 2.0% is allowed; "
        "not scored 0 of 2 trials, 0.0%; at most 5.0% is allowed; "
        "no earlier run is good, so there is nothing to compare with yet"
    )


def test_a_missing_baseline_fails_the_gate() -> None:
    fleet, run = frozen(1)
    fleet.edit(run, gate=EvalRunSpec.model_validate(SPEC | {"gate": {"baseline": "b", "maxRegression": 0.1}}).gate)
    fleet.end_one()
    gone = Problem("spec.gate.baseline", "holds no run 'b'")
    for _ in range(2):
        desired = planned(fleet, lambda seen: replace(seen, runs=(replace(seen.runs[0], baseline=gone),)))
        run.gate = desired.gate or run.gate
    assert condition(run, "GatePassed") == "False BaselineNotFound: spec.gate.baseline: holds no run 'b'"


@pytest.mark.parametrize(("completed", "failed"), [({0, 1}, set()), (set(), {0, 1})])
def test_indexes_without_a_report_are_infra_errors_and_retried(completed: set[int], failed: set[int]) -> None:
    fleet, run = frozen(2)
    job = fleet.jobs[first_job(fleet)]
    job.pods.clear()
    job.completed, job.failed = completed, failed
    desired = planned(fleet)
    assert [(record.task_id, record.outcome, record.reason) for record in desired.records] == [
        ("t0", Outcome.INFRA_ERROR, "runner_error"),
        ("t1", Outcome.INFRA_ERROR, "runner_error"),
    ]
    name = first_job(fleet)
    assert (
        desired.records[0].message == f"index 0 of Job {name} ended without a termination message or an attempt record"
    )
    fleet.run_out()
    assert run.status.progress == "2/2"


def test_trials_of_an_unharvested_job_are_not_planned_again() -> None:
    fleet, run = frozen(2)
    job = fleet.jobs[first_job(fleet)]
    job.completed, job.pods = {0, 1}, set()
    desired = planned(fleet, lambda seen: replace(seen, jobs=tuple(replace(job, harvested=False) for job in seen.jobs)))
    assert (desired.create, desired.records, desired.delete) == ((), (), ())
    assert condition(run, "Succeeded") == "Unknown NotFinished"


def test_deleted_runs_are_not_planned() -> None:
    fleet, _ = frozen()
    seen = fleet.observed()
    assert plan(replace(seen, runs=(replace(seen.runs[0], deleting=True),)), CONFIG, fleet.now, "1") == {}


def test_conditions_of_other_controllers_stay() -> None:
    fleet, run = frozen()
    other = Condition(type="example.com/Seen", status="True", reason="Yes", last_transition_time=START)
    run.status = run.status.model_copy(update={"conditions": [other, *run.status.conditions]})
    fleet.run_out()
    assert run.status.conditions[-1] == other
    assert [item.type for item in run.status.conditions[:4]] == ["Accepted", "Progressing", "Stalled", "Succeeded"]


def test_planning_an_applied_plan_changes_nothing() -> None:
    fleet, _ = frozen(40, ceiling=3)
    assert planned(fleet) == Desired(requeue_after_s=30)


def test_a_run_records_few_events() -> None:
    fleet, run = frozen(30, ceiling=5)
    fleet.run_out()
    assert [event.reason for event in run.events if event.reason != "JobsCreated"] == [
        "Accepted", "PreflightRunning", "Running", "Complete",
    ]  # fmt: skip
    assert run.control is None, "a gate that is open needs no file"
