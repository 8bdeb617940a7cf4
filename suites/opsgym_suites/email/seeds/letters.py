"""Puts accounts, settings and messages into a world.

Invariant: a message between users of the world is the same in every mailbox that has it: headers, text and files. A
mailbox has one thread for a conversation.
"""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from opsgym_domains.email.mailbox import SYSTEM_LABELS
from opsgym_domains.email.mime import date_header, milliseconds
from opsgym_domains.email.tables import (
    Attachment,
    AutoForwarding,
    Draft,
    HistoryEvent,
    ImapSettings,
    Label,
    LanguageSettings,
    Message,
    MessageHeader,
    MessageLabel,
    MessagePart,
    MessagePartBody,
    PopSettings,
    Profile,
    SendAsAlias,
    Thread,
    User,
    VacationSettings,
)
from opsgym_domains.kit.schema import Row
from opsgym_suites.email.seeds.description import Correspondent
from opsgym_suites.email.seeds.world import World

R = TypeVar("R", bound=Row)
KINDS = {"pdf": "application/pdf", "csv": "text/csv", "png": "image/png", "zip": "application/zip", "html": "text/html"}
"""MIME types by ending of a file's name."""
VOICES = (
    ("Dear {to},", "Kind regards,\n{me}"),
    ("Hi {to},", "Best,\n{me}"),
    ("{to} -", "{me}"),
    ("Hello {to},", "Thanks and regards\n{me}"),
    ("Good day {to},", "Yours\n{me}"),
    ("hi {to}", "cheers, {me}"),
)
"""Openings and closings of messages by a person's voice."""


# --- accounts --------------------------------------------------------------------------------------------------------


def stamped(row: R, time: datetime) -> R:
    """A row that was made at a time and not changed since."""
    for name in (type(row).created, type(row).updated):
        if name is not None:
            setattr(row, name, time)
    return row


def add_accounts(world: World) -> None:
    """Users with their settings, system labels and primary addresses."""
    company = world.company
    for number, one in enumerate((*company.people, *company.partners)):
        _account(world, one, company.founded + timedelta(minutes=7 * number))
    for owner, names in {company.owner: company.labels, **company.label_names}.items():
        for name in names:
            add_label(world, world.user(owner), name)


def _account(world: World, one: Correspondent, founded: datetime) -> None:
    address = world.address(one.address)
    bits = random.Random(f"token {address}").getrandbits(128)  # noqa: S311 - made up, and the same every time
    token = base64.urlsafe_b64encode(bits.to_bytes(16, "big")).decode().rstrip("=")
    user = world.add(
        stamped(User(primary_email=address, name=one.name, token=token, messages_total=0, threads_total=0), founded)
    )
    for name, (in_messages, in_labels) in SYSTEM_LABELS.items():
        label = Label(user_id=user.id, name=name, type="system", message_list_visibility=in_messages)
        label.label_list_visibility = in_labels
        world.add(stamped(label, founded))
    settings: tuple[Row, ...] = (
        VacationSettings(
            user_id=user.id, enable_auto_reply=False, restrict_to_contacts=False, restrict_to_domain=False
        ),
        PopSettings(user_id=user.id, access_window="disabled", disposition="leaveInInbox"),
        LanguageSettings(user_id=user.id, display_language="en"),
        AutoForwarding(user_id=user.id, enabled=False, disposition="leaveInInbox"),
        ImapSettings(user_id=user.id, enabled=True, auto_expunge=True, expunge_behavior="archive", max_folder_size=0),
        Profile(user_id=user.id, name="Default", active=one.active, is_default=True),
    )
    for row in settings:
        world.add(stamped(row, founded))
    add_alias(world, user, address, one.name, is_primary=True, is_default=True, treat_as_alias=False)


def add_label(world: World, user: User, name: str) -> Label:
    """A label of the user's own."""
    label = Label(user_id=user.id, name=name, type="user", message_list_visibility="show")
    label.label_list_visibility = "labelShow"
    return world.add(stamped(label, world.company.founded))


def add_alias(world: World, user: User, address: str, name: str, **fields: Any) -> SendAsAlias:
    """An address from which a user sends."""
    values = {"is_primary": False, "is_default": False, "treat_as_alias": True, "verification_status": "accepted"}
    alias = SendAsAlias(user_id=user.id, send_as_email=address, display_name=name, **{**values, **fields})
    return world.add(stamped(alias, world.company.founded))


