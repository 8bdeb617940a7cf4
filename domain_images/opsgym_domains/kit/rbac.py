"""Role-based access: roles and their permissions as rows, which access `strict` reads at every call.

Invariant: what a role may do is in the tables only, so a permission that changes in mid-task takes effect at the next
call. Columns are those of the published servers that have such tables.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from sqlalchemy import ForeignKey, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from opsgym_domains.kit.access import READ, WRITE, Actions
from opsgym_domains.kit.gym import Actor, Gym
from opsgym_domains.kit.schema import Row, Str50, varchar
from opsgym_domains.kit.tools import Tool


class RoleColumns:
    """Columns of a table of roles, `role`."""

    role_id: Mapped[str] = mapped_column(varchar(32), primary_key=True)
    name: Mapped[str] = mapped_column(varchar(8))


class PermissionColumns:
    """Columns of a table of permissions, `permission`: an action (`read`, `crud`) on a resource."""

    perm_id: Mapped[str] = mapped_column(varchar(32), primary_key=True)
    resource: Mapped[Str50]
    action: Mapped[Str50]


class RolePermissionColumns:
    """Columns of a table of the permissions that roles have."""

    role_id: Mapped[str] = mapped_column(varchar(32), ForeignKey("role.role_id"), primary_key=True)
    perm_id: Mapped[str] = mapped_column(varchar(32), ForeignKey("permission.perm_id"), primary_key=True)


def actions_by_role(
    role: type[Row], permission: type[Row], granted: type[Row], held: type[Row] | None = None
) -> Actions:
    """The query for what an acting user may do with a resource.

    Args:
        role: Row class with `RoleColumns`; the acting user's role is a name of it.
        permission: Row class with `PermissionColumns`.
        granted: Row class with `RolePermissionColumns`.
        held: Row class of the roles that users have in organisations (`user_id`, `role_id`, `org_id`). A role then
            counts only if it has such a row too: removing it in one place is enough. None if there is no such table.
    """
    roles, permissions, grants = role.__table__.c, permission.__table__.c, granted.__table__.c
    statement = (
        select(permissions.action)
        .join(granted, grants.perm_id == permissions.perm_id)
        .join(role, roles.role_id == grants.role_id)
    )

    async def actions(session: AsyncSession, actor: Actor, resource: str) -> Collection[str]:
        query = statement.where(permissions.resource == resource, roles.name == actor.role)
        if held is not None:
            holds: Any = held.__table__.c
            query = query.join(held, holds.role_id == roles.role_id).where(
                holds.user_id == actor.user_id, holds.org_id == actor.org_id
            )
        return (await session.scalars(query)).all()

    return actions


def resources_of(
    tools: Mapping[str, Tool], by_module: Mapping[str, str], by_tool: Mapping[str, str]
) -> Mapping[str, str]:
    """Resource of each tool.

    Args:
        tools: All tools of the domain.
        by_module: Resource by name of the module that declares a tool.
        by_tool: Resource of tools that differs from their module's.
    """
    modules = {name: tool.run.__module__.rpartition(".")[2] for name, tool in tools.items()}
    return {name: by_tool.get(name) or by_module[module] for name, module in modules.items()}


async def assign_role(gym: Gym, user: Any, role: type[Row], held: type[Row]) -> None:
    """Stores the role that a user's row names in the table of held roles, in place of those that were there.

    Args:
        gym: The call's view of the database.
        user: Row of the user: `user_id`, `org_id` and `role`.
        role: Row class with `RoleColumns`.
        held: Row class of the roles that users have in organisations.
    """
    await gym.delete(await gym.all(held, held.__table__.c.user_id == user.user_id))
    named: Any = await gym.fetch_by(role, name=user.role)
    await gym.insert(held(user_id=user.user_id, role_id=named.role_id, org_id=user.org_id))


def preset_rows(
    resources: Collection[str], writable: Mapping[str, Collection[str]], hidden: Mapping[str, Collection[str]]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Rows of `role`, `permission` and `role_permission`, each with the name of its table.

    Args:
        resources: All resources.
        writable: Resources that a role may change, by role; all roles are keys.
        hidden: Resources that a role may not even read, by role; no resource if a role is not a key.
    """
    for role in writable:
        yield "role", (role, role)
    for resource in resources:
        for action in (READ, WRITE):
            yield "permission", (f"{resource}:{action}", resource, action)
    for role in writable:
        for resource in resources:
            action = WRITE if resource in writable[role] else READ
            if resource not in hidden.get(role, ()):
                yield "role_permission", (role, f"{resource}:{action}")
