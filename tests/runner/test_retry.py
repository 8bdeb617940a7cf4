"""The retry loop around model calls and the endpoint pool, on a fake clock."""

from __future__ import annotations

import asyncio
import selectors
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from tests.runner.jobs import NO_JITTER, FakeTime

from opsgym_api.records.outcomes import InfraReason
from opsgym_core.common.backoff import Backoff
from opsgym_runner.agent_clock import AgentClock
from opsgym_runner.clock import Clock
from opsgym_runner.job import ModelEndpoint
from opsgym_runner.models.endpoints import EndpointPool, shown_url
from opsgym_runner.models.limiter import ConcurrencyLimiter
from opsgym_runner.models.provider_errors import ProviderError
from opsgym_runner.models.retry import ModelFailure, RequestStatistics, Retrier, RetryPolicy
from opsgym_runner.models.retry_hints import parse_retry_after, retry_after_s

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


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ({"retry-after-ms": "1500", "retry-after": "9"}, None, 1.5),
        ({"retry-after": "9", "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "6m0s"}, None, 9.0),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1m2.5s"}, None, 62.5),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "120ms"}, None, 0.12),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "7.5"}, None, 7.5),
        ({"x-ratelimit-remaining-requests": "3", "x-ratelimit-reset-requests": "1h"}, None, None),
        (
            {
                "anthropic-ratelimit-requests-remaining": "49",
                "anthropic-ratelimit-requests-reset": "2026-01-05T09:00:00Z",
                "anthropic-ratelimit-input-tokens-remaining": "0",
                "anthropic-ratelimit-input-tokens-reset": "2026-01-05T08:00:40Z",
            },
            None,
            40.0,
        ),
        ({}, {"error": {"details": [{"@type": "…/Help"}, {"@type": "…/RetryInfo", "retryDelay": "34.07s"}]}}, 34.07),
        ({}, [{"error": {"details": [{"retryDelay": "3s"}]}}], 3.0),
        ({"retry-after-ms": "soon"}, {"error": {"details": [{"retryDelay": "soon"}]}}, None),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "later"}, {"error": "no"}, None),
    ],
)
def test_a_provider_names_the_time_in_headers_or_body(
    headers: dict[str, str], body: object, seconds: float | None
) -> None:
    assert retry_after_s(ProviderError(429, frozenset(), "", headers, body), NOW) == seconds


def failure(retry_after_s: float | None = None) -> ModelFailure:
    reason = InfraReason.MODEL_UNAVAILABLE if retry_after_s is None else InfraReason.MODEL_RATE_LIMITED
    return ModelFailure(reason, "no", transient=True, retry_after_s=retry_after_s)


class Scripted:
    """Requests that fail as scripted, by endpoint, and then succeed."""

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


async def test_no_episode_sends_a_request_to_an_endpoint_before_its_retry_after_is_over() -> None:
    time = FakeTime()
    shared = pool(time, "a")
    request = Scripted(time, a=[failure(retry_after_s=30)])

    with pytest.raises(ModelFailure):
        await retrier(shared, time).call(request, deadline=time.seconds + 10)
    await retrier(shared, time).call(request, FAR)

    assert request.sent == [(0, "a"), (30, "a")]


async def test_a_model_that_never_answered_is_given_up_soon_and_one_that_did_is_not() -> None:
    policy = replace(NO_JITTER, first_answer_s=20)
    time = FakeTime()
    silent, known = pool(time, "silent"), pool(time, "known")
    never = Scripted(time, silent=[failure() for _ in range(50)])

    with pytest.raises(ModelFailure, match="silent has answered no request: no; check the address") as caught:
        await retrier(silent, time, policy).call(never, FAR)

    assert caught.value.reason is InfraReason.MODEL_UNREACHABLE
    assert time.seconds - 1000 <= 20
    address = ModelEndpoint("https://user:word@models.test:8443/v1?key=word")
    assert shown_url(address) == "https://models.test:8443/v1"
    later = Scripted(time, known=[])
    await retrier(known, time, policy).call(later, FAR)
    later.failures["known"] = [failure() for _ in range(6)]
    assert await retrier(known, time, policy).call(later, FAR) == "answer"


