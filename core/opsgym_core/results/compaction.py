"""Chunks: rows of many trials in one object, so that a large run is read in seconds.

Invariant: single records are the source of truth, and a chunk repeats only final ones: scored trials with all their
attempts, and other attempts that have ended. Chunks may therefore overlap, be missing or be written twice; nothing is
lost or counted twice. They are in clear, and made of what is in clear of a run with a held-out suite.
"""

from __future__ import annotations

import gc
import gzip
import hashlib
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from typing import Annotated, Any, cast

from pydantic import GetCoreSchemaHandler, TypeAdapter, ValidationError
from pydantic_core import core_schema

from opsgym_api.errors import InputError, Problem
from opsgym_api.jobs.job_spec import TrialRef
from opsgym_api.records.attempt import Attempt, AttemptRecord, Cell, ScoredAttempt, Timings, TrialRecord
from opsgym_api.records.outcomes import ConfigReason, Outcome
from opsgym_api.records.run import RunRecord
from opsgym_api.records.store_layout import RunKeys, is_attempt_record, is_trial_record, trial_of
from opsgym_api.records.version import RECORD_VERSION, RecordVersion, unreadable_because
from opsgym_core.results.rows import CellRows, RowCollection
from opsgym_core.store.base import Store
from opsgym_core.store.objects import READERS, read_object
from opsgym_core.store.sealed import without_seal

_CHUNK_ADVICE = "it only repeats single records and may be deleted"
CHUNK_ROWS = 1000
"""Maximum number of rows of a chunk, as of trials of a Job; such a chunk takes a few megabytes in memory."""


_UNREAD_CELL = Cell(model="", agent="", mode="", domain="")
"""Placeholder for the cell of a row, from parsing a chunk until `_with_cell`."""


class _WithoutCell:
    """Leaves the cell out of the JSON of a row, since a chunk has it once for all rows of a cell."""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        row: Any = handler.resolve_ref_schema(handler(source))
        parts = [_exclude(part) if part["name"] == "cell" else part for part in row["schema"]["fields"]]
        changed = row | {"schema": row["schema"] | {"fields": parts}}
        del changed["ref"]  # otherwise other types would refer to the changed schema
        return cast("core_schema.CoreSchema", changed)


def _exclude(part: dict[str, Any]) -> dict[str, Any]:
    absent = core_schema.with_default_schema(part["schema"], default=_UNREAD_CELL)
    return part | {"schema": absent, "serialization_exclude": True}


@dataclass(frozen=True, slots=True)
class _ChunkCell:
    cell: Cell
    trials: tuple[Annotated[ScoredAttempt, _WithoutCell()], ...]
    attempts: tuple[Annotated[Attempt, _WithoutCell()], ...]


@dataclass(frozen=True, slots=True)
class Chunk:
    """Content of an object below `RunKeys.chunks`, stored as gzipped JSON."""

    version: RecordVersion
    cells: tuple[_ChunkCell, ...]


_CHUNK = TypeAdapter(Chunk)


def put_chunk(store: Store, run: str, name: str, cells: Sequence[CellRows]) -> bool:
    """Writes a chunk unless one of that name exists; returns whether it wrote.

    Raises:
        StoreError: The store cannot be written.
    """
    return store.put_once(RunKeys(run).chunk(name), _encode(cells))


def read_chunk(store: Store, key: str) -> tuple[CellRows, ...]:
    """Rows of a chunk; none if the chunk does not exist.

    Raises:
        InputError: The object is not a valid chunk of this version.
        StoreError: The store cannot be read.
    """
    content = store.get(key)
    if content is None:
        return ()
    try:
        return tuple(map(_with_cell, _CHUNK.validate_json(gzip.decompress(content)).cells))
    except ValidationError as error:
        problem = f"{unreadable_because(error, 'chunk')}; {_CHUNK_ADVICE}"
    except (OSError, EOFError, zlib.error):
        problem = f"is not a valid chunk of this version; {_CHUNK_ADVICE}"
    raise InputError(f"{store.name}/{key}", [Problem("", problem)])


def read_trials(
    store: Store, run: str, cell: Cell, trials: Iterable[TrialRef], known: Sequence[ScoredAttempt] = ()
) -> CellRows:
    """Final rows of the given trials of a cell, from their single records.

    Args:
        store: The store.
        run: Id of the run.
        cell: The cell.
        trials: The trials.
        known: Rows of those among them which the store is known to have scored at their first attempt; they are not
            read again.

    Raises:
        StoreError: The store cannot be read.
    """
    collection = RowCollection()
    collection.add(CellRows(cell, tuple(known), ()))
    scored_at_once = {(row.task_id, row.trial) for row in known}
    for ref in trials:
        if (ref.task_id, ref.trial) in scored_at_once:
            continue
        keys = RunKeys(run).trial(cell, ref.task_id, ref.trial)
        scored = _readable_row(store, None, keys.record)
        if scored is not None:
            collection.add(scored)
        if scored is None or scored.trials[0].attempt > 0:
            of_attempts = (key for key in store.keys(keys.attempts) if is_attempt_record(key))
            for rows in filter(None, (_readable_row(store, None, key) for key in of_attempts)):
                collection.add(rows)
    return next((final_rows(rows) for rows in collection.rows()), CellRows(cell, (), ()))


