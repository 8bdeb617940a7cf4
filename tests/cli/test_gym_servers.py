"""Supervision of gym servers, with a small server that tests script: real processes, real HTTP."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.cli.world import gone

from opsgym.local import gym_servers as gyms_module
from opsgym.local.gym_servers import GymLostError, GymServers

FAKE = """
import http.server, json, os, pathlib, sys, time
folder = pathlib.Path(sys.argv[1])
starts = folder / "starts"
starts.write_text(starts.read_text() + "x" if starts.exists() else "x")
if (folder / "refuse").exists():
    sys.exit("no Postgres here")

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(503 if (folder / "sick").exists() else 200)
        self.end_headers()
    def log_message(self, *arguments):
        pass

server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
(folder / "pid").write_text(str(os.getpid()))
while (folder / "slow").exists():
    time.sleep(0.01)
print(json.dumps({"ready": True, "url": f"http://127.0.0.1:{server.server_port}"}), flush=True)
server.serve_forever()
"""


class Fake:
    """Runs the stub server and collects the messages of its supervision."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.notes: list[str] = []
        (folder / "fake.py").write_text(FAKE)

    def gyms(self) -> GymServers:
        return GymServers(
            ["itsm"], self.notes.append, lambda _: [sys.executable, str(self.folder / "fake.py"), str(self.folder)]
        )

    @property
    def pid(self) -> int:
        return int((self.folder / "pid").read_text() or "0")

    @property
    def starts(self) -> int:
        return len((self.folder / "starts").read_text())

    async def kill(self) -> None:
        """Kills the server, and waits until supervision has started another or given up."""
        notes = len(self.notes)
        os.kill(self.pid, signal.SIGKILL)
        async with asyncio.timeout(30):
            while len(self.notes) == notes:  # noqa: ASYNC110 - notes are a plain list
                await asyncio.sleep(0.01)


@pytest.fixture
def fake(tmp_path: Path) -> Fake:
    return Fake(tmp_path)


def run(scenario: Callable[[], Awaitable[Any]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(60):
            await scenario()

    asyncio.run(bounded())


def test_a_server_that_does_not_start_is_named_with_its_last_words(fake: Fake) -> None:
    (fake.folder / "refuse").touch()

    async def scenario() -> None:
        async with fake.gyms() as gyms:
            with pytest.raises(GymLostError) as caught:
                await gyms.start()
        assert "gym server itsm did not start (exit code 1)" in str(caught.value)
        assert "no Postgres here" in str(caught.value)

    run(scenario)


def test_a_command_that_cannot_be_executed_is_named() -> None:
    async def scenario() -> None:
        async with GymServers(["itsm"], lambda _: None, lambda _: ["/nowhere/at/all"]) as gyms:
            with pytest.raises(GymLostError, match="gym server itsm cannot be started: No such file"):
                await gyms.start()

    run(scenario)


def test_servers_end_with_the_block(fake: Fake) -> None:
    async def scenario() -> None:
        async with fake.gyms() as gyms:
            await gyms.start()
            await gyms.ready(["itsm"])

    run(scenario)
    gone(fake.pid)


def test_a_server_that_ends_is_started_again_elsewhere_and_the_old_address_is_refused(fake: Fake) -> None:
    async def scenario() -> None:
        async with fake.gyms() as gyms, httpx.AsyncClient() as client:
            await gyms.start()
            old = gyms.urls["itsm"]
            await fake.kill()
            await gyms.ready(["itsm"])
            assert gyms.urls["itsm"] != old
            with pytest.raises(httpx.ConnectError):
                await client.get(f"{old}/health")
        assert fake.notes == ["gym server itsm ended (signal 9); restarting it"]

    run(scenario)
    gone(fake.pid)


def test_a_server_that_keeps_ending_is_given_up(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gyms_module, "MAX_RESTARTS", 1)

    async def scenario() -> None:
        async with fake.gyms() as gyms:
            await gyms.start()
            await fake.kill()
            await gyms.ready(["itsm"])
            await fake.kill()
            with pytest.raises(GymLostError, match="ended 2 times"):
                await gyms.ready(["itsm"])
        assert fake.starts == 2

    run(scenario)


def test_a_server_that_cannot_be_started_again_is_given_up_with_the_reason(fake: Fake) -> None:
    async def scenario() -> None:
        async with fake.gyms() as gyms:
            await gyms.start()
            (fake.folder / "refuse").touch()
            await fake.kill()
            with pytest.raises(GymLostError, match="no Postgres here"):
                await gyms.ready(["itsm"])

    run(scenario)


def test_an_unhealthy_server_is_waited_for_and_then_lost(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        async with fake.gyms() as gyms:
            await gyms.start()
            (fake.folder / "sick").touch()
            waiting = asyncio.create_task(gyms.ready(["itsm"]))
            done, _ = await asyncio.wait({waiting}, timeout=3 * gyms_module.PROBE_EVERY_S)
            assert not done
            (fake.folder / "sick").unlink()
            await waiting
            (fake.folder / "sick").touch()
            monkeypatch.setattr(gyms_module, "READY_SECONDS", 0.2)
            with pytest.raises(GymLostError, match="did not become healthy"):
                await gyms.ready(["itsm"])

    run(scenario)


def test_a_cancelled_start_leaves_no_server(fake: Fake) -> None:
    (fake.folder / "slow").touch()

    async def scenario() -> None:
        async with fake.gyms() as gyms:
            start = asyncio.create_task(gyms.start())
            while not (fake.folder / "pid").exists() or not fake.pid:  # noqa: ASYNC110 - another process makes it
                await asyncio.sleep(0.01)
            start.cancel()
            with pytest.raises(asyncio.CancelledError):
                await start

    run(scenario)
    gone(fake.pid)
