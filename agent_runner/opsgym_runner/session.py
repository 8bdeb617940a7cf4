"""What an orchestrator works with: the model and the tools of one episode, with everything that is counted.

Invariant: a step is taken only through an open gate; every model call and tool call is booked and in the transcript.
The task's time is the agent's: it stands still while the harness waits for its store.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from opsgym_runner.catalogue import Catalogue
from opsgym_runner.clock import Clock
from opsgym_runner.events import Events
from opsgym_runner.gate import Gate, require_open
from opsgym_runner.gym import GymClient, ToolResult, error_result
from opsgym_runner.job import Job
from opsgym_runner.journal import Journal
from opsgym_runner.model import Message, ModelClient, Reply, ToolRequest
from opsgym_runner.transcript import Transcriber


@dataclass(frozen=True)
class Desk:
    """What an attempt writes on and is timed by."""

    journal: Journal
    transcriber: Transcriber
    gate: Gate
    clock: Clock
    cleanups: set[asyncio.Task[None]] = field(default_factory=set)
    """Deletions under way; whoever owns the HTTP connections waits for them before closing them."""


class EpisodeSession:
    """The session of one episode; see the protocol `orchestrators.Session`."""

    def __init__(
        self,
        job: Job,
        model: ModelClient,
        catalogue: Catalogue,
        gyms: Mapping[str, GymClient],
        events: Events,
        desk: Desk,
    ) -> None:
        self._job = job
        self._model = model
        self._catalogue = catalogue
        self._gyms = gyms
        self._events = events
        self._desk = desk
        self._deadline = desk.clock.monotonic() + job.limits.task_timeout_seconds
        self.time = asyncio.timeout(job.limits.task_timeout_seconds)
        """Ends the agent's loop when the task's time is over."""
        self.tools_called: list[str] = []
        """Tool of every call, in order, failed calls included."""
        self.last_words = ""
        """Text of the latest reply."""
        desk.transcriber.opening(self.system_prompt, self.user_prompt, catalogue.names)
        for name in catalogue.missing:
            desk.transcriber.note(f"selected tool {name!r} is offered by no gym server of the task")

    @property
    def system_prompt(self) -> str:
        """The policy."""
        return self._job.task.system_prompt

    @property
    def user_prompt(self) -> str:
        """What is asked, with the human-written plan if the agent gets one and the task has one."""
        task = self._job.task
        if self._job.agent.plan != "human" or not task.plan:
            return task.user_prompt
        steps = "\n".join(f"{number}. {step}" for number, step in enumerate(task.plan, start=1))
        return f"{task.user_prompt}\n\nPlan to follow:\n{steps}"

    @property
    def tools(self) -> Sequence[Mapping[str, Any]]:
        """Tools in OpenAI's shape."""
        return self._catalogue.tools

    @property
    def max_steps(self) -> int:
        """Model calls that may be made."""
        return self._job.agent.max_steps

    @property
    def silent(self) -> bool:
        """Whether the model has not answered even once."""
        return self._step == 0

    @property
    def _step(self) -> int:
        return self._desk.journal.usage.model_calls

    async def ask(self, messages: Sequence[Message]) -> Reply:
        """One model call: one step. What is due to happen without the agent happens before it.

        Raises:
            NotScored: The gate is closed, or an event cannot happen.
            StoreError: The gate cannot be read, or the attempt not written.
            ModelFailure: The model cannot be reached.
            AgentFailed: The conversation outgrew the model, or the provider's filter stopped it.
        """
        desk = self._desk
        with self._time_stands_still():
            control = await desk.gate.control()
        require_open(control, starting=False)
        await self._events.happen(self._step)
        began = desk.clock.monotonic()
        try:
            with desk.journal.phase("model_s"):
                reply = await self._model.complete(messages, self._catalogue.tools, self._deadline)
        finally:
            desk.journal.model_retries = self._model.retries
        desk.journal.book(reply)
        self.last_words = reply.text
        desk.transcriber.reply(self._step, reply, desk.clock.monotonic() - began)
        with self._time_stands_still():
            await desk.journal.step()
        return reply

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

    async def call(self, request: ToolRequest) -> str:
        """Carries out a tool call; its result as the model is to read it.

        Raises:
            NotScored: The gym is lost.
        """
        desk = self._desk
        began = desk.clock.monotonic()
        self.tools_called.append(request.name)
        desk.journal.tool_calls += 1
        with desk.journal.phase("tools_s"):
            result = await self._carry_out(request)
        desk.journal.tool_errors += result.is_error
        desk.transcriber.tool(self._step, request, result, desk.clock.monotonic() - began)
        return result.rendered

    async def _carry_out(self, request: ToolRequest) -> ToolResult:
        if request.problem:
            return error_result(f"Error: {request.problem}. Send the call again.")
        gym = self._catalogue.gym_of.get(request.name)
        if gym is None:
            known = ", ".join(self._catalogue.names) or "none"
            return error_result(f"Error: there is no tool {request.name!r}. Tools: {known}")
        return await self._gyms[gym].call_tool(request.name, request.arguments)
