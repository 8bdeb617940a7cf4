"""What ITSM declares to be tested."""

from __future__ import annotations

from tests.domains.declaration import (
    CreateTool,
    DeleteTool,
    DomainDeclaration,
    ListTool,
    StrictDeclaration,
    UpdateTool,
)
from tests.itsm.examples import EXAMPLES
from tests.itsm.process_rules import CASES
from tests.itsm.seed import NOW, SEED, TOKEN
from tests.itsm.strict import AGENTS_CHANGE, SCRIPT, TOKENS

from opsgym_domains import registry
from opsgym_domains.itsm.rules import INCIDENT_TRANSITIONS

LISTS = {
    "list_users": ListTool("users", ("first_name", "last_name", "phone")),
    "list_user_groups": ListTool("user_group", ("name",)),
    "list_group_members": ListTool("user_group_member"),
    "find_locations": ListTool("location", ("name", "city", "country")),
    "get_incident_templates": ListTool("incident_template"),
    "find_configuration_items": ListTool("configuration_item"),
    "find_services": ListTool("service", ("name",)),
    "find_service_offerings": ListTool(
        "service_offering", ("name", "short_description"), {"parent": "business_service"}
    ),
    "list_changes": ListTool(
        "change", ("short_description", "description", "implementation_plan", "testing_plan", "close_notes")
    ),
    "list_problems": ListTool(
        "problem",
        ("problem_statement", "short_description", "worknotes", "workaround", "fix_notes"),
        rows_in="problems",
    ),
    "list_incidents": ListTool(
        "incident",
        ("short_description", "description", "worknotes", "resolution_notes", "close_notes"),
        {"called_id": "caller_id"},
    ),
    "retrieve_knowledge_articles": ListTool("knowledge", ("title", "body"), rows_in="knowledge_articles"),
    "find_incident_knowledge_links": ListTool("incident_knowledge", own_rules=("used_as",)),
    "find_sla_definitions": ListTool("sla_definition", ("name",)),
    "find_notifications": ListTool("notification"),
    "list_change_request_mappings": ListTool("change_request_mapping"),
    "list_incident_affected_cis": ListTool("incident_affected_cis"),
    "find_incident_slas": ListTool("incident_sla"),
}

# --- writes --------------------------------------------------------------------------------------------------------

