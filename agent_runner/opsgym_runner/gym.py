"""One gym server's database, over plain HTTP: what an episode does to it goes through here.

Invariant: every request names the episode's own database and acting user. What the server says about a request is a
value; that it does not answer as a gym server, or has the database no more, is `gym_lost`.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx
from pydantic import ValidationError

from opsgym_api.evalrun import Access
from opsgym_api.outcomes import ConfigReason, InfraReason
from opsgym_api.records import StateDifference
from opsgym_api.task import GymServer
from opsgym_runner.errors import NotScored, config_error, infra_error
from opsgym_runner.job import Seed
from opsgym_runner.tracing import trace_headers

PROTOCOL = "2024-11-05"
CALL_TIMEOUT_S = 30.0
"""Seconds a tool call or query may take; the published harness waits as long."""
SEED_PATIENCE = httpx.Timeout(1200.0, connect=CALL_TIMEOUT_S)
"""Seconds a seed may take; the published harness waits as long for its largest."""
_JSON_RPC = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


def http_client(timeout_s: float = CALL_TIMEOUT_S) -> httpx.AsyncClient:
    """Connections to gym servers, for all episodes of a process."""
    return httpx.AsyncClient(
        timeout=timeout_s,
        # Servers drop idle connections after 5 s; letting go of them first avoids sending a call into a closing one.
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=64, keepalive_expiry=2.0),
        trust_env=False,  # gym servers are neighbours; a proxy of the environment is not between
    )


@dataclass(frozen=True)
class ToolResult:
    """What a tool call came to."""

    raw: Mapping[str, Any]
    """The JSON-RPC result object, as the gym sent it."""
    is_error: bool

    @property
    def rendered(self) -> str:
        """The result as the published harness shows it to a model."""
        return json.dumps(self.raw)


def error_result(message: str) -> ToolResult:
    """A result that tells the model what was wrong with its call."""
    content = [{"type": "text", "text": message, "annotations": None, "meta": None}]
    return ToolResult({"meta": None, "content": content, "structuredContent": None, "isError": True}, is_error=True)


class QueryRefusedError(Exception):
    """The gym server refused a query or an event; the message is the database's own."""


@dataclass(frozen=True)
class Snapshot:
    """A database at the end of an episode."""

    content: bytes
    """SQLite file."""
    database_time: str | None
    """Time on the database's clock; None if the server keeps none."""


