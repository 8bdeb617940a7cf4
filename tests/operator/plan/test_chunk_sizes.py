"""Large runs need few Jobs, and still hand back slots after a few rounds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest
from tests.operator.fleet import AttemptEnd, Fleet, SimRun, entry, model

from opsgym_api.kinds.evalrun import EvalRunSpec
from opsgym_api.records.outcomes import Outcome
from opsgym_operator.plan.jobs import slots
from opsgym_operator.plan.jobs.slots import ROUNDS, least_chunk

DOMAINS = ("calendar", "csm", "drive", "email", "hr", "itsm")


class CountingFleet(Fleet):
    """Remembers how many trials each Job was created with, and the parallelism it had at most."""

    def __init__(self, ceiling: int) -> None:
        super().__init__()
        self.models["gpt"] = model("gpt", max_concurrency=ceiling)
        self.sizes: dict[str, int] = {}
        self.widths: dict[str, int] = {}

    def start(self, name: str, tasks: int, agents: int, **fields: Any) -> SimRun:
        """A run of `tasks` tasks in each of six domains for each agent."""
        spec = {
            "suite": {"builtin": "quickstart"},
            "models": [{"name": "best", "ref": "gpt"}],
            "agents": [{"name": f"a{number}"} for number in range(agents)],
            **fields,
        }
        rows = [entry(f"{domain}-{number}", domain) for domain in DOMAINS for number in range(tasks)]
        return self.apply(name, EvalRunSpec.model_validate(spec), rows)

    def _create(self, run: SimRun, manifest: Mapping[str, Any]) -> None:
        super()._create(run, manifest)
        if manifest["metadata"]["name"] in self.jobs:
            self.sizes[manifest["metadata"]["name"]] = manifest["spec"]["completions"]

    def note_widths(self) -> None:
        for name, job in self.jobs.items():
            self.widths[name] = max(self.widths.get(name, 0), job.parallelism)


@pytest.fixture
def few_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run is split into about 20 Jobs instead of 1,000."""
    monkeypatch.setattr(slots, "MOST_JOBS", 20)


@pytest.mark.usefixtures("few_jobs")
def test_a_run_of_many_cells_needs_about_as_many_jobs_as_cells() -> None:
    fleet = CountingFleet(ceiling=10)
    run = fleet.start("large", tasks=50, agents=2)
    fleet.run_out(check=fleet.note_widths)
    assert run.status.phase == "Complete"
    assert sum(fleet.sizes.values()) == 600
    assert len(fleet.sizes) <= 20 + 12
    assert min(fleet.sizes.values()) >= least_chunk(600)
    narrow = [name for name, size in fleet.sizes.items() if fleet.widths[name] * ROUNDS * 2 < size]
    assert len(narrow) <= 1, "only the last Job may lack the slots that others still hold"


@pytest.mark.usefixtures("few_jobs")
def test_slots_go_to_the_cell_that_has_begun_before_the_next_cell_gets_any() -> None:
    fleet = CountingFleet(ceiling=13)
    fleet.start("large", tasks=50, agents=2)
    fleet.plan()
    assert sorted(job.parallelism for job in fleet.jobs.values()) == [3, 10]
    begun = next(name for name, job in fleet.jobs.items() if job.parallelism == 3)
    complete = next(name for name in fleet.jobs if name != begun)
    for index in range(42):
        fleet.end(complete, index)
    fleet.plan()
    assert fleet.jobs[begun].parallelism == 5
    assert len(fleet.jobs) == 2


@pytest.mark.usefixtures("few_jobs")
def test_a_run_that_starts_later_gets_slots_after_a_few_rounds() -> None:
    fleet = CountingFleet(ceiling=10)
    fleet.start("large", tasks=50, agents=2)
    fleet.plan()
    later = fleet.start("small", tasks=1, agents=1)
    fleet.plan()
    ended = 0
    while not later.started and fleet.end_one():
        ended += 1
        fleet.plan()
    assert later.started
    assert ended <= 10 * ROUNDS


