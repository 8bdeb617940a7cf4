"""Streamed answers: the same replies as whole answers, a timeout of silence, and streams that break."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import Any

import pytest
from tests.providers.conftest import TOOL
from tests.providers.streams import RefusingStub, StreamStub, events_of
from tests.providers.stubs import ANSWER, ARGUMENTS, Stub, anthropic_messages, openai_chat, openai_responses
from tests.providers.test_errors import AZURE, CONVERSATION, ask, client_of
from tests.providers.test_replies import CLAUDE, ENDS, GPT, ROUTER, chat

from opsgym_api.kinds.evalmodel import ModelSpec, Streaming
from opsgym_api.kinds.evalrun import Agent
from opsgym_api.records.attempt import Usage
from opsgym_api.records.outcomes import FailReason, FinishReason, InfraReason
from opsgym_runner.errors import AgentFailed
from opsgym_runner.job import ModelEndpoint, ResolvedModel
from opsgym_runner.models.client import LostReplies, Reply
from opsgym_runner.models.registry import target_of
from opsgym_runner.models.retry import ModelFailure
from opsgym_runner.models.streaming import is_streamed

pytestmark = pytest.mark.anyio

DETAILS = [
    {"type": "reasoning.text", "text": "Two numbers.\u2028", "signature": "c2ln", "format": "anthropic", "index": 0},
    {"type": "reasoning.encrypted", "data": "b3BhcXVl", "id": "r1", "format": "google-gemini-v1", "index": 0},
    {"type": "reasoning.encrypted", "data": "c2Vjb25k", "id": "r2", "format": "google-gemini-v1", "index": 0},
]
STREAMED: dict[str, tuple[str, str, tuple[dict[str, Any], ...], dict[str, Any]]] = {
    "OpenAI": (GPT, "/v1", openai_chat(), {}),
    "OpenAI Responses": ("openai/responses/gpt-5", "/v1", openai_responses(), {}),
    "Azure": ("azure/gpt-4.1", "", openai_chat(), AZURE),
    "Anthropic": (CLAUDE, "", anthropic_messages(), {"thinking": {"type": "enabled", "budget_tokens": 2048}}),
    "vLLM": ("hosted_vllm/qwen3", "/v1", openai_chat(reasoning="Two numbers."), {}),
    "OpenRouter": (ROUTER, "/v1", openai_chat(reasoning="Two numbers.", reasoning_details=DETAILS), {}),
    "DeepSeek": ("deepseek/deepseek-chat", "", openai_chat(reasoning_content="Two numbers."), {}),
    "DashScope": ("dashscope/qwen-plus", "/v1", openai_chat(), {}),
}
"""litellm id, what the URL ends with, replies and parameters, by provider."""
HEADERS = (("x-request-id", "req_7"), ("x-ratelimit-remaining-tokens", "90000"))


async def both(model: str, base: str, body: dict[str, Any], **parameters: Any) -> tuple[Reply, Reply]:
    """The reply to the same request from a whole answer and from a stream."""
    whole, streamed = Stub((body,)), StreamStub((body,))
    replies = (
        await ask(whole, model, base, stream="never", **parameters),
        await ask(streamed, model, base, stream="always", **parameters),
    )
    assert [bool(seen.body.get("stream")) for seen in (whole.seen[0], streamed.seen[0])] == [False, True]
    return replies


def comparable(reply: Reply) -> Reply:
    """A reply without ids that litellm draws by chance, and with one spelling of no content."""
    message = {**reply.message, "content": reply.message["content"] or None}
    return replace(reply, message=message, provenance=replace(reply.provenance, request_id=""))


@pytest.mark.parametrize("number", [0, 1], ids=["two calls", "words"])
@pytest.mark.parametrize("case", STREAMED)
async def test_a_streamed_reply_is_that_of_the_whole_answer(case: str, number: int) -> None:
    model, base, bodies, parameters = STREAMED[case]

    whole, streamed = await both(model, base, bodies[number], **parameters)

    assert comparable(streamed) == comparable(whole)
    expected = ("", ARGUMENTS) if number == 0 else (ANSWER, ())
    assert (streamed.text, tuple(call.arguments for call in streamed.requests)) == expected


@pytest.mark.parametrize("case", [case for case, end in ENDS.items() if end[0] in (GPT, CLAUDE, ROUTER)])
async def test_a_streamed_reply_ends_as_the_whole_answer_does(case: str) -> None:
    model, body, finish, _ = ENDS[case]

    whole, streamed = await both(model, "" if model == CLAUDE else "/v1", body)

    assert comparable(streamed) == comparable(whole)
    assert streamed.finish is finish


async def test_a_streamed_reply_has_the_cost_the_request_id_and_the_rate_limits_of_its_answer() -> None:
    stub = StreamStub((chat("stop", 0.0123, content="Done."),), headers=HEADERS)

    reply = await ask(stub, ROUTER, "/v1", stream="always")

    assert (reply.cost_usd, reply.provenance.request_id) == (0.0123, "req_7")
    assert reply.rate_limit_headers["x-ratelimit-remaining-tokens"] == "90000"
    assert stub.seen[0].body["stream_options"] == {"include_usage": True}


SHAPES = ("OpenAI", "Anthropic", "OpenAI Responses")


@pytest.mark.parametrize("case", SHAPES)
async def test_a_stream_that_takes_longer_than_the_timeout_in_all_is_no_timeout(case: str) -> None:
    model, base, bodies, parameters = STREAMED[case]
    stub, started = StreamStub(bodies, pause_s=0.3), time.monotonic()

    reply = await ask(stub, model, base, stream="always", **{**parameters, "timeout": 1.3})

    assert (len(reply.requests), len(stub.seen)) == (2, 1)
    assert time.monotonic() - started > 1.3


@pytest.mark.parametrize("case", SHAPES)
async def test_a_stream_that_falls_silent_times_out_and_is_requested_again(case: str) -> None:
    model, base, (_, answer), parameters = STREAMED[case]
    stub = StreamStub((answer,), stop_after=2, then="silence")

    async with client_of(stub, model, base, "always", **{**parameters, "timeout": 0.5}) as client:
        reply = await client.complete(CONVERSATION, [TOOL])

        assert (reply.text, len(stub.seen), client.statistics.retries) == (ANSWER, 2, 1)


@pytest.mark.parametrize("case", STREAMED)
async def test_a_stream_that_is_cut_is_a_broken_connection_and_requested_again(case: str) -> None:
    model, base, (_, answer), parameters = STREAMED[case]
    stub = StreamStub((answer,), stop_after=2)

    async with client_of(stub, model, base, "always", **parameters) as client:
        reply = await client.complete(CONVERSATION, [TOOL])

        assert (reply.text, len(stub.seen), client.statistics.retries) == (ANSWER, 2, 1)
        assert client.take_lost() == LostReplies()


@pytest.mark.parametrize("case", STREAMED)
async def test_a_stream_with_an_unreadable_event_is_an_unreadable_answer_with_its_usage(case: str) -> None:
    model, base, (_, answer), parameters = STREAMED[case]
    stub = StreamStub((answer,), stop_after=1, then="broken")

    async with client_of(stub, model, base, "always", **parameters) as client:
        reply = await client.complete(CONVERSATION, [TOOL])
        lost = client.take_lost()

    assert (reply.text, len(stub.seen), lost.unreadable) == (ANSWER, 2, 1)
    assert (lost.usage.prompt_tokens, lost.usage.completion_tokens) == (1000, 100)


def error(**fields: Any) -> str:
    """An event that reports an error."""
    return f"data: {json.dumps(fields)}\n\n"


ERRORS: dict[str, tuple[str, str, str, InfraReason | FailReason]] = {
    "OpenAI, overloaded": (GPT, "/v1", error(error={"message": "The server had an error", "type": "server_error"}),
        InfraReason.MODEL_UNAVAILABLE),
    "OpenAI, quota": (GPT, "/v1", error(error={"message": "No quota", "type": "insufficient_quota",
        "code": "insufficient_quota"}), InfraReason.MODEL_QUOTA),
    "OpenAI Responses, overflow": ("openai/responses/gpt-5", "/v1", error(type="error", code="context_length_exceeded",
        message="Your input exceeds the context window of this model.", param="input"), FailReason.CONTEXT_OVERFLOW),
    "Anthropic, overloaded": (CLAUDE, "", error(type="error", error={"type": "overloaded_error",
        "message": "Overloaded"}), InfraReason.MODEL_UNAVAILABLE),
    "Anthropic, rate limit": (CLAUDE, "", error(type="error", error={"type": "rate_limit_error", "message": "Slow"}),
        InfraReason.MODEL_RATE_LIMITED),
    "OpenRouter, upstream": (ROUTER, "/v1", error(error={"code": 502, "message": "Upstream failed"}, choices=[
        {"index": 0, "delta": {"content": ""}, "finish_reason": "error"}]), InfraReason.MODEL_UNAVAILABLE),
}  # fmt: skip
"""litellm id, what the URL ends with, the event, and what it means, by case."""


@pytest.mark.parametrize("case", ERRORS)
async def test_an_error_in_a_stream_means_what_the_same_error_answer_means(case: str) -> None:
    model, base, event, reason = ERRORS[case]
    stub = StreamStub(([": keep-alive\n\n", event],))

    with pytest.raises((ModelFailure, AgentFailed)) as failed:
        await ask(stub, model, base, stream="always")

    assert getattr(failed.value, "reason", None) is reason


async def test_a_provider_that_refuses_to_stream_is_asked_for_a_whole_answer() -> None:
    stub = RefusingStub(openai_chat()[1:])

    reply = await ask(stub, GPT, "/v1", stream="always")

    assert (reply.text, len(stub.seen)) == (ANSWER, 1)


async def test_a_server_that_answers_whole_where_a_stream_is_asked_for_is_read_whole() -> None:
    stub = Stub(openai_chat()[1:])

    reply = await ask(stub, GPT, "/v1", stream="always")

    assert (reply.text, stub.seen[0].body["stream"]) == (ANSWER, True)


async def test_a_call_that_the_stream_leaves_unfinished_is_malformed_and_not_empty() -> None:
    first, _ = anthropic_messages()
    body = {**first, "content": [first["content"][1]], "stop_reason": "max_tokens"}
    cut = [event for event in events_of("/v1/messages", body) if "INC1" not in event]

    reply = await ask(StreamStub((cut,)), CLAUDE, stream="always")

    assert reply.finish is FinishReason.LENGTH
    assert [call.problem for call in reply.requests] == ["the arguments must be a JSON object, not str"]


async def test_tokens_that_a_stream_does_not_state_are_at_unknown_cost() -> None:
    body = {**openai_chat()[1], "usage": None}

    reply = await ask(StreamStub((body,)), GPT, "/v1", stream="always")

    assert (reply.usage, reply.cost_usd) == (Usage(model_calls=1), None)


@pytest.mark.parametrize(
    ("model", "url", "stream", "expected"),
    [
        ("openai/gpt-5", None, "auto", True),
        ("openai/gpt-5", "https://eu.api.openai.com/v1", "auto", True),
        ("openai/gpt-5", "https://models.example/v1", "auto", False),
        ("openai/gpt-5", "https://notopenai.com/v1", "auto", False),
        ("openai/gpt-5", None, "never", False),
        ("azure/gpt-5", "https://east.openai.azure.com", "auto", True),
        ("hosted_vllm/qwen3", "http://vllm/v1", "auto", False),
        ("hosted_vllm/qwen3", "http://vllm/v1", "always", True),
        ("gemini/gemini-2.5-pro", None, "auto", False),
    ],
)
def test_only_providers_own_addresses_are_streamed_unless_the_model_says_so(
    model: str, url: str | None, stream: Streaming, expected: bool
) -> None:
    assert is_streamed(model, [ModelEndpoint(url)], stream) is expected


def test_the_published_profile_never_streams() -> None:
    model = ResolvedModel("m", "openai/gpt-5", stream="always")

    streamed = [target_of(model, "", Agent(name="a", profile=profile)).streamed for profile in ("opsgym", "published")]

    assert streamed == [True, False]


def test_a_provider_whose_streams_are_not_read_cannot_be_told_to_stream() -> None:
    with pytest.raises(ValueError, match="stream: always is not supported for gemini/"):
        ModelSpec(model="gemini/gemini-2.5-pro", stream="always")
