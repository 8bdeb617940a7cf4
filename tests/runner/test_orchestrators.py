"""How agents act: what each orchestrator asks whom, what it makes of the answers, and what that costs in steps."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.runner.jobs import KEYS, MemoryStore, make_job, make_task, notes_equal, stub_model
from tests.runner.servers import serving
from tests.runner.stub_gym import StubGym
from tests.runner.stub_model import StubModel, calls, says

from opsgym_api.kinds.evalmodel import Prices
from opsgym_api.kinds.evalrun import Agent
from opsgym_api.records.attempt import AttemptRecord
from opsgym_api.records.outcomes import Outcome
from opsgym_runner.job import ResolvedModel
from opsgym_runner.orchestrators.decomposing import sub_goals_in
from opsgym_runner.runner import Runner

pytestmark = pytest.mark.anyio

DOCS = Path(__file__).parents[2] / "docs" / "agents.md"
RENAMED = notes_equal("SELECT text FROM notes WHERE id = 1", "done")
RENAME = ("rename_note", {"id": 1, "text": "done"})
ADD = ("add_note", {"text": "more"})
ONE_DOLLAR = Prices(input_usd=1000, output_usd=0)
"""Makes each reply of a stub model cost a dollar."""


async def run(store: MemoryStore, gym_url: str, agent: dict[str, Any], **models: StubModel) -> AttemptRecord:
    """Runs the task with stub models in the parts that are named."""
    with ExitStack() as stack:
        resolved = {
            part: stub_model(stack.enter_context(serving(model.app)), name=part, prices=ONE_DOLLAR)
            for part, model in models.items()
        }
        job = make_job(
            gym_url, None, agent=Agent.model_validate({"name": "react", "max_steps": 8, **agent}), **resolved
        )
        async with Runner(store) as runner:
            return await runner.run(job)


def last_message(model: StubModel, request: int = -1) -> str:
    """The last message of a request to a model."""
    return str(model.requests[request]["messages"][-1]["content"])


def entries(store: MemoryStore, *kinds: str) -> list[tuple[str, str, str]]:
    """Events of the transcript: kind, whose conversation, how the content begins."""
    events = store.transcript().events
    return [(event.kind, event.by, event.content[:12]) for event in events if not kinds or event.kind in kinds]


# What all have in common


@pytest.mark.parametrize("orchestrator", ["react", "planner_react", "decomposing"])
async def test_gold_actions_pass_under_every_orchestrator(store: MemoryStore, gym_url: str, orchestrator: str) -> None:
    async with Runner(store) as runner:
        record = await runner.run(make_job(gym_url, agent=Agent(name="react", orchestrator=orchestrator)))

    assert (record.outcome, record.tool_calls) == (Outcome.PASSED, 2)


async def test_a_recorded_planner_gives_its_replies_in_their_order(
    store: MemoryStore, gym_url: str, tmp_path: Path
) -> None:
    lines = [
        {"task_id": "rename-first", "by": "planner", "answer": "Let me think."},
        {"task_id": "rename-first", "by": "planner", "answer": '{"sub_goals": ["Do both."]}'},
    ]
    recording = tmp_path / "sage.jsonl"
    recording.write_text("\n".join(map(json.dumps, lines)))
    agent = Agent(name="react", orchestrator="decomposing", planner="sage")

    async with Runner(store) as runner:
        sage = ResolvedModel(name="sage", model=f"replay/{recording}")
        record = await runner.run(make_job(gym_url, agent=agent, planner=sage))

    assert (record.outcome, record.planner_usage.model_calls, record.tool_calls) == (Outcome.PASSED, 2, 2)
    messages = [event.content for event in store.transcript().events if event.kind == "user"]
    assert "1. Do both." in messages[2]


@pytest.mark.parametrize("orchestrator", ["planner_react", "decomposing"])
async def test_an_agent_that_does_nothing_fails_under_every_orchestrator(
    store: MemoryStore, gym_url: str, orchestrator: str
) -> None:
    async with Runner(store) as runner:
        noop = ResolvedModel(name="m", model="replay/noop")
        record = await runner.run(make_job(gym_url, model=noop, agent=Agent(name="react", orchestrator=orchestrator)))

    assert (record.outcome, record.reason, record.tool_calls) == (Outcome.FAILED, "verifiers", 0)


@pytest.mark.parametrize("orchestrator", ["react", "planner_react", "decomposing"])
@pytest.mark.parametrize("steps", [1, 2, 4])
async def test_no_agent_makes_more_model_calls_than_its_steps(
    store: MemoryStore, gym_url: str, orchestrator: str, steps: int
) -> None:
    model = StubModel(calls(("idle_0", {})))

    record = await run(store, gym_url, {"orchestrator": orchestrator, "max_steps": steps}, model=model)

    assert (record.outcome, record.reason, record.steps) == (Outcome.FAILED, "step_limit", steps)
    assert len(model.requests) == steps
    assert record.message == f"all {steps} steps are used up"


async def test_tool_calls_of_the_last_step_are_executed_before_verification(store: MemoryStore, gym_url: str) -> None:
    record = await run(store, gym_url, {"max_steps": 1}, model=StubModel(calls(RENAME, ADD)))

    trial = store.trial()
    assert trial is not None
    assert (record.outcome, trial.stopped_by, trial.published_score) == (Outcome.PASSED, "step_limit", 1)


# Plan, then act


async def test_a_planner_reads_policy_request_and_tools_and_its_plan_is_followed(
    store: MemoryStore, gym_url: str
) -> None:
    sage, model = StubModel(says("1. Rename it.\n2. Add one.")), StubModel(calls(RENAME, ADD), says("Done."))

    record = await run(store, gym_url, {"orchestrator": "planner_react"}, model=model, planner=sage)

    assert record.outcome == Outcome.PASSED
    [planning] = sage.requests
    assert "tools" not in planning
    prompt = last_message(sage)
    for part in ("Obey.", "Rename the first note to done", "- add_note: Does add_note.", "- rename_note: "):
        assert part in prompt
    assert "idle_0" not in prompt
    system, user = model.requests[0]["messages"]
    assert (system["role"], system["content"]) == ("system", "Obey.")
    assert user["content"].startswith("Rename the first note to done")
    assert "1. Rename it.\n2. Add one." in user["content"]
    assert [tool["function"]["name"] for tool in model.requests[0]["tools"]] == ["add_note", "rename_note"]


async def test_the_planners_calls_are_counted_and_transcribed_under_its_role(store: MemoryStore, gym_url: str) -> None:
    sage, model = StubModel(says("1. Rename it.")), StubModel(calls(RENAME, ADD), says("Done."))

    record = await run(store, gym_url, {"orchestrator": "planner_react"}, model=model, planner=sage)

    assert (record.steps, record.usage.model_calls, record.planner_usage.model_calls) == (3, 3, 1)
    assert record.planner_usage.prompt_tokens == 1000
    assert record.cost_usd == pytest.approx(3.0)
    trial = store.trial()
    assert trial is not None
    assert (trial.planner_usage, trial.cost_usd, trial.steps) == (record.planner_usage, record.cost_usd, 3)
    assert entries(store, "user", "system", "assistant") == [
        ("user", "planner", "You plan wor"),
        ("assistant", "planner", "1. Rename it"),
        ("system", "", "Obey."),
        ("user", "", "Rename the f"),
        ("assistant", "", ""),
        ("assistant", "", "Done."),
    ]


async def test_without_a_planner_the_agents_own_model_plans(store: MemoryStore, gym_url: str) -> None:
    model = StubModel(says("1. Rename it."), calls(RENAME, ADD), says("Done."))

    record = await run(store, gym_url, {"orchestrator": "planner_react"}, model=model)

    assert (record.outcome, record.planner_usage.model_calls) == (Outcome.PASSED, 1)
    assert "tools" not in model.requests[0]
    assert "tools" in model.requests[1]


async def test_a_planners_context_overflow_fails_the_trial(store: MemoryStore, gym_url: str) -> None:
    sage = StubModel(says("Half a plan", finish_reason="content_filter"))

    record = await run(store, gym_url, {"orchestrator": "planner_react"}, model=StubModel(says("?")), planner=sage)

    assert (record.outcome, record.reason) == (Outcome.FAILED, "content_filter")


# Divide, then act


def split(*goals: str) -> str:
    return f"Here they are:\n```json\n{json.dumps({'sub_goals': goals})}\n```"


async def test_each_sub_goal_has_a_conversation_that_knows_what_earlier_ones_reported(
    store: MemoryStore, gym_url: str
) -> None:
    sage = StubModel(says(split("Rename the first note.", "Add a note.")))
    model = StubModel(calls(RENAME), says("Note 1 is done."), calls(ADD), says("Note 3 is new."), says("All done."))

    record = await run(store, gym_url, {"orchestrator": "decomposing"}, model=model, planner=sage)

    assert (record.outcome, record.steps, record.planner_usage.model_calls) == (Outcome.PASSED, 6, 1)
    trial = store.trial()
    assert trial is not None
    assert trial.answer == "All done."
    conversations = [len(request["messages"]) for request in model.requests]
    assert conversations == [2, 4, 2, 4, 2]
    first, second, composed = (last_message(model, request) for request in (0, 2, 4))
    assert "Nothing has been done yet." in first
    assert "Rename the first note to done and add one" in first
    assert "Sub-goal 1: Rename the first note.\nNote 1 is done." in second
    assert "rename_note" not in json.dumps(model.requests[2]["messages"])
    assert "Sub-goal 2: Add a note.\nNote 3 is new." in composed
    assert "tools" not in model.requests[4]
    assert [(event.by, event.tool_name) for event in store.transcript().events if event.kind == "tool"] == [
        ("sub-goal 1", "rename_note"),
        ("sub-goal 2", "add_note"),
    ]
    assert {by for _, by, _ in entries(store, "system")} == {"sub-goal 1", "sub-goal 2", ""}


async def test_unreadable_sub_goals_are_requested_once_more(store: MemoryStore, gym_url: str) -> None:
    sage = StubModel(says("First I would look around."), says(split("Do it all.")))
    model = StubModel(calls(RENAME, ADD), says("Did it."), says("Done."))

    record = await run(store, gym_url, {"orchestrator": "decomposing"}, model=model, planner=sage)

    assert (record.outcome, len(sage.requests)) == (Outcome.PASSED, 2)
    assert [message["role"] for message in sage.requests[1]["messages"]] == ["user", "assistant", "user"]
    assert "That contains no list of sub-goals." in last_message(sage)
    assert "Do it all." in last_message(model, 0)


async def test_after_two_replies_without_sub_goals_the_request_is_the_only_one(
    store: MemoryStore, gym_url: str
) -> None:
    sage = StubModel(says("I cannot say."))
    model = StubModel(calls(RENAME, ADD), says("Did it."), says("Done."))

    record = await run(store, gym_url, {"orchestrator": "decomposing"}, model=model, planner=sage)

    assert (record.outcome, len(sage.requests), record.steps) == (Outcome.PASSED, 2, 5)
    assert "1. Rename the first note to done and add one" in last_message(model, 0)


@pytest.mark.parametrize(
    ("text", "goals"),
    [
        ('{"sub_goals": ["a", "b"]}', ["a", "b"]),
        ('Thinking {about it}. ```json\n{"sub_goals": ["a"]}\n``` Good?', ["a"]),
        ('["a", "b"]', ["a", "b"]),
        ('{"subtasks": [{"title": "T", "description": "d", "dependencies": [1]}]}', ["T: d"]),
        ('{"sub_goals": ["x"]} no: {"sub_goals": ["y"]}', ["y"]),
        ('{"sub_goals": ["x"]} with the tools ["add_note"]', ["x"]),
        ('{"sub_goals": []}', []),
        ('{"sub_goals": "a"}', []),
        ('{"sub_goals": ["a", 1]}', []),
        ('{"sub_goals": ["a", ""]}', []),
        ('{"sub_goals": ["a", {"n": 1}]}', []),
        ('{"sub_goals": ["a"', []),
        ("1. a\n2. b", []),
        ("[" * 5000, []),
        ("", []),
    ],
)
def test_sub_goals_are_read_from_any_surrounding_text(text: str, goals: list[str]) -> None:
    assert sub_goals_in(text) == goals


# Prompts


async def test_a_prompt_that_is_replaced_is_the_one_that_is_used(store: MemoryStore, gym_url: str) -> None:
    agent = {
        "orchestrator": "planner_react",
        "prompts": {"plan": "Plan {request} {shown as is: {}}", "with_plan": "{plan}!"},
    }
    model = StubModel(says("Do {request} {nothing}"), says("Done."))

    await run(store, gym_url, agent, model=model)

    task = make_task()
    assert last_message(model, 0) == f"Plan {task.user_prompt} {{shown as is: {{}}}}"
    assert last_message(model, 1) == "Do {request} {nothing}!"


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        ({"prompts": {"plan": "x"}}, "prompts.plan: unknown prompt; the agent's orchestrator has none"),
        (
            {"orchestrator": "planner_react", "prompts": {"plans": "x"}},
            "agent react: prompts.plans: unknown prompt; known: plan, with_plan",
        ),
        (
            {"orchestrator": "decomposing", "prompts": {"answer": "Say {report}."}},
            "agent react: prompts.answer: unknown placeholder {report}; known: {request}, {reports}",
        ),
        (
            {"orchestrator": "decomposing", "prompts": {"sub_goals_again": "{request}"}},
            "prompts.sub_goals_again: unknown placeholder {request}; known: none",
        ),
    ],
)
async def test_an_unknown_prompt_or_placeholder_is_a_config_error(
    store: MemoryStore, gym: StubGym, gym_url: str, agent: dict[str, Any], expected: str
) -> None:
    record = await run(store, gym_url, agent, model=StubModel(says("?")))

    assert (record.outcome, record.reason) == (Outcome.CONFIG_ERROR, "unsupported")
    assert expected in record.message
    assert gym.seeds == []


# Orchestrators of others


def install(folder: Path, code: str, **points: str) -> None:
    """Leaves a package `careful` with entry points in a folder, as an installer does."""
    (folder / "careful.py").write_text(code)
    metadata = folder / "careful-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: careful\nVersion: 1.0\n")
    lines = [f"{name} = {value}" for name, value in points.items()]
    (metadata / "entry_points.txt").write_text("\n".join(["[opsgym.orchestrators]", *lines]))


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that packages are found in."""
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("careful", None)


