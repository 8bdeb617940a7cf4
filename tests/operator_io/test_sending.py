"""Notices over real HTTP: what a receiver answers, what it can check, and an operator that dies in between."""

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

from opsgym_api.evalrun import EvalRunSpec
from opsgym_operator import sending
from opsgym_operator.config import NotificationsConfig, WebhookConfig
from opsgym_operator.desired import Delivery, Letter
from opsgym_operator.sending import Sender

LETTER = Letter("desk", "1f", "finished", 1, b'{"text": "done"}')
DESK = WebhookConfig(name="desk", secret="desk-hook", format="json")


def mount(folder: Path, url: str, signing: str | None = "key") -> Path:
    """The Secret of webhook `desk` as the kubelet mounts it."""
    (folder / "desk").mkdir(exist_ok=True)
    (folder / "desk" / "url").write_text(f"{url}\n")
    if signing is not None:
        (folder / "desk" / "signing-secret").write_text(f"{signing}\n")
    return folder


def sent(mounted: Path, *letters: Letter) -> list[Delivery]:
    """How attempts ended, one after the other."""

    async def send() -> list[Delivery]:
        sender = Sender({"desk": DESK}, mounted)
        found: list[Delivery] = []
        try:
            for letter in letters:
                ended = asyncio.Event()
                sender.send("uid", letter, ended.set)
                await asyncio.wait_for(ended.wait(), 30)
                found += sender.deliveries("uid")
        finally:
            await sender.close()
        return found

    return asyncio.run(send())


def verified(request: Received, secret: bytes) -> bool:
    """What a receiver does that read docs/gates.md."""
    stamp, _, digest = request.headers["X-Opsgym-Signature"].partition(",v1=")
    signed = stamp.removeprefix("t=").encode() + b"." + request.body
    return hmac.compare_digest(hmac.new(secret, signed, hashlib.sha256).hexdigest(), digest)


def test_a_receiver_gets_a_signed_body_with_the_notices_id(tmp_path: Path) -> None:
    with webhook_server() as server:
        assert sent(mount(tmp_path, server.url), LETTER) == [Delivery("1f", 1, "sent")]
    (request,) = server.received
    assert (request.path, request.body) == ("/hook/secret-part", LETTER.body)
    assert (request.headers["X-Opsgym-Notice-Id"], request.headers["Content-Type"]) == ("1f", "application/json")
    assert verified(request, b"key")
    assert not verified(request, b"another")


def test_without_a_signing_secret_nothing_is_signed(tmp_path: Path) -> None:
    with webhook_server() as server:
        sent(mount(tmp_path, server.url, signing=None), LETTER)
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
        ((404, {}), "failed", "it refuses the notice (HTTP 404); check the Secret's url and the format", 0),
    ],
)
def test_what_a_receiver_answers_decides_whether_it_is_tried_again(
    tmp_path: Path, answer: tuple[int, dict[str, str]], outcome: Any, problem: str, wait: float
) -> None:
    with webhook_server(answer) as server:
        assert sent(mount(tmp_path, server.url), LETTER) == [Delivery("1f", 1, outcome, problem, wait)]


def test_a_redirect_is_not_followed(tmp_path: Path) -> None:
    with webhook_server() as elsewhere, webhook_server((307, {"Location": elsewhere.url})) as server:
        (found,) = sent(mount(tmp_path, server.url), LETTER)
    assert (found.outcome, elsewhere.received) == ("failed", [])
    assert found.problem == "it answers with a redirect (HTTP 307), which is not followed"


def test_who_does_not_answer_is_asked_again_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "TIMEOUT_S", 0.2)
    with webhook_server(None) as server:
        (found,) = sent(mount(tmp_path, server.url), LETTER)
    assert (found.outcome, found.problem) == ("again", "it does not answer within 0.2 s")


