"""Members of teams and their roles."""

from __future__ import annotations

from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym
from opsgym_domains.teams.graph import MEMBER_TYPE, Shown, picked, sieved
from opsgym_domains.teams.memberships import (
    Members,
    members_of,
    new_member,
    one_role,
    refuse_member,
    shown_member,
    store_members,
)
from opsgym_domains.teams.odata import parse_select
from opsgym_domains.teams.people import bound_user
from opsgym_domains.teams.tables import Team
from opsgym_domains.teams.toolbox import tool

PROPERTIES = ("id", "roles", "displayName", "userId", "email", "tenantId", "visibleHistoryStartDateTime")


@tool(row=Team)
async def list_team_members(
    gym: Gym,
    team_id: str,
    filter: str | None = None,  # noqa: A002 - published name
    select: str | None = None,
    top: int = 50,
) -> Shown:
    """List the members of a team with their roles.

    In the order in which they joined. @odata.count is the number of all members that the filter meets. Refused for an
    unknown team (TEAM_NOT_FOUND).
    """
    names = parse_select(select, PROPERTIES)
    team = await gym.fetch(Team, team_id, field="teamId")
    members = [{name: member.get(name) for name in PROPERTIES} for member in members_of(team)]
    met = sieved(members, filter, PROPERTIES)
    return {"@odata.count": len(met), "value": [picked(member, names) for member in met[:top]]}


@tool(changes=Team)
async def add_team_member(
    gym: Gym,
    team_id: str,
    user_odata_bind: str,
    roles: list[str] | None = None,
    odata_type: str | None = None,
    visible_history_start_date_time: str | None = None,
) -> Shown:
    """Add a user of your organisation to a team.

    Returns the new member. Refused for an unknown team or user (TEAM_NOT_FOUND, USER_NOT_FOUND) and for a user who is
    in the team already (DUPLICATE_MEMBER).
    """
    del odata_type  # every member is a user of the directory
    team, user = await gym.fetch(Team, team_id, field="teamId"), await bound_user(gym, user_odata_bind)
    members = members_of(team)
    refuse_member(members, user)
    member = await new_member(gym, user, roles or (), visible_history_start_date_time)
    await store_members(gym, team, [*members, member])
    return shown_member(member)


@tool(changes=Team)
async def add_team_members_in_bulk(gym: Gym, team_id: str, values: list[Shown]) -> Shown:
    """Add several users to a team at once.

    Returns what came of each: a user who cannot be added has an error, and the others are added all the same. Refused
    if no user can be added (NO_MEMBER_ADDED) and for an unknown team (TEAM_NOT_FOUND).
    """
    team = await gym.fetch(Team, team_id, field="teamId")
    members = members_of(team)
    results = [await _add(gym, members, one) for one in values]
    if not any(result["error"] is None for result in results):
        first = results[0]["error"]
        raise ToolError("NO_MEMBER_ADDED", f"No member was added. First problem: {first['message']}", "values")
    await store_members(gym, team, members)
    return {"value": results}


async def _add(gym: Gym, members: Members, one: Shown) -> Shown:
    """Appends a member to a list, or says why not."""
    user_id: str | None = None
    error: Shown | None = None
    try:
        user = await bound_user(gym, one["user_odata_bind"], "values")
        user_id = user.user_id
        refuse_member(members, user)
        history = one.get("visibleHistoryStartDateTime")
        members.append(await new_member(gym, user, one.get("roles") or (), history))
    except ToolError as refused:
        error = {"code": refused.code, "message": refused.message}
    return {"@odata.type": MEMBER_TYPE, "userId": user_id, "error": error}


@tool(changes=Team)
async def update_team_member(gym: Gym, team_id: str, membership_id: str, roles: list[str]) -> Shown:
    """Change the role of a team's member.

    Returns the member. Refused for an unknown team or member (TEAM_NOT_FOUND, MEMBER_NOT_FOUND).
    """
    team = await gym.fetch(Team, team_id, field="teamId")
    members = members_of(team)
    member = _member(members, membership_id)
    member["roles"] = one_role(roles)
    await store_members(gym, team, members)
    return shown_member(member)


@tool(changes=Team)
async def remove_team_member(gym: Gym, team_id: str, membership_id: str) -> None:
    """Remove a member from a team.

    The member's messages and memberships of private channels stay. Refused for an unknown team or member
    (TEAM_NOT_FOUND, MEMBER_NOT_FOUND).
    """
    team = await gym.fetch(Team, team_id, field="teamId")
    members = members_of(team)
    members.remove(_member(members, membership_id))
    await store_members(gym, team, members)


def _member(members: Members, membership_id: str) -> Shown:
    for member in members:
        if member.get("id") == membership_id:
            return member
    raise ToolError("MEMBER_NOT_FOUND", f"No member of the team has the id '{membership_id}'.", "membershipId")
