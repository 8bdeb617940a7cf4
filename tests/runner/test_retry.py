"""The retry loop and the endpoint pool, on a clock that tests own."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest
from tests.runner.jobs import NO_JITTER, FakeTime

from opsgym_api.outcomes import InfraReason
from opsgym_runner.clock import Clock
from opsgym_runner.endpoints import EndpointPool
from opsgym_runner.job import ModelEndpoint
from opsgym_runner.limiter import ConcurrencyLimiter
from opsgym_runner.retry import ModelFailure, Retrier, RetryPolicy, Traffic, parse_retry_after

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 1, 5, 8, tzinfo=UTC)
FAR = 1e9


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("7", 7.0),
        ("1.5", 1.5),
        ("-3", 0.0),
        ("Mon, 05 Jan 2026 08:01:00 GMT", 60.0),
        ("Mon, 05 Jan 2026 07:00:00 GMT", 0.0),
        ("Mon, 05 Jan 2026 08:01:00 -0000", 60.0),
        ("soon", None),
        ("", None),
        ("nan", None),
        ("inf", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(header: str | None, seconds: float | None) -> None:
    assert parse_retry_after(header, NOW) == seconds


def failure(retry_after_s: float | None = None) -> ModelFailure:
    reason = InfraReason.MODEL_UNAVAILABLE if retry_after_s is None else InfraReason.MODEL_RATE_LIMITED
    return ModelFailure(reason, "no", transient=True, retry_after_s=retry_after_s)


class Scripted:
    """Requests that fail as written down, by endpoint, and then succeed."""

    def __init__(self, time: FakeTime, **failures: list[ModelFailure]) -> None:
        self.time = time
        self.failures = failures
        self.sent: list[tuple[float, str]] = []

    async def __call__(self, endpoint: ModelEndpoint) -> str:
        assert endpoint.url is not None
        self.sent.append((round(self.time.seconds - 1000, 3), endpoint.url))
        waiting = self.failures.get(endpoint.url, [])
        if waiting:
            raise waiting.pop(0)
        return "answer"


def pool(time: FakeTime, *urls: str) -> EndpointPool:
    return EndpointPool([ModelEndpoint(url) for url in urls], time.clock)


def retrier(
    shared: EndpointPool, time: FakeTime, policy: RetryPolicy = NO_JITTER, limiter: ConcurrencyLimiter | None = None
) -> Retrier:
    return Retrier(shared, limiter or ConcurrencyLimiter(8), policy, time.clock)


async def test_an_endpoint_that_asked_for_a_pause_gets_no_request_from_any_episode_before_it_is_over() -> None:
    time = FakeTime()
    shared = pool(time, "a")
    request = Scripted(time, a=[failure(retry_after_s=30)])

    with pytest.raises(ModelFailure):
        await retrier(shared, time).call(request, deadline=time.seconds + 10)
    await retrier(shared, time).call(request, FAR)

    assert request.sent == [(0, "a"), (30, "a")]


async def test_an_endpoint_that_failed_without_asking_does_not_hold_up_other_episodes() -> None:
    time = FakeTime()
    shared = pool(time, "a")
    request = Scripted(time, a=[failure()])

    with pytest.raises(ModelFailure):
        await retrier(shared, time).call(request, deadline=time.seconds)
    await retrier(shared, time).call(request, FAR)

    assert request.sent == [(0, "a"), (0, "a")]


async def test_endpoints_that_fail_are_tried_in_turn_before_anyone_waits() -> None:
    time = FakeTime()
    request = Scripted(time, a=[failure(), failure()], b=[failure()], c=[failure(), failure()])

    await retrier(pool(time, "a", "b", "c"), time).call(request, FAR)

    assert [url for _, url in request.sent[:3]] == ["a", "b", "c"]
    assert [at for at, _ in request.sent[:3]] == [0, 0, 0]
    assert request.sent[3][0] > 0


async def test_the_least_busy_endpoint_gets_the_next_request() -> None:
    shared = pool(FakeTime(), "a", "b")

    with shared.pick().busy() as first, shared.pick().busy() as second:
        assert (first.url, second.url) == ("a", "b")
        with shared.pick().busy() as third:
            assert third.url == "a"
        assert shared.pick().address.url == "a"


async def test_waits_of_one_call_are_bounded_in_all() -> None:
    time = FakeTime()
    request = Scripted(time, a=[failure() for _ in range(100)])
    calls = retrier(pool(time, "a"), time, RetryPolicy(total_wait_s=20, jitter=lambda: 0.99))

    with pytest.raises(ModelFailure, match="waited 15 s already"):
        await calls.call(request, FAR)

    assert sum(time.slept) <= 20
    assert calls.trouble is not None


async def test_a_call_that_is_answered_leaves_no_trouble_behind() -> None:
    time = FakeTime()
    calls = retrier(pool(time, "a"), time)

    assert await calls.call(Scripted(time, a=[failure()]), FAR) == "answer"

    assert (calls.trouble, calls.traffic) == (None, Traffic(retries=1, wait_s=0.5))


async def test_a_429_lowers_what_all_episodes_may_send_and_a_call_that_rests_holds_no_slot() -> None:
    time, limiter = FakeTime(), ConcurrencyLimiter(8)
    held: list[int] = []

    async def sleep(seconds: float) -> None:
        held.append(limiter.state.in_flight)
        time.seconds += seconds

    clock = Clock(now=time.now, monotonic=lambda: time.seconds, sleep=sleep)
    request = Scripted(time, a=[failure(retry_after_s=2)])

    await Retrier(pool(time, "a"), limiter, NO_JITTER, clock).call(request, FAR)

    assert held == [0]
    assert (limiter.state.allowed, limiter.state.in_flight) == (4, 0)


async def test_a_failure_that_will_not_pass_says_nothing_of_load() -> None:
    time, limiter = FakeTime(), ConcurrencyLimiter(8)
    refused = ModelFailure(InfraReason.MODEL_AUTH, "no", transient=False)

    with pytest.raises(ModelFailure):
        await retrier(pool(time, "a"), time, limiter=limiter).call(Scripted(time, a=[refused]), FAR)

    assert (limiter.state.allowed, limiter.state.in_flight) == (8, 0)


async def test_a_call_that_waits_for_a_slot_is_held_up_by_us_and_not_by_its_agent() -> None:
    time, limiter = FakeTime(), ConcurrencyLimiter(1)
    calls = retrier(pool(time, "a"), time, limiter=limiter)

    async with limiter.slot():
        waiting = asyncio.create_task(calls.call(Scripted(time), FAR))
        await asyncio.sleep(0)
        assert calls.trouble is not None
        assert "1 requests in flight, 1 of at most 1 allowed" in str(calls.trouble)

    assert await waiting == "answer"
    assert calls.trouble is None


async def test_an_endpoint_that_closed_while_a_call_waited_for_its_slot_gets_no_request() -> None:
    time, limiter = FakeTime(), ConcurrencyLimiter(1)
    shared = pool(time, "a")
    request = Scripted(time)

    async with limiter.slot():
        waiting = asyncio.create_task(retrier(shared, time, limiter=limiter).call(request, FAR))
        await asyncio.sleep(0)
        shared.failed(shared.pick(), 30, asked=True)
    await waiting

    assert request.sent == [(30, "a")]


async def test_what_a_call_waits_and_what_refused_it_is_counted() -> None:
    time = FakeTime()
    calls = retrier(pool(time, "a"), time)
    request = Scripted(time, a=[failure(retry_after_s=4), failure(), failure(retry_after_s=1)])

    await calls.call(request, FAR)

    assert calls.traffic == Traffic(retries=3, rate_limits=2, wait_s=sum(time.slept))
    assert sum(time.slept) == 4 + 1 + 1


async def test_the_time_that_requests_take_is_no_wait() -> None:
    time = FakeTime()
    calls = retrier(pool(time, "a"), time)
    failures = [failure(retry_after_s=2)]

    async def slow(_: ModelEndpoint) -> str:
        time.seconds += 10
        if failures:
            raise failures.pop()
        return "answer"

    await calls.call(slow, FAR)

    assert (time.seconds, calls.traffic) == (1022.0, Traffic(retries=1, rate_limits=1, wait_s=2.0))


async def test_the_wait_for_a_slot_counts_also_when_the_tasks_time_ends_in_it() -> None:
    time, limiter = FakeTime(), ConcurrencyLimiter(1)
    calls = retrier(pool(time, "a"), time, limiter=limiter)
    async with limiter.slot():
        waiting = asyncio.create_task(calls.call(Scripted(time), FAR))
        await asyncio.sleep(0)
        time.seconds += 7
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    assert calls.traffic == Traffic(wait_s=7.0)


async def test_giving_up_for_lack_of_time_is_no_refusal_of_the_model() -> None:
    time = FakeTime()
    calls = retrier(pool(time, "a"), time)

    with pytest.raises(ModelFailure, match="the task's time would be over"):
        await calls.call(Scripted(time, a=[failure(retry_after_s=30)]), deadline=time.seconds + 10)

    assert calls.traffic == Traffic(rate_limits=1)
