"""The gateway's HTTP interface, `opsgym_api.records.store_gateway`.

Invariant: a request's body is read only after its pod is known and allowed to write it, and is written only if it still
is; a slot is held while a store is asked, never while a body arrives. What is in memory at the same time is bounded:
`SHARE` bodies of a namespace, of which one is beyond `SMALL_BYTES`, and `LARGE` of those. No answer and no log line
contains a token or the content of an object.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import structlog
from aiohttp import web
from aiohttp.typedefs import Handler
from pydantic import ValidationError

from opsgym_api.records.attempt import AttemptRecord
from opsgym_api.records.store_gateway import MOST_BYTES, Code
from opsgym_core.kube.client import ApiError
from opsgym_core.store.base import Store, StoreError
from opsgym_core.store.mounted import TENANT, Stores
from opsgym_core.store.sealed import as_stored
from opsgym_operator.gateway.access import Denied, Operation, Permission, listed, permission_for
from opsgym_operator.gateway.identity import Unauthenticated
from opsgym_operator.gateway.metrics import GatewayMetrics
from opsgym_operator.gateway.sessions import Session, Sessions

REQUESTS = 64
"""Requests at the same time; further ones wait."""
LARGE = 4
"""Bodies beyond `SMALL_BYTES` at the same time, one of each pod."""
SMALL_BYTES = 1024 * 1024
SHARE = 32
"""Requests of one namespace at the same time, and bodies of it that arrive at the same time: others have the rest."""
BODY_S = 60.0
"""Seconds within which a body must have arrived."""

log = structlog.get_logger(__name__)


class _Share:
    """What one namespace may use of the gateway at the same time."""

    def __init__(self) -> None:
        self.requests = asyncio.Semaphore(SHARE)
        self.bodies = asyncio.Semaphore(SHARE)
        self.large = asyncio.Lock()


class Gateway:
    """Answers the requests of pods.

    Args:
        sessions: The pods.
        stores: The installation's stores.
        metrics: Counts the requests.
    """

    def __init__(self, sessions: Sessions, stores: Stores, metrics: GatewayMetrics) -> None:
        self._sessions = sessions
        self._stores = stores
        self._metrics = metrics
        self._requests = asyncio.Semaphore(REQUESTS)
        self._large = asyncio.Semaphore(LARGE)
        self._shares: defaultdict[str, _Share] = defaultdict(_Share)
        """By namespace."""

    def app(self) -> web.Application:
        """The application that answers the requests."""
        app = web.Application(client_max_size=MOST_BYTES, middlewares=[self._metrics.middleware, _errors])
        app.add_routes([
            web.get("/healthz", _healthy),
            web.get("/stores/{store}/object", self._get, name="get"),
            web.put("/stores/{store}/object", self._put, name="put"),
            web.get("/stores/{store}/keys", self._keys, name="list"),
        ])  # fmt: skip
        return app

    async def _get(self, request: web.Request) -> web.Response:
        store, key = request.match_info["store"], _parameter(request, "key")
        async with self._allowed(request, Operation.READ, key):
            # Sealed objects, too: the pods of a held-out run open them.
            content = await self._stores.call_promptly(store, lambda opened: as_stored(opened).get(key))
        if content is None:
            return _refusal(404, Code.NO_SUCH_KEY, f"{key} does not exist")
        return web.Response(body=content, content_type="application/octet-stream")

    async def _keys(self, request: web.Request) -> web.Response:
        store, prefix = request.match_info["store"], _parameter(request, "prefix")
        async with self._allowed(request, Operation.LIST, prefix) as session:
            keys = await self._stores.call_promptly(store, lambda opened: list(opened.keys(prefix)))
        return web.json_response({"keys": listed(session.access, store, keys)})

    async def _put(self, request: web.Request) -> web.Response:
        store, key = request.match_info["store"], _parameter(request, "key")
        once = request.headers.get("If-None-Match") == "*"
        operation = Operation.CREATE if once else Operation.REPLACE
        session, permission = await self._session(request, operation, key)
        async with session.slots:
            async with self._slot(session):
                await self._require(permission, store, session)
            # A body that arrives slowly holds no slot of the gateway.
            async with self._body(request, session) as content, self._slot(session):
                # A body takes up to a minute, in which a score or a frozen run may have been written.
                await self._require(permission, store, session)
                if not once:
                    await self._stores.call_promptly(store, lambda opened: opened.put(key, content))
                    return web.Response(status=204)
                written = await self._stores.call_promptly(store, lambda opened: opened.put_once(key, content))
        return web.Response(status=204) if written else _refusal(412, Code.PRECONDITION_FAILED, f"{key} exists")

    @asynccontextmanager
    async def _allowed(self, request: web.Request, operation: Operation, key: str) -> AsyncIterator[Session]:
        """The session of a request that is allowed, with the slots of its pod and of the gateway.

        Raises:
            Unauthenticated: The request has no token of a run's pod.
            Denied: The pod may not do this.
        """
        session, permission = await self._session(request, operation, key)
        async with session.slots, self._slot(session):
            await self._require(permission, request.match_info["store"], session)
            yield session

    async def _session(self, request: web.Request, operation: Operation, key: str) -> tuple[Session, Permission]:
        """The session of a request, and what its pod may do if the store allows it, too.

        Raises:
            Unauthenticated: The request has no token of a run's pod.
            Denied: The pod may not do this.
        """
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        if kind != "Bearer" or not token:
            raise Unauthenticated("the request has no token; send it as `Authorization: Bearer`")
        session = await self._sessions.of(token, request.remote or "")
        TENANT.set(session.namespace)
        return session, permission_for(session.access, operation, request.match_info["store"], key)

    @asynccontextmanager
    async def _slot(self, session: Session) -> AsyncIterator[None]:
        """Holds a slot of the gateway, of which a namespace has at most `SHARE`."""
        async with self._shares[session.namespace].requests, self._requests:
            yield

    async def _require(self, permission: Permission, store: str, session: Session) -> None:
        """Checks that what is in the store allows an operation.

        Raises:
            Denied: It does not.
        """
        if permission.unless_exists:
            key = permission.unless_exists
            if await self._stores.call_promptly(store, _exists, key):
                raise Denied(f"{key} exists, so what it is about does not change any more")
        key = permission.own_attempt
        if key and key not in session.attempts:
            content = await self._stores.call_promptly(store, lambda opened: opened.get(key))
            if content is not None and not _begun_since(content, session.access.started_at):
                raise Denied(f"{key} was written by another pod")
            session.attempts.add(key)

    @asynccontextmanager
    async def _body(self, request: web.Request, session: Session) -> AsyncIterator[bytes]:
        """The body of a request; a large one waits for others.

        Raises:
            HTTPRequestEntityTooLarge: It is larger than objects may be.
            TimeoutError: It does not arrive.
        """
        length = request.content_length
        if length is not None and length > MOST_BYTES:
            raise web.HTTPRequestEntityTooLarge(MOST_BYTES, length)
        share = self._shares[session.namespace]
        async with AsyncExitStack() as slots:
            await slots.enter_async_context(share.bodies)
            if length is None or length > SMALL_BYTES:
                await slots.enter_async_context(session.large)
                await slots.enter_async_context(share.large)
                await slots.enter_async_context(self._large)
            async with asyncio.timeout(BODY_S):
                content = await request.read()
            yield content


def _exists(store: Store, key: str) -> bool:
    return next(iter(store.keys(key)), None) == key


def _begun_since(content: bytes, started_at: str) -> bool:
    """Whether an attempt began after a pod started, so that it is the pod's own: a trial has one pod at a time."""
    try:
        return AttemptRecord.from_json(content).timings.started_at >= started_at
    except ValidationError:
        return False


