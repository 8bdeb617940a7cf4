"""Sends one request of an agent that is not ours, and books its answer from a copy; see `forward`."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import partial

import httpx

from opsgym_api.records.outcomes import ConfigReason, InfraReason
from opsgym_core.common.scrub import known_secrets, mask, scrub
from opsgym_core.store.sealed import ENDPOINT_SAYS
from opsgym_runner.agent_clock import AgentClock
from opsgym_runner.clock import Clock
from opsgym_runner.errors import config_error
from opsgym_runner.job import ModelEndpoint
from opsgym_runner.models.client import (
    LostReplies,
    ModelClient,
    Reply,
    Requester,
    Target,
    tool_requests,
)
from opsgym_runner.models.forward import (
    READ_HEADERS,
    SENT_HEADERS,
    SHAPES,
    AgentRequest,
    AnswerSink,
    EventReader,
    Provider,
    data_of,
    only_states_usage,
    provider_of,
    reply_in,
    unforwardable,
)
from opsgym_runner.models.prices import counts_tokens, reply_cost, usage_in
from opsgym_runner.models.provider_errors import ProviderError, Subject, read_error, subject_of
from opsgym_runner.models.raw_answers import RawAnswer
from opsgym_runner.models.replies import text_of
from opsgym_runner.models.retry import ModelFailure
from opsgym_runner.models.retry_hints import retry_after_s
from opsgym_runner.models.sending import Connections, posting, unanswered

_ACCOUNT = {
    Subject.KEY: InfraReason.MODEL_AUTH,
    Subject.QUOTA: InfraReason.MODEL_QUOTA,
    Subject.ADDRESS: InfraReason.MODEL_NOT_FOUND,
}
_CERTAIN = (401, 402)
"""HTTP statuses that say themselves that the error is the account's."""
_LATER = {
    Subject.RATE_LIMIT: InfraReason.MODEL_RATE_LIMITED,
    Subject.UNAVAILABLE: InfraReason.MODEL_UNAVAILABLE,
}


class RefusedRequestError(Exception):
    """The request cannot be sent on; the message says why to the agent."""


@dataclass
class _Answer:
    """What arrived of one answer."""

    begun: bool = False
    """Whether the agent has read any of it: it is then not requested again."""