def final_rows(cell: CellRows, scored_before: Iterable[tuple[str, int]] = ()) -> CellRows:
    """The final rows of a cell: scored trials with their attempts, and attempts that have ended.

    Args:
        cell: The rows.
        scored_before: Task id and number of scored trials that have no row in `cell`.
    """
    scored = {(trial.task_id, trial.trial) for trial in cell.trials}.union(scored_before)
    final = (row for row in cell.attempts if row.outcome is not None or (row.task_id, row.trial) in scored)
    return CellRows(cell.cell, cell.trials, tuple(final))


def gather(
    store: Store,
    run: str,
    record: RunRecord | None,
    *,
    trim: Callable[[ScoredAttempt], ScoredAttempt] | None = None,
) -> tuple[RowCollection, RowCollection]:
    """Rows of a run from its chunks, and the rows that only single records have.

    A cell whose trials are all scored in chunks is not listed, since its records are final.

    Args:
        store: The store.
        run: Id of the run.
        record: Record of the run, with the number of trials of each cell; None before the run is frozen.
        trim: What is kept of the row of a scored trial; all of it by default.

    Raises:
        StoreError: The store cannot be read.
    """
    keys = RunKeys(run)
    chunked, loose = RowCollection(), RowCollection()
    with _no_garbage_collection(), ThreadPoolExecutor(READERS) as pool:
        for cells in pool.map(partial(_cells, store, trim=trim), store.keys(keys.chunks)):
            for cell in cells:
                chunked.add(cell)
        unread = _unread(store, keys, record, chunked, pool)
        while batch := list(islice(unread, CHUNK_ROWS)):
            for rows in filter(None, pool.map(partial(_readable_row, store, record), batch)):
                loose.add(_trimmed(rows, trim))
            # boto3 leaves reference cycles with each object that it reads: 30 MB with ten thousand.
            gc.collect(0)
    return chunked, loose


def gather_new(store: Store, record: RunRecord, known: RowCollection, chunks: set[str]) -> RowCollection:
    """Adds the new final rows of a run to the known ones, and returns the rows that are not final yet.

    Known rows are not read again, so following a run costs the reading of its new records and one listing of its keys.

    Args:
        store: The store.
        record: Record of the run.
        known: Final rows of earlier calls; this call adds its own.
        chunks: Keys of the chunks that earlier calls read; this call adds its own.

    Raises:
        StoreError: The store cannot be read.
    """
    keys = RunKeys(record.run)
    new, unsettled = RowCollection(), RowCollection()
    with _no_garbage_collection(), ThreadPoolExecutor(READERS) as pool:
        fresh = [key for key in store.keys(keys.chunks) if key not in chunks]
        for cell in chain.from_iterable(pool.map(partial(_cells, store), fresh)):
            known.add(cell)
        chunks.update(fresh)
        unread = _unread(store, keys, record, known, pool)
        while batch := list(islice(unread, CHUNK_ROWS)):
            for rows in filter(None, pool.map(partial(_readable_row, store, record), batch)):
                new.add(rows)
    for cell in new.rows():
        final = _compactable(cell, known.scored(cell.cell.key))
        known.add(final)
        finals = set(final.attempts)
        unsettled.add(CellRows(cell.cell, (), tuple(row for row in cell.attempts if row not in finals)))
    return unsettled


def compact(store: Store, record: RunRecord) -> int:
    """Writes the final rows that no chunk has into new chunks; returns their number.

    Raises:
        StoreError: The store cannot be read or written.
    """
    store = without_seal(store)
    _, loose = gather(store, record.run, record)
    written = 0
    for part in _parts(map(_compactable, loose.rows())):
        # Named by content, so that processes that compact the same run at the same time write the same objects.
        put_chunk(store, record.run, hashlib.sha256(_encode(part)).hexdigest()[:16], part)
        written += sum(len(cell.trials) + len(cell.attempts) for cell in part)
    return written


def _cells(store: Store, key: str, trim: Callable[[ScoredAttempt], ScoredAttempt] | None = None) -> Sequence[CellRows]:
    try:
        return [_trimmed(cell, trim) for cell in read_chunk(store, key)]
    except InputError:  # the single records that it repeats are read instead
        return ()


