"""How a model is asked in an episode, whoever it is: the agent's, its planner, the judge.

Invariant: whatever a reply cost is booked to whoever gave it, and stands in the transcript as that one's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from opsgym_runner.clock import Clock
from opsgym_runner.gate import Gate
from opsgym_runner.journal import Journal
from opsgym_runner.model import Message, ModelClient, Reply
from opsgym_runner.retry import ModelFailure
from opsgym_runner.transcript import Transcriber

SUPPORT_TIMEOUT_S = 900.0
"""Seconds that a model which is not the agent's may take for an answer, tries included: the task's time is not its."""


@dataclass(frozen=True)
class Desk:
    """What an attempt writes on and is timed by."""

    journal: Journal
    transcriber: Transcriber
    gate: Gate
    clock: Clock
    cleanups: set[asyncio.Task[None]] = field(default_factory=set)
    """Deletions under way; whoever owns the HTTP connections waits for them before closing them."""


@dataclass(frozen=True)
class EpisodeModels:
    """The models of an episode."""

    agent: ModelClient
    planner: ModelClient
    """Of the agent's planner; of its own model if it names none."""
    judge: ModelClient | None = None

    @property
    def trouble(self) -> ModelFailure | None:
        """How a request of the agent's that is under way last failed."""
        return self.agent.trouble or self.planner.trouble


async def ask_supporter(client: ModelClient, messages: Sequence[Message], desk: Desk, by: str) -> Reply:
    """An answer in words of a model that is asked outside the agent's steps and time.

    Args:
        client: The model.
        messages: The conversation; the last message is new to the transcript.
        desk: Where it is booked.
        by: Whose answer it is.

    Raises:
        ModelFailure: The model cannot be reached, or not in time.
        AgentFailed: The conversation is too long for it, or was stopped by the provider's filter.
        StoreError: The attempt cannot be written.
    """
    step = desk.journal.steps
    desk.transcriber.told("user", str(messages[-1]["content"]), step, by)
    began = desk.clock.monotonic()
    with desk.journal.traffic_of(client, supporter=True):
        reply = await client.complete(messages, (), began + SUPPORT_TIMEOUT_S)
    desk.journal.book(reply, by)
    desk.transcriber.reply(step, reply, desk.clock.monotonic() - began, by)
    await desk.journal.step()
    return reply
