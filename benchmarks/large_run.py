"""A large run with random records, as single objects of a store or as chunks."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice

from opsgym_api.records.attempt import (
    AttemptRecord,
    Cell,
    Timings,
    TrialId,
    TrialRecord,
    Usage,
    VerifierResult,
    Versions,
)
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.run import PlannedCell, RunRecord
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.results.compaction import CHUNK_ROWS, put_chunk
from opsgym_core.results.rows import rows_of_records
from opsgym_core.store.base import Store

RUN = "large.1"
CATEGORIES = ("task_completion", "integrity", "permission_process", "side_effect")
VERIFIERS = 6
QUERY = "SELECT COUNT(*) FROM incident WHERE incident_id = 'INC_001' AND status = 'resolved' AND closed_by IS NOT NULL"


def put_large_run(store: Store, cells: int, tasks: int, run: str = RUN) -> None:
    """Writes `run.json`, and for each trial its scored record and the record of its only attempt."""
    for trial in _trials(_put_record(store, cells, tasks, run)):
        keys = RunKeys(run).trial(trial.cell, trial.task_id, trial.trial)
        store.put(keys.attempt(0), attempt_of(trial).to_json())
        store.put(keys.record, trial.to_json())


def put_large_chunks(store: Store, cells: int, tasks: int, run: str = RUN) -> None:
    """Writes `run.json` and chunks of the same records, which is all that a summary reads."""
    trials = _trials(_put_record(store, cells, tasks, run))
    number = 0
    while batch := list(islice(trials, CHUNK_ROWS)):
        put_chunk(store, run, f"{number:04}", rows_of_records(batch, ()))
        number += 1


def _put_record(store: Store, cells: int, tasks: int, run: str) -> RunRecord:
    ids = [f"task_20251125_152842_{n:06}_b393a327_9622ac64" for n in range(tasks)]
    record = RunRecord(
        run=run,
        name=run.partition(".")[0],
        spec={},
        task_ids=ids,
        cells=[
            PlannedCell(
                cell=Cell(model=f"model-{n // 8}", agent="react", mode="oracle", domain=f"domain-{n % 8}"), task_ids=ids
            )
            for n in range(cells)
        ],
        suite_digest="0",
        opsgym="0",
        created_at="2026-01-01T00:00:00Z",
    )
    store.put(RunKeys(run).run_json, record.model_dump_json().encode())
    return record


def _trials(run: RunRecord) -> Iterator[TrialRecord]:
    draw = random.Random(f"{run.run}, {len(run.cells)} cells, {len(run.task_ids)} tasks")
    for plan in run.cells:
        for number, task_id in enumerate(plan.task_ids):
            yield random_trial(run.run, TrialId(plan.cell.key, task_id, 0), plan.cell, draw, horizon=number % 20)


def random_trial(run: str, trial: TrialId, cell: Cell, draw: random.Random, horizon: int = 0) -> TrialRecord:
    """A scored trial with random figures, of the first attempt.

    Args:
        run: The run.
        trial: The trial.
        cell: Its cell.
        draw: Source of chance.
        horizon: Steps that its task needs.
    """
    results = [_verifier(index, passed=draw.random() < 0.8) for index in range(VERIFIERS)]
    passed = all(result.passed for result in results)
    return TrialRecord(
        run=run,
        cell=cell,
        task_id=trial.task_id,
        trial=trial.trial,
        attempt=0,
        outcome=Outcome.PASSED if passed else Outcome.FAILED,
        reason="" if passed else "verifiers",
        score=int(passed),
        published_score=int(passed),
        horizon=horizon,
        verifiers=tuple(results),
        answer="The incident is resolved, and its reporter has been notified by mail. " * 6,
        stopped_by="answer",
        usage=_usage(draw),
        cost_usd=draw.random(),
        steps=draw.randrange(2, 40),
        tool_calls=draw.randrange(40),
        tool_errors=draw.randrange(4),
        model_retries=0,
        timings=_timings(draw),
        versions=Versions(opsgym="0.1.0", python="3.11", litellm="1", task_digest="0" * 64),
    )


def _verifier(index: int, *, passed: bool) -> VerifierResult:
    return VerifierResult(
        index=index,
        name=f"check {index}: the requested record exists",
        verifier_type="database_state",
        category=CATEGORIES[index % len(CATEGORIES)],
        executed=True,
        passed=passed,
        published_passed=passed,
        expected=1,
        actual=int(passed),
        comparison="equals",
        query=QUERY,
    )


def _usage(draw: random.Random) -> Usage:
    return Usage(
        model_calls=draw.randrange(40),
        prompt_tokens=draw.randrange(90_000),
        completion_tokens=draw.randrange(9_000),
        cached_tokens=draw.randrange(9_000),
        reasoning_tokens=draw.randrange(9_000),
    )


def _timings(draw: random.Random) -> Timings:
    second, millisecond = draw.randrange(60), draw.randrange(1000)
    started = f"2026-01-01T{draw.randrange(24):02}:{draw.randrange(60):02}:{second:02}.{millisecond:03}Z"
    phases = {name: round(draw.random() * 30, 4) for name in ("seed_s", "connect_s", "model_s", "tools_s", "verify_s")}
    return Timings(started_at=started, total_s=round(sum(phases.values()), 4), **phases)


def attempt_of(trial: TrialRecord) -> AttemptRecord:
    """The attempt that scored a trial."""
    return AttemptRecord(
        run=trial.run,
        cell=trial.cell,
        task_id=trial.task_id,
        trial=trial.trial,
        attempt=0,
        outcome=trial.outcome,
        reason=trial.reason,
        usage=trial.usage,
        cost_usd=trial.cost_usd,
        steps=trial.steps,
        tool_calls=trial.tool_calls,
        timings=trial.timings,
    )
