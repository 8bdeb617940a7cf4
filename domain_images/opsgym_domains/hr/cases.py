"""HR cases: requests and concerns of employees, from draft to closure.

Invariant: a field holds what the caller gave for it. No status, priority, assignee or approval follows from another
field: applying rules and policy is the agent's task.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from opsgym_domains.hr.filters import having_any, refuse_no_filters
from opsgym_domains.hr.references import CRITERIA, GROUP, PERSON, SERVICE, by_names, profile_of, resolve
from opsgym_domains.hr.results import Shown, changed, shown, shown_all
from opsgym_domains.hr.tables import HrCase, HrProfile, Skill
from opsgym_domains.hr.toolbox import tool
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.filters import matching
from opsgym_domains.kit.fitting import changes
from opsgym_domains.kit.gym import Gym

NAMES = {"assigned_to": PERSON, "approver": PERSON, "assignment_group": GROUP}
FILTERS = {
    "hr_service": (SERVICE, HrCase.hr_service),
    "opened_by": (PERSON, HrCase.opened_by),
    "assigned_to": (PERSON, HrCase.assigned_to),
    "approver": (PERSON, HrCase.approver),
    "assignment_group": (GROUP, HrCase.assignment_group),
    "approval_criteria": (CRITERIA, HrCase.approval_criteria),
}
BY_NAME = {
    "opened_for": "Person whom the case is about, by first and last name",
    "assigned_to": "Assignee, by first and last name",
    "approver": "Approver, by first and last name",
    "assignment_group": "Assignment group, by its full name",
}
FILTERED_BY_NAME = BY_NAME | {
    "opened_by": "User who opened the case, by first and last name",
    "hr_service": "HR service, by its full name",
    "approval_criteria": "Criteria that say who approves the case, by their full name",
    "skills": "Include cases that require one of these skills (skill ids)",
}


# --- reading -------------------------------------------------------------------------------------------------------


@tool(row=HrCase)
async def find_hr_case_by_number(gym: Gym, number: str) -> Shown:
    """Look up one HR case by its number.

    Returns every field, with service, people, group and criteria as objects. Refused (HR_CASE_NOT_FOUND) if your
    organisation has no such case.
    """
    return await shown(gym, await gym.fetch_by(HrCase, number=number))


@tool(row=HrCase)
async def find_my_cases_to_approve(gym: Gym) -> list[Shown]:
    """List the HR cases that wait for your own approval, lowest id first.

    These are the cases whose approver is the acting user and whose request_status is requested.
    """
    queue = {"approver": gym.actor.user_id, "request_status": "requested"}
    return await shown_all(gym, await gym.list(HrCase, queue))


@tool(row=HrCase, words=FILTERED_BY_NAME)
async def list_hr_cases(
    gym: Gym, opened_for: str | None = None, skills: list[int] | None = None, limit: int = 50, **filters: Any
) -> list[Shown]:
    """List HR cases, lowest id first, optionally filtered.

    Filters are combined with AND; descriptions, work notes and account numbers match a part, ignoring case, names match
    in full. At most `limit` cases are returned: give more filters if there may be more.
    """
    conditions = await by_names(gym, filters, FILTERS, partial=False)
    if opened_for is not None:
        conditions.append(HrCase.opened_for.in_(await _profiles_named(gym, opened_for)))
    cases = having_any(await gym.list(HrCase, filters, *conditions), "skills", skills)
    return await shown_all(gym, cases[:limit])


@tool(row=HrCase, words=BY_NAME)
async def get_cases_assigned_to(gym: Gym, **filters: Any) -> list[Shown]:
    """List the HR cases that are assigned to a group or a person, lowest id first.

    Give a group, a person, or both (MISSING_FILTER otherwise); with both, only cases assigned to the person and to the
    group are returned.
    """
    refuse_no_filters(filters)
    conditions = await by_names(gym, filters, FILTERS, partial=False)
    return await shown_all(gym, await gym.all(HrCase, *conditions))


# --- writing -------------------------------------------------------------------------------------------------------


@tool(adds=HrCase, words=BY_NAME)
async def create_new_hr_case(gym: Gym, **fields: Any) -> Shown:
    """Create an HR case in your organisation; opened_by is the acting user.

    Id and number are generated. People are given by full name and must exist, the person whom the case is about must
    have an HR profile; service, criteria and skills are given by id. Returns the new case.
    """
    return await shown(gym, await gym.insert(HrCase(**await _resolved(gym, fields))))


@tool(
    changes=HrCase,
    words=BY_NAME
    | {
        "hr_case_id": "Case to update (HR case id)",
        "number": "Number of the case, to be sure that the id is right",
        "created_before": "Update the case only if it was created at or before this time (ISO 8601)",
        "created_after": "Update the case only if it was created at or after this time (ISO 8601)",
    },
)
async def update_hr_case(gym: Gym, hr_case_id: str, number: str | None = None, **fields: Any) -> Shown:
    """Update an HR case. Fields that are not given keep their value.

    Setting one field never changes another: also set request_status when you ask for an approval. References are given
    as in create_new_hr_case. The number and the times of creation must be those of the case (CASE_MISMATCH). Refused
    (NO_CHANGES_DETECTED) if no value differs from the stored one. Returns the case, and in `changes` the fields that
    changed.
    """
    expected = {name: fields.pop(name) for name in ("created_before", "created_after") if name in fields}
    given = await _resolved(gym, changes(fields))
    case = await gym.fetch(HrCase, hr_case_id)
    await _refuse_other_case(gym, case, expected | ({} if number is None else {"number": number}))
    return await changed(gym, case, given)


async def _resolved(gym: Gym, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields as the table stores them: ids of the people and groups that are named, skills as a JSON list."""
    resolved = await resolve(gym, fields, NAMES)
    if resolved.get("opened_for"):
        resolved["opened_for"] = await profile_of(gym, resolved["opened_for"], "opened_for")
    if resolved.get("skills") is not None:
        for skill in resolved["skills"]:
            await gym.fetch(Skill, skill, field="skills")
        resolved["skills"] = json.dumps(resolved["skills"])
    return resolved


async def _refuse_other_case(gym: Gym, case: HrCase, expected: Mapping[str, Any]) -> None:
    """Refuses a case that is not the expected one.

    Raises:
        ToolError: `CASE_MISMATCH`.
    """
    if await gym.first(HrCase, HrCase.hr_case_id == case.hr_case_id, *matching(HrCase, expected)) is None:
        raise ToolError(
            "CASE_MISMATCH", f"HR case {case.hr_case_id} is {case.number}, created at {case.created_at}", "hr_case_id"
        )


async def _profiles_named(gym: Gym, name: str) -> list[int]:
    filters = {"user_id": name}
    conditions = await by_names(gym, filters, {"user_id": (PERSON, HrProfile.user_id)}, partial=False)
    return [profile.hr_profile_id for profile in await gym.all(HrProfile, *conditions)]
