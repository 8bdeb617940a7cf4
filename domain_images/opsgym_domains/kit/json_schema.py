"""JSON schema of Python types, for tools' arguments and results.

Invariant: arguments and results use one type table, so that a record's field has the type of the argument that sets it.
"""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from sqlalchemy import Column

from opsgym_domains.kit.schema import CHOICES, Row, table_of

_JSON_TYPES: Mapping[type, str] = {
    str: "string",
    int: "integer",
    float: "number",
    Decimal: "number",
    bool: "boolean",
    dict: "object",
    date: "string",
    datetime: "string",
}
_FORMATS: Mapping[type, str] = {date: "date", datetime: "date-time"}


def kind_schema(kind: Any) -> tuple[dict[str, Any], tuple[Any, ...] | None]:
    """Schema of a type, and the values of an enumeration, which the schema does not contain."""
    if get_origin(kind) is Annotated:
        return kind_schema(get_args(kind)[0])
    if get_origin(kind) is Literal:
        return {"type": "string"}, get_args(kind)
    if get_origin(kind) is list:
        (item,) = get_args(kind)
        items, allowed = kind_schema(item)
        return {"type": "array", "items": items | ({"enum": list(allowed)} if allowed else {})}, None
    return {"type": _JSON_TYPES[kind]}, None


def without_none(kind: Any) -> tuple[Any, bool]:
    """A type without `None`, and whether the type allowed `None`."""
    if get_origin(kind) in (Union, types.UnionType):
        parts = [part for part in get_args(kind) if part is not type(None)]
        if len(parts) == 1:
            return parts[0], True
    return kind, False


def result_schema(returns: Any, columns: Sequence[str] | None) -> dict[str, Any]:
    """Schema of a tool's result.

    Args:
        returns: Return type of the tool's function: a row, a `TypedDict`, a dictionary of numbers, or a list of those.
        columns: Columns of a row that are shown; None for all.
    """
    kind, _ = without_none(returns)
    if get_origin(kind) in (list, Sequence):
        return {"type": "array", "items": result_schema(get_args(kind)[0], columns)}
    if isinstance(kind, type) and issubclass(kind, Row):
        table = table_of(kind).columns
        names = columns or [column.name for column in table]
        return {"type": "object", "properties": {name: _column_schema(table[name]) for name in names}}
    if is_typeddict(kind):
        hints = get_type_hints(kind, include_extras=True)
        return {"type": "object", "properties": {name: _field_schema(hint) for name, hint in hints.items()}}
    return {"type": "object"}


def _column_schema(column: Column[Any]) -> dict[str, Any]:
    kind = column.type.python_type
    schema = _nullable({"type": _JSON_TYPES[kind]}, bool(column.nullable))
    if choices := column.info.get(CHOICES):
        schema["enum"] = [*choices, None] if column.nullable else list(choices)
    return schema | ({"format": _FORMATS[kind]} if kind in _FORMATS else {})


def _field_schema(hint: Any) -> dict[str, Any]:
    kind, optional = without_none(hint)
    schema, allowed = kind_schema(kind)
    schema = _nullable(schema, optional) | ({"format": _FORMATS[kind]} if kind in _FORMATS else {})
    return schema | ({"enum": list(allowed)} if allowed else {})


def _nullable(schema: dict[str, Any], nullable: bool) -> dict[str, Any]:
    return {**schema, "type": [schema["type"], "null"]} if nullable else schema
