"""What goes wrong with one EvalRun or EvalSchedule does not concern the others: real HTTP, a stub of the API server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from tests.operator_io.api_server import ApiServer, api_server

from opsgym_core.kube.client import EVALRUNS, EVALSCHEDULES, JOBS, PODS, ApiError, Client, Kind
from opsgym_core.kube.login import login
from opsgym_core.metrics.registry import Metrics
from opsgym_core.store.mounted import Stores
from opsgym_operator.config import OperatorConfig
from opsgym_operator.controller.context import ControllerContext
from opsgym_operator.controller.controller import Controller
from opsgym_operator.controller.observation import Memos, snapshot_of
from opsgym_operator.controller.reconciler import NamespaceReconciler
from opsgym_operator.controller.schedules import ScheduleReconciler
from opsgym_operator.kube.cache import ObjectCache

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
API = "/apis/opsgym.dev/v1alpha1/namespaces/team"
CONFIGMAPS = "/api/v1/namespaces/team/configmaps"
QUOTA = 'configmaps "r" is forbidden: exceeded quota: objects, requested: count/configmaps=1, used: 9, limited: 9'
SPEC: dict[str, Any] = {
    "suite": {"builtin": "quickstart"},
    "models": [{"name": "gold", "inline": {"model": "replay/gold"}}],
}


def manifest(kind: Kind, name: str, **parts: Any) -> dict[str, Any]:
    metadata = {
        "name": name, "uid": f"uid-{name}", "namespace": "team", "resourceVersion": "1", "generation": 1,
        "creationTimestamp": "2026-11-22T11:00:00Z", **parts.pop("metadata", {}),
    }  # fmt: skip
    return {"apiVersion": kind.api_version, "kind": kind.name, "metadata": metadata, **parts}


class Namespace:
    """A namespace of an API server that accepts everything, unless a test says otherwise."""

    def __init__(self, server: ApiServer, stores: Stores, config: OperatorConfig) -> None:
        self.server = server
        self.objects: dict[str, dict[str, Any]] = {}
        self.statuses: dict[str, Any] = {}
        self.cache = ObjectCache(lambda _: None)
        self.metrics = Metrics()
        self._stores, self._config = stores, config
        self.version = 10
        self.reconciler: NamespaceReconciler | None = None
        server.answer("POST", "/api/v1/namespaces/team/events", 201, {})
        for path in (CONFIGMAPS, "/apis/batch/v1/namespaces/team/jobs", f"{API}/evalruns"):
            server.answer("POST", path, 201, self._created)

    def _created(self, body: Mapping[str, Any]) -> dict[str, Any]:
        self.version += 1
        own = {
            "uid": f"uid-{self.version}",
            "resourceVersion": str(self.version),
            "creationTimestamp": "2026-11-22T12:00:00Z",
        }
        metadata = {**own, **body["metadata"]}
        self.objects[body["metadata"]["name"]] = {**body, "metadata": metadata}
        return self.objects[body["metadata"]["name"]]

    def apply(self, name: str, spec: Mapping[str, Any] = SPEC, **parts: Any) -> None:
        run = manifest(EVALRUNS, name, spec=dict(spec), **parts)
        self.cache.record_write(EVALRUNS, run)

        def patched(change: Mapping[str, Any]) -> dict[str, Any]:
            self.statuses[name] = {**self.statuses.get(name, {}), **change["status"]}
            self.version += 1
            metadata = {**run["metadata"], "resourceVersion": str(self.version)}
            return {**run, "metadata": metadata, "status": self.statuses[name]}

        self.server.answer("PATCH", f"{API}/evalruns/{name}/status", 200, patched)

    def condition(self, run: str, kind: str = "Stalled") -> tuple[str, str, str]:
        conditions = self.statuses.get(run, {}).get("conditions", [])
        current: dict[str, str] = next((item for item in conditions if item["type"] == kind), {})
        return current.get("status", ""), current.get("reason", ""), current.get("message", "")

    def reconcile(self, until: Callable[[], bool], further: int = 0) -> NamespaceReconciler:
        """Reconciles until a condition holds and then so many further times, whatever delay each reconcile asks for."""
        return asyncio.run(self._reconcile(until, further))

    async def _reconcile(self, until: Callable[[], bool], further: int) -> NamespaceReconciler:
        async with Client(login) as client, asyncio.timeout(60):
            context = ControllerContext(
                client, self.cache, self._stores, self._config, self.metrics, since=NOW, now=lambda: NOW
            )
            self.reconciler = reconciler = NamespaceReconciler("team", context)
            while not until():
                delay = await reconciler.reconcile_once()
                if delay > 0 and not until():
                    await reconciler._event.wait()
                reconciler._event.clear()
            for _ in range(further):
                await reconciler.reconcile_once()
            return reconciler


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ApiServer]:
    with api_server() as served:
        monkeypatch.setenv("KUBECONFIG", str(served.kubeconfig(tmp_path)))
        yield served


@pytest.fixture
def namespace(server: ApiServer, stores: Stores, config: OperatorConfig) -> Namespace:
    return Namespace(server, stores, config)


def refuse(namespace: Namespace, run: str, status: int = 403) -> None:
    """The API server refuses the ConfigMaps of one run."""

    namespace.server.refusals[CONFIGMAPS] = lambda body: (
        (status, {"kind": "Status", "message": QUOTA}) if body["metadata"]["name"].startswith(f"{run}-") else None
    )


def preflights(namespace: Namespace, run: str) -> list[str]:
    return [name for name in namespace.objects if name.startswith(f"{run}-preflight-")]


@pytest.mark.parametrize("status", [403, 422, 500])
def test_a_refused_object_stalls_its_run_in_the_words_of_the_api_server_and_no_other(
    namespace: Namespace, status: int
) -> None:
    refuse(namespace, "first", status)
    namespace.apply("first")
    namespace.apply("second", metadata={"creationTimestamp": "2026-11-22T11:30:00Z"})
    reconciler = namespace.reconcile(
        lambda: namespace.condition("first")[1] == "ObjectRefused" and bool(preflights(namespace, "second"))
    )
    stalled = namespace.condition("first")
    assert stalled[0] == "True"
    assert QUOTA in stalled[2]
    assert namespace.condition("second")[0] == "False"
    assert reconciler.synced


@pytest.mark.parametrize("status", [429, 503, 504])
def test_a_refusal_that_looks_like_an_unavailable_api_server_concerns_one_run_if_reads_are_answered(
    namespace: Namespace, status: int
) -> None:
    runs = [f"run-{number:02}" for number in range(24)]
    refuse(namespace, runs[0], status)
    for name in runs:
        namespace.apply(name)
        namespace.server.answer("GET", f"{API}/evalruns/{name}", 200, {"kind": "EvalRun"})
    namespace.reconcile(
        lambda: (
            all(preflights(namespace, name) for name in runs[1:]) and namespace.condition(runs[0])[1] == "ObjectRefused"
        )
    )
    message = namespace.condition(runs[0])[2]
    assert QUOTA in message
    assert "an admission webhook of the cluster may be slow or away" in message


def test_an_api_server_that_answers_no_read_either_ends_the_reconcile_and_delays_no_run(namespace: Namespace) -> None:
    refuse(namespace, "one", 503)
    namespace.apply("one")
    namespace.server.answer("GET", f"{API}/evalruns/one", 503, {"kind": "Status", "message": "overloaded"})
    with pytest.raises(ApiError, match="exceeded quota"):
        namespace.reconcile(lambda: False)
    assert namespace.condition("one")[1] != "ObjectRefused"
    assert namespace.reconciler is not None
    assert not namespace.reconciler._backoffs["uid-one"].refusal


def test_a_refused_object_is_tried_again_only_after_a_delay(namespace: Namespace) -> None:
    refuse(namespace, "first")
    namespace.apply("first")
    namespace.reconcile(lambda: namespace.condition("first")[1] == "ObjectRefused", further=5)
    tries = [path for method, path, *_ in namespace.server.received if (method, path) == ("POST", CONFIGMAPS)]
    assert len(tries) == 1


def test_a_job_that_was_created_without_an_answer_is_not_created_again(namespace: Namespace) -> None:
    jobs = "/apis/batch/v1/namespaces/team/jobs"

    def lose_the_answer(body: Mapping[str, Any]) -> tuple[int, Any]:
        created = namespace._created(body)
        namespace.server.answer("GET", f"{jobs}/{body['metadata']['name']}", 200, created)
        return 503, {"message": "the API server ends"}

    namespace.server.refusals[jobs] = lose_the_answer
    namespace.apply("first")
    namespace.reconcile(lambda: namespace.condition("first")[1] == "PreflightRunning", further=2)
    tries = [path for method, path, *_ in namespace.server.received if (method, path) == ("POST", jobs)]
    assert len(tries) == 1


def test_a_schedule_creates_its_run_while_an_evalrun_is_refused_and_another_schedule_is(namespace: Namespace) -> None:
    refuse(namespace, "first")
    namespace.apply("first")
    for name in ("denied", "nightly"):
        spec = {"schedule": "30 11 * * *", "runTemplate": {"spec": SPEC}}
        namespace.cache.record_write(EVALSCHEDULES, manifest(EVALSCHEDULES, name, spec=spec))
        path = f"{API}/evalschedules/{name}/status"
        schedule = manifest(EVALSCHEDULES, name, spec=spec)
        namespace.server.answer("PATCH", path, 200, schedule)
    namespace.server.refusals[f"{API}/evalruns"] = lambda body: (
        (403, {"message": "no runs"}) if body["metadata"]["name"].startswith("denied-") else None
    )
    namespace.reconcile(lambda: namespace.condition("first")[1] == "ObjectRefused")
    assert [name for name, item in namespace.objects.items() if item["kind"] == "EvalRun"] == [
        f"nightly-{int(datetime(2026, 11, 22, 11, 30, tzinfo=UTC).timestamp()) // 60}"
    ]
    events = [body["message"] for _, path, body, _ in namespace.server.received if path.endswith("/events")]
    assert any("no runs" in message for message in events), events


class Schedule:
    """The EvalSchedule `nightly`, whose run of 11:30 is due, with an earlier run beyond its history."""

    def __init__(self, namespace: Namespace) -> None:
        self.namespace = namespace
        spec = {"schedule": "30 11 * * *", "successfulRunsHistoryLimit": 0, "runTemplate": {"spec": SPEC}}
        self.manifest = manifest(EVALSCHEDULES, "nightly", spec=spec, status={})
        namespace.cache.record_write(EVALSCHEDULES, self.manifest)
        namespace.server.answer("PATCH", f"{API}/evalschedules/nightly/status", 200, self._patched)
        owner = {"kind": "EvalSchedule", "name": "nightly", "uid": "uid-nightly", "controller": True}
        succeeded = {
            "type": "Succeeded", "status": "True", "reason": "Complete", "lastTransitionTime": "2026-11-21T12:00:00Z"
        }  # fmt: skip
        for name in ("nightly-1", "nightly-2"):
            status = {"finishedAt": "2026-11-21T12:00:00Z", "conditions": [succeeded]}
            run = manifest(EVALRUNS, name, spec=SPEC, metadata={"ownerReferences": [owner]}, status=status)
            namespace.cache.record_write(EVALRUNS, run)
            namespace.server.answer("PATCH", f"{API}/evalruns/{name}/status", 200, run)

    def _patched(self, change: Mapping[str, Any]) -> dict[str, Any]:
        self.namespace.version += 1
        status = {**self.manifest["status"], **change["status"]}
        metadata = {**self.manifest["metadata"], "resourceVersion": str(self.namespace.version)}
        self.manifest = {**self.manifest, "metadata": metadata, "status": status}
        return self.manifest

    @property
    def stalled(self) -> str:
        conditions = self.manifest["status"].get("conditions", [])
        return "".join(item["message"] for item in conditions if item["type"] == "Stalled")

    @property
    def created(self) -> list[str]:
        return [name for name, item in self.namespace.objects.items() if item["kind"] == "EvalRun"]

    def reconcile(self, backoff_over: bool = False) -> float | None:
        """Reconciles the schedule once, with the memory of the last time."""

        async def reconcile() -> float | None:
            async with Client(login) as client:
                self.context.client = client
                snapshot = snapshot_of(self.context.cache, "team", Memos())
                return await self.reconciler.reconcile(snapshot.runs.values())

        if backoff_over:
            for backoffs in self.reconciler._backoffs.values():
                for backoff in (backoffs.create, backoffs.delete, backoffs.status):
                    backoff._not_before = 0.0
        return asyncio.run(reconcile())

    @cached_property
    def reconciler(self) -> ScheduleReconciler:
        return ScheduleReconciler("team", self.context)

    @cached_property
    def context(self) -> ControllerContext:
        namespace = self.namespace
        return ControllerContext(
            Client(login), namespace.cache, namespace._stores, namespace._config, namespace.metrics, NOW, lambda: NOW
        )


def test_a_refused_deletion_of_the_history_stops_no_nightly_run_and_is_a_condition_until_it_succeeds(
    namespace: Namespace,
) -> None:
    schedule = Schedule(namespace)
    paths = [f"{API}/evalruns/nightly-{number}" for number in (1, 2)]
    namespace.server.answer("DELETE", paths[0], 403, {"message": "nightly-1 is locked"})
    namespace.server.answer("DELETE", paths[1], 200, {})
    schedule.reconcile()
    assert len(schedule.created) == 1
    assert "nightly-1 is locked" in schedule.stalled
    deleted = [path for method, path, *_ in namespace.server.received if method == "DELETE"]
    assert deleted == paths, "the refusal of one deletion prevents another"
    delay = schedule.reconcile()
    assert delay is not None
    assert 0 < delay < 10
    assert len([path for method, path, *_ in namespace.server.received if method == "DELETE"]) == 2
    namespace.server.answers[("DELETE", paths[0])] = [(200, {})]
    schedule.reconcile(backoff_over=True)
    assert schedule.stalled == ""
    assert schedule.reconcile() == 23.5 * 3600


def test_a_refused_run_of_a_schedule_is_a_condition_and_counts_as_missed_until_it_is_created(
    namespace: Namespace,
) -> None:
    schedule = Schedule(namespace)
    for number in (1, 2):
        namespace.server.answer("DELETE", f"{API}/evalruns/nightly-{number}", 200, {})
    namespace.server.refusals[f"{API}/evalruns"] = lambda _: (403, {"message": "no runs"})
    schedule.reconcile()
    assert "no runs" in schedule.stalled
    assert len([path for method, path, *_ in namespace.server.received if method == "DELETE"]) == 2
    due = datetime(2026, 11, 22, 11, 30, tzinfo=UTC).timestamp()
    metrics = namespace.metrics.text().decode().splitlines()
    [shown] = [line for line in metrics if line.startswith("opsgym_schedule_next_run_timestamp_seconds{")]
    assert float(shown.split()[-1]) == due
    tries = [path for method, path, *_ in namespace.server.received if (method, path) == ("POST", f"{API}/evalruns")]
    schedule.reconcile()
    again = [path for method, path, *_ in namespace.server.received if (method, path) == ("POST", f"{API}/evalruns")]
    assert len(tries) == len(again) == 1
    namespace.server.refusals.clear()
    schedule.reconcile(backoff_over=True)
    assert (len(schedule.created), schedule.stalled) == (1, "")


def test_a_copy_of_a_job_is_left_alone(namespace: Namespace) -> None:
    labels = {"opsgym.dev/run": "first", "opsgym.dev/run-uid": "uid-first", "opsgym.dev/role": "task"}
    owner = {"kind": "EvalRun", "name": "first", "uid": "uid-first", "controller": True}
    status = {"conditions": [{"type": "Complete", "status": "True"}]}
    for name in ("x-debug", "first-abcdef-debug"):
        copy = manifest(
            JOBS, name, metadata={"labels": labels, "ownerReferences": [owner]}, spec={"completions": 1}, status=status
        )
        namespace.cache.record_write(JOBS, copy)
        own = {**labels, "batch.kubernetes.io/job-name": name}
        by_job = {"kind": "Job", "name": name, "uid": f"uid-{name}", "controller": True}
        pod = manifest(PODS, f"{name}-p", metadata={"labels": own, "ownerReferences": [by_job]}, status={})
        namespace.cache.record_write(PODS, pod)
    namespace.apply("first")
    namespace.reconcile(lambda: bool(preflights(namespace, "first")))
    assert namespace.condition("first")[0] == "False"
    assert not [path for method, path, *_ in namespace.server.received if method == "DELETE"]


def test_an_operator_is_ready_once_each_namespace_was_tried(
    server: ApiServer,
    namespace: Namespace,
    stores: Stores,
    config: OperatorConfig,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    namespace.apply("first")
    server.answers[("PATCH", f"{API}/evalruns/first/status")] = [(503, {"message": "etcd is away"})]
    waits: list[float | None] = []
    failed = asyncio.Event()

    usual = NamespaceReconciler._wait

    async def wait(reconciler: NamespaceReconciler, delay: float | None) -> None:
        waits.append(delay)
        if len(waits) > 2:
            failed.set()
            await asyncio.Event().wait()
        await usual(reconciler, delay)

    monkeypatch.setattr(NamespaceReconciler, "_wait", wait)

    async def reconcile() -> None:
        async with Client(login) as client:
            controller = Controller()
            controller.context = ControllerContext(
                client, namespace.cache, stores, config, Metrics(), since=NOW, now=lambda: NOW
            )
            controller.enqueue("team")
            async with asyncio.timeout(20):
                await failed.wait()
            assert controller.ready(["team"])
            await controller.close()

    asyncio.run(reconcile())


def test_what_a_run_left_when_it_was_deleted_alone_is_deleted_and_copies_of_users_stay(namespace: Namespace) -> None:
    namespace.apply("first")
    gone = {"opsgym.dev/run": "gone", "opsgym.dev/run-uid": "uid-gone"}
    own = {"opsgym.dev/run": "first", "opsgym.dev/run-uid": "uid-first"}
    owned = {"labels": gone, "ownerReferences": [{"kind": "EvalRun", "name": "gone", "uid": "uid-gone"}]}
    for name, metadata in (
        ("gone-abc123-0", {"labels": gone}),
        ("gone-abc123-1", owned),
        ("x-debug", {"labels": gone}),
        ("first-abc123-0", {"labels": own}),
    ):
        spec = {"parallelism": 1, "completions": 1}
        namespace.cache.record_write(JOBS, manifest(JOBS, name, spec=spec, status={}, metadata=metadata))
        namespace.server.answer("DELETE", f"/apis/batch/v1/namespaces/team/jobs/{name}", 200, {})

    namespace.reconcile(lambda: bool(preflights(namespace, "first")))

    deleted = {path.partition("?")[0] for method, path, *_ in namespace.server.received if method == "DELETE"}
    assert deleted == {"/apis/batch/v1/namespaces/team/jobs/gone-abc123-0"}


@pytest.mark.parametrize("forbidden", [False, True])
def test_a_job_without_pods_is_reported_in_the_words_of_the_api_server(namespace: Namespace, forbidden: bool) -> None:
    namespace.apply("first")
    namespace.reconcile(lambda: bool(preflights(namespace, "first")))
    [name] = [item for item in preflights(namespace, "first") if namespace.objects[item]["kind"] == "Job"]
    job = namespace.objects[name]
    started = {**job, "status": {"startTime": "2026-11-22T11:58:00Z"}}
    namespace.cache.record_write(JOBS, started)
    quota = 'Error creating: pods "p" is forbidden: exceeded quota: pods'
    events = [
        {"involvedObject": {"name": name}, "message": message, "lastTimestamp": at}
        for message, at in ((quota, "2026-11-22T11:59:00Z"), ("an older cause", "2026-11-22T11:58:30Z"))
    ]
    answer = (403, {"message": "events is forbidden"}) if forbidden else (200, {"items": events})
    namespace.server.answer("GET", "/api/v1/namespaces/team/events", *answer)

    namespace.reconcile(lambda: namespace.condition("first")[1] == "PodsRefused", further=2)

    assert ("`kubectl describe job" if forbidden else quota) in namespace.condition("first")[2]
    selectors = [path for method, path, *_ in namespace.server.received if method == "GET" and "fieldSelector" in path]
    assert len(selectors) == 1
