"""Counts of cases and tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opsgym_domains.hr.tables import HrCase, HrCaseTask, UserGroup
from opsgym_domains.hr.toolbox import tool
from opsgym_domains.kit.gym import Gym

GROUP = {"assignment_group_id": "Assignment group (group id)"}


@tool(row=HrCase)
async def get_count_of_case_priority_wise(gym: Gym, priority_list: Sequence[str] = ()) -> dict[str, int]:
    """Count HR cases by priority.

    Returns a count for each priority that occurs, or for each requested priority, including 0.
    """
    return await gym.count_by(HrCase.priority, priority_list)


@tool(row=HrCase, words=GROUP, columns={"statuses": "status", "priority_list": "priority"})
async def count_case_for_assignment_group(gym: Gym, assignment_group_id: int, **filters: Any) -> dict[str, int]:
    """Count the HR cases that are assigned to a group, optionally filtered.

    The group must exist; filters are combined with AND. Returns the group id and the count.
    """
    await gym.fetch(UserGroup, assignment_group_id, field="assignment_group_id")
    count = await gym.count(HrCase, {"assignment_group": assignment_group_id, **filters})
    return {"assignment_group_id": assignment_group_id, "count": count}


@tool(row=HrCaseTask, words=GROUP, columns={"statuses": "status"})
async def count_case_task_for_assignment_group(gym: Gym, assignment_group_id: int, **filters: Any) -> dict[str, int]:
    """Count the HR case tasks that are assigned to a group, optionally filtered.

    The group must exist. Returns the group id and the count.
    """
    await gym.fetch(UserGroup, assignment_group_id, field="assignment_group_id")
    count = await gym.count(HrCaseTask, {"assignment_group": assignment_group_id, **filters})
    return {"assignment_group_id": assignment_group_id, "count": count}
