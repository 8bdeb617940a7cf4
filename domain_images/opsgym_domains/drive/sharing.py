"""Granting, changing and removing roles on files and shared drives.

Invariant: a grantee has at most one permission of its own on a file or a drive, which stays as a row when it is taken
away and holds again when it is given again; a file outside shared drives has one owner. A member of a shared drive has
a row in `drive_memberships` beside the permission. `files.shared` says whether anyone besides the owner has a
permission on the file itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, and_, func, or_, true

from opsgym_domains.drive.forms import FOLDER
from opsgym_domains.drive.history import record_drive, record_file
from opsgym_domains.drive.reach import holding, owners_of, principal, reach, reach_drive, refuse_low, role_on, suffices
from opsgym_domains.drive.tables import DriveMembership, File, Group, Permission, SharedDrive, User
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym

ROLES_OF_DRIVES = frozenset({"organizer", "fileOrganizer"})
"""Roles that only shared drives and their items have."""


@dataclass(frozen=True)
class Grantee:
    """Whom a permission is for: a user or group with or without a row, all users of a domain, or everybody."""

    type: str
    email: str | None = None
    domain: str | None = None
    user: User | None = None
    group: Group | None = None

    @property
    def columns(self) -> dict[str, Any]:
        """Columns of a permission for the grantee."""
        return {
            "type": self.type,
            "user_id": self.user.id if self.user else None,
            "group_id": self.group.id if self.group else None,
            "email_address": self.email,
            "domain": self.domain,
        }

    @property
    def same(self) -> ColumnElement[bool]:
        """Condition of the permissions for the same grantee."""
        if self.type == "domain":
            return and_(Permission.type == "domain", func.lower(Permission.domain) == (self.domain or "").lower())
        who = [func.lower(Permission.email_address) == (self.email or "").lower()]
        who += [Permission.user_id == self.user.id] if self.user else []
        who += [Permission.group_id == self.group.id] if self.group else []
        return and_(Permission.type == self.type, or_(*who) if self.type != "anyone" else true())


async def grantee(gym: Gym, kind: str, email: str | None, domain: str | None) -> Grantee:
    """The grantee that arguments name.

    Raises:
        ToolError: `EMAIL_REQUIRED`, `DOMAIN_REQUIRED`, `GRANTEE_MISMATCH`.
    """
    if kind in ("user", "group"):
        if not email:
            raise ToolError("EMAIL_REQUIRED", f"a permission of the type {kind} needs emailAddress", "emailAddress")
        user = await gym.first(User, func.lower(User.email) == email.lower())
        group = await gym.first(Group, func.lower(Group.email) == email.lower())
        if (kind == "user" and user is None and group) or (kind == "group" and group is None and user):
            other = "group" if group else "user"
            raise ToolError("GRANTEE_MISMATCH", f"{email} is the address of a {other}; give the type {other}", "type")
        return Grantee(kind, email, None, user if kind == "user" else None, group if kind == "group" else None)
    if kind == "domain" and not domain:
        raise ToolError("DOMAIN_REQUIRED", "a permission of the type domain needs domain", "domain")
    return Grantee(kind, None, domain if kind == "domain" else None)


# --- granting --------------------------------------------------------------------------------------------------------


async def grant_on_file(gym: Gym, file: File, role: str, to: Grantee, **settings: Any) -> Permission:
    """Gives a grantee a role on a file, in place of the one that it has there.

    Raises:
        ToolError: As for `change_on_file`.
    """
    before = await _before(gym, to, Permission.file_id == file.id)
    if before is not None and not before.deleted:
        return await change_on_file(gym, file, before, role, to, **settings)
    _refuse_role(role, to, in_drive=file.drive_id is not None)
    granted = await _grant(gym, before, role, to, settings, file_id=file.id)
    await refresh_shared(gym, file)
    await record_file(gym, "perm_created", file, permission_type=to.type, role=role)
    return granted


async def change_on_file(
    gym: Gym, file: File, permission: Permission, role: str, to: Grantee, **settings: Any
) -> Permission:
    """Gives a permission on a file another role.

    Raises:
        ToolError: `INVALID_ROLE`, `OWNER_PERMISSION`, or a process rule refuses it.
    """
    _refuse_role(role, to, in_drive=file.drive_id is not None)
    if permission.role == "owner":
        message = "the owner keeps the role until another user gets it with transferOwnership"
        raise ToolError("OWNER_PERMISSION", message, "role")
    await gym.update(permission, {"role": role, **settings})
    await refresh_shared(gym, file)
    await record_file(gym, "perm_updated", file, permission_type=to.type, role=role)
    return permission


async def grant_on_drive(gym: Gym, drive: SharedDrive, role: str, to: Grantee, **settings: Any) -> Permission:
    """Gives a grantee a role on a shared drive, in place of the one that it has there.

    Raises:
        ToolError: `INVALID_ROLE`, or a process rule refuses it.
    """
    if role == "owner":
        raise ToolError("INVALID_ROLE", "a shared drive has organizers and no owner", "role")
    before = await _before(gym, to, Permission.drive_id == drive.id)
    granted = await _grant(gym, before, role, to, settings, drive_id=drive.id)
    await _set_membership(gym, drive.id, granted, role)
    await record_drive(gym, "perm_created", drive, permission_type=to.type, role=role)
    return granted


async def _before(gym: Gym, to: Grantee, where: ColumnElement[bool]) -> Permission | None:
    """The permission that a grantee has on a file or a drive, or else one that was taken away there."""
    return await gym.first(Permission, holding(where, to.same)) or await gym.first(Permission, where, to.same)


async def _grant(
    gym: Gym, before: Permission | None, role: str, to: Grantee, settings: Mapping[str, Any], **place: str
) -> Permission:
    """Stores a role in the grantee's row, so that a permission which is given again keeps its id, or in a new one."""
    if before is None:
        return await gym.insert(Permission(role=role, **place, **to.columns, **settings))
    ended = dict.fromkeys(("allow_file_discovery", "view", "expiration_time")) if before.deleted else {}
    return await gym.update(before, {**ended, "role": role, "deleted": False, **settings})


