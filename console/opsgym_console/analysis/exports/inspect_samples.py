"""Trials as Inspect's samples: conversations, events, usage and errors.

Invariant: `messages` is one conversation, the agent's own; every other one is in its events alone. Usage counts a
token once: Inspect's `input_tokens` exclude what was read from the cache or written to it.

Source: https://inspect.aisi.org.uk/eval-logs.html
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby
from typing import TYPE_CHECKING

from opsgym_api.records.attempt import AttemptRecord, Usage
from opsgym_api.records.transcript import StepReasoning, TranscriptEvent
from opsgym_console.analysis.exports.trials import ScoredTrial
from opsgym_core.results.explanation import shortfalls
from opsgym_core.results.transcripts import result_text

if TYPE_CHECKING:
    from inspect_ai.event import Event
    from inspect_ai.log import EvalSample
    from inspect_ai.model import ChatMessage, ChatMessageAssistant, ModelUsage, StopReason

SCORER = "opsgym"
_ROLES = {"planner": "planner", "judge": "grader"}
"""Inspect's roles of our support models."""
_STOP_REASONS: Mapping[str, StopReason] = {
    "stop": "stop",
    "refusal": "stop",
    "tool_calls": "tool_calls",
    "length": "max_tokens",
    "context_overflow": "model_length",
    "content_filter": "content_filter",
}


def scored_sample(scored: ScoredTrial) -> EvalSample:
    """A scored trial."""
    from inspect_ai.log import EvalSample
    from inspect_ai.model import ModelOutput
    from inspect_ai.scorer import CORRECT, INCORRECT, Score

    record = scored.record
    failed = [result for result in record.verifiers if not result.passed]
    score = Score(
        value=CORRECT if record.score else INCORRECT,
        answer=record.answer,
        explanation="; ".join(f"{result.name or 'unnamed'}: {', '.join(shortfalls(result))}" for result in failed),
        metadata={"verifiers": [result.to_dict() for result in record.verifiers]},
    )
    story = _Story(scored)
    story.tell()
    return EvalSample(
        id=record.task_id,
        epoch=record.trial + 1,
        input=scored.task.user_prompt,
        target="",
        messages=story.messages,
        output=ModelOutput.from_content(scored.litellm_id, record.answer),
        scores={SCORER: score},
        events=story.events,
        model_usage=story.usage(by=story.model_of),
        role_usage={role: usage for role, usage in story.usage(by=role_of).items() if role},
        total_time=record.timings.total_s,
        working_time=record.timings.total_s - record.timings.wait_s,
        started_at=record.timings.started_at,
        metadata={
            "outcome": record.outcome.value,
            "reason": record.reason,
            "published_score": record.published_score,
            "profile": record.profile,
            "feasible": record.feasible,
            "horizon": record.horizon,
            "variant": record.variant,
            "tags": list(record.tags),
            "cost_usd": record.cost_usd,
            "steps": record.steps,
            "catalogue_digest": record.versions.catalogue_digest,
            "model_snapshot": record.versions.model_snapshot,
        },
    )


def failed_sample(attempt: AttemptRecord) -> EvalSample:
    """The last attempt of a trial that ended without a score, as a sample with an error."""
    from inspect_ai.log import EvalError, EvalSample

    outcome = attempt.outcome.value if attempt.outcome else ""
    message = f"{outcome} {attempt.reason}: {attempt.message}"
    return EvalSample(
        id=attempt.task_id,
        epoch=attempt.trial + 1,
        input="",
        target="",
        error=EvalError(message=message, traceback=message, traceback_ansi=message),
        total_time=attempt.timings.total_s,
        started_at=attempt.timings.started_at,
        metadata={"outcome": outcome, "reason": attempt.reason, "cost_usd": attempt.cost_usd},
    )


def inspect_usage(usage: Usage, cost: float | None) -> ModelUsage:
    """Our usage in Inspect's terms."""
    from inspect_ai.model import ModelUsage

    return ModelUsage(
        input_tokens=max(0, usage.prompt_tokens - usage.cached_tokens - usage.cache_write_tokens),
        output_tokens=usage.completion_tokens,
        total_tokens=usage.prompt_tokens + usage.completion_tokens,
        input_tokens_cache_read=usage.cached_tokens,
        input_tokens_cache_write=usage.cache_write_tokens,
        reasoning_tokens=usage.reasoning_tokens,
        total_cost=cost,
    )


def role_of(by: str) -> str:
    """Inspect's role of a conversation's model; empty for the agent's own."""
    return _ROLES.get(by, "")


@dataclass
class _Conversation:
    """One conversation of a transcript, as far as it was read."""

    messages: list[ChatMessage] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    """Ids of requested calls that have no result yet."""


