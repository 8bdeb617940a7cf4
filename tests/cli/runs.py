"""Writes runs directly into a store, for tests of commands that read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import zstandard

from opsgym_api.records.attempt import AttemptRecord, Cell, Timings, TrialRecord, Usage, VerifierResult, Versions
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.run import PlannedCell, RunRecord
from opsgym_api.records.store_layout import RunKeys
from opsgym_api.records.transcript import Transcript, TranscriptEvent
from opsgym_core.store.base import Store

CELL = Cell(model="m", agent="react", mode="oracle", domain="itsm")
STARTED = Timings(started_at="2026-01-01T00:00:00Z", total_s=2.0)


def put_run(store: Store, run: str, cells: Sequence[PlannedCell], **fields: Any) -> None:
    """Writes `run.json`."""
    record = {
        "run": run,
        "name": run.rpartition(".")[0],
        "spec": {"suite": {"builtin": "quickstart"}},
        "task_ids": sorted({task_id for cell in cells for task_id in cell.task_ids}),
        "cells": cells,
        "suite_digest": "0",
        "opsgym": "0.1.0",
        "created_at": "2026-01-01T00:00:00Z",
        **fields,
    }
    store.put(RunKeys(run).run_json, RunRecord(**record).model_dump_json().encode())


def verifier(index: int = 0, *, passed: bool = True, **fields: Any) -> VerifierResult:
    """A verifier's result."""
    defaults: dict[str, Any] = {
        "index": index,
        "name": f"check {index}",
        "verifier_type": "database_state",
        "category": "task_completion",
        "executed": True,
        "passed": passed,
        "published_passed": passed,
    }
    return VerifierResult(**{**defaults, **fields})


def put_trial(store: Store, run: str, task_id: str, outcome: Outcome, cell: Cell = CELL, **fields: Any) -> TrialRecord:
    """Writes a scored trial."""
    passed = outcome is Outcome.PASSED
    defaults: dict[str, Any] = {
        "run": run,
        "cell": cell,
        "task_id": task_id,
        "trial": 0,
        "attempt": 0,
        "outcome": outcome,
        "reason": "" if passed else "verifiers",
        "score": int(passed),
        "published_score": int(passed),
        "verifiers": [verifier(passed=passed)],
        "answer": "Done.",
        "stopped_by": "answer",
        "usage": Usage(model_calls=1, prompt_tokens=10, completion_tokens=5),
        "cost_usd": 0.25,
        "steps": 2,
        "tool_calls": 1,
        "tool_errors": 0,
        "model_retries": 0,
        "timings": STARTED,
        "versions": Versions(opsgym="0.1.0", python="3.11", litellm="1", task_digest="0"),
    }
    record = TrialRecord.from_dict({**defaults, **fields})
    key = RunKeys(run).trial(cell, task_id, record.trial).record
    store.put(key, record.to_json())
    return record


def put_attempt(store: Store, run: str, task_id: str, outcome: Outcome | None, **fields: Any) -> AttemptRecord:
    """Writes an attempt."""
    defaults = {"run": run, "cell": CELL, "task_id": task_id, "trial": 0, "attempt": 0, "timings": STARTED}
    record = AttemptRecord.from_dict({**defaults, "outcome": outcome, **fields})
    key = RunKeys(run).trial(record.cell, task_id, record.trial).attempt(record.attempt)
    store.put(key, record.to_json())
    return record


def put_transcript(
    store: Store, run: str, task_id: str, *events: TranscriptEvent, attempt: int | None = None, cell: Cell = CELL
) -> None:
    """Writes the transcript of a scored trial, or of an attempt without a score."""
    keys = RunKeys(run).trial(cell, task_id, 0)
    content = Transcript(task_id=task_id, tools=[], events=list(events)).model_dump_json().encode()
    key = keys.transcript if attempt is None else keys.failed_transcript(attempt)
    store.put(key, zstandard.compress(content))