@pytest.fixture
def installed(site: Path) -> None:
    """The package that docs/agents.md shows."""
    code, entry = re.findall(r"```(?:python|toml)\n(.*?)```", DOCS.read_text(), re.DOTALL)
    point = re.search(r'^careful = "(.+)"$', entry, re.MULTILINE)
    assert point is not None
    install(site, code, careful=point[1])


@pytest.mark.usefixtures("installed")
async def test_the_orchestrator_of_the_documentation_works_and_its_prompt_can_be_replaced(
    store: MemoryStore, gym_url: str
) -> None:
    model = StubModel(calls(RENAME, ADD), says("Done."), says("Really done."))

    record = await run(store, gym_url, {"orchestrator": "careful"}, model=model)

    assert (record.outcome, record.steps) == (Outcome.PASSED, 3)
    assert "Done." in last_message(model)
    assert store.trial(KEYS) is not None
    replaced = {"orchestrator": "careful", "prompts": {"check": "Sure about {answer}"}}
    again = StubModel(says("Done."), says("Yes."))
    await run(MemoryStore(), gym_url, replaced, model=again)
    assert last_message(again).endswith("\n\nSure about Done.")


BROKEN = """
async def act(session): ...
class Act:
    async def __call__(self, session): ...
class Odd(Act):
    prompts = {"check": 1}
odd, text = Odd(), "no function"
async def judged(session):
    from opsgym_runner.orchestrators import AgentResult, initial_messages
    reply = await session.ask(initial_messages(session, "Judge yourself."), tools=(), by="judge")
    return AgentResult(reply.text)
"""


