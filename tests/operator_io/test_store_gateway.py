"""The store gateway over HTTP, with pods that a stub of the API server knows and a real S3 server behind it."""

from __future__ import annotations

import http.client
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.operator_io.api_server import api_server
from tests.support.prometheus import program
from tests.support.store_gateway import PodList, Time, review, running, token

from opsgym_api.records.attempt import AttemptRecord, Cell, Timings
from opsgym_api.records.store_gateway import MOST_BYTES, store_url
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.metrics.definitions import GATEWAY_METRICS
from opsgym_core.store.base import Store, StoreError
from opsgym_core.store.mounted import Stores
from opsgym_core.store.sealed import SealedStore, as_stored
from opsgym_operator.config import OperatorConfig
from opsgym_operator.gateway.metrics import GatewayMetrics
from opsgym_operator.gateway.server import REQUESTS
from opsgym_operator.gateway.sessions import RECHECK_S, REFUSED_S
from opsgym_operator.gateway.sessions import REQUESTS as POD_REQUESTS
from opsgym_runner.pod.gateway_store import GatewayStore
from opsgym_runner.recording.seal import AesSeal

CELL = Cell(model="m", agent="react", mode="oracle", domain="itsm")
KEYS = RunKeys("team.demo.0a1b")
OWN, OTHER = KEYS.trial(CELL, "t", 0), KEYS.trial(CELL, "t", 1)
JOB = {
    "run": "team.demo.0a1b",
    "store": "results",
    "cell": CELL.model_dump(),
    "model": {"name": "m", "model": "replay/gold", "endpoints": [], "max_concurrency": 1},
    "agent": {"name": "react"},
    "limits": {},
    "access": "published",
    "gyms": {},
    "trials": [{"task_id": "t", "trial": 0}, {"task_id": "t", "trial": 1}],
}
CHECK = {"run": "team.demo.0a1b", "store": "results", "suite": {"builtin": "quickstart"}, "models": []}


def attempt(started_at: str, message: str = "") -> bytes:
    record = AttemptRecord(
        run=KEYS.run,
        cell=CELL,
        task_id="t",
        trial=0,
        attempt=0,
        message=message,
        timings=Timings(started_at=started_at),
    )
    return record.to_json()


@dataclass
class World:
    """A gateway, the store behind it, and what the API server knows."""

    url: str
    pods: PodList
    time: Time
    bucket: Store
    folder: Path
    opened: list[GatewayStore] = field(default_factory=list)

    def store(self, given: str, name: str = "results") -> GatewayStore:
        """The store as a pod with a token sees it."""
        file = self.folder / f"token-{len(self.opened)}"
        file.write_text(given)
        return self.open(store_url(self.url, name), file)

    def open(self, url: str, file: Path) -> GatewayStore:
        """A store that is closed when the test ends."""
        self.opened.append(GatewayStore(url, file))
        return self.opened[-1]

    def contents(self) -> dict[str, bytes | None]:
        return {key: self.bucket.get(key) for key in self.bucket.keys("")}


@pytest.fixture
def world(config: OperatorConfig, stores: Stores, tmp_path: Path) -> Iterator[World]:
    folder = tmp_path / "tokens"
    folder.mkdir()
    with api_server() as api:
        pods, time = PodList(api), Time()
        with running(pods, config, stores, time) as url:
            world = World(url, pods, time, stores.get("results"), folder)
            yield world
            for opened in world.opened:
                opened.close()


def test_a_pod_reads_and_writes_what_its_trial_needs(world: World) -> None:
    world.bucket.put(KEYS.suite_task("t"), b"row")
    pod = world.store(world.pods.add(JOB))
    assert pod.get(KEYS.suite_task("t")) == b"row"
    assert pod.get(KEYS.control_json) is None
    assert list(pod.keys(OWN.attempts)) == []
    pod.put(OWN.attempt(0), attempt("2026-01-01T00:00:05Z"))
    pod.put(OWN.attempt(0), attempt("2026-01-01T00:00:05Z", "step"))
    content = bytes(range(256)) * 9000
    pod.put(OWN.transcript, content)
    assert pod.put_once(KEYS.catalogue("d"), b"tools") is True
    assert pod.put_once(OWN.record, b"score") is True
    assert list(pod.keys(OWN.attempts)) == [OWN.attempt(0)]
    assert list(pod.folders(OWN.attempts)) == []
    assert world.bucket.get(OWN.transcript) == pod.get(OWN.transcript) == content
    assert world.bucket.get(OWN.record) == b"score"


