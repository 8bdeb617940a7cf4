"""Plans that agents are shown: written once, stored, shared, and paid for by the attempt that had them written."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from typing import Any

import pytest
from tests.runner.jobs import KEY, MemoryStore, make_job, make_task, stub_model
from tests.runner.servers import serving
from tests.runner.stub_gym import StubGym
from tests.runner.stub_model import StubModel, calls, refuses, says

from opsgym_api.kinds.evalmodel import Prices
from opsgym_api.kinds.evalrun import Agent, Mode
from opsgym_api.records.attempt import AttemptRecord, Cell
from opsgym_api.records.outcomes import Outcome
from opsgym_api.records.run import PlanRecord
from opsgym_api.records.store_layout import RunKeys
from opsgym_runner.job import Job, ResolvedModel
from opsgym_runner.models.retry import RetryPolicy
from opsgym_runner.runner import Runner

pytestmark = pytest.mark.anyio

PLAN = RunKeys("demo.0123456789ab").plan("sage", "rename-first")
PLANNED = Agent(name="react", plan="model", planner="sage", max_steps=8)
TEN_DOLLARS = Prices(input_usd=10_000, output_usd=0)
DONE = (calls(("rename_note", {"id": 1, "text": "done"}), ("add_note", {"text": "more"})), says("Done."))


def acting() -> StubModel:
    """A model that solves the task, once."""
    return StubModel(*DONE)


class Stage:
    """Stub models behind real HTTP, and jobs that use them."""

    def __init__(self, stack: ExitStack, gym_url: str, sage: StubModel) -> None:
        self._stack = stack
        self._gym_url = gym_url
        self.sage = self.serve(sage, "sage", prices=TEN_DOLLARS)

    def serve(self, model: StubModel, name: str, **fields: Any) -> ResolvedModel:
        return stub_model(self._stack.enter_context(serving(model.app)), name=name, **fields)

    def job(self, model: StubModel, number: int = 0, **fields: Any) -> Job:
        cell = Cell(model=f"m{number}", agent="react", mode="oracle", domain="notes")
        free = Prices(input_usd=0, output_usd=0)
        given = {
            "cell": cell,
            "agent": PLANNED,
            "model": self.serve(model, f"m{number}", prices=free),
            "planner": self.sage,
        }
        return make_job(self._gym_url, None, **given | fields)


async def run(store: MemoryStore, *jobs: Job) -> list[AttemptRecord]:
    async with Runner(store, retry=RetryPolicy(total_wait_s=0)) as runner:
        return list(await asyncio.gather(*(runner.run(job) for job in jobs)))


def shown(model: StubModel) -> str:
    return str(model.requests[0]["messages"][1]["content"])


async def test_a_model_written_plan_is_written_once_and_shown_in_the_form_of_a_human_one(
    store: MemoryStore, gym_url: str
) -> None:
    sage, first, second = StubModel(says(" 1. Rename it.\n"), says("another plan")), acting(), acting()
    with ExitStack() as stack:
        stage = Stage(stack, gym_url, sage)
        [one] = await run(store, stage.job(first))
        [other] = await run(store, stage.job(second, 1))

    assert (one.outcome, other.outcome) == (Outcome.PASSED, Outcome.PASSED)
    assert len(sage.requests) == 1
    assert shown(first) == shown(second) == f"{make_task().user_prompt}\n\nPlan to follow:\n1. Rename it."
    stored = PlanRecord.model_validate_json(store.objects[PLAN])
    assert (stored.planner, stored.task_id, stored.text, stored.cost_usd) == (
        "sage",
        "rename-first",
        "1. Rename it.",
        10.0,
    )


async def test_writing_a_plan_is_not_a_step_and_is_charged_to_its_attempt(store: MemoryStore, gym_url: str) -> None:
    with ExitStack() as stack:
        stage = Stage(stack, gym_url, StubModel(says("1. Rename it.")))
        [one] = await run(store, stage.job(acting()))
        [other] = await run(store, stage.job(acting(), 1))

    assert (one.steps, one.usage.model_calls, one.planner_usage.model_calls, one.cost_usd) == (2, 3, 1, 10.0)
    assert (other.steps, other.usage.model_calls, other.planner_usage.model_calls, other.cost_usd) == (2, 2, 0, 0.0)


async def test_the_planners_conversation_is_in_the_transcript_of_its_attempt(store: MemoryStore, gym_url: str) -> None:
    with ExitStack() as stack:
        stage = Stage(stack, gym_url, StubModel(says("1. Rename it.")))
        jobs = [stage.job(acting(), number) for number in range(2)]
        for job in jobs:
            await run(store, job)

    keys = [RunKeys(job.run).trial(job.cell, "rename-first", 0).transcript for job in jobs]
    written, shared = ([(e.kind, e.by, e.step) for e in store.transcript(key).events][:3] for key in keys)
    assert written == [("user", "planner", 0), ("assistant", "planner", 0), ("system", "", 0)]
    assert [by for _, by, _ in shared] == ["", "", ""]


async def test_attempts_that_start_together_have_one_plan_written(store: MemoryStore, gym_url: str) -> None:
    sage = StubModel(says("1. Rename it."))
    models = [acting() for _ in range(4)]
    with ExitStack() as stack:
        stage = Stage(stack, gym_url, sage)
        records = await run(store, *(stage.job(model, number) for number, model in enumerate(models)))

    assert len(sage.requests) == 1
    assert {shown(model) for model in models} == {f"{make_task().user_prompt}\n\nPlan to follow:\n1. Rename it."}
    assert sorted(record.cost_usd or 0.0 for record in records) == [0.0, 0.0, 0.0, 10.0]


async def test_of_two_concurrently_written_plans_the_stored_one_is_shown_and_both_are_charged(
    store: MemoryStore, gym_url: str
) -> None:
    other = PlanRecord(planner="sage", task_id="rename-first", text="Theirs.", usage={"model_calls": 1}, cost_usd=1.0)

    class Raced(MemoryStore):
        """Another pod's plan arrives after this one looked."""

        def put_once(self, key: str, content: bytes) -> bool:
            if key == PLAN:
                self.objects.setdefault(key, other.model_dump_json().encode())
            return super().put_once(key, content)

    raced, model = Raced(), acting()
    with ExitStack() as stack:
        stage = Stage(stack, gym_url, StubModel(says("Ours.")))
        [record] = await run(raced, stage.job(model))

    assert shown(model).endswith("Plan to follow:\nTheirs.")
    assert (record.outcome, record.cost_usd, record.planner_usage.model_calls) == (Outcome.PASSED, 10.0, 1)
    assert PlanRecord.model_validate_json(raced.objects[PLAN]) == other


