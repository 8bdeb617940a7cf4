"""Parsing of objects of the API server."""

from __future__ import annotations

import pytest

from opsgym_operator.observe.objects import parse_indexes


@pytest.mark.parametrize(
    ("text", "indexes"), [("", set()), ("3", {3}), ("0,2-5,9", {0, 2, 3, 4, 5, 9}), ("7-8", {7, 8})]
)
def test_completion_indexes_are_parsed(text: str, indexes: set[int]) -> None:
    assert parse_indexes(text) == indexes
