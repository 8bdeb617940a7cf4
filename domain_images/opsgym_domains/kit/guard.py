"""Protection of a gym server against web pages that use it through the user's browser.

Invariant: on a loopback address, a request whose Host or Origin names another machine or page never reaches a database.
Clients other than browsers send no `Origin`. A server on another address (in a pod) is reached under many names, so
Hosts are not checked there, and Origins only where the explore page is mounted.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from opsgym_core.common.net import is_loopback

MISDIRECTED, FORBIDDEN = 421, 403


class Guard:
    """ASGI middleware that refuses a foreign Host with 421 and a foreign Origin with 403.

    Args:
        app: The application behind it.
        host: Host name or address that the server listens on.
        page: Whether the server has the explore page.
    """

    def __init__(self, app: ASGIApp, host: str, *, page: bool) -> None:
        self._app = app
        self._host = host
        self._loopback = is_loopback(host)
        self._page = page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one request."""
        refusal = self._refusal(Headers(scope=scope)) if scope["type"] == "http" else None
        if refusal is None:
            await self._app(scope, receive, send)
        else:
            await refusal(scope, receive, send)

    def _refusal(self, headers: Headers) -> JSONResponse | None:
        host, origin = headers.get("host", ""), headers.get("origin")
        # DNS rebinding: a foreign host name that resolves to this machine would make a foreign page same-origin.
        if self._loopback and not is_loopback(_host_name(host)):
            return _refused(MISDIRECTED, f"this server is reached as localhost or {self._host}, not as {host!r}")
        if (self._loopback or self._page) and origin is not None and _netloc(origin) != host:
            return _refused(FORBIDDEN, f"pages of {origin} may not use this server")
        return None


def _host_name(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:  # brackets that do not close
        return ""


def _netloc(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None


def _refused(status: int, reason: str) -> JSONResponse:
    return JSONResponse({"detail": reason}, status_code=status)
