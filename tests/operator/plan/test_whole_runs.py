"""Whole runs, planned again and again while pods end in any order."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.operator.fleet import AttemptEnd, Fleet, SimRun, entry, model

from opsgym_api.kinds.evalmodel import ModelSpec
from opsgym_api.kinds.evalrun import Agent, Budget, EvalRunSpec, Limits, ModelEntry, Suite
from opsgym_api.records.attempt import Cell, TrialId
from opsgym_api.records.outcomes import Outcome
from opsgym_operator.observe.objects import ObservedNamespace
from opsgym_operator.plan.namespace import plan


def spec(*, refs: tuple[str, ...] = ("gpt",), trials: int = 1, retries: int = 2, **fields: object) -> EvalRunSpec:
    return EvalRunSpec.model_validate(
        {
            "suite": Suite(builtin="q"),
            "models": [ModelEntry(name=ref, ref=ref) for ref in refs],
            "trials": trials,
            "limits": Limits(infra_retries=retries),
            **fields,
        }
    )


def scored(run: SimRun) -> Counter[TrialId]:
    assert run.record is not None
    return Counter(
        TrialId(planned.cell.key, task_id, trial)
        for planned in run.record.cells
        for task_id in planned.task_ids
        for trial in range(run.record.trials)
        if run.ledger.state(TrialId(planned.cell.key, task_id, trial)).outcome in (Outcome.PASSED, Outcome.FAILED)
    )


def test_a_run_goes_from_preflight_to_every_trial_scored() -> None:
    fleet = Fleet()
    fleet.models["gpt"] = model("gpt", max_concurrency=3)
    run = fleet.apply("nightly", spec(trials=2), [entry(f"t{number}") for number in range(10)])
    fleet.run_out()
    assert (run.status.phase, run.status.progress, run.status.success) == ("Complete", "20/20", "100.0%")
    assert run.condition("Succeeded") == "True Complete"
    assert run.started == 20
    assert run.status.results == "s3://bucket/prefix/runs/team.nightly.uid-nightly"


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 1_000_000),
    st.integers(1, 9),
    st.lists(st.tuples(st.integers(1, 25), st.integers(1, 3), st.integers(1, 2)), min_size=1, max_size=3),
    st.floats(0, 0.4),
    st.booleans(),
)
def test_ceilings_hold_and_every_trial_ends_whatever_happens(
    seed: int, ceiling: int, sizes: list[tuple[int, int, int]], lost: float, toggled: bool
) -> None:
    fleet = Fleet(seed)

    def ending(cell: str, task_id: str, trial: int, attempt: int) -> AttemptEnd:
        outcome = fleet.chance.choice((Outcome.PASSED, Outcome.FAILED))
        return (Outcome.INFRA_ERROR if fleet.chance.random() < lost else outcome), 0.0

    fleet.ending = ending
    fleet.models["gpt"] = model("gpt", max_concurrency=ceiling)
    for number, (count, trials, agents) in enumerate(sizes):
        run_spec = spec(trials=trials, agents=[Agent(name=f"a{agent}") for agent in range(agents)])
        rows = [entry(f"t{row}", *(("itsm", "hr") if row % 5 == 4 else ("csm",))) for row in range(count)]
        fleet.apply(f"run-{number}", run_spec, rows)
        fleet.now += timedelta(seconds=1)

    def check() -> None:
        assert fleet.busy("gpt") <= ceiling
        running = Counter(
            (job.uid, job.order.cell.key, ref.task_id, ref.trial)
            for job in fleet.jobs.values()
            for ref in (job.order.trials[index] for index in job.pods)
        )
        assert all(count == 1 for count in running.values()), "a trial runs twice at once"

    fleet.plan()
    for _ in range(40):
        if toggled:
            run = fleet.chance.choice(list(fleet.runs.values()))
            fleet.edit(run, suspend=not run.spec.suspend)
        fleet.plan()
        check()
        fleet.end_one()
    for run in fleet.runs.values():
        if run.spec.suspend:
            fleet.edit(run, suspend=False)
    fleet.run_out(check=check)
    # A breaker that has opened waits for the clock.
    for _ in range(50):
        fleet.now += timedelta(seconds=700)
        fleet.run_out(check=check)
    for run in fleet.runs.values():
        assert run.status.phase in ("Complete", "Failed"), run.status
        assert run.status.counters["pending"] == 0
        assert all(run.ledger.state(key).infra_errors <= 3 for key in run.attempts)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1_000_000), st.integers(2, 8), st.integers(0, 30))
def test_a_later_run_gets_its_fair_share_within_a_chunk(seed: int, ceiling: int, head_start: int) -> None:
    fleet = Fleet(seed)
    fleet.models["gpt"] = model("gpt", max_concurrency=ceiling)
    first = fleet.apply("first", spec(trials=20), [entry(f"t{number}") for number in range(20)])
    fleet.plan()
    for _ in range(head_start):
        fleet.end_one()
        fleet.plan()
    second = fleet.apply("second", spec(trials=20), [entry(f"t{number}") for number in range(20)])
    fleet.plan()
    ended = 0
    while second.started < ceiling // 2:
        assert fleet.end_one()
        fleet.plan()
        ended += 1
    # A Job of the first run lasts five rounds at most; then what it gives back goes to the second alone.
    assert ended <= 6 * ceiling
    assert first.started < 400


def test_inline_models_share_no_slots_with_other_runs() -> None:
    fleet = Fleet()
    own = [ModelEntry(name="own", inline=ModelSpec(model="replay/gold", max_concurrency=2))]
    for name in ("one", "two"):
        fleet.apply(name, spec(models=own), [entry(f"t{number}") for number in range(9)])
    fleet.plan()
    assert fleet.busy("own") == 4


def test_a_resumed_run_runs_only_unscored_trials() -> None:
    fleet = Fleet()
    fleet.models["gpt"] = model("gpt", max_concurrency=4)
    run = fleet.apply("nightly", spec(), [entry(f"t{number}") for number in range(20)])
    fleet.plan()
    for _ in range(6):
        fleet.end_one()
        fleet.plan()
    before = scored(run)
    assert len(before) == 6
    fleet.edit(run, suspend=True)
    fleet.plan()
    while fleet.end_one():
        fleet.plan()
    assert fleet.busy("gpt") == 0
    assert (run.status.phase, run.condition("Progressing")) == ("Suspended", "False Suspended")
    assert run.control is not None
    assert (run.control.start, run.control.reason) == (False, "suspended")
    fleet.edit(run, suspend=False)
    fleet.run_out()
    assert run.status.progress == "20/20"
    assert run.ledger.scored == 20


def test_a_resumed_run_takes_no_slots_of_another_run() -> None:
    fleet = Fleet()
    fleet.models["gpt"] = model("gpt", max_concurrency=4)
    first = fleet.apply("first", spec(), [entry(f"t{number}") for number in range(20)])
    fleet.plan()
    fleet.edit(first, suspend=True)
    fleet.plan()
    while fleet.busy("gpt"):
        fleet.end_one()
    second = fleet.apply("second", spec(), [entry(f"t{number}") for number in range(20)])
    fleet.plan()
    assert fleet.busy("gpt") == 4
    fleet.edit(first, suspend=False)

    def check() -> None:
        assert fleet.busy("gpt") <= 4

    fleet.plan()
    check()
    assert first.status.phase == "Waiting"
    assert first.condition("Progressing") == "True WaitingForModel"
    fleet.run_out(check=check)
    assert (first.status.progress, second.status.progress) == ("20/20", "20/20")


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 1_000_000),
    st.integers(1, 8),
    st.lists(st.floats(0.0, 2.0), min_size=1, max_size=60),
    st.floats(0.05, 20.0),
    st.booleans(),
)
def test_spend_keeps_the_documented_bound_and_the_rest_is_skipped(
    seed: int, ceiling: int, costs: list[float], cap: float, seen_early: bool
) -> None:
    fleet = Fleet(seed)
    fleet.models["gpt"] = model("gpt", max_concurrency=ceiling)
    fleet.ending = lambda cell, task_id, trial, attempt: (Outcome.PASSED, costs[int(task_id[1:])])
    run_spec = spec(budget=Budget(max_usd=cap))
    run = fleet.apply("nightly", run_spec, [entry(f"t{number}") for number in range(len(costs))])
    fleet.run_out(spending=seen_early)
    spent, largest = run.ledger.spent, run.ledger.largest
    assert spent <= cap + (5 * ceiling + 1) * largest + 1e-9
    skipped = run.status.counters["budget_skipped"]
    assert run.ledger.scored + skipped == len(costs)
    assert skipped == 0 or spent >= cap
    assert run.status.phase == ("Complete" if run.ledger.scored else "Failed")
    if skipped:
        assert run.condition("Succeeded") == ("True BudgetSpent" if run.ledger.scored else "False NothingScored")
        fleet.edit(run, budget=Budget(max_usd=1e9))
        fleet.run_out()
        assert run.status.progress == f"{len(costs)}/{len(costs)}"
        assert run.condition("Succeeded") == "True Complete"


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 1_000_000),
    st.integers(1, 4),
    st.lists(st.tuples(st.floats(0.01, 2.0), st.booleans()), min_size=1, max_size=60),
    st.floats(0.05, 20.0),
)
def test_attempts_of_unknown_cost_are_bounded_by_a_budget(
    seed: int, ceiling: int, costs: list[tuple[float, bool]], cap: float
) -> None:
    fleet = Fleet(seed)
    fleet.models["gpt"] = model("gpt", max_concurrency=ceiling)
    paid: list[float] = []

    def ending(cell: str, task_id: str, trial: int, attempt: int) -> tuple[Outcome, float | None]:
        cost, known = costs[int(task_id[1:])]
        paid.append(cost)
        return Outcome.PASSED, cost if known else None

    fleet.ending = ending
    run = fleet.apply(
        "nightly", spec(budget=Budget(max_usd=cap)), [entry(f"t{number}") for number in range(len(costs))]
    )
    fleet.run_out()
    largest, in_flight = max(cost for cost, _ in costs), 5 * ceiling
    beyond = run.ledger.unknown * (largest - run.ledger.largest)
    assert sum(paid) <= cap + (in_flight + 1) * largest + beyond + 1e-9


@pytest.mark.parametrize("seen_early", [False, True])
@pytest.mark.parametrize("ceiling", [1, 4, 8])
def test_equal_costs_never_pass_the_cap_by_more_than_one_trial(ceiling: int, seen_early: bool) -> None:
    fleet = Fleet()
    fleet.models["gpt"] = model("gpt", max_concurrency=ceiling)
    fleet.ending = lambda *_: (Outcome.PASSED, 0.1)
    run = fleet.apply("nightly", spec(budget=Budget(max_usd=2.05)), [entry(f"t{number}") for number in range(90)])
    fleet.run_out(spending=seen_early)
    assert 2.05 <= run.ledger.spent <= 2.05 + 0.1
    # Spend that is seen early may stop those that are under way when it reaches the cap.
    stopped = run.started - run.ledger.scored
    assert stopped <= (ceiling if seen_early else 0), "no pod is started for a trial that is skipped"


def test_a_run_that_cannot_be_planned_is_reported_and_stops_no_other() -> None:
    fleet = Fleet()
    fleet.models["gpt"] = model("gpt", max_concurrency=4)
    broken, sound = (fleet.apply(name, spec(), [entry("a"), entry("b")]) for name in ("broken", "sound"))
    fleet.plan()
    assert fleet.jobs
    unknown = Cell(model="gpt", agent="gone", mode="oracle", domain="itsm")

    def seen(namespace: ObservedNamespace) -> ObservedNamespace:
        # As after an edit of the Job's annotation: it has ended, and its cell is not one of the run.
        edited = [
            replace(job, cell=unknown.key, completed=frozenset({0}), finished=True, harvested=True)
            if job.run_uid == broken.uid
            else job
            for job in namespace.jobs
        ]
        return replace(namespace, jobs=tuple(edited))

    fleet.seen = seen
    plans = plan(fleet.observed(), fleet.config, fleet.now, "1.0")
    assert isinstance(plans[broken.uid].fault, KeyError)
    status = plans[broken.uid].status
    assert status is not None
    assert next(item.reason for item in status.conditions if item.type == "Stalled") == "InternalError"
    assert plans[sound.uid].fault is None


@pytest.mark.parametrize("step", ["assess.accept", "conclude.summarize"])
def test_a_run_that_cannot_be_planned_goes_on_until_it_is_suspended(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fleet = Fleet()
    fleet.models["gpt"] = model("gpt", max_concurrency=4)
    run = fleet.apply("nightly", spec(), [entry(f"t{number}") for number in range(30)])
    fleet.plan()

    def fail(*_: object, **__: object) -> None:
        raise KeyError("a fault of the operator")

    with monkeypatch.context() as patched:
        patched.setattr(f"opsgym_operator.plan.{step}", fail)
        fleet.plan()
        fleet.end_one()
        fleet.plan()
        assert (run.condition("Stalled"), fleet.busy("gpt"), run.started) == ("True InternalError", 4, 5)
        fleet.edit(run, suspend=True)
        fleet.run_out()
        assert (run.condition("Stalled"), fleet.busy("gpt"), run.started) == ("True InternalError", 0, 5)
    fleet.edit(run, suspend=False)
    fleet.run_out()
    assert run.status.progress == "30/30"
