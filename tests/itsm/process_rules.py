"""Calls that each process rule of ITSM refuses in access `strict`, with calls that satisfy the rule.

Invariant: every numbered rule of `opsgym_domains.itsm.rules` has a case.
"""

from __future__ import annotations

from typing import Any

from tests.domains.declaration import StrictCase as Case


def incident(rule: str, code: str, wrong: dict[str, Any], right: dict[str, Any] | None, **rest: Any) -> Case:
    return Case(rule, code, "update_incident", {"incident_id": "INC_001", **wrong}, right, **rest)


def problem(rule: str, code: str, wrong: dict[str, Any], right: dict[str, Any] | None, **rest: Any) -> Case:
    return Case(rule, code, "update_problem", {"problem_id": "PRB_001", **wrong}, right, **rest)


def change(rule: str, code: str, wrong: dict[str, Any], right: dict[str, Any] | None, **rest: Any) -> Case:
    return Case(rule, code, "update_change", {"change_id": "CHG_003", **wrong}, right, **rest)


def in_status(kind: str, key: str, status: str, more: str = "") -> str:
    return f"UPDATE {kind} SET status = '{status}' {more} WHERE {kind}_id = '{key}';"


RESOLVED = ", resolution_code = 'Solution Provided', resolution_notes = 'done', resolved_by = 'USER_002'"
LONG_AGO = in_status("incident", "INC_001", "resolved", f"{RESOLVED}, resolved = '2026-02-26 12:00:00'")
JUST_NOW = in_status("incident", "INC_001", "resolved", f"{RESOLVED}, resolved = '2026-02-26 12:00:01'")
CLOSING = {"status": "closed", "close_notes": "fine"}
RESOLVING = {"status": "resolved", "resolution_code": "User error", "resolution_notes": "n", "resolved_by": "USER_002"}
NEW_CHANGE = {
    "short_description": "x", "status": "new", "impact": "low", "risk": "low", "priority": "low",
    "implementation_plan": "do", "testing_plan": "look",
}  # fmt: skip
NEW_PROBLEM = {"problem_statement": "x", "status": "new", "impact": "low", "urgency": "low", "priority": "planning"}