# --- messages --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Letter:
    """A message as its sender wrote it."""

    sender: str
    """Name and address."""
    to: Sequence[str]
    subject: str
    text: str
    time: datetime
    copied: Sequence[str] = ()
    hidden: Sequence[str] = ()
    """Addresses in Bcc, which only the sender's copy shows."""
    files: Mapping[str, str] | Sequence[str] = ()
    """Names of attached files, with their text if it matters."""
    answers: str = ""
    """Message-ID of the message that this one answers."""
    headers: Mapping[str, str] | None = None
    """Further headers."""


def message_id(world: World, written: Letter) -> str:
    """Message-ID of a message."""
    host = written.sender.rpartition("@")[2].rstrip(">")
    bits = random.Random(f"{world.company.keys}{written.subject}{written.time}{written.sender}").getrandbits(64)  # noqa: S311 - no secret
    return f"<{bits:016x}@{host}>"


def put(world: World, owner: User, written: Letter, labels: Sequence[str], thread: Thread | None = None) -> Message:
    """Puts a message into a mailbox; without a thread it begins one."""
    time = written.time
    preview = f"{written.subject} - {' '.join(written.text.split())[:60]}"
    if thread is None:
        thread = world.add(stamped(Thread(user_id=owner.id, snippet=preview), time))
        owner.threads_total = (owner.threads_total or 0) + 1
    size = len(written.text.encode()) + 400
    message = Message(user_id=owner.id, thread_id=thread.id, snippet=preview, internal_date_ms=milliseconds(time))
    message.size_estimate = size
    world.add(stamped(message, time))
    owner.messages_total = (owner.messages_total or 0) + 1
    root = world.add(stamped(MessagePart(message_id=message.id, part_id="0", mime_type="text/plain"), time))
    for name, value in _headers(world, written, is_sent="SENT" in labels or "DRAFT" in labels):
        world.add(stamped(MessageHeader(message_part_id=root.id, name=name, value=value), time))
    body = MessagePartBody(message_part_id=root.id, size=len(written.text.encode()), data=written.text)
    world.add(stamped(body, time))
    files = written.files if isinstance(written.files, Mapping) else dict.fromkeys(written.files, "")
    for number, (name, content) in enumerate(files.items(), start=1):
        message.size_estimate += _attach(world, message, root, number, name, content)
    for label in labels:
        world.add(MessageLabel(message_id=message.id, label_id=world.label(owner, label).id))
    return message


def _headers(world: World, written: Letter, *, is_sent: bool) -> list[tuple[str, str]]:
    pairs = [("From", written.sender), ("To", ", ".join(written.to))]
    pairs += [("Cc", ", ".join(written.copied))] if written.copied else []
    pairs += [("Bcc", ", ".join(written.hidden))] if written.hidden and is_sent else []
    pairs += [
        ("Subject", written.subject),
        ("Date", date_header(written.time)),
        ("Message-ID", message_id(world, written)),
    ]
    pairs += [("In-Reply-To", written.answers)] if written.answers else []
    return [*pairs, *(written.headers or {}).items()]


def _attach(world: World, message: Message, root: MessagePart, number: int, name: str, content: str) -> int:
    """Attaches a file; returns its size."""
    time, kind = message.created_at, KINDS.get(name.rpartition(".")[2], "application/octet-stream")
    assert time is not None
    data = (content or f"content of {number}").encode()
    size = len(data) if content else random.Random(f"{name}{time}").randrange(20_000, 4_000_000)  # noqa: S311 - no secret
    part = MessagePart(
        message_id=message.id, parent_part_id=root.id, part_id=f"0.{number}", mime_type=kind, filename=name
    )
    world.add(stamped(part, time))
    file = Attachment(message_id=message.id, user_id=message.user_id, filename=name, mime_type=kind, size=size)
    file.part_id, file.data = part.id, base64.urlsafe_b64encode(data).decode()
    world.add(stamped(file, time))
    world.add(stamped(MessagePartBody(message_part_id=part.id, size=size, attachment_id=file.id), time))
    return size


def named(world: World, address: str) -> str:
    """A user's name and address as a header has them; other senders are given whole."""
    if "<" in address:
        return address
    user = world.user(address)
    return f"{user.name} <{user.primary_email}>"


def sign(world: World, sender: str, to: str, text: str) -> str:
    """A text between the opening and the closing of its author's voice."""
    people = {world.address(one.address): one for one in (*world.company.people, *world.company.partners)}
    author, reader = people[world.address(sender)], people.get(world.address(to))
    opening, closing = VOICES[author.voice % len(VOICES)]
    to_name, me = (reader.name if reader else "all").partition(" ")[0], author.name.partition(" ")[0]
    return f"{opening.format(to=to_name)}\n\n{text}\n\n{closing.format(me=me)}\n"


