"""Puts people, shared drives, files and what belongs to files into a world.

Invariant: rows are as the server keeps them: a file outside shared drives has one owner, its head revision is the last
one, and folders above a file exist. `finish` adds what follows from the rest.
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any, TypeVar

from opsgym_domains.drive.comments import as_html
from opsgym_domains.drive.content import checksums, is_native
from opsgym_domains.drive.file_creation import links
from opsgym_domains.drive.forms import FOLDER, NATIVE, stamp
from opsgym_domains.drive.tables import (
    AccessProposal,
    Blob,
    Comment,
    DriveMembership,
    File,
    FileLabel,
    Group,
    GroupMembership,
    Label,
    Permission,
    Reply,
    Revision,
    SharedDrive,
    User,
)
from opsgym_domains.kit.schema import Row
from opsgym_suites.drive.seeds.description import LABELS, Member
from opsgym_suites.drive.seeds.world import World
from opsgym_suites.kit.world import at

R = TypeVar("R", bound=Row)
_OFFICE = "application/vnd.openxmlformats-officedocument."
TYPES = {
    "pdf": "application/pdf", "csv": "text/csv", "txt": "text/plain", "md": "text/markdown", "png": "image/png",
    "dwg": "image/vnd.dwg", "zip": "application/zip", "docx": f"{_OFFICE}wordprocessingml.document",
    "xlsx": f"{_OFFICE}spreadsheetml.sheet",
}  # fmt: skip
"""MIME types by the end of a file's name; names without one are those of documents."""
MARKS = {"#": f"{NATIVE}spreadsheet", "^": f"{NATIVE}presentation"}
"""Types of Drive's own tables and slides, by the mark before a name in a description."""


def stamped(row: R, time: datetime) -> R:
    """A row that was made at a time and not changed since."""
    for name in (type(row).created, type(row).updated):
        if name is not None:
            setattr(row, name, time)
    return row


def moment(when: str | datetime) -> datetime:
    """A time; one without an hour is at 9:00."""
    if isinstance(when, datetime):
        return when
    return at(when if " " in when else f"{when} 09:00")


# --- people and shared drives ----------------------------------------------------------------------------------------


def add_people(world: World) -> None:
    """Users, groups with their members, labels and shared drives."""
    company = world.company
    for number, one in enumerate((*company.people, *company.outsiders)):
        _user(world, one, company.founded + timedelta(minutes=11 * number))
    for number, team in enumerate(company.teams):
        made = company.founded + timedelta(days=1, minutes=5 * number)
        group = world.add(stamped(Group(name=team.name, email=world.address(team.address)), made))
        for place, name in enumerate(team.members):
            row = GroupMembership(group_id=group.id, user_id=world.user(name).id)
            row.role = "manager" if place == 0 else "member"
            world.add(stamped(row, made + timedelta(days=3 * place)))
    for number, (key, name, kind, options) in enumerate(LABELS):
        label = Label(key=key, name=name, type=kind, options=json.dumps(options) if options else None)
        label.required = False
        world.add(stamped(label, company.founded + timedelta(days=2, minutes=number)))
    _add_spaces(world)


def _user(world: World, one: Member, founded: datetime) -> None:
    address = world.address(one.address)
    bits = random.Random(f"token {address}").getrandbits(128)  # noqa: S311 - made up, and the same every time
    token = base64.urlsafe_b64encode(bits.to_bytes(16, "big")).decode().rstrip("=")
    user = User(display_name=one.name, email=address, kind="drive#user", me=False)
    user.auth_token = token if one.active and "@" not in one.address else None
    user.permission_id = str(bits % 10**20).zfill(20)
    world.add(stamped(user, founded))


def _add_spaces(world: World) -> None:
    company = world.company
    for number, space in enumerate(company.spaces):
        made = company.founded + timedelta(days=3, hours=number)
        settings = {**SharedDrive.defaults, **space.settings}
        drive = world.add(stamped(SharedDrive(name=space.name, color_rgb=f"#0b80{40 + number}", **settings), made))
        for place, (who, role) in enumerate(space.members.items()):
            add_member(world, drive, who, role, made + timedelta(days=place))