class _Story:
    """Messages and events of a trial.

    The transcript has durations and no times: an event's time is the start of the trial and what came before it.
    """

    def __init__(self, scored: ScoredTrial) -> None:
        self._scored = scored
        self._events = scored.transcript.events
        self._now = datetime.fromisoformat(scored.record.timings.started_at)
        self._conversations: dict[str, _Conversation] = {}
        self.events: list[Event] = []

    def tell(self) -> None:
        """Builds messages and events."""
        from inspect_ai.event import SpanBeginEvent, SpanEndEvent

        numbered = [(place, event) for place, event in enumerate(self._events)]
        for number, (by, part) in enumerate(groupby(numbered, key=lambda one: one[1].by)):
            span = f"{number}.{by or 'agent'}"
            begin = SpanBeginEvent(id=span, span_id=span, type="agent", name=by or "agent", timestamp=self._now)
            self.events.append(begin)
            for place, event in part:
                self._add(place, event, span)
            self.events.append(SpanEndEvent(id=span, span_id=span, timestamp=self._now))

    @property
    def messages(self) -> list[ChatMessage]:
        """The agent's own conversation; for an agent in parts, its last part."""
        own = [name for name in self._conversations if name not in _ROLES]
        chosen = "" if "" in self._conversations and self._has_reply("") else next(reversed(own), "")
        return self._conversations.get(chosen, _Conversation()).messages

    def _has_reply(self, by: str) -> bool:
        return any(message.role == "assistant" for message in self._conversations[by].messages)

    def model_of(self, by: str) -> str:
        """Id of the model of a conversation."""
        return self._scored.model_of(by)

    def usage(self, by: Callable[[str], str]) -> dict[str, ModelUsage]:
        """Usage of the trial's model calls.

        Args:
            by: Returns the key of a conversation, by its name.
        """
        sums: dict[str, ModelUsage] = {}
        for event in self._events:
            if event.call is not None:
                used = inspect_usage(event.call.usage, event.call.cost_usd)
                key = by(event.by)
                sums[key] = sums[key] + used if key in sums else used
        return sums

    def _add(self, place: int, event: TranscriptEvent, span: str) -> None:
        from inspect_ai.event import InfoEvent
        from inspect_ai.model import ChatMessageSystem, ChatMessageUser

        conversation = self._conversations.setdefault(event.by, _Conversation())
        if event.kind == "system":
            conversation.messages.append(ChatMessageSystem(content=event.content))
        elif event.kind == "user":
            conversation.messages.append(ChatMessageUser(content=event.content))
        elif event.kind == "assistant":
            self._reply(place, event, conversation, span)
        elif event.kind == "tool":
            self._tool(place, event, conversation, span)
        else:
            self.events.append(InfoEvent(source=SCORER, data=event.content, span_id=span, timestamp=self._now))

    def _reply(self, place: int, event: TranscriptEvent, conversation: _Conversation, span: str) -> None:
        from inspect_ai.event import ModelEvent
        from inspect_ai.model import ChatCompletionChoice, GenerateConfig, ModelOutput

        message = _assistant(place, event, self._scored.reasoning.get(place))
        model, call = self.model_of(event.by), event.call
        usage = None if call is None else inspect_usage(call.usage, call.cost_usd)
        reason = _STOP_REASONS.get(event.finish_reason, "unknown")
        started = self._pass(event)
        output = ModelOutput(
            model=model if call is None or not call.model else call.model,
            choices=[ChatCompletionChoice(message=message, stop_reason=reason)],
            completion=event.content,
            usage=usage,
            time=event.seconds,
            response_id=None if call is None else call.request_id or None,
        )
        self.events.append(
            ModelEvent(
                model=model,
                role=role_of(event.by) or None,
                input=list(conversation.messages),
                tools=[],
                tool_choice="auto",
                config=GenerateConfig(),
                output=output,
                retries=None if call is None else call.retries,
                span_id=span,
                timestamp=started,
                completed=self._now,
                working_time=event.seconds,
            )
        )
        conversation.messages.append(message)
        conversation.waiting = [call.id for call in message.tool_calls or []]

    def _tool(self, place: int, event: TranscriptEvent, conversation: _Conversation, span: str) -> None:
        from inspect_ai.event import ToolEvent
        from inspect_ai.model import ChatMessageTool
        from inspect_ai.tool import ToolCallError

        text, call_id = result_text(event.content), conversation.waiting.pop(0) if conversation.waiting else None
        error = ToolCallError(type="unknown", message=text) if event.is_error else None
        started = self._pass(event)
        self.events.append(
            ToolEvent(
                id=call_id or f"{place}.0",
                function=event.tool_name or "",
                arguments=event.arguments or {},
                result=text,
                error=error,
                failed=event.is_error or None,
                metadata={"gym": event.gym} if event.gym else None,
                span_id=span,
                timestamp=started,
                completed=self._now,
                working_time=event.seconds,
            )
        )
        conversation.messages.append(
            ChatMessageTool(content=text, function=event.tool_name, tool_call_id=call_id, error=error)
        )

    def _pass(self, event: TranscriptEvent) -> datetime:
        """Moves the time past an event; returns when it began."""
        started = self._now
        self._now += timedelta(seconds=event.seconds or 0.0)
        return started


def _assistant(place: int, event: TranscriptEvent, thought: StepReasoning | None) -> ChatMessageAssistant:
    from inspect_ai.model import ChatMessageAssistant, ContentReasoning, ContentText
    from inspect_ai.tool import ToolCall

    problems = {call.name: call.problem for call in event.refused_calls}
    calls = [
        ToolCall(
            id=f"{place}.{number}",
            function=call["name"],
            arguments=call.get("arguments") or {},
            parse_error=None if call.get("arguments") else problems.get(call["name"]),
        )
        for number, call in enumerate(event.tool_calls)
    ]
    parts = [] if thought is None else [ContentReasoning(reasoning=thought.text, redacted=not thought.text)]
    content = [*parts, ContentText(text=event.content)] if parts else event.content
    return ChatMessageAssistant(content=content, tool_calls=calls or None)


def rates_of(trials: Iterable[ScoredTrial]) -> Sequence[float]:
    """Success rate of each task, in the order of the tasks."""
    scores: dict[str, list[int]] = {}
    for scored in trials:
        scores.setdefault(scored.record.task_id, []).append(scored.record.score)
    return [sum(of_task) / len(of_task) for of_task in scores.values()]
