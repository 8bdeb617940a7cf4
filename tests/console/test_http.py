"""The console over HTTP: what each address answers, to whom, and what it says when something is wrong."""

from __future__ import annotations

import base64
import gzip
import html
import json
import shutil
import time
from collections.abc import Iterator
from typing import Any

import boto3
import httpx
import pytest
from itsdangerous import TimestampSigner
from moto.server import ThreadedMotoServer
from pydantic import SecretStr
from tests.cli.runs import put_attempt
from tests.cli.world import until
from tests.console.harness import Running, at, client, serving, showing

from opsgym_api.records.gate import GateRecord
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.store_layout import RunKeys
from opsgym_console.report.model import PageData, TrialDetail
from opsgym_console.server.access import SESSION_SECONDS, Access, trusted_header
from opsgym_console.server.sources import StoreSource
from opsgym_core.results.compaction import compact
from opsgym_core.results.load import load_record, load_rows
from opsgym_core.results.score import Score, summarise
from opsgym_core.store.local import LocalStore
from opsgym_core.store.s3 import S3Store

TOKEN = "correct-horse-battery-staple"
PAGE = {"accept": "text/html"}


def finished(store: LocalStore | S3Store, name: str = "demo.1", *failed: str, **fields: Any) -> Running:
    """A run that has ended."""
    run = Running.begin(store, name, "a", "b", "c")
    for place in range(2):
        for task_id in ("a", "b", "c"):
            run.end(task_id, place, Outcome.FAILED if task_id in failed else Outcome.PASSED)
    return run


@pytest.fixture
def console(store: LocalStore) -> Iterator[httpx.Client]:
    """A console of the store, for this machine."""
    with showing(store.root) as url, client(url) as console:
        yield console


def counted(console: httpx.Client) -> list[dict[str, Any]]:
    """The list, once everything in it is counted."""
    until(lambda: console.get("/api/runs").json()["counting"] == 0, "runs are counted")
    runs: list[dict[str, Any]] = console.get("/api/runs").json()["runs"]
    return runs


def agent_numbers(score: Score) -> dict[str, float | None]:
    interval = score.success.interval
    assert interval is not None
    return {
        "rate": score.success_rate, "low": interval.low, "high": interval.high, "worst": score.worst_rate,
        "scored": score.scored, "total": score.total, "cost_per_task": score.cost_per_task,
    }  # fmt: skip


def test_the_list_has_every_run_with_its_numbers(console: httpx.Client, store: LocalStore) -> None:
    finished(store, "old.1", "a")
    run = Running.begin(store, "young.2", "a", "b")
    run.end("a")
    run.start("b")
    put_attempt(store, run.run, "b", Outcome.INFRA_ERROR, reason="gym_lost", cell=run.plan[1].cell, timings=at())
    young, old = counted(console)
    summary = summarise(load_rows(store, "old.1"))
    score = summary.total
    assert score.success.interval is not None
    assert old["numbers"] == {
        "total": 6, "ended": 6, "scored": 6, "passed": 4, "rate": score.success_rate, "low": score.success.interval.low,
        "high": score.success.interval.high, "worst": score.worst_rate, "best": score.best_rate,
        "attempts_per_scored": 1.0, "cost_usd": score.cost_usd, "running": 0,
        "agents": [
            {"name": one.model, "model": one.model, "agent": one.agent, "mode": one.mode, **agent_numbers(one.score)}
            for one in sorted(summary.agents, key=lambda one: -(one.score.success_rate or 0))
        ],
    }  # fmt: skip
    assert (old["state"], old["models"], old["profiles"], old["suite"], old["namespace"]) == (
        "finished",
        ["gpt", "sonnet"],
        ["opsgym"],
        "quickstart",
        "",
    )
    assert (young["state"], young["message"]) == ("running", "1 trial running, 1 waiting")
    assert (young["numbers"]["ended"], young["numbers"]["scored"], young["numbers"]["running"]) == (2, 1, 1)


