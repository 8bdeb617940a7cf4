"""What a provider's refusal means: every wording of a context overflow, of a used-up quota and of a filter."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from pydantic import SecretStr
from tests.providers.conftest import ASKED, KEY, TOOL
from tests.providers.stubs import Stub
from tests.runner.jobs import NO_JITTER, FakeTime, make_job

from opsgym_api.kinds.evalmodel import Prices, Streaming
from opsgym_api.records.outcomes import FailReason, InfraReason
from opsgym_runner.clients import ModelRegistry
from opsgym_runner.errors import AgentFailed
from opsgym_runner.job import ModelEndpoint, ResolvedModel
from opsgym_runner.models.client import ModelClient, Reply
from opsgym_runner.models.retry import ModelFailure

pytestmark = pytest.mark.anyio

AZURE: dict[str, Any] = {"api_version": "2025-04-01-preview"}
BEDROCK = "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0"
REGION: dict[str, Any] = {"aws_region_name": "us-west-2"}
PRICES = Prices(input_usd=1, output_usd=10)
CONVERSATION = [{"role": "user", "content": ASKED}]


async def ask(stub: Stub, model: str, base: str = "", stream: Streaming = "auto", **parameters: Any) -> Reply:
    """One request to a stub through the runner's own client."""
    async with client_of(stub, model, base, stream, **parameters) as client:
        return await client.complete(CONVERSATION, [TOOL], math.inf)


@asynccontextmanager
async def client_of(
    stub: Stub, model: str, base: str = "", stream: Streaming = "auto", **parameters: Any
) -> AsyncIterator[ModelClient]:
    """A client of a stub."""
    clients = ModelRegistry(NO_JITTER, FakeTime().clock)
    try:
        with stub.serving() as url:
            endpoint = ModelEndpoint(url + base, SecretStr(KEY))
            resolved = ResolvedModel("m", model, (endpoint,), {"timeout": 20, **parameters}, stream, prices=PRICES)
            async with clients.client_of(resolved, make_job("http://gym")) as client:
                yield client
    finally:
        await clients.close()


def openai(message: str, **fields: Any) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", **fields}}


def anthropic(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}}


