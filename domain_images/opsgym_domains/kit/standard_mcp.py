"""MCP over HTTP for standard clients, by the `mcp` SDK.

Invariant: the SDK serves the tools that plain clients reach, stateless, so that one server answers old and new protocol
versions. Importing this module takes about a CPU second, so `StandardClients` does so with the first standard client.
"""

from __future__ import annotations

from typing import Any

import mcp_types as mcp
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request

from opsgym_domains.kit.domain import Domain
from opsgym_domains.kit.rpc import Call, listed
from opsgym_domains.kit.tools import Tool


def session_manager(domain: Domain, version: str, call: Call, largest_body: int) -> StreamableHTTPSessionManager:
    """The SDK's handler of requests.

    Args:
        domain: Domain whose tools are offered.
        version: Version that `initialize` reports.
        call: Runs a tool.
        largest_body: Maximum size of a request in bytes.
    """
    return StreamableHTTPSessionManager(
        _server(domain, version, call),
        json_response=True,
        stateless=True,
        # `Guard` checks Host and Origin for every endpoint.
        security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        max_request_body_size=largest_body,
    )


def _server(domain: Domain, version: str, call: Call) -> Server[Any]:
    """The SDK's server with the same tools.

    `outputSchema` is omitted: standard clients would require structured content, which must be a JSON object.
    """
    tools = [
        mcp.Tool.model_validate(listed(tool, results=False) | {"annotations": _hints(tool)})
        for tool in domain.toolbox.listed
    ]

    async def list_tools(
        _context: ServerRequestContext[Any], _params: mcp.PaginatedRequestParams | None
    ) -> mcp.ListToolsResult:
        return mcp.ListToolsResult(tools=tools)

    async def run_tool(context: ServerRequestContext[Any], params: mcp.CallToolRequestParams) -> mcp.CallToolResult:
        request = context.request
        headers = request.headers if isinstance(request, Request) else {}
        result = await call(params.name, params.arguments or {}, headers)
        return mcp.CallToolResult(content=[mcp.TextContent(type="text", text=result.text)], is_error=result.is_error)

    return Server(domain.service, version=version, on_list_tools=list_tools, on_call_tool=run_tool)


def _hints(tool: Tool) -> dict[str, bool]:
    """Annotations for standard clients; the published lists have none, so plain clients do not get them.

    A change overwrites values, so only a tool that merely adds rows is not destructive.
    """
    if not tool.writes:
        return {"readOnlyHint": True}
    return {"readOnlyHint": False, "destructiveHint": tool.effect is None or tool.effect.operation != "adds"}
