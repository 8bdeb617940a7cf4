"""What a model's reply is: how it ended, its text, and the message that goes back into the conversation.

Invariant: truncated, filtered, refused, malformed and empty replies are distinguished by the provider's own finish
reason, not by litellm's mapping, which calls most of them `stop`. Reasoning goes back under the name under which it
came.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opsgym_api.records.attempt import Usage
from opsgym_api.records.outcomes import FailReason, FinishReason
from opsgym_runner.models.prices import usage_of

FAILURES = {
    FinishReason.CONTENT_FILTER: (FailReason.CONTENT_FILTER, "the provider's content filter stopped the reply"),
    FinishReason.CONTEXT_OVERFLOW: (FailReason.CONTEXT_OVERFLOW, "the reply reached the end of the model's context"),
    FinishReason.MALFORMED: (FailReason.MALFORMED_REPLY, "the provider could not read what its model wrote"),
    FinishReason.CALL_IN_TEXT: (FailReason.MALFORMED_REPLY, "the model wrote a tool call as text"),
}
"""Ends of a reply that stop the agent, with the reason and its explanation."""
PROVIDERS_FAULT = frozenset({FinishReason.MALFORMED, FinishReason.EMPTY, FinishReason.CALL_IN_TEXT})
"""Ends for which the same request is sent once more."""

_KNOWN = {
    FinishReason.STOP: "stop eos eos_token end end_turn stop_sequence complete completed finished done null none",
    FinishReason.TOOL_CALLS: "tool_calls tool_call tool_use function_call",
    FinishReason.LENGTH: "length max_tokens max_output_tokens max_new_tokens max_length token_limit model_length",
    FinishReason.CONTENT_FILTER: "content_filter content_filtered guardrail_intervened safety recitation language "
    "blocklist prohibited_content spii image_safety sensitive error_toxic",
    FinishReason.REFUSAL: "refusal",
    FinishReason.CONTEXT_OVERFLOW: "model_context_window_exceeded context_length_exceeded",
}
"""The finish reasons of all providers, in lower case; a reply that ended in any other way is malformed."""
_MEANING = {name: reason for reason, names in _KNOWN.items() for name in names.split()}
_ORDINARY = (FinishReason.STOP, FinishReason.TOOL_CALLS)


def finish_of(reasons: Sequence[str], message: Mapping[str, Any], *, refused: bool) -> FinishReason:
    """How a reply ended.

    Args:
        reasons: The provider's own finish reasons in lower case, the most general one first; litellm's if it has none.
        message: The reply as `answered_message` returns it.
        refused: Whether it has a refusal.
    """
    calls, text = bool(message.get("tool_calls")), text_of(message.get("content")).strip()
    meant = [_MEANING.get(reason, FinishReason.MALFORMED) for reason in reasons[:1]]
    # What an upstream provider says is known or says no more: its names are its own.
    meant += [_MEANING[reason] for reason in reasons[1:] if reason in _MEANING]
    reason = next((each for each in meant if each not in _ORDINARY), meant[0])
    if refused:
        return FinishReason.REFUSAL
    if calls:
        return FinishReason.TOOL_CALLS if reason in (FinishReason.MALFORMED, FinishReason.STOP) else reason
    if reason is FinishReason.TOOL_CALLS:  # the call that it announces is lost
        return FinishReason.MALFORMED if text else FinishReason.EMPTY
    return reason if reason is not FinishReason.STOP or text else FinishReason.EMPTY


def answered_message(known: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """A reply as a message of the conversation, with what providers require back.

    `reasoning` (vLLM) and `reasoning_details` (OpenRouter) go back under their names, unmodified. A refusal becomes the
    content.

    Args:
        known: Fields that litellm knows, those without a value left out.
        own: The provider's other fields.
    """
    message: dict[str, Any] = {"content": None, **known}
    if not message.get("tool_calls"):
        message.pop("tool_calls", None)
    fields = dict(own)
    refusal, reasoning, details = (fields.pop(name, None) for name in ("refusal", "reasoning", "reasoning_details"))
    if details or reasoning:
        message.pop("reasoning_content", None)
        message["reasoning_details" if details else "reasoning"] = details or reasoning
    if any(fields.values()):  # otherwise litellm's own, empty; strict endpoints refuse unknown fields
        message["provider_specific_fields"] = fields
    message["content"] = message["content"] or refusal or message["content"]
    return message


def text_of(content: object) -> str:
    """Text of a reply whose content is a text or a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))


