"""Permissions of roles on tools in access `strict`.

Invariant: each tool has one resource, and permissions are read from the tables at every call. A role counts only if
both the user's row and the role table assign it.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

from opsgym_domains.itsm.rules import RULEBOOK
from opsgym_domains.itsm.tables import Permission, Role, RolePermission, UserRole
from opsgym_domains.kit.access import AccessRules
from opsgym_domains.kit.rbac import actions_by_role, resources_of
from opsgym_domains.kit.tools import Tool

_RESOURCE_OF_MODULE = {
    "users": "users",
    "groups": "groups",
    "locations": "locations",
    "templates": "incident_templates",
    "configuration_items": "configuration_items",
    "services": "services",
    "changes": "changes",
    "problems": "problems",
    "incidents": "incidents",
    "child_incidents": "incidents",
    "knowledge": "knowledge",
    "slas": "sla_definitions",
    "notifications": "notifications",
    "change_mappings": "change_mappings",
    "affected_cis": "incident_affected_cis",
    "incident_slas": "incident_slas",
}
"""Resource, as the permission table names it, by the module that declares a tool."""
_RESOURCE_OF_TOOL = {
    "find_service_offerings": "service_offerings",
    "find_service_offering_by_name": "service_offerings",
    "register_new_service_offering": "service_offerings",
    "update_service_offering": "service_offerings",
    "total_sum_of_target_mins_per_priority": "sla_metrics",
    "average_target_mins_per_priority": "sla_metrics",
    "find_stage_wise_breached_incident_sla_counts": "sla_metrics",
    "count_notifications_by_status": "notification_analysis",
    "count_notifications_by_incident": "notification_analysis",
    "average_notifications_by_incident": "notification_analysis",
    "count_notifications_by_type": "notification_analysis",
}
"""Resource of tools that differs from the resource of their module."""


def access_rules(tools: Mapping[str, Tool]) -> AccessRules:
    """Access rules of the service desk.

    Args:
        tools: All of its tools.
    """
    return AccessRules(
        resources=resources_of(tools, _RESOURCE_OF_MODULE, _RESOURCE_OF_TOOL),
        actions=actions_by_role(Role, Permission, RolePermission, UserRole),
        rulebook=RULEBOOK,
        identity_rule="ID-1",
        permission_rule="ID-3",
        policy=lambda: files("opsgym_domains.itsm").joinpath("policy-strict.md").read_text(encoding="utf-8"),
    )
