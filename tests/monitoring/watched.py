"""A real run on this machine and an operator's metrics, with a real Prometheus that looks at both.

Invariant: what Prometheus holds comes from `/metrics` of the real command and of the operator's real server; the
operator's metrics are made by its own methods, from the records of the real run.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml
from tests.cli.world import DEADLINE_S, HeldModel, World, row, until
from tests.helm.charts import OPSGYM
from tests.monitoring.boards import View
from tests.support.prometheus import Prometheus, free_port, prometheus

from opsgym.exits import Exit
from opsgym_api.records.attempt import AttemptRecord, Cell, TrialRecord
from opsgym_core.accounting.ledger import AttemptLedger
from opsgym_core.metrics.registry import Metrics, RunCondition, ScheduleTimes, run_figures
from opsgym_operator.gateway.metrics import GatewayMetrics, metrics_app
from opsgym_operator.observability.health import Health
from opsgym_operator.observability.server import serving
from opsgym_operator.sockets import serving_app

RULES = sorted((OPSGYM / "monitoring" / "rules").glob("*.yaml"))
PRICES = {"inputUsd": 10, "outputUsd": 40}
OPERATOR = "opsgym-operator"
GATEWAY = "opsgym-store-gateway"
LOCAL = "opsgym-local"
BUDGET = 5.0
STEP_S = 2.0
ENDED = 13
"""Trials that end, of three models, three tasks, twice: the model that is not there stops after its first one."""
HELD = 6
"""Those of the model that waits."""


@dataclass(frozen=True)
class Watched:
    """What was run, and who looked."""

    prometheus: Prometheus
    trials: list[TrialRecord]
    attempts: list[AttemptRecord]
    local: View
    """The run on this machine, a moment before its last trial."""
    operator: View
    """Everything, until the operator's run had ended."""


@contextmanager
def cluster_metrics(metrics: Metrics, gateway: GatewayMetrics) -> Iterator[dict[str, str]]:
    """Serves metrics as the operator and the store gateway do; yields their addresses."""
    ready: list[tuple[int, int]] = []
    ended = asyncio.Event()
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        app = metrics_app(gateway)
        async with serving(metrics, Health(), lambda: True, 0) as port, serving_app(app, 0) as other:
            ready.append((port, other))
            await ended.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), daemon=True)
    thread.start()
    try:
        until(lambda: bool(ready), "the operator's and the gateway's servers listen")
        yield {job: f"127.0.0.1:{port}" for job, port in zip((OPERATOR, GATEWAY), ready[0], strict=True)}
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(10)
        loop.close()


def write_run(world: World, model: HeldModel) -> None:
    """Writes a run whose models pass, fail, are refused too often, and are not there."""
    wrong = {"query": "SELECT status FROM incident WHERE incident_id = 'INC_001'", "expected_value": "resolved"}
    verifier = {
        "verifier_type": "database_state",
        "name": "resolved",
        "validation_config": {**wrong, "comparison_type": "equals"},
    }
    world.write_suite([row("one"), row("two"), row("three", verifiers=[verifier], gold_actions=[])])
    served = {"model": "openai/stub", "endpoints": [{"url": model.url}], "prices": PRICES, "maxConcurrency": 1}
    rates = {"rate_limit": 0.3}
    models: dict[str, dict[str, Any]] = {
        "held": served,
        "shaky": {"model": "replay/flaky", "parameters": {"rates": rates, "seed": 2, "timeout": 60}},
        "gone": {**served, "endpoints": [{"url": f"{model.url}/nowhere"}]},
    }
    world.write_run(models, trials=2, budget={"maxUsd": BUDGET}, limits={"infraRetries": 0})


