"""Pages of the messages that a search of a mailbox finds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, desc

from opsgym_domains.email.mailbox import label_named
from opsgym_domains.email.search import ARRIVED, HIDDEN, has_label_id, matches
from opsgym_domains.email.tables import Message, User
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym
from opsgym_domains.kit.pages import LAST_OFFSET, next_page, offset_of


async def search_conditions(
    gym: Gym, mailbox: User, q: str | None, label_ids: Sequence[str] = (), *, include_spam_trash: bool = False
) -> list[ColumnElement[bool]]:
    """Conditions of the messages of a mailbox that a search matches and that have all of the labels.

    Raises:
        ToolError: `INVALID_LABEL`.
    """
    labels = [await label_named(gym, mailbox, name) for name in label_ids]
    hidden = any(label.type == "system" and label.name in HIDDEN for label in labels)
    return [
        Message.user_id == mailbox.id,
        *matches(q or "", gym.now(), owner=mailbox.primary_email, everywhere=include_spam_trash or hidden),
        *(has_label_id(label.id) for label in labels),
    ]


def offset(page_token: str | None) -> int:
    """Number of results before a page.

    Raises:
        ToolError: `INVALID_PAGE_TOKEN`.
    """
    start = offset_of(page_token) if page_token else 0
    if start is None:
        raise ToolError("INVALID_PAGE_TOKEN", "Invalid pageToken", "pageToken")
    return min(start, LAST_OFFSET)


async def message_page(
    gym: Gym, conditions: Sequence[ColumnElement[bool]], start: int, size: int
) -> tuple[Sequence[Message], int]:
    """Messages that meet all conditions, the newest first, and the number of all of them."""
    return await gym.page(Message, conditions, [desc(ARRIVED).nulls_last()], start, size)


def paged(name: str, results: Sequence[Any], total: int, start: int, size: int) -> dict[str, Any]:
    """A page of a list as the Gmail API returns it."""
    token = next_page(start, size, total)
    page: dict[str, Any] = {name: list(results)} if results else {}
    return page | ({"nextPageToken": token} if token else {}) | {"resultSizeEstimate": total}
