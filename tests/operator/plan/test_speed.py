"""Plans of large runs are quick: an operator makes one whenever something happens."""

from __future__ import annotations

import random
import time

from tests.operator.fleet import CONFIG, Fleet, entry, model, summary

from opsgym_api.kinds.evalrun import EvalRunSpec, Mode
from opsgym_api.records.outcomes import Outcome
from opsgym_operator.plan.namespace import plan

MOST_CPU_S = 0.5
"""For a plan of 50,000 trials; measured: 0.02, and 0.1 for the one that makes the first Jobs."""


def test_a_run_of_fifty_thousand_trials_is_planned_in_half_a_second() -> None:
    fleet = Fleet()
    fleet.models |= {name: model(name, max_concurrency=100) for name in "ab"}
    domains = ["calendar", "csm", "drive", "email", "hr", "itsm", "teams"]
    rows = [
        entry(f"task-{n:04}", *dict.fromkeys((domains[n % 7], domains[n % (7 if n % 8 else 5)]))) for n in range(1150)
    ]
    spec = {
        "suite": {"builtin": "q", "modes": [mode.value for mode in Mode]},
        "models": [{"name": name, "ref": name} for name in "ab"],
        "trials": 5,
        "budget": {"maxUsd": 1e6},
    }
    run = fleet.apply("large", EvalRunSpec.model_validate(spec), rows)
    fleet.plan()
    assert run.record is not None
    assert run.status.counters["total"] == 57_500
    trials = [
        (planned.cell, task_id, trial)
        for planned in run.record.cells
        for task_id in planned.task_ids
        for trial in range(5)
    ]
    random.Random(0).shuffle(trials)
    for cell, task_id, trial in trials[:50_000]:
        run.ledger.record(summary(cell, task_id, trial, 0, Outcome.PASSED, 0.01, fleet.now))
    seen = fleet.observed()
    began = time.process_time()
    [desired] = plan(seen, CONFIG, fleet.now, "1.0").values()
    assert time.process_time() - began < MOST_CPU_S
    assert desired.status is not None
    assert desired.status.progress == "50000/57500"
