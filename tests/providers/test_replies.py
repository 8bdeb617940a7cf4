"""How replies of every provider end: distinguished, booked, requested once more, and recorded step by step."""

from __future__ import annotations

from typing import Any

import pytest
from tests.providers.conftest import TOOL
from tests.providers.stubs import (
    ANSWER,
    Stub,
    anthropic_messages,
    bedrock_converse,
    gemini_generate,
    openai_chat,
    openai_responses,
)
from tests.providers.test_errors import AZURE, BEDROCK, CONVERSATION, REGION, ask, client_of

from opsgym_api.records.attempt import Usage
from opsgym_api.records.outcomes import FailReason, FinishReason, InfraReason
from opsgym_runner.errors import AgentFailed
from opsgym_runner.models.client import LostReplies
from opsgym_runner.models.retry import ModelFailure

pytestmark = pytest.mark.anyio


def chat(reason: str, cost: float | None = None, **message: Any) -> dict[str, Any]:
    """A chat completion without calls."""
    body = openai_chat()[1]
    choice = {"index": 0, "finish_reason": reason, "message": {"role": "assistant", "content": None, **message}}
    usage = body["usage"] if cost is None else {**body["usage"], "cost": cost}
    return {**body, "choices": [choice], "usage": usage}


def anthropic(reason: str, *content: dict[str, Any]) -> dict[str, Any]:
    return {**anthropic_messages()[0], "content": list(content), "stop_reason": reason}


def bedrock(reason: str, *content: dict[str, Any]) -> dict[str, Any]:
    return {
        **bedrock_converse()[0],
        "output": {"message": {"role": "assistant", "content": list(content)}},
        "stopReason": reason,
    }


def gemini(reason: str) -> dict[str, Any]:
    candidate = {"index": 0, "content": {"role": "model", "parts": []}, "finishReason": reason}
    return {**gemini_generate()[0], "candidates": [candidate]}


CLAUDE, GEMINI, GPT = "anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-pro", "openai/gpt-4o"
ROUTER = "openrouter/google/gemini-3-pro-preview"
ENDS: dict[str, tuple[str, dict[str, Any], FinishReason, str]] = {
    "OpenAI stop": (GPT, chat("stop", content="Done."), FinishReason.STOP, "Done."),
    "OpenAI length": (GPT, chat("length", content="Do"), FinishReason.LENGTH, "Do"),
    "OpenAI length, all of it thought": (GPT, chat("length"), FinishReason.LENGTH, ""),
    "OpenAI filter": (GPT, chat("content_filter"), FinishReason.CONTENT_FILTER, ""),
    "OpenAI refusal": (GPT, chat("stop", refusal="I cannot do that."), FinishReason.REFUSAL, "I cannot do that."),
    "OpenAI empty": (GPT, chat("stop", content=""), FinishReason.EMPTY, ""),
    "OpenRouter error": (ROUTER, chat("error", content=""), FinishReason.MALFORMED, ""),
    "Anthropic refusal": (CLAUDE, anthropic("refusal", {"type": "text", "text": "No."}), FinishReason.REFUSAL, "No."),
    "Anthropic length": (CLAUDE, anthropic("max_tokens", {"type": "text", "text": "D"}), FinishReason.LENGTH, "D"),
    "Anthropic overflow": (
        CLAUDE,
        anthropic("model_context_window_exceeded", {"type": "text", "text": "D"}),
        FinishReason.CONTEXT_OVERFLOW,
        "D",
    ),
    "Anthropic empty": (CLAUDE, anthropic("end_turn"), FinishReason.EMPTY, ""),
    "Bedrock overflow": (BEDROCK, bedrock("model_context_window_exceeded"), FinishReason.CONTEXT_OVERFLOW, ""),
    "Bedrock malformed": (BEDROCK, bedrock("malformed_tool_use"), FinishReason.MALFORMED, ""),
    "Bedrock filter": (BEDROCK, bedrock("guardrail_intervened"), FinishReason.CONTENT_FILTER, ""),
    "Gemini malformed": (GEMINI, gemini("MALFORMED_FUNCTION_CALL"), FinishReason.MALFORMED, ""),
    "Gemini unexpected": (GEMINI, gemini("UNEXPECTED_TOOL_CALL"), FinishReason.MALFORMED, ""),
    "Gemini too many": (GEMINI, gemini("TOO_MANY_TOOL_CALLS"), FinishReason.MALFORMED, ""),
    "Gemini signature": (GEMINI, gemini("MISSING_THOUGHT_SIGNATURE"), FinishReason.MALFORMED, ""),
    "Gemini empty": (GEMINI, gemini("STOP"), FinishReason.EMPTY, ""),
    "Gemini filter": (GEMINI, gemini("SAFETY"), FinishReason.CONTENT_FILTER, ""),
    "Gemini length": (GEMINI, gemini("MAX_TOKENS"), FinishReason.LENGTH, ""),
}
"""litellm id, the reply on the wire, how it ended and its text, by provider and end."""
REQUESTED_AGAIN = (FinishReason.MALFORMED, FinishReason.EMPTY)
UNUSABLE = {
    FinishReason.CONTENT_FILTER: FailReason.CONTENT_FILTER,
    FinishReason.CONTEXT_OVERFLOW: FailReason.CONTEXT_OVERFLOW,
    FinishReason.MALFORMED: FailReason.MALFORMED_REPLY,
}


