"""What CSM declares to be tested."""

from __future__ import annotations

from tests.csm.examples import EXAMPLES
from tests.csm.process_rules import CASES
from tests.csm.seed import EMAIL, NOW, SEED
from tests.csm.strict import EMAILS, SCRIPT
from tests.domains.declaration import (
    CreateTool,
    DeleteTool,
    DomainDeclaration,
    ListTool,
    StrictDeclaration,
    UpdateTool,
)

from opsgym_domains import registry
from opsgym_domains.csm.rules import STATE_TRANSITIONS

LISTS = {
    "list_users": ListTool("user", ("email", "first_name", "last_name", "phone")),
    "list_user_groups": ListTool("user_group", ("name",)),
    "list_group_members": ListTool("user_group_member"),
    "find_locations": ListTool("location", ("name", "plot_no", "street")),
    "get_accounts": ListTool("account", ("name", "email_domain"), own_rules=("account_types",)),
    "find_contacts": ListTool("contact"),
    "find_products": ListTool("product", ("name",)),
    "retrieve_installed_products": ListTool("installed_product", ("serial_number",)),
    "find_contracts": ListTool("contract", own_rules=("contract_price_range_start", "contract_price_range_end")),
    "find_entitlements": ListTool("entitlement"),
    "find_sla_definitions": ListTool("sla_definition", ("name",)),
    "search_cases": ListTool("customer_case", ("short_description",)),
    "get_cases_assigned_to": ListTool("customer_case"),
    "find_case_slas": ListTool("case_sla"),
    "find_interactions": ListTool("interaction"),
    "retrieve_knowledge": ListTool(
        "knowledge",
        ("title",),
        own_rules=("search_text", "limit"),
        order="sys_created_on DESC, rowid DESC",
        optional_fields=frozenset({"score"}),
    ),
    "find_case_knowledge_linkages": ListTool("case_knowledge"),
    "find_notifications": ListTool("notification", ("email",)),
}

# --- writes -------------------------------------------------------------------------------------------------------

