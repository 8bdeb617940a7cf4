"""Single events as results of tools show them, in either access.

Invariant: a written event stays written even where it cannot be shown.
"""

from __future__ import annotations

from typing import Any

from opsgym_domains.calendar.event_resource import NotShown, read_records, resource
from opsgym_domains.calendar.permissions import reach
from opsgym_domains.calendar.strict_events import View
from opsgym_domains.calendar.tables import Event
from opsgym_domains.kit.gym import Gym


async def resource_of(
    gym: Gym, event: Event, *, max_attendees: int | None = None, zone: str | None = None
) -> dict[str, Any]:
    """An event as a result shows it.

    Args:
        gym: The call.
        event: The event.
        max_attendees: Number of attendees that are shown; None for all.
        zone: Zone of shown times in access `strict`; None for the event's own.

    Raises:
        NotShown: A stored value has no form in results.
    """
    (record,) = await read_records(gym, [event])
    if not gym.is_strict:
        return resource(record, max_attendees=max_attendees)
    view = View(await reach(gym, event.calendar_id), str(gym.actor.user_id), zone)
    return view.resource(record, max_attendees=max_attendees)


async def resource_or_reason(gym: Gym, event: Event, *, max_attendees: int | None = None) -> dict[str, Any] | str:
    """An event that was written as a result shows it, or why it cannot be shown."""
    try:
        return await resource_of(gym, event, max_attendees=max_attendees)
    except NotShown as reason:
        return str(reason)
