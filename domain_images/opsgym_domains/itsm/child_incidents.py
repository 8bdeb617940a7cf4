"""Child incidents: links from a parent incident to its children."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opsgym_domains.itsm.tables import ChildIncident, Incident
from opsgym_domains.itsm.toolbox import tool
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym


@tool()
async def list_child_incidents(gym: Gym, parent_incident: str) -> Sequence[ChildIncident]:
    """List the links from a parent incident to its child incidents, newest first.

    Each link contains the child's incident id. The list is empty if the incident has no children.
    """
    return await gym.list(ChildIncident, {"parent_incident": parent_incident})


@tool()
async def find_parent_incident(gym: Gym, child_incident: str) -> ChildIncident:
    """Find the link between a child incident and its parent incident.

    Returns the link with both incident ids. Refused (CHILD_INCIDENT_NOT_FOUND) if the incident has no parent.
    """
    return await gym.fetch_by(ChildIncident, child_incident=child_incident)


@tool(adds=ChildIncident)
async def add_child_incident(gym: Gym, parent_incident: str, child_incident: str) -> ChildIncident:
    """Link a child incident to a parent incident.

    Both incidents must exist and differ, and they must not be linked yet (DUPLICATE_CHILD_INCIDENT). Returns the link.
    """
    await _check_pair(gym, parent_incident, child_incident)
    return await gym.insert(ChildIncident(parent_incident=parent_incident, child_incident=child_incident))


@tool(adds=ChildIncident, words={"child_incidents": "Child incidents (incident ids)"})
async def add_child_incidents(
    gym: Gym, parent_incident: str, child_incidents: Sequence[str]
) -> Sequence[ChildIncident]:
    """Link several child incidents to a parent incident: all of them, or none if one is refused.

    The rules of add_child_incident apply to each link. Returns the links in the given order.
    """
    if not child_incidents:
        raise ToolError("MISSING_FIELD", "give at least one incident", "child_incidents")
    return [await add_child_incident(gym, parent_incident, child) for child in child_incidents]


@tool(changes=ChildIncident)
async def update_child_incident(
    gym: Gym, child_incident_mapping_id: str, parent_incident: str, child_incident: str
) -> ChildIncident:
    """Change parent and child of a link between two incidents.

    Both incidents must exist and differ, and they must not be linked by another link (DUPLICATE_CHILD_INCIDENT).
    Refused (NO_CHANGES_DETECTED) if the link already has this parent and child. Returns the updated link.
    """
    link = await gym.fetch(ChildIncident, child_incident_mapping_id)
    await _check_pair(gym, parent_incident, child_incident)
    return await gym.update(link, {"parent_incident": parent_incident, "child_incident": child_incident})


@tool(
    removes=ChildIncident,
    words={
        "parent_incident": "Parent incident (incident id); requires child_incident",
        "child_incident": "Child incident (incident id); requires parent_incident",
    },
)
async def remove_child_incident(gym: Gym, **keys: Any) -> bool:
    """Remove the link between a parent incident and a child incident. The incidents are not deleted.

    Identify the link by its id, or by parent and child. Refused (CHILD_INCIDENT_NOT_FOUND) if the link does not exist.
    Returns true.
    """
    given = {name: value for name, value in keys.items() if value}
    if "child_incident_mapping_id" not in given and len(given) < 2:
        raise ToolError(
            "MISSING_FIELD", "give child_incident_mapping_id, or both parent_incident and child_incident",
            "child_incident_mapping_id",
        )  # fmt: skip
    await gym.remove(ChildIncident, given)
    return True


async def _check_pair(gym: Gym, parent: str, child: str) -> None:
    await gym.fetch(Incident, parent, field="parent_incident")
    await gym.fetch(Incident, child, field="child_incident")
    if parent == child:
        raise ToolError("SELF_REFERENCE", "an incident cannot be its own parent", "child_incident")
