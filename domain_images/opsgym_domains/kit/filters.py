"""Conditions of the rows that a tool's filters select.

Invariant: the name of a filter and the type of its column alone decide how it matches, for every tool of every domain.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any

from sqlalchemy import Boolean
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.sql.elements import ColumnElement

from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.fitting import fit_instant, fit_number, refuse_too_large
from opsgym_domains.kit.schema import Row

NO_FILTERS: Mapping[str, Any] = MappingProxyType({})


def contains(column: InstrumentedAttribute[Any], text: str) -> ColumnElement[bool]:
    """Condition that a column contains a text, ignoring case; `%` and `_` are not wildcards."""
    return column.icontains(text, autoescape=True)


def among(column: InstrumentedAttribute[Any], values: Sequence[Any]) -> list[ColumnElement[bool]]:
    """Condition that a column has one of the values; no condition if `values` is empty."""
    return [column.in_(values)] if values else []


def matching(
    kind: type[Row],
    filters: Mapping[str, Any],
    *,
    partial: Collection[str] = (),
    renamed: Mapping[str, str] | None = None,
) -> Sequence[ColumnElement[bool]]:
    """Conditions of a tool's filters.

    A filter has the name of its column, and its value is that of the column, or a list of values of which the column
    has one; an empty list does not filter. A filter with a column's name and a suffix is an inclusive bound:
    `started_at_after` and `started_at_before` of a time, `price_range_start` and `price_range_end` of a number.
    `created_after` and `created_before` are bounds of the time of creation, whatever its column is called.

    Args:
        kind: Row class.
        filters: Arguments as the agent gave them.
        partial: Columns in which a filter finds a part of the text, ignoring case; all others match exactly.
        renamed: Column by filter, where the published name of the filter differs from the column's.

    Raises:
        ToolError: A date is invalid, a time range is empty, or a number exceeds the column's maximum.
    """
    conditions: list[ColumnElement[bool]] = []
    bounds: dict[str, datetime] = {}
    for name, value in filters.items():
        bound = _bound(kind, name)
        column = getattr(kind, (renamed or {}).get(name, name)) if bound is None else bound[0]
        expected = _comparable(name, column, value)
        if bound is not None:
            conditions.append(bound[1](column, expected))
            bounds[name] = expected
        elif isinstance(expected, list):
            conditions += among(column, expected)
        else:
            conditions.append(contains(column, expected) if column.key in partial else column == expected)
    _refuse_empty_ranges(bounds)
    return conditions


_BOUNDS: Mapping[str, Callable[[Any, Any], ColumnElement[bool]]] = {
    "_after": operator.ge,
    "_before": operator.le,
    "_range_start": operator.ge,
    "_range_end": operator.le,
}
"""Comparison of a column with a bound, by the suffix of the filter's name."""


def _bound(
    kind: type[Row], name: str
) -> tuple[InstrumentedAttribute[Any], Callable[[Any, Any], ColumnElement[bool]]] | None:
    """Column and comparison of a filter that is a bound; None for other filters."""
    columns = kind.__table__.columns
    for suffix, compare in _BOUNDS.items():
        stem = name.removesuffix(suffix)
        column = kind.created if stem == "created" and stem not in columns else stem
        if name not in columns and stem != name and column is not None and column in columns:
            return getattr(kind, column), compare
    return None


def _comparable(name: str, column: InstrumentedAttribute[Any], value: Any) -> Any:
    """A filter's value as its column stores it."""
    if isinstance(value, list | tuple):
        return [_comparable(name, column, item) for item in value]
    if isinstance(column.type, Boolean) and isinstance(value, str):
        return value == "true"
    expected = fit_number(name, column.type, fit_instant(name, column.type, value))
    refuse_too_large(name, column.type, expected)
    return expected


def _refuse_empty_ranges(bounds: Mapping[str, Any]) -> None:
    for name, first in bounds.items():
        last = bounds.get(f"{name.removesuffix('_after')}_before")
        if name.endswith("_after") and last is not None and first > last:
            until = f"{name.removesuffix('_after')}_before"
            raise ToolError("INVALID_DATE_RANGE", f"{name} is later than {until}", name)
