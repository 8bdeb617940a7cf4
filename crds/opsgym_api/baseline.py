"""Finds the run that a gate compares with.

Invariant: a run is never its own baseline, and of runs that were not chosen only small objects are read.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from opsgym_api.errors import InputError, Problem
from opsgym_api.evalrun import Gate
from opsgym_api.gate import Baseline, run_scores
from opsgym_api.layout import RunKeys
from opsgym_api.objects import READERS, read_object
from opsgym_api.records import GateRecord, RunRecord
from opsgym_api.results import find_run, list_runs, load_rows
from opsgym_api.store import Store


def look_up(store: Store, gate: Gate, own: RunRecord) -> Baseline | None:
    """What a gate compares a run with; None if it compares with nothing.

    Raises:
        InputError: There is no run that `baseline` names.
        StoreError: The store cannot be read.
    """
    if gate.last_good:
        return find_last_good(store, own)
    return find_baseline(store, gate.baseline, own.run) if gate.baseline is not None else None


def find_baseline(store: Store, wanted: str, own: str) -> Baseline:
    """A run by its id, by the beginning of one, or the newest other run of a name.

    Raises:
        InputError: There is none.
        StoreError: The store cannot be read.
    """
    named = [run.run for run in list_runs(store) if run.name == wanted and run.run != own]
    found = named[-1] if named else find_run(store, wanted)
    if found == own:
        problem = f"{wanted!r} is this run itself; name an earlier one"
        raise InputError(store.name, [Problem("spec.gate.baseline", problem)])
    return Baseline(run_scores(load_rows(store, found)))


def find_last_good(store: Store, own: RunRecord) -> Baseline:
    """The last run of the same schedule, or else of the same name, whose gate said GO and that has a task in common.

    A run that has none, since models or suite were replaced, could never be compared with: it is passed over.

    Raises:
        InputError: A record of such a run cannot be read.
        StoreError: The store cannot be read.
    """
    for run in _good(store, own):
        record = read_object(store, RunKeys(run).run_json, RunRecord)
        if record is not None and _is_kin(record, own) and _has_common_task(record, own):
            return Baseline(run_scores(load_rows(store, run)))
    return Baseline(None)


def _good(store: Store, own: RunRecord) -> Iterator[str]:
    """Other runs that may be of the same schedule or name and whose gate said GO, the last one first."""
    # A scheduled run is called by its schedule and a time; before its name stands its namespace, if it has one.
    place = _namespace(own)
    begins = f"{place}{own.schedule}-" if own.schedule else f"{place}{own.name}."
    names = [run for run in store.folders("runs") if run.startswith(begins) and run != own.run]
    with ThreadPoolExecutor(READERS) as pool:
        keys = [RunKeys(run).gate_json for run in names]
        found = [gate for gate in pool.map(partial(read_object, store, kind=GateRecord), keys) if gate is not None]
    yield from (
        gate.run for gate in sorted(found, key=lambda gate: gate.decided_at, reverse=True) if gate.verdict == "GO"
    )


def _namespace(own: RunRecord) -> str:
    """What stands before a run's name in its id."""
    return own.run.rpartition(f"{own.name}.")[0]


def _is_kin(record: RunRecord, own: RunRecord) -> bool:
    if own.schedule or record.schedule:
        return record.schedule == own.schedule
    return record.name == own.name


def _has_common_task(record: RunRecord, own: RunRecord) -> bool:
    tasks = {plan.cell.key: set(plan.task_ids) for plan in record.cells}
    return any(not tasks.get(plan.cell.key, set()).isdisjoint(plan.task_ids) for plan in own.cells)
