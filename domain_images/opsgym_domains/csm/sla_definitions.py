"""SLA definitions: response and resolution targets for cases of a priority."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

from sqlalchemy import func

from opsgym_domains.csm.enums import Priority
from opsgym_domains.csm.tables import SlaDefinition
from opsgym_domains.csm.toolbox import tool
from opsgym_domains.kit.gym import Gym
from opsgym_domains.kit.result_formats import tally
from opsgym_domains.kit.schema import columns_but

TargetSum = TypedDict("TargetSum", {"priority": str, "sum": int})
AverageTarget = TypedDict("AverageTarget", {"priority": Priority, "avg_target_mins": float})


@tool(shows=columns_but(SlaDefinition, "sys_updated_on"))
async def find_sla_definitions(gym: Gym, **filters: Any) -> Sequence[SlaDefinition]:
    """List SLA definitions, optionally filtered.

    Filters are combined with AND; the name matches a part, ignoring case; all other filters match exactly. Lowest id
    first.
    """
    return await gym.list(SlaDefinition, filters)


@tool(adds=SlaDefinition)
async def add_new_sla_definition(gym: Gym, **fields: Any) -> SlaDefinition:
    """Create an SLA definition.

    Creating a definition does not start an SLA on any case: link it to a case afterwards. Returns the new definition.
    """
    return await gym.insert(SlaDefinition(**fields))


@tool(changes=SlaDefinition)
async def update_sla_definition(gym: Gym, sla_def_id: int, **fields: Any) -> SlaDefinition:
    """Update an SLA definition. Fields that are not given keep their value.

    Give at least one field (NO_FIELDS_TO_UPDATE). SLAs that already run on cases do not change. Returns the updated
    definition.
    """
    return await gym.change(SlaDefinition, sla_def_id, fields)


@tool(columns={"priority": "applies_to_priority"}, words={"priority": "Only definitions for this priority"})
async def total_sum_of_target_mins_per_priority(gym: Gym, **filters: Any) -> TargetSum:
    """Sum the target minutes of SLA definitions, active and inactive.

    Returns the priority, or `all` if none is given, and the sum.
    """
    total = await gym.measure(SlaDefinition, func.sum(SlaDefinition.target_mins), filters)
    return {"priority": filters.get("applies_to_priority", "all"), "sum": total or 0}


@tool(words={"priority_list": "Only these priorities; all if omitted or empty"})
async def average_target_mins_per_priority(gym: Gym, priority_list: Sequence[str] | None = None) -> list[AverageTarget]:
    """Calculate the average target minutes of SLA definitions by priority.

    Active and inactive definitions count. Priorities without a definition are omitted.
    """
    by = SlaDefinition.applies_to_priority
    filters = {"applies_to_priority": priority_list or []}
    return tally(AverageTarget, await gym.grouped(by, func.avg(SlaDefinition.target_mins), filters))
