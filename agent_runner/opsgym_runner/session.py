"""What an orchestrator works with: the model and the tools of one episode, with everything that is counted.

Invariant: a step is taken only through an open gate, and no more of them than the agent may; every model call and tool
call is booked and in the transcript. The task's time is the agent's: it stands still while the harness waits for its
store.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from opsgym_api.outcomes import FailReason
from opsgym_runner.asking import Desk, EpisodeModels
from opsgym_runner.catalogue import Catalogue
from opsgym_runner.errors import AgentFailed
from opsgym_runner.events import Events
from opsgym_runner.gate import require_open
from opsgym_runner.gym import GymClient, ToolResult, error_result
from opsgym_runner.job import Job
from opsgym_runner.journal import PLANNER
from opsgym_runner.model import Message, Reply, ToolRequest
from opsgym_runner.plans import request_with_plan
from opsgym_runner.prompting import Prompts
from opsgym_runner.spans import NO_TOOL, TOOL_ERROR, tool_attributes, tool_content
from opsgym_runner.tracing import span


@dataclass(frozen=True)
class Toolbox:
    """The tools of an episode, and the gyms that answer them."""

    catalogue: Catalogue
    gyms: Mapping[str, GymClient]

    async def carry_out(self, request: ToolRequest) -> ToolResult:
        """What a call comes to; one that cannot be carried out comes to an error result.

        Raises:
            NotScored: The gym is lost.
        """
        if request.problem:
            return error_result(f"Error: {request.problem}. Send the call again.")
        ref = self.catalogue.refs.get(request.name)
        if ref is None:
            known = ", ".join(self.catalogue.names) or "none"
            return error_result(f"Error: there is no tool {request.name!r}. Tools: {known}")
        return await self.gyms[ref.gym].call_tool(ref.name, request.arguments)

    def gym_of(self, request: ToolRequest) -> str | None:
        """Gym server that a call goes to; None if none has the tool."""
        ref = self.catalogue.refs.get(request.name)
        return None if ref is None else ref.gym

    def renamed(self, request: ToolRequest) -> ToolRequest:
        """A call by the gym's own name of its tool, as transcript and verifiers know it."""
        return replace(request, name=self.catalogue.own_name(request.name))


