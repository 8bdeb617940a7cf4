"""What a scored trial left is read back whole, or named as what it is."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from math import inf
from typing import Any

import apsw
import pytest
import zstandard
from hypothesis import example, given
from hypothesis import strategies as st
from tests.cli.runs import CELL, put_trial
from tests.cli.world import row
from tests.runner.jobs import MemoryStore

from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.store_layout import RunKeys
from opsgym_api.records.transcript import Transcript, TranscriptEvent
from opsgym_api.tasks.task import Task
from opsgym_runner.errors import NotScored
from opsgym_runner.rescoring import read_saved_trial, script_of

RUN = "demo.1"
KEYS = RunKeys(RUN).trial(CELL, "first", 0)
TASK = Task.model_validate(row("first"))
STATE = KEYS.state("gym-itsm-mcp")


def state_of(*statements: str, rows: list[tuple[Any, ...]] | None = None) -> bytes:
    """A SQLite file."""
    with closing(sqlite3.connect(":memory:")) as db:
        for statement in statements:
            db.execute(statement)
        db.executemany("INSERT INTO t VALUES (?, ?)", rows or [])
        db.commit()
        return db.serialize()


TABLE = 'CREATE TABLE t (a, "b ""c""")'


@pytest.fixture
def left() -> MemoryStore:
    """A store with everything that a scored trial leaves."""
    store = MemoryStore()
    store.put(STATE, zstandard.compress(state_of(TABLE)))
    calls = [TranscriptEvent(kind="assistant"), TranscriptEvent(kind="tool", tool_name="find", is_error=True)]
    calls.append(TranscriptEvent(kind="tool", tool_name="fix"))
    transcript = Transcript(task_id="first", tools=["find"], events=calls)
    store.put(KEYS.transcript, zstandard.compress(transcript.model_dump_json().encode()))
    return store


def test_every_tool_called_and_every_state_is_read(left: MemoryStore) -> None:
    saved = read_saved_trial(left, RUN, put_trial(left, RUN, "first", Outcome.PASSED), TASK)
    assert [(call.tool, call.is_error) for call in saved.calls] == [("find", True), ("fix", False)]
    assert saved.states == {"gym-itsm-mcp": state_of(TABLE)}


@pytest.mark.parametrize(
    ("key", "content", "reason", "problem"),
    [
        (STATE, None, "unsupported", "did not offer its final state"),
        (STATE, b"no archive", "store_lost", f"{STATE} is damaged"),
        (KEYS.transcript, None, "store_lost", f"has no {KEYS.transcript}"),
        (KEYS.transcript, zstandard.compress(b"{}"), "unsupported", "is not a valid Transcript of this version"),
    ],
)
def test_a_missing_or_damaged_object_is_named(
    left: MemoryStore, key: str, content: bytes | None, reason: str, problem: str
) -> None:
    if content is None:
        del left.objects[key]
    else:
        left.put(key, content)
    with pytest.raises(NotScored, match=problem) as raised:
        read_saved_trial(left, RUN, put_trial(left, RUN, "first", Outcome.PASSED), TASK)
    assert raised.value.reason == reason


def test_a_state_that_is_not_a_database_is_named() -> None:
    with pytest.raises(NotScored, match="a saved state is damaged"):
        script_of(b"no database")


values = st.one_of(
    st.none(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False), st.binary(),
    st.text(st.characters(codec="utf-8", exclude_characters="\0")),
)  # fmt: skip


@given(st.lists(st.tuples(values, values)))
@example([(1.3232992044880377e-303, -0.1), (inf, -inf), (1e308, 5e-324)])
def test_a_state_comes_back_from_its_script_row_for_row(rows: list[tuple[Any, ...]]) -> None:
    """Gym servers read scripts by APSW's SQLite; Python's own may be older and read some numbers inexactly."""
    script = script_of(state_of(TABLE, rows=rows))
    with closing(apsw.Connection(":memory:")) as db:
        db.execute(f"{TABLE};\n{script}")
        assert db.execute("SELECT * FROM t ORDER BY rowid").fetchall() == rows
