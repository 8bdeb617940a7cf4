"""Filters of lists that the kit does not know: at least one of them, and members of JSON lists."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeVar

from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.schema import Row

R = TypeVar("R", bound=Row)


def refuse_no_filters(filters: Mapping[str, Any]) -> None:
    """Refuses a list without a filter.

    Raises:
        ToolError: `MISSING_FILTER`.
    """
    if not filters:
        raise ToolError("MISSING_FILTER", "give at least one argument")


def numbers_in(text: str, field: str) -> list[int]:
    """Ids in a comma-separated text.

    Raises:
        ToolError: `INVALID_NUMBER`.
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not all(part.isascii() and part.isdigit() for part in parts):
        raise ToolError("INVALID_NUMBER", f"{field} must be ids separated by commas, such as 1,2,3", field)
    return [int(part) for part in parts]


def having_any(rows: Sequence[R], column: str, ids: Collection[int] | None) -> list[R]:
    """Rows whose JSON list has at least one of the ids; all rows without ids."""
    return [row for row in rows if not ids or not set(ids).isdisjoint(members(getattr(row, column)))]


def members(text: str | None) -> list[Any]:
    """Members of a column's JSON list; none if the column has no list."""
    try:
        parsed = json.loads(text or "[]")
    except ValueError:
        return []
    return [one for one in parsed if isinstance(one, int | str)] if isinstance(parsed, list) else []
