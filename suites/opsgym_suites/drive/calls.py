"""Tool calls of Drive tasks.

Invariant: keys come from rows, so no task states one. Keys of rows that the server makes are counted in each database.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from opsgym_api.tasks.task import ToolCall
from opsgym_domains.drive.forms import FOLDER, SHORTCUT
from opsgym_domains.drive.tables import (
    AccessProposal,
    Comment,
    DriveMembership,
    File,
    Label,
    Permission,
    Reply,
    Revision,
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


def in_trash(drive: SharedDrive | None = None) -> ToolCall:
    """Lists the trash of a shared drive, or one's own."""
    if drive is not None:
        return call("list_files", q="trashed = true", corpora="drive", driveId=drive.id)
    return call("list_files", q="trashed = true and 'me' in owners")


def owned_by(address: str) -> ToolCall:
    """Lists the files of an owner."""
    return search(f"'{address}' in owners and trashed = false")


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


def revisions_of(file: File) -> ToolCall:
    """Lists the revisions of a file."""
    return call("list_revisions", fileId=file.id)


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


def move(file: File | str, to: File | SharedDrive | str) -> ToolCall:
    """Moves a file into a folder, or to the top level of a shared drive."""
    return change_file(file, addParents=to if isinstance(to, str) else to.id)


def to_trash(file: File) -> ToolCall:
    """Puts a file into the trash."""
    return change_file(file, trashed=True)


def from_trash(file: File) -> ToolCall:
    """Takes a file out of the trash."""
    return change_file(file, trashed=False)


def delete(file: File) -> ToolCall:
    """Deletes a file for good."""
    return call("delete_files", fileId=file.id)


def empty_trash(drive: SharedDrive | None = None) -> ToolCall:
    """Empties the trash of a shared drive, or one's own."""
    return call("empty_files_trash", **({"driveId": drive.id} if drive else {}))


def make_folder(name: str, parent: File | SharedDrive | str | None = None) -> ToolCall:
    """Creates a folder."""
    key = parent if isinstance(parent, str) or parent is None else parent.id
    return call("create_file", name=name, mimeType=FOLDER, **({"parents": [key]} if key else {}))


def make_shortcut(name: str, target: File, parent: File | SharedDrive | str) -> ToolCall:
    """Creates a shortcut."""
    key = parent if isinstance(parent, str) else parent.id
    return call("create_file", name=name, mimeType=SHORTCUT, parents=[key], shortcutDetails={"targetId": target.id})


def copy(file: File, name: str, to: File | SharedDrive | str) -> ToolCall:
    """Copies a file into a folder."""
    return call("copy_files", fileId=file.id, name=name, parents=[to if isinstance(to, str) else to.id])


def read_text(file: File) -> ToolCall:
    """Reads the content of a document."""
    return call("export_files", fileId=file.id, mimeType="text/plain")


# --- discussion and revisions ----------------------------------------------------------------------------------------


def reply(comment: Comment, text: str) -> ToolCall:
    """Answers a comment."""
    return call("create_replies", fileId=comment.file_id, commentId=comment.id, content=text)


def remark_on(file: File | str, text: str) -> ToolCall:
    """Comments on a file."""
    return call("create_comments", fileId=file if isinstance(file, str) else file.id, content=text)


def change_reply(comment: Comment, row: Reply, text: str) -> ToolCall:
    """Changes a reply."""
    return call("update_replies", fileId=comment.file_id, commentId=comment.id, replyId=row.id, content=text)


def delete_reply(comment: Comment, row: Reply) -> ToolCall:
    """Deletes a reply."""
    return call("delete_replies", fileId=comment.file_id, commentId=comment.id, replyId=row.id)


def change_comment(comment: Comment, text: str) -> ToolCall:
    """Changes a comment."""
    return call("update_comments", fileId=comment.file_id, commentId=comment.id, content=text)


def delete_comment(comment: Comment) -> ToolCall:
    """Deletes a comment."""
    return call("delete_comments", fileId=comment.file_id, commentId=comment.id)


def change_revision(row: Revision, **fields: bool) -> ToolCall:
    """Keeps or publishes a revision."""
    return call("update_revisions", fileId=row.file_id, revisionId=row.id, **fields)


def delete_revision(row: Revision) -> ToolCall:
    """Deletes a revision."""
    return call("delete_revisions", fileId=row.file_id, revisionId=row.id)


def each(calls: Sequence[ToolCall | Sequence[ToolCall]]) -> tuple[ToolCall, ...]:
    """Calls and sequences of calls as one sequence."""
    return tuple(one for item in calls for one in ([item] if isinstance(item, ToolCall) else item))