CREATES = {
    "add_new_user": CreateTool(
        "users",
        {"user_id": "USER_010", "user_name": "cleo.dahl", "location_id": "LOC_004", "active": True},
        also_writes=frozenset({"user_role"}),
    ),
    "add_new_user_group": CreateTool(
        "user_group", {"group_id": "GROUP_003", "active": True, "manager_id": "USER_001", "description": None}
    ),
    "add_new_group_member": CreateTool("user_group_member", {"member_id": "MEMBER_003"}),
    "add_location": CreateTool(
        "location", {"location_id": "LOC_005", "active": True, "plot_no": None, "street": None, "state": None}
    ),
    "create_new_incident_template": CreateTool(
        "incident_template", {"incident_template_id": "TMPL_003", "active": True}
    ),
    "register_configuration_item": CreateTool("configuration_item", {"configuration_item_id": "CI_003", "cost": 99.99}),
    "add_new_service": CreateTool(
        "service",
        {
            "service_id": "SVC_003",
            "used_for": "production",
            "status": "operational",
            "service_classification": "business",
            "business_criticality": "not-critical",
            "description": None,
        },
    ),
    "register_new_service_offering": CreateTool(
        "service_offering",
        {"service_offering_id": "SVCOFF_003", "business_service": "SVC_001", "used_for": "production"},
        columns={"parent": "business_service"},
    ),
    "create_change": CreateTool(
        "change", {"change_id": "CHG_004", "number": "CHG0000008", "requested_by": "USER_001", "cab_required": None}
    ),
    "create_problem": CreateTool(
        "problem", {"problem_id": "PRB_003", "number": "PRB0000003", "opened_by": "USER_001", "short_description": None}
    ),
    "create_incident": CreateTool(
        "incident",
        {
            "incident_id": "INC_013",
            "number": "INC-000045",
            "status": "new",
            "category": "inquiry-help",
            "priority": "planning",
            "impact": "low",
            "urgency": "low",
            "service_display": None,
            "assigned_to_display": None,
            "assignment_group_display": None,
            "resolved": None,
        },
    ),
    "add_child_incident": CreateTool("child_incident", {"child_incident_mapping_id": "CINC_003"}),
    "create_knowledge_article": CreateTool(
        "knowledge",
        {"knowledge_id": "KB_003", "kb_number": "KB0000003", "state": "published", "visibility": "internal"},
    ),
    "link_knowledge_to_incident": CreateTool(
        "incident_knowledge", {"incident_kb_id": "IKB_003", "used_as": "resolution"}
    ),
    "add_new_sla_definition": CreateTool("sla_definition", {"sla_def_id": "SLA_005", "schedule": None}),
    "send_notification": CreateTool(
        "notification", {"notification_id": "NOTIF_004", "status": "queued", "subject": None, "message": None}
    ),
    "map_change_request": CreateTool(
        "change_request_mapping", {"change_request_mapping_id": "CRM_004", "incident_id": None}
    ),
    "link_affected_ci_to_incident": CreateTool("incident_affected_cis", {"incident_affected_cis_id": "TASKCI_003"}),
    "link_new_incident_sla": CreateTool(
        "incident_sla",
        {
            "start_time": "2025-02-12T08:00:00",
            "incident_sla_id": "TSLA_004",
            "stage": "paused",
            "has_breached": False,
            "completed_time": None,
        },
    ),
}
UPDATES = {
    "update_user_details": UpdateTool(
        "users",
        "user_id",
        "USER_001",
        "USER_NOT_FOUND",
        columns={"company_id": "org_id"},
        also_writes=frozenset({"user_role"}),
    ),
    "update_user_group": UpdateTool("user_group", "group_id", "GROUP_001", "GROUP_NOT_FOUND"),
    "update_location": UpdateTool("location", "location_id", "LOC_001", "LOCATION_NOT_FOUND"),
    "update_incident_template": UpdateTool(
        "incident_template", "incident_template_id", "TMPL_001", "INCIDENT_TEMPLATE_NOT_FOUND"
    ),
    "update_configuration_item": UpdateTool(
        "configuration_item", "configuration_item_id", "CI_001", "CONFIGURATION_ITEM_NOT_FOUND"
    ),
    "update_service": UpdateTool("service", "service_id", "SVC_001", "SERVICE_NOT_FOUND"),
    "update_service_offering": UpdateTool(
        "service_offering",
        "service_offering_id",
        "SVCOFF_001",
        "SERVICE_OFFERING_NOT_FOUND",
        columns={"parent": "business_service"},
    ),
    "update_change": UpdateTool("change", "change_id", "CHG_001", "CHANGE_NOT_FOUND"),
    "update_problem": UpdateTool("problem", "problem_id", "PRB_001", "PROBLEM_NOT_FOUND", other_keys=("number",)),
    "update_incident": UpdateTool("incident", "incident_id", "INC_001", "INCIDENT_NOT_FOUND"),
    "update_knowledge_article": UpdateTool(
        "knowledge", "knowledge_id", "KB_001", "KNOWLEDGE_ARTICLE_NOT_FOUND", other_keys=("kb_number",)
    ),
    "update_sla_definition": UpdateTool("sla_definition", "sla_def_id", "SLA_002", "SLA_DEFINITION_NOT_FOUND"),
    "update_notification": UpdateTool("notification", "notification_id", "NOTIF_001", "NOTIFICATION_NOT_FOUND"),
    "update_incident_sla_details": UpdateTool("incident_sla", "incident_sla_id", "TSLA_002", "INCIDENT_SLA_NOT_FOUND"),
    "update_child_incident": UpdateTool(
        "child_incident", "child_incident_mapping_id", "CINC_001", "CHILD_INCIDENT_NOT_FOUND", whole=True
    ),
}
RECORDS = {
    **dict.fromkeys(
        ("assigned_to", "caller_id", "requested_by", "opened_by", "owner_id", "owned_by", "manager_id", "resolved_by",
         "user_id"), "USER"),
    **dict.fromkeys(("assignment_group", "group_id", "assignment_group_id"), "GROUP"),
    **dict.fromkeys(("service", "parent"), "SERVICE"),
    "service_offering": "SERVICE_OFFERING",
    "configuration_item": "CONFIGURATION_ITEM",
    **dict.fromkeys(("change_request", "caused_by_change", "change_id"), "CHANGE"),
    **dict.fromkeys(("problem", "problem_id"), "PROBLEM"),
    **dict.fromkeys(("parent_incident", "child_incident", "original_task", "incident_id"), "INCIDENT"),
    "incident_template": "INCIDENT_TEMPLATE",
    "location_id": "LOCATION",
    "company_id": "ORGANIZATION",
    "knowledge_id": "KNOWLEDGE_ARTICLE",
    "sla_def_id": "SLA_DEFINITION",
}  # fmt: skip
"""Kind of record that an argument names, in the words of error codes."""
REFERENCES = {argument: f"{record}_NOT_FOUND" for argument, record in RECORDS.items()}

