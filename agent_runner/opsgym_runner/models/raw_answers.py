"""The answer to a request as it came over the wire, read here before litellm gets it.

Invariant: what litellm reads is storable and has the shape of its provider's API; whether the answer is an error, and
how the reply in it ended, is read from the answer, never from what litellm makes of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import httpx

from opsgym_core.common.foreign import MAX_DEPTH, MAX_DIGITS, TooDeepError, read_json, storable_text
from opsgym_runner.models.stream_shapes import status_of_error
from opsgym_runner.models.streaming import Send

_OF_THE_WIRE = frozenset({"content-length", "content-encoding", "transfer-encoding"})
"""Headers that describe the bytes of an answer, which are replaced."""
_ENDLESS_INTEGER = re.compile(rf"\d{{{MAX_DIGITS},}}")
_MINIMAX_STATUS = {1002: 429, 1004: 401, 1008: 402, 1026: 400, 1027: 400, 1039: 400, 2013: 400}
"""HTTP status of MiniMax's `base_resp.status_code`; its other codes are faults of the server."""


class RawAnswer:
    """The last answer to the requests of one call of litellm."""

    def __init__(self) -> None:
        self.status: int | None = None
        """HTTP status, or that of the error in an answer with status 200; None if nothing was answered."""
        self.headers: Mapping[str, str] = {}
        """With names in lower case."""
        self.text = ""
        self.body: Any = None
        """The storable JSON value; None if the answer is not JSON."""
        self.error: Any = None
        """The JSON value, or the text, of an answer that is an error; None for any other."""
        self.too_deep = False
        """Whether the answer is JSON that nests too deeply to be read: a model wrote that, no server does."""

    def read(self, response: httpx.Response, content: bytes) -> bytes:
        """Takes an answer; returns what litellm is to read in its place."""
        self.status, self.headers = response.status_code, {k.lower(): v for k, v in response.headers.items()}
        self.text = storable_text(content.decode("utf-8", "replace"))
        self.body, self.too_deep = None, False
        try:
            self.body = read_json(content)
        except TooDeepError:
            self.too_deep = not response.is_error
        except ValueError:
            pass
        self.error = None
        if response.is_error:
            self.error = self.text if self.body is None else self.body
        elif isinstance(self.body, dict) and (inside := _error_in(self.body, self.has_reply)) is not None:
            self.status, self.error = inside
        if self.body is None:
            return content
        return json.dumps(_for_litellm(self.body) if isinstance(self.body, dict) else self.body).encode()

    @property
    def fields(self) -> Mapping[str, Any]:
        """The body if it is an object; empty otherwise."""
        return self.body if isinstance(self.body, dict) else {}

    @property
    def has_reply(self) -> bool:
        """Whether the answer has the shape of a reply of a known API."""
        body = self.fields
        if "choices" in body or "candidates" in body:
            first = _first(body.get("choices") or body.get("candidates"))
            return bool(first) and isinstance(first.get("message", first.get("content", {})), dict)
        parts = (body.get("content"), body.get("message"), _part(body, "output", "message"), body.get("output"))
        return any(isinstance(part, dict | list) and bool(part) for part in parts)

    @property
    def finish_reasons(self) -> list[str]:
        """The provider's own words for how the reply ended, in lower case, the most general one first; may be empty."""
        body = self.fields
        first = _first(body.get("choices") or body.get("candidates"))
        named = [
            *(first.get(name) for name in ("finish_reason", "finishReason", "native_finish_reason")),
            *(body.get(name) for name in ("stop_reason", "stopReason", "finish_reason")),
            _part(body, "promptFeedback", "blockReason") and "prohibited_content",
        ]
        if body.get("object") == "response":
            named.append(_part(body, "incomplete_details", "reason") or body.get("status"))
        return [str(name).lower() for name in named if name]


_reading: ContextVar[RawAnswer | None] = ContextVar("opsgym_raw_answer", default=None)


@contextmanager
def reading() -> Iterator[RawAnswer]:
    """Keeps the answers to requests inside the block."""
    answer = RawAnswer()
    token = _reading.set(answer)
    try:
        yield answer
    finally:
        _reading.reset(token)


def with_reading(send: Send) -> Send:
    """A transport's `send` whose answers are read first where `reading` is on."""

    async def handle(transport: Any, request: httpx.Request) -> httpx.Response:
        response = await send(transport, request)
        answer = _reading.get()
        if answer is None:
            return response
        try:
            content = answer.read(response, await response.aread())
        finally:
            await response.aclose()
        headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in _OF_THE_WIRE]
        return httpx.Response(response.status_code, headers=headers, content=content, request=request)

    return handle


