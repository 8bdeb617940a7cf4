"""One model, as an episode sees it: messages and tools in, a reply out, through litellm.

Invariant: a reply can always be appended to the conversation and answered. What a model garbled in its tool calls is
mended in the history and told to the model as the call's result, so that no provider refuses the next request.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from opsgym_api.outcomes import FailReason, InfraReason
from opsgym_api.records import Usage
from opsgym_api.scrub import scrub
from opsgym_runner.clock import Clock
from opsgym_runner.errors import AgentFailed
from opsgym_runner.job import ModelEndpoint, ResolvedModel
from opsgym_runner.litellm_lib import load_litellm
from opsgym_runner.models import missing_key
from opsgym_runner.prices import cost_of, mapped_cost, usage_of
from opsgym_runner.prompt_cache import OWN_MARKS, wants_marks, with_marks
from opsgym_runner.retry import ModelFailure, Retrier, Traffic, parse_retry_after
from opsgym_runner.spans import (
    REQUEST,
    chat_attributes,
    chat_content,
    reply_attributes,
    reply_content,
    request_attributes,
)
from opsgym_runner.tracing import Span, span

REQUEST_TIMEOUT_S = 600.0
"""Seconds a request may take unless the model's parameters say otherwise; providers' own clients use the same."""
NO_KEY = "none"
"""Sent to endpoints of one's own that ask for no key: OpenAI's client insists on having one."""
VERTEX = "vertex_ai/"
_UNKNOWN_PARAMETER = (
    "- The provider does not take a parameter of the model: remove it from its parameters, or add "
    "drop_params: true to them, which leaves out what the provider does not know."
)

Message = dict[str, Any]


@dataclass(frozen=True)
class ToolRequest:
    """A tool call that a model asked for."""

    id: str
    name: str
    arguments: dict[str, Any]
    problem: str = ""
    """Why it cannot be carried out, for the model to read; empty if it can."""


@dataclass(frozen=True)
class Reply:
    """What a model said."""

    message: Message
    """The reply as the conversation goes on with it."""
    text: str
    requests: tuple[ToolRequest, ...]
    usage: Usage
    cost_usd: float | None
    """None if it cannot be known."""


@dataclass(frozen=True)
class Target:
    """What litellm is asked for."""

    model: ResolvedModel
    litellm_id: str
    """Model id for litellm; differs from the model's own for replay models."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Extra headers of every request."""
    part: str = ""
    """Whose part it plays: `PLANNER`, `JUDGE`, or empty for the agent's."""


class ModelClient:
    """Talks to one model for one episode."""

    def __init__(self, target: Target, retrier: Retrier, clock: Clock) -> None:
        self._target = target
        self._clock = clock
        self._retrier = retrier

    @property
    def traffic(self) -> Traffic:
        """What became of its requests so far, besides answers."""
        return self._retrier.traffic

    @property
    def trouble(self) -> ModelFailure | None:
        """Why the request now under way is not answered yet, if not through its model alone; see `Retrier.trouble`."""
        return self._retrier.trouble

    async def ready(self) -> None:
        """Waits until litellm is there, which takes seconds once."""
        await asyncio.to_thread(load_litellm)

    async def complete(self, messages: Sequence[Message], tools: Sequence[Message], deadline: float) -> Reply:
        """The model's reply.

        Args:
            messages: The conversation in OpenAI's shape.
            tools: The tools in OpenAI's shape.
            deadline: Monotonic time of the task's end.

        Raises:
            AgentFailed: The conversation outgrew the model, or the provider's filter stopped it.
            ModelFailure: The model cannot be reached, or not in time.
        """
        model, tries = self._target.model, count(1)
        with span(f"chat {model.name}", client=True) as traced:
            if traced.recording:
                traced.set(chat_attributes(model, self._target.part))
            if traced.content:
                traced.set(chat_content(messages))
            arguments = self._arguments(messages, tools)

            async def request(endpoint: ModelEndpoint) -> Any:
                with self._told(traced, next(tries), endpoint):
                    return await self._send(endpoint, arguments)

            response = await self._retrier.call(request, deadline)
            reply = self._reply(response)
            if traced.recording:
                traced.set(reply_attributes(reply, response))
            if traced.content:
                traced.set(reply_content(reply.message, str(response.choices[0].finish_reason)))
            return reply

    @contextmanager
    def _told(self, traced: Span, number: int, endpoint: ModelEndpoint) -> Iterator[None]:
        """Tells a span what became of a request."""
        began, failure = self._clock.monotonic(), None
        try:
            yield
        except BaseException as error:
            failure = error
            raise
        finally:
            if traced.recording:
                seconds = self._clock.monotonic() - began
                traced.event(REQUEST, request_attributes(number, endpoint, seconds, failure))

    async def _send(self, endpoint: ModelEndpoint, arguments: Mapping[str, Any]) -> Any:
        """The response to one request; it has a choice."""
        litellm = load_litellm()
        try:
            response = await litellm.acompletion(api_base=endpoint.url, **self._key(endpoint), **arguments)
        except Exception as error:  # noqa: BLE001 litellm lets provider libraries' own errors through
            raise self._explained(litellm, error) from None
        if not response.choices:
            raise ModelFailure(InfraReason.MODEL_UNAVAILABLE, "the model sent a reply without choices", transient=True)
        return response

    def _arguments(self, messages: Sequence[Message], tools: Sequence[Message]) -> dict[str, Any]:
        """What every try of a request says, wherever it goes."""
        target = self._target
        if OWN_MARKS not in target.model.parameters and wants_marks(target.litellm_id):
            messages, tools = with_marks(messages, tools)
        fixed: dict[str, Any] = {
            "model": target.litellm_id,
            "messages": list(messages),
            "stream": False,
            "num_retries": 0,
            "max_retries": 0,
        }
        if tools:
            fixed["tools"] = list(tools)
        if target.headers:
            fixed["extra_headers"] = dict(target.headers)
        return {"timeout": REQUEST_TIMEOUT_S, **target.model.parameters, **fixed}

    def _key(self, endpoint: ModelEndpoint) -> dict[str, str | None]:
        """The key to send, as litellm wants it; without one it looks into the provider's usual variables."""
        if endpoint.api_key is None:
            return {"api_key": NO_KEY if endpoint.url and missing_key(self._target.litellm_id) else None}
        key = endpoint.api_key.get_secret_value()
        if self._target.litellm_id.startswith(VERTEX):
            return {"vertex_credentials": key}  # a service account's JSON: Google's cloud knows no single key
        return {"api_key": key}

    def _reply(self, response: Any) -> Reply:
        choice = response.choices[0]
        if choice.finish_reason == "content_filter":
            raise AgentFailed(FailReason.CONTENT_FILTER, "the provider's content filter stopped the reply")
        usage = usage_of(getattr(response, "usage", None))
        model = self._target.model
        cost = cost_of(usage, model.prices) if model.prices else mapped_cost(response, model.model, usage)
        message = _message(choice.message)
        requests = tuple(_tool_request(call, number) for number, call in enumerate(message.get("tool_calls") or []))
        if requests:
            message["tool_calls"] = [_history_call(request) for request in requests]
        return Reply(message, _text(message["content"]), requests, usage, cost)

    def _explained(self, litellm: Any, error: Exception) -> Exception:
        message = f"model {self._target.model.name}: {scrub(str(error), self._target.model.secrets)}"
        if isinstance(error, litellm.ContextWindowExceededError):
            return AgentFailed(FailReason.CONTEXT_OVERFLOW, message)
        if isinstance(error, litellm.ContentPolicyViolationError):
            return AgentFailed(FailReason.CONTENT_FILTER, message)
        if isinstance(error, litellm.UnsupportedParamsError):
            return ModelFailure(InfraReason.MODEL_REFUSED_REQUEST, f"{message} {_UNKNOWN_PARAMETER}", transient=False)
        reason, transient = _judged(litellm, error)
        headers = getattr(error, "litellm_response_headers", None) or {}
        asked = parse_retry_after(headers.get("retry-after"), self._clock.now()) if transient else None
        return ModelFailure(reason, message, transient=transient, retry_after_s=asked)


