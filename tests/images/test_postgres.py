"""The pod's Postgres: baked once, copied for a pod, not replaced once a trial has a database, reached by its socket."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest
from tests.images import account
from tests.images.account import running, until, volume

from opsgym_domains import postgres, registry, serve
from opsgym_domains.kit.errors import DatabaseLost
from opsgym_domains.kit.postgres_server import PostgresServer

pytestmark = pytest.mark.xdist_group("pod-postgres")


@pytest.fixture(scope="module")
def baked() -> Iterator[Path]:
    """Baked data as in an image: read-only, and not the account's own."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        data = Path(folder) / "postgres"
        assert postgres.main(["bake", str(data)]) == 0
        for path in (data, *data.rglob("*")):
            if os.geteuid() == 0:
                os.chown(path, 0, 0)
            path.chmod(0o555 if path.is_dir() else 0o444)
        yield data
        for path in (data, *data.rglob("*")):
            path.chmod(0o700)


@pytest.fixture
def pod() -> Iterator[Path]:
    """A pod's volumes, `data` and `socket`."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        volume(Path(folder) / "data")
        volume(Path(folder) / "socket")
        yield Path(folder)


def ask(socket: Path, sql: str) -> list[Any]:
    async def fetch() -> list[Any]:
        connection = await asyncpg.connect(host=str(socket), user="postgres", database="postgres")
        try:
            return [row[0] for row in await connection.fetch(sql)]
        finally:
            await connection.close()

    return asyncio.run(fetch())


def megabytes(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def templates(socket: Path) -> list[str]:
    return sorted(ask(socket, "SELECT datname FROM pg_database WHERE datname LIKE 'template@_%' ESCAPE '@'"))


@contextmanager
def gym(socket: Path) -> Iterator[tuple[subprocess.Popen[str], httpx.Client]]:
    """A gym server on the pod's Postgres, and a client of it."""
    environment = {**os.environ, "OPSGYM_POSTGRES_HOST": str(socket), "OPSGYM_POSTGRES_USER": "postgres"}
    arguments = [sys.executable, "-m", "opsgym_domains.serve", "itsm", "--port", "0"]
    with subprocess.Popen(
        arguments, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as it:
        try:
            with httpx.Client(timeout=20) as client:
                yield it, client
        finally:
            it.kill()


def address(server: subprocess.Popen[str]) -> str:
    assert server.stdout is not None
    url: str = json.loads(server.stdout.readline())["url"]
    return url


def test_every_domains_tables_and_seeds_are_baked(baked: Path, pod: Path) -> None:
    with running(baked, pod / "data", pod / "socket"):
        expected = [
            name
            for domain in map(registry.load, registry.domains())
            for name in (f"template_{domain.name}", *(f"template_{domain.name}_{seed}" for seed in domain.seeds))
        ]
        assert templates(pod / "socket") == sorted(expected)


def test_seeding_copies_what_was_baked(baked: Path, pod: Path) -> None:
    with running(baked, pod / "data", pod / "socket", "itsm"), gym(pod / "socket") as (server, client):
        url = address(server)
        before = templates(pod / "socket")
        for seed in registry.load("itsm").seeds:
            body = {"database_id": f"of-{seed}", "builtin": seed}
            assert client.post(f"{url}/api/seed-database", json=body).status_code == 200
            query = {"query": "SELECT count(*) AS n FROM incident", "database_id": f"of-{seed}"}
            (row,) = client.post(f"{url}/api/sql-runner", json=query).json()["data"]
            assert row["n"] > 0
        assert templates(pod / "socket") == before


def test_a_pod_has_no_templates_of_other_domains_and_says_so_to_who_asks_for_them(baked: Path, pod: Path) -> None:
    with running(baked, pod / "data", pod / "socket", "calendar,itsm"), gym(pod / "socket") as (server, client):
        assert megabytes(pod / "data/postgres/base") < 0.5 * megabytes(baked / "base")
        body = {"database_id": "own", "builtin": "quickstart"}
        assert client.post(f"{address(server)}/api/seed-database", json=body).status_code == 200
        with pytest.raises(asyncpg.InvalidCatalogNameError, match="template_csm"):
            asyncio.run(asyncpg.connect(host=str(pod / "socket"), user="postgres", database="template_csm"))


def test_what_the_image_shares_between_templates_is_apart_in_a_pod(baked: Path, pod: Path) -> None:
    assert max(path.stat().st_nlink for path in baked.rglob("*") if path.is_file()) > 1
    with running(baked, pod / "data", pod / "socket"):
        copies = [path for path in (pod / "data" / "postgres" / "base").rglob("*") if path.is_file()]
        assert {path.stat().st_nlink for path in copies} == {1}


def test_it_listens_on_its_socket_only_and_survives_no_crash(baked: Path, pod: Path) -> None:
    with running(baked, pod / "data", pod / "socket", "itsm"):
        shown = [*ask(pod / "socket", "SHOW listen_addresses"), *ask(pod / "socket", "SHOW restart_after_crash")]
    assert shown == ["", "off"]


def test_a_crashed_backend_ends_the_whole_server(baked: Path, pod: Path) -> None:
    async def crash() -> None:
        connection = await asyncpg.connect(host=str(pod / "socket"), user="postgres", database="postgres")
        os.kill(connection.get_server_pid(), signal.SIGKILL)
        with pytest.raises((OSError, asyncpg.PostgresError, asyncpg.InterfaceError)):
            await connection.fetch("SELECT 1")

    with running(baked, pod / "data", pod / "socket", "itsm") as server:
        asyncio.run(crash())
        assert server.wait(20) != 0


def test_a_restart_in_the_same_pod_is_refused_once_a_trial_has_a_database(baked: Path, pod: Path) -> None:
    with running(baked, pod / "data", pod / "socket", "itsm") as server:
        ask(pod / "socket", "CREATE DATABASE own TEMPLATE template_itsm STRATEGY file_copy")
        server.kill()
    again = account.command("run", "--baked", baked, "--data", pod / "data", "--socket", pod / "socket")
    done = subprocess.run(again, env=account.environment(), check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == postgres.EXIT_RAN_BEFORE
    assert "ran in this pod before" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGQUIT])
