"""Results and refusals as the Teams server writes them: JSON, and Graph's error object.

Invariant: every refusal is flagged. Its `error.code` is Graph's, `error.details` holds our codes and the arguments that
they are about. A refusal that is known from the published server is its sentence, without an object.
"""

from __future__ import annotations

from typing import Any

from opsgym_domains.kit.errors import InvalidArguments, ToolError, Unidentified
from opsgym_domains.kit.response_style import Refusal, ResponseStyle, to_indented_json, with_text_only

DONE = "Operation completed successfully"
"""Result of a tool that returns nothing."""
LONGEST = 2000
"""Number of characters after which the message of a refusal is cut."""
_FORBIDDEN = frozenset({"PERMISSION_DENIED", "USER_INACTIVE"})


class PlainRefusal(ToolError):
    """A refusal of which the published sentence is known."""


def _result(value: Any) -> str:
    if isinstance(value, str):
        return value
    return DONE if value is None else to_indented_json(value)


def _refusal(_tool: str, error: Refusal) -> str:
    if isinstance(error, PlainRefusal):
        return error.message
    if isinstance(error, InvalidArguments):
        details = [{"code": item.code, "target": item.field} for item in error.problems[:20]]
        message = "; ".join(f"{item.field}: {item.message}" for item in error.problems)
        return _written("BadRequest", message, details)
    detail = {"code": error.code} | ({"target": error.field} if error.field else {})
    return _written(_graph_code(error), error.message, [detail])


def _written(code: str, message: str, details: list[dict[str, str]]) -> str:
    text = message if len(message) <= LONGEST else f"{message[:LONGEST]}…"
    return to_indented_json({"error": {"code": code, "message": text, "details": details}})


def _graph_code(error: ToolError) -> str:
    if isinstance(error, Unidentified) or error.code == "ACTING_USER_REQUIRED":
        return "InvalidAuthenticationToken"
    if error.code in _FORBIDDEN or error.message.startswith("rule "):
        return "Forbidden"
    if error.code.endswith("_NOT_FOUND"):
        return "NotFound"
    return "Conflict" if error.code.startswith("DUPLICATE_") else "BadRequest"


GRAPH = ResponseStyle(result_text=_result, refusal=_refusal, envelope=with_text_only)
"""The published server's style."""
