"""Permissions of roles on tools in access `strict`.

Invariant: each tool has one resource, and permissions are read from the tables at every call. A role counts only if
both the user's row and the role table assign it.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

from opsgym_domains.hr.rules import RULEBOOK
from opsgym_domains.hr.tables import Permission, Role, RolePermission, UserRole
from opsgym_domains.hr.visibility import visible
from opsgym_domains.kit.access import AccessRules
from opsgym_domains.kit.rbac import actions_by_role, resources_of
from opsgym_domains.kit.tools import Tool

_RESOURCE_OF_MODULE = {
    "services": "hr_services",
    "templates": "service_templates",
    "users": "users",
    "groups": "groups",
    "criteria": "hr_criteria",
    "skills": "skills",
    "checklists": "checklists",
    "cases": "hr_cases",
    "profiles": "hr_profiles",
    "knowledge": "knowledge",
    "assignment_rules": "assignment_rules",
    "escalation_rules": "escalation_rules",
    "counts": "reports",
    "notifications": "notifications",
    "case_tasks": "hr_case_tasks",
}
"""Resource, as the permission table names it, by the module that declares a tool."""
_RESOURCE_OF_TOOL = {
    "get_topic_details": "topic_details",
    "add_new_topic_detail": "topic_details",
    "update_topic_detail": "topic_details",
    "get_topic_categories": "topic_categories",
    "add_new_topic_category": "topic_categories",
    "update_topic_category": "topic_categories",
    "list_surveys": "surveys",
    "create_survey": "surveys",
    "update_survey": "surveys",
    "list_survey_instances": "survey_instances",
    "create_survey_instance": "survey_instances",
    "update_survey_instance": "survey_instances",
    "count_notifications_by_status": "reports",
    "count_notifications_by_case": "reports",
    "avg_notifications_by_case": "reports",
    "count_notifications_by_type": "reports",
}
"""Resource of tools whose module has several resources, or another one."""


def access_rules(tools: Mapping[str, Tool]) -> AccessRules:
    """Access rules of HR service delivery.

    Args:
        tools: All of its tools.
    """
    return AccessRules(
        resources=resources_of(tools, _RESOURCE_OF_MODULE, _RESOURCE_OF_TOOL),
        actions=actions_by_role(Role, Permission, RolePermission, UserRole),
        rulebook=RULEBOOK,
        identity_rule="ID-1",
        permission_rule="ID-2",
        scope=visible,
        unseen=frozenset({"hr_case.opened_for"}),
        policy=lambda: files("opsgym_domains.hr").joinpath("policy-strict.md").read_text(encoding="utf-8"),
    )
