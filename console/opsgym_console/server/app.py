"""The console's routes.

Invariant: no route changes anything but those of `labelling`; the sign-in only sets a cookie. Names in a path are
looked up in the run's record, so that no part of a path becomes a key of the store unchecked.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from functools import partial
from typing import Any
from urllib.parse import parse_qs

from sse_starlette import EventSourceResponse
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from opsgym_api.errors import InputError
from opsgym_api.records.attempt import Cell
from opsgym_api.records.run import RunRecord
from opsgym_console.report.details import load_detail
from opsgym_console.report.shell import Served, page_html
from opsgym_console.server import pages
from opsgym_console.server.access import Access
from opsgym_console.server.auth_middleware import SESSION_HOST, AuthMiddleware, SecurityHeaders, Sessions, respond
from opsgym_console.server.labelling import Labelling
from opsgym_console.server.live_updates import POLL_SECONDS, RunWatches, TooManyViewers, Viewer
from opsgym_console.server.requests import from_another_site
from opsgym_console.server.run_cache import RUN_ID, JsonContent, NoSuchRun, Page, RunCache
from opsgym_console.server.run_list import RunList
from opsgym_core.store.base import StoreError

HEARTBEAT_SECONDS = 15
"""Interval of comments in a stream of events: shorter than idle timeouts of proxies."""
SEND_SECONDS = 30.0
"""A viewer that accepts no byte for so long is disconnected; browsers reconnect by themselves."""
MAX_FORM_BYTES = 4096
RUN_POLICY = "frame-ancestors 'none'"
"""Content security policy of a run's page, which contains the rest of its policy itself."""

_NEXT = re.compile(rf"label/|runs/{RUN_ID.pattern}/(\?baseline={RUN_ID.pattern})?")
"""Pages to which a sign-in may lead: those of runs, and for labelling."""
_MEDIA = {"css": "text/css", "js": "text/javascript"}


class Console:
    """The console's application.

    Args:
        run_cache: Reads runs.
        access: Decides which requests are admitted.
        poll: Shortest time in seconds between two reads of a run that is being viewed.
        labelling: Lets people label the trials of a run; None if the console only shows runs.
    """

    def __init__(
        self,
        run_cache: RunCache,
        access: Access,
        poll: float = POLL_SECONDS,
        labelling: Labelling | None = None,
    ) -> None:
        self.run_cache = run_cache
        self.watches = RunWatches(run_cache, poll)
        self.run_list = RunList(run_cache)
        self._access = access
        self._labelling = labelling

    def app(self) -> ASGIApp:
        """The ASGI application."""
        routes = [
            Route("/", _runs),
            Route("/healthz", _health),
            Route("/sign-in", self._sign_in, methods=["GET", "POST"]),
            Route("/static/{name}", _static),
            Route("/runs/{run}", _with_slash),
            Route("/runs/{run}/", self._run),
            Route("/api/runs", self._api_runs),
            Route("/api/runs/{run}/page", self._api_page),
            Route("/api/runs/{run}/events", self._api_events),
            Route("/api/runs/{run}/trials/{cell}/{task}/{trial}", self._api_trial),
            *(self._labelling.routes() if self._labelling else ()),
        ]
        sessions = [Middleware(Sessions, key=self._access.session_key)] if self._access.takes_token else []
        middleware = [Middleware(SecurityHeaders), *sessions, Middleware(AuthMiddleware, access=self._access)]
        app = Starlette(routes=routes, middleware=middleware, exception_handlers=_HANDLERS, lifespan=self._lifespan)
        # The redirect would contain this server's host name, which differs from the public one behind a proxy.
        app.router.redirect_slashes = False
        return app

    def close(self) -> None:
        """Ends every stream, so that the server can stop."""
        self.watches.close()
        self.run_list.close()

    @contextlib.asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        async with self.run_cache.evalruns or contextlib.nullcontext():
            try:
                yield
            finally:
                self.close()
                for source in self.run_cache.sources:
                    source.close()

    async def _run(self, request: Request) -> Response:
        run = request.path_params["run"]
        try:
            _, record = await self.run_cache.record(run)
        except NoSuchRun:
            evalruns = await self.run_cache.evalruns.now() if self.run_cache.evalruns else {}
            if run not in evalruns:
                raise
            message = f"{evalruns[run].phase}. {evalruns[run].message}".strip()
            return Response(pages.waiting(request.url.path, evalruns[run].name, message), media_type="text/html")
        content = await asyncio.to_thread(page_html, Served(record.run))
        return Response(content, media_type="text/html", headers={"content-security-policy": RUN_POLICY})

    async def _api_runs(self, request: Request) -> Response:
        return _json_response(request, JsonContent.of((await self.run_list.list()).model_dump_json().encode()))

    async def _api_page(self, request: Request) -> Response:
        return _json_response(request, (await self._page(request)).content)

    async def _page(self, request: Request) -> Page:
        return await self.run_cache.page(request.path_params["run"], _baseline(request))

    async def _api_events(self, request: Request) -> Response:
        await self._page(request)  # errors are reported by status, before the stream begins
        watch = self.watches.watch(request.path_params["run"])

        async def events() -> AsyncIterator[dict[str, str]]:
            async with contextlib.aclosing(watch.events(Viewer(_baseline(request)))) as updates:
                async for event in updates:
                    yield {"event": event.name, "data": event.data}

        # Proxies that buffer responses would hold back every event.
        headers = {"x-accel-buffering": "no", "cache-control": "no-store"}
        return EventSourceResponse(events(), ping=HEARTBEAT_SECONDS, send_timeout=SEND_SECONDS, headers=headers)

    async def _api_trial(self, request: Request) -> Response:
        source, record = await self.run_cache.record(request.path_params["run"])
        trial = _trial_of(record, request.path_params)
        detail = None
        if trial is not None:
            cell, task_id, number = trial
            query = partial(load_detail, record=record, cell=cell, task_id=task_id, trial=number)
            detail = await source.read(query)
        if detail is None:
            return respond(request.scope, 404, f"Run {record.run} has no such trial.")
        content = await asyncio.to_thread(lambda: json.dumps(detail.model_dump(), separators=(",", ":")))
        return Response(content, media_type="application/json")

    async def _sign_in(self, request: Request) -> Response:
        requested = request.query_params.get("next", "")
        target = f"./{requested}" if _NEXT.fullmatch(requested) else "./"
        if not self._access.takes_token:
            return RedirectResponse(target, status_code=303)
        if request.method != "POST":
            return Response(pages.sign_in(), media_type="text/html")
        if from_another_site(request):
            return respond(request.scope, 403, "The sign-in form was sent by another site.")
        if not self._access.accepts(await _form_token(request)):
            return Response(pages.sign_in("The token is wrong."), 401, media_type="text/html")
        request.session[SESSION_HOST] = request.headers.get("host", "").lower()
        return RedirectResponse(target, status_code=303)


