"""OpenAI-compatible endpoint on the loopback interface whose model is a person."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from opsgym.play.person import Left, Person


@contextmanager
def endpoint_of(person: Person, on_left: Callable[[], object]) -> Iterator[str]:
    """Base URL of an endpoint that a person answers, for the duration of the block.

    Args:
        person: Who answers.
        on_left: Called when the person has left; the request is then answered with 503.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            try:
                content, status = _completion(body["model"], person.reply(body)), 200
            except Left:
                content, status = {"error": {"message": "the person has left"}}, 503
            data = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
            if status != 200:
                on_left()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            """Writes nothing: the terminal is the person's."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def _completion(model: str, message: Mapping[str, Any]) -> dict[str, Any]:
    finish = "tool_calls" if message.get("tool_calls") else "stop"
    return {
        "id": "person",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": dict(message), "finish_reason": finish}],
        "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    }
