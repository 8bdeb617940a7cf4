"""New files: created from fields, copied from others, and ids for them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from opsgym_domains.drive.content import add_revision, checksums, has_content, is_native, stored_text
from opsgym_domains.drive.files import refuse_download
from opsgym_domains.drive.forms import FOLDER, NATIVE, SHORTCUT, dumped
from opsgym_domains.drive.history import record_file
from opsgym_domains.drive.reach import reach
from opsgym_domains.drive.resources import Resource, file_resource
from opsgym_domains.drive.sharing import grant_on_file, grantee
from opsgym_domains.drive.tables import File, Permission, PooledId, Revision
from opsgym_domains.drive.toolbox import tool
from opsgym_domains.drive.tree import Place, is_folder, link, place, shortcut_target
from opsgym_domains.kit.errors import ToolError, short
from opsgym_domains.kit.gym import Gym

MOST_IDS = 1000
_DOCUMENTS = {"document": "document", "spreadsheet": "spreadsheets", "presentation": "presentation"}
"""Part of the address of Drive's own documents, by the end of their type."""
_ICON = "https://ssl.gstatic.com/docs/doclist/images/icon_1x_{}_list.png"
_ROLES = ("reader", "commenter", "writer", "fileOrganizer")


@tool(adds=File)
async def create_file(
    gym: Gym,
    name: str,
    mime_type: str,
    parents: Sequence[str] = (),
    content_hints: Mapping[str, Any] | None = None,
    shortcut_details: Mapping[str, str] | None = None,
    permissions: Sequence[Mapping[str, Any]] = (),
    keep_revision_forever: bool = False,
    include_labels: str | None = None,
    **fields: Any,
) -> Resource:
    """Create a file, a folder (application/vnd.google-apps.folder) or a shortcut, which you own.

    In a shared drive the drive owns it. No content is uploaded; contentHints.indexableText becomes its text. Returns
    the file.
    """
    where = await place(gym, parents)
    target = await shortcut_target(gym, (shortcut_details or {}).get("targetId")) if mime_type == SHORTCUT else None
    text = (content_hints or {}).get("indexableText")
    if text and not has_content(mime_type):
        raise ToolError("NO_CONTENT", f"{mime_type} has no content", "contentHints")
    file = File(**_given(fields), name=_name(name), mime_type=mime_type, **where.columns, **checksums(mime_type, text))
    if target is not None:
        file.is_shortcut, file.shortcut_target_id, file.shortcut_target_mime = True, target.id, target.mime_type
    await _store(gym, file, where)
    if has_content(mime_type):
        blob = await stored_text(gym, text) if text else None
        await add_revision(gym, file, blob.id if blob else None, keep=keep_revision_forever)
    for permission in permissions:
        await _grant(gym, file, permission)
    await record_file(gym, "file_created", file, action="create", file_type=mime_type)
    return await file_resource(gym, file, include_labels)


@tool(adds=File)
async def copy_files(
    gym: Gym,
    file_id: str,
    name: str | None = None,
    parents: Sequence[str] | None = None,
    keep_revision_forever: bool = False,
    include_labels: str | None = None,
    **fields: Any,
) -> Resource:
    """Copy a file with its content; you own the copy.

    Permissions, labels and comments are not copied. The copy is beside the file unless parents is given, and is called
    `Copy of …` unless name is. Folders cannot be copied (NOT_COPYABLE). Returns the copy.
    """
    source = await reach(gym, file_id)
    if is_folder(source):
        raise ToolError("NOT_COPYABLE", "a folder cannot be copied; create one and copy its files", "fileId")
    await refuse_download(gym, source)
    where = await (place(gym, parents) if parents else _beside(gym, source))
    of_source = {name: getattr(source, name) for name in ("description", "properties", "app_properties")}
    given = _given({**of_source, **fields})
    mime_type = given.pop("mime_type", source.mime_type)
    copied = ("size_bytes", "md5_checksum", "sha1_checksum", "quota_bytes_used")
    sizes = {column: getattr(source, column) for column in copied}
    file = File(**given, **sizes, name=_name(name or f"Copy of {source.name}"), mime_type=mime_type, **where.columns)
    for column in ("is_shortcut", "shortcut_target_id", "shortcut_target_mime"):
        setattr(file, column, getattr(source, column))
    await _store(gym, file, where)
    if has_content(mime_type):
        head = await gym.get(Revision, source.head_revision_id) if source.head_revision_id else None
        await add_revision(gym, file, head.blob_id if head else None, keep=keep_revision_forever)
    await record_file(gym, "file_created", file, action="copy", source=source.id)
    return await file_resource(gym, file, include_labels)


