"""Who reaches what: roles on files and shared drives, from permissions, folders above, and memberships.

Invariant: in access `strict` a tool reaches a file or a drive exactly if the acting user has a sufficient role there at
that moment; without any role it looks as if it did not exist. In access `published` every row is reached. A role on a
folder or a drive holds for everything below; the owner of a folder is a writer below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import CTE, ColumnElement, Select, and_, false, func, or_, select
from sqlalchemy.orm import aliased

from opsgym_domains.drive.tables import (
    DriveMembership,
    File,
    Group,
    GroupMembership,
    Permission,
    SharedDrive,
    User,
)
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym

ROLES = ("reader", "commenter", "writer", "fileOrganizer", "organizer", "owner")
"""Roles, the lowest first."""
ADMINISTRATORS, LEGAL = "drive-admins", "legal"
"""Local parts of the addresses of the groups that administer the domain, and that set and lift legal holds."""


@dataclass(frozen=True)
class Principal:
    """The acting user as permissions name it."""

    user_id: str
    email: str
    groups: tuple[str, ...] = ()
    group_emails: tuple[str, ...] = ()

    @property
    def domain(self) -> str:
        """Mail domain of the user."""
        return self.email.rpartition("@")[2]

    def is_in(self, local_part: str) -> bool:
        """Whether the user is in the group of the own domain with this local part of its address."""
        return f"{local_part}@{self.domain}" in self.group_emails


async def principal(gym: Gym) -> Principal:
    """The acting user."""
    user = await gym.fetch(User, gym.actor.user_id)
    return await principal_of(gym, user)


async def principal_of(gym: Gym, user: User) -> Principal:
    """A user as permissions name it."""
    memberships = select(GroupMembership.group_id).where(GroupMembership.user_id == user.id)
    groups = await gym.all(Group, Group.id.in_(memberships))
    emails = tuple(group.email.lower() for group in groups)
    return Principal(user.id, user.email.lower(), tuple(group.id for group in groups), emails)


# --- what applies to a user ------------------------------------------------------------------------------------------


def holding(*conditions: ColumnElement[bool]) -> ColumnElement[bool]:
    """Condition of the permissions that hold and meet others; one that was taken away stays, with `deleted` set."""
    return and_(Permission.deleted.is_not(True), *conditions)


def granted_to(user: Principal) -> ColumnElement[bool]:
    """Condition of the permissions that apply to a user, whatever their file."""
    return holding(or_(named(user), shared_widely(user)))


def owned_by(user_id: str | int) -> Select[Any]:
    """Ids of the files that a user owns."""
    return select(Permission.file_id).where(holding(Permission.role == "owner", Permission.user_id == user_id))


async def owners_of(gym: Gym, file_id: str) -> Sequence[Permission]:
    """Permissions of the owners of a file."""
    return await gym.all(Permission, holding(Permission.file_id == file_id, Permission.role == "owner"))


def named(user: Principal) -> ColumnElement[bool]:
    """Condition of the permissions that name a user or a group of theirs."""
    return or_(
        Permission.user_id == user.user_id,
        Permission.group_id.in_(user.groups),
        func.lower(Permission.email_address).in_((user.email, *user.group_emails)),
    )


def shared_widely(user: Principal) -> ColumnElement[bool]:
    """Condition of the permissions for a user's domain or for everybody."""
    return or_(
        and_(Permission.type == "domain", func.lower(Permission.domain) == user.domain), Permission.type == "anyone"
    )


def member(user: Principal) -> ColumnElement[bool]:
    """Condition of the memberships in shared drives that apply to a user."""
    return or_(
        DriveMembership.user_id == user.user_id,
        DriveMembership.group_id.in_(user.groups),
        and_(DriveMembership.type == "domain", func.lower(DriveMembership.domain) == user.domain),
    )


def below(files: ColumnElement[bool]) -> Select[Any]:
    """Ids of files that meet a condition, and of everything below them."""
    reached = select(File.id).where(files).cte(recursive=True)
    tree = reached.union(select(File.id).where(File.parent_id == reached.c.id))
    return select(tree.c.id).distinct()


def reached_through(
    files: Sequence[ColumnElement[bool]], *roots: tuple[ColumnElement[bool], ColumnElement[bool]]
) -> ColumnElement[bool]:
    """Condition of the files to which permissions or memberships apply: on them, on a folder above, or on their drive.

    Looks from the files up, so that a search that finds few of them is quick. `coalesce` keeps Postgres from turning
    the subqueries into joins, which it plans badly in a new database, without statistics.

    Args:
        files: Conditions of the files to look at.
        roots: Conditions of permissions and of memberships; one of each pair must apply.
    """
    start = select(File.id.label("file"), File.id.label("at"), File.parent_id.label("above"), File.drive_id).where(
        *files
    )
    below_it = start.cte(recursive=True)
    folder = aliased(File)
    higher = select(below_it.c.file, folder.id, folder.parent_id, folder.drive_id)
    path_up = below_it.union(higher.where(folder.id == below_it.c.above))
    return and_(*(func.coalesce(File.id.in_(_under(path_up, *root)), false()) for root in roots))


def _under(path_up: CTE, permissions: ColumnElement[bool], memberships: ColumnElement[bool]) -> Select[Any]:
    """Files of paths on which a permission or a membership applies; each once, so that the planner expects few."""
    on_files = select(Permission.file_id).where(permissions, Permission.file_id.is_not(None))
    on_drives = select(Permission.drive_id).where(permissions, Permission.drive_id.is_not(None))
    members = select(DriveMembership.drive_id).where(memberships)
    drive = path_up.c.drive_id
    applies = or_(path_up.c.at.in_(on_files), drive.in_(on_drives), drive.in_(members))
    return select(path_up.c.file).where(applies).distinct()


