"""User groups to which cases are assigned, and their members."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

from opsgym_domains.csm.tables import UserGroup, UserGroupMember
from opsgym_domains.csm.toolbox import tool
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym
from opsgym_domains.kit.result_formats import Deleted
from opsgym_domains.kit.schema import columns_but

Membership = TypedDict("Membership", {"exists": bool, "member_id": int | None})


@tool(shows=columns_but(UserGroup, "sys_created_on", "sys_updated_on"), words={"name": "Full name, case-sensitive"})
async def find_user_group(gym: Gym, name: str) -> UserGroup | None:
    """Look up a user group by its exact name.

    Returns an empty object if there is no match.
    """
    return await gym.find(UserGroup, name=name)


@tool(shows=columns_but(UserGroup, "sys_updated_on"))
async def list_user_groups(gym: Gym, **filters: Any) -> Sequence[UserGroup]:
    """List user groups, optionally filtered.

    Filters are combined with AND; the name matches a part, ignoring case; all other filters match exactly. Lowest id
    first.
    """
    return await gym.list(UserGroup, filters)


@tool(adds=UserGroup)
async def add_new_user_group(gym: Gym, **fields: Any) -> UserGroup:
    """Create a user group without members.

    The name must be unique (DUPLICATE_GROUP_NAME). Returns the new group.
    """
    return await gym.insert(UserGroup(**fields))


@tool(changes=UserGroup)
async def update_user_group(gym: Gym, group_id: int, **fields: Any) -> UserGroup:
    """Update a user group. Fields that are not given keep their value.

    Give at least one field (NO_FIELDS_TO_UPDATE). Members and assigned cases do not change. Returns the updated group.
    """
    return await gym.change(UserGroup, group_id, fields)


# --- members ---------------------------------------------------------------------------------------------------------


@tool()
async def check_user_membership(gym: Gym, user_id: int, group_id: int) -> Membership:
    """Check whether a user is a member of a group.

    Returns `exists`, and the membership's `member_id` or null. For an unknown user or group `exists` is false.
    """
    membership = await gym.find(UserGroupMember, user_id=user_id, group_id=group_id)
    return {"exists": membership is not None, "member_id": None if membership is None else membership.member_id}


@tool()
async def list_group_members(gym: Gym, **filters: Any) -> Sequence[UserGroupMember]:
    """List memberships, optionally filtered.

    Filters are combined with AND and match exactly. Lowest id first.
    """
    return await gym.list(UserGroupMember, filters)


@tool(adds=UserGroupMember)
async def add_new_group_member(gym: Gym, **fields: Any) -> UserGroupMember:
    """Add a user to a group.

    User and group must exist, and the user must not be a member yet (DUPLICATE_GROUP_MEMBER). Returns the membership.
    """
    return await gym.insert(UserGroupMember(**fields))


@tool(
    removes=UserGroupMember,
    words={
        "member_id": "Membership id; takes precedence over group_id and user_id",
        "group_id": "Group id; requires user_id",
        "user_id": "User id; requires group_id",
    },
)
async def remove_group_membership(gym: Gym, **keys: Any) -> Deleted:
    """Remove a user from a group.

    Identify the membership by member_id, or by group_id and user_id together (INVALID_IDENTIFIER otherwise). Cases that
    are assigned to the user do not change. Returns the number of removed memberships: 1, or 0 if the membership does
    not exist.
    """
    if "member_id" in keys:
        keys = {"member_id": keys["member_id"]}
    elif not {"group_id", "user_id"} <= set(keys):
        raise ToolError("INVALID_IDENTIFIER", "give member_id, or group_id and user_id together")
    return {"deleted": len(await gym.remove(UserGroupMember, keys))}
