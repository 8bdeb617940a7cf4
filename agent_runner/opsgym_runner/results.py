"""Writes what an attempt came to.

Invariant: a trial record is put once, after everything it speaks of is in the store; where there is one already,
nothing of it is replaced.
"""

from __future__ import annotations

import asyncio
import platform
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version

import zstandard

from opsgym_api.digest import task_digest
from opsgym_api.layout import RunKeys
from opsgym_api.records import TrialRecord, Versions
from opsgym_api.store import Store
from opsgym_api.task import Task
from opsgym_runner.episode import Finding
from opsgym_runner.job import Job
from opsgym_runner.journal import Journal


def trial_record(job: Job, finding: Finding, journal: Journal) -> TrialRecord:
    """The record of a scored trial."""
    return TrialRecord(
        run=job.run,
        cell=job.cell,
        task_id=job.task.task_id,
        trial=job.trial,
        attempt=job.attempt,
        outcome=finding.outcome,
        reason=finding.reason,
        score=int(finding.passed),
        published_score=finding.published_score,
        feasible=job.task.feasible,
        horizon=job.task.steps,
        verifiers=list(finding.verifiers),
        answer=finding.ending.answer,
        stopped_by=finding.ending.stopped_by,
        usage=journal.usage,
        planner_usage=journal.planner_usage,
        judge_usage=journal.judge_usage,
        cost_usd=journal.cost_usd,
        judge_cost_usd=journal.judge_cost_usd,
        prices=job.model.prices,
        steps=journal.steps,
        tool_calls=journal.tool_calls,
        tool_errors=journal.tool_errors,
        model_retries=journal.model_retries,
        rate_limits=journal.rate_limits,
        timings=journal.timings(),
        versions=_versions(job.task, finding.catalogue_digest),
        database_times={
            gym: snapshot.database_time for gym, snapshot in finding.snapshots.items() if snapshot.database_time
        },
        state_differences=dict(finding.differences),
        resources=dict(job.resources),
    )


async def write_scored(store: Store, job: Job, finding: Finding, journal: Journal, transcript: bytes) -> None:
    """Writes a scored trial: transcript, final databases, then the record.

    Raises:
        StoreError: The store cannot be read or written.
    """
    keys = RunKeys(job.run).trial(job.cell, job.task.task_id, job.trial)
    contents = {gym: snapshot.content for gym, snapshot in finding.snapshots.items()}

    def write(record: bytes) -> None:
        if store.get(keys.record) is not None:
            return
        store.put(keys.transcript, transcript)
        for gym, content in contents.items():
            store.put(keys.state(gym), zstandard.compress(content))
        store.put_once(keys.record, record)

    await asyncio.to_thread(write, trial_record(job, finding, journal).model_dump_json().encode())


async def write_transcript(store: Store, job: Job, transcript: bytes) -> None:
    """Writes the transcript of an attempt that was not scored.

    Raises:
        StoreError: The store cannot be written.
    """
    keys = RunKeys(job.run).trial(job.cell, job.task.task_id, job.trial)
    await asyncio.to_thread(store.put, keys.failed_transcript(job.attempt), transcript)


@cache
def _installed() -> Mapping[str, str]:
    return {"opsgym": version("opsgym-runner"), "python": platform.python_version(), "litellm": version("litellm")}


def _versions(task: Task, catalogue_digest: str) -> Versions:
    return Versions(**_installed(), task_digest=task_digest(task), catalogue_digest=catalogue_digest)
