"""What a run's store holds of its attempts: read whole at the start, and put right where a pod died without a word.

Invariant: a score counts only if its trial record is there. An attempt that nobody is working on any more does not stay
open: it is closed as what ended it, and what it had spent is kept. Everything here blocks; it is run in threads.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from opsgym_api.chunks import gather, put_chunk, read_trials
from opsgym_api.errors import InputError
from opsgym_api.layout import RunKeys, TrialKeys, is_attempt_record
from opsgym_api.orders import SuiteIndex
from opsgym_api.outcomes import InfraReason, Outcome
from opsgym_api.records import AttemptRecord, Cell, Control, GateRecord, RunRecord, Timings, TrialRecord
from opsgym_api.rows import AttemptRow, CellRows, Times, Tokens, TrialRow, attempt_record
from opsgym_api.store import Store, StoreError
from opsgym_operator.book import Attempted
from opsgym_operator.read import Ending, Order

M = TypeVar("M", bound=BaseModel)

SKEW = timedelta(seconds=2)
"""Kubernetes writes whole seconds, records finer ones."""


@dataclass(frozen=True, slots=True)
class StoredAttempt:
    """An attempt that has ended, as its row tells it: a large run has tens of thousands."""

    cell: Cell
    row: TrialRow | AttemptRow

    @property
    def task_id(self) -> str:
        """Task of the trial."""
        return self.row.task_id

    @property
    def trial(self) -> int:
        """Number of the trial."""
        return self.row.trial

    @property
    def attempt(self) -> int:
        """Number of the attempt."""
        return self.row.attempt

    @property
    def outcome(self) -> Outcome | None:
        """How it ended."""
        return self.row.outcome

    @property
    def reason(self) -> str:
        """Why it ended so."""
        return self.row.reason

    @property
    def message(self) -> str:
        """The same for people; a score needs none."""
        return self.row.message if isinstance(self.row, AttemptRow) else ""

    @property
    def cost_usd(self) -> float | None:
        """Dollars; None if they are not known."""
        return self.row.cost_usd

    @property
    def steps(self) -> int:
        """Model calls answered to the agent."""
        return self.row.steps

    @property
    def tool_calls(self) -> int:
        """Tool calls of the agent."""
        return self.row.tool_calls

    @property
    def model_retries(self) -> int:
        """Requests to models that were sent again."""
        return self.row.model_retries

    @property
    def rate_limits(self) -> int:
        """Requests that models refused as too many."""
        return self.row.rate_limits

    @property
    def usage(self) -> Tokens:
        """Tokens."""
        return self.row.usage

    @property
    def timings(self) -> Times:
        """When it ran."""
        return self.row.timings


@dataclass(frozen=True)
class Shelf:
    """Everything the store holds of a run that the operator goes by."""

    record: RunRecord | None
    index: SuiteIndex | None
    control: Control | None
    attempts: Sequence[AttemptRecord | StoredAttempt]
    """In the order in which they ended, open ones last."""
    gate: GateRecord | None
    chunks: frozenset[str]
    """Names of Jobs whose trials a chunk repeats, and of other chunks."""


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
    record = _get(store, keys.run_json, RunRecord)
    try:
        rows, loose = gather(store, run, record, verifiers=False)
    except InputError as error:
        raise StoreError(store.name, keys.root, str(error)) from None
    for cell in loose.rows():
        rows.add(cell)
    return Shelf(
        record=record,
        index=read_index(store, run),
        control=_get(store, keys.control_json, Control),
        gate=_get(store, keys.gate_json, GateRecord),
        attempts=_in_order(run, rows.rows()),
        chunks=frozenset(key.removeprefix(keys.chunks).partition(".json")[0] for key in store.keys(keys.chunks)),
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


def put_job(store: Store, run: str, job: str, order: Order) -> None:
    """Repeats the records of a Job's trials in a chunk, once nothing changes them any more.

    Raises:
        StoreError: The store cannot be read or written.
        InputError: It holds something under the run's keys that is not ours.
    """
    put_chunk(store, run, job, [read_trials(store, run, order.cell, order.trials)])


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
    return record.model_copy(
        update={"outcome": Outcome.INFRA_ERROR, "reason": str(InfraReason.STORE_LOST), "message": _NO_SCORE}
    )


_NO_SCORE = "the attempt ended, but the store holds no score of it"


def _in_order(run: str, cells: Iterable[CellRows]) -> list[AttemptRecord | StoredAttempt]:
    found = [_stored(run, cell.cell, row) for cell in cells for row in cell.all]
    return sorted(found, key=lambda attempt: (attempt.outcome is None, ended_at(attempt)))


def _stored(run: str, cell: Cell, row: TrialRow | AttemptRow) -> AttemptRecord | StoredAttempt:
    """An attempt; a whole record if it is open, since whoever closes it writes it anew."""
    if isinstance(row, TrialRow):
        return StoredAttempt(cell, row)
    if row.outcome is None:
        return attempt_record(run, cell, row)
    if row.outcome.scored:
        reason = str(InfraReason.STORE_LOST)
        row = replace(row, outcome=Outcome.INFRA_ERROR, reason=reason, message=_NO_SCORE)
    return StoredAttempt(cell, row)


def ended_at(attempt: Attempted) -> datetime:
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