class EpisodeSession:
    """The session of one episode; see the protocol `orchestrators.Session`.

    Args:
        job: The attempt.
        models: Its models.
        toolbox: Its tools.
        events: What happens without the agent.
        desk: Where everything is written.
        prompts: The agent's prompts.
        plan: The plan that the agent is shown; empty if it gets none.
    """

    def __init__(
        self,
        job: Job,
        models: EpisodeModels,
        toolbox: Toolbox,
        events: Events,
        desk: Desk,
        prompts: Prompts,
        plan: str = "",
    ) -> None:
        self._job = job
        self._models = models
        self._toolbox = toolbox
        self._events = events
        self._desk = desk
        self._prompts = prompts
        self._user_prompt = request_with_plan(job.task.user_prompt, plan, prompts)
        self._deadline = desk.clock.monotonic() + job.limits.task_timeout_seconds
        self.time = asyncio.timeout(job.limits.task_timeout_seconds)
        """Ends the agent's loop when the task's time is over."""
        self.tools_called: list[str] = []
        """Tool of every call, by its gym's own name, in order, failed calls included."""
        self.last_words = ""
        """Text of the agent's latest reply."""
        self._told: dict[str, int] = {}
        """Messages of each conversation that are in the transcript."""
        desk.transcriber.shows(toolbox.catalogue.names)
        for name in toolbox.catalogue.missing:
            desk.transcriber.note(f"selected tool {name!r} is offered by no gym server of the task")

    @property
    def system_prompt(self) -> str:
        """The policy."""
        return self._job.task.system_prompt

    @property
    def user_prompt(self) -> str:
        """What is asked, with the plan if the agent gets one."""
        return self._user_prompt

    @property
    def tools(self) -> Sequence[Mapping[str, Any]]:
        """Tools in OpenAI's shape."""
        return self._toolbox.catalogue.tools

    @property
    def max_steps(self) -> int:
        """Model calls that may be made."""
        return self._job.agent.max_steps

    def prompt(self, name: str, **values: str) -> str:
        """One of the agent's prompts with its places filled.

        Raises:
            KeyError: There is none of that name, or a place has no value.
        """
        return self._prompts.render(name, **values)

    @property
    def silent(self) -> bool:
        """Whether the model has not answered even once."""
        return self._step == 0

    @property
    def _step(self) -> int:
        return self._desk.journal.steps

    async def ask(
        self, messages: Sequence[Message], *, tools: Sequence[Mapping[str, Any]] | None = None, by: str = ""
    ) -> Reply:
        """One model call: one step. What is due to happen without the agent happens before it.

        Args:
            messages: The conversation in OpenAI's shape.
            tools: Tools to show; all of the session's if None.
            by: Whose conversation it is: `PLANNER` asks the agent's planner, every other part its own model.

        Raises:
            NotScored: The gate is closed, or an event cannot happen.
            StoreError: The gate cannot be read, or the attempt not written.
            ModelFailure: The model cannot be reached.
            AgentFailed: The steps are used up, the conversation outgrew the model, or the provider's filter stopped it.
        """
        desk = self._desk
        if self._step >= self.max_steps:
            raise AgentFailed(FailReason.STEP_LIMIT, f"all {self.max_steps} steps are used up")
        with self._time_stands_still():
            control = await desk.gate.control()
        require_open(control, starting=False)
        await self._events.happen(self._step)
        self._transcribe(messages, by)
        shown = self.tools if tools is None else tools
        reply, seconds = await self._complete(messages, shown, by)
        desk.journal.book(reply, PLANNER if by == PLANNER else "")
        desk.journal.steps += 1
        if by != PLANNER:
            self.last_words = reply.text
        as_known = replace(reply, requests=tuple(self._toolbox.renamed(request) for request in reply.requests))
        desk.transcriber.reply(self._step, as_known, seconds, by)
        with self._time_stands_still():
            await desk.journal.step()
        return reply

    async def _complete(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], by: str
    ) -> tuple[Reply, float]:
        """The reply, and the seconds it took."""
        desk, client = self._desk, self._models.planner if by == PLANNER else self._models.agent
        began = desk.clock.monotonic()
        with desk.journal.phase("model_s"), desk.journal.traffic_of(client):
            reply = await client.complete(messages, [dict(tool) for tool in tools], self._deadline)
        return reply, desk.clock.monotonic() - began

    def _transcribe(self, messages: Sequence[Message], by: str) -> None:
        """Takes down what a conversation was told since it was last heard of; one that got shorter is a new one."""
        heard = self._told.get(by, 0)
        for message in messages[heard if heard <= len(messages) else 0 :]:
            if (kind := message.get("role")) in ("system", "user"):
                self._desk.transcriber.told(kind, str(message.get("content") or ""), self._step, by)
        self._told[by] = len(messages)

    @contextmanager
    def _time_stands_still(self) -> Iterator[None]:
        end = self.time.when()
        if end is None or self.time.expired():
            yield
            return
        loop, clock = asyncio.get_running_loop(), self._desk.clock
        began, began_in_loop = clock.monotonic(), loop.time()
        self.time.reschedule(None)
        try:
            yield
        finally:
            self._deadline += clock.monotonic() - began
            self.time.reschedule(end + loop.time() - began_in_loop)

    async def call(self, request: ToolRequest, *, by: str = "") -> str:
        """Carries out a tool call; its result as the model is to read it.

        Args:
            request: The call.
            by: Whose conversation it belongs to.

        Raises:
            NotScored: The gym is lost.
        """
        desk = self._desk
        began = desk.clock.monotonic()
        known = self._toolbox.renamed(request)
        self.tools_called.append(known.name)
        desk.journal.tool_calls += 1
        gym = self._toolbox.gym_of(request)
        name = NO_TOOL if gym is None else known.name
        with desk.journal.phase("tools_s"), span(f"execute_tool {name}") as traced:
            if traced.recording:
                traced.set(tool_attributes(name, request.id, gym))
            result = await self._toolbox.carry_out(request)
            if traced.content:
                traced.set(tool_content(request.arguments, result.raw))
            if result.is_error:
                traced.fail(TOOL_ERROR)
        desk.journal.tool_errors += result.is_error
        desk.transcriber.tool(self._step, known, result, desk.clock.monotonic() - began, by)
        return result.rendered
