"""What the writing tools do, beyond the rules of the kit that `tests/domains/test_writes.py` tries on every tool."""

from __future__ import annotations

from typing import Any

import pytest
from tests.hr.seed import NOW
from tests.support.gym import GymDatabase

TODAY = NOW[:10]
PERSON = {"first_name": "Gus", "last_name": "Hall", "email": "gus.hall@norfield.test", "role": "agent"}
PROFILE = {"user_id": "5", "personal_email": "eve@home.test", "national_tax_id": "105"}


def event(database: GymDatabase, *statements: str) -> None:
    body = {"database_id": database.id, "sql": list(statements)}
    database.client.post("/api/apply-event", json=body).raise_for_status()


# --- numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "arguments", "column", "numbers"),
    [
        ("create_new_hr_case", {"short_description": "x", "coe_type": "HRIT"}, "number", ["HRC0000709", "HRC0000710"]),
        (
            "create_hr_case_task",
            {"status": "draft", "short_description": "x"},
            "number",
            ["TASK-20260302-0008", "TASK-20260302-0009"],
        ),
        ("create_knowledge_article", {"title": "x"}, "kb_number", ["KB-005", "KB-006"]),
    ],
)
def test_numbers_follow_the_highest_of_their_form(
    database: GymDatabase, tool: str, arguments: dict[str, Any], column: str, numbers: list[str]
) -> None:
    assert [database.call_with(tool, arguments).data[column] for _ in numbers] == numbers


def test_the_tasks_of_a_new_day_are_numbered_from_one(database: GymDatabase) -> None:
    database.set_clock("2026-03-03T00:00:00")
    task = database.call("create_hr_case_task", status="draft", short_description="x").data
    assert task["number"] == "TASK-20260303-0001"


def test_the_numbers_of_an_organisation_do_not_depend_on_others(database: GymDatabase) -> None:
    event(database, "UPDATE hr_profile SET number = 'HR-900' WHERE org_id = 2")
    assert database.call_with("onboard_new_hr_profile", PROFILE).data["number"] == "HR-003"


# --- accounts --------------------------------------------------------------------------------------------------------


def test_a_new_user_can_act_and_has_the_role_in_both_tables(database: GymDatabase) -> None:
    user = database.call_with("add_new_user", PERSON).data["user_id"]
    token = database.value(f"SELECT static_token FROM user WHERE user_id = {user}")
    gus = GymDatabase(database.client, database.id, {"x-hr-user-token": token})
    assert gus.call("get_user", user_id=str(user)).data["email"] == PERSON["email"]
    assert database.rows(f"SELECT role_id, org_id FROM user_role WHERE user_id = {user}") == [
        {"role_id": 3, "org_id": 1}
    ]


def test_another_role_replaces_the_one_in_the_role_table(database: GymDatabase) -> None:
    database.call("update_user_details", user_id="2", role="manager")
    assert database.rows("SELECT role_id FROM user_role WHERE user_id = 2") == [{"role_id": 2}]


@pytest.mark.parametrize("name", ["Gu$", "Gus7", "Gus_Hall", "Gus\nHall"])
def test_names_have_letters_and_few_other_characters(unchanged: GymDatabase, name: str) -> None:
    assert unchanged.call_with("add_new_user", PERSON | {"first_name": name}).code == "INVALID_NAME"
    assert unchanged.call("add_new_user_group", name=name, type="Service Desk").code == "INVALID_NAME"


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"email": "bo@norfield.test"}, "DUPLICATE_EMAIL"),
        ({"first_name": "Bo", "last_name": "Lund"}, "DUPLICATE_NAME"),
    ],
)
def test_names_and_addresses_are_unique_in_an_organisation(
    unchanged: GymDatabase, changed: dict[str, str], code: str
) -> None:
    assert unchanged.call_with("add_new_user", PERSON | changed).code == code


def test_an_address_of_another_organisation_is_free(database: GymDatabase) -> None:
    assert database.call_with("add_new_user", PERSON | {"email": "bo@southgate.test"}).data["email"]


# --- profiles --------------------------------------------------------------------------------------------------------


def test_onboarding_writes_the_full_tax_id_and_the_manager_as_a_user(database: GymDatabase) -> None:
    profile = database.call_with("onboard_new_hr_profile", PROFILE | {"manager": "13"}).data
    assert (profile["national_tax_id"], profile["manager"], profile["user_id"]) == ("TAX-001-105", 3, 5)


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"user_id": "404"}, "USER_NOT_FOUND"),
        ({"user_id": "9"}, "USER_NOT_FOUND"),
        ({"user_id": "4"}, "DUPLICATE_PROFILE"),
        ({"personal_email": "dan@home.test"}, "DUPLICATE_PERSONAL_EMAIL"),
        ({"national_tax_id": "104"}, "DUPLICATE_NATIONAL_TAX_ID"),
        ({"national_tax_id": "TAX-001-105"}, "INVALID_NATIONAL_TAX_ID"),
        ({"national_tax_id": "٣٣٣"}, "INVALID_NATIONAL_TAX_ID"),
        ({"manager": "12"}, "INVALID_MANAGER"),
        ({"manager": "19"}, "HR_PROFILE_NOT_FOUND"),
    ],
)
def test_onboarding_refuses_a_profile_that_cannot_be(
    unchanged: GymDatabase, changed: dict[str, str], code: str
) -> None:
    assert unchanged.call_with("onboard_new_hr_profile", PROFILE | changed).code == code


