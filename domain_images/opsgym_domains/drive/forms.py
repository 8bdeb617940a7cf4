"""Forms of values in rows and results: times, lists and objects as JSON text, names of files."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

FOLDER = "application/vnd.google-apps.folder"
SHORTCUT = "application/vnd.google-apps.shortcut"
NATIVE = "application/vnd.google-apps."
"""Begin of the MIME types of folders, shortcuts and documents that Drive itself keeps."""


def stamp(time: datetime | None) -> str | None:
    """A time as the API writes it: `2026-11-16T10:00:00.000Z`."""
    return None if time is None else f"{time:%Y-%m-%dT%H:%M:%S}.{time.microsecond // 1000:03d}Z"


def milliseconds(time: datetime) -> int:
    """Milliseconds since 1970 of a time without zone, which is UTC."""
    return int(time.replace(tzinfo=UTC).timestamp() * 1000)


def loaded(text: str | None, otherwise: Any) -> Any:
    """A list or an object from a column of JSON text.

    Args:
        text: The column's value.
        otherwise: Value if the text is empty, or is not JSON of the same type.
    """
    if not text:
        return otherwise
    try:
        value = json.loads(text)
    except ValueError:
        return otherwise
    return value if isinstance(value, type(otherwise)) else otherwise


def dumped(value: Any) -> str | None:
    """JSON text of a list or an object; None if it is empty."""
    return json.dumps(value, ensure_ascii=False) if value else None


def present(resource: dict[str, Any]) -> dict[str, Any]:
    """A resource without fields that have no value."""
    return {name: value for name, value in resource.items() if value is not None}