async def test_an_endpoint_that_failed_without_retry_after_does_not_delay_other_episodes() -> None:
    time = FakeTime()
    shared = pool(time, "a")
    request = Scripted(time, a=[failure()])

    with pytest.raises(ModelFailure):
        await retrier(shared, time).call(request, deadline=time.seconds)
    await retrier(shared, time).call(request, FAR)

    assert request.sent == [(0, "a"), (0, "a")]


async def test_every_endpoint_is_tried_once_before_a_call_waits() -> None:
    time = FakeTime()
    request = Scripted(time, a=[failure(), failure()], b=[failure()], c=[failure(), failure()])

    await retrier(pool(time, "a", "b", "c"), time).call(request, FAR)

    assert [url for _, url in request.sent[:3]] == ["a", "b", "c"]
    assert [at for at, _ in request.sent[:3]] == [0, 0, 0]
    assert request.sent[3][0] > 0


async def test_what_requests_wait_for_is_known_by_address() -> None:
    time = FakeTime()
    shared = pool(time, "a", "b")
    request = Scripted(time, a=[failure(90)], b=[])

    await retrier(shared, time).call(request, FAR)
    time.seconds += 10
    with shared.pick().busy(time.seconds - 45):
        assert [(one.url, one.throttled, round(one.paused_s), one.oldest_s) for one in shared.delays] == [
            ("a", 1, 80, 0), ("b", 0, 0, 45),
        ]  # fmt: skip
    assert [one.oldest_s for one in shared.delays] == [0, 0]


async def test_the_endpoint_with_the_fewest_requests_in_flight_gets_the_next_one() -> None:
    shared = pool(FakeTime(), "a", "b")

    with shared.pick().busy(0) as first, shared.pick().busy(0) as second:
        assert (first.url, second.url) == ("a", "b")
        with shared.pick().busy(0) as third:
            assert third.url == "a"
        assert shared.pick().address.url == "a"


async def test_the_waits_of_one_call_sum_to_at_most_the_policys_total() -> None:
    time = FakeTime()
    request = Scripted(time, a=[failure() for _ in range(100)])
    calls = retrier(pool(time, "a"), time, RetryPolicy(Backoff(initial_s=1.0, maximum_s=60.0), total_wait_s=20))

    with pytest.raises(ModelFailure, match="waited 15 s already"):
        await calls.call(request, FAR)

    assert sum(time.slept) <= 20
    assert calls.pending_failure is not None


async def test_an_answered_call_has_no_pending_failure() -> None:
    time = FakeTime()
    calls = retrier(pool(time, "a"), time)

    assert await calls.call(Scripted(time, a=[failure()]), FAR) == "answer"

    assert (calls.pending_failure, calls.statistics) == (None, RequestStatistics(retries=1, wait_s=0.5))


async def test_a_429_lowers_the_models_limit_and_a_waiting_call_holds_no_slot() -> None:
    time, limiter = FakeTime(), ConcurrencyLimiter(8)
    in_flight: list[int] = []

    async def sleep(seconds: float) -> None:
        in_flight.append(limiter.state.in_flight)
        time.seconds += seconds

    clock = Clock(now=time.now, monotonic=lambda: time.seconds, sleep=sleep)
    request = Scripted(time, a=[failure(retry_after_s=2)])

    await Retrier(pool(time, "a"), limiter, NO_JITTER, clock).call(request, FAR)

    assert in_flight == [0]
    assert (limiter.state.allowed, limiter.state.in_flight) == (4, 0)