@pytest.mark.parametrize("case", ENDS)
async def test_the_end_of_a_reply_is_what_its_provider_says_and_its_tokens_are_booked(case: str) -> None:
    model, body, finish, text = ENDS[case]
    requests = 2 if finish in REQUESTED_AGAIN else 1
    stub = Stub((body,))

    reply = await ask(stub, model, "/v1" if model in (GPT, ROUTER) else "", **(REGION if model == BEDROCK else {}))

    assert (reply.finish, reply.text, len(stub.seen)) == (finish, text, requests)
    assert (reply.usage.model_calls, reply.usage.prompt_tokens) == (requests, 1000 * requests)
    assert reply.replaced == (finish if requests == 2 else None)
    if finish in UNUSABLE:
        with pytest.raises(AgentFailed) as failed:
            reply.require_usable()
        assert failed.value.reason is UNUSABLE[finish]
    else:
        reply.require_usable()


async def test_a_malformed_reply_is_requested_once_more_and_both_are_booked() -> None:
    stub = Stub((chat("error", 0.01, content=""), chat("stop", 0.02, content="Done.")))

    reply = await ask(stub, ROUTER, "/v1")

    assert (reply.text, reply.finish, reply.replaced) == ("Done.", FinishReason.STOP, FinishReason.MALFORMED)
    assert reply.usage.prompt_tokens == 2000
    assert reply.cost_usd == pytest.approx(0.03)


async def test_a_cost_that_openrouter_reports_is_the_cost() -> None:
    reply = await ask(Stub((chat("stop", 0.0123, content="Done."),)), ROUTER, "/v1")

    assert reply.cost_usd == 0.0123


async def test_the_bill_of_the_users_own_key_at_openrouter_is_part_of_the_cost() -> None:
    body = chat("stop", 0.001, content="Done.")
    body["usage"] |= {"is_byok": True, "cost_details": {"upstream_inference_cost": 0.02}}

    reply = await ask(Stub((body,)), ROUTER, "/v1")

    assert reply.cost_usd == pytest.approx(0.021)


