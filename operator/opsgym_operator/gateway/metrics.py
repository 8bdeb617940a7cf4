"""Prometheus metrics of the store gateway.

Invariant: labels are operations of the interface and HTTP statuses that the gateway answers with, so the number of
series does not grow with pods, runs or stores, and no series tells one tenant about another.
"""

from __future__ import annotations

import time
from itertools import product

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)

from opsgym_core.metrics.definitions import GATEWAY_DURATION, GATEWAY_REQUESTS

OPERATIONS = ("get", "put", "list")
"""Names of the routes that are counted."""
STATUSES = ("200", "204", "400", "401", "403", "404", "408", "412", "413", "500", "503")
"""HTTP statuses that the gateway answers with; their counters begin at 0."""

# The `_created` series of counters are not needed: Prometheus detects resets without them.
disable_created_metrics()  # type: ignore[no-untyped-call]


class GatewayMetrics:
    """A registry with the metrics of `GATEWAY_METRICS` and those of the process."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        requests, duration = GATEWAY_REQUESTS, GATEWAY_DURATION
        self._requests = Counter(requests.name, requests.meaning, requests.labels, registry=self._registry)
        self._duration = Histogram(
            duration.name, duration.meaning, duration.labels, buckets=duration.buckets, registry=self._registry
        )
        for operation, status in product(OPERATIONS, STATUSES):
            self._requests.labels(operation, status)
        ProcessCollector(registry=self._registry)

    def text(self) -> bytes:
        """All series in Prometheus' text format."""
        return generate_latest(self._registry)

    @property
    def middleware(self) -> Middleware:
        """Counts and times the requests to routes whose name is an operation, also those that are refused.

        A request whose pod goes away before the answer is in no series.
        """

        @web.middleware
        async def measured(request: web.Request, handler: Handler) -> web.StreamResponse:
            operation = request.match_info.route.name
            if operation not in OPERATIONS:
                return await handler(request)
            started = time.monotonic()
            try:
                response = await handler(request)
            except web.HTTPException as refused:
                self.count(operation, refused.status, time.monotonic() - started)
                raise
            except Exception:
                self.count(operation, 500, time.monotonic() - started)
                raise
            self.count(operation, response.status, time.monotonic() - started)
            return response

        return measured

    def count(self, operation: str, status: int, seconds: float) -> None:
        """Counts a request that is answered.

        Args:
            operation: One of `OPERATIONS`.
            status: HTTP status of the answer.
            seconds: Time since it arrived.
        """
        self._requests.labels(operation, str(status)).inc()
        self._duration.labels(operation).observe(seconds)


def metrics_app(metrics: GatewayMetrics) -> web.Application:
    """The application that answers Prometheus."""

    async def get_metrics(_: web.Request) -> web.Response:
        return web.Response(body=metrics.text(), headers={"Content-Type": CONTENT_TYPE_LATEST})

    app = web.Application()
    app.add_routes([web.get("/metrics", get_metrics)])
    return app
