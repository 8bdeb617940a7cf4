"""A console that serves one page, and says what a test has it say."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route

from opsgym_console.report.model import PageData, TrialDetail
from opsgym_console.report.shell import Served, page_html

PREFIX = "/behind/a/proxy"


@dataclass
class Console:
    """A run as it is, and events about it."""

    page: PageData
    details: dict[tuple[str, str, int], TrialDetail] = field(default_factory=dict)
    address: str = ""
    loop: asyncio.AbstractEventLoop | None = None
    listeners: list[asyncio.Queue[str | None]] = field(default_factory=list)
    opened: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    """Counts streams that have begun."""

    def await_listener(self) -> None:
        """Waits until one more page listens."""
        assert self.opened.acquire(timeout=30), "no page listens"

    def say(self, event: str, data: Any) -> None:
        """Sends an event to every page that is open."""
        self._send(f"event: {event}\ndata: {json.dumps(data)}\n\n")

    def hang_up(self) -> None:
        """Ends every stream; pages are to come back by themselves."""
        self._send(None)

    def _send(self, text: str | None) -> None:
        assert self.loop is not None
        for queue in list(self.listeners):
            self.loop.call_soon_threadsafe(queue.put_nowait, text)

    async def shell(self, request: Request) -> Response:
        return HTMLResponse(page_html(Served(request.path_params["run"])))

    async def data(self, _: Request) -> Response:
        return JSONResponse(self.page.model_dump())

    async def detail(self, request: Request) -> Response:
        parts = request.path_params
        detail = self.details.get((parts["cell"], parts["task"], parts["trial"]))
        return JSONResponse(detail.model_dump()) if detail else Response("no such trial", status_code=404)

    async def events(self, _: Request) -> Response:
        return StreamingResponse(self._stream(), media_type="text/event-stream")

    async def _stream(self) -> AsyncIterator[str]:
        queue: asyncio.Queue[str | None] = asyncio.Queue()
        self.loop = asyncio.get_running_loop()
        self.listeners.append(queue)
        self.opened.release()
        yield "retry: 50\n: heartbeat\n\n"
        try:
            while (text := await queue.get()) is not None:
                yield text
        finally:
            self.listeners.remove(queue)


@contextmanager
def serving(console: Console) -> Iterator[Console]:
    """The console, behind a path prefix, until the test ends."""
    api = "/api/runs/{run}"
    routes = [
        Route("/runs/{run}/", console.shell),
        Route(f"{api}/page", console.data),
        Route(f"{api}/events", console.events),
        Route(f"{api}/trials/{{cell}}/{{task}}/{{trial:int}}", console.detail),
    ]
    listening = socket.create_server(("127.0.0.1", 0))
    app = Starlette(routes=[Mount(PREFIX, routes=routes)])
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    console.address = f"http://127.0.0.1:{listening.getsockname()[1]}{PREFIX}/runs/{console.page.run.id}/"
    try:
        yield console
    finally:
        if console.loop is not None:
            console.hang_up()
        server.should_exit = True
        thread.join(timeout=20)
        listening.close()
