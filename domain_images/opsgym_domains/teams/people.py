"""Look-ups of users by the keys that tools accept.

Invariant: a user is named by id or by user principal name, the latter in any case, and belongs to the acting user's
organisation.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import func

from opsgym_domains.kit.errors import ToolError, short
from opsgym_domains.kit.gym import Gym
from opsgym_domains.teams.graph import bound
from opsgym_domains.teams.tables import Org, User


async def user_of(gym: Gym, key: str, field: str) -> User:
    """The user with an id or a user principal name.

    Raises:
        ToolError: `USER_NOT_FOUND`.
    """
    user = await gym.find(User, user_id=key) or await gym.first(
        User, func.lower(User.user_principal_name) == key.lower()
    )
    if user is None:
        raise ToolError("USER_NOT_FOUND", f"Resource {short(key)} does not exist: no user has this id or name.", field)
    return user


async def bound_user(gym: Gym, reference: str, field: str = "user_odata_bind") -> User:
    """The user that a reference names, for instance `https://graph.microsoft.com/v1.0/users('ann')`.

    Raises:
        ToolError: `INVALID_REFERENCE`, `USER_NOT_FOUND`.
    """
    return await user_of(gym, bound(reference, ("users", "directoryObjects"), field), field)


async def actor_of(gym: Gym) -> User:
    """The acting user's row."""
    return await gym.fetch(User, str(gym.actor.user_id))


async def tenant_of(gym: Gym) -> str | None:
    """The tenant of the acting user's organisation; None if the organisation has no row."""
    org = await gym.find(Org, org_id=gym.actor.org_id)
    return org.tenant_id if org else None


def as_sender(user_id: str, name: str | None) -> dict[str, Any]:
    """A user as the sender of a message."""
    user = {"id": user_id, "displayName": name, "userIdentityType": "aadUser"}
    return {"application": None, "device": None, "user": user}
