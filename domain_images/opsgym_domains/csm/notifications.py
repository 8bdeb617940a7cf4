"""Notifications about a case, sent to an email address.

Invariant: sending a notification only writes its row, with status success; no email is sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

from sqlalchemy import distinct, func

from opsgym_domains.csm.enums import NotificationStatus, NotificationType
from opsgym_domains.csm.tables import Notification
from opsgym_domains.csm.toolbox import tool
from opsgym_domains.kit.gym import Gym
from opsgym_domains.kit.result_formats import Deleted, tally

StatusCount = TypedDict("StatusCount", {"status": NotificationStatus, "count": int})
TypeCount = TypedDict("TypeCount", {"type": NotificationType, "count": int})
Count = TypedDict("Count", {"count": int})
Average = TypedDict("Average", {"avg_count": float})


@tool()
async def find_notifications(gym: Gym, **filters: Any) -> Sequence[Notification]:
    """List notifications, lowest id first, optionally filtered.

    Filters are combined with AND; the email address matches a part, ignoring case; all other filters match exactly.
    Without filters every notification is returned. Check this list before you send a notification, to avoid duplicates.
    """
    return await gym.list(Notification, filters)


# --- counts --------------------------------------------------------------------------------------------------------


@tool(row=Notification)
async def count_notifications_by_status(gym: Gym, status: str | None = None) -> list[StatusCount]:
    """Count notifications by delivery status.

    Returns a count for each status that occurs, or for the requested status, including 0.
    """
    return tally(StatusCount, await gym.count_by(Notification.status, [status] if status else []))


@tool()
async def count_notifications_by_case(gym: Gym, **filters: Any) -> Count:
    """Count the notifications about a case, or all notifications if no case is given.

    Returns the count.
    """
    return {"count": await gym.count(Notification, filters)}


@tool(columns={"case": "case_id"}, words={"case": "Include only this case (case id)"})
async def avg_notifications_by_case(gym: Gym, **filters: Any) -> Average:
    """Calculate the average number of notifications per case, over cases that have any.

    If a case is given, this is the number of its notifications. Returns avg_count; 0 if there are none.
    """
    average = func.count() * 1.0 / func.nullif(func.count(distinct(Notification.case_id)), 0)
    return {"avg_count": float(await gym.measure(Notification, average, filters) or 0)}


@tool(words={"type": "Types to count; all that occur if omitted or empty"})
async def count_notifications_by_type(gym: Gym, **filters: Any) -> list[TypeCount]:
    """Count notifications by type.

    Returns a count for each type that occurs, or for each requested type, including 0.
    """
    return tally(TypeCount, await gym.count_by(Notification.type, filters.get("type", [])))


# --- messages ------------------------------------------------------------------------------------------------------


@tool(adds=Notification)
async def send_notification(gym: Gym, **fields: Any) -> Notification:
    """Send a notification about a case.

    Case and article must exist. The address has at most 255 characters; the tool does not check that it belongs to a
    user: look up the recipient first. Returns the notification, with status success.
    """
    return await gym.insert(Notification(**fields))


@tool(changes=Notification)
async def update_notification(gym: Gym, notification_id: int, **fields: Any) -> Notification:
    """Update fields of a notification. Fields that are not given keep their value.

    Case and article must exist. Returns the updated notification.
    """
    return await gym.change(Notification, notification_id, fields)


@tool(removes=Notification, words={"email": "Full email address of the recipient"})
async def delete_notifications(gym: Gym, **filters: Any) -> Deleted:
    """Delete notifications permanently.

    Give at least one argument. Every notification that matches all of them is deleted: give notification_id to delete
    exactly one, and list with the same filters first if in doubt. Returns the number of deleted notifications, which
    may be 0.
    """
    return {"deleted": len(await gym.remove(Notification, filters))}
