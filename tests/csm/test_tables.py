"""The tables are the published ones, and their keys are counted as SQLite counts them."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from tests.csm.seed import EMAIL, SEED
from tests.support.gym import Gym, GymDatabase
from tests.support.upstream import upstream

from opsgym_domains.csm.domain import DOMAIN

TABLES = DOMAIN.metadata.tables
PRODUCT = {"name": "Edge Cube", "category": "hardware", "lifecycle_state": "active"}


@cache
def published() -> dict[str, dict[str, Any]]:
    listed: dict[str, dict[str, Any]] = json.loads((upstream() / "schema" / "csm.json").read_text(encoding="utf-8"))
    return listed["tables"]


def new_product(database: GymDatabase) -> int:
    key: int = database.call_with("add_new_product", PRODUCT).data["product_id"]
    return key


@pytest.mark.published
def test_the_tables_are_the_published_ones_and_those_of_roles() -> None:
    assert len(published()) == 17
    assert list(TABLES)[17:] == ["role", "permission", "role_permission"]
    assert set(TABLES) == {*published(), *list(TABLES)[17:]}


@pytest.mark.published
def test_columns_keys_and_references_are_the_published_ones() -> None:
    kinds = {"INTEGER": "int", "NUMERIC": "int", "BOOLEAN": "bool", "DATETIME": "datetime", "DATE": "date"}
    for name, facts in published().items():
        table = TABLES[name]
        assert [column.name for column in table.columns] == list(facts["columns"]), name
        assert [column.name for column in table.primary_key] == facts["primary_key"], name
        references = {(key.parent.name, key.column.table.name, key.column.name) for key in table.foreign_keys}
        expected = {(key["column"], key["ref_table"], key["ref_column"]) for key in facts["foreign_keys"]}
        assert references == expected, name
        types = {column.name: column.type.python_type.__name__ for column in table.columns}
        assert types == {column: kinds.get(fact["type"], "str") for column, fact in facts["columns"].items()}, name


def test_a_new_key_is_one_more_than_any_row_ever_had(gym: Gym) -> None:
    """As with AUTOINCREMENT: also the keys of rows that a seed deleted count."""
    database = gym.database(f"{SEED}INSERT INTO product VALUES (40, 'Old', 'service', NULL, 'retired', NULL, NULL);"
                        "DELETE FROM product WHERE product_id = 40;", **{"x-user-email": EMAIL})  # fmt: skip
    assert new_product(database) == 41
    assert database.call("delete_products", product_id=41).data == {"deleted": 1}
    assert new_product(database) == 42
    assert database.value("SELECT seq FROM sqlite_sequence WHERE name = 'product'") == 42
    gym.drop(database)


def test_a_seed_may_leave_keys_out(gym: Gym) -> None:
    database = gym.database(
        f"{SEED}INSERT INTO product (name, category, lifecycle_state) VALUES ('New', 'service', 'active');",
        **{"x-user-email": EMAIL},
    )
    assert database.call("find_product", name="New").data["product_id"] == 4
    assert new_product(database) == 5
    gym.drop(database)


def test_a_refused_call_uses_up_no_key(database: GymDatabase) -> None:
    given = {"account_id": 1, "product_id": 404, "serial_number": "X", "status": "in_use"}
    assert database.call_with("register_new_installed_product", given).code == "PRODUCT_NOT_FOUND"
    given = given | {"product_id": 1, "serial_number": "MR-001"}
    assert database.call_with("register_new_installed_product", given).code == "DUPLICATE_INSTALLED_PRODUCT"
    assert database.call_with("register_new_installed_product", given | {"serial_number": "Y"}).data[
        "installed_product_id"
    ] == 5  # fmt: skip


def test_a_reset_counts_from_the_seed_again(gym: Gym, database: GymDatabase) -> None:
    assert new_product(database) == 4
    gym.client.post("/api/reset-database", json={"database_id": database.id}).raise_for_status()
    assert new_product(database) == 4


def test_a_new_key_follows_the_rows_that_an_event_adds(gym: Gym, database: GymDatabase) -> None:
    sql = "INSERT INTO product (product_id, name, category, lifecycle_state) VALUES (9, 'New', 'service', 'active')"
    gym.client.post("/api/apply-event", json={"database_id": database.id, "sql": [sql]}).raise_for_status()
    assert new_product(database) == 10
    assert [row["product_id"] for row in database.call("find_products").data] == [1, 2, 3, 9, 10]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("(4, 'A', 'service', 1.5, 'active', NULL, NULL)", "product.product_price: 1.5 is not a valid integer"),
        ("(4, 'A', 'service', 'much', 'active', NULL, NULL)", "product.product_price: 'much' is not a valid integer"),
        ("(4, 'A', 'service', 1, 'active', 'soon', NULL)", "product.sys_created_on: 'soon' is not a valid datetime"),
        ("(3, 'A', 'service', 1, 'active', NULL, NULL)", "UNIQUE constraint failed: product.product_id"),
    ],
)
def test_a_seed_whose_values_do_not_fit_is_refused_by_name(gym: Gym, row: str, problem: str) -> None:
    body = {"database_id": "misfit", "sql_content": f"{SEED}INSERT INTO product VALUES {row};"}
    answer = gym.client.post("/api/seed-database", json=body)
    assert answer.status_code == 500
    assert problem in answer.json()["detail"]


def test_dates_come_back_as_a_seed_wrote_them(unchanged: GymDatabase) -> None:
    query = "SELECT start_date, typeof(start_date), sys_created_on FROM contract WHERE contract_id = 1"
    assert unchanged.rows(query) == [
        {"start_date": "2025-01-01", "typeof(start_date)": "text", "sys_created_on": "2025-01-27 08:00:00"}
    ]