@pytest.mark.parametrize(
    ("point", "expected"),
    [
        ("careful:missing", "(careful:missing) cannot be used: AttributeError: module 'careful' has no attribute"),
        ("nowhere:act", "(nowhere:act) cannot be used: ModuleNotFoundError: No module named 'nowhere'"),
        ("careful:text", "cannot be used: it is neither an async function nor an object that can be called like one"),
        ("careful:Act", "cannot be used: it is neither an async function nor an object that can be called like one"),
        ("careful:odd", "cannot be used: its attribute prompts does not map names to texts"),
    ],
)
async def test_an_orchestrator_that_cannot_be_used_is_a_config_error(
    store: MemoryStore, gym: StubGym, gym_url: str, site: Path, point: str, expected: str
) -> None:
    install(site, BROKEN, broken=point)

    record = await run(store, gym_url, {"orchestrator": "broken"}, model=StubModel(says("?")))

    assert (record.outcome, record.reason) == (Outcome.CONFIG_ERROR, "unsupported")
    assert expected in record.message
    assert gym.seeds == []


async def test_the_agents_own_calls_are_never_counted_as_the_judges(
    store: MemoryStore, gym_url: str, site: Path
) -> None:
    install(site, BROKEN, judged="careful:judged")

    record = await run(store, gym_url, {"orchestrator": "judged"}, model=StubModel(says("Good.")))

    assert (record.usage.model_calls, record.judge_usage.model_calls, record.steps) == (1, 0, 1)


@pytest.mark.usefixtures("installed")
async def test_an_unknown_orchestrator_is_reported_with_the_known_ones(store: MemoryStore, gym_url: str) -> None:
    record = await run(store, gym_url, {"orchestrator": "tree"}, model=StubModel(says("?")))

    assert "unknown orchestrator 'tree'; known: careful, decomposing, planner_react, react" in record.message
