"""Permissions: roles of users, groups, domains and everybody on files and shared drives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opsgym_domains.drive.history import record_drive, record_file
from opsgym_domains.drive.pages import page
from opsgym_domains.drive.reach import ADMINISTRATORS, holding, missing, path, principal, reach, reach_drive
from opsgym_domains.drive.resources import Resource, permission_resources
from opsgym_domains.drive.sharing import (
    Grantee,
    change_on_file,
    grant_on_drive,
    grant_on_file,
    grantee,
    membership_of,
    refresh_shared,
    share_drive,
    share_file,
    transfer,
)
from opsgym_domains.drive.tables import DriveMembership, File, Group, Permission, SharedDrive, User
from opsgym_domains.drive.toolbox import tool
from opsgym_domains.drive.tree import Place, relink
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.fitting import parse_time
from opsgym_domains.kit.gym import Gym

Held = Permission | DriveMembership
WORDS = {"fileId": "File, folder or shared drive (its id)"}
DRIVE_PAGE = 100
"""Permissions of a page for items of shared drives, unless given."""


@tool(
    adds=Permission,
    words={
        **WORDS,
        "transferOwnership": "Must be true for the role owner: the present owner becomes a writer",
        "moveToNewOwnersRoot": "For the role owner: whether the file moves to the top level of the new owner",
        "expirationTime": "Kept with a permission on a file; permissions do not end by themselves",
        "pendingOwner": "Has no effect",
    },
)
async def create_permission(
    gym: Gym,
    file_id: str,
    role: str,
    type: str,  # noqa: A002 - the published name
    email_address: str | None = None,
    domain: str | None = None,
    transfer_ownership: bool = False,
    use_domain_admin_access: bool = False,
    expiration_time: str | None = None,
    **fields: Any,
) -> Resource:
    """Share a file, a folder or a shared drive: give a user, a group, a domain or everybody a role.

    A role on a folder holds for everything below it. A grantee that has a permission here gets the new role instead,
    but not the owner (OWNER_PERMISSION). The role owner needs transferOwnership (OWNERSHIP_NOT_CONFIRMED). Returns the
    permission.
    """
    to = await grantee(gym, type, email_address, domain)
    settings = {name: fields[name] for name in ("allow_file_discovery", "view") if name in fields}
    if type in ("user", "group"):
        settings.pop("allow_file_discovery", None)
    expires = {"expiration_time": parse_time(expiration_time, "expirationTime")} if expiration_time else {}
    if await gym.get(SharedDrive, file_id) is not None:
        drive = await share_drive(gym, file_id, admin=use_domain_admin_access)
        return await _shown(gym, await grant_on_drive(gym, drive, role, to, **settings), None)
    if role == "owner":
        file = await _transferable(gym, file_id, confirmed=transfer_ownership, admin=use_domain_admin_access)
        permission = await transfer(gym, file, to)
        if fields.get("move_to_new_owners_root"):
            await gym.update(file, Place().columns)
            await relink(gym, file)
        return await _shown(gym, permission, file_id)
    file = await share_file(gym, file_id, role)
    return await _shown(gym, await grant_on_file(gym, file, role, to, **settings, **expires), file_id)


@tool(changes=Permission, words=WORDS)
async def delete_permission(gym: Gym, file_id: str, permission_id: str, **_: Any) -> None:
    """Take a role away from a grantee. Everybody may give up a role of their own.

    A permission that holds from a folder or a drive above is removed there (INHERITED_PERMISSION); the owner's cannot
    be removed (OWNER_PERMISSION). The row stays with `deleted` set. Returns nothing.
    """
    holder, row = await _held(gym, file_id, permission_id)
    if isinstance(row, Permission) and row.role == "owner":
        message = "the owner's permission cannot be removed; make another user the owner first"
        raise ToolError("OWNER_PERMISSION", message, "permissionId")
    if not _is_own(gym, row):
        await _share(gym, holder)
    if isinstance(holder, SharedDrive):
        partner = await _partner(gym, holder.id, row)
        for one in (row, *([partner] if partner else [])):
            await _take_away(gym, one)
        await record_drive(gym, "perm_deleted", holder)
    else:
        await _take_away(gym, row)
        await refresh_shared(gym, holder)
        await record_file(gym, "perm_deleted", holder, role=row.role)


@tool(row=Permission, words=WORDS)
async def get_permission(gym: Gym, file_id: str, permission_id: str, **_: Any) -> Resource:
    """Get a permission of a file or a shared drive, also one that holds from above.

    Refused (PERMISSION_NOT_FOUND) if none there has this id.
    """
    is_drive = await gym.get(SharedDrive, file_id) is not None
    rows = await _all_of(gym, file_id)
    row = next((one for one in rows if one.id == permission_id), None)
    if row is None:
        raise missing("Permission", "PERMISSION_NOT_FOUND", permission_id, "permissionId")
    return await _shown(gym, row, None if is_drive else file_id)


@tool(row=Permission, words=WORDS)
async def list_permission(
    gym: Gym,
    file_id: str,
    page_size: int | None = None,
    page_token: str | None = None,
    use_domain_admin_access: bool = False,
    **_: Any,
) -> Resource:
    """List who may use a file or a shared drive, and in which role.

    permissionDetails says whether a permission holds from a folder or a drive above; deleted says that the account of
    the grantee is gone. Returns `permissions` and the token of the next page.
    """
    drive = await gym.get(SharedDrive, file_id)
    rows = await _all_of(gym, file_id, admin=use_domain_admin_access)
    in_drive = drive is not None or any(row.drive_id for row in rows)
    size = page_size or (DRIVE_PAGE if in_drive else None)
    shown, more = page(rows, page_token, size)
    resources = await permission_resources(gym, shown, None if drive else file_id)
    return {"kind": "drive#permissionList", "permissions": resources, **more}


@tool(
    changes=Permission,
    words={
        **WORDS,
        "transferOwnership": "Must be true for the role owner: the present owner becomes a writer",
        "removeExpiration": "Has no effect: permissions do not expire",
    },
)
async def update_permission(
    gym: Gym,
    file_id: str,
    permission_id: str,
    role: str | None = None,
    transfer_ownership: bool = False,
    use_domain_admin_access: bool = False,
    **_: Any,
) -> Resource:
    """Give a grantee another role.

    A permission that holds from a folder or a drive above is changed there (INHERITED_PERMISSION). The role owner needs
    transferOwnership (OWNERSHIP_NOT_CONFIRMED). Returns the permission.
    """
    holder, row = await _held(gym, file_id, permission_id, admin=use_domain_admin_access)
    if role is None:
        return await _shown(gym, row, None if isinstance(holder, SharedDrive) else file_id)
    to = await _grantee_of(gym, row)
    if isinstance(holder, SharedDrive) or isinstance(row, DriveMembership):
        drive = await share_drive(gym, file_id, admin=use_domain_admin_access)
        return await _shown(gym, await grant_on_drive(gym, drive, role, to), None)
    if role == "owner":
        await _transferable(gym, file_id, confirmed=transfer_ownership, admin=use_domain_admin_access)
        return await _shown(gym, await transfer(gym, holder, to), file_id)
    await share_file(gym, file_id, role)
    return await _shown(gym, await change_on_file(gym, holder, row, role, to), file_id)


# --- parts -----------------------------------------------------------------------------------------------------------


async def _shown(gym: Gym, row: Held, file_id: str | None) -> Resource:
    return (await permission_resources(gym, [row], file_id))[0]


async def _all_of(gym: Gym, file_id: str, *, admin: bool = False) -> Sequence[Held]:
    """Permissions of a file, of the folders above and of their drive; or those of a drive."""
    if await gym.get(SharedDrive, file_id) is not None:
        await reach_drive(gym, file_id, admin=admin, field="fileId")
        return await _of_drive(gym, file_id)
    return await _of_file(gym, await (_administered(gym, file_id) if admin else reach(gym, file_id)))


async def _of_file(gym: Gym, file: File) -> list[Held]:
    """Permissions of a file, of the folders above from below, and of their drive."""
    above = await path(gym, file)
    order = [one.id for one in above]
    permissions = await gym.all(Permission, holding(Permission.file_id.in_(order)))
    rows = sorted(permissions, key=lambda row: order.index(row.file_id or ""))
    drives = dict.fromkeys(one.drive_id for one in above if one.drive_id)
    return [*rows, *[row for drive_id in drives for row in await _of_drive(gym, drive_id)]]


async def _of_drive(gym: Gym, drive_id: str) -> list[Held]:
    """Permissions of a shared drive, and memberships without one."""
    permissions = await gym.all(Permission, holding(Permission.drive_id == drive_id))
    known = {(row.user_id, row.group_id, row.domain) for row in permissions}
    members = await gym.all(DriveMembership, DriveMembership.drive_id == drive_id)
    return [*permissions, *(one for one in members if (one.user_id, one.group_id, one.domain) not in known)]


async def _held(gym: Gym, file_id: str, permission_id: str, *, admin: bool = False) -> tuple[File | SharedDrive, Held]:
    """A permission of a file or a drive itself, and what it is of.

    Raises:
        ToolError: `PERMISSION_NOT_FOUND`, `INHERITED_PERMISSION`.
    """
    drive = await gym.get(SharedDrive, file_id)
    rows = await _all_of(gym, file_id, admin=admin)
    row = next((one for one in rows if one.id == permission_id), None)
    if row is None:
        raise missing("Permission", "PERMISSION_NOT_FOUND", permission_id, "permissionId")
    if drive is None and (not isinstance(row, Permission) or row.file_id != file_id or row.inherited):
        source = (row.file_id if isinstance(row, Permission) else None) or row.drive_id
        message = f"the permission holds from {source}; change it there"
        raise ToolError("INHERITED_PERMISSION", message, "permissionId")
    return drive or await gym.fetch(File, file_id), row


async def _take_away(gym: Gym, row: Held) -> None:
    if isinstance(row, Permission):
        await gym.update(row, {"deleted": True})
    else:
        await gym.delete([row])


async def _partner(gym: Gym, drive_id: str, row: Held) -> Held | None:
    """The membership of a permission on a shared drive; a listed membership has no permission."""
    return await membership_of(gym, drive_id, row) if isinstance(row, Permission) else None


async def _share(gym: Gym, holder: File | SharedDrive) -> None:
    if isinstance(holder, SharedDrive):
        await share_drive(gym, holder.id, admin=False)
    else:
        await share_file(gym, holder.id)


def _is_own(gym: Gym, row: Held) -> bool:
    return row.user_id is not None and row.user_id == gym.actor.user_id


async def _grantee_of(gym: Gym, row: Held) -> Grantee:
    user = await gym.get(User, row.user_id) if row.user_id else None
    email = row.email_address if isinstance(row, Permission) else None
    if row.type == "user":
        return Grantee("user", email or (user.email if user else None), None, user)
    if row.type == "group":
        group = await gym.get(Group, row.group_id) if row.group_id else None
        return Grantee("group", email or (group.email if group else None), None, None, group)
    return Grantee(row.type or "anyone", None, row.domain)


async def _transferable(gym: Gym, file_id: str, *, confirmed: bool, admin: bool) -> File:
    """A file whose ownership the acting user may transfer: the owner, or an administrator.

    Raises:
        ToolError: `OWNERSHIP_NOT_CONFIRMED`; as for `reach`.
    """
    if not confirmed:
        message = "set transferOwnership to true to make another user the owner"
        raise ToolError("OWNERSHIP_NOT_CONFIRMED", message, "transferOwnership")
    if admin and gym.is_strict and (await principal(gym)).is_in(ADMINISTRATORS):
        return await _administered(gym, file_id)
    return await reach(gym, file_id, "owner")


async def _administered(gym: Gym, file_id: str) -> File:
    """A file that an administrator reaches without a role on it; others reach it by their roles."""
    if gym.is_strict and not (await principal(gym)).is_in(ADMINISTRATORS):
        return await reach(gym, file_id)
    file = await gym.get(File, file_id)
    if file is None:
        raise missing("File", "FILE_NOT_FOUND", file_id, "fileId")
    return file
