"""Sockets that the operator's processes listen on."""

from __future__ import annotations

import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web


@asynccontextmanager
async def serving_app(
    app: web.Application, port: int, shutdown_s: float = 0.0, tls: ssl.SSLContext | None = None
) -> AsyncIterator[int]:
    """Serves an application while the context is open.

    Args:
        app: Answers the requests.
        port: Port to listen on; a free one if 0.
        shutdown_s: Seconds that requests under way have to end when the context closes.
        tls: Certificate of the server; plain HTTP without one.

    Yields:
        The port.
    """
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=shutdown_s)
    await runner.setup()
    try:
        await web.SockSite(runner, listening_socket(port), ssl_context=tls).start()
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


def listening_socket(port: int) -> socket.socket:
    """One socket for IPv4 and, where it is available, IPv6: pods have either or both.

    Args:
        port: Port to listen on; a free one if 0.
    """
    if socket.has_dualstack_ipv6():
        return socket.create_server(("", port), family=socket.AF_INET6, dualstack_ipv6=True)
    return socket.create_server(("", port))
