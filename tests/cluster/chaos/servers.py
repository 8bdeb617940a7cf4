"""Servers between opsgym and what it depends on, which fail in the ways that a test chooses.

Invariant: a server that works passes every request on unchanged. What it has answered is on record, so that a test
knows the requests that took effect.
"""

from __future__ import annotations

import http.client
import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

from devcluster.places import NODE_IP, S3_PORT

from opsgym_api.records.store_layout import is_trial_record

HOP_BY_HOP = ("connection", "content-length", "expect", "keep-alive", "transfer-encoding")
"""Headers of one connection, which a proxy writes itself."""
ACCEPT_S = 0.05
PORT_S = 60.0
"""Seconds for which a port that is taken is waited for."""


class Mode(StrEnum):
    """How a server treats requests."""

    WORKS = "works"
    FAILS = "answers 503"
    HANGS = "hangs"
    """A request is carried out when the server works again."""
    REFUSES = "refuses connections"
    FORGETS = "carries requests out and does not answer"


@dataclass(frozen=True)
class Request:
    """A request to a server."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Answer:
    """What a server answers."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""


class FaultyServer:
    """An HTTP server that fails in a chosen way.

    Args:
        host: Address that it listens on.
        carry_out: What it does with a request.
    """

    def __init__(self, host: str, carry_out: Callable[[Request], Answer]) -> None:
        self._carry_out = carry_out
        self._host, self._port = host, 0
        self._mode = Mode.WORKS
        self._change = threading.Condition()
        self._listen()

    @property
    def address(self) -> str:
        """Host and port, the same for as long as it exists."""
        return f"{self._host}:{self._port}"

    @contextmanager
    def failing(self, mode: Mode) -> Iterator[None]:
        """Fails in a way while the context is open."""
        self._set(mode)
        if mode is Mode.REFUSES:
            self._stop_listening()
        try:
            yield
        finally:
            if mode is Mode.REFUSES:
                self._listen()
            self._set(Mode.WORKS)

    def close(self) -> None:
        """Ends it; requests that wait are carried out."""
        self._set(Mode.WORKS)
        self._stop_listening()

    def _set(self, mode: Mode) -> None:
        with self._change:
            self._mode = mode
            self._change.notify_all()

    def answer(self, request: Request) -> Answer | None:
        """What is answered to a request; None for a connection that is closed instead."""
        with self._change:
            self._change.wait_for(lambda: self._mode is not Mode.HANGS)
            mode = self._mode
        if mode is Mode.FAILS:
            return Answer(503, body=b"down for the test")
        if mode is Mode.REFUSES:
            return None
        answer = self._carry_out(request)
        return None if mode is Mode.FORGETS else answer

    def _listen(self) -> None:
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def serve(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                answer = owner.answer(Request(self.command, self.path, dict(self.headers.items()), body))
                if answer is None:
                    self.close_connection = True
                    return
                with suppress(ConnectionError):  # the client has given up
                    _send(self, answer)

            do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = serve  # noqa: N815 - names of the base class

            def handle(self) -> None:
                with suppress(ConnectionError):  # the client was killed
                    super().handle()

            def log_message(self, *_: Any) -> None:
                """Logs nothing."""

        self._server = self._bound(Handler)
        self._server.daemon_threads = True
        self._port = self._server.server_port
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": ACCEPT_S}, name=f"server {self.address}"
        )
        self._thread.start()

    def _bound(self, handler: type[BaseHTTPRequestHandler]) -> ThreadingHTTPServer:
        """Takes the port, again if it has had one: another connection of this machine may have got it meanwhile."""
        deadline = time.monotonic() + PORT_S
        while True:
            try:
                return ThreadingHTTPServer((self._host, self._port), handler)
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(ACCEPT_S)

    def _stop_listening(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def _send(handler: BaseHTTPRequestHandler, answer: Answer) -> None:
    handler.send_response(answer.status)
    for name, value in answer.headers:
        handler.send_header(name, value)
    if not any(name.lower() == "content-length" for name, _ in answer.headers):
        handler.send_header("Content-Length", str(len(answer.body)))
    handler.end_headers()
    handler.wfile.write(answer.body)


@dataclass(frozen=True)
class ScorePut:
    """A request to write a trial record.

    Attributes:
        at: When it was answered, by the monotonic clock.
        run: Name of the run in the store.
        key: The record's key.
        written: Whether the store took it.
        once: Whether the request allowed no replacement.
    """

    at: float
    run: str
    key: str
    written: bool
    once: bool


class StoreProxy(FaultyServer):
    """A way to the cluster's S3 server; signatures hold, since requests pass as they are."""

    def __init__(self) -> None:
        self.scores: list[ScorePut] = []
        super().__init__(NODE_IP, self._forward)

    @property
    def url(self) -> str:
        """Endpoint of the store."""
        return f"http://{self.address}"

    def _forward(self, request: Request) -> Answer:
        connection = http.client.HTTPConnection(NODE_IP, S3_PORT, timeout=60)
        try:
            headers = {name: value for name, value in request.headers.items() if name.lower() not in HOP_BY_HOP}
            headers["Content-Length"] = str(len(request.body))
            connection.request(request.method, request.path, request.body, headers)
            answer = connection.getresponse()
            body = answer.read()
        finally:
            connection.close()
        passed_on = [
            (name, value)
            for name, value in answer.getheaders()
            if name.lower() not in HOP_BY_HOP or (request.method == "HEAD" and name.lower() == "content-length")
        ]
        self._note(request, answer.status)
        return Answer(answer.status, tuple(passed_on), body)

    def _note(self, request: Request, status: int) -> None:
        path = unquote(urlsplit(request.path).path)
        place = re.search(r"/runs/([^/]+)/cells/", path)
        if request.method == "PUT" and place is not None and is_trial_record(path):
            once = request.headers.get("If-None-Match") == "*"
            self.scores.append(ScorePut(time.monotonic(), place[1], path, status == http.HTTPStatus.OK, once))


class WebhookReceiver(FaultyServer):
    """A receiver of notifications on this machine."""

    def __init__(self) -> None:
        self.notices: list[Mapping[str, Any]] = []
        super().__init__("127.0.0.1", self._receive)

    @property
    def url(self) -> str:
        """Address of the webhook."""
        return f"http://{self.address}/hook"

    def _receive(self, request: Request) -> Answer:
        self.notices.append(json.loads(request.body))
        return Answer(200)


@dataclass
class Relay:
    """A TCP connection's way to the API server, which can be cut.

    Attributes:
        target: Host and port of the API server.
    """

    target: tuple[str, int]
    _flowing: threading.Event = field(default_factory=threading.Event)
    _open: set[socket.socket] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._flowing.set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, name=f"relay {self.port}", daemon=True).start()

    def cut(self) -> None:
        """Closes every connection; new ones are accepted."""
        with self._lock:
            sockets, self._open = self._open, set()
        for one in sockets:
            with suppress(OSError):  # it has just ended
                one.shutdown(socket.SHUT_RDWR)

    @contextmanager
    def silent(self) -> Iterator[None]:
        """Nothing passes while the context is open, as after the loss of a network; then every connection ends."""
        self._flowing.clear()
        try:
            yield
        finally:
            self.cut()
            self._flowing.set()

    def close(self) -> None:
        """Ends it and its connections."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._flowing.set()
        self.cut()

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._join, args=(client,), name=f"relay {self.port}", daemon=True).start()

    def _join(self, client: socket.socket) -> None:
        """Passes on what either side sends until one of them ends."""
        with client:
            try:
                server = socket.create_connection(self.target, timeout=10)
            except OSError:
                return
            server.settimeout(None)
            with server:
                with self._lock:
                    self._open |= {client, server}
                back = threading.Thread(target=self._pump, args=(server, client), daemon=True)
                back.start()
                self._pump(client, server)
                back.join()
                with self._lock:
                    self._open -= {client, server}

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):  # one side has ended
            while content := source.recv(65536):
                self._flowing.wait()
                sink.sendall(content)
        for one in (source, sink):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
