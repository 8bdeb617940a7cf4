"""Results and refusals as the published calendar server writes them: indented JSON, and sentences.

Invariant: a refusal is a text; only a rule of access `strict` adds its code. `isError` is set only in `strict`.
"""

from __future__ import annotations

from typing import Any

from opsgym_domains.kit.errors import INTERNAL_ERROR
from opsgym_domains.kit.response_style import Refusal, ResponseStyle, in_plain_text, to_indented_json, with_text_only

DONE = "Operation completed successfully"
"""Result of a tool that returns nothing."""
_FAULT = {
    "error": "Internal server error",
    "message": "An unexpected error occurred. Please try again later.",
    "support": "Check logs for more details",
}
"""The published server's answer to a fault of its own."""


def _result(value: Any) -> str:
    if isinstance(value, str):
        return value
    return DONE if value is None else to_indented_json(value)


def _refusal(tool: str, error: Refusal) -> str:
    return f"API Error: {to_indented_json(_FAULT)}" if error is INTERNAL_ERROR else in_plain_text(tool, error)


PUBLISHED = ResponseStyle(
    result_text=_result, refusal=_refusal, envelope=with_text_only, published_errors_are_flagged=False
)
