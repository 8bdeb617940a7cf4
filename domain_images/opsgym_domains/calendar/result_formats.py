"""Results and refusals as the published calendar server writes them: indented JSON, and sentences.

Invariant: a refusal is a text; only a rule of access `strict` adds its code. `isError` is set only in `strict`.
"""

from __future__ import annotations

from typing import Any

from opsgym_domains.kit.errors import CallError, InvalidArguments, Unidentified
from opsgym_domains.kit.response_style import Refusal, ResponseStyle, to_indented_json, with_text_only

DONE = "Operation completed successfully"
"""Result of a tool that returns nothing."""

LONGEST_REFUSAL = 8000
"""Number of characters after which a refusal that repeats an argument is cut."""
_PUBLISHED = {"DATABASE_REQUIRED": "database_id is required"}
"""Published sentences by code, where the kit has its own."""


def _result(value: Any) -> str:
    if isinstance(value, str):
        return value
    return DONE if value is None else to_indented_json(value)


def _refusal(tool: str, error: Refusal) -> str:
    text = _sentence(tool, error)
    return text if len(text) <= LONGEST_REFUSAL else f"{text[:LONGEST_REFUSAL]}…"


def _sentence(tool: str, error: Refusal) -> str:
    if isinstance(error, InvalidArguments):
        return "Validation errors:\n" + "\n".join(f"- {item.field}: {item.message}" for item in error.problems)
    if error.code == "UNKNOWN_TOOL":
        return f"Unknown tool: {tool}"
    if isinstance(error, CallError | Unidentified):
        return f"Tool execution failed: {_PUBLISHED.get(error.code, error.message)}"
    return f"{error.message} [{error.code}]" if error.message.startswith("rule ") else error.message


PUBLISHED = ResponseStyle(
    result_text=_result, refusal=_refusal, envelope=with_text_only, published_errors_are_flagged=False
)
