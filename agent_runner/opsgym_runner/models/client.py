"""Client of one model for one episode: messages and tools in, a reply out, directly or through litellm.

Invariant: every reply can be appended to the conversation and answered. Malformed tool calls are repaired in the
conversation and reported to the model as the call's result, so that no provider refuses the next request.
"""

from __future__ import annotations

import asyncio
import copy
import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import httpx

from opsgym_api.records.attempt import NO_USAGE, Usage
from opsgym_api.records.outcomes import ConfigReason, FailReason, FinishReason, InfraReason
from opsgym_core.common.foreign import read_json
from opsgym_core.common.scrub import scrub
from opsgym_core.store.sealed import ENDPOINT_SAYS
from opsgym_runner.agent_clock import AgentClock
from opsgym_runner.clock import Clock
from opsgym_runner.errors import AgentFailed, config_error
from opsgym_runner.job import ModelEndpoint, ResolvedModel
from opsgym_runner.models.calls_in_text import has_call_in_text
from opsgym_runner.models.chat_replies import chat_answer
from opsgym_runner.models.checks import missing_key
from opsgym_runner.models.direct import direct_body, direct_provider, is_direct
from opsgym_runner.models.endpoints import shown_url
from opsgym_runner.models.forward import provider_of
from opsgym_runner.models.litellm_lib import is_loaded, load_litellm
from opsgym_runner.models.prices import added_cost, counts_tokens, reply_cost, usage_in
from opsgym_runner.models.prompt_cache import USER_MARKERS, needs_markers, with_cache_markers
from opsgym_runner.models.provider_errors import ProviderError, Subject, read_error, subject_of
from opsgym_runner.models.raw_answers import RawAnswer, reading
from opsgym_runner.models.refusals import Position, confirms, needs_witness, refusal_of
from opsgym_runner.models.replies import (
    FAILURES,
    NO_PROVENANCE,
    PROVIDERS_FAULT,
    Answer,
    Provenance,
    finish_of,
    litellm_answer,
    text_of,
)
from opsgym_runner.models.retry import ModelFailure, RequestStatistics, Retrier
from opsgym_runner.models.retry_hints import retry_after_s
from opsgym_runner.models.sending import REQUEST_TIMEOUT_S, Connections, posting, unanswered
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

USER_AGENT = "opsgym"
NO_KEY = "none"
"""Key sent to self-hosted endpoints without one: OpenAI's client refuses to work without a key."""
VERTEX = "vertex_ai/"
_UNKNOWN_PARAMETER = (
    "- The provider does not support a parameter of the model: remove it from its parameters, or add "
    "drop_params: true to them, which leaves out unsupported parameters."
)
_SEEDS = 2**31
"""Number of seeds that every provider takes."""
_ADVICE = {
    InfraReason.MODEL_QUOTA: "- The account cannot pay for the request: raise its quota or credit, then run the same "
    "command again.",
    FailReason.CONVERSATION_REFUSED: "(refused after {answered} answered requests of the conversation, while another "
    "conversation is answered: this one caused it)",
}

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
    seed: int | None = None
    """Seed of the requests; None for none, or one that the user set."""
    requests: int = 0
    unreadable: int = 0
    """Requests whose answer could not be read as a reply."""

    def reseed(self) -> None:
        """Gives the following requests another seed: a server that repeats itself would repeat its fault."""
        if self.seed is not None:
            self.seed = self.arguments["seed"] = (self.seed + 1) % _SEEDS


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
    seed: int | None = None
    """Seed of its requests; None for none, or one that the user set among the parameters."""


class Requester:
    """Sends requests to a model, and keeps what they met.

    Args:
        retrier: Sends the requests and retries them.
        clock: Source of time.
    """

    def __init__(self, retrier: Retrier, clock: Clock) -> None:
        self._retrier = retrier
        self._clock = clock
        self._lost = LostReplies()

    @property
    def statistics(self) -> RequestStatistics:
        """Retries, rate limits and waits of its requests so far."""
        return self._retrier.statistics

    @property
    def pending_failure(self) -> ModelFailure | None:
        """Why the request in progress has no answer yet; see `Retrier.pending_failure`."""
        return self._retrier.pending_failure

    def take_lost(self) -> LostReplies:
        """Replies that could not be used and may be paid, since the previous call of this function."""
        lost, self._lost = self._lost, LostReplies()
        return lost


