"""Runs that wait for Kueue: a Job that is not admitted keeps no slots from others, and what stops a run stops it."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.operator.fleet import CONFIG, START, Fleet, SimRun, entry, model, summary

from opsgym_api.kinds.evalrun import Budget, EvalRunSpec, PodOptions
from opsgym_api.records.outcomes import Outcome
from opsgym_operator.observe.objects import ObservedJob, ObservedNamespace
from opsgym_operator.plan.desired import Desired, ObjectRef
from opsgym_operator.plan.jobs.queues import PATIENCE_S, YIELD_S
from opsgym_operator.plan.namespace import plan

SPEC: dict[str, Any] = {"suite": {"builtin": "quickstart"}, "models": [{"name": "best", "ref": "gpt"}]}


class Queues(Fleet):
    """A namespace with a full queue: none of its Jobs is admitted unless `admitting` is set."""

    def __init__(self, ceiling: int = 4) -> None:
        super().__init__()
        self.models["gpt"] = model("gpt", max_concurrency=ceiling)
        self.admitting = False
        self.withdrawn: dict[str, Any] = {}
        self.seen = self._with_queues

    def begin(self, name: str, **fields: Any) -> SimRun:
        run = self.apply(name, EvalRunSpec.model_validate(SPEC | fields), [entry(f"t{n}") for n in range(60)])
        self.plan()
        return run

    def carry_out(self, run: SimRun, desired: Desired) -> bool:
        if desired.withdrawn:
            self.withdrawn[run.uid] = self.now
        changed = super().carry_out(run, desired)
        for job in self.jobs.values():
            if self.admitting and self._is_queued(job.uid):
                job.suspended = False
        self._controllers()
        return changed

    def after(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)
        self.plan()

    def end_one_of_each(self) -> None:
        for name, job in list(self.jobs.items()):
            for index in sorted(job.pods)[:1]:
                self.end(name, index)
        self.plan()

    def slots(self, run: SimRun) -> int:
        """Pods that the run's unfinished Jobs may have."""
        jobs = [job for job in self.jobs.values() if job.uid == run.uid and not job.finished]
        return sum(min(job.parallelism, len(job.order.trials) - len(job.completed)) for job in jobs)

    def _is_queued(self, uid: str) -> bool:
        return self.runs[uid].spec.queue_name is not None

    def _with_queues(self, seen: ObservedNamespace) -> ObservedNamespace:
        runs = tuple(replace(run, withdrawn_at=self.withdrawn.get(run.uid)) for run in seen.runs)
        jobs = tuple(self._queued(job) if self._is_queued(job.run_uid) else job for job in seen.jobs)
        return replace(seen, queues=frozenset({"team", "other"}), runs=runs, jobs=jobs)

    def _queued(self, job: ObservedJob) -> ObservedJob:
        return replace(job, queued=True, version="7", waiting_since=START if job.suspended else None)


def test_a_job_that_is_not_admitted_gives_its_slots_to_a_run_that_can_use_them() -> None:
    fleet = Queues()
    waiting = fleet.begin("waiting", queueName="team")
    assert fleet.slots(waiting) == 4
    working = fleet.begin("working")
    assert (fleet.slots(waiting), fleet.slots(working)) == (4, 0), "Kueue may be about to admit it"
    assert working.condition("Progressing") == "True WaitingForModel"

    fleet.after(PATIENCE_S)

    assert (fleet.slots(waiting), fleet.slots(working)) == (0, 4)
    assert waiting.condition("Progressing") == "True WaitingForQueue"


def test_a_job_leaves_its_queue_only_in_the_state_in_which_it_was_seen() -> None:
    fleet = Queues()
    waiting = fleet.begin("waiting", queueName="team")
    working = fleet.begin("working")
    [name] = fleet.jobs
    fleet.now += timedelta(seconds=PATIENCE_S)
    desired = plan(fleet.observed(), CONFIG, fleet.now, "1.0")
    assert desired[waiting.uid].delete == (ObjectRef("Job", name, version="7"),)
    assert desired[working.uid].create == (), "the slots are free once the Job is gone"


def test_a_job_keeps_its_place_while_nobody_else_can_use_its_slots() -> None:
    fleet = Queues()
    waiting = fleet.begin("waiting", queueName="team")
    fleet.after(10 * PATIENCE_S)
    assert fleet.slots(waiting) == 4
    same = fleet.begin("same", queueName="team")
    fleet.after(10 * PATIENCE_S)
    assert (fleet.slots(waiting), fleet.slots(same)) == (4, 0), "the other run would wait in the same queue"


def test_a_job_gives_its_slots_to_another_queue_and_to_another_priority() -> None:
    for place in ({"queueName": "other"}, {"queueName": "team", "queuePriorityClass": "urgent"}):
        fleet = Queues()
        waiting = fleet.begin("waiting", queueName="team")
        further = fleet.begin("further", **place)
        fleet.after(PATIENCE_S)
        assert (fleet.slots(waiting), fleet.slots(further)) == (0, 4), place


def test_an_admitted_job_keeps_its_slots() -> None:
    fleet = Queues()
    fleet.admitting = True
    admitted = fleet.begin("admitted", queueName="team")
    fleet.begin("working")
    fleet.after(10 * PATIENCE_S)
    assert fleet.slots(admitted) == 4


