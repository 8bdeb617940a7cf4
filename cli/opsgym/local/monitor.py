"""Shows an episode step by step and may pause it between steps.

Invariant: a paused episode loses no time: the task timeout stands still while the start gate waits.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Protocol

from opsgym.formats.numbers import seconds
from opsgym_api.records.run import Control
from opsgym_api.records.transcript import TranscriptEvent
from opsgym_core.results.transcripts import result_text
from opsgym_runner.start_gate import StartGate

MAX_TEXT = 4_000
"""Characters shown of one text; the stored transcript has all of it."""
STOPPED = "stopped by the user"


class EpisodeMonitor(Protocol):
    """Observes an episode and decides whether it continues."""

    def on_transcript(self, event: TranscriptEvent) -> None:
        """An entry was added to the transcript."""
        ...

    async def may_continue(self) -> bool:
        """Whether the episode may start or take its next step; may wait for the user."""
        ...


class MonitoredGate:
    """A start gate that also asks a monitor."""

    def __init__(self, gate: StartGate, monitor: EpisodeMonitor) -> None:
        self._gate = gate
        self._monitor = monitor

    async def control(self) -> Control:
        """The gate, closed if the monitor stops the episode."""
        if await self._monitor.may_continue():
            return await self._gate.control()
        return Control(start=False, proceed=False, reason=STOPPED)


class TranscriptPrinter:
    """Prints an episode as it happens.

    Args:
        write: Prints a text.
        prompt: Waits for the user before each step and returns what was typed; None to continue without asking.
    """

    def __init__(self, write: Callable[[str], None], prompt: Callable[[], str] | None) -> None:
        self._write = write
        self._prompt = prompt

    def on_transcript(self, event: TranscriptEvent) -> None:
        """Prints an entry of the transcript."""
        self._write(transcript_text(event))

    async def may_continue(self) -> bool:
        """Whether the user continues; input that starts with `q` stops the episode."""
        if self._prompt is None:
            return True
        typed = await asyncio.to_thread(self._prompt)
        return not typed.strip().lower().startswith("q")


def transcript_text(event: TranscriptEvent) -> str:
    """An entry of a transcript as lines of text."""
    author = f"{event.kind} ({event.by})" if event.by else event.kind
    author += f" [{event.origin}]" if event.origin else ""
    author += f"  day {event.day}" if event.day > 1 else ""
    duration = "" if event.seconds is None else f"  {seconds(event.seconds)}"
    if event.kind == "tool":
        failed = "  error" if event.is_error else ""
        return f"\n--- {event.tool_name}{failed}{duration}\n{_shortened(result_text(event.content))}"
    calls = [f"  -> {call['name']} {json.dumps(call.get('arguments') or {})}" for call in event.tool_calls]
    step = f"step {event.step} " if event.kind == "assistant" else ""
    content = [_shortened(event.content)] if event.content else []
    return "\n".join([f"\n=== {step}{author}{duration}", *content, *calls])


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}\n... {len(text) - MAX_TEXT} more characters"
