"""How the reconciles of an operator end a run: verdict in the store, status, webhook, a restart."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.operator_io.api_server import ApiServer, api_server
from tests.operator_io.material import CELL, at, score
from tests.operator_io.webhook import webhook_server

from opsgym_api.records.gate import GateRecord, LookRecord
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.run import PlannedCell, RunRecord
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.kube.client import EVALRUNS, Client
from opsgym_core.kube.login import login
from opsgym_core.metrics.registry import Metrics
from opsgym_core.store.base import Store
from opsgym_core.store.mounted import StoreConfig, Stores
from opsgym_operator.config import OperatorConfig
from opsgym_operator.controller.context import ControllerContext
from opsgym_operator.controller.reconciler import NamespaceReconciler
from opsgym_operator.kube.cache import ObjectCache
from opsgym_operator.observability.webhooks import WebhookDispatcher

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
TASKS = [f"task-{n}" for n in range(20)]
STATUS = "/apis/opsgym.dev/v1alpha1/namespaces/team/evalruns/nightly-2/status"


def spec(**gate: Any) -> dict[str, Any]:
    return {
        "suite": {"builtin": "quickstart"},
        "models": [{"name": "gold", "inline": {"model": "replay/gold"}}],
        "gate": gate,
        "notify": ["desk"],
    }


def put_run(store: Store, name: str, passed: int, **fields: Any) -> str:
    """A run of twenty tasks, all of them scored, the first ones passed."""
    run = f"team.{name}.uid"
    record = RunRecord(
        run=run,
        name=name,
        task_ids=TASKS,
        cells=[PlannedCell(cell=CELL, task_ids=TASKS)],
        suite_digest="0",
        opsgym="1",
        created_at=at(0).isoformat(),
        **fields,
    )
    store.put(RunKeys(run).run_json, record.model_dump_json().encode())
    for number in range(20):
        trial = score(number, outcome=Outcome.PASSED if number < passed else Outcome.FAILED)
        key = RunKeys(run).trial(CELL, trial.task_id, 0).record
        store.put(key, replace(trial, run=run).to_json())
    return run


def merged(old: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """What the API server makes of a merge patch."""
    new = {name: value for name, value in old.items() if change.get(name, value) is not None}
    for name, value in change.items():
        if isinstance(value, dict):
            before = new.get(name)
            new[name] = merged(before if isinstance(before, dict) else {}, value)
        elif value is not None:
            new[name] = value
    return new


class Installation:
    """An API server with one EvalRun, and operators that reconcile it, one after the other."""

    def __init__(self, server: ApiServer, stores: Stores, config: OperatorConfig, hooks: Path) -> None:
        self.stores, self.config, self.hooks = stores, config, hooks
        self.run: dict[str, Any] = {}
        self.metrics = Metrics()
        server.answer("PATCH", STATUS, 200, self._patched)
        server.answer("POST", "/api/v1/namespaces/team/events", 201, {})

    def _patched(self, change: Mapping[str, Any]) -> dict[str, Any]:
        self.run = merged(self.run, change)
        self.run["metadata"] |= {"resourceVersion": str(int(self.run["metadata"]["resourceVersion"]) + 1)}
        return self.run

    def apply(self, run_spec: Mapping[str, Any]) -> None:
        owner = {"kind": "EvalSchedule", "name": "nightly", "uid": "s", "controller": True}
        metadata = {
            "name": "nightly-2", "namespace": "team", "uid": "uid", "resourceVersion": "1", "generation": 1,
            "creationTimestamp": "2026-11-22T02:00:00Z", "ownerReferences": [owner],
        }  # fmt: skip
        self.run = {
            "apiVersion": EVALRUNS.api_version, "kind": EVALRUNS.name, "metadata": metadata, "spec": dict(run_spec)
        }  # fmt: skip

    def operate(self, until: Callable[[], bool]) -> None:
        """Starts a new operator and reconciles until a condition holds."""
        self.metrics = Metrics()
        asyncio.run(self._operate(until))

    async def _operate(self, until: Callable[[], bool]) -> None:
        cache = ObjectCache(lambda _: None)
        cache.record_write(EVALRUNS, self.run)
        dispatcher = WebhookDispatcher(self.config.notifications.by_name, self.hooks)
        async with Client(login) as client, asyncio.timeout(60):
            context = ControllerContext(
                client, cache, self.stores, self.config, self.metrics, since=NOW, now=lambda: NOW, dispatcher=dispatcher
            )
            reconciler = NamespaceReconciler("team", context)
            try:
                while not until():
                    delay = await reconciler.reconcile_once()
                    if delay > 0 and not until():
                        await reconciler._event.wait()
                    reconciler._event.clear()
            finally:
                await dispatcher.close()

    def condition(self, kind: str) -> str:
        conditions = self.run.get("status", {}).get("conditions", [])
        return next((f"{item['status']} {item['reason']}" for item in conditions if item["type"] == kind), "")

    @property
    def notifications(self) -> list[tuple[str, str]]:
        return [(item["event"], item["state"]) for item in self.run.get("status", {}).get("notifications", [])]


@pytest.fixture
def installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stores: Stores, store_config: StoreConfig
) -> Iterator[Installation]:
    config = OperatorConfig.model_validate(
        {
            "stores": [store_config.model_dump(by_alias=True)],
            "defaultStore": "results",
            "images": {"runner": "runner:1", "domains": "domains:1"},
            "notifications": {
                "webhooks": [
                    {"name": "desk", "secret": "desk-hook", "events": ["finished", "gate_failed"], "format": "json"}
                ]
            },
        }
    )
    with api_server() as server:
        monkeypatch.setenv("KUBECONFIG", str(server.kubeconfig(tmp_path)))
        yield Installation(server, stores, config, tmp_path)


def hook(folder: Path, url: str) -> None:
    (folder / "desk").mkdir()
    (folder / "desk" / "url").write_text(url)


def test_a_regression_against_the_last_good_run_is_a_no_go_and_notified_once(
    installed: Installation,
) -> None:
    store = installed.stores.get("results")
    good = put_run(store, "nightly-1", passed=20, spec=spec(maxCostUsd=9), schedule="nightly")
    decided = GateRecord(run=good, verdict="GO", checks=[], decided_at="2026-11-21T03:00:00Z")
    store.put(RunKeys(good).gate_json, decided.model_dump_json().encode())
    run_spec = spec(lastGood=True, maxRegression=0.1)
    run = put_run(store, "nightly-2", passed=5, spec=run_spec, schedule="nightly")
    installed.apply(run_spec)

    with webhook_server((503, {})) as server:
        hook(installed.hooks, server.url)
        installed.operate(lambda: sorted(state for _, state in installed.notifications) == ["pending", "sent"])
        for notification in installed.run["status"]["notifications"]:
            notification.pop("retryAt", None)
        installed.operate(lambda: set(installed.notifications) == {("finished", "sent"), ("gate_failed", "sent")})

    record = GateRecord.model_validate_json(store.get(RunKeys(run).gate_json) or b"")
    assert (record.verdict, record.baseline, record.regression) == ("NO-GO", good, 0.75)
    assert installed.condition("GatePassed") == "False GateFailed"
    assert installed.condition("Succeeded") == "True Complete"
    assert installed.run["status"]["gate"] == "NO-GO"
    bodies = {json.loads(request.body)["event"]: json.loads(request.body) for request in server.received}
    assert sorted(bodies) == ["finished", "gate_failed"]
    assert (bodies["gate_failed"]["schedule"], bodies["gate_failed"]["gate"]) == ("nightly", "NO-GO")
    ids = [request.headers["X-Opsgym-Notification-Id"] for request in server.received]
    assert (len(ids), len(set(ids))) == (3, 2), "what met 503 came again, under its id"


def test_metrics_show_the_gate_of_an_ended_run_after_a_restart(installed: Installation) -> None:
    store = installed.stores.get("results")
    run_spec = spec(minSuccessRate=0.5)
    put_run(store, "nightly-2", passed=20, spec=run_spec)
    installed.apply(run_spec)
    with webhook_server() as server:
        hook(installed.hooks, server.url)
        installed.operate(lambda: installed.notifications == [("finished", "sent")])
        shown = 'opsgym_run_gate{namespace="team",run="nightly-2",verdict="GO"} 1.0'
        assert shown in installed.metrics.text().decode()
        installed.operate(lambda: shown in installed.metrics.text().decode())
    assert len(server.received) == 1


def test_a_run_that_its_first_look_decides_ends_early_also_after_a_restart(installed: Installation) -> None:
    store = installed.stores.get("results")
    run_spec = {**spec(minSuccessRate=0.5, minTrials=1), "trials": 4}
    run = put_run(store, "nightly-2", passed=20, spec=run_spec, trials=4, rounds=(1, 2, 4))
    installed.apply(run_spec)
    with webhook_server() as server:
        hook(installed.hooks, server.url)
        installed.operate(lambda: store.get(RunKeys(run).look(1)) is not None)
        installed.operate(lambda: installed.notifications == [("finished", "sent")])
    look = LookRecord.model_validate_json(store.get(RunKeys(run).look(1)) or b"")
    assert (look.stops, look.not_played, look.judged.verdict) == (True, 60, "GO")
    record = GateRecord.model_validate_json(store.get(RunKeys(run).gate_json) or b"")
    assert record.checks == look.judged.checks
    status = installed.run["status"]
    assert (status["progress"], status["gate"], status["counters"]["pending"]) == ("20/20", "GO", 0)


def test_a_gate_compares_with_the_rows_of_its_baseline(installed: Installation) -> None:
    store = installed.stores.get("results")
    put_run(store, "release", passed=20, spec=spec(maxCostUsd=9))
    run_spec = spec(baseline="release", maxRegression=0.2)
    put_run(store, "nightly-2", passed=20, spec=run_spec)
    installed.apply(run_spec)
    with webhook_server() as server:
        hook(installed.hooks, server.url)
        installed.operate(lambda: installed.condition("GatePassed") == "True GatePassed")