class Operator:
    """An operator that harvests the attempts of a run, as far as its metrics show."""

    def __init__(self) -> None:
        self.metrics = Metrics()
        self.gateway = GatewayMetrics()
        self._ledger = AttemptLedger(infra_retries=0)
        self._attempts: list[AttemptRecord] = []
        self._trials: dict[tuple[str, str, int], TrialRecord] = {}
        self._cells: Counter[Cell] = Counter()
        self.harvested = 0

    def begins(self, attempts: list[AttemptRecord], trials: list[TrialRecord]) -> None:
        """Plans them."""
        self._attempts = attempts
        self._trials = {(trial.cell.key, trial.task_id, trial.trial): trial for trial in trials}
        self._cells = Counter(attempt.cell for attempt in attempts)
        self._show()

    def _show(self) -> None:
        show, cells = self.metrics, self._cells
        show.show_run("evals", "nightly", run_figures(self._ledger, cells, BUDGET))
        show.show_condition("evals", "nightly", RunCondition(pods_pending=1))
        show.show_run("evals", "waiting", run_figures(AttemptLedger(0), cells, None))
        show.show_condition("evals", "waiting", RunCondition(stalled="SecretMissing", pods_pending=0))
        show.show_models("evals", {cell.model: 1 for cell in cells}, {cell.model: 4 for cell in cells})

    def goes_on(self, part: int, parts: int) -> None:
        """Harvests one of so many parts of the attempts in a pass, after one that failed."""
        self.metrics.count_error("api")
        with self.metrics.time_reconcile():
            for attempt in self._attempts[part::parts]:
                self._ledger.record(attempt)
                self.harvested += 1
                self.gateway.count("put", 204, 0.02)
                assert attempt.outcome is not None
                self.metrics.count_attempt(attempt)
                self.metrics.count_trial(attempt.cell, attempt.outcome, attempt.reason)
                trial = self._trials.get((attempt.cell.key, attempt.task_id, attempt.trial))
                self.metrics.count_verifiers(attempt.cell, trial.verifiers if trial else ())
            self._show()
        self.metrics.observe_reconcile_cpu(0.02)
        self.metrics.count_notification("finished", "sent")
        self.metrics.count_pruned("results", 1_000)

    def ends(self) -> None:
        """The run has ended and was judged."""
        now, day = datetime.now(UTC), timedelta(days=1)
        self.metrics.show_condition("evals", "nightly", RunCondition(pods_pending=0, finished_at=now))
        self.metrics.show_gate("evals", "nightly", "NO-GO", 0.1)
        times = ScheduleTimes(last_run=now, last_success=now - day, next_run=now + day)
        self.metrics.show_schedules("evals", {"nightly": times})


@contextmanager
def watched(folder: Path) -> Iterator[Watched]:
    """Runs everything; ends it with the context."""
    world, operator = World(folder / "run"), Operator()
    with ExitStack() as stack:
        model = stack.enter_context(HeldModel.serving())
        write_run(world, model)
        model.hold()
        port = free_port()
        process = stack.enter_context(world.started("run", "run.yaml", "--format", "json", "--metrics-port", str(port)))
        addresses = stack.enter_context(cluster_metrics(operator.metrics, operator.gateway))
        targets = {LOCAL: f"127.0.0.1:{port}", **addresses}
        server = stack.enter_context(prometheus(folder / "prometheus", targets, _rules(folder)))
        start = time.time()
        local = _looked_at(server, model, start)
        model.release()
        _, err = process.communicate(timeout=DEADLINE_S)
        assert process.returncode == Exit.NOT_SCORED, err
        attempts, trials = world.attempts(), world.trials()
        _harvested(server, operator, attempts, trials)
        yield Watched(server, trials, attempts, local, _view(start, "evals", "nightly"))


def _rules(folder: Path) -> list[Path]:
    """The chart's rule files, evaluated as often as everything else here."""
    files = []
    for path in RULES:
        groups = yaml.safe_load(path.read_text())["groups"]
        files.append(folder / path.name)
        often = [{name: part for name, part in group.items() if name != "interval"} for group in groups]
        files[-1].write_text(yaml.safe_dump({"groups": often}))
    return files


def _view(start: float, namespace: str, run: str) -> View:
    every = dict.fromkeys(("model", "mode", "domain", "job"), ".*")
    return View(start, time.time(), STEP_S, {**every, "namespace": namespace, "run": run})


def _looked_at(server: Prometheus, model: HeldModel, start: float) -> View:
    """Lets the run on this machine go on to its last trial, and has every step of it scraped."""
    trials = 'sum(opsgym_trials_total{model="held"})'
    server.until(lambda scraped: scraped.value(trials) == 0, "the run's counters at 0")
    until(lambda: len(model.prompts) == 1, "the model is asked")
    model.hold(after=HELD - 2)  # that one is answered, too; the last one goes on waiting
    every = "sum(opsgym_trials_total)"
    server.until(lambda scraped: scraped.value(every) == ENDED - 1, "all trials of the run but the last")
    return _view(start, "local", "demo")


def _harvested(
    server: Prometheus, operator: Operator, attempts: list[AttemptRecord], trials: list[TrialRecord]
) -> None:
    """Has the operator harvest a run in three passes, each of which is scraped."""
    ended = 'sum(opsgym_trials_total{job="opsgym-operator"})'
    operator.begins(attempts, trials)
    server.until(lambda scraped: scraped.value(ended) == 0, "the operator's counters at 0")
    for part in range(3):
        operator.goes_on(part, 3)
        server.until(lambda scraped: scraped.value(ended) == operator.harvested, f"pass {part} of the operator")
    operator.ends()
    server.until(lambda scraped: scraped.value("max(opsgym_run_gate)") == 1, "the gate's verdict")
