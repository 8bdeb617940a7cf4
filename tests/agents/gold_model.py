"""A model endpoint that plays the reference solutions of tasks in every protocol of agents, streamed or not.

Invariant: the position in a solution follows from the conversation alone, by its results of tools. Tokens and cost of
each answer are written down when it is sent.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from opsgym_api.kinds.evalmodel import Prices
from opsgym_api.tasks.task import Task, ToolCall
from opsgym_runner.models.forward import PATHS, Wire

PRICES = Prices(input_usd=3.0, output_usd=15.0)
OUTPUT_TOKENS = 7
SHELL = "bash"
"""Tool of an agent that has no other; it calls the task's tools in the shell."""
Body = dict[str, Any]


@dataclass(frozen=True)
class Turn:
    """What the model says next: one call of a tool, or the answer."""

    number: int
    call: tuple[str, Body, Body] | None
    """Name, arguments, and the fields with which the agent named the tool's group."""
    text: str
    tokens: int
    """Tokens read."""


@dataclass
class GoldModel:
    """Plays tasks.

    Args:
        tasks: Tasks with gold actions.
    """

    tasks: Sequence[Task]
    requests: list[tuple[str, Body]] = field(default_factory=list)
    """Address and body of each request."""
    sent: list[Turn] = field(default_factory=list)

    @property
    def app(self) -> Starlette:
        """The endpoint as an ASGI application."""
        return Starlette(routes=[Route(f"/v1{path}", _answering(self, wire), methods=["POST"]) for wire, path in
                                 PATHS.items()])  # fmt: skip

    @property
    def spent(self) -> tuple[int, int, float]:
        """Tokens read and written, and cost in US dollars, of all answers."""
        read, written = sum(turn.tokens for turn in self.sent), OUTPUT_TOKENS * len(self.sent)
        return read, written, (read * PRICES.input_usd + written * PRICES.output_usd) / 1e6

    def turn(self, wire: Wire, body: Body) -> Turn:
        """The next turn of the conversation in a request."""
        written = json.dumps(body)
        number = len(list(_results(wire, body)))
        tokens = 1000 + len(self.sent)
        task = next((task for task in self.tasks if json.dumps(task.user_prompt.strip()[:200])[1:-1] in written), None)
        if task is None or not body.get("tools"):  # for instance a title for the conversation
            return Turn(number, None, "A title", tokens)
        actions = task.gold_actions or []
        if number < len(actions):
            return Turn(number, _shown(actions[number], body["tools"]), "", tokens)
        answer = task.gold_answer or "Done."
        if _is_shell(body["tools"]):
            command = f"echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && echo {shlex.quote(answer)}"
            return Turn(number, (SHELL, {"command": command}, {}), "", tokens)
        return Turn(number, None, answer, tokens)


def _answering(model: GoldModel, wire: Wire) -> Any:
    async def answer(request: Request) -> Response:
        body = await request.json()
        model.requests.append((request.url.path, body))
        turn = model.turn(wire, body)
        model.sent.append(turn)
        whole = {"chat": _chat, "responses": _response, "messages": _message}[wire](turn)
        if not body.get("stream"):
            return JSONResponse(whole)
        parts = {"chat": _chat_events, "responses": _response_events, "messages": _message_events}[wire](whole)
        return Response("".join(parts), media_type="text/event-stream")

    return answer


def _results(wire: Wire, body: Body) -> Iterator[Body]:
    """Results of tools in a conversation."""
    if wire == "responses":
        yield from (item for item in body["input"] if str(item.get("type")).endswith("_call_output"))
    for message in body.get("messages", ()):
        if message["role"] == "tool":
            yield message
        elif isinstance(message.get("content"), list):
            yield from (block for block in message["content"] if block.get("type") == "tool_result")


def _shown(action: ToolCall, tools: Sequence[Body]) -> tuple[str, Body, Body]:
    """An action under the name by which the agent shows its tool."""
    if _is_shell(tools):
        return SHELL, {"command": f"./tool {action.name} {shlex.quote(json.dumps(action.arguments))}"}, {}
    for tool in tools:
        if tool.get("type") == "namespace":
            if any(inner["name"] == action.name for inner in tool["tools"]):
                return action.name, action.arguments, {"namespace": tool["name"]}
            continue
        name = _name(tool)
        if name == action.name or name.endswith((f"__{action.name}", f"-mcp_{action.name}")):
            return name, action.arguments, {}
    return action.name, action.arguments, {}


