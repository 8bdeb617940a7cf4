"""The session of an episode: model calls and tool calls of the agent, limited, counted and recorded.

Invariant: a step is taken only while the gate is open and steps are left. Every model call and tool call is counted and
in the transcript. Limits hold over all days of a task.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from opsgym_api.kinds.profiles import OPSGYM, Switches
from opsgym_api.records.outcomes import ConfigReason, FailReason, FinishReason, InfraReason
from opsgym_api.records.state_difference import StateDifference
from opsgym_core.common.foreign import storable_text
from opsgym_core.common.scrub import known_secrets, mask
from opsgym_runner.agent_clock import AgentClock
from opsgym_runner.clients import EpisodeModels
from opsgym_runner.context import AttemptContext
from opsgym_runner.days import with_next_day
from opsgym_runner.errors import AgentFailed, config_error, infra_error
from opsgym_runner.gyms.catalogue import Catalogue, ToolRef
from opsgym_runner.gyms.client import GymClient, ToolResult, error_result
from opsgym_runner.job import PLANNER, Job
from opsgym_runner.models.calls_in_text import CALLS_IN_TEXT
from opsgym_runner.models.client import Message, Reply, ToolRequest
from opsgym_runner.models.forward import AgentRequest, AnswerSink
from opsgym_runner.models.forwarder import Forwarder
from opsgym_runner.models.published import first_text, without_malformed_calls
from opsgym_runner.models.replies import PROVIDERS_FAULT
from opsgym_runner.models.retry import ModelFailure
from opsgym_runner.orchestrators.base import TaskFacts
from opsgym_runner.plans import request_with_plan
from opsgym_runner.prompting import Prompts
from opsgym_runner.scenario.events import Notice, ScenarioEvents
from opsgym_runner.scenario.notices import Notices
from opsgym_runner.start_gate import require_open
from opsgym_runner.tracing.spans import TOOL_ERROR, UNKNOWN_TOOL, chat_attributes, tool_attributes, tool_content
from opsgym_runner.tracing.tracer import span
from opsgym_runner.verification.looked_up import ToolCallResult
from opsgym_runner.verification.verifiers import whole_differences


@dataclass(frozen=True)
class EpisodeTools:
    """The tools of an episode and the gym servers that execute them."""

    catalogue: Catalogue
    gyms: Mapping[str, GymClient]
    """By gym server name."""
    switches: Switches = OPSGYM
    """How malformed calls, unknown tools and failed calls are answered."""

    async def execute(self, request: ToolRequest) -> ToolResult:
        """Executes a tool call; a malformed call gives an error result, an unknown tool what the switches say.

        Raises:
            NotScored: The gym is lost.
            AgentFailed: The tool is unknown, which fails the trial of this agent.
        """
        if request.problem:
            return error_result(f"Error: {request.problem}. Send the call again.")
        ref = self.catalogue.refs.get(request.name)
        if ref is not None:
            return await self._sent(ref, request)
        known = ", ".join(self.catalogue.names) or "none"
        if self.switches.unknown_tools == "fail":
            message = f"the agent called the unknown tool {request.name!r}; tools: {known}"
            raise AgentFailed(FailReason.UNKNOWN_TOOL, message)
        if self.switches.unknown_tools == "first_gym":
            return await self._sent(ToolRef(next(iter(self.gyms)), request.name), request)
        return error_result(f"Error: unknown tool {request.name!r}. Tools: {known}")

    async def _sent(self, ref: ToolRef, request: ToolRequest) -> ToolResult:
        gym = self.gyms[ref.gym]
        call = gym.call_tool_as_published if self.switches.tool_errors == "published" else gym.call_tool
        return await call(ref.name, request.arguments)

    def gym_of(self, request: ToolRequest) -> str | None:
        """Gym server of the requested tool; None for an unknown tool."""
        ref = self.catalogue.refs.get(request.name)
        return None if ref is None else ref.gym

    def executor_of(self, request: ToolRequest) -> str | None:
        """Gym server that gets the call: with `unknownTools: first_gym` also that of an unknown tool. None if it is
        answered without one.
        """
        if request.problem:
            return None
        gym = self.gym_of(request)
        return next(iter(self.gyms)) if gym is None and self.switches.unknown_tools == "first_gym" else gym

    def with_own_name(self, request: ToolRequest) -> ToolRequest:
        """The call with the gym's own name of its tool, which transcript and verifiers use."""
        return replace(request, name=self.catalogue.own_name(request.name))


