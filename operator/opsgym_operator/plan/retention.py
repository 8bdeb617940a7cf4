"""What of the stored runs of a namespace's schedules need not stay.

Invariant: nothing of a run goes whose EvalRun has not finished, and its records stay as long as its EvalRun exists, so
that no run begins anew. What else stays in any case, `opsgym_core.results.retention` decides.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from opsgym_api.kinds.evalrun import Gate
from opsgym_api.kinds.history import History
from opsgym_core.results.retention import Kind, Series, StoredRun, due_kinds
from opsgym_operator.config import OperatorConfig
from opsgym_operator.observe.schedules import ObservedSchedule, schedule_of
from opsgym_operator.observe.snapshot import RunSnapshot


@dataclass(frozen=True)
class StoreRetention:
    """What the schedules of a namespace keep in one store."""

    store: str
    """Name of the store."""
    namespace: str
    histories: Mapping[Series, History]
    """By the runs of a schedule; others stay."""
    shared: bool = False
    """Whether runs of other namespaces may compare with these."""
    coming: tuple[tuple[Series, Gate], ...] = ()
    """Gates of runs that may not be stored yet."""
    going_on: frozenset[str] = frozenset()
    """Ids of runs whose EvalRun has not finished."""
    existing: frozenset[str] = frozenset()
    """Ids of runs whose EvalRun exists."""

    @property
    def prefix(self) -> str:
        """Beginning of the ids of the runs that must be read."""
        return "" if self.shared else f"{self.namespace}."

    def due(self, runs: Iterable[StoredRun], now: datetime) -> dict[str, tuple[Kind, ...]]:
        """The kinds whose time is over, by run.

        Args:
            runs: The runs of the store.
            now: The time.
        """
        ordered = sorted(runs, key=lambda run: repr(run.series))
        due: dict[str, tuple[Kind, ...]] = {}
        for series, of_series in groupby(ordered, key=lambda run: run.series):
            due |= due_kinds(of_series, self.histories.get(series, History()), now)
        return {run: left for run, kinds in due.items() if (left := self._unheld(run, kinds))}

    def _unheld(self, run: str, kinds: tuple[Kind, ...]) -> tuple[Kind, ...]:
        if run in self.going_on:
            return ()
        return tuple(kind for kind in kinds if kind is not Kind.RECORDS or run not in self.existing)


def plan_retention(
    namespace: str, schedules: Collection[ObservedSchedule], runs: Collection[RunSnapshot], config: OperatorConfig
) -> list[StoreRetention]:
    """What is kept in each store in which something may have to go.

    Args:
        namespace: The namespace.
        schedules: Its schedules.
        runs: Its EvalRuns.
        config: The installation, whose `history` is that of schedules without one.
    """
    stores: defaultdict[str, dict[Series, History]] = defaultdict(dict)
    coming: list[tuple[Series, Gate]] = []
    for schedule in schedules:
        if schedule.spec is None or schedule.deleting:
            continue
        series, run = Series(namespace, schedule.name, is_schedule=True), schedule.spec.run_template.spec
        coming += [(series, run.gate)] if run.gate else []
        history = config.history if schedule.spec.history is None else schedule.spec.history
        store = run.result_store or config.default_store
        if history != History() and store in config.stores_of(namespace):
            stores[store][series] = history
    coming += [(_series_of(namespace, run), run.spec.gate) for run in runs if run.spec is not None and run.spec.gate]
    return [
        StoreRetention(
            store,
            namespace,
            histories,
            shared=namespace in config.store_by_name[store].shared_baselines,
            coming=tuple(coming),
            going_on=frozenset(run.id for run in runs if run.status.finished_at is None),
            existing=frozenset(run.id for run in runs),
        )
        for store, histories in stores.items()
    ]


def _series_of(namespace: str, run: RunSnapshot) -> Series:
    schedule = schedule_of(run.manifest)
    return Series(namespace, schedule or run.name, bool(schedule))
