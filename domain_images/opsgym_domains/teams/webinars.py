"""Webinars."""

from __future__ import annotations

from opsgym_domains.kit.gym import Gym
from opsgym_domains.teams import events
from opsgym_domains.teams.graph import Shown, context
from opsgym_domains.teams.people import tenant_of
from opsgym_domains.teams.tables import Webinar, WebinarCoOrganizer
from opsgym_domains.teams.toolbox import tool


@tool(adds=Webinar)
async def create_virtual_event_webinar(
    gym: Gym,
    display_name: str,
    description: Shown,
    start_date_time: Shown,
    end_date_time: Shown,
    audience: str,
    co_organizers: list[Shown] | None = None,
    settings: Shown | None = None,
) -> Shown:
    """Create a webinar as a draft.

    Its times are those of the clock in their zones. Returns the webinar. Refused for a time that cannot be read
    (INVALID_DATE) and for an unknown co-organiser (USER_NOT_FOUND).
    """
    organizers = await events.people_of(gym, co_organizers, "coOrganizers")
    start, end = events.wall_clock(start_date_time, "startDateTime"), events.wall_clock(end_date_time, "endDateTime")
    columns = await events.new_event(gym, display_name, description, start, end, audience, settings)
    webinar = await gym.insert(Webinar(**columns))
    await gym.insert_all(
        [
            WebinarCoOrganizer(org_id=webinar.org_id, webinar_id=webinar.id, user_id=user.user_id, added_at=gym.now())
            for user in organizers
        ]
    )
    return await _shown(gym, webinar)


async def _shown(gym: Gym, webinar: Webinar) -> Shown:
    rows = await gym.all(WebinarCoOrganizer, WebinarCoOrganizer.webinar_id == webinar.id)
    organizers = await events.users_in(gym, [row.user_id for row in rows])
    end = events.shown_end(webinar, await tenant_of(gym), organizers)
    return {**events.shown_start(webinar, "virtualEventWebinar"), **end}


@tool()
async def get_virtual_event_webinar(gym: Gym, webinar_id: str) -> Shown:
    """Read one webinar with its co-organisers.

    Refused for an unknown webinar (WEBINAR_NOT_FOUND).
    """
    shown = await _shown(gym, await gym.fetch(Webinar, webinar_id, field="webinar_id"))
    return {"@odata.context": context("solutions/virtualEvents/webinars/$entity"), **shown}


@tool()
async def list_virtual_event_webinars(gym: Gym, count: bool = True) -> Shown:
    """List the webinars of your organisation with their co-organisers.

    In the order of their creation; canceled ones are listed too.
    """
    del count  # the published server always counts
    webinars = await gym.all(Webinar)
    return {
        "@odata.context": context("solutions/virtualEvents/webinars"),
        "@odata.count": len(webinars),
        "value": [await _shown(gym, webinar) for webinar in webinars],
    }


@tool(changes=Webinar)
async def publish_virtual_event_webinar(gym: Gym, webinar_id: str) -> None:
    """Publish a webinar, so that people can register for it.

    Refused for an unknown webinar (WEBINAR_NOT_FOUND). One that is published already stays so.
    """
    webinar = await gym.fetch(Webinar, webinar_id, field="webinar_id")
    await gym.update(webinar, {"status": events.PUBLISHED})


@tool(changes=Webinar)
async def cancel_virtual_event_webinar(gym: Gym, webinar_id: str) -> None:
    """Cancel a webinar for good.

    Refused for an unknown webinar (WEBINAR_NOT_FOUND). One that is canceled already stays so.
    """
    webinar = await gym.fetch(Webinar, webinar_id, field="webinar_id")
    await gym.update(webinar, {"status": events.CANCELED})
