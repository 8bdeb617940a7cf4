"""The token of a gym server's admin endpoints: seeding, resets, events, queries, snapshots.

Invariant: with a token, a request without it reaches only the tools (`/mcp`) and the health check, so an agent that
finds the server's address can change a trial's world only by tools. The token is in no log line and no response.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from opsgym_api.gym_http import ADMIN_TOKEN_HEADER

UNAUTHORIZED = 401
_OPEN_PATHS = ("/mcp", "/health")
_BYTES = 32


class AdminToken:
    """ASGI middleware that refuses requests to admin endpoints without the token with 401.

    Args:
        app: The application behind it.
        token: The token.
    """

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one request."""
        if scope["type"] != "http" or scope["path"] in _OPEN_PATHS or self._is_signed(scope):
            await self._app(scope, receive, send)
            return
        detail = f"this endpoint requires the server's admin token in the header {ADMIN_TOKEN_HEADER}"
        await JSONResponse({"detail": detail}, status_code=UNAUTHORIZED)(scope, receive, send)

    def _is_signed(self, scope: Scope) -> bool:
        given = Headers(scope=scope).get(ADMIN_TOKEN_HEADER, "")
        return secrets.compare_digest(given.encode(), self._token)


def new_token() -> str:
    """A random token."""
    return secrets.token_hex(_BYTES)


def read_or_create_token(file: Path) -> str:
    """The token in a file; without the file, a new token is written to it.

    A restarted server so keeps the token that its clients have read.

    Raises:
        OSError: The file cannot be read or written.
        ValueError: The file is empty.
    """
    try:
        token = file.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return _created(file)
    if not token:
        raise ValueError("contains no token; delete the file and start the server again")
    return token


def _created(file: Path) -> str:
    token = new_token()
    unfinished = file.with_name(f".{file.name}.new")  # a reader never sees half a token
    unfinished.unlink(missing_ok=True)
    # The group may read it: another container of the pod may run as another user of the same group.
    with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o440), "w") as opened:
        opened.write(token)
    unfinished.replace(file)
    return token
