"""What messages of chats and of channels have in common.

Invariant: a message that is deleted keeps its row, and shows without its text until the deletion is undone. A user
reacts to a message with the same reaction at most once; each reaction, and each that is taken back, is in the history.
"""

from __future__ import annotations

from datetime import UTC
from typing import Any, TypeVar

from sqlalchemy import func

from opsgym_domains.kit.filters import NO_FILTERS
from opsgym_domains.kit.gym import Gym
from opsgym_domains.teams.graph import Shown, dumped, loaded, shown_time
from opsgym_domains.teams.people import actor_of, as_sender
from opsgym_domains.teams.tables import ChannelMessage, ChatMessage

Message = ChatMessage | ChannelMessage
M = TypeVar("M", ChatMessage, ChannelMessage)
JSON_FIELDS = {
    "body": "body_json",
    "from": "from_json",
    "attachments": "attachments_json",
    "mentions": "mentions_json",
    "reactions": "reactions_json",
    "message_history": "message_history_json",
    "policy_violation": "policy_violation_json",
    "channel_identity": "channel_identity_json",
}
"""Column by argument, where a column holds JSON."""


def as_columns(fields: dict[str, Any]) -> dict[str, Any]:
    """Arguments of a message by column, as columns store them."""
    return {JSON_FIELDS.get(name, name): dumped(value) for name, value in fields.items()}


def shown_message(message: Message) -> Shown:
    """A message; the two kinds show where a message of a channel belongs at different places."""
    channel = {"channelIdentity": loaded(message.channel_identity_json)}
    chat_id = message.chat_id if isinstance(message, ChatMessage) else None
    is_deleted = message.deleted_datetime is not None
    body = loaded(message.body_json, {})
    return {
        "id": message.message_id,
        "replyToId": message.reply_to_id,
        "etag": message.etag,
        "messageType": message.message_type,
        "createdDateTime": shown_time(message.created_datetime),
        "lastModifiedDateTime": shown_time(message.last_modified_datetime),
        "lastEditedDateTime": shown_time(message.last_edited_datetime),
        "deletedDateTime": shown_time(message.deleted_datetime),
        "subject": message.subject,
        "summary": message.summary,
        "chatId": chat_id,
        "importance": message.importance,
        "locale": message.locale,
        "webUrl": message.web_url,
        **(channel if chat_id else {}),
        "policyViolation": loaded(message.policy_violation_json),
        "eventDetail": loaded(message.event_detail_json),
        "from": loaded(message.from_json),
        "body": {**body, "content": ""} if is_deleted else body,
        **({} if chat_id else channel),
        "attachments": loaded(message.attachments_json, []),
        "mentions": loaded(message.mentions_json, []),
        "reactions": loaded(message.reactions_json, []),
        "messageHistory": loaded(message.message_history_json, []),
    }


async def next_message_id(gym: Gym) -> str:
    """Id of a new chat message: its time in milliseconds since 1970, later than that of every other message."""
    now = int(gym.now().replace(tzinfo=UTC).timestamp() * 1000)
    is_time = ChatMessage.message_id.regexp_match(r"^\d{13}$")
    latest = await gym.published().measure(ChatMessage, func.max(ChatMessage.message_id), NO_FILTERS, is_time)
    return str(max(now, int(latest or 0) + 1))


def new_columns(gym: Gym, sender: Shown, fields: dict[str, Any]) -> dict[str, Any]:
    """Columns of a new message, besides those of its place."""
    lists = dict.fromkeys(("attachments_json", "mentions_json", "reactions_json", "message_history_json"), "[]")
    given = {"message_type": "message", "importance": "normal", "locale": "en-us", **fields}
    now = gym.now()
    return {
        **lists,
        "created_datetime": now,
        "last_modified_datetime": now,
        "from_json": dumped(sender),
        **as_columns(given),
    }


async def edit(gym: Gym, message: M, fields: dict[str, Any]) -> M:
    """Changes a message."""
    return await gym.update(message, {**as_columns(fields), "last_edited_datetime": gym.now()})


async def mark_deleted(gym: Gym, message: Message) -> None:
    """Deletes a message; one that is deleted already keeps the time of its deletion."""
    await gym.update(message, {"deleted_datetime": message.deleted_datetime or gym.now()})


async def restore(gym: Gym, message: Message) -> None:
    """Undoes the deletion of a message."""
    await gym.update(message, {"deleted_datetime": None})


async def react(gym: Gym, message: Message, reaction: str) -> None:
    """Adds the acting user's reaction to a message, unless it is there."""
    actor = await actor_of(gym)
    reactions = loaded(message.reactions_json, [])
    if any(_is_of(one, actor.user_id, reaction) for one in reactions):
        return
    user = {"user": as_sender(actor.user_id, actor.display_name)["user"]}
    added = {"reactionType": reaction, "createdDateTime": shown_time(gym.now()), "user": user}
    await _store(gym, message, [*reactions, added], "reactionAdded", added)


async def withdraw(gym: Gym, message: Message, reaction: str) -> None:
    """Takes the acting user's reaction back; without one nothing happens."""
    reactions = loaded(message.reactions_json, [])
    own = [one for one in reactions if _is_of(one, gym.actor.user_id, reaction)]
    if own:
        rest = [one for one in reactions if one not in own]
        await _store(gym, message, rest, "reactionRemoved", own[0])


def _is_of(reaction: Shown, user_id: Any, kind: str) -> bool:
    user = (reaction.get("user") or {}).get("user") or {}
    return user.get("id") == user_id and reaction.get("reactionType") == kind


async def _store(gym: Gym, message: Message, reactions: list[Shown], action: str, reaction: Shown) -> None:
    entry = {"modifiedDateTime": shown_time(gym.now()), "actions": action, "reaction": reaction}
    history = [*loaded(message.message_history_json, []), entry]
    await gym.update(message, {"reactions_json": dumped(reactions), "message_history_json": dumped(history)})
