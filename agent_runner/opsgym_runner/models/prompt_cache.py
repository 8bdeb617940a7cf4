"""Cache markers for providers that cache only marked parts of a prompt (Anthropic's models, wherever served).

Invariant: markers change what a request costs, never its content. They are added to requests, not to the conversation,
so the newest message carries the marker and everything before it is read from the cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from opsgym_runner.models.litellm_lib import load_litellm

_MARKER = {"cache_control": {"type": "ephemeral"}}
USER_MARKERS = "cache_control_injection_points"
"""litellm parameter by which users place markers themselves; ours are then left out."""


@cache
def needs_markers(model: str) -> bool:
    """Whether a model caches only marked parts of a prompt, according to litellm.

    Args:
        model: litellm id.
    """
    return "claude" in model and bool(load_litellm().utils.supports_prompt_caching(model=model))


def with_cache_markers(
    messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Messages and tools with markers on the last tool, the system prompt and the last message."""
    marked = list(messages)
    for index in {0, len(marked) - 1}:
        marked[index] = _marked(marked[index])
    return marked, [*tools[:-1], *({**tool, **_MARKER} for tool in tools[-1:])]


def _marked(message: dict[str, Any]) -> dict[str, Any]:
    content = message.get("content")
    if message["role"] == "tool":
        return {**message, **_MARKER}
    if message["role"] in ("system", "user") and isinstance(content, str) and content:
        return {**message, "content": [{"type": "text", "text": content, **_MARKER}]}
    return message
