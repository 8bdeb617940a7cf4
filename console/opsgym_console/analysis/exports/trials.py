"""Scored trials of a run with their stored objects, one at a time.

Invariant: exports do not contain trials without a score: other tools would count them as failed.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from opsgym_api.errors import InputError, Problem
from opsgym_api.records.attempt import TrialRecord
from opsgym_api.records.run import RunRecord
from opsgym_api.records.store_layout import RunKeys
from opsgym_api.records.transcript import Transcript
from opsgym_api.tasks.task import Task
from opsgym_core.results.frozen_suite import FrozenSuiteError, read_frozen
from opsgym_core.results.score import RunResults
from opsgym_core.results.transcripts import read_transcript
from opsgym_core.store.base import Store
from opsgym_core.store.objects import READERS

_BATCH = 64  # transcripts in memory at once
_TASKS_KEPT = 2_000  # a published suite and then some; every trial and cell of a task reads the same row


@dataclass(frozen=True)
class ScoredTrial:
    """A scored trial."""

    run: RunRecord
    record: TrialRecord
    task: Task
    transcript: Transcript

    @property
    def litellm_id(self) -> str:
        """The litellm id of the model; its name in the run if the spec does not contain it."""
        for entry in self.run.spec.get("models", []):
            if entry.get("name") == self.record.cell.model and entry.get("inline"):
                return str(entry["inline"]["model"])
        return self.record.cell.model


def read_scored_trials(store: Store, results: RunResults) -> Iterator[ScoredTrial]:
    """Every scored trial of a run, in the order of the results.

    Raises:
        InputError: A task or transcript is missing or not valid.
        StoreError: The store cannot be read.
    """
    origin = results.run.rescored_from or results.run.run
    rows_of = RunKeys(results.run.run)

    @lru_cache(maxsize=_TASKS_KEPT)
    def row(task_id: str) -> Task:
        try:
            return read_frozen(store, results.run.run, task_id)[0]
        except FrozenSuiteError as problem:
            raise InputError(rows_of.root, [Problem(task_id, str(problem))]) from None

    def read(record: TrialRecord) -> ScoredTrial:
        key = RunKeys(origin).trial(record.cell, record.task_id, record.trial).transcript
        transcript = read_transcript(store, key)
        if transcript is None:
            raise InputError(f"{store.name}/{key}", [Problem("", "missing, although its trial is scored")])
        return ScoredTrial(results.run, record, row(record.task_id), transcript)

    trials = iter(results.trials)
    with ThreadPoolExecutor(READERS) as pool:
        while batch := list(islice(trials, _BATCH)):
            yield from pool.map(read, batch)
