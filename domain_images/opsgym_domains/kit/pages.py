"""Page tokens of lists that are cut by offset, and the opaque texts of which sync tokens are made.

Invariant: a page token is the base64 of the offset of the next row, so it is the same in every run. A token of another
form is never taken for an offset.
"""

from __future__ import annotations

import base64
import binascii

LAST_OFFSET = 10**9
"""Largest offset that a database is asked for: no table has as many rows, and larger ones might not fit its type."""
MOST_DIGITS = 100
"""Digits that an offset in a token may have; Python does not read numbers of thousands of digits."""


def encode(text: str) -> str:
    """The base64 of a text."""
    return base64.b64encode(text.encode()).decode()


def decode(token: str) -> str | None:
    """The text of a token, or None if it is not base64 of a text."""
    try:
        return base64.b64decode(token, validate=True).decode()
    except (binascii.Error, ValueError):
        return None


def next_page(offset: int, size: int, total: int) -> str | None:
    """Token of the page after the rows from `offset` on; None if there is none."""
    return encode(str(offset + size)) if offset + size < total else None


def offset_of(token: str) -> int | None:
    """The offset of a page token; None if the text is not a page token."""
    text = decode(token)
    return int(text) if text is not None and text.isdecimal() and len(text) <= MOST_DIGITS else None
