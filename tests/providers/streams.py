"""Whole answers of each provider as the events of its stream, and a stub that sends them.

The events are written down as each provider documents its stream; nothing is shared with the reader under test.
"""

from __future__ import annotations

import asyncio
import json
import struct
import zlib
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from tests.providers.stubs import Seen, Stub

Body = dict[str, Any]
Event = str | bytes
BROKEN = "{broken"
"""Data of an event that is not JSON."""


GEMINI, BEDROCK = ":streamGenerateContent", "/converse-stream"
"""Ends of the paths that ask Gemini and Bedrock for a stream; others ask by a field of the body."""


def asks_for_a_stream(seen: Seen) -> bool:
    """Whether a request asks for a stream."""
    if seen.path.endswith(GEMINI):
        return seen.query == "alt=sse"
    return seen.path.endswith(BEDROCK) or bool(seen.body.get("stream"))


def events_of(path: str, body: Body) -> list[Event]:
    """A whole answer as the events of its stream, by the path of the API."""
    if path.endswith(BEDROCK):
        return [*frames_of(body)]
    if path.endswith(GEMINI):
        return [_event(event) for event in gemini_events(body)]
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


def gemini_events(body: Body) -> Iterator[Body]:
    """Gemini's events: each an answer with the next parts, the last with the finish reason and the whole usage."""
    (candidate,) = body["candidates"]
    usage = body["usageMetadata"]
    base = {**body, "usageMetadata": {"promptTokenCount": usage["promptTokenCount"], "totalTokenCount": 1000}}

    def event(part: Body, **fields: Any) -> Body:
        return {**base, "candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}, **fields}]}

    for part in candidate["content"]["parts"]:
        yield from (event({**part, "text": half}) for half in halves(part["text"])) if "text" in part else [event(part)]
    yield {**event({"text": ""}, finishReason=candidate["finishReason"]), "usageMetadata": usage}


def bedrock_events(body: Body) -> Iterator[tuple[str, Body]]:
    """Types and payloads of the events of ConverseStream."""
    message = body["output"]["message"]
    yield "messageStart", {"role": message["role"]}
    for index, block in enumerate(message["content"]):
        if "toolUse" in block:
            start = {name: block["toolUse"][name] for name in ("toolUseId", "name")}
            yield "contentBlockStart", {"start": {"toolUse": start}, "contentBlockIndex": index}
        for delta in _bedrock_deltas(block):
            yield "contentBlockDelta", {"delta": delta, "contentBlockIndex": index}
        yield "contentBlockStop", {"contentBlockIndex": index}
    yield "messageStop", {"stopReason": body["stopReason"]}
    yield "metadata", {"usage": body["usage"], "metrics": body["metrics"]}


def frames_of(body: Body) -> list[bytes]:
    """An answer of Bedrock as the frames of its stream."""
    return [frame(json.dumps(content), kind) for kind, content in bedrock_events(body)]


def _bedrock_deltas(block: Body) -> Iterator[Body]:
    if "toolUse" in block:
        yield from ({"toolUse": {"input": half}} for half in halves(json.dumps(block["toolUse"]["input"])))
    elif "text" in block:
        yield from ({"text": half} for half in halves(block["text"]))
    else:
        thought = block["reasoningContent"]["reasoningText"]
        yield from ({"reasoningContent": {"text": half}} for half in halves(thought["text"]))
        yield {"reasoningContent": {"signature": thought["signature"]}}


def frame(payload: str, kind: str, message: str = "event") -> bytes:
    """A frame of AWS's event stream: lengths, their checksum, headers, payload, checksum of all.

    Args:
        payload: JSON of the event.
        kind: Type of the event, or of the exception.
        message: `event` or `exception`.
    """
    values = {f":{message}-type": kind, ":content-type": "application/json", ":message-type": message}
    headers = b"".join(
        bytes([len(name)]) + name.encode() + b"\x07" + len(value).to_bytes(2, "big") + value.encode()
        for name, value in values.items()
    )
    content = payload.encode()
    lengths = struct.pack(">II", 12 + len(headers) + len(content) + 4, len(headers))
    body = lengths + struct.pack(">I", zlib.crc32(lengths)) + headers + content
    return body + struct.pack(">I", zlib.crc32(body))


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

    def respond(self, path: str, reply: Body | str | list[Event], request: Body) -> Response:
        if not asks_for_a_stream(self.seen[-1]) or isinstance(reply, str):
            return super().respond(path, reply, request)
        events = reply if isinstance(reply, list) else events_of(path, reply)
        stop = self.stop_after if len(self.seen) == 1 else None
        frames = path.endswith(BEDROCK)
        broken = frame(BROKEN, "contentBlockDelta") if frames else f"data: {BROKEN}\n\n"
        kind = "application/vnd.amazon.eventstream" if frames else "text/event-stream"
        return StreamingResponse(self._sent(events, stop, broken), headers=dict(self.headers), media_type=kind)

    async def _sent(self, events: Sequence[Event], stop: int | None, broken: Event) -> AsyncIterator[Event]:
        for number, event in enumerate(events):
            if number == stop and self.then != "broken":
                if self.then == "silence":
                    await asyncio.sleep(30)
                return
            yield broken if number == stop else event
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
