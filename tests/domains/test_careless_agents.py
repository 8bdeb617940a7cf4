"""Careless agents differ from the reference solution in the one way that their name says."""

from __future__ import annotations

from benchmarks.careless import careless_tasks

from opsgym_api.tasks.task import Task, ToolCall
from opsgym_domains import registry

FIND = ToolCall(name="find_incident_by_id", arguments={"incident_id": "INC_001"})
RESOLVE = ToolCall(name="update_incident", arguments={"incident_id": "INC_001", "status": "resolved"})
NOTIFY = ToolCall(name="send_notification", arguments={"message": "Solved."})


def agents(*gold: ToolCall, feasible: bool = True) -> dict[str, list[ToolCall] | None]:
    task = Task.model_validate(
        {
            "task_id": "one",
            "user_prompt": "Resolve it.",
            "gym_servers_config": [{"mcp_server_name": "gym-itsm-mcp"}],
            "verifiers": [{"verifier_type": "answer_match", "validation_config": {"patterns": ["done"]}}],
            "gold_actions": [call.model_dump() for call in gold],
            "feasible": feasible,
        }
    )
    return {agent: made.gold_actions for agent, made in careless_tasks([task], registry.load("itsm").toolbox.tools)}


def test_each_agent_leaves_out_or_adds_what_its_name_says() -> None:
    assert agents(FIND, RESOLVE, NOTIFY) == {
        "stops after the first write": [FIND, RESOLVE],
        "forgets the last write": [FIND, RESOLVE],
        "skips look-ups": [RESOLVE, NOTIFY],
        "never notifies": [FIND, RESOLVE],
        "adds a row once more": [FIND, RESOLVE, NOTIFY, NOTIFY],
    }


def test_carelessness_that_makes_no_difference_is_not_played() -> None:
    assert set(agents(RESOLVE)) == {"forgets the last write"}
    assert agents(FIND, feasible=False) == {"refuses an infeasible task without a look": []}
