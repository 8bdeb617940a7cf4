"""The one retry loop around model calls; litellm's and its Router's own are off.

Invariant: no request is sent before the time that a `Retry-After` named, and no wait of ours outlasts the task's
deadline or the policy's bound: where it would, the last failure is the result. A call that waits holds no slot.
"""

from __future__ import annotations

import math
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from opsgym_api.outcomes import InfraReason
from opsgym_runner.clock import Clock
from opsgym_runner.endpoints import Endpoint, EndpointPool
from opsgym_runner.errors import NotScored, infra_error
from opsgym_runner.job import ModelEndpoint
from opsgym_runner.limiter import ConcurrencyLimiter, Slot

T = TypeVar("T")


class ModelFailure(Exception):
    """A request to a model failed, and not through the agent's doing.

    Attributes:
        reason: What the record will say if it stays.
        transient: Whether the same request may succeed later.
        retry_after_s: Seconds that the endpoint asked to be left alone; None if it did not.
    """

    def __init__(
        self, reason: InfraReason, message: str, *, transient: bool, retry_after_s: float | None = None
    ) -> None:
        self.reason = reason
        self.transient = transient
        self.retry_after_s = retry_after_s
        super().__init__(message)

    def final(self) -> NotScored:
        """The failure as the end of the attempt."""
        return infra_error(self.reason, str(self))


@dataclass(frozen=True)
class Traffic:
    """What became of requests to a model, besides answers."""

    retries: int = 0
    """Requests that were sent again."""
    rate_limits: int = 0
    """Requests that were refused as too many (429)."""
    wait_s: float = 0.0
    """Seconds without a request under way: endpoints rested, or no slot was free."""

    def __sub__(self, before: Traffic) -> Traffic:
        """What came since."""
        return Traffic(
            self.retries - before.retries, self.rate_limits - before.rate_limits, self.wait_s - before.wait_s
        )


@dataclass(frozen=True)
class RetryPolicy:
    """How long a call is retried."""

    first_wait_s: float = 1.0
    """Wait after a call's first failure; doubles with each further one."""
    longest_wait_s: float = 60.0
    """Longest wait that is ours to choose; a `Retry-After` may be longer."""
    total_wait_s: float = 600.0
    """Seconds that one call may spend waiting in all."""
    jitter: Callable[[], float] = random.random
    """Draws from [0, 1): episodes that failed together must not come back together."""

    def backoff_s(self, failures: int) -> float:
        """Wait after so many failures of one call."""
        return float(min(self.first_wait_s * 2 ** (failures - 1), self.longest_wait_s) * (0.5 + self.jitter() / 2))

    def asked_s(self, retry_after_s: float) -> float:
        """Wait that an endpoint asked for, spread a little upwards."""
        return retry_after_s * (1 + self.jitter() / 10)


