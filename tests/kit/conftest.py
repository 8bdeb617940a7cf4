"""One Postgres for all of the kit's tests; every test makes databases of its own."""

from __future__ import annotations

import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
import uvicorn
from starlette.middleware import Middleware
from tests.kit.toy import DOMAIN

from opsgym_domains.kit.databases import Databases
from opsgym_domains.kit.domain import Domain
from opsgym_domains.kit.embedded import EmbeddedPostgres
from opsgym_domains.kit.guard import Guard
from opsgym_domains.kit.postgres_server import PostgresServer
from opsgym_domains.kit.server import GymServer


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
async def postgres(anyio_backend: str) -> AsyncIterator[EmbeddedPostgres]:
    server = await EmbeddedPostgres.start()
    yield server
    await server.stop()


@pytest.fixture
async def databases(postgres: EmbeddedPostgres) -> AsyncIterator[Databases]:
    opened = Databases(PostgresServer(str(postgres.socket_folder)), DOMAIN.name, DOMAIN.metadata, dict(DOMAIN.seeds))
    await opened.start()
    yield opened
    for database_id in opened.ids():
        await opened.drop(database_id)
    await opened.stop()


@dataclass(frozen=True)
class ToyServer:
    """The toy domain on real HTTP."""

    client: httpx.Client

    def seed(self, database_id: str, **body: object) -> httpx.Response:
        content = body or {"builtin": "zoo"}
        return self.client.post("/api/seed-database", json={"database_id": database_id, **content})

    def call(
        self, tool: str, arguments: dict[str, object], *, database_id: str | None = "db", **headers: str
    ) -> dict[str, Any]:
        sent = headers | ({"x-database-id": database_id} if database_id else {})
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        result: dict[str, Any] = (
            self.client.post("/mcp", json=message, headers=sent).raise_for_status().json()["result"]
        )
        return result

    def sql(self, query: str, *, database_id: str = "db", **body: object) -> httpx.Response:
        sent = {"query": query, "database_id": database_id, **body}
        return self.client.post("/api/sql-runner", json=sent, headers={"x-database-id": database_id})

    def value(self, query: str) -> object:
        (row,) = self.sql(query).raise_for_status().json()["data"]
        (value,) = row.values()
        return value


@pytest.fixture(scope="session")
def toy_postgres() -> Iterator[str]:
    """A Postgres of its own for the HTTP tests: their server lives in another event loop."""
    import asyncio

    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(EmbeddedPostgres.start())
    yield str(server.socket_folder)
    loop.run_until_complete(server.stop())
    loop.close()


class ServerInThread(uvicorn.Server):
    """A server that sets an event once it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()


@contextmanager
def serving(domain: Domain, socket_folder: str, host: str = "127.0.0.1", *, page: bool = False) -> Iterator[ToyServer]:
    """A server of a domain that listens on an address, guarded as `serve` guards it."""
    databases = Databases(PostgresServer(socket_folder), domain.name, domain.metadata, dict(domain.seeds))
    app = GymServer(domain, databases).app((), [Middleware(Guard, host=host, page=page)])
    server = ServerInThread(uvicorn.Config(app, host=host, port=0, log_config=None, lifespan="on"))
    thread = threading.Thread(target=server.run)
    thread.start()
    assert server.ready.wait(20), "the server did not start"
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
            yield ToyServer(client)
            for database_id in databases.ids():
                client.request("DELETE", "/api/delete-database", json={"database_id": database_id})
    finally:
        server.should_exit = True
        thread.join(20)


@pytest.fixture
def toy(toy_postgres: str) -> Iterator[ToyServer]:
    with serving(DOMAIN, toy_postgres) as server:
        yield server
