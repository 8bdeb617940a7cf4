"""Makes texts of runs safe to show in a page.

Invariant: every text of a page can be encoded as UTF-8, and none is longer than `MAX_TEXT`. Nothing is escaped here:
texts are transferred as JSON, and the page shows them as text nodes.
"""

from __future__ import annotations

import re
from typing import Any

MAX_TEXT = 20_000
"""Longest text in characters; the stored record or transcript is complete."""
MAX_SUMMARY = 160
"""Longest summary of a task in characters: enough to recognise the task in a row of a table."""

_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def printable(text: str) -> str:
    """A text with replacement characters for control characters and lone surrogates, which UTF-8 cannot encode."""
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def shortened(text: str) -> str:
    """A printable text of at most `MAX_TEXT` characters, with a note if it was longer."""
    if len(text) <= MAX_TEXT:
        return printable(text)
    return f"{printable(text[:MAX_TEXT])}\n… {len(text) - MAX_TEXT:,} more characters, in the store"


def shown(value: Any) -> Any:
    """JSON with all texts shortened, names of fields included."""
    if isinstance(value, str):
        return shortened(value)
    if isinstance(value, dict):
        return {shortened(name): shown(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [shown(item) for item in value]
    return value


def summary(text: str) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(printable(text[: 2 * MAX_SUMMARY]).split())
    return line if len(line) <= MAX_SUMMARY else f"{line[: MAX_SUMMARY - 1]}…"
