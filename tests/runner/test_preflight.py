"""One tool turn with a model before its attempts: once, booked, and decisive only where no attempt could escape."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.cli.world import World, row
from tests.runner.jobs import NO_JITTER, FakeTime, MemoryStore, make_job, stub_model
from tests.runner.servers import serving
from tests.runner.stub_gym import StubGym
from tests.runner.stub_model import StubModel, calls, refuses, says

from opsgym.local.run import CHECKED_FROM
from opsgym_api.kinds.evalmodel import Prices
from opsgym_api.records.attempt import AttemptRecord
from opsgym_runner.runner import Runner

TURN = (calls(("get_status", {"number": "INC1"}), ("get_status", {"number": "INC2"})), says("Both are on hold."))
PRICES = Prices(input_usd=1, output_usd=10)


async def attempts(store: MemoryStore, gym_url: str, model: StubModel, count: int = 1) -> list[AttemptRecord]:
    with serving(model.app) as url:
        jobs = [make_job(gym_url, model=stub_model(url, prices=PRICES), trial=n) for n in range(count)]
        async with Runner(store, clock=FakeTime().clock, retry=NO_JITTER, checked_models=["m"]) as runner:
            return list(await asyncio.gather(*map(runner.run, jobs)))


@pytest.mark.anyio
async def test_attempts_wait_for_one_check_whose_cost_is_the_first_ones(store: MemoryStore, gym_url: str) -> None:
    model = StubModel(*TURN, says("no"))

    records = await attempts(store, gym_url, model, count=3)

    assert len(model.requests) == 2 + 3
    assert sorted(record.usage.model_calls for record in records) == [1, 1, 3]
    assert sum(record.cost_usd or 0 for record in records) == pytest.approx(5 * 0.002)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("answer", "reason", "cost_usd"),
    [
        (refuses(401), "model_auth", 0.0),
        (refuses(404), "model_not_found", 0.0),
        (says("<tool_call>get_status</tool_call>"), "model_calls_in_text", 2 * 0.002),
    ],
)
async def test_what_no_attempt_could_escape_ends_all_before_a_database_is_seeded(
    store: MemoryStore, gym: StubGym, gym_url: str, answer: Any, reason: str, cost_usd: float
) -> None:
    model = StubModel(answer)

    records = await attempts(store, gym_url, model, count=3)

    assert [(record.outcome, record.reason) for record in records] == [("infra_error", reason)] * 3
    assert sum(record.cost_usd or 0 for record in records) == pytest.approx(cost_usd)
    assert gym.seeds == []
    assert len(model.requests) <= 2


@pytest.mark.anyio
@pytest.mark.parametrize("answer", [refuses(503), refuses(429), refuses(400, "no", code="content_filter")])
async def test_what_may_pass_by_decides_nothing(store: MemoryStore, gym_url: str, answer: Any) -> None:
    (record,) = await attempts(store, gym_url, StubModel(answer, says("no")))

    assert (record.outcome, record.reason) == ("failed", "verifiers")


@pytest.mark.parametrize(("options", "checks"), [((), 1), (("--no-model-check",), 0)])
def test_a_run_checks_models_of_many_trials_unless_it_is_not_to(
    tmp_path: Path, desk_url: dict[str, str], options: tuple[str, ...], checks: int
) -> None:
    world = World(tmp_path, desk_url)
    world.write_suite([row("a")])
    model = StubModel(says("Done."))
    with serving(model.app) as url:
        stub = {"model": "openai/stub", "endpoints": [{"url": f"{url}/v1"}], "allowUnpriced": True}
        world.write_run({"stub": stub}, trials=CHECKED_FROM)
        ended = world.inline("run", "run.yaml", *options)

    assert ended.returncode == 0, ended.stderr
    assert sum("get_status" in str(request["tools"]) for request in model.requests) == checks
    assert len(model.requests) == CHECKED_FROM + checks
