"""The console as an application: what each address answers.

Invariant: there is no address that changes anything but the one that signs in. What an address names is looked up in
what a run's record says it has, so that no part of it becomes a key of the store unchecked.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from functools import partial
from typing import Any
from urllib.parse import parse_qs, urlsplit

from sse_starlette import EventSourceResponse
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from opsgym.console import pages
from opsgym.console.access import SESSION_SECONDS, Access
from opsgym.console.catalogue import Catalogue
from opsgym.console.gatekeeper import COOKIE, Gatekeeper, answer
from opsgym.console.library import RUN_ID, Content, Library, NoSuchRun, Page
from opsgym.console.watching import POLL_SECONDS, TooManyViewers, Viewer, Watches
from opsgym.report.details import load_detail
from opsgym.report.shell import Served, page_html
from opsgym_api.errors import InputError
from opsgym_api.records import Cell, RunRecord
from opsgym_api.store import StoreError

HEARTBEAT_SECONDS = 15
"""Between comments in a stream of events: less than what proxies take for a dead connection."""
SEND_SECONDS = 30.0
"""A viewer that takes no byte for so long is let go; a browser comes back by itself."""
MOST_FORM_BYTES = 4096
RUN_POLICY = "frame-ancestors 'none'"
"""Of a run's page, which brings the rest of its policy itself."""

_NEXT = re.compile(rf"runs/{RUN_ID.pattern}/(\?baseline={RUN_ID.pattern})?")
"""Where somebody may be sent after signing in: to a run's page, never elsewhere."""
_MEDIA = {"css": "text/css", "js": "text/javascript"}


class Console:
    """The console's addresses.

    Args:
        library: Where runs are read.
        access: Who gets in.
        poll: Seconds between questions about a run that somebody looks at, at least.
    """

    def __init__(self, library: Library, access: Access, poll: float = POLL_SECONDS) -> None:
        self.library = library
        self.watches = Watches(library, poll)
        self.catalogue = Catalogue(library)
        self._access = access

    def app(self) -> ASGIApp:
        """The application."""
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
        ]
        middleware = [Middleware(Gatekeeper, access=self._access)]
        app = Starlette(routes=routes, middleware=middleware, exception_handlers=_HANDLERS, lifespan=self._lifespan)
        # Such a redirect would name this host, which behind a proxy nobody else knows.
        app.router.redirect_slashes = False
        return app

    def close(self) -> None:
        """Ends every stream, so that the server can stop."""
        self.watches.close()
        self.catalogue.close()

    @contextlib.asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        async with self.library.evalruns or contextlib.nullcontext():
            try:
                yield
            finally:
                self.close()
                for source in self.library.sources:
                    source.close()

    async def _run(self, request: Request) -> Response:
        run = request.path_params["run"]
        try:
            _, record = await self.library.record(run)
        except NoSuchRun:
            evalruns = await self.library.evalruns.now() if self.library.evalruns else {}
            if run not in evalruns:
                raise
            told = f"{evalruns[run].phase}. {evalruns[run].message}".strip()
            return Response(pages.waiting(request.url.path, evalruns[run].name, told), media_type="text/html")
        content = await asyncio.to_thread(page_html, Served(record.run))
        return Response(content, media_type="text/html", headers={"content-security-policy": RUN_POLICY})

    async def _api_runs(self, request: Request) -> Response:
        return _answer(request, Content.of((await self.catalogue.list()).model_dump_json().encode()))

    async def _api_page(self, request: Request) -> Response:
        return _answer(request, (await self._page(request)).content)

    async def _page(self, request: Request) -> Page:
        return await self.library.page(request.path_params["run"], _baseline(request))

    async def _api_events(self, request: Request) -> Response:
        await self._page(request)  # what is wrong is told before the stream begins
        watch = self.watches.watch(request.path_params["run"])

        async def told() -> AsyncIterator[dict[str, str]]:
            async with contextlib.aclosing(watch.events(Viewer(_baseline(request)))) as events:
                async for event in events:
                    yield {"event": event.name, "data": event.data}

        # Proxies that collect an answer before they pass it on would hold back every event.
        headers = {"x-accel-buffering": "no", "cache-control": "no-store"}
        return EventSourceResponse(told(), ping=HEARTBEAT_SECONDS, send_timeout=SEND_SECONDS, headers=headers)

    async def _api_trial(self, request: Request) -> Response:
        source, record = await self.library.record(request.path_params["run"])
        found = _trial(record, request.path_params)
        detail = None
        if found is not None:
            cell, task_id, trial = found
            question = partial(load_detail, record=record, cell=cell, task_id=task_id, trial=trial)
            detail = await source.ask(question)
        if detail is None:
            return answer(request.scope, 404, f"Run {record.run} has no such trial.")
        content = await asyncio.to_thread(lambda: json.dumps(detail.model_dump(), separators=(",", ":")))
        return Response(content, media_type="application/json")

    async def _sign_in(self, request: Request) -> Response:
        onward = request.query_params.get("next", "")
        target = f"./{onward}" if _NEXT.fullmatch(onward) else "./"
        if not self._access.takes_token:
            return RedirectResponse(target, status_code=303)
        if request.method != "POST":
            return Response(pages.sign_in(), media_type="text/html")
        if _from_elsewhere(request):
            return answer(request.scope, 403, "Another page may not sign you in.")
        peer = request.client.host if request.client else ""
        refusal = self._access.try_token(peer, await _given_token(request))
        if refusal is not None:
            return Response(pages.sign_in(refusal.told), refusal.status, media_type="text/html")
        response = RedirectResponse(target, status_code=303)
        session = self._access.session(request.headers.get("host", ""))
        secure = _is_encrypted(request)
        response.set_cookie(COOKIE, session, SESSION_SECONDS, httponly=True, samesite="strict", secure=secure)
        return response


