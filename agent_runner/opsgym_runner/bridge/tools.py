"""Tools of one gym server as an agent that is not ours reaches them: standard MCP over HTTP, by the `mcp` SDK.

Invariant: the tools are those that the mode shows, under the names shown; each call is one of the session. Importing
the SDK takes about a CPU second, so it is imported with the first agent of that kind.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from starlette.types import ASGIApp, Receive, Scope, Send

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

Call = Callable[[str, str, Mapping[str, Any]], Awaitable[str]]
"""Calls a tool, by gym server, name and arguments; returns its result as JSON."""


@asynccontextmanager
async def gym_app(
    gym: str, tools: Sequence[Mapping[str, Any]], call: Call, largest_body: int
) -> AsyncIterator[ASGIApp]:
    """An application that serves a gym server's tools inside the block.

    Args:
        gym: Name of the gym server.
        tools: Its tools as MCP lists them.
        call: Calls one of them.
        largest_body: Maximum size of a request in bytes.
    """
    manager = await asyncio.to_thread(_manager, gym, tools, call, largest_body)
    async with manager.run():
        yield _Gym(manager)


class _Gym:
    """The handler as an object: routes take a method for a function of a request."""

    def __init__(self, manager: StreamableHTTPSessionManager) -> None:
        self._manager = manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""
        await self._manager.handle_request(scope, receive, send)


def _manager(
    gym: str, tools: Sequence[Mapping[str, Any]], call: Call, largest_body: int
) -> StreamableHTTPSessionManager:
    import mcp_types as mcp
    from mcp.server.lowlevel import Server
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from mcp.server.transport_security import TransportSecuritySettings

    # Clients that are shown an output schema require structured content, which gym servers need not give.
    listed = [
        mcp.Tool.model_validate({name: value for name, value in tool.items() if name != "outputSchema"})
        for tool in tools
    ]

    async def list_tools(
        _context: ServerRequestContext[Any], _params: mcp.PaginatedRequestParams | None
    ) -> mcp.ListToolsResult:
        return mcp.ListToolsResult(tools=listed)

    async def run_tool(_context: ServerRequestContext[Any], params: mcp.CallToolRequestParams) -> mcp.CallToolResult:
        result = json.loads(await call(gym, params.name, params.arguments or {}))
        content = [mcp.TextContent(type="text", text=text) for text in texts_of(result)]
        return mcp.CallToolResult(content=list(content), is_error=bool((result or {"isError": True}).get("isError")))

    return StreamableHTTPSessionManager(
        Server(gym, on_list_tools=list_tools, on_call_tool=run_tool),
        json_response=True,
        stateless=True,
        # The bridge asks for the attempt's key, which no web page has.
        security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        max_request_body_size=largest_body,
    )


def texts_of(result: Any) -> list[str]:
    """Texts of a gym server's result; the whole of it as JSON where it has parts of another kind."""
    parts = result.get("content") if isinstance(result, dict) else None
    if isinstance(parts, list) and all(isinstance(part, dict) and isinstance(part.get("text"), str) for part in parts):
        return [part["text"] for part in parts]
    return [json.dumps(result)]
