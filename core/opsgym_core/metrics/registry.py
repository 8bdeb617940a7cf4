"""The Prometheus registry of the operator and of `opsgym run`.

Invariant: a counter counts an attempt once over all restarts of the operator. Attempts that had ended when the operator
started are not counted again, so that `increase()` adds up. (Counters rebuilt from the stores would lack the attempts
of deleted runs; Prometheus would take that for a reset and count the others twice.) Attempts that end while no operator
runs appear in the store and in the gauges, which are rebuilt, but in no counter. The gauges of a run are set together
and removed together, so no series outlives its run.

    python -m opsgym_core.metrics.registry           writes the table of docs/metrics.md
    python -m opsgym_core.metrics.registry --check   exits 1 if the table is not current
"""

from __future__ import annotations

import math
import re
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Literal, TypeAlias

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)

from opsgym_api.records.attempt import Attempt, Cell, VerifierResult
from opsgym_api.records.gate import Verdict
from opsgym_api.records.outcomes import ConfigReason, FailReason, InfraReason, Outcome
from opsgym_api.tasks.verifiers import Category
from opsgym_core.accounting.ledger import AttemptLedger
from opsgym_core.accounting.tally import tally_of
from opsgym_core.metrics import definitions as defined
from opsgym_core.metrics.definitions import GATEWAY_METRICS, METRICS, Metric

PHASES = ("seed", "connect", "model", "tools", "verify", "total")
TOKENS = ("prompt", "completion", "cached", "cache_write", "reasoning")
REASONS = frozenset({"", "budget", *FailReason, *InfraReason, *ConfigReason})
CATEGORIES = frozenset(map(str, Category))
COUNTED_ENDS = (
    (str(Outcome.PASSED), ""),
    *((str(Outcome.FAILED), str(reason)) for reason in FailReason),
    *((str(Outcome.INFRA_ERROR), str(reason)) for reason in InfraReason),
)
"""Outcomes and reasons of started attempts; their counters begin at 0."""
_SCORED = tuple(outcome for outcome in Outcome if outcome.scored)
USUAL_ENDS = frozenset({"passed", "failed", "pending"})
"""Outcomes that a run's trials show also while they are 0: a run has these series for each label of cells."""
OTHER = "other"
"""Label for a value that this version does not know, so that a label has a bounded set of values."""

LOCAL = "local"
"""Namespace label of a run of `opsgym run`."""

MOST_CELLS = 32
"""Distinct labels of cells: each has about 150 series, whatever the number of cells that runs have."""
_KEPT_LABELS = (defined.CELL, ("model", "mode", "domain"), ("model", "domain"), ("model",), ())
"""Labels that tell cells apart, fewer and fewer."""

Owner: TypeAlias = tuple[str, ...]
"""First labels of the series that are set and removed together, for instance namespace and run."""

# The `_created` series of counters are not needed: Prometheus detects resets without them.
disable_created_metrics()  # type: ignore[no-untyped-call]


@dataclass(frozen=True)
class RunFigures:
    """Current numbers of a run; its status shows the same."""

    cells: Mapping[Cell, Mapping[str, int]]
    """Trials of each cell by outcome, `pending` included."""
    success: float | None
    """Success rate as the mean over tasks; None without a scored trial."""
    spent_usd: float
    budget_usd: float | None

    @property
    def scored(self) -> int:
        """Trials that have a score."""
        return sum(trials.get(end, 0) for trials in self.cells.values() for end in _SCORED)

    @property
    def total(self) -> int:
        """Trials planned."""
        return sum(sum(trials.values()) for trials in self.cells.values())


