"""Records of CSM: refused values, cleared times, assignment. `tests/domains` covers creates and updates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.csm.seed import NOW
from tests.domains.csm import CREATES, DECLARATION, UPDATES
from tests.support.gym import GymDatabase

from opsgym_domains.csm.domain import DOMAIN

TOOLS = DOMAIN.toolbox.tools


CASE = CREATES["create_new_case"].given or {}


def written(tool: str) -> Mapping[str, Any]:
    """Arguments of a call that writes: the required ones of a create, all of an update."""
    if tool in CREATES:
        return CREATES[tool].given or {}
    return {UPDATES[tool].key: UPDATES[tool].record, **UPDATES[tool].values}


def test_the_required_arguments_of_a_create_are_the_declared_ones() -> None:
    for name, tool in CREATES.items():
        assert set(TOOLS[name].input_schema["required"]) == set(tool.given or {}), name
        assert {*(tool.given or {}), *tool.optional} == set(TOOLS[name].parameters), name


def test_an_update_declares_a_value_of_every_argument() -> None:
    for name, tool in UPDATES.items():
        assert {tool.key, *tool.values} == set(TOOLS[name].parameters), name


def test_a_refused_case_leaves_no_gap_in_the_numbers(database: GymDatabase) -> None:
    assert database.call_with("create_new_case", {**CASE, "product_id": 404}).code == "PRODUCT_NOT_FOUND"
    assert database.call_with("create_new_case", CASE).data["number"] == "CS-0000010"
    assert database.call_with("create_new_case", CASE).data["number"] == "CS-0000011"


def test_an_assignment_of_an_unknown_case_is_refused(unchanged: GymDatabase) -> None:
    assert unchanged.call("assign_case_to_user", case_id=404, assigned_to_user_id=1).code == "CASE_NOT_FOUND"
    assert unchanged.call("set_case_assignment_group", case_id=404, assignment_group_id=4).code == "CASE_NOT_FOUND"


@pytest.mark.parametrize(
    ("tool", "wrong", "code"),
    [
        ("create_new_case", {"short_description": ""}, "string_too_short"),
        ("create_new_case", {"short_description": "x" * 501}, "string_too_long"),
        ("create_new_case", {"short_description": "   "}, "MISSING_FIELD"),
        ("create_new_case", {"reopen_count": 2**31}, "NUMBER_TOO_LARGE"),
        ("create_new_case", {"account_id": "1"}, "type_error"),
        ("create_new_case", {"escalation": 1}, "type_error"),
        ("create_new_case", {"closed_on": "soon"}, "INVALID_DATE"),
        ("update_case", {"short_description": "x" * 501}, "string_too_long"),
        ("create_knowledge", {"title": ""}, "string_too_short"),
        ("create_knowledge", {"title": "x" * 256}, "string_too_long"),
        ("create_knowledge", {"body": "x" * 121}, "string_too_long"),
        ("create_knowledge", {"body": ""}, "MISSING_FIELD"),
        ("update_knowledge", {"kb_number": "KB-0000001"}, "DUPLICATE_KB_NUMBER"),
        ("update_knowledge", {"kb_number": ""}, "MISSING_FIELD"),
        ("send_notification", {"email": ""}, "string_too_short"),
        ("send_notification", {"email": "x" * 256}, "string_too_long"),
        ("link_new_case_sla", {"breach_time": "later"}, "INVALID_DATE"),
        ("register_new_interaction", {"started_at": "2026-02-30 00:00:00"}, "INVALID_DATE"),
        ("link_case_knowledge", {"case_id": 1, "knowledge_id": 1, "used_as": "suggested"}, "DUPLICATE_CASE_KNOWLEDGE"),
        ("add_new_user", {"email": "bo@desk.test"}, "DUPLICATE_EMAIL"),
        ("add_new_user", {"last_name": "  "}, "MISSING_FIELD"),
        ("add_new_user", {"phone": "1" * 41}, "string_too_long"),
        ("add_new_user", {"active": "true"}, "type_error"),
        ("update_user_details", {"email": "ada@desk.test"}, "DUPLICATE_EMAIL"),
        ("add_new_user_group", {"name": "Triage"}, "DUPLICATE_GROUP_NAME"),
        ("update_user_group", {"name": "Triage_2"}, "DUPLICATE_GROUP_NAME"),
        ("add_new_group_member", {"group_id": 1}, "DUPLICATE_GROUP_MEMBER"),
        ("create_new_account", {"name": "Globex"}, "DUPLICATE_ACCOUNT_NAME"),
        ("update_account_details", {"name": "Acme"}, "DUPLICATE_ACCOUNT_NAME"),
        ("create_new_account", {"email_domain": ""}, "string_too_short"),
        ("add_location", {"name": "x" * 256}, "string_too_long"),
        ("add_new_product", {"product_price": 9.5}, "type_error"),
        ("add_new_product", {"product_price": 2**31}, "NUMBER_TOO_LARGE"),
        (
            "register_new_installed_product",
            {"account_id": 1, "product_id": 1, "serial_number": "MR-001"},
            "DUPLICATE_INSTALLED_PRODUCT",
        ),
        ("register_new_installed_product", {"warranty_end": "31/12/2027"}, "INVALID_DATE"),
        ("enlist_new_contract", {"start_date": ""}, "MISSING_FIELD"),
        ("enlist_new_contract", {"end_date": "2026-02-30"}, "INVALID_DATE"),
        (
            "updated_linked_case_knowledge",
            {"case_id": 9, "knowledge_id": 2, "used_as": "applied"},
            "DUPLICATE_CASE_KNOWLEDGE",
        ),
    ],
)
def test_a_value_that_does_not_fit_is_refused(
    unchanged: GymDatabase, tool: str, wrong: dict[str, Any], code: str
) -> None:
    assert unchanged.call_with(tool, {**written(tool), **wrong}).code == code


def test_a_text_of_the_largest_length_is_accepted(database: GymDatabase) -> None:
    row = database.call_with("create_knowledge", {**written("create_knowledge"), "body": "x" * 120}).data
    assert row["body"] == "x" * 120
    assert database.call("update_case", case_id=1, short_description="é" * 500).data["short_description"] == "é" * 500


def test_an_article_may_have_several_uses_in_a_case(database: GymDatabase) -> None:
    assert database.call("link_case_knowledge", case_id=1, knowledge_id=1, used_as="resolution").data["case_kb_id"] == 6
    assert database.call("updated_linked_case_knowledge", case_kb_id=6, used_as="applied").data["used_as"] == "applied"
    assert (
        database.call("updated_linked_case_knowledge", case_kb_id=6, used_as="suggested").code
        == "DUPLICATE_CASE_KNOWLEDGE"
    )


def test_several_slas_of_one_definition_may_run_on_a_case(database: GymDatabase) -> None:
    assert database.call("link_new_case_sla", case_id=1, sla_def_id=1, stage="paused").data["case_sla_id"] == 8
    assert database.value("SELECT count(*) FROM case_sla WHERE case_id = 1 AND sla_def_id = 1") == 2


@pytest.mark.parametrize("state", ["resolved", "closed", "canceled", "new"])
def test_no_state_sets_another_field(database: GymDatabase, state: str) -> None:
    for case in (2, 3):
        before = DECLARATION.row(database, "customer_case", case)
        row = database.call("update_case", case_id=case, state=state).data
        assert row == before | {"state": state, "sys_updated_on": NOW}


def test_times_may_be_written_in_other_forms(database: GymDatabase) -> None:
    for text in ("2026-02-28T10:00:00Z", "2026-02-28T11:00:00+01:00", "2026-02-28 10:00"):
        assert database.call("update_case", case_id=1, closed_on=text).data["closed_on"] == "2026-02-28 10:00:00"


@pytest.mark.parametrize(
    ("tool", "record", "name"),
    [
        ("update_case", 2, "closed_on"),
        ("update_case_sla_details", 2, "start_time"),
        ("update_case_sla_details", 2, "breach_time"),
        ("update_case_sla_details", 2, "completed_time"),
        ("update_interaction", 1, "started_at"),
        ("update_interaction", 1, "ended_at"),
    ],
)
def test_an_empty_time_is_cleared(database: GymDatabase, tool: str, record: int, name: str) -> None:
    update = UPDATES[tool]
    assert DECLARATION.row(database, update.table, record)[name] is not None
    assert database.call_with(tool, {update.key: record, name: ""}).data[name] is None
    assert DECLARATION.row(database, update.table, record)[name] is None


# --- assignment ----------------------------------------------------------------------------------------------------


def test_assigning_a_case_to_a_user_keeps_its_group(database: GymDatabase) -> None:
    before = DECLARATION.row(database, "customer_case", 3)
    answer = database.call("assign_case_to_user", case_id=3, assigned_to_user_id=2).data
    assert answer == {"assignment_status": "success", "assigned_to": 2, "assigned_at": NOW}
    assert DECLARATION.row(database, "customer_case", 3) == before | {"assigned_to": 2, "sys_updated_on": NOW}


def test_assigning_a_case_to_a_group_keeps_its_user(database: GymDatabase) -> None:
    before = DECLARATION.row(database, "customer_case", 3)
    answer = database.call("set_case_assignment_group", case_id=3, assignment_group_id=4).data
    assert answer == {"status": "success", "assignment_group_id": 4, "set_at": NOW}
    assert DECLARATION.row(database, "customer_case", 3) == before | {"assignment_group_id": 4, "sys_updated_on": NOW}