class GymClient:
    """One episode's database on one gym server."""

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
        """Makes the database and fills it.

        Raises:
            NotScored: The server refused the seed, cannot judge as strictly as is asked, or is lost.
        """
        body: dict[str, Any] = {"database_id": self.database_id}
        if seed.builtin is not None:
            body["builtin"] = seed.builtin
        else:
            body |= {"name": self.database_id, "description": "opsgym episode", "sql_content": seed.sql or ""}
        if access is Access.STRICT:
            body["access"] = access.value
        response = await self._send("POST", "/api/seed-database", body, patience=SEED_PATIENCE)
        if response.status_code == 503:
            raise self._lost(f"answered HTTP 503 to the seed: {_detail(response)}")
        if response.status_code >= 400:
            message = f"gym {self.name} refused the seed (HTTP {response.status_code}): {_detail(response)}"
            raise config_error(ConfigReason.SEED_REFUSED, message)
        # A server that does not know what is asked for passes over it, and would let everything pass.
        if access is Access.STRICT and self._json(response).get("access") != access.value:
            message = f"gym {self.name} knows no access strict, as published servers do not; serve it with opsgym"
            raise config_error(ConfigReason.UNSUPPORTED, message)

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
        """The tools the server offers.

        Raises:
            NotScored: The gym is lost.
        """
        tools: list[Mapping[str, Any]] = []
        params: dict[str, Any] = {}
        while True:
            result = self._result(await self._post_rpc("tools/list", params))
            page = result.get("tools")
            if not isinstance(page, list) or not all(
                isinstance(t, dict) and isinstance(t.get("name"), str) for t in page
            ):
                raise self._lost("answered tools/list without a list of named tools")
            tools += page
            if not result.get("nextCursor"):
                return tools
            params = {"cursor": result["nextCursor"]}

    async def call_tool(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Calls a tool. What is wrong with the call comes back as an error result.

        Raises:
            NotScored: The gym is lost.
        """
        response = await self._post_rpc("tools/call", {"name": name, "arguments": arguments})
        if self.database_id in response.text:
            await self._require_database()  # no tool speaks of it, unless there is something wrong with it
        if 400 <= response.status_code < 500:
            return error_result(f"Error: HTTP {response.status_code}: {_detail(response)}")
        reply = self._reply(response)
        if "error" in reply:
            problem = reply["error"]
            message = problem.get("message", problem) if isinstance(problem, dict) else problem
            return error_result(f"Error: {message}")
        result = reply.get("result")
        if not isinstance(result, dict):
            raise self._lost(f"answered {name} without a result")
        return ToolResult(result, is_error=bool(result.get("isError")))

    async def run_sql(self, query: str, dialect: str) -> list[Mapping[str, Any]]:
        """Rows of a query over the database.

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
        """Changes rows and clock from outside, all of it or nothing.

        Args:
            sql: Statements in Postgres' dialect.
            time: Where the clock is to stand (ISO 8601).
            advance_seconds: How far it is to move.

        Returns:
            How many rows each statement changed, and the time on the clock.

        Raises:
            QueryRefusedError: The server refused it; nothing was changed.
            NotScored: The server carries out no events, or is lost.
        """
        wanted = {"sql": list(sql), "time": time, "advance_seconds": advance_seconds}
        body = {name: value for name, value in wanted.items() if value is not None}
        response = await self._send("POST", "/api/apply-event", {"database_id": self.database_id, **body})
        detail = _detail(response)
        if 400 <= response.status_code < 500:
            await self._require_database()
        if response.status_code in (404, 405):
            message = f"gym {self.name} carries out no events, as published servers do not; serve it with opsgym"
            raise config_error(ConfigReason.UNSUPPORTED, message)
        if response.status_code in (400, 422):
            raise QueryRefusedError(detail)
        reply = self._json(response)
        return reply.get("rows", []), str(reply.get("time", ""))

    async def snapshot(self) -> Snapshot | None:
        """The database as it is now; None if the server does not hand it out.

        Raises:
            NotScored: The gym is lost.
        """
        response = await self._send("GET", "/api/download-db-file")
        if 400 <= response.status_code < 500:
            await self._require_database()
            return None
        self._require_ok(response)
        return Snapshot(response.content, response.headers.get("x-database-time"))

    async def state_difference(self) -> StateDifference | None:
        """How the database differs from its seed; None if the server does not tell, as published ones do not.

        Raises:
            NotScored: The gym is lost.
        """
        response = await self._send("GET", "/api/state-difference")
        if response.status_code in (404, 405):
            return None
        reply = self._json(response)
        try:
            return StateDifference.model_validate(reply)
        except ValidationError:
            raise self._lost("answered /api/state-difference with something else") from None

    async def delete(self) -> None:
        """Deletes the database; servers that do not offer it, or have lost it, are content already.

        Raises:
            NotScored: The gym is lost, and the database with it or left behind.
        """
        response = await self._send("DELETE", "/api/delete-database", {"database_id": self.database_id})
        if response.status_code not in (404, 405):
            self._require_ok(response)

    async def _require_database(self) -> None:
        """Makes sure that what was refused was not refused because the server was restarted and forgot the database."""
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
        self, method: str, path: str, body: Mapping[str, Any] | None = None, patience: httpx.Timeout | None = None
    ) -> httpx.Response:
        headers = {**_JSON_RPC, **self._headers, **self._session, **trace_headers()}
        content = None if body is None else json.dumps(body).encode()
        patience = patience or self._http.timeout
        try:
            return await self._http.request(
                method, self._base + path, content=content, headers=headers, timeout=patience
            )
        except httpx.TimeoutException:
            raise self._lost(f"did not answer {method} {path} within {patience.read:.0f} s") from None
        except httpx.HTTPError as error:
            raise self._lost(f"cannot be reached ({type(error).__name__}: {error})") from None

    def _result(self, response: httpx.Response) -> Mapping[str, Any]:
        reply = self._reply(response)
        result = reply.get("result")
        if not isinstance(result, dict):
            raise self._lost(f"answered without a result: {str(reply.get('error'))[:300]}")
        return result

    def _reply(self, response: httpx.Response) -> Mapping[str, Any]:
        """The JSON-RPC message in a response, be it plain or in an event stream."""
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            return self._json(response)
        self._require_ok(response)
        for data in _events(response.text):
            try:
                message = json.loads(data)
            except ValueError:
                raise self._lost("sent an event that is not JSON") from None
            if isinstance(message, dict) and message.get("id") == self._last_id:
                return message
        raise self._lost("sent an event stream without the answer")

    def _json(self, response: httpx.Response) -> Mapping[str, Any]:
        self._require_ok(response)
        try:
            reply = response.json()
        except ValueError:
            raise self._lost(f"answered something that is not JSON: {response.text[:200]!r}") from None
        if not isinstance(reply, dict):
            raise self._lost("answered something that is not a JSON object")
        return reply

    def _require_ok(self, response: httpx.Response) -> None:
        if response.status_code >= 300:
            raise self._lost(f"answered HTTP {response.status_code}: {_detail(response)}")

    def _lost(self, problem: str) -> NotScored:
        return infra_error(InfraReason.GYM_LOST, f"gym {self.name} at {self._base} {problem}")


def _events(text: str) -> list[str]:
    """Data of each server-sent event."""
    blocks = text.replace("\r\n", "\n").replace("\r", "\n").split("\n\n")
    data = (
        "\n".join(line[5:].removeprefix(" ") for line in block.split("\n") if line.startswith("data:"))
        for block in blocks
    )
    return [event for event in data if event]


def _detail(response: httpx.Response) -> str:
    """What a refused request's answer says is wrong."""
    try:
        reply = response.json()
    except ValueError:
        return response.text[:500]
    if isinstance(reply, dict):
        reply = reply.get("detail", reply.get("message", reply))
    return reply if isinstance(reply, str) else json.dumps(reply)[:2000]
