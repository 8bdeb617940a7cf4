"""Groups: the teams to which cases and tasks are assigned, and their members."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opsgym_domains.hr.names import refuse_odd_names
from opsgym_domains.hr.results import Shown, changed
from opsgym_domains.hr.tables import User, UserGroup, UserGroupMember
from opsgym_domains.hr.toolbox import tool
from opsgym_domains.kit.fitting import changes
from opsgym_domains.kit.gym import Gym


@tool(words={"name": "Full name of the group, case-sensitive"})
async def list_user_groups(gym: Gym, **filters: Any) -> Sequence[UserGroup]:
    """List groups of your organisation, lowest id first, optionally filtered.

    Filters are combined with AND and match exactly; without filters, every group is returned.
    """
    return await gym.list(UserGroup, filters)


@tool(words={"name": "Full name of the group, case-sensitive"})
async def find_group_by_name(gym: Gym, name: str) -> UserGroup:
    """Look up one group by its full name.

    Refused (GROUP_NOT_FOUND) if no group of your organisation has this name.
    """
    return await gym.fetch_by(UserGroup, name=name)


@tool(row=UserGroupMember)
async def list_group_members(gym: Gym, group_id: int, **filters: Any) -> Sequence[UserGroupMember]:
    """List the memberships of a group, lowest id first, optionally filtered.

    The group must exist. A membership has ids only: look up the users to get their names.
    """
    await gym.fetch(UserGroup, group_id)
    return await gym.list(UserGroupMember, {"group_id": group_id, **filters})


@tool(adds=UserGroup)
async def add_new_user_group(gym: Gym, **fields: Any) -> UserGroup:
    """Create a group without members in your organisation.

    The name must be unique (DUPLICATE_GROUP_NAME). Returns the new group.
    """
    refuse_odd_names(fields, "name")
    return await gym.insert(UserGroup(**fields))


@tool(changes=UserGroup)
async def update_user_group(gym: Gym, group_id: str, **fields: Any) -> Shown:
    """Update a group. Fields that are not given keep their value.

    The name must be unique (DUPLICATE_GROUP_NAME). Members and assigned cases do not change. Refused
    (NO_CHANGES_DETECTED) if no value differs from the stored one. Returns the group, and in `changes` the fields that
    changed.
    """
    refuse_odd_names(fields, "name")
    given = changes(fields)
    return await changed(gym, await gym.fetch(UserGroup, group_id), given)


@tool(adds=UserGroupMember)
async def add_new_group_member(gym: Gym, group_id: str, user_id: str) -> UserGroupMember:
    """Add a user to a group.

    Group and user must exist in your organisation, and the user must not be a member yet (DUPLICATE_GROUP_MEMBER).
    Returns the membership.
    """
    group, user = await gym.fetch(UserGroup, group_id), await gym.fetch(User, user_id)
    return await gym.insert(UserGroupMember(group_id=group.group_id, user_id=user.user_id))


@tool(removes=UserGroupMember)
async def remove_group_membership(gym: Gym, group_id: str, user_id: str) -> UserGroupMember:
    """Remove a user from a group.

    The user must be a member (GROUP_MEMBER_NOT_FOUND). Cases that are assigned to the user do not change. Returns the
    removed membership.
    """
    return (await gym.remove(UserGroupMember, {"group_id": group_id, "user_id": user_id}))[0]
