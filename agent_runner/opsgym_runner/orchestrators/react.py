"""ReAct: call the model, execute the tools it requests, append the results, until it answers without a tool call."""

from __future__ import annotations

from collections.abc import Sequence

from opsgym_runner.models.client import Message
from opsgym_runner.orchestrators.base import AgentResult, Session, initial_messages


async def react(session: Session) -> AgentResult:
    """Runs the ReAct loop on the task's request."""
    return AgentResult(await act_on_days(session, initial_messages(session, session.user_prompt)))


async def act_on_days(session: Session, messages: Sequence[Message]) -> str:
    """Runs the ReAct loop on all days of the task, in one conversation, and returns the last day's answer.

    Args:
        session: The session.
        messages: First messages of the conversation.
    """
    conversation = list(messages)
    while True:
        answer = await _act(session, conversation, by="")
        message = await session.end_day(answer)
        if message is None:
            return answer
        conversation.append({"role": "user", "content": message})


async def act(session: Session, messages: Sequence[Message], by: str = "") -> str:
    """Runs the ReAct loop in one conversation of its own and returns the model's answer, which ends no day.

    Args:
        session: The session.
        messages: First messages of the conversation.
        by: Name of the conversation in the transcript.
    """
    return await _act(session, list(messages), by)


async def _act(session: Session, conversation: list[Message], by: str) -> str:
    """Runs the ReAct loop and extends the conversation by it.

    Several calls in one reply are executed in order, because the identifiers that gyms assign depend on it. The calls
    of the last step are executed too, as in the published harness: they are part of the state that is verified.
    """
    while True:
        reply = await session.ask(conversation, by=by)
        conversation.append(reply.message)
        if not reply.requests:
            return reply.text
        for request in reply.requests:
            result = await session.call(request, by=by)
            conversation.append({"role": "tool", "tool_call_id": request.id, "content": result})
