"""HTTP endpoints of a gym server, compatible with the published servers.

Invariant: no request of an agent or a harness causes an unhandled HTTP 500. A refused request gets 4xx with a `detail`,
a lost Postgres 503, and a refused tool call is a tool result.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import structlog
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from opsgym_api.kinds.access import Access
from opsgym_domains.kit.calls import CallResult, call_tool
from opsgym_domains.kit.clock import Clock
from opsgym_domains.kit.database import Database, Origin
from opsgym_domains.kit.databases import Databases, UnknownDatabase
from opsgym_domains.kit.domain import Domain
from opsgym_domains.kit.errors import DatabaseLost, QueryError, SeedError, ToolError, unfit_text
from opsgym_domains.kit.fitting import parse_time
from opsgym_domains.kit.gym import SYSTEM, Gym
from opsgym_domains.kit.rpc import Call, PlainRpc, is_plain, unsupported_version
from opsgym_domains.kit.sqlite import QueryResult
from opsgym_domains.kit.standard_clients import StandardClients
from opsgym_domains.kit.state_difference import BOUNDED, WHOLE
from opsgym_domains.kit.templates import UnknownSeed
from opsgym_domains.kit.trace_context import TraceContext

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

DATABASE_HEADER = "x-database-id"
MAX_BODY = 64 * 1024 * 1024
"""Maximum size of a request in bytes; the largest published seed has 3.75 MB."""
MAX_MCP_BODY = 16 * 1024 * 1024
"""Maximum size of an MCP request in bytes; agents may send long texts, but no files."""

_SELECTS = re.compile(r"\s*(SELECT|WITH|VALUES)\b", re.IGNORECASE)
_LIMIT = re.compile(r"\bLIMIT\b", re.IGNORECASE)

log = structlog.get_logger()


def _session_manager(domain: Domain, release: str, call: Call) -> StreamableHTTPSessionManager:
    # Imports the SDK.
    from opsgym_domains.kit.standard_mcp import session_manager

    return session_manager(domain, release, call, MAX_MCP_BODY)


class GymServer:
    """Gym server of one domain.

    Args:
        domain: Tables, tools, identity.
        databases: The domain's databases.
    """

    def __init__(self, domain: Domain, databases: Databases) -> None:
        self._domain = domain
        self._databases = databases
        release = version("opsgym-domains")
        self._plain = PlainRpc(domain, release, self._call)
        self._standard = StandardClients(partial(_session_manager, domain, release, self._call))

    def app(self, routes: Sequence[BaseRoute] = (), middleware: Sequence[Middleware] = ()) -> Starlette:
        """The ASGI application, with additional routes and middleware."""
        endpoints = [
            Route("/mcp", _Mcp(self), methods=["GET", "POST", "DELETE"]),
            Route("/health", self.health),
            Route("/api/seed-database", self.seed, methods=["POST"]),
            Route("/api/reset-database", self.reset, methods=["POST"]),
            Route("/api/delete-database", self.delete, methods=["DELETE"]),
            Route("/api/sql-runner", self.run_sql, methods=["POST"]),
            Route("/api/download-db-file", self.download),
            Route("/api/state-difference", self.state_difference),
            Route("/api/tool-effects", self.tool_effects),
            Route("/api/clock", self.clock, methods=["GET", "POST"]),
            Route("/api/apply-event", self.apply_event, methods=["POST"]),
        ]
        handlers: dict[Any, Callable[[Request, Any], Awaitable[Response]]] = {
            DatabaseLost: _unavailable,
            UnknownDatabase: _unknown_database,
            HTTPException: _refused,
        }
        return Starlette(
            routes=[*endpoints, *routes],
            middleware=[Middleware(TraceContext), *middleware],
            exception_handlers=handlers,
            lifespan=self._lifespan,
        )

    @asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        await self._databases.start()
        try:
            async with self._standard.running():
                yield
        finally:
            await self._databases.stop()

    # --- endpoints -------------------------------------------------------------------------------------------------

    async def mcp(self, scope: Scope, receive: Receive, send: Send) -> None:
        """`/mcp`: tools, for plain JSON-RPC clients and standard MCP clients."""
        request = Request(scope, receive)
        if (refusal := unsupported_version(request)) is not None:
            await refusal(scope, receive, send)
            return
        if not is_plain(request):
            await self._standard.handle(scope, receive, send)
            return
        _refuse_large(request, MAX_MCP_BODY)
        response = await self._plain.answer(request)
        await response(scope, receive, send)

    async def health(self, _request: Request) -> Response:
        """`/health`: whether Postgres answers."""
        if not await self._databases.alive():
            return JSONResponse({"status": "unhealthy", "service": self._domain.service}, status_code=503)
        return JSONResponse({"status": "healthy", "service": self._domain.service})

    async def seed(self, request: Request) -> Response:
        """`/api/seed-database`: creates a database from a script or a built-in seed."""
        body = await _json_body(request)
        database_id = _text(body, "database_id", required=True)
        sql, builtin = _text(body, "sql_content"), _text(body, "builtin")
        if sql is not None and builtin is not None:
            raise HTTPException(400, "give sql_content or builtin, not both")
        access = _text(body, "access") or Access.PUBLISHED
        available = list(Access) if self._domain.access is not None else [Access.PUBLISHED]
        if access not in available:
            known = ", ".join(available)
            raise HTTPException(400, f"access {access!r} is not available in {self._domain.name}; available: {known}")
        try:
            await self._databases.create(str(database_id), Origin(sql=sql, builtin=builtin, access=Access(access)))
        except UnknownSeed:
            known = ", ".join(self._domain.seeds) or "none"
            advice = f"available: {known}; NAME@7 is variant 7 of a seed, from 1 to 9999"
            raise HTTPException(400, f"unknown built-in seed {builtin!r}; {advice}") from None
        except SeedError as error:
            return JSONResponse({"detail": f"Failed to seed database: {error}"}, status_code=500)
        return JSONResponse(
            {
                "success": True,
                "message": f"database {database_id} is ready",
                "database_id": database_id,
                "sql_stored": sql is not None,
                "access": access,
            }
        )

    async def reset(self, request: Request) -> Response:
        """`/api/reset-database`: restores a database to its seed."""
        body = await _json_body(request)
        database_id = _text(body, "database_id") or request.headers.get(DATABASE_HEADER)
        if not database_id:
            raise HTTPException(400, "database_id is required")
        await self._databases.reset(database_id)
        return JSONResponse({"success": True, "message": "database reset to its seed", "database_id": database_id})

    async def delete(self, request: Request) -> Response:
        """`/api/delete-database`: deletes a database."""
        database_id = str(_text(await _json_body(request), "database_id", required=True))
        size = await self._databases.drop(database_id)
        if size is None:
            raise UnknownDatabase(database_id)
        return JSONResponse(
            {
                "success": True,
                "message": f"database {database_id} was deleted",
                "database_id": database_id,
                "deleted_size_bytes": size,
            }
        )

    async def run_sql(self, request: Request) -> Response:
        """`/api/sql-runner`: runs one read-only query, by default in SQLite's dialect."""
        body = await _json_body(request)
        sql = _text(body, "query")
        if not sql or not sql.strip():
            raise HTTPException(422, "query is required")
        database = self._database(request, body)
        dialect = _text(body, "dialect") or "sqlite"
        if dialect not in ("sqlite", "postgres"):
            raise HTTPException(422, f"unknown dialect {dialect!r}; available: sqlite, postgres")
        if dialect == "sqlite":
            sql = _limited(sql, self._domain.query_limit)
        limit = body.get("limit")
        if limit is not None and (not isinstance(limit, int) or limit < 0):
            raise HTTPException(422, "limit must be an integer, 0 or more")
        try:
            result = await (database.query(sql) if dialect == "sqlite" else database.query_postgres(sql))
        except QueryError as error:
            raise HTTPException(400, str(error)) from None
        if any(isinstance(value, float) and not math.isfinite(value) for row in result.rows for value in row):
            raise HTTPException(400, "the result has an infinite or undefined number, which JSON cannot represent")
        rows = _records(result)[:limit]
        return JSONResponse(
            {
                "success": True,
                "message": "Query executed successfully",
                "data": rows,
                "row_count": len(rows),
                "query": sql,
            }
        )

    async def download(self, request: Request) -> Response:
        """`/api/download-db-file`: the current state as a SQLite file, and the time of its clock."""
        database = self._database(request, {})
        content = await database.snapshot_file()
        headers = {"x-database-time": database.clock.now().isoformat()}
        return Response(content, media_type="application/vnd.sqlite3", headers=headers)

    async def state_difference(self, request: Request) -> Response:
        """`/api/state-difference`: rows that are not as they were seeded (`StateDifference`); with `?whole=true` as
        verifiers need them, else as records keep them.
        """
        whole = _flag(request, "whole")
        difference = await self._database(request, {}).difference(WHOLE if whole else BOUNDED)
        if whole and self._domain.meaning is not None:
            difference = self._domain.meaning(difference)
        return Response(difference.model_dump_json(), media_type="application/json")

    async def tool_effects(self, _request: Request) -> Response:
        """`/api/tool-effects`: names of the tools that write, which the published list of tools does not say."""
        return JSONResponse({"writing": [tool.name for tool in self._domain.toolbox.tools.values() if tool.writes]})

    async def clock(self, request: Request) -> Response:
        """`/api/clock`: reads the database's clock; a POST sets it (`time`) or moves it (`advance_seconds`)."""
        body = await _json_body(request) if request.method == "POST" else {}
        database = self._database(request, body)
        await self._change(database, _clock_target(database.clock, body))
        return JSONResponse({"time": database.clock.now().isoformat(), "set": database.clock.is_set})

    async def apply_event(self, request: Request) -> Response:
        """`/api/apply-event`: moves the clock (as `/api/clock`), then changes rows (`sql`), all or nothing."""
        body = await _json_body(request)
        database = self._database(request, body)
        target = _clock_target(database.clock, body)
        try:
            changed = await self._change(database, target, _statements(body))
        except QueryError as error:
            raise HTTPException(400, str(error)) from None
        return JSONResponse({"success": True, "rows": changed, "time": database.clock.now().isoformat()})

    # --- helpers --------------------------------------------------------------------------------------------------

    async def _change(
        self, database: Database, target: datetime | None, statements: Sequence[str] = ()
    ) -> Sequence[int]:
        """Moves a database's clock with what time does meanwhile, then runs statements; all or nothing.

        Args:
            database: The database.
            target: New time of the clock; None for real time, which changes no rows.
            statements: In Postgres' dialect.
        """
        before = database.clock.now()

        async def pass_time(session: AsyncSession) -> None:
            if target is not None and target > before:
                gym = Gym(session, self._domain.metadata, SYSTEM, database.clock)
                await self._domain.passes(gym, before, target)

        changed = await database.change(statements, pass_time)
        database.clock.set(target)
        return changed

    async def _call(self, name: str, arguments: Mapping[str, Any], headers: Mapping[str, str]) -> CallResult:
        database_id = headers.get(DATABASE_HEADER)
        result = await call_tool(
            self._domain,
            self._databases,
            name=name,
            arguments=arguments,
            database_id=database_id,
            identity=headers.get(self._domain.identity_header),
        )
        tool = name if name in self._domain.toolbox.tools else None  # unknown names are arbitrary text of an agent
        log.debug("tool called", tool=tool, database_id=database_id, is_error=result.is_error)
        return result

    def _database(self, request: Request, body: Mapping[str, Any]) -> Database:
        database_id = request.headers.get(DATABASE_HEADER) or body.get("database_id")
        if not isinstance(database_id, str) or not database_id:
            raise HTTPException(422, f"the {DATABASE_HEADER} header is required")
        return self._databases.get(database_id)


