"""Calls that each process rule of CSM refuses in access `strict`, with calls that satisfy the rule.

Invariant: every numbered rule of `opsgym_domains.csm.rules` has a case.
"""

from __future__ import annotations

from typing import Any

from tests.domains.declaration import StrictCase as Case


def case(rule: str, code: str, key: int, wrong: dict[str, Any], right: dict[str, Any] | None, **rest: Any) -> Case:
    return Case(rule, code, "update_case", {"case_id": key, **wrong}, right, **rest)


NEW = {"account_id": 1, "contact_id": 1, "channel": "web", "priority": "high", "state": "new", "short_description": "x"}
"""A case as it may be registered."""
SLA = {"case_id": 2, "sla_def_id": 1, "stage": "in_progress"}
HELPED = "INSERT INTO case_knowledge VALUES (9, 2, 1, 'resolution'); "

CASES = [
    # users and accounts
    Case("ACC-5", "ADMIN_DENIED", "update_user_details", {"user_id": 3, "role": "admin"}, {}, role="manager",
         helper="admin"),
    Case("ACC-2", "CONTACT_NOT_ELIGIBLE", "create_contact",
         {"account_id": 1, "portal_user_id": 3, "active": True, "is_primary": False}, {"portal_user_id": 10},
         says="bo@desk.test has role agent"),
    Case("ACC-2", "CONTACT_NOT_ELIGIBLE", "create_contact",
         {"account_id": 2, "portal_user_id": 10, "active": True, "is_primary": False}, {"account_id": 1},
         says="not an address at globex.test"),
    Case("ACC-1", "PRIMARY_CONTACT_EXISTS", "update_contact", {"contact_id": 2, "is_primary": True},
         {"contact_id": 1, "is_primary": False}, says="contact 1 is the primary contact"),
    Case("ACC-4", "ACCOUNT_IN_USE", "update_account_details", {"account_id": 1, "active": False}, {"account_id": 3},
         says="CS-0000001"),
    Case("ACC-4", "ACCOUNT_IN_USE", "update_account_details", {"account_id": 1, "active": False}, None,
         given="UPDATE customer_case SET state = 'canceled';", says="contract"),
    # installed products and contracts
    Case("PRD-1", "PRODUCT_RETIRED", "register_new_installed_product",
         {"account_id": 1, "product_id": 3, "serial_number": "V-1", "status": "in_use"}, {"product_id": 2}),
    Case("CON-1", "CONTRACT_DATES", "enlist_new_contract",
         {"account_id": 1, "contract_type": "support", "status": "draft", "start_date": "2027-02-01",
          "end_date": "2027-01-31"}, {"end_date": "2028-01-31"}),
    Case("CON-2", "CONTRACT_NOT_APPLICABLE", "add_new_entitlement",
         {"account_id": 2, "contract_id": 1, "support_level": "standard", "active": True}, {"account_id": 1},
         says="does not belong to account 2"),
    Case("CON-2", "CONTRACT_NOT_APPLICABLE", "update_entitlement", {"entitlement_id": 2, "active": True},
         {"active": None, "support_level": "premium"}, says="contract 2 is expired"),
    # cases
    case("CAS-9", "CASE_IS_FINAL", 3, {"state": "in_progress"}, None, says="CS-0000003 is closed"),
    case("CAS-9", "CASE_IS_FINAL", 7, {"short_description": "x"}, {"case_id": 2}, says="canceled"),
    Case("PRC-7", "CUSTOMER_DENIED", "create_new_case", NEW | {"state": "in_progress"}, {"state": "new"},
         role="customer"),
    Case("PRC-7", "CUSTOMER_DENIED", "create_new_case",
         NEW | {"escalation": True, "escalation_reason": "customer_request"},
         {"escalation": None, "escalation_reason": None}, role="customer"),
    case("PRC-7", "CUSTOMER_DENIED", 1, {"channel": "phone"}, {"channel": None, "short_description": "x"},
         role="customer", says="only short_description"),
    case("PRC-7", "CUSTOMER_DENIED", 2, {"state": "canceled"}, {"case_id": 1}, role="customer", says="a case in new"),
    Case("CAS-1", "CONTACT_OF_ANOTHER_ACCOUNT", "create_new_case", NEW | {"contact_id": 3}, {"contact_id": 2}),
    case("CAS-1", "CONTACT_OF_ANOTHER_ACCOUNT", 2, {"contact_id": 4}, {"contact_id": 2}, says="not an active contact"),
    case("CAS-3", "INSTALLED_PRODUCT_MISMATCH", 2, {"installed_product_id": 3},
         {"installed_product_id": 1}, says="does not belong"),
    case("CAS-3", "INSTALLED_PRODUCT_MISMATCH", 2, {"installed_product_id": 2},
         {"installed_product_id": 1}, says="R-2 is repair"),
    Case("CAS-3", "INSTALLED_PRODUCT_MISMATCH", "create_new_case", NEW | {"installed_product_id": 1}, {"product_id": 1},
         says="product 1"),
    Case("CAS-5", "GROUP_INACTIVE", "set_case_assignment_group", {"case_id": 1, "assignment_group_id": 2},
         {"assignment_group_id": 3}, says="Past"),
    case("CAS-5", "NOT_ASSIGNABLE", 2, {"assigned_to": 1}, {"assigned_to": 2}, says="ada@desk.test has role admin"),
    case("CAS-5", "NOT_ASSIGNABLE", 2, {"assigned_to": 5}, {"assigned_to": 2}, says="and is inactive"),
    case("CAS-5", "ASSIGNED_CASE_IS_NEW", 1, {"assigned_to": 3}, {"state": "in_progress"}),
    Case("PRC-2", "NOT_A_GROUP_MEMBER", "assign_case_to_user", {"case_id": 2, "assigned_to_user_id": 4},
         {"assigned_to_user_id": 2}),
    case("PRC-2", "NOT_A_GROUP_MEMBER", 2, {"assignment_group_id": 3}, {"assigned_to": 4}),
    case("PRC-2", "NOT_A_GROUP_MEMBER", 9, {"assigned_to": 3}, {"assignment_group_id": 1}, says="no group"),
    case("ESC-1", "ESCALATION_INCOMPLETE", 2, {"escalation": True}, {"escalation_reason": "vip"}),
    case("ESC-1", "ESCALATION_INCOMPLETE", 2, {"escalation_reason": "vip"}, {"escalation": True}),
    case("PRC-4", "ESCALATION_REMOVAL_DENIED", 8, {"escalation": False}, {}, role="agent", helper="manager"),
    case("PRC-3", "PRIORITY_DENIED", 2, {"priority": "critical"}, {}, role="agent", helper="manager"),
    case("PRC-3", "PRIORITY_DENIED", 2, {"priority": "low"}, {}, role="agent", helper="admin"),
    case("CAS-7", "RESOLUTION_INCOMPLETE", 2, {"state": "resolved"}, {"state": "pending"}, says="link the article"),
    case("CAS-7", "RESOLUTION_INCOMPLETE", 9, {"state": "resolved"},
         {"case_id": 2}, given=HELPED, says="assignee"),
    case("CAS-8", "NOT_READY_TO_CLOSE", 5, {"state": "closed", "closed_on": "2026-03-01 12:00:00"}, {"case_id": 4},
         says="2026-03-01 12:00:01"),
    case("CAS-8", "NOT_READY_TO_CLOSE", 4, {"state": "closed"}, {"closed_on": "2026-03-01 12:00:00"}),
    case("CAS-8", "NOT_READY_TO_CLOSE", 2, {"state": "closed", "closed_on": "2026-03-01 12:00:00"}, {"case_id": 4},
         says="resolve it first"),
    case("PRC-1", "INVALID_STATE_TRANSITION", 1, {"state": "pending"}, {"state": "canceled"},
         says="allowed: in_progress or canceled"),
    case("PRC-1", "INVALID_STATE_TRANSITION", 4, {"state": "pending"}, {"state": "in_progress"}),
    Case("PRC-1", "INVALID_STATE_TRANSITION", "create_new_case", NEW | {"state": "pending"}, {"state": "in_progress"}),
    # SLAs, articles, interactions, notifications
    Case("SLA-1", "SLA_NOT_APPLICABLE", "link_new_case_sla", SLA, {"case_id": 1, "sla_def_id": 2},
         says="for priority critical, but CS-0000002 has high"),
    Case("SLA-1", "SLA_NOT_APPLICABLE", "link_new_case_sla", SLA | {"sla_def_id": 3}, {"case_id": 8, "sla_def_id": 4},
         says="is inactive"),
    Case("SLA-1", "SLA_NOT_APPLICABLE", "link_new_case_sla", SLA | {"sla_def_id": 2}, {"case_id": 8}, says="runs on"),
    Case("PRC-5", "BREACH_ON_RECORD", "update_case_sla_details", {"case_sla_id": 2, "has_breached": False},
         {"has_breached": None, "stage": "completed"}),
    Case("PRC-5", "BREACH_ON_RECORD", "delete_case_slas", {"case_id": 2}, {"has_breached": False}),
    Case("PRC-6", "SLA_ENDED", "update_case_sla_details", {"case_sla_id": 3, "stage": "in_progress"},
         {"case_sla_id": 1, "stage": "paused"}),
    Case("KB-1", "ARTICLE_MISMATCH", "link_case_knowledge", {"case_id": 2, "knowledge_id": 3, "used_as": "applied"},
         {"knowledge_id": 1}, says="KB-0000003 is draft"),
    Case("KB-1", "ARTICLE_MISMATCH", "link_case_knowledge", {"case_id": 2, "knowledge_id": 4, "used_as": "applied"},
         {"knowledge_id": 2}, says="about product 2"),
    Case("KB-3", "PUBLISHING_DENIED", "update_knowledge", {"knowledge_id": 3, "state": "published"}, {}, role="agent",
         helper="manager"),
    Case("KB-3", "PUBLISHING_DENIED", "create_knowledge",
         {"title": "x", "state": "published", "body": "x", "visibility": "internal", "owner_id": 3},
         {"state": "draft"}, role="agent"),
    Case("INT-1", "INTERACTION_ACCOUNT_MISMATCH", "register_new_interaction",
         {"channel": "phone", "account_id": 2, "contact_id": 3, "case_id": 2, "status": "open"},
         {"account_id": 1, "contact_id": 1}),
    Case("NTF-1", "RECIPIENT_NOT_ELIGIBLE", "send_notification",
         {"case_id": 2, "email": "eve@globex.test", "type": "update"}, {"email": "di@acme.test"}),
    Case("NTF-1", "RECIPIENT_NOT_ELIGIBLE", "send_notification",
         {"case_id": 2, "email": "ina@desk.test", "type": "update"}, {"email": "mia@desk.test"}, says="no active user"),
    Case("KB-2", "ARTICLE_INTERNAL", "send_notification",
         {"case_id": 2, "email": "cy@acme.test", "type": "update", "knowledge_id": 2}, {"email": "bo@desk.test"}),
]  # fmt: skip
