"""Endpoints in the wire shape of each provider, that give two replies: two tool calls at once, then words.

What a provider says is written down here as its own API documents it; nothing is shared with the client under test.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from tests.runner.servers import serving

ARGUMENTS = ({"number": "INC1"}, {"number": "INC2"})
"""Arguments of the two calls of the first reply, both of the tool `find`."""
ANSWER = "Both are open."


@dataclass(frozen=True)
class Seen:
    """A request as it came over the wire."""

    path: str
    query: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    raw: bytes = b""
    """The body as it was sent."""


@dataclass
class Stub:
    """Answers requests in their order, and keeps them. A reply that is a text is sent as a web page."""

    replies: tuple[Any, ...]
    status: int = 200
    seen: list[Seen] = field(default_factory=list)
    tokens_asked: list[str] = field(default_factory=list)
    """Bodies of requests for an OAuth token, as Google's cloud wants one."""

    async def _answer(self, request: Request) -> Response:
        raw = await request.body()
        if request.url.path == "/token":
            self.tokens_asked.append(raw.decode())
            return JSONResponse({"access_token": "ya29.token", "expires_in": 3600, "token_type": "Bearer"})
        # The raw path: model ids are quoted in it.
        path = request.scope["raw_path"].decode()
        self.seen.append(Seen(path, request.url.query, dict(request.headers), json.loads(raw), raw))
        reply = self.replies[min(len(self.seen), len(self.replies)) - 1]
        return self.respond(path, reply, self.seen[-1].body)

    def respond(self, path: str, reply: Any, request: dict[str, Any]) -> Response:
        """The answer to one request.

        Args:
            path: Path of the request.
            reply: The reply that it gets.
            request: Body of the request.
        """
        return HTMLResponse(reply, self.status) if isinstance(reply, str) else JSONResponse(reply, self.status)

    @contextmanager
    def serving(self) -> Iterator[str]:
        """Serves it; its base URL."""
        with serving(Starlette(routes=[Route("/{path:path}", self._answer, methods=["POST"])])) as url:
            yield url


def openai_chat(**message: Any) -> tuple[dict[str, Any], ...]:
    """Chat completions, as OpenAI and those that are compatible with it give them.

    Args:
        message: Further fields of the first reply's message.
    """
    calls = [
        {"id": f"call_{n}", "type": "function", "function": {"name": "find", "arguments": json.dumps(arguments)}}
        for n, arguments in enumerate(ARGUMENTS)
    ]
    first = {"role": "assistant", "content": None, "tool_calls": calls, **message}
    return _completion(first, "tool_calls"), _completion({"role": "assistant", "content": ANSWER}, "stop")


def _completion(message: dict[str, Any], reason: str) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "stub",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {
            "prompt_tokens": 1000,
            "completion_tokens": 100,
            "total_tokens": 1100,
            "prompt_tokens_details": {"cached_tokens": 600},
            "completion_tokens_details": {"reasoning_tokens": 40},
        },
    }


def openai_responses() -> tuple[dict[str, Any], ...]:
    """OpenAI's Responses API."""
    thought = {"type": "reasoning", "id": "rs_1", "encrypted_content": "b3BhcXVl", "summary": []}
    calls = [
        {
            "type": "function_call",
            "id": f"fc_{n}",
            "call_id": f"call_{n}",
            "name": "find",
            "arguments": json.dumps(arguments),
            "status": "completed",
        }
        for n, arguments in enumerate(ARGUMENTS)
    ]
    text = {"type": "output_text", "text": ANSWER, "annotations": []}
    words = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [text]}
    base = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "gpt-5",
        "status": "completed",
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "temperature": 1.0,
        "top_p": 1.0,
        "usage": {
            "input_tokens": 1000,
            "output_tokens": 100,
            "total_tokens": 1100,
            "input_tokens_details": {"cached_tokens": 600},
            "output_tokens_details": {"reasoning_tokens": 40},
        },
    }
    return {**base, "output": [thought, *calls]}, {**base, "output": [words]}


def anthropic_messages() -> tuple[dict[str, Any], ...]:
    """Anthropic's messages API: input tokens leave out what was read from the cache and written into it."""
    calls = [
        {"type": "tool_use", "id": f"toolu_{n}", "name": "find", "input": arguments}
        for n, arguments in enumerate(ARGUMENTS)
    ]
    thought = {"type": "thinking", "thinking": "Two numbers.", "signature": "c2lnbmVk"}
    usage = {
        "input_tokens": 100,
        "cache_read_input_tokens": 600,
        "cache_creation_input_tokens": 300,
        "output_tokens": 100,
    }

    def reply(content: list[dict[str, Any]], reason: str) -> dict[str, Any]:
        base = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "stop_sequence": None}
        return {**base, "content": content, "stop_reason": reason, "usage": usage}

    return reply([thought, *calls], "tool_use"), reply([{"type": "text", "text": ANSWER}], "end_turn")


def bedrock_converse() -> tuple[dict[str, Any], ...]:
    """Amazon Bedrock's Converse API."""
    calls = [
        {"toolUse": {"toolUseId": f"tooluse_{n}", "name": "find", "input": arguments}}
        for n, arguments in enumerate(ARGUMENTS)
    ]
    thought = {"reasoningContent": {"reasoningText": {"text": "Two numbers.", "signature": "c2lnbmVk"}}}
    usage = {
        "inputTokens": 100,
        "outputTokens": 100,
        "totalTokens": 1100,
        "cacheReadInputTokens": 600,
        "cacheWriteInputTokens": 300,
    }

    def reply(content: list[dict[str, Any]], reason: str) -> dict[str, Any]:
        message = {"role": "assistant", "content": content}
        return {"output": {"message": message}, "stopReason": reason, "usage": usage, "metrics": {"latencyMs": 1}}

    return reply([thought, *calls], "tool_use"), reply([{"text": ANSWER}], "end_turn")


def gemini_generate() -> tuple[dict[str, Any], ...]:
    """Gemini's generateContent, on AI Studio and on Vertex AI alike."""
    calls: list[dict[str, Any]] = [{"functionCall": {"name": "find", "args": arguments}} for arguments in ARGUMENTS]
    calls[0]["thoughtSignature"] = "c2lnbmVk"
    usage = {
        "promptTokenCount": 1000,
        "cachedContentTokenCount": 600,
        "candidatesTokenCount": 60,
        "thoughtsTokenCount": 40,
        "totalTokenCount": 1100,
    }

    def reply(parts: list[dict[str, Any]]) -> dict[str, Any]:
        candidate = {"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}
        return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini"}

    return reply(calls), reply([{"text": ANSWER}])
