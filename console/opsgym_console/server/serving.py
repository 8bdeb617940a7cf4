"""Serves the console until SIGINT or SIGTERM.

Invariant: the server stops within `SHUTDOWN_SECONDS`, even with open streams and reads in progress: it writes nothing,
so nothing is lost.
"""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn

from opsgym_api.errors import InputError, Problem
from opsgym_console.server.app import Console

SHUTDOWN_SECONDS = 1
"""Time that responses in progress have to complete when the server stops."""
BACKLOG = 128
"""Connections that may wait to be accepted."""


class Server(uvicorn.Server):
    """A server that leaves signals to its caller; uvicorn would raise them again after it has stopped.

    Args:
        console: The application.
    """

    def __init__(self, console: Console) -> None:
        super().__init__(
            uvicorn.Config(
                console.app(),
                log_config=None,
                access_log=False,
                lifespan="on",
                # A forwarded address would let any client pass for a trusted proxy.
                proxy_headers=False,
                server_header=False,
                timeout_graceful_shutdown=SHUTDOWN_SECONDS,
            )
        )

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Installs no handlers."""
        yield


async def serve(console: Console, host: str, port: int, ready: Callable[[int], None]) -> None:
    """Serves until SIGINT or SIGTERM.

    Args:
        console: The application.
        host: Address to listen on; `::` stands for all addresses, those of IPv4 included.
        port: Port to listen on; 0 picks a free one.
        ready: Called with the port once the server listens.

    Raises:
        InputError: The server cannot listen on the address.
    """
    listener = listening_socket(host, port)
    server = Server(console)

    def stop() -> None:
        console.close()
        server.should_exit = True

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    ready(listener.getsockname()[1])
    await server.serve(sockets=[listener])


def listening_socket(host: str, port: int) -> socket.socket:
    """A socket that listens on an address; `::` stands for all addresses, those of IPv4 included.

    Raises:
        InputError: The address cannot be used.
    """
    try:
        if host == "::" and socket.has_dualstack_ipv6():
            address = (host, port)
            return socket.create_server(address, family=socket.AF_INET6, backlog=BACKLOG, dualstack_ipv6=True)
        # A machine without IPv6 has no address "::": all its addresses are IPv4.
        name = "0.0.0.0" if host == "::" else host  # noqa: S104 - what the caller asked for
        family, _, _, _, resolved = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        return socket.create_server((resolved[0], int(resolved[1])), family=family, backlog=BACKLOG)
    except OSError as error:
        message = f"cannot listen on {host}:{port}: {error.strerror}; name another --host or --port"
        raise InputError("opsgym serve", [Problem("", message)]) from None
