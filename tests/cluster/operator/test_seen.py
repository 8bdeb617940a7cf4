"""What people and Prometheus see of a run: kubectl, `opsgym results`, metrics, and all of them say the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from devcluster.cluster import Cluster
from devcluster.kube import Manifest
from devcluster.places import ADMIN, NODE_IP
from tests.cluster.operator.held_model import HeldModel
from tests.cluster.operator.world import Operator, condition_of, evalrun, opsgym
from tests.cluster.prometheus import scraping
from tests.metrics.exact import from_prometheus, from_records
from tests.support.page import page_of
from tests.support.prometheus import Prometheus

from opsgym_api.records.outcomes import Outcome
from opsgym_console.report.model import PageData
from opsgym_core.results.load import list_runs, load_run
from opsgym_core.results.score import RunResults

pytestmark = pytest.mark.timeout(600)

TASKS = 2
COST = 0.1 * TASKS
"""Of the held model's episodes; replayed ones cost nothing."""


def both(namespace: str, model: HeldModel) -> Manifest:
    """A run in which one model solves everything, and the other nothing, for ten cents a task."""
    models: list[Any] = [
        {"name": "gold", "inline": {"model": "replay/gold", "maxConcurrency": 2}},
        {"name": "held", "inline": model.inline()},
    ]
    gate = {"minSuccessRate": 0.9, "maxCostUsd": 1}
    suite = {"builtin": "quickstart", "limit": TASKS}
    return evalrun(namespace, "r", suite=suite, models=models, gate=gate, trialsPerPod=TASKS)


def columns(cluster: Cluster, namespace: str) -> Mapping[str, str]:
    """What `kubectl get er` shows of the only run, by column."""
    titles, row = cluster.kubectl("get", "er", "-n", namespace).stdout.splitlines()
    return dict(zip(titles.split(), row.split(), strict=True))


