"""What the reading tools return, beyond the filters that `tests/domains/test_lists.py` tries on every list."""

from __future__ import annotations

from typing import Any

import pytest
from tests.hr.seed import TOKEN
from tests.support.gym import GymDatabase

HEADER = "x-hr-user-token"


def ids(database: GymDatabase, tool: str, key: str, **arguments: Any) -> list[int]:
    return [row[key] for row in database.call_with(tool, arguments).data]


# --- look-ups --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "arguments", "key"),
    [
        ("get_hr_service_by_name", {"service_name": "Onboard a starter"}, {"hr_service_id": 1}),
        ("get_service_template_by_name", {"name": " sTARTER kit"}, {"service_template_id": 1}),
        ("get_user_using_email", {"email": "cleo@NORFIELD.test"}, {"user_id": 3}),
        ("get_user_using_name", {"first_name": "Bo", "last_name": "Lund"}, {"user_id": 2}),
        ("find_group_by_name", {"name": "Payroll Desk"}, {"group_id": 1}),
        ("find_hr_case_by_number", {"number": "HRC0000702"}, {"hr_case_id": 2}),
        ("get_hr_profile_by_personal_email", {"personal_email": "CLEO@home.test"}, {"hr_profile_id": 13}),
        ("get_users_hr_profile", {"user_id": "2"}, {"hr_profile_id": 12}),
        ("fetch_hr_profile_by_number", {"number": "HRP00014"}, {"hr_profile_id": 14}),
    ],
)
def test_a_look_up_finds_the_row_of_the_users_organisation(
    unchanged: GymDatabase, tool: str, arguments: dict[str, str], key: dict[str, int]
) -> None:
    row = unchanged.call_with(tool, arguments).data
    assert {name: row[name] for name in key} == key


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("get_hr_service_by_name", {"service_name": "onboard a starter"}, "HR_SERVICE_NOT_FOUND"),
        ("get_service_template_by_name", {"name": "Starter"}, "SERVICE_TEMPLATE_NOT_FOUND"),
        ("get_user", {"user_id": "9"}, "USER_NOT_FOUND"),
        ("get_user", {"user_id": "Bo Lund"}, "USER_NOT_FOUND"),
        ("get_user_using_email", {"email": "bo@southgate.test"}, "USER_NOT_FOUND"),
        ("get_user_using_name", {"first_name": "bo", "last_name": "Lund"}, "USER_NOT_FOUND"),
        ("find_group_by_name", {"name": "payroll desk"}, "GROUP_NOT_FOUND"),
        ("list_group_members", {"group_id": 5}, "GROUP_NOT_FOUND"),
        ("find_hr_case_by_number", {"number": "HRC0000708"}, "HR_CASE_NOT_FOUND"),
        ("get_hr_profile_by_id", {"hr_profile_id": "19"}, "HR_PROFILE_NOT_FOUND"),
        ("get_hr_profile_by_personal_email", {"personal_email": "eve@home.test"}, "HR_PROFILE_NOT_FOUND"),
        ("get_users_hr_profile", {"user_id": "5"}, "HR_PROFILE_NOT_FOUND"),
        ("get_users_hr_profile", {"user_id": "9"}, "USER_NOT_FOUND"),
        ("fetch_hr_profile_by_number", {"number": "HRP00019"}, "HR_PROFILE_NOT_FOUND"),
        ("find_notifications_sent_for_incident", {"hr_case_id": 8}, "HR_CASE_NOT_FOUND"),
        ("count_case_for_assignment_group", {"assignment_group_id": 5}, "GROUP_NOT_FOUND"),
    ],
)
def test_a_look_up_refuses_what_the_organisation_does_not_have(
    unchanged: GymDatabase, tool: str, arguments: dict[str, Any], code: str
) -> None:
    assert unchanged.call_with(tool, arguments).code == code


def test_a_call_without_a_user_acts_as_the_first_one_and_an_unknown_token_is_refused(unchanged: GymDatabase) -> None:
    stranger = GymDatabase(unchanged.client, unchanged.id)
    assert stranger.call("get_user", user_id="1").data["first_name"] == "Ada"
    assert GymDatabase(unchanged.client, unchanged.id, {HEADER: "nobody"}).call("get_user", user_id="1").is_error


def test_no_result_has_the_token_of_a_user(unchanged: GymDatabase) -> None:
    shown = [
        unchanged.call("get_user", user_id="1"),
        unchanged.call("list_users"),
        unchanged.call("find_hr_case_by_number", number="HRC0000701"),
        unchanged.call("list_hr_case_tasks"),
    ]
    assert [outcome.text for outcome in shown if TOKEN in outcome.text or "static_token" in outcome.text] == []


# --- records with what they refer to ---------------------------------------------------------------------------------