class _Mcp:
    """ASGI endpoint of `/mcp`; a class, so that Starlette passes scope and streams unchanged."""

    def __init__(self, server: GymServer) -> None:
        self._server = server

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._server.mcp(scope, receive, send)


def _limited(sql: str, rows: int | None) -> str:
    """The query with a LIMIT, unless it has one; None means no limit."""
    if rows is None or not _SELECTS.match(sql) or _LIMIT.search(sql):
        return sql
    query = sql.rstrip("; \t\r\n")
    ends_in_comment = "--" in query.rpartition("\n")[2]
    return f"{query}{chr(10) if ends_in_comment else ' '}LIMIT {rows}"


def _records(result: QueryResult) -> list[dict[str, Any]]:
    return [
        {name: _shown(value) for name, value in zip(result.columns, row, strict=True)} for row in result.rows
    ]  # fmt: skip


def _shown(value: Any) -> Any:
    return value.hex() if isinstance(value, bytes) else value


async def _json_body(request: Request) -> dict[str, Any]:
    _refuse_large(request, MAX_BODY)
    try:
        body = json.loads(await request.body() or b"{}")
    except (ValueError, RecursionError):
        raise HTTPException(400, "the body is not valid JSON, or nested too deeply") from None
    if not isinstance(body, dict):
        raise HTTPException(400, "the body must be a JSON object")
    return body


