"""Searches of files and shared drives: from the tree of a search to the condition of a query.

Invariant: a text of `name` is found where it begins a word, and one of `fullText` as whole words, without regard to
case, accents and what is between words; permissions count directly and from above, as they do when a file is opened.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    Text,
    and_,
    any_,
    cast,
    exists,
    false,
    func,
    literal_column,
    not_,
    or_,
    select,
    true,
    union_all,
)
from sqlalchemy.dialects.postgresql import TSQUERY

from opsgym_domains.drive.query import Condition, Joined, Node, Not, Term, parse
from opsgym_domains.drive.reach import ROLES, Principal, below, holding, named, owned_by
from opsgym_domains.drive.tables import (
    OTHER_PARENTS,
    Blob,
    DriveMembership,
    File,
    FileLabel,
    Group,
    Label,
    Permission,
    Revision,
    SharedDrive,
    User,
)
from opsgym_domains.drive.words import lexemes, words_of

Found = ColumnElement[bool]
WIDE = ("anyoneCanFind", "anyoneWithLink", "domainCanFind", "domainWithLink", "limited")
FILE_TERMS: Mapping[str, Term] = {
    "name": Term("text"),
    "fullText": Term("words"),
    "mimeType": Term("text"),
    "modifiedTime": Term("time"),
    "viewedByMeTime": Term("time"),
    "createdTime": Term("time"),
    "trashed": Term("flag"),
    "starred": Term("flag"),
    "parents": Term("members"),
    "owners": Term("members"),
    "writers": Term("members"),
    "readers": Term("members"),
    "labels": Term("members"),
    "sharedWithMe": Term("flag"),
    "properties": Term("pairs"),
    "appProperties": Term("pairs"),
    "visibility": Term("choice", WIDE),
    "shortcutDetails.targetId": Term("choice"),
}
DRIVE_TERMS: Mapping[str, Term] = {
    "name": Term("text"),
    "createdTime": Term("time"),
    "hidden": Term("flag"),
    "memberCount": Term("number"),
    "organizerCount": Term("number"),
    "orgUnitId": Term("choice"),
    "themeId": Term("choice"),
}
FIELDS = "labels/"
"""Begin of terms for values of labels, which `file_labels.field_terms` adds."""
_COMPARE: Mapping[str, Callable[[Any, Any], Found]] = {
    "<=": operator.le,
    "<": operator.lt,
    "=": operator.eq,
    "!=": lambda column, value: column.is_distinct_from(value),
    ">": operator.gt,
    ">=": operator.ge,
}
"""Comparisons of a column with a value; a row without a value differs from every one."""


def found_files(search: Node, user: Principal) -> Found:
    """Condition of the files that a search finds for a user."""
    return _of(search, lambda condition: _file(condition, user))


def depends_on_user(search: Node) -> bool:
    """Whether what a search finds depends on who searches."""
    if isinstance(search, Not):
        return depends_on_user(search.part)
    if isinstance(search, Joined):
        return depends_on_user(search.left) or depends_on_user(search.right)
    return search.term == "sharedWithMe" or (search.operator == "in" and search.value in ("me", "root"))


def found_drives(text: str) -> Found:
    """Condition of the shared drives that a search finds.

    Raises:
        ToolError: `INVALID_QUERY`.
    """
    return _of(parse(text, DRIVE_TERMS), lambda condition: _known(_drive(condition)))


def _of(node: Node, condition: Callable[[Condition], Found]) -> Found:
    """The condition of a tree."""
    if isinstance(node, Not):
        return not_(_of(node.part, condition))
    if isinstance(node, Joined):
        return (and_ if node.operator == "and" else or_)(_of(node.left, condition), _of(node.right, condition))
    return condition(node)


def _known(holds: Found) -> Found:
    """A condition that an unknown value does not meet, so that its negation does.

    `coalesce` also keeps Postgres from turning subqueries into joins, which it plans badly without statistics.
    """
    return func.coalesce(holds, false())


def _one_of(*selections: Select[Any]) -> Found:
    """Whether selections of ids have the file's. With an array Postgres reads the rows of the ids, and no others."""
    return File.id == any_(func.array(union_all(*selections).scalar_subquery()))


# --- files -----------------------------------------------------------------------------------------------------------


def _file(condition: Condition, user: Principal) -> Found:
    term, value = condition.term, str(condition.value)
    if condition.operator == "contains" and term == "name":
        return _name_has(value)
    if term == "fullText":
        return _full_text(value)
    if term == "parents" and value != "root":
        return _in_folder(value)
    return _known(_other(condition, user))


