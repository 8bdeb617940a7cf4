"""The service of episodes: episodes begun and ended, and tool calls, a second, and the CPU time of each process."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Any

import httpx

from benchmarks.timing import cpu_seconds

TASK = "itsm-qs-001-triage-dock-printer"
TOKEN = "token-of-the-benchmark"
EPISODES = 20
CALLS = 100
PARALLEL = 64
"""Episodes open at the same time: the default of `--most`."""
_TOOL = {"name": "find_incident_by_id", "arguments": {"incident_id": "INC_001"}}
_ACCEPT = {"accept": "application/json, text/event-stream"}


@dataclass(frozen=True)
class Load:
    """Repetitions of a piece of work over some connections."""

    seconds: float
    durations: list[float]
    """Of each repetition, in seconds."""
    service_cpu: float
    """CPU seconds of the service's process."""
    gym_cpu: float
    """CPU seconds of the gym server, its Postgres included."""

    def row(self, name: str) -> str:
        """Line of the table."""
        count = len(self.durations)
        each = " | ".join(f"{part / count * 1000:.1f} ms" for part in (self.service_cpu, self.gym_cpu))
        return f"| {name} | {count / self.seconds:.0f} | {median(self.durations) * 1000:.0f} ms | {each} |"


async def measure() -> list[str]:
    """Lines of the report."""
    with _service() as (url, pid):
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=64)
        headers = {"authorization": f"Bearer {TOKEN}"}
        async with httpx.AsyncClient(base_url=url, headers=headers, timeout=600, limits=limits) as client:
            await _end(client, await _begin(client))
            lines = [
                "| work | a second | median | service CPU | gym CPU |",
                "| --- | --- | --- | --- | --- |",
            ]
            for connections in (1, 8):
                lines += await _rows(client, pid, connections)
            return [*lines, "", await _parallel(client)]


async def _rows(client: httpx.AsyncClient, pid: int, connections: int) -> list[str]:
    begun: list[dict[str, Any]] = []

    async def begin() -> None:
        begun.append(await _begin(client))

    async def end() -> None:
        await _end(client, begun.pop())

    at = f"{connections} connection{'s' * (connections > 1)}"
    rows = [(await _load(pid, begin, EPISODES, connections)).row(f"begin an episode, {at}")]
    episodes = begun[:connections]

    async def call() -> None:
        episode = episodes.pop()
        await _call(client, episode)
        episodes.append(episode)

    rows.append((await _load(pid, call, CALLS, connections)).row(f"call a tool, {at}"))
    rows.append((await _load(pid, end, EPISODES, connections)).row(f"finish an episode, {at}"))
    return rows


async def _parallel(client: httpx.AsyncClient) -> str:
    """Begins episodes that stay open, makes one call in each, and finishes them all."""
    started = time.perf_counter()
    limit = asyncio.Semaphore(8)

    async def limited(work: Callable[[], Awaitable[object]]) -> object:
        async with limit:
            return await work()

    begun: list[dict[str, Any]] = []

    async def begin() -> None:
        begun.append(await _begin(client))

    await asyncio.gather(*(limited(begin) for _ in range(PARALLEL)))
    open_after = time.perf_counter() - started
    await asyncio.gather(*(_call(client, episode) for episode in begun))
    called_after = time.perf_counter() - started
    await asyncio.gather(*(_end(client, episode) for episode in begun))
    total = time.perf_counter() - started
    return (
        f"{PARALLEL} episodes at the same time: open after {open_after:.1f} s, each called once "
        f"{called_after - open_after:.1f} s later, all with a verdict {total - called_after:.1f} s later."
    )


async def _load(pid: int, work: Callable[[], Awaitable[object]], count: int, connections: int) -> Load:
    durations: list[float] = []
    left = iter(range(count))

    async def worker() -> None:
        for _ in left:
            began = time.perf_counter()
            await work()
            durations.append(time.perf_counter() - began)

    before, started = cpu_seconds(pid), time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(connections)))
    seconds, after = time.perf_counter() - started, cpu_seconds(pid)
    return Load(seconds, durations, after["self"] - before["self"], after["children"] - before["children"])


async def _begin(client: httpx.AsyncClient) -> dict[str, Any]:
    response = await client.post(
        "/episodes", json={"task": TASK, "split": "train", "mode": "all_tools", "maxSteps": 1000}
    )
    return dict(response.raise_for_status().json())


async def _call(client: httpx.AsyncClient, episode: dict[str, Any]) -> None:
    (server,) = episode["mcpServers"]
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": _TOOL}
    headers = {**_ACCEPT, "authorization": f"Bearer {episode['token']}"}
    (await client.post(server["url"], json=body, headers=headers)).raise_for_status()


async def _end(client: httpx.AsyncClient, episode: dict[str, Any]) -> None:
    path = f"/episodes/{episode['id']}"
    verdict = (await client.post(f"{path}/finish", json={})).raise_for_status().json()
    assert verdict["reward"] == 0, verdict
    (await client.delete(path)).raise_for_status()


@contextmanager
def _service() -> Iterator[tuple[str, int]]:
    """Address and process id of a service."""
    command = [sys.executable, "-m", "opsgym.main", "episodes", "serve", "quickstart"]
    environment = {**os.environ, "OPSGYM_TRAIN_TOKEN": TOKEN, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as child:
        try:
            assert child.stdout is not None
            line = next(line for line in child.stdout if line.startswith("episodes of"))
            yield line.split(" at ")[1].split()[0], child.pid
        finally:
            child.terminate()
