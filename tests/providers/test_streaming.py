"""Streamed answers: the same replies as whole answers, a timeout of silence, and streams that break."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace
from typing import Any

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from tests.providers.conftest import KEY, TOOL, Talk
from tests.providers.streams import (
    RefusingStub,
    StreamStub,
    asks_for_a_stream,
    bedrock_events,
    events_of,
    frame,
    frames_of,
)
from tests.providers.stubs import (
    ANSWER,
    ARGUMENTS,
    Seen,
    Stub,
    anthropic_messages,
    bedrock_converse,
    gemini_generate,
    openai_chat,
    openai_responses,
)
from tests.providers.test_errors import AZURE, BEDROCK, CONVERSATION, REGION, ask, client_of
from tests.providers.test_providers import require_gemini_conversation, service_account
from tests.providers.test_replies import CLAUDE, ENDS, GEMINI, GPT, ROUTER, chat

from opsgym_api.kinds.evalmodel import ModelSpec, Streaming
from opsgym_api.kinds.evalrun import Agent
from opsgym_api.records.attempt import Usage
from opsgym_api.records.outcomes import FailReason, FinishReason, InfraReason
from opsgym_runner.clients import target_of
from opsgym_runner.errors import AgentFailed
from opsgym_runner.job import ModelEndpoint, ResolvedModel
from opsgym_runner.models.client import LostReplies, Reply
from opsgym_runner.models.cloud_stream_shapes import FrameError, FrameReader
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
    "Gemini": (GEMINI, "/v1beta", gemini_generate(), {}),
    "Bedrock": (BEDROCK, "", bedrock_converse(), REGION),
}
"""litellm id, what the URL ends with, replies and parameters, by provider."""
WITH_ENDS: dict[str, tuple[str, dict[str, Any]]] = {
    GPT: ("/v1", {}),
    CLAUDE: ("", {}),
    ROUTER: ("/v1", {}),
    GEMINI: ("/v1beta", {}),
    BEDROCK: ("", REGION),
}
"""What the URL ends with, and parameters, by the litellm ids whose ends of replies are streamed."""
HEADERS = (("x-request-id", "req_7"), ("x-ratelimit-remaining-tokens", "90000"))


async def both(model: str, base: str, body: dict[str, Any], **parameters: Any) -> tuple[Reply, Reply]:
    """The reply to the same request from a whole answer and from a stream."""
    whole, streamed = Stub((body,)), StreamStub((body,))
    replies = (
        await ask(whole, model, base, stream="never", **parameters),
        await ask(streamed, model, base, stream="always", **parameters),
    )
    assert [asks_for_a_stream(seen) for seen in (whole.seen[0], streamed.seen[0])] == [False, True]
    return replies


DRAWN = re.compile(r"call_[0-9a-f]{20,}")
"""Id of a call that litellm draws, since Gemini gives it none."""


def comparable(reply: Reply) -> Reply:
    """A reply without ids that litellm draws by chance, and with one spelling of no content."""
    message = json.loads(DRAWN.sub("call", json.dumps({**reply.message, "content": reply.message["content"] or None})))
    requests = tuple(replace(request, id=DRAWN.sub("call", request.id)) for request in reply.requests)
    return replace(reply, message=message, requests=requests, provenance=replace(reply.provenance, request_id=""))


@pytest.mark.parametrize("number", [0, 1], ids=["two calls", "words"])
@pytest.mark.parametrize("case", STREAMED)
async def test_a_streamed_reply_is_that_of_the_whole_answer(case: str, number: int) -> None:
    model, base, bodies, parameters = STREAMED[case]

    whole, streamed = await both(model, base, bodies[number], **parameters)

    assert comparable(streamed) == comparable(whole)
    expected = ("", ARGUMENTS) if number == 0 else (ANSWER, ())
    assert (streamed.text, tuple(call.arguments for call in streamed.requests)) == expected


@pytest.mark.parametrize("case", [case for case, end in ENDS.items() if end[0] in WITH_ENDS])
async def test_a_streamed_reply_ends_as_the_whole_answer_does(case: str) -> None:
    model, body, finish, _ = ENDS[case]

    base, parameters = WITH_ENDS[model]
    whole, streamed = await both(model, base, body, **parameters)

    assert comparable(streamed) == comparable(whole)
    assert streamed.finish is finish


async def test_a_streamed_reply_has_the_cost_the_request_id_and_the_rate_limits_of_its_answer() -> None:
    stub = StreamStub((chat("stop", 0.0123, content="Done."),), headers=HEADERS)

    reply = await ask(stub, ROUTER, "/v1", stream="always")

    assert (reply.cost_usd, reply.provenance.request_id) == (0.0123, "req_7")
    assert reply.rate_limit_headers["x-ratelimit-remaining-tokens"] == "90000"
    assert stub.seen[0].body["stream_options"] == {"include_usage": True}


SHAPES = ("OpenAI", "Anthropic", "OpenAI Responses", "Gemini", "Bedrock")


@pytest.mark.parametrize("case", SHAPES)
async def test_a_stream_that_takes_longer_than_the_timeout_in_all_is_no_timeout(case: str) -> None:
    model, base, bodies, parameters = STREAMED[case]
    # Gemini's first reply has three events, those of the others have six or more.
    stub, started = StreamStub(bodies, pause_s=0.6 if case == "Gemini" else 0.3), time.monotonic()

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


async def test_streams_of_vertex_ai_are_those_of_gemini(talk: Talk) -> None:
    stub = StreamStub(gemini_generate())
    with stub.serving() as url:
        key = json.dumps(service_account(f"{url}/token"))
        project = {"vertex_project": "acme", "vertex_location": "global"}
        await talk("vertex_ai/gemini-2.5-pro", url, key=key, stream="always", reasoning_effort="low", **project)

    assert all(seen.path.endswith("/models/gemini-2.5-pro:streamGenerateContent") for seen in stub.seen)
    assert all(asks_for_a_stream(seen) for seen in stub.seen)
    require_gemini_conversation(stub.seen[1])


async def test_a_streamed_request_to_bedrock_is_signed_for_the_path_that_it_is_sent_to(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIA0TEST")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEY)
    stub = StreamStub(bedrock_converse())
    with stub.serving() as url:
        thinking = {"type": "enabled", "budget_tokens": 2048}
        await talk(BEDROCK, url, key=None, stream="always", thinking=thinking, max_tokens=8192, **REGION)

    for seen in stub.seen:
        assert seen.path.endswith("/converse-stream")
        assert seen.headers["authorization"].endswith(f"Signature={aws_signature(seen)}")
    _, thought, _ = stub.seen[1].body["messages"]
    words = {"text": "Two numbers.", "signature": "c2lnbmVk"}
    assert thought["content"][0]["reasoningContent"]["reasoningText"] == words


def aws_signature(seen: Seen) -> str:
    """Signature of a request by AWS's own library."""
    signed = AWSRequest("POST", f"http://{seen.headers['host']}{seen.path}", data=seen.raw)
    signed.headers["Content-Type"] = seen.headers["content-type"]
    signed.headers["X-Amz-Date"] = signed.context["timestamp"] = seen.headers["x-amz-date"]
    signer = SigV4Auth(Credentials("AKIA0TEST", KEY), "bedrock", "us-west-2")
    return signer.signature(signer.string_to_sign(signed, signer.canonical_request(signed)), signed)


