"""What the calendar's lists take as page tokens, and their sync tokens.

Invariant: a sync token carries the time up to which its holder knows the rows; rows that changed at that very time are
listed again, because times are whole seconds.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.pages import decode, encode, offset_of

SYNC_TOKEN_LIVES = timedelta(days=7)


def list_offset(token: str | None) -> int:
    """Offset of a page of the calendar list; also decimal digits are a token, and any other text is the first page."""
    offset = offset_of(token or "")
    if offset is not None:
        return offset
    return int(token) if token and token.isdecimal() else 0


def rules_offset(token: str | None) -> int:
    """Offset of a page of rules.

    Raises:
        ToolError: The token is not a valid page token.
    """
    offset = offset_of(token) if token else 0
    if offset is None:
        raise ToolError("INVALID_PAGE_TOKEN", "Invalid pageToken", "pageToken")
    return offset


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
