"""Files as they are read: one by its id, and lists that a search selects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, SQLColumnExpression, and_, case, func, or_, select

from opsgym_domains.drive.content import has_content, is_native, text_of
from opsgym_domains.drive.file_labels import field_terms
from opsgym_domains.drive.forms import FOLDER
from opsgym_domains.drive.pages import next_page, offset_of
from opsgym_domains.drive.query import Node, parse
from opsgym_domains.drive.reach import (
    ROLES,
    Principal,
    below,
    granted_to,
    holding,
    member,
    named,
    principal,
    reach,
    reach_drive,
    reachable,
    reached_through,
    refuse_low,
    role_on,
    shared_widely,
    suffices,
)
from opsgym_domains.drive.resources import SHARING, Resource, file_resource, shared_files
from opsgym_domains.drive.search import FILE_TERMS, depends_on_user, found_files
from opsgym_domains.drive.tables import DriveMembership, File, Permission, SharedDrive
from opsgym_domains.drive.toolbox import tool
from opsgym_domains.kit.errors import ToolError, short
from opsgym_domains.kit.gym import Gym

CORPORA = ("user", "domain", "drive", "allDrives")


@tool(row=File, words={"alt": "media returns the content of the file instead of its fields"})
async def get_files(
    gym: Gym, file_id: str, alt: str | None = None, include_labels: str | None = None, **_: Any
) -> Resource:
    """Get a file, a folder or a shortcut; with alt=media its content.

    The content of Drive's own documents is exported instead (NOT_DOWNLOADABLE). In access strict `capabilities` says
    what you may do. Refused (FILE_NOT_FOUND) if no file that you reach has this id.
    """
    file = await reach(gym, file_id)
    if alt == "media":
        return {"kind": "drive#file", "id": file.id, "mimeType": file.mime_type, "content": await content(gym, file)}
    return await file_resource(gym, file, include_labels) | await _capabilities(gym, file)


async def content(gym: Gym, file: File) -> str:
    """The content of a file that is not one of Drive's own documents.

    Raises:
        ToolError: `NOT_DOWNLOADABLE`, `CONTENT_NOT_AVAILABLE`, `INSUFFICIENT_FILE_PERMISSIONS`.
    """
    if not has_content(file.mime_type) or is_native(file.mime_type):
        message = f"{file.mime_type} has no content to download; documents of Drive are exported with export_files"
        raise ToolError("NOT_DOWNLOADABLE", message, "fileId")
    await refuse_download(gym, file)
    text = await text_of(gym, file.head_revision_id)
    if text is None:
        raise ToolError("CONTENT_NOT_AVAILABLE", "the content of this file is not kept in this environment", "fileId")
    return text


async def refuse_download(gym: Gym, file: File) -> None:
    """Refuses downloads, copies and exports that the restrictions of a shared drive exclude, in access strict.

    Raises:
        ToolError: `INSUFFICIENT_FILE_PERMISSIONS`.
    """
    if not gym.is_strict or file.drive_id is None:
        return
    drive = await gym.fetch(SharedDrive, file.drive_id)
    needed = "reader"
    if drive.copy_requires_writer_permission or drive.download_restricted_for_readers:
        needed = "writer"
    if drive.download_restricted_for_writers:
        needed = "organizer"
    refuse_low(await role_on(gym, file, await principal(gym)), needed, f"file {file.id}", "fileId")


async def _capabilities(gym: Gym, file: File) -> Resource:
    if not gym.is_strict:
        return {}
    role = await role_on(gym, file, await principal(gym))
    trash = "fileOrganizer" if file.drive_id else "owner"
    needed = {
        "canComment": "commenter",
        "canEdit": "writer",
        "canRename": "writer",
        "canShare": "writer" if file.drive_id or file.writers_can_share is not False else "owner",
        "canTrash": trash,
        "canDelete": "organizer" if file.drive_id else "owner",
    }
    return {"capabilities": {name: suffices(role, least) for name, least in needed.items()}}


# --- lists -----------------------------------------------------------------------------------------------------------


@tool(
    row=File,
    words={
        "q": "Search, for instance name contains 'plan' and 'me' in owners",
        "driveId": "Shared drive whose items are listed (drive id)",
        "orderBy": "Sort keys, separated by commas, each with desc to reverse it: folder,modifiedTime desc",
        "trashed": "Whether only items in the trash, or only others, are listed; both unless given",
    },
)
async def list_files(
    gym: Gym,
    q: str | None = None,
    order_by: str | None = None,
    page_size: int = 100,
    page_token: str | None = None,
    **filters: Any,
) -> Resource:
    """List files and folders that a search finds, the latest changed first unless orderBy is given.

    A search joins conditions with and, or, not and brackets: name, fullText, mimeType, modifiedTime, createdTime,
    trashed, starred, parents, owners, writers, readers, sharedWithMe, properties, visibility, labels, and values of
    labels as labels/LABEL.FIELD, where the field is the label's key. Items of shared drives are left out unless
    driveId, corpora or includeItemsFromAllDrives includes them. Returns `files` and the token of the next page. A
    search that is not valid is refused (INVALID_QUERY) with the place of the fault.
    """
    search = parse(q, {**FILE_TERMS, **await field_terms(gym, q)}) if q and q.strip() else None
    user = await _searcher(gym, search, filters.get("corpora"))
    conditions = await _scope(gym, user, **filters)
    if search is not None:
        conditions.append(found_files(search, user))
    if "trashed" in filters:
        conditions.append(File.trashed.is_(True) if filters["trashed"] else File.trashed.is_not(True))
    if gym.is_strict:
        conditions.append(_listed(user, conditions, by_link="drive_id" in filters))
    start, order = offset_of(page_token), order_of(order_by or "modifiedTime desc")
    rows = await gym.some(File, conditions, SHARING, order, start, page_size + 1)
    files, more = shared_files(gym, rows[:page_size]), next_page(start, page_size, start + len(rows))
    return {"kind": "drive#fileList", "incompleteSearch": False, "files": files, **more}


async def _searcher(gym: Gym, search: Node | None, corpora: str | None) -> Principal:
    """The acting user; without address and groups if the list does not depend on them, which spares two queries."""
    if gym.is_strict or corpora == "domain" or (search is not None and depends_on_user(search)):
        return await principal(gym)
    return Principal(str(gym.actor.user_id), "")


async def _scope(
    gym: Gym,
    user: Principal,
    corpora: str = "user",
    drive_id: str | None = None,
    include_items_from_all_drives: bool = False,
    spaces: str = "drive",
    **_: Any,
) -> list[ColumnElement[bool]]:
    """Conditions of the files to look at.

    Raises:
        ToolError: `INVALID_CORPORA`, `DRIVE_ID_REQUIRED`, `DRIVE_NOT_FOUND`.
    """
    if corpora not in CORPORA:
        raise ToolError("INVALID_CORPORA", f"corpora is one of {', '.join(CORPORA)}, not {short(corpora)}", "corpora")
    if corpora == "drive" and not drive_id:
        raise ToolError("DRIVE_ID_REQUIRED", "corpora drive needs driveId", "driveId")
    conditions: list[ColumnElement[bool]] = [File.space.in_([space.strip() for space in spaces.split(",")])]
    if drive_id:
        await reach_drive(gym, drive_id)
        conditions.append(File.drive_id == drive_id)
    elif corpora != "allDrives" and not include_items_from_all_drives:
        conditions.append(File.drive_id.is_(None))
    if corpora == "domain":
        conditions.append(_found_by_everybody(user))
    return conditions


def _listed(user: Principal, files: Sequence[ColumnElement[bool]], *, by_link: bool) -> ColumnElement[bool]:
    """Condition of the files that a user reaches and a search lists.

    Args:
        user: The user.
        files: Conditions of the files to look at.
        by_link: Whether files are listed that only a link opens, as those of a given shared drive.
    """
    if by_link:
        return reachable(user, *files)
    findable = and_(shared_widely(user), Permission.allow_file_discovery.is_(True))
    listed = holding(or_(named(user), findable))
    role = and_(granted_to(user), Permission.role.in_(ROLES))
    members = member(user)
    return reached_through(files, (role, and_(members, DriveMembership.role.in_(ROLES))), (listed, members))


def _found_by_everybody(user: Principal) -> ColumnElement[bool]:
    """Condition of the files that are shared with the domain and can be found there."""
    shared = holding(shared_widely(user), Permission.allow_file_discovery.is_(True))
    return File.id.in_(below(File.id.in_(select(Permission.file_id).where(shared, Permission.file_id.is_not(None)))))


_DIGITS = 40
_NUMBERS = ("([0-9]+)", rf"{'0' * _DIGITS}\1"), (f"[0-9]*([0-9]{{{_DIGITS}}})", r"\1")
"""Replacements that write the numbers of a name with as many digits, so that they sort as numbers."""


def _natural(name: ColumnElement[Any]) -> ColumnElement[Any]:
    for pattern, replacement in _NUMBERS:
        name = func.regexp_replace(name, pattern, replacement, "g")
    return name


_KEYS: Mapping[str, SQLColumnExpression[Any]] = {
    "createdTime": File.created_time,
    "folder": File.mime_type.is_distinct_from(FOLDER),
    "modifiedByMeTime": case((File.modified_by_me.is_(True), File.modified_time)),
    "modifiedTime": File.modified_time,
    "name": func.lower(File.name),
    "name_natural": _natural(func.lower(File.name)),
    "quotaBytesUsed": func.coalesce(File.quota_bytes_used, 0),
    "recency": func.greatest(File.modified_time, File.viewed_by_me_time),
    "sharedWithMeTime": File.created_time,
    "starred": File.starred.is_not(True),
    "viewedByMeTime": File.viewed_by_me_time,
}


def order_of(order_by: str) -> list[ColumnElement[Any]]:
    """The order of files by sort keys; a missing time is the earliest.

    Raises:
        ToolError: `INVALID_ORDER`.
    """
    order: list[ColumnElement[Any]] = []
    for key in order_by.split(","):
        name, _, direction = key.strip().partition(" ")
        if name not in _KEYS or direction.strip() not in ("", "asc", "desc"):
            message = f"{short(key.strip())} is not a sort key; keys: {', '.join(_KEYS)}, each with desc to reverse it"
            raise ToolError("INVALID_ORDER", message, "orderBy")
        column = _KEYS[name]
        order.append(column.desc().nulls_last() if direction.strip() == "desc" else column.asc().nulls_first())
    return order
