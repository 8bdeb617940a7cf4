"""Messages in chats, and those that are pinned."""

from __future__ import annotations

from typing import Any

from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym
from opsgym_domains.teams import messages
from opsgym_domains.teams.graph import Shown, context, filters
from opsgym_domains.teams.memberships import new_hex
from opsgym_domains.teams.messages import next_message_id, shown_message
from opsgym_domains.teams.odata import Columns, parse_filter, parse_order, properties_of
from opsgym_domains.teams.people import actor_of, as_sender, user_of
from opsgym_domains.teams.tables import Chat, ChatMember, ChatMessage, PinnedMessage
from opsgym_domains.teams.toolbox import tool

COLUMNS: Columns = {
    "id": ChatMessage.message_id,
    "createdDateTime": ChatMessage.created_datetime,
    "lastModifiedDateTime": ChatMessage.last_modified_datetime,
    "importance": ChatMessage.importance,
    "subject": ChatMessage.subject,
    "messageType": ChatMessage.message_type,
}
_FILTER = (
    "OData condition on the property that _orderby names, for instance"
    " lastModifiedDateTime gt 2026-03-01T00:00:00Z; one on another property is ignored"
)


@tool(row=ChatMessage, words={"_filter": _FILTER})
async def list_chat_messages(
    gym: Gym,
    chat_id: str,
    user_id: str | None = None,
    top: int = 20,
    orderby: str = "lastModifiedDateTime desc",
    filter: str | None = None,  # noqa: A002 - published name
) -> Shown:
    """List the messages of a chat, the newest first.

    A filter counts only if it names no other property than _orderby. With userId the chat must be one of that user's. A
    deleted message shows without its text. Refused with INVALID_FILTER or UNKNOWN_PROPERTY where the filter cannot be
    read, and for an unknown chat (CHAT_NOT_FOUND).
    """
    conditions = filters(filter, COLUMNS)
    if conditions and properties_of(parse_filter(filter or "")) != {orderby.split(maxsplit=1)[0]}:
        conditions = []  # as Graph documents
    await gym.fetch(Chat, chat_id, field="chatId")
    if user_id:
        await _require_member(gym, chat_id, user_id)
    rows = await gym.all(
        ChatMessage,
        ChatMessage.chat_id == chat_id,
        *conditions,
        newest_first=True,
        order=parse_order(orderby, COLUMNS),
    )
    shown = [shown_message(message) for message in rows[:top]]
    return {"@odata.context": context(f"chats('{chat_id}')/messages"), "@odata.count": len(shown), "value": shown}


async def _require_member(gym: Gym, chat_id: str, key: str) -> None:
    user = await user_of(gym, key, "userId")
    if await gym.get(ChatMember, (chat_id, user.user_id)) is None:
        raise ToolError("CHAT_NOT_FOUND", f"User {user.user_id} is not in the chat '{chat_id}'.", "userId")


@tool(adds=ChatMessage)
async def send_chat_message(
    gym: Gym, chat_id: str, body: Shown, reply_to_id: str | None = None, **fields: Any
) -> Shown:
    """Send a message in a chat.

    Returns the message. Refused for an unknown chat (CHAT_NOT_FOUND), and for a reply to a message that is not in the
    chat (MESSAGE_NOT_FOUND).
    """
    chat, actor = await gym.fetch(Chat, chat_id, field="chatId"), await actor_of(gym)
    if reply_to_id:
        await message_of(gym, chat_id, reply_to_id, "replyToId")
    key = await next_message_id(gym)
    fields["body"] = {"contentType": "text", **body}
    message = ChatMessage(
        message_id=key,
        chat_id=chat_id,
        etag=key,
        reply_to_id=reply_to_id or None,
        **messages.new_columns(gym, as_sender(actor.user_id, actor.display_name), fields),
    )
    sent = await gym.insert(message)
    await gym.update(chat, {})
    return {"@odata.context": context(f"chats('{chat_id}')/messages/$entity"), **shown_message(sent)}


@tool(changes=ChatMessage)
async def soft_delete_chat_message(gym: Gym, chat_id: str, message_id: str) -> None:
    """Delete a message of a chat, so that the deletion can be undone.

    Refused for an unknown message (MESSAGE_NOT_FOUND). A message that is deleted already stays so.
    """
    await messages.mark_deleted(gym, await message_of(gym, chat_id, message_id))


@tool(changes=ChatMessage)
async def undo_soft_delete_chat_message(gym: Gym, chat_id: str, message_id: str) -> None:
    """Restore a deleted message of a chat.

    Refused for an unknown message (MESSAGE_NOT_FOUND). A message that is not deleted stays as it is.
    """
    await messages.restore(gym, await message_of(gym, chat_id, message_id))


@tool(changes=ChatMessage)
async def update_chat_message(gym: Gym, chat_id: str, message_id: str, **fields: Any) -> None:
    """Change the text or other properties of a message of a chat.

    Properties that are not given keep their value. Refused without a property to change (NO_FIELDS_TO_UPDATE) and for
    an unknown message (MESSAGE_NOT_FOUND).
    """
    if not fields:
        raise ToolError("NO_FIELDS_TO_UPDATE", "Give at least one property to change besides the message.")
    await messages.edit(gym, await message_of(gym, chat_id, message_id), fields)


@tool(changes=ChatMessage)
async def set_chat_message_reaction(gym: Gym, chat_id: str, message_id: str, reaction_type: str) -> None:
    """React to a message of a chat.

    Reacting twice in the same way changes nothing. Refused for an unknown message (MESSAGE_NOT_FOUND).
    """
    await messages.react(gym, await message_of(gym, chat_id, message_id), reaction_type)


@tool(changes=ChatMessage)
async def unset_chat_message_reaction(gym: Gym, chat_id: str, message_id: str, reaction_type: str) -> None:
    """Take your reaction to a message of a chat back.

    Without such a reaction nothing changes. Refused for an unknown message (MESSAGE_NOT_FOUND).
    """
    await messages.withdraw(gym, await message_of(gym, chat_id, message_id), reaction_type)


@tool(adds=PinnedMessage)
async def pin_chat_message(gym: Gym, chat_id: str, message_id: str) -> Shown:
    """Pin a message in its chat.

    Returns the pin; pinning a message again returns the same. Refused for an unknown message (MESSAGE_NOT_FOUND).
    """
    await message_of(gym, chat_id, message_id)
    pin = await gym.find(PinnedMessage, chat_id=chat_id, message_id=message_id)
    if pin is None:
        key = await new_hex(gym)
        pin = await gym.insert(PinnedMessage(pinned_message_id=key, chat_id=chat_id, message_id=message_id))
    return {"@odata.type": "#microsoft.graph.pinnedChatMessageInfo", "id": pin.pinned_message_id}


async def message_of(gym: Gym, chat_id: str, message_id: str, field: str = "messageId") -> ChatMessage:
    """A message of a chat.

    Raises:
        ToolError: `CHAT_NOT_FOUND`, `MESSAGE_NOT_FOUND`.
    """
    await gym.fetch(Chat, chat_id, field="chatId")
    message = await gym.find(ChatMessage, message_id=message_id, chat_id=chat_id)
    if message is None:
        raise ToolError("MESSAGE_NOT_FOUND", f"The chat has no message '{message_id}'.", field)
    return message
