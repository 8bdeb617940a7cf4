"""Runs with `gate.minTrials` in a cluster: what is planned before and after each look."""

from __future__ import annotations

from collections import Counter

from tests.operator.fleet import AttemptEnd, Fleet, SimRun, entry, model

from opsgym_api.kinds.evalrun import Budget, EvalRunSpec, Gate, Limits, ModelEntry, Suite
from opsgym_api.records.outcomes import Outcome
from opsgym_core.gates.judge import Baseline
from opsgym_operator.plan.desired import Load
from opsgym_operator.plan.namespace import plan

TASKS = 30
CEILING = 8


def spec(gate: Gate, **fields: object) -> EvalRunSpec:
    return EvalRunSpec.model_validate(
        {
            "suite": Suite(builtin="q"),
            "models": [ModelEntry(name="gpt", ref="gpt")],
            "trials": 4,
            "limits": Limits(infra_retries=0),
            "gate": gate,
            **fields,
        }
    )


def fleet_with(run_spec: EvalRunSpec, seed: int = 0) -> tuple[Fleet, SimRun]:
    fleet = Fleet(seed)
    fleet.models["gpt"] = model("gpt", max_concurrency=CEILING)
    return fleet, fleet.apply("nightly", run_spec, [entry(f"t{number}") for number in range(TASKS)])


def half_pass(cell: str, task_id: str, trial: int, attempt: int) -> AttemptEnd:
    return (Outcome.PASSED if int(task_id[1:]) % 2 else Outcome.FAILED), 0.0


def planned(fleet: Fleet) -> Counter[int]:
    """Trials in Jobs, by number."""
    return Counter(ref.trial for job in fleet.jobs.values() for ref in job.order.trials)


EARLY = Gate(min_success_rate=0.5, min_trials=1)
"""GO at the first look if all 30 tasks pass."""


def test_no_trial_of_the_next_round_is_planned_before_the_look() -> None:
    fleet, run = fleet_with(spec(Gate(min_success_rate=0.5, min_trials=1)))
    fleet.ending = half_pass
    seen: list[tuple[int, int]] = []

    def check() -> None:
        assert run.record is None or max(planned(fleet), default=0) < run.record.trials
        looks = len(run.record.looks) if run.record else 0
        seen.append((looks, run.ledger.scored))

    fleet.run_out(check=check)
    assert [min(scored for looks, scored in seen if looks == number) for number in (1, 2)] == [TASKS, 2 * TASKS]
    assert (run.status.progress, run.status.gate) == ("120/120", "INCONCLUSIVE")
    assert [event.reason for event in run.events].count("RoundEnded") == 2


def test_a_decided_run_ends_after_its_first_round_and_says_so() -> None:
    fleet, run = fleet_with(spec(EARLY))
    fleet.run_out()
    assert (run.ledger.scored, run.started) == (TASKS, TASKS)
    assert (run.status.progress, run.status.gate, run.status.phase) == ("30/30", "GO", "Complete")
    assert run.status.counters["pending"] == run.status.not_scored == 0
    message = next(item.message for item in run.status.conditions if item.type == "Succeeded")
    assert "30 of 30 trials are scored" in message
    assert "stopped early at look 1 of 3, after 1 of 4 trials of each task" in message
    assert "90 trials were not played" in message
    assert run.record is not None
    assert run.record.stopped is not None
    assert run.gate is not None
    assert run.gate.checks == run.record.stopped.judged.checks


def test_a_restart_between_rounds_plans_the_round_that_the_looks_name() -> None:
    fleet, run = fleet_with(spec(Gate(min_success_rate=0.5, min_trials=1)))
    fleet.ending = half_pass
    fleet.plan()
    while run.ledger.scored < TASKS:
        fleet.end_one()
        fleet.plan()
    assert run.record is not None
    assert (len(run.record.looks), run.record.trials) == (1, 2)
    again = plan(fleet.observed(), fleet.config, fleet.now, "1.0")[run.uid]
    assert again.look is None
    assert planned(fleet)[1] > 0
    assert planned(fleet)[2] == 0


def test_a_look_waits_for_the_baseline() -> None:
    fleet, run = fleet_with(spec(Gate(last_good=True, max_regression=0.3, min_trials=1)))
    fleet.run_out()
    assert Load.BASELINE in fleet.last[run.uid].loads
    assert run.record is not None
    assert run.record.looks == ()
    run.baseline = Baseline(None)
    fleet.run_out()
    assert run.status.progress == "120/120", "the first run of a series plays all of its trials"


def test_a_spent_budget_ends_the_run_without_a_look_and_a_raised_one_goes_on() -> None:
    fleet, run = fleet_with(spec(EARLY, budget=Budget(max_usd=1.05)))
    fleet.ending = lambda *_: (Outcome.PASSED, 0.1)
    fleet.run_out()
    assert run.record is not None
    assert run.record.looks == ()
    assert run.status.counters["budget_skipped"] > 0
    assert run.status.counters["total"] == TASKS
    fleet.edit(run, budget=Budget(max_usd=1000))
    fleet.run_out()
    assert run.record.stopped is not None
    assert run.status.progress == "30/30"


def test_a_round_that_infrastructure_errors_lost_ends_the_run_without_a_look() -> None:
    fleet, run = fleet_with(spec(EARLY))
    fleet.ending = lambda *_: (Outcome.INFRA_ERROR, 0.0)
    fleet.run_out()
    fleet.now = fleet.now.replace(year=2027)
    fleet.run_out()
    assert run.record is not None
    assert run.record.looks == ()
    assert run.status.counters["infra_error"] == TASKS
