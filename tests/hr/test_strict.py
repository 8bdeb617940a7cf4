"""Access `strict` in HR: who sees what, row by row, and rules that change while agents act."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.domains.hr import DECLARATION
from tests.hr.process_rules import ASK
from tests.support.gym import Gym, GymDatabase

HEADER = DECLARATION.domain.identity_header
ALL_CASES = set(range(1, 12))
CONFIDENTIAL = 8
"""A case about Dan for the service `Health matters`, which is for the group of Al, who handles it."""


@pytest.fixture(scope="module")
def office(gym: Gym) -> Iterator[GymDatabase]:
    """A database for calls that change nothing."""
    with DECLARATION.strict_database(gym) as database:
        before = database.digest()
        yield database
        assert database.digest() == before


@pytest.fixture
def changing(gym: Gym) -> Iterator[GymDatabase]:
    """A database that the test may change."""
    with DECLARATION.strict_database(gym) as database:
        yield database


def user(database: GymDatabase, name: str) -> GymDatabase:
    return DECLARATION.as_user(database, f"t-{name}")


def event(database: GymDatabase, *statements: str, **more: Any) -> None:
    body = {"database_id": database.id, "sql": list(statements), **more}
    database.client.post("/api/apply-event", json=body).raise_for_status()


def seen(database: GymDatabase, tool: str, key: str, **arguments: Any) -> set[int]:
    return {row[key] for row in database.call_with(tool, arguments).data}


def cases(database: GymDatabase) -> set[int]:
    return seen(database, "list_hr_cases", "hr_case_id")


# --- confidential cases ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ada", ALL_CASES - {CONFIDENTIAL}),
        ("mia", ALL_CASES - {CONFIDENTIAL}),
        ("bo", ALL_CASES - {1, CONFIDENTIAL, 11}),
        ("al", {CONFIDENTIAL}),
        ("dan", {CONFIDENTIAL}),
        ("eve", ALL_CASES - {CONFIDENTIAL}),
        ("max", set()),
    ],
)
def test_users_see_the_cases_that_concern_them_and_nobody_a_confidential_one_by_rank(
    office: GymDatabase, name: str, expected: set[int]
) -> None:
    assert cases(user(office, name)) == expected


@pytest.mark.parametrize(
    ("given", "name", "sees"),
    [
        ("UPDATE hr_criteria SET users = '[1, 8]' WHERE hr_criteria_id = 2;", "max", True),
        ("UPDATE hr_criteria SET users = '[81, 18]' WHERE hr_criteria_id = 2;", "max", False),
        ("UPDATE hr_criteria SET users = '8' WHERE hr_criteria_id = 2;", "max", True),
        ("UPDATE hr_case SET approver = 8 WHERE hr_case_id = 8;", "max", True),
        ("UPDATE hr_case SET assigned_to = NULL, opened_by = 8 WHERE hr_case_id = 8;", "max", False),
        ("UPDATE hr_criteria SET active = 0 WHERE hr_criteria_id = 2;", "mia", True),
        ("UPDATE hr_criteria SET active = 0 WHERE hr_criteria_id = 2;", "bo", False),
        ("UPDATE hr_criteria SET type = 'approval' WHERE hr_criteria_id = 2;", "ada", True),
        ("UPDATE hr_case SET assigned_to = NULL WHERE hr_case_id = 8; DELETE FROM user_group_member WHERE user_id = 4;",
         "al", False),
        ("UPDATE hr_case SET assignment_group = 1 WHERE hr_case_id = 8;", "bo", False),
    ],
)  # fmt: skip
def test_criteria_say_who_sees_a_confidential_case(gym: Gym, given: str, name: str, sees: bool) -> None:
    with DECLARATION.strict_database(gym, given=given) as database:
        assert (CONFIDENTIAL in cases(user(database, name))) is sees


HIDDEN_WITH_THE_CASE = """
INSERT INTO hr_case_task VALUES (20, 'TASK-20260105-0020', 'ready', NULL, 3, 'Doctor', 'checklist', NULL, NULL, NULL,
 1, 8, 1, '2026-01-05 08:00:00', '2026-01-05 08:00:00');
INSERT INTO checklist VALUES (20, 'Ask', 0, 20, 1, '2026-01-05 08:00:00', '2026-01-05 08:00:00');
INSERT INTO survey_instance VALUES (20, 1, 20, 6, 1, NULL, NULL, NULL, NULL, NULL, '2026-01-05 08:00:00',
 '2026-01-05 08:00:00');
