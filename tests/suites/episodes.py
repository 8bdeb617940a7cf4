"""Plays trajectories, one call a step, on fresh databases of real gym servers, and judges them as the runner does.

Invariant: steps, days and events follow one another as in an episode of the runner: an answer is a step and ends a day,
and events that are due happen before the next call.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

import httpx

from opsgym_api.records.attempt import VerifierResult
from opsgym_api.records.state_difference import StateDifference
from opsgym_api.tasks.task import Task, ToolCall
from opsgym_core.results.frozen_suite import Seed
from opsgym_domains import registry
from opsgym_domains.kit.tools import Tool
from opsgym_runner.gyms.client import GymClient, http_client
from opsgym_runner.recording.transcript import TranscriptRecorder
from opsgym_runner.scenario.events import ScenarioEvents
from opsgym_runner.verification.looked_up import ToolCallResult
from opsgym_runner.verification.verifiers import Trajectory, verify, whole_differences

AT_ONCE = 6
"""Databases in use at the same time; the server's Postgres has connections for more."""


class Server(Protocol):
    """A running gym server."""

    @property
    def url(self) -> str:
        """Where it listens."""


Servers = str | Callable[[str], Server]
"""Where gym servers are: the URL of the only one, or the server of each domain."""


def tool_of(task: Task, call: ToolCall) -> Tool:
    """The tool of a call."""
    if call.gym is None:
        return registry.tools_of(task)[call.name]
    (server,) = [server for server in task.gym_servers_config if server.mcp_server_name == call.gym]
    return registry.load(server.domain).toolbox.tools[call.name]


def _first_with(task: Task, tool: str) -> str:
    """The gym server that a call reaches which names none: the first with the tool, or the first of all."""
    names = [server.mcp_server_name for server in task.gym_servers_config]
    having = (
        server.mcp_server_name
        for server in task.gym_servers_config
        if tool in registry.load(server.domain).toolbox.tools
    )
    return next(having, names[0])


def postponed(task: Task, calls: Sequence[ToolCall], *, never: bool = False) -> list[ToolCall]:
    """Calls with the writes of the days before the last one at its beginning, or left out."""
    last = len(task.days) + 1
    early = [call for call in calls if (call.day or 1) < last and tool_of(task, call).writes]
    moved = [] if never else [call.model_copy(update={"day": last}) for call in early]
    rest = [call for call in calls if call not in early]
    return [*(call for call in rest if (call.day or 1) < last), *moved, *(c for c in rest if (c.day or 1) == last)]


@dataclass(frozen=True)
class Play:
    """What an agent does in an episode: a trajectory and its final answer."""

    label: str
    calls: Sequence[ToolCall]
    """Calls, each on the day that it names, or on the first one."""
    answer: str
    day_answers: Sequence[str] = ()
    """Answers on the days before the last one; empty where there are fewer."""


@dataclass(frozen=True)
class Ending:
    """How an episode ended."""

    play: Play
    results: Sequence[VerifierResult]
    calls: Sequence[ToolCallResult]
    """The calls with their results."""
    happened: Sequence[str]
    """Notes about the task's events, in order: those that happened and those that did not."""
    differences: Mapping[str, StateDifference]
    """Differences of the final databases from their seeds, by gym server."""

    @property
    def refusals(self) -> list[str]:
        """The server's messages about calls that it refused."""
        return [f"{call.tool}: {call.result}" for call in self.calls if call.is_error]

    @property
    def label(self) -> str:
        """What the agent did."""
        return self.play.label

    @property
    def failed(self) -> list[str]:
        """Verifiers that did not pass, by name."""
        return [result.name for result in self.results if not result.passed]


def play_all(servers: Servers, task: Task, plays: Sequence[Play]) -> list[Ending]:
    """Plays concurrently; endings in the order of the plays."""
    return asyncio.run(_play_all(urls_of(servers, task), task, plays))


def urls_of(servers: Servers, task: Task) -> Mapping[str, str]:
    """URLs of a task's gym servers, which are started unless they run."""
    return {
        server.mcp_server_name: servers if isinstance(servers, str) else servers(server.domain).url
        for server in task.gym_servers_config
    }


async def _play_all(urls: Mapping[str, str], task: Task, plays: Sequence[Play]) -> list[Ending]:
    places = asyncio.Semaphore(AT_ONCE)

    async def play_in_turn(http: httpx.AsyncClient, play: Play) -> Ending:
        async with places:
            return await _play(http, urls, task, play)

    async with http_client() as http:
        return await asyncio.gather(*(play_in_turn(http, play) for play in plays))


async def _play(http: httpx.AsyncClient, urls: Mapping[str, str], task: Task, play: Play) -> Ending:
    async with databases(http, urls, task) as gyms:
        calls, happened, day_differences = await carry_out(gyms, task, play)
        differences = {name: await _difference(gym) for name, gym in gyms.items()}
        trajectory = Trajectory(calls, play.answer, _day_answers(task, play), day_differences)
        results = await verify(task, gyms, trajectory, differences=differences)
        return Ending(play, results, calls, happened, differences)


async def _difference(gym: GymClient) -> StateDifference:
    difference = await gym.state_difference(whole=True)
    assert difference is not None
    return difference


async def carry_out(
    gyms: Mapping[str, GymClient], task: Task, play: Play
) -> tuple[Sequence[ToolCallResult], Sequence[str], Sequence[Mapping[str, StateDifference]]]:
    """Plays days, calls and events on databases, by gym server; returns the calls with results, notes of events, and
    the differences at the ends of the days before the last one.
    """
    results: list[ToolCallResult] = []
    day_differences: list[Mapping[str, StateDifference]] = []
    notes = _Notes(task.task_id)
    events = ScenarioEvents(task, gyms, notes)
    step = 0
    for day in range(1, len(task.days) + 2):
        if day > 1:
            step += 1  # the answer of the day before
            day_differences.append(await whole_differences(task, gyms, day - 1))
            await events.begin_day(task.days[day - 2].begins_at, step)
        await events.apply_due(step)
        for call in (call for call in play.calls if (call.day or 1) == day):
            gym = gyms[call.gym or _first_with(task, call.name)]
            result = await gym.call_tool(call.name, call.arguments)
            results.append(ToolCallResult(call.name, call.arguments, result.rendered, result.is_error, gym.name))
            if not result.is_error:
                events.tool_succeeded(gym.name, results[-1])
            step += 1
            await events.apply_due(step)
    events.close()
    return results, notes.texts, day_differences


def _day_answers(task: Task, play: Play) -> list[str]:
    """Answers of every day before the last one."""
    return [*play.day_answers, *[""] * len(task.days)][: len(task.days)]


class _Notes(TranscriptRecorder):
    """Recorder that collects notes."""

    def __init__(self, task_id: str) -> None:
        super().__init__(task_id)
        self.texts: list[str] = []

    def note(self, text: str, step: int = 0) -> None:
        self.texts.append(text)


@asynccontextmanager
async def databases(
    http: httpx.AsyncClient, urls: Mapping[str, str], task: Task
) -> AsyncIterator[Mapping[str, GymClient]]:
    """Fresh databases with the task's seeds, by gym server."""
    gyms: dict[str, GymClient] = {}
    try:
        for server in task.gym_servers_config:
            gym = gyms[server.mcp_server_name] = GymClient(http, urls[server.mcp_server_name], server)
            await gym.seed(Seed(builtin=server.seed_database_file.removeprefix("builtin:")), task.access)
        yield gyms
    finally:
        for gym in gyms.values():
            await gym.delete()
