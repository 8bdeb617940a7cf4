"""Changes of files: fields, place, trash, and deletion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from opsgym_domains.drive.file_creation import properties_of
from opsgym_domains.drive.forms import dumped, loaded
from opsgym_domains.drive.history import record_file
from opsgym_domains.drive.reach import owned_by, owners_of, path, reach, reach_drive
from opsgym_domains.drive.resources import Resource, file_resource, parents_of
from opsgym_domains.drive.tables import File, Permission, TrashEntry
from opsgym_domains.drive.toolbox import tool
from opsgym_domains.drive.tree import Place, everything_below, place, refuse_below_itself, relink
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym

_QUIET = frozenset({"starred"})
"""Fields whose change does not modify the file."""


@tool(changes=File)
async def update_files(
    gym: Gym,
    file_id: str,
    trashed: bool | None = None,
    properties: Mapping[str, Any] | None = None,
    app_properties: Mapping[str, Any] | None = None,
    add_parents: str | None = None,
    remove_parents: str | None = None,
    include_labels: str | None = None,
    **fields: Any,
) -> Resource:
    """Change fields of a file, move it, or put it into the trash or take it out.

    Fields that are not given keep their value. A file has one parent: addParents moves it. What is below a folder goes
    to the trash and back with it. A file that is taken out of a folder in the trash moves to the top level. Returns
    the file.
    """
    given = {name: value for name, value in fields.items() if name in _FIELDS}
    file = await reach(gym, file_id, "writer" if set(given) - _QUIET or properties or app_properties else "reader")
    if "name" in given and not given["name"].strip():
        raise ToolError("NAME_REQUIRED", "a file needs a name", "name")
    if properties is not None:
        given["properties"] = _properties(file.properties, properties)
    if app_properties is not None:
        given["app_properties"] = _properties(file.app_properties, app_properties)
    if add_parents or remove_parents:
        await _move(gym, file, _ids(add_parents), _ids(remove_parents))
    if trashed is not None and trashed is not bool(file.trashed):
        await _trash(gym, file, trashed=trashed)
    if set(given) - _QUIET:
        given |= {"modified_time": gym.now(), "modified_by": gym.actor.user_id, "modified_by_me": True}
    await gym.update(file, given)
    await record_file(gym, "file_updated", file, action="update")
    return await file_resource(gym, file, include_labels)


_FIELDS = frozenset({"name", "description", "mime_type", "starred"})


def _properties(before: str | None, given: Mapping[str, Any]) -> str | None:
    """The properties after a change, in which null removes one."""
    present = {**loaded(before, {}), **properties_of({k: v for k, v in given.items() if v is not None})}
    return dumped({key: value for key, value in present.items() if given.get(key, "") is not None})


def _ids(text: str | None) -> list[str]:
    return [key.strip() for key in (text or "").split(",") if key.strip()]


# --- place -----------------------------------------------------------------------------------------------------------


async def _move(gym: Gym, file: File, add: Sequence[str], remove: Sequence[str]) -> None:
    """Moves a file.

    Raises:
        ToolError: `NOT_A_PARENT`, `CYCLE`; as for `place`.
    """
    here = {*parents_of(file), *([file.drive_id] if file.drive_id else ["root"])}
    if unknown := [key for key in remove if key not in here]:
        raise ToolError("NOT_A_PARENT", f"{', '.join(unknown)[:200]} is not a parent of {file.id}", "removeParents")
    where = await place(gym, add, field="addParents") if add else Place(drive_id=file.drive_id)
    await reach(gym, file.id, _needed_to_move(file, where))
    await refuse_below_itself(gym, file, where.folder)
    if where.drive_id != file.drive_id:
        await _change_drive(gym, file, where.drive_id)
    await gym.update(file, where.columns)
    await relink(gym, file)


def _needed_to_move(file: File, where: Place) -> str:
    """Role that moving a file needs: more where it leaves or enters a shared drive."""
    if where.drive_id == file.drive_id:
        return "fileOrganizer" if file.drive_id else "writer"
    return "organizer" if file.drive_id else "owner"


async def _change_drive(gym: Gym, file: File, drive_id: str | None) -> None:
    """Makes a shared drive, or the acting user, the owner of a file and of everything below it."""
    for one in (file, *await everything_below(gym, file)):
        owning = await owners_of(gym, one.id)
        if drive_id is not None:
            await gym.update(one, {"drive_id": drive_id, "owned_by_me": False})
            await gym.delete(owning)
            continue
        await gym.update(one, {"drive_id": None, "owned_by_me": True})
        if not owning:
            await gym.insert(Permission(file_id=one.id, role="owner", type="user", user_id=gym.actor.user_id))


# --- trash -----------------------------------------------------------------------------------------------------------


async def _trash(gym: Gym, file: File, *, trashed: bool) -> None:
    """Puts a file with everything below it into the trash, or takes it out.

    What was put there by itself before stays there, with everything below it.
    """
    await reach(gym, file.id, "fileOrganizer" if file.drive_id else "owner")
    time = gym.now() if trashed else None
    inside = {one.id: one for one in await everything_below(gym, file)}
    for one in inside.values():
        if not _is_put_by_itself(one, inside) and bool(one.trashed) is not trashed:
            await gym.update(one, {"trashed": trashed, "trashed_time": time})
    await gym.update(file, {"trashed": trashed, "explicitly_trashed": trashed, "trashed_time": time})
    # Left in a folder in the trash, the file would be deleted with it.
    if not trashed and any(folder.trashed for folder in (await path(gym, file))[1:]):
        await gym.update(file, Place(drive_id=file.drive_id).columns)
        await relink(gym, file)


def _is_put_by_itself(file: File, inside: Mapping[str, File]) -> bool:
    """Whether a file below a folder, or a folder between the two, was put into the trash by itself."""
    above = inside.get(file.parent_id or "")
    return bool(file.explicitly_trashed) or (above is not None and _is_put_by_itself(above, inside))


@tool(removes=File)
async def delete_files(gym: Gym, file_id: str) -> None:
    """Delete a file for good, without the trash; a folder with everything of yours below it.

    Files of others below a folder go to their top level. update_files with trashed can be undone. Returns nothing.
    """
    file = await reach(gym, file_id)
    await reach(gym, file_id, "organizer" if file.drive_id else "owner")
    await delete(gym, [file])


@tool(removes=File, words={"driveId": "Shared drive whose trash is emptied (drive id); your own trash unless given"})
async def empty_files_trash(gym: Gym, drive_id: str | None = None) -> None:
    """Delete all files in the trash for good: your own, or those of a shared drive.

    The log of the trash keeps their ids. Returns nothing.
    """
    if drive_id is not None:
        await reach_drive(gym, drive_id, "organizer")
        where = File.drive_id == drive_id
    else:
        where = File.id.in_(owned_by(gym.actor.user_id))
    files = await gym.all(File, where, File.trashed.is_(True))
    await gym.insert_all(
        [TrashEntry(file_id=one.id, emptied_time=gym.now(), actor_id=gym.actor.user_id) for one in files]
    )
    await delete(gym, files)


async def delete(gym: Gym, files: Sequence[File]) -> None:
    """Deletes files with everything below them that has the same owner."""
    keys = {file.id for file in files}
    for file in files:
        await _save_others(gym, file)
        await record_file(gym, "file_deleted", file, removed=True, action="delete")
    for file in files:
        if file.parent_id not in keys:
            await gym.delete([file])


async def _save_others(gym: Gym, folder: File) -> None:
    """Moves files of other owners out of a folder that is deleted; a shared drive owns all of its files."""
    if folder.drive_id is not None:
        return
    owners = await _owners(gym, folder)
    for one in await everything_below(gym, folder):
        if await _owners(gym, one) != owners:
            await gym.update(one, Place().columns)
            await relink(gym, one)


async def _owners(gym: Gym, file: File) -> set[str | None]:
    return {row.user_id for row in await owners_of(gym, file.id)}
