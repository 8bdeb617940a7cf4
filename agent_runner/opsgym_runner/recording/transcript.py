"""Records the transcript of an attempt while it runs. Invariant: entries are in the order in which they happened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from opsgym_api.records.transcript import Transcript, TranscriptEvent
from opsgym_core.results.transcripts import encode_transcript
from opsgym_runner.gyms.client import ToolResult
from opsgym_runner.models.client import Reply, ToolRequest

TranscriptListener = Callable[[TranscriptEvent], None]
"""Called in the event loop with every entry when it is recorded; must not block."""


class TranscriptRecorder:
    """Transcript of one attempt.

    Args:
        task_id: The task.
        on_transcript: Called with every entry; None for no observer.
    """

    def __init__(self, task_id: str, on_transcript: TranscriptListener | None = None) -> None:
        self._task_id = task_id
        self._on_transcript = on_transcript
        self._tools: list[str] = []
        self._events: list[TranscriptEvent] = []
        self.day = 1
        """Day of the task that entries belong to, counted from 1."""

    def set_tools(self, tools: Sequence[str]) -> None:
        """Records the names of the tools that the model is shown."""
        self._tools = list(tools)

    def message(
        self, kind: Literal["system", "user"], content: str, step: int = 0, by: str = "", origin: str = ""
    ) -> None:
        """Adds a message to a model; results of tools have an entry of their own.

        Args:
            kind: Role of the message.
            content: Its text.
            step: Model calls before it.
            by: Name of the conversation; empty for the agent's only one.
            origin: What added it in mid-episode: `tell`, `amend` or `clock`; empty for a prompt.
        """
        self._add(TranscriptEvent(kind=kind, content=content, step=step, by=by, origin=origin))

    def reply(self, step: int, reply: Reply, seconds: float, by: str = "") -> None:
        """Adds a model's reply.

        Args:
            step: Number of the model call.
            reply: The reply, with the gyms' own names of its tools.
            seconds: Duration of the call.
            by: Name of the conversation.
        """
        calls = [{"id": r.id, "name": r.name, "arguments": r.arguments} for r in reply.requests]
        event = TranscriptEvent(
            kind="assistant",
            by=by,
            content=reply.text,
            step=step,
            seconds=round(seconds, 4),
            tool_calls=calls,
            finish_reason=reply.finish.value,
            replaced=reply.replaced.value if reply.replaced else "",
        )
        self._add(event)

    def tool(self, step: int, request: ToolRequest, result: ToolResult, seconds: float, by: str = "") -> None:
        """Adds a tool call with its result as the model reads it.

        Args:
            step: Number of the model call that requested it.
            request: The call, with the gym's own name of the tool.
            result: Its result.
            seconds: Duration of the call.
            by: Name of the conversation.
        """
        event = TranscriptEvent(
            kind="tool",
            by=by,
            content=result.rendered,
            step=step,
            tool_name=request.name,
            arguments=request.arguments,
            is_error=result.is_error,
            seconds=round(seconds, 4),
        )
        self._add(event)

    @property
    def empty(self) -> bool:
        """Whether no entry was recorded."""
        return not self._events

    def note(self, text: str, step: int = 0) -> None:
        """Adds a note of the harness; no model sees it."""
        self._add(TranscriptEvent(kind="note", content=text, step=step))

    def _add(self, event: TranscriptEvent) -> None:
        event = event.model_copy(update={"day": self.day})
        self._events.append(event)
        if self._on_transcript is not None:
            self._on_transcript(event)

    def encoded(self) -> bytes:
        """The transcript in its stored form."""
        return encode_transcript(Transcript(task_id=self._task_id, tools=self._tools, events=self._events))
