"""The API client against an HTTP server that plays the API server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import kopf
import pytest
from structlog.testing import capture_logs
from tests.operator_io.api_server import ApiServer, api_server
from tests.operator_io.material import at

from opsgym_api.evalrun import EvalRunStatus
from opsgym_operator.apply import apply_status, create
from opsgym_operator.client import CONFIGMAPS, EVALRUNS, JOBS, PODS, ApiError, Client
from opsgym_operator.desired import Event
from opsgym_operator.events import tell
from opsgym_operator.liveness import WatchCheck
from opsgym_operator.settings import kopf_settings
from opsgym_operator.watch import WATCHED, Watched

R = TypeVar("R")
METADATA = {"name": "nightly", "namespace": "team", "uid": "u1", "resourceVersion": "7"}
RUN: Any = {"apiVersion": "opsgym.dev/v1alpha1", "kind": "EvalRun", "metadata": METADATA, "spec": {}, "status": {}}
JOB: Any = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "j", "namespace": "team", "uid": "j1", "resourceVersion": "9"},
    "spec": {"parallelism": 1, "completions": 2},
}


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ApiServer]:
    with api_server() as found:
        monkeypatch.setenv("KUBECONFIG", str(found.kubeconfig(tmp_path)))
        yield found


def with_client(work: Callable[[Client], Awaitable[R]]) -> R:
    async def run() -> R:
        async with Client(kopf_settings()) as client:
            return await work(client)

    return asyncio.run(run())


def test_a_refusal_says_what_was_asked_and_why(server: ApiServer) -> None:
    server.answer("GET", "/api/v1/namespaces/team/pods/p", 403, {"message": "pods is forbidden"})
    with pytest.raises(ApiError, match=r"GET /api/v1/namespaces/team/pods/p: pods is forbidden \(HTTP 403\)"):
        with_client(lambda client: client.get(PODS, "team", "p"))


def test_an_overloaded_server_says_when_to_come_back(server: ApiServer) -> None:
    server.answer("GET", "/api/v1/namespaces/team/pods/p", 429, {"message": "too many requests"})
    with pytest.raises(ApiError) as caught:
        with_client(lambda client: client.get(PODS, "team", "p"))
    assert caught.value.retry_after == 7


def test_no_answer_is_an_error_of_its_own(server: ApiServer, tmp_path: Path) -> None:
    server.url = "http://127.0.0.1:9"
    server.kubeconfig(tmp_path)
    with pytest.raises(ApiError, match="the API server does not answer"):
        with_client(lambda client: client.get(PODS, "team", "p"))


def test_an_answer_that_is_no_object_is_an_error(server: ApiServer) -> None:
    server.answer("GET", "/api/v1/namespaces/team/pods/p", 200, b"<html>proxy</html>")
    with pytest.raises(ApiError, match="is this an API server"):
        with_client(lambda client: client.get(PODS, "team", "p"))


def test_an_expired_token_is_read_anew(server: ApiServer, tmp_path: Path) -> None:
    server.answer("GET", "/api/v1/namespaces/team/pods/p", 401, {"message": "expired"})
    server.answer("GET", "/api/v1/namespaces/team/pods/p", 200, {"kind": "Pod"})

    async def ask(client: Client) -> Any:
        server.kubeconfig(tmp_path, token="second")
        return await client.get(PODS, "team", "p")

    assert with_client(ask) == {"kind": "Pod"}
    assert [headers["Authorization"] for *_, headers in server.asked] == ["Bearer first", "Bearer second"]


def test_lists_are_read_page_by_page(server: ApiServer) -> None:
    path = "/apis/batch/v1/namespaces/team/jobs"
    server.answer("GET", path, 200, {"items": [{"n": 1}], "metadata": {"continue": "more"}})
    server.answer("GET", path, 200, {"items": [{"n": 2}], "metadata": {}})
    assert with_client(lambda client: client.list(JOBS, "team", "a=b")) == [{"n": 1}, {"n": 2}]
    assert "continue=more" in server.asked[1][1]
    assert "labelSelector=a%3Db" in server.asked[1][1]


def test_deleting_what_is_gone_is_success(server: ApiServer) -> None:
    with_client(lambda client: client.delete(JOBS, "team", "gone"))
    assert server.asked[0][2] == {"propagationPolicy": "Background"}


def test_creating_what_exists_is_success_and_is_seen(server: ApiServer) -> None:
    server.answer("POST", "/apis/batch/v1/namespaces/team/jobs", 409, {"message": "exists"})
    server.answer("GET", "/apis/batch/v1/namespaces/team/jobs/j", 200, JOB)
    watched = Watched(lambda _: None)
    with_client(lambda client: create(client, watched, JOB))
    assert [job["metadata"]["uid"] for job in watched.objects(JOBS, "team")] == ["j1"]


def test_what_was_written_is_seen_until_the_watch_has_caught_up(server: ApiServer) -> None:
    watched = Watched(lambda _: None)
    watched.wrote(JOBS, JOB)
    older = {**JOB, "metadata": {**JOB["metadata"], "resourceVersion": "8"}, "spec": {"parallelism": 5}}
    watched._indexes = {"Job": {"team": [older]}}
    assert [job["spec"]["parallelism"] for job in watched.objects(JOBS, "team")] == [1]
    newer = {**older, "metadata": {**JOB["metadata"], "resourceVersion": "10"}}
    watched._indexes = {"Job": {"team": [newer]}}
    assert [job["spec"]["parallelism"] for job in watched.objects(JOBS, "team")] == [5]
    watched.hide("j1")
    assert watched.objects(JOBS, "team") == []


def test_an_answer_that_comes_after_the_deletion_does_not_bring_an_object_back() -> None:
    watched = Watched(lambda _: None)
    watched.removed(JOBS, "j1")
    watched.wrote(JOBS, JOB)
    assert watched.objects(JOBS, "team") == []


def test_only_what_differs_of_a_status_is_written(server: ApiServer) -> None:
    path = "/apis/opsgym.dev/v1alpha1/namespaces/team/evalruns/nightly"
    server.answer("PATCH", f"{path}/status", 200, RUN)
    there = {**RUN, "status": {"phase": "Running", "progress": "1/4", "counters": {"passed": 1, "pending": 3}}}
    status = EvalRunStatus(phase="Running", progress="4/4", counters={"passed": 4})
    watched = Watched(lambda _: None)
    with_client(lambda client: apply_status(client, watched, EVALRUNS, there, status))
    change = {"progress": "4/4", "counters": {"passed": 4, "pending": None}, "conditions": [], "notices": []}
    assert server.asked[0][2] == {"status": change}
    assert server.asked[0][3]["Content-Type"] == "application/merge-patch+json"


def test_a_status_that_is_as_it_should_be_is_not_written(server: ApiServer) -> None:
    there = {**RUN, "status": {"phase": "Running", "counters": {}, "conditions": [], "notices": []}}
    watched = Watched(lambda _: None)
    with_client(lambda client: apply_status(client, watched, EVALRUNS, there, EvalRunStatus(phase="Running")))
    assert server.asked == []


def test_an_event_told_again_is_counted(server: ApiServer) -> None:
    event = Event("Warning", "Stalled", "the Secret is missing")
    server.answer("POST", "/api/v1/namespaces/team/events", 201, {})
    server.answer("POST", "/api/v1/namespaces/team/events", 409, {"message": "exists"})

    async def twice(client: Client) -> None:
        await tell(client, RUN, event, at(0))
        name = server.asked[0][2]["metadata"]["name"]
        server.answer("GET", f"/api/v1/namespaces/team/events/{name}", 200, {"count": 4})
        server.answer("PATCH", f"/api/v1/namespaces/team/events/{name}", 200, {})
        await tell(client, RUN, event, at(60))

    with_client(twice)
    assert server.asked[0][2]["involvedObject"]["uid"] == "u1"
    assert server.asked[-1][2] == {"count": 5, "lastTimestamp": "2026-11-20T12:01:00Z"}


def test_an_event_that_is_refused_stops_nothing(server: ApiServer) -> None:
    server.answer("POST", "/api/v1/namespaces/team/events", 403, {"message": "forbidden"})
    with_client(lambda client: tell(client, RUN, Event("Normal", "Accepted", "well"), at(0)))
    assert len(server.asked) == 1


def test_an_event_is_logged_with_its_run_and_not_in_the_words_of_an_attempt(server: ApiServer) -> None:
    for _ in range(2):
        server.answer("POST", "/api/v1/namespaces/team/events", 201, {})
    quoting = Event("Warning", "BreakerOpen", "model_refused_request: you sent MARK")

    async def both(client: Client) -> None:
        await tell(client, RUN, Event("Warning", "Stalled", "the Secret is missing"), at(0))
        await tell(client, RUN, quoting, at(1))

    with capture_logs() as lines:
        with_client(both)
    metadata = RUN["metadata"]
    run = f"team.{metadata['name']}.{metadata['uid']}"
    assert [(line["event"], line["namespace"], line["run"]) for line in lines] == [
        ("the Secret is missing", "team", run),
        ("BreakerOpen", "team", run),
    ]


def serve_lists(server: ApiServer, jobs: list[Any]) -> None:
    for kind in WATCHED:
        server.answers[("GET", kind.path(None))] = [(200, {"items": jobs if kind is JOBS else []})]


def test_a_watch_that_tells_nothing_is_noticed_at_the_second_look(server: ApiServer) -> None:
    watched = Watched(lambda _: None)
    watched._indexes = {"Job": {"team": [JOB]}}

    async def look(client: Client) -> list[str]:
        check = WatchCheck(client, watched, [])
        told = []
        for version in ("9", "10", "11", "11"):
            serve_lists(server, [{"metadata": {"uid": "j1", "resourceVersion": version}}])
            await check.look()
            told.append(check.problem)
        return told

    assert with_client(look) == ["", "", "", "the watch of jobs tells nothing"]


def test_an_object_that_vanished_without_a_word_is_forgotten(server: ApiServer) -> None:
    woken: list[str] = []
    watched = Watched(woken.append)
    watched._indexes = {"Job": {"team": [JOB]}}

    async def look(client: Client) -> list[int]:
        check = WatchCheck(client, watched, [])
        serve_lists(server, [])
        left = []
        for _ in range(2):
            await check.look()
            left.append(len(watched.objects(JOBS, "team")))
        return left

    assert with_client(look) == [1, 0]
    assert woken == ["team"]


def test_without_a_cluster_it_says_how_to_name_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(kopf.LoginError, match="set KUBECONFIG"):
        Client(kopf_settings())


def test_the_operator_never_reads_secrets() -> None:
    assert "secrets" not in {kind.plural for kind in (*WATCHED, CONFIGMAPS)}