def add_member(world: World, drive: SharedDrive, who: str, role: str, time: datetime) -> DriveMembership:
    """A member of a shared drive: an address, `group:` and an address, or `domain`."""
    row = DriveMembership(drive_id=drive.id, role=role, type="user")
    if who == "domain":
        row.type, row.domain = "domain", world.company.host
    elif who.startswith("group:"):
        row.type, row.group_id = "group", world.group(who.removeprefix("group:")).id
    else:
        row.user_id = world.user(who).id
    return world.add(stamped(row, time))


# --- files -----------------------------------------------------------------------------------------------------------


def folder(world: World, path: str, by: str, when: str | datetime) -> File | None:
    """The folder with a path, which is made with the folders above it if it is missing; None for a top level."""
    place, _, names = path.partition(":")
    if not names:
        return None
    try:
        return world.file(path)
    except LookupError:
        above, _, name = names.rpartition("/")
        return _store(world, f"{place}:{above}", name, FOLDER, by, moment(when), None)


def put(
    world: World,
    path: str,
    by: str,
    when: str | datetime,
    text: str = "",
    *,
    labels: Mapping[str, Any] | None = None,
    shared: Mapping[str, str] | None = None,
    trashed: str = "",
    **columns: Any,
) -> File:
    """A new file with its first revision.

    Args:
        world: The rows.
        path: Where it is, as `World.file` takes it. A mark before the name says what kind of document it is.
        by: Address of who made it.
        when: When it was made.
        text: Content; empty for one that is kept elsewhere.
        labels: Values of labels by key.
        shared: Roles by grantee: an address, `group:` and an address, `domain`, `anyone`, or `find:anyone`.
        trashed: When it was put into the trash; empty if it was not.
        columns: Further columns of the file.
    """
    above, _, name = path.rpartition("/") if "/" in path else path.rpartition(":")
    above = above if ":" in above else f"{above}:"
    kind = MARKS.get(name[:1]) or TYPES.get(name.rpartition(".")[2], f"{NATIVE}document")
    made = moment(when)
    file = _store(world, above, name.lstrip("#^"), kind, by, made, text, **columns)
    for key, value in (labels or {}).items():
        add_label(world, file, key, value, made + timedelta(minutes=2))
    for number, (who, role) in enumerate((shared or {}).items()):
        share(world, file, who, role, made + timedelta(minutes=5 + number))
    if trashed:
        file.trashed = file.explicitly_trashed = True
        file.trashed_time = moment(trashed)
    return file


def _store(
    world: World, above: str, name: str, kind: str, by: str, made: datetime, text: str | None, **columns: Any
) -> File:
    place, _, names = above.partition(":")
    parent = folder(world, above, by, made) if names else None
    drive = None if place.startswith("@") else world.drive(place)
    owner = world.user(place.removeprefix("@")) if drive is None else None
    author = world.user(by)
    values = {**File.defaults, **checksums(kind, text), "mime_type": kind, "name": name, **columns}
    if text == "" and not is_native(kind):
        values |= _elsewhere(f"{world.company.keys}{above}/{name}")
    file = File(**values, parent_id=parent.id if parent else None, drive_id=drive.id if drive else None)
    file.parent_ids = json.dumps([parent.id] if parent else [])
    file.owned_by_me = file.viewed_by_me = file.modified_by_me = False
    file.created_by = (owner or author).id
    file.modified_by, file.modified_time, file.created_time = author.id, made, made
    world.add(file)
    for column, value in links(file).items():
        setattr(file, column, value)
    if owner is not None:
        world.add(stamped(_permission(file, "owner", type="user", user_id=owner.id), made))
    if text is not None:
        _revise(world, file, author, made, text)
    return file


def _elsewhere(name: str) -> dict[str, Any]:
    """Size and checksums of a content that is not in the database."""
    digest = hashlib.md5(name.encode(), usedforsecurity=False).hexdigest()
    size = 20_000 + int(digest[:6], 16) % 4_000_000
    sha1 = hashlib.sha1(name.encode(), usedforsecurity=False).hexdigest()
    return {"size_bytes": size, "quota_bytes_used": size, "md5_checksum": digest, "sha1_checksum": sha1}


