"""Middleware of the console: security headers, sessions, and admission of requests by `Access`.

Invariant: every response carries the security headers, and no response is a traceback. Only the health check, the
sign-in page and its style sheets are served to a sender who is not signed in.
"""

from __future__ import annotations

from functools import partial
from urllib.parse import quote

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.sessions import SessionMiddleware
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from opsgym_console.server import pages
from opsgym_console.server.access import SESSION_SECONDS, Access, Denial, RequestIdentity

COOKIE = "opsgym_session"
SESSION_HOST = "host"
"""Field of a session: the host under which the browser signed in. Cookies do not tell ports of a host apart."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
"""Content security policy of the console's pages."""
_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
}
_PUBLIC = ("/healthz", "/sign-in")
_PUBLIC_FOLDER = "/static/"

log = structlog.get_logger()


class SecurityHeaders:
    """ASGI middleware: sets the security headers and turns exceptions into plain 500 responses.

    Args:
        app: The application behind it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                headers.update(_HEADERS)
                headers.setdefault("content-security-policy", POLICY)
                headers.setdefault("cache-control", "no-store")
            await send(message)

        try:
            await self._app(scope, receive, send_with_headers)
        except Exception as error:
            log.exception("request_failed", path=scope["path"][:200], error=type(error).__name__)
            if not started:
                message = "The console failed on this request; see its log."
                await respond(scope, 500, message)(scope, receive, send_with_headers)


class Sessions:
    """ASGI middleware: signed session cookies, restricted to HTTPS where the browser uses HTTPS.

    Args:
        app: The application behind it.
        key: Key that signs the cookies.
    """

    def __init__(self, app: ASGIApp, key: str) -> None:
        middleware = partial(SessionMiddleware, app, key, COOKIE, max_age=SESSION_SECONDS, same_site="strict")
        self._plain, self._https = middleware(https_only=False), middleware(https_only=True)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one request."""
        if scope["type"] != "http":
            await self._plain.app(scope, receive, send)
            return
        # A proxy may end TLS. A sender that lies here only restricts its own cookie.
        forwarded = Headers(scope=scope).get("x-forwarded-proto", "")
        https = scope["scheme"] == "https" or forwarded.startswith("https")
        await (self._https if https else self._plain)(scope, receive, send)


class AuthMiddleware:
    """ASGI middleware: passes on requests that `Access` admits, and sends browsers to the sign-in page.

    Args:
        app: The application behind it.
        access: Decides which requests are admitted.
    """

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one request."""
        if scope["type"] != "http" or scope["path"] in _PUBLIC or scope["path"].startswith(_PUBLIC_FOLDER):
            await self._app(scope, receive, send)
            return
        denial = self._access.authorize(_identity(scope, self._access))
        await (self._app if denial is None else self._denied(scope, denial))(scope, receive, send)

    def _denied(self, scope: Scope, denial: Denial) -> Response:
        if denial.status == 401 and self._access.takes_token and accepts_html(scope):
            query = scope["query_string"].decode(errors="replace")
            target = quote(scope["path"].removeprefix("/") + (f"?{query}" if query else ""), safe="")
            return RedirectResponse(f"{pages.up(scope['path'])}sign-in?next={target}", status_code=303)
        response = respond(scope, denial.status, denial.message)
        if denial.status == 401:
            response.headers["www-authenticate"] = "Bearer"
        return response


def _identity(scope: Scope, access: Access) -> RequestIdentity:
    headers = HTTPConnection(scope).headers
    return RequestIdentity(
        peer=(scope.get("client") or ("",))[0],
        host=headers.get("host", ""),
        authorization=headers.get("authorization", ""),
        session_host=str(scope.get("session", {}).get(SESSION_HOST, "")),
        proxy_user=headers.get(access.header.name, "") if access.header else "",
    )


def accepts_html(scope: Scope) -> bool:
    """Whether the response is shown in a browser, rather than read by a program."""
    return not scope["path"].startswith("/api/") and "text/html" in Headers(scope=scope).get("accept", "")


def respond(scope: Scope, status: int, message: str) -> Response:
    """A response that consists of a message, as a page or as JSON."""
    if accepts_html(scope):
        return Response(pages.message(scope["path"], status, message), status, media_type="text/html")
    return JSONResponse({"detail": message}, status)
