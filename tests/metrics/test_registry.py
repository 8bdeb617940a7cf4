"""The metric registry: series that appear and series that are removed."""

from __future__ import annotations

import math
import subprocess
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.operator_io.material import CELL, score, summary
from tests.support.prometheus import program

from opsgym_api.records.attempt import Cell, Usage
from opsgym_api.records.outcomes import Outcome
from opsgym_core.accounting.ledger import AttemptLedger
from opsgym_core.metrics.definitions import METRICS
from opsgym_core.metrics.registry import Metrics, RunCondition, RunFigures, ScheduleTimes, main, reference, run_figures

OTHER_CELL = CELL.model_copy(update={"model": "mixed"})
AT = datetime(2026, 11, 22, 3, tzinfo=UTC)

Labels = frozenset[tuple[str, str]]


def shown(metrics: Metrics) -> dict[str, dict[Labels, float]]:
    """Values by name and labels, as a scraper reads them."""
    values_by_name: dict[str, dict[Labels, float]] = {}
    for family in text_string_to_metric_families(metrics.text().decode()):
        for sample in family.samples:
            values_by_name.setdefault(sample.name, {})[frozenset(sample.labels.items())] = sample.value
    return values_by_name


def of_run(metrics: Metrics, run: str = "nightly") -> dict[str, list[float]]:
    """Values of the series of one run, by name."""
    values_by_name = {
        name: [value for labels, value in series.items() if ("run", run) in labels]
        for name, series in shown(metrics).items()
    }
    return {name: values for name, values in values_by_name.items() if values}


def value(metrics: Metrics, name: str, **labels: str) -> float | None:
    return shown(metrics).get(name, {}).get(frozenset(labels.items()))


def figures(*cells: Cell, **counts: int) -> RunFigures:
    return RunFigures(dict.fromkeys(cells, counts), success=0.5, spent_usd=1.0, budget_usd=2.0)


def filled(*, local: bool = False) -> Metrics:
    """A registry in which every metric has a series."""
    metrics = Metrics(local=local)
    metrics.show_run("team", "nightly", figures(CELL, passed=1, pending=3))
    metrics.show_condition("team", "nightly", RunCondition("BreakerOpen", 2, AT))
    metrics.show_gate("team", "nightly", "NO-GO", 0.25)
    metrics.show_schedules("team", {"nightly": ScheduleTimes(AT, AT, AT)})
    metrics.show_models("team", {"gold": 1}, {"gold": 4})
    metrics.count_attempt(summary())
    metrics.count_trial(CELL, Outcome.PASSED, "")
    metrics.count_verifiers(CELL, score().verifiers)
    metrics.count_notification("finished", "sent")
    metrics.count_pruned("results", 1_000)
    metrics.count_error("api")
    with metrics.time_reconcile():
        pass
    return metrics


@pytest.mark.parametrize("local", [False, True])
def test_every_declared_metric_is_exposed_with_its_labels_and_no_other(local: bool) -> None:
    endings = {"counter": ("",), "gauge": ("",), "histogram": ("_bucket", "_sum", "_count")}
    expected = {
        f"{metric.name}{ending}": set(metric.labels)
        for metric in METRICS
        if metric.local or not local
        for ending in endings[metric.kind]
    }
    exposed = {
        name: {label for labels in series for label, _ in labels} - {"le"}
        for name, series in shown(filled(local=local)).items()
        if not name.startswith("process_")
    }
    assert exposed == expected


def test_only_the_operator_exposes_process_metrics() -> None:
    assert shown(Metrics())["process_resident_memory_bytes"]
    assert "process_" not in Metrics(local=True).text().decode()


def test_no_label_names_a_task_a_trial_or_a_pod() -> None:
    labels = {label for metric in METRICS for label in metric.labels}
    assert not labels & {"task", "task_id", "trial", "attempt", "pod", "job", "uid"}


@pytest.mark.parametrize("local", [False, True])
def test_promtool_accepts_the_exposition(local: bool) -> None:
    checked = subprocess.run(
        [program("promtool"), "check", "metrics"], input=filled(local=local).text(), capture_output=True, check=False
    )
    assert (checked.returncode, checked.stdout + checked.stderr) == (0, b"")


