"""Drafts: messages that have not been sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import select

from opsgym_domains.email.delivery import send
from opsgym_domains.email.listing import message_page, offset, paged, search_conditions
from opsgym_domains.email.mailbox import mailbox_of, not_found
from opsgym_domains.email.mime import content_of
from opsgym_domains.email.resources import Resource, message_resource
from opsgym_domains.email.storage import contents_of, remove, store
from opsgym_domains.email.tables import Draft, Message, User
from opsgym_domains.email.toolbox import tool
from opsgym_domains.kit.gym import Gym

ID = {"id": "Draft id"}


@tool(adds=Draft)
async def create_draft(gym: Gym, message: Mapping[str, Any], user_id: str | None = None) -> Resource:
    """Create a draft in a mailbox.

    Give exactly one of raw and payload. Returns the draft with its message.
    """
    mailbox = await mailbox_of(gym, user_id)
    draft = await gym.insert(Draft(message_id=(await _stored(gym, mailbox, message)).id))
    return await _resource(gym, draft)


@tool(row=Draft, words=ID)
async def get_draft(gym: Gym, id: str, user_id: str | None = None, format: str = "full") -> Resource:  # noqa: A002 - published names
    """Get a draft with its message.

    Refused (NOT_FOUND) if the mailbox has no such draft.
    """
    draft, _ = await _owned_draft(gym, await mailbox_of(gym, user_id), id)
    return await _resource(gym, draft, format)


@tool(row=Draft)
async def list_drafts(
    gym: Gym, user_id: str | None = None, q: str | None = None, include_spam_trash: bool = False, **page: Any
) -> Resource:
    """List the drafts of a mailbox that a search finds, the newest first.

    Returns ids and message ids: get_draft returns the content.
    """
    mailbox = await mailbox_of(gym, user_id)
    conditions = await search_conditions(gym, mailbox, q, include_spam_trash=include_spam_trash)
    has_draft = Message.id.in_(select(Draft.message_id))
    start, size = offset(page.get("page_token")), page.get("max_results", 100)
    messages, total = await message_page(gym, [*conditions, has_draft], start, size)
    drafts = await gym.all(Draft, Draft.message_id.in_([message.id for message in messages]))
    draft_of = {draft.message_id: draft for draft in drafts}
    shown = [
        {"id": draft_of[message.id].id, "message": {"id": message.id, "threadId": message.thread_id}}
        for message in messages
    ]
    return paged("drafts", shown, total, start, size)


@tool(changes=Draft, words=ID)
async def update_draft(gym: Gym, id: str, message: Mapping[str, Any], user_id: str | None = None) -> Resource:  # noqa: A002 - the published name
    """Replace the message of a draft.

    message needs exactly one of raw and payload, and an id, whatever it is: the message gets a new one. The draft keeps
    its own. Returns the draft.
    """
    mailbox = await mailbox_of(gym, user_id)
    draft, replaced = await _owned_draft(gym, mailbox, id)
    thread = {"threadId": replaced.thread_id, **message}
    await gym.update(draft, {"message_id": (await _stored(gym, mailbox, thread)).id})
    await remove(gym, mailbox, [replaced])
    return await _resource(gym, draft)


@tool(removes=Draft, words=ID)
async def delete_draft(gym: Gym, id: str, user_id: str | None = None) -> None:  # noqa: A002 - the published name
    """Delete a draft and its message for good.

    Returns nothing.
    """
    mailbox = await mailbox_of(gym, user_id)
    _, message = await _owned_draft(gym, mailbox, id)
    await remove(gym, mailbox, [message])


@tool(removes=Draft, words=ID)
async def send_draft(
    gym: Gym,
    id: str,  # noqa: A002 - the published name
    message: Mapping[str, Any],
    user_id: str | None = None,
) -> Resource:
    """Send a draft, with a message that replaces the drafted one.

    message needs exactly one of raw and payload; with an empty raw the draft is sent as it is. The draft is removed,
    and the message stored under SENT. It needs a recipient (NO_RECIPIENT). Returns the sent message.
    """
    mailbox = await mailbox_of(gym, user_id)
    _, drafted = await _owned_draft(gym, mailbox, id)
    is_new = bool(message.get("raw") or message.get("payload"))
    stored = await contents_of(gym, [drafted.id], with_files=True)
    content = content_of(message) if is_new else stored[drafted.id].content
    sent = await send(gym, mailbox, content, thread_id=drafted.thread_id)
    await remove(gym, mailbox, [drafted])
    return await message_resource(gym, sent)


async def _stored(gym: Gym, mailbox: User, message: Mapping[str, Any]) -> Message:
    labels = ["DRAFT", *(message.get("labelIds") or ())]
    return await store(gym, mailbox, content_of(message), labels, thread_id=message.get("threadId"))


async def _owned_draft(gym: Gym, mailbox: User, draft_id: str) -> tuple[Draft, Message]:
    draft = await gym.get(Draft, draft_id)
    message = None if draft is None else await gym.get(Message, draft.message_id)
    if draft is None or message is None or message.user_id != mailbox.id:
        raise not_found()
    return draft, message


async def _resource(gym: Gym, draft: Draft, form: str = "full") -> Resource:
    message = await gym.fetch(Message, draft.message_id)
    return {"id": draft.id, "message": await message_resource(gym, message, form)}
