"""What the registry shows, and what it takes away again."""

from __future__ import annotations

import math
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.operator_io.material import CELL, score, summary
from tests.support.prometheus import program

from opsgym_api.outcomes import Outcome
from opsgym_api.records import Cell
from opsgym_operator.book import Book
from opsgym_operator.metric_definitions import METRICS
from opsgym_operator.metrics import Metrics, RunCondition, RunFigures, ScheduleTimes, main, reference, run_figures

OTHER_CELL = CELL.model_copy(update={"model": "mixed"})
AT = datetime(2026, 11, 22, 3, tzinfo=UTC)

Labels = frozenset[tuple[str, str]]


def shown(metrics: Metrics) -> dict[str, dict[Labels, float]]:
    """Values by name and labels, as a scraper reads them."""
    found: dict[str, dict[Labels, float]] = {}
    for family in text_string_to_metric_families(metrics.text().decode()):
        for sample in family.samples:
            found.setdefault(sample.name, {})[frozenset(sample.labels.items())] = sample.value
    return found


def of_run(metrics: Metrics, run: str = "nightly") -> dict[str, list[float]]:
    """Values of the series of one run, by name."""
    found = {
        name: [value for labels, value in series.items() if ("run", run) in labels]
        for name, series in shown(metrics).items()
    }
    return {name: values for name, values in found.items() if values}


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
    metrics.count_notice("finished", "sent")
    metrics.count_error("api")
    with metrics.timed_pass():
        pass
    return metrics


@pytest.mark.parametrize("local", [False, True])
def test_every_declared_metric_is_exposed_with_its_labels_and_no_other(local: bool) -> None:
    endings = {"counter": ("",), "gauge": ("",), "histogram": ("_bucket", "_sum", "_count")}
    wanted = {
        f"{metric.name}{ending}": set(metric.labels)
        for metric in METRICS
        if metric.local or not local
        for ending in endings[metric.kind]
    }
    found = {
        name: {label for labels in series for label, _ in labels} - {"le"}
        for name, series in shown(filled(local=local)).items()
        if not name.startswith("process_")
    }
    assert found == wanted


def test_the_operator_tells_its_memory_and_a_local_run_leaves_process_metrics_to_the_collector_of_its_file() -> None:
    assert shown(Metrics())["process_resident_memory_bytes"]
    assert "process_" not in Metrics(local=True).text().decode()


def test_no_label_names_a_task_a_trial_or_a_pod() -> None:
    labels = {label for metric in METRICS for label in metric.labels}
    assert not labels & {"task", "task_id", "trial", "attempt", "pod", "job", "uid"}


@pytest.mark.parametrize("local", [False, True])
def test_prometheus_own_linter_finds_nothing(local: bool) -> None:
    checked = subprocess.run(
        [program("promtool"), "check", "metrics"], input=filled(local=local).text(), capture_output=True, check=False
    )
    assert (checked.returncode, checked.stdout + checked.stderr) == (0, b"")


def test_counters_of_a_cell_begin_at_0_when_its_run_is_first_seen() -> None:
    metrics = Metrics()
    metrics.show_run("team", "nightly", figures(CELL, pending=4))
    cell = CELL.model_dump()
    assert value(metrics, "opsgym_trials_total", **cell, outcome="passed", reason="") == 0
    assert value(metrics, "opsgym_attempts_total", **cell, outcome="infra_error", reason="model_rate_limited") == 0
    assert value(metrics, "opsgym_verifiers_total", **cell, category="refusal", passed="false") == 0
    for name in ("cost_usd", "steps", "tool_calls", "model_retries", "rate_limits", "model_wait_seconds"):
        assert value(metrics, f"opsgym_{name}_total", **cell) == 0

    metrics.count_trial(CELL, Outcome.PASSED, "")
    metrics.show_run("team", "nightly", figures(CELL, passed=1, pending=3))
    assert value(metrics, "opsgym_trials_total", **cell, outcome="passed", reason="") == 1


