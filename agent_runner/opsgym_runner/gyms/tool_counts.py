"""How many tools tasks show to models, and where that is more than a provider takes, before any gym server runs.

Invariant: a run is refused only for tasks whose tools are all known. A gym server of a domain that opsgym does not have
is counted when it runs (`too_many_tools`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from opsgym_api.errors import Problem
from opsgym_api.kinds.evalrun import Agent, Mode
from opsgym_api.tasks.task import Task
from opsgym_runner.gyms.catalogue import ServerTools, ToolNames, build_catalogue
from opsgym_runner.job import ModelEndpoint
from opsgym_runner.models.checks import tool_limit

_FILE = Path(__file__).parent / "tool_names.json"
"""Names of tools by domain; `python -m tools.tool_names` writes it."""

CalledModel = tuple[str, Sequence[ModelEndpoint]]
"""litellm id and endpoints of a model."""


def shown_tools(task: Task, mode: Mode, tool_names: ToolNames = "published") -> int | None:
    """Number of tools that a task shows in a mode; None if those of one of its gym servers are not known.

    Args:
        task: The row.
        mode: The mode.
        tool_names: See `Agent.tool_names`.
    """
    known = _names()
    gyms = task.gym_servers_config
    if any(gym.domain not in known for gym in gyms):
        return None
    servers = [
        ServerTools(gym.mcp_server_name, [{"name": name} for name in known[gym.domain]], gym.domain) for gym in gyms
    ]
    return len(build_catalogue(servers, task, mode, tool_names).tools)


def tool_problems(
    models: Mapping[str, CalledModel], agents: Sequence[Agent], modes: Sequence[Mode], tasks: Iterable[Task]
) -> Iterator[Problem]:
    """Problems of agents that would show a model more tools than its provider takes.

    Args:
        models: The evaluated models, by name.
        agents: The run's agents.
        modes: The run's modes.
        tasks: The tasks that the run selects.
    """
    limits = {name: tool_limit(model, endpoints) for name, (model, endpoints) in models.items()}
    limited = {name: limit for name, limit in limits.items() if limit is not None}
    if not limited:
        return
    rows = list(tasks)
    for mode in modes:
        counts = {names: _counts(rows, mode, names) for names in dict.fromkeys(agent.tool_names for agent in agents)}
        for index, agent in enumerate(agents):
            for name, limit in limited.items():
                too_many = {task: count for task, count in counts[agent.tool_names].items() if count > limit}
                if too_many:
                    model = f"model {name} ({models[name][0]})"
                    yield Problem(f"spec.agents[{index}]", _message(agent, model, limit, mode, too_many))


def _counts(tasks: Sequence[Task], mode: Mode, tool_names: ToolNames) -> dict[str, int]:
    shown = {task.task_id: shown_tools(task, mode, tool_names) for task in tasks}
    return {task_id: count for task_id, count in shown.items() if count is not None}


def _message(agent: Agent, model: str, limit: int, mode: Mode, too_many: Mapping[str, int]) -> str:
    most = max(too_many, key=lambda task_id: too_many[task_id])
    others = f" (and too many at {len(too_many) - 1} more)" if len(too_many) > 1 else ""
    fewer = "" if mode is Mode.ORACLE else "use mode oracle, "
    return (
        f"agent {agent.name} would show {model} {too_many[most]} tools in mode {mode} at task {most}{others}, and its "
        f"provider takes at most {limit} in a request; {fewer}select tasks with fewer gym servers (suite.domains, "
        "suite.ids), or name the tools in the rows (selected_tools)"
    )


@cache
def _names() -> Mapping[str, Sequence[str]]:
    names: dict[str, list[str]] = json.loads(_FILE.read_text(encoding="utf-8"))
    return names
