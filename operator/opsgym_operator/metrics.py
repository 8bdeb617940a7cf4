"""What Prometheus scrapes, of the operator and of a run on one machine alike.

Invariant: a counter counts an attempt once over all restarts of the operator: what had ended when the operator started
is not counted again, so that `increase()` adds up. (Counters that were rebuilt from the stores would count the rebuilt
part twice there, since what finished and deleted runs had counted is missing.) What ends while no operator runs is in
the store and in the gauges, which are rebuilt, but in no counter. Gauges of a run are shown as a whole and removed as a
whole, so no series outlives what it is about.

    python -m opsgym_operator.metrics           writes the table of docs/metrics.md
    python -m opsgym_operator.metrics --check   exits 1 if it is not current
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import TypeAlias

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)

from opsgym_api.outcomes import ConfigReason, FailReason, InfraReason, Outcome
from opsgym_api.records import Cell, Verdict, VerifierResult
from opsgym_api.task import Category
from opsgym_operator import metric_definitions as defined
from opsgym_operator.book import Attempted, Book
from opsgym_operator.metric_definitions import METRICS, Metric
from opsgym_operator.status import tally_of

PHASES = ("seed", "connect", "model", "tools", "verify", "total")
TOKENS = ("prompt", "completion", "cached", "cache_write", "reasoning")
REASONS = frozenset({"", "budget", *FailReason, *InfraReason, *ConfigReason})
CATEGORIES = frozenset(map(str, Category))
ENDINGS = (
    (str(Outcome.PASSED), ""),
    *((str(Outcome.FAILED), str(reason)) for reason in FailReason),
    *((str(Outcome.INFRA_ERROR), str(reason)) for reason in InfraReason),
)
"""How attempts end that were started, with their reasons."""
OTHER = "other"
"""Label of what a newer version may have written into a record: labels come from a closed list."""

LOCAL = "local"
"""Namespace of runs on one machine."""

Owner: TypeAlias = tuple[str, ...]
"""First labels of the series that are shown and removed together."""

# A second series for each counter, which no query needs: Prometheus sees resets by itself.
disable_created_metrics()  # type: ignore[no-untyped-call]


@dataclass(frozen=True)
class RunFigures:
    """Numbers of a run now, as its status has them."""

    cells: Mapping[Cell, Mapping[str, int]]
    """Trials of each cell by outcome, `pending` included."""
    success: float | None
    """Mean over tasks; None while nothing is scored."""
    spent_usd: float
    budget_usd: float | None

    @property
    def scored(self) -> int:
        """Trials that have a score."""
        return sum(trials.get(end, 0) for trials in self.cells.values() for end in Outcome if end.scored)

    @property
    def total(self) -> int:
        """Trials planned."""
        return sum(sum(trials.values()) for trials in self.cells.values())


def run_figures(book: Book, cells: Mapping[Cell, int], budget_usd: float | None) -> RunFigures:
    """Numbers of a run.

    Args:
        book: Its attempts.
        cells: Trials planned in each cell.
        budget_usd: What it may spend; None without a budget.
    """
    counted = {cell: tally_of(book, {cell.key: total}).counters for cell, total in cells.items()}
    return RunFigures(
        cells={cell: {end: count for end, count in found.items() if end != "total"} for cell, found in counted.items()},
        success=book.success,
        spent_usd=book.spent,
        budget_usd=budget_usd,
    )


@dataclass(frozen=True)
class RunCondition:
    """How a run fares in the cluster, whatever is known of its trials."""

    stalled: str = ""
    """Reason of its condition `Stalled` while that is true."""
    pods_pending: int | None = None
    """None where there are no pods."""
    finished_at: datetime | None = None
    """None while it has not ended."""


@dataclass(frozen=True)
class ScheduleTimes:
    """Times of an EvalSchedule."""

    last_run: datetime | None = None
    """Time that its latest EvalRun is for."""
    last_success: datetime | None = None
    """When one of its EvalRuns last ended well."""
    next_run: datetime | None = None
    """When the next one is due; in the past while it is missed, None while it is suspended."""


class _Shown:
    """A gauge whose series belong to owners, each of which is shown anew as a whole."""

    def __init__(self, gauge: Gauge) -> None:
        self._gauge = gauge
        self._owned: dict[Owner, dict[Owner, float]] = {}

    def show(self, owner: Owner, values: Mapping[Owner, float]) -> None:
        """Sets the series of an owner, by the labels that follow the owner's own; removes its others."""
        before = self._owned.pop(owner, {})
        for labels in before.keys() - values.keys():
            self._gauge.remove(*owner, *labels)
        for labels, value in values.items():
            if before.get(labels) != value:  # runs that have ended are shown in every pass
                self._gauge.labels(*owner, *labels).set(value)
        if values:
            self._owned[owner] = dict(values)

    def show_one(self, owner: Owner, value: float | None) -> None:
        """Sets the only series of an owner; None removes it."""
        self.show(owner, {} if value is None else {(): value})


