"""Client of one model for one episode: messages and tools in, a reply out, through litellm.

Invariant: every reply can be appended to the conversation and answered. Malformed tool calls are repaired in the
conversation and reported to the model as the call's result, so that no provider refuses the next request.
"""

from __future__ import annotations

import asyncio
import copy
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from opsgym_api.records.attempt import NO_USAGE, Usage
from opsgym_api.records.outcomes import FailReason, FinishReason, InfraReason
from opsgym_core.common.scrub import scrub
from opsgym_core.store.sealed import ENDPOINT_SAYS
from opsgym_runner.agent_clock import AgentClock
from opsgym_runner.clock import Clock
from opsgym_runner.errors import AgentFailed
from opsgym_runner.job import ModelEndpoint, ResolvedModel
from opsgym_runner.models.checks import missing_key
from opsgym_runner.models.endpoints import shown_url
from opsgym_runner.models.litellm_lib import load_litellm
from opsgym_runner.models.prices import added_cost, reply_cost, usage_in, usage_of
from opsgym_runner.models.prompt_cache import USER_MARKERS, needs_markers, with_cache_markers
from opsgym_runner.models.provider_errors import ErrorKind, error_kind, is_unreadable, read_error
from opsgym_runner.models.replies import (
    FAILURES,
    NO_PROVENANCE,
    PROVIDERS_FAULT,
    Provenance,
    RawAnswer,
    finish_of,
    history_message,
    provenance_of,
    response_headers,
    text_of,
)
from opsgym_runner.models.retry import ModelFailure, RequestStatistics, Retrier
from opsgym_runner.models.retry_hints import retry_after_s
from opsgym_runner.models.streaming import streaming
from opsgym_runner.tracing.spans import (
    REQUEST,
    chat_attributes,
    chat_content,
    reply_attributes,
    reply_content,
    request_attributes,
)
from opsgym_runner.tracing.tracer import Span, span

REQUEST_TIMEOUT_S = 600.0
"""Timeout of one request in seconds unless the model's parameters set one; providers' own clients use the same. That of
a streamed request counts silence."""
NO_KEY = "none"
"""Key sent to self-hosted endpoints without one: OpenAI's client refuses to work without a key."""
VERTEX = "vertex_ai/"
_UNKNOWN_PARAMETER = (
    "- The provider does not support a parameter of the model: remove it from its parameters, or add "
    "drop_params: true to them, which leaves out unsupported parameters."
)
_QUOTA = "- The account cannot pay for the request: raise its quota or credit, then run the same command again."

Message = dict[str, Any]


@dataclass(frozen=True)
class ToolRequest:
    """A tool call requested by a model."""

    id: str
    name: str
    arguments: dict[str, Any]
    problem: str = ""
    """Why the call is malformed, for the model to read; empty if it is well formed."""
    raw: str = ""
    """The arguments of a malformed call as the model wrote them."""


@dataclass(frozen=True)
class Reply:
    """A model's reply."""

    message: Message
    """The reply as a message of the conversation."""
    text: str
    """Text of the reply; empty if it only calls tools."""
    requests: tuple[ToolRequest, ...]
    usage: Usage
    """Tokens of the reply, and of the one that it replaces."""
    cost_usd: float | None
    """None if it is unknown."""
    finish: FinishReason = FinishReason.STOP
    replaced: FinishReason | None = None
    """How the reply ended that this one replaces; None for a first reply."""
    rate_limit_headers: Mapping[str, str] = field(default_factory=dict)
    """The answer's headers about rate limits, by name in lower case."""
    provenance: Provenance = NO_PROVENANCE
    """Which model of the provider answered."""

    def require_usable(self) -> None:
        """Checks that the agent can go on with the reply; called once its usage is booked.

        Raises:
            AgentFailed: The reply was filtered, malformed twice, or reached the end of the model's context.
        """
        if self.finish in FAILURES:
            raise AgentFailed(*FAILURES[self.finish])


@dataclass(frozen=True)
class LostReplies:
    """Replies that were paid for and could not be used."""

    usage: Usage = NO_USAGE
    cost_usd: float | None = 0.0
    """None if that of one is unknown."""
    unreadable: int = 0
    """Answers with status 200 that cannot be read as a reply."""

    def __add__(self, other: LostReplies) -> LostReplies:
        """Sum of two."""
        cost = added_cost(self.cost_usd, other.cost_usd)
        return LostReplies(self.usage + other.usage, cost, self.unreadable + other.unreadable)


