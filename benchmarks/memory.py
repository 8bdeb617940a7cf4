"""Memory of a gym server and its Postgres with many databases, each seeded and used."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import psutil

from benchmarks.gym import serving

COUNTS = (1, 100, 500)
CONCURRENCY = 8
MIB = 1024 * 1024


async def measure() -> list[str]:
    """Lines of the report."""
    lines = ["| databases | gym server | Postgres, all processes | Postgres' files |", "| --- | --- | --- | --- |"]
    with serving("itsm") as gym:
        async with httpx.AsyncClient(timeout=60) as client:
            made = 0
            for count in COUNTS:
                await _use(client, gym.url, range(made, count))
                made = count
                lines.append(f"| {count} | {' | '.join(f'{size / MIB:.0f} MiB' for size in _memory(gym.pid))} |")
    return [
        *lines,
        "",
        "Each database holds the built-in seed, 565 rows, and has served a call. Proportional set sizes (PSS).",
    ]


async def _use(client: httpx.AsyncClient, url: str, numbers: range) -> None:
    gate = asyncio.Semaphore(CONCURRENCY)

    async def one(number: int) -> None:
        async with gate:
            name = f"bench-{number}"
            body = {"database_id": name, "builtin": "quickstart"}
            (await client.post(f"{url}/api/seed-database", json=body)).raise_for_status()
            params = {"name": "get_user", "arguments": {"user_id": "USER_001"}}
            message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
            (await client.post(f"{url}/mcp", json=message, headers={"x-database-id": name})).raise_for_status()

    await asyncio.gather(*(one(number) for number in numbers))


def _memory(pid: int) -> tuple[float, float, float]:
    """Bytes of the server, of the Postgres processes, and of the Postgres data folder, which is in memory, too."""
    server = psutil.Process(pid)
    postgres = server.children(recursive=True)
    arguments = next(child.cmdline() for child in postgres if "-D" in child.cmdline())
    folder = Path(arguments[arguments.index("-D") + 1])
    files = sum(file.stat().st_blocks * 512 for file in folder.rglob("*") if file.is_file())
    return server.memory_full_info().pss, sum(child.memory_full_info().pss for child in postgres), files