def run_figures(ledger: AttemptLedger, cells: Mapping[Cell, int], budget_usd: float | None) -> RunFigures:
    """Current numbers of a run.

    Args:
        ledger: Ledger of the run.
        cells: Number of planned trials of each cell.
        budget_usd: Budget of the run; None without one.
    """
    counted = {cell: tally_of(ledger, {cell.key: total}).counters for cell, total in cells.items()}
    return RunFigures(
        cells={
            cell: {end: count for end, count in counters.items() if end != "total"}
            for cell, counters in counted.items()
        },
        success=ledger.success,
        spent_usd=ledger.spent,
        budget_usd=budget_usd,
    )


@dataclass(frozen=True)
class RunCondition:
    """State of a run in the cluster, apart from its trials."""

    stalled: str = ""
    """Reason of the condition `Stalled`; empty unless that is true."""
    pods_pending: int | None = None
    """Pods in phase Pending; None for a run without pods."""
    finished_at: datetime | None = None
    """None until the run has ended."""


@dataclass(frozen=True)
class ScheduleTimes:
    """Times of an EvalSchedule."""

    last_run: datetime | None = None
    """Scheduled time of the latest EvalRun; None without one."""
    last_success: datetime | None = None
    """When an EvalRun last succeeded; None if none has."""
    next_run: datetime | None = None
    """When the next EvalRun is due; in the past while it is missed, None while the schedule is suspended."""


class _OwnedGauge:
    """A gauge whose series have owners; the series of one owner are replaced together."""

    def __init__(self, gauge: Gauge) -> None:
        self._gauge = gauge
        self._owned: dict[Owner, dict[Owner, float]] = {}

    def show(self, owner: Owner, values: Mapping[Owner, float]) -> None:
        """Replaces the series of an owner.

        Args:
            owner: First labels of the series.
            values: Values by the remaining labels.
        """
        before = self._owned.pop(owner, {})
        for labels in before.keys() - values.keys():
            self._gauge.remove(*owner, *labels)
        for labels, value in values.items():
            if before.get(labels) != value:  # ended runs are shown in every reconcile, unchanged
                self._gauge.labels(*owner, *labels).set(value)
        if values:
            self._owned[owner] = dict(values)

    def show_one(self, owner: Owner, value: float | None) -> None:
        """Sets the single series of an owner; None removes it."""
        self.show(owner, {} if value is None else {(): value})


class _CellLabels:
    """Labels of cells: their own, as long as there are few; else cells that differ only in other labels share them.

    The labels of a cell never change, so that its counters do not go back.
    """

    def __init__(self) -> None:
        self._labels: dict[Cell, Owner] = {}
        self._distinct: set[Owner] = set()

    def add(self, cells: Iterable[Cell]) -> None:
        """Decides on the labels of the cells of a run together."""
        new = [cell for cell in cells if cell not in self._labels]
        for names in _KEPT_LABELS if new else ():
            labels = {
                cell: tuple(getattr(cell, name) if name in names else OTHER for name in defined.CELL) for cell in new
            }
            distinct = self._distinct.union(labels.values())
            if len(distinct) <= MOST_CELLS or not names:
                self._labels |= labels
                self._distinct = distinct
                return

    def of(self, cell: Cell) -> Owner:
        """Labels of a cell: model, agent, mode and domain."""
        if cell not in self._labels:
            self.add([cell])
        return self._labels[cell]