def test_who_is_not_there_is_asked_again_later(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/secret-part"
    (found,) = sent(mount(tmp_path, url), LETTER)
    assert (found.outcome, found.problem) == ("again", "it cannot be reached (ClientConnectorError)")


def test_a_secret_that_is_missing_or_holds_no_address_is_named(tmp_path: Path) -> None:
    (found,) = sent(tmp_path, LETTER)
    assert (found.outcome, found.problem) == (
        "again",
        "url of Secret desk-hook: is no address; expected https://…",
    )
    (found,) = sent(mount(tmp_path, "http://example.com/secret-part"), LETTER)
    assert found.problem.startswith("url of Secret desk-hook: is http")


def test_no_log_line_and_no_problem_has_the_address(tmp_path: Path) -> None:
    with capture_logs() as lines, webhook_server((500, {}), (404, {}), (307, {"Location": "/secret-part"})) as server:
        mounted = mount(tmp_path, server.url)
        letters = [Letter("desk", f"{n}", "finished", 1, b"{}") for n in range(3)]
        found = [delivery.problem for delivery in sent(mounted, *letters)]
        found += [delivery.problem for delivery in sent(mount(tmp_path, "https://[secret-part"), LETTER)]
        found += [delivery.problem for delivery in sent(mount(tmp_path, "https://x.invalid/secret-part"), LETTER)]
    assert len(lines) == 5
    assert all(found)
    assert "secret-part" not in json.dumps([lines, found], default=str)


def test_an_attempt_that_was_made_or_is_under_way_is_not_made_again(tmp_path: Path) -> None:
    async def send() -> None:
        sender = Sender({"desk": DESK}, mounted)
        ended = asyncio.Event()
        for _ in range(3):
            sender.send("uid", LETTER, ended.set)
        await asyncio.wait_for(ended.wait(), 30)
        sender.send("uid", LETTER, ended.set)
        await sender.close()

    with webhook_server() as server:
        mounted = mount(tmp_path, server.url)
        asyncio.run(send())
    assert len(server.received) == 1


# From the plan to the receiver


class Operator:
    """Plans and sends for a fleet; another one made for the same fleet is the operator after a restart."""

    def __init__(self, fleet: Fleet, run: SimRun, mounted: Path) -> None:
        self.fleet, self.run = fleet, run
        self.sender = Sender({"desk": DESK}, mounted)

    async def work(self, until: Callable[[], bool]) -> None:
        """Passes until something is so, each after something was heard."""
        woken = asyncio.Event()
        async with asyncio.timeout(30):
            while True:
                self.run.deliveries = {found.id: found for found in self.sender.deliveries(self.run.uid)}
                desired = self.fleet.plan()[self.run.uid]
                for letter in desired.send:
                    self.sender.send(self.run.uid, letter, woken.set)
                if until():
                    return
                await woken.wait()
                woken.clear()


def ended_run() -> tuple[Fleet, SimRun]:
    fleet = Fleet(config=CONFIG.model_copy(update={"notifications": NotificationsConfig(webhooks=[DESK])}))
    fleet.models["gpt"] = model("gpt")
    spec = {"suite": {"builtin": "q"}, "models": [{"name": "best", "ref": "gpt"}], "notify": ["desk"]}
    run = fleet.apply("nightly", EvalRunSpec.model_validate(spec), [entry("t")])
    fleet.run_out()
    return fleet, run


def state(run: SimRun) -> tuple[str, int]:
    (notice,) = run.status.notices
    return notice.state, notice.attempts


def test_a_notice_survives_500_and_a_restart_and_comes_once_more_under_its_id(tmp_path: Path) -> None:
    fleet, run = ended_run()

    async def lives() -> None:
        first = Operator(fleet, run, mounted)
        await first.work(lambda: state(run) == ("pending", 1))
        await first.sender.close()
        run.deliveries.clear()
        assert run.status.notices[0].retry_at is not None
        fleet.now = run.status.notices[0].retry_at
        second = Operator(fleet, run, mounted)
        await second.work(lambda: state(run) == ("sent", 2))
        await second.sender.close()

    with webhook_server((500, {})) as server:
        mounted = mount(tmp_path, server.url)
        asyncio.run(lives())
    first, second = server.received
    assert first.headers["X-Opsgym-Notice-Id"] == second.headers["X-Opsgym-Notice-Id"] == run.status.notices[0].id
    assert first.body == second.body
    assert verified(second, b"key")


def test_an_operator_that_died_while_it_sent_sends_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fleet, run = ended_run()

    async def lives() -> None:
        first = Operator(fleet, run, mounted)
        for letter in run.letters.values():
            first.sender.send(run.uid, letter, lambda: None)
        assert await asyncio.to_thread(server.told.wait, 30)
        await first.sender.close()
        assert state(run) == ("pending", 0)
        second = Operator(fleet, run, mounted)
        await second.work(lambda: state(run) == ("sent", 1))
        await second.sender.close()

    with webhook_server(None) as server:
        mounted = mount(tmp_path, server.url)
        asyncio.run(lives())
    assert len({request.headers["X-Opsgym-Notice-Id"] for request in server.received}) == 1
    assert len(server.received) == 2
