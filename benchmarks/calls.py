"""tools/call with one indexed query, compared with a bare JSON-RPC endpoint that runs the same query, by domain."""

from __future__ import annotations

import asyncio
import itertools
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import asyncpg
import httpx

from benchmarks.bare import serve
from benchmarks.gym import serving
from benchmarks.timing import milliseconds, p50, p99
from opsgym_domains.kit.database import Origin
from opsgym_domains.kit.databases import Databases
from opsgym_domains.kit.embedded import EmbeddedPostgres
from opsgym_domains.kit.postgres_server import PostgresServer
from opsgym_domains.registry import load

ROUNDS = 600
SLICES = 6
CLIENTS = (1, 16)
DATABASES = (1, 200)
BARE_CONNECTIONS = 4
BARE = "bare endpoint, same query"
ITSM_USER = "USER_001"
CSM_USER = "ines.calloway@larkspur.example"


@dataclass(frozen=True)
class Workload:
    """Calls that are measured on a domain's server."""

    domain: str
    table: str
    key: str
    """Indexed column of the table, and argument of the tool that reads by it."""
    calls: Mapping[str, tuple[str, Callable[[int], Mapping[str, Any]]]]
    """Tool and arguments of each row of the report; the first row is measured on the bare endpoint."""
    headers: Mapping[str, str] = field(default_factory=dict)


def _workload(domain: str, table: str, key: str, value: str, read: str, **others: Any) -> Workload:
    headers = others.pop("headers", {})
    arguments: Mapping[str, Any] = {key: value}
    calls = {BARE: (read, lambda _: arguments), f"read ({read})": (read, lambda _: arguments), **others.pop("calls")}
    return Workload(domain, table, key, calls, headers)


WORKLOADS = (
    _workload(
        "itsm", "users", "user_id", ITSM_USER, "get_user",
        calls={
            # Writes add incidents in another state: the listed ones stay the same.
            "filtered list (list_incidents)": ("list_incidents", lambda _: {"status": "on_hold"}),
            "write (create_incident)": (
                "create_incident", lambda number: {"caller_id": ITSM_USER, "short_description": f"printer {number}"},
            ),
        },
    ),
    _workload(
        "csm", "user", "email", CSM_USER, "find_user_by_email", headers={"x-user-email": CSM_USER},
        calls={
            # Writes add cases in another state: the listed ones stay the same.
            "filtered list (search_cases)": ("search_cases", lambda _: {"state": "pending"}),
            "write (create_new_case)": (
                "create_new_case",
                lambda number: {
                    "account_id": 1, "contact_id": 1, "channel": "phone", "priority": "low", "state": "new",
                    "short_description": f"printer {number}",
                },
            ),
        },
    ),
)  # fmt: skip


async def measure() -> list[str]:
    """Lines of the report."""
    lines: list[str] = []
    for workload in WORKLOADS:
        with serving(workload.domain) as gym, _bare(workload.domain) as bare:
            lines += [f"{workload.domain}:", "", *await _compare(workload, gym.url, bare), ""]
    return [*lines, "Ratios are to the bare endpoint with as many clients; calls use the databases in turn."]


@contextmanager
def _bare(domain: str) -> Iterator[str]:
    command = [sys.executable, "-m", "benchmarks.calls", domain]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        try:
            assert child.stdout is not None
            yield json.loads(child.stdout.readline())["url"]
        finally:
            child.terminate()


async def _compare(workload: Workload, gym_url: str, bare_url: str) -> list[str]:
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
            lines += await _case(client, Case(workload, gym_url, bare_url, clients, databases))
        return lines


@dataclass(frozen=True)
class Case:
    """One combination of workload, number of clients and number of databases."""

    workload: Workload
    gym: str
    bare: str
    clients: int
    databases: int


def _database(number: int) -> str:
    return f"bench-{number}"


async def _case(client: httpx.AsyncClient, case: Case) -> list[str]:
    """Measures every kind of call in alternating slices, so that other load on the machine affects all of them."""
    taken: dict[str, list[float]] = {name: [] for name in case.workload.calls}
    # Warm-up: every database opens its connection before anything is measured.
    await _slice(client, case, next(name for name in taken if name != BARE), max(DATABASES))
    for _ in range(SLICES):
        for name in taken:
            taken[name] += await _slice(client, case, name, ROUNDS // SLICES)
    bare = taken[BARE]
    size = f"{case.clients} | {case.databases}"
    return [
        f"| {name} | {size} | {milliseconds(p50(times))} | {milliseconds(p99(times))} "
        f"| {p50(times) / p50(bare):.2f} | {p99(times) / p99(bare):.2f} |"
        for name, times in taken.items()
    ]


async def _slice(client: httpx.AsyncClient, case: Case, name: str, rounds: int) -> list[float]:
    """Seconds of each of `rounds` calls, `clients` at a time."""
    url = case.bare if name == BARE else case.gym
    tool, arguments = case.workload.calls[name]
    numbers = iter(range(rounds))
    taken: list[float] = []

    async def one_client() -> None:
        for number in numbers:
            started = time.perf_counter()
            headers = {**case.workload.headers, "x-database-id": _database(number % case.databases)}
            await _call(client, url, headers, tool, arguments(number))
            taken.append(time.perf_counter() - started)

    await asyncio.gather(*(one_client() for _ in range(case.clients)))
    return taken


async def _call(
    client: httpx.AsyncClient, url: str, headers: Mapping[str, str], tool: str, arguments: Mapping[str, Any]
) -> None:
    params = {"name": tool, "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    reply = await client.post(f"{url}/mcp", json=message, headers=dict(headers))
    result = reply.raise_for_status().json()["result"]
    if result["isError"]:
        raise RuntimeError(result["content"][0]["text"])


async def _serve_bare(workload: Workload) -> None:
    """Serves the call with the least work: a few open connections, one query, one JSON body."""
    postgres = await EmbeddedPostgres.start()
    domain = load(workload.domain)
    where = PostgresServer(str(postgres.socket_folder))
    databases = Databases(where, domain.name, domain.metadata, dict(domain.seeds))
    await databases.start()
    database = await databases.create("bench", Origin(builtin="quickstart"))
    connections: asyncio.Queue[asyncpg.Connection] = asyncio.Queue()
    for _ in range(BARE_CONNECTIONS):
        connections.put_nowait(await where.connect(database.name))
    columns = ", ".join(f'"{column.name}"' for column in domain.metadata.tables[workload.table].columns)
    query = f'SELECT {columns} FROM "{workload.table}" WHERE "{workload.key}" = $1'

    async def answer(_tool: str, arguments: Mapping[str, Any]) -> str:
        connection = await connections.get()
        row = await connection.fetchrow(query, arguments[workload.key])
        connections.put_nowait(connection)
        return json.dumps(dict(row), default=str)

    async def close() -> None:
        while not connections.empty():
            await connections.get_nowait().close()
        await databases.stop()
        await postgres.stop()

    await serve(answer, close)


if __name__ == "__main__":
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve_bare(next(workload for workload in WORKLOADS if workload.domain == sys.argv[1])))
