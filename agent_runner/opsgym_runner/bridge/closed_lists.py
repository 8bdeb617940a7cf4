"""What a request of an agent may ask of its model's provider: closed lists for each protocol.

Invariant: a provider only answers, from what the request itself holds. Whatever would let it act, search, fetch, or
go on from what it has stored is not on a list, and what is not on a list does not reach it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from opsgym_runner.models.forward import Wire


@dataclass(frozen=True)
class _Lists:
    parameters: frozenset[str]
    """Fields of the body."""
    tools: frozenset[str]
    """Types of tools, without the date that ends them: those that the agent executes."""
    content: frozenset[str]
    """Types of what a conversation consists of: items, and the parts of messages and results."""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_OPENAI = (
    "frequency_penalty include logit_bias logprobs max_tokens metadata model parallel_tool_calls presence_penalty"
    " prompt_cache_key prompt_cache_options prompt_cache_retention safety_identifier seed stop stream stream_options"
    " temperature tool_choice tools top_logprobs top_p user verbosity"
)
_SERVERS = (
    "cache_prompt chat_template_kwargs clear_thinking enable_thinking guided_choice guided_decoding_backend"
    " guided_grammar guided_json guided_regex ignore_eos include_reasoning include_stop_str_in_output length_penalty"
    " min_p min_tokens prompt_mode random_seed reasoning reasoning_effort reasoning_format reasoning_split"
    " repetition_penalty return_token_ids safe_prompt skip_special_tokens spaces_between_special_tokens"
    " stop_token_ids structured_outputs thinking thinking_budget tool_stream top_a top_k typical_p usage"
)
"""Parameters with which servers compatible with OpenAI's extend its protocols: how tokens are chosen, how it thinks."""
_LISTS: Mapping[Wire, _Lists] = {
    "chat": _Lists(
        _names(
            f"{_OPENAI} {_SERVERS} audio function_call functions max_completion_tokens messages modalities prediction"
            " response_format"
        ),
        _names("function custom"),
        _names("audio_url file image_url input_audio reasoning redacted_thinking refusal text thinking video_url"),
    ),
    "responses": _Lists(
        _names(
            f"{_OPENAI} {_SERVERS} client_metadata context_management input instructions max_output_tokens"
            " max_tool_calls text truncation"
        ),
        _names("function custom namespace local_shell apply_patch"),
        _names(
            "message function_call function_call_output custom_tool_call custom_tool_call_output reasoning compaction"
            " local_shell_call local_shell_call_output apply_patch_call apply_patch_call_output input_text output_text"
            " text refusal input_image input_file input_audio summary_text reasoning_text"
        ),
    ),
    "messages": _Lists(
        _names(
            "cache_control context_management max_tokens messages metadata model output_config output_format"
            " stop_sequences stream system temperature thinking tool_choice tools top_k top_p"
        ),
        _names("custom bash text_editor memory"),
        _names(
            "text image document search_result thinking redacted_thinking tool_use tool_result tool_reference"
            " compaction"
        ),
    ),
}
_FIXED: Mapping[str, tuple[Any, ...]] = {
    "n": (1,),
    "service_tier": ("auto", "default", "standard", "standard_only"),
    "speed": ("standard",),
}
"""Values of parameters that change what a request costs."""
_SOURCES = ("base64", "text", "content")
"""Where an image or a document of Anthropic's protocol may come from."""
_WORDS = _names(
    "text arguments input refusal thinking reasoning reasoning_content reasoning_details title context summary"
    " annotations citations action operation"
)
"""Fields that hold words of agent or model, which no provider reads as an address."""
_NESTED = ("content", "output")
"""Fields that hold words, or parts."""
_ADDRESSES = ("image_url", "video_url", "audio_url", "file_url", "url")
_DATE = re.compile(r"_\d{8}$")
_REMOTE = re.compile(r"\s*[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_MOST = 5
"""Problems of a request that its refusal names."""


def unlisted(wire: Wire, body: Mapping[str, Any]) -> str:
    """What a request asks of the provider that it must not do, in words for the agent; empty if nothing.

    Args:
        wire: The request's protocol.
        body: The request.
    """
    lists = _LISTS[wire]
    problems = [*_parameters(lists, body), *_tools(lists, body.get("tools"), "tools")]
    opening, conversation = {"chat": ("", "messages"), "responses": ("instructions", "input")}.get(
        wire, ("system", "messages")
    )
    for field in filter(None, (opening, conversation)):
        problems += _parts(lists, body.get(field), field, typed=field == "system")
    more = f", and {len(problems) - _MOST} more" if len(problems) > _MOST else ""
    return ", ".join(problems[:_MOST]) + more


def _parameters(lists: _Lists, body: Mapping[str, Any]) -> Iterator[str]:
    for name, value in body.items():
        if name in _FIXED:
            if value is not None and value not in _FIXED[name]:
                yield f"{name} {value!r}"
        elif value and name not in lists.parameters:
            yield f"parameter {name}"


def _tools(lists: _Lists, tools: Any, where: str) -> Iterator[str]:
    for number, tool in enumerate(tools if isinstance(tools, list) else [tools] if tools else []):
        place = f"{where}[{number}]"
        kind = _kind_of(tool)
        if kind is None or _DATE.sub("", kind) not in lists.tools:
            yield f"{place} of type {kind or 'unknown'}"
        elif kind == "namespace":
            yield from _tools(lists, tool.get("tools"), f"{place}.tools")


def _kind_of(tool: Any) -> str | None:
    """Type of a tool. Anthropic's protocol has tools without one: they are the agent's own, and have a schema."""
    if not isinstance(tool, dict):
        return None
    kind = tool.get("type") or ("custom" if "input_schema" in tool else " ".join(tool))
    return kind if isinstance(kind, str) else None


def _parts(lists: _Lists, value: Any, where: str, *, typed: bool) -> Iterator[str]:
    """Problems of a conversation, or of the parts of one of its messages.

    Args:
        lists: The protocol's lists.
        value: A list of them; a text has none.
        where: Its place in the request.
        typed: Whether each of them must have a type; messages need none.
    """
    for number, part in enumerate(value if isinstance(value, list) else [value]):
        if isinstance(part, dict):
            kind, place = part.get("type"), f"{where}[{number}]"
            if (typed or kind is not None) and not (isinstance(kind, str) and kind in lists.content):
                yield f"{place} of type {kind or ' '.join(part)}"
            else:
                yield from _fields(lists, part, place)


def _fields(lists: _Lists, part: Mapping[str, Any], where: str) -> Iterator[str]:
    """What a part refers to that is not in the request: an address, or something that the provider has stored."""
    for name, value in part.items():
        place = f"{where}.{name}"
        if name in _WORDS or (name == "source" and part.get("type") == "search_result"):
            continue
        if name in _NESTED and not isinstance(value, str):
            yield from _parts(lists, value, place, typed=True)
        elif name == "source" and isinstance(value, dict) and value.get("type") not in _SOURCES:
            yield f"{place} of type {value.get('type')}"
        elif isinstance(value, list | dict):
            inner = value if isinstance(value, list) else [value]
            for one in inner:
                yield from _fields(lists, one, place) if isinstance(one, dict) else _values(name, one, place)
        elif name not in _NESTED:
            yield from _values(name, value, place)


def _values(name: str, value: Any, where: str) -> Iterator[str]:
    if not value:
        return
    if name == "file_id":
        yield f"{where}, a file that the provider has stored"
    elif isinstance(value, str):
        inline = value.startswith("data:")
        if _REMOTE.match(value) or (name in _ADDRESSES and not inline):
            yield f"{where}, an address that the provider would fetch"
