"""Access `strict` in CSM: customers see and change the rows of their own account only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.csm.process_rules import NEW
from tests.domains.csm import DECLARATION
from tests.support.gym import Gym, GymDatabase


@pytest.fixture(scope="module")
def customer(gym: Gym) -> Iterator[GymDatabase]:
    """A database that a customer uses, for calls that change nothing."""
    with DECLARATION.strict_database(gym, "customer") as database:
        before = database.digest()
        yield database
        assert database.digest() == before


@pytest.mark.parametrize(
    ("tool", "arguments", "own"),
    [
        ("search_cases", {}, {"case_id": {1, 2, 3, 4, 5, 7, 8, 9}}),
        ("get_accounts", {}, {"account_id": {1}}),
        ("find_contacts", {}, {"contact_id": {1, 2, 4}}),
        ("list_users", {}, {"user_id": {6, 7, 9}}),
        ("retrieve_installed_products", {}, {"installed_product_id": {1, 2}}),
        ("find_contracts", {}, {"contract_id": {1}}),
        ("find_entitlements", {}, {"entitlement_id": {1}}),
        ("find_case_slas", {}, {"case_sla_id": {1, 2, 3}}),
        ("find_interactions", {}, {"interaction_id": {1}}),
        ("find_notifications", {}, {"notification_id": {1}}),
        ("find_case_knowledge_linkages", {}, {"case_kb_id": {1}}),
        ("retrieve_knowledge", {}, {"knowledge_id": {1, 4}}),
    ],
)
def test_a_list_has_the_rows_of_the_customers_account(
    customer: GymDatabase, tool: str, arguments: dict[str, Any], own: dict[str, set[int]]
) -> None:
    ((key, expected),) = own.items()
    assert {row[key] for row in customer.call_with(tool, arguments).data} == expected


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("find_user", {"name": "Eve Orr"}),
        ("find_user_by_email", {"email": "bo@desk.test"}),
        ("find_account", {"name": "Globex"}),
        ("find_contact_by_portal_user", {"portal_user_id": 8}),
        ("find_installed_product_by_serial", {"serial_number": "B-1"}),
    ],
)
def test_a_lookup_of_another_accounts_row_returns_nothing(
    customer: GymDatabase, tool: str, arguments: dict[str, Any]
) -> None:
    assert customer.call_with(tool, arguments).data == {}


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("update_case", {"case_id": 6, "short_description": "x"}),
        ("create_new_case", NEW | {"account_id": 2, "contact_id": 3}),
        ("create_new_case", NEW | {"contact_id": 3}),
        ("create_new_case", NEW | {"installed_product_id": 3, "product_id": 2}),
        ("register_new_interaction", {"channel": "web", "account_id": 2, "status": "open"}),
        ("register_new_interaction", {"channel": "web", "account_id": 1, "case_id": 6, "status": "open"}),
    ],
)
def test_a_write_cannot_refer_to_another_accounts_row(
    customer: GymDatabase, tool: str, arguments: dict[str, Any]
) -> None:
    refused = customer.call_with(tool, arguments)
    assert refused.is_error


def test_counts_are_of_the_customers_account(customer: GymDatabase) -> None:
    counted = customer.call("count_case_by_state").data
    assert sum(row["count"] for row in counted) == 8


def test_a_customer_whose_contact_is_inactive_sees_nothing(gym: Gym) -> None:
    given = "UPDATE contact SET active = 0 WHERE contact_id = 1;"
    with DECLARATION.strict_database(gym, "customer", given=given) as database:
        assert database.call("search_cases").data == []


def test_customers_may_not_read_groups_and_sla_definitions(customer: GymDatabase) -> None:
    for tool in ("list_user_groups", "find_sla_definitions"):
        assert customer.call(tool).code == "PERMISSION_DENIED", tool


def test_rules_judge_only_the_fields_that_a_call_changes(gym: Gym) -> None:
    given = "UPDATE customer_case SET assigned_to = 1, contact_id = 4, escalation = 1 WHERE case_id = 2;"
    with DECLARATION.strict_database(gym, given=given) as database:
        changed = database.call("update_case", case_id=2, short_description="seen").data
        assert (changed["short_description"], changed["assigned_to"]) == ("seen", 1)


# --- roles as rows -------------------------------------------------------------------------------------------------


def change(gym: Gym, database: GymDatabase, *statements: str) -> None:
    sent = {"database_id": database.id, "sql": list(statements)}
    gym.client.post("/api/apply-event", json=sent).raise_for_status()


def test_an_event_changes_what_a_role_may_do(gym: Gym) -> None:
    close = {"interaction_id": 1, "status": "closed"}
    with DECLARATION.strict_database(gym, "agent") as database:
        change(gym, database, "DELETE FROM role_permission WHERE role_id = 'agent' AND perm_id = 'interactions:crud'")
        assert database.call_with("update_interaction", close).code == "PERMISSION_DENIED"
        assert database.call("find_interactions").code == "PERMISSION_DENIED"
        change(gym, database, "INSERT INTO role_permission VALUES ('agent', 'interactions:read')")
        assert database.call("find_interactions").data
        assert database.call_with("update_interaction", close).code == "PERMISSION_DENIED"
        change(gym, database, "INSERT INTO role_permission VALUES ('agent', 'interactions:crud')")
        assert database.call_with("update_interaction", close).data["status"] == "closed"


def test_a_seed_may_bring_its_own_roles(gym: Gym) -> None:
    given = (
        "INSERT INTO role VALUES ('R1', 'agent'); INSERT INTO permission VALUES ('P1', 'users', 'read');"
        "INSERT INTO role_permission VALUES ('R1', 'P1');"
    )
    with DECLARATION.strict_database(gym, "agent", given=given) as database:
        assert database.call("list_users").data
        assert database.call("search_cases").code == "PERMISSION_DENIED"
        assert database.value("SELECT count(*) FROM permission") == 1


def test_a_seed_without_roles_gets_those_of_the_policy(unchanged: GymDatabase) -> None:
    resources = {tool.run.__module__.rpartition(".")[2] for tool in DECLARATION.domain.toolbox.tools.values()}
    assert {row["resource"] for row in unchanged.rows("SELECT resource FROM permission")} == resources
    names = [row["name"] for row in unchanged.rows("SELECT name FROM role ORDER BY name")]
    assert names == ["admin", "agent", "customer", "manager"]
