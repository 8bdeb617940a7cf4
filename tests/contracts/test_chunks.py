"""Chunks repeat records without changing scores, in any order of writes."""

from __future__ import annotations

import gzip
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from benchmarks.large_run import RUN as LARGE
from benchmarks.large_run import put_large_run
from tests.contracts.test_scores import CSM, ITSM, attempt, run, trial, verifier, write

from opsgym_api.errors import InputError
from opsgym_api.records.attempt import Attempt, AttemptRecord, Timings, TrialRecord, Usage
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.results.compaction import CHUNK_ROWS, compact, put_chunk, read_chunk
from opsgym_core.results.load import load_record, load_rows, load_run
from opsgym_core.results.rows import rows_of_records
from opsgym_core.results.score import summarise
from opsgym_core.store.base import Store
from opsgym_core.store.local import LocalStore

KEYS = RunKeys("r.1")
TASKS = ["a", "b", "c", "d", "e"]


class Counting:
    """A store that remembers what was asked of it."""

    def __init__(self, store: Store) -> None:
        self.name = store.name
        self.store = store
        self.read: list[str] = []
        self.listed: list[str] = []

    def get(self, key: str) -> bytes | None:
        self.read.append(key)
        return self.store.get(key)

    def put(self, key: str, content: bytes) -> None:
        self.store.put(key, content)

    def put_once(self, key: str, content: bytes) -> bool:
        return self.store.put_once(key, content)

    def keys(self, prefix: str) -> Iterator[str]:
        self.listed.append(prefix)
        return self.store.keys(prefix)

    def folders(self, folder: str) -> Iterator[str]:
        return self.store.folders(folder)


def put(store: Store, *records: TrialRecord | AttemptRecord) -> None:
    for record in records:
        keys = KEYS.trial(record.cell, record.task_id, record.trial)
        key = keys.record if isinstance(record, TrialRecord) else keys.attempt(record.attempt)
        store.put(key, record.to_json())


def scored(task: str, score: int, number: int = 0, **more: Any) -> list[TrialRecord | AttemptRecord]:
    """A scored trial as a runner leaves it: its record, and that of the attempt."""
    record = replace(
        trial(task, score, verifiers=(verifier(passed=bool(score)),)),
        attempt=number,
        answer="secret words",
        **more,
    )
    return [record, attempt(task, record.outcome, number=number, cost=record.cost_usd)]


@pytest.fixture
def half_done(store: Store) -> Store:
    """Two cells: of one, everything is scored, once after a lost attempt and a killed one; the other is under way."""
    write(store, run({ITSM: TASKS, CSM: ["x", "y", "z"]}))
    for task in TASKS[1:]:
        put(store, *scored(task, task in "bc"))
    put(store, attempt("a", Outcome.INFRA_ERROR, reason="gym_lost"), attempt("a", None, number=1, cost=0.125))
    put(store, *scored("a", 1, number=2))
    put(
        store,
        attempt("x", Outcome.INFRA_ERROR, reason="gym_lost", cell=CSM),
        attempt("y", None, cell=CSM, cost=0.0625),
        trial("z", 0, cell=CSM),
    )
    return store


def test_every_field_of_an_attempt_survives_a_chunk(store: LocalStore) -> None:
    values: dict[str, Any] = {
        part.name: 7 for part in fields(Attempt) if part.type in ("int", "float | None") and part.name != "trial"
    }
    usage = Usage(*range(1, len(fields(Usage)) + 1))
    lost = replace(
        attempt("a", Outcome.INFRA_ERROR, reason="gym_lost"),
        message="gone",
        usage=usage,
        planner_usage=usage,
        judge_usage=usage,
        timings=Timings(started_at="t", **{part.name: 1.5 for part in fields(Timings) if part.name != "started_at"}),
        **values,
    )
    won = replace(trial("b", 1), **values)
    put_chunk(store, "r.1", "one", rows_of_records([won], [lost]))
    (rows,) = read_chunk(store, KEYS.chunk("one"))
    assert (rows.trials, rows.attempts) == ((won.without_texts(),), (lost.narrow(Attempt),))