OVERFLOWS: dict[str, tuple[str, str, int, dict[str, Any], dict[str, Any]]] = {
    "OpenAI": ("openai/gpt-5", "/v1", 400, openai(
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
        code="context_length_exceeded", param="messages"), {}),
    "OpenAI by code alone": ("openai/gpt-5", "/v1", 400, openai("Too much.", code="context_length_exceeded"), {}),
    "OpenAI Responses": ("openai/responses/gpt-5", "/v1", 400, openai(
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        code="context_length_exceeded", param="input"), {}),
    "Azure": ("azure/gpt-5", "", 400, openai(
        "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens. "
        "Please reduce the length of the messages.", code="context_length_exceeded", param="messages"), AZURE),
    "OpenRouter": ("openrouter/qwen/qwen3-30b-a3b", "/api/v1", 400, {"error": {
        "message": "This endpoint's maximum context length is 131072 tokens. However, you requested about 140000.",
        "code": 400, "metadata": {"provider_name": None}}}, {}),
    "vLLM before 0.14": ("hosted_vllm/q", "/v1", 400, {"object": "error", "type": "BadRequestError", "code": 400,
        "message": "This model's maximum context length is 32768 tokens. However, you requested 40000 tokens."}, {}),
    "vLLM from 0.14": ("hosted_vllm/q", "/v1", 400, openai(
        "You passed 32000 input tokens and requested 4096 output tokens. However, the model's context length is only "
        "32768 tokens, resulting in a maximum input length of 28672 tokens.", code=400), {}),
    "vLLM's scheduler": ("hosted_vllm/q", "/v1", 400, openai(
        "The decoder prompt (length 40000) is longer than the maximum model length of 32768.", code=400), {}),
    "vLLM without room for an answer": ("hosted_vllm/q", "/v1", 400, openai(
        "max_tokens must be at least 1, got -120.", code=400), {}),
    "SGLang": ("hosted_vllm/q", "/v1", 400, {"object": "error", "code": 400, "message":
        "Requested token count exceeds the model's maximum context length of 32768 tokens."}, {}),
    "SGLang's tokenizer": ("hosted_vllm/q", "/v1", 400, {"object": "error", "code": 400, "message":
        "The input (40000 tokens) is longer than the model's context length (32768 tokens)."}, {}),
    "DashScope": ("dashscope/qwen-plus", "/v1", 400, openai(
        "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 98304]",
        code="invalid_parameter_error"), {}),
    "DeepSeek": ("deepseek/deepseek-chat", "", 400, openai(
        "This model's maximum context length is 131072 tokens. However, you requested 140000 tokens."), {}),
    "Anthropic": ("anthropic/claude-sonnet-4-5", "", 400, anthropic(
        "invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum"), {}),
    "Anthropic with an answer's room": ("anthropic/claude-sonnet-4-5", "", 400, anthropic(
        "invalid_request_error", "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"), {}),
    "Anthropic 413": ("anthropic/claude-sonnet-4-5", "", 413, anthropic(
        "request_too_large", "Request exceeds the maximum size"), {}),
    "Bedrock": (BEDROCK, "", 400, {"message": "Input is too long for requested model."}, REGION),
    "Bedrock Claude": (BEDROCK, "", 400, {
        "message": "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"}, REGION),
    "Gemini": ("gemini/gemini-2.5-pro", "", 400, {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message":
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."}}, {}),
    "a proxy in between": ("hosted_vllm/q", "/v1", 413, {"detail": "Request Entity Too Large"}, {}),
}  # fmt: skip
"""litellm id, what the URL ends with, status, body and parameters, by provider."""


@pytest.mark.parametrize("case", OVERFLOWS)
async def test_a_context_overflow_fails_the_trial_after_one_request(case: str) -> None:
    model, base, status, body, parameters = OVERFLOWS[case]
    stub = Stub((body,), status)

    with pytest.raises(AgentFailed) as failed:
        await ask(stub, model, base, **parameters)

    assert (failed.value.reason, len(stub.seen)) == (FailReason.CONTEXT_OVERFLOW, 1)


QUOTAS: dict[str, tuple[str, str, int, dict[str, Any]]] = {
    "OpenAI": ("openai/gpt-5", "/v1", 429, openai(
        "You exceeded your current quota, please check your plan and billing details.", code="insufficient_quota")),
    "OpenAI, a request beyond the minute": ("openai/gpt-5", "/v1", 429, openai(
        "Request too large for gpt-5 in organization org-x on tokens per min (TPM): Limit 30000, Requested 44000.",
        code="rate_limit_exceeded")),
    "OpenAI, a limit of the day": ("openai/gpt-5", "/v1", 429, openai(
        "Rate limit reached for gpt-5 in organization org-x on requests per day (RPD): Limit 200, Used 200.",
        code="rate_limit_exceeded")),
    "Groq": ("groq/llama-3.3-70b-versatile", "/openai/v1", 413, openai(
        "Request too large for model `llama` in organization `org` on tokens per minute (TPM): Limit 6000, "
        "Requested 9000, please reduce your message size and try again.", code="rate_limit_exceeded")),
    "Anthropic": ("anthropic/claude-sonnet-4-5", "", 400, anthropic(
        "invalid_request_error", "Your credit balance is too low to access the Anthropic API.")),
    "OpenRouter": ("openrouter/qwen/qwen3-30b-a3b", "/api/v1", 402, {"error": {
        "message": "This request requires more credits, or fewer max_tokens.", "code": 402}}),
    "DeepSeek": ("deepseek/deepseek-chat", "", 402, openai("Insufficient Balance")),
    "DashScope": ("dashscope/qwen-plus", "/v1", 400, openai("Access denied, account overdue.", code="Arrearage")),
    "Gemini, a limit of the day": ("gemini/gemini-2.5-pro", "", 429, {"error": {
        "code": 429, "status": "RESOURCE_EXHAUSTED", "message": "You exceeded your current quota.", "details": [
            {"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}]}}),
}  # fmt: skip
"""litellm id, what the URL ends with, status and body, by provider."""


@pytest.mark.parametrize("case", QUOTAS)
async def test_a_used_up_quota_is_no_rate_limit(case: str) -> None:
    model, base, status, body = QUOTAS[case]
    stub = Stub((body,), status)

    with pytest.raises(ModelFailure, match="raise its quota or credit") as failed:
        await ask(stub, model, base)

    assert (failed.value.reason, failed.value.transient, len(stub.seen)) == (InfraReason.MODEL_QUOTA, False, 1)


async def test_geminis_limit_of_the_minute_is_waited_out() -> None:
    details = [
        {"violations": [{"quotaId": "GenerateRequestsPerMinutePerProjectPerModel"}]},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "700s"},
    ]
    message = "You exceeded your current quota, please check your plan and billing details."
    body = {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": message, "details": details}}

    with pytest.raises(ModelFailure) as failed:
        await ask(Stub((body,), 429), "gemini/gemini-2.5-pro")

    assert (failed.value.reason, failed.value.retry_after_s) == (InfraReason.MODEL_RATE_LIMITED, 700.0)


async def test_a_conversation_that_azures_filter_refuses_fails_the_trial() -> None:
    body = openai("The response was filtered due to the prompt triggering Azure's policy.", code="content_filter")

    with pytest.raises(AgentFailed) as failed:
        await ask(Stub((body,), 400), "azure/gpt-5", **AZURE)

    assert failed.value.reason is FailReason.REQUEST_FILTER
