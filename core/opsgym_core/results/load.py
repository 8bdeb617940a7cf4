"""Reads runs from a store.

Invariant: results come from the store alone, so a summary is the same wherever and whenever it is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

from opsgym_api.errors import InputError, Problem
from opsgym_api.records.attempt import AttemptRecord, ScoredAttempt, TrialRecord
from opsgym_api.records.run import RunRecord
from opsgym_api.records.store_layout import RunKeys, is_attempt_record, is_trial_record
from opsgym_core.results.compaction import gather
from opsgym_core.results.looks import with_looks
from opsgym_core.results.rows import RunRows
from opsgym_core.results.score import RunResults
from opsgym_core.store.base import Store
from opsgym_core.store.objects import READERS, read_object

LISTED = 10
"""Runs of a store that an error lists."""

T = TypeVar("T")


def load_run(store: Store, run: str) -> RunResults:
    """Every complete record of a run that can be read. For scores alone, `load_rows` is much faster.

    Raises:
        InputError: The store has no such run, or its `run.json` is not valid.
        StoreError: The store cannot be read.
    """
    record = load_record(store, run)
    keys = list(store.keys(RunKeys(run).cells))
    with ThreadPoolExecutor(READERS) as pool:
        trials = list(pool.map(partial(_object_or_error, store, TrialRecord), filter(is_trial_record, keys)))
        attempts = list(pool.map(partial(_object_or_error, store, AttemptRecord), filter(is_attempt_record, keys)))
    errors = tuple(str(item) for item in (*trials, *attempts) if isinstance(item, InputError))
    return RunResults(record, _readable(trials), _readable(attempts), errors)


def load_rows(store: Store, run: str, trim: Callable[[ScoredAttempt], ScoredAttempt] | None = None) -> RunRows:
    """Rows of a run, from its chunks and from the single records that no chunk has.

    A trial whose record is not valid counts as not scored, with the reason `unreadable_record`.

    Args:
        store: The store.
        run: Id of the run.
        trim: What is kept of the row of a scored trial; all of it by default.

    Raises:
        InputError: The store has no such run, or its `run.json` is not valid.
        StoreError: The store cannot be read.
    """
    record = load_record(store, run)
    rows, loose = gather(store, run, record, trim=trim)
    for cell in loose.rows():
        rows.add(cell)
    return RunRows(record, list(rows.rows()))


def load_record(store: Store, run: str) -> RunRecord:
    """The record of a run (`run.json`), as it stands after its looks.

    Raises:
        InputError: The store has no such run, or its `run.json` is not valid.
        StoreError: The store cannot be read.
    """
    record = read_object(store, RunKeys(run).run_json, RunRecord)
    if record is None:
        raise InputError(store.name, [Problem("", f"holds no run {run!r}")])
    return with_looks(store, record)


@dataclass(frozen=True)
class RunList:
    """Runs of a store."""

    runs: Sequence[RunRecord]
    """Records of the runs, oldest first."""
    unreadable: Mapping[str, InputError]
    """By id, why the record of a run cannot be read."""


def list_runs(store: Store, prefixes: tuple[str, ...] = ("",)) -> RunList:
    """The runs of a store.

    Args:
        store: The store.
        prefixes: Beginnings of the ids of the runs to list; no object of another run is read.

    Raises:
        StoreError: The store cannot be read.
    """
    names = [name for name in store.folders("runs") if name.startswith(prefixes)]
    keys = [RunKeys(run).run_json for run in names]
    with ThreadPoolExecutor(READERS) as pool:
        results = dict(zip(names, pool.map(partial(_object_or_error, store, RunRecord), keys), strict=True))
    runs = [item for item in results.values() if isinstance(item, RunRecord)]
    return RunList(
        sorted(runs, key=lambda run: (run.created_at, run.run)),
        {name: item for name, item in results.items() if isinstance(item, InputError)},
    )


def _object_or_error(store: Store, kind: type[T], key: str) -> T | InputError | None:
    try:
        return read_object(store, key, kind)
    except InputError as error:
        return error


def find_run(store: Store, reference: str, prefixes: tuple[str, ...] = ("",)) -> str:
    """Id of the run that a reference names.

    A reference is a run's id, else the name of an EvalRun and means its newest run, else a unique prefix of an id.

    Args:
        store: The store.
        reference: The reference.
        prefixes: Beginnings of the ids of the runs that it may name.

    Raises:
        InputError: No run matches, the prefix matches several, or the run's record cannot be read.
        StoreError: The store cannot be read.
    """
    ids = [run for run in store.folders("runs") if run.startswith(prefixes)]
    if reference in ids:
        exact = _head_or_error(store, reference)
        if isinstance(exact, InputError):
            raise exact
        if exact is not None:
            return reference
    if (newest := _newest(store, reference, ids)) is not None:
        return newest
    same_prefix = [head.run for head in _heads(store, [run for run in ids if run.startswith(reference)])]
    if len(same_prefix) == 1:
        return same_prefix[0]
    if same_prefix:
        raise InputError(store.name, [Problem("", f"{reference!r} matches several runs: {', '.join(same_prefix)}")])
    # Their records are not read: a gate asks again and again for a baseline that does not exist yet.
    listed = ", ".join(ids[:LISTED]) + (f" and {len(ids) - LISTED} more" if len(ids) > LISTED else "")
    raise InputError(store.name, [Problem("", f"holds no run {reference!r}; runs there: {listed or 'none'}")])


def newest_run(store: Store, name: str, prefixes: tuple[str, ...] = ("",), other_than: str = "") -> str | None:
    """Id of the newest run of an EvalRun; None if it has none.

    Args:
        store: The store.
        name: Name of the EvalRun.
        prefixes: Beginnings of the ids of the runs to consider.
        other_than: Id of a run that is not considered.

    Raises:
        StoreError: The store cannot be read.
    """
    return _newest(
        store, name, [run for run in store.folders("runs") if run.startswith(prefixes) and run != other_than]
    )


def creation_time(store: Store, name: str, now: datetime) -> datetime:
    """The time that a new run of an EvalRun gets: now, or just after its newest run, so that it is the newest even if
    an earlier one was dated by a clock that was ahead. A second, since times are compared as texts, some of which have
    no fractions.

    Raises:
        StoreError: The store cannot be read.
    """
    heads = _heads(store, [run for run in store.folders("runs") if f".{name}." in f".{run}"])
    earlier = [datetime.fromisoformat(head.created_at) for head in heads if head.name == name]
    return max([now, *(moment + timedelta(seconds=1) for moment in earlier)])


@dataclass(frozen=True)
class _Head:
    """What tells a run from others."""

    run: str
    name: str
    created_at: str


def _newest(store: Store, name: str, ids: Iterable[str]) -> str | None:
    # An id is the name with a suffix and, in a cluster, the namespace before it. All three may have dots.
    heads = _heads(store, [run for run in ids if f".{name}." in f".{run}"])
    return next((head.run for head in reversed(heads) if head.name == name), None)


def _heads(store: Store, ids: Sequence[str]) -> list[_Head]:
    """The runs among the ids whose record can be read, oldest first.

    A record may plan tens of thousands of trials, so those of many runs are not in memory at the same time.
    """
    with ThreadPoolExecutor(READERS) as pool:
        heads = _readable(pool.map(partial(_head_or_error, store), ids))
    return sorted(heads, key=lambda head: (head.created_at, head.run))


def _head_or_error(store: Store, run: str) -> _Head | InputError | None:
    record = _object_or_error(store, RunRecord, RunKeys(run).run_json)
    return _Head(record.run, record.name, record.created_at) if isinstance(record, RunRecord) else record


def _readable(objects: Iterable[T | InputError | None]) -> list[T]:
    """Valid objects that still existed when they were read."""
    return [item for item in objects if item is not None and not isinstance(item, InputError)]
