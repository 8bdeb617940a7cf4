"""Results and refusals as the published calendar server writes them: indented JSON, and sentences.

Invariant: a refusal is a text; only a rule of access `strict` adds its code. `isError` is set only in `strict`.
"""

from __future__ import annotations

from typing import Any

from opsgym_domains.kit.response_style import ResponseStyle, in_plain_text, to_indented_json, with_text_only

DONE = "Operation completed successfully"
"""Result of a tool that returns nothing."""


def _result(value: Any) -> str:
    if isinstance(value, str):
        return value
    return DONE if value is None else to_indented_json(value)


PUBLISHED = ResponseStyle(
    result_text=_result, refusal=in_plain_text, envelope=with_text_only, published_errors_are_flagged=False
)
