"""Comparisons of verifiers, ours and those of the published harness."""

from __future__ import annotations

from typing import Any

import pytest

from opsgym_api.records.attempt import VerifierResult
from opsgym_api.tasks.verifiers import Comparison
from opsgym_runner.verification.comparison import holds, published_holds
from opsgym_runner.verification.verifiers import published_score, value_of


@pytest.mark.parametrize(
    ("rows", "value"),
    [
        ([], []),
        ([{"n": 3}], 3),
        ([{"n": None}], None),
        ([{"n": 3, "m": 4}], {"n": 3, "m": 4}),
        ([{"n": 3}, {"n": 4}], [{"n": 3}, {"n": 4}]),
    ],
)
def test_rows_are_compared_as_cell_row_or_rows(rows: list[dict[str, Any]], value: object) -> None:
    assert value_of(rows) == value


@pytest.mark.parametrize(
    ("actual", "comparison", "expected", "holds_here", "published"),
    [
        (1, "equals", 1, True, True),
        (1, "equals", "1", True, False),
        ("1.50", "equals", 1.5, True, False),
        (1, "equals", 1.0, True, True),
        (True, "equals", 1, True, True),
        (True, "equals", "1", True, False),
        ("1", "equals", "1.0", False, False),
        ("INC_1", "equals", 1, False, False),
        (None, "equals", 0, False, False),
        (None, "equals", None, True, True),
        ("", "equals", None, False, False),
        (9007199254740993, "equals", "9007199254740993", True, False),
        (9007199254740992, "equals", "9007199254740993", False, False),
        ({"a": 1, "b": "x"}, "equals", {"b": "x", "a": "1"}, True, False),
        ({"a": 1}, "equals", {"a": 1, "b": None}, False, False),
        ([{"a": 1}], "equals", [{"a": "1"}], True, False),
        ([], "equals", [], True, True),
        ([], "equals", 0, False, False),
        (float("nan"), "equals", 1, False, False),
        (3, "greater_than", 2, True, True),
        (3, "greater_than", "2", True, False),
        ("10", "greater_than", "9", True, False),
        ("b", "greater_than", "a", True, True),
        (2, "greater_than", 2, False, False),
        (None, "greater_than", 0, False, False),
        (1, "less_than", 2, True, True),
        ("1", "less_than", 2, True, False),
        ("abc", "contains", "b", True, True),
        (123, "contains", "2", True, True),
        (123, "contains", 2, True, False),
        (None, "contains", "on", False, True),
        ([{"a": "xyz"}], "contains", "xyz", True, True),
    ],
)
def test_comparisons(actual: Any, comparison: str, expected: Any, holds_here: bool, published: bool) -> None:
    kind = Comparison(comparison)

    assert (holds(actual, expected, kind), published_holds(actual, expected, kind)) == (holds_here, published)


@pytest.mark.parametrize(
    ("passes", "score"),
    [
        ([("a", True), ("b", True)], 1),
        ([("a", True), ("b", False)], 0),
        ([("a", False), ("a", True)], 1),
        ([("a", True), ("a", False)], 0),
        ([("", False), ("", True)], 0),
    ],
)
def test_the_published_score_takes_the_last_of_one_name(passes: list[tuple[str, bool]], score: int) -> None:
    results = [
        VerifierResult(
            index=index,
            name=name,
            verifier_type="database_state",
            category="task_completion",
            executed=True,
            passed=passed,
            published_passed=passed,
        )
        for index, (name, passed) in enumerate(passes)
    ]

    assert published_score(results) == score
