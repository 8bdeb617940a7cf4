"""What the error answer of a provider means for an attempt.

Invariant: the provider's own answer decides: status, code, text. litellm's exception classes rest on the wording of a
few providers, so they decide only where the answer itself says nothing known.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import httpx

from opsgym_runner.models.replies import RawAnswer

_EMPTY_RESPONSE = "Unknown items in responses API response"
"""litellm's words for an answer of the Responses API without output, of which it keeps nothing."""
TOO_LARGE = 413
"""HTTP status of a request body that is too long for the endpoint."""


class ErrorKind(Enum):
    """Meaning of an error answer that its status alone does not give."""

    OVERFLOW = "the conversation exceeds the model's context"
    FILTERED = "the provider's content filter refused the conversation"
    QUOTA = "the account's quota or credit is used up, or too small for the request"


@dataclass(frozen=True)
class ProviderError:
    """The answer to a request that failed."""

    status: int | None
    """HTTP status; None if there was no HTTP answer."""
    codes: frozenset[str]
    """Codes, types and status names in the body, in lower case."""
    text: str
    """The body, or litellm's message without one."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """With names in lower case."""
    body: Any = None
    """The body as JSON; None if it is not."""


def read_error(error: BaseException) -> ProviderError:
    """The provider's answer behind an exception of litellm.

    litellm changes status and text of some answers (Anthropic's 413 becomes 400), so the HTTP client's own exception is
    used where it is in the chain.
    """
    response = _response(error)
    if response is None:
        body = getattr(error, "body", None)
        headers = getattr(error, "litellm_response_headers", None) or {}
        text = str(error) if body is None else f"{error} {json.dumps(body, default=str)}"
        status = getattr(error, "status_code", None)
        return ProviderError(
            status if isinstance(status, int) else None, _codes(body, error), text, _lowered(headers), body
        )
    text = _text(response) or str(error)
    body = _json(text)
    return ProviderError(response.status_code, _codes(body, error), text, _lowered(response.headers), body)


def is_unreadable(litellm: Any, error: BaseException, answer: RawAnswer) -> bool:
    """Whether a request was answered with status 200 and litellm could not read the answer.

    litellm reports its own parse errors as a lost connection, as status 422 or 500, so only what is missing in the
    chain of exceptions tells: an HTTP error, a broken connection, a timeout.

    Args:
        litellm: The module.
        error: litellm's exception.
        answer: What was kept of the request; gets the body where only an exception has it.
    """
    known = (litellm.Timeout, httpx.HTTPStatusError, httpx.TransportError, OSError)
    sent = answer.sent or _EMPTY_RESPONSE in str(error)
    for cause in _chain(error):
        if isinstance(cause, known):
            return False
        if getattr(cause, "status_code", None) == httpx.codes.OK:
            sent = True
            answer.read(getattr(cause, "message", None))
    return sent and not answer.body.get("error")  # an error with status 200 is read as an error


def error_kind(error: ProviderError) -> ErrorKind | None:
    """Meaning of an error answer; None if its status says all that is known."""
    # Quota before overflow: Groq answers 413 where a request is larger than the tokens of a minute.
    if error.codes & _QUOTA_CODES or error.status == 402 or _QUOTA_TEXT.search(error.text):
        return ErrorKind.QUOTA
    if error.codes & _FILTER_CODES:
        return ErrorKind.FILTERED
    if error.status in (401, 403, 404, 429):
        return None
    if error.status == TOO_LARGE or error.codes & _OVERFLOW_CODES or _OVERFLOW_TEXT.search(error.text):
        return ErrorKind.OVERFLOW
    return None


_OVERFLOW_CODES = frozenset({"context_length_exceeded", "model_context_window_exceeded", "request_too_large"})
_FILTER_CODES = frozenset(
    {"content_filter", "content_policy_violation", "data_inspection_failed", "datainspectionfailed"}
)
_QUOTA_CODES = frozenset(
    {
        "insufficient_quota",
        "billing_hard_limit_reached",
        "billing_not_active",
        "exceeded_current_quota_error",
        "arrearage",
        "insufficient_balance",
    }
)


def _any_of(*texts: str) -> re.Pattern[str]:
    return re.compile("|".join(texts), re.IGNORECASE)


_OVERFLOW_TEXT = _any_of(
    r"maximum context length",  # OpenAI, OpenRouter, DeepSeek, Mistral, vLLM before 0.14, SGLang
    r"exceeds? the context window",  # OpenAI's Responses API
    r"input tokens exceed the configured limit",  # Azure
    r"context length is only",  # vLLM from 0.14
    r"longer than the maximum model length",  # vLLM
    r"max_tokens must be at least 1, got -",  # vLLM, where the prompt alone fills the context
    r"longer than the model's context length",  # SGLang
    r"prompt is too long",  # Anthropic, Fireworks
    r"input length and `?max_tokens`? exceed context limit",  # Anthropic, on Bedrock too
    r"input is too long",  # Bedrock
    r"too many input tokens",  # Bedrock
    r"input token count .{0,40}exceeds the maximum number of tokens",  # Gemini
    r"range of input length should be",  # DashScope
    r"maximum prompt length is",  # xAI
    r"request exceeded model token limit",  # Moonshot
    r"input token length too long",  # Moonshot
    r"prompt exceeds max length",  # Z.ai
    r"`inputs` tokens \+ `max_new_tokens` must be",  # Text Generation Inference, Together
    r"exceeds the available context size",  # llama.cpp
    r"context window exceeds limit",  # MiniMax
)
_QUOTA_TEXT = _any_of(
    r"request too large for .{0,200}per min",  # OpenAI, Groq: one request beyond the tokens of a minute
    r"\((RPD|TPD)\)",  # OpenAI, Groq: a limit of the day
    r"PerDayPer",  # Gemini: quotaId of a limit of the day
    r"too many tokens per day",  # Bedrock
    r"credit balance is too low",  # Anthropic
    r"insufficient (credits|balance|quota)",  # OpenRouter, DeepSeek, Z.ai
    r"used all available credits",  # xAI
)


def _response(error: BaseException) -> httpx.Response | None:
    """The HTTP answer at the origin of an exception."""
    answers = [cause.response for cause in _chain(error) if isinstance(cause, httpx.HTTPStatusError)]
    return answers[-1] if answers else None


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__ or cause.__context__


def _text(response: httpx.Response) -> str:
    try:
        return response.text
    except httpx.StreamError:
        return ""  # a streamed answer that was not read


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _codes(body: Any, error: BaseException) -> frozenset[str]:
    """Codes of a body in the shapes of OpenAI, Anthropic, Google, Azure and DashScope."""
    parts = [body, body.get("error")] if isinstance(body, dict) else [body[0].get("error")] if _is_list(body) else []
    names = ("code", "type", "status", "error_code")
    values = [part.get(name) for part in parts if isinstance(part, dict) for name in names]
    return frozenset(value.lower() for value in (*values, getattr(error, "code", None)) if isinstance(value, str))


def _is_list(body: Any) -> bool:
    return isinstance(body, list) and bool(body) and isinstance(body[0], dict)


def _lowered(headers: Mapping[str, str]) -> dict[str, str]:
    return {str(name).lower(): str(value) for name, value in headers.items()}