class Forwarder(Requester):
    """Sends one request.

    Args:
        client: Client of the agent's model.
        connections: Connections to model servers.
        clock: Source of time.
    """

    def __init__(self, client: ModelClient, connections: Connections, clock: Clock) -> None:
        super().__init__(client.fresh_retrier(), clock)
        self._target: Target = client.target
        self._connections = connections

    async def send(self, request: AgentRequest, sink: AnswerSink, agent: AgentClock) -> Reply | None:
        """Sends the request and hands its answer on.

        Returns:
            What the model said; None if the provider refused the request, or its answer broke off, which the agent
            has read.

        Raises:
            RefusedRequestError: The model's provider does not take the protocol.
            NotScored: It takes none of an agent's protocols.
            ModelFailure: The model cannot be reached.
        """
        provider = provider_of(self._target.litellm_id, os.environ)
        if provider is None:
            problem = unforwardable(self._target.litellm_id, os.environ) or ""
            raise config_error(ConfigReason.UNSUPPORTED, problem)
        return await self._retrier.call(partial(self._sent, request, sink, provider, _Answer()), agent=agent)

    async def _sent(
        self, request: AgentRequest, sink: AnswerSink, provider: Provider, answer: _Answer, endpoint: ModelEndpoint
    ) -> Reply | None:
        if not provider.takes(request.wire, endpoint.url):
            other = "/v1/messages" if provider.anthropic else "/v1/chat/completions or /v1/responses"
            raise RefusedRequestError(f"the provider of model {self._target.model.name} is asked at {other}")
        try:
            async with posting(
                self._connections,
                provider.address(request.wire, endpoint.url) + (f"?{request.query}" if request.query else ""),
                request.for_provider(provider.model).encode(),
                self._headers(request, provider, endpoint),
            ) as response:
                return await self._answered(request, response, sink, answer, endpoint)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            if answer.begun:
                return None
            raise unanswered(self._target.model, endpoint, error) from None

    def _headers(self, request: AgentRequest, provider: Provider, endpoint: ModelEndpoint) -> dict[str, str]:
        key = endpoint.api_key.get_secret_value() if endpoint.api_key else None
        return {
            **{name: request.headers[name] for name in SENT_HEADERS if name in request.headers},
            "content-type": "application/json",  # whatever the agent says
            "accept-encoding": "identity",
            **self._target.headers,
            **provider.authorisation(key),
            **{name: value.get_secret_value() for name, value in endpoint.headers},
        }

    async def _answered(
        self,
        request: AgentRequest,
        response: httpx.Response,
        sink: AnswerSink,
        answer: _Answer,
        endpoint: ModelEndpoint,
    ) -> Reply | None:
        raw = RawAnswer()
        if response.is_error:
            content = await response.aread()
            raw.read(response, content)
            self._require_agents_fault(raw, request, endpoint)
            content = mask(raw.text, known_secrets(self._target.model.secrets)).encode()
            answer.begun = True
            self._begin(response, sink)
            sink.write(content)
            return None
        if response.headers.get("content-type", "").startswith("text/event-stream"):
            return await self._streamed(request, response, sink, answer)
        content = await response.aread()
        raw.read(response, content)
        if raw.error is not None:
            self._require_agents_fault(raw, request, endpoint)
        answer.begun = True
        self._begin(response, sink)
        sink.write(content)
        if raw.error is not None or not raw.has_reply:
            return None
        return self._reply(request, raw)

    async def _streamed(
        self, request: AgentRequest, response: httpx.Response, sink: AnswerSink, answer: _Answer
    ) -> Reply | None:
        """Hands a stream on, event by event; an event that only we asked for stays here."""
        copy, events = SHAPES[request.wire](), EventReader()
        ended = False
        try:
            async for content in response.aiter_bytes():
                for event, data in events.read(content):
                    if data:
                        copy.read(data)
                    if not answer.begun:
                        answer.begun = True
                        self._begin(response, sink)
                    if request.asks_for_usage or not only_states_usage(data):
                        sink.write(event)
            if events.rest:
                if data := data_of(events.rest):
                    copy.read(data)
                sink.write(events.rest)
            ended = True
        finally:
            status, body = copy.whole()
            raw = RawAnswer()
            raw.read(httpx.Response(status, headers=response.headers), json.dumps(body).encode())
            if not (ended and copy.complete) and answer.begun and raw.error is None:
                usage = usage_in(raw.fields)
                free = reply_cost(None, "", usage, self._target.model.prices, counted=False)
                self._lost += LostReplies(usage, free, unreadable=1)
        return self._reply(request, raw) if copy.complete and raw.error is None else None

    def _require_agents_fault(self, raw: RawAnswer, request: AgentRequest, endpoint: ModelEndpoint) -> None:
        """Checks that an error is about what the agent wrote, which it may read and correct.

        After an answered request only a status of its own blames the account (`refusals`).

        Raises:
            ModelFailure: It is about the account, the address, or a server that has no answer now.
        """
        error: ProviderError = read_error(raw.status, raw.headers, raw.error, request.text)
        subject = subject_of(error)
        shown = scrub(raw.text or "no body", self._target.model.secrets)
        message = f"model {self._target.model.name}: HTTP {raw.status}; {ENDPOINT_SAYS}{shown}"
        if subject in _LATER:
            after = retry_after_s(error, self._clock.now())
            raise ModelFailure(_LATER[subject], message, transient=True, retry_after_s=after)
        known = self._retrier.has_answered(endpoint) and error.status not in _CERTAIN
        if subject in _ACCOUNT and not known:
            raise ModelFailure(_ACCOUNT[subject], message, transient=False)

    def _begin(self, response: httpx.Response, sink: AnswerSink) -> None:
        headers = {name: response.headers[name] for name in READ_HEADERS if name in response.headers}
        sink.begin(response.status_code, headers)

    def _reply(self, request: AgentRequest, raw: RawAnswer) -> Reply:
        content, model, usage = reply_in(request.wire, raw), self._target.model, usage_in(raw.fields)
        counted = counts_tokens(raw.fields)
        return Reply(
            message=content.message,
            text=text_of(content.message.get("content")),
            requests=tool_requests(content.calls),
            usage=usage,
            cost_usd=reply_cost(raw.fields.get("usage"), model.model, usage, model.prices, counted=counted),
            finish=content.finish,
            provenance=content.provenance,
        )
