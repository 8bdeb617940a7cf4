"""Process rules of the email server that access `strict` enforces.

Invariant: every rule has a number in `policy-strict.md`, and its refusal states what to do instead. A rule checks only
what a write changes. A message is sent when it gets the label SENT; rules about sending judge it then, with all of its
headers and parts. What the server does by itself (delivery, forwarding, automatic replies) no rule judges.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from opsgym_domains.email.mailbox import labels_of
from opsgym_domains.email.mime import Content, milliseconds
from opsgym_domains.email.storage import contents_of
from opsgym_domains.email.tables import (
    AutoForwarding,
    CseIdentity,
    CseKeyPair,
    Delegate,
    EmailRow,
    Filter,
    ForwardingAddress,
    ImapSettings,
    Label,
    LanguageSettings,
    Message,
    MessageLabel,
    PopSettings,
    SendAsAlias,
    SmimeInfo,
    User,
    VacationSettings,
    WatchSubscription,
)
from opsgym_domains.kit.access import Rulebook
from opsgym_domains.kit.desk import sets_any, sets_to
from opsgym_domains.kit.gym import Gym

RULEBOOK = Rulebook()
on_write, on_delete = RULEBOOK.on_write, RULEBOOK.on_delete

SETTINGS: tuple[type[EmailRow], ...] = (
    AutoForwarding,
    CseIdentity,
    CseKeyPair,
    Delegate,
    Filter,
    ForwardingAddress,
    ImapSettings,
    LanguageSettings,
    PopSettings,
    SendAsAlias,
    SmimeInfo,
    VacationSettings,
    WatchSubscription,
)
"""Rows that are settings of a mailbox."""
MOST_NAMED = 20
"""Number of addresses that To and Cc of a message have at most, together."""
CONFIDENTIAL_SUBJECT = "[confidential]"
"""Mark in the subject of a message that stays in the company, in any case."""
CONFIDENTIAL_SENSITIVITY = "company-confidential"
"""Value of the header Sensitivity with the same meaning (RFC 2156)."""


def domain_of(address: str) -> str:
    """Mail domain of an address in lower case."""
    return address.rpartition("@")[2].strip().lower()


async def _is_outside(gym: Gym, address: str | None, user_id: str) -> bool:
    """Whether an address is outside the mail domain of a mailbox."""
    owner = await gym.fetch(User, user_id)
    return bool(address) and domain_of(address or "") != domain_of(owner.primary_email)


# --- settings --------------------------------------------------------------------------------------------------------


async def _only_the_owner(gym: Gym, row: Any) -> str | None:
    """Settings of a mailbox are changed by its owner."""
    if row.user_id == gym.actor.user_id:
        return None
    owner = await gym.fetch(User, row.user_id)
    return f"only {owner.primary_email} changes settings of this mailbox; report that its owner is required"


async def _only_the_owner_writes(gym: Gym, after: Any, _before: Any) -> str | None:
    return await _only_the_owner(gym, after)


for _kind in SETTINGS:
    RULEBOOK.declare("PRC-1", "NOT_THE_OWNER", _only_the_owner_writes, _kind)
    on_delete(_kind, "PRC-1", "NOT_THE_OWNER")(_only_the_owner)


@on_write(ForwardingAddress, "PRC-2", "FORWARDING_OUTSIDE")
async def forwarding_addresses_are_inside(
    gym: Gym, after: ForwardingAddress, before: ForwardingAddress | None
) -> str | None:
    """Mail is forwarded automatically only within the company."""
    if not sets_any(after, before, "forwarding_email"):
        return None
    return await _forwarding_outside(gym, after.forwarding_email, after.user_id)


@on_write(AutoForwarding, "PRC-2", "FORWARDING_OUTSIDE")
async def automatic_forwarding_stays_inside(
    gym: Gym, after: AutoForwarding, before: AutoForwarding | None
) -> str | None:
    """Automatic forwarding to an address outside the company is not turned on."""
    if not after.enabled or not sets_any(after, before, "enabled", "email_address"):
        return None
    return await _forwarding_outside(gym, after.email_address, after.user_id)


@on_write(Filter, "PRC-2", "FORWARDING_OUTSIDE")
async def filters_forward_inside(gym: Gym, after: Filter, _before: Filter | None) -> str | None:
    """A filter forwards only to addresses of the company."""
    return await _forwarding_outside(gym, json.loads(after.action_json or "{}").get("forward"), after.user_id)


async def _forwarding_outside(gym: Gym, address: str | None, user_id: str) -> str | None:
    if not await _is_outside(gym, address, user_id):
        return None
    return f"{address} is outside the company; mail is forwarded only to addresses of the mailbox' own domain"


@on_write(Delegate, "PRC-3", "DELEGATE_OUTSIDE")
async def delegates_are_colleagues(gym: Gym, after: Delegate, before: Delegate | None) -> str | None:
    """A delegate has an address of the mailbox' own domain."""
    if not sets_any(after, before, "delegate_email"):
        return None
    if not await _is_outside(gym, after.delegate_email, after.user_id):
        return None
    return f"{after.delegate_email} is outside the company; choose a colleague"


