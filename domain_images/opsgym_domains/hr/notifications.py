"""Notifications about a case, to an email address.

Invariant: sending a notification only writes its row; no email is sent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import func
from sqlalchemy.sql.elements import ColumnElement

from opsgym_domains.hr.filters import refuse_no_filters
from opsgym_domains.hr.results import Shown, changed
from opsgym_domains.hr.tables import HrCase, HrProfile, Notification, User
from opsgym_domains.hr.toolbox import tool
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.fitting import changes, parse_time
from opsgym_domains.kit.gym import Gym, not_found
from opsgym_domains.kit.result_formats import Deleted

WORDS = {
    "email": "Email address of the recipient; the whole address",
    "sys_created_on": "Time of creation, or a date for the whole day (ISO 8601)",
}


# --- counts --------------------------------------------------------------------------------------------------------


@tool(row=Notification, words={"status": "Statuses to count; all that occur if omitted or empty"})
async def count_notifications_by_status(gym: Gym, status: Sequence[str] = ()) -> dict[str, int]:
    """Count notifications by status.

    Returns a count for each status that occurs, or for each requested status, including 0.
    """
    return await gym.count_by(Notification.status, status)


@tool(row=Notification)
async def count_notifications_by_case(gym: Gym, case_ids: Sequence[int] = ()) -> dict[str, int]:
    """Count the notifications about some HR cases, or all notifications if no case is given.

    Returns the count.
    """
    return {"count": await gym.count(Notification, {"hr_case_id": list(case_ids)})}


@tool(row=Notification)
async def avg_notifications_by_case(gym: Gym, case_ids: Sequence[int] = ()) -> dict[str, float]:
    """Calculate the average number of notifications per HR case, over all cases or the given ones.

    Cases without a notification count too. Returns avg_count; 0 if there is no case.
    """
    cases_only = {"hr_case_id": list(case_ids)}
    cases = await gym.count(HrCase, cases_only)
    return {"avg_count": await gym.count(Notification, cases_only) / cases if cases else 0.0}


@tool(row=Notification, words={"type": "Types to count; all that occur if omitted or empty"})
async def count_notifications_by_type(gym: Gym, type: Sequence[str] = ()) -> dict[str, int]:  # noqa: A002
    """Count notifications by type.

    Returns a count for each type that occurs, or for each requested type, including 0.
    """
    return await gym.count_by(Notification.type, type)


# --- reading -------------------------------------------------------------------------------------------------------


@tool(words=WORDS)
async def find_notifications_for_email(gym: Gym, email: str) -> Sequence[Notification]:
    """List the notifications to an email address, lowest id first.

    The address must match in full, case-sensitive. The list is empty if there are none.
    """
    return await gym.list(Notification, {"email": email})


@tool(row=Notification)
async def find_notifications_sent_for_incident(gym: Gym, hr_case_id: int) -> Sequence[Notification]:
    """List the notifications about an HR case, lowest id first.

    Refused (HR_CASE_NOT_FOUND) if your organisation has no such case.
    """
    await gym.fetch(HrCase, hr_case_id)
    return await gym.list(Notification, {"hr_case_id": hr_case_id})


@tool(words=WORDS)
async def find_notifications(gym: Gym, **filters: Any) -> Sequence[Notification]:
    """List notifications, lowest id first, optionally filtered.

    Filters are combined with AND and match exactly. Check this list before you send a notification.
    """
    return await _matching(gym, filters)


# --- writing -------------------------------------------------------------------------------------------------------


@tool(adds=Notification)
async def send_notification(gym: Gym, email: str, **fields: Any) -> Notification:
    """Send a notification about an HR case.

    The case must exist, and the address must be the work or personal one of a user of your organisation
    (RECIPIENT_NOT_FOUND). Returns the notification.
    """
    if not (await gym.exists(User, email=email) or await gym.exists(HrProfile, personal_email=email)):
        raise ToolError("RECIPIENT_NOT_FOUND", f"no user of your organisation has the address {email}", "email")
    return await gym.insert(Notification(**fields, email=email))


@tool(changes=Notification)
async def update_notification(gym: Gym, notification_id: int, **fields: Any) -> Shown:
    """Update a notification. Fields that are not given keep their value.

    The case must exist. Refused (NO_CHANGES_DETECTED) if no value differs from the stored one. Returns the
    notification, and in `changes` the fields that changed.
    """
    given = changes(fields)
    return await changed(gym, await gym.fetch(Notification, notification_id), given)


@tool(removes=Notification, words=WORDS)
async def delete_notifications(gym: Gym, **filters: Any) -> Deleted:
    """Delete the notifications that match all filters.

    Give at least one filter (MISSING_FILTER): notification_id deletes exactly one. Refused (NOTIFICATION_NOT_FOUND) if
    none matches. Returns the number of deleted notifications.
    """
    refuse_no_filters(filters)
    matching = await _matching(gym, filters)
    if not matching:
        given = ", ".join(f"{name} {value}" for name, value in filters.items())
        raise not_found(Notification, given, next(iter(filters)))
    return {"deleted": await gym.delete(matching)}


async def _matching(gym: Gym, filters: Mapping[str, Any]) -> Sequence[Notification]:
    others = {name: value for name, value in filters.items() if name != "sys_created_on"}
    return await gym.list(Notification, others, *_created_on(filters.get("sys_created_on")))


def _created_on(text: str | None) -> list[ColumnElement[bool]]:
    """Condition of the time of creation: a whole day for a date, the second for a time."""
    if text is None:
        return []
    start = parse_time(text, "sys_created_on")
    if len(text.strip()) <= len("2026-11-16"):
        return [Notification.created_at >= start, Notification.created_at < start + timedelta(days=1)]
    return [func.date_trunc("second", Notification.created_at) == start.replace(microsecond=0)]
