"""Prometheus, the report, `opsgym results` and the store show equal numbers for a local run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest
from tests.cli.world import World, row, until
from tests.metrics.exact import from_prometheus, from_records, from_text, gauges, total
from tests.metrics.model import NamedModel
from tests.support.page import page_of
from tests.support.prometheus import prometheus

from opsgym_api.records.attempt import Cell

pytestmark = pytest.mark.timeout(400)

TASKS = ("good-1", "bad-1", "busy-1", "gone-1", "good-2", "held-1")
NO_SEED = "no-seed"
MODELS = 3
TRIALS = MODELS * (len(TASKS) + 1)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[tuple[World, NamedModel]]:
    """A run of NamedModel, of a model that solves every task, and of one that solves none."""
    world = World(tmp_path)
    server = row("x")["gym_servers_config"][0]
    missing = row(NO_SEED, gym_servers_config=[{**server, "seed_database_file": "gone.sql"}])
    world.write_suite([*(row(task) for task in TASKS), missing])
    with NamedModel.serving() as model:
        models = {"named": model.inline, "gold": {"model": "replay/gold"}, "noop": {"model": "replay/noop"}}
        world.write_run(models, limits={"infraRetries": 1}, budget={"maxUsd": 5})
        yield world, model


def address_of(process: Popen[str]) -> str:
    """`HOST:PORT` of the metrics, read from the command's stderr."""
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("metrics at http://"):
            return line.removeprefix("metrics at http://").removesuffix("/metrics\n")
    raise AssertionError("the command does not print the address of its metrics")


def test_prometheus_results_report_and_store_agree_exactly(world: tuple[World, NamedModel], tmp_path: Path) -> None:
    folder, model = world
    command = ("run", "run.yaml", "--format", "json", "--metrics-port", "0", "--metrics-file", "final.prom")
    with (
        folder.started(*command) as process,
        prometheus(tmp_path / "prometheus", {"opsgym": address_of(process)}) as scraped,
    ):
        # One trial is blocked, so metrics and store do not change while they are compared.
        until(lambda: _ended(folder) == TRIALS - 1, "all trials but one have ended", process)
        scraped.until(lambda server: server.value("sum(opsgym_trials_total)") == TRIALS - 1, "all trials but one")
        live = from_prometheus(scraped)
        assert live == from_records(folder.trials(), folder.attempts())
        assert {"infra_error", "config_error", "passed", "failed"} == {
            dict(labels)["outcome"] for name, labels in live if name == "opsgym_trials_total"
        }
        assert scraped.value("sum(opsgym_run_trials)") == TRIALS
        pending = 'opsgym_run_trials{outcome="pending"} > 0'
        assert [series["metric"]["model"] for series in scraped.query(pending)] == ["named"]
        assert scraped.value('opsgym_model_in_flight{model="named"}') == 1
        model.released = True
        out, err = process.communicate(timeout=90)

    assert process.returncode == 1, err
    final = (folder.folder / "final.prom").read_text()
    _same_as_records(folder, final)
    _same_as_results(folder, final, json.loads(out))
    _same_as_page(folder, final)


def _ended(world: World) -> int:
    """Number of ended trials in the store."""
    if not (world.folder / "results" / "runs").is_dir():
        return 0
    values = from_records(world.trials(), world.attempts())
    once = total(values, "opsgym_attempts_total", outcome="infra_error") == 1
    return int(total(values, "opsgym_trials_total")) - once


def _same_as_records(world: World, text: str) -> None:
    trials, attempts = world.trials(), world.attempts()
    values = from_text(text)
    assert values == from_records(trials, attempts)
    assert total(values, "opsgym_rate_limits_total") == 1
    assert total(values, "opsgym_model_retries_total") == 1 + 2
    gone = total(values, "opsgym_attempts_total", outcome="infra_error", reason="model_unavailable")
    assert gone == 2 * total(values, "opsgym_trials_total", outcome="infra_error") == 2
    seconds = sum(attempt.timings.total_s for attempt in attempts if attempt.outcome and attempt.outcome.scored)
    sums = "opsgym_trial_duration_seconds_sum{"
    sums_of_trials = [line for line in text.splitlines() if line.startswith(sums) and 'phase="total"' in line]
    assert sum(float(line.rpartition(" ")[2]) for line in sums_of_trials) == pytest.approx(seconds)
    waits = [line for line in text.splitlines() if line.startswith("opsgym_model_wait_seconds_total{")]
    waited = sum(attempt.timings.wait_s for attempt in attempts)
    assert sum(float(line.rpartition(" ")[2]) for line in waits) == pytest.approx(waited)
    assert waited > 0.2
    [budget] = gauges(text, "opsgym_run_budget_usd").values()
    [cost] = gauges(text, "opsgym_run_cost_usd").values()
    assert (budget, cost) == (5.0, sum(attempt.cost_usd or 0 for attempt in attempts))
    assert "opsgym_run_finished_timestamp_seconds{" in text


