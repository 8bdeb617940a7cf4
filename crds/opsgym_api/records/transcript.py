"""Transcript of an attempt: messages, tool calls and notes in the order in which they happened.

Invariant: what a model thought is not in the transcript but in the attempt's reasoning record, and the tools that it
was shown are in the run's catalogue; a reader of transcripts loads neither.
"""

from __future__ import annotations

from typing import Any

from opsgym_api.base import Stored
from opsgym_api.records.attempt import NO_USAGE, Usage
from opsgym_api.records.version import RECORD_VERSION, RecordVersion


class ModelCall(Stored):
    """The model call behind a reply: what it took, and which model of the provider answered."""

    usage: Usage = NO_USAGE
    """Tokens of the reply, and of the one that it replaces."""
    cost_usd: float | None = None
    """None if it is unknown."""
    model: str = ""
    """The model as the provider's answer names it, for instance a dated snapshot; empty if the answer names none."""
    fingerprint: str = ""
    """OpenAI's `system_fingerprint`; empty for other providers."""
    request_id: str = ""
    """The provider's id of the request, else of the answer."""
    retries: int = 0
    """Requests that were sent again after a failure."""
    rate_limits: int = 0
    """Requests that were answered with HTTP 429."""


class RefusedCall(Stored):
    """A tool call that cannot be executed because it is malformed."""

    name: str
    raw: str
    """The arguments as the model wrote them."""
    problem: str
    """What is wrong with it."""


class TranscriptEvent(Stored):
    """One entry of a transcript: a message to or from the model, a tool's result, or a note of the harness."""

    kind: str
    """`system`, `user`, `assistant`, `tool`, `note`."""
    by: str = ""
    """Whose conversation it belongs to, if not the agent's own: `planner`, `judge`, or a part of the agent that its
    orchestrator names, for instance `sub-goal 2`."""
    content: str = ""
    origin: str = ""
    """Where a `user` entry comes from that the harness adds in mid-episode: `tell`, a message of the user; `amend`, a
    change of the policy; `clock`, the new time. Empty for the agent's own prompts."""
    day: int = 1
    """Day of the task, counted from 1."""
    step: int = 0
    """Model call it belongs to; 0 before the first."""
    tool_name: str | None = None
    gym: str | None = None
    """Gym server that executed a tool's call; None if none did."""
    arguments: dict[str, Any] | None = None
    """Arguments of a tool's call."""
    is_error: bool = False
    seconds: float | None = None
    tool_calls: list[dict[str, Any]] = []
    """Calls the model asked for."""
    finish_reason: str = ""
    """How a reply ended, one of `FinishReason`; empty for other entries."""
    replaced: str = ""
    """How the reply ended that this one replaces, because the provider was at fault; empty for a first reply."""
    call: ModelCall | None = None
    """The model call behind a reply; None for other entries."""
    refused_calls: list[RefusedCall] = []
    """Malformed calls of a reply, whether the agent was asked to send them again or they were dropped."""


class Transcript(Stored):
    """Everything that was said in an attempt."""

    version: RecordVersion = RECORD_VERSION
    task_id: str
    tools: list[str]
    """Names of the tools shown."""
    catalogue_digest: str = ""
    """Digest of the tools shown, which names the run's catalogue of them; empty if none were shown."""
    events: list[TranscriptEvent]


class StepReasoning(Stored):
    """What a model thought before a reply, as far as its provider shows it."""

    event: int
    """Position of the reply in the transcript's events."""
    text: str
    """Empty if the provider encrypts the reasoning."""
    parts: list[dict[str, Any]] = []
    """The provider's own blocks with their signatures, as they went back into the conversation; empty if the reply had
    only text."""


class Reasoning(Stored):
    """The reasoning of an attempt, in the order of its transcript."""

    version: RecordVersion = RECORD_VERSION
    task_id: str
    steps: list[StepReasoning]


class CatalogueRecord(Stored):
    """Tools as a model was shown them, once for each run and digest."""

    version: RecordVersion = RECORD_VERSION
    digest: str
    """SHA-256 of names, descriptions and schemas, in the order shown."""
    tools: list[dict[str, Any]]
    """In OpenAI's format."""