DELETES = {
    "delete_incident_slas": DeleteTool(
        "incident_sla",
        removes=[
            ({"incident_id": "INC_001"}, {"TSLA_001", "TSLA_002"}),
            ({"has_breached": False}, {"TSLA_001"}),
            ({"stage": "BREACHED"}, {"TSLA_002"}),
            ({"created_before": "2025-02-10 08:00:00"}, {"TSLA_001"}),
        ],
        incomplete=[{}, {"incident_id": None, "incident_sla_id": None}, {"incident_id": "", "incident_sla_id": ""}],
        incomplete_code="MISSING_FIELD",
        misses=[
            ({"incident_sla_id": "TSLA_404"}, "INCIDENT_SLA_NOT_FOUND"),
            ({"incident_id": "INC_001", "stage": "paused"}, "INCIDENT_SLA_NOT_FOUND"),
            ({"created_after": "2026-01-01"}, "INCIDENT_SLA_NOT_FOUND"),
        ],
    ),
    "remove_affected_ci_from_incident": DeleteTool(
        "incident_affected_cis",
        removes=[
            ({"incident_id": "INC_001", "created_after": "2025-02-25"}, {"TASKCI_002"}),
            ({"configuration_item": "CI_001"}, {"TASKCI_001"}),
        ],
        incomplete=[{}, {"incident_id": None}, {"incident_id": "", "configuration_item": ""}],
        incomplete_code="MISSING_FIELD",
        misses=[
            ({"configuration_item": "CI_001", "incident_id": "INC_002"}, "AFFECTED_CONFIGURATION_ITEM_NOT_FOUND"),
        ],
    ),
    "delete_change_request_mappings": DeleteTool(
        "change_request_mapping",
        removes=[
            ({"change_id": "CHG_001"}, {"CRM_001", "CRM_002"}),
            ({"change_id": "CHG_001", "incident_id": "INC_001", "problem_id": ""}, {"CRM_001"}),
            ({"problem_id": "PRB_001"}, {"CRM_002"}),
        ],
        incomplete=[{}, {"change_id": None}, {"change_id": "", "incident_id": "", "problem_id": ""}],
        incomplete_code="MISSING_FIELD",
        misses=[({"change_id": "CHG_001", "incident_id": "INC_005"}, "CHANGE_REQUEST_MAPPING_NOT_FOUND")],
    ),
    "remove_child_incident": DeleteTool(
        "child_incident",
        removes=[
            ({"child_incident_mapping_id": "CINC_001"}, {"CINC_001"}),
            ({"parent_incident": "INC_001", "child_incident": "INC_012"}, {"CINC_002"}),
        ],
        incomplete=[{}, {"parent_incident": "INC_001"}, {"child_incident": "INC_002"}, {"parent_incident": ""}],
        incomplete_code="MISSING_FIELD",
        misses=[
            ({"child_incident_mapping_id": "CINC_404"}, "CHILD_INCIDENT_NOT_FOUND"),
            ({"parent_incident": "INC_002", "child_incident": "INC_001"}, "CHILD_INCIDENT_NOT_FOUND"),
        ],
    ),
    "remove_knowledge_link_to_incident": DeleteTool(
        "incident_knowledge",
        removes=[
            ({"incident_kb_id": "IKB_002"}, {"IKB_002"}),
            ({"incident_id": "INC_001", "knowledge_id": "KB_001"}, {"IKB_001"}),
        ],
        incomplete=[{}, {"incident_id": "INC_001"}, {"knowledge_id": "KB_001", "used_as": "applied"}],
        incomplete_code="MISSING_FIELD",
        misses=[({"incident_kb_id": "IKB_001", "used_as": "resolution"}, "INCIDENT_KNOWLEDGE_LINK_NOT_FOUND")],
    ),
    "remove_group_membership": DeleteTool(
        "user_group_member",
        removes=[
            ({"group_id": "GROUP_001", "user_id": "USER_001", "member_id": "MEMBER_001"}, {"MEMBER_001"}),
            ({"group_id": "GROUP_001", "user_id": "USER_002"}, {"MEMBER_002"}),
        ],
        incomplete=[{"group_id": "GROUP_001"}, {"user_id": "USER_001"}],
        incomplete_code="MISSING_FIELD",
        misses=[
            ({"group_id": "GROUP_002", "user_id": "USER_001"}, "GROUP_MEMBER_NOT_FOUND"),
            ({"group_id": "GROUP_404", "user_id": "USER_001"}, "GROUP_NOT_FOUND"),
            ({"group_id": "GROUP_001", "user_id": "USER_001", "member_id": "MEMBER_002"}, "GROUP_MEMBER_NOT_FOUND"),
        ],
    ),
    "delete_notifications": DeleteTool(
        "notification",
        removes=[({"notification_id": "NOTIF_002"}, {"NOTIF_002"})],
        incomplete=[{}],
        incomplete_code="MISSING_FIELD",
        misses=[({"notification_id": "NOTIF_404"}, "NOTIFICATION_NOT_FOUND")],
    ),
}

