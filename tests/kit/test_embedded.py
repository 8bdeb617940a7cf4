"""The embedded Postgres starts and ends with the process that owns it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from opsgym_domains.kit import embedded
from opsgym_domains.kit.embedded import EmbeddedPostgres, PostgresError
from opsgym_domains.kit.postgres_server import PostgresServer

OWNER = """
import asyncio, json
from opsgym_domains.kit import embedded
from opsgym_domains.kit.embedded import EmbeddedPostgres
async def main():
    server = await EmbeddedPostgres.start()
    print(json.dumps({"pid": server.pid, "folder": str(server.folder)}), flush=True)
    await asyncio.Event().wait()
asyncio.run(main())
"""


async def start_and_stop() -> None:
    server = await EmbeddedPostgres.start()
    await server.stop()


def alive(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    except FileNotFoundError:
        return False
    return stat.rsplit(")", 1)[1].split()[0] != "Z"


@pytest.mark.anyio
async def test_a_stopped_server_leaves_neither_processes_nor_data() -> None:
    server = await EmbeddedPostgres.start()
    assert alive(server.pid)
    await server.stop()
    assert not alive(server.pid)
    assert not server.folder.exists()


OF_USERS = {
    "PGPORT": "6543", "PGDATA": "/nowhere", "PGOPTIONS": "-c x", "PGHOST": "db", "PGSSLMODE": "verify-full",
    "PGTARGETSESSIONATTRS": "standby", "PGPASSFILE": "/nowhere", "PGSERVICE": "mine", "PGUSER": "me",
}  # fmt: skip


@pytest.mark.anyio
async def test_variables_of_a_users_own_postgres_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in OF_USERS.items():
        monkeypatch.setenv(name, value)
    server = await EmbeddedPostgres.start()
    try:
        connection = await PostgresServer(str(server.socket_folder)).connect("postgres")
        assert await connection.fetchval("SHOW port") == "5432"
        await connection.close()
    finally:
        await server.stop()


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's parent-death signal is Linux's own")
def test_a_server_ends_with_its_killed_owner_and_the_next_start_removes_its_data() -> None:
    with subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE) as owner:
        try:
            assert owner.stdout is not None
            report = json.loads(owner.stdout.readline())
        finally:
            owner.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 10
    while alive(report["pid"]) and time.monotonic() < deadline:
        os.sched_yield()
    assert not alive(report["pid"])

    asyncio.run(start_and_stop())
    assert not Path(report["folder"]).exists()


@pytest.mark.anyio
async def test_data_of_a_folder_that_is_named_are_preserved(tmp_path: Path) -> None:
    server = await EmbeddedPostgres.start()
    await server.stop(keep=tmp_path / "kept")
    assert (tmp_path / "kept" / "PG_VERSION").exists()
    assert not (tmp_path / "kept" / "postmaster.pid").exists()
    assert not server.folder.exists()


@pytest.mark.anyio
async def test_data_of_a_killed_server_are_not_preserved(tmp_path: Path) -> None:
    server = await EmbeddedPostgres.start()
    os.kill(server.pid, signal.SIGKILL)
    with pytest.raises(PostgresError, match="did not shut down cleanly"):
        await server.stop(keep=tmp_path / "kept")
    assert not (tmp_path / "kept").exists()
    assert not server.folder.exists()


@pytest.mark.anyio
async def test_missing_binaries_are_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPSGYM_POSTGRES_BIN", str(tmp_path))
    with pytest.raises(PostgresError, match="initdb"):
        await EmbeddedPostgres.start()


async def seen_of_a_new_server(look: Callable[[int], Path]) -> Path:
    server = await EmbeddedPostgres.start()
    try:
        return look(server.pid)
    finally:
        await server.stop()


def program(pid: int) -> Path:
    return Path(f"/proc/{pid}/exe").readlink()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has to hand its files to another account")
def test_binaries_in_a_private_folder_are_copied_where_postgres_may_read_them(monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        monkeypatch.setattr(tempfile, "tempdir", folder)
        monkeypatch.setattr(embedded, "_world_readable", lambda _folder: False)
        assert asyncio.run(seen_of_a_new_server(program)).is_relative_to(folder)
