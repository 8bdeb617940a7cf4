"""What counts as the same answer."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from tools.conformance.compare import differences, refusal_of

BEGUN = datetime(2026, 6, 15, 10, tzinfo=UTC).replace(tzinfo=None)


def paths(recorded: Any, actual: Any) -> list[str]:
    return [difference.path for difference in differences(recorded, actual, BEGUN)]


@pytest.mark.parametrize(
    ("recorded", "actual", "expected"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": True}, ["a"]),
        ({"a": 1}, {"a": 1.0}, ["a"]),
        ({"a": 1}, {"a": "1"}, ["a"]),
        ({"a": None}, {}, ["a"]),
        ({}, {"a": None}, ["a"]),
        ([1, 2], [2, 1], ["[0]", "[1]"]),
        ([1, 2], [1], ["[]"]),
        ({"a": [{"b": 1}]}, {"a": [{"b": 2}]}, ["a[0].b"]),
        ({}, [], [""]),
    ],
)
def test_names_values_types_and_order_count(recorded: Any, actual: Any, expected: list[str]) -> None:
    assert paths(recorded, actual) == expected


@pytest.mark.parametrize(
    ("recorded", "actual", "same"),
    [
        ("2026-06-15 10:00:05", "2026-06-15 10:00:06", True),
        ("2026-06-15 10:00:05", "2026-06-15 10:00:09", False),
        ("2026-06-15 10:00:05", "2026-06-15T10:00:05", False),
        ("2025-08-27 15:30:00", "2025-08-27 15:30:01", False),
    ],
)
def test_only_times_that_the_run_wrote_may_be_off_by_seconds(recorded: str, actual: str, same: bool) -> None:
    assert (paths(recorded, actual) == []) is same


def test_of_refusals_code_and_field_count() -> None:
    listed = "API Error [t]: [{'type': 'string_too_long', 'loc': ['body', 'title'], 'msg': 'one sentence'}]"
    other = "API Error [t]: [{'type': 'string_too_long', 'loc': ['body', 'title'], 'msg': 'another'}]"
    assert refusal_of(listed, ["title"]) == refusal_of(other, ["title"])
    assert refusal_of(listed, ["title"]) != refusal_of(other.replace("too_long", "too_short"), ["title"])
    assert refusal_of(listed, ["title"]) != refusal_of(other.replace("'title'", "'state'"), ["title", "state"])


def test_of_sentences_the_arguments_they_name_count() -> None:
    names = ["case_id", "email"]
    assert refusal_of("Invalid case_id", names) == refusal_of("case_id: there is no case 0", names)
    assert refusal_of("Invalid case_id", names) != refusal_of("Invalid email", names)


def test_codes_of_envelopes_count() -> None:
    def envelope(code: str) -> dict[str, Any]:
        return {"detail": {"error": True, "details": [{"code": code, "message": "…", "field": "name"}]}}

    assert refusal_of(envelope("DUPLICATE"), []) == refusal_of(envelope("DUPLICATE"), [])
    assert refusal_of(envelope("DUPLICATE"), []) != refusal_of(envelope("MISSING_FIELD"), [])
