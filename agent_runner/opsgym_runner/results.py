"""Writes the final objects of an attempt: trial record, final databases, transcript, reasoning, catalogue of tools.

Invariant: a trial record is put once, after everything it refers to is in the store. If the trial has a record already,
none of its objects is replaced. A catalogue is in the store once for each run.
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
from opsgym_api.records.transcript import CatalogueRecord
from opsgym_api.tasks.digest import task_digest
from opsgym_runner.context import AttemptContext
from opsgym_runner.episode import EpisodeResult
from opsgym_runner.job import Job
from opsgym_runner.models.seeds import request_seed
from opsgym_runner.recording.journal import Journal, record_json


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
        tags=tuple(job.task.tags),
        verifiers=tuple(result.verifiers),
        answer=result.agent.answer,
        day_answers=tuple(result.day_answers),
        stopped_by=result.agent.stopped_by,
        prices=job.model.prices,
        request_seed=request_seed(job, job.model),
        versions=Versions(
            **_installed(),
            task_digest=task_digest(job.task),
            catalogue_digest=result.catalogue_digest,
            model_snapshot=", ".join(journal.snapshots),
        ),
        database_times={
            gym: snapshot.database_time for gym, snapshot in result.snapshots.items() if snapshot.database_time
        },
        state_differences=dict(result.differences),
        resources=dict(job.resources),
    )


async def write_scored(job: Job, result: EpisodeResult, context: AttemptContext) -> AttemptRecord:
    """Writes a scored trial in order: catalogue, transcript with reasoning, final databases, whole differences, trial
    record, attempt record.

    Returns:
        The final attempt record.

    Raises:
        StoreError: The store cannot be read or written.
    """
    store, journal = context.store, context.journal
    keys = RunKeys(job.run).trial(job.cell, job.task.task_id, job.trial)
    transcript, reasoning = context.transcript.encoded(), context.transcript.encoded_reasoning()
    trial = record_json(trial_record(job, result, journal))

    def write() -> None:
        if store.get(keys.record) is not None:
            return
        _put_catalogue(job, context)
        store.put(keys.transcript, transcript)
        if reasoning is not None:
            store.put(keys.reasoning, reasoning)
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
    """Writes the transcript and reasoning of an attempt without a score, unless the transcript is empty.

    Raises:
        StoreError: The store cannot be written.
    """
    if context.transcript.empty:
        return
    keys = RunKeys(job.run).trial(job.cell, job.task.task_id, job.trial)
    transcript, reasoning = context.transcript.encoded(), context.transcript.encoded_reasoning()

    def write() -> None:
        _put_catalogue(job, context)
        context.store.put(keys.failed_transcript(job.attempt), transcript)
        if reasoning is not None:
            context.store.put(keys.failed_reasoning(job.attempt), reasoning)

    await asyncio.to_thread(write)


def _put_catalogue(job: Job, context: AttemptContext) -> None:
    """Writes the tools that the model was shown, unless the run has them already."""
    catalogue = context.transcript.catalogue
    if catalogue is None:
        return
    key = RunKeys(job.run).catalogue(catalogue.digest)
    if key in context.stored_catalogues:
        return
    if not any(stored == key for stored in context.store.keys(key)):  # cheaper than sending what the store has
        record = CatalogueRecord(digest=catalogue.digest, tools=list(catalogue.tools))
        context.store.put_once(key, record.model_dump_json().encode())
    context.stored_catalogues.add(key)


@cache
def _installed() -> Mapping[str, str]:
    return {"opsgym": version("opsgym-runner"), "python": platform.python_version(), "litellm": version("litellm")}
