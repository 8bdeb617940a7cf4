"""Incident SLAs: SLAs that run on incidents, with their stage and breach state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from opsgym_domains.itsm.enums import SlaStage
from opsgym_domains.itsm.tables import IncidentSla
from opsgym_domains.itsm.toolbox import tool
from opsgym_domains.kit.errors import ToolError, short
from opsgym_domains.kit.gym import Gym
from opsgym_domains.kit.result_formats import Counted, deleted


@tool()
async def find_incident_slas(gym: Gym, **filters: Any) -> Sequence[IncidentSla]:
    """List incident SLAs, newest first, optionally filtered.

    Filters are combined with AND; without filters, every incident SLA is returned.
    """
    return await gym.list(IncidentSla, _with_lower_stage(filters))


@tool(
    words={
        "stages": "Stages to count: in_progress, paused, completed, cancelled, breached; all if omitted or empty",
    }
)
async def find_stage_wise_breached_incident_sla_counts(gym: Gym, stages: Sequence[str] = ()) -> dict[str, int]:
    """Count breached incident SLAs by stage.

    Returns a count for each stage that has any, or for each requested stage, including 0.
    """
    return await gym.count_by(IncidentSla.stage, [_stage(stage) for stage in stages], {"has_breached": True})


@tool(adds=IncidentSla)
async def link_new_incident_sla(gym: Gym, **fields: Any) -> IncidentSla:
    """Start an SLA on an incident.

    Incident and definition must exist, and the definition must not be linked to the incident yet
    (DUPLICATE_INCIDENT_SLA). Returns the new incident SLA.
    """
    return await gym.insert(IncidentSla(**_with_lower_stage(fields)))


@tool(changes=IncidentSla)
async def update_incident_sla_details(gym: Gym, incident_sla_id: str, **fields: Any) -> IncidentSla:
    """Update fields of an incident SLA. Fields that are not given keep their value.

    An empty breach_time or completed_time clears it. Setting the stage does not set has_breached or completed_time:
    give them as well. Incident and definition together must be unique (DUPLICATE_INCIDENT_SLA). Refused
    (NO_CHANGES_DETECTED) if no value differs from the stored one. Returns the updated incident SLA.
    """
    return await gym.change(IncidentSla, incident_sla_id, _with_lower_stage(fields))


@tool(removes=IncidentSla)
async def delete_incident_slas(gym: Gym, **filters: Any) -> Counted[IncidentSla]:
    """Delete incident SLAs. Incidents and SLA definitions are not deleted.

    Give at least one argument. Every incident SLA that matches all of them is deleted: give incident_sla_id to delete
    exactly one, and list with the same filters first if in doubt. Refused (INCIDENT_SLA_NOT_FOUND) if none matches.
    Returns the deleted incident SLAs.
    """
    return deleted("deleted_slas", await gym.remove(IncidentSla, _with_lower_stage(filters)))


def _with_lower_stage(given: Mapping[str, Any]) -> dict[str, Any]:
    return {**given, "stage": _stage(given["stage"])} if "stage" in given else dict(given)


def _stage(given: str) -> str:
    """The stage in lower case; the published server accepts any case for this enumeration only."""
    stage = given.strip().lower()
    allowed = get_args(SlaStage)
    if stage not in allowed:
        raise ToolError(
            "INVALID_ENUM_VALUE", f"{short(given)} is not a valid stage; allowed: {', '.join(allowed)}", "stage"
        )
    return stage
