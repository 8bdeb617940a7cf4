"""A small gym server on SQLite: notes that can be added and renamed. Speaks the HTTP surface of real ones."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

SEED = "INSERT INTO notes (text) VALUES ('first'); INSERT INTO notes (text) VALUES ('second');"
NOTES = "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL, author TEXT)"


def _tool(name: str, **properties: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {key: {"type": kind} for key, kind in properties.items()}}
    return {"name": name, "description": f"Does {name}.", "inputSchema": schema}


@dataclass
class StubGym:
    """The gym and how it misbehaves."""

    tools: list[dict[str, Any]] = field(
        default_factory=lambda: [
            _tool("add_note", text="string"),
            _tool("rename_note", id="integer", text="string"),
            *(_tool(f"idle_{number}") for number in range(20)),
        ]
    )
    event_stream: bool = False
    """Answers /mcp with server-sent events."""
    downloads: bool = True
    """Hands out database files."""
    difference: Response | None = None
    """Answer to what was done to a database; as a server that does not tell if None."""
    writing: list[str] | None = None
    """Tools that it says write; as a server that does not say if None."""
    asked_for: list[str] = field(default_factory=list)
    """Query of each request for a difference."""
    sessions: bool = False
    """Gives out MCP session ids and insists on them."""
    forgets_politely: bool = True
    """Answers calls on databases it does not know with HTTP 404; else with an error result."""
    knows_access: bool = True
    """Says how strictly a new database is judged."""
    broken: Mapping[str, Response] = field(default_factory=dict)
    """Answers of paths, or of tools, that are broken."""
    databases: dict[str, sqlite3.Connection] = field(default_factory=dict)
    deleted: list[str] = field(default_factory=list)
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    seeds: list[dict[str, Any]] = field(default_factory=list)

    @property
    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/mcp", self.mcp, methods=["POST"]),
                Route("/api/seed-database", self.seed, methods=["POST"]),
                Route("/api/sql-runner", self.sql, methods=["POST"]),
                Route("/api/delete-database", self.delete, methods=["DELETE"]),
                Route("/api/download-db-file", self.download, methods=["GET"]),
                Route("/api/state-difference", self.state_difference, methods=["GET"]),
                Route("/api/tool-effects", self.tool_effects, methods=["GET"]),
            ]
        )

    async def tool_effects(self, _request: Request) -> Response:
        return Response(status_code=404) if self.writing is None else JSONResponse({"writing": self.writing})

    async def mcp(self, request: Request) -> Response:
        if "/mcp" in self.broken:
            return self.broken["/mcp"]
        body = await request.json()
        if "id" not in body:
            return Response(status_code=204)
        if self.sessions and body["method"] != "initialize" and request.headers.get("mcp-session-id") != "session-7":
            return JSONResponse({"detail": "no session"}, status_code=400)
        answer = self._answer(request, body["method"], body["params"])
        if isinstance(answer, Response):
            return answer
        message = {"jsonrpc": "2.0", "id": body["id"], **answer}
        if not self.event_stream:
            return JSONResponse(message, headers={"mcp-session-id": "session-7"} if self.sessions else None)
        note = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {}}
        events = "".join(f"event: message\r\ndata: {json.dumps(item)}\r\n\r\n" for item in (note, message))
        return Response(": hello\r\n\r\n" + events, media_type="text/event-stream")

    def _answer(self, request: Request, method: str, params: dict[str, Any]) -> dict[str, Any] | Response:
        if method == "initialize":
            return {"result": {"protocolVersion": params["protocolVersion"], "capabilities": {}, "serverInfo": {}}}
        if method == "tools/list":
            return {"result": {"tools": self.tools}}
        name, arguments = params["name"], params["arguments"]
        self.calls.append((name, arguments))
        self.headers.append(dict(request.headers))
        if name in self.broken:
            return self.broken[name]
        if name == "rpc_error":
            return {"error": {"code": -32602, "message": "no such tool here"}}
        database_id = request.headers["x-database-id"]
        if database_id in self.databases:
            return {"result": self._call(self.databases[database_id], name, arguments)}
        problem = f"there is no database {database_id!r}"
        if self.forgets_politely:
            return JSONResponse({"detail": problem}, status_code=404)
        content = [{"type": "text", "text": f"Error: {problem}", "annotations": None, "meta": None}]
        return {"result": {"meta": None, "content": content, "structuredContent": None, "isError": True}}

    def _call(self, database: sqlite3.Connection, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        try:
            if name == "add_note":
                row = database.execute("INSERT INTO notes (text) VALUES (?) RETURNING id", (arguments["text"],))
                text, is_error = json.dumps({"id": row.fetchone()[0]}), False
            elif name == "rename_note":
                change = (arguments["text"], arguments["id"])
                count = database.execute("UPDATE notes SET text = ? WHERE id = ?", change).rowcount
                text, is_error = ("{}", False) if count else ("NOT_FOUND: no such note", True)
            else:
                text, is_error = "nothing happens", False
        except (KeyError, sqlite3.Error) as error:
            text, is_error = f"{type(error).__name__}: {error}", True
        content = [{"type": "text", "text": text, "annotations": None, "meta": None}]
        return {"meta": None, "content": content, "structuredContent": None, "isError": is_error}

    async def seed(self, request: Request) -> Response:
        body = await request.json()
        self.seeds.append(body)
        if "/api/seed-database" in self.broken:
            return self.broken["/api/seed-database"]
        database = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        database.row_factory = sqlite3.Row
        database.execute(NOTES)
        self.databases[body["database_id"]] = database
        try:
            database.executescript(body.get("sql_content") or SEED)
        except sqlite3.Error as error:
            return JSONResponse({"detail": f"Failed to seed database: {error}"}, status_code=500)
        known = {"access": body.get("access", "published")} if self.knows_access else {}
        return JSONResponse({"success": True, "database_id": body["database_id"], **known})

    async def sql(self, request: Request) -> Response:
        if "/api/sql-runner" in self.broken:
            return self.broken["/api/sql-runner"]
        body = await request.json()
        if request.headers["x-database-id"] not in self.databases:
            return JSONResponse({"detail": "unknown database"}, status_code=404)
        try:
            rows = self.databases[request.headers["x-database-id"]].execute(body["query"]).fetchall()
        except sqlite3.Error as error:
            return JSONResponse({"detail": str(error)}, status_code=400)
        return JSONResponse({"success": True, "data": [dict(row) for row in rows], "row_count": len(rows)})

    async def delete(self, request: Request) -> Response:
        body = await request.json()
        self.deleted.append(body["database_id"])
        if (database := self.databases.pop(body["database_id"], None)) is not None:
            database.close()
        return JSONResponse({"success": True})

    async def download(self, request: Request) -> Response:
        if not self.downloads or request.headers["x-database-id"] not in self.databases:
            return JSONResponse({"detail": "Not Found"}, status_code=404)
        content = self.databases[request.headers["x-database-id"]].serialize()
        headers = {"x-database-time": "2026-01-05T08:00:00Z"}
        return Response(content, media_type="application/octet-stream", headers=headers)

    async def state_difference(self, request: Request) -> Response:
        self.asked_for.append(request.url.query)
        if self.difference is None:
            return JSONResponse({"detail": "Not Found"}, status_code=404)
        return self.difference


if __name__ == "__main__":  # as a process of its own, for tests that kill it
    import uvicorn

    uvicorn.run(StubGym().app, port=int(sys.argv[1]), log_level="critical")
