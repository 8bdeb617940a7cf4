"""Which tasks a test run plays, and which in full: those whose turn it is and those whose row has just changed.

Invariant: equal trees play equal tasks, so a run fails only for what a commit changed; every change of a suite moves
the turn. With OPSGYM_SOAK=1 all tasks are proved in full.
"""

from __future__ import annotations

import json
import subprocess
import zlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import zstandard
from tests.domains.declaration import SOAK
from tests.suites.proofs import SUITES, Case

from opsgym_suites.kit.suite import Suite

PARTS = 10
"""One of so many tasks is played."""
PARTS_IN_FULL = 120
"""One of so many is proved in full, which takes far longer; a multiple of `PARTS`."""
ROOT = Path(__file__).parents[2]
BEFORE = "HEAD~1"
"""Revision with which rows are compared: what the last commit changes, and what is not committed, is new."""
MOST_CHANGED = 40
"""Changed rows of a suite that are all proved in full. Where more have changed, as by a new verifier, the author
proves them by `make soak`; a run plays their reference solutions, and proves those whose turn it is."""


def played() -> list[str]:
    """Tasks of which this run plays at least the reference solution."""
    return [task_id for task_id in task_rows() if is_played(task_id)]


@cache
def task_rows() -> Mapping[str, tuple[str, bytes]]:
    """Tasks of all built-in suites by id, with suite and row as its file has it.

    Every process that runs tests collects all of them, and checking rows takes seconds.
    """
    return {
        task_id: (name, line)
        for name, suite in SUITES.items()
        for task_id, line in _lines((ROOT / _file(suite)).read_bytes()).items()
    }


def is_played(task_id: str) -> bool:
    """Whether this run plays a task."""
    file = _file(SUITES[task_rows()[task_id][0]])
    return SOAK or is_turn(task_id, turn(file)) or task_id in different(file)


def in_full(case: Case) -> bool:
    """Whether this run tries everything that must pass or must not of a task."""
    return is_proved(case.task.task_id)


def is_proved(task_id: str) -> bool:
    """Whether a task is one of those that this run proves in full."""
    file = _file(SUITES[task_rows()[task_id][0]])
    return SOAK or is_turn(task_id, turn(file), PARTS_IN_FULL) or task_id in changed(file)


def _file(suite: Suite) -> str:
    return f"domain_images/opsgym_domains/{suite.domain}/data/{suite.name}.jsonl.zst"


def is_turn(task_id: str, number: int, parts: int = PARTS) -> bool:
    """Whether a turn is a task's, of as many turns as there are parts."""
    return zlib.crc32(task_id.encode()) % parts == number % parts


def variant_of(suite: str) -> int:
    """The variant in which a suite's tasks are played: another one with every change of its file."""
    return 1 + turn(_file(SUITES[suite])) % 9999


@cache
def turn(file: str) -> int:
    """The turn of a suite, which changes with its file."""
    return zlib.crc32((ROOT / file).read_bytes())


def changed(file: str) -> frozenset[str]:
    """Tasks whose row differs, none if more than `MOST_CHANGED` do."""
    rows_changed = different(file)
    return rows_changed if len(rows_changed) <= MOST_CHANGED else frozenset()


@cache
def different(file: str) -> frozenset[str]:
    """Tasks whose row in a suite's file is not that of the revision before."""
    shown = subprocess.run(["git", "show", f"{BEFORE}:{file}"], cwd=ROOT, capture_output=True, check=False)
    before = _lines(shown.stdout) if shown.returncode == 0 else {}
    now = _lines((ROOT / file).read_bytes())
    return frozenset(task_id for task_id, line in now.items() if line != before.get(task_id))


def _lines(content: bytes) -> Mapping[str, bytes]:
    """The rows of a suite's file as text, by task."""
    return {json.loads(line)["task_id"]: line for line in zstandard.decompress(content).splitlines()}