COUNTED = (
    "cost_usd", "steps", "tool_calls", "internal_errors", "model_retries", "rate_limits", "model_wait_seconds",
)  # fmt: skip


def test_counters_of_a_cell_start_at_0_when_its_run_is_first_observed() -> None:
    metrics = Metrics()
    metrics.show_run("team", "nightly", figures(CELL, pending=4))
    cell = CELL.model_dump()
    assert value(metrics, "opsgym_trials_total", **cell, outcome="passed", reason="") == 0
    assert value(metrics, "opsgym_attempts_total", **cell, outcome="infra_error", reason="model_rate_limited") == 0
    assert value(metrics, "opsgym_verifiers_total", **cell, category="refusal", passed="false") == 0
    for name in COUNTED:
        assert value(metrics, f"opsgym_{name}_total", **cell) == 0

    metrics.count_trial(CELL, Outcome.PASSED, "")
    metrics.show_run("team", "nightly", figures(CELL, passed=1, pending=3))
    assert value(metrics, "opsgym_trials_total", **cell, outcome="passed", reason="") == 1


def test_every_figure_of_an_attempt_is_counted() -> None:
    metrics = Metrics()
    metrics.count_attempt(
        replace(
            summary(
                cost_usd=0.5,
                steps=3,
                tool_calls=2,
                internal_errors=1,
                model_retries=4,
                rate_limits=1,
                usage=Usage(
                    prompt_tokens=70,
                    completion_tokens=5,
                    cached_tokens=30,
                    cache_write_tokens=8,
                    reasoning_tokens=2,
                ),
            ),
            timings=replace(summary().timings, wait_s=1.5, model_s=2.5),
        )
    )
    cell = CELL.model_dump()
    counted = {name: value(metrics, f"opsgym_{name}_total", **cell) for name in COUNTED}
    assert counted == {
        "cost_usd": 0.5, "steps": 3, "tool_calls": 2, "internal_errors": 1, "model_retries": 4, "rate_limits": 1,
        "model_wait_seconds": 1.5,
    }  # fmt: skip
    tokens = {
        kind: value(metrics, "opsgym_tokens_total", **cell, kind=kind)
        for kind in ("prompt", "completion", "cached", "cache_write", "reasoning")
    }
    assert tokens == {"prompt": 70, "completion": 5, "cached": 30, "cache_write": 8, "reasoning": 2}
    assert value(metrics, "opsgym_trial_duration_seconds_sum", **cell, phase="model") == 2.5


def test_durations_are_those_of_scored_attempts() -> None:
    metrics = Metrics()
    metrics.count_attempt(summary(outcome=Outcome.INFRA_ERROR, reason="gym_lost"))
    cell = CELL.model_dump()
    assert value(metrics, "opsgym_attempts_total", **cell, outcome="infra_error", reason="gym_lost") == 1
    assert "opsgym_trial_duration_seconds_count" not in shown(metrics)


def test_an_unknown_cost_adds_nothing() -> None:
    metrics = Metrics()
    metrics.count_attempt(summary(cost_usd=None))
    assert value(metrics, "opsgym_cost_usd_total", **CELL.model_dump()) == 0


def test_unknown_values_in_records_do_not_become_labels() -> None:
    metrics = Metrics()
    cell = CELL.model_dump()
    for number in range(3):
        metrics.count_attempt(summary(outcome=Outcome.FAILED, reason=f"task-{number}"))
        metrics.count_trial(CELL, Outcome.FAILED, f"task-{number}")
        odd = replace(score().verifiers[0], category=f"category-{number}")
        metrics.count_verifiers(CELL, [odd])
    assert value(metrics, "opsgym_attempts_total", **cell, outcome="failed", reason="other") == 3
    assert value(metrics, "opsgym_trials_total", **cell, outcome="failed", reason="other") == 3
    assert value(metrics, "opsgym_verifiers_total", **cell, category="other", passed="true") == 3


