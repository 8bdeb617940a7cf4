"""The API client and object cache against a stub of the API server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterator
from pathlib import Path
from typing import Any, TypeVar

import kopf
import pytest
from structlog.testing import capture_logs
from tests.operator_io.api_server import ApiServer, api_server
from tests.operator_io.material import at

from opsgym_api.kinds.evalrun import EvalRunStatus
from opsgym_core.kube.client import CONFIGMAPS, EVALRUNS, JOBS, PODS, ApiError, Client
from opsgym_core.kube.login import login
from opsgym_operator.controller.observation import PodRefusals, QueueList, QueueNames
from opsgym_operator.kube.apply import apply_status, create, delete, read_unanswered
from opsgym_operator.kube.cache import WATCHED, ObjectCache
from opsgym_operator.kube.events import EventSeries, record_event
from opsgym_operator.kube.watch_check import WatchCheck
from opsgym_operator.main import listable
from opsgym_operator.plan.desired import Event, ObjectRef

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
    with api_server() as api:
        monkeypatch.setenv("KUBECONFIG", str(api.kubeconfig(tmp_path)))
        yield api


def with_client(work: Callable[[Client], Awaitable[R]]) -> R:
    async def run() -> R:
        async with Client(login) as client:
            return await work(client)

    return asyncio.run(run())


def test_a_refused_request_is_reported_with_its_cause(server: ApiServer) -> None:
    server.answer("GET", "/api/v1/namespaces/team/pods/p", 403, {"message": "pods is forbidden"})
    with pytest.raises(ApiError, match=r"GET /api/v1/namespaces/team/pods/p: pods is forbidden \(HTTP 403\)"):
        with_client(lambda client: client.get(PODS, "team", "p"))


def test_a_retry_after_header_is_part_of_the_error(server: ApiServer) -> None:
    server.answer("GET", "/api/v1/namespaces/team/pods/p", 429, {"message": "too many requests"})
    with pytest.raises(ApiError) as caught:
        with_client(lambda client: client.get(PODS, "team", "p"))
    assert caught.value.retry_after == 7


def test_an_unreachable_server_is_an_error(server: ApiServer, tmp_path: Path) -> None:
    server.url = "http://127.0.0.1:9"
    server.kubeconfig(tmp_path)
    with pytest.raises(ApiError, match="the API server does not answer"):
        with_client(lambda client: client.get(PODS, "team", "p"))


def test_an_answer_that_is_not_json_is_an_error(server: ApiServer) -> None:
    server.answer("GET", "/api/v1/namespaces/team/pods/p", 200, b"<html>proxy</html>")
    with pytest.raises(ApiError, match="check that the address"):
        with_client(lambda client: client.get(PODS, "team", "p"))


def test_an_expired_token_is_read_again(server: ApiServer, tmp_path: Path) -> None:
    server.answer("GET", "/api/v1/namespaces/team/pods/p", 401, {"message": "expired"})
    server.answer("GET", "/api/v1/namespaces/team/pods/p", 200, {"kind": "Pod"})

    async def ask(client: Client) -> Any:
        server.kubeconfig(tmp_path, token="second")
        return await client.get(PODS, "team", "p")

    assert with_client(ask) == {"kind": "Pod"}
    assert [headers["Authorization"] for *_, headers in server.received] == ["Bearer first", "Bearer second"]


def test_lists_are_read_page_by_page(server: ApiServer) -> None:
    path = "/apis/batch/v1/namespaces/team/jobs"
    server.answer("GET", path, 200, {"items": [{"n": 1}], "metadata": {"continue": "more"}})
    server.answer("GET", path, 200, {"items": [{"n": 2}], "metadata": {}})
    assert with_client(lambda client: client.list(JOBS, "team", "a=b")) == [{"n": 1}, {"n": 2}]
    assert "continue=more" in server.received[1][1]
    assert "labelSelector=a%3Db" in server.received[1][1]


def test_a_list_of_metadata_holds_nothing_of_who_wrote_which_field(server: ApiServer) -> None:
    shown = {"name": "p", "uid": "1", "resourceVersion": "5"}
    fields = [{"manager": "kubelet", "fieldsV1": {"f:status": {"f:phase": {}}}}]
    answer = {"items": [{"metadata": {**shown, "managedFields": fields}}], "metadata": {}}
    server.answer("GET", "/api/v1/namespaces/team/pods", 200, answer)
    assert with_client(lambda client: client.list(PODS, "team", metadata_only=True)) == [{"metadata": shown}]
    assert with_client(lambda client: client.list(PODS, "team")) == answer["items"]


def test_deleting_a_missing_object_succeeds(server: ApiServer) -> None:
    with_client(lambda client: client.delete(JOBS, "team", "gone"))
    assert server.received[0][2] == {"propagationPolicy": "Background"}


def test_creating_an_existing_object_succeeds_and_caches_it(server: ApiServer) -> None:
    server.answer("POST", "/apis/batch/v1/namespaces/team/jobs", 409, {"message": "exists"})
    server.answer("GET", "/apis/batch/v1/namespaces/team/jobs/j", 200, JOB)
    cache = ObjectCache(lambda _: None)
    with_client(lambda client: create(client, cache, JOB))
    assert [job["metadata"]["uid"] for job in cache.objects(JOBS, "team")] == ["j1"]


@pytest.mark.parametrize("status", [500, 503, 504])
def test_an_object_whose_creation_was_not_answered_is_read_before_the_next_plan(server: ApiServer, status: int) -> None:
    jobs = "/apis/batch/v1/namespaces/team/jobs"
    server.answer("POST", jobs, status, {"message": "etcdserver: request timed out"})
    server.answer("GET", f"{jobs}/j", 503, {"message": "etcd is away"})
    server.answer("GET", f"{jobs}/j", 200, JOB)
    cache = ObjectCache(lambda _: None)
    with pytest.raises(ApiError):
        with_client(lambda client: create(client, cache, JOB))
    with pytest.raises(ApiError):
        with_client(lambda client: read_unanswered(client, cache, "team"))
    with_client(lambda client: read_unanswered(client, cache, "elsewhere"))
    assert cache.objects(JOBS, "team") == []
    with_client(lambda client: read_unanswered(client, cache, "team"))
    assert [job["metadata"]["uid"] for job in cache.objects(JOBS, "team")] == ["j1"]
    with_client(lambda client: read_unanswered(client, cache, "team"))
    assert len([path for method, path, *_ in server.received if method == "GET"]) == 2


def test_a_creation_that_ends_without_an_answer_leaves_nothing_if_there_is_no_object(server: ApiServer) -> None:
    cache = ObjectCache(lambda _: None)

    async def give_up(client: Client) -> None:
        async with asyncio.timeout(0):
            await create(client, cache, JOB)

    with pytest.raises(TimeoutError):
        with_client(give_up)
    assert cache.unanswered("team") == [(JOBS, "j")]
    with_client(lambda client: read_unanswered(client, cache, "team"))
    assert (cache.unanswered("team"), cache.objects(JOBS, "team")) == ([], [])


def test_an_object_that_exists_and_could_not_be_read_is_read_before_the_next_plan(server: ApiServer) -> None:
    jobs = "/apis/batch/v1/namespaces/team/jobs"
    server.answer("POST", jobs, 409, {"message": "exists"})
    server.answer("GET", f"{jobs}/j", 503, {"message": "etcd is away"})
    server.answer("GET", f"{jobs}/j", 200, JOB)
    cache = ObjectCache(lambda _: None)
    with pytest.raises(ApiError, match="etcd is away"):
        with_client(lambda client: create(client, cache, JOB))
    with_client(lambda client: read_unanswered(client, cache, "team"))
    assert [job["metadata"]["uid"] for job in cache.objects(JOBS, "team")] == ["j1"]


def test_nothing_is_read_of_an_object_that_was_created_or_refused(server: ApiServer) -> None:
    jobs = "/apis/batch/v1/namespaces/team/jobs"
    server.answer("POST", jobs, 403, {"message": "exceeded quota"})
    server.answer("POST", jobs, 201, JOB)
    cache = ObjectCache(lambda _: None)
    with pytest.raises(ApiError, match="exceeded quota"):
        with_client(lambda client: create(client, cache, JOB))
    assert cache.unanswered("team") == []
    with_client(lambda client: create(client, cache, JOB))
    assert cache.unanswered("team") == []


def test_a_written_object_is_listed_until_the_watch_has_caught_up(server: ApiServer) -> None:
    cache = ObjectCache(lambda _: None)
    cache.record_write(JOBS, JOB)
    older = {**JOB, "metadata": {**JOB["metadata"], "resourceVersion": "8"}, "spec": {"parallelism": 5}}
    cache._indexes = {"Job": {"team": [older]}}
    assert [job["spec"]["parallelism"] for job in cache.objects(JOBS, "team")] == [1]
    newer = {**older, "metadata": {**JOB["metadata"], "resourceVersion": "10"}}
    cache._indexes = {"Job": {"team": [newer]}}
    assert [job["spec"]["parallelism"] for job in cache.objects(JOBS, "team")] == [5]
    cache.record_deletion("j1")
    assert cache.objects(JOBS, "team") == []


def test_a_late_answer_does_not_restore_a_deleted_object() -> None:
    cache = ObjectCache(lambda _: None)
    cache.removed(JOBS, "j1")
    cache.record_write(JOBS, JOB)
    assert cache.objects(JOBS, "team") == []


def test_only_changed_fields_of_a_status_are_written(server: ApiServer) -> None:
    path = "/apis/opsgym.dev/v1alpha1/namespaces/team/evalruns/nightly"
    server.answer("PATCH", f"{path}/status", 200, RUN)
    current = {**RUN, "status": {"phase": "Running", "progress": "1/4", "counters": {"passed": 1, "pending": 3}}}
    status = EvalRunStatus(phase="Running", progress="4/4", counters={"passed": 4})
    cache = ObjectCache(lambda _: None)
    with_client(lambda client: apply_status(client, cache, EVALRUNS, current, status))
    change = {"progress": "4/4", "counters": {"passed": 4, "pending": None}, "conditions": [], "notifications": []}
    assert server.received[0][2] == {"status": change, "metadata": {"resourceVersion": "7"}}
    assert server.received[0][3]["Content-Type"] == "application/merge-patch+json"


def test_a_status_is_not_written_over_conditions_that_another_controller_has_added(server: ApiServer) -> None:
    path = "/apis/opsgym.dev/v1alpha1/namespaces/team/evalruns/nightly/status"
    server.answer("PATCH", path, 409, {"message": "the object has been modified"})
    cache = ObjectCache(lambda _: None)
    current = {**RUN, "status": {"phase": "Pending"}}
    written = with_client(
        lambda client: apply_status(client, cache, EVALRUNS, current, EvalRunStatus(phase="Running", conditions=[]))
    )
    assert written is False
    assert cache.objects(EVALRUNS, "team") == []


def test_an_unchanged_status_is_not_written(server: ApiServer) -> None:
    current = {**RUN, "status": {"phase": "Running", "counters": {}, "conditions": [], "notifications": []}}
    cache = ObjectCache(lambda _: None)
    with_client(lambda client: apply_status(client, cache, EVALRUNS, current, EvalRunStatus(phase="Running")))
    assert server.received == []


def test_a_series_of_events_is_written_once_a_minute_with_its_count(server: ApiServer) -> None:
    now = 0.0
    series = EventSeries(lambda: now)
    due: list[int] = []
    for second in range(0, 150, 10):
        now = float(second)
        due.append(series.due("u1", Event("Normal", "JobsCreated", f"{second} Jobs", series=True)))
    assert [times for times in due if times] == [1, 6, 6]
    assert series.due("u1", Event("Normal", "Stalled", "no series")) == 1
    server.answer("POST", "/api/v1/namespaces/team/events", 201, {})
    server.answer("POST", "/api/v1/namespaces/team/events", 409, {"message": "exists"})

    async def write(client: Client) -> None:
        await record_event(client, RUN, Event("Normal", "JobsCreated", "1 Jobs", series=True), at(0))
        name = server.received[0][2]["metadata"]["name"]
        server.answer("GET", f"/api/v1/namespaces/team/events/{name}", 200, {"count": 1})
        server.answer("PATCH", f"/api/v1/namespaces/team/events/{name}", 200, {})
        await record_event(client, RUN, Event("Normal", "JobsCreated", "2 Jobs", series=True), at(60), 6)

    with_client(write)
    change = {"count": 7, "lastTimestamp": "2026-11-20T12:01:00Z", "message": "2 Jobs"}
    assert server.received[-1][2] == change


def test_a_repeated_event_is_counted(server: ApiServer) -> None:
    event = Event("Warning", "Stalled", "the Secret is missing")
    server.answer("POST", "/api/v1/namespaces/team/events", 201, {})
    server.answer("POST", "/api/v1/namespaces/team/events", 409, {"message": "exists"})

    async def twice(client: Client) -> None:
        await record_event(client, RUN, event, at(0))
        name = server.received[0][2]["metadata"]["name"]
        server.answer("GET", f"/api/v1/namespaces/team/events/{name}", 200, {"count": 4})
        server.answer("PATCH", f"/api/v1/namespaces/team/events/{name}", 200, {})
        await record_event(client, RUN, event, at(60))

    with_client(twice)
    assert server.received[0][2]["involvedObject"]["uid"] == "u1"
    assert server.received[-1][2] == {"count": 5, "lastTimestamp": "2026-11-20T12:01:00Z"}


def test_a_refused_event_is_only_logged(server: ApiServer) -> None:
    server.answer("POST", "/api/v1/namespaces/team/events", 403, {"message": "forbidden"})
    with_client(lambda client: record_event(client, RUN, Event("Normal", "Accepted", "well"), at(0)))
    assert len(server.received) == 1


def test_an_event_is_logged_with_its_run_and_without_attempt_messages(server: ApiServer) -> None:
    for _ in range(2):
        server.answer("POST", "/api/v1/namespaces/team/events", 201, {})
    quoting = Event("Warning", "BreakerOpen", "model_refused_request: you sent MARK")

    async def both(client: Client) -> None:
        await record_event(client, RUN, Event("Warning", "Stalled", "the Secret is missing"), at(0))
        await record_event(client, RUN, quoting, at(1))

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


def test_a_dead_watch_is_detected_by_the_second_check(server: ApiServer) -> None:
    cache = ObjectCache(lambda _: None)
    cache._indexes = {"Job": {"team": [JOB]}}

    async def look(client: Client) -> list[str]:
        check = WatchCheck(client, cache, [])
        problems = []
        for version in ("9", "10", "11", "11"):
            serve_lists(server, [{"metadata": {"uid": "j1", "resourceVersion": version}}])
            await check.check()
            problems.append(check.problem)
        return problems

    assert with_client(look) == ["", "", "", "the watch of jobs reports nothing"]


def test_an_object_whose_deletion_was_not_reported_is_forgotten(server: ApiServer) -> None:
    enqueued: list[str] = []
    cache = ObjectCache(enqueued.append)
    cache._indexes = {"Job": {"team": [JOB]}}

    async def look(client: Client) -> list[int]:
        check = WatchCheck(client, cache, [])
        serve_lists(server, [])
        left = []
        for _ in range(2):
            await check.check()
            left.append(len(cache.objects(JOBS, "team")))
        return left

    assert with_client(look) == [1, 0]
    assert enqueued == ["team"]


def forbid(server: ApiServer, namespace: str) -> None:
    for kind in WATCHED:
        server.answers[("GET", kind.path(namespace))] = [(403, {"message": "forbidden"})]


def allow(server: ApiServer, namespace: str, *jobs: Any) -> None:
    for kind in WATCHED:
        server.answers[("GET", kind.path(namespace))] = [(200, {"items": list(jobs) if kind is JOBS else []})]


def test_a_deleted_namespace_is_skipped_and_the_others_are_watched(server: ApiServer) -> None:
    forbid(server, "deleted")
    allow(server, "team")
    assert with_client(lambda client: listable(client, ["deleted", "team"])) == ["team"]
    with pytest.raises(ApiError, match="forbidden"):
        with_client(lambda client: listable(client, ["deleted"]))


def test_the_operator_waits_while_the_api_server_starts_to_serve_its_kinds(server: ApiServer) -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    busy = (429, {"message": "storage is (re)initializing"})
    server.answers[("GET", EVALRUNS.path("team"))] = [busy, busy, (200, {"items": []})]
    assert with_client(lambda client: listable(client, ["team"], sleep)) == ["team"]
    assert waited == [7, 7]


def test_dead_watches_and_ghosts_are_detected_beside_a_deleted_namespace(server: ApiServer) -> None:
    forbid(server, "deleted")
    ghost = {"metadata": {"uid": "j2", "resourceVersion": "1", "namespace": "team", "name": "ghost"}}
    cache = ObjectCache(lambda _: None)
    cache._indexes = {"Job": {"team": [JOB, ghost], "deleted": [ghost]}}
    skipped: list[Collection[str]] = []

    async def look(client: Client) -> list[str]:
        check = WatchCheck(client, cache, ["deleted", "team"], show_skipped=skipped.append)
        problems = []
        for _ in range(2):
            allow(server, "team", {"metadata": {"uid": "j1", "resourceVersion": "12"}})
            await check.check()
            problems.append(check.problem)
        return problems

    assert with_client(look) == ["", "the watch of jobs reports nothing"]
    assert [item["metadata"]["uid"] for item in cache.objects(JOBS, "team")] == ["j1"]
    assert skipped == [{"deleted"}, {"deleted"}]


def test_a_namespace_that_is_back_is_watched_after_a_restart(server: ApiServer) -> None:
    forbid(server, "back")
    allow(server, "team")

    async def look(client: Client) -> list[str]:
        check = WatchCheck(client, ObjectCache(lambda _: None), ["back", "team"], ["back"])
        await check.check()
        before = check.problem
        allow(server, "back")
        await check.check()
        return [before, check.problem]

    assert with_client(look) == ["", "namespace back can be listed again and is not watched"]


def test_a_missing_kubeconfig_is_an_error_with_advice(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(kopf.LoginError, match="set KUBECONFIG"):
        Client(login)


def test_the_operator_never_reads_secrets() -> None:
    assert "secrets" not in {kind.plural for kind in (*WATCHED, CONFIGMAPS)}


@pytest.mark.parametrize("served", [["v1beta1"], ["v1beta2", "v1beta1"], ["v1"]])
def test_queues_are_listed_in_the_version_of_kueue_that_is_installed(server: ApiServer, served: list[str]) -> None:
    versions = [{"groupVersion": f"kueue.x-k8s.io/{version}"} for version in reversed(served)]
    group = {"versions": versions, "preferredVersion": {"groupVersion": f"kueue.x-k8s.io/{served[0]}"}}
    server.answer("GET", "/apis/kueue.x-k8s.io", 200, group)
    # A preferred version need not have every kind.
    path = f"/apis/kueue.x-k8s.io/{served[-1]}/namespaces/team/localqueues"
    server.answer("GET", path, 200, {"items": [{"metadata": {"name": "urgent"}}]})
    assert with_client(lambda client: QueueList(client, "team").read()) == QueueNames(frozenset({"urgent"}))


def test_the_events_of_jobs_and_pods_that_lack_something_are_read_and_the_latest_counts(server: ApiServer) -> None:
    def event(kind: str, name: str, reason: str, message: str, at: str | None) -> dict[str, Any]:
        involved = {"kind": kind, "name": name}
        return {"involvedObject": involved, "reason": reason, "message": message, "lastTimestamp": at}

    events = [
        event("Pod", "p", "FailedMount", "no ConfigMap", "2026-11-20T12:00:09Z"),
        event("Pod", "p", "FailedScheduling", "no room", None),
        event("Job", "j", "FailedCreate", "exceeded quota", "2026-11-20T12:00:01Z"),
    ]
    server.answer("GET", "/api/v1/namespaces/team/events", 200, {"items": events})
    words = with_client(lambda client: PodRefusals(client, "team").read(jobs=True, pods=["p"]))
    assert words == {"p": "FailedMount: no ConfigMap", "j": "exceeded quota"}
    requests = len(server.received)
    assert with_client(lambda client: PodRefusals(client, "team").read(jobs=False, pods=[])) == {}
    assert len(server.received) == requests, "nothing is read while nothing lacks"


@pytest.mark.parametrize(("status", "classes"), [(200, frozenset({"urgent"})), (403, None)])
def test_priority_classes_are_listed_where_the_operator_may(
    server: ApiServer, status: int, classes: frozenset[str] | None
) -> None:
    server.answer("GET", "/apis/kueue.x-k8s.io", 200, {"versions": [{"groupVersion": "kueue.x-k8s.io/v1beta2"}]})
    path = "/apis/kueue.x-k8s.io/v1beta2"
    server.answer("GET", f"{path}/namespaces/team/localqueues", 200, {"items": [{"metadata": {"name": "team"}}]})
    items = {"items": [{"metadata": {"name": "urgent"}}]} if status == 200 else {"message": "forbidden"}
    server.answer("GET", f"{path}/workloadpriorityclasses", status, items)
    expected = QueueNames(frozenset({"team"}), classes)
    assert with_client(lambda client: QueueList(client, "team").read(classes=True)) == expected


def test_without_kueue_there_are_no_queues(server: ApiServer) -> None:
    assert with_client(lambda client: QueueList(client, "team").read()) == QueueNames(None)


def test_a_job_that_has_changed_since_is_not_deleted_and_not_hidden(server: ApiServer) -> None:
    path = "/apis/batch/v1/namespaces/team/jobs/j"
    server.answer("DELETE", path, 409, {"message": "Precondition failed"})
    cache = ObjectCache(lambda _: None)
    cache.record_write(JOBS, JOB)
    with_client(lambda client: delete(client, cache, "team", ObjectRef("Job", "j", version="9")))
    [(_, _, body, _)] = server.received
    assert body["preconditions"] == {"uid": "j1", "resourceVersion": "9"}
    assert [item["metadata"]["name"] for item in cache.objects(JOBS, "team")] == ["j"]


def test_only_the_job_that_was_seen_is_deleted_and_not_a_later_one_of_its_name(server: ApiServer) -> None:
    cache = ObjectCache(lambda _: None)
    cache.record_write(JOBS, JOB)
    with_client(lambda client: delete(client, cache, "team", ObjectRef("Job", "j")))
    [(_, _, body, _)] = server.received
    assert body["preconditions"] == {"uid": "j1"}
    assert cache.objects(JOBS, "team") == []
