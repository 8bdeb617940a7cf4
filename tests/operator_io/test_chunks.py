"""What is stored of a Job is repeated in one object when the Job is over, and read from pods_of_run after a restart."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.operator_io.material import CELL, RUN, TRIALS_BY_JOB, ended, job, pod, record, score, summary

from opsgym_api.kinds.evalrun import EvalRunSpec
from opsgym_api.records.attempt import NO_USAGE, Timings, Usage
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.run import PlannedCell, RunRecord
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.metrics.registry import Metrics
from opsgym_core.results.load import load_rows
from opsgym_core.store.base import Store, StoreError
from opsgym_core.store.mounted import Stores
from opsgym_core.store.s3 import S3Store
from opsgym_operator.plan.desired import Load
from opsgym_operator.state.run_state import RunState
from opsgym_operator.state.stored_run import read_stored_run

JOB = "nightly-abc-0"
KEYS = RunKeys(RUN)
SPEC = {
    "suite": {"builtin": "quickstart"},
    "models": [{"name": "gold", "inline": {"model": "replay/gold"}}],
}


@pytest.fixture
def store(stores: Stores) -> Store:
    """Holds a run of three trials: one passed, one failed after a lost attempt, one is not scored."""
    store = stores.get("results")
    tasks = [f"task-{number}" for number in range(3)]
    run = RunRecord(
        run=RUN, name="nightly", spec=SPEC, task_ids=tasks, cells=[PlannedCell(cell=CELL, task_ids=tasks)],
        suite_digest="d", opsgym="0", created_at="2026-11-20T12:00:00Z",
    )  # fmt: skip
    store.put(KEYS.run_json, run.model_dump_json().encode())
    for index, attempt, outcome in ((0, 0, Outcome.PASSED), (1, 1, Outcome.FAILED)):
        put(store, score(index, attempt, outcome))
        put(store, record(index, attempt, outcome, cost_usd=0.25))
    put(store, record(1, 0, Outcome.INFRA_ERROR, reason="gym_lost", cost_usd=0.125))
    put(store, record(2, 0, Outcome.INFRA_ERROR, reason="gym_lost", message="gone", cost_usd=0.5))
    return store


def put(store: Store, item: Any) -> None:
    keys = KEYS.trial(CELL, item.task_id, item.trial)
    key = keys.record if hasattr(item, "score") else keys.attempt(item.attempt)
    store.put(key, item.to_json())


def pods() -> list[Any]:
    messages = [
        summary(0, cost_usd=0.25),
        summary(1, 1, Outcome.FAILED, cost_usd=0.25),
        summary(2, 0, Outcome.INFRA_ERROR, reason="gym_lost", cost_usd=0.5),
    ]
    return [pod(index, agent=ended(message=attempt.to_json().decode())) for index, attempt in enumerate(messages)]


def new_state(stores: Stores) -> RunState:
    return RunState(
        id=RUN,
        spec=EvalRunSpec.model_validate(SPEC),
        store="results",
        baseline_namespaces=frozenset({"team"}),
        stores=stores,
        metrics=Metrics(),
        since=datetime.now(UTC),
        enqueue=lambda: None,
    )


async def all_done(state: RunState) -> None:
    """Waits until nothing is read or written any more."""
    while tasks := [*state._reading.values(), *state._background]:
        await asyncio.wait(tasks)


async def passed_over(state: RunState, jobs: list[Any], pods_of_run: list[Any]) -> None:
    """What a pass does with a run's store."""
    state.read([Load.STORED_RUN])
    await all_done(state)
    assert state.harvester is not None
    if state.harvester.observe(pods_of_run, jobs, TRIALS_BY_JOB, suspended=False):
        await state.harvester.settle()
    state.compact(jobs, {JOB: pods_of_run}, TRIALS_BY_JOB)
    await all_done(state)


def test_a_chunk_is_written_when_the_job_is_over_and_harvested(stores: Stores, store: Store) -> None:
    async def passes() -> None:
        state = new_state(stores)
        await passed_over(state, [job("0", "")], pods()[:1])
        assert list(store.keys(KEYS.chunks)) == []
        await passed_over(state, [job("0,1", "2", finished=True)], pods())

    before = load_rows(store, RUN)
    asyncio.run(passes())
    assert list(store.keys(KEYS.chunks)) == [KEYS.chunk(JOB)]
    assert load_rows(store, RUN) == before


