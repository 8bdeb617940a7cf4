"""Careless agents differ from the reference solution in the one way that their name says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks.careless import Solved, careless_plays, measure, measure_arguments

from opsgym_api.tasks.task import Task, ToolCall
from opsgym_runner.verification.looked_up import ToolCallResult

FIND = ToolCall(name="find_incident_by_id", arguments={"incident_id": "INC_001"})
LIST = ToolCall(name="list_incidents", arguments={"status": "new"})
RESOLVE = ToolCall(name="update_incident", arguments={"incident_id": "INC_001", "status": "resolved"})
NOTIFY = ToolCall(name="send_notification", arguments={"message": "Solved."})


def solved(*gold: ToolCall, results: dict[int, Any] | None = None, refused: int | None = None, **row: Any) -> Solved:
    """A task with its solution, and what its calls returned."""
    task = Task.model_validate(
        {
            "task_id": "one",
            "user_prompt": "Resolve it.",
            "gym_servers_config": [{"mcp_server_name": "gym-itsm-mcp"}],
            "verifiers": [{"verifier_type": "answer_match", "validation_config": {"patterns": ["done"]}}],
            "gold_actions": [call.model_dump() for call in gold],
            **row,
        }
    )
    texts = [json.dumps({"content": [{"text": json.dumps((results or {}).get(place))}]}) for place in range(len(gold))]
    calls = [
        ToolCallResult(call.name, call.arguments, text, place == refused)
        for place, (call, text) in enumerate(zip(gold, texts, strict=True))
    ]
    return Solved(task, calls, {"does it": [RESOLVE], "does more": [NOTIFY]})


def agents(made: Solved) -> dict[str, list[ToolCall]]:
    return {play.label: list(play.calls) for play in careless_plays(made)}


def test_each_agent_leaves_out_or_adds_what_its_name_says() -> None:
    assert agents(solved(FIND, RESOLVE, NOTIFY)) == {
        "stops after the first write": [FIND, RESOLVE],
        "forgets the last write": [FIND, RESOLVE],
        "skips look-ups": [RESOLVE, NOTIFY],
        "never notifies": [FIND, RESOLVE],
        "adds a row once more": [FIND, RESOLVE, NOTIFY, NOTIFY],
    }


def test_carelessness_that_makes_no_difference_is_not_played() -> None:
    assert set(agents(solved(RESOLVE))) == {"forgets the last write"}


def test_an_infeasible_task_is_refused_without_a_look_or_done_as_its_author_noted() -> None:
    assert agents(solved(FIND, feasible=False)) == {
        "obeys the request against the policy": [FIND, RESOLVE],
        "refuses an infeasible task without a look": [],
    }


@pytest.mark.parametrize(
    ("listed", "taken"),
    [
        (["INC_003", "INC_001"], "INC_003"),
        (["INC_001", "INC_003"], None),
        (["INC_003", "INC_004"], None),
        (["INC_001"], None),
    ],
)
def test_the_first_match_is_taken_for_the_row_that_the_solution_goes_on_with(
    listed: list[str], taken: str | None
) -> None:
    rows = [{"incident_id": key, "status": "new"} for key in listed]
    made = agents(solved(LIST, RESOLVE, results={0: {"items": rows}})).get("trusts the first match")
    arguments = {"incident_id": taken, "status": "resolved"}
    assert made == (None if taken is None else [LIST, ToolCall(name="update_incident", arguments=arguments)])


def test_where_the_solution_goes_on_with_several_rows_there_is_no_first_match() -> None:
    other = ToolCall(name="update_incident", arguments={"incident_id": "INC_003", "status": "resolved"})
    rows = [{"incident_id": key} for key in ("INC_004", "INC_001", "INC_003")]
    assert "trusts the first match" not in agents(solved(LIST, RESOLVE, other, results={0: rows}))


def test_a_refusal_ends_the_work_if_more_would_follow() -> None:
    assert agents(solved(RESOLVE, NOTIFY, refused=0))["gives up when it is refused"] == [RESOLVE]
    assert "gives up when it is refused" not in agents(solved(FIND, RESOLVE, refused=1))


def test_what_is_said_in_mid_task_is_not_heard() -> None:
    days = [{"message": "And now?", "begins_at": "2026-11-17T09:00:00"}]
    later = NOTIFY.model_copy(update={"day": 2})
    assert agents(solved(FIND, RESOLVE, later, days=days))["hears nothing after the request"] == [FIND, RESOLVE]
    events = [{"after_step": 1, "tell": "Wait."}]
    assert agents(solved(FIND, RESOLVE, events=events))["hears nothing after the request"] == [FIND]


def test_the_rates_of_a_suite_are_those_of_its_episodes_which_are_played_once(tmp_path: Path) -> None:
    outcomes = tmp_path / "outcomes.jsonl"
    lines = measure(["quickstart"], (1, 8), outcomes)
    rates = dict(line.strip("| ").rsplit(" | ", 1) for line in lines[4:])
    assert rates["forgets the last write"] == "0 of 2"
    assert rates["refuses an infeasible task without a look"] == "0 of 1"
    assert rates["gives up when it is refused"] == "0 of 0", "the kind applies to none of these tasks"
    outcomes.write_text(
        outcomes.read_text().replace('"forgets the last write": false', '"forgets the last write": true')
    )
    again = measure(["quickstart"], (1, 8), outcomes)
    assert "| forgets the last write | 2 of 2 |" in again, "the file says so"
    assert len(outcomes.read_text().splitlines()) == 3


@pytest.mark.parametrize("part", ["0/4", "5/4", "4", "a/b"])
def test_a_part_that_does_not_exist_is_refused(part: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        measure_arguments(["--part", part])
    assert "is not of the form K/N" in capsys.readouterr().err