def _trimmed(cell: CellRows, trim: Callable[[ScoredAttempt], ScoredAttempt] | None) -> CellRows:
    return cell if trim is None else replace(cell, trials=tuple(map(trim, cell.trials)))


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Disables the search for reference cycles: a large run is a million objects without one, and the search would take
    half of the time. Its own search with `gc.collect(0)` looks at the objects that are new since the last one.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _unread(
    store: Store, keys: RunKeys, record: RunRecord | None, chunked: RowCollection, pool: Executor
) -> Iterator[str]:
    """Keys of the single records that no chunk repeats; cells that chunks cover completely are not listed."""
    planned = {plan.cell.key: plan.task_ids for plan in record.cells} if record else {}
    trials = record.trials if record else 0
    prefixes: list[str] = []
    for cell in store.folders(keys.cells):
        scored = Counter(task_id for task_id, _ in chunked.scored(cell))
        tasks = [task_id for task_id in planned.get(cell, ()) if scored[task_id] < trials]
        if cell in planned and len(tasks) <= READERS:
            prefixes += [keys.task(cell, task_id) for task_id in tasks]
        else:
            prefixes.append(keys.cell(cell))
    covered = _chunked_keys(keys, chunked) if prefixes else frozenset()
    for listed in pool.map(lambda prefix: list(store.keys(prefix)), prefixes):
        for key in listed:
            if (is_trial_record(key) or is_attempt_record(key)) and key not in covered:
                yield key


def _chunked_keys(keys: RunKeys, chunked: RowCollection) -> frozenset[str]:
    """Keys of the records that chunks repeat."""
    covered: set[str] = set()
    for cell in chunked.rows():
        for trial in cell.trials:
            of_trial = keys.trial(cell.cell, trial.task_id, trial.trial)
            covered |= {of_trial.record, of_trial.attempt(trial.attempt)}
        covered |= {keys.trial(cell.cell, row.task_id, row.trial).attempt(row.attempt) for row in cell.attempts}
    return frozenset(covered)


def _row(store: Store, key: str) -> CellRows | None:
    """The row of one record; None if the record no longer exists."""
    if is_trial_record(key):
        scored = read_object(store, key, TrialRecord)
        return None if scored is None else CellRows(scored.cell, (scored.without_texts(),), ())
    attempt = read_object(store, key, AttemptRecord)
    return None if attempt is None else CellRows(attempt.cell, (), (attempt.narrow(Attempt),))


def _readable_row(store: Store, run: RunRecord | None, key: str) -> CellRows | None:
    """The row of one record; for a record that cannot be read, the ending that its trial has without a score."""
    try:
        return _row(store, key)
    except InputError as error:
        trial = trial_of(key)
        cells = {plan.cell.key: plan.cell for plan in run.cells} if run is not None else {}
        if run is None or trial is None or trial.cell not in cells:
            return None
        advice = "delete or restore the object, and the trial can run again"
        unreadable = Attempt(
            cell=cells[trial.cell],
            task_id=trial.task_id,
            trial=trial.trial,
            attempt=0,
            outcome=Outcome.CONFIG_ERROR,
            reason=ConfigReason.UNREADABLE_RECORD.value,
            message=f"{error}; {advice}",
            cost_usd=None,
            timings=Timings(started_at=run.created_at),
        )
        return CellRows(unreadable.cell, (), (), (unreadable,))


def _compactable(cell: CellRows, scored_before: Iterable[tuple[str, int]] = ()) -> CellRows:
    """The final rows of a cell (`final_rows`) without those that stand for unreadable records."""
    attempts = (row for row in cell.attempts if row.reason != ConfigReason.UNREADABLE_RECORD)
    return final_rows(CellRows(cell.cell, cell.trials, tuple(attempts)), scored_before)


def _parts(cells: Iterable[CellRows]) -> Iterator[list[CellRows]]:
    """Splits rows into chunks; the rows of one trial are in the same chunk."""
    part, rows = RowCollection(), 0
    for trial in (trial for cell in cells for trial in _by_trial(cell)):
        part.add(trial)
        rows += len(trial.trials) + len(trial.attempts)
        if rows >= CHUNK_ROWS:
            yield list(part.rows())
            part, rows = RowCollection(), 0
    if rows:
        yield list(part.rows())


def _by_trial(cell: CellRows) -> Iterator[CellRows]:
    """A cell's rows, trial by trial."""
    scores = {(row.task_id, row.trial): row for row in cell.trials}
    attempts: dict[tuple[str, int], list[Attempt]] = {trial: [] for trial in scores}
    for row in cell.attempts:
        attempts.setdefault((row.task_id, row.trial), []).append(row)
    for trial, rows in attempts.items():
        yield CellRows(cell.cell, (scores[trial],) if trial in scores else (), tuple(rows))


def _encode(cells: Sequence[CellRows]) -> bytes:
    """Content of a chunk; equal rows give equal bytes."""
    chunk = Chunk(RECORD_VERSION, tuple(_ChunkCell(rows.cell, rows.trials, rows.attempts) for rows in cells))
    return gzip.compress(_CHUNK.dump_json(chunk, exclude_defaults=True), 6, mtime=0)


def _with_cell(rows: _ChunkCell) -> CellRows:
    for row in chain[Attempt](rows.trials, rows.attempts):
        # Nothing else refers to the new rows yet; copying each would double the time to read a chunk.
        object.__setattr__(row, "cell", rows.cell)
    return CellRows(rows.cell, rows.trials, rows.attempts)
