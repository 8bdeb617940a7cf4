"""What the published harness sends to models, and how it reads their replies, where opsgym does otherwise by default.

Invariant: a parameter that the user set is never replaced. Replay models are called unchanged.

Facts: request bodies of the published harness's LangChain clients over HTTP (docs/fidelity.md, Requests).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from opsgym_api.kinds.profiles import Switches
from opsgym_runner.models.client import Message, Reply

MAX_TOKENS = 4096
"""Completion tokens that the published harness asks for unless configured."""
RESPONSES = "responses/"
"""Part of a litellm id, after the provider, that chooses OpenAI's Responses API."""
_TOKEN_LIMITS = ("max_completion_tokens", "max_tokens", "max_output_tokens")
_EFFORTS = ("extra_body", "reasoning_effort", "thinking")
"""Parameters that may set the effort of a model."""
_COMPLETION_TOKENS = frozenset({"openai", "azure", "hosted_vllm", "openrouter"})
"""Providers whose published client names the limit `max_completion_tokens`."""
_FIXED_TEMPERATURE = re.compile(r"gpt-5(?!.*chat)|o\d")
"""Models of OpenAI that accept no temperature but their own."""


def litellm_id(model: str, parameters: Mapping[str, Any], switches: Switches) -> str:
    """Id by which a model is called: that of the Responses API where the switches ask for it.

    Args:
        model: litellm id of the model.
        parameters: Its parameters.
        switches: The agent's switches.
    """
    provider, _, name = model.partition("/")
    effort = parameters.get("reasoning_effort") is not None
    if switches.openai_api == "published" and provider == "openai" and effort and not name.startswith(RESPONSES):
        return f"{provider}/{RESPONSES}{name}"
    return model


def sampling_parameters(model: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters that the published harness adds to those of a model: temperature, a limit of tokens, and of DeepSeek's
    models that have none an effort.

    Args:
        model: litellm id of the model.
        parameters: Its parameters.
    """
    provider = model.partition("/")[0]
    added: dict[str, Any] = {}
    if "temperature" not in parameters and accepts_temperature(model, parameters):
        added["temperature"] = 0.0
    if not any(name in parameters for name in _TOKEN_LIMITS):
        added["max_completion_tokens" if provider in _COMPLETION_TOKENS else "max_tokens"] = MAX_TOKENS
    if provider == "deepseek" and not any(name in parameters for name in _EFFORTS):
        added["extra_body"] = {"reasoning": {"enabled": True, "effort": "medium"}}
    return added


def accepts_temperature(model: str, parameters: Mapping[str, Any]) -> bool:
    """Whether a model can be called with temperature 0: not one of OpenAI that reasons, nor one of Anthropic that
    thinks.

    Args:
        model: litellm id of the model.
        parameters: Its parameters.
    """
    provider, _, name = model.partition("/")
    if provider in ("openai", "azure") and _FIXED_TEMPERATURE.match(name.removeprefix(RESPONSES)):
        return False
    return not (provider == "openai" and parameters.get("reasoning_effort")) and not parameters.get("thinking")


def reasons_on_openai(called: str, parameters: Mapping[str, Any]) -> bool:
    """Whether a model of OpenAI or Azure is called with an effort, or over the Responses API.

    Args:
        called: litellm id by which it is called.
        parameters: Its parameters.
    """
    provider, _, name = called.partition("/")
    effort = parameters.get("reasoning_effort") is not None
    return provider in ("openai", "azure") and (effort or name.startswith(RESPONSES))


def first_text(content: object) -> str:
    """The first text block of a reply; empty if it has none."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part for part in parts if isinstance(part, dict) and part.get("type", "text") == "text")
    return str(next(texts, {}).get("text", ""))


def without_malformed_calls(reply: Reply) -> Reply:
    """The reply with its well-formed calls only, in its message too."""
    well_formed = tuple(request for request in reply.requests if not request.problem)
    ids = {request.id for request in well_formed}
    message: Message = {name: value for name, value in reply.message.items() if name != "tool_calls"}
    if well_formed:
        message["tool_calls"] = [call for call in reply.message["tool_calls"] if call["id"] in ids]
    elif message.get("content") is None:
        message["content"] = ""  # providers refuse a message with neither content nor calls
    return replace(reply, message=message, requests=well_formed)
