"""A hybrid task as the published harness drives it: plain requests to several servers, and SQL that judges each.

The client here does what the published harness does and uses nothing of opsgym's: it seeds every server with SQL text,
lists the tools of each, sends a call to the first server that has the tool, and runs the verifiers' queries.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest
from tests.domains.declaration import SOAK
from tests.suites.conftest import Gyms
from tests.suites.test_published_export import export
from tests.support.gym import Gym, GymDatabase

from opsgym.taskexport.published import is_refused_there
from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.task import Task
from opsgym_domains import registry
from opsgym_domains.suite_rows import load_suite


def owners(task: Task) -> Mapping[str, str]:
    """The gym server that a tool's name means to the published harness: the first one that has it."""
    servers = reversed(task.gym_servers_config)
    return {name: one.mcp_server_name for one in servers for name in registry.load(one.domain).toolbox.tools}


def can_be_driven(task: Task) -> bool:
    """Whether rows of the published form can state the task, and published names mean the tools of its solution."""
    plain = not (task.events or task.days) and task.access is Access.PUBLISHED
    plain = plain and not any(map(is_refused_there, task.gold_actions or ()))
    calls = [(call.name, call.gym) for call in task.gold_actions or []]
    return plain and task.feasible and all(owners(task)[name] == (gym or owners(task)[name]) for name, gym in calls)


@cache
def driven() -> dict[str, Task]:
    """One task of each set of gym servers, all with OPSGYM_SOAK=1.

    SQL has no regular expression for a text that must match one, so tasks on more than three servers, which all write
    such texts, are not among them.
    """
    tasks = [task for task in load_suite("hybrid-core") if can_be_driven(task)]
    stated = [task for task in tasks if '"matches"' not in task.model_dump_json()]
    of_each_set = {frozenset(server.domain for server in task.gym_servers_config): task for task in reversed(stated)}
    return {task.task_id: task for task in (stated if SOAK else of_each_set.values())}


def listed(gym: Gym) -> list[str]:
    """Names of a server's tools, in its order."""
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    answer = gym.client.post("/mcp", content=json.dumps(request), headers={"x-database-id": "none-needed"})
    return [tool["name"] for tool in answer.json()["result"]["tools"]]


def failed(row: Mapping[str, Any], databases: Mapping[str, GymDatabase]) -> list[str]:
    """Names of the verifiers of the final states that fail."""
    judged = [verifier for verifier in row["verifiers"] if verifier["verifier_type"] == "database_state"]
    assert judged
    return [
        verifier["name"]
        for verifier in judged
        if databases[verifier["gym_name"]].value(verifier["validation_config"]["query"])
        != verifier["validation_config"]["expected_value"]
    ]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("task_id", driven())
def test_the_published_harness_drives_a_hybrid_task(gyms: Gyms, task_id: str) -> None:
    task = driven()[task_id]
    row = export(task).row
    assert row is not None
    servers = {
        gym["mcp_server_name"]: (gym, one.domain)
        for gym, one in zip(row["gym_servers_config"], task.gym_servers_config, strict=True)
    }
    assert len(servers) > 1
    databases: dict[str, GymDatabase] = {}
    tools: dict[str, str] = {}
    for name, (gym, domain) in servers.items():
        seed = registry.load(domain).seeds[task.gym_servers_config[0].seed_database_file.removeprefix("builtin:")]()
        databases[name] = gyms(domain).database(seed, **gym["context"])
        for tool in listed(gyms(domain)):
            tools.setdefault(tool, name)
    assert failed(row, databases), "an agent that does nothing must not pass"
    for call in task.gold_actions or []:
        databases[tools[call.name]].call_with(call.name, call.arguments)
    assert failed(row, databases) == []