REASONED = Usage(model_calls=1, prompt_tokens=1000, completion_tokens=100, cached_tokens=600, reasoning_tokens=40)
WRITTEN = Usage(model_calls=1, prompt_tokens=1000, completion_tokens=100, cached_tokens=600, cache_write_tokens=300)
UNREADABLE: dict[str, tuple[str, str, dict[str, Any], tuple[dict[str, Any], ...], dict[str, Any], Usage]] = {
    "OpenAI": (GPT, "/v1", {"choices": None}, openai_chat(), {}, REASONED),
    "OpenAI Responses": ("openai/responses/gpt-5", "/v1", {"created_at": None}, openai_responses(), {}, REASONED),
    "Azure": ("azure/gpt-5", "", {"choices": []}, openai_chat(), AZURE, REASONED),
    "Anthropic": (CLAUDE, "", {"content": "x"}, anthropic_messages(), {}, WRITTEN),
    "Bedrock": (BEDROCK, "", {"output": "x"}, bedrock_converse(), REGION, WRITTEN),
    "Gemini": (GEMINI, "", {"candidates": []}, gemini_generate(), {}, REASONED),
    "vLLM": ("hosted_vllm/q", "/v1", {"choices": [{"message": "x"}]}, openai_chat(), {}, REASONED),
    "OpenRouter": (ROUTER, "/v1", {"choices": [{"message": "x"}]}, openai_chat(), {}, REASONED),
    "DeepSeek": ("deepseek/deepseek-chat", "", {"choices": []}, openai_chat(), {}, REASONED),
    "DashScope": ("dashscope/qwen-plus", "/v1", {"choices": []}, openai_chat(), {}, REASONED),
}
"""litellm id, what the URL ends with, what makes a reply unreadable (None: the field is missing), replies, parameters,
booked usage, by provider."""


@pytest.mark.parametrize("case", UNREADABLE)
async def test_an_answer_that_is_no_reply_is_booked_and_requested_once_more(case: str) -> None:
    model, base, broken, (_, answer), parameters, usage = UNREADABLE[case]
    body = {name: value for name, value in {**answer, **broken}.items() if value is not None}
    stub = Stub((body, answer))

    async with client_of(stub, model, base, **parameters) as client:
        reply = await client.complete(CONVERSATION, [TOOL])

        assert (reply.text, len(stub.seen), client.statistics.retries) == (ANSWER, 2, 1)
        assert client.take_lost() == LostReplies(usage, 0.002, unreadable=1)
        assert client.take_lost() == LostReplies()


@pytest.mark.parametrize("case", UNREADABLE)
async def test_a_web_page_in_place_of_replies_is_an_unavailable_model_at_unknown_cost(case: str) -> None:
    model, base, _, _, parameters, _ = UNREADABLE[case]
    stub = Stub(("<html>Sign in</html>",))

    async with client_of(stub, model, base, **parameters) as client:
        with pytest.raises(ModelFailure, match="not with a reply; check that the address") as failed:
            await client.complete(CONVERSATION, [TOOL])

        assert (failed.value.reason, failed.value.transient) == (InfraReason.MODEL_UNAVAILABLE, False)
        assert client.take_lost() == LostReplies(Usage(model_calls=2), None, unreadable=2)
    assert len(stub.seen) == 2


async def test_a_status_of_an_error_inside_an_answer_counts() -> None:
    stub = Stub(({"error": {"message": "Upstream overloaded", "code": 502}}, openai_chat()[1]))

    async with client_of(stub, ROUTER, "/v1") as client:
        reply = await client.complete(CONVERSATION, [TOOL])

        assert (reply.text, client.take_lost()) == (ANSWER, LostReplies())


async def test_an_answer_of_the_responses_api_without_output_is_requested_once_more_and_booked() -> None:
    _, answer = openai_responses()
    stub = Stub(({**answer, "output": []}, answer))

    async with client_of(stub, "openai/responses/gpt-5", "/v1") as client:
        reply = await client.complete(CONVERSATION, [TOOL])

        assert (reply.text, len(stub.seen)) == (ANSWER, 2)
        assert client.take_lost() == LostReplies(REASONED, 0.002, unreadable=1)