def test_a_postgres_that_ended_before_any_trial_had_a_database_starts_anew(
    baked: Path, pod: Path, number: signal.Signals
) -> None:
    with running(baked, pod / "data", pod / "socket", "itsm") as first:
        ask(pod / "socket", "CREATE TABLE seen (n int)")
        first.send_signal(number)
        first.wait(20)
    assert (pod / "data" / "postgres" / "postmaster.pid").exists() is (number is signal.SIGKILL)
    with running(baked, pod / "data", pod / "socket", "itsm"), gym(pod / "socket") as (server, client):
        assert ask(pod / "socket", "SELECT count(*) FROM pg_tables WHERE tablename = 'seen'") == [0]
        body = {"database_id": "own", "builtin": "quickstart"}
        assert client.post(f"{address(server)}/api/seed-database", json=body).status_code == 200


def test_the_gym_waits_for_a_postgres_that_starts_later(baked: Path, pod: Path) -> None:
    with gym(pod / "socket") as (server, client), running(baked, pod / "data", pod / "socket", "itsm"):
        assert client.get(f"{address(server)}/health").json()["status"] == "healthy"


def test_a_gym_without_postgres_says_what_it_misses(
    pod: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(serve, "POSTGRES_SECONDS", 0.1)
    monkeypatch.setenv("OPSGYM_POSTGRES_HOST", str(pod / "socket"))
    assert serve.main(["itsm"]) == serve.EXIT_CANNOT_START
    assert "cannot serve itsm: Postgres cannot be reached" in capsys.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_lost_postgres_is_an_answer_of_the_gym_and_no_silence(baked: Path, pod: Path, number: int) -> None:
    with running(baked, pod / "data", pod / "socket", "itsm") as server, gym(pod / "socket") as (process, client):
        url = address(process)
        client.post(f"{url}/api/seed-database", json={"database_id": "db", "builtin": "quickstart"}).raise_for_status()
        server.send_signal(number)
        server.wait(20)
        call = {"name": "find_incident_by_id", "arguments": {"incident_id": "INC_001"}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        headers = {"x-database-id": "db"}
        # Its backends see only at their next turn that the killed server is gone.
        until(lambda: client.post(f"{url}/mcp", json=message, headers=headers).status_code == 503, "a call is refused")
        assert client.get(f"{url}/health").status_code == 503
        body = {"database_id": "db", "builtin": "quickstart"}
        assert client.post(f"{url}/api/seed-database", json=body).status_code == 503
        assert process.poll() is None


@pytest.mark.parametrize("missing", ["baked", "data"])
def test_what_is_missing_is_named(baked: Path, pod: Path, missing: str, capsys: pytest.CaptureFixture[str]) -> None:
    places = {"baked": baked, "data": pod / "data"} | {missing: pod / "nowhere"}
    arguments = [part for name, place in places.items() for part in (f"--{name}", str(place))]
    assert postgres.main(["run", *arguments, "--socket", str(pod / "socket")]) == postgres.EXIT_CANNOT
    err = capsys.readouterr().err
    assert err.startswith("cannot run:")
    assert "nowhere" in err


def test_a_volume_that_takes_no_more_is_named(baked: Path, pod: Path) -> None:
    arguments = account.command("run", "--baked", baked, "--data", pod / "data", "--socket", pod / "socket")
    limited = ["sh", "-c", 'ulimit -f 64; exec "$@"', "sh", *arguments]
    ended = subprocess.run(limited, env=account.environment(), capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == postgres.EXIT_CANNOT
    assert ended.stderr.startswith("cannot run: [Errno 27] File too large: ")
    assert str(pod / "data" / "postgres") in ended.stderr


def test_baking_over_something_is_refused(pod: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert postgres.main(["bake", str(pod / "data")]) == postgres.EXIT_CANNOT
    assert "exists; give a folder that does not exist" in capsys.readouterr().err


def test_waiting_for_postgres_has_an_end(pod: Path) -> None:
    with pytest.raises(DatabaseLost, match="cannot be reached"):
        asyncio.run(PostgresServer(str(pod / "socket")).wait(0.1))
