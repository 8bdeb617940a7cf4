"""Reads a run from its store, and closes the attempts of pods that ended without a report.

Invariant: a score counts only if its trial record exists. An attempt whose pod has ended does not stay open: it gets
the outcome that ended the pod and keeps its spend. Every function blocks and is called in a thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TypeVar

from pydantic import ValidationError

from opsgym_api.base import adapter
from opsgym_api.errors import InputError
from opsgym_api.records.attempt import (
    NO_FINISHES,
    NO_USAGE,
    Attempt,
    AttemptRecord,
    Cell,
    ScoredAttempt,
    Timings,
    TrialRecord,
)
from opsgym_api.records.gate import GateRecord, LookRecord
from opsgym_api.records.outcomes import ConfigReason, Outcome
from opsgym_api.records.run import Control, RunRecord
from opsgym_api.records.store_layout import RunKeys, TrialKeys, is_attempt_record
from opsgym_api.records.version import unreadable_because
from opsgym_api.tasks.suite import SuiteIndex
from opsgym_core.common.clock import utc_text
from opsgym_core.results import looks
from opsgym_core.results.compaction import gather, put_chunk, read_trials
from opsgym_core.results.rows import CellRows, without_score
from opsgym_core.store.base import Store, UnreadableObjectError
from opsgym_operator.observe.parse import JobTrials, TerminationCause

M = TypeVar("M")

SKEW = timedelta(seconds=2)
"""Allowance for comparing times: Kubernetes writes whole seconds, records write fractions."""


@dataclass(frozen=True)
class StoredRun:
    """What the store holds of a run, as far as the operator needs it."""

    record: RunRecord | None
    index: SuiteIndex | None
    control: Control | None
    attempts: Sequence[Attempt]
    """Sorted by end; open attempts last."""
    gate: GateRecord | None
    chunks: frozenset[str]
    """Names of the run's chunks; the operator names a chunk after its Job."""


@dataclass(frozen=True)
class EndedTrial:
    """A trial of a pod that ended without a report of its attempt."""

    run: str
    cell: Cell
    task_id: str
    trial: int
    cause: TerminationCause
    outcome: Outcome
    """Outcome of the open attempt."""
    alone: bool
    """Whether no other pod works on the trial now."""
    counted: bool
    """Whether the Job controller counts the pod as a failure, so that the store must have an attempt of it."""

    @property
    def keys(self) -> TrialKeys:
        """Keys of the trial in the store."""
        return RunKeys(self.run).trial(self.cell, self.task_id, self.trial)


@dataclass(frozen=True)
class ClosedTrial:
    """A trial of an ended pod, whose attempts are closed."""

    trial: EndedTrial
    records: Sequence[AttemptRecord]
    """All attempts at it, by number; not read of a trial that its first attempt has scored."""
    scored: TrialRecord | None
    """The record of such a trial, which says all of its attempt."""
    own: bool
    """Whether one of the attempts is the pod's."""


@dataclass(frozen=True)
class ReportedAttempt:
    """An attempt that a pod reports."""

    keys: TrialKeys
    """Keys of the pod's trial."""
    summary: Attempt
    """The report."""


def read_reported(store: Store, report: ReportedAttempt) -> Attempt | None:
    """The record of an attempt that a pod reports; None if the store has no such record that has ended and is valid."""
    with suppress(UnreadableObjectError):
        return _read_reported(store, report)
    return None


def _read_reported(store: Store, report: ReportedAttempt) -> Attempt | None:
    summary = report.summary
    if summary.outcome is not None and summary.outcome.scored:
        trial = read_trial(store, report.keys)
        return trial if trial is not None and trial.attempt == summary.attempt else None
    record = _get(store, report.keys.attempt(summary.attempt), AttemptRecord)
    # A record that claims a score without a trial record is finalized, which checks it.
    return record if record is not None and record.outcome is not None and not record.outcome.scored else None