def _from_elsewhere(request: Request) -> bool:
    """Whether a page of another origin sent a form: it could use up the tries of whoever looks at it."""
    # Since our pages send no referrer, browsers send `null` for them; where it counts they say it here too.
    site, origin = request.headers.get("sec-fetch-site", "same-origin"), request.headers.get("origin", "null")
    return site != "same-origin" or (origin != "null" and urlsplit(origin).netloc != request.headers.get("host"))


async def _given_token(request: Request) -> str:
    """The token in a form; empty if it has none."""
    content = b""
    async for part in request.stream():
        content += part
        if len(content) > MOST_FORM_BYTES:
            return ""
    return parse_qs(content.decode(errors="replace")).get("token", [""])[0].strip()


def _is_encrypted(request: Request) -> bool:
    """Whether the browser speaks HTTPS, to us or to a proxy; whoever lies here spoils their own cookie only."""
    return request.url.scheme == "https" or request.headers.get("x-forwarded-proto", "").startswith("https")


def _baseline(request: Request) -> str | None:
    return request.query_params.get("baseline") or None


def _trial(record: RunRecord, named: dict[str, str]) -> tuple[Cell, str, int] | None:
    """The trial that an address names, if it is one of the run's."""
    number, task_id = named["trial"], named["task"]
    if not (number.isascii() and number.isdigit() and len(number) < 9):
        return None
    for plan in record.cells:
        if plan.cell.key == named["cell"] and task_id in plan.task_ids and int(number) < record.trials:
            return plan.cell, task_id, int(number)
    return None


def _answer(request: Request, content: Content) -> Response:
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
        return answer(request.scope, 404, "There is no such file.")
    return Response(content, media_type=_MEDIA[name.rpartition(".")[2]], headers={"cache-control": "no-cache"})


async def _with_slash(request: Request) -> Response:
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"{request.url.path.rpartition('/')[2]}/{query}", status_code=308)


async def _nothing(request: Request, _error: Exception) -> Response:
    return answer(request.scope, 404, "There is nothing at this address.")


async def _only_read(request: Request, _error: Exception) -> Response:
    return answer(request.scope, 405, "The console only shows; it changes nothing.")


async def _not_there(request: Request, error: Exception) -> Response:
    return answer(request.scope, 404, f"{error}. The list of runs shows those there are.")


async def _not_read(request: Request, error: Exception) -> Response:
    # A baseline is what the user names; everything else was written by opsgym.
    return answer(request.scope, 404 if _baseline(request) else 500, str(error))


async def _not_reached(request: Request, error: Exception) -> Response:
    return answer(request.scope, 503, str(error))


async def _too_many(request: Request, _error: Exception) -> Response:
    return answer(request.scope, 503, "Too many people look at runs here; close a page, or try again later.")


_HANDLERS: Mapping[Any, Callable[[Request, Exception], Awaitable[Response]]] = {
    404: _nothing,
    405: _only_read,
    InputError: _not_read,
    NoSuchRun: _not_there,
    StoreError: _not_reached,
    TooManyViewers: _too_many,
}