def test_a_chunk_row_restores_the_attempt_record() -> None:
    usage = Usage(model_calls=1, prompt_tokens=2, reasoning_tokens=3)
    record = replace(
        attempt("a", Outcome.INFRA_ERROR, number=2, reason="gym_lost"),
        message="gone",
        usage=usage,
        judge_usage=usage,
        model_retries=4,
        judge_cost_usd=None,
    )
    assert AttemptRecord.of(record.run, record.narrow(Attempt)) == record


def test_scores_are_equal_with_and_without_chunks(half_done: Store) -> None:
    before = load_rows(half_done, "r.1")
    assert compact(half_done, before.run) == len(TASKS) + 2 + 2
    assert load_rows(half_done, "r.1") == before
    assert summarise(before) == summarise(load_run(half_done, "r.1"))


def test_compacted_records_are_not_compacted_again(half_done: Store) -> None:
    record = load_record(half_done, "r.1")
    compact(half_done, record)
    chunks = list(half_done.keys(KEYS.chunks))
    assert compact(half_done, record) == 0
    assert list(half_done.keys(KEYS.chunks)) == chunks


def test_a_fully_compacted_cell_is_not_listed(half_done: Store) -> None:
    compact(half_done, load_record(half_done, "r.1"))
    counting = Counting(half_done)
    load_rows(counting, "r.1")
    assert [prefix for prefix in counting.listed if prefix.startswith(KEYS.cells)] == [
        KEYS.task(CSM.key, task) for task in ("x", "y")
    ]
    assert [key for key in counting.read if key.startswith(KEYS.cells)] == [KEYS.trial(CSM, "y", 0).attempt(0)]


def test_records_written_after_a_chunk_count(half_done: Store) -> None:
    record = load_record(half_done, "r.1")
    compact(half_done, record)
    put(half_done, replace(trial("x", 1, cell=CSM), attempt=1))
    put(half_done, attempt("y", Outcome.INFRA_ERROR, reason="model_auth", cell=CSM, cost=0.5))
    for _ in range(2):
        score = summarise(load_rows(half_done, "r.1")).cells[1].score
        assert (score.passed, score.failed, score.not_scored) == (1, 1, {"infra_error/model_auth": 1})
        assert score.cost_usd == 0.25 + 0.5 + 0.5 + 0.5  # the lost attempt, x, y and z
        compact(half_done, record)


def test_chunks_that_overlap_count_once(half_done: Store) -> None:
    before = load_rows(half_done, "r.1")
    put_chunk(half_done, "r.1", "job-0", before.cells[:1])
    put_chunk(half_done, "r.1", "job-1", before.cells)
    assert load_rows(half_done, "r.1") == before


def test_a_chunk_is_written_once(store: Store) -> None:
    write(store, run({ITSM: ["a"]}))
    first, second = rows_of_records([trial("a", 1)], []), rows_of_records([trial("a", 0)], [])
    assert put_chunk(store, "r.1", "job-0", first)
    assert not put_chunk(store, "r.1", "job-0", second)
    assert list(read_chunk(store, KEYS.chunk("job-0"))) == first


def test_a_chunk_holds_neither_answers_nor_queries(half_done: Store) -> None:
    compact(half_done, load_record(half_done, "r.1"))
    (chunk,) = half_done.keys(KEYS.chunks)
    content = gzip.decompress(half_done.get(chunk) or b"").decode()
    assert '"task_id":"a"' in content
    assert "secret words" not in content
    assert "query" not in content