async def _set_membership(gym: Gym, drive_id: str, permission: Permission, role: str) -> None:
    if permission.type == "anyone" or (permission.user_id or permission.group_id or permission.domain) is None:
        return
    membership = await membership_of(gym, drive_id, permission)
    if membership is None:
        columns = {name: getattr(permission, name) for name in ("type", "user_id", "group_id", "domain")}
        await gym.insert(DriveMembership(drive_id=drive_id, role=role, **columns))
    else:
        await gym.update(membership, {"role": role})


async def membership_of(gym: Gym, drive_id: str, permission: Permission) -> DriveMembership | None:
    """The membership that belongs to a permission on a shared drive."""
    names = ("user_id", "group_id", "domain")
    values = {name: getattr(permission, name) for name in names if getattr(permission, name) is not None}
    return await gym.find(DriveMembership, drive_id=drive_id, **values) if values else None


async def transfer(gym: Gym, file: File, to: Grantee) -> Permission:
    """Makes a user the owner of a file; the owner before becomes a writer.

    Raises:
        ToolError: `INVALID_ROLE`, or a process rule refuses it.
    """
    _refuse_role("owner", to, in_drive=file.drive_id is not None)
    if to.user is None:
        raise ToolError("INVALID_ROLE", f"{to.email} has no account here and cannot own files", "emailAddress")
    owners = await owners_of(gym, file.id)
    before = await _before(gym, to, Permission.file_id == file.id)
    granted = await _grant(gym, before, "owner", to, {}, file_id=file.id)
    for one in owners:
        if one.id != granted.id:
            await gym.update(one, {"role": "writer"})
    await gym.update(file, {"owned_by_me": granted.user_id == gym.actor.user_id})
    await refresh_shared(gym, file)
    await record_file(gym, "perm_created", file, permission_type="user", role="owner")
    return granted


def _refuse_role(role: str, to: Grantee, *, in_drive: bool) -> None:
    if in_drive and role == "owner":
        raise ToolError(
            "INVALID_ROLE", "the file is in a shared drive, which owns it; no user can be its owner", "role"
        )
    if not in_drive and role in ROLES_OF_DRIVES:
        message = f"{role} is a role on shared drives; the file is in none"
        raise ToolError("INVALID_ROLE", message, "role")
    if to.type in ("anyone", "domain") and role in ("owner", *ROLES_OF_DRIVES):
        raise ToolError("INVALID_ROLE", f"a permission of the type {to.type} cannot have the role {role}", "role")
    if to.type == "group" and role == "owner":
        raise ToolError("INVALID_ROLE", "a group cannot own a file", "role")


async def refresh_shared(gym: Gym, file: File) -> None:
    """Stores whether anyone besides the owner has a permission on a file."""
    others = await gym.first(Permission, holding(Permission.file_id == file.id, Permission.role != "owner"))
    if bool(file.shared) != (others is not None):
        await gym.update(file, {"shared": others is not None})


# --- who may share ---------------------------------------------------------------------------------------------------


async def share_file(gym: Gym, file_id: str, role: str | None = None) -> File:
    """A file that the acting user may share, with a role that does not exceed the user's own.

    Raises:
        ToolError: As for `reach`.
    """
    file = await reach(gym, file_id)
    if gym.is_strict:
        own = await role_on(gym, file, await principal(gym))
        refuse_low(own, await _needed(gym, file), f"file {file_id}", "fileId")
        if role is not None and role != "owner" and not suffices(own, role):
            refuse_low(own, role, f"file {file_id}", "role")
    return file


async def _needed(gym: Gym, file: File) -> str:
    """Role that sharing a file needs."""
    if file.drive_id is None:
        return "owner" if file.writers_can_share is False else "writer"
    drive = await gym.fetch(SharedDrive, file.drive_id)
    if file.mime_type != FOLDER:
        return "writer"
    return "organizer" if drive.sharing_folders_requires_organizer_permission else "fileOrganizer"


async def share_drive(gym: Gym, drive_id: str, *, admin: bool) -> SharedDrive:
    """A shared drive whose members the acting user may change.

    Raises:
        ToolError: As for `reach_drive`.
    """
    return await reach_drive(gym, drive_id, "organizer", admin=admin, field="fileId")
