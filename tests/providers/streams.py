"""Whole answers of each provider as the events of its stream, and a stub that sends them.

The events are written down as each provider documents its stream; nothing is shared with the reader under test.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from tests.providers.stubs import Stub

Body = dict[str, Any]
BROKEN = "{broken"
"""Data of an event that is not JSON."""


def events_of(path: str, body: Body) -> list[str]:
    """A whole answer as the events of its stream, by the path of the API."""
    if path.endswith("/messages"):
        return [_event(event, event["type"]) for event in anthropic_events(body)]
    if path.endswith("/responses"):
        return [_event(event, event["type"]) for event in responses_events(body)]
    return [*map(_event, chat_chunks(body)), _event("[DONE]")]


def _event(data: Body | str, kind: str = "") -> str:
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return f"event: {kind}\ndata: {text}\n\n" if kind else f"data: {text}\n\n"


def chat_chunks(body: Body) -> Iterator[Body]:
    """OpenAI's chunks: role, parts of texts, of calls and of reasoning, the finish reason, and last the usage."""
    base = {**{k: body[k] for k in body if k not in ("choices", "usage")}, "object": "chat.completion.chunk"}

    def chunk(delta: Body, **fields: Any) -> Body:
        return {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None, **fields}], "usage": None}

    choice = body["choices"][0]
    yield {**base, "choices": []}  # Azure begins with the results of its filter
    yield chunk({"role": "assistant", "content": ""})
    for name, value in choice["message"].items():
        if name == "tool_calls":
            yield from (chunk({"tool_calls": [part]}) for part in _call_parts(value))
        elif name == "reasoning_details":
            yield from (chunk({name: [part]}) for part in _detail_parts(value))
        elif name != "role" and value is not None:
            yield from (chunk({name: part}) for part in halves(value))
    ends = {k: v for k, v in choice.items() if k not in ("index", "message")}
    yield chunk({}, **ends)
    yield {**base, "choices": [], "usage": body["usage"]}


def _call_parts(calls: Sequence[Body]) -> Iterator[Body]:
    for index, call in enumerate(calls):
        yield {**call, "index": index, "function": {"name": call["function"]["name"], "arguments": ""}}
        for part in halves(call["function"]["arguments"]):
            yield {"index": index, "function": {"arguments": part}}


def _detail_parts(details: Sequence[Body]) -> Iterator[Body]:
    for detail in details:
        if detail["type"] != "reasoning.text":
            yield detail
            continue
        yield from ({**detail, "text": part, "signature": None} for part in halves(detail["text"]))
        yield {**detail, "text": ""}


def halves(text: str) -> list[str]:
    """A text in two parts."""
    return [text[: len(text) // 2], text[len(text) // 2 :]]


def anthropic_events(body: Body) -> Iterator[Body]:
    """Anthropic's events: the prompt's usage comes first, the reply's last."""
    usage = body["usage"]
    start = {**body, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    yield {"type": "message_start", "message": start}
    for index, block in enumerate(body["content"]):
        yield {"type": "content_block_start", "index": index, "content_block": _started(block)}
        yield {"type": "ping"}
        for delta in _anthropic_deltas(block):
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ends = {"stop_reason": body["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ends, "usage": {"output_tokens": usage["output_tokens"]}}
    yield {"type": "message_stop"}


def _started(block: Body) -> Body:
    empty: dict[str, Body] = {
        "text": {"text": ""},
        "thinking": {"thinking": "", "signature": ""},
        "tool_use": {"input": {}},
    }
    return {**block, **empty[block["type"]]}


def _anthropic_deltas(block: Body) -> Iterator[Body]:
    if block["type"] == "tool_use":
        yield from ({"type": "input_json_delta", "partial_json": part} for part in halves(json.dumps(block["input"])))
        return
    name = block["type"]
    yield from ({"type": f"{name}_delta", name: part} for part in halves(block[name]))
    if "signature" in block:
        yield {"type": "signature_delta", "signature": block["signature"]}


def responses_events(body: Body) -> Iterator[Body]:
    """Events of the Responses API, of which the last has the whole response."""
    yield {"type": "response.created", "response": {**body, "status": "in_progress", "output": [], "usage": None}}
    for index, item in enumerate(body["output"]):
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": f"response.{body['status']}", "response": body}


@dataclass
class StreamStub(Stub):
    """Streams its replies to requests that ask for it, and refuses nothing else.

    A reply that is a list is sent event by event as it is.
    """

    pause_s: float = 0.0
    """Seconds between two events."""
    stop_after: int | None = None
    """Events of the first answer after which it stops; None sends all."""
    then: str = "cut"
    """What follows a stop: `cut` ends the answer, `silence` keeps it open, `broken` sends `BROKEN` and goes on."""
    headers: tuple[tuple[str, str], ...] = ()

    def respond(self, path: str, reply: Body | str | list[str], request: Body) -> Response:
        if not request.get("stream") or isinstance(reply, str):
            return super().respond(path, reply, request)
        events = reply if isinstance(reply, list) else events_of(path, reply)
        stop = self.stop_after if len(self.seen) == 1 else None
        content = self._sent(events, stop)
        return StreamingResponse(content, headers=dict(self.headers), media_type="text/event-stream")

    async def _sent(self, events: Sequence[str], stop: int | None) -> AsyncIterator[str]:
        for number, event in enumerate(events):
            if number == stop and self.then != "broken":
                if self.then == "silence":
                    await asyncio.sleep(30)
                return
            yield f"data: {BROKEN}\n\n" if number == stop else event
            await asyncio.sleep(self.pause_s)


class RefusingStub(Stub):
    """Refuses to stream, as OpenAI does to organisations that it has not verified."""

    async def _answer(self, request: Request) -> Response:
        if json.loads(await request.body()).get("stream"):
            message = "Your organization must be verified to stream this model."
            error = {
                "message": message,
                "type": "invalid_request_error",
                "param": "stream",
                "code": "unsupported_value",
            }
            return JSONResponse({"error": error}, 400)
        return await super()._answer(request)
