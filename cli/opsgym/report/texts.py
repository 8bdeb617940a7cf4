"""Texts that others wrote, as a page holds them.

Invariant: every text of a page is one that UTF-8 can hold, and none is longer than somebody reads. Nothing is escaped
here: texts travel as JSON, and the page shows them as text.
"""

from __future__ import annotations

import re
from typing import Any

MAX_TEXT = 20_000
"""Characters of one text; the stored record or transcript has all of it."""
MAX_SUMMARY = 160
"""Characters of a task's summary: enough to recognise it in a row of a table."""

_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def printable(text: str) -> str:
    """A text without control characters and lone surrogates, which no page and no UTF-8 can hold."""
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def shortened(text: str) -> str:
    """A printable text, cut where nobody reads on."""
    if len(text) <= MAX_TEXT:
        return printable(text)
    return f"{printable(text[:MAX_TEXT])}\n… {len(text) - MAX_TEXT:,} more characters, in the store"


def shown(value: Any) -> Any:
    """JSON with all its texts shortened, names of fields too."""
    if isinstance(value, str):
        return shortened(value)
    if isinstance(value, dict):
        return {shortened(name): shown(item) for name, item in value.items()}
    if isinstance(value, list):
        return [shown(item) for item in value]
    return value


def summary(text: str) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(printable(text[: 2 * MAX_SUMMARY]).split())
    return line if len(line) <= MAX_SUMMARY else f"{line[: MAX_SUMMARY - 1]}…"
