"""Messages in channels, and replies to them."""

from __future__ import annotations

from typing import Any

from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym
from opsgym_domains.teams import messages
from opsgym_domains.teams.channels import channel_of
from opsgym_domains.teams.graph import Shown, context, reduced
from opsgym_domains.teams.memberships import new_hex
from opsgym_domains.teams.messages import shown_message
from opsgym_domains.teams.odata import Related, parse_expand
from opsgym_domains.teams.people import as_sender
from opsgym_domains.teams.tables import ChannelMessage
from opsgym_domains.teams.toolbox import tool

SENDER = "Current User"
"""Name of every sender, as the published server writes it."""
_EXPANDABLE = {
    "replies": Related(tuple(shown_message(ChannelMessage()))),
    "hostedContents": Related(("id", "contentBytes", "contentType")),
}


@tool(row=ChannelMessage)
async def list_channel_messages(
    gym: Gym, team_id: str, channel_id: str, top: int = 20, expand: str | None = None
) -> Shown:
    """List the messages of a channel, the newest first.

    Replies are left out; _expand=replies adds them to their messages, the newest first. _expand=hostedContents adds an
    empty list, since no file is kept in a channel's messages. A deleted message shows without its text. Refused for an
    unknown channel (CHANNEL_NOT_FOUND), and with UNKNOWN_PROPERTY or INVALID_EXPAND where _expand cannot be read.
    """
    expanded = parse_expand(expand, _EXPANDABLE)
    await channel_of(gym, team_id, channel_id)
    messages_of_channel = await gym.all(
        ChannelMessage,
        ChannelMessage.channel_id == channel_id,
        newest_first=True,
        order=[ChannelMessage.created_datetime.desc()],
    )
    first = [message for message in messages_of_channel if message.reply_to_id is None][:top]
    shown = [shown_message(message) for message in first]
    for message in shown:
        replies = [shown_message(reply) for reply in messages_of_channel if reply.reply_to_id == message["id"]]
        related = {"replies": replies, "hostedContents": []}
        message |= {name: reduced(related[name], expansion) for name, expansion in expanded.items()}
    place = context(f"teams('{team_id}')/channels('{channel_id}')/messages")
    return {"@odata.context": place, "@odata.count": len(shown), "value": shown}


@tool(adds=ChannelMessage)
async def send_channel_message(gym: Gym, team_id: str, channel_id: str, body: Shown, **fields: Any) -> Shown:
    """Post a message in a channel.

    Returns the message. Its text is kept as it was sent, markup included. Refused for an unknown channel
    (CHANNEL_NOT_FOUND).
    """
    await channel_of(gym, team_id, channel_id)
    key = f"msg_{await new_hex(gym)}"
    fields["body"] = {**body, "contentType": "text"}  # the published server stores no other type
    fields["channel_identity"] = {"teamId": team_id, "channelId": channel_id}
    message = ChannelMessage(
        message_id=key,
        team_id=team_id,
        channel_id=channel_id,
        etag=f"etag_{key}",
        web_url=f"https://teams.microsoft.com/l/message/{channel_id}/{key}",
        **messages.new_columns(gym, as_sender(str(gym.actor.user_id), SENDER), fields),
    )
    place = context(f"teams('{team_id}')/channels('{channel_id}')/messages/$entity")
    return {"@odata.context": place, **shown_message(await gym.insert(message))}


@tool(changes=ChannelMessage)
async def soft_delete_channel_message(
    gym: Gym, team_id: str, channel_id: str, message_id: str, reply_id: str | None = None
) -> None:
    """Delete a message of a channel, or a reply to it, so that the deletion can be undone.

    Refused for an unknown message (MESSAGE_NOT_FOUND). A message that is deleted already stays so.
    """
    await messages.mark_deleted(gym, await _message(gym, team_id, channel_id, message_id, reply_id))


@tool(changes=ChannelMessage)
async def undo_soft_delete_channel_message(
    gym: Gym, team_id: str, channel_id: str, message_id: str, reply_id: str | None = None
) -> None:
    """Restore a deleted message of a channel, or a deleted reply.

    Refused for an unknown message (MESSAGE_NOT_FOUND). A message that is not deleted stays as it is.
    """
    await messages.restore(gym, await _message(gym, team_id, channel_id, message_id, reply_id))


@tool(changes=ChannelMessage)
async def update_channel_message(
    gym: Gym,
    team_id: str,
    channel_id: str,
    message_id: str,
    reply_id: str | None = None,
    model: str | None = None,
    **fields: Any,
) -> None:
    """Change the text or other properties of a message of a channel, or of a reply.

    Properties that are not given keep their value. Refused without a property to change (NO_FIELDS_TO_UPDATE) and for
    an unknown message (MESSAGE_NOT_FOUND).
    """
    del model  # Graph bills by it
    if not fields:
        raise ToolError("NO_FIELDS_TO_UPDATE", "Give at least one property to change besides the message.")
    await messages.edit(gym, await _message(gym, team_id, channel_id, message_id, reply_id), fields)


@tool(changes=ChannelMessage)
async def set_channel_message_reaction(
    gym: Gym, team_id: str, channel_id: str, message_id: str, reaction_type: str, reply_id: str | None = None
) -> None:
    """React to a message of a channel, or to a reply.

    Reacting twice in the same way changes nothing. Refused for an unknown message (MESSAGE_NOT_FOUND).
    """
    await messages.react(gym, await _message(gym, team_id, channel_id, message_id, reply_id), reaction_type)


@tool(changes=ChannelMessage)
async def unset_channel_message_reaction(
    gym: Gym, team_id: str, channel_id: str, message_id: str, reaction_type: str, reply_id: str | None = None
) -> None:
    """Take your reaction to a message of a channel, or to a reply, back.

    Without such a reaction nothing changes. Refused for an unknown message (MESSAGE_NOT_FOUND).
    """
    await messages.withdraw(gym, await _message(gym, team_id, channel_id, message_id, reply_id), reaction_type)


async def _message(gym: Gym, team_id: str, channel_id: str, message_id: str, reply_id: str | None) -> ChannelMessage:
    """A message, or a reply to it."""
    await channel_of(gym, team_id, channel_id)
    message = await gym.find(ChannelMessage, message_id=message_id, channel_id=channel_id)
    if message is None:
        raise ToolError("MESSAGE_NOT_FOUND", f"The channel has no message '{message_id}'.", "messageId")
    if not reply_id:
        return message
    reply = await gym.find(ChannelMessage, message_id=reply_id, channel_id=channel_id, reply_to_id=message_id)
    if reply is None:
        raise ToolError("MESSAGE_NOT_FOUND", f"The message '{message_id}' has no reply '{reply_id}'.", "replyId")
    return reply