def reachable(user: Principal, *files: ColumnElement[bool]) -> ColumnElement[bool]:
    """Condition of the files, among those that meet conditions, on which a user has a role."""
    role = and_(granted_to(user), Permission.role.in_(ROLES))
    return reached_through(files, (role, and_(member(user), DriveMembership.role.in_(ROLES))))


def drives_of(user: Principal) -> ColumnElement[bool]:
    """Condition of the shared drives on which a user has a role."""
    return or_(
        SharedDrive.id.in_(select(DriveMembership.drive_id).where(member(user))),
        SharedDrive.id.in_(select(Permission.drive_id).where(granted_to(user), Permission.drive_id.is_not(None))),
    )


# --- one file or drive -----------------------------------------------------------------------------------------------


async def path(gym: Gym, file: File) -> list[File]:
    """A file and the folders above it, from the file up."""
    files = [file]
    while files[-1].parent_id and files[-1].parent_id not in {one.id for one in files}:
        parent = await gym.get(File, files[-1].parent_id)
        if parent is None:
            break
        files.append(parent)
    return files


async def role_on(gym: Gym, file: File, user: Principal) -> str | None:
    """The highest role of a user on a file; None if there is none."""
    folders = await path(gym, file)
    rows = await gym.all(Permission, Permission.file_id.in_([one.id for one in folders]), granted_to(user))
    roles = [_inherited(row.role) if row.file_id != file.id else row.role for row in rows]
    drives = {one.drive_id for one in folders if one.drive_id}
    roles += [role for drive_id in drives if (role := await role_on_drive(gym, drive_id, user))]
    return max(filter(ROLES.__contains__, roles), key=_rank, default=None)


async def role_on_drive(gym: Gym, drive_id: str, user: Principal) -> str | None:
    """The highest role of a user on a shared drive; None if there is none."""
    members = await gym.all(DriveMembership, DriveMembership.drive_id == drive_id, member(user))
    rows = await gym.all(Permission, Permission.drive_id == drive_id, granted_to(user))
    roles = [*(row.role for row in members), *(row.role for row in rows)]
    return max(filter(ROLES.__contains__, roles), key=_rank, default=None)


def _inherited(role: str | None) -> str | None:
    return "writer" if role == "owner" else role


def _rank(role: str | None) -> int:
    return ROLES.index(role or "")


def suffices(role: str | None, needed: str) -> bool:
    """Whether a role includes another one."""
    return role is not None and _rank(role) >= _rank(needed)


async def reach(gym: Gym, file_id: str, needed: str = "reader", *, field: str = "fileId") -> File:
    """A file that the acting user may use.

    Args:
        gym: The call.
        file_id: Its id.
        needed: Role that the call needs in access `strict`.
        field: Argument that contained the id.

    Raises:
        ToolError: `FILE_NOT_FOUND`, `INSUFFICIENT_FILE_PERMISSIONS`.
    """
    file = await gym.get(File, file_id)
    if file is None:
        raise missing("File", "FILE_NOT_FOUND", file_id, field)
    if gym.is_strict:
        role = await role_on(gym, file, await principal(gym))
        if role is None:
            raise missing("File", "FILE_NOT_FOUND", file_id, field)
        refuse_low(role, needed, f"file {file_id}", field)
    return file


async def reach_drive(
    gym: Gym, drive_id: str, needed: str = "reader", *, admin: bool = False, field: str = "driveId"
) -> SharedDrive:
    """A shared drive that the acting user may use.

    Args:
        gym: The call.
        drive_id: Its id.
        needed: Role that the call needs in access `strict`.
        admin: Whether the call asks for the rights of an administrator of the domain.
        field: Argument that contained the id.

    Raises:
        ToolError: `DRIVE_NOT_FOUND`, `INSUFFICIENT_FILE_PERMISSIONS`, `NOT_ADMINISTRATOR`.
    """
    drive = await gym.get(SharedDrive, drive_id)
    if drive is None:
        raise missing("Shared drive", "DRIVE_NOT_FOUND", drive_id, field)
    if gym.is_strict and not (admin and await require_administrator(gym)):
        role = await role_on_drive(gym, drive_id, await principal(gym))
        if role is None:
            raise missing("Shared drive", "DRIVE_NOT_FOUND", drive_id, field)
        refuse_low(role, needed, f"shared drive {drive_id}", field)
    return drive


async def require_administrator(gym: Gym) -> bool:
    """True if the acting user administers the domain, or access is `published`.

    Raises:
        ToolError: `NOT_ADMINISTRATOR`.
    """
    if gym.is_strict and not (await principal(gym)).is_in(ADMINISTRATORS):
        message = f"the acting user is not in the group {ADMINISTRATORS}@…, so useDomainAdminAccess is refused"
        raise ToolError("NOT_ADMINISTRATOR", message, "useDomainAdminAccess")
    return True


def refuse_low(role: str | None, needed: str, what: str, field: str | None = None) -> None:
    """Refuses a role that does not include the needed one.

    Raises:
        ToolError: `INSUFFICIENT_FILE_PERMISSIONS`.
    """
    if not suffices(role, needed):
        message = f"the acting user is {role} of {what}, and this needs the role {needed}; ask someone who has it"
        raise ToolError("INSUFFICIENT_FILE_PERMISSIONS", message, field)


def missing(what: str, code: str, key: str, field: str) -> ToolError:
    """The refusal of an id that no row has, or none that the acting user reaches."""
    shown = key if len(key) <= 200 else f"{key[:200]}…"
    return ToolError(code, f"{what} not found: {shown}.", field)
