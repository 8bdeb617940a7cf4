"""State difference of a database after an episode, compared with a snapshot of it; for every domain's largest seed."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence

import httpx
from sqlalchemy import DateTime

from benchmarks.gym import serving
from benchmarks.timing import milliseconds, p50, p99
from opsgym_api.tasks.task import Task
from opsgym_core.results.frozen_suite import Seed
from opsgym_domains import registry
from opsgym_domains.kit.domain import Domain
from opsgym_domains.suite_rows import load_suite
from opsgym_runner.gyms.client import GymClient, http_client

ROUNDS = 40
SUITES = ("itsm-core", "csm-core")
SEED = "desk"
Timing = tuple[float, float, int]
"""Seconds of the difference, seconds of the snapshot, and number of differing rows."""


async def measure() -> list[str]:
    """Lines of the report."""
    lines = ["| seed | rows | after | rows that differ | difference, p50 | p99 | snapshot, p50 | ratio of p50 |"]
    lines.append("| --- " * 8 + "|")
    for suite in SUITES:
        tasks = [task for task in load_suite(suite) if task.gold_actions and not task.events]
        domain = registry.load(str(tasks[0].domain))
        with serving(domain.name) as gym:
            async with http_client() as http:
                lines += await _compare(http, gym.url, domain, tasks)
    note = f"{ROUNDS} each, over HTTP, on databases without earlier requests. A difference holds up to 200 rows."
    return [*lines, "", note]


async def _compare(http: httpx.AsyncClient, url: str, domain: Domain, tasks: Sequence[Task]) -> list[str]:
    spread = tasks[:: len(tasks) // ROUNDS][:ROUNDS]
    rows = await _count(http, url, domain, tasks[0])
    solved = [await _time(http, url, task, _solve(task)) for task in spread]
    shifted = [await _time(http, url, tasks[0], _shift(domain)) for _ in range(ROUNDS)]
    name = f"{domain.name} {SEED} | {rows}"
    return [_row(f"{name} | a reference solution", solved), _row(f"{name} | a time of every row changed", shifted)]


def _row(name: str, taken: Sequence[Timing]) -> str:
    differences, snapshots, rows = zip(*taken, strict=True)
    times = f"{milliseconds(p50(differences))} | {milliseconds(p99(differences))} | {milliseconds(p50(snapshots))}"
    return f"| {name} | {min(rows)}–{max(rows)} | {times} | {p50(differences) / p50(snapshots):.2f} |"


async def _time(http: httpx.AsyncClient, url: str, task: Task, act: Callable[[GymClient], Awaitable[None]]) -> Timing:
    gym = await _seeded(http, url, task)
    await act(gym)
    started = time.perf_counter()
    difference = await gym.state_difference()
    compared = time.perf_counter()
    await gym.snapshot()
    ended = time.perf_counter()
    await gym.delete()
    assert difference is not None
    return compared - started, ended - compared, sum(t.added + t.changed + t.removed for t in difference.tables)


async def _seeded(http: httpx.AsyncClient, url: str, task: Task) -> GymClient:
    gym = GymClient(http, url, task.gym_servers_config[0])
    await gym.seed(Seed(builtin=SEED), task.access)
    return gym


def _solve(task: Task) -> Callable[[GymClient], Awaitable[None]]:
    async def act(gym: GymClient) -> None:
        for call in task.gold_actions or ():
            await gym.call_tool(call.name, call.arguments)

    return act


def _shift(domain: Domain) -> Callable[[GymClient], Awaitable[None]]:
    """Moves a time in every row that has one."""
    columns = {
        table.name: next((column.name for column in table.columns if isinstance(column.type, DateTime)), None)
        for table in domain.metadata.tables.values()
    }
    statements = [
        f'UPDATE "{table}" SET "{column}" = "{column}" + interval \'1 second\''
        for table, column in columns.items()
        if column is not None
    ]

    async def act(gym: GymClient) -> None:
        await gym.apply_event(statements)

    return act


async def _count(http: httpx.AsyncClient, url: str, domain: Domain, task: Task) -> int:
    gym = await _seeded(http, url, task)
    counts = " + ".join(f'(SELECT count(*) FROM "{table}")' for table in domain.metadata.tables)
    ((rows,),) = [row.values() for row in await gym.run_sql(f"SELECT {counts}", "sqlite")]
    await gym.delete()
    return int(rows)
