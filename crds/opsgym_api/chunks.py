"""Chunks: rows of many trials in one object, so that a large run is read in seconds.

Invariant: single records are the truth, and a chunk repeats only those that nothing changes any more: scored trials
with all their attempts, and other attempts that have ended. So chunks may overlap, be missing or be written twice:
nothing is lost, and nothing counted twice.
"""

from __future__ import annotations

import gc
import gzip
import hashlib
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice

from pydantic import TypeAdapter, ValidationError

from opsgym_api.errors import InputError, Problem
from opsgym_api.layout import RunKeys, is_attempt_record, is_trial_record
from opsgym_api.objects import READERS, read_object
from opsgym_api.orders import TrialRef
from opsgym_api.records import AttemptRecord, Cell, RunRecord, TrialRecord
from opsgym_api.rows import AttemptRow, CellRows, Gathered, attempt_row, trial_row
from opsgym_api.store import Store

CHUNK_VERSION = 1
CHUNK_ROWS = 1000
"""Rows of a chunk at most, as a Job has at most so many trials: read whole, it takes a few megabytes."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """What one object of `RunKeys.chunks` holds, as gzipped JSON."""

    version: int
    cells: tuple[CellRows, ...]


_CHUNK = TypeAdapter(Chunk)


def put_chunk(store: Store, run: str, name: str, cells: Sequence[CellRows]) -> bool:
    """Writes a chunk unless there is one of its name; says whether it wrote.

    Raises:
        StoreError: The store cannot be written.
    """
    return store.put_once(RunKeys(run).chunk(name), _packed(cells))


def read_chunk(store: Store, key: str) -> tuple[CellRows, ...]:
    """Rows of a chunk.

    Raises:
        InputError: It is no chunk that this version can read.
        StoreError: The store cannot be reached.
    """
    content = store.get(key)
    if content is None:
        return ()
    try:
        return _CHUNK.validate_json(gzip.decompress(content)).cells
    except (OSError, EOFError, zlib.error, ValidationError):
        problem = "is no chunk of this version; it only repeats single records and may be deleted"
        raise InputError(f"{store.name}/{key}", [Problem("", problem)]) from None


def read_trials(store: Store, run: str, cell: Cell, trials: Iterable[TrialRef]) -> CellRows:
    """What never changes any more of some trials of a cell, from their single records.

    Raises:
        InputError: A record cannot be read.
        StoreError: The store cannot be reached.
    """
    gathered = Gathered()
    for ref in trials:
        keys = RunKeys(run).trial(cell, ref.task_id, ref.trial)
        scored = read_object(store, keys.record, TrialRecord)
        if scored is not None:
            gathered.add(CellRows(cell, (trial_row(scored),), ()))
        if scored is None or scored.attempt > 0:
            for rows in filter(None, (_row(store, key) for key in store.keys(keys.attempts) if is_attempt_record(key))):
                gathered.add(rows)
    return next((final_rows(found) for found in gathered.rows()), CellRows(cell, (), ()))


def final_rows(cell: CellRows, scored_before: Iterable[tuple[str, int]] = ()) -> CellRows:
    """Those rows of a cell that never change any more.

    Args:
        cell: The rows.
        scored_before: Task and number of trials that are scored although no row here says so.
    """
    scored = {(trial.task_id, trial.trial) for trial in cell.trials}.union(scored_before)
    final = (row for row in cell.attempts if row.outcome is not None or (row.task_id, row.trial) in scored)
    return CellRows(cell.cell, cell.trials, tuple(final))


def gather(store: Store, run: str, record: RunRecord | None, *, verifiers: bool = True) -> tuple[Gathered, Gathered]:
    """What chunks hold of a run, and what only single records tell.

    A cell is not even listed if chunks have a score for all its trials: nothing of them changes any more.

    Args:
        store: The store.
        run: The run.
        record: Its record, which tells how many trials a cell has; None if there is none yet.
        verifiers: Whether scored trials keep theirs, which are half of a row.

    Raises:
        InputError: A chunk or a record cannot be read.
        StoreError: The store cannot be reached.
    """
    keys = RunKeys(run)
    chunked, loose = Gathered(), Gathered()
    with _no_garbage_collection(), ThreadPoolExecutor(READERS) as pool:
        for cells in pool.map(partial(_cells, store, verifiers=verifiers), store.keys(keys.chunks)):
            for cell in cells:
                chunked.add(cell)
        unread = _unread(store, keys, record, chunked, pool)
        while batch := list(islice(unread, CHUNK_ROWS)):
            for rows in filter(None, pool.map(partial(_row, store), batch)):
                loose.add(rows if verifiers else _without_verifiers(rows))
    return chunked, loose


def gather_new(store: Store, record: RunRecord, known: Gathered, chunks: set[str]) -> Gathered:
    """Adds what a run has that is final and not known yet; gives what is not final, as it is now.

    Nothing that is known is read again, so a run that goes on can be followed at the cost of what is new and a list of
    its keys.

    Args:
        store: The store.
        record: The run's record.
        known: Final rows that earlier calls found; this call's are added.
        chunks: Keys of the chunks that earlier calls read; this call's are added.

    Raises:
        InputError: A chunk or a record cannot be read.
        StoreError: The store cannot be reached.
    """
    keys = RunKeys(record.run)
    found, unsettled = Gathered(), Gathered()
    with _no_garbage_collection(), ThreadPoolExecutor(READERS) as pool:
        fresh = [key for key in store.keys(keys.chunks) if key not in chunks]
        for cell in chain.from_iterable(pool.map(partial(read_chunk, store), fresh)):
            known.add(cell)
        chunks.update(fresh)
        unread = _unread(store, keys, record, known, pool)
        while batch := list(islice(unread, CHUNK_ROWS)):
            for rows in filter(None, pool.map(partial(_row, store), batch)):
                found.add(rows)
    for cell in found.rows():
        final = final_rows(cell, known.scored(cell.cell.key))
        known.add(final)
        there = set(final.attempts)
        unsettled.add(CellRows(cell.cell, (), tuple(row for row in cell.attempts if row not in there)))
    return unsettled


def compact(store: Store, record: RunRecord) -> int:
    """Writes into chunks what no chunk has of a run; says how many rows.

    Raises:
        InputError: A chunk or a record cannot be read.
        StoreError: The store cannot be read or written.
    """
    _, loose = gather(store, record.run, record)
    written = 0
    for part in _parts(map(final_rows, loose.rows())):
        # Named by what it says: two that compact the same run at the same time write the same objects.
        put_chunk(store, record.run, hashlib.sha256(_packed(part)).hexdigest()[:16], part)
        written += sum(len(cell.trials) + len(cell.attempts) for cell in part)
    return written


def _cells(store: Store, key: str, *, verifiers: bool) -> Sequence[CellRows]:
    cells = read_chunk(store, key)
    return cells if verifiers else [_without_verifiers(cell) for cell in cells]


def _without_verifiers(cell: CellRows) -> CellRows:
    return replace(cell, trials=tuple(replace(row, verifiers=()) for row in cell.trials))


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """A large run is a million objects, none of them in a cycle: looking for cycles would take half of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _unread(store: Store, keys: RunKeys, record: RunRecord | None, chunked: Gathered, pool: Executor) -> Iterator[str]:
    """Keys of the single records that no chunk repeats, as far as there may be any."""
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
    covered = _covered(keys, chunked) if prefixes else frozenset()
    for found in pool.map(lambda prefix: list(store.keys(prefix)), prefixes):
        for key in found:
            if (is_trial_record(key) or is_attempt_record(key)) and key not in covered:
                yield key


