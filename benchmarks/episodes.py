"""Replayed ITSM episodes: episodes per minute, and CPU time by process."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx

from benchmarks.gym import Gym, serving
from benchmarks.timing import cpu_seconds
from opsgym_api.kinds.evalrun import Access, Agent, Limits, Mode
from opsgym_api.records.attempt import Cell, TrialRecord
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.store_layout import RunKeys
from opsgym_api.tasks.task import Task
from opsgym_core.common.logs import ENV_LEVEL, configure_logs
from opsgym_core.results.frozen_suite import Seed
from opsgym_core.store.local import LocalStore
from opsgym_domains.suite_rows import load_suite
from opsgym_runner.job import Job, ResolvedModel
from opsgym_runner.models.litellm_lib import load_litellm
from opsgym_runner.models.prices import FREE
from opsgym_runner.runner import Runner

EPISODES = 200
CONCURRENCY = 8
CELL = Cell(model="gold", agent="react", mode="oracle", domain="itsm")
SEED = "quickstart"


@dataclass(frozen=True)
class Load:
    """Time that a batch of episodes took."""

    seconds: float
    harness: float
    """CPU seconds of this process: runner, litellm and the replay server."""
    gym: float
    postgres: float


async def measure() -> list[str]:
    """Lines of the report."""
    configure_logs({ENV_LEVEL: "WARNING"})
    load_litellm()
    tasks = [task for task in load_suite(SEED) if task.gold_actions]
    with serving("itsm") as gym, tempfile.TemporaryDirectory() as folder:
        await _run(gym, folder, tasks[:CONCURRENCY], "warm")
        full = await _run(gym, folder, _repeat(tasks, EPISODES), "bench")
        minimal = await _measured(gym, _minimal(gym, _repeat(tasks, EPISODES)))
        records = _records(Path(folder), "bench")
    calls = sum(record.tool_calls for record in records) / len(records)
    return [
        f"{EPISODES} episodes under replay/gold, concurrency {CONCURRENCY}, {calls:.1f} tool calls each:",
        "",
        "| client | episodes per minute | harness CPU | gym server CPU | Postgres CPU |",
        "| --- | --- | --- | --- | --- |",
        _row("opsgym runner, litellm and replay server included", full),
        _row("minimal client: the same gym requests, no model", minimal),
        "",
        f"Harness CPU per episode: {full.harness / minimal.harness:.1f} × the minimal client's.",
        "",
        "Wall-clock seconds by phase, mean of an episode: " + ", ".join(_phases(records)) + ".",
    ]


def _row(name: str, load: Load) -> str:
    per_minute = EPISODES / load.seconds * 60
    parts = [f"{part / EPISODES * 1000:.0f} ms" for part in (load.harness, load.gym, load.postgres)]
    return f"| {name} | {per_minute:.0f} | " + " | ".join(parts) + " |"


def _phases(records: Sequence[TrialRecord]) -> Iterable[str]:
    for name in ("seed_s", "connect_s", "model_s", "tools_s", "verify_s", "total_s"):
        mean = sum(getattr(record.timings, name) for record in records) / len(records)
        yield f"{name.removesuffix('_s')} {mean:.3f}"


async def _run(gym: Gym, folder: str, tasks: Sequence[Task], run: str) -> Load:
    async with Runner(LocalStore(Path(folder))) as runner:
        jobs = [_job(run, task, number, gym) for number, task in enumerate(tasks)]
        return await _measured(gym, _all(jobs, runner))


async def _all(jobs: Sequence[Job], runner: Runner) -> None:
    limit = asyncio.Semaphore(CONCURRENCY)

    async def one(job: Job) -> None:
        async with limit:
            record = await runner.run(job)
        if record.outcome is not Outcome.PASSED:
            raise RuntimeError(f"{job.task.task_id}: {record.outcome} {record.reason} {record.message}")

    await asyncio.gather(*(one(job) for job in jobs))


async def _minimal(gym: Gym, tasks: Sequence[Task]) -> None:
    limit = asyncio.Semaphore(CONCURRENCY)
    async with httpx.AsyncClient(base_url=gym.url, timeout=60) as client:

        async def one(number: int, task: Task) -> None:
            async with limit:
                await _minimal_episode(client, f"minimal-{number}", task)

        await asyncio.gather(*(one(number, task) for number, task in enumerate(tasks)))


async def _minimal_episode(client: httpx.AsyncClient, database: str, task: Task) -> None:
    server = task.gym_servers_config[0]
    headers = {"x-database-id": database, **server.headers}
    await client.post("/api/seed-database", json={"database_id": database, "builtin": SEED})
    messages: list[tuple[str, dict[str, object]]] = [("initialize", {}), ("tools/list", {})]
    messages += [("tools/call", {"name": call.name, "arguments": call.arguments}) for call in task.gold_actions or ()]
    for method, params in messages:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        (await client.post("/mcp", json=body, headers=headers)).json()
    for verifier in task.verifiers:
        if verifier.verifier_type == "database_state":
            query = {"query": verifier.database_state.query, "dialect": verifier.dialect}
            (await client.post("/api/sql-runner", json=query, headers=headers)).json()
    await client.request("DELETE", "/api/delete-database", json={"database_id": database})


async def _measured(gym: Gym, work: Awaitable[object]) -> Load:
    started, cpu, before = time.perf_counter(), time.process_time(), cpu_seconds(gym.pid)
    await work
    after = cpu_seconds(gym.pid)
    return Load(
        seconds=time.perf_counter() - started,
        harness=time.process_time() - cpu,
        gym=after["self"] - before["self"],
        postgres=after["children"] - before["children"],
    )


def _job(run: str, task: Task, number: int, gym: Gym) -> Job:
    return Job(
        run=run,
        cell=CELL,
        task=task,
        trial=number,
        attempt=0,
        # Without faults, and through litellm, which replay/gold does not need.
        model=ResolvedModel(name="gold", model="replay/flaky", prices=FREE),
        agent=Agent(name="react"),
        mode=Mode.ORACLE,
        limits=Limits(),
        access=Access.PUBLISHED,
        gyms={"itsm": gym.url},
        seeds={server.mcp_server_name: Seed(builtin=SEED) for server in task.gym_servers_config},
    )


def _repeat(tasks: Sequence[Task], count: int) -> list[Task]:
    return [tasks[number % len(tasks)] for number in range(count)]


def _records(folder: Path, run: str) -> list[TrialRecord]:
    store = LocalStore(folder)
    keys = [key for key in store.keys(RunKeys(run).cells) if key.endswith(".json") and "/attempts/" not in key]
    return [TrialRecord.from_json(store.get(key) or b"") for key in keys]
