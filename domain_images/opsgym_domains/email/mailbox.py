"""A mailbox: whose it is, its labels by name or id, and its history.

Invariant: a tool reaches rows of one mailbox only, that of the user whom `userId` names. What happens to a message is
written to the history of its mailbox in the same call.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import func

from opsgym_domains.email.tables import Delegate, ForwardingAddress, HistoryEvent, Label, Message, MessageLabel, User
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym

SYSTEM_LABELS = {
    "INBOX": ("show", "labelShow"),
    "SENT": ("show", "labelShow"),
    "DRAFT": ("show", "labelShow"),
    "SPAM": ("hide", "labelShow"),
    "TRASH": ("hide", "labelShow"),
    "UNREAD": ("hide", "labelHide"),
    "STARRED": ("hide", "labelHide"),
    "IMPORTANT": ("hide", "labelHide"),
    "CATEGORY_PERSONAL": ("hide", "labelShow"),
    "CATEGORY_SOCIAL": ("hide", "labelShow"),
    "CATEGORY_PROMOTIONS": ("hide", "labelShow"),
    "CATEGORY_UPDATES": ("hide", "labelShow"),
    "CATEGORY_FORUMS": ("hide", "labelShow"),
}
"""Visibility of each system label in lists of messages and of labels."""
SET_BY_SERVER = frozenset({"SENT", "DRAFT"})
"""System labels that only sending and drafts give to a message. Source: "Manage labels" of the Gmail API."""


def not_found() -> ToolError:
    """The refusal of Gmail for a record that the mailbox does not have."""
    return ToolError("NOT_FOUND", "Requested entity was not found.")


async def mailbox_of(gym: Gym, user_id: str | None) -> User:
    """The user whose mailbox a call uses: the acting user for `me` and without an address.

    Raises:
        ToolError: `NOT_FOUND`: no user has the address; `PERMISSION_DENIED`: in access `strict` the acting user is
            neither the owner nor a delegate.
    """
    if user_id is None or user_id == "me":
        return await gym.fetch(User, gym.actor.user_id)
    user = await gym.first(User, func.lower(User.primary_email) == user_id.lower())
    if user is None:
        raise not_found()
    if gym.is_strict and user.id != gym.actor.user_id:
        await _refuse_strangers(gym, user)
    return user


async def _refuse_strangers(gym: Gym, mailbox: User) -> None:
    actor = await gym.fetch(User, gym.actor.user_id)
    delegates = await gym.all(Delegate, Delegate.user_id == mailbox.id, Delegate.verification_status == "accepted")
    if actor.primary_email.lower() not in {delegate.delegate_email.lower() for delegate in delegates}:
        raise ToolError(
            "PERMISSION_DENIED",
            f"rule ID-2: {actor.primary_email} is not a delegate of {mailbox.primary_email}; "
            "report that the owner of the mailbox is required",
        )


async def owned_message(gym: Gym, mailbox: User, message_id: str) -> Message:
    """A message of a mailbox.

    Raises:
        ToolError: `NOT_FOUND`.
    """
    message = await gym.get(Message, message_id)
    if message is None or message.user_id != mailbox.id:
        raise not_found()
    return message


async def forwarding_address(gym: Gym, mailbox: User, address: str) -> ForwardingAddress | None:
    """A forwarding address of a mailbox, in any case; None if the mailbox does not have it."""
    is_address = func.lower(ForwardingAddress.forwarding_email) == address.strip().lower()
    return await gym.first(ForwardingAddress, ForwardingAddress.user_id == mailbox.id, is_address)


# --- labels ----------------------------------------------------------------------------------------------------------


async def label_named(gym: Gym, mailbox: User, name: str, *, add: bool = False) -> Label:
    """A label of a mailbox by id, or a system label by name.

    Args:
        gym: The call's view of the database.
        mailbox: The mailbox.
        name: Id or name.
        add: Whether a system label that the mailbox lacks is added; otherwise a row is returned that is not stored.

    Raises:
        ToolError: `INVALID_LABEL`.
    """
    label = await gym.get(Label, name)
    if label is not None and label.user_id == mailbox.id:
        return label
    if name not in SYSTEM_LABELS:
        raise ToolError("INVALID_LABEL", f"Invalid label: {name}", "labelIds")
    label = await gym.find(Label, user_id=mailbox.id, name=name, type="system")
    if label is not None:
        return label
    in_messages, in_labels = SYSTEM_LABELS[name]
    label = Label(
        user_id=mailbox.id,
        name=name,
        type="system",
        message_list_visibility=in_messages,
        label_list_visibility=in_labels,
    )
    if add:
        return await gym.insert(label)
    label.id = name
    return label


async def labels_of(gym: Gym, messages: Collection[str]) -> dict[str, list[Label]]:
    """Labels of messages by the message's id, in the order in which they were added."""
    if not messages:
        return {}
    links = await gym.all(MessageLabel, MessageLabel.message_id.in_(messages))
    labels = await gym.all(Label, Label.id.in_({link.label_id for link in links})) if links else ()
    by_id = {label.id: label for label in labels}
    labels_by_message: dict[str, list[Label]] = {message: [] for message in messages}
    for link in links:
        labels_by_message[link.message_id].append(by_id[link.label_id])
    return labels_by_message


