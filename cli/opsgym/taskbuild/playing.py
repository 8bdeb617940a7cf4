"""Plays the steps of a task file on databases of gym servers, and resolves references against the real results.

Invariant: steps, days and events follow one another as in an episode of the runner: an answer is a step and ends a day,
and events that are due happen before the next call.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import httpx

from opsgym.taskbuild.provenance import Sources, unsourced
from opsgym.taskcheck.findings import unknown
from opsgym_api.errors import InputError, Problem
from opsgym_api.records.state_difference import StateDifference
from opsgym_api.tasks.references import ReferenceFaultError, resolved, typed
from opsgym_api.tasks.task import Task, ToolCall
from opsgym_api.tasks.task_file import Other, Step, TaskFile
from opsgym_core.results.frozen_suite import Seed
from opsgym_core.results.transcripts import result_text
from opsgym_domains import registry
from opsgym_runner.gyms.client import GymClient
from opsgym_runner.recording.transcript import TranscriptRecorder
from opsgym_runner.scenario.events import ScenarioEvents
from opsgym_runner.verification.looked_up import ToolCallResult

Schemas = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""Schemas of tools, by gym server and tool."""


@dataclass
class Played:
    """What a play has called and read."""

    calls: list[ToolCall] = field(default_factory=list)
    """Calls with the values of their arguments."""
    results: list[ToolCallResult] = field(default_factory=list)
    named: dict[str, Any] = field(default_factory=dict)
    """Results by the name of their step."""
    by_day: list[Mapping[str, StateDifference]] = field(default_factory=list)
    """Differences at the ends of the days before the last one, by gym server."""
    differences: Mapping[str, StateDifference] = field(default_factory=dict)
    """Differences at the end."""
    problems: list[Problem] = field(default_factory=list)

    @property
    def read(self) -> str:
        """All results so far."""
        return "\n".join(result_text(result.result) for result in self.results)


