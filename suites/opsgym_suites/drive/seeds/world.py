"""The rows of a seed of Drive, with look-ups by name.

Invariant: keys are ULIDs of the time at which a row was made, and follow from the table and the number of rows before;
so equal descriptions give equal worlds, and keys in the order of creation sort so.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar, TypeVar

from opsgym_domains.drive.forms import milliseconds
from opsgym_domains.drive.tables import (
    METADATA,
    AccessProposal,
    Change,
    Comment,
    DriveMembership,
    File,
    FileLabel,
    Group,
    Label,
    Permission,
    Reply,
    Revision,
    SharedDrive,
    User,
)
from opsgym_domains.kit.identifiers import in_base_32
from opsgym_domains.kit.schema import Row
from opsgym_suites.drive.seeds.consultancy import CONSULTANCY
from opsgym_suites.drive.seeds.description import Company
from opsgym_suites.drive.seeds.foundation import FOUNDATION
from opsgym_suites.kit import world
from opsgym_suites.kit.world import key_of

R = TypeVar("R", bound=Row)
WithName = TypeVar("WithName", User, Group, SharedDrive)


def ulid(time: datetime, bits: int) -> str:
    """A ULID: the time in milliseconds and 80 bits."""
    return in_base_32(milliseconds(time), 10) + in_base_32(bits, 16)


@dataclass(frozen=True)
class Person:
    """A user as the kit of suites sees people."""

    user: User

    @property
    def user_id(self) -> str:
        """Identifier."""
        return self.user.id

    @property
    def first_name(self) -> str:
        """First name."""
        return str(self.user.display_name).partition(" ")[0]

    @property
    def last_name(self) -> str:
        """Last name."""
        return str(self.user.display_name).partition(" ")[2]

    @property
    def email(self) -> str:
        """Address."""
        return self.user.email


class World(world.World):
    """All rows of a seed."""

    metadata = METADATA
    indexed = ("file_id", "drive_id", "parent_id", "comment_id", "name", "email")
    company: ClassVar[Company]
    """Whose rows these are."""

    def add(self, row: R) -> R:
        """Adds a row; sets its key if the row has none."""
        kind = type(row)
        if kind.has_ulid and getattr(row, key_of(kind)) is None:
            setattr(row, key_of(kind), self._key(row))
        return super().add(row)

    def _key(self, row: Row) -> str:
        kind = type(row)
        number = len(self._rows[kind.__tablename__])
        made = getattr(row, kind.created) if kind.created else self.company.founded + timedelta(minutes=number)
        bits = random.Random(f"{self.company.keys}{kind.__tablename__} {number}").getrandbits(80)  # noqa: S311 - no secret
        return ulid(made, bits)

    def owned(self, kind: type[R], column: str, value: Any) -> list[R]:
        """The rows with a value in a column, oldest first."""
        return self.all(kind, **{column: value})

    # --- people ------------------------------------------------------------------------------------------------------

    def address(self, name: str) -> str:
        """A whole address, of which the company's host may be left out."""
        return name if "@" in name else f"{name}@{self.company.host}"

    def user(self, name: str) -> User:
        """A user by address."""
        (user,) = self.owned(User, "email", self.address(name))
        return user

    def person(self, name: str) -> Person:
        """A user who asks for something, by address."""
        return Person(self.user(name))

    def group(self, name: str) -> Group:
        """A group by address."""
        (group,) = self.owned(Group, "email", self.address(name))
        return group

    # --- files -------------------------------------------------------------------------------------------------------

    def drive(self, name: str) -> SharedDrive:
        """A shared drive by name."""
        (drive,) = self.owned(SharedDrive, "name", name)
        return drive

    def file(self, path: str) -> File:
        """A file by its path: `Bridges:Project/Report.pdf`, or `@first.last:Folder/Note` for a person's own files.

        Raises:
            LookupError: None or several have this path.
        """
        name = path.rpartition("/")[2] if "/" in path else path.partition(":")[2]
        rows = [row for row in self.owned(File, "name", name) if self.path(row) == path]
        if len(rows) != 1:
            raise LookupError(f"{len(rows)} files have the path {path!r}")
        return rows[0]

    def path(self, file: File) -> str:
        """The path of a file, as `file` takes it."""
        names, top = [file.name], file
        while top.parent_id is not None:
            (top,) = self.owned(File, "id", top.parent_id)
            names.append(top.name)
        if top.drive_id is not None:
            return f"{self._by_id(SharedDrive, top.drive_id).name}:{'/'.join(reversed(names))}"
        owner = self._by_id(User, self.owner(top).user_id)
        return f"@{owner.email.partition('@')[0]}:{'/'.join(reversed(names))}"

    def _by_id(self, kind: type[WithName], key: Any) -> WithName:
        (row,) = self.owned(kind, "id", key)
        return row

    def below(self, folder: File) -> list[File]:
        """Everything below a folder, folders before what they hold."""
        children = self.owned(File, "parent_id", folder.id)
        return [row for child in children for row in (child, *self.below(child))]

    def inside(self, folder: File) -> list[File]:
        """The files directly in a folder."""
        return self.owned(File, "parent_id", folder.id)

    def labels(self, file: File) -> dict[str, Any]:
        """Values of a file's labels by key."""
        keys = {row.id: row.key for row in self.all(Label)}
        columns = ("value_enum", "value_date", "value_boolean", "value_number", "value_string")
        return {
            keys[row.label_id]: next((v for name in columns if (v := getattr(row, name)) is not None), None)
            for row in self.owned(FileLabel, "file_id", file.id)
        }

    def label(self, key: str) -> Label:
        """A label by key."""
        return self.one(Label, key=key)

    def label_row(self, file: File, key: str) -> FileLabel:
        """The row of a file's label."""
        (row,) = (row for row in self.owned(FileLabel, "file_id", file.id) if row.label_id == self.label(key).id)
        return row

    # --- sharing -----------------------------------------------------------------------------------------------------

    def permissions(self, file: File) -> list[Permission]:
        """The permissions on a file itself."""
        return self.owned(Permission, "file_id", file.id)

    def owner(self, file: File) -> Permission:
        """The owner's permission on a file outside shared drives."""
        (row,) = (row for row in self.permissions(file) if row.role == "owner")
        return row

    def permission(self, file: File, who: str) -> Permission:
        """The permission of a user or group on a file, by address; `anyone` and `domain` for those types."""
        (row,) = (row for row in self.permissions(file) if self._grantee(row) in (who, self.address(who)))
        return row

    def _grantee(self, row: Permission) -> str:
        if row.user_id is not None:
            return self._by_id(User, row.user_id).email
        if row.group_id is not None:
            return self._by_id(Group, row.group_id).email
        return str(row.email_address or row.type)

    def member(self, drive: str | SharedDrive, who: str) -> DriveMembership:
        """The membership of a user or group in a shared drive, by address."""
        space = self.drive(drive) if isinstance(drive, str) else drive
        address = self.address(who)
        keys = {row.id for row in self.owned(User, "email", address)}
        keys |= {row.id for row in self.owned(Group, "email", address)}
        rows = self.owned(DriveMembership, "drive_id", space.id)
        (row,) = (row for row in rows if (row.user_id or row.group_id) in keys)
        return row

    # --- what belongs to a file --------------------------------------------------------------------------------------

    def revisions(self, file: File) -> list[Revision]:
        """The revisions of a file, oldest first."""
        return self.owned(Revision, "file_id", file.id)

    def comments(self, file: File) -> list[Comment]:
        """The comments on a file, oldest first."""
        return self.owned(Comment, "file_id", file.id)

    def comment(self, file: File, words: str) -> Comment:
        """The comment on a file that contains words."""
        (row,) = (row for row in self.comments(file) if words in str(row.content))
        return row

    def replies(self, comment: Comment) -> list[Reply]:
        """The replies to a comment, oldest first."""
        return self.owned(Reply, "comment_id", comment.id)

    def proposals(self, file: File) -> list[AccessProposal]:
        """The requests for roles on a file, oldest first."""
        return self.owned(AccessProposal, "file_id", file.id)

    def newest_change(self) -> str:
        """Token of the newest change."""
        return max(row.token for row in self.all(Change))


class ConsultancyWorld(World):
    """All rows of the seed `consultancy`."""

    company = CONSULTANCY
    now = datetime(2026, 11, 16, 10, 0)  # noqa: DTZ001 - tables keep UTC without a zone


class FoundationWorld(World):
    """All rows of the seed `foundation`."""

    company = FOUNDATION
    now = datetime(2026, 11, 16, 8, 30)  # noqa: DTZ001 - tables keep UTC without a zone
