"""Any message and any query ends in an answer below HTTP 500, and changes nothing unless it is a valid call.

OPSGYM_SOAK=1 makes the runs long and random; otherwise they are short and the same every time.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.domains.declaration import SOAK
from tests.kit.conftest import ToyServer
from tests.support.fuzz import NASTY, TEXTS, runs

pytestmark = pytest.mark.timeout(3 * 3600 if SOAK else 300)

JSON_VALUES = st.recursive(
    NASTY | TEXTS | st.integers() | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
METHODS = st.sampled_from(["initialize", "tools/list", "tools/call", "ping", "notifications/initialized", "tools", ""])
NAMES = st.sampled_from(["list_animals", "add_animal", "nothing"])
MESSAGES = (
    st.fixed_dictionaries(
        {},
        optional={
            "jsonrpc": st.just("2.0") | JSON_VALUES,
            "id": st.integers(0, 5) | JSON_VALUES,
            "method": METHODS | JSON_VALUES,
            "params": st.fixed_dictionaries({}, optional={"name": NAMES | JSON_VALUES, "arguments": JSON_VALUES})
            | JSON_VALUES,
        },
    )
    | JSON_VALUES
)
BODIES = [
    b"", b"\xff\xfe", b"{", b"null", b"[" * 100_000, b"[" * 100_000 + b"]" * 100_000, b'{"a":' * 50_000, b"NaN",
    b'{"jsonrpc": "2.0", "id": ' + b"9" * 5000 + b', "method": "ping"}', b'"\\ud800"',
    b'{"jsonrpc": "2.0", "id": "\\ud800", "method": "\\ud800"}', b'{"id": 1, "id": 2, "method": "ping"}',
    b"[" + b'{"jsonrpc": "2.0", "id": 1, "method": "ping"},' * 3 + b"1]",
]  # fmt: skip
VERSIONS: list[Mapping[str, str]] = [{}, {"mcp-protocol-version": "2025-11-25"}, {"mcp-protocol-version": "soon"}]


def assert_answered(answer: httpx.Response) -> None:
    assert answer.status_code < 500, answer.text[:500]
    if answer.content and answer.headers.get("content-type", "").startswith("application/json"):
        json.loads(answer.content.decode())
    assert "Traceback" not in answer.text


@pytest.fixture
def seeded(toy: ToyServer) -> ToyServer:
    toy.seed("db").raise_for_status()
    return toy


def rows(toy: ToyServer) -> bytes:
    """The database as a SQLite file."""
    return toy.client.get("/api/download-db-file", headers={"x-database-id": "db"}).raise_for_status().content


def test_a_message_of_any_shape_is_answered(seeded: ToyServer) -> None:
    @runs(200)
    @given(MESSAGES, st.sampled_from(VERSIONS))
    def explore(message: Any, version: Mapping[str, str]) -> None:
        headers = {"x-database-id": "db", "Accept": "application/json, text/event-stream", **version}
        assert_answered(seeded.client.post("/mcp", content=json.dumps(message), headers=headers))

    before = rows(seeded)
    explore()
    assert rows(seeded) == before


@pytest.mark.parametrize("path", ["/mcp", "/api/sql-runner", "/api/reset-database", "/api/seed-database", "/api/clock"])
def test_a_body_that_is_not_a_message_is_answered(seeded: ToyServer, path: str) -> None:
    for body in BODIES:
        for version in VERSIONS:
            headers = {"Accept": "application/json, text/event-stream", "content-type": "application/json", **version}
            assert_answered(seeded.client.post(path, content=body, headers=headers))


QUERIES = st.sampled_from(
    [
        "SELECT 1", "SELECT", "SELECT * FROM nothing", "SELECT 1; SELECT 2", "DROP TABLE animal", "PRAGMA foreign_keys",
        "SELECT '\x00'", "SELECT '\ud800'", "SELECT zeroblob(10)", "SELECT randomblob(-1)", "SELECT 9e999",
        "-- nothing", "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r LIMIT 10) SELECT * FROM r",
        "ATTACH 'x' AS y", "SELECT load_extension('x')", "VACUUM", "BEGIN", "EXPLAIN SELECT 1", "\x00",
        "SELECT 1" + " " * 9999,
        "SELECT json('{')", "SELECT * FROM animal WHERE name = '\u00e9'", "DELETE FROM animal RETURNING *",
    ]
)  # fmt: skip


def test_a_query_of_any_kind_is_answered_and_changes_nothing(seeded: ToyServer) -> None:
    @runs(150)
    @given(QUERIES | TEXTS | NASTY, st.sampled_from(["sqlite", "postgres"]), NASTY)
    def explore(query: Any, dialect: str, limit: Any) -> None:
        body = {"query": query, "dialect": dialect, "limit": limit, "database_id": "db"}
        assert_answered(seeded.client.post("/api/sql-runner", content=json.dumps(body)))

    before = rows(seeded)
    explore()
    assert rows(seeded) == before