# --- access strict -------------------------------------------------------------------------------------------------

TOOLS_OF_RESOURCE = {
    "users": ("get_user", "update_user_details"),
    "groups": ("list_group_members", "add_new_group_member"),
    "locations": ("find_locations", "update_location"),
    "services": ("find_services", "update_service"),
    "service_offerings": ("find_service_offerings", "update_service_offering"),
    "configuration_items": ("find_configuration_items", "update_configuration_item"),
    "incident_templates": ("get_incident_templates", "update_incident_template"),
    "incidents": ("find_incident_by_id", "add_child_incident"),
    "problems": ("list_problems", "update_problem"),
    "changes": ("list_changes", "update_change"),
    "change_mappings": ("list_change_request_mappings", "map_change_request"),
    "knowledge": ("find_incident_knowledge_links", "link_knowledge_to_incident"),
    "notifications": ("find_notifications", "send_notification"),
    "notification_analysis": ("count_notifications_by_type", None),
    "sla_definitions": ("find_sla_definitions", "update_sla_definition"),
    "sla_metrics": ("average_target_mins_per_priority", None),
    "incident_slas": ("find_incident_slas", "delete_incident_slas"),
    "incident_affected_cis": ("list_incident_affected_cis", "link_affected_ci_to_incident"),
}


def may_read(_role: str, _resource: str) -> bool:
    return True


def may_change(role: str, resource: str) -> bool:
    return role in {"admin", "manager"} or (role == "agent" and resource in AGENTS_CHANGE)


DECLARATION = DomainDeclaration(
    domain=registry.load("itsm"),
    tool_count=93,
    seed=SEED,
    examples=EXAMPLES,
    identity=TOKEN,
    now=NOW,
    order="{created} DESC, rowid DESC",
    unknown_key="NO_SUCH_KEY",
    lists=LISTS,
    creates=CREATES,
    updates=UPDATES,
    deletes=DELETES,
    other_writes=frozenset({"add_child_incidents"}),
    refuses_no_op=True,
    references=REFERENCES,
    strict=StrictDeclaration(
        seed=SCRIPT,
        identities=TOKENS,
        inactive="token-bo2",
        reads=may_read,
        changes=may_change,
        tools_of_resource=TOOLS_OF_RESOURCE,
        cases=CASES,
        rules_of_identity=frozenset({"ID-1", "ID-3"}),
        transitions=INCIDENT_TRANSITIONS,
        denial=("reporter", "add_location", ("rule ID-3", "USER_012 (reporter)", "locations", "add_location")),
    ),
    dangling=(
        "('KB_002', 'KB0000002'",
        "('KB_003', 'KB0000002'",
        {"place": "incident_knowledge.knowledge_id", "value": "KB_002"},
    ),
    column_of={
        "parent": "service_id",
        "called_id": "user_id",
        "company_id": "org_id",
        "assignment_group_id": "group_id",
        "child_incidents": "incident_id",
        "stages": "stage",
    },
)
