"""Case SLAs: SLAs that run on cases, with their stage and breach state.

Invariant: times and breaches hold what the caller gave for them. Nothing is calculated from the definition's target.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

from opsgym_domains.csm.tables import CaseSla
from opsgym_domains.csm.toolbox import tool
from opsgym_domains.kit.gym import Gym
from opsgym_domains.kit.result_formats import Deleted, keyed

StageCounts = TypedDict(
    "StageCounts", {"in_progress": int, "paused": int, "completed": int, "canceled": int}, total=False
)


@tool()
async def find_case_slas(gym: Gym, **filters: Any) -> Sequence[CaseSla]:
    """List case SLAs, lowest id first, optionally filtered.

    Filters are combined with AND and match exactly; without filters, every case SLA is returned.
    """
    return await gym.list(CaseSla, filters)


@tool(row=CaseSla)
async def find_stage_wise_breached_case_sla_counts(gym: Gym, stage: str | None = None) -> StageCounts:
    """Count breached case SLAs by stage.

    Returns one object with a count for each stage that has any, or for the requested stage, including 0.
    """
    numbers = await gym.count_by(CaseSla.stage, [stage] if stage else [], {"has_breached": True})
    return keyed(StageCounts, numbers)


@tool(adds=CaseSla)
async def link_new_case_sla(gym: Gym, **fields: Any) -> CaseSla:
    """Start an SLA on a case.

    Case and definition must exist. Several SLAs may run on a case, even with the same definition: list them first.
    start_time defaults to the current time; breach_time stays empty unless you give it. Returns the new case SLA.
    """
    return await gym.insert(CaseSla(**{"start_time": gym.now(), **fields}))


@tool(changes=CaseSla)
async def update_case_sla_details(gym: Gym, case_sla_id: int, **fields: Any) -> CaseSla:
    """Update fields of a case SLA. Fields that are not given keep their value.

    Setting the stage does not set completed_time or has_breached: give them as well. An empty string clears a time.
    Returns the SLA as it is now.
    """
    return await gym.change(CaseSla, case_sla_id, fields)


@tool(removes=CaseSla)
async def delete_case_slas(gym: Gym, **filters: Any) -> Deleted:
    """Delete case SLAs. Cases and SLA definitions are not deleted.

    Give at least one argument. Every case SLA that matches all of them is deleted: give case_sla_id to delete exactly
    one, and list with the same filters first if in doubt. Returns the number of deleted case SLAs, which may be 0.
    """
    return {"deleted": len(await gym.remove(CaseSla, filters))}
