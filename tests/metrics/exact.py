"""Expected values of counters, computed from a store's records alone; and actual values of an exposition."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from prometheus_client.parser import text_string_to_metric_families
from tests.support.prometheus import Prometheus

from opsgym_api.records.attempt import AttemptRecord, TrialRecord
from opsgym_api.records.outcomes import Outcome

Values: TypeAlias = dict[tuple[str, frozenset[tuple[str, str]]], float]
"""Values by metric name and labels. Series with value 0 are left out: a counter starts at 0."""

TOKENS = ("prompt", "completion", "cached", "cache_write", "reasoning")
WAITS = "opsgym_model_wait_seconds_total"
"""A sum of durations, which are not exact in binary: test_exactness compares it with a tolerance."""


def from_records(trials: Sequence[TrialRecord], attempts: Sequence[AttemptRecord]) -> Values:
    """Counters over attempts that have ended."""
    values: defaultdict[tuple[str, frozenset[tuple[str, str]]], float] = defaultdict(float)

    def add(name: str, record: AttemptRecord | TrialRecord, value: float = 1, **labels: str) -> None:
        values[name, _series({**record.cell.model_dump(), **labels})] += value

    for attempt in attempts:
        if attempt.outcome is None:
            continue
        add("opsgym_attempts_total", attempt, outcome=attempt.outcome.value, reason=attempt.reason)
        add("opsgym_cost_usd_total", attempt, attempt.cost_usd or 0)
        add("opsgym_steps_total", attempt, attempt.steps)
        add("opsgym_tool_calls_total", attempt, attempt.tool_calls)
        add("opsgym_internal_errors_total", attempt, attempt.internal_errors)
        add("opsgym_model_retries_total", attempt, attempt.model_retries)
        add("opsgym_rate_limits_total", attempt, attempt.rate_limits)
        for kind in TOKENS:
            add("opsgym_tokens_total", attempt, getattr(attempt.usage, f"{kind}_tokens"), kind=kind)
    endings: list[AttemptRecord | TrialRecord] = [*trials, *_unscored(trials, attempts)]
    for ending in endings:
        assert ending.outcome is not None
        add("opsgym_trials_total", ending, outcome=ending.outcome.value, reason=ending.reason)
    for trial in trials:
        for result in trial.verifiers:
            if result.executed:
                passed = str(result.passed).lower()
                add("opsgym_verifiers_total", trial, category=result.category, passed=passed)
    return {series: value for series, value in values.items() if value}


def _unscored(trials: Sequence[TrialRecord], attempts: Iterable[AttemptRecord]) -> list[AttemptRecord]:
    """Last attempts of the trials that ended without a score."""
    scored = {(trial.cell, trial.task_id, trial.trial) for trial in trials}
    last = {(attempt.cell, attempt.task_id, attempt.trial): attempt for attempt in attempts}
    return [
        attempt
        for key, attempt in last.items()
        if key not in scored and attempt.outcome not in (None, Outcome.CANCELLED)
    ]


def from_prometheus(prometheus: Prometheus) -> Values:
    """Values of the counters that Prometheus has scraped."""
    values: Values = {}
    for series in prometheus.query('{__name__=~"opsgym_.+_total"} != 0'):
        labels = {name: text for name, text in series["metric"].items() if name not in ("__name__", "job", "instance")}
        values[series["metric"]["__name__"], _series(labels)] = float(series["value"][1])
    return _compared(values)


def from_text(text: str) -> Values:
    """Values of the counters in an exposition."""
    return _compared(
        {
            (sample.name, _series(sample.labels)): sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
            if family.type == "counter" and sample.value
        }
    )


def _series(labels: Mapping[str, str]) -> frozenset[tuple[str, str]]:
    """Labels as Prometheus compares them: an empty label equals a missing one."""
    return frozenset((name, text) for name, text in labels.items() if text)


def _compared(values: Values) -> Values:
    """Metrics of attempts and trials; left out are WAITS and the operator's metrics of itself."""
    return {
        (name, labels): value for (name, labels), value in values.items() if "model" in dict(labels) and name != WAITS
    }


def total(values: Values, name: str, **labels: str) -> float:
    """Sum of the series of a metric that have some labels."""
    required = set(labels.items())
    return sum(value for (metric, given), value in values.items() if metric == name and required <= given)


def gauges(text: str, name: str) -> Mapping[frozenset[tuple[str, str]], float]:
    """Values of a gauge by labels."""
    return {
        frozenset(sample.labels.items()): sample.value
        for family in text_string_to_metric_families(text)
        if family.name == name
        for sample in family.samples
    }
