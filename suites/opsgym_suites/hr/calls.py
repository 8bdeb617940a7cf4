"""Tool calls of HR tasks.

Invariant: ids come from rows, so no task states an id.
"""

from __future__ import annotations

from typing import Any

from opsgym_api.tasks.task import ToolCall
from opsgym_domains.hr.tables import (
    Checklist,
    HrCase,
    HrCaseTask,
    HrService,
    TopicCategory,
    TopicDetail,
    User,
    UserGroup,
)
from opsgym_suites.hr.seeds.world import World
from opsgym_suites.kit.drafts import call

# --- looking up ------------------------------------------------------------------------------------------------------


def find_user(user: User) -> ToolCall:
    """Looks up a user by name."""
    return call("get_user_using_name", first_name=user.first_name, last_name=user.last_name)


def read_user(user: User) -> ToolCall:
    """Looks up a user by id, for instance a member of a group."""
    return call("get_user", user_id=str(user.user_id))


def read_profile(user: User) -> ToolCall:
    """Looks up the HR profile of a user."""
    return call("get_users_hr_profile", user_id=str(user.user_id))


def read_subject(case: HrCase) -> ToolCall:
    """Looks up the HR profile of the person whom a case is about."""
    return call("get_hr_profile_by_id", hr_profile_id=str(case.opened_for))


def find_case(case: HrCase) -> ToolCall:
    """Looks up a case by number."""
    return call("find_hr_case_by_number", number=case.number)


def find_team(team: UserGroup) -> ToolCall:
    """Looks up a group by name."""
    return call("find_group_by_name", name=team.name)


def members_of(team: UserGroup) -> ToolCall:
    """Lists the memberships of a group."""
    return call("list_group_members", group_id=team.group_id)


def find_service(service: HrService) -> ToolCall:
    """Looks up a service by name."""
    return call("get_hr_service_by_name", service_name=service.service_name)


def find_centre(world: World, service: HrService) -> ToolCall:
    """Lists the category of a service's topic, which names the centre of excellence."""
    topic = world.one(TopicDetail, topic_detail_id=service.topic_detail)
    category = world.one(TopicCategory, topic_category_id=topic.topic_category)
    return call("get_topic_categories", name=category.name)


def skills_of(user: User) -> ToolCall:
    """Lists the skills of a user."""
    return call("list_user_skills", user=str(user.user_id))


def rules_for(priority: str) -> ToolCall:
    """Lists the active assignment rules with a priority."""
    return call("list_assignment_rules", based_on_priority=priority, active=True)


def find_rule(name: str) -> ToolCall:
    """Looks up an assignment rule by name."""
    return call("list_assignment_rules", name=name)


def list_cases(**filters: Any) -> ToolCall:
    """Lists the cases that match filters, for instance those of a service."""
    return call("list_hr_cases", **filters)


def tasks_of(case: HrCase) -> ToolCall:
    """Lists the tasks of a case."""
    return call("list_hr_case_tasks", parent_case=str(case.hr_case_id))


def items_of(task: HrCaseTask) -> ToolCall:
    """Lists the items of the checklist of a task."""
    return call("list_checklists", case_task_id=task.hr_case_task_id)


def find_criteria(name: str) -> ToolCall:
    """Looks up criteria by name."""
    return call("list_hr_criteria", name=name)


# --- writing ---------------------------------------------------------------------------------------------------------


def update_case(case: HrCase | int, **fields: Any) -> ToolCall:
    """Updates a case."""
    return call("update_hr_case", hr_case_id=str(_case_id(case)), **fields)


def update_task(task: HrCaseTask, **fields: Any) -> ToolCall:
    """Updates a task."""
    return call("update_hr_case_task", hr_case_task_id=str(task.hr_case_task_id), **fields)


def tick(item: Checklist) -> ToolCall:
    """Ticks an item of a checklist."""
    return call("update_checklist", checklist_id=item.checklist_id, checked=True)


def join_team(user: User | int, team: UserGroup) -> ToolCall:
    """Puts a user into a group."""
    user_id = user if isinstance(user, int) else user.user_id
    return call("add_new_group_member", group_id=str(team.group_id), user_id=str(user_id))


def _case_id(case: HrCase | int) -> int:
    return case if isinstance(case, int) else case.hr_case_id


# --- assignment ------------------------------------------------------------------------------------------------------


# --- texts -----------------------------------------------------------------------------------------------------------
