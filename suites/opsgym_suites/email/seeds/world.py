"""The rows of a seed of email, with look-ups by name.

Invariant: keys follow from the table and the number of rows before, so equal descriptions give equal worlds. What
agents name in calls has a random key; parts of messages are counted, since no call names them.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, TypeVar
from uuid import UUID

from opsgym_domains.email.expiry import DEADLINES
from opsgym_domains.email.tables import (
    METADATA,
    Attachment,
    CseKeyPair,
    Draft,
    Filter,
    Label,
    Message,
    MessageHeader,
    MessageLabel,
    MessagePart,
    MessagePartBody,
    SendAsAlias,
    SmimeInfo,
    Thread,
    User,
)
from opsgym_domains.kit.schema import Row
from opsgym_suites.email.seeds.description import Company
from opsgym_suites.email.seeds.ferries import FERRIES
from opsgym_suites.email.seeds.press import PRESS
from opsgym_suites.kit import world
from opsgym_suites.kit.world import key_of

R = TypeVar("R", bound=Row)
COUNTED = {MessagePart: "part", MessageHeader: "header", MessagePartBody: "body"}
"""Tables whose keys are a word and a number."""


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
        return str(self.user.name).partition(" ")[0]

    @property
    def last_name(self) -> str:
        """Last name."""
        return str(self.user.name).partition(" ")[2]

    @property
    def email(self) -> str:
        """Address."""
        return self.user.primary_email


class World(world.World):
    """All rows of a seed."""

    metadata = METADATA
    deadlines = DEADLINES
    indexed = ("user_id", "message_id", "message_part_id", "thread_id", "primary_email")
    company: ClassVar[Company]
    """Whose rows these are."""

    def add(self, row: R) -> R:
        """Adds a row; sets its key if the row has none."""
        kind = type(row)
        if kind.has_uuid and getattr(row, key_of(kind)) is None:
            setattr(row, key_of(kind), self.next_id(kind))
        return super().add(row)

    def next_id(self, kind: type[Row], ahead: int = 0) -> Any:
        """The key that a seed's next row of a table gets."""
        number = len(self._rows[kind.__tablename__]) + ahead
        if kind in COUNTED:
            return f"{COUNTED[kind]}_{number + 1:06d}"
        if not kind.has_uuid:
            return super().next_id(kind, ahead)
        bits = random.Random(f"{self.company.keys}{kind.__tablename__} {number}").getrandbits(128)  # noqa: S311 - no secret
        key = str(UUID(int=bits, version=4))
        return f"filter_{key}" if kind is Filter else key

    # --- people ------------------------------------------------------------------------------------------------------

    def address(self, name: str) -> str:
        """A whole address, of which the company's host may be left out."""
        return name if "@" in name else f"{name}@{self.company.host}"

    def user(self, name: str) -> User:
        """A user by address."""
        (user,) = self.all(User, primary_email=self.address(name))
        return user

    def person(self, name: str) -> Person:
        """A user who asks for something, by address."""
        return Person(self.user(name))

    def label(self, user: User, name: str) -> Label:
        """A label of a user by name."""
        (label,) = (row for row in self.all(Label, user_id=user.id) if row.name == name)
        return label

    # --- messages ----------------------------------------------------------------------------------------------------

    def subject(self, message: Message) -> str:
        """Subject of a message."""
        return self.header(message, "Subject")

    def header(self, message: Message, name: str) -> str:
        """Value of a message's header; empty if there is none."""
        return next((str(row.value) for row in self.headers(message) if row.name == name), "")

    def headers(self, message: Message) -> list[MessageHeader]:
        """Headers of a message."""
        return [row for part in self.parts(message) for row in self.all(MessageHeader, message_part_id=part.id)]

    def parts(self, message: Message) -> list[MessagePart]:
        """Parts of a message, the root first."""
        return self.all(MessagePart, message_id=message.id)

    def text(self, message: Message) -> str:
        """Text of a message."""
        bodies = self.all(MessagePartBody, message_part_id=self.parts(message)[0].id)
        return str(bodies[0].data)

    def files(self, message: Message) -> list[Attachment]:
        """Files that are attached to a message."""
        return self.all(Attachment, message_id=message.id)

    def links(self, message: Message) -> list[MessageLabel]:
        """Rows of the labels of a message."""
        return self.all(MessageLabel, message_id=message.id)

    def label_names(self, message: Message) -> set[str]:
        """Names of the labels of a message."""
        ids = {link.label_id for link in self.links(message)}
        return {row.name for row in self.all(Label, user_id=message.user_id) if row.id in ids}

    def mail(self, owner: str, subject: str, sender: str = "") -> Message:
        """The message of a mailbox with a subject and, if given, a part of its sender.

        Raises:
            LookupError: None or several match.
        """
        rows = self.mails(owner, subject, sender)
        if len(rows) != 1:
            raise LookupError(f"{len(rows)} messages of {owner} have the subject {subject!r} from {sender!r}")
        return rows[0]

    def mails(self, owner: str, subject: str, sender: str = "") -> list[Message]:
        """The messages of a mailbox with a subject, oldest first."""
        user = self.user(owner)
        rows = [row for row in self.all(Message, user_id=user.id) if self.subject(row) == subject]
        return [row for row in rows if sender in self.header(row, "From")]

    def thread(self, message: Message) -> list[Message]:
        """The messages of a message's thread, oldest first."""
        rows = self.all(Message, thread_id=message.thread_id)
        return sorted(rows, key=lambda row: int(row.internal_date_ms or 0))

    def conversation(self, message: Message) -> Thread:
        """The thread of a message."""
        (thread,) = self.all(Thread, id=message.thread_id)
        return thread

    def draft(self, owner: str, subject: str) -> Draft:
        """The draft of a mailbox with a subject."""
        rows = [row for row in self.mails(owner, subject) if self.all(Draft, message_id=row.id)]
        (message,) = rows
        return self.all(Draft, message_id=message.id)[0]

    # --- settings ----------------------------------------------------------------------------------------------------

    def alias(self, owner: str, address: str) -> SendAsAlias:
        """A send-as alias."""
        return self.one(SendAsAlias, user_id=self.user(owner).id, send_as_email=self.address(address))

    def certificates(self, alias: SendAsAlias) -> Sequence[SmimeInfo]:
        """The S/MIME certificates of an alias."""
        return self.all(SmimeInfo, send_as_alias_id=alias.id)

    def key_pairs(self, owner: str) -> Sequence[CseKeyPair]:
        """The key pairs of a user, oldest first."""
        return self.all(CseKeyPair, user_id=self.user(owner).id)


class PressWorld(World):
    """All rows of the seed `press`."""

    company = PRESS
    now = datetime(2026, 11, 16, 10, 0)  # noqa: DTZ001 - tables keep UTC without a zone


class FerriesWorld(World):
    """All rows of the seed `ferries`. It stands before the summer timetable begins."""

    company = FERRIES
    now = datetime(2026, 6, 15, 8, 30)  # noqa: DTZ001 - tables keep UTC without a zone