CREATES = {
    "add_new_user": CreateTool(
        "user",
        filled={"user_id": 9, "phone": None, "location_id": None},
        given={"first_name": "Eve", "last_name": "Tan", "email": "eve@acme.test", "role": "customer", "active": False},
        optional={"phone": "+44-555-0199", "location_id": 5},
    ),
    "add_new_user_group": CreateTool(
        "user_group", filled={"group_id": 5}, given={"name": "Repairs", "type": "backoffice", "active": True}
    ),
    "add_new_group_member": CreateTool(
        "user_group_member", filled={"member_id": 6}, given={"group_id": 4, "user_id": 1}
    ),
    "add_location": CreateTool(
        "location",
        filled={"location_id": 6, "plot_no": None, "street": None},
        given={"name": "South Tower", "active": True, "city": "sydney", "country": "australia"},
        optional={"plot_no": "7", "street": "Hill Road"},
    ),
    "create_new_account": CreateTool(
        "account",
        filled={"account_id": 7, "email_domain": None},
        given={"name": "Initrode", "account_type": "internal", "active": True},
        optional={"email_domain": "initrode.test"},
    ),
    "create_contact": CreateTool(
        "contact",
        filled={"contact_id": 3},
        given={"account_id": 1, "portal_user_id": 8, "active": True, "is_primary": True},
    ),
    "add_new_product": CreateTool(
        "product",
        filled={"product_id": 4, "product_price": None},
        given={"name": "Edge Box", "category": "hardware", "lifecycle_state": "active"},
        optional={"product_price": 0},
    ),
    "register_new_installed_product": CreateTool(
        "installed_product",
        filled={"installed_product_id": 5, "location_id": None, "warranty_end": None},
        given={"account_id": 2, "product_id": 1, "serial_number": "MR-001", "status": "in_stock"},
        optional={"location_id": 5, "warranty_end": "2027-06-30"},
    ),
    "enlist_new_contract": CreateTool(
        "contract",
        filled={"contract_id": 3, "contract_price": None},
        given={
            "account_id": 2,
            "contract_type": "subscription",
            "status": "draft",
            "start_date": "2026-04-01",
            "end_date": "2027-03-31",
        },
        optional={"contract_price": 5000},
    ),
    "add_new_entitlement": CreateTool(
        "entitlement",
        filled={
            "entitlement_id": 3,
            "product_id": None,
            "contract_id": None,
            "coverage_hours": None,
            "max_cases_per_month": None,
        },
        given={"account_id": 2, "support_level": "enterprise", "active": True},
        optional={"product_id": 2, "contract_id": 2, "coverage_hours": "h12x6", "max_cases_per_month": 0},
    ),
    "add_new_sla_definition": CreateTool(
        "sla_definition",
        filled={"sla_def_id": 4, "applies_to_priority": None},
        given={
            "name": "Any response",
            "metric": "resolution",
            "target_mins": 60,
            "pause_on_pending": False,
            "active": True,
        },
        optional={"applies_to_priority": "moderate"},
    ),
    "create_new_case": CreateTool(
        "customer_case",
        filled={
            "case_id": 10,
            "number": "CS-0000010",
            "product_id": None,
            "installed_product_id": None,
            "assignment_group_id": None,
            "assigned_to": None,
            "escalation": 0,
            "escalation_reason": None,
            "reopen_count": 0,
            "closed_on": None,
        },
        given={
            "account_id": 2,
            "contact_id": 2,
            "channel": "chat",
            "priority": "moderate",
            "state": "new",
            "short_description": "Box smells",
        },
        optional={
            "product_id": 2,
            "installed_product_id": 4,
            "assignment_group_id": 4,
            "assigned_to": 2,
            "escalation": True,
            "escalation_reason": "breach_risk",
            "reopen_count": 2,
            "closed_on": "2026-02-28 10:00:00",
        },
    ),
    "link_new_case_sla": CreateTool(
        "case_sla",
        filled={"case_sla_id": 8, "start_time": NOW, "breach_time": None, "has_breached": 0, "completed_time": None},
        given={"case_id": 1, "sla_def_id": 1, "stage": "in_progress"},
        optional={
            "start_time": "2026-02-01 08:00:00",
            "breach_time": "2026-02-01 08:15:00",
            "has_breached": True,
            "completed_time": "2026-02-01 09:00:00",
        },
    ),
    "register_new_interaction": CreateTool(
        "interaction",
        filled={
            "interaction_id": 10,
            "account_id": None,
            "contact_id": None,
            "case_id": None,
            "interacted_user": None,
            "started_at": NOW,
            "ended_at": None,
        },
        given={"channel": "phone", "status": "closed"},
        optional={
            "account_id": 1,
            "contact_id": 1,
            "case_id": 2,
            "interacted_user": 3,
            "started_at": "2026-02-01 08:00:00",
            "ended_at": "2026-02-01 08:15:00",
        },
    ),
    "create_knowledge": CreateTool(
        "knowledge",
        filled={"knowledge_id": 7, "kb_number": "KB000007", "product_id": None},
        given={"title": "Ask", "state": "draft", "body": "Ask us.", "visibility": "internal", "owner_id": 2},
        optional={"product_id": 3},
    ),
    "link_case_knowledge": CreateTool(
        "case_knowledge", filled={"case_kb_id": 6}, given={"case_id": 3, "knowledge_id": 6, "used_as": "applied"}
    ),
    "send_notification": CreateTool(
        "notification",
        filled={"notification_id": 7, "knowledge_id": None, "status": "success"},
        given={"case_id": 3, "email": "customer@else.test", "type": "next_steps"},
        optional={"knowledge_id": 3},
    ),
}
UPDATES = {
    "update_user_details": UpdateTool(
        "user",
        "user_id",
        2,
        "USER_NOT_FOUND",
        values={
            "email": "bo.l@desk.test",
            "first_name": "Boe",
            "last_name": "Lind",
            "active": False,
            "phone": "+44-555-0102",
            "role": "manager",
            "location_id": 5,
        },
    ),
    "update_user_group": UpdateTool(
        "user_group", "group_id", 4, "USER_GROUP_NOT_FOUND", values={"name": "Field", "type": "vendor", "active": False}
    ),
    "update_location": UpdateTool(
        "location",
        "location_id",
        2,
        "LOCATION_NOT_FOUND",
        values={
            "name": "Annex",
            "active": True,
            "plot_no": "2",
            "street": "Side Road",
            "city": "mumbai",
            "country": "india",
        },
    ),
    "update_account_details": UpdateTool(
        "account",
        "account_id",
        6,
        "ACCOUNT_NOT_FOUND",
        values={"name": "Acme Works", "email_domain": "works.test", "active": True, "account_type": "partner"},
    ),
    "update_contact": UpdateTool(
        "contact",
        "contact_id",
        2,
        "CONTACT_NOT_FOUND",
        values={"account_id": 6, "portal_user_id": 7, "active": False, "is_primary": True},
    ),
    "update_product": UpdateTool(
        "product",
        "product_id",
        3,
        "PRODUCT_NOT_FOUND",
        values={"name": "Care Call", "category": "software", "product_price": 300, "lifecycle_state": "active"},
    ),
    "update_installed_product_details": UpdateTool(
        "installed_product",
        "installed_product_id",
        4,
        "INSTALLED_PRODUCT_NOT_FOUND",
        values={
            "location_id": 1,
            "account_id": 6,
            "product_id": 1,
            "serial_number": "MR-009",
            "status": "retired",
            "warranty_end": "2028-01-31",
        },
    ),
    "update_contract": UpdateTool(
        "contract",
        "contract_id",
        1,
        "CONTRACT_NOT_FOUND",
        values={
            "account_id": 2,
            "contract_price": 900,
            "contract_type": "warranty",
            "status": "expired",
            "start_date": "2025-02-01",
            "end_date": "2025-12-31",
        },
    ),
    "update_entitlement": UpdateTool(
        "entitlement",
        "entitlement_id",
        1,
        "ENTITLEMENT_NOT_FOUND",
        values={
            "account_id": 6,
            "product_id": 3,
            "contract_id": 2,
            "support_level": "standard",
            "coverage_hours": "h8x5",
            "max_cases_per_month": 3,
            "active": False,
        },
    ),
    "update_sla_definition": UpdateTool(
        "sla_definition",
        "sla_def_id",
        2,
        "SLA_DEFINITION_NOT_FOUND",
        values={
            "name": "Low answer",
            "metric": "response",
            "target_mins": 600,
            "pause_on_pending": True,
            "applies_to_priority": "moderate",
            "active": False,
        },
    ),
    "update_case": UpdateTool(
        "customer_case",
        "case_id",
        1,
        "CASE_NOT_FOUND",
        values={
            "account_id": 2,
            "contact_id": 2,
            "product_id": 2,
            "installed_product_id": 4,
            "channel": "social",
            "priority": "low",
            "state": "closed",
            "short_description": "Relay is slow",
            "escalation": False,
            "escalation_reason": "impact",
            "reopen_count": 5,
            "closed_on": "2026-02-28 10:00:00",
            "assignment_group_id": 4,
            "assigned_to": 1,
        },
    ),
    "update_case_sla_details": UpdateTool(
        "case_sla",
        "case_sla_id",
        6,
        "CASE_SLA_NOT_FOUND",
        values={
            "case_id": 3,
            "sla_def_id": 2,
            "stage": "completed",
            "start_time": "2026-02-01 08:00:00",
            "breach_time": "2026-02-01 09:00:00",
            "has_breached": False,
            "completed_time": "2026-02-01 08:30:00",
        },
    ),
    "update_interaction": UpdateTool(
        "interaction",
        "interaction_id",
        8,
        "INTERACTION_NOT_FOUND",
        values={
            "channel": "alert",
            "account_id": 1,
            "contact_id": 1,
            "case_id": 2,
            "interacted_user": 3,
            "status": "closed",
            "started_at": "2026-02-01 08:00:00",
            "ended_at": "2026-02-01 08:30:00",
        },
    ),
    "update_knowledge": UpdateTool(
        "knowledge",
        "knowledge_id",
        3,
        "KNOWLEDGE_ARTICLE_NOT_FOUND",
        values={
            "kb_number": "KB-0000033",
            "title": "Read a bill",
            "state": "published",
            "visibility": "internal",
            "product_id": 3,
            "owner_id": 1,
        },
    ),
    "updated_linked_case_knowledge": UpdateTool(
        "case_knowledge",
        "case_kb_id",
        2,
        "CASE_KNOWLEDGE_LINK_NOT_FOUND",
        values={"case_id": 3, "knowledge_id": 6, "used_as": "suggested"},
    ),
    "update_notification": UpdateTool(
        "notification",
        "notification_id",
        2,
        "NOTIFICATION_NOT_FOUND",
        values={"case_id": 3, "knowledge_id": 2, "email": "bo@desk.test", "type": "other", "status": "success"},
    ),
}
REFERENCES = {
    "user_id": "USER_NOT_FOUND",
    "portal_user_id": "USER_NOT_FOUND",
    "group_id": "USER_GROUP_NOT_FOUND",
    "location_id": "LOCATION_NOT_FOUND",
    "contract_id": "CONTRACT_NOT_FOUND",
    "account_id": "ACCOUNT_NOT_FOUND",
    "contact_id": "CONTACT_NOT_FOUND",
    "product_id": "PRODUCT_NOT_FOUND",
    "installed_product_id": "INSTALLED_PRODUCT_NOT_FOUND",
    "assignment_group_id": "USER_GROUP_NOT_FOUND",
    "assigned_to": "USER_NOT_FOUND",
    "assigned_to_user_id": "USER_NOT_FOUND",
    "interacted_user": "USER_NOT_FOUND",
    "owner_id": "USER_NOT_FOUND",
    "case_id": "CASE_NOT_FOUND",
    "sla_def_id": "SLA_DEFINITION_NOT_FOUND",
    "knowledge_id": "KNOWLEDGE_ARTICLE_NOT_FOUND",
}

