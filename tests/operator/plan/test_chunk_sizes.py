"""Large runs need few Jobs, and still hand back slots after a few rounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.operator.fleet import Fleet, SimRun, entry, model

from opsgym_api.kinds.evalrun import EvalRunSpec
from opsgym_operator.plan import slots
from opsgym_operator.plan.slots import ROUNDS, least_chunk

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
