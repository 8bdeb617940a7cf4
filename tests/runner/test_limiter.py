"""The limit of a model's requests: how it falls and rises, and that no request starves or leaks a slot."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs
from tests.runner.jobs import FakeTime

from opsgym_runner.models.limiter import ConcurrencyLimiter, LimitLogger, LimitState, RequestSlot

pytestmark = pytest.mark.anyio


async def turns() -> None:
    """Lets everything run that can."""
    for _ in range(5):
        await asyncio.sleep(0)


@dataclass
class Request:
    """A request that ends when the test ends it."""

    limiter: ConcurrencyLimiter
    started: list[Request]
    end: asyncio.Event = field(default_factory=asyncio.Event)
    slot: RequestSlot | None = None
    task: asyncio.Task[None] | None = None

    def send(self) -> Request:
        self.task = asyncio.create_task(self._run())
        return self

    async def _run(self) -> None:
        async with self.limiter.slot() as self.slot:
            self.started.append(self)
            await self.end.wait()


async def test_no_more_requests_are_in_flight_than_the_ceiling_and_waiters_start_in_order() -> None:
    limiter, started = ConcurrencyLimiter(2), list[Request]()
    requests = [Request(limiter, started).send() for _ in range(5)]
    await turns()
    assert started == requests[:2]
    assert limiter.state == LimitState(in_flight=2, allowed=2, ceiling=2, waiting=3)

    for request in requests:
        request.end.set()
        await turns()

    assert started == requests
    assert limiter.state == LimitState(in_flight=0, allowed=2, ceiling=2, waiting=0)


async def test_a_burst_of_429s_halves_the_limit_once() -> None:
    limiter = ConcurrencyLimiter(8)
    async with limiter.slot() as first, limiter.slot() as second, limiter.slot() as third:
        first.rate_limited()
        second.rate_limited()
        third.rate_limited()
    assert limiter.state.allowed == 4

    async with limiter.slot() as later:
        later.rate_limited()
    assert limiter.state.allowed == 2


async def test_timeouts_and_server_errors_lower_the_limit_less_than_a_429() -> None:
    limiter = ConcurrencyLimiter(10)
    async with limiter.slot() as slot:
        slot.failed()
    assert limiter.state.allowed == 9


async def test_a_refusal_by_one_of_several_endpoints_lowers_only_its_share() -> None:
    limiter = ConcurrencyLimiter(16, endpoints=4)
    async with limiter.slot() as slot:
        slot.rate_limited()
    assert limiter.state.allowed == 14


async def test_the_limit_never_falls_below_one() -> None:
    limiter = ConcurrencyLimiter(4)
    for _ in range(20):
        async with limiter.slot() as slot:
            slot.rate_limited()
    assert limiter.state.allowed == 1


async def test_a_round_of_answers_raises_the_limit_by_one_up_to_the_ceiling() -> None:
    limiter = ConcurrencyLimiter(8)
    async with limiter.slot() as slot:
        slot.rate_limited()
    allowed = []
    for _ in range(40):
        async with limiter.slot() as slot:
            slot.answered()
        allowed.append(limiter.state.allowed)
    assert allowed[4] == 5  # about four answers for one more place
    assert allowed == sorted(allowed)
    assert allowed[-1] == 8


async def test_requests_in_flight_go_on_when_the_limit_falls_below_their_number() -> None:
    limiter, started = ConcurrencyLimiter(4), list[Request]()
    requests = [Request(limiter, started).send() for _ in range(6)]
    await turns()
    assert requests[0].slot is not None
    requests[0].slot.rate_limited()
    assert limiter.state == LimitState(in_flight=4, allowed=2, ceiling=4, waiting=2)

    requests[0].end.set()
    requests[1].end.set()
    await turns()
    assert len(started) == 4
    requests[2].end.set()
    await turns()
    assert len(started) == 5

    for request in requests:
        request.end.set()
    await turns()
    assert limiter.state.in_flight == 0


async def test_a_cancelled_waiting_request_leaves_its_turn_to_the_next() -> None:
    limiter, started = ConcurrencyLimiter(1), list[Request]()
    first, second, third = (Request(limiter, started).send() for _ in range(3))
    await turns()
    assert second.task is not None
    second.task.cancel()
    await turns()
    assert limiter.state.waiting == 1

    first.end.set()
    await turns()
    assert started == [first, third]
    third.end.set()
    await turns()
    assert limiter.state.in_flight == 0


async def test_a_request_cancelled_when_it_gets_a_slot_passes_the_slot_on() -> None:
    limiter, started = ConcurrencyLimiter(1), list[Request]()
    first, second, third = (Request(limiter, started).send() for _ in range(3))
    await turns()
    assert second.task is not None
    first.end.set()
    await asyncio.sleep(0)  # the first ends and gives its slot to the second, which has not run yet
    assert limiter.state.waiting == 1
    second.task.cancel()
    await turns()
    assert started == [first, third]


EVENTS = st.lists(st.sampled_from(["send", "answered", "rate_limited", "failed", "fail", "cancel"]), max_size=60)


@given(ceiling=st.integers(1, 6), events=EVENTS, picks=st.lists(st.integers(0, 100), min_size=60, max_size=60))
@settings(max_examples=150, deadline=None)
def test_the_limit_and_the_order_hold_and_every_request_is_served(
    ceiling: int, events: list[str], picks: list[int]
) -> None:
    asyncio.run(_play(ceiling, events, picks))


async def _play(ceiling: int, events: list[str], picks: list[int]) -> None:
    limiter, started = ConcurrencyLimiter(ceiling), list[Request]()
    sent: list[Request] = []
    cancelled: list[Request] = []
    for event, pick in zip(events, picks, strict=False):
        before, running = len(started), [r for r in started if not r.end.is_set() and r not in cancelled]
        live = [r for r in sent if not r.end.is_set() and r not in cancelled]
        if event == "send":
            sent.append(Request(limiter, started).send())
        elif event == "cancel" and live:
            victim = live[pick % len(live)]
            cancelled.append(victim)
            assert victim.task is not None
            victim.task.cancel()
        elif running and event != "cancel":
            ending = running[pick % len(running)]
            assert ending.slot is not None
            if event != "fail":
                getattr(ending.slot, event)()
            ending.end.set()
        await turns()
        state = limiter.state
        assert 1 <= state.allowed <= ceiling
        if len(started) > before:
            assert state.in_flight <= state.allowed
        assert state.in_flight <= ceiling
        assert not (state.waiting and state.in_flight < state.allowed)
    order = deque(request for request in sent if request in started)
    assert started == list(order)
    for _ in sent:
        for request in started:
            request.end.set()
        await turns()
    assert all(request in started or request in cancelled for request in sent)
    assert (limiter.state.in_flight, limiter.state.waiting) == (0, 0)


def test_a_lowered_limit_is_logged_at_most_every_30_seconds_and_so_is_its_recovery() -> None:
    time = FakeTime()
    announcer = LimitLogger("gpt", time.clock)

    def change(allowed: int) -> None:
        announcer.changed(LimitState(in_flight=1, allowed=allowed, ceiling=8, waiting=0))

    with capture_logs() as logs:
        change(4)
        change(2)
        change(3)
        time.seconds += 31
        change(4)  # a rise is not logged
        change(3)
        change(8)
        change(7)  # logged a moment ago
        change(8)
        time.seconds += 31
        change(7)

    assert [(entry["log_level"], entry["allowed"]) for entry in logs] == [
        ("warning", 4),
        ("warning", 3),
        ("info", 8),
        ("warning", 7),
    ]
    assert all(entry["model"] == "gpt" for entry in logs)
