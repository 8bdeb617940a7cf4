"""The one retry loop around model calls; litellm's and its Router's own retries are off.

Invariant: no request is sent before the time that the provider named, and no wait exceeds the call's deadline or the
policy's total: the call then fails with its latest failure. A waiting call holds no slot. Only the request that is
answered, or is in flight, runs on the agent's clock.
"""

from __future__ import annotations

import math
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TypeVar

import structlog

from opsgym_api.records.outcomes import InfraReason
from opsgym_core.common.backoff import Backoff
from opsgym_runner.agent_clock import AgentClock
from opsgym_runner.clock import Clock
from opsgym_runner.errors import NotScored, infra_error
from opsgym_runner.job import ModelEndpoint
from opsgym_runner.models.endpoints import Endpoint, EndpointPool, shown_url
from opsgym_runner.models.limiter import ConcurrencyLimiter, RequestSlot

log = structlog.get_logger()

T = TypeVar("T")


class ModelFailure(Exception):
    """A request to a model failed for a reason that is not the agent's.

    Attributes:
        reason: Reason in the record if the failure persists.
        transient: Whether the same request may succeed later.
        retry_after_s: Seconds after which the provider takes the request again; None if it did not say.
    """

    def __init__(
        self, reason: InfraReason, message: str, *, transient: bool, retry_after_s: float | None = None
    ) -> None:
        self.reason = reason
        self.transient = transient
        self.retry_after_s = retry_after_s
        super().__init__(message)

    def final(self) -> NotScored:
        """The exception that ends the attempt because of this failure."""
        return infra_error(self.reason, str(self))


@dataclass(frozen=True)
class RequestStatistics:
    """Retries, rate limits and waits of model calls."""

    retries: int = 0
    """Requests that repeated a failed one."""
    rate_limits: int = 0
    """Requests that were answered with HTTP 429."""
    wait_s: float = 0.0
    """Seconds without a request in flight: every endpoint paused, or no slot free."""

    def __sub__(self, before: RequestStatistics) -> RequestStatistics:
        """The increase since `before`."""
        return RequestStatistics(
            self.retries - before.retries, self.rate_limits - before.rate_limits, self.wait_s - before.wait_s
        )


NO_REQUESTS = RequestStatistics()
"""Of a call whose first request was answered."""
BACKOFF = Backoff(initial_s=1.0, maximum_s=60.0, jitter=0.5)
"""Default backoff of model calls: providers' rate limits are counted by the minute."""


@dataclass(frozen=True)
class RetryPolicy:
    """How long a call is retried."""

    backoff: Backoff = BACKOFF
    """Waits after failures for which the provider named no time, by number of failures of the call."""
    total_wait_s: float = 600.0
    """Maximum seconds that one call spends waiting."""
    first_answer_s: float | None = None
    """Seconds after which a model that never answered counts as unreachable; None for no such limit."""
    retry_after_jitter: Callable[[], float] = random.random
    """Draws from [0, 1); up to a tenth is added to a time that the provider named, so that episodes do not come back
    together."""

    def wait_s(self, failure: ModelFailure, failures: int) -> float:
        """Seconds to wait after a failure of a call.

        Args:
            failure: The failure.
            failures: Number of the call's failures so far, this one included.
        """
        if failure.retry_after_s is None:
            return self.backoff.delay(failures)
        return failure.retry_after_s * (1 + self.retry_after_jitter() / 10)