def _parameter(request: web.Request, name: str) -> str:
    if name not in request.query:
        raise web.HTTPBadRequest(text=f"the parameter {name} is missing")
    return request.query[name]


async def _healthy(_: web.Request) -> web.Response:
    return web.Response(text="ok\n")


@web.middleware
async def _errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answers a request that fails with the code and message of its failure."""
    try:
        return await handler(request)
    except Unauthenticated as error:
        status, code, message = 401, Code.UNAUTHENTICATED, str(error)
    except Denied as error:
        status, code, message = 403, Code.ACCESS_DENIED, str(error)
    except web.HTTPRequestEntityTooLarge:
        limit = f"{MOST_BYTES // SMALL_BYTES} MiB"
        status, code, message = 413, Code.TOO_LARGE, f"the object is larger than {limit}"
    except StoreError as error:
        status, code, message = 503, Code.UNAVAILABLE, str(error)
    except ApiError as error:
        status, code, message = 503, Code.UNAVAILABLE, f"the pod cannot be looked up: {error}"
    except TimeoutError:
        status, code, message = 408, Code.UNAVAILABLE, f"the body did not arrive within {BODY_S:g} s"
    named = request.query.get("key", request.query.get("prefix"))
    what = f"{request.method} {request.path}"
    log.warning("request refused", request=what, object=named, status=status, problem=message)
    return _refusal(status, code, message)


def _refusal(status: int, code: str, message: str) -> web.Response:
    return web.json_response({"code": code, "message": message}, status=status)
