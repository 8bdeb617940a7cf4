"""Failed trials as a run's store holds them.

Invariant: a trial without a transcript cannot be analysed and is named as such; everything else that is missing only
makes findings less sure.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache

import zstandard

from opsgym.failures.analysis import analyse
from opsgym.failures.findings import Finding
from opsgym.failures.trial import FailedTrial
from opsgym.transcripts import read_transcript
from opsgym_api.layout import RunKeys, TrialKeys
from opsgym_api.outcomes import Outcome
from opsgym_api.records import Transcript, TrialRecord
from opsgym_api.scores import RunResults
from opsgym_api.store import Store
from opsgym_api.task import Task
from opsgym_runner.errors import NotScored
from opsgym_runner.frozen import read_frozen

READERS = 16
"""Trials read at the same time: an object store answers each request in tens of milliseconds."""


@dataclass(frozen=True)
class Analysed:
    """A failed trial and what was found."""

    record: TrialRecord
    findings: Sequence[Finding] | None
    """None where there is no transcript."""
    task_known: bool
    """Whether the row that ran was found, and with it a reference solution, if it has one."""


def analyse_run(store: Store, results: RunResults) -> list[Analysed]:
    """Every failed trial of a run, with what was found.

    Raises:
        InputError: A transcript cannot be read as one.
        StoreError: The store cannot be read.
    """
    failed = [trial for trial in results.trials if trial.outcome is Outcome.FAILED]
    keys = RunKeys(results.run.rescored_from or results.run.run)  # rescoring leaves transcripts and states there

    @cache
    def row(task_id: str) -> Task | None:
        return stored_row(store, results.run.run, task_id)

    def analysed(record: TrialRecord) -> Analysed:
        transcript = read_transcript(store, keys.trial(record.cell, record.task_id, record.trial).transcript)
        return analyse_trial(store, keys, record, transcript, row(record.task_id))

    with ThreadPoolExecutor(READERS) as pool:
        return list(pool.map(analysed, failed))


def analyse_trial(
    store: Store, run: RunKeys, record: TrialRecord, transcript: Transcript | None, task: Task | None
) -> Analysed:
    """What was found in a failed trial.

    Args:
        store: Where it is.
        run: Keys of the run that left its transcript and final databases.
        record: The trial.
        transcript: Its transcript; None if there is none.
        task: The row that ran; None if it is not there any more.

    Raises:
        StoreError: The store cannot be read.
    """
    if transcript is None:
        return Analysed(record, None, task is not None)
    states = _states(store, run.trial(record.cell, record.task_id, record.trial), task)
    return Analysed(record, analyse(FailedTrial(record, transcript, task, states)), task is not None)


def stored_row(store: Store, run: str, task_id: str) -> Task | None:
    """The row that ran; None where the store has it no more, or it cannot be used.

    Raises:
        StoreError: The store cannot be read.
    """
    try:
        task, _ = read_frozen(store, run, task_id)
    except NotScored:
        return None
    return task


def _states(store: Store, keys: TrialKeys, task: Task | None) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for server in task.gym_servers_config if task is not None else ():
        content = store.get(keys.state(server.mcp_server_name))
        if content is None:
            continue
        try:
            found[server.mcp_server_name] = zstandard.decompress(content)
        except zstandard.ZstdError:
            continue
    return found
