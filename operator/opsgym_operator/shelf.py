"""What a run's store holds of its attempts: read whole at the start, and put right where a pod died without a word.

Invariant: a score counts only if its trial record is there. An attempt that nobody is working on any more does not stay
open: it is closed as what ended it, and what it had spent is kept. Everything here blocks; it is run in threads.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from opsgym_api.layout import RunKeys, TrialKeys, is_attempt_record, is_trial_record
from opsgym_api.orders import AttemptSummary, SuiteIndex
from opsgym_api.outcomes import InfraReason, Outcome
from opsgym_api.records import AttemptRecord, Cell, Control, RunRecord, Timings, TrialRecord
from opsgym_api.store import Store, StoreError
from opsgym_operator.read import Ending

M = TypeVar("M", bound=BaseModel)

READERS = 16
"""Objects fetched at the same time."""
SKEW = timedelta(seconds=2)
"""Kubernetes writes whole seconds, records finer ones."""


@dataclass(frozen=True)
class Shelf:
    """Everything the store holds of a run that the operator goes by."""

    record: RunRecord | None
    index: SuiteIndex | None
    control: Control | None
    attempts: Sequence[AttemptRecord | AttemptSummary]
    """In the order in which they ended, open ones last."""


@dataclass(frozen=True)
class Died:
    """A pod that ended without saying how its attempt went."""

    run: str
    cell: Cell
    task_id: str
    trial: int
    ending: Ending
    outcome: Outcome
    """What its open attempt is closed as."""
    alone: bool
    """Whether no other pod works on the trial now."""
    counted: bool
    """Whether Kubernetes counts it as a try, so that an attempt must be on record."""

    @property
    def keys(self) -> TrialKeys:
        """Where its trial is in the store."""
        return RunKeys(self.run).trial(self.cell, self.task_id, self.trial)


def read_shelf(store: Store, run: str) -> Shelf:
    """Everything of a run.

    Raises:
        StoreError: The store cannot be read, or holds something under the run's keys that is not ours.
    """
    keys = RunKeys(run)
    found = list(store.keys(keys.cells))
    with ThreadPoolExecutor(READERS) as pool:
        trials = [
            item for item in pool.map(lambda key: _get(store, key, TrialRecord), filter(is_trial_record, found)) if item
        ]
        attempts = [
            item
            for item in pool.map(lambda key: _get(store, key, AttemptRecord), filter(is_attempt_record, found))
            if item
        ]
    return Shelf(
        record=_get(store, keys.run_json, RunRecord),
        index=read_index(store, run),
        control=_get(store, keys.control_json, Control),
        attempts=_in_order(attempts, trials),
    )


def read_index(store: Store, run: str) -> SuiteIndex | None:
    """The frozen suite's rows in short; None if no preflight has frozen it."""
    return _get(store, RunKeys(run).suite_index, SuiteIndex)


def read_trial(store: Store, keys: TrialKeys) -> TrialRecord | None:
    """The record of a scored trial."""
    return _get(store, keys.record, TrialRecord)


def read_open(store: Store, keys: TrialKeys) -> AttemptRecord | None:
    """The latest attempt at a trial, as it stands; None if none has begun."""
    found = _attempts(store, keys)
    return found[-1] if found else None


def put_run(store: Store, record: RunRecord) -> RunRecord:
    """Freezes a run; says what it is frozen as, which is an earlier record if there is one."""
    key = RunKeys(record.run).run_json
    if store.put_once(key, record.model_dump_json().encode()):
        return record
    return _get(store, key, RunRecord) or record


def put_attempt(store: Store, record: AttemptRecord) -> None:
    """Writes an attempt that no pod will write."""
    keys = RunKeys(record.run).trial(record.cell, record.task_id, record.trial)
    store.put(keys.attempt(record.attempt), record.model_dump_json().encode())


def settle(store: Store, died: Died) -> list[AttemptRecord]:
    """Closes what a dead pod left open; all of its trial's attempts afterwards.

    If it left nothing although Kubernetes counts it as a try, an attempt is recorded for it.
    """
    records = _attempts(store, died.keys)
    mine = [record for record in records if _belongs(record, died)]
    for place, record in enumerate(records):
        if record.outcome is None and record in mine:
            records[place] = _closed(record, died)
            put_attempt(store, records[place])
    if died.counted and died.alone and not mine:
        missing = _unrecorded(died, records[-1].attempt + 1 if records else 0)
        # A pod that has just started may take the number first; then it is the one that counts.
        if store.put_once(died.keys.attempt(missing.attempt), missing.model_dump_json().encode()):
            records.append(missing)
    scored = read_trial(store, died.keys) is not None
    return [record if scored else _unscored(record) for record in records]


