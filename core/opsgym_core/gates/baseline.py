"""Finds the baseline of a gate.

Invariant: a run is never its own baseline, and only small objects are read of the runs that are not selected.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from opsgym_api.errors import InputError, Problem
from opsgym_api.kinds.evalrun import Gate
from opsgym_api.records.gate import GateRecord
from opsgym_api.records.run import RunRecord
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.gates.judge import Baseline, run_scores
from opsgym_core.results.load import find_run, list_runs, load_rows
from opsgym_core.store.base import Store
from opsgym_core.store.objects import READERS, read_object


def look_up(store: Store, gate: Gate, own: RunRecord) -> Baseline | None:
    """Baseline of a gate for a run; None if the gate has no baseline.

    Raises:
        InputError: The store has no run that `gate.baseline` names.
        StoreError: The store cannot be read.
    """
    if gate.last_good:
        return find_last_good(store, own)
    return find_baseline(store, gate.baseline, own.run) if gate.baseline is not None else None


def find_baseline(store: Store, reference: str, own: str) -> Baseline:
    """The run with the given id or unique prefix of an id, or the newest other run of that name.

    Raises:
        InputError: The store has no such run.
        StoreError: The store cannot be read.
    """
    same_name = [run.run for run in list_runs(store) if run.name == reference and run.run != own]
    run = same_name[-1] if same_name else find_run(store, reference)
    if run == own:
        problem = f"{reference!r} is this run itself; name an earlier one"
        raise InputError(store.name, [Problem("spec.gate.baseline", problem)])
    return Baseline(run_scores(load_rows(store, run)))


def find_last_good(store: Store, own: RunRecord) -> Baseline:
    """The latest run of the same schedule or, without one, of the same name, with verdict GO and a common task.

    A run without a common task, because models or suite were replaced, cannot be compared and is skipped.

    Raises:
        InputError: A record of such a run cannot be read.
        StoreError: The store cannot be read.
    """
    for run in _good_runs(store, own):
        record = read_object(store, RunKeys(run).run_json, RunRecord)
        if record is not None and _same_series(record, own) and _has_common_task(record, own):
            return Baseline(run_scores(load_rows(store, run)))
    return Baseline(None)


def _good_runs(store: Store, own: RunRecord) -> Iterator[str]:
    """Other runs with verdict GO whose id allows the same schedule or name, latest verdict first."""
    # The name of a scheduled run is its schedule and a time; its id begins with its namespace, if it has one.
    namespace = _namespace(own)
    prefix = f"{namespace}{own.schedule}-" if own.schedule else f"{namespace}{own.name}."
    names = [run for run in store.folders("runs") if run.startswith(prefix) and run != own.run]
    with ThreadPoolExecutor(READERS) as pool:
        keys = [RunKeys(run).gate_json for run in names]
        gates = [gate for gate in pool.map(partial(read_object, store, kind=GateRecord), keys) if gate is not None]
    yield from (
        gate.run for gate in sorted(gates, key=lambda gate: gate.decided_at, reverse=True) if gate.verdict == "GO"
    )


def _namespace(own: RunRecord) -> str:
    """The part of a run's id before its name."""
    return own.run.rpartition(f"{own.name}.")[0]


def _same_series(record: RunRecord, own: RunRecord) -> bool:
    """Whether two runs have the same schedule or, without schedules, the same name."""
    if own.schedule or record.schedule:
        return record.schedule == own.schedule
    return record.name == own.name


def _has_common_task(record: RunRecord, own: RunRecord) -> bool:
    tasks = {plan.cell.key: set(plan.task_ids) for plan in record.cells}
    return any(not tasks.get(plan.cell.key, set()).isdisjoint(plan.task_ids) for plan in own.cells)