def test_a_pod_with_the_held_out_seed_seals_and_opens_through_the_gateway(world: World) -> None:
    seal = AesSeal("a secret of thirty-two characters")
    SealedStore(world.bucket, seal).put(KEYS.suite_task("t"), b"Close incident INC_001 for Nadia")
    gateway = world.store(world.pods.add(JOB))
    store = SealedStore(gateway, seal)
    assert store.get(KEYS.suite_task("t")) == b"Close incident INC_001 for Nadia"
    assert SealedStore(gateway).get(KEYS.suite_task("t")) is None
    record = attempt("2026-01-01T00:00:05Z", "row says Nadia")
    store.put(OWN.attempt(0), record)
    store.put(OWN.attempt(0), record)
    store.put(OWN.transcript, b"Nadia left")
    assert store.get(OWN.attempt(0)) == record
    assert store.get(OWN.transcript) == b"Nadia left"
    stored = as_stored(world.bucket)
    assert not [key for key in stored.keys("") if b"Nadia" in (stored.get(key) or b"")]


def test_a_score_is_written_once_and_then_its_artefacts_do_not_change(world: World) -> None:
    pod = world.store(world.pods.add(JOB))
    pod.put(OWN.transcript, b"first")
    assert pod.put_once(OWN.record, b"first") is True
    assert pod.put_once(OWN.record, b"second") is False
    before = world.contents()
    with pytest.raises(StoreError, match=r"may not replace .*AccessDenied, HTTP 403"):
        pod.put(OWN.record, b"second")
    for key in (OWN.transcript, OWN.state("itsm")):
        with pytest.raises(StoreError, match="does not change any more"):
            pod.put(key, b"second")
    assert world.contents() == before


def _while_the_body_is_on_its_way(
    world: World, monkeypatch: pytest.MonkeyPatch, given: str, key: str, end: Callable[[], None]
) -> tuple[int, bytes]:
    """The answer to a write whose body arrives after the gateway has allowed it and something else was written."""
    allowed, keys = threading.Event(), world.bucket.keys

    def seen(prefix: str) -> Iterator[str]:
        listed = list(keys(prefix))
        allowed.set()
        return iter(listed)

    monkeypatch.setattr(world.bucket, "keys", seen)
    connection = http.client.HTTPConnection(world.url.removeprefix("http://"), timeout=30)
    connection.putrequest("PUT", f"/stores/results/object?key={key}")
    connection.putheader("Authorization", f"Bearer {given}")
    connection.putheader("Content-Length", "6")
    connection.endheaders()
    assert allowed.wait(30)
    end()
    connection.send(b"second")
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, content


