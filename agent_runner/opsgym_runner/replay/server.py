"""OpenAI-compatible HTTP server that replays scripts.

Invariant: the position in the script follows from a request alone: from the days that ended before its conversation
began, and the replies in the conversation. So a repeated request gets the same reply. The only state between requests
is the number of requests that may meet a fault.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from opsgym_runner.replay.completions import completion
from opsgym_runner.replay.flaky import Fault, Faults, faulty, malformed
from opsgym_runner.replay.scripts import Script

EPISODE_HEADER = "x-opsgym-episode"
"""Header that identifies the episode's script. It is not part of the URL: litellm creates and keeps an HTTP client for
every base URL, which would cost 10 ms and an open connection per episode."""


@dataclass(frozen=True)
class _Playback:
    """Script of one episode and the faults around it."""

    script: Script
    faults: Faults | None


class ReplayServer:
    """Replays scripts on a port of the loopback interface, inside the running event loop."""

    def __init__(self) -> None:
        self._playbacks: dict[str, _Playback] = {}
        self._server: _QuietServer | None = None
        self._serving: asyncio.Task[None] | None = None
        self.url = ""
        """Base URL for OpenAI clients; empty before `start`."""

    async def start(self) -> None:
        """Starts the server unless it is running."""
        if self._serving is not None:
            return
        # asyncio turns Nagle's algorithm off only where the protocol is named; with it each reply waits 40 ms.
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        config = uvicorn.Config(self.app, log_level="critical", access_log=False, lifespan="off", timeout_keep_alive=60)
        self._server = _QuietServer(config)
        self._serving = asyncio.create_task(self._server.serve(sockets=[listener]))

    async def stop(self) -> None:
        """Stops the server if it is running."""
        if self._server is None or self._serving is None:
            return
        self._server.should_exit = True
        self._server.force_exit = True  # do not wait for idle keep-alive connections
        await self._serving
        self._server = self._serving = None

    @contextlib.contextmanager
    def playing(self, script: Script, faults: Faults | None = None) -> Iterator[Mapping[str, str]]:
        """Serves a script inside the block; yields the request headers that select it.

        Args:
            script: The script.
            faults: Faults of its requests; None for none.
        """
        token = secrets.token_hex(8)
        self._playbacks[token] = _Playback(script, faults)
        try:
            yield {EPISODE_HEADER: token}
        finally:
            del self._playbacks[token]

    @property
    def app(self) -> Starlette:
        """The endpoint as an ASGI application."""
        return Starlette(routes=[Route("/v1/chat/completions", self._complete, methods=["POST"])])

    async def _complete(self, request: Request) -> Response:
        body = await request.body()
        playback = self._playbacks.get(request.headers.get(EPISODE_HEADER, ""))
        if playback is None:
            return JSONResponse({"error": {"message": "unknown episode"}}, status_code=404)
        if playback.faults is None:
            return JSONResponse(completion(playback.script, json.loads(body), len(body)))
        draw = playback.faults.draw()
        if draw.fault not in (None, Fault.MALFORMED_TOOL_CALL):
            return await faulty(draw.fault, playback.faults.parameters, request)
        answer = completion(playback.script, json.loads(body), len(body))
        if draw.fault is not None:
            choice = answer["choices"][0]
            choice["message"] = malformed(choice["message"], draw.chance)
        return JSONResponse(answer)


class _QuietServer(uvicorn.Server):
    """A server that leaves signal handling to the program around it."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Captures no signals."""
        yield
