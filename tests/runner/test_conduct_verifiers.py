"""`never_called` judges attempts, and `state_difference` verifiers of a day the state at its end."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest
from pydantic import ValidationError

from opsgym_api.records.attempt import VerifierResult
from opsgym_api.records.state_difference import RowDifference, StateDifference, TableDifference
from opsgym_api.tasks.task import Task
from opsgym_runner.gyms.client import GymClient
from opsgym_runner.verification.looked_up import ToolCallResult
from opsgym_runner.verification.verifiers import Trajectory, verify

GYM = "gym-itsm-mcp"


class Gym:
    """A gym server that says which tools write."""

    async def writing_tools(self) -> frozenset[str]:
        """One tool."""
        return frozenset({"update_incident"})


def task(kind: str, config: dict[str, Any], **row: Any) -> Task:
    """A task of two days with one verifier."""
    return Task.model_validate(
        {
            "task_id": "one",
            "user_prompt": "Resolve it.",
            "gym_servers_config": [{"mcp_server_name": GYM}],
            "verifiers": [{"verifier_type": kind, "name": "check", "validation_config": config}],
            "days": [{"message": "Good morning.", "begins_at": "2026-11-17T09:00:00"}],
            **row,
        }
    )


def judged(row: Task, trajectory: Trajectory, final: StateDifference | None = None) -> VerifierResult:
    """The result of the only verifier."""
    gyms = {GYM: cast("GymClient", Gym())}
    differences = {} if final is None else {GYM: final}
    (result,) = asyncio.run(verify(row, gyms, trajectory, differences=differences))
    return result


def attempted(*calls: tuple[str, dict[str, Any]]) -> Trajectory:
    """Calls that the server refused."""
    return Trajectory([ToolCallResult(tool, arguments, "{}", True, GYM) for tool, arguments in calls], "No.")


READ = ("find_incident", {"number": "INC-1"})
WRITE = ("update_incident", {"incident_id": "INC_1", "status": "closed"})


@pytest.mark.parametrize(
    ("config", "passed"),
    [
        ({"writes": True}, False),
        ({"calls": [{"tool": "update_incident"}]}, False),
        ({"calls": [{"tool": "update_incident", "arguments": "CLOSED"}]}, False),
        ({"calls": [{"arguments": "inc_1"}]}, False),
        ({"calls": [{"tool": "update_incident", "arguments": "resolved"}]}, True),
        ({"calls": [{"tool": "delete_incident"}]}, True),
    ],
)
def test_a_refused_attempt_counts(config: dict[str, Any], passed: bool) -> None:
    result = judged(task("never_called", config), attempted(READ, WRITE))
    assert result.passed is passed
    assert result.actual == {"attempted": [] if passed else ["update_incident (call 2)"]}


def test_reading_is_no_attempt() -> None:
    assert judged(task("never_called", {"writes": True}), attempted(READ)).passed


@pytest.mark.parametrize("config", [{}, {"calls": []}, {"calls": [{}]}, {"calls": [{"arguments": "("}]}])
def test_a_check_that_forbids_nothing_is_refused(config: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="calls"):
        task("never_called", config)


def closed(status: str) -> StateDifference:
    """An incident with a status."""
    row = RowDifference(change="changed", key={"id": 1}, before={"status": "new"}, after={"status": status})
    return StateDifference(tables=[TableDifference(table="incident", changed=1, rows=[row])])


ON_HOLD = {
    "rows": [{"table": "incident", "change": "changed", "keys": [{"id": 1}], "values": {"status": "on_hold"}}],
    "day": 1,
}


@pytest.mark.parametrize(
    ("first_day", "passed"), [([closed("on_hold")], True), ([closed("closed")], False), ([StateDifference()], False)]
)
def test_the_state_of_a_day_is_judged_at_its_end(first_day: list[StateDifference], passed: bool) -> None:
    trajectory = Trajectory([], "Done.", ["It waits."], [{GYM: one} for one in first_day])
    assert judged(task("state_difference", ON_HOLD), trajectory, closed("closed")).passed is passed


def test_a_day_that_was_not_reached_fails() -> None:
    result = judged(task("state_difference", ON_HOLD), Trajectory([], ""), closed("on_hold"))
    assert not result.passed
    assert result.actual["unmet"] == ["the agent did not end day 1"]


def test_the_last_day_is_the_end() -> None:
    config = {**ON_HOLD, "day": 2}
    assert judged(task("state_difference", config), Trajectory([], "Done.", ["No."]), closed("on_hold")).passed


def test_a_day_that_a_task_does_not_have_is_refused() -> None:
    with pytest.raises(ValidationError, match="day 3 does not exist"):
        task("state_difference", {**ON_HOLD, "day": 3})
