"""Page tokens and sync tokens.

Invariant: a page token is the base64 of an offset. A sync token carries the time up to which its holder knows the rows;
rows that changed at that very time are listed again, because times are whole seconds.
"""

from __future__ import annotations

import base64
import binascii
import json
from datetime import datetime, timedelta
from typing import Any

from opsgym_domains.kit.errors import ToolError

SYNC_TOKEN_LIVES = timedelta(days=7)


def encode(text: str) -> str:
    """The base64 of a text."""
    return base64.b64encode(text.encode()).decode()


def decode(token: str) -> str | None:
    """The text of a token, or None if it is not base64."""
    try:
        return base64.b64decode(token, validate=True).decode()
    except (binascii.Error, ValueError):
        return None


def next_page(offset: int, size: int, total: int) -> str | None:
    """Token of the page after the rows from `offset` on; None if there is none."""
    return encode(str(offset + size)) if offset + size < total else None


def list_offset(token: str | None) -> int:
    """Offset of a page of the calendar list; also decimal digits are a token, and any other text is the first page."""
    text = next((text for text in (decode(token or ""), token) if text and text.isdecimal()), "0")
    return int(text)


def rules_offset(token: str | None) -> int:
    """Offset of a page of rules.

    Raises:
        ToolError: The token is not a valid page token.
    """
    text = decode(token) if token else "0"
    if text is None or not text.isdecimal():
        raise ToolError("INVALID_PAGE_TOKEN", "Invalid pageToken", "pageToken")
    return int(text)


def list_synced_at(token: str) -> datetime:
    """Time of a sync token of the calendar list.

    Raises:
        ToolError: The token is not a valid sync token.
    """
    try:
        return datetime.fromisoformat(decode(token) or "")
    except ValueError:
        raise ToolError(
            "SYNC_TOKEN_EXPIRED",
            "Internal server error: 410: Sync token has expired. "
            "Client should clear storage and perform full synchronization.",
            "syncToken",
        ) from None


def rules_synced_at(token: str, calendar_id: str, now: datetime) -> datetime:
    """Time of a sync token of a calendar's rules.

    Raises:
        ToolError: The token is not a valid sync token, is another calendar's, or is too old.
    """
    fields = _fields(token)
    if not isinstance(fields, dict) or "calendar_id" not in fields or "timestamp" not in fields:
        message = "Internal server error" if isinstance(fields, dict) else "Invalid sync token format"
        raise ToolError("INVALID_SYNC_TOKEN", message, "syncToken")
    if fields["calendar_id"] != calendar_id:
        raise ToolError("INVALID_SYNC_TOKEN", "Sync token calendar ID mismatch", "syncToken")
    time = datetime.fromisoformat(fields["timestamp"])
    if now - time > SYNC_TOKEN_LIVES:
        raise ToolError("SYNC_TOKEN_EXPIRED", "Sync token expired", "syncToken")
    return time


def rules_sync_token(calendar_id: str, time: datetime) -> str:
    """The sync token of a calendar's rules."""
    return encode(json.dumps({"calendar_id": calendar_id, "timestamp": time.isoformat()}))


def _fields(token: str) -> Any:
    try:
        return json.loads(decode(token) or "")
    except ValueError:
        return None