class Retrier:
    """Sends a model's requests to its endpoints until one is answered or retrying is of no use.

    Args:
        pool: The endpoints.
        limiter: Limits the requests in flight, over all episodes.
        policy: How long a call is retried.
        clock: Source of time.
    """

    def __init__(self, pool: EndpointPool, limiter: ConcurrencyLimiter, policy: RetryPolicy, clock: Clock) -> None:
        self._pool = pool
        self._limiter = limiter
        self._policy = policy
        self._clock = clock
        self.statistics = RequestStatistics()
        """Sums over all calls so far."""
        self.pending_failure: ModelFailure | None = None
        """Why the call in progress has no answer yet, if its last request failed; otherwise None."""

    def fresh(self) -> Retrier:
        """A retrier of the same endpoints and limit with statistics of its own, for a call beside others."""
        return Retrier(self._pool, self._limiter, self._policy, self._clock)

    @property
    def has_called(self) -> bool:
        """Whether the model has called a tool, in any episode."""
        return self._pool.has_called

    @has_called.setter
    def has_called(self, called: bool) -> None:
        self._pool.has_called = called

    def has_answered(self, address: ModelEndpoint) -> bool:
        """Whether an endpoint has answered any request, of any episode."""
        return self._pool.has_answered(address)

    async def call(
        self,
        request: Callable[[ModelEndpoint], Awaitable[T]],
        deadline: float = math.inf,
        agent: AgentClock | None = None,
    ) -> T:
        """Sends a request, again after transient failures, and returns the answer.

        Args:
            request: Sends the request to one endpoint, once.
            deadline: Monotonic time after which no retry starts.
            agent: The agent's clock, on which neither waits nor failed requests run; None for a support model's call.

        Raises:
            ModelFailure: A failure is not transient, or the next wait would exceed the deadline or the policy's total.
        """
        self.pending_failure = None
        agent = agent or AgentClock(None)
        idle = _IdleTimer(self._clock)
        failures, waited, backoff = 0, 0.0, 0.0
        try:
            while True:
                wait = self._pool.wait_s(backoff)
                if wait > 0:
                    self._require_time(wait, waited, deadline)
                    with agent.stopped():
                        await self._clock.sleep(wait)
                    waited, backoff = waited + wait, 0.0
                    continue  # other episodes may have paused every endpoint meanwhile
                async with self._slot(agent) as slot:
                    if self._pool.wait_s(backoff) > 0:
                        continue  # they did while this call waited for its slot
                    self._count(retries=int(failures > 0))
                    endpoint = self._pool.pick()
                    sent = agent.now
                    try:
                        with endpoint.busy(self._clock.monotonic()) as address, idle.interrupted():
                            answer = await request(address)
                    except ModelFailure as failure:
                        agent.turn_back(sent)
                        failures += 1
                        backoff = self._failed(failure, failures, endpoint, slot)
                    else:
                        self.pending_failure = None
                        self._pool.answered()
                        endpoint.answered = True
                        slot.answered()
                        return answer
        finally:
            # Also for a call that the task timeout cancels while it waits.
            self._count(wait_s=idle.stop())

    def _count(self, *, retries: int = 0, rate_limits: int = 0, wait_s: float = 0.0) -> None:
        sums = self.statistics
        self.statistics = RequestStatistics(
            sums.retries + retries, sums.rate_limits + rate_limits, sums.wait_s + wait_s
        )

    @asynccontextmanager
    async def _slot(self, agent: AgentClock) -> AsyncIterator[RequestSlot]:
        """Waits for a slot while the agent's clock is stopped."""
        async with AsyncExitStack() as stack:
            with agent.stopped():
                slot = await stack.enter_async_context(self._limiter.slot())
            yield slot

    def _failed(self, failure: ModelFailure, failures: int, endpoint: Endpoint, slot: RequestSlot) -> float:
        """Pauses the endpoint and lowers the limit; returns the seconds that the call itself has to wait.

        Raises:
            ModelFailure: The failure, if it is not transient.
        """
        rate_limited = failure.reason is InfraReason.MODEL_RATE_LIMITED
        self.pending_failure = failure
        self._count(rate_limits=int(rate_limited))
        endpoint.throttled += rate_limited
        if not failure.transient:
            raise failure
        wait = self._policy.wait_s(failure, failures)
        if rate_limited:
            self._pool.answered()
        elif failures == 1 and self._pool.silent_s == 0:
            # Not the failure's text: providers quote the request in it.
            log.warning("a request to the model failed", url=shown_url(endpoint.address), reason=failure.reason.value)
        self._pool.failed(endpoint, wait, retry_after=failure.retry_after_s is not None)
        self._require_first_answer(wait, endpoint, failure)
        if rate_limited:
            slot.rate_limited()
        else:
            slot.failed()
        return wait

    def _require_first_answer(self, wait: float, endpoint: Endpoint, failure: ModelFailure) -> None:
        """Ends the call if the model has never answered and would be waited for longer than the policy allows."""
        limit = self._policy.first_answer_s
        if limit is not None and self._pool.silent_s > 0 and self._pool.silent_s + wait > limit:
            advice = "check the address and that a model is served there"
            message = f"{shown_url(endpoint.address)} has answered no request: {failure}; {advice}"
            raise ModelFailure(InfraReason.MODEL_UNREACHABLE, message, transient=False)

    def _require_time(self, wait: float, waited: float, deadline: float) -> None:
        in_time = self._clock.monotonic() + wait < deadline
        if in_time and waited + wait <= self._policy.total_wait_s:
            return
        bound = f"waited {waited:.0f} s already" if in_time else "the call's time would be over"
        failure = self.pending_failure or ModelFailure(
            InfraReason.MODEL_RATE_LIMITED, "every endpoint is paused", transient=True
        )
        message = f"{failure} (next try in {wait:.0f} s, but {bound})"
        raise ModelFailure(failure.reason, message, transient=True, retry_after_s=failure.retry_after_s)


class _IdleTimer:
    """Sums the seconds of a call in which no request is in flight."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._since: float | None = clock.monotonic()
        """Start of the current idle time; None while a request is in flight."""
        self._seconds = 0.0

    @contextmanager
    def interrupted(self) -> Iterator[None]:
        """Stops the timer while a request is in flight."""
        self.stop()
        try:
            yield
        finally:
            self._since = self._clock.monotonic()

    def stop(self) -> float:
        """Stops the timer and returns its seconds."""
        if self._since is not None:
            self._seconds += self._clock.monotonic() - self._since
            self._since = None
        return self._seconds
