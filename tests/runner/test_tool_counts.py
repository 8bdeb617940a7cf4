"""Tools that tasks show to models are counted before a run, and compared with what providers take."""

from __future__ import annotations

from typing import Any

import pytest
from tests.runner.jobs import make_task
from tools import tool_names

from opsgym_api.kinds.evalrun import Agent, Mode
from opsgym_api.tasks.task import Task
from opsgym_domains import registry
from opsgym_runner.gyms.tool_counts import shown_tools, tool_problems
from opsgym_runner.job import ModelEndpoint

AGENT = Agent(name="react")
CSM, ITSM = (set(registry.load(domain).toolbox.tools) for domain in ("csm", "itsm"))
MODELS = {"gpt": ("openai/gpt-5", [ModelEndpoint()]), "claude": ("anthropic/claude-sonnet-4-5", [ModelEndpoint()])}


def task_of(*domains: str, **fields: Any) -> Task:
    servers = [{"mcp_server_name": domain, "seed_database_file": "builtin:small"} for domain in domains]
    return make_task(**{"selected_tools": None, "gym_servers_config": servers, **fields})


def test_the_file_of_names_is_current() -> None:
    assert tool_names.main(tool_names.ROOT, check=True) == 0


@pytest.mark.parametrize(
    ("task", "mode", "count"),
    [
        (task_of("itsm"), Mode.ORACLE, len(ITSM)),
        (task_of("csm", "itsm"), Mode.ALL, len(CSM | ITSM)),
        (task_of("itsm", selected_tools=["get_user"]), Mode.ORACLE, 1),
        (task_of("itsm", selected_tools=["get_user"]), Mode.PLUS_5, 6),
        (task_of("itsm", restricted_tools=["get_user"]), Mode.ALL, len(ITSM) - 1),
        (task_of("csm", "elsewhere"), Mode.ALL, None),
    ],
)
def test_tools_are_counted_as_a_gym_server_would_list_them(task: Task, mode: Mode, count: int | None) -> None:
    assert shown_tools(task, mode) == count


def test_qualified_names_count_the_tools_of_each_gym_server() -> None:
    assert shown_tools(task_of("csm", "itsm"), Mode.ALL, "qualified") == len(CSM) + len(ITSM)


def test_an_agent_that_shows_too_many_tools_is_named_with_model_count_limit_and_what_to_do() -> None:
    hybrid = task_of("csm", "itsm", task_id="h1", selected_tools=["get_user"])
    other = task_of("csm", "itsm", task_id="h2", selected_tools=["get_user"])

    (problem,) = tool_problems(MODELS, [AGENT], [Mode.ORACLE, Mode.ALL], [hybrid, other, task_of("itsm")])

    assert problem.path == "spec.agents[0]"
    assert problem.message.startswith(
        f"agent react would show model gpt (openai/gpt-5) {len(CSM | ITSM)} tools in mode all_tools at task h1 "
        "(and too many at 1 more), and its provider takes at most 128 in a request; use mode oracle, "
        "select tasks with fewer gym servers"
    )


def test_models_without_a_known_limit_and_tasks_within_it_are_no_problem() -> None:
    hybrid = task_of("csm", "itsm")

    assert list(tool_problems({"claude": MODELS["claude"]}, [AGENT], [Mode.ALL], [hybrid])) == []
    assert list(tool_problems(MODELS, [AGENT], [Mode.ALL], [task_of("itsm")])) == []
