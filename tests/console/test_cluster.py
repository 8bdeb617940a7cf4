"""In a cluster: EvalRuns of the API server, and mounted stores."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.world import until
from tests.console.harness import POLL, Running, client, serving
from tests.operator_io.api_server import ApiServer, api_server

from opsgym_console.server import evalruns
from opsgym_console.server.config import ConsoleConfig
from opsgym_console.server.evalruns import EvalRuns, cluster_run
from opsgym_console.server.sources import StoreSource, mounted_sources
from opsgym_core.kube.client import Client
from opsgym_core.kube.login import login
from opsgym_core.store.local import LocalStore
from opsgym_core.store.mounted import MOUNTED

EVALRUNS = "/apis/opsgym.dev/v1alpha1/namespaces/evals/evalruns"


def manifest(name: str, phase: str | None, message: str = "", **counters: int) -> dict[str, Any]:
    """An EvalRun."""
    condition = {"type": "Progressing", "status": "True", "reason": "X", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    status = {"phase": phase, "conditions": [{**condition, "message": message}], "counters": counters}
    owner = {"apiVersion": "opsgym.dev/v1alpha1", "kind": "EvalSchedule", "name": "nightly", "uid": "s"}
    return {
        "apiVersion": "opsgym.dev/v1alpha1",
        "kind": "EvalRun",
        "metadata": {
            "name": name, "namespace": "evals", "uid": f"uid-{name}", "creationTimestamp": "2026-01-01T00:00:00Z",
            "ownerReferences": [owner],
        },
        "spec": {"suite": {"builtin": "opsgym-1150"}, "models": [{"name": "gpt"}, {"name": "sonnet"}]},
        **({"status": status} if phase else {}),
    }  # fmt: skip


@pytest.fixture
def api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ApiServer]:
    """An API server that the environment leads to."""
    monkeypatch.setattr(evalruns, "LIST_SECONDS", POLL)
    with api_server() as server:
        monkeypatch.setenv("KUBECONFIG", str(server.kubeconfig(tmp_path)))
        yield server


def _evalruns() -> EvalRuns:
    return EvalRuns(Client(login), ["evals"])


def test_a_run_without_a_record_is_listed_and_its_page_says_how_it_stands(api: ApiServer, store: LocalStore) -> None:
    api.answer("GET", EVALRUNS, 200, {"items": [manifest("new", "Preflight", "checking <rows>")]})
    with serving(StoreSource(str(store.root)), evalruns=_evalruns()) as url, client(url) as console:
        (row,) = console.get("/api/runs").json()["runs"]
        assert row == {
            "run": "evals.new.uid-new", "name": "new", "namespace": "evals", "schedule": "nightly",
            "created_at": "2026-01-01T00:00:00Z", "suite": "opsgym-1150", "models": ["gpt", "sonnet"],
            "profiles": [], "stored": False,
            "state": "waiting", "phase": "Preflight", "message": "checking <rows>", "verdict": None, "numbers": None,
        }  # fmt: skip
        page = console.get("/runs/evals.new.uid-new/", headers={"accept": "text/html"})
        assert page.status_code == 200
        assert "Preflight. checking &lt;rows&gt;" in page.text
        assert '<meta http-equiv="refresh" content="5">' in page.text
        assert console.get("/api/runs/evals.new.uid-new/page").status_code == 404
        assert console.get("/runs/evals.other.uid/").status_code == 404


def test_phase_and_message_are_the_evalruns_and_the_run_is_live_while_it_is(api: ApiServer, store: LocalStore) -> None:
    run = Running.begin(store, "evals.going.uid-going", "a", "b", models=["gpt"])
    run.end("a")
    api.answer("GET", EVALRUNS, 200, {"items": [manifest("going", "Waiting", "no node has room")]})
    with serving(StoreSource(str(store.root)), evalruns=_evalruns()) as url, client(url) as console:
        until(lambda: console.get("/api/runs").json()["counting"] == 0, "the run is counted")
        (row,) = console.get("/api/runs").json()["runs"]
        assert (row["state"], row["phase"], row["message"]) == ("waiting", "Waiting", "no node has room")
        assert (row["stored"], row["numbers"]["ended"]) == (True, 1)
        response = console.get(f"/api/runs/{run.run}/page").json()["run"]
        assert (response["live"], response["phase"], response["message"]) == (True, "Waiting", "no node has room")
        api.answers.clear()
        api.answer("GET", EVALRUNS, 200, {"items": [manifest("going", "Complete", "1 of 2 trials scored")]})
        until(lambda: console.get(f"/api/runs/{run.run}/page").json()["run"]["live"] is False, "it has ended")


def test_an_api_server_that_does_not_answer_is_told_and_what_was_known_stays(api: ApiServer, store: LocalStore) -> None:
    api.answer("GET", EVALRUNS, 200, {"items": [manifest("new", "Running")]})
    api.answer("GET", EVALRUNS, 403, {"message": "evalruns.opsgym.dev is forbidden"})
    with serving(StoreSource(str(store.root)), evalruns=_evalruns()) as url, client(url) as console:
        assert console.get("/api/runs").json()["problems"] == []
        until(lambda: console.get("/api/runs").json()["problems"] != [], "the refusal is reported")
        response = console.get("/api/runs").json()
        assert "is forbidden (HTTP 403)" in response["problems"][0]
        assert [row["name"] for row in response["runs"]] == ["new"]


def test_it_only_lists(api: ApiServer, store: LocalStore) -> None:
    api.answer("GET", EVALRUNS, 200, {"items": []})
    with serving(StoreSource(str(store.root)), evalruns=_evalruns()) as url, client(url) as console:
        console.get("/api/runs").raise_for_status()
    assert {(method, path.partition("?")[0]) for method, path, _, _ in api.received} == {("GET", EVALRUNS)}


def test_what_the_operator_has_not_seen_is_pending() -> None:
    run = cluster_run(manifest("new", None))
    assert (run.phase, run.message, run.counters) == ("Pending", "", {})


def test_a_status_of_another_version_hides_no_run() -> None:
    run = cluster_run({**manifest("new", None), "status": {"unknown": 1}})
    assert (run.run, run.phase) == ("evals.new.uid-new", "Pending")


def test_the_stores_of_an_installation_are_asked_the_default_one_first() -> None:
    stores = [{"name": name, "url": f"s3://{name}"} for name in ("a", "b", "c")]
    config = ConsoleConfig.model_validate({"stores": stores, "defaultStore": "b"})
    assert [source.name for source in mounted_sources(config, MOUNTED)] == ["b", "a", "c"]


def test_a_run_is_found_in_whatever_store_holds_it(tmp_path: Path) -> None:
    first, second = LocalStore(tmp_path / "first"), LocalStore(tmp_path / "second")
    Running.begin(first, "one.1", "a").end("a")
    Running.begin(second, "two.2", "a").end("a")
    sources = [StoreSource(str(store.root)) for store in (first, second)]
    with serving(*sources) as url, client(url) as console:
        assert {row["run"] for row in console.get("/api/runs").json()["runs"]} == {"one.1", "two.2"}
        for run in ("one.1", "two.2"):
            assert console.get(f"/api/runs/{run}/page").json()["run"]["id"] == run


def test_the_api_server_is_asked_once_for_many(api: ApiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evalruns, "LIST_SECONDS", 60.0)
    api.answer("GET", EVALRUNS, 200, {"items": []})

    async def ask() -> None:
        async with _evalruns() as runs:
            for _ in range(5):
                await runs.now()

    asyncio.run(ask())
    assert len(api.received) == 1