def read_stored_run(store: Store, run: str, since: datetime | None = None) -> StoredRun:
    """The run of that name.

    Args:
        store: The result store.
        run: Name of the run in it.
        since: Scored attempts that ended before have neither usage nor phases: half of what a row takes. None for the
            usage of all.

    Raises:
        StoreError: The store cannot be read, or an object under the run's keys is not valid.
    """
    keys = RunKeys(run)
    record = _get(store, keys.run_json, RunRecord)
    if record is not None:
        record = _with_looks(store, record)
    rows, loose = gather(store, run, record, trim=partial(_without_details, since=since))
    for cell in loose.rows():
        rows.add(cell)
    return StoredRun(
        record=record,
        index=read_index(store, run),
        control=read_control(store, run),
        gate=read_gate(store, run),
        attempts=_by_end(run, rows.rows()),
        chunks=frozenset(key.removeprefix(keys.chunks).partition(".json")[0] for key in store.keys(keys.chunks)),
    )


def _without_details(row: ScoredAttempt, since: datetime | None) -> ScoredAttempt:
    """A row without what only the metrics of attempts count, if it ended earlier, and without its verifiers."""
    if since is None or ended_at(row) >= since:
        return replace(row, verifiers=())
    return replace(
        row,
        verifiers=(),
        usage=NO_USAGE,
        planner_usage=NO_USAGE,
        judge_usage=NO_USAGE,
        finish_reasons=NO_FINISHES,
        timings=Timings(started_at=row.timings.started_at, total_s=row.timings.total_s),
    )


def read_index(store: Store, run: str) -> SuiteIndex | None:
    """Index of the frozen suite; None if no preflight has frozen it."""
    return _get(store, RunKeys(run).suite_index, SuiteIndex)


def read_control(store: Store, run: str) -> Control | None:
    """The start gate; None if it was never written."""
    return _get(store, RunKeys(run).control_json, Control)


def read_gate(store: Store, run: str) -> GateRecord | None:
    """The verdict when the run last ended; None if it has none."""
    return _get(store, RunKeys(run).gate_json, GateRecord)


def read_trial(store: Store, keys: TrialKeys) -> TrialRecord | None:
    """The record of a trial; None if it is not scored."""
    return _get(store, keys.record, TrialRecord)


def read_scored(store: Store, keys: TrialKeys) -> TrialRecord | None:
    """The record of a trial; None if it is not scored, or its record is not valid."""
    with suppress(UnreadableObjectError):
        return read_trial(store, keys)
    return None


def read_running(store: Store, key: str) -> AttemptRecord | None:
    """The attempt of that key; None if it has not begun, or its record is not valid."""
    with suppress(UnreadableObjectError):
        return _get(store, key, AttemptRecord)
    return None


def read_begun(store: Store, trials: Sequence[TrialKeys]) -> list[Attempt]:
    """The latest attempts at trials that a pod plays in turn: up to the one that has not ended, or begun, or whose
    records are not valid.

    Args:
        store: The result store.
        trials: Keys of the trials, in the order in which they are played.
    """
    begun: list[Attempt] = []
    with suppress(UnreadableObjectError):
        for keys in trials:
            if (scored := _scored_at_once(store, keys)) is not None:
                begun.append(scored)
                continue
            attempts = _attempts(store, keys)
            if not attempts:
                break
            begun.append(attempts[-1] if read_trial(store, keys) is not None else without_score(attempts[-1]))
            if attempts[-1].outcome is None:
                break
    return begun


def put_run(store: Store, record: RunRecord) -> RunRecord:
    """Freezes a run unless it is frozen; returns the stored record."""
    key = RunKeys(record.run).run_json
    if store.put_once(key, record.model_dump_json().encode()):
        return _with_looks(store, record)
    return _with_looks(store, _get(store, key, RunRecord) or record)


