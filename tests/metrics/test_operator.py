"""Metrics after reconcile passes of a namespace, with a real store and an API server on real HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.metrics.test_registry import of_run, value
from tests.operator_io.api_server import ApiServer, api_server
from tests.operator_io.conftest import mounted, s3_endpoint, store_config, stores
from tests.operator_io.material import CELL, at, score

from opsgym_api.records.gate import GateRecord
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.run import PlannedCell, RunRecord
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.kube.client import EVALRUNS, EVALSCHEDULES, PODS, Client, Kind
from opsgym_core.kube.login import login
from opsgym_core.metrics.registry import Metrics
from opsgym_core.store.mounted import StoreConfig, Stores
from opsgym_operator.config import OperatorConfig
from opsgym_operator.controller.context import ControllerContext
from opsgym_operator.controller.reconciler import NamespaceReconciler
from opsgym_operator.kube.cache import ObjectCache
from opsgym_operator.state.run_state import RunState

__all__ = ["mounted", "s3_endpoint", "store_config", "stores"]

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
SPEC = {
    "suite": {"builtin": "quickstart"},
    "models": [{"name": "gold", "inline": {"model": "replay/gold"}}],
    "budget": {"maxUsd": 5},
}


def manifest(kind: Kind, name: str, uid: str, **parts: Any) -> Any:
    metadata = {
        "name": name,
        "uid": uid,
        "namespace": "team",
        "resourceVersion": "1",
        "generation": 1,
        "creationTimestamp": "2026-11-21T12:00:00Z",
        **parts.pop("metadata", {}),
    }
    return {"apiVersion": kind.api_version, "kind": kind.name, "metadata": metadata, **parts}


def finished(uid: str = "0123") -> Any:
    """An EvalRun that an earlier operator saw end."""
    condition = {
        "type": "Succeeded",
        "status": "True",
        "reason": "Complete",
        "message": "",
        "lastTransitionTime": "2026-11-22T04:00:00Z",
        "observedGeneration": 1,
    }
    status = {"conditions": [condition], "finishedAt": "2026-11-22T04:00:00Z", "observedGeneration": 1}
    return manifest(EVALRUNS, "nightly", uid, spec=SPEC, status=status)


class World:
    """A namespace and the metrics of its operator."""

    def __init__(self, stores: Stores, config: OperatorConfig) -> None:
        self.metrics = Metrics()
        self.watched = ObjectCache(lambda _: None)
        self._stores = stores
        self._config = config

    def run(self, work: Callable[[NamespaceReconciler], Awaitable[None]]) -> None:
        """Runs `work` with a reconciler of the namespace."""

        async def begin() -> None:
            async with Client(login) as client:
                cluster = ControllerContext(
                    client, self.watched, self._stores, self._config, self.metrics, since=NOW, now=lambda: NOW
                )
                await work(NamespaceReconciler("team", cluster))

        asyncio.run(begin())

    def put(self, kind: Kind, item: Any) -> None:
        self.watched.record_write(kind, item)


async def one_pass(namespace: NamespaceReconciler) -> None:
    await namespace.reconcile_once()


async def passes_until_read(namespace: NamespaceReconciler) -> None:
    """A pass that starts to read the store, and one after it has been read."""
    await namespace.reconcile_once()
    async with asyncio.timeout(30):
        await namespace._event.wait()
    await namespace.reconcile_once()


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ApiServer]:
    with api_server() as served:
        monkeypatch.setenv("KUBECONFIG", str(served.kubeconfig(tmp_path)))
        served.answer("POST", "/api/v1/namespaces/team/events", 201, {})
        yield served


@pytest.fixture
def world(server: ApiServer, stores: Stores, store_config: StoreConfig) -> World:
    config = OperatorConfig.model_validate(
        {
            "stores": [store_config.model_dump(by_alias=True)],
            "defaultStore": "results",
            "images": {"runner": "runner:1", "domains": "domains:1"},
        }
    )
    return World(stores, config)


def put_run(stores: Stores, uid: str = "0123") -> None:
    """A run of two tasks, one of them passed and one not tried."""
    run = f"team.nightly.{uid}"
    record = RunRecord(
        run=run,
        name="nightly",
        spec=SPEC,
        task_ids=["task-0", "task-1"],
        cells=[PlannedCell(cell=CELL, task_ids=["task-0", "task-1"])],
        suite_digest="0",
        opsgym="1",
        created_at=at(0).isoformat(),
    )
    trial = replace(score(0, outcome=Outcome.PASSED), run=run)
    store = stores.get("results")
    store.put(RunKeys(run).run_json, record.model_dump_json().encode())
    store.put(RunKeys(run).trial(CELL, "task-0", 0).record, trial.to_json())


def test_after_a_restart_gauges_of_an_ended_run_come_from_its_store_and_counters_stay_0(
    world: World, stores: Stores
) -> None:
    put_run(stores)
    world.put(EVALRUNS, finished())

    world.run(passes_until_read)

    values = of_run(world.metrics)
    assert values["opsgym_run_finished_timestamp_seconds"] == [datetime(2026, 11, 22, 4, tzinfo=UTC).timestamp()]
    assert (values["opsgym_run_cost_usd"], values["opsgym_run_budget_usd"]) == ([0.25], [5.0])
    assert (values["opsgym_run_progress_ratio"], values["opsgym_run_success_ratio"]) == ([0.5], [1.0])
    trials = {"namespace": "team", "run": "nightly", **CELL.model_dump()}
    assert value(world.metrics, "opsgym_run_trials", **trials, outcome="passed") == 1
    assert value(world.metrics, "opsgym_run_trials", **trials, outcome="pending") == 1
    assert value(world.metrics, "opsgym_trials_total", **CELL.model_dump(), outcome="passed", reason="") == 0


async def settled(namespace: NamespaceReconciler) -> RunState:
    """The state of the run, once what it was writing is written."""
    await namespace.reconcile_once()
    [state] = namespace._states.values()
    await asyncio.gather(*state._reading.values())
    await namespace.reconcile_once()
    await asyncio.gather(*state._background)
    return state


def test_a_restarted_operator_reads_the_figures_of_an_ended_run_instead_of_the_run(
    world: World, stores: Stores
) -> None:
    put_run(stores)
    world.put(EVALRUNS, finished())

    async def work(namespace: NamespaceReconciler) -> None:
        await settled(namespace)

    world.run(work)
    store = stores.get("results")
    keys = RunKeys("team.nightly.0123")
    store.put(keys.run_json, b"not read any more")
    world.metrics = Metrics()
    world.run(work)
    assert of_run(world.metrics)["opsgym_run_progress_ratio"] == [0.5]

    resumed = finished()
    resumed["status"]["finishedAt"] = "2026-11-22T05:00:00Z"
    resumed["metadata"]["resourceVersion"] = "2"
    world.put(EVALRUNS, resumed)
    world.metrics = Metrics()
    world.run(work)
    assert "opsgym_run_progress_ratio" not in of_run(world.metrics), "figures of an earlier end do not count"


def test_a_run_that_has_ended_is_let_go_and_read_again_when_it_is_resumed(world: World, stores: Stores) -> None:
    put_run(stores)
    ended = finished()
    resumed = {**ended, "metadata": {**ended["metadata"], "generation": 2}}
    world.put(EVALRUNS, {**resumed, "spec": {**SPEC, "suspend": True}})

    async def work(namespace: NamespaceReconciler) -> None:
        state = await settled(namespace)
        assert state.stored is not None
        assert state.harvester is not None
        world.put(EVALRUNS, ended)
        await namespace.reconcile_once()
        assert [getattr(state, part) for part in ("stored", "harvester")] == [None, None]
        assert of_run(world.metrics)["opsgym_run_progress_ratio"] == [0.5]
        world.put(EVALRUNS, {**resumed, "spec": {**SPEC, "suspend": True}})
        await settled(namespace)
        assert state.stored is not None

    world.run(work)


def test_the_gate_verdict_is_shown_again_after_a_restart(world: World, stores: Stores) -> None:
    put_run(stores)
    run = "team.nightly.0123"
    gate = GateRecord(run=run, verdict="NO-GO", checks=[], regression=0.25, decided_at="2026-11-22T04:00:00Z")
    stores.get("results").put(RunKeys(run).gate_json, gate.model_dump_json().encode())
    ended = finished()
    ended["status"]["gate"] = "NO-GO"
    world.put(EVALRUNS, ended)

    world.run(passes_until_read)

    labels = {"namespace": "team", "run": "nightly"}
    assert value(world.metrics, "opsgym_run_gate", **labels, verdict="NO-GO") == 1
    assert value(world.metrics, "opsgym_run_regression_ratio", **labels) == 0.25


def test_series_of_a_deleted_evalrun_disappear_even_if_another_has_its_name(world: World, stores: Stores) -> None:
    put_run(stores)
    world.put(EVALRUNS, finished())

    async def work(namespace: NamespaceReconciler) -> None:
        await passes_until_read(namespace)
        world.watched.record_deletion("0123")
        broken = manifest(EVALRUNS, "nightly", "4567", spec={"suite": {}, "models": []})
        world.put(EVALRUNS, broken)
        await namespace.reconcile_once()
        assert of_run(world.metrics).keys() == {"opsgym_run_stalled", "opsgym_run_pods_pending"}
        world.watched.record_deletion("4567")
        await namespace.reconcile_once()

    world.run(work)
    assert of_run(world.metrics) == {}


def test_a_run_with_a_refused_spec_is_stalled_with_the_reason(world: World) -> None:
    world.put(EVALRUNS, manifest(EVALRUNS, "nightly", "0123", spec={**SPEC, "resultStore": "elsewhere"}))

    world.run(one_pass)

    labels = {"namespace": "team", "run": "nightly", "reason": "StoreNotFound"}
    assert value(world.metrics, "opsgym_run_stalled", **labels) == 1


def test_pods_that_have_not_started_are_pending(world: World) -> None:
    world.put(EVALRUNS, manifest(EVALRUNS, "nightly", "0123", spec={**SPEC, "resultStore": "elsewhere"}))
    for number, phase in enumerate(("Pending", "Pending", "Running", "Succeeded")):
        job = "nightly-abcdef-0"
        labels = {"opsgym.dev/run": "nightly", "opsgym.dev/run-uid": "0123", "batch.kubernetes.io/job-name": job}
        metadata = {"labels": labels, "ownerReferences": [{"kind": "Job", "name": job, "controller": True}]}
        pod = manifest(PODS, f"p{number}", f"p{number}", metadata=metadata, status={"phase": phase})
        world.put(PODS, pod)

    world.run(one_pass)

    assert of_run(world.metrics)["opsgym_run_pods_pending"] == [2.0]


def schedule(**spec: Any) -> Any:
    status = {"lastScheduleTime": "2026-11-20T03:00:00Z", "lastSuccessfulTime": "2026-11-20T05:00:00Z"}
    whole = {"schedule": "0 3 * * *", "startingDeadlineSeconds": 60, "runTemplate": {"spec": SPEC}, **spec}
    return manifest(EVALSCHEDULES, "every-night", "s1", spec=whole, status=status)


def test_a_missed_schedule_has_its_next_time_in_the_past(world: World) -> None:
    world.put(EVALSCHEDULES, schedule())

    world.run(one_pass)

    shown = {
        name: value(
            world.metrics, f"opsgym_schedule_{name}_timestamp_seconds", namespace="team", schedule="every-night"
        )
        for name in ("last_run", "last_success", "next_run")
    }
    assert shown == {
        "last_run": datetime(2026, 11, 20, 3, tzinfo=UTC).timestamp(),
        "last_success": datetime(2026, 11, 20, 5, tzinfo=UTC).timestamp(),
        "next_run": datetime(2026, 11, 21, 3, tzinfo=UTC).timestamp(),
    }


@pytest.mark.parametrize("spec", [{"suspend": True}, {"timeZone": "Nowhere/At-All"}])
def test_a_suspended_or_invalid_schedule_has_no_next_time(world: World, spec: dict[str, Any]) -> None:
    world.put(EVALSCHEDULES, schedule(**spec))

    world.run(one_pass)

    assert "opsgym_schedule_last_run_timestamp_seconds{" in world.metrics.text().decode()
    assert "opsgym_schedule_next_run_timestamp_seconds{" not in world.metrics.text().decode()


def test_a_namespace_without_runs_is_reconciled_again_within_a_minute(world: World) -> None:
    waits: list[float] = []

    async def work(namespace: NamespaceReconciler) -> None:
        waits.append(await namespace.reconcile_once())

    world.run(work)
    assert waits == [60.0]
