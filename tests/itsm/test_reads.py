"""Reads of ITSM beyond filtered lists: lists of one record, lookups, counts. `tests/domains` covers the filters."""

from __future__ import annotations

from typing import Any

import pytest
from tests.domains.itsm import LISTS
from tests.itsm.examples import EXAMPLES
from tests.support.gym import GymDatabase

from opsgym_domains.itsm.domain import DOMAIN

TOOLS = DOMAIN.toolbox.tools

# --- lists ---------------------------------------------------------------------------------------------------------

SUBJECTS: list[tuple[str, dict[str, Any], str, list[str]]] = [
    ("list_child_incidents", {"parent_incident": "INC_404"}, "child_incident_mapping_id", []),
    ("list_child_incidents", {"parent_incident": "INC_001"}, "child_incident_mapping_id", ["CINC_001", "CINC_002"]),
    ("find_notifications_for_email", {"email": "BO@northwind.test"}, "notification_id", []),
    ("find_notifications_for_email", {"email": "bo@northwind.test"}, "notification_id", ["NOTIF_003", "NOTIF_001"]),
    ("find_notifications_sent_for_incident", {"incident_id": "INC_404"}, "notification_id", []),
    (
        "find_notifications_sent_for_incident",
        {"incident_id": "INC_001"},
        "notification_id",
        ["NOTIF_002", "NOTIF_001"],
    ),
    ("find_change_request_mappings_for_incident", {"incident_id": "INC_002"}, "change_request_mapping_id", []),
    (
        "find_change_request_mappings_for_incident",
        {"incident_id": "INC_001"},
        "change_request_mapping_id",
        ["CRM_001"],
    ),
    ("find_change_request_mappings_for_problem", {"problem_id": "PRB_002"}, "change_request_mapping_id", []),
    ("find_change_request_mappings_for_problem", {"problem_id": "PRB_001"}, "change_request_mapping_id", ["CRM_002"]),
    ("get_incidents_assigned_to", {"assigned_to": "USER_404"}, "incident_id", []),
    ("get_incidents_assigned_to", {"assigned_to": "USER_002"}, "incident_id", ["INC_012", "INC_001"]),
    ("get_incidents_assigned_to", {"assignment_group": "GROUP_001"}, "incident_id", ["INC_002", "INC_001"]),
    (
        "get_incidents_assigned_to",
        {"assigned_to": "USER_002", "assignment_group": "GROUP_001"},
        "incident_id",
        ["INC_001"],
    ),
    ("get_changes_assigned_to", {"assignment_group": "GROUP_002"}, "change_id", ["CHG_003"]),
    ("get_changes_assigned_to", {"assigned_to": "USER_002", "assignment_group": "GROUP_002"}, "change_id", []),
    ("find_incident_knowledge_links", {"used_as": "resolution"}, "incident_kb_id", []),
    ("find_incident_knowledge_links", {"used_as": "suggested"}, "incident_kb_id", ["IKB_002"]),
    ("find_incident_knowledge_links", {"used_as": "applied, suggested,"}, "incident_kb_id", ["IKB_002", "IKB_001"]),
]


@pytest.mark.parametrize(("tool", "arguments", "key", "expected"), SUBJECTS)
def test_a_list_of_one_record_holds_what_belongs_to_it(
    unchanged: GymDatabase, tool: str, arguments: dict[str, Any], key: str, expected: list[str]
) -> None:
    assert [row[key] for row in unchanged.call_with(tool, arguments).data] == expected


def test_assigned_problems_come_with_their_count(unchanged: GymDatabase) -> None:
    listed = unchanged.call("get_problems_assigned_to", assigned_to="USER_002", assignment_group="GROUP_001").data
    assert ([row["problem_id"] for row in listed["problems"]], listed["total_count"]) == (["PRB_001"], 1)
    assert unchanged.call("get_problems_assigned_to", assigned_to="USER_001").data == {"problems": [], "total_count": 0}


@pytest.mark.parametrize(
    "resolved", ["2025-02-11T18:00:00Z", "2025-02-11 18:00:00", "02/11/2025 18:00", "2025-02-11T19:00:00+01:00"]
)
def test_the_time_of_resolution_matches_exactly_in_any_form(unchanged: GymDatabase, resolved: str) -> None:
    assert [row["incident_id"] for row in unchanged.call("list_incidents", resolved=resolved).data] == ["INC_012"]
    assert unchanged.call("list_incidents", resolved="2025-02-11").data == []


# --- lookups -------------------------------------------------------------------------------------------------------

LOOKUPS: list[tuple[str, dict[str, str], str]] = [
    ("get_user", {"user_id": "user_002"}, "USER_NOT_FOUND"),
    ("get_user_using_email", {"email": "ADA@northwind.test"}, "USER_NOT_FOUND"),
    ("get_user_using_name", {"first_name": "Ada", "last_name": "Lund"}, "USER_NOT_FOUND"),
    ("find_group_by_name", {"name": "desk"}, "GROUP_NOT_FOUND"),
    ("find_location_by_given_name", {"name": "south tower"}, "LOCATION_NOT_FOUND"),
    ("get_location_by_id", {"location_id": "LOC_404"}, "LOCATION_NOT_FOUND"),
    ("get_incident_template_by_name", {"name": "Mail"}, "INCIDENT_TEMPLATE_NOT_FOUND"),
    ("find_configuration_item_by_serial_number", {"serial_number": "sn-2"}, "CONFIGURATION_ITEM_NOT_FOUND"),
    ("find_service_by_name", {"name": "mail"}, "SERVICE_NOT_FOUND"),
    ("find_service_offering_by_name", {"name": "Mail"}, "SERVICE_OFFERING_NOT_FOUND"),
    ("find_change_by_number", {"number": "CHG_001"}, "CHANGE_NOT_FOUND"),
    ("find_problem_by_number", {"number": "PRB_001"}, "PROBLEM_NOT_FOUND"),
    ("find_incident_by_number", {"number": "INC_001"}, "INCIDENT_NOT_FOUND"),
    ("find_incident_by_id", {"incident_id": "INC0000001"}, "INCIDENT_NOT_FOUND"),
    ("find_parent_incident", {"child_incident": "INC_001"}, "CHILD_INCIDENT_NOT_FOUND"),
    ("find_sla_definition_by_name", {"name": "high response"}, "SLA_DEFINITION_NOT_FOUND"),
    ("count_incident_for_assignment_group", {"assignment_group_id": "GROUP_404"}, "GROUP_NOT_FOUND"),
]