CASES = [
    # who works on what
    incident("INC-4", "GROUP_INACTIVE", {"assignment_group": "GROUP_002"}, {"assignment_group": ""}, says="GROUP_002"),
    problem("INC-4", "GROUP_INACTIVE", {"assignment_group": "GROUP_002"}, {"assignment_group": ""}),
    change("INC-4", "GROUP_INACTIVE", {"assignment_group": "GROUP_002"}, {"assignment_group": "GROUP_001"},
           given="UPDATE change SET assignment_group = NULL;"),
    incident("INC-5", "NOT_ASSIGNABLE", {"assigned_to": "USER_001"}, {"assigned_to": ""},
         says="USER_001 has role admin"),
    incident("INC-5", "NOT_ASSIGNABLE", {"assigned_to": "USER_012"}, {"assigned_to": ""}, says="reporter"),
    incident("INC-5", "NOT_ASSIGNABLE", {"assigned_to": "USER_003"}, {"assigned_to": ""},
         says="manager and is inactive"),
    problem("INC-5", "NOT_ASSIGNABLE", {"assigned_to": "USER_001"}, {"assigned_to": ""}),
    change("INC-5", "NOT_ASSIGNABLE", {"assigned_to": "USER_001"}, {"assigned_to": "USER_002"}),
    incident("PRC-2", "NOT_A_GROUP_MEMBER", {"assigned_to": "USER_013"}, {"assignment_group": ""}, says="USER_013"),
    incident("PRC-2", "NOT_A_GROUP_MEMBER", {"assignment_group": "GROUP_003"}, {"assigned_to": "USER_011"}),
    problem("PRC-2", "NOT_A_GROUP_MEMBER", {"assigned_to": "USER_013"}, {"assignment_group": ""}),
    change("PRC-2", "NOT_A_GROUP_MEMBER", {"assigned_to": "USER_013"}, {"assigned_to": "USER_002"}),
    # incidents
    incident("INC-10", "RECORD_IS_FINAL", {"worknotes": "x"}, None, given=in_status("incident", "INC_001", "closed")),
    incident("INC-10", "RECORD_IS_FINAL", {"status": "new"}, None, given=in_status("incident", "INC_001", "canceled")),
    incident("INC-1", "PRIORITY_MISMATCH", {"impact": "low"}, {"priority": "low"},
         says="require priority low, not high"),
    incident("INC-1", "PRIORITY_MISMATCH", {"priority": "critical"}, {"urgency": "high"}),
    Case("INC-1", "PRIORITY_MISMATCH", "create_incident",
         {"caller_id": "USER_002", "short_description": "x", "impact": "high"}, {"priority": "moderate"}),
    incident("INC-5", "ASSIGNED_INCIDENT_IS_NEW", {"incident_id": "INC_002", "assigned_to": "USER_002"},
             {"status": "in_progress"}, given=in_status("incident", "INC_002", "new")),
    Case("INC-5", "ASSIGNED_INCIDENT_IS_NEW", "create_incident",
         {"caller_id": "USER_002", "short_description": "x", "assigned_to": "USER_002"}, {"status": "in_progress"}),
    incident("INC-6", "ON_HOLD_INCOMPLETE", {"status": "on_hold"}, {"on_hold_reason": "Awaiting Caller"},
             says="on_hold also needs on_hold_reason"),
    incident("INC-6", "ON_HOLD_INCOMPLETE", {"status": "on_hold", "on_hold_reason": "Awaiting Change"},
             {"change_request": "CHG_001"}, says="needs change_request"),
    incident("INC-6", "ON_HOLD_INCOMPLETE", {"status": "on_hold", "on_hold_reason": "Awaiting Problem"},
             {"problem": "PRB_001"}, says="needs problem", given="UPDATE incident SET problem = NULL;"),
    incident("INC-6", "ON_HOLD_INCOMPLETE", {"incident_id": "INC_002", "on_hold_reason": "Awaiting Change"},
             {"change_request": "CHG_001"}),
    incident("INC-6", "ON_HOLD_INCOMPLETE", {"status": "on_hold", "on_hold_reason": "Awaiting Caller"},
             {"status": "in_progress"}, says="only an incident in new or in_progress", given=LONG_AGO),
    incident("INC-7", "RESOLUTION_INCOMPLETE", {"status": "resolved"}, RESOLVING,
             says="needs resolution_code, resolution_notes, resolved_by"),
    incident("INC-7", "RESOLUTION_INCOMPLETE", {**RESOLVING, "resolution_notes": ""}, RESOLVING,
             says="needs resolution_notes;"),
    incident("INC-7", "RESOLUTION_INCOMPLETE", {"resolution_notes": ""}, {"resolution_notes": "x"}, given=LONG_AGO),
    incident("INC-9", "NOT_READY_TO_CLOSE", CLOSING, RESOLVING, says="only a resolved incident"),
    incident("INC-9", "NOT_READY_TO_CLOSE", {"status": "closed"}, CLOSING, says="needs close_notes", given=LONG_AGO),
    incident("INC-9", "NOT_READY_TO_CLOSE", {**CLOSING, "resolution_notes": ""}, {"resolution_notes": "x"},
             says="needs resolution_notes", given=LONG_AGO),
    incident("INC-9", "NOT_READY_TO_CLOSE", CLOSING, None, says="closed from 2026-03-01 12:00:01", given=JUST_NOW),
    incident("INC-9", "NOT_READY_TO_CLOSE", CLOSING, None, says="closed from 2026-03-02 08:00:00",
             given=in_status("incident", "INC_001", "resolved", f"{RESOLVED}, updated_at = '2026-02-27 08:00:00'")),
    incident("PRC-1", "INVALID_STATUS_TRANSITION", {"status": "new", "assigned_to": ""}, {"status": "canceled"},
             says="in_progress cannot be changed to new; allowed: on_hold or resolved or canceled"),
    Case("PRC-1", "INVALID_STATUS_TRANSITION", "create_incident",
         {"caller_id": "USER_002", "short_description": "x", "status": "canceled"}, {"status": "new"}),
    # problems
    problem("PRB-2", "PRIORITY_MISMATCH", {"urgency": "high"}, {"priority": "critical"}),
    Case("PRB-2", "PRIORITY_MISMATCH", "create_problem", NEW_PROBLEM | {"priority": "high"}, {"priority": "planning"}),
    problem("PRB-3", "FIX_NOTES_REQUIRED", {"status": "resolved"}, {"fix_notes": "patched"}),
    problem("PRC-4", "WORKAROUND_REQUIRED", {"status": "fix_in_progress"}, {"workaround": "restart"}),
    problem("PRC-4", "WORKAROUND_REQUIRED", {"workaround": ""}, {"workaround": "wait"},
            given=in_status("problem", "PRB_001", "fix_in_progress", ", workaround = 'x'")),
    problem("PRC-3", "INVALID_STATUS_TRANSITION", {"status": "new"}, {"status": "root_cause"}),
    problem("PRC-3", "INVALID_STATUS_TRANSITION", {"status": "closed"}, {"status": "resolved", "fix_notes": "x"}),
    problem("PRC-3", "INVALID_STATUS_TRANSITION", {"status": "resolved", "fix_notes": "x"}, None, says="is final",
            given=in_status("problem", "PRB_001", "closed")),
    Case("PRC-3", "INVALID_STATUS_TRANSITION", "create_problem", NEW_PROBLEM | {"status": "assess"}, {"status": "new"}),
    # changes
    Case("CHG-1", "PLAN_REQUIRED", "create_change", NEW_CHANGE | {"status": "assess"}, {"status": "new"}),
    Case("CHG-1", "PLAN_REQUIRED", "create_change", NEW_CHANGE | {"testing_plan": ""}, {"testing_plan": "look"},
         says="needs testing_plan"),
    change("CHG-2", "CAB_MISMATCH", {"risk": "high"}, {"cab_required": True}, says="set cab_required to true"),
    change("CHG-2", "CAB_MISMATCH", {"cab_required": True}, {"impact": "high"}, says="set cab_required to false"),
    Case("CHG-2", "CAB_MISMATCH", "create_change", NEW_CHANGE | {"risk": "high"}, {"cab_required": True}),
    change("PRC-5", "INVALID_STATUS_TRANSITION", {"status": "implement"}, {"status": "assess"}),
    change("PRC-5", "INVALID_STATUS_TRANSITION", {"status": "implement"}, {"status": "scheduled"},
           given=in_status("change", "CHG_003", "authorize"), says="allowed: scheduled or canceled"),
    change("PRC-5", "INVALID_STATUS_TRANSITION", {"status": "canceled"}, {"status": "review"},
           given=in_status("change", "CHG_003", "implement")),
    change("PRC-5", "INVALID_STATUS_TRANSITION", {"status": "new"}, None, says="is final",
           given=in_status("change", "CHG_003", "canceled")),
    change("PRC-6", "APPROVAL_DENIED", {"status": "authorize"}, {}, role="agent", helper="manager",
           given=in_status("change", "CHG_003", "assess")),
    change("PRC-7", "CLOSURE_INCOMPLETE", {"status": "closed"}, {"close_code": "successful", "close_notes": "x"},
           given=in_status("change", "CHG_003", "review"), says="needs close_code, close_notes"),
    # SLAs, articles, notifications
    Case("PRC-9", "SLA_DEFINITION_DENIED", "update_sla_definition", {"sla_def_id": "SLA_001", "target_mins": 45}, {},
         role="agent", helper="manager",
         given="INSERT INTO role_permission VALUES ('ROLE_3', 'sla_definitions:crud');"),
    Case("SLA-1", "SLA_DEFINITION_INACTIVE", "link_new_incident_sla",
         {"incident_id": "INC_001", "sla_def_id": "SLA_003", "start_time": "2026-03-01"}, {"sla_def_id": "SLA_004"}),
    Case("PRC-10", "BREACH_ON_RECORD", "update_incident_sla_details",
         {"incident_sla_id": "TSLA_002", "has_breached": False}, {"has_breached": True, "stage": "completed"}),
    Case("PRC-10", "BREACH_ON_RECORD", "delete_incident_slas", {"incident_id": "INC_001"}, {"has_breached": False}),
    Case("PRC-8", "PUBLISHING_DENIED", "create_knowledge_article", {"title": "x", "owner_id": "USER_002"},
         {"state": "draft"}, role="agent"),
    Case("PRC-8", "PUBLISHING_DENIED", "update_knowledge_article", {"knowledge_id": "KB_002", "state": "published"}, {},
         role="agent", helper="manager"),
    Case("NTF-1", "RECIPIENT_INACTIVE", "send_notification",
         {"incident_id": "INC_001", "email": "bo2@northwind.test"}, {"email": "bo@northwind.test"}),
    # users
    Case("USR-1", "ADMIN_DENIED", "update_user_details", {"user_id": "USER_002", "role": "admin"}, {}, role="manager",
         helper="admin"),
    Case("USR-1", "ADMIN_DENIED", "add_new_user",
         {"first_name": "C", "last_name": "D", "email": "c@northwind.test", "phone": "+47-555-010-0044",
          "role": "admin", "active": True}, {"role": "agent"}, role="manager"),
    Case("USR-2", "MANAGER_NOT_ELIGIBLE", "add_new_user_group",
         {"name": "x", "type": "IT Support", "manager_id": "USER_002"}, {"manager_id": "USER_011"}),
    Case("USR-2", "MANAGER_NOT_ELIGIBLE", "add_new_user_group",
         {"name": "x", "type": "IT Support", "manager_id": "USER_003"}, {"manager_id": "USER_001"}, says="inactive"),
    Case("USR-2", "MEMBER_INACTIVE", "add_new_group_member", {"group_id": "GROUP_001", "user_id": "USER_003"},
         {"user_id": "USER_013"}),
]  # fmt: skip
