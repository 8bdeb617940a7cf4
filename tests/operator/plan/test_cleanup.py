"""Which Jobs and ConfigMaps stay, and that no name is used twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from tests.operator.fleet import AttemptEnd, Fleet, SimRun, entry, model

from opsgym_api.kinds.evalrun import EvalRunSpec
from opsgym_api.records.outcomes import Outcome
from opsgym_operator.observe.labels import number_of
from opsgym_operator.observe.objects import ChunkState, ObservedNamespace
from opsgym_operator.plan.jobs.cleanup import FAILURES_S, MOST_FAILURES
from opsgym_operator.plan.status.status import is_finished

SPEC: dict[str, Any] = {"suite": {"builtin": "quickstart"}, "models": [{"name": "best", "ref": "gpt"}]}


class Names(Fleet):
    """Remembers the names of all Jobs."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.names: list[str] = []

    def _create(self, run: SimRun, manifest: Any) -> None:
        super()._create(run, manifest)
        if manifest["kind"] == "Job" and manifest["metadata"]["name"] in self.jobs:
            self.names.append(manifest["metadata"]["name"])


def frozen(
    count: int, *, ending: Callable[..., AttemptEnd] | None = None, ceiling: int = 2, **fields: Any
) -> tuple[Names, SimRun]:
    fleet = Names()
    fleet.ending = ending or fleet.ending
    fleet.models["gpt"] = model("gpt", max_concurrency=ceiling)
    run = fleet.apply("nightly", EvalRunSpec.model_validate(SPEC | fields), [entry(f"t{n}") for n in range(count)])
    fleet.plan()
    return fleet, run


def chunks(state: ChunkState) -> Callable[[ObservedNamespace], ObservedNamespace]:
    """An observation in which no Job gets beyond this state of its chunk, and no number is in the store."""
    return lambda seen: replace(
        seen,
        runs=tuple(replace(run, next_numbers={}) for run in seen.runs),
        jobs=tuple(replace(job, chunk=state if job.harvested else job.chunk) for job in seen.jobs),
    )


def task_config_maps(run: SimRun) -> set[str]:
    return {name for name in run.config_maps if "-preflight-" not in name}


def fails_for(*tasks: str) -> Callable[..., AttemptEnd]:
    return lambda cell, task_id, trial, attempt: (Outcome.INFRA_ERROR if task_id in tasks else Outcome.PASSED, 0.0)


def test_harvested_jobs_go_with_their_config_maps_and_numbers_go_on() -> None:
    fleet, run = frozen(45)
    most = 0

    def check() -> None:
        nonlocal most
        most = max(most, len(fleet.jobs))
        assert task_config_maps(run) == set(fleet.jobs)

    fleet.run_out(check=check)
    assert most <= 2
    assert sorted(map(number_of, fleet.names)) == list(range(len(fleet.names))), "no number twice, none left out"
    assert len(fleet.names) > 3
    assert run.status.progress == "45/45"
    assert not fleet.jobs
    assert not task_config_maps(run)


def test_a_job_stays_until_its_records_are_in_a_chunk() -> None:
    fleet, _ = frozen(25)
    fleet.seen = chunks(ChunkState.IN_PROGRESS)
    fleet.run_out()
    assert sorted(fleet.jobs) == sorted(fleet.names)
    fleet.seen = lambda seen: seen
    fleet.plan()
    assert not fleet.jobs


def test_without_a_chunk_the_newest_job_of_a_cell_stays_while_the_run_runs() -> None:
    fleet, _ = frozen(25, agents=[{"name": "one"}, {"name": "two"}])
    fleet.seen = chunks(ChunkState.GIVEN_UP)
    while len(set(fleet.names)) < 6:
        fleet.end_one()
        fleet.plan()
    newest = {name.rpartition("-")[0]: name for name in sorted(fleet.names, key=number_of)}
    assert set(newest.values()) <= set(fleet.jobs)
    fleet.run_out()
    assert len(fleet.names) == len(set(fleet.names))
    fleet.plan()
    assert not fleet.jobs, "the run has ended"


def test_a_job_that_goes_on_when_its_run_has_ended_is_deleted_with_its_config_map() -> None:
    fleet, run = frozen(4)
    [name] = fleet.jobs
    run.config_maps.discard(name)  # a user deleted it, so the run does not know of the Job's trials
    twin = fleet.jobs.pop(name)
    fleet.run_out()
    assert is_finished(fleet.observed().runs[0])
    fleet.jobs["nightly-twin-9"] = replace(twin, pods=set(), suspended=False)
    run.config_maps.add("nightly-twin-9")
    fleet.plan()
    assert not fleet.jobs
    assert not task_config_maps(run)


def test_jobs_of_the_last_failures_stay_for_an_hour() -> None:
    failing = [f"t{number}" for number in (0, 15, 30, 45, 59)]
    fleet, run = frozen(60, ending=fails_for(*failing), limits={"infraRetries": 0})
    fleet.run_out()
    assert run.status.phase == "Complete"
    assert len(fleet.jobs) == MOST_FAILURES
    assert all(job.failed for job in fleet.jobs.values())
    tasks = {ref.task_id for job in fleet.jobs.values() for ref in job.order.trials}
    assert set(failing[-MOST_FAILURES:]) <= tasks
    assert task_config_maps(run) == set(fleet.jobs)
    left = fleet.last[run.uid].requeue_after_s
    assert left is not None
    assert left <= FAILURES_S
    fleet.now += timedelta(seconds=FAILURES_S)
    fleet.plan()
    assert not fleet.jobs
    assert not task_config_maps(run)
    assert fleet.last[run.uid].requeue_after_s is None
