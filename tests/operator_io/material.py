"""Pods, Jobs and records as they look in a cluster."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from opsgym_api.jobs.job_spec import TrialRef
from opsgym_api.records.attempt import Attempt, AttemptRecord, Cell, Timings, TrialRecord, VerifierResult, Versions
from opsgym_api.records.outcomes import Outcome
from opsgym_operator.observe.parse import JobTrials

RUN = "team.nightly.0123"
CELL = Cell(model="gold", agent="react", mode="oracle", domain="itsm")
JOB_TRIALS = JobTrials(CELL, tuple(TrialRef(task_id=f"task-{n}", trial=0) for n in range(3)))
TRIALS_BY_JOB = {"nightly-abc-0": JOB_TRIALS}
START = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def stamp(seconds: float) -> str:
    return at(seconds).strftime("%Y-%m-%dT%H:%M:%SZ")


def summary(index: int = 0, attempt: int = 0, outcome: Outcome = Outcome.PASSED, **more: Any) -> Attempt:
    return Attempt(
        cell=CELL,
        task_id=f"task-{index}",
        trial=0,
        attempt=attempt,
        outcome=outcome,
        timings=Timings(started_at=at(10).isoformat(), total_s=5),
        **more,
    )


def record(
    index: int = 0, attempt: int = 0, outcome: Outcome | None = None, began: float = 10, **more: Any
) -> AttemptRecord:
    return AttemptRecord(
        run=RUN,
        cell=CELL,
        task_id=f"task-{index}",
        trial=0,
        attempt=attempt,
        outcome=outcome,
        timings=Timings(started_at=at(began).isoformat(), total_s=5),
        **more,
    )


def score(index: int = 0, attempt: int = 0, outcome: Outcome = Outcome.PASSED, began: float = 10) -> TrialRecord:
    return TrialRecord(
        run=RUN,
        cell=CELL,
        task_id=f"task-{index}",
        trial=0,
        attempt=attempt,
        outcome=outcome,
        score=int(outcome is Outcome.PASSED),
        published_score=int(outcome is Outcome.PASSED),
        verifiers=(
            VerifierResult(
                index=0,
                name="v",
                verifier_type="database_state",
                category="integrity",
                executed=True,
                passed=outcome is Outcome.PASSED,
                published_passed=True,
            ),
        ),
        answer="",
        stopped_by="answer",
        cost_usd=0.25,
        steps=1,
        tool_calls=1,
        tool_errors=0,
        model_retries=0,
        timings=Timings(started_at=at(began).isoformat(), total_s=5),
        versions=Versions(opsgym="1", python="3", litellm="1", task_digest="d"),
    )


def ended(code: int = 0, message: str = "", reason: str = "Completed", began: float = 8, over: float = 20) -> Any:
    state = {"exitCode": code, "reason": reason, "startedAt": stamp(began), "finishedAt": stamp(over)}
    return {"terminated": state | ({"message": message} if message else {})}


def pod(
    index: int = 0,
    *,
    phase: str = "Succeeded",
    agent: Any = None,
    sidecars: Any = (),
    uid: str | None = None,
    job: str = "nightly-abc-0",
    conditions: Any = (),
    **metadata: Any,
) -> Any:
    containers = [] if agent is None else [{"name": "agent", "image": "runner:1", "state": agent}]
    labels = {
        "batch.kubernetes.io/job-name": job,
        "batch.kubernetes.io/job-completion-index": str(index),
        "opsgym.dev/run-uid": "0123",
        "opsgym.dev/role": "task",
    }
    return {
        "metadata": {"name": f"{job}-{index}-x", "uid": uid or f"pod-{index}", "labels": labels, **metadata},
        "status": {
            "phase": phase,
            "containerStatuses": containers,
            "initContainerStatuses": list(sidecars),
            "conditions": list(conditions),
        },
    }


def job(completed: str = "", failed: str = "", *, finished: bool = False, name: str = "nightly-abc-0") -> Any:
    conditions = [{"type": "Complete", "status": "True"}] if finished else []
    return {
        "metadata": {"name": name, "uid": name, "labels": {"opsgym.dev/run-uid": "0123"}},
        "spec": {"parallelism": 2, "completions": 3},
        "status": {"completedIndexes": completed, "failedIndexes": failed, "conditions": conditions},
    }