@contextmanager
def console(operator: Operator) -> Iterator[Callable[[str], Any]]:
    """A console of the operator's namespace and stores; asks it for the JSON at a path."""
    (operator.folder / "console.yaml").write_text(yaml.safe_dump(operator.console_config()))
    environment = {**os.environ, "KUBECONFIG": str(ADMIN), "OPSGYM_STORES": str(operator.folder / "stores")}
    command = [str(Path(sys.executable).with_name("opsgym")), "serve", "--config", "console.yaml", "--port", "0"]
    with subprocess.Popen(command, cwd=operator.folder, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().partition(" at ")[2].partition(" ")[0]

        def ask(path: str) -> Any:
            return httpx.get(f"{url}{path}", timeout=30, trust_env=False).raise_for_status().json()

        try:
            yield ask
        finally:
            process.terminate()


def test_kubectl_opsgym_console_prometheus_and_store_show_a_run_alike(
    operator: Operator, model: HeldModel, cluster: Cluster, tmp_path: Path
) -> None:
    manifest = json.dumps(both(operator.namespace, model))
    with scraping(f"{NODE_IP}:{operator.port}") as prometheus, console(operator) as ask:
        assert ask("api/runs")["runs"] == []
        assert cluster.kubectl("apply", "-f", "-", stdin=manifest).returncode == 0
        operator.wait(lambda: len(ask("api/runs")["runs"]) == 1, "shows no run")
        where = ("-n", operator.namespace)
        waited = cluster.kubectl("wait", *where, "--for=condition=Succeeded", "er/r", "--timeout=240s")
        assert waited.returncode == 0, waited.stderr
        operator.wait(lambda: prometheus.value("sum(opsgym_trials_total)") == 2 * TASKS, "has not counted all trials")
        operator.wait(lambda: ask("api/runs")["runs"][0]["phase"] == "Complete", "does not show the end")
        held = operator.results("r")
        page = page_of(operator.store(), held.run.run)
        _kubectl_shows(cluster, operator)
        _console_shows(ask, held)
        _prometheus_shows(prometheus, operator, held)
        _opsgym_prints(operator, tmp_path, prometheus, page)
        assert page.total.cost_usd == pytest.approx(COST)
        assert len(page.trials.cell) == 2 * TASKS
        # Two tasks prove neither that 90 % succeed nor that fewer do.
        gate = condition_of(operator.run("r"), "GatePassed")
        assert page.run.gate is not None
        assert (gate["status"], page.run.gate.verdict) == ("Unknown", "INCONCLUSIVE")
        cluster.kubectl("delete", "er", "r", *where)
        operator.wait(lambda: not prometheus.query(f"{{{_selector(operator)}}}"), "still shows a run that is gone")
        assert prometheus.value("sum(opsgym_trials_total)") == 2 * TASKS

    # The same document once more, later: another run, and the old results stay.
    (before,) = list_runs(operator.store()).runs
    assert cluster.kubectl("apply", "-f", "-", stdin=manifest).returncode == 0
    operator.await_end("r", 240)
    old, new = list_runs(operator.store()).runs
    assert old == before
    assert new.run != old.run
    for run in (old, new):
        assert len(load_run(operator.store(), run.run).trials) == 2 * TASKS


def _selector(operator: Operator) -> str:
    """Selects the series of the run."""
    return f'namespace="{operator.namespace}",run="r"'


def _kubectl_shows(cluster: Cluster, operator: Operator) -> None:
    shown = dict(columns(cluster, operator.namespace))
    assert shown.pop("AGE")
    assert shown == {
        "NAME": "r",
        "MODELS": "gold,held",
        "PROGRESS": f"{2 * TASKS}/{2 * TASKS}",
        "SUCCESS": "50.0%",
        "NOTSCORED": "0",
        "COST": f"${COST:.4f}",
        "GATE": "INCONCLUSIVE",
        "PHASE": "Complete",
        "REASON": "Complete",
    }
    story = cluster.kubectl("describe", "er", "r", "-n", operator.namespace).stdout.partition("\nEvents:")[2]
    steps = ["Accepted", "PreflightRunning", "JobsCreated", "Complete"]
    reasons = [line.split()[1] for line in story.splitlines() if len(line.split()) > 1 and line.split()[1] in steps]
    # Times of events are whole seconds, and kubectl puts those of one second in any order.
    assert (sorted(reasons, key=steps.index), reasons[-1]) == (steps, "Complete"), story


def _console_shows(ask: Callable[[str], Any], held: RunResults) -> None:
    page = ask(f"api/runs/{held.run.run}/page")
    assert (page["total"]["passed"], page["total"]["failed"]) == (TASKS, TASKS)
    trial = held.trials[0]
    detail = ask(f"api/runs/{held.run.run}/trials/{trial.cell.key}/{trial.task_id}/{trial.trial}")
    assert detail["scored"]["outcome"] == trial.outcome
    assert detail["transcript"]


def _prometheus_shows(prometheus: Prometheus, operator: Operator, held: RunResults) -> None:
    selector = _selector(operator)
    assert from_prometheus(prometheus) == from_records(held.trials, held.attempts)
    for outcome in (Outcome.PASSED, Outcome.FAILED):
        counted = sum(trial.outcome is outcome for trial in held.trials)
        assert counted == operator.run("r")["status"]["counters"][outcome.value] == TASKS
        assert prometheus.value(f'sum(opsgym_run_trials{{{selector},outcome="{outcome}"}})') == counted
    assert prometheus.value(f"opsgym_run_progress_ratio{{{selector}}}") == 1
    assert prometheus.value(f"opsgym_run_success_ratio{{{selector}}}") == 0.5
    assert prometheus.value(f"opsgym_run_cost_usd{{{selector}}}") == pytest.approx(COST)
    assert prometheus.value(f'opsgym_run_gate{{{selector},verdict="INCONCLUSIVE"}}') == 1


def _opsgym_prints(operator: Operator, folder: Path, prometheus: Prometheus, page: PageData) -> None:
    """The same figures as page and Prometheus, cell by cell."""
    printed = json.loads(opsgym(operator, folder, "results", "r", "--format", "json"))["rows"]
    assert len(printed) == len(page.cells) == 2
    for scored in page.cells:
        cell = {name: getattr(scored.cell, name) for name in ("model", "agent", "mode", "domain")}
        [row] = [row for row in printed if cell.items() <= row.items()]
        score = scored.score
        assert (score.passed, score.failed, score.cost_usd) == (row["passed"], row["failed"], row["cost_usd"])
        labels = ",".join(f'{name}="{value}"' for name, value in cell.items())
        for ending in ("passed", "failed"):
            shown = prometheus.value(f'opsgym_run_trials{{{_selector(operator)},{labels},outcome="{ending}"}}')
            assert (shown or 0) == row[ending]
