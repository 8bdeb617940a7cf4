"""Incidents: interruptions of a service, from report to closure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opsgym_domains.itsm.assignments import list_assigned
from opsgym_domains.itsm.tables import Incident, UserGroup
from opsgym_domains.itsm.toolbox import tool
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym


@tool(words={"number": "Full number, for instance INC-000042 or INC0000042"})
async def find_incident_by_number(gym: Gym, number: str) -> Incident:
    """Look up one incident by its number.

    Returns every field of the incident, including the id that other tools require. Refused (INCIDENT_NOT_FOUND) if no
    incident has this number.
    """
    return await gym.fetch_by(Incident, number=number.strip())


@tool()
async def find_incident_by_id(gym: Gym, incident_id: str) -> Incident:
    """Look up one incident by id.

    Returns every field of the incident. Refused (INCIDENT_NOT_FOUND) if the id is unknown.
    """
    return await gym.fetch(Incident, incident_id)


@tool(columns={"called_id": "caller_id"})
async def list_incidents(gym: Gym, **filters: Any) -> Sequence[Incident]:
    """List incidents, newest first, optionally filtered.

    Filters are combined with AND; text filters match a part of the text, ignoring case; all other filters match
    exactly. Without filters, every incident is returned. Null does not filter.
    """
    return await gym.list(Incident, filters)


@tool()
async def get_incidents_assigned_to(gym: Gym, **assignment: Any) -> Sequence[Incident]:
    """List the incidents that are assigned to a group or a user, newest first.

    Give a group, a user, or both; with both, only incidents assigned to the user and to the group are returned.
    """
    return await list_assigned(gym, Incident, assignment)


@tool(adds=Incident)
async def create_incident(gym: Gym, **fields: Any) -> Incident:
    """Create an incident in your own organisation.

    Id and number are generated. Omitted fields get their defaults: status new, category inquiry-help, impact and
    urgency low, priority planning. All referenced records (users, groups, services, items, problems, changes) must
    exist. Returns the new incident.
    """
    return await gym.insert(Incident(**fields))


@tool(changes=Incident)
async def update_incident(gym: Gym, incident_id: str, **fields: Any) -> Incident:
    """Update fields of an incident. Fields that are not given keep their value.

    Null leaves a field unchanged; an empty string clears a text or a reference. Refused (NO_CHANGES_DETECTED) if no
    value differs from the stored one. Setting one field never changes another: set priority, resolution code and on
    hold reason explicitly where the policy requires them. Returns the updated incident.
    """
    if fields.get("parent_incident") == incident_id:
        raise ToolError("SELF_REFERENCE", "an incident cannot be its own parent", "parent_incident")
    return await gym.change(Incident, incident_id, fields)


@tool(words={"priority_list": "Priorities to count; all if omitted or empty"})
async def get_count_of_incident_priority_wise(gym: Gym, priority_list: Sequence[str] = ()) -> dict[str, int]:
    """Count incidents by priority.

    Returns a count for each priority that occurs, or for each requested priority, including 0.
    """
    return await gym.count_by(Incident.priority, priority_list)


@tool(row=Incident, words={"assignment_group_id": "Assignment group (group id)"})
async def count_incident_for_assignment_group(gym: Gym, assignment_group_id: str, **filters: Any) -> dict[str, int]:
    """Count the incidents that are assigned to a group, optionally filtered.

    The group must exist. Returns the group id with the count.
    """
    group = await gym.fetch(UserGroup, assignment_group_id, field="assignment_group_id")
    return await gym.count_by(Incident.assignment_group, [group.group_id], filters)