@pytest.mark.parametrize(
    "content",
    [b"", b"no gzip", gzip.compress(b"{}"), gzip.compress(b"[")[:-4], gzip.compress(b'{"version":1}')],
    ids=["empty", "not gzip", "empty object", "cut off", "no cells"],
)
def test_a_broken_chunk_costs_nothing_but_the_time_to_read_single_records(tmp_path: Path, content: bytes) -> None:
    store = LocalStore(tmp_path)
    write(store, run({ITSM: ["a"]}))
    store.put(KEYS.trial(ITSM, "a", 0).record, trial("a", 1).to_json())
    store.put(KEYS.chunk("job-0"), content)
    assert summarise(load_rows(store, "r.1")).total.passed == 1
    with pytest.raises(InputError, match=r"chunks/job-0\.json\.gz: is not a valid chunk .* may be deleted"):
        read_chunk(store, KEYS.chunk("job-0"))


def test_records_of_any_order_compacted_at_any_time_give_the_same_summary(tmp_path: Path) -> None:
    draw = random.Random(3)
    records: list[TrialRecord | AttemptRecord] = []
    tasks = [f"t{number}" for number in range(30)]
    for task in tasks:
        records += [
            attempt(task, Outcome.INFRA_ERROR, number=number, reason="gym_lost", cost=draw.random())
            for number in range(draw.randrange(3))
        ]
        if draw.random() < 0.8:
            records += scored(task, draw.randrange(2), number=3, cost_usd=draw.random())
    expected = None
    for number in range(5):
        store = LocalStore(tmp_path / str(number))
        write(store, record := run({ITSM: tasks}))
        for item in draw.sample(records, len(records)):
            put(store, item)
        for _ in range(draw.randrange(3)):
            compact(store, record)
        summary = summarise(load_rows(store, "r.1"))
        expected = expected or summary
        assert summary == expected


def test_large_cells_are_split_over_chunks_and_small_cells_share_one(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    put_large_run(store, cells=3, tasks=500)
    before = load_rows(store, LARGE)
    compact(store, before.run)
    chunks = [read_chunk(store, key) for key in store.keys(RunKeys(LARGE).chunks)]
    assert sorted(sum(len(cell.trials) for cell in chunk) for chunk in chunks) == [500, CHUNK_ROWS]
    assert load_rows(store, LARGE) == before


SUMMARISE = """
import json, resource, sys
from opsgym_core.results.load import load_rows
from opsgym_core.results.score import summarise
from opsgym_core.store.location import open_store
summary = summarise(load_rows(open_store(sys.argv[1]), sys.argv[2]))
used = resource.getrusage(resource.RUSAGE_SELF)
# Not ru_maxrss: it starts at the peak of the parent process.
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]
print(json.dumps([summary.total.scored, used.ru_utime + used.ru_stime, int(peak) * 1024 / 1e6]))
"""


def test_50_000_records_are_summarised_in_seconds_and_half_a_gigabyte(tmp_path: Path) -> None:
    """CPU seconds, since tests share the machine; the bound is 5 s, `python -m benchmarks summaries` measures it."""
    store = LocalStore(tmp_path)
    put_large_run(store, cells=1, tasks=CHUNK_ROWS)
    (cell,) = load_rows(store, LARGE).cells
    cells = [cell.cell.model_copy(update={"model": f"model-{number}"}) for number in range(50)]
    ids = [row.task_id for row in cell.trials]
    write(store, run(dict.fromkeys(cells, ids), name="big.1"))
    for number, name in enumerate(cells):
        put_chunk(store, "big.1", f"job-{number}", [replace(cell, cell=name)])
        # One record that is not compacted for each cell, so that loading has to list the cell's folder.
        store.put(RunKeys("big.1").trial(name, ids[0], 0).record, b"not read")
    done = subprocess.run(
        [sys.executable, "-c", SUMMARISE, str(tmp_path), "big.1"], capture_output=True, text=True, check=True
    )
    trials, seconds, megabytes = json.loads(done.stdout)
    assert trials == 50_000
    assert seconds <= 10
    assert megabytes <= 500
