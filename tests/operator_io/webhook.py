"""A stub of a webhook receiver: an HTTP server on loopback with the answers that a test sets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any


@dataclass
class Received:
    """A request."""

    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Webhook:
    """Answers of the receiver, and the requests it received."""

    url: str
    answers: list[tuple[int, dict[str, str]] | None] = field(default_factory=list)
    """Status and headers, in order, then 200; None for no answer until the server is closed."""
    received: list[Received] = field(default_factory=list)
    first_request: Event = field(default_factory=Event)
    """Set once a request was received."""


@contextmanager
def webhook_server(*answers: tuple[int, dict[str, str]] | None) -> Iterator[Webhook]:
    """Serves while the context is open."""
    over = Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            state.received.append(Received(self.path, dict(self.headers), body))
            state.first_request.set()
            answer = state.answers.pop(0) if state.answers else (200, {})
            if answer is None:
                over.wait(60)
                return
            self.send_response(answer[0])
            for name, value in answer[1].items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Logs nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state = Webhook(f"http://127.0.0.1:{server.server_port}/hook/secret-part", list(answers))
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield state
    finally:
        over.set()
        server.shutdown()
        thread.join()
        server.server_close()
