"""Pods that use the gateway, found by their tokens.

Invariant: a token is believed for `RECHECK_S` after the API server has confirmed it and its pod has been seen alive.
While the API server does not answer, a token that it confirmed before is believed until it expires, so that an outage
of the control plane costs no results.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from opsgym_core.kube.client import CONFIGMAPS, JOBS, PODS, ApiError, Client
from opsgym_operator.config import OperatorConfig
from opsgym_operator.gateway.access import Denied, PodAccess
from opsgym_operator.gateway.identity import (
    TokenPod,
    Unauthenticated,
    access_of,
    job_of,
    require_running,
    token_pod,
)

RECHECK_S = 60.0
"""Seconds after which a token and its pod are looked at again: how long an ended pod may still write, unless the API
server is away."""
FORGET_S = 3600.0
"""Seconds after its last check for which a token is remembered, and how often the memory is cleared."""
REFUSED_S = 10.0
"""Seconds for which a token that is not one of a run's pod is refused without another look."""
MOST_REFUSED = 10_000
"""Such tokens that are remembered."""
REQUESTS = 4
"""Requests of one pod at the same time; further ones wait."""


@dataclass
class Session:
    """A pod that uses the gateway."""

    access: PodAccess
    slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(REQUESTS))
    """Held by each of the pod's requests."""
    namespace: str = ""
    """Its namespace."""
    large: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held by a request with a large body, so that one pod cannot take all the memory for them."""
    attempts: set[str] = field(default_factory=set)
    """Keys of attempt records that were found to be the pod's own."""


@dataclass(frozen=True)
class _Checked:
    pod: str
    """Uid of the pod."""
    at: float
    """When the API server confirmed the token; monotonic."""
    expires: float
    """When the token expires, as seconds since 1970."""


class Sessions:
    """The pods that use the gateway.

    Args:
        client: The API server.
        config: The installation's configuration.
        audience: Audience of the tokens.
        monotonic: Seconds of a monotonic clock.
        now: Seconds since 1970.
    """

    def __init__(
        self,
        client: Client,
        config: OperatorConfig,
        audience: str,
        monotonic: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._client = client
        self._config = config
        self._audience = audience
        self._monotonic = monotonic
        self._now = now
        self._checked: dict[bytes, _Checked] = {}
        """By the token's digest."""
        self._sessions: dict[str, Session] = {}
        """By the pod's uid."""
        self._refused: dict[bytes, tuple[float, str]] = {}
        """Until when a token is refused, and why, by its digest."""
        self._unknown: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        """By address of a caller: held while a token of it that is not known is looked at, so that each caller has one
        request to the API server at a time."""
        self._cleared = monotonic()

    async def of(self, token: str, caller: str = "") -> Session:
        """The session of a token's pod.

        Args:
            token: The token.
            caller: Address that it comes from.

        Raises:
            Unauthenticated: The token is not one of a run's pod.
            Denied: The pod has ended, or belongs to no run.
            ApiError: The API server does not answer.
        """
        digest, now = hashlib.sha256(token.encode()).digest(), self._monotonic()
        checked = self._checked.get(digest)
        if checked is not None and now - checked.at < RECHECK_S:
            return self._sessions[checked.pod]
        if checked is None:
            async with self._unknown[caller]:
                return await self._first(digest, token)
        try:
            pod = await self._check(token)
        except ApiError as error:
            if error.refused or self._now() >= checked.expires:
                raise
            return self._sessions[checked.pod]
        self._checked[digest] = _Checked(pod, now, _expiry(token))
        self._clear(now)
        return self._sessions[pod]

    async def _first(self, digest: bytes, token: str) -> Session:
        """The session of a token that was not known when the caller's turn came; see `of`."""
        now = self._monotonic()
        if digest in self._checked:
            return self._sessions[self._checked[digest].pod]
        until, problem = self._refused.get(digest, (now, ""))
        if now < until:
            raise Unauthenticated(problem)
        try:
            pod = await self._check(token)
        except Unauthenticated as error:
            if len(self._refused) >= MOST_REFUSED:
                self._refused.clear()
            self._refused[digest] = (now + REFUSED_S, str(error))
            raise
        self._checked[digest] = _Checked(pod, now, _expiry(token))
        self._clear(now)
        return self._sessions[pod]

    async def _check(self, token: str) -> str:
        """Checks a token and its pod; returns the uid of the pod, which has a session then."""
        review = await self._client.review_token(token, self._audience)
        identity = token_pod(review, self._audience, self._config.pods.service_account_name)
        if self._config.watch_namespaces and identity.namespace not in self._config.watch_namespaces:
            raise Denied(f"the installation does not serve namespace {identity.namespace}")
        pod = require_running(await self._client.get(PODS, identity.namespace, identity.name), identity)
        if identity.uid not in self._sessions:
            access = await self._access(pod, identity)
            self._sessions.setdefault(identity.uid, Session(access, namespace=identity.namespace))
        return identity.uid

    async def _access(self, pod: dict[str, object], identity: TokenPod) -> PodAccess:
        name = job_of(pod)
        job = await self._client.get(JOBS, identity.namespace, name)
        config_map = await self._client.get(CONFIGMAPS, identity.namespace, name)
        return access_of(pod, job, config_map, identity.namespace, self._config)

    def _clear(self, now: float) -> None:
        """Forgets pods that have not been seen for long."""
        if now - self._cleared < FORGET_S:
            return
        self._cleared = now
        self._checked = {digest: one for digest, one in self._checked.items() if now - one.at < FORGET_S}
        self._refused.clear()
        for caller in [caller for caller, lock in self._unknown.items() if not lock.locked()]:
            del self._unknown[caller]
        pods = {one.pod for one in self._checked.values()}
        self._sessions = {pod: session for pod, session in self._sessions.items() if pod in pods}


def _expiry(token: str) -> float:
    """When a token that the API server has confirmed expires, as seconds since 1970; 0 if it does not say."""
    try:
        claims = token.split(".")[1]
        return float(json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))["exp"])
    except (ValueError, IndexError, KeyError, TypeError):
        return 0.0
