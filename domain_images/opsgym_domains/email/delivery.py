"""Sending: what happens to a message after it left the outbox of its sender.

Invariant: nothing leaves the database. In access `strict` a message arrives in the mailbox of every recipient who has
one, by primary address or verified alias; filters, forwarding and the automatic reply apply there, and the sender gets
a bounce for every other address. In access `published` a message stays in the mailbox of its sender, as on the
published server.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import BigInteger, cast, func

from opsgym_domains.email.mailbox import change_labels, forwarding_address, labels_of
from opsgym_domains.email.mime import Content, Part, date_header, milliseconds
from opsgym_domains.email.search import HIDDEN, as_search, matches
from opsgym_domains.email.storage import contents_of, store
from opsgym_domains.email.tables import (
    AutoForwarding,
    Filter,
    Message,
    SendAsAlias,
    User,
    VacationSettings,
)
from opsgym_domains.kit.errors import ToolError
from opsgym_domains.kit.gym import Gym

AUTOMATIC = "Auto-Submitted"
"""Header of messages that no user wrote; they get no automatic reply and are not forwarded again (RFC 3834)."""
AUTOMATIC_REPLY = "auto-replied"
"""Its value in bounces and automatic replies."""
REPEATED_AFTER = timedelta(days=4)
"""After which time a sender gets the automatic reply again. Source: Gmail's help, "Use the vacation responder"."""
DISPOSITIONS: Mapping[str, tuple[Sequence[str], Sequence[str]]] = {
    "leaveInInbox": ((), ()),
    "archive": ((), ("INBOX",)),
    "trash": (("TRASH",), ("INBOX",)),
    "markRead": ((), ("UNREAD",)),
}
"""Labels that a forwarded message gets and loses."""


async def send(
    gym: Gym, mailbox: User, content: Content, labels: Sequence[str] = (), *, thread_id: str | None = None
) -> Message:
    """Sends a message: stores it under SENT, and delivers it in access `strict`.

    Raises:
        ToolError: `NO_RECIPIENT`.
    """
    if not content.recipients():
        raise ToolError("NO_RECIPIENT", "Recipient address required", "payload")
    number = str(await gym.next_id(Message)).replace("-", "")
    host = mailbox.primary_email.partition("@")[2]
    complete = content.with_headers(
        From=mailbox.primary_email, Date=date_header(gym.now()), Message_ID=f"<{number}@{host}>"
    )
    if gym.is_strict and gym.actor.user_id != mailbox.id:
        complete = complete.with_headers(Sender=(await gym.fetch(User, gym.actor.user_id)).primary_email)
    message = await store(gym, mailbox, complete, ["SENT", *labels], thread_id=thread_id)
    if gym.is_strict:
        await _deliver(gym.by_system(), mailbox, complete, message)
    return message


async def _deliver(gym: Gym, sender: User, content: Content, sent: Message) -> None:
    """Puts a message into the mailboxes of its recipients, into each once."""
    reached: set[str] = set()
    for address in content.recipients():
        recipient = await _owner_of(gym, address)
        if recipient is None:
            await _bounce(gym, sender, content, address)
        elif recipient.id not in reached:
            reached.add(recipient.id)
            if recipient is sender:
                await change_labels(gym, sender, sent, add=["INBOX", "UNREAD"])
            else:
                await _arrive(gym, recipient, content.without("Bcc"))


async def _owner_of(gym: Gym, address: str) -> User | None:
    """The user who gets messages to an address; None for an address outside the world."""
    user = await gym.first(User, func.lower(User.primary_email) == address)
    if user is not None:
        return user
    alias = await gym.first(
        SendAsAlias, func.lower(SendAsAlias.send_as_email) == address, SendAsAlias.verification_status == "accepted"
    )
    return None if alias is None else await gym.get(User, alias.user_id)


async def _bounce(gym: Gym, sender: User, content: Content, address: str) -> None:
    """Tells the sender that an address does not exist."""
    host = sender.primary_email.partition("@")[2]
    text = f"The message was not delivered to {address}, because the address was not found.\n"
    headers = [
        ("From", f"Mail Delivery Subsystem <mailer-daemon@{host}>"),
        ("To", sender.primary_email),
        ("Subject", "Delivery Status Notification (Failure)"),
        ("Date", date_header(gym.now())),
        ("In-Reply-To", content.header("Message-ID")),
        (AUTOMATIC, AUTOMATIC_REPLY),
    ]
    await store(gym, sender, Content(headers, _text(text)), ["INBOX", "UNREAD"])


async def _arrive(gym: Gym, mailbox: User, content: Content) -> None:
    """Puts a message into the mailbox of a recipient, and does what its settings say."""
    message = await store(gym, mailbox, content, ["INBOX", "UNREAD"])
    await _filter(gym, mailbox, message, content)
    if content.header(AUTOMATIC) or await _is_discarded(gym, message):
        return
    await _forward(gym, mailbox, message, content)
    await _reply(gym, mailbox, content)