def shown_id(label: Label) -> str:
    """Id of a label in results: system labels have their name, as in the Gmail API."""
    return label.name if label.type == "system" else label.id


async def relabel(
    gym: Gym, mailbox: User, messages: Sequence[Message], *, add: Sequence[str] = (), remove: Sequence[str] = ()
) -> None:
    """Adds and removes labels of messages as a user asks for it.

    Raises:
        ToolError: `INVALID_LABEL`: the mailbox does not have a label, or users do not apply it.
    """
    for name in (*add, *remove):
        label = await label_named(gym, mailbox, name)
        if label.type == "system" and label.name in SET_BY_SERVER:
            raise ToolError("INVALID_LABEL", f"Invalid label: {label.name} cannot be added or removed", "labelIds")
    for message in messages:
        await change_labels(gym, mailbox, message, add=add, remove=remove)


async def change_labels(
    gym: Gym, mailbox: User, message: Message, *, add: Sequence[str] = (), remove: Sequence[str] = ()
) -> None:
    """Adds and removes labels of a message, given by id or system name; what is already so stays.

    Raises:
        ToolError: `INVALID_LABEL`.
    """
    has = {label.id: label for label in (await labels_of(gym, [message.id]))[message.id]}
    for name in dict.fromkeys(add):
        label = await label_named(gym, mailbox, name, add=True)
        if label.id not in has:
            await gym.insert(MessageLabel(message_id=message.id, label_id=label.id))
            await record(gym, mailbox, "labelAdded", message, [label])
            has[label.id] = label
    for name in dict.fromkeys(remove):
        label = await label_named(gym, mailbox, name)
        if has.pop(label.id, None) is not None:
            links = await gym.all(
                MessageLabel, MessageLabel.message_id == message.id, MessageLabel.label_id == label.id
            )
            await gym.delete(links)
            await record(gym, mailbox, "labelRemoved", message, [label])


# --- history ---------------------------------------------------------------------------------------------------------


CHANGE_LISTS = {
    "messageAdded": "messagesAdded",
    "messageDeleted": "messagesDeleted",
    "labelAdded": "labelsAdded",
    "labelRemoved": "labelsRemoved",
}
"""Field with the changes, in a history record and in the stored event, by the type of the change."""


async def record(gym: Gym, mailbox: User, event: str, message: Message, labels: Sequence[Label] = ()) -> None:
    """Writes a change of a message to the history of its mailbox; the message and the mailbox get its id."""
    shown: dict[str, Any] = {"id": message.id, "threadId": message.thread_id}
    ids = [label.id for label in labels]
    change = (
        {"message": shown, "labelIds": ids} if event.startswith("label") else {"message": shown | {"labelIds": ids}}
    )
    row = HistoryEvent(
        user_id=mailbox.id,
        history_id=str(await gym.next_id(HistoryEvent)),
        event_type=event,
        event_timestamp=gym.now().isoformat(),
        event_data=json.dumps({CHANGE_LISTS[event]: [change]}),
    )
    await gym.insert(row)
    await gym.update(mailbox, {"history_id_current": row.history_id})
    if event != "messageDeleted":
        await gym.update(message, {"history_id_last": row.history_id})
