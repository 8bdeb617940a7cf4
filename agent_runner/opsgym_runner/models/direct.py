"""Models that are called without litellm: over OpenAI's chat completions, at OpenAI, vLLM and OpenRouter.

Importing litellm takes seconds of CPU and 160 MiB, in each process. What is called directly is therefore a closed list
of providers, model names and parameters, whose requests are known field by field; litellm translates all others.

Invariant: a request has the body that litellm would send (`tests/providers/test_direct_requests.py`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True)
class DirectProvider:
    """A provider that is called directly."""

    base: str
    """Its public address; empty if it has none."""
    bases: tuple[str, ...]
    """Variables that name another address, in order of preference."""
    keys: tuple[str, ...]
    """Variables that hold its key, in order of preference."""
    keyless: str | None = None
    """What servers without keys are sent; None if a key is required."""
    own: frozenset[str] = frozenset()
    """Parameters beyond OpenAI's that go into the body as they are."""
    headers: tuple[tuple[str, str], ...] = ()
    """Variables that hold the values of headers, with the names of these."""

    def base_in(self, environment: Mapping[str, str]) -> str:
        """Address of requests to an endpoint without one."""
        return _first(environment, self.bases) or self.base

    def key_in(self, environment: Mapping[str, str]) -> str | None:
        """Key of requests to an endpoint without one; None if there is none."""
        return _first(environment, self.keys) or self.keyless

    def headers_in(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Headers of requests besides that of the key."""
        return {header: environment[name] for name, header in self.headers if environment.get(name)}


def _first(environment: Mapping[str, str], names: Sequence[str]) -> str | None:
    return next((environment[name].strip() for name in names if environment.get(name, "").strip()), None)


_SAMPLING = frozenset({"chat_template_kwargs", "min_p", "repetition_penalty", "top_k"})
"""Parameters of vLLM and servers like it."""
PROVIDERS: Mapping[str, DirectProvider] = {
    "openai": DirectProvider(
        "https://api.openai.com/v1",
        ("OPENAI_BASE_URL", "OPENAI_API_BASE"),
        ("OPENAI_API_KEY",),
        own=_SAMPLING,
        headers=(
            ("OPENAI_ORG_ID", "openai-organization"),
            ("OPENAI_ORGANIZATION", "openai-organization"),
            ("OPENAI_PROJECT_ID", "openai-project"),
        ),
    ),
    "hosted_vllm": DirectProvider(
        "", ("HOSTED_VLLM_API_BASE",), ("HOSTED_VLLM_API_KEY",), keyless="fake-api-key", own=_SAMPLING
    ),
    "openrouter": DirectProvider(
        "https://openrouter.ai/api/v1",
        ("OPENROUTER_API_BASE",),
        ("OPENROUTER_API_KEY", "OR_API_KEY"),
        own=_SAMPLING | {"models", "provider", "reasoning", "route", "transforms"},
    ),
}
"""By the beginning of the litellm id."""

_CONTROLS = frozenset({"extra_headers", "max_retries", "num_retries", "stream", "timeout"})
"""Arguments of a call that its body does not have."""
_CONVERSATION = frozenset({"messages", "model", "tools"})
_COMMON = frozenset({
    "extra_body", "max_completion_tokens", "max_tokens", "parallel_tool_calls", "prompt_cache_key", "response_format",
    "safety_identifier", "seed", "service_tier", "store", "tool_choice",
})  # fmt: skip
_SAMPLED = frozenset({
    "frequency_penalty", "logit_bias", "logprobs", "presence_penalty", "stop", "temperature", "top_logprobs", "top_p",
})  # fmt: skip
_EFFORT = "reasoning_effort"
_EFFORTS = ("low", "medium", "high")
"""Efforts that every model of `_REASONING` takes."""

_OPENAIS = re.compile(r"(ft:)?(gpt-(?!oss|neo|j-)|chatgpt|chat-latest|codex|computer-use|container|daybreak|o\d)")
"""Begins of the names of OpenAI's own models, of which each has rules of its own."""
_SERIES = ("gpt-5", "gpt-6")
_REASONING = re.compile(r"gpt-5(-mini|-nano|\.[12])?(-\d{4}-\d\d-\d\d)?")
_SAMPLING_SET = re.compile(r"(gpt-3\.5-turbo|gpt-4-turbo|gpt-4\.1|gpt-4o)(-mini|-nano)?(-\d{4}(-\d\d-\d\d)?)?")
"""OpenAI's models whose sampling can be set. All others of theirs are called through litellm."""
_COMBINATORS = ("oneOf", "anyOf", "allOf", "enum", "const", "not")
"""Keywords that OpenAI refuses at the top of a tool's parameters; litellm flattens them."""


def direct_provider(model: str) -> DirectProvider | None:
    """Provider of a litellm id that may be called directly; None for any other."""
    provider, _, name = model.partition("/")
    known = PROVIDERS.get(provider) if name and not name.startswith("responses/") else None
    return None if known is None or "claude" in name.lower() else known  # Claude's prompts have marks for its cache


def is_direct(model: str, parameters: Mapping[str, Any]) -> bool:
    """Whether a model is called without litellm.

    Args:
        model: litellm id by which it is called.
        parameters: Parameters of its requests.
    """
    provider = direct_provider(model)
    taken = None if provider is None else _parameters_of(model, provider)
    if taken is None:
        return False
    given = {name: value for name, value in parameters.items() if value is not None}
    return given.keys() <= taken | _CONTROLS and all(_is_plain(name, value, model) for name, value in given.items())


def _parameters_of(model: str, provider: DirectProvider) -> frozenset[str] | None:
    """Parameters of requests to a model; None if it is not called directly at all."""
    prefix, _, name = model.partition("/")
    of_series = any(series in name for series in _SERIES)
    if prefix != "openai" or not (of_series or _OPENAIS.match(name)):
        return _COMMON | _SAMPLED | provider.own | {_EFFORT}
    if _REASONING.fullmatch(name):
        return _COMMON | {_EFFORT, "temperature"}
    return _COMMON | _SAMPLED if _SAMPLING_SET.fullmatch(name) else None


def _is_plain(name: str, value: Any, model: str) -> bool:
    """Whether a parameter's value is sent as it is, whatever litellm knows of the model."""
    reasons = bool(_REASONING.fullmatch(model.removeprefix("openai/")))
    if name == "timeout":
        return isinstance(value, int | float) and not isinstance(value, bool) and value > 0
    if name in ("extra_body", "extra_headers", "response_format"):
        return isinstance(value, dict) and not value.keys() & (_CONVERSATION | {"stream"})
    if name == "stop":
        return isinstance(value, str) or (isinstance(value, list) and len(value) <= _STOPS)
    if name == _EFFORT:
        return value in _EFFORTS if reasons else isinstance(value, str)
    return name != "temperature" or not reasons or value == 1


_STOPS = 4
"""Stop sequences that OpenAI takes."""


def direct_body(arguments: Mapping[str, Any], url: str | None) -> dict[str, Any] | None:
    """Body of a chat completion; None if litellm has to make it.

    Args:
        arguments: Arguments of a call of litellm, of a model and parameters that `is_direct` takes.
        url: Address of the endpoint; None for the provider's public one.
    """
    prefix, _, name = str(arguments["model"]).partition("/")
    tools = arguments.get("tools") or []
    if not all(map(_is_text, arguments["messages"])) or not _are_sent_as_they_are(prefix, tools, url):
        return None
    fields = {key: value for key, value in arguments.items() if value is not None}
    extra = fields.pop("extra_body", {})
    for control in _CONTROLS | _CONVERSATION:
        fields.pop(control, None)
    if prefix == "openai" and _REASONING.fullmatch(name) and "max_tokens" in fields:
        limit = fields.pop("max_tokens")
        fields.setdefault("max_completion_tokens", limit)
    if prefix == "openrouter":
        if fields.get(_EFFORT) == "max":
            fields[_EFFORT] = "xhigh"
        extra = {"usage": {"include": True}, **extra}  # it then states what the reply costs
    if tools:
        fields["tools"] = [_for_vllm(tool) for tool in tools] if prefix == "hosted_vllm" else tools
    else:
        fields.pop("tool_choice", None)
    if prefix != "openai":
        fields["stream"] = False
    messages = [_message(message, prefix) for message in arguments["messages"]]
    return {"model": name, "messages": messages, **fields, **extra}


def _is_text(message: Mapping[str, Any]) -> bool:
    return isinstance(message.get("content"), str | None)


def _message(message: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """A message as it is sent: without empty fields, and to vLLM without blocks of thinking."""
    sent = {name: value for name, value in message.items() if value is not None}
    if prefix == "hosted_vllm":
        sent.pop("thinking_blocks", None)
    return sent


def _are_sent_as_they_are(prefix: str, tools: Sequence[Mapping[str, Any]], url: str | None) -> bool:
    """Whether tools need none of the changes that litellm makes to those of the provider `openai`."""
    if prefix != "openai":
        return True
    host = "openai.com" if url is None else urlsplit(url).hostname or ""
    schemas = [tool.get("function", {}).get("parameters") or {} for tool in tools]
    if f".{host}".endswith(".openai.com") and any(name in schema for schema in schemas for name in _COMBINATORS):
        return False
    return all(map(_is_regex, (pattern for schema in schemas for pattern in _patterns(schema))))


def _patterns(schema: Any) -> list[str]:
    """Regular expressions in a schema."""
    if isinstance(schema, list):
        return [pattern for part in schema for pattern in _patterns(part)]
    if not isinstance(schema, dict):
        return []
    own = [schema["pattern"]] if isinstance(schema.get("pattern"), str) else []
    return [*own, *(pattern for part in schema.values() for pattern in _patterns(part))]


def _is_regex(pattern: str) -> bool:
    """Whether Python reads a regular expression, as OpenAI's check of tools does."""
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        return False
    return True


def _for_vllm(schema: Any, *, names: bool = False) -> Any:
    """A tool without `strict` and `additionalProperties: false`.

    Args:
        schema: The tool, or a part of it.
        names: Whether its keys are names of properties, which stay.
    """
    if isinstance(schema, list):
        return [_for_vllm(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    parts = {name: part for name, part in schema.items() if names or not (name == "strict" or _closes(name, part))}
    return {name: _for_vllm(part, names=name == "properties" and not names) for name, part in parts.items()}


def _closes(name: str, part: Any) -> bool:
    return name == "additionalProperties" and part is False
