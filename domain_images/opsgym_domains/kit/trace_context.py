"""Adds the caller's trace and span (W3C Trace Context) to the log lines of a gym server.

Invariant: a missing or malformed header has no effect.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import structlog
from starlette.types import ASGIApp, Receive, Scope, Send

_HEADER = b"traceparent"
_PARENT = re.compile(rb"[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}")


class TraceContext:
    """Middleware that binds `trace_id` and `span_id` for the time of a request.

    Args:
        app: The application.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles a request."""
        ids = trace_of(scope)
        if not ids:
            await self._app(scope, receive, send)
            return
        with structlog.contextvars.bound_contextvars(**ids):
            await self._app(scope, receive, send)


def trace_of(scope: Scope) -> Mapping[str, str]:
    """Ids of a request's trace and span; empty without a valid header."""
    given = next((value for name, value in scope.get("headers", ()) if name == _HEADER), b"")
    parent = _PARENT.fullmatch(given)
    return {} if parent is None else {"trace_id": parent[1].decode(), "span_id": parent[2].decode()}
