"""Scored trials of a run with their stored objects, one at a time.

Invariant: trials without a score are not among them: other tools would count them as failed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

from opsgym_api.errors import InputError, Problem
from opsgym_api.records.attempt import TrialRecord
from opsgym_api.records.run import RunRecord
from opsgym_api.records.store_layout import RunKeys
from opsgym_api.records.transcript import StepReasoning, Transcript
from opsgym_api.tasks.task import Task
from opsgym_core.results.frozen_suite import FrozenSuiteError, read_frozen
from opsgym_core.results.score import RunResults
from opsgym_core.results.transcripts import read_reasoning, read_transcript
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
    reasoning: Mapping[int, StepReasoning]
    """By position of the reply in the transcript."""

    @property
    def litellm_id(self) -> str:
        """The litellm id of the model; its name in the run if the spec does not contain it."""
        return self._id_of(self.record.cell.model)

    def model_of(self, by: str) -> str:
        """The litellm id of the model of a conversation: the agent's, its planner's or the judge's."""
        agents = self.run.spec.get("agents") or []
        agent: Mapping[str, Any] = next((one for one in agents if one.get("name") == self.record.cell.agent), {})
        own = self.record.cell.model
        name = {"planner": agent.get("planner"), "judge": self.run.spec.get("judge")}.get(by)
        return self._id_of(name or own)

    def _id_of(self, name: str) -> str:
        for entry in self.run.spec.get("models", []):
            if entry.get("name") == name and entry.get("inline"):
                return str(entry["inline"]["model"])
        return name


def read_scored_trials(store: Store, results: RunResults, *, reasoning: bool = False) -> Iterator[ScoredTrial]:
    """Every scored trial of a run, in the order of the results.

    Args:
        store: Store of the run.
        results: Its records.
        reasoning: Whether to read what the models thought.

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
        keys = RunKeys(origin).trial(record.cell, record.task_id, record.trial)
        key = keys.transcript
        transcript = read_transcript(store, key)
        if transcript is None:
            raise InputError(f"{store.name}/{key}", [Problem("", "missing, although its trial is scored")])
        thoughts = read_reasoning(store, keys.reasoning) if reasoning else {}
        return ScoredTrial(results.run, record, row(record.task_id), transcript, thoughts)

    trials = iter(results.trials)
    with ThreadPoolExecutor(READERS) as pool:
        while batch := list(islice(trials, _BATCH)):
            yield from pool.map(read, batch)
