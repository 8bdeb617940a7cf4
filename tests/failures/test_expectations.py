"""What is read from verifiers' queries."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.failures.trials import asks

from opsgym_console.analysis.failures.expectations import expectations_of


def read(query: str, expected: Any = 1) -> list[dict[str, Any]]:
    return [
        {one.column: one.value for one in expectation.conditions}
        for expectation in expectations_of(asks(query, expected))
    ]


@pytest.mark.parametrize(
    ("query", "conditions"),
    [
        ("SELECT COUNT(*) FROM t WHERE a = 'x' AND b = 3 AND active = true", [{"a": "x", "b": "3", "active": "true"}]),
        ("SELECT COUNT(*) FROM t WHERE name = 'it''s' AND closed IS NULL", [{"name": "it's", "closed": None}]),
        ('SELECT COUNT(*) FROM t WHERE email = "a@b.c"', [{"email": "a@b.c"}]),
        ("SELECT COUNT(*) FROM t JOIN u ON t.u_id = u.id WHERE t.a = 1 AND u.b = 'y'", [{"a": "1"}, {"b": "y"}]),
        ("SELECT COUNT(*) FROM t WHERE a <> 1 AND b != 'x' AND c >= 3", []),
        ("SELECT COUNT(*) FROM t WHERE LOWER(displayName) = 'x'", [{"display_name": "x"}]),
        ("SELECT COUNT(*) FROM t WHERE json_extract(source, '$.user.id') = 'j.w'", [{"source": "j.w"}]),
        ("SELECT COUNT(*) FROM t, json_each(t.m) v WHERE json_extract(v.value, '$.role') = 'o'", [{"role": "o"}]),
        ("SELECT COUNT(*) FROM t WHERE g = (SELECT g FROM gs WHERE name = 'Tier 2') AND a = 1", [{"a": "1"}]),
        ("SELECT COUNT(*) FROM t WHERE a = 1 OR b = 2", [{"a": "1"}]),
        ("SELECT COUNT(*) FROM t WHERE org_id = 'o-1' AND created_by = 3", []),
        (r"SELECT COUNT(*) FROM t WHERE a = 1 AND message ~ '\m9\M'", [{"a": "1"}]),  # Postgres alone has `~`
    ],
)  # fmt: skip
def test_comparisons_with_literals_are_read(query: str, conditions: list[dict[str, Any]]) -> None:
    assert read(query) == conditions


def test_rows_that_share_conditions_are_expected_one_by_one() -> None:
    query = "SELECT COUNT(*) FROM t WHERE team = 'x' AND ((id = 1 AND role = 'a') OR (id = 2 AND role = 'b'))"
    assert read(query, 2) == [{"id": "1", "role": "a", "team": "x"}, {"id": "2", "role": "b", "team": "x"}]


@pytest.mark.parametrize(
    "where",
    ["NOT (a = 1)", "NOT EXISTS (SELECT 1 FROM u WHERE a = 1)", "a NOT LIKE 'x'", "a NOT IN (1)", "a IS NOT NULL"],
)
def test_negated_conditions_are_not_expected(where: str) -> None:
    assert read(f"SELECT COUNT(*) FROM t WHERE b = 2 AND {where}") == [{"b": "2"}]


def test_a_condition_of_one_alternative_only_is_not_expected() -> None:
    assert read("SELECT COUNT(*) FROM t WHERE c = 3 AND ((a = 1 AND b = 2) OR a = 5)") == [{"c": "3"}]


def test_a_query_that_is_not_sql_expects_nothing() -> None:
    assert read("SELECT COUNT( FROM WHERE") == []


def test_alternatives_are_met_by_either() -> None:
    (expectation,) = expectations_of(asks("SELECT COUNT(*) FROM t WHERE (user_id = 'u.1' OR email = 'u@x.y')"))
    (condition,) = expectation.conditions
    assert condition.holds({"email": "u@x.y"})
    assert condition.holds({"user_id": "u.1", "email": "other"})
    assert not condition.holds({"user_id": "u.2"})


def test_a_part_of_a_text_is_enough_for_like() -> None:
    (expectation,) = expectations_of(asks("SELECT COUNT(*) FROM t WHERE body LIKE '%is live%'"))
    assert expectation.conditions[0].holds({"body": {"content": "The hub is LIVE now"}})


def test_a_list_asks_for_a_row_each_where_so_many_are_expected() -> None:
    query = "SELECT COUNT(*) FROM t WHERE id IN (1, 2) AND state = 'open'"
    assert read(query, 2) == [{"id": "1", "state": "open"}, {"id": "2", "state": "open"}]
    assert read(query, 1) == [{"state": "open"}]


def test_the_value_of_a_single_column_is_asked_for() -> None:
    assert read("SELECT channel FROM t WHERE id = 5", "alert") == [{"id": "5", "channel": "alert"}]


def test_a_count_of_nothing_asks_that_the_row_is_gone() -> None:
    (expectation,) = expectations_of(asks("SELECT COUNT(*) FROM t WHERE id = 5", 0))
    assert not expectation.present


@pytest.mark.parametrize(
    "fields",
    [{"query": None}, {"verifier_type": "answer_match"}, {"comparison": "greater_than"}, {"expected": [1, 2]}],
)
def test_what_cannot_be_read_asks_for_nothing(fields: dict[str, Any]) -> None:
    result = replace(asks("SELECT COUNT(*) FROM t WHERE id = 5"), **fields)
    assert expectations_of(result) == []


def test_what_must_be_gone_is_known_only_from_a_query_that_is_read_whole() -> None:
    assert expectations_of(asks("SELECT COUNT(*) FROM t WHERE id = 5 AND note NOT LIKE '%x%'", 0)) == []


def test_rows_that_are_counted_together_are_asked_for_one_by_one() -> None:
    query = "SELECT COUNT(*) FROM t WHERE (id = 1 AND state = 'a') OR (id = 2 AND state = 'b')"
    assert read(query, 2) == [{"id": "1", "state": "a"}, {"id": "2", "state": "b"}]
