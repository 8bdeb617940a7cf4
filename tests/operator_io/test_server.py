"""What the operator answers over HTTP, asked over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import aiohttp
from tests.operator_io.material import CELL, summary

from opsgym_api.records.attempt import Cell, Usage
from opsgym_api.records.outcomes import Outcome
from opsgym_core.metrics.registry import Metrics, RunFigures
from opsgym_operator.observability.health import Health, hung_reconciles
from opsgym_operator.observability.server import serving


def ask(metrics: Metrics, health: Health, ready: Callable[[], bool], path: str) -> tuple[int, str]:
    async def run() -> tuple[int, str]:
        async with (
            serving(metrics, health, ready, 0) as port,
            aiohttp.ClientSession() as session,
            session.get(f"http://127.0.0.1:{port}{path}") as answer,
        ):
            return answer.status, await answer.text()

    return asyncio.run(run())


def test_the_operator_is_healthy_until_a_reconcile_hangs() -> None:
    health = Health()
    health.add(hung_reconciles(lambda: [("team", 0.0)], clock=lambda: 599.0))
    assert ask(Metrics(), health, lambda: True, "/healthz") == (200, "ok\n")
    health.add(hung_reconciles(lambda: [("team", 0.0)], clock=lambda: 601.0))
    assert ask(Metrics(), health, lambda: True, "/healthz") == (503, "the reconcile of team does not end\n")


def test_metrics_wait_until_gauges_are_rebuilt() -> None:
    assert ask(Metrics(), Health(), lambda: False, "/metrics")[0] == 503
    assert ask(Metrics(), Health(), lambda: False, "/readyz")[0] == 503
    assert ask(Metrics(), Health(), lambda: True, "/readyz")[0] == 200


def test_counters_are_labelled_by_cell() -> None:
    metrics = Metrics()
    metrics.count_attempt(summary(cost_usd=0.5, usage=Usage(prompt_tokens=7)))
    metrics.count_trial(CELL, Outcome.PASSED, "")
    status, text = ask(metrics, Health(), lambda: True, "/metrics")
    cell = 'agent="react",domain="itsm",mode="oracle",model="gold"'
    assert status == 200
    assert f"opsgym_cost_usd_total{{{cell}}} 0.5" in text
    assert 'opsgym_tokens_total{agent="react",domain="itsm",kind="prompt",mode="oracle",model="gold"} 7.0' in text
    assert 'phase="total"' in text


def test_no_metric_names_a_task_or_a_pod() -> None:
    metrics = Metrics()
    metrics.count_attempt(summary())
    metrics.count_trial(CELL, Outcome.PASSED, "")
    labels = {name for family in metrics.registry.collect() for sample in family.samples for name in sample.labels}
    assert not labels & {"task", "task_id", "pod", "attempt", "trial"}
    assert Cell.model_fields.keys() <= labels


def test_the_gauges_of_a_run_are_removed_with_it() -> None:
    metrics = Metrics()
    metrics.show_run("team", "nightly", RunFigures({CELL: {"passed": 1, "pending": 3}}, 1.0, 0.5, 2.0))
    metrics.show_run("team", "nightly", RunFigures({CELL: {"passed": 4, "pending": 0}}, 1.0, 1.0, 2.0))
    labels = {"namespace": "team", "run": "nightly", **CELL.model_dump(), "outcome": "pending"}
    assert metrics.registry.get_sample_value("opsgym_run_trials", labels) == 0
    metrics.forget_run("team", "nightly")
    assert 'run="nightly"' not in metrics.text().decode()


def test_the_gauges_of_a_model_are_removed_with_it() -> None:
    metrics = Metrics()
    metrics.show_models("team", {"gpt": 3}, {"gpt": 8, "idle": 2})
    assert metrics.registry.get_sample_value("opsgym_model_in_flight", {"namespace": "team", "model": "idle"}) == 0
    metrics.show_models("team", {}, {"idle": 2})
    assert 'model="gpt"' not in metrics.text().decode()