def put_look(store: Store, record: RunRecord, look: LookRecord) -> RunRecord:
    """Writes a look unless the store has it; the run's record as it stands after the look in the store."""
    with _looks_readable(store, record):
        return looks.put_look(store, record, look)


def _with_looks(store: Store, record: RunRecord) -> RunRecord:
    """The record of a run as it stands after its looks."""
    with _looks_readable(store, record):
        return looks.with_looks(store, record)


@contextmanager
def _looks_readable(store: Store, record: RunRecord) -> Iterator[None]:
    """Raises UnreadableObjectError where the record of a look is not valid."""
    try:
        yield
    except InputError as error:
        raise UnreadableObjectError(store.name, RunKeys(record.run).looks, error.problems[0].message) from None


def compact_job(store: Store, run: str, job: str, job_trials: JobTrials, known: Sequence[ScoredAttempt]) -> None:
    """Writes the chunk of a harvested Job: its trials' records, which no longer change.

    Args:
        store: The result store.
        run: Name of the run in it.
        job: Name of the Job, which becomes that of the chunk.
        job_trials: Trials of the Job.
        known: Rows that need not be read; see `read_trials`.

    Raises:
        StoreError: The store cannot be read or written.
        InputError: An object under the run's keys is not valid.
    """
    put_chunk(store, run, job, [read_trials(store, run, job_trials.cell, job_trials.trials, known)])


def put_attempt(store: Store, record: AttemptRecord) -> None:
    """Writes an attempt record."""
    keys = RunKeys(record.run).trial(record.cell, record.task_id, record.trial)
    store.put(keys.attempt(record.attempt), record.to_json())


def close_attempts(store: Store, trials: Sequence[EndedTrial]) -> list[ClosedTrial]:
    """Closes the open attempt of an ended pod at each of some trials.

    A trial of which a record is not valid ends as `config_error`: no further attempt would make it valid.
    """
    return [_close_readable(store, trial) for trial in trials]


def _close_readable(store: Store, trial: EndedTrial) -> ClosedTrial:
    try:
        return _close_attempt(store, trial)
    except UnreadableObjectError as error:
        return ClosedTrial(trial, [_unreadable(trial, error)], None, own=True)


def _close_attempt(store: Store, trial: EndedTrial) -> ClosedTrial:
    if (scored := _scored_at_once(store, trial.keys)) is not None:
        return ClosedTrial(trial, [], scored, own=_belongs(scored, trial))
    records = _attempts(store, trial.keys)
    own = [record for record in records if _belongs(record, trial)]
    for position, record in enumerate(records):
        if record.outcome is None and record in own:
            records[position] = _closed(record, trial)
            put_attempt(store, records[position])
    return ClosedTrial(trial, records, None, own=bool(own))


def ended_attempts(store: Store, closed: ClosedTrial, *, began: bool) -> list[Attempt]:
    """Adds the missing attempt of a pod that counts, if it began none of its trials.

    Such a pod used up an attempt of each trial without a score; one that began some is accounted for by these, and the
    trials that it did not reach have lost nothing.

    Args:
        store: The result store.
        closed: A trial of the pod that its first attempt has not scored; its open attempt is closed.
        began: Whether the pod began any of its trials.

    Returns:
        All attempts at the trial afterwards, by number.
    """
    trial, records = closed.trial, list(closed.records)
    if any(record.reason == ConfigReason.UNREADABLE_RECORD for record in records):
        return list(records)
    scored = read_trial(store, trial.keys) is not None
    if trial.counted and trial.alone and not began and not scored:
        missing = _missing_attempt(trial, records[-1].attempt + 1 if records else 0)
        # A pod that has just started may have taken the number; its record then stands.
        if store.put_once(trial.keys.attempt(missing.attempt), missing.to_json()):
            records.append(missing)
    return [record if scored else without_score(record) for record in records]


def _scored_at_once(store: Store, keys: TrialKeys) -> TrialRecord | None:
    """The record of a trial that its first attempt has scored: it says all, so that its attempts need not be read."""
    scored = read_trial(store, keys)
    return scored if scored is not None and scored.attempt == 0 else None