def test_a_case_is_returned_with_the_records_that_it_refers_to(unchanged: GymDatabase) -> None:
    case = unchanged.call("find_hr_case_by_number", number="HRC0000701").data
    assert (case["skills"], case["opened_for"], case["account_number"]) == ([1], 14, "12345678")
    assert case["opened_for_details"] == {"hr_profile_id": 14, "number": "HRP00014", "user_id": 4}
    person = {"user_id": 2, "first_name": "Bo", "last_name": "Lund", "email": "bo@norfield.test"}
    assert (case["assigned_to_details"], case["opened_by_details"]) == (person, person)
    assert case["assignment_group_details"] == {"group_id": 1, "name": "Payroll Desk"}
    assert case["approval_criteria_details"] == {"hr_criteria_id": 1, "name": "Payroll approvers", "type": "approval"}


def test_a_case_without_references_has_null_in_their_place(unchanged: GymDatabase) -> None:
    case = unchanged.call("find_hr_case_by_number", number="HRC0000702").data
    assert case["skills"] is None
    assert {name for name, value in case.items() if name.endswith("_details") and value is not None} == {
        "opened_by_details"
    }


def test_a_service_is_returned_with_its_topic_and_the_topics_category(unchanged: GymDatabase) -> None:
    service = unchanged.call("get_hr_service_by_name", service_name="Change bank details").data
    assert service["topic_detail_details"] == {
        "topic_detail_id": 2,
        "name": "Bank details",
        "topic_category": 3,
        "topic_category_details": {"topic_category_id": 3, "name": "Pay", "coe_type": "Payroll"},
    }
    assert service["service_template_details"]["change_request_values"]["category"] == "payroll"


def test_a_reference_to_a_row_of_another_organisation_is_shown_as_its_id_only(database: GymDatabase) -> None:
    change = {"database_id": database.id, "sql": ["UPDATE hr_case SET assigned_to = 9 WHERE hr_case_id = 2"]}
    database.client.post("/api/apply-event", json=change).raise_for_status()
    case = database.call("find_hr_case_by_number", number="HRC0000702").data
    assert (case["assigned_to"], case["assigned_to_details"]) == (9, None)


def test_topic_categories_count_their_topics(unchanged: GymDatabase) -> None:
    rows = unchanged.call("get_topic_categories", coe_type="Payroll").data
    assert [(row["topic_category_id"], row["topic_details_count"]) for row in rows] == [(3, 1)]


def test_skills_of_users_and_escalation_rules_name_what_they_connect(unchanged: GymDatabase) -> None:
    (skill,) = unchanged.call("list_user_skills", user="2").data
    assert (skill["skill_name"], skill["user_email"], skill["user_first_name"]) == ("Payroll", "bo@norfield.test", "Bo")
    rules = unchanged.call("list_escalation_rules", escalate_to="1").data
    assert [(row["escalate_from_group_name"], row["escalate_to_group_name"]) for row in rules] == [
        ("Field Crew", "Payroll Desk")
    ]


# --- lists with rules of their own -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"skills": [2]}, [5]),
        ({"skills": [1]}, [1, 5]),
        ({"skills": [1, 2]}, [1, 5]),
        ({"skills": [7]}, []),
        ({"skills": [1], "limit": 1}, [1]),
        ({"skills": [1], "opened_for": "Bo Lund"}, [5]),
        ({"opened_for": "Una Stray"}, []),
        ({"limit": 2}, [1, 2]),
    ],
)
def test_cases_are_filtered_by_the_skills_that_they_require(
    unchanged: GymDatabase, arguments: dict[str, Any], expected: list[int]
) -> None:
    assert ids(unchanged, "list_hr_cases", "hr_case_id", **arguments) == expected


@pytest.mark.parametrize(
    ("tool", "key", "arguments", "expected"),
    [
        ("list_hr_criteria", "hr_criteria_id", {"users": "3"}, [1]),
        ("list_hr_criteria", "hr_criteria_id", {"users": "2, 3"}, [1]),
        ("list_hr_criteria", "hr_criteria_id", {"users": "9"}, []),
        ("list_assignment_rules", "assignment_rule_id", {"based_on_skills": "1"}, [1]),
        ("list_assignment_rules", "assignment_rule_id", {"users": "2,5"}, [1]),
        ("list_assignment_rules", "assignment_rule_id", {"users": "2", "active": False}, []),
        ("list_assignment_rules", "assignment_rule_id", {"name": "a", "limit": 1}, [1]),
    ],
)
def test_lists_of_ids_are_given_as_text_with_commas(
    unchanged: GymDatabase, tool: str, key: str, arguments: dict[str, Any], expected: list[int]
) -> None:
    assert ids(unchanged, tool, key, **arguments) == expected


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("list_hr_criteria", {"users": "1;2"}),
        ("list_assignment_rules", {"based_on_skills": "Payroll"}),
        ("register_hr_criteria", {"name": "New", "type": "approval", "users": "1, Ada"}),
    ],
)
def test_a_text_that_has_no_ids_is_refused(unchanged: GymDatabase, tool: str, arguments: dict[str, Any]) -> None:
    assert unchanged.call_with(tool, arguments).code == "INVALID_NUMBER"