@pytest.mark.parametrize(("tool", "arguments", "code"), LOOKUPS)
def test_a_lookup_matches_exactly_and_refuses_an_unknown_value(
    unchanged: GymDatabase, tool: str, arguments: dict[str, str], code: str
) -> None:
    outcome = unchanged.call_with(tool, arguments)
    assert outcome.code == code
    assert next(iter(arguments.values())) in outcome.message


def test_of_users_with_one_name_the_latest_is_returned(unchanged: GymDatabase) -> None:
    assert unchanged.call("get_user_using_name", first_name="bo", last_name="lund").data["user_id"] == "USER_003"


# --- counts --------------------------------------------------------------------------------------------------------

COUNTS: list[tuple[str, dict[str, Any], Any]] = [
    ("get_count_of_incident_priority_wise", {}, {"high": 1, "low": 1, "moderate": 1, "planning": 1}),
    ("get_count_of_incident_priority_wise", {"priority_list": ["critical", "", "low"]}, {"critical": 0, "low": 1}),
    ("count_incident_for_assignment_group", {"assignment_group_id": "GROUP_001"}, {"GROUP_001": 2}),
    ("count_incident_for_assignment_group", {"assignment_group_id": "GROUP_002"}, {"GROUP_002": 0}),
    (
        "count_incident_for_assignment_group",
        {"assignment_group_id": "GROUP_001", "status": "on_hold", "priority": "", "channel": "phone"},
        {"GROUP_001": 1},
    ),
    ("total_sum_of_target_mins_per_priority", {}, {"high": 271, "low": 480}),
    ("total_sum_of_target_mins_per_priority", {"priority": ["low", "critical"]}, {"low": 480}),
    ("average_target_mins_per_priority", {}, {"high": 135.5, "low": 480.0}),
    ("count_notifications_by_status", {}, {"failed": 1, "queued": 1, "sent": 1}),
    ("count_notifications_by_status", {"status": ["opened", "sent"]}, {"opened": 0, "sent": 1}),
    ("count_notifications_by_type", {}, {"alert": 1, "update": 1}),
    ("count_notifications_by_incident", {}, {"INC_001": 2, "INC_002": 1}),
    ("count_notifications_by_incident", {"incident_id": ["INC_012", "INC_001"]}, {"INC_012": 0, "INC_001": 2}),
    ("average_notifications_by_incident", {}, {"average": 1.5, "notifications": 3, "incidents": 2}),
    (
        "average_notifications_by_incident",
        {"incident_id": ["INC_012"]},
        {"average": 0, "notifications": 0, "incidents": 0},
    ),
    ("find_stage_wise_breached_incident_sla_counts", {}, {"breached": 1, "completed": 1}),
    (
        "find_stage_wise_breached_incident_sla_counts",
        {"stages": ["in_progress", "Breached"]},
        {"in_progress": 0, "breached": 1},
    ),
]


@pytest.mark.parametrize(("tool", "arguments", "expected"), COUNTS)
def test_counts_sums_and_averages(unchanged: GymDatabase, tool: str, arguments: dict[str, Any], expected: Any) -> None:
    assert unchanged.call_with(tool, arguments).data == expected


def test_every_tool_that_only_reads_is_tested() -> None:
    tested = {*LISTS, "get_problems_assigned_to"}
    tested |= {row[0] for row in SUBJECTS} | {row[0] for row in LOOKUPS} | {row[0] for row in COUNTS}
    assert {name for name in EXAMPLES if not TOOLS[name].writes} == tested


# --- SLA stages ----------------------------------------------------------------------------------------------------

STAGE_TOOLS: dict[str, dict[str, Any]] = {
    "find_incident_slas": {},
    "link_new_incident_sla": EXAMPLES["link_new_incident_sla"],
    "update_incident_sla_details": {"incident_sla_id": "TSLA_001"},
    "delete_incident_slas": {},
}


@pytest.mark.parametrize("stage", ["broken", "in progress", "in-progress", "breached, paused"])
def test_an_unknown_sla_stage_is_refused(unchanged: GymDatabase, stage: str) -> None:
    for tool, arguments in STAGE_TOOLS.items():
        assert unchanged.call_with(tool, arguments | {"stage": stage}).code == "INVALID_ENUM_VALUE", tool
    counted = unchanged.call("find_stage_wise_breached_incident_sla_counts", stages=["breached", stage])
    assert counted.code == "INVALID_ENUM_VALUE"


@pytest.mark.parametrize("tool", STAGE_TOOLS)
def test_an_sla_stage_may_be_written_in_any_case(database: GymDatabase, tool: str) -> None:
    outcome = database.call_with(tool, STAGE_TOOLS[tool] | {"stage": "Breached"})
    assert not outcome.is_error, outcome.text
    assert '"stage": "breached"' in outcome.text