@pytest.mark.parametrize(
    "named",
    [{"hr_profile_id": "14"}, {"number": "HRP00014"}, {"user_id": "4"}, {"hr_profile_id": "14", "user_id": "4"}],
)
def test_a_profile_is_changed_by_any_of_its_identifiers(database: GymDatabase, named: dict[str, str]) -> None:
    changed = database.call_with("update_hr_profile", {**named, "position": "Sales"}).data
    assert (changed["hr_profile_id"], changed["position"], changed["changes"]) == (14, "Sales", ["position"])


def test_a_personal_address_names_the_profile_only_if_nothing_else_does(database: GymDatabase) -> None:
    by_address = {"personal_email": "DAN@home.test", "position": "Sales"}
    assert database.call_with("update_hr_profile", by_address).data["changes"] == ["position"]
    moved = database.call("update_hr_profile", user_id="4", personal_email="dan@new.test").data
    assert (moved["hr_profile_id"], moved["changes"]) == (14, ["personal_email"])


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"position": "Sales"}, "INVALID_IDENTIFIER"),
        ({"hr_profile_id": "14", "user_id": "2", "position": "Sales"}, "PROFILE_MISMATCH"),
        ({"hr_profile_id": "13", "manager": "13"}, "SELF_REFERENCE"),
        ({"number": "HRP00019", "position": "Sales"}, "HR_PROFILE_NOT_FOUND"),
    ],
)
def test_an_update_that_does_not_name_one_profile_is_refused(
    unchanged: GymDatabase, arguments: dict[str, str], code: str
) -> None:
    assert unchanged.call_with("update_hr_profile", arguments).code == code


def test_offboarding_ends_the_employment_today_and_nothing_else(database: GymDatabase) -> None:
    before = database.rows("SELECT * FROM user WHERE user_id = 2")
    assert database.call("offboard_hr_profile", user_id="2").data["employment_end_date"] == f"{TODAY}T00:00:00"
    assert database.rows("SELECT * FROM user WHERE user_id = 2") == before


def test_offboarding_again_keeps_the_day_and_a_day_to_come_moves_to_today(database: GymDatabase) -> None:
    profile = database.call("offboard_hr_profile", user_id="4").data
    assert (profile["employment_end_date"], profile["updated_at"]) == ("2025-12-31T00:00:00", "2025-01-19T08:00:00")
    database.call("update_hr_profile", user_id="4", employment_end_date="2026-12-31")
    assert database.call("offboard_hr_profile", user_id="4").data["employment_end_date"] == f"{TODAY}T00:00:00"


def test_users_cannot_end_their_own_employment(database: GymDatabase) -> None:
    assert database.call("offboard_hr_profile", user_id="1").code == "SELF_OFFBOARDING"
    assert database.call("offboard_hr_profiles", nationality="GB").data == {"offboarded_count": 0, "profiles": []}


def test_people_are_offboarded_together_by_a_filter(database: GymDatabase) -> None:
    assert database.call("offboard_hr_profiles").code == "MISSING_FILTER"
    left = database.call("offboard_hr_profiles", manager="13").data
    assert (left["offboarded_count"], [profile["hr_profile_id"] for profile in left["profiles"]]) == (1, [12])


# --- services, cases, tasks ------------------------------------------------------------------------------------------


def test_a_deleted_service_stays_as_an_inactive_one(database: GymDatabase) -> None:
    named = {"hr_service_id": "1", "service_name": "Onboard a starter"}
    assert database.call_with("delete_hr_service", named).data["active"] is False
    assert database.call_with("delete_hr_service", named).code == "ALREADY_INACTIVE"
    assert database.call_with("delete_hr_service", named | {"hr_service_id": "2"}).code == "SERVICE_MISMATCH"


def test_a_template_keeps_keys_of_its_own(database: GymDatabase) -> None:
    values = {"short_description": "Grüße", "category": "leave", "steps": [1, {"days": 2.5}], "paid": True}
    made = database.call("create_new_service_template", name="Leave", change_request_values=values, coe_type="HRIT")
    assert made.data["change_request_values"] == values
    assert database.value(
        "SELECT json_extract(change_request_values, '$.steps[1].days') FROM service_template WHERE name = 'Leave'"
    ) == pytest.approx(2.5)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"opened_for": "Una Stray"}, "USER_NOT_FOUND"),
        ({"opened_for": "Eve Tan"}, "HR_PROFILE_NOT_FOUND"),
        ({"assigned_to": "Bo"}, "USER_NOT_FOUND"),
        ({"assignment_group": "payroll desk"}, "GROUP_NOT_FOUND"),
        ({"skills": [1, 7]}, "SKILL_NOT_FOUND"),
        ({"hr_service": "404"}, "HR_SERVICE_NOT_FOUND"),
        ({"hr_service": "Change bank details"}, "INVALID_NUMBER"),
    ],
)
def test_a_case_names_records_that_exist(unchanged: GymDatabase, fields: dict[str, Any], code: str) -> None:
    case = {"short_description": "x", "coe_type": "HRIT"}
    assert unchanged.call_with("create_new_hr_case", case | fields).code == code


