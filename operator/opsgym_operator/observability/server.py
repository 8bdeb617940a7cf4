"""HTTP endpoints of the operator: `/metrics`, `/healthz` and `/readyz`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST

from opsgym_core.metrics.registry import Metrics
from opsgym_operator.observability.health import Health
from opsgym_operator.sockets import serving_app


@asynccontextmanager
async def serving(metrics: Metrics, health: Health, ready: Callable[[], bool], port: int) -> AsyncIterator[int]:
    """Serves while the context is open.

    Args:
        metrics: Content of `/metrics`, once the operator is ready.
        health: Checks of `/healthz`.
        ready: Check of `/readyz`.
        port: Port to listen on; a free one if 0.

    Yields:
        The port.
    """

    async def get_metrics(_: web.Request) -> web.Response:
        if not ready():
            return web.Response(status=503, text="counters are being rebuilt from the stores\n")
        return web.Response(body=metrics.text(), headers={"Content-Type": CONTENT_TYPE_LATEST})

    async def get_health(_: web.Request) -> web.Response:
        problems = health.problems
        return web.Response(status=503 if problems else 200, text="\n".join(problems or ["ok"]) + "\n")

    async def get_readiness(_: web.Request) -> web.Response:
        return web.Response(text="ok\n") if ready() else web.Response(status=503, text="starting\n")

    app = web.Application()
    app.add_routes([
        web.get("/metrics", get_metrics), web.get("/healthz", get_health), web.get("/readyz", get_readiness)
    ])  # fmt: skip
    async with serving_app(app, port) as served:
        yield served