DELETES = {
    "delete_case_slas": DeleteTool(
        "case_sla",
        removes=[
            ({"case_sla_id": 2}, {2}),
            ({"case_id": 9}, {6, 7}),
            ({"sla_def_id": 1}, {1, 6}),
            ({"stage": "paused", "sla_def_id": 1}, {6}),
            ({"has_breached": False}, {2, 7}),
        ],
        incomplete=[{}, {"case_id": None, "stage": None}],
        incomplete_code="MISSING_FILTER",
        misses=[({"case_sla_id": 404}, None), ({"case_id": 404}, None), ({"case_id": 1, "stage": "paused"}, None)],
    ),
    "delete_case_knowledge_linkages": DeleteTool(
        "case_knowledge",
        removes=[
            ({"case_kb_id": 1}, {1}),
            ({"case_id": 9}, {5}),
            ({"knowledge_id": 3}, {2}),
            ({"used_as": "suggested"}, {1}),
        ],
        incomplete=[{}, {"case_id": None}],
        incomplete_code="MISSING_FILTER",
        misses=[({"case_kb_id": 404}, None), ({"case_id": 1, "used_as": "applied"}, None)],
    ),
    "delete_notifications": DeleteTool(
        "notification",
        removes=[
            ({"notification_id": 1}, {1}),
            ({"case_id": 1}, {1, 2}),
            ({"knowledge_id": 1}, {1}),
            ({"email": "di@globex.test"}, {6}),
            ({"type": "alert"}, {2}),
            ({"status": "success", "case_id": 1}, {1}),
            ({"created_after": "2025-02-05 08:30:00", "created_before": "2025-02-06 00:00:00"}, {1}),
        ],
        incomplete=[{}, {"email": None, "created_after": None}],
        incomplete_code="MISSING_FILTER",
        misses=[({"notification_id": 404}, None), ({"case_id": 404}, None), ({"email": ""}, None)],
    ),
    "delete_products": DeleteTool(
        "product",
        removes=[
            ({"product_id": 3}, {3}),
            (
                {
                    "category": "service",
                    "lifecycle_state": "retired",
                    "product_price": 250,
                    "created_after": "2025-01-23",
                },
                {3},
            ),
        ],
        incomplete=[{}, {"name": None}],
        incomplete_code="MISSING_FILTER",
        misses=[({"name": "Care"}, None), ({"name": ""}, None)],
    ),
    "remove_group_membership": DeleteTool(
        "user_group_member",
        removes=[
            ({"member_id": 2}, {2}),
            ({"group_id": 1, "user_id": 1}, {1}),
            ({"member_id": 5, "group_id": 1, "user_id": 1}, {5}),
        ],
        incomplete=[{}, {"group_id": 1}, {"user_id": 1}, {"member_id": None, "user_id": 2}],
        incomplete_code="INVALID_IDENTIFIER",
        misses=[({"member_id": 404}, None), ({"group_id": 4, "user_id": 1}, None)],
    ),
}

