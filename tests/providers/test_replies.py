"""How replies of every provider end: distinguished, booked, requested once more, and recorded step by step."""

from __future__ import annotations

from typing import Any

import pytest
from tests.providers.stubs import Stub, anthropic_messages, bedrock_converse, gemini_generate, openai_chat
from tests.providers.test_errors import BEDROCK, REGION, ask

from opsgym_api.records.outcomes import FailReason, FinishReason
from opsgym_runner.errors import AgentFailed

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