def test_a_run_whose_jobs_left_is_served_last_for_a_while_and_then_as_before() -> None:
    fleet = Queues()
    waiting = fleet.begin("waiting", queueName="team")
    working = fleet.begin("working")
    fleet.after(PATIENCE_S)
    for _ in range(10):
        fleet.end_one_of_each()
    assert (fleet.slots(waiting), fleet.slots(working)) == (0, 4), "the other run comes first"
    fleet.admitting = True
    fleet.after(YIELD_S)
    for _ in range(20):
        fleet.end_one_of_each()
        assert fleet.busy("best") <= 4
    assert fleet.slots(waiting) > 0


def away(fleet: Fleet, seconds: float, *, starting: bool = False) -> ObservedNamespace:
    """The namespace as observed when no store has answered for so many seconds; its pods run or start."""
    seen = fleet.observed()
    runs = tuple(replace(run, store_error="s3://b: refused", store_error_s=seconds) for run in seen.runs)
    return replace(seen, runs=runs, pods=tuple(replace(pod, running=not starting) for pod in seen.pods))


def test_an_outage_of_the_store_takes_jobs_without_a_running_pod_from_their_queue() -> None:
    fleet = Queues()
    run = fleet.begin("nightly", queueName="team")
    [name] = fleet.jobs
    deletion = (ObjectRef("Job", name, version="7"),)

    def deleted(seen: ObservedNamespace) -> tuple[ObjectRef, ...]:
        desired = plan(seen, CONFIG, fleet.now, "1.0")[run.uid]
        assert desired.patches == (), "Kueue would resume a Job that is suspended"
        return desired.delete

    assert deleted(away(fleet, 19)) == ()
    assert deleted(away(fleet, 120)) == deletion, "Kueue may admit it at any moment"
    fleet.admitting = True
    fleet.plan()
    assert fleet.busy("best") == 4
    assert deleted(away(fleet, 120)) == (), "running pods keep what they have paid for"
    assert deleted(away(fleet, 19, starting=True)) == ()
    assert deleted(away(fleet, 120, starting=True)) == deletion


def test_a_run_queues_again_when_its_store_answers() -> None:
    fleet = Queues()
    run = fleet.begin("nightly", queueName="team")
    fleet.carry_out(run, plan(away(fleet, 120), CONFIG, fleet.now, "1.0")[run.uid])
    assert not fleet.jobs
    fleet.plan()
    assert fleet.slots(run) == 4
    fleet.admitting = True
    fleet.run_out()
    assert (run.status.progress, run.started) == ("60/60", 60)


def test_jobs_of_a_refused_run_leave_their_queue_admitted_or_not() -> None:
    for admitting in (False, True):
        fleet = Queues()
        fleet.admitting = admitting
        run = fleet.begin("nightly", queueName="team")
        [name] = fleet.jobs
        fleet.edit(run, pods=PodOptions(profile="withdrawn"))
        desired = plan(fleet.observed(), CONFIG, fleet.now, "1.0")[run.uid]
        assert (desired.delete, desired.patches) == ((ObjectRef("Job", name),), ()), admitting


def test_a_spent_budget_ends_jobs_of_a_queue_while_the_store_is_away() -> None:
    for admitting in (False, True):
        fleet = Queues()
        fleet.admitting = admitting
        run = fleet.begin("nightly", queueName="team")
        fleet.edit(run, budget=Budget(max_usd=1))
        [(name, job)] = fleet.jobs.items()
        ref = job.order.trials[-1]
        run.ledger.record(summary(job.order.cell, ref.task_id, ref.trial, 0, Outcome.PASSED, 2.0, fleet.now))
        desired = plan(away(fleet, 1), CONFIG, fleet.now, "1.0")[run.uid]
        assert (desired.delete, desired.patches) == ((ObjectRef("Job", name),), ()), admitting


def test_a_spent_budget_ends_a_run_whose_jobs_wait_for_their_queue() -> None:
    fleet = Queues()
    run = fleet.begin("nightly", queueName="team")
    fleet.edit(run, budget=Budget(max_usd=1))
    [(name, job)] = fleet.jobs.items()
    ref = job.order.trials[-1]
    run.ledger.record(summary(job.order.cell, ref.task_id, ref.trial, 0, Outcome.PASSED, 2.0, fleet.now))
    desired = plan(fleet.observed(), CONFIG, fleet.now, "1.0")[run.uid]
    assert desired.delete == (ObjectRef("Job", name, version="7"),), "Kueue may have admitted it meanwhile"
    fleet.plan()
    assert (run.status.progress, run.status.not_scored) == ("1/60", 59)
    assert run.condition("Succeeded") == "True BudgetSpent"


@pytest.mark.parametrize("seed", range(12))
def test_a_run_with_a_budget_comes_to_its_end_when_its_queue_admits_now_and_then(seed: int) -> None:
    fleet, chance = Queues(), random.Random(seed)
    fleet.ending = lambda *_: (Outcome.PASSED, chance.choice((0.05, 0.1, 0.3)))
    run = fleet.begin("nightly", queueName="team", budget={"maxUsd": chance.choice((1, 3, 5))})
    created: set[str] = set()
    for _ in range(200):
        fleet.admitting = chance.random() < 0.5
        fleet.after(5)
        if pods := [(name, index) for name, job in fleet.jobs.items() for index in sorted(job.pods)]:
            fleet.end(*chance.choice(pods))
            fleet.plan()
        created.update(fleet.jobs)
    assert run.condition("Succeeded") == "True BudgetSpent"
    assert len(created) < 25
