"""Requests that are sent without litellm, with the bodies that litellm sent in their place (`direct_requests.json`).

python -m tests.providers.direct_requests     records them anew, after a new version of litellm
"""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.providers.stubs import Stub, openai_chat

RECORDED = Path(__file__).with_suffix(".json")
MODELS = (
    "openai/stub",
    "openai/gpt-oss-120b",
    "openai/gpt-4o-mini-2024-07-18",
    "openai/gpt-5",
    "openai/gpt-5.1-2025-11-13",
    "hosted_vllm/openai/gpt-oss-120b",
    "openrouter/deepseek/deepseek-v3.2",
    "openrouter/openai/gpt-5",
)
PARAMETERS: Mapping[str, dict[str, Any]] = {
    "none": {},
    "cold": {"temperature": 0, "seed": 7, "max_tokens": 5},
    "warm": {"temperature": 1, "max_completion_tokens": 5},
    "both limits": {"max_tokens": 5, "max_completion_tokens": 6},
    "high effort": {"reasoning_effort": "high"},
    "most effort": {"reasoning_effort": "max"},
    "sampled": {"top_p": 0.5, "stop": ["a"], "frequency_penalty": 0.1, "presence_penalty": 0, "logit_bias": {"1": 2}},
    "probabilities": {"logprobs": True, "top_logprobs": 2},
    "body": {"extra_body": {"reasoning": {"effort": "high"}, "seed": 3}, "seed": 5},
    "tools": {"tool_choice": "required", "parallel_tool_calls": False},
    "form": {"response_format": {"type": "json_object"}},
    "service": {"service_tier": "flex", "safety_identifier": "s", "prompt_cache_key": "k", "store": False},
    "vLLM": {"top_k": 3, "min_p": 0.1, "repetition_penalty": 1.1, "chat_template_kwargs": {"enable_thinking": False}},
    "OpenRouter": {"provider": {"order": ["a"]}, "models": ["m"], "route": "fallback", "reasoning": {"effort": "low"}},
    "no values": {"temperature": None, "top_p": None, "stop": None, "reasoning_effort": None},
}
_CALL = {"id": "call_0", "type": "function", "function": {"name": "find", "arguments": '{"number": "INC1"}'}}
MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": "Obey."},
    {"role": "user", "content": "What of INC1? Größe 5 \u2028"},
    {"role": "assistant", "content": None, "tool_calls": [_CALL]},
    {"role": "tool", "tool_call_id": "call_0", "content": ""},
    {"role": "assistant", "content": "A", "reasoning_content": "Thought."},
    {"role": "user", "content": "B"},
    {"role": "assistant", "content": "C", "reasoning": "Thought."},
    {"role": "user", "content": "D"},
    {"role": "assistant", "content": "E", "reasoning_details": [{"type": "reasoning.text", "text": None}]},
    {"role": "user", "content": "F"},
    {"role": "assistant", "content": "G", "thinking_blocks": [{"type": "thinking", "thinking": "Thought."}]},
    {"role": "user", "content": "H"},
    {"role": "assistant", "content": "I", "provider_specific_fields": {"own": 1}, "annotations": []},
    {"role": "user", "content": "J"},
]
"""Every kind of message that the loop sends."""
TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "find",
        "description": "Finds an incident.",
        "strict": False,
        "parameters": {
            "type": "object",
            "properties": {
                "number": {"type": "string", "pattern": "^INC"},
                "filter": {
                    "type": "object",
                    "properties": {"open": {"anyOf": [{"type": "boolean"}, {"type": "null"}]}},
                    "additionalProperties": False,
                },
            },
            "required": ["number"],
            "additionalProperties": False,
        },
    },
}


def cases() -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and arguments of each request: each set of parameters, then every kind of message with a tool."""
    for model in MODELS:
        for name, parameters in PARAMETERS.items():
            yield f"{model}, {name}", _arguments(model, MESSAGES[:2], parameters)
        yield f"{model}, conversation", _arguments(model, MESSAGES, {"tool_choice": "auto", "tools": [TOOL]})


def _arguments(model: str, messages: list[dict[str, Any]], parameters: Mapping[str, Any]) -> dict[str, Any]:
    fixed = {"stream": False, "num_retries": 0, "max_retries": 0, "timeout": 20}
    return copy.deepcopy({"model": model, "messages": messages, **fixed, **parameters})


async def litellms() -> dict[str, Any]:
    """What litellm sends of each request, by its name; the name of the error where it sends none."""
    from opsgym_runner.models.litellm_lib import load_litellm

    litellm, bodies, stub = load_litellm(), dict[str, Any](), Stub(openai_chat())
    with stub.serving() as url:
        for name, arguments in cases():
            try:
                await litellm.acompletion(api_base=f"{url}/v1", api_key="key", **arguments)
                bodies[name] = stub.seen[-1].body
            except litellm.UnsupportedParamsError as error:
                bodies[name] = type(error).__name__
    return bodies


if __name__ == "__main__":
    recorded = sorted(asyncio.run(litellms()).items())
    lines = (f"{json.dumps(name)}: {json.dumps(body, sort_keys=True)}" for name, body in recorded)
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