@dataclass
class Call:
    """The requests of one call: the same until one is answered."""

    arguments: dict[str, Any]
    """litellm's."""
    chat: Span
    """Gets an event for each request."""
    requests: int = 0
    unreadable: int = 0
    """Requests whose answer could not be read as a reply."""


@dataclass(frozen=True)
class Target:
    """Target of a client's requests."""

    model: ResolvedModel
    litellm_id: str
    """Model id passed to litellm; differs from the model's own for replay models."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Extra headers of every request."""
    role: str = ""
    """`PLANNER`, `JUDGE`, or empty for the agent."""
    strict_disabled: bool = False
    """Whether tools are sent with `strict: false`."""
    unusable_taken: bool = False
    """Whether an empty or malformed reply is not requested once more."""
    streamed: bool = False
    """Whether answers are streamed; see `streaming`."""


class ModelClient:
    """Client of one model for one episode.

    Args:
        target: The model.
        retrier: Sends its requests and retries them.
        clock: Source of time.
    """

    def __init__(self, target: Target, retrier: Retrier, clock: Clock) -> None:
        self._target = target
        self._clock = clock
        self._retrier = retrier
        self._lost = LostReplies()

    @property
    def statistics(self) -> RequestStatistics:
        """Retries, rate limits and waits of its calls so far."""
        return self._retrier.statistics

    @property
    def pending_failure(self) -> ModelFailure | None:
        """Why the call in progress has no answer yet; see `Retrier.pending_failure`."""
        return self._retrier.pending_failure

    async def ready(self) -> None:
        """Waits until litellm is imported, which takes seconds the first time."""
        await asyncio.to_thread(load_litellm)

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[Message],
        deadline: float = math.inf,
        agent: AgentClock | None = None,
    ) -> Reply:
        """Sends a conversation and returns the model's reply, which may be unusable: see `Reply.require_usable`.

        A reply that is malformed or empty by the provider's fault is requested once more, unless the target says
        otherwise.

        Args:
            messages: The conversation in OpenAI's format.
            tools: The tools in OpenAI's format.
            deadline: Monotonic time after which no retry starts.
            agent: See `Retrier.call`.

        Raises:
            AgentFailed: The conversation exceeds the model's context, or the provider's content filter refused it.
            ModelFailure: The model cannot be reached, or not in time.
        """
        model = self._target.model
        with span(f"chat {model.name}", client=True) as chat:
            if chat.recording:
                chat.set(chat_attributes(model, self._target.role))
            if chat.content:
                chat.set(chat_content(messages))
            send = partial(self._send, Call(self._arguments(messages, tools), chat))
            response, reply = await self._retrier.call(send, deadline, agent)
            if reply.finish in PROVIDERS_FAULT and not self._target.unusable_taken:
                first = reply
                response, reply = await self._retrier.call(send, deadline, agent)
                reply = _replacing(first, reply)
            if chat.recording:
                chat.set(reply_attributes(reply, response))
            if chat.content:
                chat.set(reply_content(reply.message, reply.finish.value))
            return reply

    def take_lost(self) -> LostReplies:
        """Replies that could not be used since the previous call of this function."""
        lost, self._lost = self._lost, LostReplies()
        return lost

    async def _send(self, call: Call, endpoint: ModelEndpoint) -> tuple[Any, Reply]:
        """Sends one request of a call; returns litellm's response, which has at least one choice, and its reply."""
        litellm, raw = load_litellm(), RawAnswer()
        with self._traced_request(call, endpoint), streaming(self._target.streamed):
            try:
                response = await litellm.acompletion(
                    api_base=endpoint.url,
                    logger_fn=raw,
                    **self._access(endpoint, copy.deepcopy(call.arguments)),  # litellm changes schemas in place
                )
            except Exception as error:  # noqa: BLE001 litellm lets provider libraries' own errors through
                if is_unreadable(litellm, error, raw):
                    raise self._unreadable(call, endpoint, raw.body) from None
                raise self._explained(litellm, error) from None
            if not response.choices:
                raise self._unreadable(call, endpoint, raw.body)
            return response, self._reply(response, raw.finish_reason)

    def _unreadable(self, call: Call, endpoint: ModelEndpoint, body: Mapping[str, Any]) -> ModelFailure:
        """The failure of a request whose answer cannot be read. Books the answer; one of a call is requested again."""
        model, usage = self._target.model, usage_in(body)
        cost = reply_cost(body.get("usage"), model.model, usage, model.prices)
        self._lost += LostReplies(usage, cost, unreadable=1)
        call.unreadable += 1
        message = (
            f"model {model.name}: {shown_url(endpoint)} answered with status 200, but not with a reply; check that the "
            "address is that of the model's API"
        )
        return ModelFailure(InfraReason.MODEL_UNAVAILABLE, message, transient=call.unreadable == 1)

    @contextmanager
    def _traced_request(self, call: Call, endpoint: ModelEndpoint) -> Iterator[None]:
        """Counts a request of a call, and adds its duration and failure to the call's span."""
        call.requests += 1
        number, chat = call.requests, call.chat
        started, failure = self._clock.monotonic(), None
        try:
            yield
        except BaseException as error:
            failure = error
            raise
        finally:
            if chat.recording:
                seconds = self._clock.monotonic() - started
                chat.event(REQUEST, request_attributes(number, endpoint, seconds, failure))

    def _arguments(self, messages: Sequence[Message], tools: Sequence[Message]) -> dict[str, Any]:
        """Litellm's arguments, the same for every request of a call."""
        target = self._target
        if USER_MARKERS not in target.model.parameters and needs_markers(target.litellm_id):
            messages, tools = with_cache_markers(messages, tools)
        fixed: dict[str, Any] = {
            "model": target.litellm_id,
            "messages": list(messages),
            "stream": False,
            "num_retries": 0,
            "max_retries": 0,
        }
        if tools:
            fixed["tools"] = [_with_strict_disabled(tool) for tool in tools] if target.strict_disabled else list(tools)
        if target.headers:
            fixed["extra_headers"] = dict(target.headers)
        return {"timeout": REQUEST_TIMEOUT_S, **target.model.parameters, **fixed}

    def _access(self, endpoint: ModelEndpoint, arguments: dict[str, Any]) -> dict[str, Any]:
        """Litellm's arguments with the credentials for one endpoint."""
        if endpoint.headers:
            secret = {name: value.get_secret_value() for name, value in endpoint.headers}
            arguments["extra_headers"] = {**(arguments.get("extra_headers") or {}), **secret}
        if (aws := self._target.model.aws) is not None:
            arguments["aws_access_key_id"] = aws.key_id
            arguments["aws_secret_access_key"] = aws.secret.get_secret_value()
            if aws.region is not None:
                arguments["aws_region_name"] = aws.region
        return {**arguments, **self._key(endpoint)}

    def _key(self, endpoint: ModelEndpoint) -> dict[str, str | None]:
        """Litellm's argument for the key. With None litellm reads the provider's usual variables."""
        if endpoint.api_key is None:
            return {"api_key": NO_KEY if endpoint.url and missing_key(self._target.litellm_id) else None}
        key = endpoint.api_key.get_secret_value()
        if self._target.litellm_id.startswith(VERTEX):
            return {"vertex_credentials": key}  # a service account's JSON: Google's cloud has no plain API key
        return {"api_key": key}

    def _reply(self, response: Any, raw_reason: str) -> Reply:
        choice = response.choices[0]
        reported, model = getattr(response, "usage", None), self._target.model
        usage = usage_of(reported)
        message = history_message(choice.message)
        requests = tuple(_tool_request(call, number) for number, call in enumerate(message.get("tool_calls") or []))
        if requests:
            message["tool_calls"] = [_history_call(request) for request in requests]
        return Reply(
            message=message,
            text=text_of(message["content"]),
            requests=requests,
            usage=usage,
            cost_usd=reply_cost(reported, model.model, usage, model.prices),
            finish=finish_of(choice, raw_reason, message),
            rate_limit_headers={
                name: value for name, value in response_headers(response).items() if "ratelimit" in name
            },
            provenance=provenance_of(response),
        )

    def _explained(self, litellm: Any, error: Exception) -> Exception:
        """The exception that litellm's error becomes, without credentials in its message."""
        reported = scrub(str(error), self._target.model.secrets)
        message = f"model {self._target.model.name}: {_status_of(litellm, error)}{ENDPOINT_SAYS}{reported}"
        answer = read_error(error)
        kind = error_kind(answer)
        if kind is ErrorKind.QUOTA:
            return ModelFailure(InfraReason.MODEL_QUOTA, f"{message} {_QUOTA}", transient=False)
        if kind is ErrorKind.OVERFLOW or isinstance(error, litellm.ContextWindowExceededError):
            return AgentFailed(FailReason.CONTEXT_OVERFLOW, message)
        if kind is ErrorKind.FILTERED or isinstance(error, litellm.ContentPolicyViolationError):
            return AgentFailed(FailReason.REQUEST_FILTER, message)
        if isinstance(error, litellm.UnsupportedParamsError):
            return ModelFailure(InfraReason.MODEL_REFUSED_REQUEST, f"{message} {_UNKNOWN_PARAMETER}", transient=False)
        reason, transient = _classified(litellm, error)
        retry_after = retry_after_s(answer, self._clock.now()) if transient else None
        return ModelFailure(reason, message, transient=transient, retry_after_s=retry_after)