def _other(condition: Condition, user: Principal) -> Found:
    term, value = condition.term, condition.value
    if term in _COLUMNS:
        return _column(_COLUMNS[term], condition)
    if term == "mimeType":
        return _mime_type(condition)
    if term in _FLAGS:
        return _same(_FLAGS[term].is_(True), condition)
    if term == "sharedWithMe":
        return _same(_shared_with(user), condition)
    if term in _HOLDERS:
        return _held_by(str(value), _HOLDERS[term], user)
    if term == "visibility":
        return _same(_visible_as(str(value)), condition, value=True)
    if isinstance(value, tuple):
        return _has_property(_PROPERTIES[term], *value)
    if term.startswith(FIELDS):
        return _field(condition)
    return _in_root(user) if term == "parents" else _has_label(str(value))


def _column(column: Any, condition: Condition) -> Found:
    if condition.operator in ("contains", "starts with"):
        place = func.strpos(func.drive_words(column), f" {' '.join(words_of(str(condition.value)))}")
        return place > 0 if condition.operator == "contains" else place == 1
    return _COMPARE[condition.operator](column, condition.value)


def _same(holds: Found, condition: Condition, *, value: bool | None = None) -> Found:
    """A yes or no that equals the value of a condition, or differs from it."""
    expected = bool(condition.value) if value is None else value
    return holds if expected is (condition.operator == "=") else not_(func.coalesce(holds, false()))


_FLAGS: Mapping[str, Any] = {"trashed": File.trashed, "starred": File.starred}
_COLUMNS: Mapping[str, Any] = {
    "name": File.name,
    "modifiedTime": File.modified_time,
    "viewedByMeTime": File.viewed_by_me_time,
    "createdTime": File.created_time,
    "shortcutDetails.targetId": File.shortcut_target_id,
}
_HOLDERS: Mapping[str, Sequence[str]] = {"owners": ROLES[5:], "writers": ROLES[2:], "readers": ROLES}
"""Roles that a user or group has on the files of a collection."""


def _name_has(text: str) -> Found:
    """Whether a word of the name begins with a text; a text without a word is contained in every one."""
    words = words_of(text)
    return _one_of(select(File.id).where(_has_words(File.name, words, begins=True))) if words else true()


def _full_text(text: str) -> Found:
    """Whether name, description or content have each of the words; a phrase in double quotes is in one of them."""
    phrases = [words_of(phrase or word) for phrase, word in re.findall(r'"([^"]*)"?|([^\s"]+)', text)[:50]]
    return and_(true(), *(_is_in_text(words) for words in phrases if words))


def _is_in_text(words: list[str]) -> Found:
    contents = (
        select(File.id)
        .join(Revision, Revision.id == File.head_revision_id)
        .join(Blob, Blob.id == Revision.blob_id)
        .where(Blob.storage == "DB", _has_words(Blob.key, words, begins=False))
    )
    texts = (select(File.id).where(_has_words(column, words, begins=False)) for column in (File.name, File.description))
    return _one_of(contents, *texts)


def _has_words(column: Any, words: list[str], *, begins: bool) -> Found:
    """Whether a column has words in their order, the last of them at least as the begin of a word."""
    query = cast(cast(lexemes(words, begins=begins), Text), TSQUERY)
    text = f" {' '.join(words)}{'' if begins else ' '}"
    return and_(func.drive_lexemes(column).op("@@")(query), func.strpos(func.drive_words(column), text) > 0)


def _mime_type(condition: Condition) -> Found:
    if condition.operator == "contains":
        return File.mime_type.icontains(str(condition.value), autoescape=True)
    return _COMPARE[condition.operator](File.mime_type, condition.value)


def _shared_with(user: Principal) -> Found:
    """Whether the file itself is shared with the user."""
    permission = holding(Permission.file_id == File.id, Permission.role != "owner", named(user))
    return and_(File.drive_id.is_(None), exists().where(permission))


def _held_by(name: str, roles: Sequence[str], user: Principal) -> Found:
    """Whether a user or group, given by address or `me`, has one of the roles on the file or above it."""
    email = user.email if name == "me" else name.lower()
    who = or_(
        func.lower(Permission.email_address) == email,
        Permission.user_id.in_(select(User.id).where(func.lower(User.email) == email)),
        Permission.group_id.in_(select(Group.id).where(func.lower(Group.email) == email)),
    )
    permission = holding(who, Permission.role.in_(roles))
    if roles == _HOLDERS["owners"]:
        return File.id.in_(select(Permission.file_id).where(permission, Permission.file_id.is_not(None)))
    direct = File.id.in_(select(Permission.file_id).where(permission, Permission.file_id.is_not(None)))
    users = select(User.id).where(func.lower(User.email) == email)
    groups = select(Group.id).where(func.lower(Group.email) == email)
    members = or_(DriveMembership.user_id.in_(users), DriveMembership.group_id.in_(groups))
    drives = select(DriveMembership.drive_id).where(members, DriveMembership.role.in_(roles))
    shared = select(Permission.drive_id).where(permission, Permission.drive_id.is_not(None))
    return File.id.in_(below(or_(direct, File.drive_id.in_(drives), File.drive_id.in_(shared))))


