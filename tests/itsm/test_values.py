"""Values of ITSM records: what must be unique, what fits together, which fields may be empty."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from tests.domains.itsm import REFERENCES
from tests.itsm.examples import EXAMPLES
from tests.itsm.seed import OTHER_TOKEN
from tests.support.gym import GymDatabase

from opsgym_domains.itsm.domain import DOMAIN

TOOLS = DOMAIN.toolbox.tools

# --- duplicates ----------------------------------------------------------------------------------------------------

USER, TEMPLATE, ITEM = (
    EXAMPLES[name] for name in ("add_new_user", "create_new_incident_template", "register_configuration_item")
)
DUPLICATES: list[tuple[str, dict[str, Any], str]] = [
    ("add_new_user", USER | {"email": "zoe@southwind.test"}, "DUPLICATE_EMAIL"),
    ("add_new_user", USER | {"phone": "+47-555-010-0002"}, "DUPLICATE_PHONE"),
    ("add_new_user", USER | {"user_name": "bo.lund"}, "DUPLICATE_USER_NAME"),
    ("update_user_details", {"user_id": "USER_002", "email": "ada@northwind.test"}, "DUPLICATE_EMAIL"),
    ("update_user_details", {"user_id": "USER_002", "phone": "+47-555-010-0001"}, "DUPLICATE_PHONE"),
    ("update_user_details", {"user_id": "USER_002", "user_name": "ada.berg"}, "DUPLICATE_USER_NAME"),
    ("add_new_user_group", {"name": "Desk", "type": "IT Support"}, "DUPLICATE_GROUP_NAME"),
    (
        "add_new_user_group",
        {"name": "Desk 2", "type": "IT Support", "email": "desk@northwind.test"},
        "DUPLICATE_GROUP_EMAIL",
    ),
    ("update_user_group", {"group_id": "GROUP_002", "name": "Desk"}, "DUPLICATE_GROUP_NAME"),
    ("add_new_group_member", {"group_id": "GROUP_001", "user_id": "USER_001"}, "DUPLICATE_GROUP_MEMBER"),
    ("add_location", {"name": "South Tower", "city": "x", "country": "y"}, "DUPLICATE_LOCATION_NAME"),
    ("update_location", {"location_id": "LOC_001", "name": "South Tower"}, "DUPLICATE_LOCATION_NAME"),
    ("create_new_incident_template", TEMPLATE | {"name": "Mail down"}, "DUPLICATE_TEMPLATE_NAME"),
    ("update_incident_template", {"incident_template_id": "TMPL_002", "name": "Mail down"}, "DUPLICATE_TEMPLATE_NAME"),
    ("register_configuration_item", ITEM | {"name": "Mail server"}, "DUPLICATE_CI_NAME"),
    ("register_configuration_item", ITEM | {"serial_number": "SN-2"}, "DUPLICATE_SERIAL_NUMBER"),
    ("update_configuration_item", {"configuration_item_id": "CI_001", "name": "Spare laptop"}, "DUPLICATE_CI_NAME"),
    (
        "update_configuration_item",
        {"configuration_item_id": "CI_001", "serial_number": "SN-2"},
        "DUPLICATE_SERIAL_NUMBER",
    ),
    ("add_new_service", {"name": "Mail", "owned_by": "USER_001"}, "DUPLICATE_SERVICE_NAME"),
    ("update_service", {"service_id": "SVC_001", "name": "Payroll"}, "DUPLICATE_SERVICE_NAME"),
    (
        "register_new_service_offering",
        EXAMPLES["register_new_service_offering"] | {"name": "Mail Gold"},
        "DUPLICATE_SERVICE_OFFERING_NAME",
    ),
    (
        "update_service_offering",
        {"service_offering_id": "SVCOFF_001", "name": "Payroll Plus"},
        "DUPLICATE_SERVICE_OFFERING_NAME",
    ),
    ("update_change", {"change_id": "CHG_001", "number": "CHG0000007"}, "DUPLICATE_NUMBER"),
    ("update_incident", {"incident_id": "INC_001", "number": "INC-000044"}, "DUPLICATE_NUMBER"),
    ("add_child_incident", {"parent_incident": "INC_001", "child_incident": "INC_002"}, "DUPLICATE_CHILD_INCIDENT"),
    (
        "add_child_incidents",
        {"parent_incident": "INC_001", "child_incidents": ["INC_005", "INC_002"]},
        "DUPLICATE_CHILD_INCIDENT",
    ),
    (
        "add_child_incidents",
        {"parent_incident": "INC_001", "child_incidents": ["INC_005", "INC_005"]},
        "DUPLICATE_CHILD_INCIDENT",
    ),
    (
        "update_child_incident",
        {"child_incident_mapping_id": "CINC_001", "parent_incident": "INC_001", "child_incident": "INC_012"},
        "DUPLICATE_CHILD_INCIDENT",
    ),
    (
        "create_knowledge_article",
        {"title": "Restart the mail server", "owner_id": "USER_001"},
        "DUPLICATE_ARTICLE",
    ),
    (
        "update_knowledge_article",
        {"knowledge_id": "KB_002", "title": "Restart the mail server", "owner_id": "USER_001"},
        "DUPLICATE_ARTICLE",
    ),
    (
        "link_knowledge_to_incident",
        {"incident_id": "INC_001", "knowledge_id": "KB_001"},
        "DUPLICATE_INCIDENT_KNOWLEDGE",
    ),
    (
        "add_new_sla_definition",
        EXAMPLES["add_new_sla_definition"] | {"name": "Low response"},
        "DUPLICATE_SLA_DEFINITION_NAME",
    ),
    ("update_sla_definition", {"sla_def_id": "SLA_001", "name": "Low response"}, "DUPLICATE_SLA_DEFINITION_NAME"),
    ("map_change_request", {"change_id": "CHG_001", "incident_id": "INC_001"}, "DUPLICATE_MAPPING"),
    ("map_change_request", {"change_id": "CHG_001", "problem_id": "PRB_001"}, "DUPLICATE_MAPPING"),
    # One half is new, the other is not.
    (
        "map_change_request",
        {"change_id": "CHG_001", "incident_id": "INC_002", "problem_id": "PRB_001"},
        "DUPLICATE_MAPPING",
    ),
    # The mapping belongs to the other organisation.
    ("map_change_request", {"change_id": "CHG_003", "incident_id": "INC_005"}, "DUPLICATE_MAPPING"),
    (
        "link_affected_ci_to_incident",
        {"configuration_item": "CI_001", "incident_id": "INC_001"},
        "DUPLICATE_AFFECTED_CI",
    ),
    (
        "link_new_incident_sla",
        {"incident_id": "INC_001", "sla_def_id": "SLA_001", "start_time": "2025-02-12"},
        "DUPLICATE_INCIDENT_SLA",
    ),
    ("update_incident_sla_details", {"incident_sla_id": "TSLA_001", "sla_def_id": "SLA_002"}, "DUPLICATE_INCIDENT_SLA"),
]


@pytest.mark.parametrize(("tool", "arguments", "code"), DUPLICATES)
def test_a_duplicate_is_refused(unchanged: GymDatabase, tool: str, arguments: dict[str, Any], code: str) -> None:
    assert unchanged.call_with(tool, arguments).code == code


def test_a_duplicate_is_refused_to_users_of_other_organisations_too(unchanged: GymDatabase) -> None:
    """Except for SLA definitions, whose names are unique within an organisation."""
    codes = [
        (tool, arguments, code, unchanged.call_with(tool, arguments, **{"x-itsm-user-token": OTHER_TOKEN}).code)
        for tool, arguments, code in DUPLICATES
        if tool != "add_new_sla_definition"
    ]
    assert [case for case in codes if case[2] != case[3]] == []


def test_two_authors_may_write_articles_of_one_title(database: GymDatabase) -> None:
    assert database.call("create_knowledge_article", title="Restart the mail server", owner_id="USER_002").data


# --- references ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", ["create_new_incident_template", "update_incident_template"])
def test_a_reference_to_an_unknown_record_inside_a_template_is_refused(unchanged: GymDatabase, tool: str) -> None:
    for name in ("caller_id", "service", "service_offering", "configuration_item"):
        arguments = deepcopy(EXAMPLES[tool])
        arguments["change_request_values"][name] = "NO_SUCH_ID"
        if name == "service":
            arguments["change_request_values"]["service_offering"] = None if tool.startswith("update") else ""
        assert unchanged.call_with(tool, arguments).code == REFERENCES[name]


def test_one_unknown_child_keeps_all_children_from_being_added(unchanged: GymDatabase) -> None:
    children = ["INC_001", "INC_404"]
    outcome = unchanged.call("add_child_incidents", parent_incident="INC_005", child_incidents=children)
    assert outcome.code == "INCIDENT_NOT_FOUND"


def test_a_notification_goes_to_a_user_of_any_organisation(database: GymDatabase) -> None:
    """Published tasks are solved by agents of one organisation who notify users of another."""
    sent = database.call("send_notification", incident_id="INC_001", email="zoe@southwind.test").data
    assert sent["email"] == "zoe@southwind.test"
    changed = database.call("update_notification", notification_id="NOTIF_001", email="zoe@southwind.test").data
    assert changed["email"] == "zoe@southwind.test"


INCONSISTENT: list[tuple[str, dict[str, Any], str]] = [
    ("add_new_user", USER | {"location_id": "LOC_003"}, "CROSS_ORGANIZATION_ACCESS"),
    ("update_user_details", {"user_id": "USER_002", "location_id": "LOC_003"}, "CROSS_ORGANIZATION_ACCESS"),
    ("send_notification", {"incident_id": "INC_001", "email": "no-user@northwind.test"}, "USER_EMAIL_NOT_FOUND"),
    (
        "update_notification",
        {"notification_id": "NOTIF_001", "email": "no-user@northwind.test"},
        "USER_EMAIL_NOT_FOUND",
    ),
    (
        "create_new_incident_template",
        {
            "name": "x",
            "change_request_values": TEMPLATE["change_request_values"] | {"service_offering": "SVCOFF_002"},
        },
        "SERVICE_OFFERING_MISMATCH",
    ),
    (
        "update_incident_template",
        {"incident_template_id": "TMPL_001", "change_request_values": {"service_offering": "SVCOFF_002"}},
        "SERVICE_OFFERING_MISMATCH",
    ),
    (
        "update_incident_template",
        {"incident_template_id": "TMPL_001", "change_request_values": {"service": "SVC_002"}},
        "SERVICE_OFFERING_MISMATCH",
    ),
    ("add_child_incident", {"parent_incident": "INC_001", "child_incident": "INC_001"}, "SELF_REFERENCE"),
    ("add_child_incidents", {"parent_incident": "INC_001", "child_incidents": []}, "MISSING_FIELD"),
    (
        "update_child_incident",
        {"child_incident_mapping_id": "CINC_001", "parent_incident": "INC_002", "child_incident": "INC_002"},
        "SELF_REFERENCE",
    ),
    ("update_incident", {"incident_id": "INC_001", "parent_incident": "INC_001"}, "SELF_REFERENCE"),
    ("map_change_request", {"change_id": "CHG_001"}, "MISSING_FIELD"),
    ("map_change_request", {"change_id": "CHG_001", "incident_id": "", "problem_id": None}, "MISSING_FIELD"),
    (
        "update_incident_sla_details",
        {"incident_sla_id": "TSLA_001", "breach_time": "2025-02-09"},
        "BREACH_BEFORE_START",
    ),
    ("count_notifications_by_incident", {"incident_id": ["INC_001", "INC_404"]}, "INCIDENT_NOT_FOUND"),
    ("average_notifications_by_incident", {"incident_id": ["INC_404"]}, "INCIDENT_NOT_FOUND"),
    ("get_changes_assigned_to", {}, "MISSING_FIELD"),
    ("get_problems_assigned_to", {}, "MISSING_FIELD"),
    ("get_incidents_assigned_to", {"assigned_to": ""}, "MISSING_FIELD"),
    ("find_incident_knowledge_links", {"used_as": "applied,Resolution"}, "INVALID_ENUM_VALUE"),
]


@pytest.mark.parametrize(("tool", "arguments", "code"), INCONSISTENT)
def test_values_that_do_not_fit_together_are_refused(
    unchanged: GymDatabase, tool: str, arguments: dict[str, Any], code: str
) -> None:
    assert unchanged.call_with(tool, arguments).code == code


def test_published_access_reads_and_changes_records_of_other_organisations(database: GymDatabase) -> None:
    """The published server isolates organisations only where the refusals above say so."""
    assert database.call("find_incident_by_id", incident_id="INC_005").data["org_id"] == "ORG_002"
    assert database.call("update_incident", incident_id="INC_005", status="closed").data["status"] == "closed"


# --- formats and bounds --------------------------------------------------------------------------------------------

PHONES = (
    "", "555-010-0044", "+47-5550-10-0044", "+4711-555-010-0044", "+47 555 010 0044", "+47-555-010-00445",
    "+47-555-010-0044 ", "+91-98101-00011", "47-555-010-0044",
)  # fmt: skip
"""Not of the published form."""


@pytest.mark.parametrize(("tool", "rest"), [("add_new_user", USER), ("update_user_details", {"user_id": "USER_002"})])
def test_a_phone_number_of_another_form_is_refused(unchanged: GymDatabase, tool: str, rest: dict[str, Any]) -> None:
    codes = {phone: unchanged.call_with(tool, rest | {"phone": phone}).code for phone in PHONES}
    assert set(codes.values()) == {"INVALID_PHONE_FORMAT"}, codes


@pytest.mark.parametrize(
    ("tool", "rest"),
    [("get_user_using_email", {}), ("add_new_user", USER), ("update_user_details", {"user_id": "USER_002"})],
)
def test_a_malformed_email_address_is_refused(unchanged: GymDatabase, tool: str, rest: dict[str, Any]) -> None:
    addresses = ("", "ada", "@", "ada.northwind.test")
    codes = {address: unchanged.call_with(tool, rest | {"email": address}).code for address in addresses}
    assert set(codes.values()) == {"INVALID_FORMAT"}, codes


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("register_configuration_item", ITEM | {"cost": -0.01}, "VALUE_TOO_SMALL"),
        ("update_configuration_item", {"configuration_item_id": "CI_001", "cost": -1}, "VALUE_TOO_SMALL"),
        ("find_configuration_items", {"cost": -1}, "NEGATIVE_COST"),
        ("register_configuration_item", ITEM | {"cost": 1e8}, "NUMBER_TOO_LARGE"),
        ("register_configuration_item", ITEM | {"cost": float("nan")}, "INVALID_VALUE"),
        ("register_configuration_item", ITEM | {"cost": float("inf")}, "INVALID_VALUE"),
        ("register_configuration_item", ITEM | {"cost": "12"}, "INVALID_TYPE"),
        ("register_configuration_item", ITEM | {"name": "x" * 121}, "STRING_TOO_LONG"),
        ("add_new_sla_definition", EXAMPLES["add_new_sla_definition"] | {"target_mins": 0}, "VALUE_TOO_SMALL"),
        ("add_new_sla_definition", EXAMPLES["add_new_sla_definition"] | {"target_mins": 1.5}, "INVALID_TYPE"),
        ("add_new_sla_definition", EXAMPLES["add_new_sla_definition"] | {"target_mins": True}, "INVALID_TYPE"),
        ("add_new_sla_definition", EXAMPLES["add_new_sla_definition"] | {"target_mins": 10**10}, "NUMBER_TOO_LARGE"),
        ("find_sla_definitions", {"target_mins": 10**400}, "NUMBER_TOO_LARGE"),
        ("find_configuration_items", {"cost": 1e300}, "NUMBER_TOO_LARGE"),
        ("add_new_sla_definition", EXAMPLES["add_new_sla_definition"] | {"schedule": "x" * 33}, "STRING_TOO_LONG"),
        ("create_new_incident_template", {"name": "x", "change_request_values": {}}, ["MISSING_FIELD"] * 2),
        ("create_new_incident_template", {"name": "x", "change_request_values": []}, "INVALID_TYPE"),
        ("add_child_incidents", {"parent_incident": "INC_001", "child_incidents": [5]}, "INVALID_TYPE"),
        ("add_child_incidents", {"parent_incident": "INC_001", "child_incidents": "INC_005"}, "INVALID_TYPE"),
        ("find_services", {"colour": "red"}, "UNKNOWN_FIELD"),
    ],
)
def test_a_value_out_of_bounds_or_of_the_wrong_type_is_refused(
    unchanged: GymDatabase, tool: str, arguments: dict[str, Any], code: str | list[str]
) -> None:
    assert unchanged.call_with(tool, arguments).codes == ([code] if isinstance(code, str) else code)


def test_a_cost_is_stored_to_the_cent(database: GymDatabase) -> None:
    added = database.call_with("register_configuration_item", ITEM | {"cost": 12.344}).data
    assert added["cost"] == 12.34
    assert [row["name"] for row in database.call("find_configuration_items", cost=12.34).data] == ["Switch"]
    again = database.call("update_configuration_item", configuration_item_id=added["configuration_item_id"], cost=12.34)
    assert again.code == "NO_CHANGES_DETECTED"


def test_the_largest_cost_is_the_largest_of_the_column(database: GymDatabase) -> None:
    refused = database.call("update_configuration_item", configuration_item_id="CI_001", cost=100_000_000)
    assert refused.code == "NUMBER_TOO_LARGE"
    assert "99999999.99" in refused.message
    largest = database.call("update_configuration_item", configuration_item_id="CI_001", cost=99_999_999.99).data
    assert largest["cost"] == 99_999_999.99


# --- empty values --------------------------------------------------------------------------------------------------

REQUIRED_TEXTS: list[tuple[str, str]] = [
    ("create_knowledge_article", "title"),
    ("link_new_incident_sla", "start_time"),
    ("create_incident", "short_description"),
    ("create_change", "short_description"),
    ("create_problem", "problem_statement"),
    ("add_location", "name"),
    ("add_location", "city"),
    ("add_new_service", "name"),
    ("register_new_service_offering", "short_description"),
    ("register_configuration_item", "serial_number"),
    ("add_new_sla_definition", "name"),
    ("create_new_incident_template", "name"),
    ("add_new_user_group", "name"),
    ("add_new_user", "first_name"),
]  # fmt: skip


def test_a_required_text_cannot_be_blank(unchanged: GymDatabase) -> None:
    accepted = [
        (tool, name, blank)
        for tool, name in REQUIRED_TEXTS
        for blank in ("", "   ", None)
        if unchanged.call_with(tool, EXAMPLES[tool] | {name: blank}).code not in ("MISSING_FIELD", "STRING_TOO_SHORT")
    ]
    assert accepted == []


CREATORS = {"create_incident": "incident", "create_change": "change", "create_problem": "problem"}
OPTIONAL_TEXTS = [
    (tool, name)
    for tool in CREATORS
    for name, parameter in TOOLS[tool].parameters.items()
    if not parameter.required and parameter.allowed is None and "string" in parameter.schema["type"]
]


def test_an_empty_reference_or_text_is_stored_as_null(scratch: GymDatabase) -> None:
    stored = [
        (tool, name, blank)
        for tool, name in OPTIONAL_TEXTS
        for blank in ("", "  ")
        if scratch.call_with(tool, EXAMPLES[tool] | {name: blank}).data[name] is not None
    ]
    assert stored == []
    for tool, name in OPTIONAL_TEXTS:
        assert scratch.value(f"SELECT COUNT(*) FROM {CREATORS[tool]} WHERE {name} = ''") == 0


CLEARABLE: list[tuple[str, dict[str, str], str]] = [
    ("update_incident", {"incident_id": "INC_001"}, "service"),
    ("update_incident", {"incident_id": "INC_001"}, "description"),
    ("update_change", {"change_id": "CHG_001"}, "assigned_to"),
    ("update_problem", {"problem_id": "PRB_001"}, "worknotes"),
    ("update_configuration_item", {"configuration_item_id": "CI_001"}, "location_id"),
    ("update_service", {"service_id": "SVC_001"}, "description"),
    ("update_knowledge_article", {"knowledge_id": "KB_001"}, "body"),
    ("update_notification", {"notification_id": "NOTIF_001"}, "subject"),
    ("update_sla_definition", {"sla_def_id": "SLA_002"}, "schedule"),
    ("update_incident_sla_details", {"incident_sla_id": "TSLA_002"}, "breach_time"),
]
REQUIRED: list[tuple[str, dict[str, str], str]] = [
    ("update_incident", {"incident_id": "INC_001"}, "short_description"),
    ("update_incident", {"incident_id": "INC_001"}, "caller_id"),
    ("update_change", {"change_id": "CHG_001"}, "number"),
    ("update_problem", {"problem_id": "PRB_001"}, "opened_by"),
    ("update_configuration_item", {"configuration_item_id": "CI_001"}, "name"),
    ("update_service", {"service_id": "SVC_001"}, "owned_by"),
    ("update_service_offering", {"service_offering_id": "SVCOFF_001"}, "parent"),
    ("update_knowledge_article", {"knowledge_id": "KB_001"}, "title"),
    ("update_notification", {"notification_id": "NOTIF_001"}, "incident_id"),
    ("update_sla_definition", {"sla_def_id": "SLA_002"}, "name"),
    ("update_incident_sla_details", {"incident_sla_id": "TSLA_002"}, "start_time"),
]


def test_an_update_with_an_empty_text_clears_the_field_once(database: GymDatabase) -> None:
    for tool, record, name in CLEARABLE:
        assert database.call_with(tool, record | {name: ""}).data[name] is None, (tool, name)
        assert database.call_with(tool, record | {name: ""}).code == "NO_CHANGES_DETECTED", (tool, name)


def test_an_update_cannot_clear_a_required_field(unchanged: GymDatabase) -> None:
    for tool, record, name in REQUIRED:
        code = unchanged.call_with(tool, record | {name: ""}).code
        assert code in ("MISSING_FIELD", "STRING_TOO_SHORT"), (tool, name)


# --- the acting user -----------------------------------------------------------------------------------------------


def test_an_unknown_token_is_refused_by_every_tool(unchanged: GymDatabase) -> None:
    for tool, arguments in EXAMPLES.items():
        refused = unchanged.call_with(tool, arguments, **{"x-itsm-user-token": "stolen"})
        assert refused.code == "UNAUTHORIZED", tool
        assert "stolen" not in refused.text


def test_a_new_record_belongs_to_the_acting_users_organisation(database: GymDatabase) -> None:
    example = EXAMPLES["create_incident"]
    created = database.call_with("create_incident", example, **{"x-itsm-user-token": OTHER_TOKEN}).data
    assert created["org_id"] == "ORG_002"


def test_without_a_token_the_first_user_acts(database: GymDatabase) -> None:
    anonymous = GymDatabase(database.client, database.id)
    created = anonymous.call_with("create_change", EXAMPLES["create_change"]).data
    assert (created["requested_by"], created["org_id"]) == ("USER_001", "ORG_001")