async def _form_token(request: Request) -> str:
    """The token in a form; empty if it has none."""
    content = b""
    async for chunk in request.stream():
        content += chunk
        if len(content) > MAX_FORM_BYTES:
            return ""
    return parse_qs(content.decode(errors="replace")).get("token", [""])[0].strip()


def _baseline(request: Request) -> str | None:
    return request.query_params.get("baseline") or None


def _trial_of(record: RunRecord, names: dict[str, str]) -> tuple[Cell, str, int] | None:
    """The trial that a path names; None if the run has no such trial."""
    number, task_id = names["trial"], names["task"]
    if not (number.isascii() and number.isdigit() and len(number) < 9):
        return None
    for plan in record.cells:
        if plan.cell.key == names["cell"] and task_id in plan.task_ids and int(number) < record.trials:
            return plan.cell, task_id, int(number)
    return None


def _json_response(request: Request, content: JsonContent) -> Response:
    headers = {"etag": content.etag, "cache-control": "no-cache", "vary": "accept-encoding"}
    known = {tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")}
    if content.etag in known:
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(content.zipped, media_type="application/json", headers={**headers, "content-encoding": "gzip"})
    return Response(content.json, media_type="application/json", headers=headers)


async def _runs(_request: Request) -> Response:
    return Response(pages.runs(), media_type="text/html")


async def _health(_request: Request) -> Response:
    return PlainTextResponse("ok\n")


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    content = pages.static(name)
    if content is None:
        return respond(request.scope, 404, "No such file.")
    return Response(content, media_type=_MEDIA[name.rpartition(".")[2]], headers={"cache-control": "no-cache"})


async def _with_slash(request: Request) -> Response:
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"{request.url.path.rpartition('/')[2]}/{query}", status_code=308)


async def _unknown_path(request: Request, _error: Exception) -> Response:
    return respond(request.scope, 404, "This address does not exist.")


async def _method_not_allowed(request: Request, _error: Exception) -> Response:
    return respond(request.scope, 405, "The console is read-only.")


async def _unknown_run(request: Request, error: Exception) -> Response:
    return respond(request.scope, 404, f"{error}. The list of runs shows the existing ones.")


async def _unreadable(request: Request, error: Exception) -> Response:
    # The user names the baseline; everything else was written by opsgym.
    return respond(request.scope, 404 if _baseline(request) else 500, str(error))


async def _store_failed(request: Request, error: Exception) -> Response:
    return respond(request.scope, 503, str(error))


async def _too_many_viewers(request: Request, _error: Exception) -> Response:
    return respond(request.scope, 503, "Too many pages of runs are open; close one, or try again later.")


_HANDLERS: Mapping[Any, Callable[[Request, Exception], Awaitable[Response]]] = {
    404: _unknown_path,
    405: _method_not_allowed,
    InputError: _unreadable,
    NoSuchRun: _unknown_run,
    StoreError: _store_failed,
    TooManyViewers: _too_many_viewers,
}
