"""Writes the final objects of an attempt: trial record, final databases, transcript.

Invariant: a trial record is put once, after everything it refers to is in the store. If the trial has a record already,
none of its objects is replaced.
"""

from __future__ import annotations

import asyncio
import platform
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version

import zstandard

from opsgym_api.records.attempt import AttemptRecord, TrialRecord, Versions
from opsgym_api.records.store_layout import RunKeys
from opsgym_api.tasks.digest import task_digest
from opsgym_api.tasks.task import Task
from opsgym_runner.context import AttemptContext
from opsgym_runner.episode import EpisodeResult
from opsgym_runner.job import Job
from opsgym_runner.recording.journal import Journal


def trial_record(job: Job, result: EpisodeResult, journal: Journal) -> TrialRecord:
    """The record of a scored trial."""
    return TrialRecord(
        **journal.values(),
        outcome=result.outcome,
        reason=result.reason,
        score=int(result.passed),
        published_score=result.published_score,
        feasible=job.task.feasible,
        horizon=job.task.steps,
        variant=job.task.variant,
        verifiers=tuple(result.verifiers),
        answer=result.agent.answer,
        day_answers=tuple(result.day_answers),
        stopped_by=result.agent.stopped_by,
        prices=job.model.prices,
        versions=_versions(job.task, result.catalogue_digest),
        database_times={
            gym: snapshot.database_time for gym, snapshot in result.snapshots.items() if snapshot.database_time
        },
        state_differences=dict(result.differences),
        resources=dict(job.resources),
    )


async def write_scored(job: Job, result: EpisodeResult, context: AttemptContext) -> AttemptRecord:
    """Writes a scored trial in order: transcript, final databases, whole differences, trial record, attempt record.

    Returns:
        The final attempt record.

    Raises:
        StoreError: The store cannot be read or written.
    """
    store, journal = context.store, context.journal
    keys = RunKeys(job.run).trial(job.cell, job.task.task_id, job.trial)
    transcript = context.transcript.encoded()
    trial = trial_record(job, result, journal).to_json()

    def write() -> None:
        if store.get(keys.record) is not None:
            return
        store.put(keys.transcript, transcript)
        for gym, snapshot in result.snapshots.items():
            store.put(keys.state(gym), zstandard.compress(snapshot.content))
        for gym, whole in result.whole_differences.items():
            if gym not in result.differences or result.differences[gym].truncated:
                store.put(keys.difference(gym), zstandard.compress(whole.model_dump_json().encode()))
        store.put_once(keys.record, trial)

    await asyncio.to_thread(write)
    record = journal.record(result.outcome, result.reason, result.message)
    await journal.save(record)
    return record


async def write_transcript(job: Job, context: AttemptContext) -> None:
    """Writes the transcript of an attempt without a score, unless it is empty.

    Raises:
        StoreError: The store cannot be written.
    """
    if context.transcript.empty:
        return
    keys = RunKeys(job.run).trial(job.cell, job.task.task_id, job.trial)
    await asyncio.to_thread(context.store.put, keys.failed_transcript(job.attempt), context.transcript.encoded())


@cache
def _installed() -> Mapping[str, str]:
    return {"opsgym": version("opsgym-runner"), "python": platform.python_version(), "litellm": version("litellm")}


def _versions(task: Task, catalogue_digest: str) -> Versions:
    return Versions(**_installed(), task_digest=task_digest(task), catalogue_digest=catalogue_digest)
