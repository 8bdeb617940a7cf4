"""Rate limits and waits in records, over real HTTP and the real litellm."""

from __future__ import annotations

import asyncio
from time import monotonic

import pytest
from starlette.responses import Response
from tests.runner.jobs import NO_JITTER, FakeTime, MemoryStore, make_job, stub_model
from tests.runner.servers import serving
from tests.runner.stub_model import StubModel, calls, refuses, says

from opsgym_api.kinds.evalrun import Limits
from opsgym_api.records.attempt import AttemptRecord
from opsgym_runner.runner import Runner

pytestmark = pytest.mark.anyio

SOLUTION = (
    calls(("rename_note", {"id": 1, "text": "done"}), ("add_note", {"text": "more"})),
    says("Both are done."),
)
TOO_MANY = refuses(429, headers={"Retry-After": "2"})


async def attempt(store: MemoryStore, gym_url: str, model: StubModel, seconds: int = 60) -> AttemptRecord:
    with serving(model.app) as url:
        job = make_job(gym_url, model=stub_model(url), limits=Limits(task_timeout_seconds=seconds))
        async with Runner(store, clock=FakeTime().clock, retry=NO_JITTER) as runner:
            return await runner.run(job)


async def test_rate_limits_and_waits_are_recorded_for_the_attempt_and_the_trial(
    store: MemoryStore, gym_url: str
) -> None:
    record = await attempt(store, gym_url, StubModel(TOO_MANY, refuses(503), SOLUTION[0], TOO_MANY, SOLUTION[1]))

    assert (record.outcome, record.model_retries, record.rate_limits) == ("passed", 3, 2)
    # The clock moves in waits alone.
    assert record.timings.wait_s == record.timings.model_s == 2 + 1 + 2
    trial = store.trial()
    assert trial is not None
    assert (trial.rate_limits, trial.timings.wait_s) == (2, 5.0)


async def test_an_attempt_without_rate_limits_has_no_wait_time(store: MemoryStore, gym_url: str) -> None:
    record = await attempt(store, gym_url, StubModel(*SOLUTION))

    assert (record.model_retries, record.rate_limits, record.timings.wait_s) == (0, 0, 0.0)


async def test_every_429_of_a_failed_attempt_is_counted(store: MemoryStore, gym_url: str) -> None:
    model = StubModel(refuses(429))

    record = await attempt(store, gym_url, model, seconds=100)

    assert (record.outcome, record.reason) == ("infra_error", "model_rate_limited")
    assert record.rate_limits == len(model.requests) == record.model_retries + 1
    assert record.timings.wait_s == 0.5 + 1 + 2 + 4 + 8 + 16 + 18 * 30


async def test_waiting_for_a_concurrency_slot_is_reported(store: MemoryStore, gym_url: str) -> None:
    """Two episodes share a model that takes one request at a time; the second waits while the first is answered."""
    time = FakeTime()

    async def slow() -> Response:
        if time.seconds == 1000:
            deadline = monotonic() + 30
            while runner.limits["m"].waiting == 0:
                assert monotonic() < deadline, "the second episode never asks"
                await asyncio.sleep(0.01)
            time.seconds += 3
        return says("Done.")

    with serving(StubModel(slow).app) as url:
        resolved = stub_model(url, max_concurrency=1)
        async with Runner(store, clock=time.clock, retry=NO_JITTER) as runner:
            jobs = [make_job(gym_url, model=resolved, trial=number) for number in range(2)]
            records = await asyncio.gather(*(runner.run(job) for job in jobs))

    assert sorted(record.timings.wait_s for record in records) == [0.0, 3.0]
    assert [record.rate_limits for record in records] == [0, 0]