def _error_in(body: Mapping[str, Any], has_reply: bool) -> tuple[int, Any] | None:
    """Status and body of the error in an answer with status 200; None if there is none."""
    choice = _first(body.get("choices"))
    error = body.get("error") or choice.get("error")
    if error:
        if not isinstance(error, dict):
            error = {"message": str(error)}
        return status_of_error(error), {"error": error}
    code = _part(body, "base_resp", "status_code")
    if isinstance(code, int) and code != 0:
        return _MINIMAX_STATUS.get(code, 500), body
    if not has_reply and any(body.get(name) for name in _CODES) and isinstance(_message(body), str):
        return status_of_error(dict(body)), body
    return None


_CODES = ("code", "error_code", "type")


def _message(body: Mapping[str, Any]) -> Any:
    return body.get("message", body.get("error_msg"))


def _for_litellm(body: dict[str, Any]) -> dict[str, Any]:
    """A body in the shape that litellm reads: chat messages with a text, and calls in the newer form."""
    choices = body.get("choices")
    if isinstance(choices, list):
        body = {**body, "choices": [_choice(choice) if isinstance(choice, dict) else choice for choice in choices]}
        usage = body.get("usage")
        if isinstance(usage, dict) and usage.get("completion_tokens") is None:
            body["usage"] = _completed(usage)
    return body


def _choice(choice: dict[str, Any]) -> dict[str, Any]:
    message = choice.get("message")
    if not isinstance(message, dict):
        return choice
    message = dict(message)
    if isinstance(message.get("content"), list):
        parts = [part for part in message["content"] if isinstance(part, dict)]
        message["content"] = "".join(str(part.get("text") or "") for part in parts)
        thought = "".join(_thought(part) for part in parts)
        if thought and not message.get("reasoning_content"):
            message["reasoning_content"] = thought
    elif message.get("content") is not None:
        message["content"] = _text(message["content"])
    for name in ("reasoning_content", "reasoning"):
        if message.get(name) is not None:
            message[name] = _text(message[name])
    old = message.pop("function_call", None)
    if isinstance(old, dict) and not message.get("tool_calls"):
        message["tool_calls"] = [{"id": "call_0", "type": "function", "function": old}]
    if isinstance(message.get("tool_calls"), list):
        message["tool_calls"] = [_call(call) for call in message["tool_calls"] if isinstance(call, dict)]
    return {**choice, "message": message}


def _call(call: dict[str, Any]) -> dict[str, Any]:
    """A call with texts in its fields, and arguments that any reader either reads or finds to be no JSON."""
    function = call.get("function")
    if not isinstance(function, dict):
        function = {}
    arguments = function.get("arguments")
    written = {"name": _text(function.get("name") or ""), "arguments": _readable(_text(arguments or ""))}
    return {**call, "id": _text(call.get("id") or ""), "type": "function", "function": {**function, **written}}


def _readable(arguments: str) -> str:
    """Arguments that litellm's reader either reads, to the storable value, or finds to be no JSON.

    Its reader gives up on what nests too deeply and on the integers that Python converts from no text.
    """
    try:
        value = read_json(arguments)
    except TooDeepError:
        return f"{arguments[:MAX_DEPTH]}…"
    except ValueError:
        return _ENDLESS_INTEGER.sub(lambda digits: f"{digits[0][:20]}…", arguments)
    written = json.dumps(value)
    try:
        return arguments if json.dumps(json.loads(arguments)) == written else written
    except ValueError:
        return written


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _thought(part: Mapping[str, Any]) -> str:
    thinking = part.get("thinking")
    if isinstance(thinking, list):
        return "".join(str(piece.get("text") or "") for piece in thinking if isinstance(piece, dict))
    return thinking if isinstance(thinking, str) else ""


def _completed(usage: Mapping[str, Any]) -> dict[str, Any] | None:
    """A usage that does not count the reply's tokens, with what its total says; None if it has no total."""
    total, prompt = usage.get("total_tokens"), usage.get("prompt_tokens")
    if not isinstance(total, int) or not isinstance(prompt, int) or total < prompt:
        return None
    return {**usage, "completion_tokens": total - prompt}


def _first(value: Any) -> Mapping[str, Any]:
    return value[0] if isinstance(value, list) and value and isinstance(value[0], dict) else {}


def _part(value: Any, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value