class Retrier:
    """Sends one model's requests to a pool until one is answered, or nothing more can be hoped for.

    Args:
        pool: Where requests go.
        limiter: How many may be in flight, of all episodes.
        policy: How long a call is retried.
        clock: Where time comes from.
    """

    def __init__(self, pool: EndpointPool, limiter: ConcurrencyLimiter, policy: RetryPolicy, clock: Clock) -> None:
        self._pool = pool
        self._limiter = limiter
        self._policy = policy
        self._clock = clock
        self.traffic = Traffic()
        """Of all its calls so far."""
        self.trouble: ModelFailure | None = None
        """Why the request now under way is not answered yet, if not through its model alone; None once it is."""

    async def call(self, request: Callable[[ModelEndpoint], Awaitable[T]], deadline: float) -> T:
        """The answer to a request.

        Args:
            request: Sends it to an endpoint once.
            deadline: Monotonic time of the task's end.

        Raises:
            ModelFailure: It cannot be answered, or not in time.
        """
        self.trouble = None
        idle = _Idle(self._clock)
        try:
            return await self._call(request, deadline, idle)
        finally:
            # Also of a call whose task's time ran out while it waited.
            self._met(wait_s=idle.stop())

    async def _call(self, request: Callable[[ModelEndpoint], Awaitable[T]], deadline: float, idle: _Idle) -> T:
        failures, waited, backoff = 0, 0.0, 0.0
        while True:
            wait = self._pool.wait_s(backoff)
            if wait > 0:
                self._require_time(wait, waited, deadline)
                await self._clock.sleep(wait)
                waited, backoff = waited + wait, 0.0
                continue  # others may have sent every endpoint back to rest meanwhile
            async with self._slot() as slot:
                if self._pool.wait_s(backoff) > 0:
                    continue  # so they did while this one waited for its slot
                self._met(retries=int(failures > 0))
                endpoint = self._pool.pick()
                try:
                    with endpoint.busy() as address, idle.interrupted():
                        answer = await request(address)
                except ModelFailure as failure:
                    self.trouble = failure
                    self._met(rate_limits=int(failure.reason is InfraReason.MODEL_RATE_LIMITED))
                    if not failure.transient:
                        raise
                    failures += 1
                    backoff = self._rest(endpoint, failure, failures, slot)
                else:
                    self.trouble = None
                    slot.answered()
                    return answer

    def _met(self, *, retries: int = 0, rate_limits: int = 0, wait_s: float = 0.0) -> None:
        known = self.traffic
        self.traffic = Traffic(known.retries + retries, known.rate_limits + rate_limits, known.wait_s + wait_s)

    @asynccontextmanager
    async def _slot(self) -> AsyncIterator[Slot]:
        """A slot; a task whose time runs out before it comes was held up by us, and not by its agent."""
        before = self.trouble
        if self._limiter.full and before is None:
            self.trouble = ModelFailure(
                InfraReason.MODEL_RATE_LIMITED, f"waiting for a slot: {_standing(self._limiter)}", transient=True
            )
        async with self._limiter.slot() as slot:
            self.trouble = before
            yield slot

    def _rest(self, endpoint: Endpoint, failure: ModelFailure, failures: int, slot: Slot) -> float:
        """Sends an endpoint to rest and lowers the limit; the call's own backoff."""
        asked = failure.retry_after_s
        backoff = self._policy.backoff_s(failures) if asked is None else self._policy.asked_s(asked)
        self._pool.failed(endpoint, backoff, asked=asked is not None)
        if failure.reason is InfraReason.MODEL_RATE_LIMITED:
            slot.refused()
        else:
            slot.lost()
        return backoff

    def _require_time(self, wait: float, waited: float, deadline: float) -> None:
        in_time = self._clock.monotonic() + wait < deadline
        if in_time and waited + wait <= self._policy.total_wait_s:
            return
        bound = f"waited {waited:.0f} s already" if in_time else "the task's time would be over"
        found = self.trouble or ModelFailure(InfraReason.MODEL_RATE_LIMITED, "every endpoint rests", transient=True)
        message = f"{found} (next try in {wait:.0f} s, but {bound})"
        raise ModelFailure(found.reason, message, transient=True, retry_after_s=found.retry_after_s)


class _Idle:
    """Adds up the seconds of a call in which no request is under way."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._since: float | None = clock.monotonic()
        self._seconds = 0.0

    @contextmanager
    def interrupted(self) -> Iterator[None]:
        """Around a request."""
        self.stop()
        try:
            yield
        finally:
            self._since = self._clock.monotonic()

    def stop(self) -> float:
        """The seconds up to now."""
        if self._since is not None:
            self._seconds += self._clock.monotonic() - self._since
            self._since = None
        return self._seconds


def _standing(limiter: ConcurrencyLimiter) -> str:
    state = limiter.state
    return f"{state.in_flight} requests in flight, {state.allowed} of at most {state.ceiling} allowed"


def parse_retry_after(value: str | None, now: datetime) -> float | None:
    """Seconds that a `Retry-After` header asks for; None if there is none, or none that can be read.

    Args:
        value: Seconds, or an HTTP date.
        now: Time of day, for dates.
    """
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            moment = parsedate_to_datetime(value)
        except ValueError:
            return None
        seconds = (moment.replace(tzinfo=moment.tzinfo or UTC) - now).total_seconds()
    return max(seconds, 0.0) if math.isfinite(seconds) else None
