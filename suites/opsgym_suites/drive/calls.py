"""Tool calls of Drive tasks.

Invariant: keys come from rows, so no task states one. Keys of rows that the server makes are counted in each database.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opsgym_api.tasks.task import ToolCall
from opsgym_domains.drive.tables import (
    AccessProposal,
    DriveMembership,
    File,
    Label,
    Permission,
    SharedDrive,
)
from opsgym_domains.kit.identifiers import ulid_of
from opsgym_suites.drive.seeds.world import World
from opsgym_suites.kit.drafts import call

Holder = File | SharedDrive


def new_key(number: int) -> str:
    """Key of the row that the server makes as its first, second, … in a database: keys are counted."""
    return ulid_of(number)


# --- looking up ------------------------------------------------------------------------------------------------------


def search(query: str, **more: Any) -> ToolCall:
    """Searches all files that the acting user reaches."""
    return call("list_files", q=query, corpora="allDrives", **more)


def named(name: str, *, trashed: bool = False) -> ToolCall:
    """Searches files by words of the name."""
    words = name.replace("'", "\\'")
    return search(f"name contains '{words}' and trashed = {str(trashed).lower()}")


def inside(folder: File | SharedDrive | str) -> ToolCall:
    """Lists what is directly in a folder or a shared drive."""
    return search(f"'{folder if isinstance(folder, str) else folder.id}' in parents and trashed = false")


def labels_of(file: File) -> ToolCall:
    """Lists the labels of a file."""
    return call("list_files_labels", fileId=file.id)


def permissions_of(holder: Holder, **more: Any) -> ToolCall:
    """Lists who has a role on a file or a shared drive."""
    return call("list_permission", fileId=holder.id, **more)


def find_drive(name: str, **more: Any) -> ToolCall:
    """Finds a shared drive by name."""
    return call("list_drives", q=f"name = '{name}'", **more)


def requests_for(file: File) -> ToolCall:
    """Lists the requests for access to a file."""
    return call("list_accessproposals", fileId=file.id)


def comments_on(file: File) -> ToolCall:
    """Lists the comments on a file."""
    return call("list_comments", fileId=file.id)


# --- sharing ---------------------------------------------------------------------------------------------------------


def share(world: World, holder: Holder | str, who: str, role: str, **more: Any) -> ToolCall:
    """Gives a role to a user, to a group (`group:` before the address), to `domain` or to `anyone`."""
    if who in ("domain", "anyone"):
        to = {"type": who} | ({"domain": world.company.host} if who == "domain" else {})
    else:
        kind, address = ("group", who.removeprefix("group:")) if who.startswith("group:") else ("user", who)
        to = {"type": kind, "emailAddress": world.address(address)}
    key = holder if isinstance(holder, str) else holder.id
    return call("create_permission", fileId=key, role=role, **to, **more)


def set_role(holder: Holder, row: Permission | DriveMembership, role: str, **more: Any) -> ToolCall:
    """Gives a grantee another role."""
    return call("update_permission", fileId=holder.id, permissionId=row.id, role=role, **more)


def unshare(holder: Holder, row: Permission | DriveMembership) -> ToolCall:
    """Takes a role away."""
    return call("delete_permission", fileId=holder.id, permissionId=row.id)


def hand_over(world: World, file: File, who: str, *, admin: bool = False) -> ToolCall:
    """Makes a user the owner of a file."""
    more = {"useDomainAdminAccess": True} if admin else {}
    return share(world, file, who, "owner", transferOwnership=True, **more)


def accept(request: AccessProposal, role: str) -> ToolCall:
    """Accepts a request for access."""
    return call("resolve_accessproposals", fileId=request.file_id, proposalId=request.id, action="ACCEPT", role=[role])


def deny(request: AccessProposal) -> ToolCall:
    """Denies a request for access."""
    return call("resolve_accessproposals", fileId=request.file_id, proposalId=request.id, action="DENY")


# --- labels ----------------------------------------------------------------------------------------------------------

_SETTERS = {
    "date": "setDateValues",
    "enum": "setSelectionValues",
    "boolean": "setSelectionValues",
    "number": "setIntegerValues",
    "string": "setTextValues",
}


def set_labels(world: World, file: File | str, **values: str) -> ToolCall:
    """Sets labels of a file by key."""
    changes = [_change(world.label(key), value) for key, value in values.items()]
    key = file if isinstance(file, str) else file.id
    return call("modify_files_labels", fileId=key, labelModifications=changes)


def _change(label: Label, value: str) -> Mapping[str, Any]:
    field = {"fieldId": label.key, _SETTERS[str(label.type)]: [value]}
    return {"labelId": label.id, "fieldModifications": [field]}


# --- files -----------------------------------------------------------------------------------------------------------


def change_file(file: File | str, **fields: Any) -> ToolCall:
    """Changes fields of a file."""
    return call("update_files", fileId=file if isinstance(file, str) else file.id, **fields)


def delete(file: File) -> ToolCall:
    """Deletes a file for good."""
    return call("delete_files", fileId=file.id)


def copy(file: File, name: str, to: File | SharedDrive | str) -> ToolCall:
    """Copies a file into a folder."""
    return call("copy_files", fileId=file.id, name=name, parents=[to if isinstance(to, str) else to.id])


def read_text(file: File) -> ToolCall:
    """Reads the content of a document."""
    return call("export_files", fileId=file.id, mimeType="text/plain")


# --- discussion and revisions ----------------------------------------------------------------------------------------
