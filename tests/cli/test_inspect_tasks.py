"""opsgym's suites as Inspect tasks: Inspect's own mock model and solvers, real gym servers, our verifiers.

Inspect is imported within functions: it takes seconds, which every process that collects tests would pay.
"""

from __future__ import annotations

import json
import runpy
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.cli.standing import StandingGyms
from tests.cli.world import row

from opsgym_api.errors import InputError
from opsgym_api.tasks.task import Task as Row
from opsgym_domains.suite_rows import load_suite

if TYPE_CHECKING:
    from inspect_ai import Task
    from inspect_ai.log import EvalLog
    from inspect_ai.model import ChatMessage, ModelOutput
    from inspect_ai.solver import Solver, TaskState

pytestmark = pytest.mark.filterwarnings("default::DeprecationWarning")
"""Inspect's dependencies use deprecated parameters of each other's."""
Replies = Callable[..., "ModelOutput"]
ROWS = {task.task_id: task for task in load_suite("quickstart", 0)}
JUDGED = {"sql_query": "SELECT 1", "comparison_prompt": "Is it right?"}
CHOSEN = list(ROWS)[:3]


def opsgym(**options: Any) -> Task:
    """The Inspect task of a suite."""
    from opsgym.inspect_tasks import opsgym as task_of

    return task_of(**options)


def row_of(messages: Sequence[ChatMessage]) -> Row:
    """The row whose request is in a conversation."""
    request = next(message.text for message in messages if message.role == "user")
    return next(task for task in ROWS.values() if task.user_prompt == request)


def reference_solution(submit: str = "") -> Replies:
    """Replies of a model that makes the next reference call after every result, and answers at the end.

    Args:
        submit: Name of the tool that takes the answer; empty for a plain answer.
    """

    def reply(messages: list[ChatMessage], *_: Any) -> ModelOutput:
        task, done = row_of(messages), sum(message.role == "tool" for message in messages)
        actions, answer = task.gold_actions or [], task.gold_answer or "Done."
        if done < len(actions):
            return calling(actions[done].name, actions[done].arguments)
        return calling(submit, {"answer": answer}) if submit and done == len(actions) else saying(answer)

    return reply


def nothing(*_: Any) -> ModelOutput:
    """The reply of a model that answers at once."""
    return saying("Done.")


def saying(answer: str) -> ModelOutput:
    """A plain answer."""
    from inspect_ai.model import ModelOutput

    return counted(ModelOutput.from_content("mockllm/model", answer))


def calling(tool: str, arguments: dict[str, Any]) -> ModelOutput:
    """A tool call."""
    from inspect_ai.model import ModelOutput

    return counted(ModelOutput.for_tool_call("mockllm/model", tool, arguments))


def counted(output: ModelOutput) -> ModelOutput:
    """A reply with usage: Inspect's mock model would load a tokenizer from the internet to count it."""
    from inspect_ai.model import ModelUsage

    return output.model_copy(update={"usage": ModelUsage(input_tokens=10, output_tokens=5, total_tokens=15)})


def evaluated(folder: Path, task: Task, replies: Replies = nothing, **options: Any) -> EvalLog:
    import inspect_ai
    from inspect_ai.model import get_model

    model = get_model("mockllm/model", custom_outputs=replies)
    options = {"sample_id": CHOSEN, **options}
    (log,) = inspect_ai.eval(task, model=model, log_dir=str(folder), display="none", **options)
    assert log.status == "success", log.error
    return log


