"""The operator deletes what schedules need not keep: a real S3 server, a stub of the API server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.cli.runs import CELL, put_run, put_trial
from tests.operator_io.api_server import ApiServer, api_server
from tests.operator_io.test_isolation import API, SPEC, manifest

from opsgym_api.kinds.history import History, Keep
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.run import PlannedCell, RunPods
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.kube.client import EVALSCHEDULES, Client
from opsgym_core.kube.login import login
from opsgym_core.metrics.registry import Metrics
from opsgym_core.results.retention import Series
from opsgym_core.store.base import Store
from opsgym_core.store.mounted import Stores
from opsgym_core.store.s3 import S3Store
from opsgym_operator.config import OperatorConfig
from opsgym_operator.controller.context import ControllerContext
from opsgym_operator.controller.schedules import ScheduleReconciler
from opsgym_operator.kube.cache import ObjectCache
from opsgym_operator.observe.schedules import Pruned
from opsgym_operator.plan.retention import StoreRetention
from opsgym_operator.state import pruner
from opsgym_operator.state.pruner import Pruner

LATER = datetime.now(UTC) + timedelta(days=400)
"""A time at which whatever the tests write is old."""
NIGHTLY = Series("team", "nightly", is_schedule=True)
RETENTION = StoreRetention("results", "team", {NIGHTLY: History(records=Keep(runs=1))})


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ApiServer]:
    with api_server() as served:
        monkeypatch.setenv("KUBECONFIG", str(served.kubeconfig(tmp_path)))
        yield served


def put_night(store: Store, day: int, namespace: str = "team") -> str:
    """A run of the schedule `nightly`, of one trial."""
    run = f"{namespace}.nightly-{day}.u{day}"
    pods = RunPods(images={}, database_megabytes=1)
    fields: dict[str, Any] = {"name": f"nightly-{day}", "schedule": "nightly", "pods": pods}
    put_run(store, run, [PlannedCell(cell=CELL, task_ids=["a"])], created_at=f"2026-01-{day:02}T00:00:00Z", **fields)
    put_trial(store, run, "a", Outcome.PASSED)
    store.put(RunKeys(run).trial(CELL, "a", 0).state("itsm"), b"state")
    store.put(RunKeys(run).figures_json, b"{}")
    return run


def passes(pruner: Pruner, retention: StoreRetention, *after: timedelta) -> Pruned | None:
    """Begins a pass at these times after the first look and waits for each; what the last one shows."""

    async def begin() -> None:
        for passed in (timedelta(0), *after):
            pruner.begin([retention], LATER + passed)
            if pruner._task is not None:
                await pruner._task

    asyncio.run(begin())
    return pruner.shown("results", "nightly")


def test_older_runs_of_the_schedule_go_after_a_while_and_those_of_others_stay(stores: Stores) -> None:
    store, metrics = stores.get("results"), Metrics()
    old, newest, other = put_night(store, 1), put_night(store, 2), put_night(store, 1, "other")
    own = Pruner(stores, metrics)

    assert passes(own, RETENTION) is None
    assert len(list(store.folders("runs"))) == 3, "a history that was just stated can be corrected"

    shown = passes(own, RETENTION, timedelta(minutes=10))
    assert shown is not None
    assert shown.ok
    assert "deleted 4 objects of 1 runs" in shown.message
    assert sorted(store.folders("runs")) == sorted([newest, other])
    assert list(store.keys(RunKeys(old).root)) == []
    assert (metrics.registry.get_sample_value("opsgym_pruned_bytes_total", {"store": "results"}) or 0) > 100


def test_a_pass_is_bounded_and_the_next_one_goes_on(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    store = stores.get("results")
    for day in (1, 2, 3):
        put_night(store, day)
    monkeypatch.setattr(pruner, "MOST_OBJECTS", 3)
    own = Pruner(stores, Metrics())
    first = passes(own, RETENTION, timedelta(minutes=10))
    assert first is not None
    assert "deleted 3 objects of 1 runs" in first.message
    assert "more goes with the next pass" in first.message
    passes(own, RETENTION, *(timedelta(minutes=10 * number) for number in range(2, 8)))
    assert list(store.folders("runs")) == ["team.nightly-3.u3"]


def test_a_store_that_refuses_deletions_is_named_and_not_asked_again_that_day(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = stores.get("results")
    for day in (1, 2):
        put_night(store, day)
    requests = 0

    def denied(self: S3Store, keys: Any) -> None:
        nonlocal requests
        requests += 1
        raise self._not_deleted({"Key": self.prefix + keys[0], "Code": "AccessDenied"})

    monkeypatch.setattr(S3Store, "delete", denied)
    shown = passes(Pruner(stores, Metrics()), RETENTION, timedelta(minutes=10), timedelta(hours=20))
    assert shown is not None
    assert (shown.ok, shown.reason) == (False, "DeletionRefused")
    assert "need s3:DeleteObject" in shown.message
    assert requests == 1
    assert len(list(store.folders("runs"))) == 2


def test_nothing_is_deleted_while_a_record_cannot_be_read(stores: Stores) -> None:
    store = stores.get("results")
    for day in (1, 2):
        put_night(store, day)
    store.put(RunKeys("team.new.1").run_json, b'{"version": 99}')
    shown = passes(Pruner(stores, Metrics()), RETENTION, timedelta(minutes=10))
    assert shown is not None
    assert (shown.ok, shown.reason) == (False, "RecordsUnreadable")
    assert "team.new.1" in shown.message
    assert len(list(store.folders("runs"))) == 3


def test_a_schedule_with_a_history_is_pruned_and_says_so(
    server: ApiServer, stores: Stores, config: OperatorConfig
) -> None:
    for day in (1, 2):
        put_night(stores.get("results"), day)
    cache, now, written = ObjectCache(lambda _: None), [LATER], dict[str, Any]()
    shown: list[list[str]] = []
    spec = {"schedule": "0 3 * * *", "suspend": True, "runTemplate": {"spec": SPEC}}
    nightly = manifest(EVALSCHEDULES, "nightly", spec={**spec, "history": {"records": {"runs": 1}}}, status={})
    before = {
        "type": "Pruned", "status": "True", "reason": "HistoryKept", "lastTransitionTime": "2026-11-21T12:00:00Z"
    }  # fmt: skip
    nightly["status"] = {"conditions": [before]}
    cache.record_write(EVALSCHEDULES, nightly)

    def patched(change: Any) -> dict[str, Any]:
        written.update(change["status"])
        shown.append([item["type"] for item in written["conditions"]])
        version = str(int(now[0].timestamp()))
        return {**nightly, "metadata": {**nightly["metadata"], "resourceVersion": version}, "status": written}

    server.answer("PATCH", f"{API}/evalschedules/nightly/status", 200, patched)

    async def reconciles() -> None:
        async with Client(login) as client:
            context = ControllerContext(client, cache, stores, config, Metrics(), LATER, lambda: now[0])
            reconciler = ScheduleReconciler("team", context)
            for _ in range(3):
                await reconciler.reconcile([])
                if reconciler._pruner._task is not None:
                    await reconciler._pruner._task
                now[0] += timedelta(minutes=10)

    asyncio.run(reconciles())
    assert all("Pruned" in types for types in shown), "a restarted operator drops no condition before it has looked"
    [condition] = [item for item in written["conditions"] if item["type"] == "Pruned"]
    assert (condition["status"], condition["reason"]) == ("True", "HistoryKept")
    assert list(stores.get("results").folders("runs")) == ["team.nightly-2.u2"]
