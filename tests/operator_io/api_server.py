"""A stub of the API server: an HTTP server on loopback with the answers that a test sets."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import yaml


@dataclass
class ApiServer:
    """Answers of the server, and the requests it received."""

    url: str
    answers: dict[tuple[str, str], list[tuple[int, Any]]] = field(default_factory=dict)
    """Status and body by method and path, in order; the last one is repeated. A body may be a function of the request's
    content, which returns the status too if that is 0 here."""
    refusals: dict[str, Callable[[Any], tuple[int, Any] | None]] = field(default_factory=dict)
    """By path of a POST: status and body that its content is answered with instead; None for the usual answer."""
    received: list[tuple[str, str, Any, dict[str, str]]] = field(default_factory=list)

    def answer(self, method: str, path: str, status: int, body: Any) -> None:
        """Adds an answer."""
        self.answers.setdefault((method, path), []).append((status, body))

    def kubeconfig(self, folder: Path, token: str = "first") -> Path:
        """A kubeconfig for this server."""
        path = folder / "kubeconfig"
        content = {
            "current-context": "test",
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
            "clusters": [{"name": "test", "cluster": {"server": self.url}}],
            "users": [{"name": "test", "user": {"token": token}}],
        }
        path.write_text(yaml.safe_dump(content))
        return path


@contextmanager
def api_server() -> Iterator[ApiServer]:
    """Serves while the context is open."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            content = self.rfile.read(length)
            path = self.path.split("?")[0]
            server_state.received.append((self.command, self.path, json.loads(content or b"null"), dict(self.headers)))
            queue = server_state.answers.get((self.command, path), [(404, {"kind": "Status", "message": "not found"})])
            refuse = server_state.refusals.get(path) if self.command == "POST" else None
            refused = refuse(json.loads(content)) if refuse else None
            status, body = refused or (queue.pop(0) if len(queue) > 1 else queue[0])
            if callable(body):
                body = body(json.loads(content or b"null"))
                # Without a status of its own the function answers with both.
                status, body = (status, body) if status else body
            answer = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(answer)))
            if status == 429:
                self.send_header("Retry-After", "7")
            self.end_headers()
            self.wfile.write(answer)

        do_GET = do_POST = do_PATCH = do_DELETE = handle_any  # noqa: N815 - http.server's names

        def log_message(self, *_: Any) -> None:
            """Logs nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server_state = ApiServer(f"http://127.0.0.1:{server.server_port}")
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server_state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
