"""Notifications over real HTTP: what a receiver answers, what it can check, and an operator that dies in between."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs
from tests.operator.fleet import CONFIG, Fleet, SimRun, entry, model
from tests.operator_io.webhook import Received, webhook_server

from opsgym_api.kinds.evalrun import EvalRunSpec
from opsgym_core.notifications import delivery
from opsgym_core.notifications.webhook import DeliveryResult, WebhookRequest
from opsgym_operator.config import NotificationsConfig, WebhookConfig
from opsgym_operator.observability.webhooks import WebhookDispatcher

REQUEST = WebhookRequest("desk", "1f", "finished", 1, b'{"text": "done"}')
DESK = WebhookConfig(name="desk", secret="desk-hook", format="json")


def mount(folder: Path, url: str, signing: str | None = "key") -> Path:
    """The Secret of webhook `desk` as the kubelet mounts it."""
    (folder / "desk").mkdir(exist_ok=True)
    (folder / "desk" / "url").write_text(f"{url}\n")
    if signing is not None:
        (folder / "desk" / "signing-secret").write_text(f"{signing}\n")
    return folder


def sent(mounted: Path, *requests: WebhookRequest) -> list[DeliveryResult]:
    """Results of the attempts, made one after the other."""

    async def send() -> list[DeliveryResult]:
        dispatcher = WebhookDispatcher({"desk": DESK}, mounted)
        results: list[DeliveryResult] = []
        try:
            for request in requests:
                ended = asyncio.Event()
                dispatcher.send("uid", request, ended.set)
                await asyncio.wait_for(ended.wait(), 30)
                results += dispatcher.deliveries("uid")
        finally:
            await dispatcher.close()
        return results

    return asyncio.run(send())


def verified(request: Received, secret: bytes) -> bool:
    """Verifies a signature as docs/gates.md describes."""
    stamp, _, digest = request.headers["X-Opsgym-Signature"].partition(",v1=")
    signed = stamp.removeprefix("t=").encode() + b"." + request.body
    return hmac.compare_digest(hmac.new(secret, signed, hashlib.sha256).hexdigest(), digest)


def test_a_receiver_gets_a_signed_body_with_the_notification_id(tmp_path: Path) -> None:
    with webhook_server() as server:
        assert sent(mount(tmp_path, server.url), REQUEST) == [DeliveryResult("1f", 1, "sent")]
    (request,) = server.received
    assert (request.path, request.body) == ("/hook/secret-part", REQUEST.body)
    assert (request.headers["X-Opsgym-Notification-Id"], request.headers["Content-Type"]) == ("1f", "application/json")
    assert verified(request, b"key")
    assert not verified(request, b"another")


def test_requests_are_unsigned_without_a_signing_secret(tmp_path: Path) -> None:
    with webhook_server() as server:
        sent(mount(tmp_path, server.url, signing=None), REQUEST)
    assert "X-Opsgym-Signature" not in server.received[0].headers


@pytest.mark.parametrize(
    ("answer", "outcome", "problem", "wait"),
    [
        ((204, {}), "sent", "", 0),
        ((500, {}), "again", "it answers HTTP 500", 0),
        ((503, {"Retry-After": "30"}), "again", "it answers HTTP 503", 30),
        ((429, {"Retry-After": "7"}), "again", "it answers HTTP 429", 7),
        ((429, {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}), "again", "it answers HTTP 429", 0),
        ((408, {}), "again", "it answers HTTP 408", 0),
        ((404, {}), "failed", "it refuses the notification (HTTP 404); check the URL and the format", 0),
    ],
)
def test_the_status_code_decides_whether_a_notification_is_retried(
    tmp_path: Path, answer: tuple[int, dict[str, str]], outcome: Any, problem: str, wait: float
) -> None:
    with webhook_server(answer) as server:
        assert sent(mount(tmp_path, server.url), REQUEST) == [DeliveryResult("1f", 1, outcome, problem, wait)]


def test_a_redirect_is_not_followed(tmp_path: Path) -> None:
    with webhook_server() as elsewhere, webhook_server((307, {"Location": elsewhere.url})) as server:
        (result,) = sent(mount(tmp_path, server.url), REQUEST)
    assert (result.outcome, elsewhere.received) == ("failed", [])
    assert result.problem == "it answers with a redirect (HTTP 307), which is not followed"


def test_a_receiver_that_times_out_is_retried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery, "TIMEOUT_S", 0.2)
    with webhook_server(None) as server:
        (result,) = sent(mount(tmp_path, server.url), REQUEST)
    assert (result.outcome, result.problem) == ("again", "it does not answer within 0.2 s")


def test_an_unreachable_receiver_is_retried(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/secret-part"
    (result,) = sent(mount(tmp_path, url), REQUEST)
    assert (result.outcome, result.problem) == ("again", "it cannot be reached (ClientConnectorError)")


def test_a_missing_or_invalid_secret_is_named(tmp_path: Path) -> None:
    (result,) = sent(tmp_path, REQUEST)
    assert (result.outcome, result.problem) == (
        "again",
        "url of Secret desk-hook: is not a valid URL; expected https://…",
    )
    (result,) = sent(mount(tmp_path, "http://example.com/secret-part"), REQUEST)
    assert result.problem.startswith("url of Secret desk-hook: is http")


def test_no_log_line_and_no_problem_contains_the_address(tmp_path: Path) -> None:
    with capture_logs() as lines, webhook_server((500, {}), (404, {}), (307, {"Location": "/secret-part"})) as server:
        mounted = mount(tmp_path, server.url)
        requests = [WebhookRequest("desk", f"{n}", "finished", 1, b"{}") for n in range(3)]
        problems = [delivery.problem for delivery in sent(mounted, *requests)]
        problems += [delivery.problem for delivery in sent(mount(tmp_path, "https://[secret-part"), REQUEST)]
        problems += [delivery.problem for delivery in sent(mount(tmp_path, "https://x.invalid/secret-part"), REQUEST)]
    assert len(lines) == 5
    assert all(problems)
    assert "secret-part" not in json.dumps([lines, problems], default=str)


def test_an_attempt_is_made_once(tmp_path: Path) -> None:
    async def send() -> None:
        dispatcher = WebhookDispatcher({"desk": DESK}, mounted)
        ended = asyncio.Event()
        for _ in range(3):
            dispatcher.send("uid", REQUEST, ended.set)
        await asyncio.wait_for(ended.wait(), 30)
        dispatcher.send("uid", REQUEST, ended.set)
        await dispatcher.close()

    with webhook_server() as server:
        mounted = mount(tmp_path, server.url)
        asyncio.run(send())
    assert len(server.received) == 1


# From the plan to the receiver


class Operator:
    """Plans and sends for a fleet; a second one for the same fleet is the operator after a restart."""

    def __init__(self, fleet: Fleet, run: SimRun, mounted: Path) -> None:
        self.fleet, self.run = fleet, run
        self.dispatcher = WebhookDispatcher({"desk": DESK}, mounted)

    async def work(self, until: Callable[[], bool]) -> None:
        """Plans after each delivery until a condition holds."""
        enqueued = asyncio.Event()
        async with asyncio.timeout(30):
            while True:
                self.run.deliveries = {result.id: result for result in self.dispatcher.deliveries(self.run.uid)}
                desired = self.fleet.plan()[self.run.uid]
                for request in desired.send:
                    self.dispatcher.send(self.run.uid, request, enqueued.set)
                if until():
                    return
                await enqueued.wait()
                enqueued.clear()


def ended_run() -> tuple[Fleet, SimRun]:
    fleet = Fleet(config=CONFIG.model_copy(update={"notifications": NotificationsConfig(webhooks=[DESK])}))
    fleet.models["gpt"] = model("gpt")
    spec = {"suite": {"builtin": "q"}, "models": [{"name": "best", "ref": "gpt"}], "notify": ["desk"]}
    run = fleet.apply("nightly", EvalRunSpec.model_validate(spec), [entry("t")])
    fleet.run_out()
    return fleet, run


def state(run: SimRun) -> tuple[str, int]:
    (notification,) = run.status.notifications
    return notification.state, notification.attempts


def test_a_notification_is_retried_under_its_id_after_500_and_a_restart(tmp_path: Path) -> None:
    fleet, run = ended_run()

    async def lives() -> None:
        first = Operator(fleet, run, mounted)
        await first.work(lambda: state(run) == ("pending", 1))
        await first.dispatcher.close()
        run.deliveries.clear()
        assert run.status.notifications[0].retry_at is not None
        fleet.now = run.status.notifications[0].retry_at
        second = Operator(fleet, run, mounted)
        await second.work(lambda: state(run) == ("sent", 2))
        await second.dispatcher.close()

    with webhook_server((500, {})) as server:
        mounted = mount(tmp_path, server.url)
        asyncio.run(lives())
    first, second = server.received
    assert (
        first.headers["X-Opsgym-Notification-Id"]
        == second.headers["X-Opsgym-Notification-Id"]
        == run.status.notifications[0].id
    )
    assert first.body == second.body
    assert verified(second, b"key")


def test_an_interrupted_notification_is_sent_again_after_a_restart(tmp_path: Path) -> None:
    fleet, run = ended_run()

    async def lives() -> None:
        first = Operator(fleet, run, mounted)
        for request in run.requests.values():
            first.dispatcher.send(run.uid, request, lambda: None)
        assert await asyncio.to_thread(server.first_request.wait, 30)
        await first.dispatcher.close()
        assert state(run) == ("pending", 0)
        second = Operator(fleet, run, mounted)
        await second.work(lambda: state(run) == ("sent", 1))
        await second.dispatcher.close()

    with webhook_server(None) as server:
        mounted = mount(tmp_path, server.url)
        asyncio.run(lives())
    assert len({request.headers["X-Opsgym-Notification-Id"] for request in server.received}) == 1
    assert len(server.received) == 2