INSERT INTO hr_case_knowledge VALUES (20, 8, 1, 'applied', 1, '2026-01-05 08:00:00', '2026-01-05 08:00:00');
INSERT INTO notification VALUES (20, 8, 'dan@norfield.test', 'update', 'ready', '2026-01-05 08:00:00', 1,
 '2026-01-05 08:00:00');
"""
PARTS = [
    ("list_hr_case_tasks", "hr_case_task_id"),
    ("list_checklists", "checklist_id"),
    ("list_survey_instances", "survey_instance_id"),
    ("find_hr_case_knowledge_links", "hr_case_kb_id"),
    ("find_notifications", "notification_id"),
]


@pytest.fixture(scope="module")
def surgery(gym: Gym) -> Iterator[GymDatabase]:
    """The confidential case with everything that may belong to a case."""
    with DECLARATION.strict_database(gym, given=HIDDEN_WITH_THE_CASE) as database:
        yield database


@pytest.mark.parametrize(("tool", "key"), PARTS)
def test_what_belongs_to_a_case_is_seen_by_those_who_see_the_case(surgery: GymDatabase, tool: str, key: str) -> None:
    who = {
        name for name in ("ada", "mia", "bo", "al", "dan", "eve", "max") if 20 in seen(user(surgery, name), tool, key)
    }
    assert who == {"al", "dan"}


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("find_hr_case_by_number", {"number": "HRC0000008"}, "HR_CASE_NOT_FOUND"),
        ("update_hr_case", {"hr_case_id": "8", "worknotes": "x"}, "HR_CASE_NOT_FOUND"),
        ("create_hr_case_task", {"status": "draft", "short_description": "x", "parent_case": "8"}, "HR_CASE_NOT_FOUND"),
        ("update_hr_case_task", {"hr_case_task_id": "20", "worknotes": "x"}, "HR_CASE_TASK_NOT_FOUND"),
        ("create_checklist", {"checklist_item_description": "x", "case_task_id": 20}, "HR_CASE_TASK_NOT_FOUND"),
        ("update_checklist", {"checklist_id": 20, "checked": True}, "CHECKLIST_ITEM_NOT_FOUND"),
        ("link_knowledge_to_hr_case", {"hr_case_id": 8, "knowledge_id": 1}, "HR_CASE_NOT_FOUND"),
        ("remove_knowledge_link_to_hr_case", {"hr_case_id": 8}, "HR_CASE_NOT_FOUND"),
        ("send_notification", {"hr_case_id": 8, "email": "dan@norfield.test"}, "HR_CASE_NOT_FOUND"),
        ("find_notifications_sent_for_incident", {"hr_case_id": 8}, "HR_CASE_NOT_FOUND"),
        ("delete_notifications", {"hr_case_id": 8}, "NOTIFICATION_NOT_FOUND"),
    ],
)
def test_not_even_an_admin_reaches_a_confidential_case(
    surgery: GymDatabase, tool: str, arguments: dict[str, Any], code: str
) -> None:
    assert surgery.call_with(tool, arguments).code == code


def test_counts_leave_out_what_the_user_does_not_see(surgery: GymDatabase) -> None:
    assert sum(surgery.call("get_count_of_case_priority_wise").data.values()) == len(ALL_CASES) - 1
    assert surgery.call("count_case_for_assignment_group", assignment_group_id=3).data["count"] == 0
    assert surgery.call("count_case_task_for_assignment_group", assignment_group_id=3).data["count"] == 0
    assert surgery.call("count_notifications_by_case").data == {"count": 1}
    assert user(surgery, "al").call("count_case_for_assignment_group", assignment_group_id=3).data["count"] == 1


def test_a_task_shows_its_case_to_those_only_who_see_it(gym: Gym) -> None:
    given = f"{HIDDEN_WITH_THE_CASE} UPDATE hr_case_task SET assigned_to = 3 WHERE hr_case_task_id = 20;"
    with DECLARATION.strict_database(gym, given=given) as database:
        tasks = {row["hr_case_task_id"]: row for row in user(database, "bo").call("list_hr_case_tasks").data}
        assert (tasks[20]["parent_case"], tasks[20]["parent_case_details"]) == (8, None)


# --- personal data ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ada", {12, 13, 14, 15, 18}),
        ("mia", {12, 13, 14, 15}),
        ("bo", {13, 15}),
        ("al", {14}),
        ("dan", {14}),
        ("max", {18}),
    ],
)
def test_a_profile_is_seen_by_the_person_the_manager_and_those_who_handle_an_open_case(
    office: GymDatabase, name: str, expected: set[int]
) -> None:
    assert seen(user(office, name), "fetch_hr_profiles", "hr_profile_id") == expected


def test_a_profile_is_hidden_again_once_the_case_is_closed(changing: GymDatabase) -> None:
    al = user(changing, "al")
    assert al.call("get_users_hr_profile", user_id="6").data["national_tax_id"] == "TAX-001-104"
    event(changing, "UPDATE hr_case SET status = 'closed_complete' WHERE hr_case_id = 8")
    assert al.call("get_users_hr_profile", user_id="6").code == "HR_PROFILE_NOT_FOUND"
    assert al.call("get_hr_profile_by_personal_email", personal_email="dan@home.test").code == "HR_PROFILE_NOT_FOUND"


def test_no_other_record_shows_personal_data(office: GymDatabase) -> None:
    shown = [office.call("list_users"), office.call("list_hr_cases"), user(office, "al").call("list_hr_cases")]
    private = ("@home.test", "TAX-001", "dob", "marital_status")
    assert [word for outcome in shown for word in private if word in outcome.text] == []


def test_drafts_of_articles_are_seen_by_their_owner_and_by_those_who_publish(office: GymDatabase) -> None:
    articles = {
        name: seen(user(office, name), "retrieve_knowledge_articles", "knowledge_id")
        for name in ("ada", "mia", "bo", "al", "dan")
    }
    assert articles == {"ada": {1, 2}, "mia": {1, 2}, "bo": {1, 2}, "al": {1}, "dan": {1}}


def test_a_survey_without_a_task_is_seen_by_who_answers_it(gym: Gym) -> None:
    given = "UPDATE survey_instance SET case_task_id = NULL WHERE survey_instance_id = 1;"
    with DECLARATION.strict_database(gym, given=given) as database:
        who = {
            name
            for name in ("ada", "mia", "bo", "al", "eve")
            if 1 in seen(user(database, name), "list_survey_instances", "survey_instance_id")
        }
        assert who == {"ada", "mia", "eve"}


# --- a case from draft to closure ------------------------------------------------------------------------------------


def test_a_case_with_a_bank_account_is_approved_worked_on_and_accepted(changing: GymDatabase) -> None:
    bo, mia = user(changing, "bo"), user(changing, "mia")
    assert bo.call("update_hr_case", hr_case_id="9", status="work_in_progress").code == "APPROVAL_MISSING"
    assert bo.call_with("update_hr_case", {"hr_case_id": "9", **ASK}).data["request_status"] == "requested"
    assert bo.call("update_hr_case", hr_case_id="9", request_status="approved").code == "APPROVAL_DENIED"
    assert [case["hr_case_id"] for case in mia.call("find_my_cases_to_approve").data] == [4, 9]
    assert mia.call("update_hr_case", hr_case_id="9", request_status="approved").data
    for status in ("work_in_progress", "awaiting_acceptance", "closed_complete"):
        assert bo.call("update_hr_case", hr_case_id="9", status=status).data["status"] == status
    assert bo.call("update_hr_case", hr_case_id="9", worknotes="More").code == "CASE_IS_FINAL"


def test_an_escalated_case_in_progress_loses_its_assignee_and_another_cannot_start_without_one(
    changing: GymDatabase,
) -> None:
    escalated = {"hr_case_id": "3", "assignment_group": "Partners", "assigned_to": ""}
    moved = changing.call_with("update_hr_case", escalated).data
    assert (moved["status"], moved["assigned_to"], moved["assignment_group"]) == ("work_in_progress", None, 3)
    start = {"hr_case_id": "2", "status": "work_in_progress", "assigned_to": ""}
    assert changing.call_with("update_hr_case", start).code == "NOT_ASSIGNED"


def test_an_agent_alerts_the_next_group_before_an_escalated_case_is_out_of_sight(changing: GymDatabase) -> None:
    bo = user(changing, "bo")
    alert = {"hr_case_id": 3, "email": "al@norfield.test", "type": "alert"}
    assert bo.call_with("send_notification", alert).data["email"] == "al@norfield.test"
    assert bo.call_with("update_hr_case", {"hr_case_id": "3", "assignment_group": "Partners", "assigned_to": ""}).data
    assert bo.call("find_hr_case_by_number", number="HRC0000003").code == "HR_CASE_NOT_FOUND"
    assert bo.call_with("send_notification", alert).code == "HR_CASE_NOT_FOUND"


def test_an_agent_opens_a_case_about_a_person_whose_profile_is_hidden_and_tells_the_person(
    changing: GymDatabase,
) -> None:
    al = user(changing, "al")
    assert al.call("get_users_hr_profile", user_id="7").code == "HR_PROFILE_NOT_FOUND"
    opened = al.call("create_new_hr_case", short_description="x", coe_type="HRIT", opened_for="Eve Tan").data
    assert (opened["opened_for"], opened["opened_for_details"]) == (15, None)
    notification = {"hr_case_id": opened["hr_case_id"], "type": "update"}
    assert al.call_with("send_notification", notification | {"email": "eve@norfield.test"}).data
    assert (
        al.call_with("send_notification", notification | {"email": "bo@norfield.test"}).code == "RECIPIENT_NOT_ELIGIBLE"
    )
    assert al.call("get_users_hr_profile", user_id="7").code == "HR_PROFILE_NOT_FOUND"


def test_a_hidden_profile_is_no_way_around_a_rule(gym: Gym) -> None:
    given = "UPDATE hr_profile SET manager = 8 WHERE hr_profile_id = 12;"
    with DECLARATION.strict_database(gym, given=given) as database:
        al, maxim = user(database, "al"), user(database, "max")
        own = {"short_description": "x", "coe_type": "HRIT", "opened_for": "Bo Lund", "assigned_to": "Bo Lund"}
        assert al.call_with("create_new_hr_case", own | {"assignment_group": "Desk"}).code == "CONFLICT_OF_INTEREST"
        assert seen(maxim, "fetch_hr_profiles", "hr_profile_id") == {12, 18}
        assert maxim.call("offboard_hr_profile", user_id="2").code == "PEOPLE_WITHOUT_MANAGER"


def test_records_that_a_user_does_not_see_count_for_numbers_and_duplicates(changing: GymDatabase) -> None:
    step = {"status": "draft", "short_description": "x"}
    hidden = user(changing, "al").call_with("create_hr_case_task", step | {"parent_case": "8"}).data["number"]
    assert changing.call_with("create_hr_case_task", step).data["number"] == f"{hidden[:-1]}2"
    taken = user(changing, "mia").call("update_hr_profile", user_id="7", personal_email="max@home.test")
    assert (taken.code, "may not see" in taken.message) == ("DUPLICATE_PERSONAL_EMAIL", True)


def test_rules_judge_only_the_fields_that_a_call_changes(gym: Gym) -> None:
    given = "UPDATE hr_case SET assigned_to = 5, skills = '[2]', approver = 8 WHERE hr_case_id = 2;"
    with DECLARATION.strict_database(gym, given=given) as database:
        changed = database.call("update_hr_case", hr_case_id="2", worknotes="seen", priority="low").data
        assert (changed["worknotes"], changed["assigned_to"]) == ("seen", 5)


def test_an_employee_changes_nothing(office: GymDatabase) -> None:
    dan = user(office, "dan")
    writing = [name for name, tool in DECLARATION.tools.items() if tool.writes]
    admitted = [name for name in writing if dan.call_with(name, DECLARATION.examples[name]).code != "PERMISSION_DENIED"]
    assert admitted == []


# --- rules that change while agents act ------------------------------------------------------------------------------


def test_an_event_changes_what_a_role_may_do(changing: GymDatabase) -> None:
    bo, note = user(changing, "bo"), {"hr_case_id": "2", "worknotes": "seen"}
    crud = "SELECT perm_id FROM permission WHERE resource = 'hr_cases' AND action = 'crud'"
    event(changing, f"DELETE FROM role_permission WHERE role_id = 3 AND perm_id IN ({crud})")
    assert bo.call_with("update_hr_case", note).code == "PERMISSION_DENIED"
    assert bo.call("list_hr_cases").code == "PERMISSION_DENIED"
    event(changing, f"INSERT INTO role_permission SELECT 3, perm_id FROM ({crud}) AS granted")
    assert bo.call_with("update_hr_case", note).data["worknotes"] == "seen"


def test_criteria_that_change_hide_a_case_at_once_and_name_another_approver(changing: GymDatabase) -> None:
    bo = user(changing, "bo")
    assert 2 in cases(bo)
    event(changing, "UPDATE hr_service SET hr_criteria = 2 WHERE hr_service_id = 1",
          "UPDATE hr_case SET assigned_to = NULL WHERE hr_case_id = 2")  # fmt: skip
    assert 2 not in cases(bo)
    assert bo.call("update_hr_case", hr_case_id="2", worknotes="x").code == "HR_CASE_NOT_FOUND"
    event(changing, "UPDATE hr_criteria SET users = '[8]' WHERE hr_criteria_id = 1")
    refusal = bo.call_with("update_hr_case", {"hr_case_id": "9", **ASK})
    assert refusal.code == "APPROVER_NOT_NAMED"
    accepted = bo.call_with("update_hr_case", {"hr_case_id": "9", **ASK, "approver": "Max Roy"})
    assert accepted.data["approver"] == 8


def test_assignment_follows_groups_skills_and_accounts_as_they_are_now(changing: GymDatabase) -> None:
    bo, give = user(changing, "bo"), {"hr_case_id": "2", "assigned_to": "Mia Holm"}
    event(changing, "UPDATE hr_case SET skills = '[2]' WHERE hr_case_id = 2")
    assert bo.call_with("update_hr_case", give).code == "SKILL_MISSING"
    event(changing, "INSERT INTO user_skill (user_skill_id, skill, \"user\", org_id) VALUES (2, 2, 2, 1)",
          "DELETE FROM user_group_member WHERE user_id = 2")  # fmt: skip
    assert bo.call_with("update_hr_case", give).code == "NOT_A_GROUP_MEMBER"
    event(changing, "INSERT INTO user_group_member (member_id, group_id, user_id, org_id) VALUES (9, 1, 2, 1)",
          "UPDATE \"user\" SET active = FALSE WHERE user_id = 2")  # fmt: skip
    assert bo.call_with("update_hr_case", give).code == "NOT_ASSIGNABLE"
    event(changing, 'UPDATE "user" SET active = TRUE WHERE user_id = 2')
    assert bo.call_with("update_hr_case", give).data["assigned_to"] == 2


def test_rules_of_assignment_and_escalation_are_read_as_they_are_now(changing: GymDatabase) -> None:
    bo = user(changing, "bo")
    event(changing, "UPDATE assignment_rules SET users = '[2]', user_group = 1 WHERE assignment_rule_id = 1",
          "UPDATE escalation_rule SET escalate_to = 2 WHERE escalation_rule_id = 1")  # fmt: skip
    (rule,) = bo.call("list_assignment_rules", based_on_priority="moderate", active=True).data
    assert rule["users"] == [2]
    (rule,) = bo.call("list_escalation_rules", escalate_from="1").data
    assert rule["escalate_to_group_name"] == "Past"
    refused = bo.call("update_hr_case", hr_case_id="2", assignment_group="Past", assigned_to="")
    assert refused.code == "GROUP_INACTIVE"


# --- time ------------------------------------------------------------------------------------------------------------

WAITING = """
UPDATE hr_case SET updated_at = '2026-03-02 09:00:00' WHERE hr_case_id IN (4, 6);
UPDATE hr_case SET updated_at = '2026-03-02 09:00:00' WHERE status = 'suspended';
"""


def state(database: GymDatabase, case: int) -> list[Any]:
    (row,) = database.rows(f"SELECT status, request_status, updated_at FROM hr_case WHERE hr_case_id = {case}")
    return list(row.values())


@pytest.mark.parametrize("access", ["strict", "published"])
def test_a_case_that_waits_for_acceptance_closes_after_five_days(gym: Gym, access: str) -> None:
    with DECLARATION.strict_database(gym, given=WAITING, access=access) as database:
        database.set_clock("2026-03-07T08:59:59")
        assert state(database, 6) == ["awaiting_acceptance", None, "2026-03-02 09:00:00"]
        database.set_clock("2026-03-07T12:00:00")
        assert state(database, 6) == ["closed_complete", None, "2026-03-07 09:00:00"]
        assert state(database, 5)[0] == "suspended"


def test_an_approval_that_is_not_answered_is_rejected_after_seven_days(gym: Gym) -> None:
    with DECLARATION.strict_database(gym, given=WAITING) as database:
        database.set_clock("2026-03-09T08:59:59")
        assert state(database, 4)[:2] == ["awaiting_approval", "requested"]
        database.set_clock("2026-03-12T00:00:00")
        assert state(database, 4) == ["ready", "rejected", "2026-03-09 09:00:00"]
        started = user(database, "bo").call("update_hr_case", hr_case_id="4", status="work_in_progress")
        assert started.code == "APPROVAL_MISSING"


def test_a_change_in_the_meantime_starts_the_waiting_again(gym: Gym) -> None:
    with DECLARATION.strict_database(gym, given=WAITING) as database:
        database.set_clock("2026-03-05T09:00:00")
        assert user(database, "bo").call("update_hr_case", hr_case_id="6", worknotes="Asked again").data
        database.set_clock("2026-03-08T09:00:00")
        assert state(database, 6)[0] == "awaiting_acceptance"
        database.set_clock("2026-03-10T09:00:00")
        assert state(database, 6)[0] == "closed_complete"
