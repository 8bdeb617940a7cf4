"""The rows that calls of Drive's tools write.

Invariant: a call is followed as the server carries it out: a folder with what is below it, a file with its permissions,
labels and comments, a member of a shared drive with the permission. The log of changes, paths and operations follow
from the rest and are not judged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from opsgym_api.tasks.task import ToolCall
from opsgym_domains.drive.content import has_content
from opsgym_domains.drive.domain import DOMAIN
from opsgym_domains.drive.forms import SHORTCUT, loaded
from opsgym_domains.drive.reach import ROLES
from opsgym_domains.drive.tables import (
    AccessProposal,
    Blob,
    Channel,
    Comment,
    DriveMembership,
    File,
    FileLabel,
    Group,
    Label,
    Permission,
    PooledId,
    Reply,
    Revision,
    SharedDrive,
    ShareLink,
    Thumbnail,
    TrashEntry,
    Upload,
    User,
)
from opsgym_domains.kit.identifiers import ulid_of
from opsgym_suites.drive.seeds.world import World
from opsgym_suites.kit.drafts import call
from opsgym_suites.kit.effects import RowType, ToolEffects, Written, WrittenRow
from opsgym_suites.kit.verifiers import HasAll, Matches, May, Present

Arguments = Mapping[str, Any]
OF_FILE: Sequence[RowType] = (Permission, Revision, FileLabel, ShareLink, Upload, Thumbnail, AccessProposal)
"""Tables whose rows go with their file."""


class Cabinet(Written[World]):
    """Rows that calls have written so far.

    Args:
        world: The rows before.
        actor: Id of the acting user; None if unknown.
    """

    def __init__(self, world: World, actor: str | None) -> None:
        super().__init__(world)
        self.actor = actor
        self._keys = 0

    def new(self, tool: str, kind: RowType, values: Mapping[str, Any]) -> str:
        """A new row with the key that the server counts."""
        self._keys += 1
        return str(self.add(tool, kind, values, ulid_of(self._keys)))

    def look(self, tool: str, kind: RowType, key: str) -> None:
        """A row of the seed that must have been read before, though the call does not change it."""
        if (kind, key) not in self.rows:
            self.change(tool, kind, key, {})

    def value(self, kind: RowType, key: Any, column: str) -> Any:
        """Value of a column of a row that the seed has or the solution adds; None where the solution gives none."""
        written = self.rows.get((kind, key))
        if written is not None and written.operation == "adds":
            return written.values.get(column)
        return super().value(kind, key, column)

    def is_drive(self, key: str) -> bool:
        """Whether a key is that of a shared drive."""
        made = self.rows.get((SharedDrive, key))
        return bool(self.world.owned(SharedDrive, "id", key)) or (made is not None and made.operation == "adds")

    def take_away(self, tool: str, kind: RowType, key: Any) -> None:
        """A row that goes with another one; which need not have been read."""
        self.remove(tool, kind, key)
        if (kind, key) in self.rows:
            self.rows[kind, key].key = {"id": key}

    # --- files -------------------------------------------------------------------------------------------------------

    def below(self, key: str) -> list[str]:
        """Keys of everything below a folder, as it is now."""
        return [one for child in self.of(File, "parent_id", key) for one in (child, *self.below(child))]

    def delete(self, tool: str, key: str, *, named: bool) -> None:
        """A file with all that belongs to it and everything below it."""
        for child in self.of(File, "parent_id", key):
            self.delete(tool, child, named=False)
        for comment in self.of(Comment, "file_id", key):
            for row in self.of(Reply, "comment_id", comment):
                self.take_away(tool, Reply, row)
            self.take_away(tool, Comment, comment)
        for kind in OF_FILE:
            for row in self.of(kind, "file_id", key):
                self.take_away(tool, kind, row)
        (self.remove if named else self.take_away)(tool, File, key)

    # --- permissions -------------------------------------------------------------------------------------------------

    def grantee(self, kind: str, email: str | None, domain: str | None) -> dict[str, Any]:
        """Columns of a permission for a grantee; those with an account are judged by its key."""
        users = self.world.owned(User, "email", email) if kind == "user" else []
        groups = self.world.owned(Group, "email", email) if kind == "group" else []
        columns: dict[str, Any] = {"type": kind}
        if users or groups:
            columns |= {"user_id": users[0].id} if users else {"group_id": groups[0].id}
            columns["email_address"] = May()
        elif email:
            columns["email_address"] = Matches(f"(?i)^{re.escape(email)}$")
        return columns | ({"domain": domain} if domain else {"allow_file_discovery": May(False)} if not email else {})

    def permission(self, column: str, key: str, grantee: Mapping[str, Any]) -> str | None:
        """Key of the permission that a grantee has on a file or a shared drive."""
        names = [name for name in ("user_id", "group_id", "domain") if name in grantee]
        for row in self.of(Permission, column, key):
            same = all(self.value(Permission, row, name) == grantee[name] for name in names)
            if (
                same
                and self.value(Permission, row, "type") == grantee["type"]
                and (names or "email_address" not in grantee)
            ):
                return str(row)
        return None

    def grant(self, tool: str, key: str, role: str, grantee: Mapping[str, Any]) -> None:
        """A role on a file."""
        row = self.permission("file_id", key, grantee)
        if row is None:
            self.new(tool, Permission, {"file_id": key, "role": role, **grantee})
        else:
            self.change(tool, Permission, row, {"role": role, "deleted": False})

    def grant_on_drive(self, tool: str, drive: str, role: str, grantee: Mapping[str, Any]) -> None:
        """A role on a shared drive, with the membership."""
        row = self.permission("drive_id", drive, grantee)
        if row is None:
            self.new(tool, Permission, {"drive_id": drive, "role": role, **grantee})
        else:
            self.change(tool, Permission, row, {"role": role})
        member = {name: grantee[name] for name in ("user_id", "group_id", "domain") if name in grantee}
        if not member:
            return
        ((column, value),) = member.items()
        keys = [
            one
            for one in self.of(DriveMembership, "drive_id", drive)
            if self.value(DriveMembership, one, column) == value
        ]
        if keys:
            self.change(tool, DriveMembership, keys[0], {"role": role})
        else:
            values = {"drive_id": drive, "type": grantee["type"], "role": role, **member}
            self.new(tool, DriveMembership, values)

    def of_membership(self, key: str) -> dict[str, Any]:
        """Columns of a permission for the member of a shared drive."""
        columns = ("type", "user_id", "group_id", "domain")
        values = {name: self.value(DriveMembership, key, name) for name in columns}
        given = {name: value for name, value in values.items() if value is not None}
        return given | ({} if "domain" in given else {"email_address": May()})


# --- sharing ---------------------------------------------------------------------------------------------------------


def _create_permission(writes: Cabinet, tool: str, given: Arguments) -> None:
    key, role = given["fileId"], given["role"]
    to = writes.grantee(given["type"], given.get("emailAddress"), given.get("domain"))
    if given.get("allowFileDiscovery"):
        to["allow_file_discovery"] = True
    if writes.is_drive(key):
        if writes.world.owned(SharedDrive, "id", key):
            writes.look(tool, SharedDrive, key)
        writes.grant_on_drive(tool, key, role, to)
        return
    if writes.world.owned(File, "id", key):
        writes.look(tool, File, key)
    if role == "owner":
        _hand_over(writes, tool, key, to, given)
    else:
        writes.grant(tool, key, role, to)


def _hand_over(writes: Cabinet, tool: str, key: str, to: Mapping[str, Any], given: Arguments) -> None:
    before = [row for row in writes.of(Permission, "file_id", key) if writes.value(Permission, row, "role") == "owner"]
    writes.grant(tool, key, "owner", to)
    for row in before:
        writes.change(tool, Permission, row, {"role": "writer"})
    if given.get("moveToNewOwnersRoot"):
        writes.change(tool, File, key, {"parent_id": None, "drive_id": None})


def _update_permission(writes: Cabinet, tool: str, given: Arguments) -> None:
    key, row, role = given["fileId"], given["permissionId"], given["role"]
    if writes.world.owned(DriveMembership, "id", row):
        writes.grant_on_drive(tool, key, role, writes.of_membership(row))
    elif role == "owner":
        to = {"type": "user", "user_id": writes.value(Permission, row, "user_id")}
        _hand_over(writes, tool, key, to, given)
    else:
        writes.change(tool, Permission, row, {"role": role})


def _delete_permission(writes: Cabinet, tool: str, given: Arguments) -> None:
    row = given["permissionId"]
    if writes.world.owned(DriveMembership, "id", row):
        writes.remove(tool, DriveMembership, row)
    else:
        writes.change(tool, Permission, row, {"deleted": True})


def _resolve(writes: Cabinet, tool: str, given: Arguments) -> None:
    (request,) = writes.world.owned(AccessProposal, "id", given["proposalId"])
    accepted = given["action"] == "ACCEPT"
    if accepted:
        role = max(given["role"], key=ROLES.index)
        to = writes.grantee("user", request.requester_email, None)
        row = writes.permission("file_id", request.file_id, to)
        if row is None or ROLES.index(writes.value(Permission, row, "role")) < ROLES.index(role):
            writes.grant(tool, request.file_id, role, to)
    values = {"status": "approved" if accepted else "denied", "resolved_by_email": Present()}
    writes.change(tool, AccessProposal, request.id, values)


# --- files -----------------------------------------------------------------------------------------------------------


def _place(writes: Cabinet, parents: Sequence[str]) -> dict[str, Any]:
    """Columns of a file with these parents."""
    if not parents or parents[0] == "root":
        return {"parent_id": None, "drive_id": None}
    if writes.is_drive(parents[0]):
        return {"parent_id": None, "drive_id": parents[0]}
    return {"parent_id": parents[0], "drive_id": writes.value(File, parents[0], "drive_id")}


def _create_file(writes: Cabinet, tool: str, given: Arguments) -> None:
    kind, target = given["mimeType"], given.get("shortcutDetails", {}).get("targetId")
    values: dict[str, Any] = {"name": given["name"], "mime_type": kind, **_place(writes, given.get("parents", ()))}
    values |= {name: given[name] for name in ("description", "starred") if name in given}
    if kind == SHORTCUT:
        (file,) = writes.world.owned(File, "id", target)
        values |= {"is_shortcut": True, "shortcut_target_id": target, "shortcut_target_mime": file.mime_type}
        writes.look(tool, File, target)
    text = given.get("contentHints", {}).get("indexableText")
    key = _store(writes, tool, values)
    if has_content(kind):
        blob = writes.new(tool, Blob, {"storage": "DB", "key": text}) if text else None
        _first_revision(writes, tool, kind, blob)
    for one in given.get("permissions", ()):
        to = writes.grantee(one["type"], one.get("emailAddress"), one.get("domain"))
        writes.grant(tool, key, one["role"], to)


def _store(writes: Cabinet, tool: str, values: Mapping[str, Any]) -> str:
    key = writes.new(tool, File, {name: value for name, value in values.items() if value is not None})
    if values["drive_id"] is None:
        owner = {"type": "user", "user_id": Present(), "email_address": May()}
        writes.new(tool, Permission, {"file_id": key, "role": "owner", **owner})
    return key


def _first_revision(writes: Cabinet, tool: str, kind: str, blob: str | None) -> None:
    # Which of several new files it belongs to follows from its content; a condition on the key would be tried for each.
    values = {"file_id": Present(), "revision_number": 1, "mime_type": kind}
    writes.new(tool, Revision, values | ({"blob_id": blob} if blob else {}))


def _copy(writes: Cabinet, tool: str, given: Arguments) -> None:
    (source,) = writes.world.owned(File, "id", given["fileId"])
    writes.look(tool, File, source.id)
    parents = given.get("parents") or [source.parent_id or source.drive_id or "root"]
    kind = str(source.mime_type)
    values = {"name": given.get("name", f"Copy of {source.name}"), "mime_type": kind, **_place(writes, parents)}
    _store(writes, tool, values | ({"description": source.description} if source.description else {}))
    (head,) = writes.world.owned(Revision, "id", source.head_revision_id)
    _first_revision(writes, tool, kind, head.blob_id)


def _update_file(writes: Cabinet, tool: str, given: Arguments) -> None:
    key = given["fileId"]
    writes.change(tool, File, key, {name: given[name] for name in ("name", "description", "starred") if name in given})
    if "properties" in given:
        before = loaded(writes.value(File, key, "properties"), {})
        pairs = {**before, **given["properties"]}.items()
        writes.change(tool, File, key, {"properties": HasAll(tuple(f'"{k}": {json.dumps(v)}' for k, v in pairs))})
    if "addParents" in given:
        _move(writes, tool, key, _place(writes, [given["addParents"]]))
    if "trashed" in given:
        gone = given["trashed"]
        for one in writes.below(key):
            if not writes.value(File, one, "explicitly_trashed"):
                writes.change(tool, File, one, {"trashed": gone})
        writes.change(tool, File, key, {"trashed": gone, "explicitly_trashed": gone})


def _move(writes: Cabinet, tool: str, key: str, where: Mapping[str, Any]) -> None:
    before = writes.value(File, key, "drive_id")
    writes.change(tool, File, key, where)
    if before == where["drive_id"]:
        return
    for one in (key, *writes.below(key)):
        writes.change(tool, File, one, {"drive_id": where["drive_id"]})
        for row in writes.of(Permission, "file_id", one):
            if writes.value(Permission, row, "role") == "owner":
                writes.take_away(tool, Permission, row)
        if where["drive_id"] is None:
            writes.new(tool, Permission, {"file_id": one, "role": "owner", "type": "user", "user_id": Present()})


def _delete_file(writes: Cabinet, tool: str, given: Arguments) -> None:
    writes.delete(tool, given["fileId"], named=True)


def _empty_trash(writes: Cabinet, tool: str, given: Arguments) -> None:
    keys = writes.of(File, "drive_id", given["driveId"]) if "driveId" in given else _own(writes)
    gone = [key for key in keys if writes.value(File, key, "trashed")]
    for key in gone:
        writes.new(tool, TrashEntry, {"file_id": key, "emptied_time": Present(), "actor_id": Present()})
    for key in gone:
        if (File, key) not in writes.rows or writes.rows[File, key].operation != "removes":
            writes.delete(tool, key, named=True)


def _own(writes: Cabinet) -> list[str]:
    """Files of the acting user."""
    owned = {row.file_id for row in writes.world.all(Permission, role="owner", user_id=writes.actor)}
    return [row.id for row in writes.world.all(File) if row.id in owned]


def _modify_labels(writes: Cabinet, tool: str, given: Arguments) -> None:
    key = given["fileId"]
    if writes.world.owned(File, "id", key):
        writes.look(tool, File, key)
    for change in given["labelModifications"]:
        label = next(row for row in writes.world.all(Label) if change["labelId"] in (row.id, row.key))
        rows = [
            row for row in writes.of(FileLabel, "file_id", key) if writes.value(FileLabel, row, "label_id") == label.id
        ]
        if change.get("removeLabel"):
            writes.remove(tool, FileLabel, rows[0])
        elif rows:
            writes.change(tool, FileLabel, rows[0], _label_value(label, change))
        else:
            writes.new(tool, FileLabel, {"file_id": key, "label_id": label.id, **_label_value(label, change)})


def _label_value(label: Label, change: Arguments) -> dict[str, Any]:
    (field,) = change["fieldModifications"]
    (text,) = next(value for name, value in field.items() if name.startswith("set"))
    match label.type:
        case "date":
            return {"value_date": date.fromisoformat(text)}
        case "boolean":
            return {"value_boolean": text == "true"}
        case "number":
            return {"value_number": float(text)}
        case "enum":
            return {"value_enum": text}
        case _:
            return {"value_string": text}


def _generate_ids(writes: Cabinet, tool: str, given: Arguments) -> None:
    count = given.get("count", 10)
    free = [row.id for row in writes.world.all(PooledId) if not row.reserved][:count]
    for key in free:
        writes.change(tool, PooledId, key, {"reserved": True})
    for _ in range(count - len(free)):
        writes.new(tool, PooledId, {"reserved": True})


# --- discussion, revisions, drives, channels -------------------------------------------------------------------------


def _create_comment(writes: Cabinet, tool: str, given: Arguments) -> None:
    writes.look(tool, File, given["fileId"])
    writes.new(tool, Comment, {"file_id": given["fileId"], "content": given["content"], "anchor": May()})


def _update_comment(writes: Cabinet, tool: str, given: Arguments) -> None:
    writes.change(tool, Comment, given["commentId"], {"content": given["content"]})


def _delete_comment(writes: Cabinet, tool: str, given: Arguments) -> None:
    writes.change(tool, Comment, given["commentId"], {"deleted": True})


def _create_reply(writes: Cabinet, tool: str, given: Arguments) -> None:
    writes.look(tool, Comment, given["commentId"])
    writes.new(tool, Reply, {"comment_id": given["commentId"], "content": given["content"]})


def _update_reply(writes: Cabinet, tool: str, given: Arguments) -> None:
    writes.change(tool, Reply, given["replyId"], {"content": given["content"]})


def _delete_reply(writes: Cabinet, tool: str, given: Arguments) -> None:
    writes.change(tool, Reply, given["replyId"], {"deleted": True})


def _update_revision(writes: Cabinet, tool: str, given: Arguments) -> None:
    columns = {"keepForever": "keep_forever", "published": "published", "publishAuto": "publish_auto"}
    values: dict[str, Any] = {column: given[name] for name, column in columns.items() if name in given}
    if "published" in values:
        values["published_link"] = Present() if values["published"] else None
    writes.change(tool, Revision, given["revisionId"], values)


def _delete_revision(writes: Cabinet, tool: str, given: Arguments) -> None:
    writes.remove(tool, Revision, given["revisionId"])


_DRIVE = {
    "name": "name",
    "colorRgb": "color_rgb",
    "themeId": "theme_id",
    "hidden": "hidden",
    "color_rgb": "color_rgb",
    "theme_id": "theme_id",
    "copyRequiresWriterPermission": "copy_requires_writer_permission",
    "domainUsersOnly": "domain_users_only",
    "driveMembersOnly": "drive_members_only",
    "adminManagedRestrictions": "admin_managed_restrictions",
    "sharingFoldersRequiresOrganizerPermission": "sharing_folders_requires_organizer_permission",
    "downloadRestrictedForReaders": "download_restricted_for_readers",
    "downloadRestrictedForWriters": "download_restricted_for_writers",
}
"""Columns of shared drives by argument."""


def _create_drive(writes: Cabinet, tool: str, given: Arguments) -> None:
    key = writes.new(tool, SharedDrive, {_DRIVE[name]: value for name, value in given.items() if name in _DRIVE})
    values = {"drive_id": key, "type": "user", "user_id": Present(), "role": "organizer"}
    writes.new(tool, DriveMembership, values)


def _update_drive(writes: Cabinet, tool: str, given: Arguments) -> None:
    key = given.get("driveId") or given["team_drive_id"]
    values = {**given, **given.get("restrictions", {})}
    writes.change(tool, SharedDrive, key, {_DRIVE[name]: value for name, value in values.items() if name in _DRIVE})


def _hide(hidden: bool) -> Callable[[Cabinet, str, Arguments], None]:
    def follow(writes: Cabinet, tool: str, given: Arguments) -> None:
        writes.change(tool, SharedDrive, given["driveId"], {"hidden": hidden})

    return follow


def _delete_drive(writes: Cabinet, tool: str, given: Arguments) -> None:
    key = given.get("driveId") or given["teamDriveId"]
    for file in writes.of(File, "drive_id", key):
        if writes.value(File, file, "parent_id") is None:
            writes.delete(tool, file, named=False)
    for kind in (DriveMembership, Permission):
        for row in writes.of(kind, "drive_id", key):
            writes.take_away(tool, kind, row)
    writes.remove(tool, SharedDrive, key)


def _watch(writes: Cabinet, tool: str, given: Arguments) -> None:
    resource = given.get("fileId") or given.get("driveId") or "changes"
    if "fileId" in given:
        writes.look(tool, File, resource)
    values = {
        "id": given["id"],
        "resource_id": [resource] if "driveId" not in given else [resource, "changes"],
        "resource_uri": Present(),
        "type": ["web_hook", "webhook"],
        "address": given["address"],
        "token": May(),
        "payload": May(),
        "params": May(),
        "expiration": Present(),
    }
    writes.add(tool, Channel, values, given["id"])


def _stop(writes: Cabinet, tool: str, given: Arguments) -> None:
    writes.change(tool, Channel, given["id"], {"active": False})


_FOLLOWED: Mapping[str, Callable[[Cabinet, str, Arguments], None]] = {
    "create_permission": _create_permission,
    "update_permission": _update_permission,
    "delete_permission": _delete_permission,
    "resolve_accessproposals": _resolve,
    "create_file": _create_file,
    "copy_files": _copy,
    "update_files": _update_file,
    "delete_files": _delete_file,
    "empty_files_trash": _empty_trash,
    "modify_files_labels": _modify_labels,
    "generate_files_Ids": _generate_ids,
    "create_comments": _create_comment,
    "update_comments": _update_comment,
    "delete_comments": _delete_comment,
    "create_replies": _create_reply,
    "update_replies": _update_reply,
    "delete_replies": _delete_reply,
    "update_revisions": _update_revision,
    "delete_revisions": _delete_revision,
    "create_drive": _create_drive,
    "create_teamdrives": _create_drive,
    "update_drives": _update_drive,
    "update_teamdrive": _update_drive,
    "hide_drives": _hide(hidden=True),
    "unhide_drives": _hide(hidden=False),
    "delete_drive": _delete_drive,
    "delete_teamdrives": _delete_drive,
    "watch_files": _watch,
    "watch_changes": _watch,
    "stop_channels": _stop,
}


@dataclass(frozen=True)
class DriveEffects(ToolEffects):
    """Effects of Drive's tools, whose calls write rows of several tables."""

    actor: str | None = None
    """Id of the acting user, whose trash may be emptied; None if unknown."""

    def written(self, world: Any, calls: Sequence[ToolCall]) -> list[WrittenRow]:
        """Rows that calls write on a seed, in the order in which they are first written.

        Raises:
            LookupError: A call names a row that does not exist.
        """
        writes = Cabinet(world, self.actor)
        for made in calls:
            if made.name in _FOLLOWED:
                _FOLLOWED[made.name](writes, made.name, made.arguments)
        return list(writes.rows.values())


_OLD_FIELDS = {"driveId": "team_drive_id", "name": "name", "colorRgb": "color_rgb", "themeId": "theme_id"}


def _equivalents(made: ToolCall) -> Iterator[ToolCall]:
    """Calls of tools for team drives in place of those for shared drives, and of updates in place of hiding."""
    given = made.arguments
    if made.name == "create_drive":
        yield call("create_teamdrives", **given)
    elif made.name == "delete_drive" and given.keys() == {"driveId"}:
        yield call("delete_teamdrives", teamDriveId=given["driveId"])
    elif made.name in ("hide_drives", "unhide_drives"):
        yield call("update_drives", driveId=given["driveId"], hidden=made.name == "hide_drives")
    elif made.name == "update_drives" and given.keys() <= _OLD_FIELDS.keys():
        yield call("update_teamdrive", **{_OLD_FIELDS[name]: value for name, value in given.items()})


EFFECTS = DriveEffects(DOMAIN.toolbox, link_types=frozenset({FileLabel}), equivalents=_equivalents)