async def _is_discarded(gym: Gym, message: Message) -> bool:
    """Whether a filter has put a message into spam or trash."""
    labels = (await labels_of(gym, [message.id]))[message.id]
    return any(label.type == "system" and label.name in HIDDEN for label in labels)


# --- settings of the recipient ---------------------------------------------------------------------------------------


async def _filter(gym: Gym, mailbox: User, message: Message, content: Content) -> None:
    for one in await gym.all(Filter, Filter.user_id == mailbox.id):
        criteria, action = json.loads(one.criteria_json or "{}"), json.loads(one.action_json or "{}")
        if not await meets(gym, message, criteria):
            continue
        await change_labels(
            gym, mailbox, message, add=action.get("addLabelIds") or (), remove=action.get("removeLabelIds") or ()
        )
        if action.get("forward") and not content.header(AUTOMATIC):
            await _forward_to(gym, mailbox, content, action["forward"])


async def meets(gym: Gym, message: Message, criteria: Mapping[str, Any]) -> bool:
    """Whether a message meets the criteria of a filter; an empty criterion does not count."""
    conditions = matches(as_search(criteria), gym.now(), everywhere=True)
    return await gym.first(Message, Message.id == message.id, *conditions) is not None


async def _forward(gym: Gym, mailbox: User, message: Message, content: Content) -> None:
    setting = await gym.find(AutoForwarding, user_id=mailbox.id)
    if setting is None or not setting.enabled or not setting.email_address:
        return
    await _forward_to(gym, mailbox, content, setting.email_address)
    added, removed = DISPOSITIONS.get(setting.disposition or "", ((), ()))
    await change_labels(gym, mailbox, message, add=added, remove=removed)


async def _forward_to(gym: Gym, mailbox: User, content: Content, address: str) -> None:
    """Puts a copy into the mailbox of a verified forwarding address; it does not travel any further."""
    forwarding = await forwarding_address(gym, mailbox, address)
    if forwarding is None or forwarding.verification_status != "accepted":
        return
    recipient = await _owner_of(gym, address.lower())
    if recipient is not None and recipient is not mailbox:
        await _arrive(gym, recipient, content.with_headers(Auto_Submitted="auto-forwarded"))


async def _reply(gym: Gym, mailbox: User, content: Content) -> None:
    """Sends the automatic reply to the sender of a message, if the settings say so."""
    setting = await gym.find(VacationSettings, user_id=mailbox.id)
    sender = await _owner_of(gym, content.sender)
    if setting is None or sender is None or sender is mailbox or content.header("List-Id"):
        return
    if not await _answers(gym, mailbox, setting, sender) or await _has_answered(gym, mailbox, setting, sender):
        return
    headers = [
        ("From", mailbox.primary_email),
        ("To", sender.primary_email),
        ("Subject", f"{setting.response_subject or 'Re:'} {content.header('Subject')}".strip()),
        ("Date", date_header(gym.now())),
        ("In-Reply-To", content.header("Message-ID")),
        (AUTOMATIC, AUTOMATIC_REPLY),
    ]
    html = setting.response_body_html
    body = _text(html or setting.response_body_plain_text or "", "text/html" if html else "text/plain")
    await store(gym, sender, Content(headers, body), ["INBOX", "UNREAD"])


async def _answers(gym: Gym, mailbox: User, setting: VacationSettings, sender: User) -> bool:
    now, domain = gym.now(), mailbox.primary_email.partition("@")[2]
    begins = setting.start_time is None or setting.start_time <= now
    goes_on = setting.end_time is None or now < setting.end_time
    if not (setting.enable_auto_reply and begins and goes_on):
        return False
    if setting.restrict_to_domain and sender.primary_email.partition("@")[2] != domain:
        return False
    return not setting.restrict_to_contacts or await _knows(gym, mailbox, sender)


async def _has_answered(gym: Gym, mailbox: User, setting: VacationSettings, sender: User) -> bool:
    """Whether a sender has got the automatic reply of a mailbox in the present period, at most `REPEATED_AFTER` ago."""
    since = max(filter(None, (setting.start_time, gym.now() - REPEATED_AFTER)))
    recent = cast(Message.internal_date_ms, BigInteger) >= int(milliseconds(since))
    from_mailbox = matches(f'from:"{mailbox.primary_email}"', gym.now(), everywhere=True)
    messages = await gym.all(Message, Message.user_id == sender.id, recent, *from_mailbox)
    contents = await contents_of(gym, [message.id for message in messages])
    return any(stored.content.header(AUTOMATIC) == AUTOMATIC_REPLY for stored in contents.values())


async def _knows(gym: Gym, mailbox: User, sender: User) -> bool:
    """Whether the owner of a mailbox has written to a user before, who then counts as a contact."""
    written = matches(f'in:sent to:"{sender.primary_email}"', gym.now(), everywhere=True)
    return await gym.first(Message, Message.user_id == mailbox.id, *written) is not None


def _text(text: str, kind: str = "text/plain") -> Part:
    return Part(kind, text, len(text.encode()))
