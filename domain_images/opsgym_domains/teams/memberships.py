"""Members of a team, which its row holds as a JSON list.

Invariant: a list names each user once, and each member has exactly one of the roles owner, member and guest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from opsgym_domains.kit.errors import ToolError, short
from opsgym_domains.kit.fitting import parse_time
from opsgym_domains.kit.gym import Gym
from opsgym_domains.teams.graph import MEMBER_TYPE, Shown, dumped, loaded, shown_time
from opsgym_domains.teams.people import bound_user
from opsgym_domains.teams.tables import Team, User

Members = list[Shown]


def members_of(team: Team) -> Members:
    """Members of a team."""
    members = loaded(team.members, [])
    return [member for member in members if isinstance(member, dict)] if isinstance(members, list) else []


def owners_of(team: Team) -> list[str]:
    """Ids of a team's owners."""
    return [member["userId"] for member in members_of(team) if "owner" in (member.get("roles") or ())]


def is_in(team: Team, user_id: Any) -> bool:
    """Whether a user is a member of a team."""
    return any(member.get("userId") == user_id for member in members_of(team))


async def new_member(gym: Gym, user: User, roles: Sequence[str], history: str | None) -> Shown:
    """A member to add to a team.

    Args:
        gym: The call.
        user: The user.
        roles: The user's role; empty for a member.
        history: Time from which on the member sees messages; None for all.

    Raises:
        ToolError: `INVALID_ROLES`, `INVALID_DATE`.
    """
    since = None if history is None else shown_time(parse_time(history, "visibleHistoryStartDateTime"))
    return {
        "@odata.type": MEMBER_TYPE,
        "id": f"membership_{await new_hex(gym)}",
        "roles": one_role(roles),
        "displayName": user.display_name,
        "userId": user.user_id,
        "email": user.mail,
        "tenantId": None,
        "visibleHistoryStartDateTime": since,
    }


def one_role(roles: Sequence[str]) -> list[str]:
    """The one role of a member: `member` if none is given.

    Raises:
        ToolError: `INVALID_ROLES` for more than one role.
    """
    if len(set(roles)) > 1:
        raise ToolError(
            "INVALID_ROLES", f"Invalid roles {short(list(roles))}; give one of owner, member, guest.", "roles"
        )
    return list(roles[:1]) or ["member"]


async def new_hex(gym: Gym) -> str:
    """32 hexadecimal digits, counted like all identifiers."""
    return str(await gym.next_id(User)).replace("-", "")


async def new_members(gym: Gym, given: Sequence[Mapping[str, Any]]) -> Members:
    """Members that a call names, each user once.

    Raises:
        ToolError: `USER_NOT_FOUND`, `DUPLICATE_MEMBER`, or as for `new_member`.
    """
    members: Members = []
    for one in given:
        user = await bound_user(gym, one["user_odata_bind"])
        refuse_member(members, user)
        members.append(await new_member(gym, user, one.get("roles") or (), one.get("visibleHistoryStartDateTime")))
    return members


def refuse_member(members: Members, user: User) -> None:
    """Refuses a user who is a member already.

    Raises:
        ToolError: `DUPLICATE_MEMBER`.
    """
    if any(member.get("userId") == user.user_id for member in members):
        raise ToolError("DUPLICATE_MEMBER", f"User {user.user_id} is already a member.", "user_odata_bind")


async def store_members(gym: Gym, team: Team, members: Members) -> None:
    """Replaces the members of a team."""
    await gym.update(team, {"members": dumped(members)})


def shown_member(member: Shown) -> Shown:
    """A member as the tools that write it show it."""
    return {
        "_odata_type": MEMBER_TYPE,
        "id": member.get("id"),
        "roles": member.get("roles"),
        "displayName": member.get("displayName"),
        "visibleHistoryStartDateTime": member.get("visibleHistoryStartDateTime"),
        "userId": member.get("userId"),
        "email": member.get("email"),
        "tenantId": member.get("tenantId"),
    }