# --- access strict -------------------------------------------------------------------------------------------------

AGENTS_CHANGE = {"cases", "case_slas", "interactions", "knowledge", "notifications"}
CUSTOMERS_CHANGE = {"cases", "interactions"}
HIDDEN_FROM_CUSTOMERS = {"groups", "sla_definitions"}
TOOLS_OF_RESOURCE = {
    "users": ("find_user", "update_user_details"),
    "groups": ("list_group_members", "add_new_group_member"),
    "locations": ("find_locations", "update_location"),
    "accounts": ("find_contacts", "update_account_details"),
    "products": ("retrieve_installed_products", "delete_products"),
    "contracts": ("find_entitlements", "update_contract"),
    "sla_definitions": ("find_sla_definitions", "add_new_sla_definition"),
    "cases": ("search_cases", "assign_case_to_user"),
    "case_slas": ("find_case_slas", "delete_case_slas"),
    "interactions": ("find_interactions", "update_interaction"),
    "knowledge": ("retrieve_knowledge", "link_case_knowledge"),
    "notifications": ("count_notifications_by_case", "send_notification"),
}


def may_read(role: str, resource: str) -> bool:
    return role != "customer" or resource not in HIDDEN_FROM_CUSTOMERS


def may_change(role: str, resource: str) -> bool:
    return {"agent": resource in AGENTS_CHANGE, "customer": resource in CUSTOMERS_CHANGE}.get(role, True)


