"""Locations: sites of users and installed products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opsgym_domains.csm.tables import Location
from opsgym_domains.csm.toolbox import tool
from opsgym_domains.kit.gym import Gym
from opsgym_domains.kit.schema import columns_but

BRIEF = columns_but(Location, "plot_no", "street", "sys_created_on", "sys_updated_on")


@tool(shows=BRIEF, words={"name": "Full name, case-sensitive"})
async def find_location(gym: Gym, name: str) -> Location | None:
    """Look up a location by its exact name.

    Returns the one with the lowest id if several have the name, and an empty object if there is no match.
    """
    return await gym.find(Location, name=name)


@tool(shows=columns_but(Location, "sys_updated_on"))
async def find_locations(gym: Gym, **filters: Any) -> Sequence[Location]:
    """List locations, optionally filtered.

    Filters are combined with AND; name, plot number and street match a part, ignoring case; all other filters match
    exactly. Lowest id first.
    """
    return await gym.list(Location, filters)


@tool(adds=Location)
async def add_location(gym: Gym, **fields: Any) -> Location:
    """Add a location for users and installed products.

    The name need not be unique. Returns the new location.
    """
    return await gym.insert(Location(**fields))


@tool(changes=Location)
async def update_location(gym: Gym, location_id: int, **fields: Any) -> Location:
    """Update a location. Fields that are not given keep their value.

    Give at least one field (NO_FIELDS_TO_UPDATE). Users and installed products at the location do not change. Returns
    the updated location.
    """
    return await gym.change(Location, location_id, fields)
