"""Change request mappings: links from a change to the incidents and problems that it addresses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opsgym_domains.itsm.tables import ChangeRequestMapping
from opsgym_domains.itsm.toolbox import tool
from opsgym_domains.kit.gym import Gym
from opsgym_domains.kit.result_formats import deleted


@tool(adds=ChangeRequestMapping)
async def map_change_request(gym: Gym, **fields: Any) -> ChangeRequestMapping:
    """Link a change to the incident or problem that it addresses, or to one of each.

    All records must exist, and the change must not be linked to them yet (DUPLICATE_MAPPING). Returns the mapping.
    """
    return await gym.insert(ChangeRequestMapping(**fields))


@tool()
async def list_change_request_mappings(gym: Gym, **filters: Any) -> Sequence[ChangeRequestMapping]:
    """List change request mappings, newest first, optionally filtered.

    Filters are combined with AND and match exactly; without filters, every mapping is returned.
    """
    return await gym.list(ChangeRequestMapping, filters)


@tool()
async def find_change_request_mappings_for_incident(gym: Gym, incident_id: str) -> Sequence[ChangeRequestMapping]:
    """List the change request mappings of an incident, newest first.

    The list is empty if no change addresses the incident.
    """
    return await gym.list(ChangeRequestMapping, {"incident_id": incident_id})


@tool()
async def find_change_request_mappings_for_problem(gym: Gym, problem_id: str) -> Sequence[ChangeRequestMapping]:
    """List the change request mappings of a problem, newest first.

    The list is empty if no change addresses the problem.
    """
    return await gym.list(ChangeRequestMapping, {"problem_id": problem_id})


@tool(removes=ChangeRequestMapping)
async def delete_change_request_mappings(gym: Gym, **keys: Any) -> dict[str, Any]:
    """Delete change request mappings. Changes, incidents and problems are not deleted.

    Give at least one argument. Every mapping that matches all of them is deleted: give the mapping id, or change and
    incident, to delete exactly one. Refused (CHANGE_REQUEST_MAPPING_NOT_FOUND) if none matches. Returns the deleted
    mappings.
    """
    removed = await gym.remove(ChangeRequestMapping, keys)
    ids = ", ".join(mapping.change_request_mapping_id for mapping in removed)
    return {**deleted("deleted_mappings", removed), "message": f"deleted {ids}"}