def exchange(
    world: World,
    subject: str,
    turns: Sequence[tuple[str, str, datetime]],
    *,
    between: Sequence[str],
    copied: Sequence[str] = (),
    labels: Mapping[str, Sequence[str]] | None = None,
    files: Mapping[str, str] | Sequence[str] = (),
    only: Sequence[str] | None = None,
    unread: Sequence[str] = (),
    headers: Mapping[str, str] | None = None,
) -> dict[str, list[Message]]:
    """A conversation of users in all their mailboxes.

    Args:
        world: The world.
        subject: Of the first message; answers have `Re:` before it.
        turns: Author, text and time of each message.
        between: Addresses of those who write to each other.
        copied: Addresses that get a copy of all messages.
        labels: Further labels of the messages by mailbox; a mailbox that names labels and not INBOX has archived them.
        files: Attached to the first message.
        only: Mailboxes that still have the messages; all if None.
        unread: Mailboxes in which the last message is unread.
        headers: Further headers of all messages.

    Returns:
        The messages by mailbox, as addresses are given here.
    """
    threads: dict[str, Thread] = {}
    made: dict[str, list[Message]] = {}
    answered = ""
    for number, (author, text, time) in enumerate(turns):
        to = [name for name in between if name != author] or [between[0]]
        written = Letter(
            sender=named(world, author),
            to=[named(world, name) for name in to],
            subject=f"Re: {subject}" if number else subject,
            text=sign(world, author, to[0], text),
            time=time,
            copied=[named(world, name) for name in copied],
            files=() if number else files,
            answers=answered,
            headers=headers,
        )
        answered = message_id(world, written)
        for name in dict.fromkeys((*between, *copied)):
            if (only is not None and name not in only) or "<" in name:
                continue
            own = (labels or {}).get(name, ("INBOX",))
            is_last = number == len(turns) - 1
            here = [*(["SENT"] if name == author else own), *(["UNREAD"] if is_last and name in unread else [])]
            message = put(world, world.user(name), written, here, threads.get(name))
            threads.setdefault(name, world.conversation(message))
            made.setdefault(name, []).append(message)
    return made


def notice(
    world: World,
    owner: str,
    sender: str,
    subject: str,
    text: str,
    time: datetime,
    labels: Sequence[str] = ("INBOX", "UNREAD"),
    **more: Any,
) -> Message:
    """A message from a sender without a mailbox of the world."""
    user = world.user(owner)
    to = more.pop("to", [named(world, owner)])
    written = Letter(sender=sender, to=to, subject=subject, text=text, time=time, **more)
    return put(world, user, written, labels)


def add_draft(
    world: World,
    owner: str,
    to: Sequence[str],
    subject: str,
    text: str,
    time: datetime,
    *,
    thread: Thread | None = None,
    **more: Any,
) -> Draft:
    """A message that has not been sent."""
    written = Letter(
        sender=named(world, owner),
        to=[named(world, name) for name in to],
        subject=subject,
        text=text,
        time=time,
        **more,
    )
    message = put(world, world.user(owner), written, ["DRAFT"], thread)
    return world.add(stamped(Draft(message_id=message.id), time))


# --- history ---------------------------------------------------------------------------------------------------------


def record(world: World, message: Message, event: str, time: datetime, labels: Sequence[str] = ()) -> HistoryEvent:
    """Writes a change to the history of a message's mailbox."""
    (owner,) = world.all(User, id=message.user_id)
    rows = [world.label(owner, name).id for name in labels]
    shown: dict[str, Any] = {"id": message.id, "threadId": message.thread_id}
    is_label = event.startswith("label")
    change = {"message": shown, "labelIds": rows} if is_label else {"message": shown | {"labelIds": rows}}
    lists = {"messageAdded": "messagesAdded", "labelAdded": "labelsAdded", "labelRemoved": "labelsRemoved"}
    number = len(world.all(HistoryEvent))
    bits = random.Random(f"{world.company.keys}history {number}").getrandbits(128)  # noqa: S311 - no secret
    key = f"{bits:032x}"
    row = HistoryEvent(
        user_id=owner.id,
        history_id=f"{key[:8]}-{key[8:12]}-4{key[13:16]}-a{key[17:20]}-{key[20:]}",
        event_type=event,
        event_timestamp=time.isoformat(),
        event_data=json.dumps({lists[event]: [change]}),
    )
    message.history_id_last = owner.history_id_current = row.history_id
    return world.add(stamped(row, time))
