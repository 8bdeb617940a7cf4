"""What metrics must say, worked out from a store's records and from nothing else."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from prometheus_client.parser import text_string_to_metric_families
from tests.support.prometheus import Prometheus

from opsgym_api.outcomes import Outcome
from opsgym_api.records import AttemptRecord, TrialRecord

Values: TypeAlias = dict[tuple[str, frozenset[tuple[str, str]]], float]
"""By name and labels; what is 0 is left out, since counters begin there."""

TOKENS = ("prompt", "completion", "cached", "cache_write", "reasoning")
WAITS = "opsgym_model_wait_seconds_total"
"""Sums of times that are no binary fractions: compared with a tolerance elsewhere."""


def from_records(trials: Sequence[TrialRecord], attempts: Sequence[AttemptRecord]) -> Values:
    """Counters over attempts that have ended."""
    found: defaultdict[tuple[str, frozenset[tuple[str, str]]], float] = defaultdict(float)

    def add(name: str, record: AttemptRecord | TrialRecord, value: float = 1, **labels: str) -> None:
        found[name, _series({**record.cell.model_dump(), **labels})] += value

    for attempt in attempts:
        if attempt.outcome is None:
            continue
        add("opsgym_attempts_total", attempt, outcome=attempt.outcome.value, reason=attempt.reason)
        add("opsgym_cost_usd_total", attempt, attempt.cost_usd or 0)
        add("opsgym_steps_total", attempt, attempt.steps)
        add("opsgym_tool_calls_total", attempt, attempt.tool_calls)
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
    return {series: value for series, value in found.items() if value}


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
    """Counters as Prometheus has them."""
    found: Values = {}
    for series in prometheus.query('{__name__=~"opsgym_.+_total"} != 0'):
        labels = {name: text for name, text in series["metric"].items() if name not in ("__name__", "job", "instance")}
        found[series["metric"]["__name__"], _series(labels)] = float(series["value"][1])
    return _compared(found)


def from_text(text: str) -> Values:
    """Counters as an exposition has them."""
    return _compared(
        {
            (sample.name, _series(sample.labels)): sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
            if family.type == "counter" and sample.value
        }
    )


def _series(labels: Mapping[str, str]) -> frozenset[tuple[str, str]]:
    """Labels as Prometheus compares them: an empty one is none."""
    return frozenset((name, text) for name, text in labels.items() if text)


def _compared(values: Values) -> Values:
    """What counts attempts; an operator counts its passes and notices too."""
    return {
        (name, labels): value for (name, labels), value in values.items() if "model" in dict(labels) and name != WAITS
    }


def total(values: Values, name: str, **labels: str) -> float:
    """Sum of the series of a metric that have some labels."""
    wanted = set(labels.items())
    return sum(value for (found, given), value in values.items() if found == name and wanted <= given)


def gauges(text: str, name: str) -> Mapping[frozenset[tuple[str, str]], float]:
    """Values of a gauge by labels."""
    return {
        frozenset(sample.labels.items()): sample.value
        for family in text_string_to_metric_families(text)
        if family.name == name
        for sample in family.samples
    }