def test_a_verifier_that_was_not_executed_is_not_counted() -> None:
    metrics = Metrics()
    metrics.count_verifiers(CELL, [replace(score().verifiers[0], executed=False)])
    assert "opsgym_verifiers_total" not in shown(metrics)


def test_series_of_removed_cells_disappear() -> None:
    metrics = Metrics()
    metrics.show_run("team", "nightly", figures(CELL, OTHER_CELL, passed=2))
    metrics.show_run("team", "nightly", figures(OTHER_CELL, failed=1))
    assert shown(metrics)["opsgym_run_trials"] == {
        frozenset({
            "namespace": "team", "run": "nightly", **OTHER_CELL.model_dump(), "outcome": "failed",
        }.items()): 1.0
    }  # fmt: skip


def test_ratios_of_a_run_are_over_all_its_cells() -> None:
    metrics = Metrics()
    counts = {CELL: {"passed": 1, "failed": 2, "pending": 0}, OTHER_CELL: {"passed": 0, "infra_error": 1, "pending": 4}}
    metrics.show_run("team", "nightly", RunFigures(counts, success=1 / 3, spent_usd=0.0, budget_usd=None))
    shown_values = of_run(metrics)
    assert (shown_values["opsgym_run_progress_ratio"], shown_values["opsgym_run_success_ratio"]) == ([3 / 8], [1 / 3])
    assert "opsgym_run_budget_usd" not in shown_values


def test_the_success_ratio_is_absent_before_a_trial_is_scored() -> None:
    metrics = Metrics()
    metrics.show_run("team", "nightly", RunFigures({CELL: {"pending": 2}}, None, 0.0, None))
    assert "opsgym_run_success_ratio" not in of_run(metrics)
    assert of_run(metrics)["opsgym_run_progress_ratio"] == [0.0]


def test_a_stall_is_shown_with_its_reason_until_it_ends() -> None:
    metrics = Metrics()
    for reason in ("BreakerOpen", "SecretMissing"):
        metrics.show_condition("team", "nightly", RunCondition(stalled=reason, pods_pending=3))
        labels = {"namespace": "team", "run": "nightly", "reason": reason}
        assert shown(metrics)["opsgym_run_stalled"] == {frozenset(labels.items()): 1.0}
    metrics.show_condition("team", "nightly", RunCondition(pods_pending=0))
    assert of_run(metrics) == {"opsgym_run_pods_pending": [0.0]}


def test_a_run_that_resumes_loses_its_finish_time() -> None:
    metrics = Metrics()
    metrics.show_condition("team", "nightly", RunCondition(finished_at=AT))
    assert of_run(metrics) == {"opsgym_run_finished_timestamp_seconds": [AT.timestamp()]}
    metrics.show_condition("team", "nightly", RunCondition())
    assert of_run(metrics) == {}


def test_a_gate_has_one_verdict_and_none_before_it_is_judged() -> None:
    metrics = Metrics()
    metrics.show_gate("team", "nightly", "INCONCLUSIVE", 0.1)
    metrics.show_gate("team", "nightly", "GO", None)
    labels = {"namespace": "team", "run": "nightly", "verdict": "GO"}
    assert shown(metrics)["opsgym_run_gate"] == {frozenset(labels.items()): 1.0}
    assert "opsgym_run_regression_ratio" not in shown(metrics)
    metrics.show_gate("team", "nightly", None, 0.1)
    assert of_run(metrics) == {}


def test_a_deleted_run_loses_all_its_series_and_other_runs_none() -> None:
    metrics = filled()
    metrics.show_run("team", "other", figures(CELL, passed=1))
    metrics.show_run("elsewhere", "nightly", figures(CELL, passed=1))
    metrics.forget_run("team", "nightly")
    metrics.forget_run("team", "never seen")
    left = {
        (dict(labels)["namespace"], dict(labels)["run"])
        for series in shown(metrics).values()
        for labels in series
        if "run" in dict(labels)
    }
    assert left == {("team", "other"), ("elsewhere", "nightly")}