def _covered(keys: RunKeys, chunked: Gathered) -> frozenset[str]:
    """Keys of the records that chunks repeat."""
    found: set[str] = set()
    for cell in chunked.rows():
        for trial in cell.trials:
            of_trial = keys.trial(cell.cell, trial.task_id, trial.trial)
            found |= {of_trial.record, of_trial.attempt(trial.attempt)}
        found |= {keys.trial(cell.cell, row.task_id, row.trial).attempt(row.attempt) for row in cell.attempts}
    return frozenset(found)


def _row(store: Store, key: str) -> CellRows | None:
    """One record as rows; None if it is no longer there."""
    if is_trial_record(key):
        scored = read_object(store, key, TrialRecord)
        return None if scored is None else CellRows(scored.cell, (trial_row(scored),), ())
    attempt = read_object(store, key, AttemptRecord)
    return None if attempt is None else CellRows(attempt.cell, (), (attempt_row(attempt),))


def _parts(cells: Iterable[CellRows]) -> Iterator[list[CellRows]]:
    """Rows in chunks, all of a trial in one."""
    part, rows = Gathered(), 0
    for trial in (trial for cell in cells for trial in _by_trial(cell)):
        part.add(trial)
        rows += len(trial.trials) + len(trial.attempts)
        if rows >= CHUNK_ROWS:
            yield list(part.rows())
            part, rows = Gathered(), 0
    if rows:
        yield list(part.rows())


def _by_trial(cell: CellRows) -> Iterator[CellRows]:
    """A cell's rows, trial by trial."""
    scores = {(row.task_id, row.trial): row for row in cell.trials}
    attempts: dict[tuple[str, int], list[AttemptRow]] = {place: [] for place in scores}
    for row in cell.attempts:
        attempts.setdefault((row.task_id, row.trial), []).append(row)
    for place, rows in attempts.items():
        yield CellRows(cell.cell, (scores[place],) if place in scores else (), tuple(rows))


def _packed(cells: Sequence[CellRows]) -> bytes:
    """The same bytes for the same rows."""
    return gzip.compress(_CHUNK.dump_json(Chunk(CHUNK_VERSION, tuple(cells)), exclude_defaults=True), 6, mtime=0)