@pytest.fixture
def standing(desk_url: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers that are running already: one test suffices for those that an evaluation starts and ends."""
    monkeypatch.setattr("opsgym.inspect_tasks.episodes.GymServers", partial(StandingGyms, desk_url))


def values(log: EvalLog) -> dict[tuple[str, int], Any]:
    return {(str(one.id), one.epoch): (one.scores or {})["opsgym"].value for one in log.samples or []}


def test_the_reference_solution_passes_with_inspects_own_loop(tmp_path: Path) -> None:
    log = evaluated(tmp_path, opsgym(), reference_solution(), epochs=2)  # in databases of their own

    assert values(log) == dict.fromkeys(((task_id, epoch) for task_id in CHOSEN for epoch in (1, 2)), "C")
    assert log.results is not None
    assert log.results.scores[0].metrics["accuracy"].value == 1.0


@pytest.mark.usefixtures("standing")
def test_doing_nothing_fails_and_says_which_verifier_did(tmp_path: Path) -> None:
    log = evaluated(tmp_path, opsgym(), sample_id=CHOSEN[0])

    (score,) = (sample.scores["opsgym"] for sample in log.samples or [] if sample.scores)
    assert score.value == "I"
    assert score.explanation
    assert not all(result["passed"] for result in (score.metadata or {})["verifiers"])


@pytest.mark.usefixtures("standing")
def test_the_agent_of_the_example_gets_the_tools_of_its_sample(tmp_path: Path) -> None:
    example = runpy.run_path("examples/inspect_agent.py")["office_agent"]

    log = evaluated(tmp_path, opsgym(), reference_solution("submit"), solver=example())

    assert values(log) == dict.fromkeys(((task_id, 1) for task_id in CHOSEN), "C")


@pytest.mark.usefixtures("standing")
def test_solvers_of_ones_own_see_the_tools_of_the_mode(tmp_path: Path) -> None:
    from inspect_ai.solver import solver
    from inspect_ai.tool import ToolDef

    seen: dict[str, list[str]] = {}

    @solver
    def looks() -> Solver:
        async def solve(state: TaskState, generate: Any) -> TaskState:
            seen[str(state.sample_id)] = [ToolDef(tool).name for tool in state.tools]
            return state

        return solve

    evaluated(tmp_path, opsgym(), solver=looks())

    assert {task_id: sorted(names) for task_id, names in seen.items()} == {
        task_id: sorted(ROWS[task_id].selected_tools) for task_id in CHOSEN
    }


@pytest.mark.usefixtures("standing")
def test_a_refused_call_is_an_error_that_the_model_reads(tmp_path: Path) -> None:
    def replies(messages: list[ChatMessage], tools: list[Any], *_: Any) -> ModelOutput:
        if any(message.role == "tool" for message in messages):
            return nothing()
        name = next(tool.name for tool in tools if tool.name.startswith("get_"))
        (argument, *_rest) = next(tool for tool in tools if tool.name == name).parameters.required or ["id"]
        return calling(name, {argument: "nothing_like_that"})

    log = evaluated(tmp_path, opsgym(mode="all_tools"), replies, sample_id=CHOSEN[0])

    (result,) = (message for sample in log.samples or [] for message in sample.messages if message.role == "tool")
    assert result.error is not None


def test_rows_that_need_more_than_a_loop_are_left_out_by_name(tmp_path: Path) -> None:
    judged = {"verifier_type": "response_check", "name": "judged", "validation_config": JUDGED}
    servers = [{**row("plain")["gym_servers_config"][0], "seed_database_file": "seed.sql"}]
    rows = [row("plain") | {"gym_servers_config": servers}]
    rows.append(rows[0] | {"task_id": "judged", "verifiers": [judged]})
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    (tmp_path / "seed.sql").write_text("")

    task = opsgym(suite=str(tmp_path / "rows.json"))

    assert [sample.id for sample in task.dataset] == ["plain"]
    assert "needs a judge" in (task.metadata or {})["left_out"]["judged"]


def test_a_suite_without_a_row_that_can_be_played_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rows.json").write_text("[]")

    with pytest.raises(InputError):
        opsgym(suite=str(tmp_path / "rows.json"))


@pytest.mark.parametrize(
    ("schema", "shown"),
    [
        (
            {"type": ["string", "null"], "enum": ["a"], "description": "A."},
            {"description": "A.", "anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null"}]},
        ),
        (
            {"type": "object", "properties": {"x": {"type": ["integer", "null"]}}},
            {"type": "object", "properties": {"x": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}},
        ),
        ({"type": "string"}, {"type": "string"}),
    ],
)
def test_a_list_of_types_becomes_alternatives(schema: dict[str, Any], shown: dict[str, Any]) -> None:
    from opsgym.inspect_tasks.episodes import inspect_schema

    assert inspect_schema(schema) == shown
