"""The HTTP surface: what published clients and standard clients send, and what goes wrong."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp_types import version
from tests.kit.conftest import ToyServer

from opsgym_api.gym_http import INTERNAL_ERROR_HEADER
from opsgym_domains.kit.rpc import HANDSHAKE_VERSIONS, MODERN_VERSIONS


def code_of(result: dict[str, Any]) -> str:
    assert result["isError"] is True
    detail = json.loads(result["content"][0]["text"])["detail"]
    return str(detail[0]["ctx"]["error_code"] if isinstance(detail, list) else detail["details"][0]["code"])


def data_of(result: dict[str, Any]) -> Any:
    assert result["isError"] is False, result
    return json.loads(result["content"][0]["text"])


def test_a_result_has_every_key_of_the_published_servers(toy: ToyServer) -> None:
    toy.seed("db")
    result = toy.call("list_animals", {"name": "re"})
    assert {**result, "content": None} == {
        "meta": None,
        "content": None,
        "structuredContent": None,
        "isError": False,
    }
    (content,) = result["content"]
    assert {**content, "text": None} == {"type": "text", "text": None, "annotations": None, "meta": None}
    assert data_of(result) == [
        {
            "animal_id": "ANIMAL_007",
            "name": "Rex",
            "keeper": "KEEPER_001",
            "tame": True,
            "weight": 12.5,
            "arrived": "2026-01-01T08:00:00",
            "changed": None,
        }
    ]


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("add_animal", {}, "MISSING_FIELD"),
        ("add_animal", {"name": "", "kind": "cat"}, "STRING_TOO_SHORT"),
        ("add_animal", {"name": 5, "kind": "cat"}, "INVALID_TYPE"),
        ("add_animal", {"name": "x", "kind": "Cat"}, "INVALID_ENUM_VALUE"),
        ("add_animal", {"name": "x", "kind": "cat", "tame": "yes"}, "INVALID_TYPE"),
        ("add_animal", {"name": "x", "kind": "cat", "weight": -6}, "VALUE_TOO_SMALL"),
        ("add_animal", {"name": "x", "kind": "cat", "weight": -1}, "NEGATIVE_WEIGHT"),
        ("add_animal", {"name": "x", "kind": "cat", "colour": "red"}, "UNKNOWN_FIELD"),
        ("add_animal", {"name": "x" * 3_000_000, "kind": "cat"}, "STRING_TOO_LONG"),
        ("add_animal", {"name": "a name that is", "kind": "cat"}, "STRING_TOO_LONG"),
        ("add_animal", {"name": "nul\x00", "kind": "cat"}, "INVALID_VALUE"),
        ("add_animal", {"name": "x", "kind": "cat", "keeper": "KEEPER_404"}, "KEEPER_NOT_FOUND"),
        ("rename_animal", {"animal_id": "ANIMAL_007", "name": "Rex"}, "NO_CHANGES_DETECTED"),
        ("rename_animal", {"animal_id": "ANIMAL_404"}, "NO_FIELDS_TO_UPDATE"),
        ("rename_animal", {"animal_id": "ANIMAL_404", "name": "x"}, "ANIMAL_NOT_FOUND"),
        ("dismiss_keeper", {"keeper_id": "KEEPER_001"}, "STILL_REFERENCED"),
        ("list_animals", {"created_after": "soon"}, "INVALID_DATE"),
        ("list_animals", {"created_after": "2026-02-01", "created_before": "01/31/2026"}, "INVALID_DATE_RANGE"),
        ("add_then_fail", {}, "TOO_LATE"),
        ("add_then_crash", {}, "INTERNAL_ERROR"),
    ],
)
def test_a_refused_call_says_why_and_leaves_no_trace(
    toy: ToyServer, tool: str, arguments: dict[str, object], code: str
) -> None:
    toy.seed("db")
    before = toy.sql("SELECT * FROM animal").json()["data"]
    assert code_of(toy.call(tool, arguments)) == code
    assert toy.sql("SELECT * FROM animal").json()["data"] == before


def test_a_fault_in_a_tool_is_marked_and_not_shown(toy: ToyServer) -> None:
    toy.seed("db")
    answers = {
        tool: toy.client.post("/mcp", json=rpc_call(tool), headers={"x-database-id": "db"})
        for tool in ("add_then_crash", "add_then_fail")
    }
    assert [answer.status_code for answer in answers.values()] == [200, 200]
    assert "ghost" not in answers["add_then_crash"].text
    assert {tool: INTERNAL_ERROR_HEADER in answer.headers for tool, answer in answers.items()} == {
        "add_then_crash": True,
        "add_then_fail": False,
    }


def rpc_call(tool: str) -> dict[str, object]:
    params = {"name": tool, "arguments": {}}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


def test_identifiers_continue_from_the_highest_in_use(toy: ToyServer) -> None:
    toy.seed("db")
    added = data_of(toy.call("add_animal", {"name": "Tom", "kind": "cat"}))
    assert added["animal_id"] == "ANIMAL_008"


def test_newest_rows_come_first(toy: ToyServer) -> None:
    toy.seed("db")
    listed = data_of(toy.call("list_animals", {"tame": None, "name": ""}))
    assert [row["name"] for row in listed] == ["Mia", "Rex"]


def test_identity_comes_from_the_domains_header(toy: ToyServer) -> None:
    toy.seed("db")
    assert code_of(toy.call("list_animals", {}, **{"x-toy-token": "stolen"})) == "UNAUTHORIZED"
    assert data_of(toy.call("list_animals", {}, **{"x-toy-token": "t2"}))


def test_a_call_without_a_known_database_or_tool_is_refused_by_name(toy: ToyServer) -> None:
    assert "x-database-id" in toy.call("list_animals", {}, database_id=None)["content"][0]["text"]
    assert "'nowhere'" in toy.call("list_animals", {}, database_id="nowhere")["content"][0]["text"]
    toy.seed("db")
    assert "'fly'" in toy.call("fly", {})["content"][0]["text"]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"{", 400, -32700),
        (b"[]", 400, -32600),
        (b'{"id": 1}', 400, -32600),
        (b'{"id": 1, "method": "ping"}', 400, -32600),
        (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', 400, -32600),
        (b'{"jsonrpc": "2.0", "id": NaN, "method": "ping"}', 400, -32600),
        (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', 400, -32600),
        (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', 400, -32600),
        (
            b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_animals", "arguments": []}}',
            200,
            -32602,
        ),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/fly"}', 200, -32601),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": []}', 200, -32602),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 5}}', 200, -32602),
    ],
)
def test_broken_messages_get_json_rpc_errors(toy: ToyServer, body: bytes, status: int, code: int) -> None:
    answer = toy.client.post("/mcp", content=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


def test_an_unknown_protocol_version_is_named(toy: ToyServer) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    answer = toy.client.post("/mcp", json=message, headers={"mcp-protocol-version": "1999-01-01"})
    assert answer.status_code == 400
    assert answer.json()["error"]["message"].startswith("unsupported protocol version '1999-01-01'; supported: 2024")


def test_protocol_versions_are_those_of_the_sdk() -> None:
    assert tuple(version.HANDSHAKE_PROTOCOL_VERSIONS) == HANDSHAKE_VERSIONS
    assert tuple(version.MODERN_PROTOCOL_VERSIONS) == MODERN_VERSIONS


def test_the_published_harness_is_answered_as_it_expects(toy: ToyServer) -> None:
    accept = {"Accept": "application/json, text/event-stream", "mcp-session-id": "s-1"}
    hello = {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "initialize",
        "params": {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
    }
    answer = toy.client.post("/mcp", json=hello, headers=accept)
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["mcp-session-id"] == "s-1"
    assert answer.json()["result"]["protocolVersion"] == "2024-11-05"
    done = toy.client.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=accept)
    assert (done.status_code, done.content) == (202, b"")
    listed = toy.client.post("/mcp", json={"jsonrpc": "2.0", "id": 3, "method": "tools/list"}, headers=accept).json()
    assert [tool["name"] for tool in listed["result"]["tools"]] == [
        "list_animals", "add_animal", "rename_animal", "dismiss_keeper", "add_then_fail", "add_then_crash",
    ]  # fmt: skip
    assert all(set(tool) == {"name", "description", "inputSchema"} for tool in listed["result"]["tools"])


@pytest.mark.anyio
async def test_a_standard_client_lists_and_calls_tools(toy: ToyServer) -> None:
    import httpx2

    toy.seed("db")
    url = str(toy.client.base_url.join("/mcp"))
    async with (
        httpx2.AsyncClient(headers={"x-database-id": "db"}) as http,
        streamable_http_client(url, http_client=http) as streams,
        ClientSession(streams[0], streams[1]) as session,
    ):
        await session.initialize()
        hints = {tool.name: tool.annotations for tool in (await session.list_tools()).tools}
        assert {name: (hint.read_only_hint, hint.destructive_hint) for name, hint in hints.items() if hint} == {
            "list_animals": (True, None),
            "add_animal": (False, False),
            "rename_animal": (False, True),
            "dismiss_keeper": (False, True),
            "add_then_fail": (False, True),
            "add_then_crash": (False, True),
        }
        answer = await session.call_tool("rename_animal", {"animal_id": "ANIMAL_007", "name": "Max"})
        assert not answer.is_error
        refused = await session.call_tool("rename_animal", {"animal_id": "ANIMAL_404", "name": "Max"})
        assert refused.is_error
    assert toy.value("SELECT name FROM animal WHERE animal_id = 'ANIMAL_007'") == "Max"


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/api/seed-database", {}, 400),
        ("/api/seed-database", {"database_id": 5}, 400),
        ("/api/seed-database", {"database_id": "x", "builtin": "aquarium"}, 400),
        ("/api/seed-database", {"database_id": "x", "builtin": "zoo", "sql_content": "SELECT 1"}, 400),
        ("/api/seed-database", {"database_id": "x", "access": "strict"}, 400),
        ("/api/seed-database", {"database_id": "x", "sql_content": "nonsense"}, 500),
        ("/api/reset-database", {"database_id": "nowhere"}, 404),
        ("/api/sql-runner", {"query": "SELECT 1"}, 422),
        ("/api/sql-runner", {"query": "", "database_id": "db"}, 422),
        ("/api/sql-runner", {"query": "SELECT 1", "database_id": "nowhere"}, 404),
        ("/api/sql-runner", {"query": "SELECT 1", "database_id": "db", "dialect": "oracle"}, 422),
        ("/api/sql-runner", {"query": "SELECT x", "database_id": "db"}, 400),
        ("/api/sql-runner", {"query": "SELECT 9e999", "database_id": "db"}, 400),
        ("/api/sql-runner", {"query": "DELETE FROM animal", "database_id": "db"}, 400),
        ("/api/sql-runner", {"query": "SELECT 1", "database_id": "db", "limit": -1}, 422),
        ("/api/clock", {"database_id": "db", "time": "soon"}, 422),
        ("/api/clock", {"database_id": "db", "advance_seconds": -1}, 422),
    ],
)
def test_bad_requests_are_refused_with_a_detail(
    toy: ToyServer, path: str, body: dict[str, object], status: int
) -> None:
    toy.seed("db")
    answer = toy.client.post(path, json=body)
    assert (answer.status_code, bool(answer.json()["detail"])) == (status, True)


def test_a_body_that_is_not_an_object_is_refused(toy: ToyServer) -> None:
    for content in (b"{", b"[]", b"\xff"):
        assert toy.client.post("/api/seed-database", content=content).status_code == 400
    unknown = toy.client.request("DELETE", "/api/delete-database", json={"database_id": "nowhere"})
    assert unknown.status_code == 404


def test_the_final_state_can_be_downloaded_as_sqlite(toy: ToyServer) -> None:
    import apsw

    toy.seed("db")
    toy.client.post("/api/clock", json={"database_id": "db", "time": "2031-01-02T03:04:05Z"}).raise_for_status()
    answer = toy.client.get("/api/download-db-file", headers={"x-database-id": "db"})
    assert answer.headers["x-database-time"] == "2031-01-02T03:04:05"
    copy = apsw.Connection(":memory:")
    copy.deserialize("main", answer.content)
    assert list(copy.execute("SELECT name FROM animal")) == [("Rex",), ("Mia",)]


def test_a_moved_clock_dates_new_rows(toy: ToyServer) -> None:
    toy.seed("db")
    clock = {"database_id": "db", "time": "2031-01-02 03:04:05", "advance_seconds": 60}
    assert toy.client.post("/api/clock", json=clock).json() == {"time": "2031-01-02T03:05:05", "set": True}
    added = data_of(toy.call("add_animal", {"name": "Tom", "kind": "cat"}))
    assert added["arrived"] == "2031-01-02T03:05:05"


def test_concurrent_calls_on_one_database_get_different_identifiers(toy: ToyServer) -> None:
    toy.seed("db")
    with ThreadPoolExecutor(8) as pool:
        calls = [pool.submit(toy.call, "add_animal", {"name": f"n{n}", "kind": "cat"}) for n in range(24)]
        added = [data_of(call.result()) for call in calls]
    assert {row["animal_id"] for row in added} == {f"ANIMAL_{n:03d}" for n in range(8, 32)}


def test_health_names_the_service(toy: ToyServer) -> None:
    assert toy.client.get("/health").json() == {"status": "healthy", "service": "toy-api"}