_REASON_OF_STATUS = {
    401: InfraReason.MODEL_AUTH,
    403: InfraReason.MODEL_AUTH,
    404: InfraReason.MODEL_NOT_FOUND,
    408: InfraReason.MODEL_UNAVAILABLE,
    409: InfraReason.MODEL_UNAVAILABLE,
    429: InfraReason.MODEL_RATE_LIMITED,
}
_TRANSIENT = (InfraReason.MODEL_UNAVAILABLE, InfraReason.MODEL_RATE_LIMITED)


def _status_of(litellm: Any, error: Exception) -> str:
    """The HTTP status of an answer that was an error, for a message; empty if litellm made the status up."""
    status = getattr(error, "status_code", None)
    made_up = litellm.Timeout | litellm.APIConnectionError | litellm.UnsupportedParamsError
    return f"HTTP {status}; " if isinstance(status, int) and not isinstance(error, made_up) else ""


def _classified(litellm: Any, error: Exception) -> tuple[InfraReason, bool]:
    """Reason of litellm's error, and whether it is transient."""
    status = getattr(error, "status_code", None)
    if isinstance(error, litellm.Timeout | litellm.APIConnectionError):
        return InfraReason.MODEL_UNAVAILABLE, True
    if not isinstance(status, int):
        return InfraReason.MODEL_REFUSED_REQUEST, False
    unknown = InfraReason.MODEL_UNAVAILABLE if status >= 500 else InfraReason.MODEL_REFUSED_REQUEST
    reason = _REASON_OF_STATUS.get(status, unknown)
    return reason, reason in _TRANSIENT