_REASON_OF_STATUS = {
    401: InfraReason.MODEL_AUTH,
    402: InfraReason.MODEL_AUTH,
    403: InfraReason.MODEL_AUTH,
    404: InfraReason.MODEL_NOT_FOUND,
    408: InfraReason.MODEL_UNAVAILABLE,
    409: InfraReason.MODEL_UNAVAILABLE,
    429: InfraReason.MODEL_RATE_LIMITED,
}
_TRANSIENT = (InfraReason.MODEL_UNAVAILABLE, InfraReason.MODEL_RATE_LIMITED)


def _judged(litellm: Any, error: Exception) -> tuple[InfraReason, bool]:
    """What kind of failure it is, and whether it may pass."""
    status = getattr(error, "status_code", None)
    if isinstance(error, litellm.Timeout | litellm.APIConnectionError):
        return InfraReason.MODEL_UNAVAILABLE, True
    if not isinstance(status, int):
        return InfraReason.MODEL_REFUSED_REQUEST, False
    unknown = InfraReason.MODEL_UNAVAILABLE if status >= 500 else InfraReason.MODEL_REFUSED_REQUEST
    reason = _REASON_OF_STATUS.get(status, unknown)
    return reason, reason in _TRANSIENT


def _message(said: Any) -> Message:
    """A reply as it goes back into the conversation: with what providers want back (thinking blocks, signatures)."""
    message: Message = {"content": None, **said.model_dump(exclude_none=True)}
    if not message.get("tool_calls"):
        message.pop("tool_calls", None)
    if not any((message.get("provider_specific_fields") or {}).values()):
        message.pop("provider_specific_fields", None)  # litellm's own, empty; strict endpoints refuse unknown fields
    return message


def _tool_request(call: Mapping[str, Any], number: int) -> ToolRequest:
    function = call.get("function") or {}
    name = str(function.get("name") or "")
    call_id = str(call.get("id") or f"call_{number}")
    if not name:
        return ToolRequest(call_id, "unnamed", {}, "the tool call names no tool")
    raw = function.get("arguments")
    if raw is None or raw == "":
        return ToolRequest(call_id, name, {})
    if isinstance(raw, str):
        try:
            raw = json.loads(raw)
        except ValueError as error:
            return ToolRequest(call_id, name, {}, f"the arguments are not valid JSON: {error}")
    if not isinstance(raw, dict):
        return ToolRequest(call_id, name, {}, f"the arguments must be a JSON object, not {type(raw).__name__}")
    return ToolRequest(call_id, name, raw)


def _history_call(request: ToolRequest) -> Message:
    function = {"name": request.name, "arguments": json.dumps(request.arguments)}
    return {"id": request.id, "type": "function", "function": function}


def _text(content: object) -> str:
    """Words of a reply whose content is text, or a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))