@dataclass(frozen=True)
class Player:
    """Plays ways through one task.

    Args:
        source: The task's file, for messages.
        file: The task.
        row: Its row; of the verifiers nothing is read.
        http: Connections to gym servers.
        urls: Their URLs, by gym server of the row.
        seeds: Seeds, by gym server of the row.
    """

    source: str
    file: TaskFile
    row: Task
    http: httpx.AsyncClient
    urls: Mapping[str, str]
    seeds: Mapping[str, Seed]

    async def solution(self) -> Played:
        """Plays the solution.

        Raises:
            InputError: An argument has no source, a reference finds nothing or several values, or a call is refused.
        """
        async with self.databases() as gyms:
            played = await self.play(gyms, self.file.steps(), Played(), strict=True)
        if played.problems:
            raise InputError(self.source, played.problems)
        return played

    async def with_optional_calls(self, played: Played) -> Mapping[str, StateDifference]:
        """Differences at the end, by gym server, if all calls are made that a right solution may make."""
        if not self.file.optional:
            return played.differences
        async with self.databases() as gyms:
            steps = self.file.steps(Other(then=self.file.optional))
            return (await self.play(gyms, steps, again(played), strict=False)).differences

    @asynccontextmanager
    async def databases(self) -> AsyncIterator[Mapping[str, GymClient]]:
        """Fresh databases with the task's seeds, by gym server."""
        gyms: dict[str, GymClient] = {}
        try:
            for server in self.row.gym_servers_config:
                name = server.mcp_server_name
                gyms[name] = GymClient(self.http, self.urls[name], server)
                await gyms[name].seed(self.seeds[name], self.row.access)
            yield gyms
        finally:
            for gym in gyms.values():
                await gym.delete()

    async def play(
        self, gyms: Mapping[str, GymClient], steps: Sequence[Step], played: Played, *, strict: bool
    ) -> Played:
        """Plays steps on databases.

        Args:
            gyms: The databases, by gym server.
            steps: The steps, each with its day.
            played: What references may mean before the first call; receives calls and results.
            strict: Whether a literal without source and a refused call are problems.

        Raises:
            InputError: A reference finds nothing or several values.
        """
        schemas = {name: _schemas(gym) for name, gym in gyms.items()}
        events = ScenarioEvents(self.row, gyms, TranscriptRecorder(self.row.task_id))
        number = 0
        for day in range(1, len(self.row.days) + 2):
            if day > 1:
                number += 1  # the answer of the day before
                played.by_day.append({name: await _difference(gym) for name, gym in gyms.items()})
                await events.begin_day(self.row.days[day - 2].begins_at, number)
            await events.apply_due(number)
            for position, step in ((index, step) for index, step in enumerate(steps) if (step.day or 1) == day):
                gym = gyms[self._gym_of(step, gyms, schemas, position)]
                made = self._made(position, step, gym, played, strict=strict)
                call = ToolCall(name=step.tool, arguments=made, **self._place(gym, day))
                await self._call(gym, call, position, step, events, played, strict=strict)
                number += 1
                await events.apply_due(number)
        events.close()
        played.differences = {name: await _difference(gym) for name, gym in gyms.items()}
        return played

    def _place(self, gym: GymClient, day: int) -> dict[str, Any]:
        several = len(self.row.gym_servers_config) > 1
        return {**({"gym": gym.name} if several else {}), **({"day": day} if self.row.days else {})}

    def _gym_of(self, step: Step, gyms: Mapping[str, GymClient], schemas: Schemas, position: int) -> str:
        having = [name for name, gym in gyms.items() if step.tool in schemas[name] and step.gym in (None, gym.domain)]
        if not having:
            known = sorted({tool for tools in schemas.values() for tool in tools})
            message = unknown("tool", step.tool, known, "`opsgym gym explore DOMAIN` lists all tools")
            raise InputError(self.source, [Problem(_where(position, step), message)])
        return having[0]

    def _made(self, position: int, step: Step, gym: GymClient, played: Played, *, strict: bool) -> dict[str, Any]:
        """Arguments with the values of references, in the types of the tool."""
        tool = registry.load(gym.domain).toolbox.tools[step.tool]
        schema, reads = tool.input_schema, not tool.writes
        if strict:
            read = Sources(f"{self.file.messages}\n{self.row.system_prompt}", played.read)
            faults = unsourced(step.arguments, step.why, schema, read, reads=reads)
            played.problems += (
                Problem(f"{_where(position, step)}.{fault.partition(': ')[0]}", fault.partition(": ")[2])
                for fault in faults
            )
        try:
            values = resolved(step.arguments, played.named)
        except ReferenceFaultError as error:
            raise InputError(self.source, [*played.problems, Problem(_where(position, step), str(error))]) from None
        properties = schema.get("properties", {})
        return {name: typed(value, properties.get(name, {})) for name, value in values.items()}

    async def _call(
        self,
        gym: GymClient,
        call: ToolCall,
        position: int,
        step: Step,
        events: ScenarioEvents,
        played: Played,
        *,
        strict: bool,
    ) -> None:
        result = await gym.call_tool(call.name, call.arguments)
        text = result_text(result.rendered)
        is_error = result.is_error or _reads_as_error(text)
        made = ToolCallResult(call.name, call.arguments, result.rendered, result.is_error, gym.name)
        if not result.is_error:
            events.tool_succeeded(gym.name, made)
        played.calls.append(call)
        played.results.append(made)
        if step.name:
            played.named[step.name] = _value(text)
        if strict and is_error and step.refused is None:
            played.problems.append(Problem(_where(position, step), f"is refused: {text[:300]}"))
        elif strict and step.refused is not None and (not is_error or step.refused not in text):
            problem = f"answers {text[:200]!r}, expected a refusal by {step.refused}"
            played.problems.append(Problem(_where(position, step), problem))


def again(played: Played) -> Played:
    """The start of another play, in which references may also mean what the solution has read."""
    return replace(Played(), named=dict(played.named))


def _where(position: int, step: Step) -> str:
    return f"solution[{position}] ({step.name or step.tool})"


def _schemas(gym: GymClient) -> Mapping[str, Mapping[str, Any]]:
    return {name: tool.input_schema for name, tool in registry.load(gym.domain).toolbox.tools.items()}


async def _difference(gym: GymClient) -> StateDifference:
    difference = await gym.state_difference(whole=True)
    assert difference is not None, "opsgym's own servers compute differences"
    return difference


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _reads_as_error(text: str) -> bool:
    """Whether a result that is not marked as an error says that it is one: published calendars answer in plain text."""
    value = _value(text)
    if isinstance(value, Mapping):
        return value.get("success") is False or value.get("error") is True
    return isinstance(value, str) and value.lstrip().lower().startswith("error")