class Metrics:
    """A registry with the metrics of `METRICS`.

    Args:
        local: Whether to leave out the metrics that only the operator has.
    """

    def __init__(self, *, local: bool = False) -> None:
        self.registry = CollectorRegistry()
        self._local = local
        metrics = {metric.name: self._create(metric) for metric in METRICS}
        self._counters = {name: metric for name, metric in metrics.items() if isinstance(metric, Counter)}
        self._gauges = {name: metric for name, metric in metrics.items() if isinstance(metric, Gauge)}
        self._histograms = {name: metric for name, metric in metrics.items() if isinstance(metric, Histogram)}
        self._by_owner = {name: _OwnedGauge(gauge) for name, gauge in self._gauges.items()}
        self._skipped: dict[str, frozenset[str]] = {}
        """Namespaces that are left out, by the step that is refused in them."""
        self._cells = _CellLabels()
        self._shown: dict[Owner, RunFigures] = {}
        """What each run shows; the figures of one that has ended stay the same object."""
        self._initialized: set[Owner] = set()
        self._gauges[defined.RECONCILE_LAST_SUCCESS.name].set(math.nan)
        self._gauges[defined.BUILD_INFO.name].labels(version("opsgym-core")).set(1)
        if not local:
            ProcessCollector(registry=self.registry)

    def _create(self, metric: Metric) -> Counter | Gauge | Histogram:
        registry = self.registry if metric.local or not self._local else None
        match metric.kind:
            case "counter":
                return Counter(metric.name, metric.meaning, metric.labels, registry=registry)
            case "gauge":
                return Gauge(metric.name, metric.meaning, metric.labels, registry=registry)
            case "histogram":
                return Histogram(metric.name, metric.meaning, metric.labels, buckets=metric.buckets, registry=registry)

    def text(self) -> bytes:
        """All series in Prometheus' text format."""
        return generate_latest(self.registry)

    # Counters

    def _count(self, metric: Metric, *labels: str, by: float = 1) -> None:
        self._counters[metric.name].labels(*labels).inc(by)

    def add_cells(self, cells: Collection[Cell]) -> None:
        """Starts the counters of a run's cells at 0, since `increase()` ignores the first value of a series."""
        self._cells.add(cells)
        for labels in {self._cells.of(cell) for cell in cells} - self._initialized:
            self._initialized.add(labels)
            self._initialize_counters(labels)

    def _initialize_counters(self, labels: Owner) -> None:
        for metric in (defined.TRIALS, defined.ATTEMPTS):
            for outcome_and_reason in COUNTED_ENDS:
                self._count(metric, *labels, *outcome_and_reason, by=0)
        for category, passed in product(Category, ("true", "false")):
            self._count(defined.VERIFIERS, *labels, category, passed, by=0)
        for kind in TOKENS:
            self._count(defined.TOKENS, *labels, kind, by=0)
        for metric in METRICS:
            if metric.kind == "counter" and metric.labels == defined.CELL:
                self._count(metric, *labels, by=0)
        for phase in PHASES:
            self._histograms[defined.TRIAL_DURATION.name].labels(*labels, phase)

    def count_attempt(self, attempt: Attempt) -> None:
        """Counts an attempt that has ended."""
        cell = self._cells.of(attempt.cell)
        self._count(defined.ATTEMPTS, *cell, str(attempt.outcome), _bounded(attempt.reason, REASONS))
        self._count(defined.COST, *cell, by=attempt.cost_usd or 0.0)
        self._count(defined.STEPS, *cell, by=attempt.steps)
        self._count(defined.TOOL_CALLS, *cell, by=attempt.tool_calls)
        self._count(defined.INTERNAL_ERRORS, *cell, by=attempt.internal_errors)
        self._count(defined.MODEL_RETRIES, *cell, by=attempt.model_retries)
        self._count(defined.RATE_LIMITS, *cell, by=attempt.rate_limits)
        self._count(defined.MODEL_WAIT, *cell, by=attempt.timings.wait_s)
        for kind in TOKENS:
            self._count(defined.TOKENS, *cell, kind, by=getattr(attempt.usage, f"{kind}_tokens"))
        if attempt.outcome is not None and attempt.outcome.scored:
            durations = self._histograms[defined.TRIAL_DURATION.name]
            for phase in PHASES:
                durations.labels(*cell, phase).observe(getattr(attempt.timings, f"{phase}_s"))

    def count_trial(self, cell: Cell, outcome: Outcome, reason: str) -> None:
        """Counts a trial that is scored or will not be tried again."""
        self._count(defined.TRIALS, *self._cells.of(cell), str(outcome), _bounded(reason, REASONS))

    def count_verifiers(self, cell: Cell, verifiers: Iterable[VerifierResult]) -> None:
        """Counts the verifiers of a scored trial."""
        for result in verifiers:
            if result.executed:
                category = _bounded(result.category, CATEGORIES)
                self._count(defined.VERIFIERS, *self._cells.of(cell), category, str(result.passed).lower())

    def count_notification(self, event: str, outcome: str) -> None:
        """Counts a notification that was sent or has failed.

        Args:
            event: The event that it reports.
            outcome: `sent`, or `failed` after the last attempt.
        """
        self._count(defined.NOTIFICATIONS, event, outcome)

    def count_pruned(self, store: str, size: int) -> None:
        """Counts what a pass has deleted in a store, in bytes."""
        self._count(defined.PRUNED, store, by=size)

    def count_error(self, cause: str) -> None:
        """Counts a failed reconcile."""
        self._count(defined.RECONCILE_ERRORS, cause)

    def show_skipped_namespaces(self, step: Literal["list", "claim"], namespaces: Collection[str]) -> None:
        """Replaces the watched namespaces that are left out because a step is refused in them; each counts once."""
        self._skipped[step] = frozenset(namespaces)
        self._gauges[defined.NAMESPACES_SKIPPED.name].set(len(frozenset().union(*self._skipped.values())))

    def show_namespaces_of_others(self, count: int) -> None:
        """Replaces the number of watched namespaces that other releases serve."""
        self._gauges[defined.NAMESPACES_OF_OTHERS.name].set(count)

    def count_lost_namespace(self) -> None:
        """Counts a namespace whose Lease another holder has got."""
        self._counters[defined.NAMESPACES_LOST.name].inc()

    def show_leading(self, leading: bool) -> None:
        """Shows whether this replica is the leader."""
        self._gauges[defined.LEADING.name].set(leading)

    @contextmanager
    def time_reconcile(self) -> Iterator[None]:
        """Measures the reconcile in the context; records the time of its success unless it raises."""
        with self._histograms[defined.RECONCILE_DURATION.name].time():
            yield
        self._gauges[defined.RECONCILE_LAST_SUCCESS.name].set_to_current_time()

    def observe_reconcile_cpu(self, seconds: float) -> None:
        """Observes the CPU time that a reconcile took for all but its requests."""
        self._histograms[defined.RECONCILE_CPU.name].observe(seconds)

    # Gauges of a run

    def show_run(self, namespace: str, run: str, figures: RunFigures) -> None:
        """Replaces the numbers of a run."""
        owner = (namespace, run)
        if self._shown.get(owner) is figures:
            return
        self._shown[owner] = figures
        self.add_cells(figures.cells)
        trials: defaultdict[Owner, float] = defaultdict(float)
        for cell, counts in figures.cells.items():
            labels = self._cells.of(cell)
            for outcome, count in counts.items():
                trials[*labels, outcome] += count
        shown = {labels: count for labels, count in trials.items() if count or labels[-1] in USUAL_ENDS}
        self._by_owner[defined.RUN_TRIALS.name].show(owner, shown)
        self._show_one(defined.RUN_PROGRESS, owner, figures.scored / figures.total if figures.total else 0.0)
        self._show_one(defined.RUN_SUCCESS, owner, figures.success)
        self._show_one(defined.RUN_COST, owner, figures.spent_usd)
        self._show_one(defined.RUN_BUDGET, owner, figures.budget_usd)

    def show_condition(self, namespace: str, run: str, condition: RunCondition) -> None:
        """Replaces the state of a run in the cluster."""
        owner = (namespace, run)
        self._by_owner[defined.RUN_STALLED.name].show(owner, {(condition.stalled,): 1.0} if condition.stalled else {})
        self._show_one(defined.RUN_PODS_PENDING, owner, condition.pods_pending)
        self._show_one(defined.RUN_FINISHED, owner, _seconds(condition.finished_at))

    def show_gate(self, namespace: str, run: str, verdict: Verdict | None, regression: float | None) -> None:
        """Replaces the verdict of a run's gate.

        Args:
            namespace: Namespace of the run.
            run: Name of the run.
            verdict: None without a gate and until its verdict is decided.
            regression: Drop of the mean over tasks against the baseline, above 0 if it fell; None without a baseline.
        """
        owner = (namespace, run)
        self._by_owner[defined.RUN_GATE.name].show(owner, {(verdict,): 1.0} if verdict else {})
        self._show_one(defined.RUN_REGRESSION, owner, regression if verdict else None)

    def forget_run(self, namespace: str, run: str) -> None:
        """Removes the series of a deleted run."""
        self._shown.pop((namespace, run), None)
        for metric in METRICS:
            if metric.labels[:2] == defined.RUN:
                self._by_owner[metric.name].show((namespace, run), {})

    def _show_one(self, metric: Metric, owner: Owner, value: float | None) -> None:
        self._by_owner[metric.name].show_one(owner, value)

    # Gauges of a namespace

    def show_schedules(self, namespace: str, schedules: Mapping[str, ScheduleTimes]) -> None:
        """Replaces the times of a namespace's EvalSchedules, by name."""
        for metric, moments in (
            (defined.SCHEDULE_LAST_RUN, {name: times.last_run for name, times in schedules.items()}),
            (defined.SCHEDULE_LAST_SUCCESS, {name: times.last_success for name, times in schedules.items()}),
            (defined.SCHEDULE_NEXT_RUN, {name: times.next_run for name, times in schedules.items()}),
        ):
            values: dict[Owner, float] = {(name,): at.timestamp() for name, at in moments.items() if at is not None}
            self._by_owner[metric.name].show((namespace,), values)

    def show_models(self, namespace: str, in_flight: Mapping[str, int], ceilings: Mapping[str, int]) -> None:
        """Replaces the slots in use and the ceilings of a namespace's models, by name."""
        busy: dict[Owner, float] = {(model,): in_flight.get(model, 0) for model in ceilings}
        self._by_owner[defined.MODEL_IN_FLIGHT.name].show((namespace,), busy)
        self._by_owner[defined.MODEL_CEILING.name].show(
            (namespace,), {(model,): most for model, most in ceilings.items()}
        )


