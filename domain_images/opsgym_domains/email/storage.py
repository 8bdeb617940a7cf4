"""Messages in a mailbox: stored from a `Content`, read back as one, and removed.

Invariant: a stored message has one root part `0` with all headers and the text; every other part is a child `0.1`,
`0.2`, …. The snippet of a message that the server stores is its subject, as in the published server.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select

from opsgym_domains.email.mailbox import change_labels, not_found, record
from opsgym_domains.email.mime import Content, Part, milliseconds
from opsgym_domains.email.tables import (
    Attachment,
    Message,
    MessageHeader,
    MessagePart,
    MessagePartBody,
    Thread,
    User,
)
from opsgym_domains.kit.gym import Gym

_MESSAGE_IDS = re.compile(r"<[^<>\s]+>")


@dataclass(frozen=True)
class StoredPart:
    """A part of a stored message.

    Attributes:
        part_id: Position: `0` for the root.
        content: What it contains.
        attachment_id: Id of its attachment; None for text.
    """

    part_id: str
    content: Part
    attachment_id: str | None


@dataclass(frozen=True)
class StoredContent:
    """Headers and parts of a stored message, the root part first."""

    headers: Sequence[tuple[str, str]]
    parts: Sequence[StoredPart]

    @property
    def content(self) -> Content:
        """The message without the ids of its parts."""
        root, *others = [part.content for part in self.parts] or [Part("text/plain", "", 0)]
        return Content(self.headers, root, others)


# --- writing ---------------------------------------------------------------------------------------------------------


async def store(
    gym: Gym,
    mailbox: User,
    content: Content,
    labels: Sequence[str],
    *,
    thread_id: str | None = None,
    received: datetime | None = None,
    internal_date: str | None = None,
) -> Message:
    """Adds a message to a mailbox, with labels and history.

    Args:
        gym: The call's view of the database.
        mailbox: Owner.
        content: The message.
        labels: Labels by id or system name.
        thread_id: Thread that it belongs to; None to find it by the messages that it answers.
        received: Time of its arrival; None for now.
        internal_date: That time as milliseconds, as a call gave it; None to compute it.

    Raises:
        ToolError: `NOT_FOUND`: the mailbox does not have the thread; `INVALID_LABEL`.
    """
    subject = content.header("Subject")
    thread = await _thread(gym, mailbox, content, thread_id)
    message = await gym.insert(
        Message(
            user_id=mailbox.id,
            thread_id=thread.id,
            snippet=subject,
            internal_date_ms=internal_date or milliseconds(received or gym.now()),
            size_estimate=content.size,
        )
    )
    await _store_parts(gym, mailbox, message, content)
    await gym.update(mailbox, {"messages_total": (mailbox.messages_total or 0) + 1})
    await record(gym, mailbox, "messageAdded", message)
    await change_labels(gym, mailbox, message, add=labels)
    await gym.update(thread, {"history_id_last": message.history_id_last, "snippet": subject})
    return message


async def _thread(gym: Gym, mailbox: User, content: Content, thread_id: str | None) -> Thread:
    if thread_id:
        thread = await gym.get(Thread, thread_id)
        if thread is None or thread.user_id != mailbox.id:
            raise not_found()
        return thread
    answered = _MESSAGE_IDS.findall(f"{content.header('References')} {content.header('In-Reply-To')}")
    thread = await _thread_of(gym, mailbox, answered) if answered else None
    if thread is None:
        thread = await gym.insert(Thread(user_id=mailbox.id, snippet=content.header("Subject")))
        await gym.update(mailbox, {"threads_total": (mailbox.threads_total or 0) + 1})
    return thread


async def _thread_of(gym: Gym, mailbox: User, message_ids: Sequence[str]) -> Thread | None:
    """The thread of a mailbox that has one of the messages, by their Message-ID; the newest one."""
    headers = select(MessagePart.message_id).join(MessageHeader, MessageHeader.message_part_id == MessagePart.id)
    headers = headers.where(func.lower(MessageHeader.name) == "message-id", MessageHeader.value.in_(message_ids))
    messages = await gym.all(Message, Message.user_id == mailbox.id, Message.id.in_(headers))
    return await gym.get(Thread, messages[-1].thread_id) if messages else None


async def _store_parts(gym: Gym, mailbox: User, message: Message, content: Content) -> None:
    root = await gym.insert(MessagePart(message_id=message.id, part_id="0", mime_type=content.body.mime_type))
    headers = [MessageHeader(message_part_id=root.id, name=name, value=value) for name, value in content.headers]
    await gym.insert_all(headers)
    await gym.insert(MessagePartBody(message_part_id=root.id, size=content.body.size, data=content.body.data))
    for number, part in enumerate(content.others, start=1):
        child = await gym.insert(
            MessagePart(
                message_id=message.id,
                parent_part_id=root.id,
                part_id=f"0.{number}",
                mime_type=part.mime_type,
                filename=part.filename or None,
            )
        )
        attachment = await _attachment(gym, mailbox, message, child, part) if part.filename else None
        body = MessagePartBody(message_part_id=child.id, size=part.size, attachment_id=attachment and attachment.id)
        body.data = part.data if attachment is None else None
        await gym.insert(body)


async def _attachment(gym: Gym, mailbox: User, message: Message, part: MessagePart, content: Part) -> Attachment:
    return await gym.insert(
        Attachment(
            message_id=message.id,
            user_id=mailbox.id,
            filename=content.filename,
            mime_type=content.mime_type,
            size=content.size,
            part_id=part.id,
            data=content.data,
        )
    )


async def remove(gym: Gym, mailbox: User, messages: Sequence[Message]) -> None:
    """Deletes messages with all that belongs to them, and threads that have no message left."""
    for message in messages:
        await record(gym, mailbox, "messageDeleted", message)
    threads = {message.thread_id for message in messages}
    await gym.delete(messages)
    empty = [
        thread
        for thread in await gym.all(Thread, Thread.id.in_(threads - {None}))
        if not await gym.count(Message, {"thread_id": thread.id})
    ]
    await gym.delete(empty)
    totals = {
        "messages_total": max(0, (mailbox.messages_total or 0) - len(messages)),
        "threads_total": max(0, (mailbox.threads_total or 0) - len(empty)),
    }
    await gym.update(mailbox, totals)


# --- reading ---------------------------------------------------------------------------------------------------------


async def contents_of(gym: Gym, messages: Collection[str], *, with_files: bool = False) -> Mapping[str, StoredContent]:
    """Headers and parts of messages by the message's id, with one query for each table.

    Args:
        gym: The call's view of the database.
        messages: Ids.
        with_files: Whether parts that are attachments have their data.
    """
    if not messages:
        return {}
    attachments = await gym.all(Attachment, Attachment.message_id.in_(messages)) if with_files else ()
    files = {attachment.id: attachment.data or "" for attachment in attachments}
    parts = await gym.all(MessagePart, MessagePart.message_id.in_(messages))
    ids = [part.id for part in parts]
    headers = await gym.all(MessageHeader, MessageHeader.message_part_id.in_(ids)) if ids else ()
    bodies = await gym.all(MessagePartBody, MessagePartBody.message_part_id.in_(ids)) if ids else ()
    body_of = {body.message_part_id: body for body in bodies}
    headers_of: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for header in headers:
        headers_of[header.message_part_id].append((header.name, header.value or ""))
    by_message: dict[str, list[MessagePart]] = {message: [] for message in messages}
    for part in parts:
        by_message[part.message_id].append(part)
    return {message: _content(of, headers_of, body_of, files) for message, of in by_message.items()}


def _content(
    parts: Sequence[MessagePart],
    headers_of: Mapping[str, Sequence[tuple[str, str]]],
    body_of: Mapping[str, MessagePartBody],
    files: Mapping[str, str],
) -> StoredContent:
    ordered = sorted(parts, key=lambda part: (part.parent_part_id is not None, part.part_id or ""))
    stored = []
    for part in ordered:
        body = body_of.get(part.id)
        attachment = None if body is None else body.attachment_id
        data, size = ("", 0) if body is None else (body.data or files.get(attachment or "", ""), body.size or 0)
        content = Part(part.mime_type or "text/plain", data, size, part.filename or "")
        stored.append(StoredPart(part.part_id or "", content, attachment))
    return StoredContent(headers_of.get(ordered[0].id, ()) if ordered else (), stored)