def _is_shell(tools: Sequence[Body]) -> bool:
    return [_name(tool) for tool in tools] == [SHELL]


def _name(tool: Body) -> str:
    return str(tool.get("name") or tool.get("function", {}).get("name"))


def _usage(turn: Turn, read: str, written: str) -> Body:
    return {read: turn.tokens, written: OUTPUT_TOKENS}


def _event(data: Body, *, named: bool = True) -> str:
    return (f"event: {data['type']}\n" if named else "") + f"data: {json.dumps(data)}\n\n"


def _chat(turn: Turn) -> Body:
    message: Body = {"role": "assistant", "content": turn.text or None}
    if turn.call:
        function = {"name": turn.call[0], "arguments": json.dumps(turn.call[1])}
        message["tool_calls"] = [{"id": f"call_{turn.number}", "type": "function", "function": function}]
    finish = "tool_calls" if turn.call else "stop"
    usage = _usage(turn, "prompt_tokens", "completion_tokens")
    return {
        "id": "c", "object": "chat.completion", "created": 1, "model": "stub-1",
        "usage": {**usage, "total_tokens": sum(usage.values())},
        "choices": [{"index": 0, "finish_reason": finish, "message": message}],
    }  # fmt: skip


def _chat_events(whole: Body) -> Iterator[str]:
    (choice,) = whole["choices"]
    calls = [{"index": i, **call} for i, call in enumerate(choice["message"].pop("tool_calls", ()))]
    delta = {**choice["message"], **({"tool_calls": calls} if calls else {})}
    rest = {**whole, "object": "chat.completion.chunk"}
    usage = rest.pop("usage")
    for part, finish in ((delta, None), ({}, choice["finish_reason"])):
        yield _event({**rest, "choices": [{"index": 0, "delta": part, "finish_reason": finish}]}, named=False)
    yield _event({**rest, "choices": [], "usage": usage}, named=False)
    yield "data: [DONE]\n\n"


def _response(turn: Turn) -> Body:
    content = [{"type": "output_text", "text": turn.text, "annotations": []}]
    item: Body = {"type": "message", "id": f"m_{turn.number}", "role": "assistant", "content": content}
    if turn.call:
        name, arguments, group = turn.call
        item = {"type": "function_call", "id": f"f_{turn.number}", "call_id": f"call_{turn.number}", "name": name}
        item |= {"arguments": json.dumps(arguments), **group}
    usage = _usage(turn, "input_tokens", "output_tokens")
    return {
        "id": f"r_{turn.number}", "object": "response", "created_at": 1, "model": "stub-1", "status": "completed",
        "parallel_tool_calls": False, "tool_choice": "auto", "tools": [],
        "usage": {**usage, "total_tokens": sum(usage.values()), "input_tokens_details": {"cached_tokens": 0},
                  "output_tokens_details": {"reasoning_tokens": 0}},
        "output": [{**item, "status": "completed"}],
    }  # fmt: skip


def _response_events(whole: Body) -> Iterator[str]:
    (item,) = whole["output"]
    yield _event({"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}})
    yield _event({"type": "response.output_item.added", "output_index": 0, "item": {**item, "status": "in_progress"}})
    yield _event({"type": "response.output_item.done", "output_index": 0, "item": item})
    yield _event({"type": "response.completed", "response": whole})


def _message(turn: Turn) -> Body:
    block: Body = {"type": "text", "text": turn.text}
    if turn.call:
        block = {"type": "tool_use", "id": f"toolu_{turn.number}", "name": turn.call[0], "input": turn.call[1]}
    return {
        "id": f"m_{turn.number}", "type": "message", "role": "assistant", "model": "stub-1", "content": [block],
        "stop_reason": "tool_use" if turn.call else "end_turn", "stop_sequence": None,
        "usage": _usage(turn, "input_tokens", "output_tokens"),
    }  # fmt: skip


def _message_events(whole: Body) -> Iterator[str]:
    (block,) = whole["content"]
    usage = whole["usage"]
    begun = {**whole, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    yield _event({"type": "message_start", "message": begun})
    if block["type"] == "text":
        empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
    else:
        empty, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    yield _event({"type": "content_block_start", "index": 0, "content_block": empty})
    yield _event({"type": "content_block_delta", "index": 0, "delta": delta})
    yield _event({"type": "content_block_stop", "index": 0})
    ending = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield _event({"type": "message_delta", "delta": ending, "usage": {"output_tokens": usage["output_tokens"]}})
    yield _event({"type": "message_stop"})
