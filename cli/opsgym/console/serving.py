"""Runs the console until it is told to stop.

Invariant: it stops at once, also while streams are open and stores are asked: nothing is written, so nothing is lost.
"""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn

from opsgym.console.app import Console
from opsgym_api.errors import InputError, Problem

LAST_SECONDS = 1
"""What answers under way may take once the console stops."""
BACKLOG = 128


class Server(uvicorn.Server):
    """A server of the console that leaves signals to us: uvicorn raises them again when it is done.

    Args:
        console: What is served.
    """

    def __init__(self, console: Console) -> None:
        super().__init__(
            uvicorn.Config(
                console.app(),
                log_config=None,
                access_log=False,
                lifespan="on",
                # Who connects is who connects: a header that says otherwise would let anybody be a trusted proxy.
                proxy_headers=False,
                server_header=False,
                timeout_graceful_shutdown=LAST_SECONDS,
            )
        )

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leaves signals alone."""
        yield


async def serve(console: Console, host: str, port: int, ready: Callable[[int], None]) -> None:
    """Serves until SIGINT or SIGTERM.

    Args:
        console: What is served.
        host: Address to listen on.
        port: Port to listen on; 0 picks a free one.
        ready: Told the port once the address is ours.

    Raises:
        InputError: The address cannot be used.
    """
    listener = _listener(host, port)
    server = Server(console)

    def stop() -> None:
        console.close()
        server.should_exit = True

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    ready(listener.getsockname()[1])
    await server.serve(sockets=[listener])


def _listener(host: str, port: int) -> socket.socket:
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[
            0
        ]
        listener = socket.socket(family, kind)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(address)
            listener.listen(BACKLOG)
        except OSError:
            listener.close()
            raise
    except OSError as error:
        told = f"cannot listen on {host}:{port}: {error.strerror}; name another --host or --port"
        raise InputError("opsgym serve", [Problem("", told)]) from None
    return listener
