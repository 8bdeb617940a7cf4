"""Results and refusals as the Drive API writes them: JSON objects, and error objects with number and reason."""

from __future__ import annotations

import re
from typing import Any

from opsgym_domains.kit.errors import CallError, InvalidArguments, Unidentified
from opsgym_domains.kit.response_style import Refusal, ResponseStyle, to_indented_json, with_text_only

DONE = "Operation completed successfully"
"""Result of a tool that returns nothing."""
_NUMBERS = {
    "INSUFFICIENT_FILE_PERMISSIONS": 403,
    "PERMISSION_DENIED": 403,
    "REQUEST_ID_IN_USE": 409,
    "INTERNAL_ERROR": 500,
}
"""Number of an error object by the code of the refusal; a missing row is 404, others are 400."""


def _refusal(_tool: str, error: Refusal) -> str:
    if isinstance(error, InvalidArguments):
        items = [_item(item.code, f"{item.field}: {item.message}", item.field) for item in error.problems]
        return _error(400, "; ".join(item["message"] for item in items)[:2000], items[:20])
    if isinstance(error, Unidentified):
        return _error(401, error.message, [_item(error.code, error.message, None)])
    if isinstance(error, CallError):
        return f"Error: {error.message}"
    number = _NUMBERS.get(error.code) or (404 if error.code.endswith("_NOT_FOUND") else 400)
    return _error(number, error.message, [_item(error.code, error.message, error.field)])


def _error(number: int, message: str, items: list[dict[str, Any]]) -> str:
    return to_indented_json({"error": {"code": number, "message": message, "errors": items}})


def _item(code: str, message: str, field: str | None) -> dict[str, Any]:
    """One error: the reason is the code in the API's spelling."""
    reason = "notFound" if code.endswith("_NOT_FOUND") else re.sub(r"_(\w)", lambda m: m[1].upper(), code.lower())
    item = {"domain": "global", "reason": reason, "code": code, "message": message}
    return item | ({"location": field, "locationType": "parameter"} if field else {})


def _result(value: Any) -> str:
    return DONE if value is None else to_indented_json(value)


PUBLISHED = ResponseStyle(result_text=_result, refusal=_refusal, envelope=with_text_only)
