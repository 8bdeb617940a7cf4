"""Results and refusals as the Teams server writes them: indented JSON, and sentences.

Invariant: every refusal is flagged, and is a sentence that names the value at fault; only a rule of access `strict`
adds its code.
"""

from __future__ import annotations

import re
from typing import Any

from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.response_style import Refusal, ResponseStyle, in_plain_text, to_indented_json, with_text_only

DONE = "Operation completed successfully"
"""Result of a tool that returns nothing."""
_MISSING_ROW = re.compile(r"there is no (.+?) (['\"].*|\d+)", re.DOTALL)
"""The kit's sentence for a row that is not found."""


def _result(value: Any) -> str:
    if isinstance(value, str):
        return value
    return DONE if value is None else to_indented_json(value)


def _refusal(tool: str, error: Refusal) -> str:
    text = in_plain_text(tool, error)
    missing = _MISSING_ROW.fullmatch(text) if isinstance(error, ToolError) else None
    if missing is None:
        return text
    label, key = missing.groups()
    return f"{label[:1].upper()}{label[1:]} {key} not found"


GRAPH = ResponseStyle(result_text=_result, refusal=_refusal, envelope=with_text_only)
"""The published server's style."""
