"""Notifications to users about an incident."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opsgym_domains.itsm.tables import Incident, Notification, User
from opsgym_domains.itsm.toolbox import tool
from opsgym_domains.kit.errors import ToolError, short
from opsgym_domains.kit.fitting import changes
from opsgym_domains.kit.gym import Gym

INCIDENTS = {"incident_id": "Incidents to include (incident ids), which must exist; all if omitted"}


# --- counts --------------------------------------------------------------------------------------------------------


@tool(words={"status": "Statuses to count; all if omitted or empty"})
async def count_notifications_by_status(gym: Gym, status: Sequence[str] = ()) -> dict[str, int]:
    """Count notifications by delivery status.

    Returns a count for each status that occurs, or for each requested status, including 0.
    """
    return await gym.count_by(Notification.status, status)


@tool(words=INCIDENTS)
async def count_notifications_by_incident(gym: Gym, incident_id: Sequence[str] = ()) -> dict[str, int]:
    """Count notifications by incident.

    Returns a count for each incident that has any, or for each requested incident, including 0.
    """
    return await gym.count_by(Notification.incident_id, await _existing(gym, incident_id))


@tool(words=INCIDENTS)
async def average_notifications_by_incident(gym: Gym, incident_id: Sequence[str] = ()) -> dict[str, Any]:
    """Calculate how many notifications incidents have on average, over incidents that have any.

    Returns the average, rounded to two decimals, with the numbers of notifications and incidents it is calculated from.
    """
    counts = await gym.count_by(Notification.incident_id, await _existing(gym, incident_id))
    numbers = [count for count in counts.values() if count]
    average = round(sum(numbers) / len(numbers), 2) if numbers else 0
    return {"average": average, "notifications": sum(numbers), "incidents": len(numbers)}


@tool(words={"type": "Types to count; all if omitted or empty"})
async def count_notifications_by_type(gym: Gym, **filters: Any) -> dict[str, int]:
    """Count notifications by type.

    Returns a count for each type that occurs, or for each requested type, including 0.
    """
    return await gym.count_by(Notification.type, filters.get("type", ()))


async def _existing(gym: Gym, incident_ids: Sequence[str]) -> Sequence[str]:
    return [(await gym.fetch(Incident, key)).incident_id for key in incident_ids]


# --- messages ------------------------------------------------------------------------------------------------------


@tool()
async def find_notifications_for_email(gym: Gym, email: str) -> Sequence[Notification]:
    """List the notifications that were sent to an email address, newest first.

    The whole address must match, case-sensitive. The list is empty if there are none.
    """
    return await gym.list(Notification, {"email": email})


@tool()
async def find_notifications_sent_for_incident(gym: Gym, incident_id: str) -> Sequence[Notification]:
    """List the notifications about an incident, newest first.

    Check this list before you send a notification, to avoid duplicates. The list is empty if there are none.
    """
    return await gym.list(Notification, {"incident_id": incident_id})


@tool()
async def find_notifications(gym: Gym, **filters: Any) -> Sequence[Notification]:
    """List notifications, newest first, optionally filtered.

    Filters are combined with AND and match exactly. Empty strings and null do not filter; without filters every
    notification is returned.
    """
    return await gym.list(Notification, filters)


@tool(adds=Notification)
async def send_notification(gym: Gym, incident_id: str, email: str, **fields: Any) -> Notification:
    """Send a notification about an incident.

    The recipient must be a user (USER_EMAIL_NOT_FOUND). The status defaults to queued. Returns the
    notification.
    """
    await gym.fetch(Incident, incident_id)
    await _require_user(gym, email)
    return await gym.insert(Notification(**fields, incident_id=incident_id, email=email))


@tool(changes=Notification)
async def update_notification(gym: Gym, notification_id: str, **fields: Any) -> Notification:
    """Update fields of a notification. Fields that are not given keep their value.

    A new recipient must be a user (USER_EMAIL_NOT_FOUND), a new incident must exist. An empty
    subject or message is cleared. Refused (NO_CHANGES_DETECTED) if no value differs from the stored one. Returns the
    notification as it is now.
    """
    given = changes(fields)
    notification = await gym.fetch(Notification, notification_id)
    if given.get("email") not in (None, notification.email):
        await _require_user(gym, given["email"])
    return await gym.update(notification, given)


@tool(removes=Notification)
async def delete_notifications(gym: Gym, notification_id: str) -> dict[str, str]:
    """Delete one notification permanently.

    Refused (NOTIFICATION_NOT_FOUND) if the id is unknown. Returns the id of the deleted notification.
    """
    await gym.remove(Notification, {"notification_id": notification_id})
    return {"message": f"deleted {notification_id}", "notification_id": notification_id}


async def _require_user(gym: Gym, email: str) -> None:
    if not await gym.exists(User, email=email):
        raise ToolError("USER_EMAIL_NOT_FOUND", f"no user has the email {short(email)}", "email")