class ModelClient(Requester):
    """Client of one model for one episode.

    Args:
        target: The model.
        retrier: Sends its requests and retries them.
        clock: Source of time.
        connections: Connections to model servers, for models that are called without litellm.
    """

    def __init__(self, target: Target, retrier: Retrier, clock: Clock, connections: Connections) -> None:
        super().__init__(retrier, clock)
        self._target = target
        self._connections = connections
        self._is_direct = is_direct(target.litellm_id, target.model.parameters)

    @property
    def target(self) -> Target:
        """Target of its requests."""
        return self._target

    def fresh_retrier(self) -> Retrier:
        """A retrier for a request beside the client's own."""
        return self._retrier.fresh()

    @property
    def has_called(self) -> bool:
        """Whether the model has called a tool in any episode, other than in its text."""
        return self._retrier.has_called

    async def ready(self) -> None:
        """Waits until litellm is imported, which takes seconds the first time, if the model needs it."""
        if not self._is_direct:
            await asyncio.to_thread(load_litellm)

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[Message],
        deadline: float = math.inf,
        agent: AgentClock | None = None,
    ) -> Reply:
        """Sends a conversation and returns the model's reply, which may be unusable: see `Reply.require_usable`.

        A reply that is malformed or empty by the provider's fault is requested once more, with another seed, unless the
        target says otherwise.

        Args:
            messages: The conversation in OpenAI's format.
            tools: The tools in OpenAI's format.
            deadline: Monotonic time after which no retry starts.
            agent: See `Retrier.call`.

        Raises:
            AgentFailed: The conversation exceeds the model's context, or the provider refused to continue it.
            NotScored: The provider refuses the conversation's first request and answers those of others.
            ModelFailure: The model cannot be reached, or not in time.
        """
        model = self._target.model
        with span(f"chat {model.name}", client=True) as chat:
            if chat.recording:
                chat.set(chat_attributes(model, self._target.role, self._target.seed))
            if chat.content:
                chat.set(chat_content(messages))
            call = Call(self._arguments(messages, tools), chat, self._target.seed)
            send = partial(self._send, call)
            answer, reply = await self._retrier.call(send, deadline, agent)
            if reply.finish in PROVIDERS_FAULT and not self._target.unusable_taken:
                first = reply
                call.reseed()
                answer, reply = await self._retrier.call(send, deadline, agent)
                reply = _replacing(first, reply)
            if chat.recording:
                chat.set(reply_attributes(reply, answer))
            if chat.content:
                chat.set(reply_content(reply.message, reply.finish.value))
            return reply

    async def _send(self, call: Call, endpoint: ModelEndpoint) -> tuple[Answer | None, Reply]:
        """Sends one request of a call; returns its answer, None without a readable one, and its reply."""
        with self._traced_request(call, endpoint):
            raw, answer, problem = await self._exchange(call.arguments, endpoint)
            if raw.status is None and problem is not None:
                raise self._unsent(problem, endpoint)
            if raw.error is not None:
                return None, await self._refused(raw, call, endpoint)
            if raw.too_deep:
                self._book_lost(raw, unreadable=0)
                return None, _REFUSED_OUTPUT
            if answer is None:
                raise self._unreadable(call, endpoint, raw, problem)
            return answer, self._reply(answer, raw, call.arguments.get("tools") or ())

    async def _exchange(
        self, arguments: Mapping[str, Any], endpoint: ModelEndpoint
    ) -> tuple[RawAnswer, Answer | None, Exception | None]:
        """Sends a request: the answer as it came, as it was read, and what went wrong with either."""
        body = direct_body(arguments, endpoint.url) if self._is_direct else None
        with streaming(self._target.streamed), reading() as raw:
            try:
                if body is not None:
                    post = self._post_of(body, arguments, endpoint)
                    async with posting(self._connections, *post, redirected=True) as answer:
                        return raw, chat_answer(read_json(answer.content), raw.headers), None
                litellm = load_litellm()
                response = await litellm.acompletion(
                    api_base=endpoint.url,
                    **self._access(endpoint, copy.deepcopy(dict(arguments))),  # litellm changes schemas in place
                )
                return raw, litellm_answer(response), None
            except Exception as error:  # noqa: BLE001 litellm lets provider libraries' own errors through
                return raw, None, error

    def _post_of(
        self, body: Mapping[str, Any], arguments: Mapping[str, Any], endpoint: ModelEndpoint
    ) -> tuple[str, bytes, httpx.Headers, float]:
        """Address, content, headers and timeout of a chat completion that is sent without litellm."""
        provider, direct = provider_of(arguments["model"], os.environ), direct_provider(arguments["model"])
        assert provider is not None
        assert direct is not None
        key = self._key(endpoint).get("api_key")
        fixed = {"user-agent": USER_AGENT, **direct.headers_in(os.environ), **provider.authorisation(key)}
        headers = httpx.Headers(fixed)
        headers.update(self._headers(endpoint, arguments))
        content = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        return provider.address("chat", endpoint.url), content, headers, float(arguments["timeout"])

    async def _refused(self, raw: RawAnswer, call: Call, endpoint: ModelEndpoint) -> Reply:
        """The reply in an error about what the model wrote.

        Raises:
            AgentFailed, NotScored, ModelFailure: What any other error means.
        """
        messages = call.arguments.get("messages") or ()
        error = read_error(raw.status, raw.headers, raw.error, _written_in(messages))
        if subject_of(error) is Subject.MODELS_OUTPUT:
            return _REFUSED_OUTPUT
        answered = sum(message.get("role") == "assistant" for message in messages)
        known = self._retrier.has_answered(endpoint)
        position = Position(known, answered if known else 0)
        witnessed = True
        if needs_witness(error, position):
            witnessed = confirms(error, await self._witness(endpoint))
        refusal = refusal_of(error, position, witnessed=witnessed)
        advice = _ADVICE.get(refusal.reason, "").format(answered=answered)
        shown = scrub(raw.text or "no body", self._target.model.secrets)
        message = f"model {self._target.model.name}: HTTP {raw.status}; {ENDPOINT_SAYS}{shown} {advice}".rstrip()
        if isinstance(refusal.reason, FailReason):
            raise AgentFailed(refusal.reason, message)
        if isinstance(refusal.reason, ConfigReason):
            raise config_error(refusal.reason, message)
        retry_after = retry_after_s(error, self._clock.now()) if refusal.transient else None
        raise ModelFailure(refusal.reason, message, transient=refusal.transient, retry_after_s=retry_after)

    async def _witness(self, endpoint: ModelEndpoint) -> ProviderError | None:
        """The error of a request for one token of another conversation; None if it is answered. Books what it costs."""
        question: Message = {"role": "user", "content": "Answer with one word."}
        arguments = {**self._arguments([question], ()), **_ONE_TOKEN}
        for name in _OTHER_LIMITS:
            arguments.pop(name, None)
        raw, _, _ = await self._exchange(arguments, endpoint)
        if raw.status is None or raw.error is not None:
            return read_error(raw.status, raw.headers, raw.error or "")
        self._book_lost(raw, unreadable=0)
        return None

    def _book_lost(self, raw: RawAnswer, unreadable: int) -> None:
        model, usage = self._target.model, usage_in(raw.fields)
        counted = counts_tokens(raw.fields)
        cost = reply_cost(raw.fields.get("usage"), model.model, usage, model.prices, counted=counted)
        self._lost += LostReplies(usage, cost, unreadable)

    def _unreadable(
        self, call: Call, endpoint: ModelEndpoint, raw: RawAnswer, problem: Exception | None
    ) -> ModelFailure:
        """The failure of a request whose answer cannot be read. Books the answer; one of a call is requested again."""
        self._book_lost(raw, unreadable=1)
        call.unreadable += 1
        name, first = self._target.model.name, call.unreadable == 1
        if problem is not None and raw.has_reply:
            shown = scrub(f"{type(problem).__name__}: {problem}", self._target.model.secrets)
            message = f"model {name}: {shown_url(endpoint)} answered with a reply that the client cannot read: {shown}"
            return ModelFailure(InfraReason.RUNNER_ERROR, message, transient=first)
        message = (
            f"model {name}: {shown_url(endpoint)} answered with status 200, but not with a reply; check that the "
            "address is that of the model's API"
        )
        return ModelFailure(InfraReason.MODEL_UNAVAILABLE, message, transient=first)

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
        seeded = {} if target.seed is None else {"seed": target.seed}
        return {"timeout": REQUEST_TIMEOUT_S, **seeded, **target.model.parameters, **fixed}

    def _access(self, endpoint: ModelEndpoint, arguments: dict[str, Any]) -> dict[str, Any]:
        """Litellm's arguments with the credentials for one endpoint."""
        if endpoint.headers:
            arguments["extra_headers"] = self._headers(endpoint, arguments)
        if (aws := self._target.model.aws) is not None:
            arguments["aws_access_key_id"] = aws.key_id
            arguments["aws_secret_access_key"] = aws.secret.get_secret_value()
            if aws.region is not None:
                arguments["aws_region_name"] = aws.region
        return {**arguments, **self._key(endpoint)}

    def _headers(self, endpoint: ModelEndpoint, arguments: Mapping[str, Any]) -> dict[str, str]:
        """Headers of the user, and of one endpoint."""
        secret = {name: value.get_secret_value() for name, value in endpoint.headers}
        return {**(arguments.get("extra_headers") or {}), **secret}

    def _key(self, endpoint: ModelEndpoint) -> dict[str, str | None]:
        """Litellm's argument for the key. With None litellm reads the provider's usual variables."""
        if endpoint.api_key is None:
            return {"api_key": NO_KEY if endpoint.url and missing_key(self._target.litellm_id) else None}
        key = endpoint.api_key.get_secret_value()
        if self._target.litellm_id.startswith(VERTEX):
            return {"vertex_credentials": key}  # a service account's JSON: Google's cloud has no plain API key
        return {"api_key": key}

    def _reply(self, answer: Answer, raw: RawAnswer, tools: Sequence[Message]) -> Reply:
        model, message = self._target.model, answer.message
        requests = tool_requests(message.get("tool_calls") or [])
        if requests:
            message["tool_calls"] = [_history_call(request) for request in requests]
        text = text_of(message["content"])
        finish = finish_of(raw.finish_reasons or [answer.finish_reason], message, refused=bool(answer.refusal))
        self._retrier.has_called |= bool(requests)
        if finish is FinishReason.STOP and tools and has_call_in_text(text, tools):
            finish = FinishReason.CALL_IN_TEXT
        counted = counts_tokens(raw.fields)
        return Reply(
            message=message,
            text=text,
            requests=requests,
            usage=answer.usage,
            cost_usd=reply_cost(answer.stated_usage, model.model, answer.usage, model.prices, counted=counted),
            finish=finish,
            rate_limit_headers={name: value for name, value in answer.headers.items() if "ratelimit" in name},
            provenance=answer.provenance,
        )

    def _unsent(self, error: Exception, endpoint: ModelEndpoint) -> ModelFailure:
        """The failure of a request that no server answered."""
        if isinstance(error, httpx.HTTPError | httpx.InvalidURL):
            return unanswered(self._target.model, endpoint, error)
        reported = scrub(str(error), self._target.model.secrets)
        message = f"model {self._target.model.name}: {ENDPOINT_SAYS}{reported}"
        litellm = load_litellm() if is_loaded() else None
        if litellm and isinstance(error, litellm.UnsupportedParamsError):
            return ModelFailure(InfraReason.MODEL_REFUSED_REQUEST, f"{message} {_UNKNOWN_PARAMETER}", transient=False)
        unreached = (httpx.TransportError, OSError, *((litellm.Timeout,) if litellm else ()))
        if any(isinstance(cause, unreached) for cause in _chain(error)):
            return ModelFailure(InfraReason.MODEL_UNAVAILABLE, message, transient=True)
        if litellm and isinstance(error, litellm.AuthenticationError):
            return ModelFailure(InfraReason.MODEL_AUTH, message, transient=False)
        if litellm and isinstance(error, litellm.BadRequestError | litellm.NotFoundError):  # of litellm's own checks
            return ModelFailure(InfraReason.MODEL_REFUSED_REQUEST, message, transient=False)
        return ModelFailure(InfraReason.RUNNER_ERROR, f"{message} - The request could not be sent.", transient=False)


