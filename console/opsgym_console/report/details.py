"""Details of a trial: its record, attempts, transcript and failure modes.

Invariant: objects that the store does not have are empty; objects that are not valid are reported by name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from opsgym_api.errors import InputError
from opsgym_api.records.attempt import AttemptRecord, Cell, TrialRecord
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.run import RunRecord
from opsgym_api.records.store_layout import RunKeys, TrialKeys, is_attempt_record
from opsgym_api.records.transcript import CatalogueRecord, StepReasoning, Transcript
from opsgym_console.analysis.failures.findings import Finding
from opsgym_console.analysis.failures.stored import analyse_trial, stored_row
from opsgym_console.report.explanation import check_views, cited_rules, reference_view
from opsgym_console.report.model import ToolEntry, TranscriptEntry, TrialDetail
from opsgym_console.report.modes import finding_views
from opsgym_console.report.texts import shown
from opsgym_core.results.transcripts import read_reasoning, read_transcript
from opsgym_core.store.base import Store, is_key
from opsgym_core.store.objects import read_object

T = TypeVar("T")


def load_detail(
    store: Store, record: RunRecord, cell: Cell, task_id: str, trial: int, *, findings: bool = True
) -> TrialDetail | None:
    """Reads the details of a trial.

    Args:
        store: Store of the run.
        record: The run.
        cell: The trial's cell.
        task_id: Its task.
        trial: Its number, counted from 0.
        findings: Whether to analyse it, if it failed.

    Returns:
        The details, long texts shortened, without the objects that are not valid; None if the run has no objects of
        such a trial.

    Raises:
        StoreError: The store cannot be read.
    """
    if not (_is_name(cell.key) and _is_name(task_id)):
        return None
    keys = RunKeys(record.run).trial(cell, task_id, trial)
    problems: list[str] = []
    scored = _valid(partial(read_object, store, keys.record, TrialRecord), problems)
    attempts = _attempts(store, keys, problems)
    if scored is None and not attempts and not problems:
        return None
    origin = RunKeys(record.rescored_from or record.run)  # rescoring does not copy transcripts and states
    transcript, reasoning = _transcript(store, origin.trial(cell, task_id, trial), scored, attempts, problems)
    failed = scored if scored is not None and scored.outcome is Outcome.FAILED else None
    task = None if failed is None else stored_row(store, record.run, task_id)
    analysed: Sequence[Finding] | None = None
    if findings and failed is not None:
        analysed = analyse_trial(store, origin, failed, transcript, task).findings
    checks = [] if failed is None else check_views(failed.verifiers, task)
    return _readable(
        TrialDetail(
            cell=cell,
            task_id=task_id,
            trial=trial,
            scored=None if scored is None else replace(scored, state_differences={}),
            attempts=attempts,
            differences={} if scored is None else scored.state_differences,
            findings=finding_views(analysed or ()),
            checks=checks,
            rules=cited_rules(checks, task),
            reference=reference_view(task, transcript),
            tools=[] if transcript is None else transcript.tools,
            catalogue=[] if transcript is None else _catalogue(store, origin, transcript, problems),
            transcript=[] if transcript is None else list(_entries(transcript, reasoning)),
            problems=problems,
        )
    )


def _is_name(text: str) -> bool:
    """Whether a text names a single folder of the store."""
    return is_key(text) and "/" not in text


def _valid(read: Callable[[], T | None], problems: list[str]) -> T | None:
    """The object that a call reads; None, with a problem added, if it is not valid."""
    try:
        return read()
    except InputError as error:
        problems.append(str(error))
        return None


def _attempts(store: Store, keys: TrialKeys, problems: list[str]) -> list[AttemptRecord]:
    stored = filter(is_attempt_record, store.keys(keys.attempts))
    records = [_valid(partial(read_object, store, key, AttemptRecord), problems) for key in stored]
    return sorted((attempt for attempt in records if attempt is not None), key=lambda attempt: attempt.attempt)


def _transcript(
    store: Store, keys: TrialKeys, scored: TrialRecord | None, attempts: Sequence[AttemptRecord], problems: list[str]
) -> tuple[Transcript | None, Mapping[int, StepReasoning]]:
    """The transcript of the scored attempt, else of the last attempt that has one, with its reasoning."""
    pairs = [(keys.transcript, keys.reasoning)]
    if scored is None:
        numbers = [attempt.attempt for attempt in reversed(attempts)]
        pairs = [(keys.failed_transcript(number), keys.failed_reasoning(number)) for number in numbers]
    for transcript_key, reasoning_key in pairs:
        transcript = _valid(partial(read_transcript, store, transcript_key), problems)
        if transcript is not None:
            return transcript, _valid(partial(read_reasoning, store, reasoning_key), problems) or {}
    return None, {}


def _entries(transcript: Transcript, reasoning: Mapping[int, StepReasoning]) -> Iterator[TranscriptEntry]:
    for position, event in enumerate(transcript.events):
        thought = reasoning.get(position)
        text = "" if thought is None else thought.text
        yield TranscriptEntry(event=event, reasoning=text, encrypted=thought is not None and not text)


def _catalogue(store: Store, run: RunKeys, transcript: Transcript, problems: list[str]) -> list[ToolEntry]:
    """The tools shown, with descriptions and schemas; none if the store does not have them."""
    if not transcript.catalogue_digest:
        return []
    record = _valid(partial(read_object, store, run.catalogue(transcript.catalogue_digest), CatalogueRecord), problems)
    functions = [] if record is None else [tool.get("function") or {} for tool in record.tools]
    return [
        ToolEntry(name=str(function.get("name") or ""), definition=json.dumps(function, indent=2, ensure_ascii=False))
        for function in functions
    ]


def _readable(detail: TrialDetail) -> TrialDetail:
    """The details with long texts shortened."""
    return TrialDetail.model_validate(shown(detail.model_dump()))