def _labels(cell: Cell, names: Sequence[str]) -> Owner:
    return tuple(getattr(cell, name) if name in names else OTHER for name in defined.CELL)


def _bounded(label: str, labels: frozenset[str]) -> str:
    return label if label in labels else OTHER


def _seconds(at: datetime | None) -> float | None:
    return None if at is None else at.timestamp()


# The reference

PAGE = Path(__file__).resolve().parents[3] / "docs" / "metrics.md"
"""The page that contains the table, in the source tree."""
_TABLE = re.compile(r"(?<=<!-- metrics -->\n).*(?=<!-- /metrics -->)", re.DOTALL)


def reference() -> str:
    """The table of docs/metrics.md."""
    rows = ["| metric | type | unit | labels | meaning |", "| --- | --- | --- | --- | --- |"]
    marked = [(metric, "" if metric.local else " *Operator only.*") for metric in METRICS]
    for metric, where in (*marked, *((metric, " *Store gateway only.*") for metric in GATEWAY_METRICS)):
        labels = ", ".join(f"`{label}`" for label in metric.labels)
        rows.append(f"| `{metric.name}` | {metric.kind} | {metric.unit} | {labels} | {metric.meaning}{where} |")
    return "\n".join(rows) + "\n"


def main(arguments: Sequence[str], page: Path = PAGE) -> int:
    """Writes the table into the page, or with `--check` reports that it is not current; returns the exit code."""
    before = page.read_text(encoding="utf-8")
    after = _TABLE.sub(lambda _: reference(), before)
    if after == before:
        return 0
    if "--check" in arguments:
        sys.stderr.write(f"docs/{page.name} is not current; run `make generate`\n")
        return 1
    page.write_text(after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