def _attempts(store: Store, keys: TrialKeys) -> list[AttemptRecord]:
    records = (_get(store, key, AttemptRecord) for key in store.keys(keys.attempts) if is_attempt_record(key))
    return sorted((item for item in records if item is not None), key=lambda record: record.attempt)


def _belongs(record: Attempt, trial: EndedTrial) -> bool:
    """Whether an attempt was made by the terminated pod."""
    cause = trial.cause
    if not cause.started:
        return False
    if cause.began is None:
        # The pod's start is unknown: if no other pod works on the trial, the attempt is this pod's.
        return trial.alone
    started = datetime.fromisoformat(record.timings.started_at)
    return cause.began - SKEW <= started and (cause.ended is None or started <= cause.ended + SKEW)


def _closed(record: AttemptRecord, trial: EndedTrial) -> AttemptRecord:
    """An open attempt with the outcome of its terminated pod."""
    began = datetime.fromisoformat(record.timings.started_at)
    seconds = max(record.timings.total_s, (trial.cause.ended - began).total_seconds() if trial.cause.ended else 0.0)
    return replace(
        record,
        outcome=trial.outcome,
        reason=str(trial.cause.reason) if trial.outcome is Outcome.INFRA_ERROR else "",
        message=trial.cause.message,
        timings=replace(record.timings, total_s=seconds),
    )


def _unreadable(trial: EndedTrial, error: UnreadableObjectError) -> AttemptRecord:
    """What stands for the attempts of a trial of which a record is not valid, as when a run is read as a whole."""
    name = error.key.rpartition("/")[2].removesuffix(".json")
    at = trial.cause.ended or datetime.now(UTC)
    return AttemptRecord(
        run=trial.run,
        cell=trial.cell,
        task_id=trial.task_id,
        trial=trial.trial,
        attempt=int(name) if is_attempt_record(error.key) and name.isdecimal() else 0,
        outcome=Outcome.CONFIG_ERROR,
        reason=ConfigReason.UNREADABLE_RECORD,
        message=f"{error}; delete or restore the object, and the trial can run again",
        cost_usd=None,
        timings=Timings(started_at=utc_text(at)),
    )


def _missing_attempt(trial: EndedTrial, attempt: int) -> AttemptRecord:
    """The attempt of a terminated pod that left no record."""
    at = trial.cause.ended or datetime.now(UTC)
    return AttemptRecord(
        run=trial.run,
        cell=trial.cell,
        task_id=trial.task_id,
        trial=trial.trial,
        attempt=attempt,
        outcome=trial.outcome,
        reason=str(trial.cause.reason) if trial.outcome is Outcome.INFRA_ERROR else "",
        message=trial.cause.message,
        timings=Timings(started_at=utc_text(at)),
    )


def _by_end(run: str, cells: Iterable[CellRows]) -> list[Attempt]:
    """Attempts by end, open ones last. Open attempts are complete records, since closing one writes it again."""
    attempts: list[Attempt] = []
    for rows in cells:
        attempts += rows.trials
        attempts += (
            AttemptRecord.of(run, attempt) if attempt.outcome is None else without_score(attempt)
            for attempt in rows.attempts
        )
    return sorted(attempts, key=lambda attempt: (attempt.outcome is None, ended_at(attempt)))


def ended_at(attempt: Attempt) -> datetime:
    """When an attempt ended; of an open one, when its record was last written."""
    return datetime.fromisoformat(attempt.timings.started_at) + timedelta(seconds=attempt.timings.total_s)


def _get(store: Store, key: str, kind: type[M]) -> M | None:
    content = store.get(key)
    if content is None:
        return None
    try:
        return adapter(kind).validate_json(content)
    except ValidationError as error:
        raise UnreadableObjectError(store.name, key, unreadable_because(error, kind.__name__)) from None
