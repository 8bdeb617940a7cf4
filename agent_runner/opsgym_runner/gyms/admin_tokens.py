"""Tokens of gym servers' admin endpoints, sent by the connections that runner and verifiers share.

Invariant: a token is sent only to the server that it belongs to, and never with a tool call; it is in no log and no
record.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping

import httpx

from opsgym_api.gym_http import ADMIN_TOKEN_HEADER


class AdminTokens(httpx.Auth):
    """Adds a server's token to requests to its admin endpoints.

    Args:
        tokens: Tokens by base URL, scheme to port. Servers without one, as published ones, get none. The mapping may
            change: a restarted server may have another port.
    """

    def __init__(self, tokens: Mapping[str, str]) -> None:
        self._tokens = tokens

    def has_token_for(self, base_url: str) -> bool:
        """Whether a server has admin endpoints that need a token, as only opsgym's own servers do."""
        return base_url in self._tokens

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Signs one request."""
        url = request.url
        if url.path.startswith("/api/") and (token := self._tokens.get(f"{url.scheme}://{url.netloc.decode()}")):
            request.headers[ADMIN_TOKEN_HEADER] = token
        yield request