def _attempts(store: Store, keys: TrialKeys) -> list[AttemptRecord]:
    found = (_get(store, key, AttemptRecord) for key in store.keys(keys.attempts) if is_attempt_record(key))
    return sorted((item for item in found if item is not None), key=lambda record: record.attempt)


def _belongs(record: AttemptRecord, died: Died) -> bool:
    """Whether an attempt was the dead pod's."""
    ending = died.ending
    if not ending.started:
        return False
    if ending.began is None:
        # Nobody knows when it ran: with no other pod there, whatever is open was its.
        return died.alone
    started = datetime.fromisoformat(record.timings.started_at)
    return ending.began - SKEW <= started and (ending.ended is None or started <= ending.ended + SKEW)


def _closed(record: AttemptRecord, died: Died) -> AttemptRecord:
    reason = str(died.ending.reason) if died.outcome is Outcome.INFRA_ERROR else ""
    began = datetime.fromisoformat(record.timings.started_at)
    seconds = max(record.timings.total_s, (died.ending.ended - began).total_seconds() if died.ending.ended else 0.0)
    return record.model_copy(
        update={
            "outcome": died.outcome,
            "reason": reason,
            "message": died.ending.message,
            "timings": record.timings.model_copy(update={"total_s": seconds}),
        }
    )


def _unrecorded(died: Died, attempt: int) -> AttemptRecord:
    at = died.ending.ended or datetime.now(UTC)
    return AttemptRecord(
        run=died.run,
        cell=died.cell,
        task_id=died.task_id,
        trial=died.trial,
        attempt=attempt,
        outcome=died.outcome,
        reason=str(died.ending.reason) if died.outcome is Outcome.INFRA_ERROR else "",
        message=died.ending.message,
        timings=Timings(started_at=at.isoformat()),
    )


def _unscored(record: AttemptRecord) -> AttemptRecord:
    """An attempt that calls itself scored, without a score in the store, counts as lost with the store."""
    if record.outcome is None or not record.outcome.scored:
        return record
    message = "the attempt ended, but the store holds no score of it"
    return record.model_copy(
        update={"outcome": Outcome.INFRA_ERROR, "reason": str(InfraReason.STORE_LOST), "message": message}
    )


def _in_order(attempts: Iterable[AttemptRecord], trials: Iterable[TrialRecord]) -> list[AttemptRecord | AttemptSummary]:
    scores = {(trial.cell.key, trial.task_id, trial.trial): trial for trial in trials}
    found: list[AttemptRecord | AttemptSummary] = []
    for attempt in attempts:
        score = scores.get((attempt.cell.key, attempt.task_id, attempt.trial))
        if score is not None and score.attempt == attempt.attempt:
            continue
        found.append(_unscored(attempt))
    found += [summary_of(trial) for trial in scores.values()]
    return sorted(found, key=lambda attempt: (attempt.outcome is None, ended_at(attempt)))


def summary_of(trial: TrialRecord) -> AttemptSummary:
    """The attempt that a trial's score is of."""
    return AttemptSummary(
        cell=trial.cell,
        task_id=trial.task_id,
        trial=trial.trial,
        attempt=trial.attempt,
        outcome=trial.outcome,
        reason=trial.reason,
        usage=trial.usage,
        cost_usd=trial.cost_usd,
        steps=trial.steps,
        tool_calls=trial.tool_calls,
        timings=trial.timings,
    )


def ended_at(attempt: AttemptRecord | AttemptSummary) -> datetime:
    """When an attempt ended, or last said something."""
    return datetime.fromisoformat(attempt.timings.started_at) + timedelta(seconds=attempt.timings.total_s)


def _get(store: Store, key: str, kind: type[M]) -> M | None:
    content = store.get(key)
    if content is None:
        return None
    try:
        return kind.model_validate_json(content)
    except ValidationError as error:
        problem = f"is no {kind.__name__} of this version: {error.errors(include_url=False)[0]['msg']}"
        raise StoreError(store.name, key, problem) from None
