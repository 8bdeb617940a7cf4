"""The gym client against servers of every manner that the published family has."""

from __future__ import annotations

import asyncio

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from tests.runner.servers import serving
from tests.runner.stub_gym import StubGym

from opsgym_api.gym_http import INTERNAL_ERROR_HEADER
from opsgym_api.kinds.evalrun import Access
from opsgym_api.records.outcomes import InfraReason
from opsgym_api.tasks.task import GymServer
from opsgym_core.results.frozen_suite import Seed
from opsgym_runner.errors import NotScored
from opsgym_runner.gyms import client
from opsgym_runner.gyms.client import GymClient, http_client

pytestmark = pytest.mark.anyio

SERVER = GymServer(mcp_server_name="notes")


async def test_event_streams_and_plain_answers_give_the_same_results(gym: StubGym, gym_url: str) -> None:
    async with http_client() as http:
        client = GymClient(http, gym_url, SERVER)
        await client.seed(Seed(builtin="x"), Access.PUBLISHED)
        results = []
        for gym.event_stream in (False, True):
            await client.initialize()
            tools = await client.list_tools()
            result = await client.call_tool("rename_note", {"id": 1, "text": "done"})
            results.append((tools, result))

    assert results[0] == results[1]


async def test_a_session_id_is_sent_back(gym: StubGym, gym_url: str) -> None:
    gym.sessions = True
    async with http_client() as http:
        client = GymClient(http, gym_url, SERVER)
        await client.initialize()
        tools = await client.list_tools()

    assert len(tools) == 22


async def test_a_list_of_tools_whose_cursor_repeats_is_a_lost_gym() -> None:
    async def mcp(request: Request) -> Response:
        body = await request.json()
        page = {"tools": [{"name": "a"}], "nextCursor": "again"}
        return JSONResponse({"jsonrpc": "2.0", "id": body["id"], "result": page})

    with serving(Starlette(routes=[Route("/mcp", mcp, methods=["POST"])])) as url:
        async with http_client() as http:
            with pytest.raises(NotScored, match="twice with the cursor 'again'"):
                await GymClient(http, url, SERVER).list_tools()


async def test_tools_of_several_pages_are_listed_together() -> None:
    async def mcp(request: Request) -> Response:
        body = await request.json()
        second = body["params"].get("cursor") == "2"
        page = {"tools": [{"name": "b"}]} if second else {"tools": [{"name": "a"}], "nextCursor": "2"}
        return JSONResponse({"jsonrpc": "2.0", "id": body["id"], "result": page})

    with serving(Starlette(routes=[Route("/mcp", mcp, methods=["POST"])])) as url:
        async with http_client() as http:
            tools = await GymClient(http, url, SERVER).list_tools()

    assert [tool["name"] for tool in tools] == ["a", "b"]


async def test_a_gym_that_does_not_answer_in_time_is_lost() -> None:
    async def never(request: Request) -> Response:
        await asyncio.Event().wait()
        raise AssertionError

    with serving(Starlette(routes=[Route("/mcp", never, methods=["POST"])])) as url:
        async with http_client(timeout_s=0.2) as http:
            with pytest.raises(NotScored, match="did not answer POST /mcp within"):
                await GymClient(http, url, SERVER).call_tool("add_note", {})


async def test_a_server_of_ours_that_hangs_while_it_is_seeded_is_lost_long_before_a_published_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def never(request: Request) -> Response:
        await asyncio.Event().wait()
        raise AssertionError

    assert client.OWN_SEED_TIMEOUT_S < 180
    monkeypatch.setattr(client, "OWN_SEED_TIMEOUT_S", 0.2)
    with serving(Starlette(routes=[Route("/api/seed-database", never, methods=["POST"])])) as url:
        async with http_client(admin_tokens={url: "token"}) as http:
            with pytest.raises(NotScored, match="did not answer POST /api/seed-database within") as lost:
                await GymClient(http, url, SERVER).seed(Seed(), Access.PUBLISHED)
    assert lost.value.reason == InfraReason.GYM_LOST


@pytest.mark.parametrize("status", [404, 405])
async def test_a_server_that_cannot_delete_databases_is_tolerated(status: int) -> None:
    async def refuse(request: Request) -> Response:
        return Response(status_code=status)

    with serving(Starlette(routes=[Route("/api/delete-database", refuse, methods=["DELETE"])])) as url:
        async with http_client() as http:
            await GymClient(http, url, SERVER).delete()


async def test_an_event_of_several_data_lines_is_one_message() -> None:
    async def mcp(request: Request) -> Response:
        text = 'data: {"jsonrpc": "2.0", "id": 1,\ndata: "result": {"tools": []}}\n\n'
        return Response(text, media_type="text/event-stream")

    with serving(Starlette(routes=[Route("/mcp", mcp, methods=["POST"])])) as url:
        async with http_client() as http:
            assert await GymClient(http, url, SERVER).list_tools() == []


@pytest.mark.parametrize("marked", [True, False])
async def test_a_call_that_failed_inside_the_server_is_marked(marked: bool) -> None:
    async def mcp(request: Request) -> Response:
        result = {"content": [{"type": "text", "text": "Internal server error"}], "isError": True}
        headers = {INTERNAL_ERROR_HEADER: "true"} if marked else {}
        return JSONResponse({"jsonrpc": "2.0", "id": 1, "result": result}, headers=headers)

    with serving(Starlette(routes=[Route("/mcp", mcp, methods=["POST"])])) as url:
        async with http_client() as http:
            gym = GymClient(http, url, SERVER)
            results = [await gym.call_tool("a", {}), await gym.call_tool_as_published("a", {})]

    assert [(result.is_error, result.is_internal) for result in results] == [(True, marked)] * 2
