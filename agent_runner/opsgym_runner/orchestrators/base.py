"""The orchestrator protocol and the session that an orchestrator works with.

Invariant: an orchestrator only decides the next model or tool call; accounting, limits, the start gate and the
transcript belong to the session.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from opsgym_api.records.outcomes import FailReason
from opsgym_runner.models.client import Message, Reply, ToolRequest
from opsgym_runner.models.forward import AgentRequest, AnswerSink


class Session(Protocol):
    """An orchestrator's access to one episode: its task, models and tools."""

    @property
    def system_prompt(self) -> str:
        """The task's system prompt: the policy, with its amendments so far."""
        ...

    @property
    def user_prompt(self) -> str:
        """What the user has asked so far: the user prompt with the plan if the agent gets one, answers and messages of
        the days since, and what the user said meanwhile.
        """
        ...

    @property
    def tools(self) -> Sequence[Mapping[str, Any]]:
        """Tools in OpenAI's format."""
        ...

    @property
    def tool_definitions(self) -> Sequence[Mapping[str, Any]]:
        """The same tools as their gym servers list them, under the names shown."""
        ...

    @property
    def max_steps(self) -> int:
        """Maximum number of model calls, the planner's included, or with `stepLimit: conversation` of each
        conversation. One more call raises `AgentFailed`.
        """
        ...

    def prompt(self, name: str, **values: str) -> str:
        """Renders a prompt of the orchestrator, or the agent's replacement of it.

        Raises:
            KeyError: The orchestrator has no prompt of this name, or a placeholder has no value.
        """
        ...

    async def ask(
        self, messages: Sequence[Message], *, tools: Sequence[Mapping[str, Any]] | None = None, by: str = ""
    ) -> Reply:
        """Calls a model, which is one step.

        Args:
            messages: The conversation in OpenAI's format.
            tools: Tools shown to the model; None shows all tools of the session.
            by: Name of the conversation in the transcript. `PLANNER` calls the agent's planner, any other name the
                agent's own model.
        """
        ...

    async def end_day(self, answer: str) -> str | None:
        """Ends a day of the task with the agent's answer.

        Args:
            answer: The agent's answer.

        Returns:
            The user's message with which the next day begins; None if this was the last day.
        """
        ...

    async def call(self, request: ToolRequest, *, by: str = "") -> str:
        """Executes a tool call and returns its result as the model reads it.

        Args:
            request: The call.
            by: Name of the conversation in the transcript.
        """
        ...

    @property
    def definitions_by_gym(self) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """`tool_definitions` by the name of their gym server, in the row's order."""
        ...

    @property
    def task(self) -> TaskFacts:
        """What an agent with a command may know of its attempt."""
        ...

    @property
    def last_reply(self) -> str:
        """Text of the agent's latest reply; empty before the first."""
        ...

    @property
    def requests(self) -> int:
        """Requests that an agent with a command has made to its model, refused ones included."""
        ...

    def refuse(self, problem: str) -> None:
        """Counts a request of an agent with a command that must not reach its model.

        Args:
            problem: What it asks of the provider.
        """
        ...

    async def forward(self, request: AgentRequest, sink: AnswerSink) -> None:
        """Sends a request of an agent with a command to its model, which is one step if it is answered.

        Args:
            request: The request.
            sink: Takes the answer.
        """
        ...

    async def step(self) -> None:
        """Counts a step of an agent that asks a model of its own, out of opsgym's sight."""
        ...

    async def next_message(self, answer: str) -> str | None:
        """Ends the agent's turn with an answer, as `end_day`; messages that arrived in mid-task come first.

        Args:
            answer: The agent's answer.

        Returns:
            What the agent has to read and go on with; None if the task is over.
        """
        ...

    def note(self, text: str) -> None:
        """Adds a note to the transcript; no model sees it."""
        ...


@dataclass(frozen=True)
class TaskFacts:
    """What an agent with a command may know of its attempt."""

    task_id: str
    model: str
    """Name of the model in the run."""
    seconds: int | None
    """Time limit of the task; None for none."""


@dataclass(frozen=True)
class AgentResult:
    """How an agent's loop ended."""

    answer: str
    """The agent's final answer."""
    stopped_by: Literal["answer"] | FailReason = "answer"
    """`answer` if the agent ended the loop itself, otherwise what stopped it."""


class Orchestrator(Protocol):
    """Runs an agent's loop.

    An orchestrator with prompts has an attribute `prompts`, texts by name; agents may replace them.
    """

    async def __call__(self, session: Session) -> AgentResult:
        """Acts until the agent answers; the session stops a loop that exceeds the step limit or the task timeout."""
        ...


def initial_messages(session: Session, request: str) -> list[Message]:
    """First messages of a conversation: the task's system prompt and a user message.

    Args:
        session: The session.
        request: Text of the user message.
    """
    return [{"role": "system", "content": session.system_prompt}, {"role": "user", "content": request}]