_REFUSED_OUTPUT = Reply(
    message={"role": "assistant", "content": None},
    text="",
    requests=(),
    usage=NO_USAGE,
    cost_usd=0.0,
    finish=FinishReason.MALFORMED,
)
"""The reply that a server answered with an error about what its model wrote; servers count no tokens of it."""
_ONE_TOKEN = {"max_tokens": 1}
_OTHER_LIMITS = (
    "max_completion_tokens",
    "max_output_tokens",
    "n",
    "response_format",
    "tool_choice",
    "parallel_tool_calls",
)
"""Parameters that a request for one token without tools cannot have."""


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An exception and those behind it."""
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__ or cause.__context__


def _written_in(messages: Sequence[Message]) -> str:
    """All words of a conversation, which an error may quote."""
    return "\n".join(json.dumps(message, ensure_ascii=False, default=str) for message in messages)


def _replacing(first: Reply, second: Reply) -> Reply:
    """The second reply, with the usage and cost of both."""
    cost = added_cost(first.cost_usd, second.cost_usd)
    return replace(second, usage=first.usage + second.usage, cost_usd=cost, replaced=first.finish)


def tool_requests(calls: Sequence[Mapping[str, Any]]) -> tuple[ToolRequest, ...]:
    """The tool calls of a reply, each with an id of its own.

    Args:
        calls: The calls in OpenAI's format, possibly malformed.
    """
    requests: list[ToolRequest] = []
    taken: set[str] = set()
    for number, call in enumerate(calls):
        request = _tool_request(call, str(call.get("id") or f"call_{number}"))
        while request.id in taken:
            request = replace(request, id=f"{request.id}_{number}")
        taken.add(request.id)
        requests.append(request)
    return tuple(requests)


def _tool_request(call: Mapping[str, Any], call_id: str) -> ToolRequest:
    function = call.get("function") or {}
    name = str(function.get("name") or "")
    if not name:
        return ToolRequest(call_id, "unnamed", {}, "the tool call has no tool name", _written(function))
    raw = function.get("arguments")
    if raw is None or raw == "":
        return ToolRequest(call_id, name, {})
    if isinstance(raw, str):
        try:
            raw = read_json(raw, strict=False)
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
