"""The concurrency limit of a model: as many requests as the provider accepts, never more than the ceiling.

Invariant: a request starts only while fewer than `allowed` are in flight, and waiting requests start in order of
arrival. `allowed` is between 1 and the ceiling: it falls by a factor when the provider signals overload and rises by
one for each round of answers (additive increase, multiplicative decrease, as in TCP).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

import structlog

from opsgym_runner.clock import Clock

RATE_LIMIT_FACTOR = 0.5
"""Factor of the limit after HTTP 429: the provider states that there are too many requests."""
FAILURE_FACTOR = 0.9
"""Factor of the limit after a timeout or HTTP 5xx, which load may have caused."""
LOG_EVERY_S = 30.0
"""Minimum seconds between two log lines about a lowered limit."""
log = structlog.get_logger()


@dataclass(frozen=True)
class LimitState:
    """Concurrency of one model at one moment."""

    in_flight: int
    allowed: int
    """Requests that may be in flight; less than `in_flight` while requests from before a decrease are unanswered."""
    ceiling: int
    """`maxConcurrency` of the model."""
    waiting: int
    """Requests waiting for a slot."""


class ConcurrencyLimiter:
    """Limits the requests to one model, over all episodes of a process.

    Args:
        ceiling: Maximum number of requests in flight; the limit starts there.
        endpoints: Number of endpoints that share the requests. A refusal lowers the refusing endpoint's share only.
        on_change: Called when `allowed` has changed; must not block.
    """

    def __init__(self, ceiling: int, endpoints: int = 1, on_change: Callable[[LimitState], None] | None = None) -> None:
        self._ceiling = ceiling
        self._endpoints = endpoints
        self._on_change = on_change
        self._limit = float(ceiling)
        self._in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._round = 0
        """Number of decreases so far."""

    @property
    def state(self) -> LimitState:
        """Requests in flight, allowed and waiting now."""
        waiting = sum(not turn.done() for turn in self._waiting)
        return LimitState(self._in_flight, self._allowed, self._ceiling, waiting)

    @property
    def full(self) -> bool:
        """Whether the next request has to wait."""
        return bool(self._waiting) or self._in_flight >= self._allowed

    @property
    def _allowed(self) -> int:
        return int(self._limit)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[RequestSlot]:
        """Waits for a slot for one request. The caller reports the request's result to the slot."""
        await self._enter()
        try:
            yield RequestSlot(self._rise, partial(self._lower, self._round))
        finally:
            self._leave()

    async def _enter(self) -> None:
        if not self.full:
            self._in_flight += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # it got a slot at the moment of its cancellation
                self._leave()
            elif turn in self._waiting:
                self._waiting.remove(turn)
            raise

    def _leave(self) -> None:
        self._in_flight -= 1
        self._admit()

    def _admit(self) -> None:
        while self._waiting and (self._waiting[0].done() or self._in_flight < self._allowed):
            turn = self._waiting.popleft()
            if not turn.done():
                self._in_flight += 1
                turn.set_result(None)

    def _rise(self) -> None:
        self._set(self._limit + 1 / self._limit)

    def _lower(self, sent_in: int, factor: float) -> None:
        if sent_in != self._round:
            return  # sent before the latest decrease: it repeats evidence that is already taken into account
        self._round += 1
        self._set(self._limit * (1 - (1 - factor) / self._endpoints))

    def _set(self, limit: float) -> None:
        before = self._allowed
        self._limit = min(max(limit, 1.0), float(self._ceiling))
        if self._allowed != before:
            self._admit()
            if self._on_change is not None:
                self._on_change(self.state)


class RequestSlot:
    """Slot of one request in flight; passes the request's result to the limiter if it is evidence of load."""

    def __init__(self, rise: Callable[[], None], lower: Callable[[float], None]) -> None:
        self._rise = rise
        self._lower = lower

    def answered(self) -> None:
        """The model answered: raises the limit."""
        self._rise()

    def rate_limited(self) -> None:
        """The provider answered HTTP 429: lowers the limit by `RATE_LIMIT_FACTOR`."""
        self._lower(RATE_LIMIT_FACTOR)

    def failed(self) -> None:
        """The request timed out, was cut off or met HTTP 5xx: lowers the limit by `FAILURE_FACTOR`."""
        self._lower(FAILURE_FACTOR)


class LimitLogger:
    """Logs when a model's limit is lowered and when it is back at the ceiling, not every change between.

    Args:
        model: Name of the model.
        clock: Source of time.
    """

    def __init__(self, model: str, clock: Clock) -> None:
        self._model = model
        self._clock = clock
        self._allowed: int | None = None
        """Limit at the latest change; None before the first."""
        self._logged_at: float | None = None
        """Monotonic time of the latest warning; None before the first."""
        self._limited = False
        """Whether the latest line is a warning."""

    def changed(self, state: LimitState) -> None:
        """Logs a change of the limit if it is worth a line."""
        fell = state.allowed < (self._allowed if self._allowed is not None else state.ceiling)
        self._allowed = state.allowed
        now = self._clock.monotonic()
        if fell and (self._logged_at is None or now - self._logged_at >= LOG_EVERY_S):
            self._logged_at, self._limited = now, True
            log.warning("model requests limited", model=self._model, allowed=state.allowed, ceiling=state.ceiling)
        elif state.allowed == state.ceiling and self._limited:
            self._limited = False
            log.info("model requests no longer limited", model=self._model, allowed=state.allowed)