@tool(
    adds=PooledId,
    words={
        "count": "Number of ids, at most 1,000",
        "space": "Space in which the ids can be used: drive or appDataFolder",
        "type": "Kind of items: files or shortcuts",
    },
)
async def generate_files_Ids(  # noqa: N802 - the published name
    gym: Gym, count: int = 10, space: str = "drive", **_: Any
) -> Resource:
    """Reserve ids that no file has, of the pool and new ones.

    Returns `ids`; the tools that create files choose ids themselves. Refused (INVALID_COUNT) for more than 1,000.
    """
    if not 1 <= count <= MOST_IDS:
        raise ToolError("INVALID_COUNT", f"count is between 1 and {MOST_IDS:,}, not {count}", "count")
    free = (await gym.all(PooledId, PooledId.reserved.is_not(True)))[:count]
    for row in free:
        await gym.update(row, {"reserved": True, "reserved_time": gym.now()})
    new = [PooledId(reserved=True, reserved_time=gym.now()) for _ in range(count - len(free))]
    await gym.insert_all(new)
    return {"kind": "drive#generatedIds", "space": space, "ids": [row.id for row in (*free, *new)]}


async def _beside(gym: Gym, file: File) -> Place:
    """The place of a file, or the own top level where the acting user cannot add to it."""
    try:
        if file.parent_id:
            return await place(gym, [file.parent_id])
        return await place(gym, [file.drive_id]) if file.drive_id else Place()
    except ToolError:
        return Place()


def _given(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments that are columns."""
    columns = {name: value for name, value in fields.items() if name in _COLUMNS and value is not None}
    return columns | {name: dumped(_pairs(fields.get(name))) for name in ("properties", "app_properties")}


def _pairs(value: Any) -> Mapping[str, str]:
    return properties_of(json.loads(value) if isinstance(value, str) else value or {})


def properties_of(given: Mapping[str, Any]) -> dict[str, str]:
    """Properties as they are stored: texts by key.

    Raises:
        ToolError: `INVALID_PROPERTY`.
    """
    for key, value in given.items():
        if isinstance(value, dict | list) or len(f"{key}{value}".encode()) > LONGEST_PROPERTY:
            message = f"{short(key)}: a property is a text, with its key at most {LONGEST_PROPERTY} bytes"
            raise ToolError("INVALID_PROPERTY", message, "properties")
    return {key: value if isinstance(value, str) else json.dumps(value) for key, value in given.items()}


LONGEST_PROPERTY = 4096
"""Largest property in bytes; the API allows 124, which published rows exceed."""
_COLUMNS = frozenset(
    {"mime_type", "starred", "trashed", "description", "created_time", "modified_time", "original_filename",
     "writers_can_share"}
)  # fmt: skip
"""Columns that arguments of a new file give."""


def _name(name: str) -> str:
    if not name.strip():
        raise ToolError("NAME_REQUIRED", "a file needs a name", "name")
    return name


async def _store(gym: Gym, file: File, where: Place) -> None:
    """Adds a new file with what follows from its type and place, its paths, and its owner outside shared drives."""
    if file.modified_time is None:
        file.modified_time = gym.now()
    if file.trashed:
        file.explicitly_trashed, file.trashed_time = True, gym.now()
    file.modified_by = str(gym.actor.user_id)
    file.owned_by_me = where.drive_id is None
    await gym.insert(file)
    await gym.update(file, links(file))
    await link(gym, file)
    if where.drive_id is None:
        await gym.insert(Permission(file_id=file.id, role="owner", type="user", user_id=gym.actor.user_id))


def links(file: File) -> dict[str, Any]:
    """Columns of links and of parts of the name."""
    kind = (file.mime_type or "").removeprefix(NATIVE)
    if file.mime_type == FOLDER:
        view = f"https://drive.google.com/drive/folders/{file.id}"
    elif kind in _DOCUMENTS:
        view = f"https://docs.google.com/{_DOCUMENTS[kind]}/d/{file.id}/edit"
    else:
        view = f"https://drive.google.com/file/d/{file.id}/view"
    columns: dict[str, Any] = {"web_view_link": view, "icon_link": _ICON.format(_icon(file.mime_type))}
    if not is_native(file.mime_type):
        extension = file.name.rpartition(".")[2] if "." in file.name.strip(".") else None
        columns |= {
            "web_content_link": f"https://drive.google.com/uc?id={file.id}",
            "file_extension": extension,
            "full_file_extension": extension,
            "original_filename": file.original_filename or file.name,
        }
    return columns


def _icon(mime_type: str | None) -> str:
    kind = (mime_type or "").removeprefix(NATIVE) if is_native(mime_type) else (mime_type or "").rpartition("/")[2]
    return kind if kind.isalnum() else "generic"


async def _grant(gym: Gym, file: File, permission: Mapping[str, Any]) -> None:
    """A permission that the call gives with the file.

    Raises:
        ToolError: `INVALID_PERMISSION`; as for `grant_on_file`.
    """
    role, kind = permission.get("role"), permission.get("type")
    texts = [permission.get(name) for name in ("emailAddress", "domain")]
    if role not in _ROLES or kind not in ("user", "group", "domain", "anyone"):
        message = f"a permission has a type and a role: {', '.join(_ROLES)}"
        raise ToolError("INVALID_PERMISSION", message, "permissions")
    if not all(text is None or isinstance(text, str) for text in texts):
        raise ToolError("INVALID_PERMISSION", "emailAddress and domain are texts", "permissions")
    await grant_on_file(gym, file, role, await grantee(gym, kind, *texts))
