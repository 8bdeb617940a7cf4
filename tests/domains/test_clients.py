"""Every MCP client gets the same tools and the same answers: the SDK's client in each of its protocols, and the plain
client of the published harness.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION
from tests.domains.declaration import DomainDeclaration, as_argument, sample
from tests.support.gym import Gym, GymDatabase, Outcome

MODES = {
    "legacy": LATEST_HANDSHAKE_VERSION,
    LATEST_MODERN_VERSION: LATEST_MODERN_VERSION,
    "auto": LATEST_MODERN_VERSION,
}


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@asynccontextmanager
async def sdk_client(gym: Gym, declared: DomainDeclaration, database_id: str, mode: str) -> AsyncIterator[Client]:
    headers = {"x-database-id": database_id, **declared.headers}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:  # the first call of a server imports the SDK
        transport = streamable_http_client(f"{gym.url}/mcp", http_client=http)
        async with Client(transport, mode=mode) as client:
            yield client


@pytest.mark.anyio
@pytest.mark.parametrize("mode", MODES)
async def test_the_sdks_client_lists_every_tool(gym: Gym, declared: DomainDeclaration, mode: str) -> None:
    async with sdk_client(gym, declared, "none-needed", mode) as client:
        assert client.protocol_version == MODES[mode]
        listed = (await client.list_tools()).tools
    assert {tool.name: tool.input_schema for tool in listed} == {
        tool.name: tool.input_schema for tool in declared.tools.values()
    }
    assert [tool.description for tool in listed] == [tool.description for tool in declared.domain.toolbox.listed]


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["legacy", LATEST_MODERN_VERSION])
async def test_the_sdks_client_gets_the_same_results_as_a_plain_client(
    gym: Gym, declared: DomainDeclaration, mode: str
) -> None:
    with declared.database(gym) as by_sdk, declared.database(gym) as by_post:
        async with sdk_client(gym, declared, by_sdk.id, mode) as client:
            for tool in sample(sorted(declared.examples), 10):
                answer = await client.call_tool(tool, dict(declared.examples[tool]))
                (content,) = answer.content
                assert isinstance(content, TextContent)
                expected = by_post.call_with(tool, declared.examples[tool])
                assert content.text == expected.text.replace(by_post.id, by_sdk.id), tool
                assert not declared.checks_by_schema or bool(answer.is_error) == expected.is_error, tool
        assert by_sdk.digest() == by_post.digest()


@pytest.mark.anyio
@pytest.mark.declares("checks_by_schema", "updates")
@pytest.mark.parametrize("mode", ["legacy", LATEST_MODERN_VERSION])
async def test_the_sdks_client_gets_a_refusal_as_a_tool_error(
    gym: Gym, declared: DomainDeclaration, database: GymDatabase, mode: str
) -> None:
    name, tool = next(iter(declared.updates.items()))
    arguments = {**declared.examples[name], tool.key: as_argument(declared.tools[name], tool.key, declared.unknown_key)}
    async with sdk_client(gym, declared, database.id, mode) as client:
        answer = await client.call_tool(name, arguments)
    assert answer.is_error
    (content,) = answer.content
    assert isinstance(content, TextContent)
    assert Outcome(content.text, is_error=True).code == tool.missing


@pytest.mark.anyio
async def test_the_tool_list_for_the_sdks_client_has_no_output_schemas(gym: Gym, declared: DomainDeclaration) -> None:
    """With one, the SDK would insist on structured content, which an array or a null cannot be."""
    async with sdk_client(gym, declared, "none-needed", "legacy") as client:
        listed = (await client.list_tools()).tools
    assert all(tool.output_schema is None for tool in listed)


# --- a plain client ------------------------------------------------------------------------------------------------

ACCEPT = {"Accept": "application/json, text/event-stream"}


def post(gym: Gym, message: dict[str, Any], **headers: str) -> httpx.Response:
    return gym.client.post("/mcp", json={"jsonrpc": "2.0", **message}, headers={**ACCEPT, **headers})


@pytest.mark.parametrize("version", HANDSHAKE_PROTOCOL_VERSIONS)
def test_a_plain_client_gets_plain_json_from_initialize_to_tools_call(
    gym: Gym, declared: DomainDeclaration, database: GymDatabase, version: str
) -> None:
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "harness", "version": "1"}}
    hello = post(gym, {"id": 1, "method": "initialize", "params": params})
    assert hello.headers["content-type"] == "application/json"
    assert hello.json()["result"]["protocolVersion"] == version
    assert hello.json()["result"]["serverInfo"]["name"] == declared.domain.service
    for notification in ("notifications/initialized", "notifications/cancelled"):
        accepted = post(gym, {"method": notification})
        assert (accepted.status_code, accepted.content) == (202, b"")
    listed = post(gym, {"id": "two", "method": "tools/list"}).json()
    assert listed["id"] == "two"
    assert [tool["name"] for tool in listed["result"]["tools"]] == [
        tool.name for tool in declared.domain.toolbox.listed
    ]
    assert [tool.get("outputSchema") for tool in listed["result"]["tools"]] == [
        tool.output_schema if declared.domain.lists_results else None for tool in declared.domain.toolbox.listed
    ]
    reader = next(name for name, tool in declared.tools.items() if not tool.writes)
    call = {"id": 3, "method": "tools/call", "params": {"name": reader, "arguments": declared.examples[reader]}}
    answered = post(gym, call, **{"x-database-id": database.id, **declared.headers}).json()
    assert answered["jsonrpc"] == "2.0"
    (content,) = answered["result"]["content"]
    assert answered["result"] == declared.domain.response_style.envelope(content["text"], False)
    assert content["text"] == database.call_with(reader, declared.examples[reader]).text


def test_each_call_names_its_own_database(gym: Gym, declared: DomainDeclaration) -> None:
    name = next(name for name, tool in declared.tools.items() if tool.writes)
    with declared.database(gym) as changed, declared.database(gym) as other:
        before = other.digest()
        assert changed.call_with(name, declared.examples[name]).data
        assert changed.digest() != before
        assert other.digest() == before
