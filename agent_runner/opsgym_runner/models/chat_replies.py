"""What a chat completion says, read from its body by ourselves.

Invariant: the conversation goes on with the message that litellm would make of the same body
(`tests/providers/test_direct_replies.py`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from opsgym_runner.models.prices import usage_of_chat
from opsgym_runner.models.replies import Answer, answered_message, provenance_of

_THOUGHT = re.compile(r"<(?:think|thinking|budget:thinking)>(.*?)</(?:think|thinking|budget:thinking)>(.*)", re.DOTALL)
_SEVERAL = "multi_tool_use.parallel"
"""Tool that models of OpenAI call though no task has it: its arguments are calls."""
_KNOWN = ("annotations", "audio", "content", "images", "reasoning_content", "role", "thinking_blocks", "tool_calls")
"""Fields of a message that go back into the conversation under their names."""


def chat_answer(body: Any, headers: Mapping[str, str]) -> Answer | None:
    """Reads a chat completion; None if the body has another shape.

    Args:
        body: The body, in the shape that `RawAnswer.read` returns.
        headers: With names in lower case.
    """
    choices = body.get("choices") if isinstance(body, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    fields = choice.get("message") if isinstance(choice, dict) else None
    if choice is None or not isinstance(fields, dict):
        return None
    usage = body.get("usage")
    reported = usage if isinstance(usage, dict) else {}
    return Answer(
        message=answered_message(*_parted(fields)),
        refusal=str(fields.get("refusal") or ""),
        finish_reason=str(choice.get("finish_reason") or "stop"),
        usage=usage_of_chat(reported),
        stated_usage=reported,
        headers=headers,
        provenance=provenance_of(body.get("model"), body.get("system_fingerprint"), body.get("id"), headers),
        id=str(body.get("id") or ""),
    )


def _parted(fields: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Fields of a message that every provider knows, and those that only its own does."""
    known = {name: fields[name] for name in _KNOWN if fields.get(name) is not None} | {"role": "assistant"}
    if isinstance(known.get("tool_calls"), list):
        known["tool_calls"] = [each for call in known["tool_calls"] for each in _called(call)]
    own = {name: value for name, value in fields.items() if name not in _KNOWN}
    if "reasoning_content" in fields:
        return known, own
    if own.get("reasoning") is not None:
        return {**known, "reasoning_content": own["reasoning"]}, own
    text = fields.get("content")
    thought = _THOUGHT.match(text) if isinstance(text, str) else None
    if thought is None or "reasoning" in fields:
        return known, own
    return {**known, "reasoning_content": thought[1], "content": thought[2]}, own


def _called(call: dict[str, Any]) -> list[dict[str, Any]]:
    """A call, or those in its arguments."""
    function = call["function"]
    if function["name"] != _SEVERAL:
        return [call]
    try:
        uses = [(use["recipient_name"], use["parameters"]) for use in json.loads(function["arguments"])["tool_uses"]]
    except (KeyError, TypeError, ValueError):
        return [call]
    return [
        {
            "id": f"{call['id']}_{number}",
            "type": "function",
            "function": {"name": str(name).removeprefix("functions."), "arguments": json.dumps(parameters)},
        }
        for number, (name, parameters) in enumerate(uses)
    ]