DECLARATION = DomainDeclaration(
    domain=registry.load("csm"),
    tool_count=89,
    seed=SEED,
    examples=EXAMPLES,
    identity=EMAIL,
    now=NOW,
    order="rowid",
    unknown_key=404,
    lists=LISTS,
    creates=CREATES,
    updates=UPDATES,
    deletes=DELETES,
    other_writes=frozenset({"assign_case_to_user", "set_case_assignment_group"}),
    refuses_no_op=False,
    references=REFERENCES,
    strict=StrictDeclaration(
        seed=SCRIPT,
        identities=EMAILS,
        inactive="ina@desk.test",
        reads=may_read,
        changes=may_change,
        tools_of_resource=TOOLS_OF_RESOURCE,
        cases=CASES,
        rules_of_identity=frozenset({"ID-1", "ID-2"}),
        transitions=STATE_TRANSITIONS,
        denial=("agent", "update_account_details", ("rule ID-2", "3 (agent)", "accounts", "update_account_details")),
    ),
    dangling=(
        "(2, 2, 8, 1, 0, '2025-01-20",
        "(3, 2, 8, 1, 0, '2025-01-20",
        {"place": "customer_case.contact_id", "value": "2"},
    ),
    argument_codes={"INVALID_ENUM_VALUE": "enum", "MISSING_FIELD": "missing", "INVALID_TYPE": "type_error"},
    column_of={"assigned_to_user_id": "user_id", "on_date": "warranty_end", "case": "case_id"},
)
