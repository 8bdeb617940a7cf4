"""Shared drives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement

from opsgym_domains.drive.history import is_recorded, record_drive
from opsgym_domains.drive.pages import page
from opsgym_domains.drive.reach import drives_of, principal, reach, reach_drive, require_administrator
from opsgym_domains.drive.resources import Resource, drive_resource
from opsgym_domains.drive.search import found_drives
from opsgym_domains.drive.tables import DriveMembership, File, SharedDrive
from opsgym_domains.drive.toolbox import tool
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym

CREATED = "drive_created"
IMAGE_LINK = "https://drive.google.com/uc?id={}"
"""Link to a background image, by the id of its file."""
_RESTRICTIONS = {
    "adminManagedRestrictions": "admin_managed_restrictions",
    "copyRequiresWriterPermission": "copy_requires_writer_permission",
    "domainUsersOnly": "domain_users_only",
    "driveMembersOnly": "drive_members_only",
}
"""Column by restriction."""


@tool(row=SharedDrive)
async def get_drive(gym: Gym, drive_id: str, use_domain_admin_access: bool = False) -> Resource:
    """Get a shared drive with its restrictions.

    Refused (DRIVE_NOT_FOUND) if there is none with this id, or you are not a member of it.
    """
    return drive_resource(await reach_drive(gym, drive_id, admin=use_domain_admin_access))


@tool(changes=SharedDrive)
async def hide_drives(gym: Gym, drive_id: str) -> Resource:
    """Hide a shared drive from the default view.

    Its members keep their access. Returns the drive.
    """
    return await change_drive(gym, await reach_drive(gym, drive_id, "organizer"), {"hidden": True})


@tool(changes=SharedDrive)
async def unhide_drives(gym: Gym, drive_id: str) -> Resource:
    """Show a hidden shared drive in the default view again.

    Returns the drive.
    """
    return await change_drive(gym, await reach_drive(gym, drive_id, "organizer"), {"hidden": False})


@tool(adds=SharedDrive)
async def create_drive(gym: Gym, request_id: str, **fields: Any) -> Resource:
    """Create a shared drive, of which you become organizer.

    A request id can be used once (REQUEST_ID_IN_USE); restrictions are set by update_drives. Returns the drive.
    """
    return drive_resource(await new_drive(gym, request_id, fields))


@tool(removes=SharedDrive)
async def delete_drive(
    gym: Gym, drive_id: str, use_domain_admin_access: bool = False, allow_item_deletion: bool = False
) -> None:
    """Delete a shared drive for good, with its members and its trash.

    Items outside the trash prevent it (DRIVE_NOT_EMPTY), unless an administrator also allows their deletion. Returns
    nothing.
    """
    if allow_item_deletion and not use_domain_admin_access:
        message = "allowItemDeletion needs useDomainAdminAccess"
        raise ToolError("ADMINISTRATOR_REQUIRED", message, "allowItemDeletion")
    await remove_drive(gym, drive_id, admin=use_domain_admin_access, items=allow_item_deletion)


@tool(row=SharedDrive)
async def list_drives(
    gym: Gym,
    q: str | None = None,
    page_size: int = 100,
    page_token: str | None = None,
    use_domain_admin_access: bool = False,
) -> Resource:
    """List shared drives that you are a member of, in the order of creation.

    A search can ask for name, createdTime, hidden, memberCount and organizerCount. Administrators can list all drives
    of the domain. Returns `drives` and the token of the next page.
    """
    rows = await listed_drives(gym, q, admin=use_domain_admin_access)
    shown, more = page(rows, page_token, page_size)
    return {"kind": "drive#driveList", "drives": list(map(drive_resource, shown)), **more}


@tool(changes=SharedDrive)
async def update_drives(
    gym: Gym,
    drive_id: str,
    restrictions: Mapping[str, bool] | None = None,
    background_image_file: Mapping[str, Any] | None = None,
    use_domain_admin_access: bool = False,
    **fields: Any,
) -> Resource:
    """Change name, colour, theme, background or restrictions of a shared drive.

    Fields that are not given keep their value. Where administrators manage the restrictions, only they change them.
    Returns the drive.
    """
    drive = await reach_drive(gym, drive_id, "organizer", admin=use_domain_admin_access)
    given = {_RESTRICTIONS[name]: value for name, value in (restrictions or {}).items() if name in _RESTRICTIONS}
    if given and drive.admin_managed_restrictions and not use_domain_admin_access:
        message = "administrators manage the restrictions of this drive; set useDomainAdminAccess"
        raise ToolError("ADMINISTRATOR_REQUIRED", message, "restrictions")
    changes = {**fields, **given, **await _background(gym, background_image_file)}
    return await change_drive(gym, drive, changes)


async def _background(gym: Gym, image: Mapping[str, Any] | None) -> dict[str, str]:
    if image is None:
        return {}
    file = await reach(gym, image["id"], field="id")
    return {"background_image_link": IMAGE_LINK.format(file.id)}


# --- also for the old names ------------------------------------------------------------------------------------------


async def new_drive(gym: Gym, request_id: str, fields: Mapping[str, Any]) -> SharedDrive:
    """Creates a shared drive with the acting user as organizer. Its change keeps the id of the request.

    Raises:
        ToolError: `REQUEST_ID_IN_USE`.
    """
    if await is_recorded(gym, CREATED, request_id=request_id):
        message = "a shared drive was created with this requestId; use another one for another drive"
        raise ToolError("REQUEST_ID_IN_USE", message, "requestId")
    drive = await gym.insert(SharedDrive(**fields))
    await gym.insert(DriveMembership(drive_id=drive.id, type="user", user_id=gym.actor.user_id, role="organizer"))
    await record_drive(gym, CREATED, drive, request_id=request_id)
    return drive


async def change_drive(gym: Gym, drive: SharedDrive, changes: Mapping[str, Any]) -> Resource:
    """Changes a shared drive and returns it."""
    await gym.update(drive, changes)
    await record_drive(gym, "drive_updated", drive)
    return drive_resource(drive)


async def remove_drive(gym: Gym, drive_id: str, *, admin: bool = False, items: bool = False) -> None:
    """Deletes a shared drive.

    Raises:
        ToolError: `DRIVE_NOT_EMPTY`; as for `reach_drive`.
    """
    drive = await reach_drive(gym, drive_id, "organizer", admin=admin)
    left = await gym.count(File, {"drive_id": drive_id}, File.trashed.is_not(True))
    if left and not items:
        message = f"the shared drive has {left} items outside the trash; move them or put them into the trash first"
        raise ToolError("DRIVE_NOT_EMPTY", message, "driveId")
    await record_drive(gym, "drive_deleted", drive, removed=True)
    await gym.delete([drive])


async def listed_drives(gym: Gym, q: str | None, *, admin: bool = False) -> list[SharedDrive]:
    """Shared drives that a search finds, of those that the acting user reaches.

    Raises:
        ToolError: `INVALID_QUERY`, `NOT_ADMINISTRATOR`.
    """
    conditions: list[ColumnElement[bool]] = [found_drives(q)] if q and q.strip() else []
    if gym.is_strict and not (admin and await require_administrator(gym)):
        conditions.append(drives_of(await principal(gym)))
    return list(await gym.all(SharedDrive, *conditions))