def test_a_deleted_run_leaves_the_list(
    console: httpx.Client, store: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("opsgym_console.server.run_list.LIST_SECONDS", 0.1)
    Running.begin(store, "demo.1", "a")
    assert len(counted(console)) == 1
    shutil.rmtree(store.root / "runs" / "demo.1")
    until(lambda: console.get("/api/runs").json()["runs"] == [], "the run has left the list")


def test_the_list_shows_gate_verdicts(console: httpx.Client, store: LocalStore) -> None:
    run = finished(store)
    record = load_record(store, run.run).model_copy(update={"spec": {"gate": {"minSuccessRate": 0.5}}})
    store.put(RunKeys(run.run).run_json, record.model_dump_json().encode())
    gate = GateRecord(run=run.run, verdict="NO-GO", checks=[], decided_at="2026-01-01T00:00:00Z")
    store.put(RunKeys(run.run).gate_json, gate.model_dump_json().encode())
    assert counted(console)[0]["verdict"] == "NO-GO"
    assert PageData.model_validate_json(console.get(f"/api/runs/{run.run}/page").content).run.gate == gate


def test_live_runs_are_counted_again_and_new_ones_appear(
    console: httpx.Client, store: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("opsgym_console.server.run_list.LIVE_SECONDS", 0.1)
    monkeypatch.setattr("opsgym_console.server.run_list.LIST_SECONDS", 0.1)
    run = Running.begin(store, "demo.1", "a", "b", models=["gpt"])
    assert counted(console)[0]["numbers"]["ended"] == 0
    run.end("a")
    until(lambda: counted(console)[0]["numbers"]["ended"] == 1, "the trial is counted")
    finished(store, "late.2")
    until(lambda: len(counted(console)) == 2, "the new run appears")


def test_an_invalid_run_is_reported_and_the_others_are_listed(console: httpx.Client, store: LocalStore) -> None:
    finished(store, "good.1")
    bad = Running.begin(store, "bad.1", "a")
    store.put(RunKeys(bad.run).trial(bad.plan[0].cell, "a", 0).record, b"{")
    store.put(RunKeys("worse.1").run_json, b"{")
    runs = {run["run"]: run for run in counted(console)}
    assert runs["good.1"]["state"] == "finished"
    assert console.get("/api/runs/bad.1/page").json()["total"]["not_scored"]["config_error/unreadable_record"] == 1
    assert "worse.1" not in runs
    (problem,) = console.get("/api/runs").json()["problems"]
    assert "worse.1/run.json: is not a valid RunRecord" in problem


def test_a_page_has_the_numbers_of_the_store(console: httpx.Client, store: LocalStore) -> None:
    run = finished(store, "demo.1", "b")
    page = PageData.model_validate_json(console.get(f"/api/runs/{run.run}/page").content)
    assert (page.run.id, page.run.live, page.details) == (run.run, False, "server")
    assert (page.total.passed, page.total.failed) == (4, 2)
    assert page.failure_modes is not None
    assert page.failure_modes.analysed == 2


def test_a_page_is_compressed_and_sent_once(console: httpx.Client, store: LocalStore) -> None:
    run = finished(store)
    with console.stream("GET", f"/api/runs/{run.run}/page", headers={"accept-encoding": "gzip"}) as zipped:
        raw = b"".join(zipped.iter_raw())
    assert zipped.headers["content-encoding"] == "gzip"
    plain = console.get(f"/api/runs/{run.run}/page", headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert gzip.decompress(raw) == plain.content
    again = console.get(f"/api/runs/{run.run}/page", headers={"if-none-match": f'"x", W/{plain.headers["etag"]}'})
    assert (again.status_code, again.content) == (304, b"")


def test_a_page_compares_with_the_requested_run(console: httpx.Client, store: LocalStore) -> None:
    finished(store, "before.1", "a", "b")
    now = finished(store, "now.2", "c")
    response = console.get(f"/api/runs/{now.run}/page", params={"baseline": "before.1"})
    baseline = PageData.model_validate_json(response.content).baseline
    assert baseline is not None
    assert (baseline.run, baseline.total.lost, baseline.total.won) == ("before.1", 2, 4)
    assert PageData.model_validate_json(console.get(f"/api/runs/{now.run}/page").content).baseline is None
    for wrong in ("unknown", "../before.1", now.run):
        answer = console.get(f"/api/runs/{now.run}/page", params={"baseline": wrong})
        assert answer.status_code == 404, wrong
        assert wrong in answer.json()["detail"]


def test_details_of_a_trial_are_those_of_the_store(console: httpx.Client, store: LocalStore) -> None:
    run = finished(store)
    key = run.plan[1].cell.key
    detail = TrialDetail.model_validate_json(console.get(f"/api/runs/{run.run}/trials/{key}/b/0").content)
    assert (detail.task_id, detail.cell, detail.trial) == ("b", run.plan[1].cell, 0)
    assert "I have done b." in [*(entry.event.content for entry in detail.transcript), *detail.texts]


@pytest.mark.parametrize(
    "place",
    [
        "m_react_oracle_itsm/a/0", "gpt_react_oracle_itsm/z/0", "gpt_react_oracle_itsm/a/1",
        "gpt_react_oracle_itsm/a/-1",
        "gpt_react_oracle_itsm/a/x", "gpt_react_oracle_itsm/a/²", "gpt_react_oracle_itsm/..%2f..%2frun/0", "../../a/0",
        "gpt_react_oracle_itsm/a/99999999999999999999999", "gpt_react_oracle_itsm/%00/0", "gpt_react_oracle_itsm/a",
    ],
)  # fmt: skip
def test_a_trial_that_the_run_does_not_have_is_not_found(console: httpx.Client, store: LocalStore, place: str) -> None:
    run = finished(store)
    answer = console.get(f"/api/runs/{run.run}/trials/{place}")
    assert answer.status_code == 404
    assert "Traceback" not in answer.text


@pytest.mark.parametrize(
    "run",
    [
        "unknown", "%2e%2e", "..%2f..%2fetc", "a%2fb", "%2fetc%2fpasswd", ".hidden", "%00", "na%C3%AFve", "%ff%fe",
        "a%0ab", "x" * 3000, "demo", "demo.1%2f", "%F0%9F%A6%84", "<script>", "%3Cscript%3Ealert(1)%3C/script%3E",
    ],
)  # fmt: skip
def test_an_unknown_run_is_reported_with_a_message(console: httpx.Client, store: LocalStore, run: str) -> None:
    finished(store)
    for path in (f"/api/runs/{run}/page", f"/api/runs/{run}/events", f"/api/runs/{run}/trials/c/t/0", f"/runs/{run}/"):
        answer = console.get(path, headers=PAGE)
        assert answer.status_code == 404, path
        assert "Traceback" not in answer.text
        assert "<script>alert" not in answer.text
        message = answer.text if path.startswith("/runs/") else answer.json()["detail"]
        assert "unknown run" in message or "address does not exist" in message
    assert console.get("/healthz").text == "ok\n"


def test_pages_are_reached_below_any_prefix(console: httpx.Client, store: LocalStore) -> None:
    run = finished(store)
    page = console.get(f"/runs/{run.run}/", headers=PAGE)
    assert page.status_code == 200
    assert f'content="../../api/runs/{run.run}/"' in page.text
    moved = console.get(f"/runs/{run.run}?baseline=x")
    assert (moved.status_code, moved.headers["location"]) == (308, f"{run.run}/?baseline=x")
    for text in (console.get("/", headers=PAGE).text, console.get("/runs/unknown/", headers=PAGE).text):
        assert 'href="/' not in text
        assert 'src="/' not in text


def test_every_answer_has_the_security_headers(console: httpx.Client, store: LocalStore) -> None:
    run = finished(store)
    paths = (
        "/",
        "/healthz",
        "/sign-in",
        "/nothing",
        "/static/runs.js",
        f"/runs/{run.run}/",
        "/api/runs",
        "/api/runs/x/page",
    )
    for path in paths:
        headers = console.get(path).headers
        assert headers["x-content-type-options"] == "nosniff", path
        assert headers["referrer-policy"] == "no-referrer", path
        assert "frame-ancestors 'none'" in headers["content-security-policy"], path
        assert "server" not in headers, path
    assert "default-src 'none'" in console.get("/").headers["content-security-policy"]
    assert "default-src 'none'" in html.unescape(console.get(f"/runs/{run.run}/").text)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_every_route_is_read_only(console: httpx.Client, store: LocalStore, method: str) -> None:
    run = finished(store)
    for path in ("/", "/api/runs", f"/api/runs/{run.run}/page", f"/runs/{run.run}/"):
        assert console.request(method, path).status_code == 405


def test_a_foreign_host_name_is_refused(console: httpx.Client, store: LocalStore) -> None:
    finished(store)
    for path in ("/", "/api/runs", "/runs/demo.1/"):
        answer = console.get(path, headers={"host": "evil.example"})
        assert answer.status_code == 403
        assert "localhost" in answer.text


def test_a_file_outside_the_pages_is_not_served(console: httpx.Client) -> None:
    for name in ("runs.html", "..%2fapp.py", "%2fetc%2fpasswd", "charts.js", ""):
        assert console.get(f"/static/{name}").status_code == 404


def _events(stream: httpx.Response, number: int) -> list[dict[str, Any]]:
    """The first pages of a stream."""
    pages = [json.loads(line[6:]) for line, _ in zip(_data(stream), range(number), strict=False)]
    assert len(pages) == number
    return pages


def _data(stream: httpx.Response) -> Iterator[str]:
    return (line for line in stream.iter_lines() if line.startswith("data: "))


def test_a_stream_sends_updates(console: httpx.Client, store: LocalStore) -> None:
    run = Running.begin(store, "demo.1", "a", "b", models=["gpt"])
    run.end("a")
    with console.stream("GET", f"/api/runs/{run.run}/events") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        lines = stream.iter_lines()
        first = json.loads(next(line for line in lines if line.startswith("data: "))[6:])
        assert (first["run"]["live"], first["trials"]["offset"], len(first["trials"]["cell"])) == (True, 0, 1)
        run.end("b")
        second = json.loads(next(line for line in lines if line.startswith("data: "))[6:])
        assert (second["run"]["live"], second["total"]["passed"]) == (False, 2)


@pytest.fixture(scope="module")
def s3_endpoint() -> Iterator[str]:
    """A running S3 server, which the environment names."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("AWS_ENDPOINT_URL_S3", f"http://{host}:{port}")
        environment.setenv("AWS_ACCESS_KEY_ID", "key-id")
        environment.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        environment.setenv("AWS_REGION", "us-east-1")
        environment.setenv("AWS_EC2_METADATA_DISABLED", "true")
        try:
            yield f"http://{host}:{port}"
        finally:
            server.stop()


def test_runs_of_a_bucket_are_shown(s3_endpoint: str) -> None:
    boto3.client("s3").create_bucket(Bucket="evals")
    store = S3Store("evals", "team")
    run = finished(store, "demo.1", "a")
    compact(store, load_record(store, run.run))
    going = Running.begin(store, "going.2", "a", models=["gpt"])
    with serving(StoreSource("s3://evals/team")) as url, client(url) as console:
        assert {row["run"]: row["state"] for row in counted(console)} == {"demo.1": "finished", "going.2": "running"}
        assert console.get("/api/runs/demo.1/page").json()["total"]["failed"] == 2
        with console.stream("GET", f"/api/runs/{going.run}/events") as stream:
            lines = (line for line in stream.iter_lines() if line.startswith("data: "))
            assert json.loads(next(lines)[6:])["total"]["passed"] == 0
            going.end("a")
            assert json.loads(next(lines)[6:])["total"]["passed"] == 1


def test_a_missing_bucket_is_reported_with_a_message(s3_endpoint: str) -> None:
    with serving(StoreSource("s3://nowhere")) as url, client(url) as console:
        answer = console.get("/api/runs")
        assert answer.status_code == 503
        assert "s3://nowhere" in answer.json()["detail"]
        page = console.get("/runs/demo.1/", headers=PAGE)
        assert page.status_code == 503
        assert "<h1>Not available</h1>" in page.text


@pytest.fixture
def guarded(store: LocalStore) -> Iterator[httpx.Client]:
    """A console with a token."""
    finished(store)
    with serving(StoreSource(str(store.root)), access=Access(SecretStr(TOKEN))) as url, client(url) as console:
        yield console


def test_with_a_token_nothing_about_runs_is_shown_without_it(guarded: httpx.Client) -> None:
    for path in ("/", "/api/runs", "/api/runs/demo.1/page", "/api/runs/demo.1/events", "/runs/demo.1/", "/nothing"):
        answer = guarded.get(path)
        assert answer.status_code == 401, path
        assert "demo" not in answer.text
        assert answer.headers["www-authenticate"] == "Bearer"
    assert guarded.get("/healthz").status_code == 200
    assert guarded.get("/api/runs", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200


def test_a_browser_is_redirected_to_the_sign_in_and_back(guarded: httpx.Client) -> None:
    answer = guarded.get("/runs/demo.1/", params={"baseline": "demo.0"}, headers=PAGE)
    assert (answer.status_code, answer.headers["location"]) == (
        303, "../../sign-in?next=runs%2Fdemo.1%2F%3Fbaseline%3Ddemo.0",
    )  # fmt: skip
    form = guarded.get("/runs/demo.1/", headers=PAGE, follow_redirects=True)
    assert '<input id="token"' in form.text
    signed = guarded.post(form.url, data={"token": TOKEN})
    assert (signed.status_code, signed.headers["location"]) == (303, "./runs/demo.1/")
    cookie = signed.headers["set-cookie"]
    assert TOKEN not in cookie
    assert {"httponly", "samesite=strict", "path=/"} <= set(cookie.split("; "))
    assert "secure" not in cookie
    assert guarded.get("/api/runs").status_code == 200


def test_behind_https_the_cookie_stays_on_https(guarded: httpx.Client) -> None:
    signed = guarded.post("/sign-in", data={"token": TOKEN}, headers={"x-forwarded-proto": "https"})
    assert "secure" in signed.headers["set-cookie"]


@pytest.mark.parametrize(
    "onward", ["https://evil.example/", "//evil.example", "runs/../../x", "runs/a/#x", "javascript:x", ""]
)
def test_a_sign_in_redirects_to_pages_of_runs_only(guarded: httpx.Client, onward: str) -> None:
    signed = guarded.post("/sign-in", params={"next": onward}, data={"token": TOKEN})
    assert signed.headers["location"] == "./"


def test_a_wrong_token_is_refused_on_the_form(guarded: httpx.Client) -> None:
    wrong = guarded.post("/sign-in", data={"token": "<b>wrong</b>"})
    assert wrong.status_code == 401
    assert "The token is wrong." in wrong.text
    assert "<b>wrong" not in wrong.text
    assert "set-cookie" not in wrong.headers


def test_a_session_ends_after_a_working_day(guarded: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    signed = guarded.post("/sign-in", data={"token": TOKEN})
    assert f"Max-Age={SESSION_SECONDS}" in signed.headers["set-cookie"]
    cookie = {"cookie": f"opsgym_session={guarded.cookies['opsgym_session']}"}
    signed_at = int(time.time())
    with client(str(guarded.base_url)) as console:
        monkeypatch.setattr(TimestampSigner, "get_timestamp", lambda _: signed_at + SESSION_SECONDS - 10)
        assert console.get("/api/runs", headers=cookie).status_code == 200
        monkeypatch.setattr(TimestampSigner, "get_timestamp", lambda _: signed_at + SESSION_SECONDS + 10)
        assert console.get("/api/runs", headers=cookie).status_code == 401


def test_a_session_survives_a_restart_but_not_a_new_token(guarded: httpx.Client, store: LocalStore) -> None:
    guarded.post("/sign-in", data={"token": TOKEN})
    cookie = {"cookie": f"opsgym_session={guarded.cookies['opsgym_session']}"}
    host = {"host": guarded.base_url.netloc.decode()}
    for token, status in ((TOKEN, 200), ("a-token-that-came-after-it", 401)):
        access = Access(SecretStr(token))
        with serving(StoreSource(str(store.root)), access=access) as url, client(url) as restarted:
            assert restarted.get("/api/runs", headers={**cookie, **host}).status_code == status


@pytest.mark.parametrize("session", ["", ".", "null", "eyJob3N0IjoieCJ9", "eyJob3N0IjoieCJ9.aaaa.bbbb", "x" * 5000])
def test_a_forged_session_is_refused(guarded: httpx.Client, session: str) -> None:
    assert guarded.get("/api/runs", headers={"cookie": f"opsgym_session={session}"}).status_code == 401
    assert guarded.get("/api/runs", headers={"authorization": f"Bearer {session or 'x'}"}).status_code == 401


def test_an_altered_session_is_refused(guarded: httpx.Client) -> None:
    guarded.post("/sign-in", data={"token": TOKEN})
    payload, rest = guarded.cookies["opsgym_session"].split(".", 1)
    assert TOKEN not in base64.b64decode(payload).decode()
    altered = base64.b64encode(json.dumps({"host": "evil.example"}).encode()).decode()
    headers = {"cookie": f"opsgym_session={altered}.{rest}", "host": "evil.example"}
    with client(str(guarded.base_url)) as other:
        assert other.get("/api/runs", headers=headers).status_code == 401


def test_a_session_is_refused_under_another_host(guarded: httpx.Client) -> None:
    guarded.post("/sign-in", data={"token": TOKEN})
    cookie = f"opsgym_session={guarded.cookies['opsgym_session']}"
    with client(str(guarded.base_url)) as thief:
        assert thief.get("/api/runs", headers={"cookie": cookie}).status_code == 200
        assert thief.get("/api/runs", headers={"cookie": cookie, "host": "evil.example"}).status_code == 401


@pytest.mark.parametrize(
    "sent",
    [
        {"origin": "https://evil.example"},
        {"origin": "null", "sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_a_form_of_another_site_cannot_sign_in(guarded: httpx.Client, sent: dict[str, str]) -> None:
    answer = guarded.post("/sign-in", data={"token": TOKEN}, headers=sent)
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "content", [b"", b"token=", b"x" * 100_000, b"token=" + b"x" * 100_000, b"\xff\xfe", b"token=%ff"]
)
def test_an_invalid_form_is_refused(guarded: httpx.Client, content: bytes) -> None:
    headers = {"content-type": "application/x-www-form-urlencoded"}
    assert guarded.post("/sign-in", content=content, headers=headers).status_code == 401


def test_a_proxy_header_is_trusted_from_its_address_only(store: LocalStore) -> None:
    finished(store)
    headers = {"x-forwarded-user": "ann", "x-forwarded-for": "10.0.0.1"}
    for proxies, status in ((["127.0.0.0/8"], 200), (["10.0.0.0/8"], 403)):
        access = Access(header=trusted_header("X-Forwarded-User", proxies))
        with serving(StoreSource(str(store.root)), access=access) as url, client(url) as console:
            assert console.get("/api/runs", headers=headers).status_code == status
            assert console.get("/api/runs").status_code == (401 if status == 200 else 403)