async def test_a_stream_of_bedrock_with_a_damaged_event_is_a_broken_connection() -> None:
    _, answer = bedrock_converse()
    whole = frames_of(answer)
    damaged = [*whole[:2], whole[2][:-1] + b"?", *whole[3:]]
    stub = StreamStub((damaged, answer))

    async with client_of(stub, BEDROCK, stream="always", **REGION) as client:
        reply = await client.complete(CONVERSATION, [TOOL])

        assert (reply.text, len(stub.seen), client.take_lost()) == (ANSWER, 2, LostReplies())


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_frames_are_read_whatever_the_pieces_that_they_arrive_in(size: int) -> None:
    sent = b"".join(frames_of(bedrock_converse()[0]))
    reader = FrameReader()

    read = [data for start in range(0, len(sent), size) for data in reader.read(sent[start : start + size])]

    assert [json.loads(data) for data in read] == [{kind: body} for kind, body in bedrock_events(bedrock_converse()[0])]


@pytest.mark.parametrize("content", [b"\0" * 16, frame("{}", "x")[:-4] + b"\0\0\0\0", b"<html>" * 10])
def test_bytes_that_are_no_frames_are_refused(content: bytes) -> None:
    with pytest.raises(FrameError):
        list(FrameReader().read(content))


def error(**fields: Any) -> str:
    """An event that reports an error."""
    return f"data: {json.dumps(fields)}\n\n"


ERRORS: dict[str, tuple[str, str, str | bytes, InfraReason | FailReason]] = {
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
    "Gemini, overloaded": (GEMINI, "/v1beta", error(error={"code": 503, "message": "The model is overloaded.",
        "status": "UNAVAILABLE"}), InfraReason.MODEL_UNAVAILABLE),
    "Gemini, rate limit": (GEMINI, "/v1beta", error(error={"code": 429, "message": "Resource exhausted.",
        "status": "RESOURCE_EXHAUSTED"}), InfraReason.MODEL_RATE_LIMITED),
    "Bedrock, rate limit": (BEDROCK, "", frame('{"message": "Too many requests"}', "throttlingException", "exception"),
        InfraReason.MODEL_RATE_LIMITED),
    "Bedrock, stream error": (BEDROCK, "", frame('{"message": "x"}', "modelStreamErrorException", "exception"),
        InfraReason.MODEL_UNAVAILABLE),
    "Bedrock, overflow": (BEDROCK, "", frame('{"message": "Input is too long for requested model."}',
        "validationException", "exception"), FailReason.CONTEXT_OVERFLOW),
}  # fmt: skip
"""litellm id, what the URL ends with, the event, and what it means, by case."""


@pytest.mark.parametrize("case", ERRORS)
async def test_an_error_in_a_stream_means_what_the_same_error_answer_means(case: str) -> None:
    model, base, event, reason = ERRORS[case]
    stub = StreamStub(([event] if isinstance(event, bytes) else [": keep-alive\n\n", event],))

    with pytest.raises((ModelFailure, AgentFailed)) as failed:
        await ask(stub, model, base, stream="always", **WITH_ENDS.get(model, ("", {}))[1])

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
        ("gemini/gemini-2.5-pro", None, "auto", True),
        ("vertex_ai/gemini-2.5-pro", None, "auto", True),
        ("gemini/gemini-2.5-pro", "https://gateway.example", "auto", False),
        (BEDROCK, None, "auto", False),
        (BEDROCK, None, "always", True),
        ("replay/gold", None, "auto", False),
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


def test_replayed_models_cannot_be_told_to_stream() -> None:
    with pytest.raises(ValueError, match="stream: always is not supported for replay/"):
        ModelSpec(model="replay/gold", stream="always")