async def test_a_permanent_failure_leaves_the_limit_unchanged() -> None:
    time, limiter = FakeTime(), ConcurrencyLimiter(8)
    permanent = ModelFailure(InfraReason.MODEL_AUTH, "no", transient=False)

    with pytest.raises(ModelFailure):
        await retrier(pool(time, "a"), time, limiter=limiter).call(Scripted(time, a=[permanent]), FAR)

    assert (limiter.state.allowed, limiter.state.in_flight) == (8, 0)


class JumpingLoop(asyncio.SelectorEventLoop):
    """An event loop whose time jumps to the next timer instead of passing."""

    def __init__(self) -> None:
        selector = selectors.SelectSelector()
        super().__init__(selector)
        self._jumped = 0.0
        select = selector.select

        def jump(timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
            self._jumped += timeout or 0.0
            return select(0)

        selector.select = jump  # type: ignore[method-assign]

    def time(self) -> float:
        return self._jumped


def test_waits_and_failed_requests_are_taken_off_the_agents_clock() -> None:
    async def played() -> tuple[str, float]:
        time, limiter, agent = FakeTime(), ConcurrencyLimiter(1), AgentClock(50)

        async def slow(endpoint: ModelEndpoint) -> str:
            await asyncio.sleep(40)
            if time.slept:
                return "answer"
            raise failure()

        async with agent.timeout:
            async with limiter.slot():
                waiting = asyncio.create_task(retrier(pool(time, "a"), time, limiter=limiter).call(slow, agent=agent))
                await asyncio.sleep(100)
            return await waiting, agent.now

    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        answer, ended = runner.run(played())
    assert answer == "answer"
    assert ended == pytest.approx(180, abs=0.1)


async def test_a_call_checks_again_for_pauses_after_it_waited_for_a_slot() -> None:
    time, limiter = FakeTime(), ConcurrencyLimiter(1)
    shared = pool(time, "a")
    request = Scripted(time)

    async with limiter.slot():
        waiting = asyncio.create_task(retrier(shared, time, limiter=limiter).call(request, FAR))
        await asyncio.sleep(0)
        shared.failed(shared.pick(), 30, retry_after=True)
    await waiting

    assert request.sent == [(30, "a")]


async def test_retries_rate_limits_and_waits_are_counted() -> None:
    time = FakeTime()
    calls = retrier(pool(time, "a"), time)
    request = Scripted(time, a=[failure(retry_after_s=4), failure(), failure(retry_after_s=1)])

    await calls.call(request, FAR)

    assert calls.statistics == RequestStatistics(retries=3, rate_limits=2, wait_s=sum(time.slept))
    assert sum(time.slept) == 4 + 1 + 1


async def test_the_duration_of_requests_is_not_counted_as_waiting() -> None:
    time = FakeTime()
    calls = retrier(pool(time, "a"), time)
    failures = [failure(retry_after_s=2)]

    async def slow(_: ModelEndpoint) -> str:
        time.seconds += 10
        if failures:
            raise failures.pop()
        return "answer"

    await calls.call(slow, FAR)

    assert (time.seconds, calls.statistics) == (1022.0, RequestStatistics(retries=1, rate_limits=1, wait_s=2.0))


async def test_the_wait_for_a_slot_counts_even_if_the_task_timeout_cancels_it() -> None:
    time, limiter = FakeTime(), ConcurrencyLimiter(1)
    calls = retrier(pool(time, "a"), time, limiter=limiter)
    async with limiter.slot():
        waiting = asyncio.create_task(calls.call(Scripted(time), FAR))
        await asyncio.sleep(0)
        time.seconds += 7
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    assert calls.statistics == RequestStatistics(wait_s=7.0)


async def test_giving_up_for_lack_of_time_is_not_counted_as_a_rate_limit() -> None:
    time = FakeTime()
    calls = retrier(pool(time, "a"), time)

    with pytest.raises(ModelFailure, match="the call's time would be over"):
        await calls.call(Scripted(time, a=[failure(retry_after_s=30)]), deadline=time.seconds + 10)

    assert calls.statistics == RequestStatistics(rate_limits=1)
