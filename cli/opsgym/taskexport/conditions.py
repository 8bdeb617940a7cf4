"""Conditions of `state_difference` verifiers as SQL expressions in SQLite's dialect.

Invariant: an expression is true exactly for the values that meet the condition, or the condition is refused; only
functions that every SQLite has are used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Column, DateTime, Integer, Numeric

from opsgym_api.tasks.days import instant
from opsgym_api.tasks.expected_difference import Condition

_ENDINGS = " .!?…;:,"
"""Punctuation that `text` ignores at the end."""
_BLANKS = ("char(9)", "char(10)", "char(11)", "char(12)", "char(13)", "char(160)")
"""White space besides the blank."""
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")


class NotExpressibleError(Exception):
    """SQL cannot state what a verifier expects; the message says why."""


def quoted(name: str) -> str:
    """A name of a table or column."""
    return '"' + name.replace('"', '""') + '"'


def literal(value: Any) -> str:
    """A value as SQLite stores it.

    Raises:
        NotExpressibleError: The value is a list or an object.
    """
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    raise NotExpressibleError(f"a column is compared with {value!r}, which is neither text nor number")


def stored(column: Column[Any]) -> str:
    """A column's value in one spelling: times with a blank or a T, with or without zone, have the same."""
    name = quoted(column.name)
    return f"strftime('%Y-%m-%d %H:%M:%f', {name})" if isinstance(column.type, DateTime) else name


def equals(column: Column[Any], value: Any) -> str:
    """Whether a column has a value; both may be null."""
    time = _time(value) if isinstance(column.type, DateTime) else None
    if time is not None:
        return f"{stored(column)} IS {literal(time)}"
    if isinstance(value, str) and _time(value) and not isinstance(column.type, Integer | Numeric):
        name, spelled = quoted(column.name), literal(_time(value))
        return f"({name} IS {literal(value)} OR strftime('%Y-%m-%d %H:%M:%f', {name}) IS {spelled})"
    return f"{quoted(column.name)} IS {literal(value)}"


def meets(column: Column[Any], condition: Condition, references: Mapping[str, str]) -> str:
    """A condition on a column.

    Args:
        column: The column.
        condition: What its value must be.
        references: Queries for the keys of added rows, by the name that `key_of` has.

    Raises:
        NotExpressibleError: SQLite has no expression for it.
    """
    name = quoted(column.name)
    if "equals" in condition.model_fields_set:
        return equals(column, condition.equals)
    if condition.any_of is not None:
        return "(" + " OR ".join(equals(column, value) for value in condition.any_of) + ")"
    if condition.key_of is not None:
        return f"{name} IN ({references[condition.key_of]})"
    if condition.not_null is not None:
        return f"{name} IS NOT NULL"
    if condition.has is not None:
        return " AND ".join(f"instr({_folded(name)}, {_needle(text)})" for text in condition.has)
    if condition.text is not None:
        plain = " ".join(condition.text.casefold().split()).rstrip(_ENDINGS)
        return f"rtrim({_folded(name)}, {literal(_ENDINGS)}) = {_needle(plain)}"
    if condition.matches is not None:
        raise NotExpressibleError(f"{column.name} must match a regular expression, which SQLite has not")
    return _within(column, condition)


def _needle(text: str) -> str:
    folded = " ".join(text.casefold().split())
    # SQLite's `lower` knows the letters of ASCII alone.
    if any(not char.isascii() and char.upper() != char.lower() for char in folded):
        raise NotExpressibleError(f"SQLite cannot compare the text {text!r} without regard to case")
    return literal(folded)


def _folded(name: str) -> str:
    """A text in lower case, with each run of white space as one blank."""
    text = f"lower({name})"
    for blank in _BLANKS:
        text = f"replace({text}, {blank}, ' ')"
    # A run of blanks becomes a run of pairs of marks, of which all but the outer two vanish.
    text = f"replace(replace(replace({text}, ' ', char(1, 2)), char(2, 1), ''), char(1, 2), ' ')"
    return f"trim({text})"


def _within(column: Column[Any], condition: Condition) -> str:
    bounds = [(">=", condition.at_least), ("<=", condition.at_most)]
    return " AND ".join(_bound(column, sign, bound) for sign, bound in bounds if bound is not None)


def _bound(column: Column[Any], sign: str, bound: Any) -> str:
    if isinstance(column.type, DateTime) and (time := _time(bound)) is not None:
        return f"{stored(column)} {sign} {literal(time)}"
    if isinstance(column.type, Integer | Numeric) and _NUMBER.fullmatch(str(bound)):
        return f"{quoted(column.name)} {sign} {bound}"
    raise NotExpressibleError(f"{column.name} must be {sign} {bound!r}, but is neither a time nor a number")


def _time(value: Any) -> str | None:
    """A time as `stored` spells it; None for anything else."""
    if not isinstance(value, str) or not re.match(r"\d{4}-\d\d-\d\d", value):
        return None
    try:
        time: datetime = instant(value)
    except ValueError:
        return None
    return f"{time:%Y-%m-%d %H:%M:%S}.{time.microsecond // 1000:03d}"


def all_of(parts: Sequence[str]) -> str:
    """The conjunction of expressions; true without any."""
    return " AND ".join(f"({part})" for part in parts) or "1"
