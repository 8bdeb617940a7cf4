"""Cases: issues that customers report, from creation to closure.

Invariant: a field holds what the caller gave for it. Setting the state never sets closed_on or reopen_count, and no
priority is derived: as on the published servers, applying the policy is the agent's task.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypedDict

from sqlalchemy import func

from opsgym_domains.csm.enums import CaseState, Priority
from opsgym_domains.csm.tables import CustomerCase, User
from opsgym_domains.csm.toolbox import tool
from opsgym_domains.kit.gym import Gym
from opsgym_domains.kit.result_formats import keyed, tally
from opsgym_domains.kit.schema import columns_but

ASSIGNMENT = ("assignment_group_id", "assigned_to")
IN_SEARCH = (*columns_but(CustomerCase, *ASSIGNMENT), *ASSIGNMENT)
BRIEF = columns_but(CustomerCase, "escalation", "escalation_reason", "reopen_count", "sys_updated_on", "closed_on")


Average = TypedDict("Average", {"avg_reopen_count": float})
GroupAverage = TypedDict("GroupAverage", {"assignment_group_id": int, "avg_reopen_count": float})
GroupCount = TypedDict("GroupCount", {"assignment_group_id": int, "count": int})
StateCount = TypedDict("StateCount", {"state": CaseState, "count": int})
PriorityCount = TypedDict("PriorityCount", {"priority": Priority, "count": int})
ChannelCounts = TypedDict(
    "ChannelCounts",
    {"web": int, "email": int, "phone": int, "chat": int, "social": int, "alert": int, "community": int},
    total=False,
)
UserAssigned = TypedDict(
    "UserAssigned", {"assignment_status": str, "assigned_to": int | None, "assigned_at": datetime | None}
)
GroupAssigned = TypedDict(
    "GroupAssigned", {"status": str, "assignment_group_id": int | None, "set_at": datetime | None}
)


# --- reading -------------------------------------------------------------------------------------------------------


@tool(shows=BRIEF)
async def get_cases_assigned_to(gym: Gym, **filters: Any) -> Sequence[CustomerCase]:
    """List the cases that are assigned to a group or a user, lowest id first.

    Give a group, a user, or both; with both, only cases assigned to the user and to the group are returned, and with
    neither, every case. Escalation, reopen count and closure are not included: search_cases returns them.
    """
    return await gym.list(CustomerCase, filters)


@tool(shows=IN_SEARCH)
async def search_cases(gym: Gym, **filters: Any) -> Sequence[CustomerCase]:
    """List cases, lowest id first, optionally filtered.

    Filters are combined with AND; the short description matches a part, ignoring case; all other filters match exactly.
    Without filters, every case is returned. The list is empty if no case matches.
    """
    return await gym.list(CustomerCase, filters)


# --- counts --------------------------------------------------------------------------------------------------------


@tool(row=CustomerCase)
async def get_average_case_reopen_count(gym: Gym, **filters: Any) -> Average:
    """Calculate the average reopen count of cases, optionally filtered.

    Returns avg_reopen_count; 0 if no case matches.
    """
    return {"avg_reopen_count": await _average_reopen_count(gym, filters)}


@tool(row=CustomerCase)
async def avg_reopen_count_for_assignment_group(gym: Gym, assignment_group_id: int, **filters: Any) -> GroupAverage:
    """Calculate the average reopen count of a group's cases, optionally filtered.

    Returns the group id and avg_reopen_count; 0 if no case matches.
    """
    average = await _average_reopen_count(gym, {"assignment_group_id": assignment_group_id, **filters})
    return {"assignment_group_id": assignment_group_id, "avg_reopen_count": average}


@tool(row=CustomerCase)
async def count_case_for_assignment_group(gym: Gym, assignment_group_id: int, **filters: Any) -> GroupCount:
    """Count the cases that are assigned to a group, optionally filtered.

    Returns the group id and the count; 0 if no case matches.
    """
    count = await gym.count(CustomerCase, {"assignment_group_id": assignment_group_id, **filters})
    return {"assignment_group_id": assignment_group_id, "count": count}


@tool(row=CustomerCase)
async def count_case_by_state(gym: Gym, **filters: Any) -> list[StateCount]:
    """Count cases by state, optionally filtered.

    Returns a count for each state that occurs.
    """
    return tally(StateCount, await gym.count_by(CustomerCase.state, [], filters))


@tool(row=CustomerCase)
async def get_count_of_cases_priority_wise(gym: Gym, priority: str | None = None) -> list[PriorityCount]:
    """Count cases by priority.

    Returns a count for each priority that occurs, or for the requested priority, including 0.
    """
    return tally(PriorityCount, await gym.count_by(CustomerCase.priority, [priority] if priority else []))


@tool(row=CustomerCase)
async def get_channel_wise_case_count(gym: Gym, channel: str | None = None) -> ChannelCounts:
    """Count cases by channel.

    Returns one object with a count for each channel that occurs, or for the requested channel, including 0.
    """
    return keyed(ChannelCounts, await gym.count_by(CustomerCase.channel, [channel] if channel else []))


# --- writing -------------------------------------------------------------------------------------------------------


@tool(adds=CustomerCase)
async def create_new_case(gym: Gym, **fields: Any) -> CustomerCase:
    """Create a case for an account.

    Id and number are generated. The case is not escalated and not assigned unless you give these fields. All referenced
    records (account, contact, products, group, user) must exist. The tool does not check that contact and installed
    product belong to the account: check this first. Returns the new case.
    """
    return await gym.insert(CustomerCase(**fields))


@tool(changes=CustomerCase)
async def update_case(gym: Gym, case_id: int, **fields: Any) -> CustomerCase:
    """Update fields of a case. Fields that are not given keep their value.

    Setting one field never changes another: also give closed_on when you close a case, reopen_count when you reopen it,
    and escalation_reason when you escalate it. An empty closed_on clears it. All referenced records must exist. Returns
    the updated case.
    """
    return await gym.change(CustomerCase, case_id, fields)


@tool(changes=CustomerCase, words={"assigned_to_user_id": "Assignee (user id)"})
async def assign_case_to_user(gym: Gym, case_id: int, assigned_to_user_id: int) -> UserAssigned:
    """Assign a case to a user. The assignment group does not change.

    Case and user must exist. The tool does not check whether the user is an agent or a member of the case's group.
    Returns assignment_status, the user id and the time of the assignment.
    """
    await gym.fetch(User, assigned_to_user_id, field="assigned_to_user_id")
    case = await gym.change(CustomerCase, case_id, {"assigned_to": assigned_to_user_id})
    return {"assignment_status": "success", "assigned_to": case.assigned_to, "assigned_at": case.sys_updated_on}


@tool(changes=CustomerCase)
async def set_case_assignment_group(gym: Gym, case_id: int, assignment_group_id: int) -> GroupAssigned:
    """Assign a case to a group. The assignee does not change.

    Case and group must exist. Returns status, the group id and the time of the assignment.
    """
    case = await gym.change(CustomerCase, case_id, {"assignment_group_id": assignment_group_id})
    return {"status": "success", "assignment_group_id": case.assignment_group_id, "set_at": case.sys_updated_on}


async def _average_reopen_count(gym: Gym, filters: Mapping[str, Any]) -> float:
    average = func.avg(CustomerCase.reopen_count)
    return float(await gym.measure(CustomerCase, average, filters) or 0)
