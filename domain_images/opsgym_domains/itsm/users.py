"""Users of the service desk: callers, agents, managers and admins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import func

from opsgym_domains.itsm.tables import Location, Organization, Role, User, UserRole
from opsgym_domains.itsm.toolbox import tool
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.fitting import changes
from opsgym_domains.kit.gym import Gym, not_found
from opsgym_domains.kit.identity import token_of
from opsgym_domains.kit.rbac import assign_role


@tool()
async def get_user_using_email(gym: Gym, email: str) -> User:
    """Look up one user by email address.

    The match is case-sensitive. Returns the same fields as get_user. Refused (USER_NOT_FOUND) if no user has this
    address.
    """
    return await gym.fetch_by(User, email=email)


@tool()
async def get_user(gym: Gym, user_id: str) -> User:
    """Look up one user by id.

    Returns name, email, phone, role, organisation, location and whether the account is active. Use it to check that a
    user exists, is active and has the right role before you assign work. Refused (USER_NOT_FOUND) if the id is unknown.
    """
    return await gym.fetch(User, user_id)


@tool()
async def get_user_using_name(gym: Gym, first_name: str, last_name: str) -> User:
    """Look up one user by first and last name.

    Both names must match in full, in any case. If several users have the name, the most recently created one is
    returned; use list_users with both names to see all of them. Refused (USER_NOT_FOUND) if no user has this name.
    """
    namesakes = await gym.all(
        User,
        func.lower(User.first_name) == first_name.strip().lower(),
        func.lower(User.last_name) == last_name.strip().lower(),
    )
    if not namesakes:
        raise not_found(User, f"{first_name} {last_name}", "first_name")
    return namesakes[0]


@tool()
async def list_users(gym: Gym, **filters: Any) -> Sequence[User]:
    """List users, newest first, optionally filtered.

    Filters are combined with AND; without filters, every user is returned. Empty strings and null do not filter.
    """
    return await gym.list(User, filters)


@tool(adds=User, words={"user_name": "User name; first.last in lower case unless given"})
async def add_new_user(
    gym: Gym, first_name: str, last_name: str, email: str, role: str, user_name: str = "", **fields: Any
) -> User:
    """Create a user in your own organisation.

    The id, the user name (unless given) and the access token are generated. Email and phone must be unique
    (DUPLICATE_EMAIL, DUPLICATE_PHONE). Returns the new user, including the id that groups and records refer to.
    """
    await gym.refuse_duplicate(User, "DUPLICATE_USER_NAME", user_name=user_name or None)
    user_id = str(await gym.next_id(User))
    user = await gym.insert(
        User(
            **fields,
            user_id=user_id,
            user_name=user_name or f"{first_name}.{last_name}".lower(),
            first_name=first_name,
            last_name=last_name,
            email=email,
            role=role,
            static_token=token_of(role, user_id, email),
        )
    )
    await _refuse_foreign_location(gym, user.location_id)
    await assign_role(gym, user, Role, UserRole)
    return user


@tool(
    changes=User,
    words={
        "active": "Whether the account is active; false deactivates it",
        "company_id": "Organisation to move the user to (organisation id)",
        "user_name": "User name; must be unique",
    },
)
async def update_user_details(gym: Gym, user_id: str, **fields: Any) -> User:
    """Update fields of a user. Fields that are not given keep their value.

    Email, phone and user name must be unique (DUPLICATE_EMAIL, DUPLICATE_PHONE, DUPLICATE_USER_NAME). Null leaves a
    field unchanged. Refused (NO_CHANGES_DETECTED) if no value differs from the stored one. To deactivate an account,
    set active to false: users cannot be deleted. Returns the updated user.
    """
    given = changes(fields)
    user = await gym.fetch(User, user_id)
    await gym.refuse_duplicate(User, "DUPLICATE_USER_NAME", but=user, user_name=given.get("user_name"))
    if "company_id" in given:
        given["org_id"] = (await gym.fetch(Organization, given.pop("company_id"), field="company_id")).org_id
    role_before = (user.role, user.org_id)
    await gym.update(user, given)
    await _refuse_foreign_location(gym, given.get("location_id"))
    if role_before != (user.role, user.org_id):
        await assign_role(gym, user, Role, UserRole)
    return user


async def _refuse_foreign_location(gym: Gym, location_id: str | None) -> None:
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
