"""HTTP client of one gym server and one database of an episode.

Invariant: every request names the episode's own database and acting user. A server's refusal of a request is a value; a
server that does not answer as a gym server, or has lost the database, raises `NotScored` with reason `gym_lost`.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import httpx
from pydantic import ValidationError

from opsgym_api.gym_http import INTERNAL_ERROR_HEADER
from opsgym_api.kinds.evalrun import Access
from opsgym_api.records.outcomes import ConfigReason, InfraReason, Outcome
from opsgym_api.records.state_difference import StateDifference
from opsgym_api.tasks.task import GymServer
from opsgym_core.common.foreign import read_json, storable_text
from opsgym_core.results.frozen_suite import Seed
from opsgym_runner.errors import NotScored, config_error, infra_error
from opsgym_runner.gyms.admin_tokens import AdminTokens
from opsgym_runner.tracing.tracer import trace_headers

PROTOCOL = "2024-11-05"
CALL_TIMEOUT_S = 30.0
"""Timeout of a tool call or query in seconds, the same as in the published harness."""
SEED_TIMEOUT = httpx.Timeout(1200.0, connect=CALL_TIMEOUT_S)
"""Timeout of seeding; the published harness waits as long for its largest seed."""
OWN_SEED_TIMEOUT_S = 120.0
"""Timeout in seconds of seeding a server of opsgym's own, which takes a few seconds: without it a server or a Postgres
that hangs would be found only after twenty minutes."""
_JSON_RPC = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


def http_client(
    timeout_s: float = CALL_TIMEOUT_S, admin_tokens: Mapping[str, str] = MappingProxyType({})
) -> httpx.AsyncClient:
    """HTTP client for gym servers, shared by all episodes of a process.

    Args:
        timeout_s: Timeout of a request in seconds.
        admin_tokens: Tokens of the servers' admin endpoints by base URL, see `AdminTokens`.
    """
    return httpx.AsyncClient(
        auth=AdminTokens(admin_tokens),
        timeout=timeout_s,
        # The published servers close idle connections after 5 s; no call must be sent into a closing connection.
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=64, keepalive_expiry=2.0),
        trust_env=False,  # gym servers are local; a proxy from the environment must not be used
    )


@dataclass(frozen=True)
class ToolResult:
    """Result of a tool call."""

    raw: Mapping[str, Any] | None
    """The JSON-RPC result object as the gym sent it; None where the published harness shows `null`."""
    is_error: bool
    is_internal: bool = False
    """Whether the call failed by a fault of the gym server."""

    @property
    def rendered(self) -> str:
        """The result as the published harness shows it to a model."""
        return json.dumps(self.raw)


NO_RESULT = ToolResult(None, is_error=True)
"""What the published harness shows of a call with a JSON-RPC error: `null`."""
EMPTY_RESULT = ToolResult({}, is_error=True)
"""What the published harness shows of a call that ended in an HTTP error or a timeout: `{}`."""


def _tool_result(result: Mapping[str, Any], response: httpx.Response) -> ToolResult:
    is_internal = INTERNAL_ERROR_HEADER in response.headers
    return ToolResult(result, is_error=bool(result.get("isError")), is_internal=is_internal)


def error_result(message: str) -> ToolResult:
    """An error result for a call that no gym executed.

    Args:
        message: What is wrong with the call, for the model to read.
    """
    content = [{"type": "text", "text": message, "annotations": None, "meta": None}]
    return ToolResult({"meta": None, "content": content, "structuredContent": None, "isError": True}, is_error=True)


class GymTimeoutError(NotScored):
    """The gym server did not answer a request in time."""


class QueryRefusedError(Exception):
    """The gym server refused a query or an event; the message is the database's."""


@dataclass(frozen=True)
class Snapshot:
    """A database at the end of an episode."""

    content: bytes
    """SQLite file."""
    database_time: str | None
    """Time on the database's clock (ISO 8601); None if the server has no clock."""


