"""Users, groups, accounts, products and contracts: lookups, memberships, deletes, counts."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.gym import GymDatabase

LOOKUPS: list[tuple[str, dict[str, Any], int | None]] = [
    ("find_user", {"name": "Ada Berg"}, 1),
    ("find_user", {"name": " bo LUND "}, 2),
    ("find_user", {"name": "Bo"}, None),
    ("find_user", {"name": "% Berg"}, None),
    ("find_user_by_email", {"email": "bo.lund@desk.test"}, 3),
    ("find_user_by_email", {"email": "desk.test"}, None),
    ("find_user_group", {"name": "Triage_2"}, 2),
    ("find_user_group", {"name": "triage"}, None),
    ("find_location", {"name": "100% Annex"}, 2),
    ("find_location", {"name": "Tower"}, None),
    ("find_account", {"name": "Acme"}, 1),
    ("find_account", {"name": "Acme Sys"}, None),
    ("find_contact_by_portal_user", {"portal_user_id": 8}, 2),
    ("find_contact_by_portal_user", {"portal_user_id": 1}, None),
    ("find_product", {"name": "Edge Box"}, 2),
    ("find_product", {"name": "Edge"}, None),
    ("find_product_by_id", {"product_id": 3}, 3),
    ("find_product_by_id", {"product_id": 2**40}, None),
    ("find_installed_product_by_serial", {"serial_number": "EB-002"}, 4),
    ("find_installed_product_by_serial", {"serial_number": "EB"}, None),
]
COUNTS: list[tuple[str, dict[str, Any], Any]] = [
    ("installed_product_warranties_ended_count", {"on_date": "2025-06-29"}, {"ended_count": 0}),
    ("installed_product_warranties_ended_count", {"on_date": "2025-06-30"}, {"ended_count": 1}),
    ("installed_product_warranties_ended_count", {"on_date": "2030-01-01", "account_id": 1}, {"ended_count": 1}),
    ("installed_product_warranties_ended_count", {"on_date": "2030-01-01", "product_id": 3}, {"ended_count": 0}),
    (
        "count_installed_product_by_status",
        {},
        [{"status": "in_use", "count": 2}, {"status": "repair", "count": 1}],
    ),
    ("count_installed_product_by_status", {"location_id": 2}, [{"status": "in_use", "count": 1}]),
    ("count_installed_product_by_status", {"account_id": 6}, []),
    (
        "avg_installed_per_account_by_status",
        {"product_id": 2},
        [
            {"account_id": 1, "status": "repair", "avg_installed_per_account": 1.0},
            {"account_id": 2, "status": "in_use", "avg_installed_per_account": 1.0},
        ],
    ),
    ("count_contract_by_status", {}, [{"status": "active", "count": 1}, {"status": "expired", "count": 1}]),
    ("count_contract_by_status", {"account_id": 2, "contract_type": "support"}, []),
    (
        "avg_contracts_per_account_by_status",
        {"contract_type": "warranty"},
        [{"status": "expired", "avg_contracts_per_account": 1.0}],
    ),
    ("total_sum_of_max_cases_per_support_level", {}, {"support_level": "all", "sum": 10}),
    (
        "total_sum_of_max_cases_per_support_level",
        {"support_level": "standard"},
        {"support_level": "standard", "sum": 0},
    ),
    ("total_sum_of_target_mins_per_priority", {}, {"priority": "all", "sum": 3375}),
    ("total_sum_of_target_mins_per_priority", {"priority": "low"}, {"priority": "low", "sum": 2880}),
    (
        "average_target_mins_per_priority",
        {},
        [{"priority": "critical", "avg_target_mins": 15.0}, {"priority": "low", "avg_target_mins": 2880.0}],
    ),
    ("average_target_mins_per_priority", {"priority_list": ["high"]}, []),
]


@pytest.mark.parametrize(("tool", "given", "key"), LOOKUPS)
def test_a_lookup_returns_the_record_of_that_name_or_nothing(
    unchanged: GymDatabase, tool: str, given: dict[str, Any], key: int | None
) -> None:
    record = unchanged.call_with(tool, given).data
    assert (next(iter(record.values())) if record else None) == key
    assert key is not None or record == {}


@pytest.mark.parametrize(("tool", "given", "expected"), COUNTS)
def test_counts_sums_and_averages(unchanged: GymDatabase, tool: str, given: dict[str, Any], expected: Any) -> None:
    assert unchanged.call_with(tool, given).data == expected


def test_an_average_counts_only_accounts_with_a_matching_contract(database: GymDatabase) -> None:
    database.call("update_contract", contract_id=2, status="active")
    again = {"account_id": 1, "contract_type": "support", "start_date": "2026-01-01", "end_date": "2026-12-31"}
    database.call("enlist_new_contract", **again, status="active")
    assert database.call("avg_contracts_per_account_by_status").data == [
        {"status": "active", "avg_contracts_per_account": 1.5}
    ]


def test_accounts_of_several_types_are_listed_together(unchanged: GymDatabase) -> None:
    accounts = unchanged.call("get_accounts", account_types=["partner", "internal"], active=True).data
    assert [row["account_id"] for row in accounts] == [2]
    assert unchanged.call("get_accounts", account_types=["partner", "rival"]).code == "enum"
    assert len(unchanged.call("get_accounts", account_types=[]).data) == 3


def test_a_range_of_prices_includes_both_ends(unchanged: GymDatabase) -> None:
    contracts = unchanged.call("find_contracts", contract_price_range_start=1200, contract_price_range_end=1200).data
    assert [row["contract_id"] for row in contracts] == [1]


# --- memberships -----------------------------------------------------------------------------------------------------


def test_a_membership_check_returns_true_or_false(unchanged: GymDatabase) -> None:
    """Unlike columns of rows, which are 0 or 1."""
    assert unchanged.call("check_user_membership", user_id=2, group_id=4).text == '{"exists": true, "member_id": 5}'
    assert unchanged.call("check_user_membership", user_id=404, group_id=4).data == {
        "exists": False,
        "member_id": None,
    }


# --- deletes ---------------------------------------------------------------------------------------------------------


def test_products_that_nothing_refers_to_are_deleted(database: GymDatabase) -> None:
    given = {"category": "service", "lifecycle_state": "retired", "product_price": 250, "created_after": "2025-01-23"}
    assert database.call_with("delete_products", given).data == {"deleted": 1}
    assert [row["product_id"] for row in database.rows("SELECT product_id FROM product")] == [1, 2]
    new = {"name": "Care Call", "category": "service", "lifecycle_state": "active"}
    assert database.call_with("add_new_product", new).data["product_id"] == 4


@pytest.mark.parametrize("given", [{"product_id": 1}, {"lifecycle_state": "active"}, {"created_before": "2026-01-01"}])
def test_no_product_is_deleted_if_one_of_them_is_still_referred_to(
    unchanged: GymDatabase, given: dict[str, Any]
) -> None:
    assert unchanged.call_with("delete_products", given).code == "STILL_REFERENCED"


def test_a_blank_text_is_kept_and_a_blank_time_clears_the_field(database: GymDatabase) -> None:
    assert database.call("update_user_details", user_id=1, phone="").data["phone"] == ""
    assert database.value("SELECT phone FROM user WHERE user_id = 1") == ""
    given = {"installed_product_id": 1, "warranty_end": ""}
    assert database.call_with("update_installed_product_details", given).data["warranty_end"] is None


# --- the acting user -------------------------------------------------------------------------------------------------


def test_a_call_without_a_known_user_is_refused_before_its_arguments_are_checked(unchanged: GymDatabase) -> None:
    for headers in ({"x-user-id": "1"}, {"x-user-email": ""}, {"x-user-email": "ADA@desk.test"}):
        for arguments in ({"name": "Ada Berg"}, {}, {"name": 5}):
            refused = unchanged.call_with("find_user", arguments, **headers)
            assert refused.is_error
            assert refused.text.startswith("Error: ")
            assert "x-user-email" in refused.text


# --- queries ---------------------------------------------------------------------------------------------------------

NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) SELECT i FROM n"


@pytest.mark.parametrize(
    ("query", "rows", "echoed"),
    [
        (NUMBERS, 100, f"{NUMBERS} LIMIT 100"),
        (f"{NUMBERS} ; ", 100, f"{NUMBERS} LIMIT 100"),
        (f"{NUMBERS} -- all", 100, f"{NUMBERS} -- all\nLIMIT 100"),
        (f"{NUMBERS} limit 150", 150, f"{NUMBERS} limit 150"),
        ("SELECT count(*) FROM user", 1, "SELECT count(*) FROM user LIMIT 100"),
    ],
)
def test_a_query_without_a_limit_returns_one_hundred_rows_and_says_so(
    unchanged: GymDatabase, query: str, rows: int, echoed: str
) -> None:
    answer = unchanged.client.post("/api/sql-runner", json={"query": query, "database_id": unchanged.id}).json()
    assert (answer["row_count"], len(answer["data"]), answer["query"]) == (rows, rows, echoed)


@pytest.mark.parametrize("query", ["PRAGMA table_info(user)", "UPDATE user SET role = 'admin'", "DELETE FROM user"])
def test_a_query_that_writes_is_refused(unchanged: GymDatabase, query: str) -> None:
    answer = unchanged.client.post("/api/sql-runner", json={"query": query, "database_id": unchanged.id})
    assert answer.status_code == 400
    assert "read-only SELECT" in answer.json()["detail"]
