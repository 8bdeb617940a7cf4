"""tools/call with one indexed query, against a bare JSON-RPC endpoint that runs the same query."""

from __future__ import annotations

import asyncio
import itertools
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

import asyncpg
import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from benchmarks.gym import serving
from benchmarks.timing import milliseconds, p50, p99
from opsgym_domains.itsm.tables import METADATA
from opsgym_domains.kit.databases import Databases, Origin, PostgresServer
from opsgym_domains.kit.embedded import EmbeddedPostgres
from opsgym_domains.registry import load

ROUNDS = 600
SLICES = 6
CLIENTS = (1, 16)
DATABASES = (1, 200)
USER = "USER_001"
BARE_CONNECTIONS = 4


async def measure() -> list[str]:
    """Lines of the report."""
    with serving("itsm") as gym, _bare() as bare:
        return await _compare(gym.url, bare)


@contextmanager
def _bare() -> Iterator[str]:
    command = [sys.executable, "-m", "benchmarks.calls"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        try:
            assert child.stdout is not None
            yield json.loads(child.stdout.readline())["url"]
        finally:
            child.terminate()


async def _compare(gym_url: str, bare_url: str) -> list[str]:
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(timeout=60, limits=limits) as client:
        gate = asyncio.Semaphore(8)

        async def seed(number: int) -> None:
            async with gate:
                body = {"database_id": _database(number), "builtin": "quickstart"}
                (await client.post(f"{gym_url}/api/seed-database", json=body)).raise_for_status()

        await asyncio.gather(*(seed(number) for number in range(max(DATABASES))))
        lines = ["| call | clients | databases | p50 | p99 | ratio of p50 | of p99 |", "| --- " * 7 + "|"]
        for clients, databases in itertools.product(CLIENTS, DATABASES):
            lines += await _case(client, Setting(gym_url, bare_url, clients, databases))
        return [
            *lines,
            "",
            "Ratios are to the bare endpoint with as many clients; calls go round the databases in turn.",
        ]


@dataclass(frozen=True)
class Setting:
    """One case."""

    gym: str
    bare: str
    clients: int
    databases: int


def _database(number: int) -> str:
    return f"bench-{number}"


CALLS: Mapping[str, tuple[str, Callable[[int], dict[str, str]]]] = {
    "bare endpoint, same query": ("get_user", lambda _: {"user_id": USER}),
    "read (get_user)": ("get_user", lambda _: {"user_id": USER}),
    # Writes add incidents that are new: the list stays as long as it was.
    "filtered list (list_incidents)": ("list_incidents", lambda _: {"status": "on_hold"}),
    "write (create_incident)": (
        "create_incident",
        lambda number: {"caller_id": USER, "short_description": f"printer {number}"},
    ),
}
"""Tool and arguments of each row; the first is asked of the bare endpoint."""


async def _case(client: httpx.AsyncClient, setting: Setting) -> list[str]:
    """Every kind of call, in slices that take turns: what else the machine does hits all of them alike."""
    taken: dict[str, list[float]] = {name: [] for name in CALLS}
    # More rounds than databases at first: each database has opened its connection when it counts.
    await _slice(client, setting, "read (get_user)", max(DATABASES))
    for _ in range(SLICES):
        for name in CALLS:
            taken[name] += await _slice(client, setting, name, ROUNDS // SLICES)
    bare = taken["bare endpoint, same query"]
    where = f"{setting.clients} | {setting.databases}"
    return [
        f"| {name} | {where} | {milliseconds(p50(times))} | {milliseconds(p99(times))} "
        f"| {p50(times) / p50(bare):.2f} | {p99(times) / p99(bare):.2f} |"
        for name, times in taken.items()
    ]


async def _slice(client: httpx.AsyncClient, setting: Setting, name: str, rounds: int) -> list[float]:
    """Seconds of each of `rounds` calls, `clients` at a time."""
    url = setting.bare if name.startswith("bare") else setting.gym
    tool, arguments = CALLS[name]
    numbers = iter(range(rounds))
    taken: list[float] = []

    async def one_client() -> None:
        for number in numbers:
            started = time.perf_counter()
            await _call(client, url, _database(number % setting.databases), tool, arguments(number))
            taken.append(time.perf_counter() - started)

    await asyncio.gather(*(one_client() for _ in range(setting.clients)))
    return taken


async def _call(client: httpx.AsyncClient, url: str, database: str, tool: str, arguments: dict[str, str]) -> None:
    params = {"name": tool, "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    reply = await client.post(f"{url}/mcp", json=message, headers={"x-database-id": database})
    result = reply.raise_for_status().json()["result"]
    if result["isError"]:
        raise RuntimeError(result["content"][0]["text"])


async def _serve_bare() -> None:
    """The least that answers the call: a few kept connections, one query, one JSON body."""
    postgres = await EmbeddedPostgres.start()
    domain = load("itsm")
    where = PostgresServer(str(postgres.socket_folder))
    databases = Databases(where, domain.name, METADATA, dict(domain.seeds))
    await databases.start()
    database = await databases.create("bench", Origin(builtin="quickstart"))
    connections: asyncio.Queue[asyncpg.Connection] = asyncio.Queue()
    for _ in range(BARE_CONNECTIONS):
        connections.put_nowait(await where.connect(database.name))
    columns = ", ".join(f'"{column.name}"' for column in METADATA.tables["users"].columns)

    async def answer(request: Request) -> Response:
        message: dict[str, Any] = json.loads(await request.body())
        arguments = message["params"]["arguments"]
        connection = await connections.get()
        row = await connection.fetchrow(f"SELECT {columns} FROM users WHERE user_id = $1", arguments["user_id"])
        connections.put_nowait(connection)
        text = json.dumps(dict(row), default=str)
        result = {"content": [{"type": "text", "text": text}], "isError": False}
        return JSONResponse({"jsonrpc": "2.0", "id": message["id"], "result": result})

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> Any:
        yield
        while not connections.empty():
            await connections.get_nowait().close()
        await databases.stop()
        await postgres.stop()

    app = Starlette(routes=[Route("/mcp", answer, methods=["POST"])], lifespan=lifespan)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None))
    serve = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 - uvicorn offers no event for it
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    sys.stdout.write(json.dumps({"url": f"http://127.0.0.1:{port}"}) + "\n")
    sys.stdout.flush()
    await serve


if __name__ == "__main__":
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve_bare())