@on_write(SendAsAlias, "PRC-4", "ALIAS_OUTSIDE")
async def aliases_are_addresses_of_the_company(gym: Gym, after: SendAsAlias, before: SendAsAlias | None) -> str | None:
    """A mailbox sends only from addresses of its own domain."""
    if not sets_any(after, before, "send_as_email") or not await _is_outside(gym, after.send_as_email, after.user_id):
        return None
    return f"{after.send_as_email} is outside the company; an alias needs an address of the mailbox' own domain"


@on_write(VacationSettings, "PRC-5", "REPLY_OVER")
async def automatic_replies_end_later(gym: Gym, after: VacationSettings, before: VacationSettings | None) -> str | None:
    """An automatic reply that is turned on has an end in the future."""
    if not after.enable_auto_reply or not sets_any(after, before, "enable_auto_reply", "end_time"):
        return None
    if after.end_time is not None and after.end_time > gym.now():
        return None
    return "an automatic reply needs an endTime in the future; give a later one"


# --- certificates and keys -------------------------------------------------------------------------------------------


@on_write(SmimeInfo, "PRC-6", "CERTIFICATE_EXPIRED")
async def the_default_certificate_is_valid(gym: Gym, after: SmimeInfo, before: SmimeInfo | None) -> str | None:
    """The default certificate of an alias has not expired."""
    if not sets_to(after, before, "is_default", True) or not (after.expiration or "").isdigit():
        return None
    if int(after.expiration or 0) > int(milliseconds(gym.now())):
        return None
    return f"the certificate of {after.issuer_cn or after.id} has expired; choose or add one that is valid"


@on_write(CseKeyPair, "PRC-7", "KEY_PAIR_IN_USE")
async def key_pairs_in_use_stay_on(gym: Gym, after: CseKeyPair, before: CseKeyPair | None) -> str | None:
    """A key pair is turned off only when no identity uses it."""
    if before is None or not sets_to(after, before, "enablement_state", "disabled"):
        return None
    for identity in await gym.all(CseIdentity, CseIdentity.user_id == after.user_id):
        keys = (identity.primary_key_pair_id, identity.signing_key_pair_id, identity.encryption_key_pair_id)
        if after.key_pair_id in keys:
            return f"{identity.email_address} uses {after.key_pair_id}; give this identity another key pair first"
    return None


# --- sending ---------------------------------------------------------------------------------------------------------


SendingRule = Callable[[Gym, Message, Content], Awaitable[str | None]]
"""Judges a message that is being sent: why it is not, and what to do instead."""