def revise(world: World, file: File, by: str, when: str | datetime, text: str, **columns: Any) -> Revision:
    """A further revision, which becomes the head."""
    author, made = world.user(by), moment(when)
    for column, value in checksums(file.mime_type, text).items() if text else ():
        setattr(file, column, value)
    file.modified_by, file.modified_time = author.id, made
    return _revise(world, file, author, made, text, **columns)


def _revise(world: World, file: File, author: User, made: datetime, text: str, **columns: Any) -> Revision:
    number = len(world.revisions(file)) + 1
    data = text.encode()
    blob = Blob(storage="DB" if text else "S3", key=text or f"objects/{file.id.lower()}/{number}")
    blob.digest = f"sha256:{hashlib.sha256(data or str(blob.key).encode()).hexdigest()}"
    blob.size_bytes = len(data) or file.size_bytes
    world.add(stamped(blob, made))
    values = {**Revision.defaults, **columns}
    revision = Revision(file_id=file.id, revision_number=number, blob_id=blob.id, modified_time=made, **values)
    revision.md5_checksum, revision.size_bytes = file.md5_checksum, file.size_bytes
    revision.mime_type, revision.original_filename = file.mime_type, file.original_filename
    revision.last_modifying_user_id = author.id
    world.add(stamped(revision, made))
    file.head_revision_id = revision.id
    return revision


def add_label(world: World, file: File, key: str, value: Any, time: datetime) -> FileLabel:
    """A label of a file with its value."""
    label = world.label(key)
    columns = {"enum": "value_enum", "date": "value_date", "boolean": "value_boolean", "number": "value_number"}
    stored = date.fromisoformat(value) if label.type == "date" else value
    row = FileLabel(file_id=file.id, label_id=label.id, **{columns.get(str(label.type), "value_string"): stored})
    return world.add(stamped(row, time))


# --- sharing and discussion ------------------------------------------------------------------------------------------


def _permission(file: File, role: str, **columns: Any) -> Permission:
    return Permission(**{**Permission.defaults, "file_id": file.id, "role": role, **columns})


def share(world: World, file: File, who: str, role: str, when: str | datetime) -> Permission:
    """A role on a file, as `put` takes them."""
    row = _permission(file, role, type="user")
    if who.removeprefix("find:") in ("anyone", "domain"):
        row.type, row.allow_file_discovery = who.removeprefix("find:"), who.startswith("find:")
        row.domain = world.company.host if row.type == "domain" else None
    elif who.startswith("group:"):
        row.type, row.group_id = "group", world.group(who.removeprefix("group:")).id
    elif users := world.owned(User, "email", world.address(who)):
        row.user_id = users[0].id
    if row.type in ("user", "group") and "@" in who:
        row.email_address = who
    return world.add(stamped(row, moment(when)))


def remark(
    world: World,
    file: File,
    by: str,
    when: str | datetime,
    text: str,
    *replies: tuple[str, str],
    resolved: bool = False,
) -> Comment:
    """A comment with its replies, each an hour after the one before."""
    made = moment(when)
    comment = Comment(**{**Comment.defaults, "resolved": resolved}, file_id=file.id, author_id=world.user(by).id)
    comment.content, comment.html_content = text, as_html(text)
    comment.modified_time = made + timedelta(hours=len(replies))
    world.add(stamped(comment, made))
    for number, (author, words) in enumerate(replies, start=1):
        row = Reply(**Reply.defaults, comment_id=comment.id, author_id=world.user(author).id, content=words)
        row.html_content, row.modified_time = as_html(words), made + timedelta(hours=number)
        world.add(stamped(row, made + timedelta(hours=number)))
    return comment


def propose(
    world: World,
    file: File,
    who: str,
    roles: Sequence[str],
    message: str,
    when: str | datetime,
    *,
    to: str,
    status: str = "pending",
) -> AccessProposal:
    """A request for a role on a file."""
    made = moment(when)
    row = AccessProposal(file_id=file.id, requester_email=world.address(who), recipient_email=world.address(to))
    row.proposed_roles, row.request_message, row.status = json.dumps(list(roles)), message, status
    row.created_at = stamp(made)
    if status != "pending":
        row.resolved_at, row.resolved_by_email = stamp(made + timedelta(hours=5)), row.recipient_email
    return world.add(row)
