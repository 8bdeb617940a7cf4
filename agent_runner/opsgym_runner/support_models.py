"""Calls of support models: the planner that writes a plan before the episode, and the judge.

Invariant: a support call counts neither as a step nor against the task timeout; its cost is recorded for its role.
"""

from __future__ import annotations

from collections.abc import Sequence

from opsgym_runner.context import AttemptContext
from opsgym_runner.models.client import Message, ModelClient, Reply

SUPPORT_TIMEOUT_S = 900.0
"""Timeout of one support call in seconds, retries included."""


async def ask_support_model(
    client: ModelClient, messages: Sequence[Message], context: AttemptContext, role: str
) -> Reply:
    """Asks a support model for a reply without tool calls.

    Args:
        client: The model.
        messages: The conversation. Only its last message is new to the transcript.
        context: Records the messages, the reply and its cost.
        role: `PLANNER` or `JUDGE`.

    Raises:
        ModelFailure: The model cannot be reached, or not before the timeout.
        AgentFailed: The conversation exceeds the model's context, or the provider's content filter stopped it.
        StoreError: The attempt record cannot be written.
    """
    step = context.journal.steps
    context.transcript.message("user", str(messages[-1]["content"]), step, role)
    started, before = context.clock.monotonic(), client.statistics
    with context.journal.count_requests(client, role, support=True):
        reply = await client.complete(messages, (), started + SUPPORT_TIMEOUT_S)
    context.journal.add_reply(reply, role)
    seconds = context.clock.monotonic() - started
    context.transcript.reply(step, reply, seconds, role, requests=client.statistics - before)
    await context.journal.step()
    reply.require_usable()
    return reply