async def test_all_modes_share_a_plan_that_is_written_with_the_oracle_tools(store: MemoryStore, gym_url: str) -> None:
    sage = StubModel(says("1. Rename it."))
    with ExitStack() as stack:
        stage = Stage(stack, gym_url, sage)
        await run(store, stage.job(acting(), mode=Mode.ALL), stage.job(acting(), 1))

    [request] = sage.requests
    message = request["messages"][0]["content"]
    assert "- rename_note: " in message
    assert "idle_0" not in message
    assert "tools" not in request


async def test_an_agent_with_a_prompt_of_its_own_has_plans_of_its_own(store: MemoryStore, gym_url: str) -> None:
    sage = StubModel(says("Usual."), says("Special."))
    special = PLANNED.model_copy(update={"prompts": {"plan": "Plan {request}"}})
    one, other = acting(), acting()
    with ExitStack() as stack:
        stage = Stage(stack, gym_url, sage)
        await run(store, stage.job(one))
        await run(store, stage.job(other, 1, agent=special))

    assert (shown(one)[-6:], shown(other)[-8:]) == ("Usual.", "Special.")
    assert sage.requests[1]["messages"][0]["content"] == f"Plan {make_task().user_prompt}"
    assert len([key for key in store.objects if "/plans/" in key]) == 2


@pytest.mark.parametrize(
    ("answer", "reason", "message"),
    [
        (refuses(401, f"Incorrect API key: {KEY}"), "model_auth", "model sage: "),
        (refuses(503), "model_unavailable", "model sage: "),
        (says("   "), "plan_failed", "planner sage wrote an empty plan"),
        (says("", finish_reason="content_filter"), "plan_failed", "planner sage cannot write a plan: "),
    ],
)
async def test_a_planner_that_writes_no_plan_leaves_the_trial_unscored(
    store: MemoryStore, gym: StubGym, gym_url: str, answer: Any, reason: str, message: str
) -> None:
    with ExitStack() as stack:
        stage = Stage(stack, gym_url, StubModel(answer))
        [record] = await run(store, stage.job(acting()))

    assert (record.outcome, record.reason) == (Outcome.INFRA_ERROR, reason)
    assert message in record.message
    assert KEY not in record.message
    assert PLAN not in store.objects
    assert gym.databases == {}


async def test_an_unreadable_stored_plan_is_an_infra_error_with_advice(store: MemoryStore, gym_url: str) -> None:
    store.objects[PLAN] = b"{"
    with ExitStack() as stack:
        [record] = await run(store, Stage(stack, gym_url, StubModel(says("?"))).job(acting()))

    assert (record.outcome, record.reason) == (Outcome.INFRA_ERROR, "store_lost")
    assert f"{PLAN} is not a valid PlanRecord of this version" in record.message


async def test_replay_models_plan_what_they_would_do(store: MemoryStore, gym_url: str) -> None:
    model = acting()
    with ExitStack() as stack:
        stage = Stage(stack, gym_url, StubModel(says("?")))
        gold = ResolvedModel(name="sage", model="replay/gold")
        await run(store, stage.job(model, planner=gold))

    assert shown(model).endswith(
        '1. rename_note {"id": 1, "text": "done"}\n2. add_note {"text": "more"}\n3. Answer the request.'
    )
