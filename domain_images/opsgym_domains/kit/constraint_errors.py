"""Translation of Postgres' constraint violations into tool errors.

Invariant: no constraint violation leaves the kit as a database error. `info["code"]` of a constraint holds its error
code where the published servers have a specific one, and `info["rule"]` of a check constraint its message.
"""

from __future__ import annotations

import re

from sqlalchemy import CheckConstraint, Constraint, ForeignKeyConstraint, MetaData, Table
from sqlalchemy.exc import DBAPIError

from opsgym_domains.kit.errors import ToolError, short
from opsgym_domains.kit.schema import is_counted

_VALUE = re.compile(r"\)=\((.*)\) is not present")
"""Matches the rejected value in the detail of Postgres' foreign-key error."""
_TAKEN = re.compile(r"\((.*)\)=\((.*)\) already exists")
"""Matches columns and values in the detail of Postgres' uniqueness error."""

_TOO_LONG_FOR_AN_INDEX = "54000"


def as_tool_error(metadata: MetaData, error: DBAPIError) -> ToolError | None:
    """The tool error for a violated constraint; None if the error is not a violation."""
    cause = error.orig.__cause__ if error.orig is not None else None
    state = getattr(cause, "sqlstate", "") or ""
    if state == _TOO_LONG_FOR_AN_INDEX:
        return ToolError("STRING_TOO_LONG", "a text is too long for a key; give at most 2,000 bytes")
    if not state.startswith("23"):
        return _bad_value(cause) if state.startswith("22") else None
    table = metadata.tables.get(getattr(cause, "table_name", "") or "")
    name = getattr(cause, "constraint_name", "") or ""
    detail = getattr(cause, "detail", "") or ""
    if state == "23502":
        column = getattr(cause, "column_name", "") or ""
        return ToolError("MISSING_FIELD", f"{column} must have a value", column)
    constraint = _constraint(table, name)
    if isinstance(constraint, ForeignKeyConstraint) and table is not None:
        return _broken_reference(table, constraint, detail)
    if isinstance(constraint, CheckConstraint):
        return ToolError(
            _code(constraint, "INVALID_VALUE"), str(constraint.info.get("rule", f"the constraint {name} is violated"))
        )
    return _duplicate(table, constraint, detail)


def _broken_reference(table: Table, constraint: ForeignKeyConstraint, detail: str) -> ToolError:
    column = next(iter(constraint.columns)).name
    if "still referenced" in detail:
        return ToolError(
            "STILL_REFERENCED",
            f"rows of {table.name} still refer to this record in {column}; remove those references first",
        )
    match = _VALUE.search(detail)
    value = match[1] if match else ""
    key = int(value) if is_counted(constraint.referred_table) else value
    return missing_reference(constraint.referred_table.info["label"], key, column)


def _duplicate(table: Table | None, constraint: Constraint | None, detail: str) -> ToolError:
    label = table.info["label"] if table is not None else "row"
    taken = _TAKEN.search(detail)
    field, shown = (taken[1].rpartition(", ")[2], f"{taken[1]} = {taken[2]}") if taken else (None, "the same values")
    return ToolError(_code(constraint, "DUPLICATE"), f"another {label} already has {shown}", field)


def missing_reference(label: str, key: str | int, field: str) -> ToolError:
    """The error for a missing row.

    Args:
        label: Name of the row in messages, for instance `service offering`.
        key: Key of the lookup.
        field: Argument that contained the key.
    """
    return ToolError(not_found_code(label), f"there is no {label} {short(key)}", field)


def not_found_code(label: str) -> str:
    """Error code for a missing row, for instance `SERVICE_OFFERING_NOT_FOUND`."""
    return f"{label.upper().replace(' ', '_')}_NOT_FOUND"


def _constraint(table: Table | None, name: str) -> Constraint | None:
    if table is None:
        return None
    return next((constraint for constraint in table.constraints if constraint.name == name), None)


def _code(constraint: Constraint | None, default: str) -> str:
    return str(constraint.info.get("code", default)) if constraint is not None else default


def _bad_value(cause: BaseException | None) -> ToolError:
    return ToolError("INVALID_VALUE", str(cause))
