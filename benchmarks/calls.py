"""tools/call with one indexed query, compared with a bare JSON-RPC endpoint that runs the same query, by domain."""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import asyncpg
import httpx

from benchmarks import large_drive
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
DRIVE_USER = {"x-gdrive-user-token": large_drive.TOKEN}
BARE = "bare endpoint, same query"
ITSM_USER = "USER_001"
CSM_USER = "ines.calloway@larkspur.example"
HR_USER = {"x-hr-user-token": "hr-rosalind-keane"}
EMAIL_USER = {"x-email-user-token": "QZ3zLds4wc0Yz7sWLdz4rA"}
EMAIL_FILTER = "filter_60459426-917e-4a87-be8d-df5232d70e9b"
"""A filter of that user's mailbox."""
TEAMS_USER = {"x-teams-access-token": "teams_token_inge_lassen"}
TEAMS_USER_ID = "ac9c88a5-1e08-567e-a98f-b3bf79ff7f58"
TEAMS_CHANNEL = {
    "teamId": "68ed8a63-d462-584e-8bb5-d855eea588c5",
    "channelId": "19:370eec8e575a40e8a5b4bf8f53ef83b4@thread.tacv2",
}
"""A channel of one of that user's teams."""
FILES = 300, 5000
"""Files of a drive for calls, and of one that is searched."""


@dataclass(frozen=True)
class Workload:
    """Calls that are measured on a domain's server."""

    name: str
    domain: str
    table: str
    key: str
    """Indexed column of the table, and argument of the bare endpoint."""
    calls: Mapping[str, tuple[str, Callable[[int], Mapping[str, Any]]]]
    """Tool and arguments of each row of the report; the first row is measured on the bare endpoint."""
    headers: Mapping[str, str] = field(default_factory=dict)
    origin: Callable[[], Origin] = lambda: Origin(builtin="quickstart")
    databases: Sequence[int] = DATABASES


def _workload(domain: str, table: str, key: str, value: str | int, read: str, **others: Any) -> Workload:
    """A workload whose tool reads the row that has a value in a column; `given` are its arguments if they differ."""
    given = others.pop("given", {key: value})
    calls = {
        BARE: (read, lambda _: {key: value}),
        f"read ({read})": (read, lambda _: given),
        **others.pop("calls"),
    }
    return Workload(domain, domain, table, key, calls, **others)


def _drive(files: int) -> Origin:
    return Origin(sql=large_drive.seed(files))


def _message(number: int) -> str:
    """A message as drafts are given it."""
    text = f"To: dag.haugland@skerryline.example\r\nSubject: Note {number}\r\n\r\nSee you."
    return base64.urlsafe_b64encode(text.encode()).decode()