def _replacing(first: Reply, second: Reply) -> Reply:
    """The second reply, with the usage and cost of both."""
    cost = added_cost(first.cost_usd, second.cost_usd)
    return replace(second, usage=first.usage + second.usage, cost_usd=cost, replaced=first.finish)


def _tool_request(call: Mapping[str, Any], number: int) -> ToolRequest:
    """A tool call of a reply.

    Args:
        call: The call in OpenAI's format, possibly malformed.
        number: Its position in the reply, for calls without an id.
    """
    function = call.get("function") or {}
    name = str(function.get("name") or "")
    call_id = str(call.get("id") or f"call_{number}")
    if not name:
        return ToolRequest(call_id, "unnamed", {}, "the tool call has no tool name", _written(function))
    raw = function.get("arguments")
    if raw is None or raw == "":
        return ToolRequest(call_id, name, {})
    if isinstance(raw, str):
        try:
            raw = json.loads(raw)
        except ValueError as error:
            return ToolRequest(call_id, name, {}, f"the arguments are not valid JSON: {error}", _written(function))
    if not isinstance(raw, dict):
        problem = f"the arguments must be a JSON object, not {type(raw).__name__}"
        return ToolRequest(call_id, name, {}, problem, _written(function))
    return ToolRequest(call_id, name, raw)


def _written(function: Mapping[str, Any]) -> str:
    """Arguments of a call as the model wrote them."""
    raw = function.get("arguments")
    return raw if isinstance(raw, str) else json.dumps(raw)


def _with_strict_disabled(tool: Message) -> Message:
    """A tool whose optional arguments may be left out: OpenAI's Responses API requires all of them otherwise."""
    return {**tool, "function": {**tool["function"], "strict": False}}


def _history_call(request: ToolRequest) -> Message:
    function = {"name": request.name, "arguments": json.dumps(request.arguments)}
    return {"id": request.id, "type": "function", "function": function}