@pytest.mark.parametrize(
    "expected",
    [
        {"number": "HRC0000702"},
        {"created_after": "2025-02-10"},
        {"created_before": "2025-02-08T23:59:59"},
    ],
)
def test_a_case_that_is_not_the_expected_one_is_not_changed(unchanged: GymDatabase, expected: dict[str, str]) -> None:
    refused = unchanged.call_with("update_hr_case", {"hr_case_id": "1", "worknotes": "x", **expected})
    assert refused.code == "CASE_MISMATCH"
    assert "HRC0000701" in refused.text


def test_a_field_of_a_case_changes_alone(database: GymDatabase) -> None:
    changed = database.call("update_hr_case", hr_case_id="1", status="awaiting_approval", number="HRC0000701").data
    assert (changed["changes"], changed["request_status"], changed["updated_at"]) == (["status"], "requested", NOW)


def test_names_are_found_with_more_spaces_and_cleared_by_an_empty_text(database: GymDatabase) -> None:
    moved = database.call("update_hr_case", hr_case_id="1", assigned_to="  Ada   Berg ").data
    assert moved["assigned_to"] == 1
    cleared = database.call("update_hr_case", hr_case_id="1", assigned_to="").data
    assert (cleared["assigned_to"], cleared["changes"]) == (None, ["assigned_to"])


# --- other records ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("create_survey", {}, "MISSING_QUESTION"),
        ("create_survey", {"question_1": " "}, "MISSING_QUESTION"),
        ("add_new_escalation_rule", {"escalate_from": "1", "escalate_to": "1"}, "SELF_REFERENCE"),
        ("add_new_escalation_rule", {"escalate_from": "1", "escalate_to": "2"}, "DUPLICATE_ESCALATION_RULE"),
        ("add_new_escalation_rule", {"escalate_from": "1", "escalate_to": "5"}, "GROUP_NOT_FOUND"),
        ("add_new_group_member", {"group_id": "1", "user_id": "2"}, "DUPLICATE_GROUP_MEMBER"),
        ("add_new_skill_to_user", {"skill": "1", "user": "2"}, "DUPLICATE_USER_SKILL"),
        ("link_knowledge_to_hr_case", {"hr_case_id": 1, "knowledge_id": 1}, "DUPLICATE_KNOWLEDGE_LINK"),
        ("register_hr_criteria", {"name": "x", "type": "approval", "users": "1,9"}, "USER_NOT_FOUND"),
        ("add_new_assignment_rule", {"name": "x", "users": [9]}, "USER_NOT_FOUND"),
        ("update_knowledge_article", {"title": "x"}, "INVALID_IDENTIFIER"),
        ("update_knowledge_article", {"knowledge_id": 1, "kb_number": "KB0040001", "title": "x"}, "INVALID_IDENTIFIER"),
        ("send_notification", {"hr_case_id": 1, "email": "bo@southgate.test"}, "RECIPIENT_NOT_FOUND"),
        ("send_notification", {"hr_case_id": 8, "email": "bo@norfield.test"}, "HR_CASE_NOT_FOUND"),
    ],
)
def test_a_record_that_makes_no_sense_is_refused(
    unchanged: GymDatabase, tool: str, arguments: dict[str, Any], code: str
) -> None:
    assert unchanged.call_with(tool, arguments).code == code


def test_an_article_is_changed_by_its_number(database: GymDatabase) -> None:
    assert database.call("update_knowledge_article", kb_number="KB-004", state="published").data["knowledge_id"] == 2


def test_a_personal_address_may_be_notified(database: GymDatabase) -> None:
    assert database.call("send_notification", hr_case_id=1, email="dan@home.test").data["status"] == "draft"


def test_lists_of_a_rule_are_stored_as_json_and_replaced(database: GymDatabase) -> None:
    changed = database.call("update_assignment_rules", assignment_rule_id=1, users=[1, 2], based_on_skills=[2]).data
    assert (changed["users"], changed["based_on_skills"]) == ([1, 2], [2])
    assert database.value("SELECT users FROM assignment_rules WHERE assignment_rule_id = 1") == "[1, 2]"


def test_a_text_that_is_no_list_is_shown_as_it_is(database: GymDatabase) -> None:
    event(database, "UPDATE assignment_rules SET users = 'Bo' WHERE assignment_rule_id = 1")
    (rule,) = database.call("list_assignment_rules", name="first").data
    assert rule["users"] == "Bo"
    assert database.call("list_assignment_rules", users="2").data == []
