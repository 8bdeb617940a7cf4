"""An HTTP proxy that tunnels (CONNECT) and forwards, and TLS in front of plain servers.

The proxy alone knows where the hosts of `.example` are: a client that reaches one has used the proxy.
"""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

TIMEOUT_S = 30


@dataclass
class Proxy:
    """The proxy, and what clients requested."""

    url: str
    requests: list[tuple[str, str]] = field(default_factory=list)
    """Method, and host with port, of each request."""


@contextmanager
def proxy_server(hosts: Mapping[str, int]) -> Iterator[Proxy]:
    """Serves until the context ends.

    Args:
        hosts: Port on loopback of each host, named with its port.
    """
    with _listening() as listener:
        proxy = Proxy(f"http://127.0.0.1:{listener.getsockname()[1]}")

        def serve(client: socket.socket) -> None:
            head = _head(client)
            method, target, version = head.split(b"\r\n", 1)[0].decode().split(" ")
            url = urlsplit(target if method != "CONNECT" else f"//{target}")
            host = f"{url.hostname}:{url.port or 80}"
            proxy.requests.append((method, host))
            upstream = socket.create_connection(("127.0.0.1", hosts[host]), timeout=TIMEOUT_S)
            if method == "CONNECT":
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                path = url.path + (f"?{url.query}" if url.query else "")
                first = f"{method} {path} {version}\r\nConnection: close\r\n".encode()
                upstream.sendall(first + head.split(b"\r\n", 1)[1])
            _pump(client, upstream)

        _accept(listener, serve)
        yield proxy


@contextmanager
def tls_server(certificate: Path, key: Path, port: int) -> Iterator[int]:
    """A port that speaks TLS and passes what it decrypts to a plain port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)

    def serve(client: socket.socket) -> None:
        with suppress(ssl.SSLError):  # a client that does not trust the certificate hangs up
            encrypted = context.wrap_socket(client, server_side=True)
            _pump(encrypted, socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT_S))

    with _listening() as listener:
        _accept(listener, serve)
        yield int(listener.getsockname()[1])


@contextmanager
def _listening() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)  # ends accept()


def _accept(listener: socket.socket, serve: object) -> None:
    def accept() -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                client.settimeout(TIMEOUT_S)
                threading.Thread(target=handle, args=(client,), daemon=True).start()

    def handle(client: socket.socket) -> None:
        with suppress(OSError), client:
            assert callable(serve)
            serve(client)

    threading.Thread(target=accept, daemon=True).start()


def _head(client: socket.socket) -> bytes:
    """A request up to its body, and whatever of that came along."""
    head = b""
    while b"\r\n\r\n" not in head:
        received = client.recv(65536)
        if not received:
            raise OSError("the client hung up")
        head += received
    return head


def _pump(one: socket.socket, other: socket.socket) -> None:
    """Passes bytes both ways until both sides have ended."""
    with one, other:
        back = threading.Thread(target=_pass, args=(other, one), daemon=True)
        back.start()
        _pass(one, other)
        back.join()


def _pass(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while received := source.recv(65536):
            target.sendall(received)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
