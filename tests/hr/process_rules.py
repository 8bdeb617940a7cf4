"""Calls that each process rule of HR refuses in access `strict`, with calls that satisfy the rule.

Invariant: every numbered rule of `opsgym_domains.hr.rules` has a case.
"""

from __future__ import annotations

from typing import Any

from tests.domains.declaration import StrictCase as Case


def case(rule: str, code: str, key: int, wrong: dict[str, Any], right: dict[str, Any] | None, **rest: Any) -> Case:
    return Case(rule, code, "update_hr_case", {"hr_case_id": str(key), **wrong}, right, **rest)


def task(rule: str, code: str, key: int, wrong: dict[str, Any], right: dict[str, Any] | None, **rest: Any) -> Case:
    return Case(rule, code, "update_hr_case_task", {"hr_case_task_id": str(key), **wrong}, right, **rest)


NEW = {"short_description": "x", "coe_type": "Payroll"}
ASK = {"status": "awaiting_approval", "approver": "Mia Holm", "approval_criteria": "1", "request_status": "requested"}

CASES = [
    # people
    Case(
        "USR-1",
        "ADMIN_DENIED",
        "update_user_details",
        {"user_id": "3", "role": "admin"},
        {},
        role="manager",
        helper="admin",
    ),
    Case(
        "USR-2",
        "USER_HAS_WORK",
        "update_user_details",
        {"user_id": "3", "active": False},
        {"user_id": "7"},
        says="HRC0000002",
    ),
    Case(
        "PRO-1",
        "EMPLOYMENT_DATES",
        "update_hr_profile",
        {"hr_profile_id": "15", "employment_start_date": "2027-01-01", "employment_end_date": "2026-12-31"},
        {"employment_end_date": "2027-12-31"},
    ),
    Case(
        "PRO-2",
        "MANAGER_NOT_ELIGIBLE",
        "update_hr_profile",
        {"hr_profile_id": "15", "manager": "18"},
        {"manager": "12"},
        given="UPDATE user SET active = 0 WHERE user_id = 8; UPDATE hr_profile SET manager = NULL;",
    ),
    Case(
        "PRO-3",
        "OWN_PROFILE",
        "update_hr_profile",
        {"user_id": "2", "position": "HR"},
        {"position": None, "marital_status": "Single"},
        role="manager",
    ),
    Case("PRO-4", "PEOPLE_WITHOUT_MANAGER", "offboard_hr_profile", {"user_id": "2"}, {"user_id": "8"}, says="HR-013"),
    # cases
    case("CAS-8", "CASE_IS_FINAL", 7, {"status": "ready"}, None, says="HRC0000007 is closed_complete"),
    case("CAS-4", "GROUP_INACTIVE", 1, {"assignment_group": "Past"}, {"assignment_group": "Desk"}, says="Past"),
    case("CAS-4", "NOT_ASSIGNABLE", 2, {"assigned_to": "Ina Ek"}, {"assigned_to": "Mia Holm"}, says="inactive"),
    case("CAS-4", "NOT_A_GROUP_MEMBER", 2, {"assigned_to": "Al Moe"}, {"assignment_group": "Partners"}),
    task("CAS-4", "NOT_ASSIGNABLE", 1, {"assigned_to": "Dan Orr"}, {"assigned_to": "Mia Holm"}, says="employee"),
    task("CAS-4", "GROUP_INACTIVE", 4, {"assignment_group": "Past"}, {"assignment_group": "Desk"}, says="Past"),
    task("CAS-4", "NOT_A_GROUP_MEMBER", 1, {"assigned_to": "Al Moe"}, {"assignment_group": "Partners"}),
    case("CAS-5", "CONFLICT_OF_INTEREST", 2, {"opened_for": "Bo Lund"}, {"opened_for": "Dan Orr"}, says="user 3"),
    case("CAS-6", "SKILL_MISSING", 2, {"skills": [1, 2]}, {"skills": [1]}, says="lacks skill 2"),
    case(
        "CAS-7",
        "OPEN_TASKS",
        3,
        {"status": "awaiting_acceptance"},
        {"hr_case_id": "10"},
        given="UPDATE hr_case_task SET status = 'cancelled' WHERE parent_case = 10;",
        says="TASK-20260105-0001",
    ),
    case("CAS-3", "REASON_MISSING", 3, {"status": "suspended"}, {"worknotes": "Waits for the bank"}),
    case(
        "CAS-3",
        "NOT_ASSIGNED",
        11,
        {"status": "work_in_progress"},
        {"assigned_to": "Bo Lund", "assignment_group": "Desk"},
        given="UPDATE hr_case SET request_status = NULL WHERE hr_case_id = 11;",
    ),
    # approvals
    case(
        "APR-1",
        "APPROVER_NOT_NAMED",
        2,
        {"approver": "Max Roy", "approval_criteria": "1"},
        {"approver": "Mia Holm"},
        says="not an active user whom Approvers name",
    ),
    case(
        "APR-1",
        "APPROVER_NOT_NAMED",
        2,
        {"approver": "Mia Holm", "approval_criteria": "3"},
        {"approval_criteria": "1"},
        says="Old approvers",
    ),
    case(
        "APR-1", "APPROVER_NOT_NAMED", 2, {"approver": "Mia Holm"}, {"approval_criteria": "1"}, says="give the criteria"
    ),
    case("APR-2", "APPROVAL_INCOMPLETE", 2, {"status": "awaiting_approval"}, ASK),
    case("APR-3", "APPROVAL_DENIED", 4, {"request_status": "approved"}, {}, helper="manager"),
    case("APR-4", "APPROVAL_MISSING", 4, {"status": "work_in_progress"}, {"status": "ready"}, says="requested"),
    case("APR-4", "APPROVAL_MISSING", 9, {"status": "work_in_progress"}, ASK, says="bank account"),
    case(
        "PRC-1",
        "INVALID_STATUS_TRANSITION",
        2,
        {"status": "suspended", "worknotes": "Waits for the bank"},
        {"status": "work_in_progress"},
    ),
    Case(
        "PRC-1", "INVALID_STATUS_TRANSITION", "create_new_hr_case", NEW | {"status": "cancelled"}, {"status": "ready"}
    ),
    # tasks and surveys
    task("TSK-1", "TASK_IS_FINAL", 3, {"worknotes": "x"}, {"hr_case_task_id": "4"}),
    Case(
        "TSK-2",
        "CASE_IS_FINAL",
        "create_hr_case_task",
        {"status": "draft", "short_description": "x", "parent_case": "7"},
        {"parent_case": "2"},
    ),
    Case(
        "TSK-3",
        "TASK_INCOMPLETE",
        "create_hr_case_task",
        {"status": "draft", "short_description": "x", "task_type": "url"},
        {"external_url": "https://x.test"},
    ),
    task("TSK-4", "TASK_NOT_DONE", 1, {"status": "closed_complete"}, {"status": "closed_incomplete"}, says="1 items"),
    task(
        "TSK-4",
        "TASK_NOT_DONE",
        2,
        {"status": "closed_complete"},
        {"status": "closed_incomplete"},
        says="survey instance 1",
    ),
    task("PRC-2", "INVALID_STATUS_TRANSITION", 4, {"status": "closed_complete"}, {"status": "ready"}),
    Case(
        "SUR-1",
        "ANSWER_OF_ANOTHER",
        "update_survey_instance",
        {"survey_instance_id": 1, "answer_1": "Yes"},
        {"survey_instance_id": 2},
        role="agent",
    ),
    # rules, articles, notifications
    Case("RUL-1", "GROUP_INACTIVE", "add_new_assignment_rule", {"name": "Past", "user_group": 2}, {"user_group": 1}),
    Case(
        "RUL-2",
        "NOT_A_GROUP_MEMBER",
        "update_assignment_rules",
        {"assignment_rule_id": 1, "users": [4]},
        {"users": [3, 2]},
        says="user 4",
    ),
    Case(
        "RUL-3",
        "GROUP_INACTIVE",
        "add_new_escalation_rule",
        {"escalate_from": "3", "escalate_to": "2"},
        {"escalate_to": "1"},
    ),
    Case(
        "KB-1",
        "ARTICLE_NOT_PUBLISHED",
        "link_knowledge_to_hr_case",
        {"hr_case_id": 2, "knowledge_id": 2},
        {"knowledge_id": 1},
    ),
    Case("KB-2", "PUBLISHING_DENIED", "create_knowledge_article", {"title": "New"}, {"state": "draft"}, role="agent"),
    Case(
        "NTF-1",
        "RECIPIENT_NOT_ELIGIBLE",
        "send_notification",
        {"hr_case_id": 3, "email": "eve@home.test"},
        {"email": "eve@norfield.test"},
        says="work address",
    ),
    Case(
        "NTF-1",
        "RECIPIENT_NOT_ELIGIBLE",
        "send_notification",
        {"hr_case_id": 3, "email": "dan@norfield.test"},
        {"email": "mia@norfield.test"},
        says="nothing to do with HRC0000003",
    ),
]