def test_a_suspended_schedule_has_no_next_time_and_a_deleted_one_no_series() -> None:
    metrics = Metrics()
    metrics.show_schedules(
        "team", {"nightly": ScheduleTimes(AT, None, AT + timedelta(days=1)), "weekly": ScheduleTimes()}
    )
    nightly = {"namespace": "team", "schedule": "nightly"}
    assert value(metrics, "opsgym_schedule_next_run_timestamp_seconds", **nightly) == AT.timestamp() + 86400
    metrics.show_schedules("team", {"nightly": ScheduleTimes(AT, AT, None)})
    assert value(metrics, "opsgym_schedule_last_success_timestamp_seconds", **nightly) == AT.timestamp()
    assert "opsgym_schedule_next_run_timestamp_seconds" not in shown(metrics)
    metrics.show_schedules("team", {})
    assert 'schedule="' not in metrics.text().decode()


def test_only_a_successful_pass_updates_the_last_success_time() -> None:
    metrics = Metrics()
    with pytest.raises(ZeroDivisionError), metrics.time_reconcile():
        raise ZeroDivisionError
    before = value(metrics, "opsgym_reconcile_last_success_timestamp_seconds")
    assert before is not None
    assert math.isnan(before)
    with metrics.time_reconcile():
        pass
    after = value(metrics, "opsgym_reconcile_last_success_timestamp_seconds")
    assert after is not None
    assert abs(datetime.now(UTC).timestamp() - after) < 60
    assert value(metrics, "opsgym_reconcile_duration_seconds_count") == 2


def test_run_figures_count_every_cell_by_outcome() -> None:
    ledger = AttemptLedger(infra_retries=0)
    ledger.record(summary(0))
    ledger.record(summary(1, outcome=Outcome.FAILED, reason="verifiers", cost_usd=0.5))
    ledger.record(summary(2, outcome=Outcome.INFRA_ERROR, reason="gym_lost"))
    ledger.record(summary(3, outcome=Outcome.BUDGET_SKIPPED, reason="budget"))
    ledger.record(summary(4, outcome=Outcome.CANCELLED))
    other = replace(summary(0, outcome=Outcome.CONFIG_ERROR, reason="no_plan"), cell=OTHER_CELL)
    ledger.record(other)

    counted = run_figures(ledger, {CELL: 6, OTHER_CELL: 2}, 3.0)

    none = {"passed": 0, "failed": 0, "infra_error": 0, "config_error": 0, "budget_skipped": 0}
    assert counted == RunFigures(
        cells={
            CELL: none | {"passed": 1, "failed": 1, "infra_error": 1, "budget_skipped": 1, "pending": 2},
            OTHER_CELL: none | {"config_error": 1, "pending": 1},
        },
        success=0.5,
        spent_usd=0.5,
        budget_usd=3.0,
    )
    assert (counted.scored, counted.total) == (2, 8)


def test_the_reference_is_checked_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "metrics.md"
    page.write_text("Before.\n<!-- metrics -->\nold\n<!-- /metrics -->\nAfter.\n")
    assert main(["--check"], page) == 1
    assert capsys.readouterr().err == "docs/metrics.md is not current; run `make generate`\n"
    assert main([], page) == 0
    assert page.read_text() == f"Before.\n<!-- metrics -->\n{reference()}<!-- /metrics -->\nAfter.\n"
    assert main(["--check"], page) == 0


def test_the_reference_in_the_docs_is_current() -> None:
    assert main(["--check"]) == 0


def cells(models: int, agents: int, domains: int) -> list[Cell]:
    return [
        Cell(model=f"m{model}", agent=f"a{agent}", mode="oracle", domain=f"d{domain}")
        for model in range(models)
        for agent in range(agents)
        for domain in range(domains)
    ]


