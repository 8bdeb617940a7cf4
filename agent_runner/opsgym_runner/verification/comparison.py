"""Compares a value of a database with what a verifier expects.

Invariant: equality is of values, not of their spelling: 3, 3.0 and "3" are equal where either is a number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from opsgym_api.tasks.expected_difference import Condition
from opsgym_api.tasks.verifiers import Comparison
from opsgym_runner.verification.readings import matches, plain_characters

_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d{1,3})?")
_TIME = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?")


def holds(actual: Any, expected: Any, comparison: Comparison) -> bool:
    """Whether a value compares as expected; a number equals the same number written as text."""
    if comparison is Comparison.EQUALS:
        return equal(actual, expected)
    if comparison is Comparison.CONTAINS:
        return actual is not None and str(expected) in str(actual)
    numbers = _number(actual), _number(expected)
    left, right = (actual, expected) if None in numbers else numbers
    return _ordered(left, right, comparison)


def published_holds(actual: Any, expected: Any, comparison: Comparison) -> bool:
    """The comparison by the published harness: Python's operators; an error means false."""
    try:
        if comparison is Comparison.EQUALS:
            return bool(actual == expected)
        if comparison is Comparison.CONTAINS:
            return expected in str(actual)
    except TypeError:
        return False
    return _ordered(actual, expected, comparison)


def _ordered(left: Any, right: Any, comparison: Comparison) -> bool:
    try:
        return bool(left > right if comparison is Comparison.GREATER_THAN else left < right)
    except TypeError:
        return False


def equal(actual: Any, expected: Any) -> bool:
    """Whether two values are equal; texts only if they are the same text."""
    if isinstance(actual, dict) and isinstance(expected, dict):
        return actual.keys() == expected.keys() and all(equal(actual[key], expected[key]) for key in actual)
    if isinstance(actual, list) and isinstance(expected, list):
        return len(actual) == len(expected) and all(map(equal, actual, expected))
    if isinstance(actual, str) and isinstance(expected, str):
        return actual == expected
    numbers = _number(actual), _number(expected)
    return bool(actual == expected) if None in numbers else numbers[0] == numbers[1]


def same_value(actual: Any, expected: Any) -> bool:
    """Whether two values of a column are equal; texts that are times are equal if their instants are."""
    if isinstance(actual, str) and isinstance(expected, str) and actual != expected:
        times = _time(actual), _time(expected)
        return None not in times and times[0] == times[1]
    return equal(actual, expected)


def alike(value: Any) -> Hashable:
    """What values have in common that are equal by `same_value`, so that they can be looked for in a dictionary."""
    number = _number(value)
    if number is not None:
        return number
    if isinstance(value, str):
        return _time(value) or value
    return value if isinstance(value, Hashable) else type(value).__name__


def meets(value: Any, condition: Condition, referenced: Any = None) -> bool:
    """Whether a column's value meets a condition.

    Args:
        value: The value, as SQLite snapshots have it.
        condition: The condition.
        referenced: For `key_of`: the value of the referenced row's key; None if the row does not exist.
    """
    if "equals" in condition.model_fields_set:
        return same_value(value, condition.equals)
    if condition.any_of is not None:
        return any(same_value(value, one) for one in condition.any_of)
    if condition.key_of is not None:
        return referenced is not None and same_value(value, referenced)
    if value is None:
        return False
    if condition.not_null is not None:
        return True
    if condition.has is not None:
        return all(_folded(text) in _folded(str(value)) for text in condition.has)
    if condition.matches is not None:
        return matches(condition.matches, str(value))
    if condition.text is not None:
        return _plain(str(value)) == _plain(condition.text)
    return _within(value, condition.at_least, condition.at_most)


def shown_condition(condition: Condition) -> str:
    """A condition as messages show it, by its own words."""
    words = {word: getattr(condition, word) for word in condition.model_fields_set}
    if "equals" in words:
        return shown(words["equals"])
    if condition.not_null is not None:
        return "any value but null"
    if condition.key_of is not None:
        return f"the key of {condition.key_of!r}"
    return ", ".join(f"{word} {shown(words[word])}" for word in sorted(words))


def shown(value: Any) -> str:
    """A value as messages show it: at most 80 characters."""
    text = "null" if value is None else repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"


def _within(value: Any, least: Any, most: Any) -> bool:
    lower = least is None or _at_most(least, value)
    return lower and (most is None or _at_most(value, most))


def _at_most(left: Any, right: Any) -> bool:
    """Whether a number or time is not above another; false for anything else, or one of each."""
    numbers = _number(left), _number(right)
    if numbers[0] is not None and numbers[1] is not None:
        return numbers[0] <= numbers[1]
    times = _instant(left), _instant(right)
    return times[0] is not None and times[1] is not None and times[0] <= times[1]


def _folded(text: str) -> str:
    """A text without regard to case, runs of white space and typography."""
    return " ".join(plain_characters(text).casefold().split())


def _plain(text: str) -> str:
    """A text without regard to case, white space and final punctuation."""
    return _folded(text).rstrip(" .!?…;:,")


def _instant(value: Any) -> datetime | None:
    return _time(value) if isinstance(value, str) else None


def _time(text: str) -> datetime | None:
    """A date or time in ISO 8601, in UTC unless it names a zone; None for any other text."""
    if not _TIME.fullmatch(text):
        return None
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time


def _number(value: Any) -> Decimal | None:
    """The value as a number, also if written as text; booleans are 0 and 1, as in SQLite."""
    if isinstance(value, int | float) and math.isfinite(value):
        return Decimal(str(int(value) if isinstance(value, bool) else value))
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        return Decimal(value.strip())
    return None
