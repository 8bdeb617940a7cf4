"""HR case tasks: the steps of a case, and work of their own."""

from __future__ import annotations

from typing import Any

from opsgym_domains.hr.numbering import next_number
from opsgym_domains.hr.references import GROUP, PERSON, SERVICE, by_names, resolve
from opsgym_domains.hr.results import Shown, changed, shown, shown_all
from opsgym_domains.hr.tables import HrCaseTask
from opsgym_domains.hr.toolbox import tool
from opsgym_domains.kit.fitting import changes
from opsgym_domains.kit.gym import Gym

NAMES = {"assigned_to": PERSON, "assignment_group": GROUP, "hr_service": SERVICE}
FILTERS = {
    "assigned_to": (PERSON, HrCaseTask.assigned_to),
    "assignment_group": (GROUP, HrCaseTask.assignment_group),
    "hr_service": (SERVICE, HrCaseTask.hr_service),
}
WORDS = {
    "assigned_to": "Assignee, by first and last name",
    "assignment_group": "Assignment group, by its full name",
    "hr_service": "HR service, by its full name",
}


@tool(row=HrCaseTask, words=WORDS)
async def list_hr_case_tasks(gym: Gym, **filters: Any) -> list[Shown]:
    """List HR case tasks, lowest id first, optionally filtered.

    Filters are combined with AND; descriptions, work notes and addresses match a part, ignoring case; names match in
    full. Each task is returned with its people, group, service and case.
    """
    conditions = await by_names(gym, filters, FILTERS, partial=False)
    return await shown_all(gym, await gym.list(HrCaseTask, filters, *conditions))


@tool(adds=HrCaseTask, words=WORDS)
async def create_hr_case_task(gym: Gym, **fields: Any) -> Shown:
    """Create an HR case task in your organisation.

    Id and number are generated; assignee, group, service and case must exist. A checklist or a survey of the task is
    created separately. Returns the new task.
    """
    number = await next_number(gym, HrCaseTask.number, f"TASK-{gym.now():%Y%m%d}-", 4)
    return await shown(gym, await gym.insert(HrCaseTask(**await resolve(gym, fields, NAMES), number=number)))


@tool(changes=HrCaseTask, words=WORDS)
async def update_hr_case_task(gym: Gym, hr_case_task_id: str, **fields: Any) -> Shown:
    """Update an HR case task. Fields that are not given keep their value.

    The number must be unique (DUPLICATE_TASK_NUMBER); assignee, group, service and case must exist. Closing the last
    task does not close the case. Refused (NO_CHANGES_DETECTED) if no value differs from the stored one. Returns the
    task, and in `changes` the fields that changed.
    """
    given = await resolve(gym, changes(fields), NAMES)
    return await changed(gym, await gym.fetch(HrCaseTask, hr_case_task_id), given)