@pytest.mark.parametrize("shape", [(12, 10, 7), (2, 60, 7), (60, 14, 1), (1, 1, 840)])
def test_a_run_of_840_cells_has_less_than_5000_series_and_loses_no_trial(shape: tuple[int, int, int]) -> None:
    metrics, many = Metrics(), cells(*shape)
    metrics.show_run("team", "large", figures(*many, passed=40, infra_error=1, pending=19))
    for cell in many:
        metrics.count_trial(cell, Outcome.PASSED, "")
        metrics.count_attempt(replace(summary(), cell=cell))
    series = shown(metrics)
    assert sum(map(len, series.values())) < 5000
    assert sum(series["opsgym_run_trials"].values()) == 60 * 840
    assert sum(series["opsgym_trials_total"].values()) == 840
    assert sum(series["opsgym_trial_duration_seconds_count"].values()) == 6 * 840


FLEET_CELLS = [
    Cell(model=f"model-{model}", agent=f"agent-{agent}", mode=mode, domain=f"domain-{domain}")
    for model in range(10)
    for agent in range(4)
    for mode in ("oracle", "plus_5_tools", "plus_10_tools")
    for domain in range(7)
]
"""Cells of the large run of `make fleet`."""


def watch_run(metrics: Metrics, namespace: str, run: str, *of_run: Cell) -> None:
    """Shows all that the operator shows of a run."""
    metrics.add_cells(of_run)
    shown_of_run = run_figures(AttemptLedger(2), dict.fromkeys(of_run, 60), budget_usd=5.0)
    metrics.show_run(namespace, run, replace(shown_of_run, success=0.5))
    metrics.show_condition(namespace, run, RunCondition("BreakerOpen", 2, AT))


def watch_small_runs(metrics: Metrics, at_once: int, namespaces: int) -> None:
    """Some runs of one cell in a namespace, and one beside an EvalModel in each of many others."""
    for number in range(at_once):
        watch_run(metrics, "main", f"small-{number}", CELL)
    for number in range(namespaces):
        watch_run(metrics, f"team-{number}", "small", CELL)
        metrics.show_models(f"team-{number}", {"gold": 1}, {"gold": 4})


def test_the_whole_fleet_has_at_most_5000_series() -> None:
    metrics = Metrics()
    for number in range(6):  # five of them have finished
        watch_run(metrics, "main", f"large-{number}", *FLEET_CELLS)
    watch_small_runs(metrics, at_once=50, namespaces=100)
    assert sum(map(len, shown(metrics).values())) <= 5000


def test_50_runs_of_840_cells_and_100_namespaces_have_at_most_5000_series() -> None:
    metrics = Metrics()
    watch_small_runs(metrics, at_once=0, namespaces=100)
    for number in range(50):
        watch_run(metrics, f"team-{number}", "large", *FLEET_CELLS)
    assert sum(map(len, shown(metrics).values())) <= 5000


def test_an_unusual_outcome_has_a_series_only_while_a_trial_has_it() -> None:
    metrics = Metrics()
    counts = dict.fromkeys(("passed", "failed", "infra_error", "config_error", "budget_skipped", "pending"), 0)
    metrics.show_run("team", "nightly", figures(CELL, **counts))
    assert outcomes_shown(metrics) == {"passed", "failed", "pending"}
    metrics.show_run("team", "nightly", figures(CELL, **counts | {"infra_error": 1}))
    assert outcomes_shown(metrics) == {"passed", "failed", "pending", "infra_error"}


def outcomes_shown(metrics: Metrics) -> set[str]:
    return {dict(labels)["outcome"] for labels in shown(metrics)["opsgym_run_trials"]}


def test_cells_of_many_runs_share_labels_and_keep_those_they_have() -> None:
    metrics = Metrics()
    metrics.show_run("team", "small", figures(CELL, pending=1))
    for number in range(20):
        metrics.show_run("team", f"large-{number}", figures(*cells(2, 10, 7 + number), pending=1))
    named = {dict(labels)["model"] for labels in shown(metrics)["opsgym_trials_total"]}
    assert CELL.model in named
    assert value(metrics, "opsgym_trials_total", **CELL.model_dump(), outcome="passed", reason="") == 0
    assert len({tuple(sorted(labels)) for labels in shown(metrics)["opsgym_cost_usd_total"]}) <= 33