def test_an_artefact_whose_body_arrives_after_the_score_is_refused(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = world.pods.add(JOB)
    world.store(given).put(OWN.transcript, b"first")

    def score() -> None:
        assert world.store(given).put_once(OWN.record, b"score")

    status, content = _while_the_body_is_on_its_way(world, monkeypatch, given, OWN.transcript, score)
    assert (status, b"does not change any more" in content) == (403, True)
    assert world.bucket.get(OWN.transcript) == b"first"


def test_a_row_whose_body_arrives_after_the_run_is_frozen_is_refused(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = world.pods.add(CHECK, "check", role="preflight")
    world.bucket.put(KEYS.suite_task("t"), b"first")

    def freeze() -> None:
        world.bucket.put(KEYS.run_json, b"{}")

    status, content = _while_the_body_is_on_its_way(world, monkeypatch, given, KEYS.suite_task("t"), freeze)
    assert (status, b"does not change any more" in content) == (403, True)
    assert world.bucket.get(KEYS.suite_task("t")) == b"first"


def test_a_pod_touches_nothing_of_other_trials_runs_and_stores(world: World) -> None:
    other_run = RunKeys("team.other.9")
    for key in (other_run.run_json, OTHER.record, KEYS.run_json):
        world.bucket.put(key, b"theirs")
    before, pod = world.contents(), world.store(world.pods.add(JOB))
    for key in (OTHER.record, OTHER.attempt(0), other_run.run_json, KEYS.run_json, KEYS.control_json, "x"):
        for write in (pod.put, pod.put_once):
            with pytest.raises(StoreError, match="AccessDenied"):
                write(key, b"forged")
    for key in (OTHER.record, other_run.run_json, KEYS.run_json):
        with pytest.raises(StoreError, match="AccessDenied"):
            pod.get(key)
    for prefix in ("", "runs/", KEYS.root, KEYS.cells, OTHER.attempts):
        with pytest.raises(StoreError, match="AccessDenied"):
            list(pod.keys(prefix))
    with pytest.raises(StoreError, match="AccessDenied"):
        world.store(token("pod"), name="other").get(OWN.record)
    assert world.contents() == before


def test_a_pod_of_several_trials_writes_all_of_them(world: World) -> None:
    pod = world.store(world.pods.add({**JOB, "trials_per_pod": 2}))
    assert pod.put_once(OWN.record, b"1")
    assert pod.put_once(OTHER.record, b"1")


def test_an_attempt_of_an_earlier_pod_is_not_replaced(world: World) -> None:
    earlier = attempt("2025-12-31T23:59:00Z", "spent much")
    world.bucket.put(OWN.attempt(0), earlier)
    world.bucket.put(OWN.attempt(1), b"not a record")
    pod = world.store(world.pods.add(JOB))
    for key in (OWN.attempt(0), OWN.failed_transcript(0), OWN.attempt(1)):
        with pytest.raises(StoreError, match="was written by another pod"):
            pod.put(key, attempt("2026-01-01T00:01:00Z"))
    pod.put(OWN.attempt(2), attempt("2026-01-01T00:01:00Z"))
    assert world.bucket.get(OWN.attempt(0)) == earlier


def test_a_pod_goes_on_with_its_attempt_at_another_gateway(
    world: World, config: OperatorConfig, stores: Stores
) -> None:
    given = world.pods.add(JOB)
    world.store(given).put(OWN.attempt(0), attempt("2026-01-01T00:01:00Z"))
    with running(world.pods, config, stores) as url:
        world.url = url
        world.store(given).put(OWN.attempt(0), attempt("2026-01-01T00:01:00Z", "later"))
    assert b"later" in (world.bucket.get(OWN.attempt(0)) or b"")


def test_a_suite_is_frozen_by_the_preflight_of_its_run_until_the_run_is(world: World) -> None:
    task, check = world.store(world.pods.add(JOB)), world.store(world.pods.add(CHECK, "check", role="preflight"))
    check.put(KEYS.probe, b"p")
    assert check.put_once(KEYS.probe, b"p") is False
    check.put(KEYS.suite_index, b"1")
    with pytest.raises(StoreError, match="AccessDenied"):
        task.put(KEYS.suite_index, b"2")
    world.bucket.put(KEYS.run_json, b"{}")
    with pytest.raises(StoreError, match="does not change any more"):
        check.put(KEYS.suite_index, b"2")
    assert world.bucket.get(KEYS.suite_index) == b"1"


def test_only_the_token_of_a_runs_pod_for_this_gateway_is_taken(world: World) -> None:
    own = world.pods.add(JOB)
    reviews = {
        "another-audience": review("pod", audience="https://kubernetes.default.svc"),
        "another-account": review("pod", account="default"),
        "a-user": {**review("pod"), "user": {"username": "admin", "extra": {}}},
        "no-pod": {**review("pod"), "user": {"username": "system:serviceaccount:team:opsgym-task"}},
    }
    world.pods.reviews |= {token(name): status for name, status in reviews.items()}
    for given in ("", "nonsense", own[:-1], *map(token, reviews)):
        with pytest.raises(StoreError, match=r"Unauthenticated, HTTP 401|cannot be reached"):
            world.store(given).put_once(OWN.record, b"forged")
    assert httpx.get(f"{world.url}/stores/results/keys?prefix=").status_code == 401
    assert world.contents() == {}


def test_a_pod_that_ended_was_replaced_or_never_was_gets_nothing(world: World) -> None:
    gone = world.store(world.pods.add(JOB, "gone"))
    del world.pods.api.answers["GET", "/api/v1/namespaces/team/pods/gone"]
    with pytest.raises(StoreError, match="pod gone is gone"):
        gone.get(OWN.record)
    ending = world.store(world.pods.add(JOB, "ending"))
    assert ending.get(OWN.record) is None
    [(_, pod)] = world.pods.api.answers["GET", "/api/v1/namespaces/team/pods/ending"]
    world.pods.show("api/v1", "pods", {**pod, "status": {**pod["status"], "phase": "Succeeded"}})
    world.time.monotonic = RECHECK_S
    with pytest.raises(StoreError, match="pod ending has ended"):
        ending.put_once(OWN.record, b"late")
    replaced = {**pod, "metadata": {**pod["metadata"], "uid": "another"}}
    world.pods.show("api/v1", "pods", replaced)
    with pytest.raises(StoreError, match="pod ending is gone"):
        ending.put_once(OWN.record, b"late")
    assert world.contents() == {}


def test_without_the_api_server_a_known_pod_goes_on_until_its_token_expires(world: World) -> None:
    known, new = world.store(world.pods.add(JOB)), world.store(world.pods.add(JOB, "new"))
    assert known.get(OWN.record) is None
    world.pods.down, world.time.monotonic = True, RECHECK_S
    known.put(OWN.attempt(0), attempt("2026-01-01T00:01:00Z"))
    with pytest.raises(StoreError, match=r"cannot be looked up.*Unavailable, HTTP 503"):
        new.get(OWN.record)
    world.time.now = 5e9
    with pytest.raises(StoreError, match="cannot be looked up"):
        known.get(OWN.record)


def test_a_token_is_reviewed_once_a_minute_and_the_file_is_read_for_each_request(world: World) -> None:
    file = world.folder / "token"
    file.write_text(world.pods.add(JOB))
    pod = world.open(store_url(world.url, "results"), file)

    def reviews() -> int:
        return sum("tokenreviews" in path for _, path, *_ in world.pods.api.received)

    assert [pod.get(OWN.record) for _ in range(5)] == [None] * 5
    assert reviews() == 1
    world.pods.reviews[token("pod", 5e9)] = review("pod")
    file.write_text(token("pod", 5e9))
    assert pod.get(OWN.record) is None
    assert reviews() == 2
    file.unlink()
    with pytest.raises(StoreError, match=r"token .* cannot be read: No such file"):
        pod.get(OWN.record)


def test_pods_that_send_slowly_hold_no_slot_of_others(world: World) -> None:
    host, _, port = world.url.removeprefix("http://").partition(":")
    with ExitStack() as sending:
        for number in range(2 * REQUESTS // POD_REQUESTS):
            given = world.pods.add(JOB, f"slow-{number}")
            for index in range(POD_REQUESTS):
                head = (
                    f"PUT /stores/results/object?key={OWN.attempt(index)} HTTP/1.1\r\nHost: {host}\r\n"
                    f"Authorization: Bearer {given}\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n"
                )
                connection = sending.enter_context(socket.create_connection((host, int(port)), timeout=30))
                connection.sendall(head.encode())
                assert connection.recv(100).startswith(b"HTTP/1.1 100")
        file = world.folder / "token"
        file.write_text(world.pods.add(JOB, "quick"))
        assert world.open(store_url(world.url, "results"), file).get(OWN.record) is None


def test_a_token_that_is_not_known_costs_one_review_in_a_while(world: World) -> None:
    def reviews() -> int:
        return sum("tokenreviews" in path for _, path, *_ in world.pods.api.received)

    with httpx.Client(headers={"Authorization": "Bearer nonsense"}) as client, ThreadPoolExecutor(8) as threads:
        answers = threads.map(lambda _: client.get(f"{world.url}/stores/results/keys?prefix=x").status_code, range(40))
        assert set(answers) == {401}
        assert reviews() == 1
        world.time.monotonic += REFUSED_S
        assert client.get(f"{world.url}/stores/results/keys?prefix=x").status_code == 401
    assert reviews() == 2


def test_an_object_that_is_too_large_is_refused_before_it_is_sent(world: World) -> None:
    given = world.pods.add(JOB)
    connection = http.client.HTTPConnection(world.url.removeprefix("http://"), timeout=30)
    connection.putrequest("PUT", f"/stores/results/object?key={OWN.transcript}")
    connection.putheader("Authorization", f"Bearer {given}")
    connection.putheader("Content-Length", str(MOST_BYTES + 1))
    connection.endheaders()
    answer = connection.getresponse()
    assert (answer.status, b"larger than 64 MiB" in answer.read()) == (413, True)
    connection.close()


def test_a_store_that_is_away_is_an_error_with_its_cause(world: World, stores: Stores) -> None:
    pod = world.store(world.pods.add(JOB))
    assert pod.get(OWN.record) is None
    stores._open.clear()
    (stores._mounted / "results" / "access-key-id").unlink()
    with pytest.raises(StoreError, match=r"Secret opsgym-results has no access-key-id .*Unavailable, HTTP 503"):
        pod.get(OWN.record)


def test_an_answer_that_is_not_the_gateways_is_no_missing_object(world: World) -> None:
    file = world.folder / "token"
    file.write_text(world.pods.add(JOB))
    with pytest.raises(StoreError, match="check that the address is that of a store gateway"):
        world.open(f"{world.url}/wrong/stores/results", file).get(OWN.record)
    with pytest.raises(StoreError, match="cannot be reached"):
        world.open("http://127.0.0.1:9/stores/results", file).get(OWN.record)


def test_tokens_and_contents_are_in_no_answer_and_no_line_of_the_log(
    world: World, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    given = world.pods.add(JOB)
    pod = world.store(given)
    for key in (OTHER.record, OWN.record):
        with pytest.raises(StoreError) as caught:
            pod.put(key, b"private")
        assert given not in str(caught.value)
    logged = "".join(capfd.readouterr()) + caplog.text  # another test of the process may have set up logging
    assert "request refused" in logged
    assert OTHER.record in logged
    assert given not in logged
    assert "private" not in logged


def test_pods_of_other_namespaces_than_those_served_get_nothing(
    world: World, config: OperatorConfig, stores: Stores
) -> None:
    given = world.pods.add(JOB)
    narrow: Any = config.model_copy(update={"watch_namespaces": ["elsewhere"]})
    with running(world.pods, narrow, stores) as url:
        world.url = url
        with pytest.raises(StoreError, match="does not serve namespace team"):
            world.store(given).get(OWN.record)


def _requests(metrics: GatewayMetrics) -> dict[tuple[str, str], float]:
    """Requests that were counted, by operation and status."""
    families = {family.name: family for family in text_string_to_metric_families(metrics.text().decode())}
    counted = families["opsgym_store_gateway_requests"].samples
    return {(item.labels["operation"], item.labels["status"]): item.value for item in counted if item.value}


def test_requests_are_counted_by_operation_and_status_also_those_that_are_refused(
    world: World, config: OperatorConfig, stores: Stores
) -> None:
    metrics, given = GatewayMetrics(), world.pods.add(JOB)
    with running(world.pods, config, stores, metrics=metrics) as url:
        world.url = url
        pod = world.store(given)
        assert pod.put_once(OWN.record, b"score") is True
        assert pod.put_once(OWN.record, b"score") is False
        assert pod.get(OWN.record) == b"score"
        assert list(pod.keys(OWN.attempts)) == []
        with pytest.raises(StoreError, match="AccessDenied"):
            pod.get(OTHER.record)
        authorization = {"Authorization": f"Bearer {given}"}
        assert httpx.get(f"{url}/stores/results/object", headers=authorization).status_code == 400
        assert httpx.get(f"{url}/healthz").status_code == 200
    assert _requests(metrics) == {
        ("put", "204"): 1, ("put", "412"): 1, ("get", "200"): 1, ("list", "200"): 1, ("get", "403"): 1,
        ("get", "400"): 1,
    }  # fmt: skip


def test_every_metric_of_the_gateway_is_declared_and_promtool_accepts_the_exposition() -> None:
    text = GatewayMetrics().text()
    exposed = {family.name for family in text_string_to_metric_families(text.decode())}
    declared = {metric.name.removesuffix("_total") for metric in GATEWAY_METRICS}
    assert {name for name in exposed if not name.startswith("process_")} == declared
    checked = subprocess.run([program("promtool"), "check", "metrics"], input=text, capture_output=True, check=False)
    assert (checked.returncode, checked.stdout + checked.stderr) == (0, b"")
