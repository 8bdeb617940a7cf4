"""What webinars and town halls have in common.

Invariant: an event is a draft until it is published, and canceled for good. Its times are kept as they were given, with
their zones beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym
from opsgym_domains.teams.graph import Shown, dumped, loaded
from opsgym_domains.teams.people import actor_of, tenant_of, user_of
from opsgym_domains.teams.tables import TownHall, User, Webinar

Event = Webinar | TownHall
DRAFT, PUBLISHED, CANCELED = "draft", "published", "canceled"


async def new_event(
    gym: Gym,
    name: str,
    description: Shown,
    start: Shown,
    end: Shown,
    audience: str,
    settings: Shown | None,
) -> dict[str, Any]:
    """Columns of a new event by the acting user."""
    actor = await actor_of(gym)
    return {
        "org_id": actor.org_id,
        "id": f"{await gym.next_id(Webinar)}@{await gym.next_id(Webinar)}",
        "display_name": name,
        "description_content_type": description["contentType"],
        "description_content": description["content"],
        "start_date_time": start["dateTime"],
        "start_time_zone": start["timeZone"],
        "end_date_time": end["dateTime"],
        "end_time_zone": end["timeZone"],
        "audience": audience,
        "status": DRAFT,
        "created_by_user_id": actor.user_id,
        "created_by_display_name": actor.display_name,
        "created_by_tenant_id": await tenant_of(gym),
        "is_attendee_email_notification_enabled": bool((settings or {}).get("isAttendeeEmailNotificationEnabled")),
        "external_event_information": dumped([]),
    }


async def people_of(gym: Gym, given: Sequence[Shown] | None, field: str) -> list[User]:
    """Users that a call names by id, each once.

    Raises:
        ToolError: `USER_NOT_FOUND`.
    """
    users = [await user_of(gym, one["id"], field) for one in given or ()]
    return list({user.user_id: user for user in users}.values())


def shown_start(event: Event, kind: str) -> Shown:
    """The properties that both kinds of events begin with."""
    return {
        "@odata.type": f"#microsoft.graph.{kind}",
        "id": event.id,
        "status": event.status,
        "displayName": event.display_name,
        "description": {"contentType": event.description_content_type, "content": event.description_content},
        "startDateTime": _shown_time(event.start_date_time, event.start_time_zone),
        "endDateTime": _shown_time(event.end_date_time, event.end_time_zone),
        "audience": event.audience,
    }


def _shown_time(time: Any, zone: str | None) -> Shown | None:
    return None if time is None else {"dateTime": time.isoformat(), "timeZone": zone}


def shown_end(event: Event, tenant: str | None, organizers: Sequence[User]) -> Shown:
    """The properties that both kinds of events end with."""
    creator = {
        "@odata.type": "#microsoft.graph.communicationsUserIdentity",
        "id": event.created_by_user_id,
        "displayName": event.created_by_display_name,
        "tenantId": event.created_by_tenant_id,
    }
    return {
        "createdBy": {"application": None, "device": None, "user": creator},
        "coOrganizers": [
            {"id": user.user_id, "tenantId": tenant, "displayName": user.display_name} for user in organizers
        ],
        "settings": {"isAttendeeEmailNotificationEnabled": bool(event.is_attendee_email_notification_enabled)},
        "externalEventInformation": loaded(event.external_event_information, []),
    }


async def users_in(gym: Gym, ids: Sequence[str]) -> list[User]:
    """Users with ids, in the order of the ids; those without a row are left out."""
    users = {user.user_id: user for user in await gym.all(User, User.user_id.in_(ids))}
    return [users[key] for key in ids if key in users]


def wall_clock(moment: Shown, field: str) -> Shown:
    """A time without offset, since its zone stands beside it.

    Raises:
        ToolError: `INVALID_DATE`.
    """
    try:
        time = datetime.fromisoformat(str(moment["dateTime"]).strip())
    except ValueError:
        message = f"{str(moment['dateTime'])[:60]!r} is not a time; write it as 2026-03-15T14:00:00."
        raise ToolError("INVALID_DATE", message, field) from None
    return {**moment, "dateTime": time.replace(tzinfo=None)}