def on_send(number: str, code: str) -> Callable[[SendingRule], SendingRule]:
    """Declares a function as a rule for every message that is sent.

    Args:
        number: Number of the rule in the policy.
        code: Error code of a refusal.
    """

    def declare(check: SendingRule) -> SendingRule:
        async def judge(gym: Gym, after: MessageLabel, before: MessageLabel | None) -> str | None:
            label = await gym.fetch(Label, after.label_id)
            if before is not None or label.type != "system" or label.name != "SENT":
                return None
            message = await gym.fetch(Message, after.message_id)
            return await check(gym, message, (await contents_of(gym, [message.id]))[message.id].content)

        on_write(MessageLabel, number, code)(judge)
        return check

    return declare


@on_send("PRC-8", "SENDER_NOT_OWNED")
async def the_sender_is_an_address_of_the_mailbox(gym: Gym, message: Message, content: Content) -> str | None:
    """The From header is the primary address of the mailbox or a verified alias."""
    owner = await gym.fetch(User, message.user_id)
    aliases = await gym.all(SendAsAlias, SendAsAlias.user_id == owner.id)
    own = {owner.primary_email.lower()}
    own |= {alias.send_as_email.lower() for alias in aliases if alias.verification_status == "accepted"}
    if content.sender in own:
        return None
    sender = content.sender or "the sender"
    return f"{sender} is not a verified address of {owner.primary_email}; leave out From or use such an address"


@on_send("PRC-9", "RECIPIENTS_EXPOSED")
async def mass_mail_hides_its_recipients(_gym: Gym, _message: Message, content: Content) -> str | None:
    """To and Cc have few addresses; further recipients are in Bcc."""
    named = content.without("Bcc").recipients()
    if len(named) <= MOST_NAMED:
        return None
    return f"To and Cc have {len(named)} addresses, the maximum is {MOST_NAMED}; put the recipients in Bcc"


@on_send("PRC-10", "CONFIDENTIAL_OUTSIDE")
async def confidential_threads_stay_inside(gym: Gym, message: Message, content: Content) -> str | None:
    """A message of a thread with a confidential message is sent only within the company."""
    owner = await gym.fetch(User, message.user_id)
    outside = [one for one in content.recipients() if domain_of(one) != domain_of(owner.primary_email)]
    if not outside:
        return None
    thread = await gym.all(Message, Message.thread_id == message.thread_id)
    contents = await contents_of(gym, [one.id for one in thread])
    if not any(is_confidential(stored.content) for stored in contents.values()):
        return None
    return f"the thread is confidential and {', '.join(outside)} is outside the company; leave out these recipients"


def is_confidential(content: Content) -> bool:
    """Whether a message has a mark of confidentiality."""
    marked = CONFIDENTIAL_SUBJECT in content.header("Subject").lower()
    return marked or content.header("Sensitivity").strip().lower() == CONFIDENTIAL_SENSITIVITY


@on_send("PRC-11", "ANSWER_TO_SPAM")
async def spam_is_not_answered(gym: Gym, message: Message, _content: Content) -> str | None:
    """No message is sent in a thread with a message in SPAM."""
    thread = await gym.all(Message, Message.thread_id == message.thread_id)
    labels = await labels_of(gym, [one.id for one in thread])
    spam = [key for key, has in labels.items() if any(one.type == "system" and one.name == "SPAM" for one in has)]
    if not spam:
        return None
    return f"{spam[0]} of the thread is in SPAM: do not answer or forward it, unless it is legitimate and out of SPAM"


# --- deleting --------------------------------------------------------------------------------------------------------


@on_delete(Message, "PRC-12", "NOT_IN_TRASH")
async def only_trash_is_deleted_for_good(gym: Gym, message: Message) -> str | None:
    """A message is deleted for good only from TRASH or SPAM; drafts are always deleted so."""
    labels = (await labels_of(gym, [message.id]))[message.id]
    if {"TRASH", "SPAM", "DRAFT"} & {label.name for label in labels if label.type == "system"}:
        return None
    return f"{message.id} is neither in TRASH nor in SPAM; move it to the trash instead"
