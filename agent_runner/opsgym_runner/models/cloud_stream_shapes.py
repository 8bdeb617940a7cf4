"""Puts streamed answers of Gemini (also on Vertex AI) and of Bedrock's Converse API together.

Invariant: as in `stream_shapes`, whose base class they share: nothing is made up.

Sources: Gemini API, streamGenerateContent; Amazon Bedrock API reference, ConverseStream; AWS event stream encoding.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator

from opsgym_runner.models.stream_shapes import Body, StreamedAnswer, json_or_text

_EXCEPTIONS = {
    "validationException": 400,
    "throttlingException": 429,
    "internalServerException": 500,
    "modelStreamErrorException": 500,
    "serviceUnavailableException": 503,
    "modelTimeoutException": 504,
}
"""HTTP status of each exception that a stream of Bedrock may hold."""
_PRELUDE = struct.Struct(">III")
"""Lengths of the frame and of its headers, and the checksum of both."""
_CHECKSUM = struct.Struct(">I")
_VALUE_SIZES = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
"""Bytes of a header's value, by its type; values of the other types begin with their length."""
_TEXT = 7
"""Type of a header whose value is text."""


class GeminiAnswer(StreamedAnswer):
    """An answer of generateContent: every event has the shape of the whole one, and the next parts of it."""

    def __init__(self) -> None:
        super().__init__()
        self._fields: Body = {}
        self._candidates: dict[int, Body] = {}

    def _add(self, event: Body) -> None:
        self._fields |= {name: value for name, value in event.items() if name != "candidates"}
        for part in event.get("candidates") or ():
            index = part.get("index") or 0
            candidate = self._candidates.setdefault(index, {"content": {"role": "model", "parts": []}})
            candidate |= {name: value for name, value in part.items() if name != "content"}
            for piece in (part.get("content") or {}).get("parts") or ():
                _add_part(candidate["content"]["parts"], piece)

    def _finished(self) -> bool:
        if not self._candidates:
            return bool((self._fields.get("promptFeedback") or {}).get("blockReason"))
        return all(candidate.get("finishReason") for candidate in self._candidates.values())

    def _body(self) -> Body:
        candidates = [self._candidates[index] for index in sorted(self._candidates)]
        return {**self._fields, "candidates": candidates} if candidates else self._fields


def _add_part(parts: list[Body], piece: Body) -> None:
    """Adds a part: the next words of a text lengthen it, a signature may come after them in a part without words."""
    last = parts[-1] if parts else {}
    if "text" not in piece:
        parts.append(dict(piece))
    elif "text" in last and "thoughtSignature" not in last and _is_thought(last) == _is_thought(piece):
        parts[-1] = {**last, **piece, "text": last["text"] + piece["text"]}
    elif piece["text"] or "thoughtSignature" in piece:
        parts.append(dict(piece))


def _is_thought(part: Body) -> bool:
    return bool(part.get("thought"))


class BedrockAnswer(StreamedAnswer):
    """An answer of Bedrock's Converse API; an event is an object of one field, its type."""

    def __init__(self) -> None:
        super().__init__()
        self._role = "assistant"
        self._blocks: dict[int, Body] = {}
        self._inputs: dict[int, str] = {}
        """JSON of a tool call's input so far, by block."""
        self._ends: Body = {}
        """Stop reason, usage and metrics."""

    def _error_in(self, event: Body) -> Body | None:
        name = next((name for name in event if name in _EXCEPTIONS), None)
        if name is None:
            return None
        return {"code": _EXCEPTIONS[name], "type": name, "message": event[name].get("message") or name}

    def _add(self, event: Body) -> None:
        ((kind, content),) = event.items()
        if kind == "messageStart":
            self._role = content["role"]
        elif kind == "contentBlockStart":
            self._blocks[content["contentBlockIndex"]] = {name: dict(start) for name, start in content["start"].items()}
        elif kind == "contentBlockDelta":
            self._add_delta(content["contentBlockIndex"], content["delta"])
        elif kind == "messageStop":
            self._ends |= content
        elif kind == "metadata":
            self._ends |= content
            self.ended = self._finished()

    def _add_delta(self, index: int, delta: Body) -> None:
        block = self._blocks.setdefault(index, {})
        if "toolUse" in delta:
            self._inputs[index] = self._inputs.get(index, "") + delta["toolUse"]["input"]
        if "text" in delta:
            block["text"] = block.get("text", "") + delta["text"]
        if "reasoningContent" in delta:
            _add_reasoning(block.setdefault("reasoningContent", {}), delta["reasoningContent"])

    def _finished(self) -> bool:
        return bool(self._ends.get("stopReason"))

    def _body(self) -> Body:
        for index, text in self._inputs.items():
            self._blocks[index]["toolUse"]["input"] = json_or_text(text or "{}")
        content = [self._blocks[index] for index in sorted(self._blocks)]
        return {"output": {"message": {"role": self._role, "content": content}}, **self._ends}


def _add_reasoning(content: Body, delta: Body) -> None:
    """Adds words of a thought, its signature, or a thought that the provider keeps to itself."""
    if "redactedContent" in delta:
        content["redactedContent"] = content.get("redactedContent", "") + delta["redactedContent"]
    for name in ("text", "signature"):
        if name in delta:
            text = content.setdefault("reasoningText", {})
            text[name] = text.get(name, "") + delta[name]


class FrameError(Exception):
    """The bytes of an event stream of AWS are damaged."""


class FrameReader:
    """Splits an event stream of AWS into its frames."""

    def __init__(self) -> None:
        self._rest = b""

    def read(self, content: bytes) -> Iterator[str]:
        """Events that the next bytes complete, as JSON objects of one field: the type, with the payload as it is.

        Raises:
            FrameError: A checksum does not match, or a length is impossible.
        """
        self._rest += content
        while len(self._rest) >= _PRELUDE.size:
            length, of_headers, checksum = _PRELUDE.unpack_from(self._rest)
            least = _PRELUDE.size + of_headers + _CHECKSUM.size
            if checksum != zlib.crc32(self._rest[: _PRELUDE.size - _CHECKSUM.size]) or length < least:
                raise FrameError
            if len(self._rest) < length:
                return
            frame, self._rest = self._rest[:length], self._rest[length:]
            yield _event(frame, of_headers)


def _event(frame: bytes, of_headers: int) -> str:
    body, (checksum,) = frame[: -_CHECKSUM.size], _CHECKSUM.unpack(frame[-_CHECKSUM.size :])
    if checksum != zlib.crc32(body):
        raise FrameError
    end = _PRELUDE.size + of_headers
    headers = dict(_text_headers(body[_PRELUDE.size : end]))
    kind = next((headers[name] for name in (":event-type", ":exception-type", ":error-code") if name in headers), "")
    return f"{{{json.dumps(kind)}: {body[end:].decode('utf-8', 'replace')}}}"


def _text_headers(content: bytes) -> Iterator[tuple[str, str]]:
    """Names and values of a frame's headers that are text."""
    position = 0

    def take(count: int) -> bytes:
        nonlocal position
        taken, position = content[position : position + count], position + count
        if len(taken) < count:
            raise FrameError
        return taken

    while position < len(content):
        name, kind = take(take(1)[0]).decode(), take(1)[0]
        value = take(_VALUE_SIZES[kind] if kind in _VALUE_SIZES else int.from_bytes(take(2), "big"))
        if kind == _TEXT:
            yield name, value.decode()