def test_a_run_of_fifty_thousand_trials_in_840_cells_is_split_into_at_most_1500_jobs() -> None:
    fleet = CountingFleet(ceiling=200)
    suite = {"builtin": "quickstart", "modes": ["oracle", "plus_5_tools", "plus_10_tools", "plus_15_tools"]}
    fleet.start("large", tasks=60, agents=35, suite=suite)
    fleet.plan()
    assert set(fleet.sizes.values()) == {60}, "a Job is a whole cell, so there are 840"
    assert [job.parallelism for job in fleet.jobs.values()] == [12] * 16 + [8]
    assert least_chunk(50_400) == 51


@pytest.mark.parametrize(
    ("ceiling", "parallelism", "sizes"), [(32, [4] * 8, {20}), (16, [2] * 8, {10}), (7, [1] * 7, {5})]
)
def test_a_cell_of_a_small_run_takes_slots_that_make_its_chunk_worth_a_job_up_to_an_eighth_of_them(
    ceiling: int, parallelism: list[int], sizes: set[int]
) -> None:
    fleet = CountingFleet(ceiling)
    fleet.start("small", tasks=50, agents=2)
    fleet.plan()
    assert [job.parallelism for job in fleet.jobs.values()] == parallelism
    assert set(fleet.sizes.values()) == sizes


@pytest.mark.parametrize(("per_pod", "tasks"), [(4, 50), (20, 50), (20, 3), (7, 1)])
def test_a_pod_of_several_trials_takes_one_slot_and_every_trial_is_played_once(per_pod: int, tasks: int) -> None:
    fleet = CountingFleet(ceiling=10)
    run = fleet.start("large", tasks=tasks, agents=1, trialsPerPod=per_pod)
    fleet.run_out(check=lambda: most_in_use(fleet, 10))
    assert run.status.phase == "Complete"
    assert run.attempts == dict.fromkeys(run.attempts, 1)
    assert len(run.attempts) == 6 * tasks
    assert run.started <= 6 * math.ceil(tasks / per_pod) + len(fleet.sizes)


def most_in_use(fleet: CountingFleet, ceiling: int) -> None:
    assert fleet.busy("best") <= ceiling


def test_a_lost_attempt_costs_its_pod_a_retry_and_the_other_trials_nothing() -> None:
    def ending(_cell: str, task_id: str, _trial: int, attempt: int) -> AttemptEnd:
        return (Outcome.INFRA_ERROR if task_id == "itsm-3" and attempt == 0 else Outcome.PASSED), 0.0

    fleet = CountingFleet(ceiling=10)
    fleet.ending = ending
    run = fleet.start("large", tasks=10, agents=1, trialsPerPod=5)
    fleet.run_out()
    assert run.status.phase == "Complete"
    assert {key.task_id for key, attempts in run.attempts.items() if attempts != 1} == {"itsm-3"}
    assert run.ledger.scored == 60


def test_while_no_cost_is_known_a_pod_plays_one_trial() -> None:
    fleet = CountingFleet(ceiling=4)
    fleet.start("dear", tasks=10, agents=1, trialsPerPod=5, budget={"maxUsd": 5})
    fleet.plan()
    assert {(job.order.trials_per_pod, job.completions) for job in fleet.jobs.values()} == {(1, 1)}


@pytest.mark.parametrize(("trial_s", "per_pod"), [(5, 45), (100, 3), (900, 1)])
def test_auto_plays_as_many_trials_in_a_pod_as_take_five_minutes_once_a_duration_is_known(
    trial_s: float, per_pod: int
) -> None:
    fleet = CountingFleet(ceiling=4)
    fleet.trial_s = trial_s
    run = fleet.start("large", tasks=30, agents=1, trialsPerPod="auto")
    sizes: set[int] = set()
    fleet.plan()
    assert {(job.order.trials_per_pod, job.completions) for job in fleet.jobs.values()} == {(1, 1)}
    fleet.run_out(check=lambda: sizes.update(job.order.trials_per_pod for job in fleet.jobs.values()))
    assert max(sizes) == per_pod
    assert run.status.phase == "Complete"
    assert len(run.attempts) == 180
    assert set(run.attempts.values()) == {1}


def test_auto_leaves_no_slot_empty_while_there_are_trials_for_it() -> None:
    fleet = CountingFleet(ceiling=60)
    fleet.trial_s = 5
    run = fleet.start("short", tasks=30, agents=1, trialsPerPod="auto")
    fleet.run_out(check=lambda: most_in_use(fleet, 60))
    assert run.started >= 60 + 120 / 3
