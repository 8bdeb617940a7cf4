"""User groups: the teams to which records are assigned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opsgym_domains.itsm.tables import User, UserGroup, UserGroupMember
from opsgym_domains.itsm.toolbox import tool
from opsgym_domains.kit.gym import Gym
from opsgym_domains.kit.result_formats import Counted, deleted


@tool()
async def list_user_groups(gym: Gym, **filters: Any) -> Sequence[UserGroup]:
    """List groups, newest first, optionally filtered.

    Filters are combined with AND; without filters, every group is returned. Returns type, manager and description of
    each group.
    """
    return await gym.list(UserGroup, filters)


@tool()
async def find_group_by_name(gym: Gym, name: str) -> UserGroup:
    """Look up one group by its full name, case-sensitive.

    Returns its id, type, manager and whether it is active. Refused (GROUP_NOT_FOUND) if no group has this name: use
    list_user_groups with a part of the name if in doubt.
    """
    return await gym.fetch_by(UserGroup, name=name)


@tool(adds=UserGroup)
async def add_new_user_group(gym: Gym, **fields: Any) -> UserGroup:
    """Create a group in your own organisation.

    Name and email must be unique (DUPLICATE_GROUP_NAME, DUPLICATE_GROUP_EMAIL). The manager must be an existing user
    and does not automatically become a member: add members afterwards. Returns the new group.
    """
    return await gym.insert(UserGroup(**fields))


@tool(changes=UserGroup)
async def update_user_group(gym: Gym, group_id: str, **fields: Any) -> UserGroup:
    """Rename a group, change its type, or activate or deactivate it.

    Fields that are not given keep their value. The name must be unique (DUPLICATE_GROUP_NAME). Refused
    (NO_CHANGES_DETECTED) if no value differs from the stored one. Returns the updated group.
    """
    return await gym.change(UserGroup, group_id, fields)


@tool(adds=UserGroupMember)
async def add_new_group_member(gym: Gym, group_id: str, user_id: str) -> UserGroupMember:
    """Add a user to a group.

    Group and user must exist, and the user must not be a member yet (DUPLICATE_GROUP_MEMBER). Returns the membership.
    """
    return await gym.insert(UserGroupMember(group_id=group_id, user_id=user_id))


@tool(
    removes=UserGroupMember,
    words={"member_id": "Membership id; if given, it must belong to this user and this group"},
)
async def remove_group_membership(gym: Gym, group_id: str, user_id: str, **keys: Any) -> Counted[UserGroupMember]:
    """Remove a user from a group.

    The user must be a member (GROUP_MEMBER_NOT_FOUND). Records that are assigned to the user do not change. Returns the
    removed membership.
    """
    await gym.fetch(UserGroup, group_id)
    await gym.fetch(User, user_id)
    removed = await gym.remove(UserGroupMember, {"group_id": group_id, "user_id": user_id, **keys})
    return deleted("deleted_members", removed)


@tool()
async def list_group_members(gym: Gym, **filters: Any) -> Sequence[UserGroupMember]:
    """List group memberships, newest first, optionally filtered.

    Give group_id to list the members of a group, user_id to list the groups of a user. A membership contains only ids:
    look up the users to get their names.
    """
    return await gym.list(UserGroupMember, filters)