class GymClient:
    """Client of one episode's database on one gym server.

    Args:
        http: Connections to gym servers.
        base_url: The server's base URL.
        server: The server's entry in the task row.
    """

    def __init__(self, http: httpx.AsyncClient, base_url: str, server: GymServer) -> None:
        self.name = server.mcp_server_name
        self.domain = server.domain
        self.database_id = f"db_{time.time_ns() // 1_000_000}_{secrets.token_hex(5)[:9]}"  # the published form
        self._http = http
        self._base = base_url.rstrip("/")
        self._headers = {**server.headers, "x-database-id": self.database_id}
        self._session: dict[str, str] = {}
        self._last_id = 0

    async def seed(self, seed: Seed, access: Access) -> None:
        """Creates the database and fills it.

        Raises:
            NotScored: The server refused the seed, does not support strict access, or is lost.
        """
        body: dict[str, Any] = {"database_id": self.database_id}
        if seed.builtin is not None:
            body["builtin"] = seed.builtin
        else:
            body |= {"name": self.database_id, "description": "opsgym episode", "sql_content": seed.sql or ""}
        if access is Access.STRICT:
            body["access"] = access.value
        response = await self._send("POST", "/api/seed-database", body, limit=self._seed_timeout())
        if response.status_code == 503:
            raise self._lost(f"answered HTTP 503 to the seed: {_detail(response)}")
        if response.status_code >= 400:
            message = f"gym {self.name} refused the seed (HTTP {response.status_code}): {_detail(response)}"
            raise config_error(ConfigReason.SEED_REFUSED, message)
        # A server without strict access ignores the field and would accept every call.
        if access is Access.STRICT and self._json(response).get("access") != access.value:
            message = (
                f"gym {self.name} does not support access: strict, as published servers do not; serve it with opsgym"
            )
            raise config_error(ConfigReason.UNSUPPORTED, message)

    def _seed_timeout(self) -> httpx.Timeout:
        auth = self._http.auth
        own = isinstance(auth, AdminTokens) and auth.has_token_for(self._base)
        return httpx.Timeout(OWN_SEED_TIMEOUT_S) if own else SEED_TIMEOUT

    async def initialize(self) -> None:
        """Opens an MCP session.

        Raises:
            NotScored: The gym is lost.
        """
        client = {"name": "opsgym", "version": "1"}
        params = {"protocolVersion": PROTOCOL, "capabilities": {"tools": {}}, "clientInfo": client}
        response = await self._post_rpc("initialize", params)
        self._result(response)
        if session := response.headers.get("mcp-session-id"):
            self._session = {"mcp-session-id": session}
        await self._send("POST", "/mcp", {"jsonrpc": "2.0", "method": "notifications/initialized", "params": {}})

    async def list_tools(self) -> Sequence[Mapping[str, Any]]:
        """The server's tools.

        Raises:
            NotScored: The gym is lost.
        """
        tools: list[Mapping[str, Any]] = []
        cursors: list[Any] = []
        params: dict[str, Any] = {}
        while True:
            result = self._result(await self._post_rpc("tools/list", params))
            page = result.get("tools")
            if not isinstance(page, list) or not all(
                isinstance(t, dict) and isinstance(t.get("name"), str) for t in page
            ):
                raise self._lost("answered tools/list without a list of named tools")
            tools += page
            cursor = result.get("nextCursor")
            if not cursor:
                return tools
            if cursor in cursors:
                raise self._lost(f"answered tools/list twice with the cursor {str(cursor)[:100]!r}, so it has no end")
            cursors.append(cursor)
            params = {"cursor": cursor}

    async def call_tool(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Calls a tool. A faulty call gives an error result.

        Raises:
            NotScored: The gym is lost.
        """
        response = await self._post_rpc("tools/call", {"name": name, "arguments": arguments})
        if self.database_id in response.text:
            await self._require_database()  # tools do not mention the database unless something is wrong with it
        if 400 <= response.status_code < 500:
            return error_result(f"Error: HTTP {response.status_code}: {_detail(response)}")
        reply = self._reply(response)
        if "error" in reply:
            error = reply["error"]
            message = error.get("message", error) if isinstance(error, dict) else error
            return error_result(f"Error: {message}")
        result = reply.get("result")
        if not isinstance(result, dict):
            raise self._lost(f"answered {name} without a result")
        return _tool_result(result, response)

    async def call_tool_as_published(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Calls a tool and reads failures as the published harness does, which shows none of their texts.

        Raises:
            NotScored: The gym is lost.
        """
        try:
            response = await self._post_rpc("tools/call", {"name": name, "arguments": arguments})
        except GymTimeoutError:
            return EMPTY_RESULT
        if self.database_id in response.text:
            await self._require_database()
        if response.status_code != 200:
            return EMPTY_RESULT
        result = self._reply(response).get("result")
        return _tool_result(result, response) if isinstance(result, dict) else NO_RESULT

    async def run_sql(self, query: str, dialect: str) -> list[Mapping[str, Any]]:
        """Runs a query on the database and returns its rows.

        Args:
            query: One read-only statement.
            dialect: `sqlite`, or `postgres` on opsgym's own servers.

        Raises:
            QueryRefusedError: The server refused the query.
            NotScored: The gym is lost.
        """
        body = {"query": query, "database_id": self.database_id}
        if dialect != "sqlite":
            body["dialect"] = dialect
        response = await self._send("POST", "/api/sql-runner", body)
        if 400 <= response.status_code < 500:
            await self._require_database()
            raise QueryRefusedError(_detail(response))
        reply = self._json(response)
        rows = reply.get("data")
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise self._lost("answered a query without rows")
        return rows

    async def apply_event(
        self, sql: Sequence[str] = (), time: str | None = None, advance_seconds: float | None = None
    ) -> tuple[Sequence[int], str]:
        """Changes rows and the clock in one transaction, as a scenario event does.

        Args:
            sql: Statements in Postgres' dialect.
            time: New time of the clock (ISO 8601); None leaves it.
            advance_seconds: Seconds by which the clock advances; None leaves it.

        Returns:
            The number of rows that each statement changed, and the time on the clock.

        Raises:
            QueryRefusedError: The server refused the event; nothing was changed.
            NotScored: The server does not support events, or is lost.
        """
        event = {"sql": list(sql), "time": time, "advance_seconds": advance_seconds}
        body = {name: value for name, value in event.items() if value is not None}
        response = await self._send("POST", "/api/apply-event", {"database_id": self.database_id, **body})
        detail = _detail(response)
        if 400 <= response.status_code < 500:
            await self._require_database()
        if response.status_code in (404, 405):
            message = (
                f"gym {self.name} does not support scenario events, as published servers do not; serve it with opsgym"
            )
            raise config_error(ConfigReason.UNSUPPORTED, message)
        if response.status_code in (400, 422):
            raise QueryRefusedError(detail)
        reply = self._json(response)
        return reply.get("rows", []), str(reply.get("time", ""))

    async def clock(self) -> tuple[str, bool]:
        """The time on the database's clock (ISO 8601, UTC), and whether it stands there instead of following real time.

        Raises:
            NotScored: The server has no clock, or is lost.
        """
        response = await self._send("GET", "/api/clock")
        if response.status_code in (404, 405):
            await self._require_database()
            message = (
                f"gym {self.name} has no clock (/api/clock), as published servers have none; the task's days, clock or "
                "events need one: serve it with opsgym"
            )
            raise config_error(ConfigReason.UNSUPPORTED, message)
        reply = self._json(response)
        return str(reply.get("time", "")), bool(reply.get("set"))

    async def snapshot(self) -> Snapshot | None:
        """The database's current content; None if the server does not offer it.

        Raises:
            NotScored: The gym is lost.
        """
        response = await self._send("GET", "/api/download-db-file")
        if 400 <= response.status_code < 500:
            await self._require_database()
            return None
        self._require_ok(response)
        return Snapshot(response.content, response.headers.get("x-database-time"))

    async def state_difference(self, *, whole: bool = False) -> StateDifference | None:
        """Difference of the database from its seed; None if the server cannot compute it, as published ones cannot.

        Args:
            whole: Asks for the difference as verifiers need it, instead of as records keep it.

        Raises:
            NotScored: The gym is lost.
        """
        response = await self._send("GET", "/api/state-difference" + ("?whole=true" if whole else ""))
        if response.status_code in (404, 405):
            return None
        reply = self._json(response)
        try:
            return StateDifference.model_validate(reply)
        except ValidationError:
            raise self._lost("answered /api/state-difference with an invalid state difference") from None

    async def writing_tools(self) -> frozenset[str] | None:
        """Names of the tools that write; None if the server does not say, as published ones do not.

        Raises:
            NotScored: The gym is lost.
        """
        response = await self._send("GET", "/api/tool-effects")
        if response.status_code in (404, 405):
            return None
        names = self._json(response).get("writing")
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise self._lost("answered /api/tool-effects without a list of tools")
        return frozenset(names)

    async def delete(self) -> None:
        """Deletes the database. Servers that cannot delete, or no longer have the database, are ignored.

        Raises:
            NotScored: The gym is lost; the database may remain.
        """
        response = await self._send("DELETE", "/api/delete-database", {"database_id": self.database_id})
        if response.status_code not in (404, 405):
            self._require_ok(response)

    async def _require_database(self) -> None:
        """Checks after a refusal that the server still has the database, which a restarted server has not.

        Raises:
            NotScored: The database is gone.
        """
        response = await self._send("POST", "/api/sql-runner", {"query": "SELECT 1", "database_id": self.database_id})
        if response.status_code >= 400:
            message = f"does not have the episode's database any more; was it restarted? {_detail(response)}"
            raise self._lost(message)

    async def _post_rpc(self, method: str, params: Mapping[str, Any]) -> httpx.Response:
        self._last_id += 1
        return await self._send(
            "POST", "/mcp", {"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params}
        )

    async def _send(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, limit: httpx.Timeout | None = None
    ) -> httpx.Response:
        headers = {**_JSON_RPC, **self._headers, **self._session, **trace_headers()}
        content = None if body is None else json.dumps(body).encode()
        limit = limit or self._http.timeout
        try:
            return await self._http.request(method, self._base + path, content=content, headers=headers, timeout=limit)
        except httpx.TimeoutException:
            message = f"{self._place} did not answer {method} {path} within {limit.read:.0f} s"
            raise GymTimeoutError(Outcome.INFRA_ERROR, InfraReason.GYM_LOST, message) from None
        except httpx.HTTPError as error:
            raise self._lost(f"cannot be reached ({type(error).__name__}: {error})") from None

    def _result(self, response: httpx.Response) -> Mapping[str, Any]:
        reply = self._reply(response)
        result = reply.get("result")
        if not isinstance(result, dict):
            raise self._lost(f"answered without a result: {str(reply.get('error'))[:300]}")
        return result

    def _reply(self, response: httpx.Response) -> Mapping[str, Any]:
        """The JSON-RPC message in a response, plain or in an event stream."""
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            return self._json(response)
        self._require_ok(response)
        for data in _events(response.text):
            try:
                message = read_json(data)
            except ValueError:
                raise self._lost("sent an event that is not JSON") from None
            if isinstance(message, dict) and message.get("id") == self._last_id:
                return message
        raise self._lost("sent an event stream without the answer")

    def _json(self, response: httpx.Response) -> Mapping[str, Any]:
        self._require_ok(response)
        try:
            reply = read_json(response.content)
        except ValueError:
            raise self._lost(f"answered with invalid JSON: {response.text[:200]!r}") from None
        if not isinstance(reply, dict):
            raise self._lost("answered with JSON that is not an object")
        return reply

    def _require_ok(self, response: httpx.Response) -> None:
        if response.status_code >= 300:
            raise self._lost(f"answered HTTP {response.status_code}: {_detail(response)}")

    def _lost(self, problem: str) -> NotScored:
        return infra_error(InfraReason.GYM_LOST, f"{self._place} {problem}")

    @property
    def _place(self) -> str:
        return f"gym {self.name} at {self._base}"


def _events(text: str) -> list[str]:
    """Data of each server-sent event."""
    blocks = text.replace("\r\n", "\n").replace("\r", "\n").split("\n\n")
    data = (
        "\n".join(line[5:].removeprefix(" ") for line in block.split("\n") if line.startswith("data:"))
        for block in blocks
    )
    return [event for event in data if event]


def _detail(response: httpx.Response) -> str:
    """The error message in a response."""
    try:
        reply = read_json(response.content)
    except ValueError:
        return storable_text(response.text[:500])
    if isinstance(reply, dict):
        reply = reply.get("detail", reply.get("message", reply))
    return reply if isinstance(reply, str) else json.dumps(reply)[:2000]
