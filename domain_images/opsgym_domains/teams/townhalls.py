"""Town halls."""

from __future__ import annotations

from opsgym_domains.kit.gym import Gym
from opsgym_domains.teams import events
from opsgym_domains.teams.graph import Shown, context
from opsgym_domains.teams.people import tenant_of
from opsgym_domains.teams.tables import Invited, TownHall, TownHallCoOrganizer, User
from opsgym_domains.teams.toolbox import tool


@tool(adds=TownHall)
async def create_virtual_event_townhall(
    gym: Gym,
    display_name: str,
    description: Shown,
    start_date_time: Shown,
    end_date_time: Shown,
    audience: str,
    is_invite_only: bool = False,
    invited_attendees: list[Shown] | None = None,
    co_organizers: list[Shown] | None = None,
    settings: Shown | None = None,
) -> Shown:
    """Create a town hall as a draft.

    Its times are those of the clock in their zones. Returns the town hall. Refused for a time that cannot be read
    (INVALID_DATE) and for an unknown co-organiser or attendee (USER_NOT_FOUND).
    """
    organizers = await events.people_of(gym, co_organizers, "coOrganizers")
    attendees = await events.people_of(gym, invited_attendees, "invitedAttendees")
    start, end = events.wall_clock(start_date_time, "startDateTime"), events.wall_clock(end_date_time, "endDateTime")
    columns = await events.new_event(gym, display_name, description, start, end, audience, settings)
    town_hall = await gym.insert(TownHall(**columns, is_invite_only=is_invite_only))
    place = {"org_id": town_hall.org_id, "townhall_id": town_hall.id}
    await gym.insert_all(
        [TownHallCoOrganizer(**place, user_id=user.user_id, added_at=gym.now()) for user in organizers]
    )
    tenant = await tenant_of(gym)
    await gym.insert_all([_invited(gym, place, user, tenant) for user in attendees])
    return await _shown(gym, town_hall)


def _invited(gym: Gym, place: dict[str, str], user: User, tenant: str | None) -> Invited:
    return Invited(
        **place,
        identity_id=user.user_id,
        identity_type="communicationsUserIdentity",
        display_name=user.display_name,
        tenant_id=tenant,
        added_at=gym.now(),
    )


async def _shown(gym: Gym, town_hall: TownHall) -> Shown:
    rows = await gym.all(TownHallCoOrganizer, TownHallCoOrganizer.townhall_id == town_hall.id)
    organizers = await events.users_in(gym, [row.user_id for row in rows])
    invited = await gym.all(Invited, Invited.townhall_id == town_hall.id)
    return {
        **events.shown_start(town_hall, "virtualEventTownhall"),
        "isInviteOnly": bool(town_hall.is_invite_only),
        "invitedAttendees": [_shown_attendee(one) for one in invited],
        **events.shown_end(town_hall, await tenant_of(gym), organizers),
    }


def _shown_attendee(invited: Invited) -> Shown:
    shown: Shown = {
        "@odata.type": f"#microsoft.graph.{invited.identity_type}",
        "id": invited.identity_id,
        "displayName": invited.display_name,
        "tenantId": invited.tenant_id,
    }
    return shown | ({"email": invited.guest_email} if invited.guest_email else {})


@tool()
async def list_virtual_event_townhalls(gym: Gym, count: bool = True) -> Shown:
    """List the town halls of your organisation with co-organisers and invited attendees.

    In the order of their creation; canceled ones are listed too.
    """
    del count  # the published server always counts
    town_halls = await gym.all(TownHall)
    return {
        "@odata.context": context("solutions/virtualEvents/townhalls"),
        "@odata.count": len(town_halls),
        "value": [await _shown(gym, town_hall) for town_hall in town_halls],
    }


@tool(changes=TownHall)
async def cancel_virtual_event_townhall(gym: Gym, townhall_id: str) -> None:
    """Cancel a town hall for good.

    Refused for an unknown town hall (TOWN_HALL_NOT_FOUND). One that is canceled already stays so.
    """
    town_hall = await gym.fetch(TownHall, townhall_id, field="townhall_id")
    await gym.update(town_hall, {"status": events.CANCELED})
