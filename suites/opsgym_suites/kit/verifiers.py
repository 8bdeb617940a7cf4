"""Builders of verifiers, and the conditions that they put on columns.

Invariant: no verifier reads a clock. The gym server of a verifier is set when the draft becomes a row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from opsgym_api.tasks.answer_patterns import NOT_DONE, all_of, apart, figure
from opsgym_api.tasks.verifiers import Category, Verifier
from opsgym_suites.kit.effects import RowType
from opsgym_suites.kit.world import table_of

# --- conditions ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Has:
    """Condition: a text contains another, ignoring case and white space."""

    text: str


@dataclass(frozen=True)
class HasAll:
    """Condition: a text contains all of these texts, ignoring case and white space."""

    texts: tuple[str, ...]


@dataclass(frozen=True)
class Present:
    """Condition: a column is not NULL."""


@dataclass(frozen=True)
class Matches:
    """Condition: a regular expression is found in a text."""

    pattern: str


@dataclass(frozen=True)
class Between:
    """Condition: a time is not before the first and not after the last."""

    first: datetime
    last: datetime


@dataclass(frozen=True)
class KeyOf:
    """Condition: the key of the added row that an expectation names."""

    name: str


@dataclass(frozen=True)
class May:
    """Condition for a column that may differ; if it does, by the inner condition, or in any way if that is None."""

    condition: Any = None


CONDITIONS = (Has, HasAll, Present, Matches, Between, KeyOf)


def figures(*numbers: int) -> Matches:
    """Condition: a text states each of these numbers, in digits."""
    return Matches(all_of(map(figure, numbers)))


def figures_apart(*pairs: tuple[int, str]) -> Matches:
    """Condition: a text states each of these numbers, in digits, and none beside the words of another; see `apart`."""
    return Matches("(?i)" + all_of(apart(*((figure(value), words) for value, words in pairs))))


def condition_json(value: Any) -> Any:
    """A condition as `state_difference` verifiers write it; a list or tuple means any of its items."""
    match value:
        case Has(text):
            return {"has": text}
        case HasAll(texts):
            return {"has": list(texts)}
        case Present():
            return {"not_null": True}
        case Matches(pattern):
            return {"matches": pattern}
        case Between(first, last):
            return {"at_least": str(first), "at_most": str(last)}
        case KeyOf(name):
            return {"key_of": name}
        case list() | tuple():
            return {"any_of": [condition_json(item) for item in value]}
        case date():
            return str(value)
        case Decimal():
            return float(value)
        case _:
            return value


# --- queries of events ---------------------------------------------------------------------------------------------


def count(kind: RowType, **values: Any) -> str:
    """Query for the number of rows with these values; None means NULL, a list or tuple any of its items."""
    conditions = " AND ".join(_in_sql(name, value) for name, value in values.items())
    return f"SELECT COUNT(*) FROM {table_of(kind)} WHERE {conditions}"  # noqa: S608 - by task authors


def _in_sql(column: str, value: Any) -> str:
    if value is None:
        return f"{column} IS NULL"
    if isinstance(value, bool):
        return f"{column} IS {'TRUE' if value else 'FALSE'}"
    if isinstance(value, list | tuple):
        return f"{column} IN ({', '.join(_quoted(str(item)) for item in value)})"
    return f"{column} = {_quoted(str(value))}"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


# --- verifiers -----------------------------------------------------------------------------------------------------


def state_difference(
    name: str,
    description: str,
    rows: Sequence[Mapping[str, Any]],
    *,
    category: Category = Category.TASK_COMPLETION,
    ignored: Mapping[str, Sequence[str]] | None = None,
    nothing_else: bool = False,
) -> Verifier:
    """Verifies that these rows differ from the seed as they should."""
    config: dict[str, Any] = {"rows": list(rows)} if rows else {}
    if nothing_else:
        config["nothing_else"] = True
    if ignored:
        config["ignored"] = {table: list(columns) for table, columns in ignored.items()}
    return _verifier("state_difference", name, description, config, category)


def looked_up(name: str, description: str, rows: Sequence[tuple[str, Any]], *, writes: bool) -> Verifier:
    """Verifies that rows, by key column and key, were read: before a tool wrote to them if `writes`, else at all."""
    config: dict[str, Any] = {"rows": [{"column": column, "value": value} for column, value in rows]}
    if writes:
        config["writes"] = True
    return _verifier("looked_up", name, description, config, Category.PERMISSION_PROCESS)


def never_called(name: str, description: str, calls: Sequence[Mapping[str, str]], *, writes: bool) -> Verifier:
    """Verifies that calls, by tool and pattern of the arguments, were not attempted; of all tools that write if
    `writes`.
    """
    config: dict[str, Any] = {"calls": list(calls)} if calls else {}
    if writes:
        config["writes"] = True
    return _verifier("never_called", name, description, config, Category.PERMISSION_PROCESS)


def answer_says(
    name: str,
    description: str,
    *patterns: str,
    category: Category = Category.TASK_COMPLETION,
    day: int | None = None,
) -> Verifier:
    """Verifies that the answer of a day, the last one if absent, matches one of the patterns."""
    config: dict[str, Any] = {"patterns": list(patterns)}
    if day is not None:
        config["day"] = day
    return _verifier("answer_match", name, description, config, category)


def answer_refuses(*reasons: str, subject_pattern: str = "") -> tuple[Verifier, Verifier]:
    """Verifies that the final answer says that the request was not carried out, and gives one of the reasons.

    Args:
        reasons: Patterns of what in the records or the rules stands in the way.
        subject_pattern: Pattern of the record or person that the answer must name, which a stock excuse does not.
    """
    why = [all_of([subject_pattern, reason]) if subject_pattern else reason for reason in reasons]
    refusal = Category.REFUSAL
    return (
        answer_says(
            "says_it_was_not_done", "The answer says that nothing was done [REF-1]", NOT_DONE, category=refusal
        ),
        answer_says("says_why", "The answer names the record and the reason [REF-1]", *why, category=refusal),
    )


def _verifier(kind: str, name: str, description: str, config: Mapping[str, Any], category: Category) -> Verifier:
    fields = {"verifier_type": kind, "name": name, "description": description, "category": category}
    return Verifier.model_validate({**fields, "validation_config": dict(config)})