class EpisodeSession:
    """Implements `orchestrators.Session` for one episode.

    Args:
        job: The attempt.
        models: Clients of its models.
        tools: Its tools.
        events: Scenario events that have not happened yet.
        context: Records the episode.
        prompts: The agent's prompts.
        plan: Plan shown to the agent; empty for none.
    """

    def __init__(
        self,
        job: Job,
        models: EpisodeModels,
        tools: EpisodeTools,
        events: ScenarioEvents,
        context: AttemptContext,
        prompts: Prompts,
        plan: str = "",
    ) -> None:
        self._job = job
        self._models = models
        self._episode_tools = tools
        self._events = events
        self._context = context
        self._prompts = prompts
        self._request = request_with_plan(job.task.user_prompt, plan, prompts)
        self._notices = Notices()
        self.day_answers: list[str] = []
        """The agent's answers on the days that it has ended."""
        self.day_differences: list[Mapping[str, StateDifference]] = []
        """Whole state differences at the ends of these days, by gym server."""
        limit = job.limits.task_timeout_seconds if job.agent.time_limit == "enforced" else None
        self.clock = AgentClock(limit)
        """Clock of the task's time limit; the agent's loop runs inside its timeout."""
        self.calls: list[ToolCallResult] = []
        """Every tool call by its gym's own name, in order, failed calls included."""
        self.last_reply = ""
        """Text of the agent's latest reply; empty before the first. With `answers: published` that of its latest
        message, which may be a tool result."""
        self._steps: Counter[str] = Counter()
        """Number of model calls by conversation."""
        self._transcribed: dict[str, int] = {}
        """Number of messages in the transcript, by conversation."""
        self.requests = 0
        """Requests that an agent with a command has made to its model, refused ones included."""
        self._forwarding = 0
        """Those in progress."""
        self._refused = 0
        """Those that the provider refused."""
        self._refusals: set[str] = set()
        """What the transcript says of requests that were refused here."""
        self._pending_failure: ModelFailure | None = None
        self._unread: list[Notice] = []
        """Notices for an agent with a command, which reads them when it answers."""
        self._applying = asyncio.Lock()
        context.transcript.catalogue = tools.catalogue
        for name in tools.catalogue.missing:
            context.transcript.note(f"selected tool {name!r} is offered by no gym server of the task")

    @property
    def system_prompt(self) -> str:
        """The task's system prompt: the policy, with its amendments so far."""
        return self._notices.amended(self._job.task.system_prompt)

    @property
    def user_prompt(self) -> str:
        """What the user has asked so far: the user prompt with the plan if the agent gets one, answers and messages of
        the days since, and what the user said meanwhile.
        """
        return self._notices.extended(self._request)

    @property
    def tools(self) -> Sequence[Mapping[str, Any]]:
        """Tools in OpenAI's format."""
        return self._episode_tools.catalogue.tools

    @property
    def tool_definitions(self) -> Sequence[Mapping[str, Any]]:
        """The same tools as their gym servers list them, under the names shown."""
        return self._episode_tools.catalogue.definitions

    @property
    def max_steps(self) -> int:
        """Maximum number of model calls: of the episode, the planner's included, or of each conversation."""
        return self._job.agent.max_steps

    @property
    def days_left(self) -> int:
        """Number of days after the current one."""
        return len(self._job.task.days) - len(self.day_answers)

    async def end_day(self, answer: str) -> str | None:
        """Ends a day of the task with the agent's answer; the clock moves to the next day.

        Args:
            answer: The agent's answer.

        Returns:
            The user's message with which the next day begins; None if this was the last day.

        Raises:
            NotScored: An event in between cannot happen, or a gym is lost.
        """
        if not self.days_left:
            return None
        task, number = self._job.task, len(self.day_answers) + 1
        day = task.days[number - 1]
        with self.clock.stopped():
            self.day_differences.append(await whole_differences(task, self._episode_tools.gyms, number))
            await self._events.begin_day(day.begins_at, self._context.journal.steps)
        self.day_answers.append(answer)
        self._context.transcript.day = len(self.day_answers) + 1
        self._context.transcript.note(f"day {len(self.day_answers) + 1} begins", self._context.journal.steps)
        self._request = with_next_day(self._request, answer, len(self.day_answers) + 1, day.message)
        return day.message

    def prompt(self, name: str, **values: str) -> str:
        """Renders one of the agent's prompts.

        Raises:
            KeyError: The agent has no prompt of this name, or a placeholder has no value.
        """
        return self._prompts.render(name, **values)

    @property
    def has_reply(self) -> bool:
        """Whether the model's provider has answered at least once."""
        return self._context.journal.steps + self._refused > 0

    @property
    def is_silent(self) -> bool:
        """Whether the agent is a command that has asked nothing of its model."""
        return bool(self._job.agent.command) and self.requests == 0

    @property
    def pending_failure(self) -> ModelFailure | None:
        """Why the model call in progress has no answer yet; see `Retrier.pending_failure`."""
        return self._models.pending_failure or self._pending_failure

    @property
    def definitions_by_gym(self) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """`tool_definitions` by the name of their gym server, in the row's order."""
        catalogue = self._episode_tools.catalogue
        return {
            gym: [tool for tool in catalogue.definitions if catalogue.refs[tool["name"]].gym == gym]
            for gym in self._episode_tools.gyms
        }

    @property
    def task(self) -> TaskFacts:
        """What an agent with a command may know of its attempt."""
        job = self._job
        limit = job.limits.task_timeout_seconds if job.agent.time_limit == "enforced" else None
        return TaskFacts(job.task.task_id, job.model.name, limit)

    def note(self, text: str) -> None:
        """Adds a note to the transcript; no model sees it."""
        masked = mask(storable_text(text), known_secrets(self._job.secrets))
        self._context.transcript.note(masked, self._context.journal.steps)

    async def next_message(self, answer: str) -> str | None:
        """Ends the turn of an agent with a command; see `orchestrators.Session.next_message`.

        Raises:
            NotScored: An event cannot happen, or a gym is lost.
        """
        async with self._applying:
            if any(notice.origin != "clock" for notice in self._unread):
                unread, self._unread = self._unread, []
                for notice in unread:
                    self._context.transcript.message(
                        "user", notice.text, self._context.journal.steps, origin=notice.origin
                    )
                return "\n\n".join(notice.text for notice in unread)
            return await self.end_day(answer)

    def refuse(self, problem: str) -> None:
        """Counts a request of an agent with a command that must not reach its model; see `orchestrators.Session`."""
        self.requests += 1
        self._context.journal.refused_requests += 1
        if problem not in self._refusals:
            self._refusals.add(problem)
            self.note(f"opsgym refused a request of the agent to its model: {problem}")

    async def forward(self, request: AgentRequest, sink: AnswerSink) -> None:
        """Sends a request of an agent with a command to its model. Scenario events that are due happen before.

        Raises:
            NotScored: The gate is closed, a scenario event cannot happen, or no agent can reach the model so.
            StoreError: The gate cannot be read, or the attempt record not written.
            ModelFailure: The model cannot be reached.
            AgentFailed: No step is left.
            RefusedRequestError: The request cannot be sent on.
        """
        journal, agent = self._context.journal, self._job.agent
        assert self._models.forwarder is not None, "only agents with a command forward requests"
        self.requests += 1
        if journal.steps + self._forwarding >= agent.max_steps:
            raise AgentFailed(FailReason.STEP_LIMIT, f"all {agent.max_steps} steps are used up")
        forwarder = self._models.forwarder()
        self._forwarding += 1
        try:
            await self._begin_step()
            self._transcribe_request(request)
            await self._forwarded(request, forwarder, sink)
        finally:
            self._forwarding -= 1
            self._pending_failure = forwarder.pending_failure

    async def step(self) -> None:
        """Counts a step of an agent that asks a model of its own. Scenario events that are due happen before.

        Raises:
            NotScored: The gate is closed, or a scenario event cannot happen.
            StoreError: The gate cannot be read, or the attempt record not written.
            AgentFailed: No step is left.
        """
        if self._context.journal.steps >= self.max_steps:
            raise AgentFailed(FailReason.STEP_LIMIT, f"all {self.max_steps} steps are used up")
        await self._begin_step()
        self._context.journal.steps += 1
        with self.clock.stopped():
            await self._context.journal.step()

    async def _begin_step(self) -> None:
        async with self._applying:
            with self.clock.stopped():
                control = await self._context.gate.control()
            require_open(control, starting=False)
            await self._events.apply_due(self._context.journal.steps)
            self._unread += self._events.take_notices()

    async def _forwarded(self, request: AgentRequest, forwarder: Forwarder, sink: AnswerSink) -> None:
        context, journal = self._context, self._context.journal
        started = context.clock.monotonic()
        with (
            journal.phase("model_s"),
            journal.count_requests(forwarder),
            span(f"chat {self._job.model.name}", client=True) as chat,
        ):
            if chat.recording:
                chat.set(chat_attributes(self._job.model, ""))
            reply = await forwarder.send(request, sink, self.clock)
        if reply is None:
            self._refused += 1
            context.transcript.note("the provider refused a request of the agent, or its answer broke off")
        else:
            journal.add_reply(reply)
            journal.steps += 1
            self.last_reply = reply.text or self.last_reply
            requests = tuple(self._episode_tools.with_own_name(call) for call in reply.requests)
            refused = [call for call in reply.requests if call.problem]
            seconds, sent = context.clock.monotonic() - started, forwarder.statistics
            reply = replace(reply, requests=requests)
            context.transcript.reply(journal.steps, reply, seconds, refused=refused, requests=sent)
        with self.clock.stopped():
            await journal.step()

    def _transcribe_request(self, request: AgentRequest) -> None:
        """Records what is new in a request. An agent may have several conversations, which begin differently."""
        messages = request.messages
        first = next((message["content"] for message in messages if message["role"] == "user"), "")
        self._transcribe(messages, by="", conversation=first)

    async def ask(
        self, messages: Sequence[Message], *, tools: Sequence[Mapping[str, Any]] | None = None, by: str = ""
    ) -> Reply:
        """Calls a model, which is one step. Scenario events that are due happen before the call.

        Args:
            messages: The conversation in OpenAI's format.
            tools: Tools shown to the model; None shows all tools of the session.
            by: Name of the conversation in the transcript. `PLANNER` calls the agent's planner, any other name the
                agent's own model.

        Raises:
            NotScored: The gate is closed, a scenario event cannot happen, the model writes all its calls as text, or
                the provider refuses the conversation and the trial is not to be scored for that.
            StoreError: The gate cannot be read, or the attempt record not written.
            ModelFailure: The model cannot be reached.
            AgentFailed: No step is left, the conversation exceeds the model's context, the provider's content filter
                stopped it, or the reply is malformed.
        """
        context, journal = self._context, self._context.journal
        agent = self._job.agent
        if (journal.steps if agent.step_limit == "episode" else self._steps[by]) >= agent.max_steps:
            raise AgentFailed(FailReason.STEP_LIMIT, f"all {agent.max_steps} steps are used up")
        with self.clock.stopped():
            control = await context.gate.control()
        require_open(control, starting=False)
        await self._events.apply_due(journal.steps)
        new = self._events.take_notices()
        read = self._notices.delivered(messages, new, by)
        self._transcribe(messages, by)
        for notice in new:
            context.transcript.message("user", notice.text, journal.steps, by, notice.origin)
        client = self._models.planner if by == PLANNER else self._models.agent
        shown = [dict(tool) for tool in (self.tools if tools is None else tools)]
        started, before = context.clock.monotonic(), client.statistics
        role = PLANNER if by == PLANNER else ""
        with journal.phase("model_s"), journal.count_requests(client, role):
            try:
                reply = await client.complete(read, shown, agent=self.clock)
            except AgentFailed as failure:
                if failure.reason is FailReason.CONVERSATION_REFUSED and agent.refused_conversations == "unscored":
                    raise config_error(ConfigReason.CONVERSATION_REFUSED, str(failure)) from None
                raise
        seconds = context.clock.monotonic() - started
        journal.add_reply(reply, role)
        journal.steps += 1
        self._steps[by] += 1
        refused = [request for request in reply.requests if request.problem]
        reply = self._as_switched(reply)
        if by != PLANNER:
            self.last_reply = reply.text
        requests = tuple(self._episode_tools.with_own_name(request) for request in reply.requests)
        context.transcript.reply(
            journal.steps,
            replace(reply, requests=requests),
            seconds,
            by,
            refused=refused,
            requests=client.statistics - before,
        )
        with self.clock.stopped():
            await journal.step()
        if agent.unusable_replies == "requested_again" or reply.finish not in PROVIDERS_FAULT:
            if reply.finish is FinishReason.CALL_IN_TEXT and not client.has_called:
                raise infra_error(InfraReason.MODEL_CALLS_IN_TEXT, f"model {self._job.model.name} {CALLS_IN_TEXT}")
            reply.require_usable()
        return reply

    def _as_switched(self, reply: Reply) -> Reply:
        """The reply as the agent's switches read it: its text, and its malformed calls."""
        if self._job.agent.answers == "published":
            reply = replace(reply, text=first_text(reply.message["content"]))
        if self._job.agent.malformed_calls == "answered" or not any(request.problem for request in reply.requests):
            return reply
        for request in reply.requests:
            if request.problem:
                self._context.transcript.note(f"malformed call of {request.name} dropped: {request.problem}")
        return without_malformed_calls(reply)

    def _transcribe(self, messages: Sequence[Message], by: str, conversation: str | None = None) -> None:
        """Appends the messages added since the conversation's previous call to the transcript.

        A shorter message list starts a new conversation. Replies and tool results are recorded when they arrive.

        Args:
            messages: The conversation so far.
            by: Its name in the transcript.
            conversation: What tells it from others; None for its name.
        """
        key = by if conversation is None else conversation
        done = self._transcribed.get(key, 0)
        for message in messages[done if done <= len(messages) else 0 :]:
            if (kind := message.get("role")) in ("system", "user"):
                content = str(message.get("content") or "")
                self._context.transcript.message(kind, content, self._context.journal.steps, by)
        self._transcribed[key] = len(messages)

    async def call(self, request: ToolRequest, *, by: str = "") -> str:
        """Executes a tool call and returns its result as the model reads it.

        Args:
            request: The call.
            by: Name of the conversation in the transcript.

        Raises:
            NotScored: The gym is lost.
        """
        context, journal = self._context, self._context.journal
        started = context.clock.monotonic()
        own = self._episode_tools.with_own_name(request)
        journal.tool_calls += 1
        gym = self._episode_tools.gym_of(request)
        name = UNKNOWN_TOOL if gym is None else own.name
        with journal.phase("tools_s"), span(f"execute_tool {name}") as tool_span:
            if tool_span.recording:
                tool_span.set(tool_attributes(name, request.id, gym))
            result = await self._episode_tools.execute(request)
            if tool_span.content:
                tool_span.set(tool_content(request.arguments, result.raw))
            if result.is_error:
                tool_span.fail(TOOL_ERROR)
        rendered = result.rendered
        if self._job.agent.answers == "published":
            self.last_reply = rendered
        executor = self._episode_tools.executor_of(request)
        call = ToolCallResult(own.name, own.arguments, rendered, result.is_error, executor)
        self.calls.append(call)
        journal.tool_errors += result.is_error
        journal.internal_errors += result.is_internal
        if gym is not None and not result.is_error:
            self._events.tool_succeeded(gym, call)
        context.transcript.tool(journal.steps, own, result, context.clock.monotonic() - started, by, executor)
        return rendered
