"""MCP over HTTP for plain JSON-RPC clients.

Invariant: clients that post JSON-RPC without the protocol's version header (the published harness, opsgym's runner) get
plain JSON with the published keys; `standard_mcp.py` serves every other client. Both kinds reach the same tools through
`call_tool`.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from opsgym_api.gym_http import INTERNAL_ERROR_HEADER
from opsgym_domains.kit.calls import CallResult
from opsgym_domains.kit.domain import Domain
from opsgym_domains.kit.tools import Tool

VERSION_HEADER = "mcp-protocol-version"
SESSION_HEADER = "mcp-session-id"
HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Protocol versions that `initialize` agrees on, oldest first: `mcp_types.version.HANDSHAKE_PROTOCOL_VERSIONS`, whose
package takes longer to import than a trial's calls."""

MODERN_VERSIONS = ("2026-07-28",)
"""Protocol versions without a handshake: `mcp_types.version.MODERN_PROTOCOL_VERSIONS`."""

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602

_JSON_TYPES = frozenset({"application/json", "application/*", "*/*"})
"""Media ranges that include JSON."""

Call = Callable[[str, Mapping[str, Any], Mapping[str, str]], Awaitable[CallResult]]
"""Runs a tool; arguments are the tool's name, its arguments and the request's headers."""


def is_plain(request: Request) -> bool:
    """Whether a request comes from a client that posts plain JSON-RPC."""
    return request.method == "POST" and VERSION_HEADER not in request.headers and not _names_modern_version(request)


def unsupported_version(request: Request) -> Response | None:
    """The refusal of a request whose header names a protocol version that no client has; None for any other."""
    version = request.headers.get(VERSION_HEADER)
    known = (*HANDSHAKE_VERSIONS, *MODERN_VERSIONS)
    if version is None or version in known:
        return None
    message = f"unsupported protocol version {version[:40]!r}; supported: {', '.join(known)}"
    return _error(None, INVALID_REQUEST, message, status=400)


def _names_modern_version(request: Request) -> bool:
    return "mcp-method" in request.headers


class PlainRpc:
    """JSON-RPC for plain clients.

    Args:
        domain: Domain whose tools are offered.
        version: Version that `initialize` reports.
        call: Runs a tool.
    """

    def __init__(self, domain: Domain, version: str, call: Call) -> None:
        self._call = call
        self._version = version
        self._name = domain.service
        self._envelope = domain.response_style.envelope
        self._tools = [listed(tool, results=domain.lists_results) for tool in domain.toolbox.listed]

    async def answer(self, request: Request) -> Response:
        """Answers one request; a notification gets 202 without a body."""
        refusal = _refusal(request)
        if refusal is not None:
            return refusal
        try:
            message = json.loads(await request.body())  # NaN too, which tools refuse in their own words
        except (ValueError, RecursionError):
            return _error(None, PARSE_ERROR, "the body is not JSON, or nested too deeply", status=400)
        if not isinstance(message, dict) or not isinstance(message.get("method"), str):
            return _error(None, INVALID_REQUEST, "expected a JSON-RPC object with a method", status=400)
        if message.get("jsonrpc") != "2.0":
            return _error(None, INVALID_REQUEST, 'jsonrpc must be "2.0"', status=400)
        if isinstance(message.get("id"), bool | float | dict | list):
            return _error(None, INVALID_REQUEST, "id must be a string or an integer", status=400)
        if "id" not in message:
            return Response(status_code=202)
        params = {} if message.get("params") is None else message["params"]
        if not isinstance(params, dict):
            return _error(message["id"], INVALID_PARAMS, "params must be an object")
        response = await self._dispatch(message["method"], params, request, message["id"])
        if session := request.headers.get(SESSION_HEADER):
            response.headers[SESSION_HEADER] = session
        return response

    async def _dispatch(self, method: str, params: dict[str, Any], request: Request, request_id: Any) -> Response:
        if method == "tools/call":
            return await self._call_tool(params, request, request_id)
        if method == "tools/list":
            return _result(request_id, {"tools": self._tools})
        if method == "initialize":
            return _result(request_id, self._initialized(params))
        if method == "ping":
            return _result(request_id, {})
        return _error(request_id, METHOD_NOT_FOUND, f"unknown method {method!r}")

    async def _call_tool(self, params: dict[str, Any], request: Request, request_id: Any) -> Response:
        name, arguments = params.get("name"), params.get("arguments")
        arguments = {} if arguments is None else arguments
        if not isinstance(name, str) or not isinstance(arguments, dict):
            return _error(request_id, INVALID_PARAMS, "tools/call requires a name and an object of arguments")
        result = await self._call(name, arguments, request.headers)
        response = _result(request_id, self._envelope(result.text, result.is_error))
        if result.is_internal:
            response.headers[INTERNAL_ERROR_HEADER] = "true"
        return response

    def _initialized(self, params: dict[str, Any]) -> dict[str, Any]:
        requested = params.get("protocolVersion")
        return {
            "protocolVersion": requested if requested in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1],
            "capabilities": {"tools": {"listChanged": False}},
            "serverInfo": {"name": self._name, "version": self._version},
        }


def _refusal(request: Request) -> Response | None:
    """Refuses a body that is declared as something else than JSON, and a client that does not accept JSON.

    Plain clients may omit both headers.
    """
    content, accept = request.headers.get("content-type"), request.headers.get("accept")
    if content is not None and _media_type(content) != "application/json":
        return _error(None, INVALID_REQUEST, f"the content type must be application/json, not {content!r}", status=415)
    if accept is not None and not _JSON_TYPES.intersection(map(_media_type, accept.split(","))):
        return _error(
            None, INVALID_REQUEST, f"the answer is application/json, which Accept {accept!r} excludes", status=406
        )
    return None


def _media_type(text: str) -> str:
    return text.partition(";")[0].strip().lower()


class _Json(JSONResponse):
    """JSON response that escapes unpaired surrogates from the request, which UTF-8 cannot encode."""

    def render(self, content: Any) -> bytes:
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        return text.encode(errors="backslashreplace")


def listed(tool: Tool, *, results: bool) -> dict[str, Any]:
    """A tool as `tools/list` has it."""
    entry = {"name": tool.name, "description": tool.description, "inputSchema": dict(tool.input_schema)}
    return entry | ({"outputSchema": dict(tool.output_schema)} if results else {})


def _result(request_id: Any, result: dict[str, Any]) -> Response:
    return _Json({"jsonrpc": "2.0", "id": request_id, "result": result})


def _error(request_id: Any, code: int, message: str, status: int = 200) -> Response:
    body = {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message}}
    return _Json(body, status_code=status)
