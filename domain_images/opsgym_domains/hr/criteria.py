"""HR criteria: who may see the cases of a service, and who approves them."""

from __future__ import annotations

import json
from typing import Any

from opsgym_domains.hr.filters import having_any, numbers_in, refuse_no_filters
from opsgym_domains.hr.results import Shown, changed, shown, shown_all
from opsgym_domains.hr.tables import HrCriteria, User
from opsgym_domains.hr.toolbox import tool
from opsgym_domains.kit.fitting import changes
from opsgym_domains.kit.gym import Gym

WORDS = {
    "users": "Users that the criteria name (user ids, separated by commas)",
    "user_group": "Group that the criteria name (group id)",
}


@tool(row=HrCriteria, words=WORDS | {"users": "Include criteria that name one of these users (user ids, with commas)"})
async def list_hr_criteria(gym: Gym, users: str | None = None, **filters: Any) -> list[Shown]:
    """List HR criteria that match all filters, lowest id first, each with its group and users.

    Give at least one filter (MISSING_FILTER).
    """
    refuse_no_filters({**filters, **({} if users is None else {"users": users})})
    user_ids = None if users is None else numbers_in(users, "users")
    return await shown_all(gym, having_any(await gym.list(HrCriteria, filters), "users", user_ids))


@tool(adds=HrCriteria, words=WORDS)
async def register_hr_criteria(gym: Gym, **fields: Any) -> Shown:
    """Create criteria in your organisation.

    The name must be unique (DUPLICATE_CRITERIA_NAME); group and users must exist. Returns the new criteria.
    """
    return await shown(gym, await gym.insert(HrCriteria(**await _with_users(gym, fields))))


@tool(changes=HrCriteria, words=WORDS)
async def update_hr_criteria(gym: Gym, hr_criteria_id: str, **fields: Any) -> Shown:
    """Update criteria. Fields that are not given keep their value; users replaces the whole list.

    The name must be unique (DUPLICATE_CRITERIA_NAME); group and users must exist. Refused (NO_CHANGES_DETECTED) if no
    value differs from the stored one. Returns the criteria, and in `changes` the fields that changed.
    """
    given = await _with_users(gym, changes(fields))
    return await changed(gym, await gym.fetch(HrCriteria, hr_criteria_id), given)


async def _with_users(gym: Gym, fields: dict[str, Any]) -> dict[str, Any]:
    """Fields with the users as a JSON list of existing ones."""
    if not fields.get("users"):
        return fields
    users = numbers_in(fields["users"], "users")
    for user_id in users:
        await gym.fetch(User, user_id, field="users")
    return fields | {"users": json.dumps(users)}
