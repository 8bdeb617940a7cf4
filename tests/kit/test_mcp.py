"""What MCP asks of a server of tools on HTTP, and which web pages a server on this machine keeps out."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION
from tests.kit.conftest import ToyServer, serving
from tests.kit.toy import DOMAIN

BOTH = "application/json, text/event-stream"
PLAIN: dict[str, str] = {}
STANDARD = {"mcp-protocol-version": LATEST_HANDSHAKE_VERSION, "accept": BOTH}
each_client = pytest.mark.parametrize("client", [PLAIN, STANDARD], ids=["plain", "standard"])


def post(toy: ToyServer, message: dict[str, Any], **headers: str) -> httpx.Response:
    return toy.client.post("/mcp", json={"jsonrpc": "2.0", **message}, headers=headers)


def initialize(version: str) -> dict[str, Any]:
    client = {"name": "test", "version": "1"}
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": client}
    return {"id": 1, "method": "initialize", "params": params}


@pytest.mark.parametrize("version", HANDSHAKE_PROTOCOL_VERSIONS)
def test_a_known_protocol_version_is_agreed_to(toy: ToyServer, version: str) -> None:
    result = post(toy, initialize(version), accept=BOTH).json()["result"]
    assert result["protocolVersion"] == version
    assert "tools" in result["capabilities"]
    assert set(result["serverInfo"]) == {"name", "version"}


def test_an_unknown_protocol_version_is_answered_with_the_latest(toy: ToyServer) -> None:
    result = post(toy, initialize("1999-01-01")).json()["result"]
    assert result["protocolVersion"] == LATEST_HANDSHAKE_VERSION


@each_client
def test_a_ping_gets_an_empty_result(toy: ToyServer, client: dict[str, str]) -> None:
    assert post(toy, {"id": "p", "method": "ping"}, **client).json() == {"jsonrpc": "2.0", "id": "p", "result": {}}


@each_client
def test_a_notification_is_accepted_without_a_body(toy: ToyServer, client: dict[str, str]) -> None:
    for method in ("notifications/initialized", "notifications/cancelled"):
        params = {"requestId": 1} if method.endswith("cancelled") else {}
        answer = post(toy, {"method": method, "params": params}, **client)
        assert (answer.status_code, answer.content) == (202, b"")


@each_client
def test_an_unknown_method_is_an_error_with_the_requests_id(toy: ToyServer, client: dict[str, str]) -> None:
    answer = post(toy, {"id": 9, "method": "tools/fly"}, **client).json()
    assert (answer["id"], answer["error"]["code"]) == (9, -32601)


@each_client
def test_several_requests_of_one_session_are_answered_at_once(toy: ToyServer, client: dict[str, str]) -> None:
    headers = {**client, "mcp-session-id": "s-1"}
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda number: post(toy, {"id": number, "method": "tools/list"}, **headers), range(4)))
    assert [answer.status_code for answer in answers] == [200] * 4
    assert [answer.json()["id"] for answer in answers] == list(range(4))


@each_client
def test_another_content_type_than_json_is_refused(toy: ToyServer, client: dict[str, str]) -> None:
    body = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'
    answer = toy.client.post("/mcp", content=body, headers={**client, "content-type": "text/plain"})
    assert answer.status_code in {400, 415}


@each_client
def test_a_client_that_does_not_accept_json_is_refused(toy: ToyServer, client: dict[str, str]) -> None:
    answer = post(toy, {"id": 1, "method": "ping"}, **{**client, "accept": "text/html"})
    assert answer.status_code == 406


@pytest.mark.parametrize("accept", ["*/*", "application/json;q=0.9", BOTH])
def test_a_plain_client_may_accept_json_in_any_form(toy: ToyServer, accept: str) -> None:
    assert post(toy, {"id": 1, "method": "ping"}, accept=accept).status_code == 200


# --- pages of other origins ----------------------------------------------------------------------------------------

FOREIGN_HOST, FOREIGN_ORIGIN = {"host": "rebound.example"}, {"origin": "http://elsewhere.example"}


@pytest.fixture(scope="module")
def toys(toy_postgres: str) -> Iterator[dict[str, ToyServer]]:
    """Servers on this machine only, on every address, and on every address with the explore page."""
    with (
        serving(DOMAIN, toy_postgres) as local,
        serving(DOMAIN, toy_postgres, "0.0.0.0") as pod,
        serving(DOMAIN, toy_postgres, "0.0.0.0", page=True) as page,
    ):
        yield {"local": local, "pod": pod, "page": page}


@pytest.mark.parametrize(
    ("server", "headers", "status"),
    [
        ("local", {}, 200),
        ("local", {"host": "localhost"}, 200),
        ("local", {"host": "LOCALHOST:8006", "origin": "http://LOCALHOST:8006"}, 200),
        ("local", {"host": "[::1]:8006"}, 200),
        ("local", FOREIGN_HOST, 421),
        ("local", {"host": "localhost.rebound.example"}, 421),
        ("local", {"host": "[::1"}, 421),
        ("local", {"host": ""}, 421),
        ("local", {**FOREIGN_HOST, "origin": "http://rebound.example"}, 421),
        ("local", FOREIGN_ORIGIN, 403),
        ("local", {"origin": "null"}, 403),
        ("local", {"origin": "http://[::1"}, 403),
        ("pod", FOREIGN_HOST, 200),
        ("pod", FOREIGN_ORIGIN, 200),
        ("page", FOREIGN_HOST, 200),
        ("page", FOREIGN_ORIGIN, 403),
    ],
)
def test_a_server_on_this_machine_refuses_foreign_hosts_and_origins(
    toys: dict[str, ToyServer], server: str, headers: dict[str, str], status: int
) -> None:
    client = toys[server].client
    assert client.get("/health", headers=headers).status_code == status
    assert (
        client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "ping"}, headers=headers).status_code == status
    )
    body = {"database_id": "db", "sql_content": ""}
    assert client.post("/api/seed-database", json=body, headers=headers).status_code == status


def test_a_server_imports_neither_the_sdk_nor_task_rows_before_they_are_needed() -> None:
    late = ("mcp", "mcp_types", "opsgym_api.tasks.task", "opsgym_domains.explore")
    code = (
        "import sys, opsgym_domains.serve; from opsgym_domains import registry; registry.load('itsm'); "
        f"print(*(name for name in {late} if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == []
