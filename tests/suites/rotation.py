"""Which tasks a test run proves in full: those whose turn it is, and those whose row has just changed.

Invariant: equal trees prove equal tasks, so a run fails only for what a commit changed; every change of a suite moves
the turn. With OPSGYM_SOAK=1 all tasks are proved in full. The reference solutions and the wordings of their answers are
tried in every run.
"""

from __future__ import annotations

import json
import subprocess
import zlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import zstandard
from tests.domains.declaration import SOAK
from tests.suites.proofs import Case

PARTS = 10
"""One of so many tasks is proved in full."""
ROOT = Path(__file__).parents[2]
BEFORE = "HEAD~1"
"""Revision with which rows are compared: what the last commit changes, and what is not committed, is new."""
MOST_CHANGED = 40
"""Changed rows of a suite that are all proved in full. Where more have changed, as by a new verifier, the author
proves them by `make soak`, and a run proves those whose turn it is."""


def in_full(case: Case) -> bool:
    """Whether this run tries everything that must pass or must not of a task."""
    file = f"domain_images/opsgym_domains/{case.suite.domain}/data/{case.suite.name}.jsonl.zst"
    return SOAK or is_turn(case.task.task_id, turn(file)) or case.task.task_id in changed(file)


def is_turn(task_id: str, number: int) -> bool:
    """Whether a turn is a task's."""
    return zlib.crc32(task_id.encode()) % PARTS == number % PARTS


@cache
def turn(file: str) -> int:
    """The turn of a suite, which changes with its file."""
    return zlib.crc32((ROOT / file).read_bytes())


@cache
def changed(file: str) -> frozenset[str]:
    """Tasks whose row in a suite's file is not that of the revision before; none if more than `MOST_CHANGED` differ."""
    shown = subprocess.run(["git", "show", f"{BEFORE}:{file}"], cwd=ROOT, capture_output=True, check=False)
    before = rows(shown.stdout) if shown.returncode == 0 else {}
    now = rows((ROOT / file).read_bytes())
    different = frozenset(task_id for task_id, row in now.items() if row != before.get(task_id))
    return different if len(different) <= MOST_CHANGED else frozenset()


def rows(content: bytes) -> Mapping[str, Any]:
    """The rows of a suite's file, by task."""
    parsed = map(json.loads, zstandard.decompress(content).splitlines())
    return {row["task_id"]: row for row in parsed}
