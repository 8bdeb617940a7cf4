"""Checklists of tasks: each row is an item."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opsgym_domains.hr.results import Shown, changed
from opsgym_domains.hr.tables import Checklist
from opsgym_domains.hr.toolbox import tool
from opsgym_domains.kit.fitting import changes
from opsgym_domains.kit.gym import Gym


@tool()
async def list_checklists(gym: Gym, **filters: Any) -> Sequence[Checklist]:
    """List checklist items, lowest id first, optionally filtered.

    Filters are combined with AND; give case_task_id to get the checklist of a task.
    """
    return await gym.list(Checklist, filters)


@tool(adds=Checklist)
async def create_checklist(gym: Gym, **fields: Any) -> Checklist:
    """Add an item to the checklist of a task.

    The task must exist; its type is not checked. Returns the new item.
    """
    return await gym.insert(Checklist(**fields))


@tool(changes=Checklist)
async def update_checklist(gym: Gym, checklist_id: int, **fields: Any) -> Shown:
    """Update a checklist item: tick it, reword it, or move it to another task. Other fields keep their value.

    Ticking the last item does not close the task. Refused (NO_CHANGES_DETECTED) if no value differs from the stored
    one. Returns the item, and in `changes` the fields that changed.
    """
    given = changes(fields)
    return await changed(gym, await gym.fetch(Checklist, checklist_id), given)
