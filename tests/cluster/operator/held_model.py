"""A model endpoint that pods of the cluster reach, and that answers when a test lets it."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from devcluster.kube import Kube
from devcluster.places import NODE_IP

PROMPT_TOKENS, COMPLETION_TOKENS = 80_000, 20_000
"""Of every answer: with a dollar for a million tokens of each kind, an episode of one answer costs ten cents."""
PRICES = {"inputUsd": 1.0, "outputUsd": 1.0}
SECRET = "held-model"
"""Secret with the key, which any model's client insists on."""
ANSWER = {
    "id": "answer",
    "object": "chat.completion",
    "created": 0,
    "model": "held",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "All done."}}],
    "usage": {
        "prompt_tokens": PROMPT_TOKENS,
        "completion_tokens": COMPLETION_TOKENS,
        "total_tokens": PROMPT_TOKENS + COMPLETION_TOKENS,
    },
}


@dataclass
class HeldModel:
    """Answers `All done.` to every request, up to a limit that the test sets."""

    url: str = ""
    requests: int = 0
    """Requests so far."""
    answered: int = 0
    most: int = 0
    """Largest number of simultaneous requests."""
    _open: int = 0
    _allowed: float = math.inf
    _change: threading.Condition = field(default_factory=threading.Condition)

    def hold(self, after: int = 0) -> None:
        """Answers so many more requests, and nothing from then on."""
        with self._change:
            self._allowed = self.answered + after
            self._change.notify_all()

    def release(self) -> None:
        """Answers everything that waits, and all that comes."""
        with self._change:
            self._allowed = math.inf
            self._change.notify_all()

    def complete(self) -> None:
        """Returns when a request may be answered."""
        with self._change:
            self.requests += 1
            self._open += 1
            self.most = max(self.most, self._open)
            self._change.wait_for(lambda: self.answered < self._allowed)
            self.answered += 1
            self._open -= 1

    def inline(self, **more: Any) -> dict[str, Any]:
        """The model as an EvalRun or EvalModel writes it."""
        usual = {"model": "openai/held", "credentials": {"secret": SECRET}, "prices": PRICES, "maxConcurrency": 2}
        return {**usual, "endpoints": [{"url": self.url}], **more}


@contextmanager
def held_model(kube: Kube, namespace: str) -> Iterator[HeldModel]:
    """Serves one on the node's address while the context is open; it answers at once until the test holds it."""
    model = HeldModel()
    metadata = {"name": SECRET, "namespace": namespace}
    kube.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {"api-key": "held"}})

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            model.complete()
            answer = json.dumps(ANSWER).encode()
            try:
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)
            except ConnectionError:
                self.close_connection = True  # its pod was killed while it waited

        def log_message(self, *_: Any) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer((NODE_IP, 0), Handler)
    server.daemon_threads = True
    model.url = f"http://{NODE_IP}:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, name="held model")
    thread.start()
    try:
        yield model
    finally:
        model.release()
        server.shutdown()
        thread.join()
        server.server_close()
