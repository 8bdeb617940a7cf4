"""Plays calls, a step each, on a fresh database of a real gym server and has the task's verifiers judge the end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx

from opsgym_api.records import VerifierResult
from opsgym_api.task import Task, ToolCall
from opsgym_domains import registry
from opsgym_domains.kit.tools import Tool
from opsgym_runner.events import Events
from opsgym_runner.gym import GymClient, http_client
from opsgym_runner.job import Seed
from opsgym_runner.transcript import Transcriber
from opsgym_runner.verifiers import Conduct, verify

AT_ONCE = 6
"""Databases that are in use at the same time; the server's Postgres has connections for more."""


def tools_of(task: Task) -> Mapping[str, Tool]:
    """All tools of a task's domain."""
    assert task.domain is not None
    return registry.load(task.domain).toolbox.tools


@dataclass(frozen=True)
class Play:
    """What an agent does in an episode."""

    label: str
    calls: Sequence[ToolCall]
    answer: str
    sql: Sequence[str] = ()
    """What changes at the end from outside, in Postgres' dialect."""
    writes_only: bool = False
    """Calls that only read count as made, and are not: they leave nothing in the database. Does not go with events,
    which may ask how far an episode is."""
    first_failure: bool = False
    """The end is judged until a verifier fails, the quick ones first: enough to see that it does not pass."""


@dataclass(frozen=True)
class Ending:
    """How an episode ended."""

    label: str
    results: Sequence[VerifierResult]
    refusals: Sequence[str]
    """What the gym said about calls that it refused."""
    happened: Sequence[str]
    """What happened without the agent, in order, and what never came due."""

    @property
    def failed(self) -> list[str]:
        """Verifiers that did not pass, by name."""
        return [result.name for result in self.results if not result.passed]


def play_all(url: str, task: Task, plays: Sequence[Play]) -> list[Ending]:
    """Endings in the order of the plays, which run concurrently."""
    return asyncio.run(_play_all(url, task, plays))


async def _play_all(url: str, task: Task, plays: Sequence[Play]) -> list[Ending]:
    places = asyncio.Semaphore(AT_ONCE)

    async def play_in_turn(http: httpx.AsyncClient, play: Play) -> Ending:
        async with places:
            return await _play(http, url, task, play)

    async with http_client() as http:
        return await asyncio.gather(*(play_in_turn(http, play) for play in plays))


async def _play(http: httpx.AsyncClient, url: str, task: Task, play: Play) -> Ending:
    async with database(http, url, task) as gym:
        refusals, happened = await carry_out(gym, task, play)
        conduct = Conduct([call.name for call in play.calls], play.answer)
        judge = _until_failure if play.first_failure else verify
        return Ending(play.label, await judge(task, {gym.name: gym}, conduct), refusals, happened)


async def carry_out(gym: GymClient, task: Task, play: Play) -> tuple[Sequence[str], Sequence[str]]:
    """Plays calls and events on a database; what the gym refused, and what happened without the agent."""
    refusals: list[str] = []
    notes = _Notes(task.task_id)
    events = Events(task, {gym.name: gym}, notes)
    await events.happen(0)
    for step, call in enumerate(play.calls, start=1):
        if play.writes_only and not tools_of(task)[call.name].writes:
            continue
        result = await gym.call_tool(call.name, call.arguments)
        await events.happen(step)
        if result.is_error:
            refusals.append(f"{call.name}: {result.rendered}")
    events.close()
    if play.sql:
        await gym.apply_event(play.sql)
    return refusals, notes.texts


async def _until_failure(task: Task, gyms: Mapping[str, GymClient], conduct: Conduct) -> list[VerifierResult]:
    quick_first = sorted(enumerate(task.verifiers), key=lambda item: item[1].dialect != "postgres")
    results: list[VerifierResult] = []
    for index, verifier in quick_first:
        (result,) = await verify(task.model_copy(update={"verifiers": [verifier]}), gyms, conduct)
        results.append(result.model_copy(update={"index": index}))
        if not result.passed:
            break
    return results


class _Notes(Transcriber):
    """Keeps what is noted."""

    def __init__(self, task_id: str) -> None:
        super().__init__(task_id)
        self.texts: list[str] = []

    def note(self, text: str, step: int = 0) -> None:
        self.texts.append(text)


@asynccontextmanager
async def database(http: httpx.AsyncClient, url: str, task: Task) -> AsyncIterator[GymClient]:
    """A fresh database with the task's seed."""
    (server,) = task.gym_servers_config
    gym = GymClient(http, url, server)
    await gym.seed(Seed(builtin=server.seed_database_file.removeprefix("builtin:")), task.access)
    try:
        yield gym
    finally:
        await gym.delete()