def test_everything_an_attempt_tells_is_counted() -> None:
    metrics = Metrics()
    metrics.count_attempt(
        summary(
            cost_usd=0.5,
            steps=3,
            tool_calls=2,
            model_retries=4,
            rate_limits=1,
            usage={
                "prompt_tokens": 70,
                "completion_tokens": 5,
                "cached_tokens": 30,
                "cache_write_tokens": 8,
                "reasoning_tokens": 2,
            },
        ).model_copy(update={"timings": summary().timings.model_copy(update={"wait_s": 1.5, "model_s": 2.5})})
    )
    cell = CELL.model_dump()
    counted = {
        name: value(metrics, f"opsgym_{name}_total", **cell)
        for name in ("cost_usd", "steps", "tool_calls", "model_retries", "rate_limits", "model_wait_seconds")
    }
    assert counted == {
        "cost_usd": 0.5, "steps": 3, "tool_calls": 2, "model_retries": 4, "rate_limits": 1, "model_wait_seconds": 1.5,
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


def test_labels_come_from_a_closed_list_whatever_records_say() -> None:
    metrics = Metrics()
    cell = CELL.model_dump()
    for number in range(3):
        metrics.count_attempt(summary(outcome=Outcome.FAILED, reason=f"task-{number}"))
        metrics.count_trial(CELL, Outcome.FAILED, f"task-{number}")
        odd = score().verifiers[0].model_copy(update={"category": f"category-{number}"})
        metrics.count_verifiers(CELL, [odd])
    assert value(metrics, "opsgym_attempts_total", **cell, outcome="failed", reason="other") == 3
    assert value(metrics, "opsgym_trials_total", **cell, outcome="failed", reason="other") == 3
    assert value(metrics, "opsgym_verifiers_total", **cell, category="other", passed="true") == 3


def test_a_verifier_that_was_not_executed_is_not_counted() -> None:
    metrics = Metrics()
    metrics.count_verifiers(CELL, [score().verifiers[0].model_copy(update={"executed": False})])
    assert "opsgym_verifiers_total" not in shown(metrics)


def test_cells_that_a_run_no_longer_has_lose_their_series() -> None:
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
    told = of_run(metrics)
    assert (told["opsgym_run_progress_ratio"], told["opsgym_run_success_ratio"]) == ([3 / 8], [1 / 3])
    assert "opsgym_run_budget_usd" not in told


def test_success_is_not_told_before_anything_is_scored() -> None:
    metrics = Metrics()
    metrics.show_run("team", "nightly", RunFigures({CELL: {"pending": 2}}, None, 0.0, None))
    assert "opsgym_run_success_ratio" not in of_run(metrics)
    assert of_run(metrics)["opsgym_run_progress_ratio"] == [0.0]


def test_a_stall_is_shown_by_its_reason_until_it_is_mended() -> None:
    metrics = Metrics()
    for reason in ("BreakerOpen", "SecretMissing"):
        metrics.show_condition("team", "nightly", RunCondition(stalled=reason, pods_pending=3))
        labels = {"namespace": "team", "run": "nightly", "reason": reason}
        assert shown(metrics)["opsgym_run_stalled"] == {frozenset(labels.items()): 1.0}
    metrics.show_condition("team", "nightly", RunCondition(pods_pending=0))
    assert of_run(metrics) == {"opsgym_run_pods_pending": [0.0]}


def test_a_run_that_goes_on_has_not_finished_any_more() -> None:
    metrics = Metrics()
    metrics.show_condition("team", "nightly", RunCondition(finished_at=AT))
    assert of_run(metrics) == {"opsgym_run_finished_timestamp_seconds": [AT.timestamp()]}
    metrics.show_condition("team", "nightly", RunCondition())
    assert of_run(metrics) == {}


def test_a_gate_says_one_thing_at_a_time_and_nothing_while_it_is_open() -> None:
    metrics = Metrics()
    metrics.show_gate("team", "nightly", "INCONCLUSIVE", 0.1)
    metrics.show_gate("team", "nightly", "GO", None)
    labels = {"namespace": "team", "run": "nightly", "verdict": "GO"}
    assert shown(metrics)["opsgym_run_gate"] == {frozenset(labels.items()): 1.0}
    assert "opsgym_run_regression_ratio" not in shown(metrics)
    metrics.show_gate("team", "nightly", None, 0.1)
    assert of_run(metrics) == {}


def test_everything_of_a_run_goes_with_it_and_nothing_of_another() -> None:
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


def test_a_schedule_that_is_suspended_is_due_at_no_time_and_one_that_is_gone_leaves_nothing() -> None:
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


def test_only_a_pass_that_ends_well_is_the_last_success() -> None:
    metrics = Metrics()
    with pytest.raises(ZeroDivisionError), metrics.timed_pass():
        raise ZeroDivisionError
    before = value(metrics, "opsgym_reconcile_last_success_timestamp_seconds")
    assert before is not None
    assert math.isnan(before)
    with metrics.timed_pass():
        pass
    after = value(metrics, "opsgym_reconcile_last_success_timestamp_seconds")
    assert after is not None
    assert abs(datetime.now(UTC).timestamp() - after) < 60
    assert value(metrics, "opsgym_reconcile_duration_seconds_count") == 2


def test_figures_of_a_run_count_each_cell_as_its_status_counts_all() -> None:
    book = Book(infra_retries=0)
    book.note(summary(0))
    book.note(summary(1, outcome=Outcome.FAILED, reason="verifiers", cost_usd=0.5))
    book.note(summary(2, outcome=Outcome.INFRA_ERROR, reason="gym_lost"))
    book.note(summary(3, outcome=Outcome.BUDGET_SKIPPED, reason="budget"))
    book.note(summary(4, outcome=Outcome.CANCELLED))
    other = summary(0, outcome=Outcome.CONFIG_ERROR, reason="no_plan").model_copy(update={"cell": OTHER_CELL})
    book.note(other)

    told = run_figures(book, {CELL: 6, OTHER_CELL: 2}, 3.0)

    none = {"passed": 0, "failed": 0, "infra_error": 0, "config_error": 0, "budget_skipped": 0}
    assert told == RunFigures(
        cells={
            CELL: none | {"passed": 1, "failed": 1, "infra_error": 1, "budget_skipped": 1, "pending": 2},
            OTHER_CELL: none | {"config_error": 1, "pending": 1},
        },
        success=0.5,
        spent_usd=0.5,
        budget_usd=3.0,
    )
    assert (told.scored, told.total) == (2, 8)


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
