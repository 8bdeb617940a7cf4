"""Pages of lists. A page token is the number of results before the page, as in the published examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opsgym_domains.kit.errors import ToolError


def offset_of(token: str | None) -> int:
    """Number of results before a page.

    Raises:
        ToolError: `INVALID_PAGE_TOKEN`.
    """
    if not token:
        return 0
    if not token.isascii() or not token.isdecimal() or len(token) > 9:
        raise ToolError("INVALID_PAGE_TOKEN", "pageToken is not a token that a page before returned", "pageToken")
    return int(token)


def next_page(start: int, shown: int, total: int) -> dict[str, Any]:
    """The token of the page after one that starts at `start` and has `shown` of `total` rows, if there is one."""
    return {"nextPageToken": str(start + shown)} if shown and start + shown < total else {}


def page(rows: Sequence[Any], token: str | None, size: int | None) -> tuple[Sequence[Any], dict[str, Any]]:
    """The rows of a page, and the token of the next one as a field, if there is one.

    Args:
        rows: All rows of the list.
        token: Token of the page.
        size: Rows of a page; None for all.
    """
    start = offset_of(token)
    shown = rows[start:] if size is None else rows[start : start + size]
    return shown, next_page(start, len(shown), len(rows))
