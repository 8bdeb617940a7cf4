"""Messages: search, read, send, file, delete."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from opsgym_domains.email.delivery import send
from opsgym_domains.email.listing import message_page, offset, paged, search_conditions
from opsgym_domains.email.mailbox import change_labels, mailbox_of, not_found, owned_message, relabel
from opsgym_domains.email.mime import content_of, date_of, milliseconds
from opsgym_domains.email.resources import Resource, message_resource
from opsgym_domains.email.storage import remove, store
from opsgym_domains.email.tables import Attachment, Message
from opsgym_domains.email.toolbox import tool
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym

ID = {"id": "Message id"}


@tool(row=Message)
async def list_messages(
    gym: Gym,
    user_id: str,
    q: str | None = None,
    label_ids: Sequence[str] = (),
    include_spam_trash: bool = False,
    **page: Any,
) -> Resource:
    """List the messages of a mailbox that a search finds, the newest first.

    Messages must meet the search and have all of the labels; those in SPAM and TRASH are left out unless the search or
    the labels name these, or includeSpamTrash is set. Returns ids and thread ids: get_message returns the content.
    """
    mailbox = await mailbox_of(gym, user_id)
    conditions = await search_conditions(gym, mailbox, q, label_ids, include_spam_trash=include_spam_trash)
    start, size = offset(page.get("page_token")), page.get("max_results", 100)
    messages, total = await message_page(gym, conditions, start, size)
    shown = [{"id": message.id, "threadId": message.thread_id} for message in messages]
    return paged("messages", shown, total, start, size)


@tool(row=Message, words=ID)
async def get_message(
    gym: Gym,
    id: str,  # noqa: A002 - the published name
    user_id: str | None = None,
    format: str = "full",  # noqa: A002 - the published name
    metadata_headers: Sequence[str] = (),
) -> Resource:
    """Get a message: labels, headers, and the text and attachments of its parts.

    Texts are in base64url. Refused (NOT_FOUND) if the mailbox has no such message.
    """
    message = await owned_message(gym, await mailbox_of(gym, user_id), id)
    return await message_resource(gym, message, format, metadata_headers)


@tool(row=Attachment, words={"messageId": "Message id", "id": "Attachment id, from the part of the message"})
async def get_attachment(gym: Gym, user_id: str, message_id: str, id: str) -> Resource:  # noqa: A002 - the published name
    """Get the content of an attachment.

    Returns its size, and its data in base64url. Refused (NOT_FOUND) if the message has no such attachment.
    """
    message = await owned_message(gym, await mailbox_of(gym, user_id), message_id)
    attachment = await gym.get(Attachment, id)
    if attachment is None or attachment.message_id != message.id:
        raise not_found()
    return {"attachmentId": attachment.id, "size": attachment.size or 0, "data": attachment.data or ""}


# --- new messages ----------------------------------------------------------------------------------------------------


@tool(adds=Message)
async def send_message(
    gym: Gym, user_id: str, label_ids: Sequence[str] = (), thread_id: str | None = None, **source: Any
) -> Resource:
    """Send a message from a mailbox.

    Give exactly one of raw and payload. The message needs a recipient (NO_RECIPIENT) and is stored under SENT; a From
    header must be a verified address of the mailbox (SENDER_NOT_OWNED). A reply becomes part of the thread of the
    message that its References or In-Reply-To header names, or of threadId. Returns the message.
    """
    mailbox = await mailbox_of(gym, user_id)
    return await message_resource(gym, await send(gym, mailbox, content_of(source), label_ids, thread_id=thread_id))


@tool(adds=Message)
async def insert_message(gym: Gym, user_id: str | None = None, **source: Any) -> Resource:
    """Add a message to a mailbox without sending it, as IMAP APPEND does.

    Give exactly one of raw and payload. No filter applies. Returns the message.
    """
    return await _add(gym, user_id, source)


@tool(adds=Message)
async def import_message(gym: Gym, user_id: str | None = None, **source: Any) -> Resource:
    """Add a message to a mailbox as if it had arrived from elsewhere.

    Give exactly one of raw and payload. Without labels the message is in INBOX, unread. Returns the message.
    """
    return await _add(gym, user_id, {**source, "label_ids": source.get("label_ids") or ["INBOX", "UNREAD"]})


async def _add(gym: Gym, user_id: str | None, source: dict[str, Any]) -> Resource:
    mailbox, content = await mailbox_of(gym, user_id), content_of(source)
    internal_date = source.get("internal_date")
    if internal_date and not re.fullmatch(r"\d{1,18}", internal_date):
        raise ToolError("INVALID_DATE", "internalDate must be a time in milliseconds since 1970", "internalDate")
    if source.get("internal_date_source") == "dateHeader" and (time := date_of(content)) is not None:
        internal_date = milliseconds(time)
    message = await store(
        gym,
        mailbox,
        content,
        source.get("label_ids") or (),
        thread_id=source.get("thread_id"),
        internal_date=internal_date,
    )
    return await message_resource(gym, message)


# --- filing and deleting ---------------------------------------------------------------------------------------------


@tool(changes=Message, words=ID)
async def modify_message(
    gym: Gym,
    user_id: str,
    id: str,  # noqa: A002 - the published name
    add_label_ids: Sequence[str] = (),
    remove_label_ids: Sequence[str] = (),
) -> Resource:
    """Add labels to a message and take others off: file, archive, star it, or mark it as read.

    Taking off INBOX archives the message, taking off UNREAD marks it as read. Labels must exist, and SENT and DRAFT
    cannot be changed (INVALID_LABEL). Returns the message without its content.
    """
    mailbox = await mailbox_of(gym, user_id)
    message = await owned_message(gym, mailbox, id)
    await relabel(gym, mailbox, [message], add=add_label_ids, remove=remove_label_ids)
    return await message_resource(gym, message, "minimal")


@tool(changes=Message)
async def batch_modify_messages(
    gym: Gym,
    ids: Sequence[str],
    user_id: str | None = None,
    add_label_ids: Sequence[str] = (),
    remove_label_ids: Sequence[str] = (),
) -> None:
    """Add labels to several messages and take others off.

    Refused (NOT_FOUND) if the mailbox lacks one of the messages; then none changes. Labels must exist, and SENT and
    DRAFT cannot be changed (INVALID_LABEL). Returns nothing.
    """
    mailbox = await mailbox_of(gym, user_id)
    messages = [await owned_message(gym, mailbox, message_id) for message_id in dict.fromkeys(ids)]
    await relabel(gym, mailbox, messages, add=add_label_ids, remove=remove_label_ids)


@tool(changes=Message, words=ID)
async def trash_message(gym: Gym, user_id: str, id: str) -> Resource:  # noqa: A002 - the published name
    """Move a message to the trash.

    Its other labels except INBOX stay. Returns the message without its content.
    """
    return await _relabel(gym, user_id, id, add=["TRASH"], remove=["INBOX"])


@tool(changes=Message, words=ID)
async def untrash_message(gym: Gym, user_id: str, id: str) -> Resource:  # noqa: A002 - the published name
    """Take a message out of the trash.

    It does not return to INBOX. Returns the message without its content.
    """
    return await _relabel(gym, user_id, id, remove=["TRASH"])


@tool(removes=Message, words=ID)
async def delete_message(gym: Gym, id: str, user_id: str | None = None) -> None:  # noqa: A002 - the published name
    """Delete a message for good; trash_message can be undone.

    Copies in other mailboxes stay. Returns nothing.
    """
    mailbox = await mailbox_of(gym, user_id)
    await remove(gym, mailbox, [await owned_message(gym, mailbox, id)])


@tool(removes=Message)
async def batch_delete_messages(gym: Gym, user_id: str, ids: Sequence[str]) -> None:
    """Delete several messages for good.

    Ids of messages that the mailbox does not have are ignored. Returns nothing.
    """
    mailbox = await mailbox_of(gym, user_id)
    await remove(gym, mailbox, await gym.all(Message, Message.user_id == mailbox.id, Message.id.in_(ids)))


async def _relabel(
    gym: Gym, user_id: str, message_id: str, *, add: Sequence[str] = (), remove: Sequence[str] = ()
) -> Resource:
    mailbox = await mailbox_of(gym, user_id)
    message = await owned_message(gym, mailbox, message_id)
    await change_labels(gym, mailbox, message, add=add, remove=remove)
    return await message_resource(gym, message, "minimal")
