"""Deletes what of the runs of a store need not stay; `opsgym_core.results.retention` plans it.

Invariant: a run is looked at once more right before anything of it is deleted, and a deletion that was interrupted goes
on when it is repeated.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from pydantic import ValidationError

from opsgym_api.errors import InputError, Problem
from opsgym_api.kinds.evalrun import Gate
from opsgym_api.records.gate import GateRecord
from opsgym_api.records.run import RunRecord
from opsgym_api.records.store_layout import RunKeys
from opsgym_api.records.version import unreadable_because
from opsgym_core.common.clock import now_text
from opsgym_core.gates.baseline import last_good_runs
from opsgym_core.results.load import load_record
from opsgym_core.results.retention import (
    Deletion,
    Kind,
    Series,
    Stays,
    StoredRun,
    needed_runs,
    plan_deletion,
    remainder,
)
from opsgym_core.store.base import ErasableStore, Store, StoredObject
from opsgym_core.store.objects import READERS, read_object


@dataclass(frozen=True)
class Survey:
    """The runs of a store, of which something may be deleted."""

    runs: Mapping[str, StoredRun]
    interrupted: Sequence[str]
    """Runs whose deletion was interrupted."""
    compared: Mapping[str, str]
    """By run with which a gate compares, the run whose gate does."""
    unreadable: Sequence[InputError]
    """Objects that cannot be read, so that it is unknown with which runs a gate compares: nothing should be deleted."""


@dataclass(frozen=True)
class _Head:
    """What is remembered of a run; a record with all its tasks would fill the memory."""

    stored: StoredRun
    name: str
    gate: Gate | None
    judged: GateRecord | None


def survey(
    store: Store, prefix: str = "", coming: Iterable[tuple[Series, Gate]] = (), readers: int = READERS
) -> Survey:
    """Reads the small objects of each run.

    Args:
        store: The store.
        prefix: Beginning of the ids of the runs that are read; gates of others must not compare with these.
        coming: Gates of runs that are not stored yet, with the series of each.
        readers: Records read at the same time; each is in memory as a whole then.

    Raises:
        StoreError: The store cannot be read.
    """
    names = [name for name in store.folders("runs") if name.startswith(prefix)]
    with ThreadPoolExecutor(readers) as pool:
        heads = dict(zip(names, pool.map(partial(_head, store), names), strict=True))
    good = {name: head for name, head in heads.items() if isinstance(head, _Head)}
    compared, problems = _compared(store, list(good.values()), coming)
    return Survey(
        {name: head.stored for name, head in good.items()},
        [name for name, head in heads.items() if head is None and store.get(RunKeys(name).deletion_json) is not None],
        compared,
        [*(head for head in heads.values() if isinstance(head, InputError)), *problems],
    )


def _head(store: Store, run: str) -> _Head | InputError | None:
    """A run of the store; None if it has no `run.json`."""
    try:
        record = read_object(store, RunKeys(run).run_json, RunRecord)
        if record is None:
            return None
        gate = _gate_of(store, record)
        judged = read_object(store, RunKeys(run).gate_json, GateRecord) if gate is not None else None
        created_at = datetime.fromisoformat(record.created_at)
    except InputError as error:
        return error
    except ValueError:
        return InputError(f"{store.name}/{RunKeys(run).run_json}", [Problem("created_at", "is not a valid time")])
    stored = StoredRun(
        run,
        _series_of(record),
        created_at if created_at.tzinfo else created_at.replace(tzinfo=UTC),
        record.rescored_from,
        in_cluster=record.pods is not None and not record.rescored_from,
    )
    return _Head(stored, record.name, gate, judged)


def _series_of(record: RunRecord) -> Series:
    namespace = record.run.rpartition(f"{record.name}.")[0].rstrip(".")
    return Series(namespace, record.schedule or record.name, bool(record.schedule))


def _gate_of(store: Store, record: RunRecord) -> Gate | None:
    try:
        return Gate.model_validate(record.spec["gate"]) if record.spec.get("gate") else None
    except ValidationError as error:
        problem = Problem("spec.gate", unreadable_because(error, "gate"))
        raise InputError(f"{store.name}/{RunKeys(record.run).run_json}", [problem]) from None


def _compared(
    store: Store, heads: Sequence[_Head], coming: Iterable[tuple[Series, Gate]]
) -> tuple[dict[str, str], list[InputError]]:
    """With which runs the gates compare that are still to judge: those of the newest run of each series, since the next
    one of its series has the same gate, those of runs that were not judged yet, and those of runs to come.
    """
    newest = {head.stored.series: head for head in sorted(heads, key=_age)}
    judging: list[tuple[str, Gate, _Head | None]] = [
        (head.stored.run, head.gate, head)
        for head in heads
        if head.gate and (head.judged is None or newest[head.stored.series] is head)
    ]
    judging += [(f"the next {series.name}", gate, newest.get(series)) for series, gate in coming]
    compared: dict[str, str] = {}
    problems: list[InputError] = []
    for run, gate, head in judging:
        try:
            compared |= dict.fromkeys(_baselines_of(store, gate, head, heads), run)
        except InputError as error:
            problems.append(error)
    return compared, problems


def _age(head: _Head) -> tuple[datetime, str]:
    return head.stored.created_at, head.stored.run


def _baselines_of(store: Store, gate: Gate, newest: _Head | None, heads: Sequence[_Head]) -> set[str]:
    """Runs that a gate may compare with.

    Args:
        store: The store.
        gate: The gate.
        newest: The run whose gate it is or, for a run to come, the newest one of its series; None for none.
        heads: All runs.
    """
    if gate.baseline is not None:
        return _named(heads, gate.baseline)
    if not gate.last_good or newest is None:
        return set()
    record = load_record(store, newest.stored.run)
    good = last_good_runs(store, record, gate.best_of)
    verdicts = [*good[:1], *(look.judged for look in record.looks[:1]), *([newest.judged] if newest.judged else [])]
    named = {run for judged in verdicts for run in (judged.baseline, judged.anchor, judged.run)}
    return (named | {judged.run for judged in good}) - {""}


def _named(heads: Sequence[_Head], reference: str) -> set[str]:
    """Runs that a gate may mean by a reference: an id, a prefix of one or, in each namespace, the newest of a name and
    the one before, since a run is never its own baseline.
    """
    named: defaultdict[str, list[str]] = defaultdict(list)
    for head in sorted(heads, key=_age):
        if head.name == reference:
            named[head.stored.series.namespace].append(head.stored.run)
    newest = [run for of_namespace in named.values() for run in of_namespace[-2:]]
    ids = [head.stored.run for head in heads if head.stored.run.startswith(reference)]
    exact = [run for run in ids if run == reference] or (ids if len(ids) == 1 else [])
    return {*newest, *exact}


def plan(
    store: ErasableStore, surveyed: Survey, due: Mapping[str, Sequence[Kind]], now: datetime
) -> Iterator[Deletion | Stays]:
    """What may be deleted, run by run, the remainders of interrupted deletions first and then the oldest run.

    Args:
        store: The store; objects are listed only of runs whose time is over.
        surveyed: Its runs.
        due: The kinds whose time is over, by run, as `due_kinds` finds them.
        now: The time, by the store's clock.

    Raises:
        StoreError: The store cannot be read.
    """
    for run in surveyed.interrupted:
        yield remainder(run, _objects(store, run))
    needed = needed_runs(surveyed.runs.values(), due, surveyed.compared)
    for run, kinds in due.items():
        if run in needed:
            yield Stays(run, needed[run])
        elif objects := _objects(store, run):
            step = plan_deletion(surveyed.runs[run], kinds, objects, now)
            if step is not None:
                yield step


def _objects(store: ErasableStore, run: str) -> list[StoredObject]:
    return list(store.objects(RunKeys(run).root))


def erase(store: ErasableStore, deletion: Deletion) -> None:
    """Deletes the objects of a run; repeated, it goes on where it was interrupted.

    Args:
        store: The store.
        deletion: What is deleted, or the first part of it.

    Raises:
        StoreError: The store refuses it or cannot be reached; some objects may be deleted.
    """
    keys = [one.key for one in deletion.objects]
    if Kind.RECORDS not in deletion.kinds:
        store.delete(keys)
        return
    mark = RunKeys(deletion.run).deletion_json
    store.put(mark, f'{{"since": "{now_text()}"}}\n'.encode())
    first, *others = [key for key in keys if key != mark] or [mark]
    store.delete([first])  # by itself: S3 deletes the objects of one request in any order
    store.delete(others)
    if deletion.left == 0:
        store.delete([mark])
