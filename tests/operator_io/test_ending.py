"""The end of a run as the operator's passes bring it about: gate in the store, status, webhook, a restart."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.operator_io.api_server import ApiServer, api_server
from tests.operator_io.material import CELL, at, score
from tests.operator_io.webhook import webhook_server

from opsgym_api.layout import RunKeys
from opsgym_api.outcomes import Outcome
from opsgym_api.records import GateRecord, PlannedCell, RunRecord
from opsgym_api.store import Store
from opsgym_operator.client import EVALRUNS, Client
from opsgym_operator.config import OperatorConfig, StoreConfig
from opsgym_operator.metrics import Metrics
from opsgym_operator.reconcile import Cluster, Namespace
from opsgym_operator.sending import Sender
from opsgym_operator.settings import kopf_settings
from opsgym_operator.stores import Stores
from opsgym_operator.watch import Watched

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
        store.put(key, trial.model_copy(update={"run": run}).model_dump_json().encode())
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
    """An API server with one EvalRun, and the operators that look after it, one after the other."""

    def __init__(self, server: ApiServer, stores: Stores, config: OperatorConfig, hooks: Path) -> None:
        self.stores, self.config, self.hooks = stores, config, hooks
        self.there: dict[str, Any] = {}
        self.metrics = Metrics()
        server.answer("PATCH", STATUS, 200, self._patched)
        server.answer("POST", "/api/v1/namespaces/team/events", 201, {})

    def _patched(self, change: Mapping[str, Any]) -> dict[str, Any]:
        self.there = merged(self.there, change)
        return self.there

    def apply(self, wanted: Mapping[str, Any]) -> None:
        owner = {"kind": "EvalSchedule", "name": "nightly", "uid": "s", "controller": True}
        metadata = {
            "name": "nightly-2", "namespace": "team", "uid": "uid", "resourceVersion": "1", "generation": 1,
            "creationTimestamp": "2026-11-22T02:00:00Z", "ownerReferences": [owner],
        }  # fmt: skip
        self.there = {
            "apiVersion": EVALRUNS.api_version, "kind": EVALRUNS.name, "metadata": metadata, "spec": dict(wanted)
        }  # fmt: skip

    def operate(self, until: Callable[[], bool]) -> None:
        """A new operator's passes until something is so."""
        self.metrics = Metrics()
        asyncio.run(self._operate(until))

    async def _operate(self, until: Callable[[], bool]) -> None:
        watched = Watched(lambda _: None)
        watched.wrote(EVALRUNS, self.there)
        sender = Sender(self.config.notifications.by_name, self.hooks)
        async with Client(kopf_settings()) as client, asyncio.timeout(60):
            cluster = Cluster(
                client, watched, self.stores, self.config, self.metrics, since=NOW, now=lambda: NOW, sender=sender
            )
            namespace = Namespace("team", cluster)
            try:
                while not until():
                    again = await namespace._pass()
                    if again > 0 and not until():
                        await namespace._event.wait()
                    namespace._event.clear()
            finally:
                await sender.close()

    def condition(self, kind: str) -> str:
        conditions = self.there.get("status", {}).get("conditions", [])
        return next((f"{found['status']} {found['reason']}" for found in conditions if found["type"] == kind), "")

    @property
    def notices(self) -> list[tuple[str, str]]:
        return [(found["event"], found["state"]) for found in self.there.get("status", {}).get("notices", [])]


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


def test_a_night_that_is_worse_than_the_last_good_one_is_a_no_go_everywhere_and_told_once(
    installed: Installation,
) -> None:
    store = installed.stores.get("results")
    good = put_run(store, "nightly-1", passed=20, spec=spec(maxCostUsd=9), schedule="nightly")
    decided = GateRecord(run=good, verdict="GO", checks=[], decided_at="2026-11-21T03:00:00Z")
    store.put(RunKeys(good).gate_json, decided.model_dump_json().encode())
    wanted = spec(lastGood=True, maxRegression=0.1)
    run = put_run(store, "nightly-2", passed=5, spec=wanted, schedule="nightly")
    installed.apply(wanted)

    with webhook_server((503, {})) as server:
        hook(installed.hooks, server.url)
        installed.operate(lambda: sorted(state for _, state in installed.notices) == ["pending", "sent"])
        for notice in installed.there["status"]["notices"]:
            notice.pop("retryAt", None)
        installed.operate(lambda: set(installed.notices) == {("finished", "sent"), ("gate_failed", "sent")})

    record = GateRecord.model_validate_json(store.get(RunKeys(run).gate_json) or b"")
    assert (record.verdict, record.baseline, record.regression) == ("NO-GO", good, 0.75)
    assert installed.condition("GatePassed") == "False GateBroken"
    assert installed.condition("Succeeded") == "True Complete"
    assert installed.there["status"]["gate"] == "NO-GO"
    bodies = {json.loads(request.body)["event"]: json.loads(request.body) for request in server.received}
    assert sorted(bodies) == ["finished", "gate_failed"]
    assert (bodies["gate_failed"]["schedule"], bodies["gate_failed"]["gate"]) == ("nightly", "NO-GO")
    ids = [request.headers["X-Opsgym-Notice-Id"] for request in server.received]
    assert (len(ids), len(set(ids))) == (3, 2), "what met 503 came again, under its id"


def test_after_a_restart_metrics_tell_the_gate_of_a_run_that_had_ended(installed: Installation) -> None:
    store = installed.stores.get("results")
    wanted = spec(minSuccessRate=0.5)
    put_run(store, "nightly-2", passed=20, spec=wanted)
    installed.apply(wanted)
    with webhook_server() as server:
        hook(installed.hooks, server.url)
        installed.operate(lambda: installed.notices == [("finished", "sent")])
        shown = 'opsgym_run_gate{namespace="team",run="nightly-2",verdict="GO"} 1.0'
        assert shown in installed.metrics.text().decode()
        installed.operate(lambda: shown in installed.metrics.text().decode())
    assert len(server.received) == 1


def test_a_baseline_is_read_from_the_store_and_its_rows_decide(installed: Installation) -> None:
    store = installed.stores.get("results")
    put_run(store, "release", passed=20, spec=spec(maxCostUsd=9))
    wanted = spec(baseline="release", maxRegression=0.2)
    put_run(store, "nightly-2", passed=20, spec=wanted)
    installed.apply(wanted)
    with webhook_server() as server:
        hook(installed.hooks, server.url)
        installed.operate(lambda: installed.condition("GatePassed") == "True GateHolds")
