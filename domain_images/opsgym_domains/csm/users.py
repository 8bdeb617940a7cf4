"""Users: staff, and customers who use the portal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import func

from opsgym_domains.csm.tables import User
from opsgym_domains.csm.toolbox import tool
from opsgym_domains.kit.gym import Gym
from opsgym_domains.kit.schema import columns_but

BRIEF = columns_but(User, "phone", "sys_created_on", "sys_updated_on")


@tool(shows=BRIEF, words={"name": "First and last name separated by a space, not case-sensitive"})
async def find_user(gym: Gym, name: str) -> User | None:
    """Look up a user by full name.

    Returns the user with the lowest id if several have the name, and an empty object if there is no match.
    """
    full_name = func.lower(User.first_name + " " + User.last_name)
    return await gym.first(User, full_name == name.strip().lower())


@tool(shows=BRIEF, words={"email": "Full email address, case-sensitive"})
async def find_user_by_email(gym: Gym, email: str) -> User | None:
    """Look up a user by email address.

    Returns an empty object if there is no match.
    """
    return await gym.find(User, email=email)


@tool(shows=columns_but(User, "sys_updated_on"))
async def list_users(gym: Gym, **filters: Any) -> Sequence[User]:
    """List users, optionally filtered.

    Filters are combined with AND; names, email address and phone number match a part, ignoring case; all other filters
    match exactly. Lowest id first.
    """
    return await gym.list(User, filters)


@tool(adds=User)
async def add_new_user(gym: Gym, **fields: Any) -> User:
    """Create a user account.

    The email address must be unique (DUPLICATE_EMAIL), and the location must exist. A user with role customer belongs
    to no account until you create a contact. Returns the new user.
    """
    return await gym.insert(User(**fields))


@tool(changes=User)
async def update_user_details(gym: Gym, user_id: int, **fields: Any) -> User:
    """Update a user. Fields that are not given keep their value.

    Give at least one field (NO_FIELDS_TO_UPDATE). Deactivating a user does not remove group memberships and does not
    reassign cases. Returns the updated user.
    """
    return await gym.change(User, user_id, fields)
