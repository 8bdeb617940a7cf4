"""What a chat completion says is the same, read without litellm and by it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from tests.providers.conftest import TOOL
from tests.providers.stubs import Stub
from tests.runner.jobs import NO_JITTER, FakeTime, make_job

from opsgym_api.kinds.evalmodel import Prices
from opsgym_runner.clients import ModelRegistry
from opsgym_runner.job import ModelEndpoint, ResolvedModel
from opsgym_runner.models.chat_replies import chat_answer
from opsgym_runner.models.client import LostReplies, Reply

CALL = {"id": "c0", "type": "function", "function": {"name": "find", "arguments": '{"number": "INC1"}'}}
CUT = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"number": '}}
USES = [{"recipient_name": "functions.find", "parameters": {"number": name}} for name in ("INC1", "INC2")]
PARALLEL = json.dumps({"tool_uses": USES})
ANSWERED: Mapping[str, dict[str, Any]] = {
    "words": {"content": "Done."},
    "calls": {"content": None, "tool_calls": [CALL, CUT]},
    "calls and words": {"content": "First", "tool_calls": [CALL]},
    "no calls": {"content": "Done.", "tool_calls": []},
    "calls in one": {"tool_calls": [{**CALL, "function": {"name": "multi_tool_use.parallel", "arguments": PARALLEL}}]},
    "nothing": {"content": None},
    "reasoning of vLLM": {"content": "Done.", "reasoning": "Thought."},
    "reasoning and calls": {"content": None, "reasoning": "Thought.", "tool_calls": [CALL]},
    "reasoning content": {"content": "Done.", "reasoning_content": "Thought."},
    "both names": {"content": "Done.", "reasoning_content": "Thought.", "reasoning": "Thought."},
    "no reasoning": {"content": "Done.", "reasoning_content": None, "reasoning": None},
    "empty reasoning": {"content": "Done.", "reasoning_content": "", "reasoning": ""},
    "details": {"content": "Done.", "reasoning": "T", "reasoning_details": [{"type": "reasoning.text", "text": None}]},
    "thoughts in the text": {"content": "<think>Thought.</think>\n\nDone."},
    "thoughts without begin": {"content": "Thought.</think>Done."},
    "thoughts and reasoning": {"content": "<think>A</think>B", "reasoning": None},
    "blocks": {"content": "Done.", "thinking_blocks": [{"type": "thinking", "thinking": "T", "signature": "s"}]},
    "refusal": {"content": None, "refusal": "I will not."},
    "no refusal": {"content": "Done.", "refusal": None, "annotations": [], "audio": None, "function_call": None},
    "fields of the provider": {"content": "Done.", "own": {"a": 1}, "empty": None},
    "old call": {"content": None, "function_call": {"name": "find", "arguments": "{}"}},
    "parts": {"content": [{"type": "thinking", "thinking": "T"}, {"type": "text", "text": "Done."}]},
    "images": {
        "content": "Done.",
        "images": [{"type": "image_url", "image_url": {"url": "data:,A"}}],
    },
}
"""Messages by what they have."""
TOKENS = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
USAGES: Mapping[str, Any] = {
    "details": {
        **TOKENS,
        "prompt_tokens_details": {"cached_tokens": 600, "cache_write_tokens": 30, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 40},
    },
    "null details": {**TOKENS, "prompt_tokens_details": None, "completion_tokens_details": {"reasoning_tokens": None}},
    "of a hit": {**TOKENS, "prompt_cache_hit_tokens": 600, "prompt_cache_miss_tokens": 400},
    "of a gateway": {**TOKENS, "cache_read_input_tokens": 600, "cache_creation_input_tokens": 30},
    "reasoning at the top": {**TOKENS, "reasoning_tokens": 40},
    "stated cost": {**TOKENS, "cost": 0.5, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.25}},
    "total only": {"prompt_tokens": 1000, "total_tokens": 1100},
    "null": None,
    "empty": {},
}
"""Usages by what they state."""


def body(message: Mapping[str, Any], usage: Any = TOKENS, **fields: Any) -> dict[str, Any]:
    """A chat completion."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": fields.pop("ends", "stop")}
    named = {"id": "c", "object": "chat.completion", "created": 1, "model": "stub-2026", "system_fingerprint": "fp"}
    return {**named, "choices": [choice], "usage": usage, **fields}


BODIES: list[Any] = [
    *(body(message) for message in ANSWERED.values()),
    *(body({"content": "Done."}, usage) for usage in USAGES.values()),
    body({"tool_calls": [CALL]}, ends="tool_calls"),
    body({"content": "Do"}, ends="length"),
    body({"content": ""}, ends="content_filter"),
    body({"content": "Done."}, ends="eos_token"),
    body({"content": "Done."}, ends=None),
    body({"content": "Done."}, service_tier="default", provider="Groq"),
]
MODELS = ("openai/stub", "hosted_vllm/stub", "openrouter/a/stub")


async def replies(model: str, answer: Any) -> tuple[Reply, LostReplies]:
    """The reply that the loop gets, and what was lost."""
    registry = ModelRegistry(NO_JITTER, FakeTime().clock)
    with Stub((answer,)).serving() as url:
        prices, endpoint = Prices(input_usd=1, output_usd=2, cached_input_usd=0.5), ModelEndpoint(f"{url}/v1")
        resolved = ResolvedModel("m", model, (endpoint,), prices=prices)
        async with registry.client_of(resolved, make_job("http://gym")) as client:
            reply = await client.complete([{"role": "user", "content": "A"}], [TOOL])
            lost = client.take_lost()
    await registry.close()
    return reply, lost


@pytest.mark.soak
@pytest.mark.anyio
@pytest.mark.parametrize("model", MODELS)
async def test_a_reply_is_the_same_without_litellm(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    direct = [await replies(model, answer) for answer in BODIES]
    monkeypatch.setattr("opsgym_runner.models.client.is_direct", lambda *_: False)
    translated = [await replies(model, answer) for answer in BODIES]

    different = [
        (BODIES[n], one, other)
        for n, (one, other) in enumerate(zip(direct, translated, strict=True))
        if (_compared(one[0]), one[1]) != (_compared(other[0]), other[1])
    ]
    assert different == []


def _compared(reply: Reply) -> Reply:
    """The reply without what differs on purpose."""
    # litellm writes its own name of the provider before that of vLLM's model.
    named = replace(reply.provenance, model=reply.provenance.model.rpartition("/")[2])
    message = dict(reply.message)
    if "thinking_blocks" in message:
        message.pop("provider_specific_fields", None)  # where litellm repeats them
    if "images" in message:
        message["images"] = [{**image, "index": 0} for image in message["images"]]  # which litellm adds
    return replace(reply, provenance=named, message=message)


@pytest.mark.parametrize(
    "answer", [None, [], {}, {"choices": []}, {"choices": [None]}, {"choices": [{}]}, {"choices": [{"message": "a"}]}]
)
def test_what_is_no_chat_completion_has_no_answer(answer: Any) -> None:
    assert chat_answer(answer, {}) is None


@pytest.mark.parametrize("name", ANSWERED)
def test_a_message_of_each_kind_is_read(name: str) -> None:
    answer = chat_answer(body(ANSWERED[name]), {"x-request-id": "r"})

    assert answer is not None
    assert answer.message["role"] == "assistant"
    assert (answer.provenance.model, answer.provenance.request_id) == ("stub-2026", "r")
