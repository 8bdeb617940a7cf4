"""A webhook's server on loopback that answers as a test says, or not at all."""

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
    """What it answers, and what it was told."""

    url: str
    answers: list[tuple[int, dict[str, str]] | None] = field(default_factory=list)
    """Status and headers, one after the other; None for no answer until the server is closed. 200 from then on."""
    received: list[Received] = field(default_factory=list)
    told: Event = field(default_factory=Event)
    """Set once something was received."""


@contextmanager
def webhook_server(*answers: tuple[int, dict[str, str]] | None) -> Iterator[Webhook]:
    """Serves while the context is open."""
    over = Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            found.received.append(Received(self.path, dict(self.headers), body))
            found.told.set()
            answer = found.answers.pop(0) if found.answers else (200, {})
            if answer is None:
                over.wait(60)
                return
            self.send_response(answer[0])
            for name, value in answer[1].items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found = Webhook(f"http://127.0.0.1:{server.server_port}/hook/secret-part", list(answers))
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield found
    finally:
        over.set()
        server.shutdown()
        thread.join()
        server.server_close()