def _searches() -> Workload:
    """Searches of a large drive; the bare endpoint lists the files of the folder that holds what they find."""

    def search(q: str) -> tuple[str, Callable[[int], Mapping[str, Any]]]:
        return "list_files", lambda _: {"q": q, "pageSize": large_drive.HITS}

    calls = {
        BARE: ("", lambda _: {"parent_id": large_drive.HITS_FOLDER}),
        "search (names)": search(f"name contains '{large_drive.RARE}'"),
        "search (all texts)": search(f"fullText contains '{large_drive.RARE}'"),
        "search (folder)": search(f"'{large_drive.HITS_FOLDER}' in parents"),
    }
    return Workload(
        f"drive of {FILES[1]:,} files", "drive", "files", "parent_id", calls, DRIVE_USER, lambda: _drive(FILES[1]), (1,)
    )


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
    _workload(
        "drive", "files", "id", "f1", "get_files", given={"fileId": "f1"}, headers=DRIVE_USER,
        origin=lambda: _drive(FILES[0]),
        calls={
            # Writes add files of another type: the listed ones stay the same.
            "filtered list (list_files)": (
                "list_files", lambda _: {"q": "name contains 'budget' and mimeType = 'text/plain'", "pageSize": 10},
            ),
            "write (create_file)": (
                "create_file", lambda number: {"name": f"note {number}", "mimeType": "text/markdown"},
            ),
        },
    ),
    _workload(
        "hr", "user", "user_id", 1, "get_user", given={"user_id": "1"}, headers=HR_USER,
        origin=lambda: Origin(builtin="hospital"),
        calls={
            # Writes add cases in another state: the listed ones stay the same.
            "filtered list (list_hr_cases)": ("list_hr_cases", lambda _: {"status": "suspended", "limit": 10}),
            "write (create_new_hr_case)": (
                "create_new_hr_case",
                lambda number: {"short_description": f"letter {number}", "coe_type": "Payroll", "status": "draft"},
            ),
        },
    ),
    _workload(
        "email", "filters", "id", EMAIL_FILTER, "get_filter", given={"userId": "me", "id": EMAIL_FILTER},
        headers=EMAIL_USER, origin=lambda: Origin(builtin="ferries"),
        calls={
            # Drafts do not have the label of the listed messages.
            "filtered list (list_messages)": (
                "list_messages", lambda _: {"userId": "me", "labelIds": ["INBOX"], "q": "is:unread", "maxResults": 10},
            ),
            "write (create_draft)": ("create_draft", lambda number: {"message": {"raw": _message(number)}}),
        },
    ),
    _workload(
        "teams", "teams_users", "user_id", TEAMS_USER_ID, "get_user", given={"userId": TEAMS_USER_ID},
        headers=TEAMS_USER, origin=lambda: Origin(builtin="bridges"),
        calls={
            "filtered list (list_users)": ("list_users", lambda _: {"_filter": "userType eq 'Guest'"}),
            "write (send_channel_message)": (
                "send_channel_message", lambda number: {**TEAMS_CHANNEL, "body": {"content": f"note {number}"}},
            ),
        },
    ),
    _searches(),
)  # fmt: skip


async def measure() -> list[str]:
    """Lines of the report."""
    lines: list[str] = []
    for workload in WORKLOADS:
        with serving(workload.domain) as gym, _bare(workload.name) as bare:
            lines += [f"{workload.name}:", "", *await _compare(workload, gym.url, bare), ""]
    return [*lines, "Ratios are to the bare endpoint with as many clients; calls use the databases in turn."]


@contextmanager
def _bare(workload: str) -> Iterator[str]:
    command = [sys.executable, "-m", "benchmarks.calls", workload]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        try:
            assert child.stdout is not None
            yield json.loads(child.stdout.readline())["url"]
        finally:
            child.terminate()


async def _compare(workload: Workload, gym_url: str, bare_url: str) -> list[str]:
    limits = httpx.Limits(max_connections=None)
    seed_of = workload.origin()
    async with httpx.AsyncClient(timeout=60, limits=limits) as client:
        gate = asyncio.Semaphore(8)

        async def seed(number: int) -> None:
            async with gate:
                origin = {"builtin": seed_of.builtin, "sql_content": seed_of.sql}
                body = {"database_id": _database(number), **origin}
                (await client.post(f"{gym_url}/api/seed-database", json=body)).raise_for_status()

        await asyncio.gather(*(seed(number) for number in range(max(workload.databases))))
        lines = ["| call | clients | databases | p50 | p99 | ratio of p50 | of p99 |", "| --- " * 7 + "|"]
        for clients, databases in itertools.product(CLIENTS, workload.databases):
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
    await _slice(client, case, next(name for name in taken if name != BARE), max(case.workload.databases))
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
    database = await databases.create("bench", workload.origin())
    connections: asyncio.Queue[asyncpg.Connection] = asyncio.Queue()
    for _ in range(BARE_CONNECTIONS):
        connections.put_nowait(await where.connect(database.name))
    columns = ", ".join(f'"{column.name}"' for column in domain.metadata.tables[workload.table].columns)
    query = f'SELECT {columns} FROM "{workload.table}" WHERE "{workload.key}" = $1'

    async def answer(_tool: str, arguments: Mapping[str, Any]) -> str:
        connection = await connections.get()
        rows = await connection.fetch(query, arguments[workload.key])
        connections.put_nowait(connection)
        return json.dumps([dict(row) for row in rows], default=str)

    async def close() -> None:
        while not connections.empty():
            await connections.get_nowait().close()
        await databases.stop()
        await postgres.stop()

    await serve(answer, close)


if __name__ == "__main__":
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve_bare(next(workload for workload in WORKLOADS if workload.name == sys.argv[1])))