def _same_as_results(world: World, text: str, printed: Mapping[str, Any]) -> None:
    done = world.inline("results", "demo", "--format", "json")
    for cell in json.loads(done.stdout)["rows"]:
        labels = {name: cell[name] for name in ("model", "agent", "mode", "domain")}
        _same_as_row(text, labels, cell)
    assert printed["cost_usd"] == total(from_text(text), "opsgym_cost_usd_total")
    assert printed["infra_errors"] == total(from_text(text), "opsgym_trials_total", outcome="infra_error")
    [success] = gauges(text, "opsgym_run_success_ratio").values()
    assert success == pytest.approx(page_of(world.store, world.run).total.success.rate, rel=1e-12)


def _same_as_row(text: str, labels: Mapping[str, str], cell: Mapping[str, Any]) -> None:
    values = from_text(text)
    trials = {
        outcome: total(values, "opsgym_trials_total", **labels, outcome=outcome) for outcome in ("passed", "failed")
    }
    assert trials == {"passed": cell["passed"], "failed": cell["failed"]}
    unscored = {
        f"{ends['outcome']}/{ends['reason']}": value
        for (name, given), value in values.items()
        if name == "opsgym_trials_total" and (ends := dict(given)).items() >= labels.items()
        if ends["outcome"] not in trials
    }
    assert unscored == cell["not_scored_reasons"]
    for category, share in cell["categories"].items():
        assert total(values, "opsgym_verifiers_total", **labels, category=category) == share["executed"]
        assert total(values, "opsgym_verifiers_total", **labels, category=category, passed="true") == share["passed"]
    for kind in ("prompt", "completion", "cached", "cache_write", "reasoning"):
        assert total(values, "opsgym_tokens_total", **labels, kind=kind) == cell[f"{kind}_tokens"]
    assert total(values, "opsgym_cost_usd_total", **labels) == cell["cost_usd"]
    unreadable = cell["finish_reasons"]["malformed"]
    assert total(values, "opsgym_steps_total", **labels) == cell["model_calls"] - unreadable
    shown = gauges(text, "opsgym_run_trials")
    for outcome in ("passed", "failed"):
        series = frozenset({**labels, "namespace": "local", "run": "demo", "outcome": outcome}.items())
        assert shown[series] == cell[outcome]


def _same_as_page(world: World, text: str) -> None:
    values = from_text(text)
    page = page_of(world.store, world.run)
    trials = page.trials
    for position, cell_page in enumerate(page.cells):
        labels = cell_page.cell.model_dump()
        rows = [number for number, cell in enumerate(trials.cell) if cell == position]
        ends = [page.outcomes[trials.outcome[number]] for number in rows]
        for outcome in page.outcomes:
            assert total(values, "opsgym_trials_total", **labels, outcome=outcome) == ends.count(outcome)
        assert total(values, "opsgym_steps_total", **labels) == sum(trials.steps[number] for number in rows)
        assert total(values, "opsgym_tool_calls_total", **labels) == sum(trials.tool_calls[number] for number in rows)
        assert total(values, "opsgym_cost_usd_total", **labels) == cell_page.score.cost_usd
        verifiers = {category: (share.passed, share.total) for category, share in cell_page.score.categories.items()}
        assert verifiers == {
            category: (
                total(values, "opsgym_verifiers_total", **labels, category=category, passed="true"),
                total(values, "opsgym_verifiers_total", **labels, category=category),
            )
            for category in verifiers
        }
    assert {Cell.model_validate(cell_page.cell) for cell_page in page.cells} == {trial.cell for trial in world.trials()}
