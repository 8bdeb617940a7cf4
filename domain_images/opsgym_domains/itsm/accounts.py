"""What a user's account has besides its own row: role, access token, a location of its organisation."""

from __future__ import annotations

import hashlib

from opsgym_domains.itsm.tables import Location, Role, User, UserRole
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym


async def assign_role(gym: Gym, user: User) -> None:
    """Stores the user's role in the role table, from which permissions are read."""
    await gym.delete(await gym.all(UserRole, UserRole.user_id == user.user_id))
    role = await gym.fetch_by(Role, name=user.role)
    await gym.insert(UserRole(user_id=user.user_id, role_id=role.role_id, org_id=user.org_id))


async def refuse_foreign_location(gym: Gym, location_id: str | None) -> None:
    """Refuses a location of another organisation than the acting user's.

    Raises:
        ToolError: `CROSS_ORGANIZATION_ACCESS`, or the location does not exist.
    """
    if not location_id:
        return
    location = await gym.fetch(Location, location_id)
    if location.org_id != gym.actor.org_id:
        raise ToolError(
            "CROSS_ORGANIZATION_ACCESS", f"location {location_id} belongs to another organisation", "location_id"
        )


def token_of(role: str, user_id: str, email: str) -> str:
    """Access token of a new user. Derived instead of random, so that the same calls produce the same database."""
    return f"{role}_token_{hashlib.sha256(f'{user_id}:{email}'.encode()).hexdigest()[:24]}"
