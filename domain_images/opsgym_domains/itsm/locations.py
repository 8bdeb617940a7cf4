"""Locations: offices and sites of users and configuration items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opsgym_domains.itsm.tables import Location
from opsgym_domains.itsm.toolbox import tool
from opsgym_domains.kit.gym import Gym


@tool()
async def find_location_by_given_name(gym: Gym, name: str) -> Location:
    """Look up one location by its full name, case-sensitive.

    Returns its id, address and whether it is in use. Refused (LOCATION_NOT_FOUND) if no location has this name.
    """
    return await gym.fetch_by(Location, name=name)


@tool(words={"active": "Whether the location is active; if omitted, active and inactive locations are listed"})
async def find_locations(gym: Gym, **filters: Any) -> Sequence[Location]:
    """List locations, newest first, optionally filtered.

    Filters are combined with AND; without filters, every location is returned, including inactive ones.
    """
    return await gym.list(Location, filters)


@tool(adds=Location)
async def add_location(gym: Gym, **fields: Any) -> Location:
    """Add a location to your own organisation.

    The name must be unique (DUPLICATE_LOCATION_NAME). Returns the new location, including the id that users and
    configuration items refer to.
    """
    return await gym.insert(Location(**fields))


@tool()
async def get_location_by_id(gym: Gym, location_id: str) -> Location:
    """Look up one location by id.

    Use it to find the site of a user or a configuration item. Refused (LOCATION_NOT_FOUND) if the id is unknown.
    """
    return await gym.fetch(Location, location_id)


@tool(changes=Location, words={"active": "Whether the location is active; if omitted, this does not change"})
async def update_location(gym: Gym, location_id: str, **fields: Any) -> Location:
    """Update fields of a location. Fields that are not given keep their value.

    The name must be unique (DUPLICATE_LOCATION_NAME); city and country cannot be cleared. Null and empty strings leave
    a field unchanged. Refused (NO_CHANGES_DETECTED) if no value differs from the stored one. Returns the location as it
    is now.
    """
    return await gym.change(Location, location_id, fields)
