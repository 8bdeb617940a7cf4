"""Runs of every kind at once, while users suspend them and change budgets, stores go away and pods end in any order:
no model has more pods than its ceiling, no trial runs twice at once, and every run comes to its end.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import Any

import pytest
from tests.operator.fleet import AttemptEnd, Fleet, SimRun, entry, model

from opsgym_api.kinds.evalrun import Budget, EvalRunSpec
from opsgym_api.records.outcomes import Outcome
from opsgym_operator.observe.objects import ObservedNamespace, ObservedRun

FOUND = (145, 334)
"""Seeds that found a fault: a resumed Job held the slots that it may use, and not those of its pods that still end."""


class EventfulFleet(Fleet):
    """Some runs, drawn at random, and what happens to them."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.draw = Random(seed)
        self.ceilings = {"gpt": self.draw.randint(1, 9), "big": self.draw.randint(1, 20)}
        self.models = {name: model(name, max_concurrency=ceiling) for name, ceiling in self.ceilings.items()}
        self.costs = self.draw.choice(((0.0,), (0.1,), (0.05, 0.1, 0.3)))
        self.lost = self.draw.choice((0, 0, 0.1, 0.3))
        self.ending = self._ending
        self.without_store: set[str] = set()
        self.seen = self._without_stores
        self.created: set[str] = set()
        for number in range(self.draw.randint(1, 3)):
            rows = [entry(f"t{row}", *(("itsm", "hr") if row % 5 == 4 else ("csm",))) for row in range(self._up_to(30))]
            self.apply(f"run-{number}", self._spec(), rows)
            self.now += timedelta(seconds=1)

    def step(self) -> None:
        """One thing happens, and the operator plans."""
        run, event = self.draw.choice(list(self.runs.values())), self.draw.random()
        if event < 0.06:
            self.edit(run, suspend=not run.spec.suspend)
        elif event < 0.1 and run.spec.budget is not None:
            self.edit(run, budget=Budget(max_usd=self.draw.choice((0.5, 1, 2, 4, 8))))
        elif event < 0.13:
            self.without_store ^= {run.uid}
        elif event < 0.16:
            self.now += timedelta(seconds=self.draw.choice((5, 60, 700)))
        elif event < 0.4:
            self.spend_some()
        self.plan()
        self.verify()
        self.end_one()

    def come_to_rest(self) -> None:
        """Nothing else happens until the runs have ended."""
        self.without_store.clear()
        for run in self.runs.values():
            self.edit(run, suspend=False)
        for _ in range(60):
            self.run_out(most=3000, check=self.verify)
            self.now += timedelta(seconds=700)  # a breaker that has opened waits for the clock

    def verify(self) -> None:
        self.created.update(self.jobs)
        for name, ceiling in self.ceilings.items():
            assert self.busy(name) <= ceiling, name
        playing = Counter(
            (job.uid, job.order.cell.key, ref.task_id, ref.trial)
            for job in self.jobs.values()
            for index in job.pods | job.terminating
            for ref in job.trials(index)
        )
        assert [trial for trial, pods in playing.items() if pods > 1] == []

    def _up_to(self, most: int) -> int:
        return self.draw.randint(1, most)

    def _spec(self) -> EvalRunSpec:
        likely, names = self.draw.random, self.draw.choice((["gpt"], ["big"], ["gpt", "big"]))
        spec: dict[str, Any] = {
            "suite": {"builtin": "q"},
            "models": [{"name": name, "ref": name} for name in names],
            "agents": [{"name": f"a{number}"} for number in range(self._up_to(3))],
            "trials": self._up_to(4),
            "limits": {"infraRetries": self.draw.randint(0, 3)},
        }
        if likely() < 0.5:
            spec["budget"] = {"maxUsd": self.draw.choice((0.5, 1, 2, 3, 5))}
        if likely() < 0.5:
            spec["trialsPerPod"] = self._up_to(6)
        if likely() < 0.5:
            spec["gate"] = {
                "minSuccessRate": self.draw.choice((0.3, 0.5, 0.9)),
                "minTrials": self._up_to(spec["trials"]),
            }
        return EvalRunSpec.model_validate(spec)

    def _ending(self, cell: str, task_id: str, trial: int, attempt: int) -> AttemptEnd:
        lost, outcome = self.draw.random() < self.lost, self.draw.choice((Outcome.PASSED, Outcome.FAILED))
        return Outcome.INFRA_ERROR if lost else outcome, self.draw.choice(self.costs)

    def _without_stores(self, namespace: ObservedNamespace) -> ObservedNamespace:
        def seen(run: ObservedRun) -> ObservedRun:
            away = run.uid in self.without_store
            return replace(run, store_error="s3://b: refused", store_error_s=30.0) if away else run

        return replace(namespace, runs=tuple(map(seen, namespace.runs)))


def is_over(run: SimRun) -> bool:
    return run.status.phase in ("Complete", "Failed") and run.status.counters["pending"] == 0


@pytest.mark.parametrize("seed", [*range(20), *FOUND])
def test_ceilings_hold_and_every_run_ends_whatever_happens(seed: int) -> None:
    fleet = EventfulFleet(seed)
    for _ in range(100):
        fleet.step()
    fleet.come_to_rest()
    assert [run.status for run in fleet.runs.values() if not is_over(run)] == []
    assert len(fleet.created) < 400, "Jobs are not made without end"
