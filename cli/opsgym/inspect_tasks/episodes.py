"""Databases and tools of the samples that are being solved, and the gym servers behind them.

Invariant: a sample has its own databases from its first solver to its cleanup. Gym servers are child processes of the
evaluation: they start with the first sample that needs them and end with the evaluation.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import httpx
from inspect_ai.hooks import Hooks, RunEnd, hooks
from inspect_ai.solver import TaskState
from inspect_ai.tool import Tool, ToolDef, ToolError, ToolParams

from opsgym.local.gym_servers import GymServers
from opsgym_api.kinds.evalrun import Access, Mode
from opsgym_api.records.attempt import VerifierResult
from opsgym_api.tasks.task import Task
from opsgym_core.planning.suite_rows import domains_of
from opsgym_core.results.frozen_suite import Seed
from opsgym_core.results.transcripts import result_text
from opsgym_runner.gyms.catalogue import Catalogue, ServerTools, ToolRef, build_catalogue
from opsgym_runner.gyms.client import GymClient, http_client
from opsgym_runner.verification.looked_up import ToolCallResult
from opsgym_runner.verification.verifiers import Trajectory, verify


@dataclass(frozen=True)
class Episode:
    """What a sample needs before it starts."""

    row: Task
    seeds: Mapping[str, Seed]
    """By name of the gym server."""
    mode: Mode
    access: Access


class StartedEpisode:
    """A sample whose databases are seeded."""

    def __init__(self, row: Task, gyms: Mapping[str, GymClient], catalogue: Catalogue) -> None:
        self._row = row
        self._gyms = gyms
        self._catalogue = catalogue
        self._calls: list[ToolCallResult] = []

    def tools(self) -> list[Tool]:
        """The tools that the mode shows, as Inspect's."""
        shown = (tool["function"] for tool in self._catalogue.tools)
        return [self._tool(function, self._catalogue.refs[function["name"]]) for function in shown]

    def _tool(self, function: Mapping[str, Any], ref: ToolRef) -> Tool:
        async def execute(**arguments: Any) -> str:
            result = await self._gyms[ref.gym].call_tool(ref.name, arguments)
            self._calls.append(ToolCallResult(ref.name, arguments, result.rendered, result.is_error, ref.gym))
            text = result_text(result.rendered)
            if result.is_error:
                raise ToolError(text)
            return text

        parameters = ToolParams.model_validate(inspect_schema(function["parameters"]))
        name, description = function["name"], function["description"] or function["name"]
        return ToolDef(execute, name=name, description=description, parameters=parameters).as_tool()

    async def verify(self, answer: str) -> Sequence[VerifierResult]:
        """Results of the row's verifiers.

        Raises:
            NotScored: A verifier cannot be executed, or a gym is lost.
        """
        return await verify(self._row, self._gyms, Trajectory(self._calls, answer, ()))

    async def end(self) -> None:
        """Deletes the databases."""
        for gym in self._gyms.values():
            await gym.delete()


def inspect_schema(schema: Any) -> Any:
    """A JSON schema whose lists of types are alternatives: Inspect's schema has one type each."""
    if isinstance(schema, list):
        return [inspect_schema(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    changed = {name: inspect_schema(part) for name, part in schema.items()}
    types = changed.get("type")
    if isinstance(types, list):
        rest = {name: part for name, part in changed.items() if name not in ("type", "description", "default")}
        shared = {name: changed[name] for name in ("description", "default") if name in changed}
        return {**shared, "anyOf": [{"type": kind, **(rest if kind != "null" else {})} for kind in types]}
    return changed


class _GymPool:
    """Gym servers of the evaluation in progress, one for each domain."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._forget()

    def _forget(self) -> None:
        self._starting = asyncio.Lock()
        self._servers: dict[str, GymServers] = {}
        self._stack = AsyncExitStack()
        self._http: httpx.AsyncClient | None = None
        self._admin_tokens: dict[str, str] = {}

    async def urls(self, domains: Iterable[str]) -> dict[str, str]:
        """Base URLs by domain, of servers that are healthy."""
        self._begin()
        async with self._starting:
            for domain in domains:
                if domain not in self._servers:
                    servers = await self._stack.enter_async_context(GymServers([domain], _ignore))
                    await servers.start()
                    self._servers[domain] = servers
        urls: dict[str, str] = {}
        for domain in domains:
            await self._servers[domain].ready([domain])
            urls |= self._servers[domain].urls
            self._admin_tokens |= self._servers[domain].admin_tokens
        return urls

    @property
    def http(self) -> httpx.AsyncClient:
        """Connections to the servers."""
        self._begin()
        if self._http is None:
            self._http = http_client(admin_tokens=self._admin_tokens)
        return self._http

    async def stop(self) -> None:
        """Ends all servers."""
        stack, http = self._stack, self._http
        self._forget()
        await stack.aclose()
        if http is not None:
            await http.aclose()

    def _begin(self) -> None:
        """Forgets servers of an evaluation that ended without its end being reported."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop = loop
            self._forget()


def _ignore(message: str) -> None:
    """Servers report restarts, which Inspect has no place for."""


_POOL = _GymPool()
_STARTED: dict[str, StartedEpisode] = {}
"""By the uuid of the sample's state."""
_CURRENT: ContextVar[StartedEpisode] = ContextVar("opsgym_episode")


@hooks(name="opsgym_gym_servers", description="Ends opsgym's gym servers with the evaluation.")
class GymServerHooks(Hooks):
    """Ends gym servers; without servers it does nothing."""

    async def on_run_end(self, data: RunEnd) -> None:  # noqa: ARG002 Inspect's signature
        """Ends all servers."""
        await _POOL.stop()


async def start_episode(uuid: str, episode: Episode) -> StartedEpisode:
    """Seeds the databases of a sample and lists its tools.

    Args:
        uuid: Identifies the sample's state.
        episode: What the sample needs.

    Raises:
        GymLostError: A gym server does not start.
        NotScored: A seed is refused, or a gym is lost.
    """
    row = episode.row
    urls = await _POOL.urls(sorted(domains_of(row)))
    gyms = {s.mcp_server_name: GymClient(_POOL.http, urls[s.domain], s) for s in row.gym_servers_config}
    servers = []
    for name, gym in gyms.items():
        await gym.seed(episode.seeds[name], row.access_in(episode.access))
        await gym.initialize()
        servers.append(ServerTools(name, await gym.list_tools(), gym.domain))
    started = StartedEpisode(row, gyms, build_catalogue(servers, row, episode.mode))
    _STARTED[uuid] = started
    _CURRENT.set(started)
    return started


def episode_of(uuid: str) -> StartedEpisode:
    """The started episode of a sample's state."""
    return _STARTED[uuid]


def current_episode() -> StartedEpisode:
    """The episode of the sample that is being solved.

    Raises:
        LookupError: No sample of opsgym's task is being solved.
    """
    return _CURRENT.get()


async def end_episode(state: TaskState) -> None:
    """Deletes the databases of a sample."""
    started = _STARTED.pop(state.uuid, None)
    if started is not None:
        await started.end()