def test_a_chunk_does_not_read_again_what_the_harvest_has_read(
    stores: Stores, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    record_of_first = KEYS.trial(CELL, "task-0", 0).record
    requested: list[str] = []
    get = S3Store.get

    def counted(self: S3Store, key: str) -> bytes | None:
        requested.append(key)
        return get(self, key)

    async def passes() -> None:
        state = new_state(stores)
        await passed_over(state, [], [])
        store.put(record_of_first, store.get(record_of_first) or b"")  # the first is harvested, not loaded
        monkeypatch.setattr(S3Store, "get", counted)
        await passed_over(state, [job("0,1", "2", finished=True)], pods())

    before = load_rows(store, RUN)
    asyncio.run(passes())
    assert requested.count(record_of_first) == 1
    assert load_rows(store, RUN) == before


def test_a_restart_reads_what_chunks_hold_from_them_and_the_rest_from_records(stores: Stores, store: Store) -> None:
    before = read_stored_run(store, RUN)
    asyncio.run(passed_over(new_state(stores), [job("0,1", "2", finished=True)], pods()))
    # Were they read, these would not be records.
    for index, attempt in ((0, 0), (1, 0), (1, 1)):
        store.put(KEYS.trial(CELL, f"task-{index}", 0).attempt(attempt), b"{}")
    put(store, score(2, 1))
    after = read_stored_run(store, RUN)
    assert after.chunks == {JOB}
    assert [item for item in after.attempts if item.task_id != "task-2"] == [
        item for item in before.attempts if item.task_id != "task-2"
    ]
    assert sorted((item.attempt, str(item.outcome)) for item in after.attempts if item.task_id == "task-2") == [
        (0, "infra_error"),
        (1, "passed"),
    ]


def test_a_restart_keeps_the_usage_of_those_attempts_that_its_metrics_count(store: Store) -> None:
    used = Usage(model_calls=3)
    for index, began in ((0, "2026-11-20T12:00:00Z"), (2, "2026-11-22T12:00:00Z")):
        timings = Timings(started_at=began, model_s=5.0, total_s=6.0)
        put(store, replace(score(index), usage=used, timings=timings))
    stored = read_stored_run(store, RUN, datetime(2026, 11, 22, tzinfo=UTC))
    read = {item.task_id: item for item in stored.attempts if item.outcome is Outcome.PASSED}
    assert (read["task-0"].usage, read["task-0"].timings.model_s) == (NO_USAGE, 0.0)
    assert read["task-0"].timings.total_s == 6.0
    assert (read["task-2"].usage, read["task-2"].timings.model_s) == (used, 5.0)


def test_a_restarted_operator_writes_no_chunk_twice(
    stores: Stores, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = [job("0,1", "2", finished=True)]
    asyncio.run(passed_over(new_state(stores), jobs, pods()))
    written: list[str] = []
    monkeypatch.setattr(
        "opsgym_operator.state.run_state.compact_job", lambda _store, _run, name, _order, _known: written.append(name)
    )
    asyncio.run(passed_over(new_state(stores), jobs, pods()))
    assert written == []


def test_a_chunk_that_cannot_be_written_does_not_stall_the_run(
    stores: Stores, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise StoreError("results", "chunks", "access denied")

    jobs = [job("0,1", "2", finished=True)]

    async def passes() -> None:
        state = new_state(stores)
        with monkeypatch.context() as patch:
            patch.setattr("opsgym_operator.state.run_state.compact_job", refuse)
            await passed_over(state, jobs, pods())
        assert state.error == ""
        assert list(store.keys(KEYS.chunks)) == []
        await passed_over(state, jobs, pods())
        assert list(store.keys(KEYS.chunks)) == []  # not at once
        monkeypatch.setattr("opsgym_operator.state.run_state.CHUNK_DELAY_S", 0.0)
        state._no_chunk_before = 0.0
        await passed_over(state, jobs, pods())

    asyncio.run(passes())
    assert list(store.keys(KEYS.chunks)) == [KEYS.chunk(JOB)]
