"""A JSON-RPC endpoint that does the least work, with which tools/call is compared."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

Answer = Callable[[str, Mapping[str, Any]], Awaitable[str]]
"""Returns the text of a call's result from the tool and its arguments."""


async def serve(answer: Answer, close: Callable[[], Awaitable[None]]) -> None:
    """Serves tool calls on a free port until the process is terminated; prints `{"url": …}` first.

    Args:
        answer: Answers a call.
        close: Called at the end.
    """

    async def call(request: Request) -> Response:
        message: dict[str, Any] = json.loads(await request.body())
        text = await answer(message["params"]["name"], message["params"]["arguments"])
        result = {"content": [{"type": "text", "text": text}], "isError": False}
        return JSONResponse({"jsonrpc": "2.0", "id": message["id"], "result": result})

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        await close()

    app = Starlette(routes=[Route("/mcp", call, methods=["POST"])], lifespan=lifespan)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None))
    serving = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 - uvicorn offers no event for it
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    sys.stdout.write(json.dumps({"url": f"http://127.0.0.1:{port}"}) + "\n")
    sys.stdout.flush()
    await serving