def _refuse_large(request: Request, limit: int) -> None:
    size = request.headers.get("content-length", "0")
    if size.isdigit() and int(size) > limit:
        raise HTTPException(413, f"the body has {size} bytes; the maximum is {limit}")


def _flag(request: Request, name: str) -> bool:
    value = request.query_params.get(name, "false")
    if value not in ("true", "false"):
        raise HTTPException(422, f"{name} must be true or false, found {value!r}")
    return value == "true"


def _text(body: Mapping[str, Any], field: str, *, required: bool = False) -> str | None:
    value = body.get(field)
    if value is None or value == "":
        if required:
            raise HTTPException(400, f"{field} is required")
        return None
    if not isinstance(value, str):
        raise HTTPException(400, f"{field} must be a string")
    if problem := unfit_text(value):
        raise HTTPException(400, f"{field} {problem}")
    return value


def _statements(body: Mapping[str, Any]) -> list[str]:
    statements = body.get("sql", [])
    if not isinstance(statements, list) or not all(isinstance(sql, str) for sql in statements):
        raise HTTPException(422, "sql must be a list of statements")
    for number, sql in enumerate(statements, start=1):
        if problem := unfit_text(sql):
            raise HTTPException(422, f"sql: statement {number} {problem}")
    return statements


def _clock_target(clock: Clock, body: Mapping[str, Any]) -> datetime | None:
    """Time to which a request sets the clock, None for real time; unchanged if the request contains no time."""
    time, seconds = _text(body, "time"), body.get("advance_seconds", 0)
    if not isinstance(seconds, int | float) or not 0 <= seconds < 1e10:
        raise HTTPException(422, "advance_seconds must be a number of seconds, 0 or more")
    try:
        named = parse_time(time, "time") if time else None
        start = named if "time" in body else clock.fixed_time
        return (start or clock.now()) + timedelta(seconds=seconds) if "advance_seconds" in body else start
    except ToolError as error:
        raise HTTPException(422, error.message) from None
    except OverflowError:
        raise HTTPException(422, "advance_seconds exceeds the year 9999") from None


async def _refused(_request: Request, error: HTTPException) -> Response:
    return JSONResponse({"detail": error.detail}, status_code=error.status_code)


async def _unknown_database(_request: Request, error: UnknownDatabase) -> Response:
    return JSONResponse({"detail": f"unknown database {str(error)!r}"}, status_code=404)


async def _unavailable(_request: Request, error: DatabaseLost) -> Response:
    log.error("postgres_lost", error=str(error))
    return JSONResponse({"detail": str(error)}, status_code=503)
