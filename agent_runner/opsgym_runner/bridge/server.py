"""The bridge of one attempt: the HTTP server at which an agent that is not ours asks its model, calls tools, answers.

Invariant: whatever the agent does passes through the session, which counts, limits and records it. After `close`
nothing that the agent sends reaches model or gyms, and what was in progress has ended. A request without the attempt's
key reaches nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import hmac
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping
from typing import Any, TypeVar

import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from opsgym_api.records.outcomes import FailReason
from opsgym_core.common.foreign import read_json
from opsgym_runner.bridge.closed_lists import unlisted
from opsgym_runner.bridge.tools import gym_app
from opsgym_runner.errors import AgentFailed
from opsgym_runner.models.client import ToolRequest
from opsgym_runner.models.forward import PATHS, AgentRequest, Wire
from opsgym_runner.models.forwarder import RefusedRequestError
from opsgym_runner.orchestrators.base import Session

LARGEST_BODY = 32 * 1024 * 1024
"""Maximum bytes of a request: what providers take."""
LARGEST_ANSWER = 1024 * 1024
CALLS_PER_STEP = 100
"""Tool calls for each step that the agent may take; one that makes more is flooding its gyms."""
DRAIN_S = 30.0
"""Seconds for which model requests in progress are waited for when the agent has ended, so that their cost is known."""

T = TypeVar("T")


class Bridge:
    """Serves one session; open inside `running`.

    Args:
        session: The episode.
        own_model: Whether the agent asks a model of its own: the bridge then serves none, and each tool call and each
            answer is a step.
    """

    def __init__(self, session: Session, *, own_model: bool = False) -> None:
        self._session = session
        self._own_model = own_model
        self._context = contextvars.copy_context()
        self._working: set[asyncio.Task[Any]] = set()
        self._calling = asyncio.Lock()
        self._calls = 0
        self._closed = False
        self.key = secrets.token_urlsafe(24)
        """Key of this attempt."""
        self.url = ""
        """Base URL; empty before `running`, and where another server serves the bridge's application."""
        self.over: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        """The agent's answer; the exception that ends the episode if one does."""
        self.over.add_done_callback(lambda over: over.cancelled() or over.exception())  # read or not

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[ASGIApp]:
        """The bridge's application, which another server serves inside the block.

        At the end of the block further requests are refused, and those in progress have ended.
        """
        async with contextlib.AsyncExitStack() as stack:
            gyms: dict[str, ASGIApp] = {}
            for gym, tools in self._session.definitions_by_gym.items():
                gyms[gym] = await stack.enter_async_context(gym_app(gym, tools, self._called, LARGEST_BODY))
            try:
                yield self._app(gyms)
            finally:
                await asyncio.shield(asyncio.create_task(self._drain()))

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serves inside the block, at an address of its own."""
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.bind(("127.0.0.1", 0))
        listener.listen()  # a program that is faster than the server's start waits instead of being refused
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        async with self.open() as app:
            config = uvicorn.Config(app, log_level="critical", access_log=False, lifespan="off", timeout_keep_alive=60)
            server = _QuietServer(config)
            serving = asyncio.create_task(server.serve(sockets=[listener]))
            try:
                yield
            finally:
                await asyncio.shield(asyncio.create_task(self._close(server, serving)))

    def refuse(self) -> None:
        """Refuses further requests; those in progress go on."""
        self._closed = True

    async def _close(self, server: uvicorn.Server, serving: asyncio.Task[None]) -> None:
        """Refuses further requests, waits for those in progress, then stops the server."""
        await self._drain()
        server.should_exit = server.force_exit = True
        await serving

    async def _drain(self) -> None:
        """Refuses further requests and waits for those in progress."""
        self.refuse()
        if self._working:
            _, late = await asyncio.wait(self._working, timeout=DRAIN_S)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late)

    def _app(self, gyms: Mapping[str, ASGIApp]) -> ASGIApp:
        models = [
            *(Route(f"/v1{path}", self._forward(wire), methods=["POST"]) for wire, path in PATHS.items()),
            Route("/v1/models", self._models, methods=["GET"]),
        ]
        routes = [
            *([] if self._own_model else models),
            Route("/opsgym/v1/answer", self._answer, methods=["POST"]),
            *(Route(f"/mcp/{gym}", app, methods=["GET", "POST", "DELETE"]) for gym, app in gyms.items()),
        ]
        return self._guarded(Starlette(routes=routes))

    def _guarded(self, app: ASGIApp) -> ASGIApp:
        """The application for requests with the attempt's key, while the episode goes on."""

        async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
            request = Request(scope)
            if request.url.path == "/":
                refusal: Response | None = Response()  # some agents look whether the address answers
            elif not self._has_key(request):
                refusal = _error(401, "this is not the key of the attempt: send OPENAI_API_KEY or ANTHROPIC_API_KEY")
            elif self._closed or self.over.done():
                refusal = _error(403, "the episode is over")
            else:
                refusal = None
            await (app if refusal is None else refusal)(scope, receive, send)

        return guarded

    def _has_key(self, request: Request) -> bool:
        given = request.headers.get("x-api-key") or request.headers.get("authorization", "").removeprefix("Bearer ")
        return hmac.compare_digest(given.encode(), self.key.encode())

    def _work(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Starts what may end the episode, and must have ended when the bridge is closed."""
        task = asyncio.create_task(work, context=self._context.copy())
        self._working.add(task)
        task.add_done_callback(self._worked)
        return task

    def _worked(self, task: asyncio.Task[Any]) -> None:
        self._working.discard(task)
        if task.cancelled() or (error := task.exception()) is None or isinstance(error, RefusedRequestError):
            return
        if not self.over.done():
            self.over.set_exception(error)

    async def _models(self, _request: Request) -> Response:
        model = {"id": self._session.task.model, "object": "model", "created": 0, "owned_by": "opsgym"}
        return JSONResponse({"object": "list", "data": [model], "has_more": False})

    def _forward(self, wire: Wire) -> Callable[[Request], Awaitable[Response]]:
        async def forward(request: Request) -> Response:
            try:
                content = await _body(request, LARGEST_BODY)
                read = AgentRequest.read(wire, content, dict(request.headers), request.url.query)
            except ValueError as error:
                return _error(400, f"the body must be a JSON object: {error}")
            if problem := unlisted(wire, read.body):
                self._session.refuse(problem)
                return self._refused(problem)
            answer = _Answer()
            task = self._work(self._session.forward(read, answer))
            waited: set[asyncio.Future[Any]] = {task, answer.begun}
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
            if answer.begun.done():
                status, headers = answer.begun.result()
                return StreamingResponse(answer.content(task), status, headers)
            failure = None if task.cancelled() else task.exception()
            return _error(400 if isinstance(failure, RefusedRequestError) else 403, _why(failure))

        return forward

    def _refused(self, problem: str) -> Response:
        tools = ", ".join(f"{self.url}/mcp/{gym}" for gym in self._session.definitions_by_gym)
        return _error(
            400,
            f"opsgym refuses {problem}: the model's provider may only answer, from what the request holds and at its"
            f" usual price. The tools of the task are at {tools}; mcp.json has the key",
            "invalid_request_error",
        )

    async def _called(self, gym: str, name: str, arguments: Mapping[str, Any]) -> str:
        """Calls a tool of a gym server for the agent; the result as `Session.call` returns it."""
        return await asyncio.shield(self._work(self._call(gym, name, arguments)))

    async def _call(self, gym: str, name: str, arguments: Mapping[str, Any]) -> str:
        self._calls += 1
        if self._calls > CALLS_PER_STEP * self._session.max_steps:
            raise AgentFailed(FailReason.STEP_LIMIT, f"the agent made more than {self._calls - 1} tool calls")
        shown = {tool["name"] for tool in self._session.definitions_by_gym[gym]}
        problem = "" if name in shown else f"gym server {gym} shows no tool {name!r}"
        async with self._calling:
            if self._own_model:
                await self._session.step()
            return await self._session.call(ToolRequest(f"call_{self._calls}", name, dict(arguments), problem))

    async def _answer(self, request: Request) -> Response:
        try:
            body = read_json(await _body(request, LARGEST_ANSWER))
        except ValueError as error:
            return _error(400, f"the answer cannot be read: {error}")
        answer = body.get("answer") if isinstance(body, dict) else None
        if not isinstance(answer, str):
            return _error(400, 'expected {"answer": "…"}')
        task = self.answer(answer)
        await asyncio.wait({task})
        if task.cancelled() or task.exception() is not None:
            return _error(403, "the episode is over")
        message = task.result()
        return JSONResponse({} if message is None else {"next": message})

    def answer(self, answer: str) -> asyncio.Task[str | None]:
        """Ends the agent's turn with an answer.

        Returns:
            What the agent has to read and go on with; None if the episode is over.
        """
        return self._work(self._answered(answer))

    async def _answered(self, answer: str) -> str | None:
        if self._own_model:
            await self._session.step()
        message = await self._session.next_message(answer)
        if message is None and not self.over.done():
            self.over.set_result(answer)
        return message


class _Answer:
    """An answer on its way to the agent. It is read to its end even if the agent goes away, for its cost."""

    def __init__(self) -> None:
        self.begun: asyncio.Future[tuple[int, Mapping[str, str]]] = asyncio.get_running_loop().create_future()
        self._parts: asyncio.Queue[bytes] = asyncio.Queue()

    def begin(self, status: int, headers: Mapping[str, str]) -> None:
        """Takes status and headers."""
        if not self.begun.done():
            self.begun.set_result((status, headers))

    def write(self, content: bytes) -> None:
        """Takes a part of the body."""
        self._parts.put_nowait(content)

    async def content(self, task: asyncio.Task[None]) -> AsyncIterator[bytes]:
        """The body as it arrives, to the end of the task that writes it."""
        while not (self._parts.empty() and task.done()):
            part = asyncio.ensure_future(self._parts.get())
            try:
                await asyncio.wait({part, task}, return_when=asyncio.FIRST_COMPLETED)
                if part.done():
                    yield part.result()
            finally:
                part.cancel()  # also if the agent goes away meanwhile


async def _body(request: Request, largest: int) -> bytes:
    """Body of a request.

    Raises:
        ValueError: It is too large, or breaks off.
    """
    parts, size = [], 0
    try:
        async for part in request.stream():
            size += len(part)
            if size > largest:
                raise ValueError(f"the body is larger than {largest} bytes")
            parts.append(part)
    except ClientDisconnect:
        raise ValueError("the body breaks off") from None
    return b"".join(parts)


def _why(error: BaseException | None) -> str:
    """What the agent reads of the end of its episode."""
    return str(error) if isinstance(error, AgentFailed | RefusedRequestError) else "the episode is over"


def _error(status: int, message: str, kind: str = "opsgym") -> Response:
    """An error in a shape that clients of all protocols read: Anthropic's, with the fields of OpenAI's."""
    error = {"type": kind, "message": message, "param": None, "code": "opsgym"}
    return JSONResponse({"type": "error", "error": error}, status)


class _QuietServer(uvicorn.Server):
    """A server that leaves signal handling to the program around it."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Captures no signals."""
        yield
