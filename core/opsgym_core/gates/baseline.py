"""Finds the baseline of a gate.

Invariant: a run is never its own baseline, only small objects are read of the runs that are not selected, and of the
selected one only its scores stay in memory: an operator keeps those of a large run while another run is played.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice
from typing import TypeAlias

from opsgym_api.errors import InputError, Problem
from opsgym_api.kinds.evalrun import Gate
from opsgym_api.records.attempt import ScoredAttempt, Timings
from opsgym_api.records.gate import GateRecord
from opsgym_api.records.run import RunRecord
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.gates.judge import Baseline, RunScores, run_scores
from opsgym_core.results.differences import changed_tasks
from opsgym_core.results.frozen_suite import task_digests
from opsgym_core.results.load import find_run, load_rows, newest_run
from opsgym_core.store.base import Store
from opsgym_core.store.objects import READERS, read_object

_NO_TIMINGS = Timings(started_at="")
"""Shared by all rows of which only the score is kept."""


def read_scores(store: Store, run: str) -> RunScores:
    """Scored trials of a run.

    Raises:
        InputError: The store has no such run, or a record of it is not valid.
        StoreError: The store cannot be read.
    """
    scores = run_scores(load_rows(store, run, _score_alone), task_digests(store, run))
    # Cells have the same tasks: a key for each trial of each cell would be most of what the scores take.
    keys: dict[tuple[str, int], tuple[str, int]] = {}
    cells = [
        replace(cell, scores={keys.setdefault(key, key): score for key, score in cell.scores.items()}, task_ids=())
        for cell in scores.cells
    ]
    return replace(scores, cells=cells)


def _score_alone(row: ScoredAttempt) -> ScoredAttempt:
    """A row with its trial and score alone."""
    return ScoredAttempt(
        cell=row.cell,
        task_id=sys.intern(row.task_id),
        trial=row.trial,
        attempt=row.attempt,
        outcome=row.outcome,
        score=row.score,
        published_score=None,
        verifiers=(),
        timings=_NO_TIMINGS,
    )


ScoresReader: TypeAlias = Callable[[Store, str], RunScores]
"""Reads the scored trials of a run, as `read_scores` does."""


def find_baseline(
    store: Store, reference: str, own: str, namespaces: Collection[str] = (), read: ScoresReader = read_scores
) -> Baseline:
    """The run with the given id or unique prefix of an id, or the newest other run of that name.

    Args:
        store: The store.
        reference: Id, prefix of an id, or name.
        own: Id of the run that is judged.
        namespaces: Namespaces whose runs may be the baseline; all runs of the store if empty.
        read: Reads its scores.

    Raises:
        InputError: The store has no such run.
        StoreError: The store cannot be read.
    """
    prefixes = tuple(f"{namespace}." for namespace in namespaces) or ("",)
    run = newest_run(store, reference, prefixes, own) or find_run(store, reference, prefixes)
    if run == own:
        problem = f"{reference!r} is this run itself; name an earlier one"
        raise InputError(store.name, [Problem("spec.gate.baseline", problem)])
    return Baseline(read(store, run))


def baseline_of(
    store: Store, gate: Gate, own: RunRecord, namespaces: Collection[str] = (), read: ScoresReader = read_scores
) -> Baseline | None:
    """The baseline of a run's own gate: the one that its first look fixed, else the one that the gate names.

    Args:
        store: The store.
        gate: The gate.
        own: Record of the run, as loaded.
        namespaces: As for `find_baseline`.
        read: As for `find_baseline`.

    Returns:
        None if the gate compares with no run.

    Raises:
        InputError: The store has no such run, or a record of an earlier run cannot be read.
        StoreError: The store cannot be read.
    """
    if own.looks and gate.max_regression is not None:
        first = own.looks[0].judged
        if not first.baseline:
            return Baseline(None)
        anchor = None if first.anchor in {"", first.baseline} else read(store, first.anchor)
        return Baseline(read(store, first.baseline), anchor)
    if gate.baseline is not None:
        return find_baseline(store, gate.baseline, own.run, namespaces, read)
    return find_last_good(store, own, gate.best_of, read) if gate.last_good else None


def find_last_good(store: Store, own: RunRecord, best_of: int = 1, read: ScoresReader = read_scores) -> Baseline:
    """The best of the latest good runs of the same schedule or, without one, of the same name.

    A run is good if its gate said GO. One without a common task, because models or suite were replaced, cannot be
    compared and is skipped. The anchor is the first good run of the series, which the latest good run names.

    Args:
        store: The store.
        own: The run that is judged.
        best_of: Number of latest good runs of which the one with the highest success rate is chosen.
        read: As for `find_baseline`.

    Raises:
        InputError: A record of such a run cannot be read.
        StoreError: The store cannot be read.
    """
    series, latest = _Series(store, own), last_good_runs(store, own, best_of)
    if not latest:
        return Baseline(None)
    best = max(latest, key=lambda gate: -1.0 if gate.success is None else gate.success)
    first, note = latest[0].anchor or latest[0].run, ""
    if first != best.run and not (first.startswith(_namespace(own)) and series.includes(first)):
        note = f"drift is counted from {best.run}, since {first} cannot be compared any more"
        first = best.run
    anchor = None if first == best.run else read(store, first)
    return Baseline(read(store, best.run), anchor, note)


def last_good_runs(store: Store, own: RunRecord, best_of: int = 1) -> list[GateRecord]:
    """What the gates of the runs say of which `find_last_good` chooses one, latest verdict first; errors as there."""
    return list(islice(_Series(store, own).comparable(), best_of))


@dataclass(frozen=True)
class _Series:
    """The runs of a store that a run can be compared with."""

    store: Store
    own: RunRecord

    def comparable(self) -> Iterator[GateRecord]:
        """Good runs of the same series with a common task, latest verdict first."""
        return (gate for gate in _good_runs(self.store, self.own) if self.includes(gate.run))

    def includes(self, run: str) -> bool:
        """Whether a run is of the same series and has a task in common, with the same row."""
        record = read_object(self.store, RunKeys(run).run_json, RunRecord)
        return record is not None and _same_series(record, self.own) and self._has_common_task(record)

    def _has_common_task(self, record: RunRecord) -> bool:
        tasks = {plan.cell.key: set(plan.task_ids) for plan in record.cells}
        common = {task for plan in self.own.cells for task in tasks.get(plan.cell.key, set()) & set(plan.task_ids)}
        if not common or record.suite_digest == self.own.suite_digest:
            return bool(common)
        return not common <= changed_tasks(task_digests(self.store, record.run), self._digests)

    @cached_property
    def _digests(self) -> dict[str, str]:
        return task_digests(self.store, self.own.run)


def _good_runs(store: Store, own: RunRecord) -> Iterator[GateRecord]:
    """Other runs with verdict GO whose id allows the same schedule or name, latest verdict first."""
    # The name of a scheduled run is its schedule and a time; its id begins with its namespace, if it has one.
    namespace = _namespace(own)
    prefix = f"{namespace}{own.schedule}-" if own.schedule else f"{namespace}{own.name}."
    names = [run for run in store.folders("runs") if run.startswith(prefix) and run != own.run]
    with ThreadPoolExecutor(READERS) as pool:
        keys = [RunKeys(run).gate_json for run in names]
        gates = [gate for gate in pool.map(partial(read_object, store, kind=GateRecord), keys) if gate is not None]
    latest_first = sorted(gates, key=lambda gate: gate.decided_at, reverse=True)
    yield from (gate for gate in latest_first if gate.verdict == "GO")


def _namespace(own: RunRecord) -> str:
    """The part of a run's id before its name."""
    return own.run.rpartition(f"{own.name}.")[0]


def _same_series(record: RunRecord, own: RunRecord) -> bool:
    """Whether two runs have the same schedule or, without schedules, the same name."""
    if own.schedule or record.schedule:
        return record.schedule == own.schedule
    return record.name == own.name
