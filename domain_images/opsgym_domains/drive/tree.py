"""The tree of folders: where a file is, and rows that follow from it.

Invariant: a file has at most one parent, which is a folder of the same shared drive; no folder is below itself.
`path_closure` has the paths of every file that a tool created or moved.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from opsgym_domains.drive.forms import FOLDER, SHORTCUT
from opsgym_domains.drive.reach import below, path, reach, reach_drive
from opsgym_domains.drive.tables import File, PathClosure, SharedDrive
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym

ROOT = "root"
"""Name of the acting user's own top level."""
DEEPEST = 100
"""Most folders above a file."""


@dataclass(frozen=True)
class Place:
    """Where a file is: in a folder, or at the top level of a shared drive or of a user."""

    folder: File | None = None
    drive_id: str | None = None

    @property
    def columns(self) -> dict[str, Any]:
        """Columns of a file in this place."""
        folder_id = self.folder.id if self.folder else None
        return {"parent_id": folder_id, "parent_ids": _ids(folder_id), "drive_id": self.drive_id}


def _ids(folder_id: str | None) -> str:
    return json.dumps([folder_id] if folder_id else [])


async def place(gym: Gym, parents: Sequence[str], *, field: str = "parents") -> Place:
    """The place that parents of a file name: one folder, a shared drive, or `root`.

    Raises:
        ToolError: `TOO_MANY_PARENTS`, `NOT_A_FOLDER`, `FILE_NOT_FOUND`, `INSUFFICIENT_FILE_PERMISSIONS`.
    """
    if len(parents) > 1:
        raise ToolError("TOO_MANY_PARENTS", f"a file has one parent; {field} names {len(parents)}", field)
    if not parents or parents[0] == ROOT:
        return Place()
    if await gym.get(SharedDrive, parents[0]) is not None:
        return Place(drive_id=(await reach_drive(gym, parents[0], "writer", field=field)).id)
    folder = await reach(gym, parents[0], "writer", field=field)
    if folder.mime_type != FOLDER:
        raise ToolError("NOT_A_FOLDER", f"{folder.id} is not a folder but {folder.mime_type}", field)
    if folder.trashed:
        raise ToolError("FOLDER_IN_TRASH", f"the folder {folder.id} is in the trash", field)
    return Place(folder, folder.drive_id)


async def refuse_below_itself(gym: Gym, file: File, folder: File | None) -> None:
    """Refuses to move a folder into itself or below itself, and a tree that is too deep.

    Raises:
        ToolError: `CYCLE`, `TREE_TOO_DEEP`.
    """
    above = [] if folder is None else await path(gym, folder)
    if file.id in {one.id for one in above}:
        raise ToolError("CYCLE", f"{file.id} cannot be moved into itself or a folder below it", "addParents")
    if len(above) >= DEEPEST:
        raise ToolError("TREE_TOO_DEEP", f"more than {DEEPEST} folders above a file", "addParents")


async def everything_below(gym: Gym, file: File) -> list[File]:
    """All files below a folder."""
    return [one for one in await gym.all(File, File.id.in_(below(File.id == file.id))) if one.id != file.id]


async def link(gym: Gym, file: File) -> None:
    """Adds the paths of a new file."""
    above = await path(gym, file)
    paths = [PathClosure(ancestor_id=one.id, descendant_id=file.id, depth=depth) for depth, one in enumerate(above)]
    await gym.insert_all(paths)


async def relink(gym: Gym, file: File) -> None:
    """Replaces the paths of a moved file and of everything below it."""
    moved = [file, *await everything_below(gym, file)]
    await gym.delete(await gym.all(PathClosure, PathClosure.descendant_id.in_([one.id for one in moved])))
    for one in moved:
        await link(gym, one)


def is_folder(file: File) -> bool:
    """Whether a file is a folder."""
    return file.mime_type == FOLDER


async def shortcut_target(gym: Gym, target_id: str | None) -> File:
    """The file that a shortcut points to.

    Raises:
        ToolError: `SHORTCUT_TARGET_REQUIRED`, `SHORTCUT_TARGET_INVALID`, `FILE_NOT_FOUND`.
    """
    if not target_id:
        message = "a shortcut needs shortcutDetails.targetId, the file that it points to"
        raise ToolError("SHORTCUT_TARGET_REQUIRED", message, "shortcutDetails")
    target = await reach(gym, target_id, field="shortcutDetails.targetId")
    if target.mime_type == SHORTCUT:
        raise ToolError("SHORTCUT_TARGET_INVALID", "a shortcut cannot point to a shortcut", "shortcutDetails.targetId")
    return target
