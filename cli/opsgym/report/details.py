"""What is long about a trial: its record, its attempts, what was said, and in which ways it failed.

Invariant: what the store does not hold is empty, and what it holds in a form that cannot be read is named.
"""

from __future__ import annotations

from collections.abc import Sequence

from opsgym.failures.findings import Finding
from opsgym.failures.stored import analyse_trial, stored_row
from opsgym.report.model import Said, TrialDetail
from opsgym.report.modes import finding_views
from opsgym.report.texts import shown
from opsgym.transcripts import read_transcript
from opsgym_api.layout import RunKeys, TrialKeys, is_attempt_record
from opsgym_api.objects import read_object
from opsgym_api.outcomes import Outcome
from opsgym_api.records import AttemptRecord, Cell, RunRecord, Transcript, TrialRecord
from opsgym_api.store import Store, is_key


def load_detail(
    store: Store, record: RunRecord, cell: Cell, task_id: str, trial: int, *, findings: bool = True
) -> TrialDetail | None:
    """Everything about a trial, its transcript and findings included.

    Args:
        store: Where the run is.
        record: The run.
        cell: The trial's cell.
        task_id: Its task.
        trial: Its number, counted from 0.
        findings: Whether to look into it, if it failed.

    Returns:
        The detail, long texts cut; None if the run has no such trial, or nothing was written of it.

    Raises:
        InputError: A record or the transcript cannot be read as one.
        StoreError: The store cannot be read.
    """
    if not (_is_name(cell.key) and _is_name(task_id)):
        return None
    keys = RunKeys(record.run).trial(cell, task_id, trial)
    scored = read_object(store, keys.record, TrialRecord)
    attempts = _attempts(store, keys)
    if scored is None and not attempts:
        return None
    origin = RunKeys(record.rescored_from or record.run)  # rescoring leaves transcripts and states where they are
    transcript = _transcript(store, origin.trial(cell, task_id, trial), scored, attempts)
    analysed: Sequence[Finding] | None = None
    if findings and scored is not None and scored.outcome is Outcome.FAILED:
        analysed = analyse_trial(store, origin, scored, transcript, stored_row(store, record.run, task_id)).findings
    return _readable(
        TrialDetail(
            cell=cell,
            task_id=task_id,
            trial=trial,
            scored=None if scored is None else scored.model_copy(update={"state_differences": {}}),
            attempts=attempts,
            differences={} if scored is None else scored.state_differences,
            findings=finding_views(analysed or ()),
            tools=[] if transcript is None else transcript.tools,
            said=[] if transcript is None else [Said(event=event) for event in transcript.events],
        )
    )


def _is_name(text: str) -> bool:
    """Whether it names a folder of the store, and no other place in it."""
    return is_key(text) and "/" not in text


def _attempts(store: Store, keys: TrialKeys) -> list[AttemptRecord]:
    found = (read_object(store, key, AttemptRecord) for key in store.keys(keys.attempts) if is_attempt_record(key))
    return sorted((attempt for attempt in found if attempt is not None), key=lambda attempt: attempt.attempt)


def _transcript(
    store: Store, keys: TrialKeys, scored: TrialRecord | None, attempts: Sequence[AttemptRecord]
) -> Transcript | None:
    """The scored attempt's, else that of the last attempt that left one."""
    if scored is not None:
        return read_transcript(store, keys.transcript)
    left = (read_transcript(store, keys.failed_transcript(attempt.attempt)) for attempt in reversed(attempts))
    return next((transcript for transcript in left if transcript is not None), None)


def _readable(detail: TrialDetail) -> TrialDetail:
    """The same with long texts cut."""
    return TrialDetail.model_validate(shown(detail.model_dump()))
