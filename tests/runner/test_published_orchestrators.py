"""`planner_react` and `decomposing` as the published harness has them; their requests are in tests/providers."""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import Any

import pytest
from tests.runner.jobs import MemoryStore, make_job, stub_model
from tests.runner.servers import serving
from tests.runner.stub_gym import StubGym
from tests.runner.stub_model import Answer, StubModel, calls, refuses, says

from opsgym_api.kinds.evalrun import Agent
from opsgym_api.records.attempt import AttemptRecord
from opsgym_api.records.outcomes import Outcome
from opsgym_runner.orchestrators.published import MAX_PLANS, subtasks_in
from opsgym_runner.runner import Runner

pytestmark = pytest.mark.anyio

RENAME = ("rename_note", {"id": 1, "text": "done"})
ADD = ("add_note", {"text": "more"})


def subtask(number: int, **fields: Any) -> dict[str, Any]:
    return {"id": number, "title": f"Part {number}", "description": f"Do part {number}.", **fields}


def plan(*subtasks: dict[str, Any], **fields: Any) -> str:
    return json.dumps({"strategic_plan": "Step by step.", "subtasks": list(subtasks), **fields})


TWO = plan(subtask(1), subtask(2, dependencies=[1]))


async def run(
    store: MemoryStore, gym_url: str, *answers: Answer, orchestrator: str = "decomposing", **models: StubModel
) -> tuple[AttemptRecord, StubModel]:
    agent = Agent(name="react", orchestrator=orchestrator, profile="published")
    models = {"model": StubModel(*answers), **models}
    with ExitStack() as stack:
        served = {part: stub_model(stack.enter_context(serving(stub.app)), name=part) for part, stub in models.items()}
        async with Runner(store) as runner:
            return await runner.run(make_job(gym_url, None, agent=agent, **served)), models["model"]


def answer_of(store: MemoryStore) -> str:
    trial = store.trial()
    assert trial is not None
    return trial.answer


def last_message(model: StubModel, request: int) -> str:
    """The last message of a request."""
    return str(model.requests[request]["messages"][-1]["content"])


# Plans


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("No plan.", "Expecting value"),
        ("[1]", "Expecting value"),
        ('{"subtasks": []}', "strategic_plan"),
        (json.dumps({"strategic_plan": "x"}), "subtasks"),
        (plan(), "the plan has no subtasks"),
        (plan({"id": 1, "title": "Part 1"}), "subtasks.0.description"),
        (plan(subtask(1, dependencies=[1])), "subtask 1 cannot depend on 1"),
        (plan(subtask(1, dependencies=[2]), subtask(2)), "subtask 1 cannot depend on 2"),
        (plan(subtask(1), subtask(2, dependencies=[7])), "subtask 2 cannot depend on 7"),
    ],
)
def test_an_invalid_plan_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        subtasks_in(text)


@pytest.mark.parametrize(
    "text", [TWO, f"Here:\n```json\n{TWO}\n```\nGood?", f"```\n{TWO}\n```", f"A plan: {TWO} Done."]
)
def test_a_plan_may_be_fenced_or_between_words(text: str) -> None:
    assert [one.title for one in subtasks_in(text)] == ["Part 1", "Part 2"]


def test_a_plan_may_have_more_or_fewer_subtasks_than_were_asked_for() -> None:
    assert len(subtasks_in(plan(subtask(1)))) == 1
    assert len(subtasks_in(plan(*map(subtask, range(1, 8))))) == 7


async def test_the_planner_is_asked_anew_until_its_plan_is_valid(store: MemoryStore, gym_url: str) -> None:
    sage = StubModel(says("Let me think."), says(plan(subtask(1))))

    record, _ = await run(store, gym_url, calls(RENAME, ADD), says("Done."), says("{}"), planner=sage)

    assert record.outcome == Outcome.PASSED
    assert [len(request["messages"]) for request in sage.requests] == [1, 1]


async def test_without_a_valid_plan_nothing_is_done_and_the_state_is_judged(
    store: MemoryStore, gym: StubGym, gym_url: str
) -> None:
    record, model = await run(store, gym_url, says("No plan."))

    assert (record.outcome, record.reason, gym.calls) == (Outcome.FAILED, "verifiers", [])
    assert len(model.requests) == MAX_PLANS
    assert answer_of(store).startswith("No plan could be made: 3 replies of the planner are not valid plans: ")


