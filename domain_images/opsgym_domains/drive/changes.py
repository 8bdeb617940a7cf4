"""The log of changes as tools read it."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, and_, func, or_, select

from opsgym_domains.drive.forms import present, stamp
from opsgym_domains.drive.history import START, newest
from opsgym_domains.drive.reach import drives_of, missing, principal, reach_drive, reachable
from opsgym_domains.drive.resources import Resource, drive_resource, file_resources
from opsgym_domains.drive.tables import Change, File, SharedDrive
from opsgym_domains.drive.toolbox import tool
from opsgym_domains.kit.gym import Gym

BEGINNING = "0"
"""Token before all changes, besides `START`."""


@tool(row=Change, words={"driveId": "Shared drive whose changes are listed from then on (drive id)"})
async def get_changes_start_page_token(
    gym: Gym, drive_id: str | None = None, team_drive_id: str | None = None, **_: Any
) -> Resource:
    """Get the token after which list_changes reports what changes from now on.

    Returns `startPageToken`.
    """
    if drive := drive_id or team_drive_id:
        await reach_drive(gym, drive)
    return {"kind": "drive#startPageToken", "startPageToken": await newest(gym)}


@tool(
    row=Change,
    words={
        "pageToken": "startPageToken, nextPageToken or newStartPageToken of an earlier answer",
        "driveId": "Shared drive whose changes are listed (drive id)",
    },
)
async def list_changes(
    gym: Gym,
    page_token: str,
    drive_id: str | None = None,
    include_removed: bool = False,
    page_size: int = 100,
    include_labels: str | None = None,
    **filters: Any,
) -> Resource:
    """List what has changed after a token, the oldest change first.

    Changes of shared drives are left out unless driveId or includeItemsFromAllDrives includes them. A token that no
    answer contained is refused (PAGE_TOKEN_NOT_FOUND). Returns `changes` with the present state of their files, and
    nextPageToken or, on the last page, newStartPageToken.
    """
    token = await checked_token(gym, page_token)
    if drive_id is not None:
        await reach_drive(gym, drive_id)
    all_drives = bool(filters.get("include_items_from_all_drives")) and not filters.get("restrict_to_my_drive")
    conditions = [Change.token > token, *_of_drive(drive_id, all_drives=all_drives)]
    if not include_removed:
        conditions.append(Change.removed.is_not(True))
    if gym.is_strict:
        conditions.append(await _visible(gym))
    rows = sorted(await gym.all(Change, *conditions), key=lambda row: row.token)
    shown = rows[:page_size]
    more = {"nextPageToken": shown[-1].token} if len(rows) > page_size else {"newStartPageToken": await newest(gym)}
    return {"kind": "drive#changeList", "changes": await _resources(gym, shown, include_labels), **more}


async def checked_token(gym: Gym, token: str) -> str:
    """A token of the log of changes: that of a change, as tools return them, or one before all changes.

    Any other text would skip changes, since tokens are compared as text.

    Raises:
        ToolError: `PAGE_TOKEN_NOT_FOUND`.
    """
    if token not in (BEGINNING, START) and await gym.get(Change, token) is None:
        raise missing("Change token", "PAGE_TOKEN_NOT_FOUND", token, "pageToken")
    return token


def _of_drive(drive_id: str | None, *, all_drives: bool) -> list[ColumnElement[bool]]:
    """Conditions of the changes of a shared drive, of all, or of what is in none."""
    if drive_id is not None:
        inside = select(File.id).where(File.drive_id == drive_id)
        return [or_(Change.drive_id == drive_id, _drive_of_file == drive_id, Change.file_id.in_(inside))]
    if all_drives:
        return []
    inside = select(File.id).where(File.drive_id.is_not(None))
    return [Change.drive_id.is_(None), _drive_of_file.is_(None), Change.file_id.not_in(inside)]


_drive_of_file: ColumnElement[Any] = func.drive_property(Change.payload, "drive_id")
"""Shared drive that a file was in when it changed; changes of a seed may not state it."""


async def _visible(gym: Gym) -> ColumnElement[bool]:
    """Condition of the changes that the acting user sees.

    They are of what the user reaches, what the user removed, and what was removed from a shared drive of the user's.
    """
    user = await principal(gym)
    files = select(File.id).where(reachable(user))
    drives = select(SharedDrive.id).where(drives_of(user))
    own = func.drive_property(Change.payload, "actor_id") == user.user_id
    removed = and_(Change.removed.is_(True), _drive_of_file.in_(drives))
    return or_(Change.file_id.in_(files), Change.drive_id.in_(drives), own, removed)


async def _resources(gym: Gym, rows: list[Change], labels: str | None) -> list[Resource]:
    files = await gym.all(File, File.id.in_({row.file_id for row in rows if row.file_id}))
    drives = await gym.all(SharedDrive, SharedDrive.id.in_({row.drive_id for row in rows if row.drive_id}))
    shown = {one["id"]: one for one in await file_resources(gym, files, labels)}
    shown |= {one.id: drive_resource(one) for one in drives}
    return [
        present(
            {
                "kind": "drive#change",
                "changeType": "file" if row.file_id else "drive",
                "type": row.change_type,
                "time": stamp(row.change_time),
                "removed": bool(row.removed),
                "fileId": row.file_id,
                "file": shown.get(row.file_id or ""),
                "driveId": row.drive_id,
                "drive": None if row.file_id else shown.get(row.drive_id or ""),
                "token": row.token,
            }
        )
        for row in rows
    ]
