"""A model of an OpenAI-compatible endpoint that plays tasks rightly, wrongly and with malformed replies.

Invariant: a play is a function of the task and the seed, and a reply one of the conversation alone, so that every
program that sends the same conversation gets the same reply.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from opsgym_api.tasks.task import Task, ToolCall
from opsgym_domains import registry

Message = Mapping[str, Any]
RIGHT, INCOMPLETE = "right", "one write left out"


@dataclass(frozen=True)
class Play:
    """How a task is played."""

    kind: str
    replies: Sequence[Message]
    """Messages of the model in order; the last one is repeated."""


def drawn(task: Task, seed: int) -> Play:
    """A play of a kind that the seed chooses."""
    (kind,) = random.Random(f"{seed}/{task.task_id}").choices(list(KINDS), [share for share, _ in KINDS.values()])
    return play_of(task, kind, seed)


def play_of(task: Task, kind: str, seed: int) -> Play:
    """A play of a task with a reference solution.

    Args:
        task: The task.
        kind: One of `KINDS`.
        seed: Chooses the place in the solution.
    """
    replies = KINDS[kind][1](task, random.Random(f"{seed}/{task.task_id}/place"))
    # Programs take the ids of calls for unique in a conversation.
    numbered = [_numbered(reply, place) for place, reply in enumerate(replies)]
    return Play(kind, [*numbered, says(task.gold_answer or "Done.")])


def app(plays: Mapping[str, Play]) -> Starlette:
    """The endpoint.

    Args:
        plays: By the first message of the user.
    """

    async def complete(request: Request) -> Response:
        body = await request.json()
        first = next(message["content"] for message in body["messages"] if message["role"] == "user")
        replies = plays[first].replies
        position = sum(message["role"] == "assistant" for message in body["messages"])
        return JSONResponse(_completion(replies[min(position, len(replies) - 1)], position))

    return Starlette(routes=[Route("/v1/chat/completions", complete, methods=["POST"])])


def says(text: str) -> Message:
    """A reply without calls."""
    return {"role": "assistant", "content": text}


def calls(*made: tuple[str, str]) -> Message:
    """A reply with calls, each a name and the text of its arguments."""
    functions = [{"name": name, "arguments": arguments} for name, arguments in made]
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "", "type": "function", "function": function} for function in functions],
    }


def _numbered(reply: Message, place: int) -> Message:
    made = [{**call, "id": f"call_{place}_{index}"} for index, call in enumerate(reply.get("tool_calls", ()))]
    return {**reply, "tool_calls": made} if made else reply


def _completion(message: Message, position: int) -> dict[str, Any]:
    reason = "tool_calls" if "tool_calls" in message else "stop"
    return {
        "id": f"reply-{position}",
        "object": "chat.completion",
        "created": 0,
        "model": "stub",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


# --- plays -----------------------------------------------------------------------------------------------------------


def _text(call: ToolCall) -> tuple[str, str]:
    return call.name, json.dumps(call.arguments)


def _right(task: Task, _draw: random.Random) -> list[Message]:
    return [calls(_text(call)) for call in task.gold_actions or ()]


def _at_once(task: Task, _draw: random.Random) -> list[Message]:
    return [calls(*map(_text, task.gold_actions or ()))]


def _nothing(_task: Task, _draw: random.Random) -> list[Message]:
    return []


def _without_a_write(task: Task, draw: random.Random) -> list[Message]:
    tools = {
        name: tool
        for server in task.gym_servers_config
        for name, tool in registry.load(server.domain).toolbox.tools.items()
    }
    right = _right(task, draw)
    writes = [place for place, call in enumerate(task.gold_actions or ()) if tools[call.name].writes]
    dropped = draw.choice(writes) if writes else len(right) - 1
    return [*right[:dropped], *right[dropped + 1 :]]


def _with(made: Callable[[ToolCall], Message]) -> Callable[[Task, random.Random], list[Message]]:
    """The solution with another reply somewhere, or after its end, made of the call there or of the last one."""

    def play(task: Task, draw: random.Random) -> list[Message]:
        actions, right = task.gold_actions or (), _right(task, draw)
        place = draw.randint(0, len(right))
        return [*right[:place], made(actions[min(place, len(right) - 1)]), *right[place:]]

    return play


KINDS: Mapping[str, tuple[int, Callable[[Task, random.Random], list[Message]]]] = {
    RIGHT: (40, _right),
    "right, all calls in one reply": (8, _at_once),
    "nothing": (6, _nothing),
    INCOMPLETE: (20, _without_a_write),
    "arguments cut off": (6, _with(lambda call: calls((call.name, json.dumps(call.arguments)[:-1])))),
    "arguments in a list": (4, _with(lambda call: calls((call.name, json.dumps([call.arguments]))))),
    "cut off beside a right call": (4, _with(lambda call: calls((call.name, "{"), _text(call)))),
    "a tool that is not there": (4, _with(lambda call: calls((f"{call.name}_x", "{}")))),
    "an argument that is not there": (4, _with(lambda call: calls((call.name, '{"no_such_argument": 1}')))),
    "an empty reply": (4, _with(lambda _call: says(""))),
}
"""Share in a hundred and messages of each kind of play."""