# Subtasks


async def test_a_subtask_agent_sees_only_its_subtask_and_the_memory(store: MemoryStore, gym_url: str) -> None:
    answers = (says(TWO), calls(RENAME, ADD), says("Both."), says('{"note": 3}'), says("Right."), says("{}"))

    record, model = await run(store, gym_url, *answers)

    assert record.outcome == Outcome.PASSED
    first, second = (json.dumps(model.requests[number]["messages"]) for number in (1, 4))
    for prompt in (first, second):
        assert "Obey." in prompt
        assert "Rename the first note" not in prompt
    assert "Part 2" not in first
    assert "The working memory is empty" in first
    assert "Do part 2." in second
    assert '"note": 3' in last_message(model, 4)
    assert "Do part 1." not in second
    assert "Both." not in second


async def test_the_answer_is_every_summary_and_the_last_one_again(store: MemoryStore, gym_url: str) -> None:
    await run(store, gym_url, says(TWO), says("One is done."), says("{}"), says("All is done."), says("{}"))

    assert answer_of(store) == (
        "# Results of the subtasks\n\n## ✓ Subtask 1: Part 1\n\nOne is done.\n\n"
        "## ✓ Subtask 2: Part 2\n\nAll is done.\n\n## Final result\n\nAll is done."
    )


async def test_a_subtask_that_fails_adds_nothing_and_the_next_goes_on(store: MemoryStore, gym_url: str) -> None:
    overflow = refuses(400, "This model's maximum context length is 8192 tokens.", code="context_length_exceeded")

    record, model = await run(store, gym_url, says(TWO), overflow, calls(RENAME, ADD), says("Done."), says('{"a": 1}'))

    assert record.outcome == Outcome.PASSED
    assert "The working memory is empty" in last_message(model, 2)
    assert "## ✗ Subtask 1: Part 1" in answer_of(store)
    assert "**Error**: " in answer_of(store)


@pytest.mark.parametrize("reply", ["Nothing.", "[1]", "```json\n{\n```"])
async def test_a_memory_that_is_not_an_object_adds_nothing(store: MemoryStore, gym_url: str, reply: str) -> None:
    _, model = await run(store, gym_url, says(TWO), says("One."), says(reply), says("Two."), says("{}"))

    assert "The working memory is empty" in last_message(model, 3)


async def test_each_subtask_has_25_iterations_of_its_own(store: MemoryStore, gym_url: str) -> None:
    turns = [calls(("idle_0", {}))] * 25
    answers = (says(TWO), *turns, says("{}"), calls(RENAME, ADD), says("Done."), says("{}"))

    record, model = await run(store, gym_url, *answers)

    assert (record.outcome, record.steps, len(model.requests)) == (Outcome.PASSED, 30, 30)
    first = answer_of(store).split("## ✓ Subtask 2")[0]
    assert "nothing happens" in first


async def test_an_unknown_tool_of_a_subtask_is_sent_to_the_first_gym(
    store: MemoryStore, gym: StubGym, gym_url: str
) -> None:
    await run(store, gym_url, says(plan(subtask(1))), calls(("fly", {})), says("Done."), says("{}"))

    assert gym.calls == [("fly", {})]


async def test_calls_without_text_are_counted_in_the_summary(store: MemoryStore, gym_url: str) -> None:
    await run(store, gym_url, says(plan(subtask(1))), calls(RENAME, ADD), says(""), says("{}"))

    assert answer_of(store).endswith("Executed 2 tool calls")


# Plan, then act


async def test_the_planner_of_planner_react_reads_whole_tools(store: MemoryStore, gym_url: str) -> None:
    sage = StubModel(says("Rename, then add."))

    record, model = await run(
        store, gym_url, calls(RENAME, ADD), says("Done."), orchestrator="planner_react", planner=sage
    )

    assert (record.outcome, record.steps) == (Outcome.PASSED, 3)
    for part in ("Obey.", "Rename the first note", '"inputSchema": {', '"name": "rename_note"'):
        assert part in last_message(sage, 0)
    assert "idle_0" not in last_message(sage, 0)
    assert "tools" not in sage.requests[0]
    assert "Rename, then add." in model.requests[0]["messages"][1]["content"]