@dataclass(frozen=True)
class Thoughts:
    """What a model thought before a reply, as far as its provider shows it."""

    text: str = ""
    """Empty if there is none, or the provider encrypts it."""
    parts: tuple[dict[str, Any], ...] = ()
    """The provider's own blocks with their signatures; empty if the reply had only text."""

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self.text or self.parts)


def thoughts_of(message: Mapping[str, Any]) -> Thoughts:
    """The reasoning in a reply as `answered_message` returns it."""
    blocks: list[Any] = next((message[name] for name in _BLOCKS if isinstance(message.get(name), list)), [])
    parts = tuple(dict(block) for block in blocks if isinstance(block, Mapping))
    plain = next((message[name] for name in _TEXTS if isinstance(message.get(name), str)), "")
    return Thoughts(plain or "\n\n".join(filter(None, map(_block_text, parts))), parts)


def _block_text(block: Mapping[str, Any]) -> str:
    """Text of a block of reasoning; its summary where the provider shows nothing else."""
    for name in ("thinking", "text", "summary"):
        value = block.get(name)
        if value:
            return value if isinstance(value, str) else text_of(value)
    return text_of(block.get("content"))


_BLOCKS = ("thinking_blocks", "reasoning_details", "reasoning_items")
"""Blocks of Anthropic, Bedrock and Gemini, of OpenRouter, and of OpenAI's Responses."""
_TEXTS = ("reasoning_content", "reasoning")


@dataclass(frozen=True)
class Provenance:
    """Which model of the provider answered a request."""

    model: str = ""
    """Its name in the answer, for instance a dated snapshot; empty if the answer names none."""
    fingerprint: str = ""
    """OpenAI's `system_fingerprint`; empty for other providers."""
    request_id: str = ""
    """The provider's id of the request, else of the answer."""


NO_PROVENANCE = Provenance()
_REQUEST_IDS = ("x-request-id", "request-id", "x-amzn-requestid", "apim-request-id", "x-generation-id")
"""Headers with the provider's id of a request, in order of preference."""


def provenance_of(model: Any, fingerprint: Any, answer_id: Any, headers: Mapping[str, str]) -> Provenance:
    """Which model gave an answer, from fields of it and its headers."""
    request_id = next((headers[name] for name in _REQUEST_IDS if headers.get(name)), "")
    return Provenance(str(model or ""), str(fingerprint or ""), request_id or str(answer_id or ""))


@dataclass(frozen=True)
class Answer:
    """An answer to a request, as the conversation needs it."""

    message: dict[str, Any]
    """See `answered_message`."""
    refusal: str
    """OpenAI's `refusal`, the text of a model that declines; empty if there is none."""
    finish_reason: str
    usage: Usage
    stated_usage: Any
    """The usage as it was stated, which may name the cost; None if there is none."""
    headers: Mapping[str, str]
    """With names in lower case."""
    provenance: Provenance
    id: str
    """The provider's id of the answer; empty if it has none."""


def litellm_answer(response: Any) -> Answer | None:
    """What litellm's response says; None if it has no reply."""
    if response is None or not response.choices:
        return None
    choice, reported = response.choices[0], getattr(response, "usage", None)
    known = choice.message.model_dump(exclude_none=True)
    own = known.pop("provider_specific_fields", None) or {}
    headers, answer_id = _response_headers(response), getattr(response, "id", None)
    return Answer(
        message=answered_message(known, own),
        refusal=str(getattr(choice.message, "refusal", None) or own.get("refusal") or ""),
        finish_reason=str(choice.finish_reason),
        usage=usage_of(reported),
        stated_usage=reported,
        headers=headers,
        provenance=provenance_of(
            getattr(response, "model", None), getattr(response, "system_fingerprint", None), answer_id, headers
        ),
        id=str(answer_id or ""),
    )


def _response_headers(response: Any) -> dict[str, str]:
    """Headers of an answer by name in lower case; litellm keeps them with a prefix of its own."""
    headers = (getattr(response, "_hidden_params", None) or {}).get("additional_headers") or {}
    return {str(name).lower().removeprefix("llm_provider-"): str(value) for name, value in headers.items()}