class Metrics:
    """A registry with everything of `METRICS`.

    Args:
        local: Whether it is of a run on one machine: what only an operator can tell is left out then.
    """

    def __init__(self, *, local: bool = False) -> None:
        self.registry = CollectorRegistry()
        self._local = local
        made = {metric.name: self._made(metric) for metric in METRICS}
        self._counters = {name: found for name, found in made.items() if isinstance(found, Counter)}
        self._gauges = {name: found for name, found in made.items() if isinstance(found, Gauge)}
        self._histograms = {name: found for name, found in made.items() if isinstance(found, Histogram)}
        self._shown = {name: _Shown(gauge) for name, gauge in self._gauges.items()}
        self._begun: set[Cell] = set()
        self._gauges[defined.RECONCILE_LAST_SUCCESS.name].set(math.nan)
        self._gauges[defined.BUILD_INFO.name].labels(version("opsgym-operator")).set(1)
        if not local:
            ProcessCollector(registry=self.registry)

    def _made(self, metric: Metric) -> Counter | Gauge | Histogram:
        registry = self.registry if metric.local or not self._local else None
        match metric.kind:
            case "counter":
                return Counter(metric.name, metric.meaning, metric.labels, registry=registry)
            case "gauge":
                return Gauge(metric.name, metric.meaning, metric.labels, registry=registry)
            case "histogram":
                return Histogram(metric.name, metric.meaning, metric.labels, buckets=metric.buckets, registry=registry)

    def text(self) -> bytes:
        """Everything, as Prometheus reads it."""
        return generate_latest(self.registry)

    # Counters

    def _count(self, metric: Metric, *labels: str, by: float = 1) -> None:
        self._counters[metric.name].labels(*labels).inc(by)

    def _begin(self, cell: Cell) -> None:
        """Has a cell's counters begin at 0: `increase()` knows nothing of what a series begins with."""
        if cell in self._begun:
            return
        self._begun.add(cell)
        labels = _labels(cell)
        for metric in (defined.TRIALS, defined.ATTEMPTS):
            for ending in ENDINGS:
                self._count(metric, *labels, *ending, by=0)
        for category, passed in product(Category, ("true", "false")):
            self._count(defined.VERIFIERS, *labels, category, passed, by=0)
        for kind in TOKENS:
            self._count(defined.TOKENS, *labels, kind, by=0)
        for metric in METRICS:
            if metric.kind == "counter" and metric.labels == defined.CELL:
                self._count(metric, *labels, by=0)
        for phase in PHASES:
            self._histograms[defined.TRIAL_DURATION.name].labels(*labels, phase)

    def count_attempt(self, attempt: Attempted) -> None:
        """Counts an attempt that has ended."""
        cell = _labels(attempt.cell)
        self._count(defined.ATTEMPTS, *cell, str(attempt.outcome), _known(attempt.reason, REASONS))
        self._count(defined.COST, *cell, by=attempt.cost_usd or 0.0)
        self._count(defined.STEPS, *cell, by=attempt.steps)
        self._count(defined.TOOL_CALLS, *cell, by=attempt.tool_calls)
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
        """Counts a trial that is scored, or will not be tried again."""
        self._count(defined.TRIALS, *_labels(cell), str(outcome), _known(reason, REASONS))

    def count_verifiers(self, cell: Cell, verifiers: Iterable[VerifierResult]) -> None:
        """Counts the verifiers of a scored trial."""
        for result in verifiers:
            if result.executed:
                category = _known(result.category, CATEGORIES)
                self._count(defined.VERIFIERS, *_labels(cell), category, str(result.passed).lower())

    def count_notice(self, event: str, outcome: str) -> None:
        """Counts a notice.

        Args:
            event: What it tells of.
            outcome: `sent`, or `failed` if it will not be sent again.
        """
        self._count(defined.NOTICES, event, outcome)

    def count_error(self, cause: str) -> None:
        """Counts a pass that failed."""
        self._count(defined.RECONCILE_ERRORS, cause)

    @contextmanager
    def timed_pass(self) -> Iterator[None]:
        """Around a pass: how long it takes, and when one last ended well."""
        with self._histograms[defined.RECONCILE_DURATION.name].time():
            yield
        self._gauges[defined.RECONCILE_LAST_SUCCESS.name].set_to_current_time()

    # Gauges of a run

    def show_run(self, namespace: str, run: str, figures: RunFigures) -> None:
        """Shows a run's numbers, in place of those shown before."""
        owner = (namespace, run)
        for cell in figures.cells:
            self._begin(cell)
        trials: dict[Owner, float] = {
            (*_labels(cell), outcome): count
            for cell, counts in figures.cells.items()
            for outcome, count in counts.items()
        }
        self._shown[defined.RUN_TRIALS.name].show(owner, trials)
        self._show_one(defined.RUN_PROGRESS, owner, figures.scored / figures.total if figures.total else 0.0)
        self._show_one(defined.RUN_SUCCESS, owner, figures.success)
        self._show_one(defined.RUN_COST, owner, figures.spent_usd)
        self._show_one(defined.RUN_BUDGET, owner, figures.budget_usd)

    def show_condition(self, namespace: str, run: str, condition: RunCondition) -> None:
        """Shows how a run fares, in place of what was shown before."""
        owner = (namespace, run)
        self._shown[defined.RUN_STALLED.name].show(owner, {(condition.stalled,): 1.0} if condition.stalled else {})
        self._show_one(defined.RUN_PODS_PENDING, owner, condition.pods_pending)
        self._show_one(defined.RUN_FINISHED, owner, _seconds(condition.finished_at))

    def show_gate(self, namespace: str, run: str, verdict: Verdict | None, regression: float | None) -> None:
        """Shows what a run's gate says, in place of what was shown before.

        Args:
            namespace: The run's namespace.
            run: The run's name.
            verdict: None while it is not decided, or if there is no gate.
            regression: Drop of the worst cell against the baseline, above 0 if it fell; None without a baseline.
        """
        owner = (namespace, run)
        self._shown[defined.RUN_GATE.name].show(owner, {(verdict,): 1.0} if verdict else {})
        self._show_one(defined.RUN_REGRESSION, owner, regression if verdict else None)

    def forget_run(self, namespace: str, run: str) -> None:
        """Removes the series of a run that is gone."""
        for metric in METRICS:
            if metric.labels[:2] == defined.RUN:
                self._shown[metric.name].show((namespace, run), {})

    def _show_one(self, metric: Metric, owner: Owner, value: float | None) -> None:
        self._shown[metric.name].show_one(owner, value)

    # Gauges of a namespace

    def show_schedules(self, namespace: str, schedules: Mapping[str, ScheduleTimes]) -> None:
        """Shows the EvalSchedules of a namespace, by name, in place of those shown before."""
        for metric, times in (
            (defined.SCHEDULE_LAST_RUN, {name: found.last_run for name, found in schedules.items()}),
            (defined.SCHEDULE_LAST_SUCCESS, {name: found.last_success for name, found in schedules.items()}),
            (defined.SCHEDULE_NEXT_RUN, {name: found.next_run for name, found in schedules.items()}),
        ):
            values: dict[Owner, float] = {(name,): at.timestamp() for name, at in times.items() if at is not None}
            self._shown[metric.name].show((namespace,), values)

    def show_models(self, namespace: str, in_flight: Mapping[str, int], ceilings: Mapping[str, int]) -> None:
        """Shows the models of a namespace, by name, in place of those shown before."""
        busy: dict[Owner, float] = {(model,): in_flight.get(model, 0) for model in ceilings}
        self._shown[defined.MODEL_IN_FLIGHT.name].show((namespace,), busy)
        self._shown[defined.MODEL_CEILING.name].show((namespace,), {(model,): most for model, most in ceilings.items()})


def _labels(cell: Cell) -> tuple[str, str, str, str]:
    return cell.model, cell.agent, cell.mode, cell.domain


def _known(label: str, labels: frozenset[str]) -> str:
    return label if label in labels else OTHER


def _seconds(at: datetime | None) -> float | None:
    return None if at is None else at.timestamp()


# The reference

PAGE = Path(__file__).resolve().parents[2] / "docs" / "metrics.md"
"""In the source tree."""
_TABLE = re.compile(r"(?<=<!-- metrics -->\n).*(?=<!-- /metrics -->)", re.DOTALL)


def reference() -> str:
    """The table of docs/metrics.md."""
    rows = ["| metric | type | unit | labels | meaning |", "| --- | --- | --- | --- | --- |"]
    for metric in METRICS:
        labels = ", ".join(f"`{label}`" for label in metric.labels)
        where = "" if metric.local else " *Operator only.*"
        rows.append(f"| `{metric.name}` | {metric.kind} | {metric.unit} | {labels} | {metric.meaning}{where} |")
    return "\n".join(rows) + "\n"


def main(arguments: Sequence[str], page: Path = PAGE) -> int:
    """Writes the table into the page or, with `--check`, says that it is not current; the exit code."""
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
