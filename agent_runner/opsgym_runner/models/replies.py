"""What a model's reply is: how it ended, its text, and the message that goes back into the conversation.

Invariant: truncated, filtered, refused, malformed and empty replies are distinguished by the provider's own finish
reason, not by litellm's mapping, which calls most of them `stop`. Reasoning goes back under the name under which it
came.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from opsgym_api.records.outcomes import FailReason, FinishReason

FAILURES = {
    FinishReason.CONTENT_FILTER: (FailReason.CONTENT_FILTER, "the provider's content filter stopped the reply"),
    FinishReason.CONTEXT_OVERFLOW: (FailReason.CONTEXT_OVERFLOW, "the reply reached the end of the model's context"),
    FinishReason.MALFORMED: (FailReason.MALFORMED_REPLY, "the provider could not read what its model wrote"),
}
"""Ends of a reply that stop the agent, with the reason and its explanation."""
PROVIDERS_FAULT = frozenset({FinishReason.MALFORMED, FinishReason.EMPTY})
"""Ends for which the same request is sent once more."""

_NATIVE = {
    "refusal": FinishReason.REFUSAL,  # Anthropic
    "model_context_window_exceeded": FinishReason.CONTEXT_OVERFLOW,  # Anthropic, Bedrock
    "malformed_function_call": FinishReason.MALFORMED,  # Gemini, this and the next four
    "malformed_response": FinishReason.MALFORMED,
    "unexpected_tool_call": FinishReason.MALFORMED,
    "too_many_tool_calls": FinishReason.MALFORMED,
    "missing_thought_signature": FinishReason.MALFORMED,
    "malformed_tool_use": FinishReason.MALFORMED,  # Bedrock, this and the next
    "malformed_model_output": FinishReason.MALFORMED,
    "error": FinishReason.MALFORMED,  # OpenRouter, Cohere
    "network_error": FinishReason.MALFORMED,  # Z.ai
}
"""Providers' own finish reasons that litellm maps to another meaning, in lower case."""
_MAPPED = {
    "length": FinishReason.LENGTH,
    "content_filter": FinishReason.CONTENT_FILTER,
    "tool_calls": FinishReason.TOOL_CALLS,
}


class RawAnswer:
    """Keeps the raw answer to a request: litellm drops what it cannot read, and Anthropic's finish reasons.

    Passed to litellm as `logger_fn`, which it calls before it sends a request, and with the raw answer.
    """

    def __init__(self) -> None:
        self.sent = False
        """Whether the request was about to be sent."""
        self.body: Mapping[str, Any] = {}
        """Body of the answer; empty if there was none that is a JSON object."""

    def __call__(self, details: Mapping[str, Any]) -> None:
        """Reads the raw answer among the details of a call."""
        self.sent = True
        self.read(details.get("original_response"))

    def read(self, answer: object) -> None:
        """Takes a JSON object, or the text of one, as the body unless there was a body already."""
        if isinstance(answer, str):
            try:
                answer = json.loads(answer)
            except ValueError:
                return
        if isinstance(answer, dict):
            self.body = self.body or answer

    @property
    def finish_reason(self) -> str:
        """The provider's own finish reason; empty if its shape has none at the top."""
        return str(self.body.get("stop_reason") or self.body.get("stopReason") or "")


def finish_of(choice: Any, raw_reason: str, message: Mapping[str, Any]) -> FinishReason:
    """How a reply ended.

    Args:
        choice: litellm's choice.
        raw_reason: The provider's own finish reason; empty if only the choice has it.
        message: The reply as `history_message` returns it.
    """
    fields = getattr(choice, "provider_specific_fields", None) or {}
    native = str(raw_reason or fields.get("native_finish_reason") or "").lower()
    calls = bool(message.get("tool_calls"))
    reason = _NATIVE.get(native)
    if reason is not None and not (reason is FinishReason.MALFORMED and calls):
        return reason
    if refusal_of(choice.message):
        return FinishReason.REFUSAL
    mapped = _MAPPED.get(str(choice.finish_reason))
    if calls:
        return FinishReason.LENGTH if mapped is FinishReason.LENGTH else FinishReason.TOOL_CALLS
    if mapped in (FinishReason.LENGTH, FinishReason.CONTENT_FILTER):
        return mapped
    return FinishReason.STOP if text_of(message.get("content")).strip() else FinishReason.EMPTY


def refusal_of(message: Any) -> str:
    """OpenAI's `refusal`, the text of a model that declines; empty if there is none."""
    fields = getattr(message, "provider_specific_fields", None) or {}
    return str(getattr(message, "refusal", None) or fields.get("refusal") or "")


def history_message(reply: Any) -> dict[str, Any]:
    """Litellm's reply as a message of the conversation, with what providers require back.

    Thinking blocks and signatures stay as litellm has them. `reasoning` (vLLM) and `reasoning_details` (OpenRouter),
    which litellm moves into a field of its own, go back to the top level, unmodified. A refusal becomes the content.
    """
    message: dict[str, Any] = {"content": None, **reply.model_dump(exclude_none=True)}
    if not message.get("tool_calls"):
        message.pop("tool_calls", None)
    fields: dict[str, Any] = message.pop("provider_specific_fields", None) or {}
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
    """The reasoning in a reply as `history_message` returns it."""
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


def provenance_of(response: Any) -> Provenance:
    """Which model gave litellm's response."""
    headers = response_headers(response)
    request_id = next((headers[name] for name in _REQUEST_IDS if headers.get(name)), "")
    return Provenance(
        str(getattr(response, "model", None) or ""),
        str(getattr(response, "system_fingerprint", None) or ""),
        request_id or str(getattr(response, "id", None) or ""),
    )


def response_headers(response: Any) -> dict[str, str]:
    """Headers of an answer by name in lower case; litellm keeps them with a prefix of its own."""
    headers = (getattr(response, "_hidden_params", None) or {}).get("additional_headers") or {}
    return {str(name).lower().removeprefix("llm_provider-"): str(value) for name, value in headers.items()}
