"""SLA definitions: response and resolution targets for incidents of a priority."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import func

from opsgym_domains.itsm.tables import SlaDefinition
from opsgym_domains.itsm.toolbox import tool
from opsgym_domains.kit.gym import Gym

PRIORITIES: dict[str, Any] = {
    "columns": {"priority": "applies_to_priority"},
    "words": {"priority": "Priorities to include; all if omitted or empty"},
}


@tool(adds=SlaDefinition)
async def add_new_sla_definition(gym: Gym, **fields: Any) -> SlaDefinition:
    """Create an SLA definition in your own organisation.

    The name must be unique (DUPLICATE_SLA_DEFINITION_NAME). Creating a definition does not start an SLA on any
    incident: link it to an incident afterwards. Returns the new definition.
    """
    return await gym.insert(SlaDefinition(**fields))


@tool(changes=SlaDefinition)
async def update_sla_definition(gym: Gym, sla_def_id: str, **fields: Any) -> SlaDefinition:
    """Update fields of an SLA definition. Fields that are not given keep their value.

    The name must be unique (DUPLICATE_SLA_DEFINITION_NAME). An empty schedule clears it. SLAs that already run on
    incidents do not change. Refused (NO_CHANGES_DETECTED) if no value differs from the stored one. Returns the
    definition as it is now.
    """
    return await gym.change(SlaDefinition, sla_def_id, fields)


@tool()
async def find_sla_definition_by_name(gym: Gym, name: str) -> SlaDefinition:
    """Look up one SLA definition by its full name, case-sensitive.

    Returns its metric, target and priority. Refused (SLA_DEFINITION_NOT_FOUND) if no definition has this name.
    """
    return await gym.fetch_by(SlaDefinition, name=name)


@tool()
async def find_sla_definitions(gym: Gym, **filters: Any) -> Sequence[SlaDefinition]:
    """List SLA definitions, newest first, optionally filtered.

    A definition sets the target for response or resolution of incidents with a priority, in minutes (target_mins).
    Filters are combined with AND; the name matches a part, ignoring case. Empty strings and null do not filter.
    """
    return await gym.list(SlaDefinition, filters)


@tool(**PRIORITIES)
async def total_sum_of_target_mins_per_priority(gym: Gym, **filters: Any) -> dict[str, int]:
    """Sum the target minutes of all SLA definitions by priority.

    Returns the number of minutes for each priority that has definitions. Definitions without a priority are not
    counted.
    """
    return await gym.grouped(SlaDefinition.applies_to_priority, func.sum(SlaDefinition.target_mins), filters)


@tool(**PRIORITIES)
async def average_target_mins_per_priority(gym: Gym, **filters: Any) -> dict[str, float]:
    """Calculate the average target minutes of SLA definitions by priority.

    Returns minutes, rounded to two decimals, for each priority that has definitions. Definitions without a priority are
    not counted.
    """
    average = func.round(func.avg(SlaDefinition.target_mins), 2)
    return await gym.grouped(SlaDefinition.applies_to_priority, average, filters)
