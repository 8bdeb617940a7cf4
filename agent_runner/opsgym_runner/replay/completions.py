"""Chat completions with which scripts answer conversations, in OpenAI's format.

Invariant: the position in the script follows from the conversation alone, so a repeated request gets the same reply.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from opsgym_runner.days import ended_days
from opsgym_runner.gyms.catalogue import names_of
from opsgym_runner.replay.scripts import Script

MALFORMED = "malformed_"
"""Prefix of the ids of malformed tool calls, which do not advance the script."""
_CHARACTERS_PER_TOKEN = 4


def completion(script: Script, body: Mapping[str, Any], size: int) -> dict[str, Any]:
    """The chat completion with which a script answers a request.

    Args:
        script: The script.
        body: The request's body.
        size: Length of the body in characters, for the token count.
    """
    position = script.start_of(_ended_days(body["messages"])) + sum(map(_advances, body["messages"]))
    message: dict[str, Any]
    if position < len(script.replies):
        message = {"role": "assistant", "content": script.replies[position]}
    elif position < len(script.actions) and body.get("tools"):
        shown = {tool["function"]["name"] for tool in body["tools"]}
        message = _turn(position, script, shown)
    else:
        message = {"role": "assistant", "content": script.answer_after(position)}
    prompt, reply = math.ceil(size / _CHARACTERS_PER_TOKEN), math.ceil(len(json.dumps(message)) / _CHARACTERS_PER_TOKEN)
    return {
        "id": f"replay-{position}",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [
            {"index": 0, "message": message, "finish_reason": "tool_calls" if "tool_calls" in message else "stop"}
        ],
        "usage": {"prompt_tokens": prompt, "completion_tokens": reply, "total_tokens": prompt + reply},
    }


def _turn(position: int, script: Script, shown: Collection[str]) -> dict[str, Any]:
    turn = script.actions[position]
    if isinstance(turn, str):
        return {"role": "assistant", "content": turn}
    name = next((name for name in names_of(turn, script.gyms) if name in shown), turn.name)
    function = {"name": name, "arguments": json.dumps(turn.arguments)}
    calls = [{"id": f"call_{position}", "type": "function", "function": function}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def _ended_days(messages: Sequence[Mapping[str, Any]]) -> int:
    """Days that ended before a conversation began, by its first message of a user."""
    first = next((message for message in messages if message.get("role") == "user"), {})
    return ended_days(str(first.get("content") or ""))


def _advances(message: Mapping[str, Any]) -> bool:
    """Whether a message is a reply of the script; a malformed one is repeated, so it does not advance the script."""
    calls = message.get("tool_calls") or ()
    return message.get("role") == "assistant" and not any(call["id"].startswith(MALFORMED) for call in calls)
