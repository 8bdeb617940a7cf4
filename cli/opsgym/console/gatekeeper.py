"""Stands between browsers and the console: asks `Access` about every request, and tells browsers what pages may do.

Invariant: every answer carries the security headers, and no answer is a traceback.
"""

from __future__ import annotations

import math
from urllib.parse import quote

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from opsgym.console import pages
from opsgym.console.access import Access, Refusal, Visit

COOKIE = "opsgym_session"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
"""What pages of the console may do."""
_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
}
_OPEN = ("/healthz", "/sign-in", "/static/")
"""What everybody may see: nothing of it is about a run."""

log = structlog.get_logger()


class Gatekeeper:
    """ASGI middleware around the whole console.

    Args:
        app: The console.
        access: Who gets in.
    """

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False

        async def send_guarded(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                headers = MutableHeaders(scope=message)
                headers.update(_HEADERS)
                headers.setdefault("content-security-policy", POLICY)
                headers.setdefault("cache-control", "no-store")
            await send(message)

        try:
            await self._admit(scope, receive, send_guarded)
        except Exception as error:
            log.exception("request_failed", path=scope["path"][:200], error=type(error).__name__)
            if not begun:
                told = "The console failed on this request. Its log says more."
                await answer(scope, 500, told)(scope, receive, send_guarded)

    async def _admit(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = None if _is_open(scope["path"]) else self._access.refusal(visit_of(scope, self._access))
        await (self._app if refusal is None else self._refused(scope, refusal))(scope, receive, send)

    def _refused(self, scope: Scope, refusal: Refusal) -> Response:
        if refusal.status == 401 and self._access.takes_token and wants_page(scope):
            query = scope["query_string"].decode(errors="replace")
            onward = quote(scope["path"].removeprefix("/") + (f"?{query}" if query else ""), safe="")
            return RedirectResponse(f"{pages.up(scope['path'])}sign-in?next={onward}", status_code=303)
        response = answer(scope, refusal.status, refusal.told)
        if refusal.status == 401:
            response.headers["www-authenticate"] = "Bearer"
        if refusal.retry_after:
            response.headers["retry-after"] = str(math.ceil(refusal.retry_after))
        return response


def visit_of(scope: Scope, access: Access) -> Visit:
    """What a request tells of who sent it."""
    connection = HTTPConnection(scope)
    headers = connection.headers
    return Visit(
        peer=(scope.get("client") or ("",))[0],
        host=headers.get("host", ""),
        authorization=headers.get("authorization", ""),
        session=connection.cookies.get(COOKIE, ""),
        trusted=headers.get(access.header.name, "") if access.header else "",
    )


def wants_page(scope: Scope) -> bool:
    """Whether somebody reads the answer, rather than a program."""
    return not scope["path"].startswith("/api/") and "text/html" in Headers(scope=scope).get("accept", "")


def answer(scope: Scope, status: int, told: str) -> Response:
    """An answer in words, as a page or as JSON."""
    if wants_page(scope):
        return Response(pages.message(scope["path"], status, told), status, media_type="text/html")
    return JSONResponse({"detail": told}, status)


def _is_open(path: str) -> bool:
    return path.startswith(_OPEN[-1]) or path in _OPEN