def _in_root(user: Principal) -> Found:
    """Whether the file is at the top level of the user's own files."""
    return and_(File.parent_id.is_(None), File.drive_id.is_(None), File.id.in_(owned_by(user.user_id)))


def _in_folder(key: str) -> Found:
    """Whether a folder, or a shared drive at its top level, holds the file."""
    return _one_of(
        select(File.id).where(File.parent_id == key),
        select(File.id).where(literal_column(OTHER_PARENTS), func.strpos(File.parent_ids, f'"{key}"') > 0),
        select(File.id).where(File.parent_id.is_(None), File.drive_id == key),
    )


def _has_label(key: str) -> Found:
    label = key.removeprefix("labels/")
    return exists().where(FileLabel.file_id == File.id, FileLabel.label_id == label)


def _field(condition: Condition) -> Found:
    """Whether the value of a label meets a condition; a file without one has no value."""
    if condition.operator == "!=":
        return not_(_field(replace(condition, operator="=")))
    if condition.operator == "is null":
        return not_(_field(replace(condition, operator="is not null")))
    key = condition.term.removeprefix(FIELDS).partition(".")[0]
    labels = select(Label.id).where(or_(Label.id == key, Label.key == key))
    if condition.operator == "is not null":
        meets: Found = or_(*(column.is_not(None) for column in _VALUES.values()))
    else:
        meets = _column(_VALUES[type(condition.value)], condition)
    return exists().where(FileLabel.file_id == File.id, FileLabel.label_id.in_(labels), meets)


_VALUES: Mapping[type, Any] = {
    str: func.coalesce(FileLabel.value_enum, FileLabel.value_string),
    bool: FileLabel.value_boolean,
    float: FileLabel.value_number,
    date: FileLabel.value_date,
}
"""Value of a label by the type of what it is compared with."""


_PROPERTIES: Mapping[str, Any] = {"properties": File.properties, "appProperties": File.app_properties}


def _has_property(properties: Any, key: str, value: str) -> Found:
    return func.drive_property(properties, key) == value


def _visible_as(name: str) -> Found:
    """How widely the file is shared: the widest of its permissions, and of those above it."""
    if name == "limited":
        return not_(_reached_by(Permission.type.in_(("domain", "anyone"))))
    kind, findable = ("anyone" if name.startswith("anyone") else "domain"), Permission.allow_file_discovery.is_(True)
    wider = {
        "anyoneCanFind": false(),
        "anyoneWithLink": and_(Permission.type == "anyone", findable),
        "domainCanFind": Permission.type == "anyone",
        "domainWithLink": or_(Permission.type == "anyone", and_(Permission.type == "domain", findable)),
    }
    own = and_(
        Permission.type == kind, findable if name.endswith("CanFind") else not_(func.coalesce(findable, false()))
    )
    return and_(_reached_by(own), not_(_reached_by(wider[name])))


def _reached_by(permissions: Found) -> Found:
    valid = holding(permissions)
    files: Select[Any] = select(Permission.file_id).where(valid, Permission.file_id.is_not(None))
    drives: Select[Any] = select(Permission.drive_id).where(valid, Permission.drive_id.is_not(None))
    return File.id.in_(below(or_(File.id.in_(files), File.drive_id.in_(drives))))


# --- shared drives ---------------------------------------------------------------------------------------------------


def _drive(condition: Condition) -> Found:
    if condition.term == "hidden":
        return _same(SharedDrive.hidden.is_(True), condition)
    if condition.term in _DRIVE_COLUMNS:
        return _column(_DRIVE_COLUMNS[condition.term], condition)
    members = select(func.count()).select_from(DriveMembership).where(DriveMembership.drive_id == SharedDrive.id)
    if condition.term == "organizerCount":
        members = members.where(DriveMembership.role == "organizer")
    return _COMPARE[condition.operator](members.scalar_subquery(), condition.value)


_DRIVE_COLUMNS: Mapping[str, Any] = {
    "name": SharedDrive.name,
    "createdTime": SharedDrive.created_time,
    "orgUnitId": SharedDrive.org_unit_id,
    "themeId": SharedDrive.theme_id,
}
