"""What the operator says of itself over HTTP: `/metrics`, `/healthz` and `/readyz`."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST

from opsgym_operator.liveness import Health
from opsgym_operator.metrics import Metrics


@asynccontextmanager
async def serving(metrics: Metrics, health: Health, ready: Callable[[], bool], port: int) -> AsyncIterator[int]:
    """Answers while the context is open.

    Args:
        metrics: What `/metrics` shows, once the operator is ready.
        health: What `/healthz` asks.
        ready: What `/readyz` asks.
        port: Port to listen on; a free one if 0.

    Yields:
        The port.
    """

    async def show(_: web.Request) -> web.Response:
        if not ready():
            return web.Response(status=503, text="counters are being rebuilt from the stores\n")
        return web.Response(body=metrics.text(), headers={"Content-Type": CONTENT_TYPE_LATEST})

    async def live(_: web.Request) -> web.Response:
        problems = health.problems
        return web.Response(status=503 if problems else 200, text="\n".join(problems or ["ok"]) + "\n")

    async def is_ready(_: web.Request) -> web.Response:
        return web.Response(text="ok\n") if ready() else web.Response(status=503, text="starting\n")

    app = web.Application()
    app.add_routes([web.get("/metrics", show), web.get("/healthz", live), web.get("/readyz", is_ready)])
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await web.SockSite(runner, _listening(port)).start()
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


def _listening(port: int) -> socket.socket:
    """One socket for IPv4 and IPv6, where there is the latter: pods have either or both."""
    if socket.has_dualstack_ipv6():
        return socket.create_server(("", port), family=socket.AF_INET6, dualstack_ipv6=True)
    return socket.create_server(("", port))
