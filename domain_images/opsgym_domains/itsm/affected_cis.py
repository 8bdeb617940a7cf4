"""Affected CIs: links from an incident to further configuration items that it affects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opsgym_domains.itsm.tables import IncidentAffectedCi
from opsgym_domains.itsm.toolbox import tool
from opsgym_domains.kit.gym import Gym
from opsgym_domains.kit.result_formats import Counted, deleted


@tool(adds=IncidentAffectedCi)
async def link_affected_ci_to_incident(gym: Gym, **fields: Any) -> IncidentAffectedCi:
    """Add an affected configuration item to an incident.

    Incident and item must exist, and the item must not be linked to the incident yet (DUPLICATE_AFFECTED_CI). Returns
    the link.
    """
    return await gym.insert(IncidentAffectedCi(**fields))


@tool()
async def list_incident_affected_cis(gym: Gym, **filters: Any) -> Sequence[IncidentAffectedCi]:
    """List links between incidents and affected configuration items, newest first, optionally filtered.

    Filters are combined with AND; without filters, every link is returned.
    """
    return await gym.list(IncidentAffectedCi, filters)


@tool(removes=IncidentAffectedCi)
async def remove_affected_ci_from_incident(gym: Gym, **filters: Any) -> Counted[IncidentAffectedCi]:
    """Remove links between incidents and affected configuration items. Incidents and items are not deleted.

    Give at least one argument. Every link that matches all of them is removed: give item and incident to remove exactly
    one. Refused (AFFECTED_CONFIGURATION_ITEM_NOT_FOUND) if none matches. Returns the removed links.
    """
    return deleted("deleted_links", await gym.remove(IncidentAffectedCi, filters))
