"""Sends requests to model servers over HTTP, for our own loop and for agents that are not ours.

Invariant: requests to the loopback address go through no proxy. The connections of a runner are shared by its models.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Self

import httpx

from opsgym_api.records.outcomes import InfraReason
from opsgym_core.common.proxies import keep_loopback_direct
from opsgym_core.common.scrub import scrub
from opsgym_runner.job import ModelEndpoint, ResolvedModel
from opsgym_runner.models.endpoints import shown_url
from opsgym_runner.models.raw_answers import with_reading
from opsgym_runner.models.retry import ModelFailure
from opsgym_runner.models.streaming import with_streaming

REQUEST_TIMEOUT_S = 600.0
"""Timeout of one request in seconds unless the model's parameters set one; providers' own clients use the same. That of
a streamed request counts silence."""
_CONNECT_S = 30.0


class Connections:
    """Connections to model servers, opened with the first request."""

    def __init__(self) -> None:
        self._http: httpx.AsyncClient | None = None

    @property
    def http(self) -> httpx.AsyncClient:
        """The client that holds them."""
        if self._http is None:
            keep_loopback_direct(os.environ)
            # Without a limit of its own: the model's bounds the requests in flight.
            limits = httpx.Limits(max_connections=None, max_keepalive_connections=64)
            self._http = httpx.AsyncClient(limits=limits)
        return self._http

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes them."""
        if self._http is not None:
            await self._http.aclose()
            self._http = None


async def _sent(http: httpx.AsyncClient, request: httpx.Request) -> httpx.Response:
    return await http.send(request, stream=True, follow_redirects=request.extensions[_REDIRECTED])


_REDIRECTED = "opsgym_redirected"
_read = with_reading(with_streaming(_sent))


@asynccontextmanager
async def posting(
    connections: Connections,
    url: str,
    content: bytes,
    headers: Mapping[str, str],
    timeout_s: float = REQUEST_TIMEOUT_S,
    *,
    redirected: bool = False,
) -> AsyncIterator[httpx.Response]:
    """Posts JSON, and closes the answer at the end of the block.

    The answer is streamed, and read whole, as `streaming` and `reading` ask for it.

    Args:
        connections: Connections to model servers.
        url: Address of the request.
        content: The JSON.
        headers: Headers of the request, besides those of its content.
        timeout_s: Seconds of silence after which the server counts as gone.
        redirected: Whether redirects are followed, with all headers but `authorization` if they lead to another server.

    Raises:
        httpx.HTTPError: The server does not answer, or the answer breaks off.
        httpx.InvalidURL: The address is none.
    """
    timeout = httpx.Timeout(timeout_s, connect=min(timeout_s, _CONNECT_S))
    sent = {"content-type": "application/json", **headers}
    request = connections.http.build_request(
        "POST", url, content=content, headers=sent, timeout=timeout, extensions={_REDIRECTED: redirected}
    )
    response = await _read(connections.http, request)
    try:
        yield response
    finally:
        await response.aclose()


def unanswered(model: ResolvedModel, endpoint: ModelEndpoint, error: Exception) -> ModelFailure:
    """The failure of a request that no server answered, or whose answer broke off."""
    message = f"model {model.name}: {shown_url(endpoint)}: {type(error).__name__}: {error}"
    return ModelFailure(InfraReason.MODEL_UNAVAILABLE, scrub(message, model.secrets), transient=True)
