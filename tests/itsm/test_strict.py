"""Access `strict` in ITSM: permissions that a seed takes away, and processes of several calls."""

from __future__ import annotations

import pytest
from tests.domains.itsm import DECLARATION
from tests.itsm.examples import EXAMPLES
from tests.itsm.process_rules import NEW_CHANGE
from tests.itsm.strict import TOKENS
from tests.support.gym import Gym

from opsgym_api.tasks.task import Task
from opsgym_domains.suite_rows import load_suite


@pytest.mark.parametrize(
    "given",
    [
        "DELETE FROM role_permission WHERE perm_id LIKE 'incidents:%'",
        "DELETE FROM user_role WHERE user_id = 'USER_002'",
        "UPDATE user_role SET org_id = 'ORG_002' WHERE user_id = 'USER_002'",
        "UPDATE user_role SET role_id = 'ROLE_1' WHERE user_id = 'USER_002'",
        "UPDATE users SET role = 'admin' WHERE user_id = 'USER_002'",
    ],
)
def test_a_permission_counts_only_if_the_user_and_the_role_table_both_give_it(gym: Gym, given: str) -> None:
    with DECLARATION.strict_database(gym, "agent", given=given) as strict:
        outcome = strict.call_with("find_incident_by_id", EXAMPLES["find_incident_by_id"])
        assert outcome.code == "PERMISSION_DENIED"


def test_a_change_passes_every_status_once_a_manager_approves_it(gym: Gym) -> None:
    with DECLARATION.strict_database(gym, "agent") as agent:
        given = NEW_CHANGE | {"risk": "high", "cab_required": True}
        change_id = agent.call_with("create_change", given).data["change_id"]
        assert agent.call("update_change", change_id=change_id, status="assess").data
        approval = {"change_id": change_id, "status": "authorize"}
        assert agent.call_with("update_change", approval).code == "APPROVAL_DENIED"
        assert DECLARATION.as_user(agent, TOKENS["manager"]).call_with("update_change", approval).data
        for status in ("scheduled", "implement", "review"):
            assert agent.call("update_change", change_id=change_id, status=status).data["status"] == status
        closing = {"close_code": "successful", "close_notes": "as planned"}
        assert agent.call("update_change", change_id=change_id, status="closed", **closing).data["status"] == "closed"


def test_rules_judge_only_the_fields_that_a_call_changes(gym: Gym) -> None:
    given = "UPDATE incident SET priority = 'planning', assigned_to = 'USER_012' WHERE incident_id = 'INC_001';"
    with DECLARATION.strict_database(gym, given=given) as strict:
        changed = strict.call("update_incident", incident_id="INC_001", worknotes="seen", channel="phone").data
        assert (changed["worknotes"], changed["priority"]) == ("seen", "planning")


@pytest.mark.parametrize("task", load_suite("quickstart"), ids=lambda task: task.task_id)
def test_gold_actions_of_quickstart_are_not_refused(gym: Gym, task: Task) -> None:
    database = gym.database(builtin="quickstart", access="strict", **task.gym_servers_config[0].headers)
    for action in task.gold_actions or []:
        outcome = database.call_with(action.name, action.arguments)
        assert not outcome.is_error or (not task.feasible and outcome.code.endswith("_NOT_FOUND")), outcome.text
    gym.drop(database)
