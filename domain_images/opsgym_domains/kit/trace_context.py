"""Has log lines of a gym server say for which span of its caller they were written (W3C Trace Context).

Invariant: a header that is missing or malformed changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import structlog
from starlette.types import ASGIApp, Receive, Scope, Send

_HEADER = b"traceparent"
_PARENT = re.compile(rb"[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}")


class TraceContext:
    """Middleware that binds `trace_id` and `span_id` while a request is answered.

    Args:
        app: Answers it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""
        ids = trace_of(scope)
        if not ids:
            await self._app(scope, receive, send)
            return
        with structlog.contextvars.bound_contextvars(**ids):
            await self._app(scope, receive, send)


def trace_of(scope: Scope) -> Mapping[str, str]:
    """Ids of the trace and span that a request belongs to; empty if it names none."""
    given = next((value for name, value in scope.get("headers", ()) if name == _HEADER), b"")
    found = _PARENT.fullmatch(given)
    return {} if found is None else {"trace_id": found[1].decode(), "span_id": found[2].decode()}
