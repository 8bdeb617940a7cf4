"""Skills, and which users have them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opsgym_domains.hr.filters import refuse_no_filters
from opsgym_domains.hr.results import Shown, changed, referred
from opsgym_domains.hr.tables import Skill, User, UserSkill
from opsgym_domains.hr.toolbox import tool
from opsgym_domains.kit.fitting import changes
from opsgym_domains.kit.gym import Gym
from opsgym_domains.kit.schema import as_dict


@tool(row=Skill)
async def list_skills(gym: Gym, **filters: Any) -> Sequence[Skill]:
    """List skills that match all filters, lowest id first.

    Give at least one filter (MISSING_FILTER).
    """
    refuse_no_filters(filters)
    return await gym.list(Skill, filters)


@tool(row=UserSkill)
async def list_user_skills(gym: Gym, **filters: Any) -> list[Shown]:
    """List which users have which skills, lowest id first, with the names of both.

    Give at least one filter (MISSING_FILTER); filters are combined with AND.
    """
    refuse_no_filters(filters)
    return await _named(gym, await gym.list(UserSkill, filters))


@tool(adds=Skill)
async def add_new_skill(gym: Gym, **fields: Any) -> Skill:
    """Add a skill to your organisation.

    The name must be unique (DUPLICATE_SKILL_NAME). Returns the new skill.
    """
    return await gym.insert(Skill(**fields))


@tool(changes=Skill)
async def update_skill(gym: Gym, skill_id: str, **fields: Any) -> Shown:
    """Update a skill. Fields that are not given keep their value.

    The name must be unique (DUPLICATE_SKILL_NAME). Refused (NO_CHANGES_DETECTED) if no value differs from the stored
    one. Returns the skill, and in `changes` the fields that changed.
    """
    given = changes(fields)
    return await changed(gym, await gym.fetch(Skill, skill_id), given)


@tool(adds=UserSkill)
async def add_new_skill_to_user(gym: Gym, **fields: Any) -> Shown:
    """Record that a user has a skill.

    Skill and user must exist in your organisation, and the user must not have the skill yet (DUPLICATE_USER_SKILL).
    Returns the record with the names of both.
    """
    (recorded,) = await _named(gym, [await gym.insert(UserSkill(**fields))])
    return recorded


@tool(removes=UserSkill)
async def remove_user_skills(gym: Gym, user_skill_id: str) -> Shown:
    """Record that a user no longer has a skill. The skill itself stays.

    Returns the removed record with the names of user and skill.
    """
    user_skill = await gym.fetch(UserSkill, user_skill_id)
    (removed,) = await _named(gym, [user_skill])
    await gym.delete([user_skill])
    return removed


async def _named(gym: Gym, user_skills: Sequence[UserSkill]) -> list[Shown]:
    """Skills of users with the names of both; without names that the acting user does not see."""
    skills, users = await referred(gym, user_skills, "skill", Skill), await referred(gym, user_skills, "user", User)
    return [_with_names(row, skills.get(row.skill), users.get(row.user)) for row in user_skills]


def _with_names(user_skill: UserSkill, skill: Shown | None, user: Shown | None) -> Shown:
    names = {} if skill is None else {"skill_name": skill["name"]}
    if user is not None:
        names |= {f"user_{name}": user[name] for name in ("email", "first_name", "last_name")}
    return as_dict(user_skill) | names
