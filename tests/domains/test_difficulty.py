"""The difficulty of a task follows from its row and its tools."""

from __future__ import annotations

from typing import Any

import pytest

from opsgym_api.tasks.task import Task
from opsgym_domains import registry
from opsgym_domains.difficulty import Band, Difficulty, difficulty_of

FIND = {"name": "find_incident_by_id", "arguments": {"incident_id": "INC_001"}}
RESOLVE = {"name": "update_incident", "arguments": {"incident_id": "INC_001", "status": "resolved", "urgency": "low"}}


def task(*gold: dict[str, Any], **fields: Any) -> Task:
    return Task.model_validate(
        {
            "task_id": "one",
            "user_prompt": "Resolve the incident about the printer.",
            "selected_tools": ["find_incident_by_id", "update_incident"],
            "gym_servers_config": [{"mcp_server_name": "gym-itsm-mcp"}],
            "verifiers": [{"verifier_type": "answer_match", "validation_config": {"patterns": ["done"]}}],
            "gold_actions": list(gold),
            **fields,
        }
    )


def estimate(made: Task) -> Difficulty:
    difficulty = difficulty_of(made, registry.load("itsm").toolbox.tools)
    assert difficulty is not None
    return difficulty


def test_a_written_key_that_the_request_does_not_state_is_looked_up_and_an_option_is_not() -> None:
    difficulty = estimate(task(FIND, RESOLVE))
    assert difficulty == Difficulty(writes=1, writing_tools=1, look_ups=1, branches=0, unused_tools=0, feasible=True)
    assert difficulty.points == 2
    assert difficulty.band is Band.EASY


@pytest.mark.parametrize(("prompt", "look_ups"), [("Resolve inc_001.", 0), ("Resolve INC_0012.", 1)])
def test_a_key_that_the_request_states_as_a_whole_word_is_not_looked_up(prompt: str, look_ups: int) -> None:
    assert estimate(task(FIND, RESOLVE, user_prompt=prompt)).look_ups == look_ups


def test_branches_are_events_days_and_strict_access() -> None:
    more = {"message": "And now?", "begins_at": "2026-11-17T09:00:00"}
    events = [{"after_step": 1, "tell": "Wait."}]
    difficulty = estimate(task(FIND, RESOLVE, events=events, days=[more], access="strict"))
    assert difficulty.branches == 3
    assert difficulty.points == 2 + 9


def test_an_infeasible_task_counts_what_its_reads_look_for() -> None:
    difficulty = estimate(task(FIND, feasible=False))
    assert (difficulty.writes, difficulty.look_ups, difficulty.points) == (0, 1, 6)


def test_restricted_tools_distract_nobody_and_without_selection_all_others_do() -> None:
    tools = registry.load("itsm").toolbox.tools
    difficulty = estimate(task(FIND, RESOLVE, selected_tools=[], restricted_tools=["list_users"]))
    assert difficulty.unused_tools == len(tools) - 3
    assert difficulty.points == 2 + (len(tools) - 3) // 5


@pytest.mark.parametrize(
    ("writes", "band"), [(9, Band.EASY), (10, Band.MEDIUM), (17, Band.MEDIUM), (18, Band.HARD), (30, Band.VERY_HARD)]
)
def test_bands_begin_at_their_bounds(writes: int, band: Band) -> None:
    made = Difficulty(writes=writes, writing_tools=1, look_ups=0, branches=0, unused_tools=0, feasible=True)
    assert made.band is band


@pytest.mark.parametrize("gold", [None, [{"name": "no_such_tool", "arguments": {}}]])
def test_without_a_known_solution_there_is_no_estimate(gold: Any) -> None:
    assert difficulty_of(task(gold_actions=gold), registry.load("itsm").toolbox.tools) is None


def test_nested_values_count_and_longer_texts_do_not() -> None:
    made = task({"name": "update_incident", "arguments": {"x": {"ids": ["A_1", "A_2", True]}, "notes": "two words"}})
    assert estimate(made).look_ups == 2
