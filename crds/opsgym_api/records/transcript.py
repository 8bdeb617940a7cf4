"""Transcript of an attempt: messages, tool calls and notes in the order in which they happened."""

from __future__ import annotations

from typing import Any

from opsgym_api.base import Stored
from opsgym_api.records.attempt import RECORD_VERSION


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


class Transcript(Stored):
    """Everything that was said in an attempt."""

    version: int = RECORD_VERSION
    task_id: str
    tools: list[str]
    """Names of the tools shown."""
    events: list[TranscriptEvent]
