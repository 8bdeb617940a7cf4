"""Users: employees, HR agents, managers and admins of an organisation."""

from __future__ import annotations

from typing import Any

from sqlalchemy import func

from opsgym_domains.hr.names import refuse_odd_names
from opsgym_domains.hr.results import Shown, changed, shown, shown_all
from opsgym_domains.hr.tables import Role, User, UserRole
from opsgym_domains.hr.toolbox import tool
from opsgym_domains.kit.filters import among, contains
from opsgym_domains.kit.fitting import changes
from opsgym_domains.kit.gym import Gym, not_found
from opsgym_domains.kit.identity import token_of
from opsgym_domains.kit.rbac import assign_role


@tool(row=User)
async def get_user(gym: Gym, user_id: str) -> Shown:
    """Look up one user of your organisation by id.

    Returns name, email, phone, role and whether the account is active. Refused (USER_NOT_FOUND) if your organisation
    has no such user.
    """
    return await shown(gym, await gym.fetch(User, user_id))


@tool(row=User, words={"email": "Full work email address, in any case"})
async def get_user_using_email(gym: Gym, email: str) -> Shown:
    """Look up one user of your organisation by work email address.

    Returns the same fields as get_user. Refused (USER_NOT_FOUND) if no user has this address.
    """
    user = await gym.first(User, func.lower(User.email) == email.strip().lower())
    if user is None:
        raise not_found(User, email, "email")
    return await shown(gym, user)


@tool(row=User, words={"first_name": "Full first name, case-sensitive", "last_name": "Full last name, case-sensitive"})
async def get_user_using_name(gym: Gym, first_name: str, last_name: str) -> Shown:
    """Look up one user of your organisation by first and last name.

    Returns the same fields as get_user. Refused (USER_NOT_FOUND) if no user has exactly this name.
    """
    return await shown(gym, await gym.fetch_by(User, first_name=first_name, last_name=last_name))


@tool(
    row=User,
    words={
        "roles": "Include only users with one of these roles",
        "email_like": "Part of the email address, in any case",
        "first_name_like": "Part of the first name, in any case",
        "last_name_like": "Part of the last name, in any case",
        "limit": "Maximum number of users to return",
        "offset": "Number of users to leave out at the beginning",
        "order_by": "Field by which the users are sorted",
        "order_direction": "Direction of the sorting",
    },
)
async def list_users(
    gym: Gym, roles: list[str] | None = None, active: bool | None = None, **options: Any
) -> dict[str, Any]:
    """List users of your organisation, optionally filtered, a page at a time.

    Filters are combined with AND. Returns `users`, total_count (users that match), returned_count (users on this page),
    limit and offset. Sorted by time of creation unless order_by says otherwise.
    """
    conditions = among(User.role, roles or []) + ([User.active == active] if active is not None else [])
    for name in ("email", "first_name", "last_name"):
        if part := options.get(f"{name}_like"):
            conditions.append(contains(getattr(User, name), part))
    users = list(await gym.all(User, *conditions))
    by = options.get("order_by", "created_at")
    users.sort(key=lambda user: (getattr(user, by) is not None, getattr(user, by)))
    if options.get("order_direction") == "desc":
        users.reverse()
    limit, offset = options.get("limit", 50), options.get("offset", 0)
    page = await shown_all(gym, users[offset : offset + limit])
    counts = {"total_count": len(users), "returned_count": len(page), "limit": limit, "offset": offset}
    return {"users": page, **counts}


@tool(adds=User)
async def add_new_user(gym: Gym, **fields: Any) -> Shown:
    """Create a user account in your organisation.

    Email address and full name must be unique (DUPLICATE_EMAIL, DUPLICATE_NAME); names have letters, spaces, hyphens,
    apostrophes and full stops only (INVALID_NAME). A user has no HR profile until you create one. Returns the new user.
    """
    refuse_odd_names(fields, "first_name", "last_name")
    user_id = int(await gym.next_id(User) or 0)
    token = token_of(fields["role"], user_id, fields["email"])
    user = await gym.insert(User(**fields, user_id=user_id, static_token=token))
    await assign_role(gym, user, Role, UserRole)
    return await shown(gym, user)


@tool(changes=User)
async def update_user_details(gym: Gym, user_id: str, **fields: Any) -> Shown:
    """Update a user account. Fields that are not given keep their value.

    Email address and full name must be unique (DUPLICATE_EMAIL, DUPLICATE_NAME). Deactivating a user changes no case,
    no group and no HR profile. Refused (NO_CHANGES_DETECTED) if no value differs from the stored one. Returns the user,
    and in `changes` the fields that changed.
    """
    refuse_odd_names(fields, "first_name", "last_name")
    given = changes(fields)
    user = await gym.fetch(User, user_id)
    result = await changed(gym, user, given)
    if "role" in result["changes"]:
        await assign_role(gym, user, Role, UserRole)
    return result
