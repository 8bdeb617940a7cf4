"""Configuration items (CIs): hardware and software that the service desk manages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opsgym_domains.itsm.tables import ConfigurationItem
from opsgym_domains.itsm.toolbox import tool
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym


@tool(adds=ConfigurationItem)
async def register_configuration_item(gym: Gym, **fields: Any) -> ConfigurationItem:
    """Register a configuration item in your own organisation.

    Owner and location must exist; name and serial number must be unique (DUPLICATE_CI_NAME, DUPLICATE_SERIAL_NUMBER).
    Returns the new item, including the id that incidents, problems and changes refer to.
    """
    return await gym.insert(ConfigurationItem(**fields))


@tool(changes=ConfigurationItem)
async def update_configuration_item(gym: Gym, configuration_item_id: str, **fields: Any) -> ConfigurationItem:
    """Update fields of a configuration item. Fields that are not given keep their value.

    Name and serial number must be unique (DUPLICATE_CI_NAME, DUPLICATE_SERIAL_NUMBER). Null leaves a field unchanged;
    an empty location_id clears it. Refused (NO_CHANGES_DETECTED) if no value differs from the stored one. To
    decommission an item, set its status to retired or disposed. Returns the updated item.
    """
    return await gym.change(ConfigurationItem, configuration_item_id, fields)


@tool()
async def find_configuration_item_by_serial_number(gym: Gym, serial_number: str) -> ConfigurationItem:
    """Look up one configuration item by its full serial number, case-sensitive.

    Returns its id, owner, location, status and cost. Refused (CONFIGURATION_ITEM_NOT_FOUND) if no item has this serial
    number.
    """
    return await gym.fetch_by(ConfigurationItem, serial_number=serial_number)


@tool(words={"cost": "Cost, exactly; not below 0"})
async def find_configuration_items(gym: Gym, **filters: Any) -> Sequence[ConfigurationItem]:
    """List configuration items, newest first, optionally filtered.

    Filters are combined with AND and match exactly. There is no filter by name: list the items of an owner or a
    location to find an item by its name. Without filters, every item is returned.
    """
    if filters.get("cost", 0) < 0:
        raise ToolError("NEGATIVE_COST", f"cost must be 0 or more, not {filters['cost']}", "cost")
    return await gym.list(ConfigurationItem, filters)
