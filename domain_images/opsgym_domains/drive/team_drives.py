"""Shared drives by their old name, team drives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opsgym_domains.drive.drives import IMAGE_LINK, change_drive, listed_drives, new_drive, remove_drive
from opsgym_domains.drive.pages import page
from opsgym_domains.drive.reach import reach, reach_drive
from opsgym_domains.drive.resources import Resource, drive_resource
from opsgym_domains.drive.tables import SharedDrive
from opsgym_domains.drive.toolbox import tool
from opsgym_domains.kit.gym import Gym

KIND = "drive#teamDrive"
LARGEST_PAGE = 100


@tool(changes=SharedDrive)
async def update_teamdrive(
    gym: Gym,
    team_drive_id: str,
    background_image_file: Mapping[str, Any] | None = None,
    use_domain_admin_access: bool = False,
    **fields: Any,
) -> Resource:
    """Change name, colour, theme or background of a shared drive; update_drives also sets restrictions.

    Fields that are not given keep their value. Returns the drive.
    """
    drive = await reach_drive(gym, team_drive_id, "organizer", admin=use_domain_admin_access, field="team_drive_id")
    if background_image_file is not None:
        file = await reach(gym, background_image_file["id"], field="id")
        fields["background_image_link"] = IMAGE_LINK.format(file.id)
    return await change_drive(gym, drive, fields) | {"kind": KIND}


@tool(adds=SharedDrive)
async def create_teamdrives(gym: Gym, request_id: str, **fields: Any) -> Resource:
    """Create a shared drive, of which you become organizer, as create_drive does.

    A request id can be used once (REQUEST_ID_IN_USE). Returns the drive.
    """
    return drive_resource(await new_drive(gym, request_id, fields), KIND)


@tool(removes=SharedDrive)
async def delete_teamdrives(gym: Gym, team_drive_id: str) -> None:
    """Delete a shared drive for good, as delete_drive does.

    Items outside the trash prevent it (DRIVE_NOT_EMPTY). Returns nothing.
    """
    await remove_drive(gym, team_drive_id)


@tool(row=SharedDrive)
async def get_teamdrives(gym: Gym, team_drive_id: str) -> Resource:
    """Get a shared drive, as get_drive does.

    Refused (DRIVE_NOT_FOUND) if there is none with this id, or you are not a member of it.
    """
    return drive_resource(await reach_drive(gym, team_drive_id, field="teamDriveId"), KIND)


@tool(row=SharedDrive)
async def list_teamdrives(
    gym: Gym, q: str | None = None, page_size: int = 10, page_token: str | None = None
) -> Resource:
    """List shared drives that you are a member of, as list_drives does.

    Returns `teamDrives` and the token of the next page, by default of ten drives.
    """
    size = min(max(page_size, 1), LARGEST_PAGE)
    shown, more = page(await listed_drives(gym, q), page_token, size)
    return {"kind": "drive#teamDriveList", "teamDrives": [drive_resource(drive, KIND) for drive in shown], **more}
