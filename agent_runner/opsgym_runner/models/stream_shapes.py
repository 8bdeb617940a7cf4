"""Puts the events of a streamed answer together into the body of the whole answer, in the provider's own shape.

Invariant: nothing is made up. What the stream did not state (usage, a finish reason) is missing in the body as well,
and the body of an answer with an event that cannot be read has nothing but the usage.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any

DONE = "[DONE]"
"""Last event of a streamed chat completion."""
USAGE_FIELDS = ("usage", "usageMetadata")
"""Names of an answer's usage."""
Body = dict[str, Any]

_STATUS_OF_ERROR = {
    "invalid_request_error": 400,
    "context_length_exceeded": 400,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""HTTP status that providers give an error where they do not stream, by its code or type."""
_SERVER_ERROR = 500


class StreamedAnswer(ABC):
    """Puts one answer together."""

    def __init__(self) -> None:
        self.ended = False
        """Whether no further event belongs to the answer."""
        self._error: Body | None = None
        self._malformed = False

    def read(self, data: str) -> None:
        """Takes the data of one event."""
        if data == DONE:
            self.ended = True
            return
        try:
            event = json.loads(data)
            self._error = self._error or self._error_in(event)
            self._add(event)
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
            self._malformed = True

    @property
    def complete(self) -> bool:
        """Whether the events read so far are a whole answer, or its end."""
        return self.ended or self._error is not None or self._finished()

    def whole(self) -> tuple[int, Body]:
        """Status and body of the answer; those of an error if the stream reported one."""
        if self._error is not None:
            return status_of_error(self._error), {"error": self._error}
        body = self._body()
        return 200, {name: body.get(name) for name in USAGE_FIELDS} if self._malformed else body

    def _error_in(self, event: Body) -> Body | None:
        error = event.get("error")
        if not error:
            return None
        return error if isinstance(error, dict) else {"message": str(error)}

    @abstractmethod
    def _add(self, event: Body) -> None:
        """Adds an event; one of another shape raises an error of a lookup or a type."""

    @abstractmethod
    def _finished(self) -> bool:
        """Whether the answer says how it ended."""

    @abstractmethod
    def _body(self) -> Body:
        """Body of the answer so far."""


class ChatAnswer(StreamedAnswer):
    """A chat completion of OpenAI, and of those that are compatible with it."""

    def __init__(self) -> None:
        super().__init__()
        self._fields: Body = {}
        self._choices: dict[int, Body] = {}

    def _add(self, event: Body) -> None:
        self._fields |= {name: value for name, value in event.items() if name != "choices" and value not in (None, "")}
        for part in event.get("choices") or ():
            empty = {"message": {"role": "assistant", "content": None}, "finish_reason": None}
            choice = self._choices.setdefault(part.get("index") or 0, {"index": part.get("index") or 0, **empty})
            choice |= {name: value for name, value in part.items() if name != "delta" and value is not None}
            _add_delta(choice["message"], part.get("delta") or {})

    def _finished(self) -> bool:
        return bool(self._choices) and all(choice["finish_reason"] for choice in self._choices.values())

    def _body(self) -> Body:
        choices = [self._choices[index] for index in sorted(self._choices)]
        for choice in choices:
            for call in choice["message"].get("tool_calls", ()):
                call.pop("index", None)
        return {**self._fields, "object": "chat.completion", "choices": choices}


class AnthropicAnswer(StreamedAnswer):
    """A message of Anthropic."""

    def __init__(self) -> None:
        super().__init__()
        self._message: Body = {}
        self._blocks: dict[int, Body] = {}
        self._inputs: dict[int, str] = {}
        """JSON of a tool call's input so far, by block."""

    def _add(self, event: Body) -> None:
        kind = event.get("type")
        if kind == "message_start":
            self._message = dict(event["message"])
        elif kind == "content_block_start":
            self._blocks[event["index"]] = dict(event["content_block"])
        elif kind == "content_block_delta":
            self._add_delta(event["index"], event["delta"])
        elif kind == "message_delta":
            usage = {**self._message.get("usage", {}), **_stated(event.get("usage") or {})}
            self._message |= {**_stated(event["delta"]), "usage": usage}
        elif kind == "message_stop":
            self.ended = True

    def _add_delta(self, index: int, delta: Body) -> None:
        if delta["type"] == "input_json_delta":
            self._inputs[index] = self._inputs.get(index, "") + delta["partial_json"]
            return
        block = self._blocks[index]
        for name in ("text", "thinking", "signature"):
            if name in delta:
                block[name] = (block.get(name) or "") + delta[name]
        if "citation" in delta:
            block["citations"] = [*(block.get("citations") or ()), delta["citation"]]

    def _finished(self) -> bool:
        return bool(self._message.get("stop_reason"))

    def _body(self) -> Body:
        blocks = [
            {**self._blocks[index], "input": json_or_text(self._inputs[index])}
            if self._inputs.get(index)
            else self._blocks[index]
            for index in sorted(self._blocks)
        ]
        return {**self._message, "content": blocks}


class ResponsesAnswer(StreamedAnswer):
    """A response of OpenAI's Responses API, whose last event has the whole of it."""

    def __init__(self) -> None:
        super().__init__()
        self._response: Body = {}

    def _error_in(self, event: Body) -> Body | None:
        if event.get("type") != "error":
            return None
        nested = event.get("error")
        error: Body = nested if isinstance(nested, dict) else event
        return {name: error.get(name) for name in ("code", "message", "param")}

    def _add(self, event: Body) -> None:
        if event.get("type") in ("response.completed", "response.incomplete", "response.failed"):
            self._response = dict(event["response"])
            self.ended = True

    def _finished(self) -> bool:
        return bool(self._response)

    def _body(self) -> Body:
        return self._response


def status_of_error(error: Body) -> int:
    """HTTP status of an error in a stream, or in an answer with status 200."""
    for value in map(str, (error.get("code"), error.get("type"))):
        if value.isdecimal() and 400 <= int(value) < 600:
            return int(value)
        if value in _STATUS_OF_ERROR:
            return _STATUS_OF_ERROR[value]
    return _SERVER_ERROR


def _stated(fields: Mapping[str, Any]) -> Body:
    return {name: value for name, value in fields.items() if value is not None}


def json_or_text(text: str) -> Any:
    """Input of a tool call: the text where it is not JSON, for instance cut off, which the agent reads as malformed."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _add_delta(message: Body, delta: Body) -> None:
    """Adds a part to a chat message: texts grow, calls and blocks of reasoning by their index."""
    for name, value in delta.items():
        if value in (None, ""):
            continue
        if name == "tool_calls":
            _add_calls(message.setdefault(name, []), value)
        elif name == "reasoning_details":
            _add_details(message.setdefault(name, []), value)
        elif name != "role" and isinstance(value, str | list):
            message[name] = message[name] + value if message.get(name) else value
        else:
            message[name] = value


def _add_calls(calls: list[Body], parts: Iterable[Body]) -> None:
    for part in parts:
        call = _call_of(calls, part)
        written: Body = part.get("function") or {}
        function = call["function"]
        function["name"] = function["name"] or written.get("name") or ""
        function["arguments"] += written.get("arguments") or ""
        call |= {name: value for name, value in part.items() if name not in ("function", "index") and value}


def _call_of(calls: list[Body], part: Body) -> Body:
    """The call that a part belongs to, which is added if it is new. Servers without an index name the id."""
    index, call_id = part.get("index"), part.get("id")
    if index is not None:
        known = next((call for call in calls if call.get("index") == index), None)
    elif call_id:
        known = next((call for call in calls if call.get("id") == call_id), None)
    else:
        known = calls[-1] if calls else None
    if known is None:
        known = {"index": index, "type": "function", "function": {"name": "", "arguments": ""}}
        calls.append(known)
    return known


def _add_details(details: list[Body], parts: Iterable[Body]) -> None:
    """Adds OpenRouter's blocks of reasoning: texts and summaries come in parts, encrypted blocks whole."""
    for part in parts:
        known = next((detail for detail in details if _is_same_block(detail, part)), None)
        if known is None:
            details.append(dict(part))
            continue
        for name, value in _stated(part).items():
            grows = name in ("text", "summary") and isinstance(known.get(name), str)
            known[name] = known[name] + value if grows else value


def _is_same_block(detail: Body, part: Body) -> bool:
    if detail.get("type") == "reasoning.encrypted" or part.get("index") is None:
        return False
    return all(detail.get(name) == part.get(name) for name in ("type", "index"))
