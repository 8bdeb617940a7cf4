"""Records the transcript of an attempt while it runs, and beside it what its models thought.

Invariant: entries are in the order in which they happened.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import structlog

from opsgym_api.records.transcript import (
    ModelCall,
    Reasoning,
    RefusedCall,
    StepReasoning,
    Transcript,
    TranscriptEvent,
)
from opsgym_core.common.foreign import storable_text
from opsgym_core.results.transcripts import encode_record
from opsgym_runner.gyms.catalogue import Catalogue
from opsgym_runner.gyms.client import ToolResult
from opsgym_runner.models.client import Reply, ToolRequest
from opsgym_runner.models.replies import thoughts_of
from opsgym_runner.models.retry import NO_REQUESTS, RequestStatistics

log = structlog.get_logger()

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
        self.catalogue: Catalogue | None = None
        """Tools that the model is shown; None before they are known."""
        self._events: list[TranscriptEvent] = []
        self._reasoning: list[StepReasoning] = []
        self.day = 1
        """Day of the task that entries belong to, counted from 1."""

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

    def reply(
        self,
        step: int,
        reply: Reply,
        seconds: float,
        by: str = "",
        *,
        refused: Sequence[ToolRequest] = (),
        requests: RequestStatistics = NO_REQUESTS,
    ) -> None:
        """Adds a model's reply, and its reasoning if it has any.

        Args:
            step: Number of the model call.
            reply: The reply, with the gyms' own names of its tools.
            seconds: Duration of the call.
            by: Name of the conversation.
            refused: Its malformed calls.
            requests: Retries and rate limits of the call.
        """
        if thoughts := thoughts_of(reply.message):
            step_of = StepReasoning(event=len(self._events), text=thoughts.text, parts=list(thoughts.parts))
            self._reasoning.append(step_of)
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
            call=_model_call(reply, requests),
            refused_calls=[RefusedCall(name=r.name, raw=r.raw, problem=r.problem) for r in refused],
        )
        self._add(event)

    def tool(
        self,
        step: int,
        request: ToolRequest,
        result: ToolResult,
        seconds: float,
        by: str = "",
        gym: str | None = None,
    ) -> None:
        """Adds a tool call with its result as the model reads it.

        Args:
            step: Number of the model call that requested it.
            request: The call, with the gym's own name of the tool.
            result: Its result.
            seconds: Duration of the call.
            by: Name of the conversation.
            gym: Gym server that executed it; None if none did.
        """
        event = TranscriptEvent(
            kind="tool",
            by=by,
            content=result.rendered,
            step=step,
            tool_name=request.name,
            gym=gym,
            arguments=request.arguments,
            is_error=result.is_error,
            seconds=round(seconds, 4),
        )
        self._add(event)

    def begin_again(self, why: str) -> None:
        """Leaves a note in place of all entries, for an episode that is played again."""
        self._events.clear()
        self._reasoning.clear()
        self.day = 1
        self.note(why)

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
        """The transcript in its stored form; a note in its place if it cannot be encoded, which costs no score."""
        names, digest = ([], "") if self.catalogue is None else (self.catalogue.names, self.catalogue.digest)
        transcript = Transcript(task_id=self._task_id, tools=names, catalogue_digest=digest, events=self._events)
        try:
            return encode_record(transcript)
        except ValueError as error:
            problem = storable_text(f"the transcript cannot be written: {error}")[:500]
            log.warning("transcript replaced by a note", problem=problem)
            note = TranscriptEvent(kind="note", content=problem)
            return encode_record(transcript.model_copy(update={"events": [note]}))

    def encoded_reasoning(self) -> bytes | None:
        """What the models thought, in its stored form; None if none showed reasoning that can be stored."""
        if not self._reasoning:
            return None
        try:
            return encode_record(Reasoning(task_id=self._task_id, steps=self._reasoning))
        except ValueError as error:
            log.warning("reasoning left out", problem=storable_text(str(error))[:500])
            return None


def _model_call(reply: Reply, requests: RequestStatistics) -> ModelCall:
    origin = reply.provenance
    return ModelCall(
        usage=reply.usage,
        cost_usd=reply.cost_usd,
        model=origin.model,
        fingerprint=origin.fingerprint,
        request_id=origin.request_id,
        retries=requests.retries,
        rate_limits=requests.rate_limits,
    )
