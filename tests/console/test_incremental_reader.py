"""What is read of a run that goes on, and how often."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.runs import put_attempt, put_trial
from tests.console.harness import Running, at

from opsgym_api.records.gate import GateRecord
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.store_layout import RunKeys
from opsgym_console.server.incremental_reader import IncrementalReader
from opsgym_core.results.compaction import compact
from opsgym_core.results.load import load_record, load_rows
from opsgym_core.results.score import summarise
from opsgym_core.store.local import LocalStore


class CountingStore(LocalStore):
    """A folder that counts what is read of it."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.read: Counter[str] = Counter()

    def get(self, key: str) -> bytes | None:
        """Reads an object."""
        self.read[key] += 1
        return super().get(key)


@pytest.fixture
def store(tmp_path: Path) -> CountingStore:
    return CountingStore(tmp_path)


def _read(store: LocalStore, run: str) -> IncrementalReader:
    reading = IncrementalReader(load_record(store, run))
    reading.read_new(store)
    return reading


def test_what_was_read_is_not_read_again(store: CountingStore) -> None:
    run = Running.begin(store, "demo.1", "a", "b", "c")
    run.end("a")
    put_attempt(store, run.run, "b", Outcome.INFRA_ERROR, reason="gym_lost", cell=run.plan[0].cell)
    run.start("b", 1)
    reading = _read(store, run.run)
    store.read.clear()
    run.end("c")
    reading.read_new(store)
    keys = RunKeys(run.run).trial(run.plan[0].cell, "c", 0)
    running = RunKeys(run.run).trial(run.plan[1].cell, "b", 0).attempt(0)
    assert store.read == {keys.record: 1, keys.attempt(0): 1, running: 1}


def test_after_every_step_it_is_what_the_store_holds(store: CountingStore) -> None:
    run = Running.begin(store, "demo.1", "a", "b", "c")
    reading = _read(store, run.run)
    steps: list[Callable[[], object]] = [
        lambda: run.start("a"),
        lambda: run.end("a"),
        lambda: put_attempt(store, run.run, "b", Outcome.INFRA_ERROR, reason="gym_lost", cell=run.plan[1].cell),
        lambda: put_attempt(store, run.run, "b", None, attempt=1, cell=run.plan[1].cell),
        lambda: put_trial(store, run.run, "b", Outcome.FAILED, run.plan[1].cell, attempt=1, timings=at()),
        lambda: compact(store, load_record(store, run.run)),
        lambda: run.end("c", 1),
    ]
    for step in steps:
        step()
        reading.read_new(store)
        assert summarise(reading.rows) == summarise(load_rows(store, run.run))


def test_only_news_count_as_new(store: CountingStore) -> None:
    run = Running.begin(store, "demo.1", "a")
    run.start("a")
    reading = _read(store, run.run)
    reading.read_new(store)
    assert reading.version == 1
    run.end("a")
    reading.read_new(store)
    reading.read_new(store)
    assert reading.version == 2


def test_an_attempt_that_was_killed_is_final_once_its_trial_has_a_score(store: CountingStore) -> None:
    run = Running.begin(store, "demo.1", "a", "b", models=["gpt"])
    put_attempt(store, run.run, "a", None, cell=run.plan[0].cell, timings=at())
    reading = _read(store, run.run)
    put_trial(store, run.run, "a", Outcome.PASSED, run.plan[0].cell, attempt=1, timings=at())
    reading.read_new(store)
    store.read.clear()
    reading.read_new(store)
    assert store.read == {}
    assert summarise(reading.rows) == summarise(load_rows(store, run.run))


def test_a_gate_is_read_where_a_run_has_one(store: CountingStore) -> None:
    run = Running.begin(store, "demo.1", "a", models=["gpt"])
    run.end("a")
    record = load_record(store, run.run)
    reading = IncrementalReader(record.model_copy(update={"spec": {"gate": {"minSuccessRate": 0.5}}}))
    reading.read_new(store)
    assert reading.gate is None
    gate = GateRecord(run=run.run, verdict="GO", checks=[], decided_at="2026-01-01T00:00:00Z")
    store.put(RunKeys(run.run).gate_json, gate.model_dump_json().encode())
    reading.read_new(store)
    assert reading.gate == gate


def test_a_run_that_was_removed_is_told(store: CountingStore) -> None:
    run = Running.begin(store, "demo.1", "a")
    reading = _read(store, run.run)
    assert reading.read_new(store)
    shutil.rmtree(store.root / "runs" / run.run)
    assert not reading.read_new(store)


def test_a_record_that_cannot_be_read_counts_as_not_scored(store: CountingStore) -> None:
    run = Running.begin(store, "demo.1", "a")
    key = RunKeys(run.run).trial(run.plan[0].cell, "a", 0).record
    store.put(key, b"{")
    assert _read(store, run.run).summary.total.not_scored["config_error/unreadable_record"] == 1