def test_cases_to_approve_are_those_of_the_acting_user(unchanged: GymDatabase) -> None:
    assert ids(unchanged, "find_my_cases_to_approve", "hr_case_id") == [5]
    cleo = GymDatabase(unchanged.client, unchanged.id, {HEADER: "token-cleo"})
    assert ids(cleo, "find_my_cases_to_approve", "hr_case_id") == [1]


def test_cases_assigned_to_a_group_and_a_person_match_both(unchanged: GymDatabase) -> None:
    both = {"assignment_group": "Field Crew", "assigned_to": "Ada Berg"}
    assert ids(unchanged, "get_cases_assigned_to", "hr_case_id", **both) == [5]
    assert ids(unchanged, "get_cases_assigned_to", "hr_case_id", **both | {"assigned_to": "Bo Lund"}) == []


def test_profiles_without_an_end_are_listed_by_the_text_null(unchanged: GymDatabase) -> None:
    assert ids(unchanged, "fetch_hr_profiles", "hr_profile_id", employment_end_date="null") == [11, 12, 13]
    assert ids(unchanged, "fetch_hr_profiles", "hr_profile_id", manager="13") == [12, 14]
    assert ids(unchanged, "fetch_hr_profiles", "hr_profile_id", manager="404") == []


@pytest.mark.parametrize(
    ("created", "expected"),
    [
        ("2025-02-16", [1, 2]),
        ("2025-02-16T09:30:00", [2]),
        ("2025-02-16 09:30:00", [2]),
        ("2025-02-16T09:30:01", []),
        ("2025-02-18", []),
    ],
)
def test_notifications_are_listed_by_the_day_or_second_of_their_creation(
    unchanged: GymDatabase, created: str, expected: list[int]
) -> None:
    assert ids(unchanged, "find_notifications", "notification_id", sys_created_on=created) == expected


# --- users, page by page ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "expected", "total"),
    [
        ({}, [1, 3, 2, 4, 5, 6], 6),
        ({"order_direction": "desc"}, [6, 5, 4, 2, 3, 1], 6),
        ({"order_by": "first_name", "limit": 2, "offset": 1}, [2, 3], 6),
        ({"order_by": "phone"}, [2, 4, 5, 6, 1, 3], 6),
        ({"roles": ["agent", "manager"], "active": True}, [3, 2], 2),
        ({"email_like": "CLEO"}, [3], 1),
        ({"last_name_like": "n", "order_by": "user_id", "active": True}, [2, 5], 2),
        ({"offset": 9}, [], 6),
    ],
)
def test_users_are_filtered_sorted_and_paged(
    unchanged: GymDatabase, arguments: dict[str, Any], expected: list[int], total: int
) -> None:
    listed = unchanged.call_with("list_users", arguments).data
    assert [user["user_id"] for user in listed["users"]] == expected
    assert (listed["total_count"], listed["returned_count"]) == (total, len(expected))
    assert (listed["limit"], listed["offset"]) == (arguments.get("limit", 50), arguments.get("offset", 0))


# --- counts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("get_count_of_case_priority_wise", {}, {"critical": 1, "high": 1, "planning": 1}),
        ("get_count_of_case_priority_wise", {"priority_list": ["low", "high"]}, {"low": 0, "high": 1}),
        ("count_case_for_assignment_group", {"assignment_group_id": 1}, {"assignment_group_id": 1, "count": 1}),
        (
            "count_case_for_assignment_group",
            {"assignment_group_id": 4, "statuses": ["draft"]},
            {"assignment_group_id": 4, "count": 0},
        ),
        ("count_case_task_for_assignment_group", {"assignment_group_id": 4}, {"assignment_group_id": 4, "count": 1}),
        ("count_notifications_by_status", {}, {"draft": 1, "ready": 2}),
        ("count_notifications_by_status", {"status": ["cancelled"]}, {"cancelled": 0}),
        ("count_notifications_by_type", {}, {"alert": 1, "reminder": 1, "update": 1}),
        ("count_notifications_by_case", {}, {"count": 3}),
        ("count_notifications_by_case", {"case_ids": [1, 8]}, {"count": 2}),
        ("avg_notifications_by_case", {}, {"avg_count": 1.0}),
        ("avg_notifications_by_case", {"case_ids": [1, 2]}, {"avg_count": 1.0}),
        ("avg_notifications_by_case", {"case_ids": [404]}, {"avg_count": 0.0}),
    ],
)
def test_counts_are_of_the_users_organisation(
    unchanged: GymDatabase, tool: str, arguments: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert unchanged.call_with(tool, arguments).data == expected
