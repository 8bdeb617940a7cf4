"""Standard MCP clients of a gym server, most of which never have one.

Invariant: the `mcp` SDK is imported and started with the first standard client, and ended by the task that started it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from starlette.types import Receive, Scope, Send

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager


class StandardClients:
    """Serves standard clients within `running`.

    Args:
        make: Imports the SDK and makes its handler of requests; called once, in a thread.
    """

    def __init__(self, make: Callable[[], StreamableHTTPSessionManager]) -> None:
        self._make = make
        self._starting = asyncio.Lock()
        self._manager: StreamableHTTPSessionManager | None = None
        self._task: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Ends at its end what `handle` started."""
        try:
            yield
        finally:
            self._stop.set()
            if self._task is not None:
                await self._task

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""
        async with self._starting:
            if self._manager is None:
                self._manager = await self._started()
        await self._manager.handle_request(scope, receive, send)

    async def _started(self) -> StreamableHTTPSessionManager:
        manager = await asyncio.to_thread(self._make)
        ready = asyncio.Event()
        self._task = asyncio.create_task(self._run(manager, ready), name="standard MCP clients")
        await ready.wait()
        return manager

    async def _run(self, manager: StreamableHTTPSessionManager, ready: asyncio.Event) -> None:
        # The SDK's task group ends in the task that began it, which no request is.
        async with manager.run():
            ready.set()
            await self._stop.wait()
