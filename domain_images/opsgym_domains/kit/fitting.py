"""Values that agents give, as columns store them.

Invariant: Postgres stores what comes out of here unchanged, so that a tool returns what is stored; what it could not
store is refused by the name of its argument.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import Date, DateTime, Integer, Numeric, String
from sqlalchemy.types import TypeEngine

from opsgym_domains.kit.clock import as_utc
from opsgym_domains.kit.errors import TextTooLong, ToolError, short
from opsgym_domains.kit.schema import Row

_MAX_INT = 2**31 - 1
"""Maximum of Postgres' type integer."""
_US_PATTERNS = ("%m/%d/%Y", "%m/%d/%Y %H:%M", "%m/%d/%Y %H:%M:%S", "%m-%d-%Y")


def changes(given: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of an update besides the record's identifier.

    Raises:
        ToolError: `NO_FIELDS_TO_UPDATE` if nothing is given, checked before the record is looked up.
    """
    if not given:
        raise ToolError("NO_FIELDS_TO_UPDATE", "give at least one field to update besides the record's identifier")
    return dict(given)


def parse_time(text: str, field: str) -> datetime:
    """Parses a date or time: ISO 8601 with `T` or a space, with or without zone, or month/day/year.

    Raises:
        ToolError: `INVALID_DATE`.
    """
    stripped = re.sub(r"\s+", " ", text.strip())
    try:
        return as_utc(datetime.fromisoformat(stripped))
    except (ValueError, OverflowError):
        pass
    for pattern in _US_PATTERNS:
        try:
            return datetime.strptime(stripped, pattern)  # noqa: DTZ007 - tables keep UTC without a zone
        except ValueError:
            continue
    raise ToolError("INVALID_DATE", f"{text[:60]!r} is not a valid date; use a format like 2025-01-31T09:00:00", field)


def fit_key(kind: type[Row], key: Any) -> tuple[Any, ...] | None:
    """Values of a primary key as its columns store them; None if no row can have them.

    Args:
        kind: Row class.
        key: Primary key, a tuple if it has several columns.
    """
    columns = kind.__table__.primary_key
    parts = zip(columns, key if isinstance(key, tuple) else (key,), strict=True)
    try:
        values = tuple(fit_number(column.name, column.type, part) for column, part in parts)
    except ToolError:
        return None
    return values if all(map(can_be_stored, values)) else None


def can_be_stored(value: Any) -> bool:
    """Whether a key is within the range of Postgres' integer."""
    return not isinstance(value, int) or abs(value) <= _MAX_INT


def fitted(kind: type[Row], values: Mapping[str, Any]) -> dict[str, Any]:
    """Values as their columns store them, so that a tool returns what is stored.

    Blank text becomes NULL unless the row class keeps it; a blank time always does.

    Raises:
        ToolError: `STRING_TOO_LONG`, `NUMBER_TOO_LARGE`, `INVALID_DATE`.
    """
    columns = kind.__table__.columns
    return {
        name: None if _is_blank(value) and _loses_blanks(kind, name) else _fit(name, columns[name].type, value)
        for name, value in values.items()
    }


def _loses_blanks(kind: type[Row], column: str) -> bool:
    return kind.blank_is_null or (kind.blank_is_missing and not kind.__table__.columns[column].nullable)


def _is_blank(value: Any) -> bool:
    return isinstance(value, str) and not value.strip()


def _fit(name: str, kind: TypeEngine[Any], value: Any) -> Any:
    value = fit_number(name, kind, fit_time(name, kind, value))
    if isinstance(kind, String) and isinstance(value, str) and kind.length is not None and len(value) > kind.length:
        raise TextTooLong(name, value, kind.length)
    refuse_too_large(name, kind, value)
    if isinstance(kind, Numeric) and isinstance(value, Decimal) and kind.scale is not None:
        return value.quantize(Decimal(1).scaleb(-kind.scale))
    return value


def fit_number(name: str, kind: TypeEngine[Any], value: Any) -> Any:
    """Reads a text for an integer column as a number, since some servers take identifiers as text; returns any other
    value unchanged.

    Raises:
        ToolError: `INVALID_NUMBER`.
    """
    if not isinstance(value, str) or not isinstance(kind, Integer):
        return value
    if not re.fullmatch(r"[0-9]{1,18}", value.strip()):
        raise ToolError("INVALID_NUMBER", f"{name} must be a whole number such as 42, not {short(value)}", name)
    return int(value)


def fit_time(name: str, kind: TypeEngine[Any], value: Any) -> Any:
    """Parses a text for a date or time column, where a blank text means none; returns any other value unchanged.

    Raises:
        ToolError: `INVALID_DATE`.
    """
    return None if _is_time(kind) and _is_blank(value) else fit_instant(name, kind, value)


def fit_instant(name: str, kind: TypeEngine[Any], value: Any) -> Any:
    """Parses a text for a date or time column; returns any other value unchanged.

    Raises:
        ToolError: `INVALID_DATE`, for a blank text too.
    """
    if not isinstance(value, str) or not _is_time(kind):
        return value
    time = parse_time(value, name)
    return time if isinstance(kind, DateTime) else time.date()


def _is_time(kind: TypeEngine[Any]) -> bool:
    return isinstance(kind, Date | DateTime)


def refuse_too_large(name: str, kind: TypeEngine[Any], value: Any) -> None:
    """Refuses a number above the maximum of its column.

    Raises:
        ToolError: `NUMBER_TOO_LARGE`.
    """
    limit: int | Decimal
    if isinstance(kind, Integer) and isinstance(value, int):
        limit = _MAX_INT
    elif isinstance(kind, Numeric) and isinstance(value, Decimal) and kind.precision is not None:
        limit = Decimal(10**kind.precision - 1).scaleb(-(kind.scale or 0))
    else:
        return
    if abs(value) > limit:
        raise ToolError("NUMBER_TOO_LARGE", f"{name} must be at most {limit}", name)
