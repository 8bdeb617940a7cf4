"""Analyses the failed trials of a run's store.

Invariant: a trial without a transcript is reported as not analysed; other missing objects only make findings less
reliable.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache

import zstandard

from opsgym_api.errors import InputError
from opsgym_api.records.attempt import TrialRecord
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.store_layout import RunKeys, TrialKeys
from opsgym_api.records.transcript import Transcript
from opsgym_api.tasks.task import Task
from opsgym_console.analysis.failures.analysis import analyse
from opsgym_console.analysis.failures.findings import Finding
from opsgym_console.analysis.failures.trial import FailedTrial
from opsgym_core.results.frozen_suite import FrozenSuiteError, read_frozen
from opsgym_core.results.score import RunResults
from opsgym_core.results.transcripts import read_transcript
from opsgym_core.store.base import Store

READERS = 16
"""Trials read at the same time: an object store answers each request in tens of milliseconds."""


@dataclass(frozen=True)
class TrialAnalysis:
    """A failed trial and its findings."""

    record: TrialRecord
    findings: Sequence[Finding] | None
    """None if there is no transcript, or none that can be read."""
    task_known: bool
    """Whether the store has the task, and with it the reference solution, if there is one."""
    problem: str = ""
    """Why the transcript cannot be read; empty if it can, or if there is none."""


def analyse_run(store: Store, results: RunResults) -> list[TrialAnalysis]:
    """Analyses every failed trial of a run.

    Raises:
        StoreError: The store cannot be read.
    """
    failed = [trial for trial in results.trials if trial.outcome is Outcome.FAILED]
    keys = RunKeys(results.run.rescored_from or results.run.run)  # rescoring does not copy transcripts and states

    @cache
    def row(task_id: str) -> Task | None:
        return stored_row(store, results.run.run, task_id)

    def analysed(record: TrialRecord) -> TrialAnalysis:
        try:
            transcript = read_transcript(store, keys.trial(record.cell, record.task_id, record.trial).transcript)
        except InputError as error:
            return TrialAnalysis(record, None, row(record.task_id) is not None, str(error))
        return analyse_trial(store, keys, record, transcript, row(record.task_id))

    with ThreadPoolExecutor(READERS) as pool:
        return list(pool.map(analysed, failed))


def analyse_trial(
    store: Store, run: RunKeys, record: TrialRecord, transcript: Transcript | None, task: Task | None
) -> TrialAnalysis:
    """Analyses a failed trial.

    Args:
        store: Store of the run.
        run: Keys of the run that has its transcript and final databases.
        record: The trial.
        transcript: Its transcript; None if there is none.
        task: Its task; None if the store does not have it.

    Raises:
        StoreError: The store cannot be read.
    """
    if transcript is None:
        return TrialAnalysis(record, None, task is not None)
    states = _states(store, run.trial(record.cell, record.task_id, record.trial), task)
    return TrialAnalysis(record, analyse(FailedTrial(record, transcript, task, states)), task is not None)


def failed_trials(store: Store, results: RunResults) -> tuple[list[tuple[FailedTrial, list[Finding]]], int]:
    """Failed trials with their stored objects and findings, and the number of those without a readable transcript.

    Raises:
        StoreError: The store cannot be read.
    """
    keys = RunKeys(results.run.rescored_from or results.run.run)
    failed = [trial for trial in results.trials if trial.outcome is Outcome.FAILED]

    def loaded(record: TrialRecord) -> tuple[FailedTrial, list[Finding]] | None:
        place = keys.trial(record.cell, record.task_id, record.trial)
        try:
            transcript = read_transcript(store, place.transcript)
        except InputError:
            return None
        if transcript is None:
            return None
        task = stored_row(store, results.run.run, record.task_id)
        trial = FailedTrial(record, transcript, task, _states(store, place, task))
        return trial, analyse(trial)

    with ThreadPoolExecutor(READERS) as pool:
        trials = [trial for trial in pool.map(loaded, failed) if trial is not None]
    return trials, len(failed) - len(trials)


def stored_row(store: Store, run: str, task_id: str) -> Task | None:
    """The task of a trial; None if the store does not have it, or it is not valid.

    Raises:
        StoreError: The store cannot be read.
    """
    try:
        task, _ = read_frozen(store, run, task_id)
    except FrozenSuiteError:
        return None
    return task


def _states(store: Store, keys: TrialKeys, task: Task | None) -> dict[str, bytes]:
    states: dict[str, bytes] = {}
    for server in task.gym_servers_config if task is not None else ():
        content = store.get(keys.state(server.mcp_server_name))
        if content is None:
            continue
        try:
            states[server.mcp_server_name] = zstandard.decompress(content)
        except zstandard.ZstdError:
            continue
    return states
