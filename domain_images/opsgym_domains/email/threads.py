"""Threads: the conversations of a mailbox."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import func

from opsgym_domains.email.listing import offset, paged, search_conditions
from opsgym_domains.email.mailbox import change_labels, mailbox_of, not_found, relabel
from opsgym_domains.email.resources import Resource, message_resources
from opsgym_domains.email.search import ARRIVED
from opsgym_domains.email.storage import remove
from opsgym_domains.email.tables import Message, Thread, User
from opsgym_domains.email.toolbox import tool
from opsgym_domains.kit.filters import NO_FILTERS
from opsgym_domains.kit.gym import Gym

ID = {"id": "Thread id"}


@tool(row=Thread)
async def list_threads(
    gym: Gym,
    user_id: str,
    q: str | None = None,
    label_ids: Sequence[str] = (),
    include_spam_trash: bool = False,
    **page: Any,
) -> Resource:
    """List the threads of a mailbox with a message that a search finds, the one with the newest message first.

    A message of the thread must meet the search and have all of the labels. Returns ids and snippets: get_thread
    returns the messages.
    """
    mailbox = await mailbox_of(gym, user_id)
    conditions = await search_conditions(gym, mailbox, q, label_ids, include_spam_trash=include_spam_trash)
    newest = await gym.grouped(Message.thread_id, func.max(ARRIVED), NO_FILTERS, *conditions)
    ids = sorted(newest, key=lambda thread: newest[thread] or 0, reverse=True)
    start, size = offset(page.get("page_token")), page.get("max_results", 100)
    by_id = {thread.id: thread for thread in await gym.all(Thread, Thread.id.in_(ids[start : start + size]))}
    shown = [
        {"id": thread.id, "snippet": thread.snippet or "", "historyId": thread.history_id_last}
        for thread in (by_id[one] for one in ids[start : start + size] if one in by_id)
    ]
    return paged("threads", shown, len(ids), start, size)


@tool(row=Thread, words=ID)
async def get_thread(
    gym: Gym,
    user_id: str,
    id: str,  # noqa: A002 - the published name
    format: str = "full",  # noqa: A002 - the published name
    metadata_headers: Sequence[str] = (),
) -> Resource:
    """Get a thread with its messages, the oldest first.

    Refused (NOT_FOUND) if the mailbox has no such thread.
    """
    thread, messages = await _owned_thread(gym, await mailbox_of(gym, user_id), id)
    shown = await message_resources(gym, messages, format, metadata_headers)
    return _resource(thread) | {"messages": shown}


@tool(changes=Message, words=ID)
async def modify_thread(
    gym: Gym,
    user_id: str,
    id: str,  # noqa: A002 - the published name
    add_label_ids: Sequence[str] = (),
    remove_label_ids: Sequence[str] = (),
) -> Resource:
    """Add labels to all messages of a thread and take others off.

    Labels must exist, and SENT and DRAFT cannot be changed (INVALID_LABEL). Returns the thread with its messages,
    without their content.
    """
    mailbox = await mailbox_of(gym, user_id)
    thread, messages = await _owned_thread(gym, mailbox, id)
    await relabel(gym, mailbox, messages, add=add_label_ids, remove=remove_label_ids)
    return await _with_messages(gym, thread, messages)


@tool(changes=Message, words=ID)
async def trash_thread(gym: Gym, user_id: str, id: str) -> Resource:  # noqa: A002 - the published name
    """Move all messages of a thread to the trash.

    Returns the thread with its messages, without their content.
    """
    return await _relabel(gym, user_id, id, add=["TRASH"], remove=["INBOX"])


@tool(changes=Message, words=ID)
async def untrash_thread(gym: Gym, user_id: str, id: str) -> Resource:  # noqa: A002 - the published name
    """Take all messages of a thread out of the trash.

    They do not return to INBOX. Returns the thread with its messages, without their content.
    """
    return await _relabel(gym, user_id, id, remove=["TRASH"])


@tool(removes=Thread, words=ID)
async def delete_thread(gym: Gym, user_id: str, id: str) -> None:  # noqa: A002 - the published name
    """Delete a thread and its messages for good; trash_thread can be undone.

    Returns nothing.
    """
    mailbox = await mailbox_of(gym, user_id)
    _, messages = await _owned_thread(gym, mailbox, id)
    await remove(gym, mailbox, messages)


async def _owned_thread(gym: Gym, mailbox: User, thread_id: str) -> tuple[Thread, list[Message]]:
    thread = await gym.get(Thread, thread_id)
    if thread is None or thread.user_id != mailbox.id:
        raise not_found()
    messages = sorted(
        await gym.all(Message, Message.thread_id == thread.id), key=lambda one: int(one.internal_date_ms or 0)
    )
    return thread, messages


async def _relabel(
    gym: Gym, user_id: str, thread_id: str, *, add: Sequence[str] = (), remove: Sequence[str] = ()
) -> Resource:
    mailbox = await mailbox_of(gym, user_id)
    thread, messages = await _owned_thread(gym, mailbox, thread_id)
    for message in messages:
        await change_labels(gym, mailbox, message, add=add, remove=remove)
    return await _with_messages(gym, thread, messages)


async def _with_messages(gym: Gym, thread: Thread, messages: Sequence[Message]) -> Resource:
    return _resource(thread) | {"messages": await message_resources(gym, messages, "minimal")}


def _resource(thread: Thread) -> Resource:
    return {"id": thread.id, "historyId": thread.history_id_last}
