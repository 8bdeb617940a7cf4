"""Results and refusals as the published email server writes them: JSON, and Gmail's error objects."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from opsgym_domains.kit.errors import CallError, Invalid, InvalidArguments, Unidentified
from opsgym_domains.kit.response_style import Refusal, ResponseStyle, to_indented_json, with_text_only

DONE = "Operation completed successfully"
"""Result of a tool that returns nothing, as in the published calendar server."""
_STATUS = {
    "NOT_FOUND": (404, "NOT_FOUND"),
    "PERMISSION_DENIED": (403, "PERMISSION_DENIED"),
    "INTERNAL_ERROR": (500, "INTERNAL"),
}
"""Number and status of an error object by the code of the refusal; others are invalid arguments."""

_TYPES: Mapping[type, str] = {
    type(None): "null",
    bool: "boolean",
    int: "number",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}
"""JSON types of given values."""


def _refusal(_tool: str, error: Refusal) -> str:
    if isinstance(error, InvalidArguments):
        problems = [f"{item.field}: {_problem(item)}" for item in error.problems]
        return f"❌ Invalid Tool Arguments: {problems}"
    if isinstance(error, CallError | Unidentified):
        return f"Error: {error.message}"
    number, status = _STATUS.get(error.code, (400, "INVALID_ARGUMENT"))
    detail: dict[str, Any] = {"code": number, "message": error.message, "status": status, "reason": error.code}
    return to_indented_json({"error": detail})


def _problem(item: Invalid) -> str:
    """The published text of an invalid argument, where it is known; the kit's otherwise."""
    if item.expected:
        return f"expected type '{item.expected}', got '{_TYPES[type(item.given)]}'"
    return "is required" if item.code == "MISSING_FIELD" else item.message


def _result(value: Any) -> str:
    return DONE if value is None else to_indented_json(value, _plain)


def _plain(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"a tool returned {type(value).__name__}, which has no JSON form")


PUBLISHED = ResponseStyle(result_text=_result, refusal=_refusal, envelope=with_text_only)
