"""Tool calls of email tasks.

Invariant: keys come from rows, so no task states one. Calls name the mailbox by its address.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from opsgym_api.tasks.task import ToolCall
from opsgym_domains.email.tables import Draft, Label, Message, User
from opsgym_suites.email.seeds.letters import named
from opsgym_suites.email.seeds.world import World
from opsgym_suites.kit.drafts import call


def new_key(number: int) -> str:
    """Key of the row that the server makes as its first, second, … in a database: keys are counted."""
    return str(uuid5(UUID("0d4c0c5e-5b1f-4d0c-9a55-0c3f1c6a7e21"), str(number)))


# --- looking up ------------------------------------------------------------------------------------------------------


def search(user: User, query: str, **more: Any) -> ToolCall:
    """Searches the messages of a mailbox."""
    return call("list_messages", userId=user.primary_email, q=query, **more)


def read(message: Message, world: World, **more: Any) -> ToolCall:
    """Reads a message."""
    (owner,) = world.all(User, id=message.user_id)
    return call("get_message", id=message.id, userId=owner.primary_email, **more)


def read_thread(message: Message, world: World) -> ToolCall:
    """Reads the thread of a message."""
    (owner,) = world.all(User, id=message.user_id)
    return call("get_thread", userId=owner.primary_email, id=message.thread_id)


def labels_of(user: User) -> ToolCall:
    """Lists the labels of a mailbox."""
    return call("list_labels", userId=user.primary_email)


def with_mailbox(tool: str, user: User, **more: Any) -> ToolCall:
    """A call of a tool that needs a mailbox."""
    return call(tool, userId=user.primary_email, **more)


# --- filing ----------------------------------------------------------------------------------------------------------


def create_label(user: User, name: str) -> ToolCall:
    """Creates a label."""
    return call(
        "create_label",
        userId=user.primary_email,
        name=name,
        messageListVisibility="show",
        labelListVisibility="labelShow",
    )


def relabel(
    user: User, messages: Sequence[Message], *, add: Sequence[Label | str] = (), remove: Sequence[Label | str] = ()
) -> ToolCall:
    """Adds labels to messages and takes others off: with one call for several messages."""
    changes = {
        name: [label if isinstance(label, str) else label.id for label in labels]
        for name, labels in (("addLabelIds", add), ("removeLabelIds", remove))
        if labels
    }
    if len(messages) == 1:
        return call("modify_message", userId=user.primary_email, id=messages[0].id, **changes)
    return call("batch_modify_messages", userId=user.primary_email, ids=[one.id for one in messages], **changes)


def one_by_one(made: ToolCall) -> list[ToolCall]:
    """The calls that change each message of a batch alone."""
    rest = {name: value for name, value in made.arguments.items() if name != "ids"}
    return [call("modify_message", id=key, **rest) for key in made.arguments["ids"]]


def to_trash(user: User, message: Message) -> ToolCall:
    """Moves a message to the trash."""
    return call("trash_message", userId=user.primary_email, id=message.id)


def create_filter(user: User, action: Mapping[str, Any], **criteria: Any) -> ToolCall:
    """Creates a filter; criteria that are not given do not count."""
    every = {
        "from": "",
        "to": "",
        "subject": "",
        "query": "",
        "negatedQuery": "",
        "hasAttachment": False,
        "excludeChats": True,
        "size": 0,
        "sizeComparison": "unspecified",
    }
    given = {"from" if name == "sender" else name: value for name, value in criteria.items()}
    return call("create_filter", userId=user.primary_email, criteria={**every, **given}, action=dict(action))


# --- writing messages ------------------------------------------------------------------------------------------------


def payload(
    world: World,
    to: Sequence[str],
    subject: str,
    text: str,
    *,
    copied: Sequence[str] = (),
    hidden: Sequence[str] = (),
    sender: str = "",
    answers: Message | None = None,
) -> dict[str, Any]:
    """A message as the argument of a call."""
    pairs = {
        "From": sender,
        "To": ", ".join(_named(world, name) for name in to),
        "Cc": ", ".join(_named(world, name) for name in copied),
        "Bcc": ", ".join(_named(world, name) for name in hidden),
        "Subject": subject,
        "In-Reply-To": world.header(answers, "Message-ID") if answers else "",
        "References": world.header(answers, "Message-ID") if answers else "",
    }
    headers = [{"name": name, "value": value} for name, value in pairs.items() if value]
    return {"mimeType": "text/plain", "headers": headers, "body": {"data": text, "size": len(text.encode())}}


def _named(world: World, address: str) -> str:
    """Name and address of a user; only the address of other people."""
    whole = world.address(address)
    return named(world, whole) if world.all(User, primary_email=whole) else whole


def send(world: World, user: User, to: Sequence[str], subject: str, text: str, **more: Any) -> ToolCall:
    """Sends a new message."""
    return call("send_message", userId=user.primary_email, payload=payload(world, to, subject, text, **more))


def answer(world: World, user: User, message: Message, text: str, to: Sequence[str] = (), **more: Any) -> ToolCall:
    """Answers a message: its sender alone unless addresses are given."""
    sender = world.header(message, "From").rpartition("<")[2].rstrip(">")
    subject = world.subject(message)
    return call(
        "send_message",
        userId=user.primary_email,
        threadId=message.thread_id,
        payload=payload(
            world,
            to or [sender],
            subject if subject.startswith("Re:") else f"Re: {subject}",
            text,
            answers=message,
            **more,
        ),
    )


def forward(world: World, user: User, message: Message, to: Sequence[str], text: str) -> ToolCall:
    """Forwards a message with its text."""
    quoted = f"{text}\n\n---------- Forwarded message ----------\n{world.text(message)}"
    return send(world, user, to, f"Fwd: {world.subject(message)}", quoted)


def write_draft(world: World, user: User, to: Sequence[str], subject: str, text: str, **more: Any) -> ToolCall:
    """Creates a draft."""
    return call(
        "create_draft", userId=user.primary_email, message={"payload": payload(world, to, subject, text, **more)}
    )


def change_draft(
    world: World, user: User, draft: Draft, to: Sequence[str], subject: str, text: str, **more: Any
) -> ToolCall:
    """Replaces the message of a draft."""
    content = {"id": draft.message_id, "payload": payload(world, to, subject, text, **more)}
    return call("update_draft", userId=user.primary_email, id=draft.id, message=content)


# --- settings --------------------------------------------------------------------------------------------------------


def vacation(
    user: User, text: str, begin: datetime, end: datetime, *, subject: str = "Out of office", inside: bool = True
) -> ToolCall:
    """Turns the automatic reply on."""
    return call(
        "update_vacation_settings",
        userId=user.primary_email,
        enableAutoReply=True,
        responseSubject=subject,
        responseBodyPlainText=text,
        responseBodyHtml="",
        restrictToContacts=False,
        restrictToDomain=inside,
        startTime=begin.isoformat(),
        endTime=end.isoformat(),
    )


def switched_off(reply: ToolCall) -> ToolCall:
    """The automatic reply turned off, with the text and the dates of the call that turned it on."""
    return reply.model_copy(update={"arguments": {**reply.arguments, "enableAutoReply": False}})


def delegate(user: User, address: str) -> ToolCall:
    """Gives a delegate access."""
    return call("email_create_delegate", userId=user.primary_email, delegateEmail=address)


def end_delegate(user: User, address: str) -> ToolCall:
    """Ends the access of a delegate."""
    return call("email_delete_delegate", userId=user.primary_email, delegateEmail=address)
