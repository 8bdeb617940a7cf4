"""The rows that calls of email's tools write.

Invariant: a call is followed as the server carries it out: a message with its parts, headers and labels, and its copies
in the mailboxes of recipients where the server delivers. How an author writes a header or a text is not judged beyond
what the request fixes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from email.utils import getaddresses
from typing import Any

from opsgym_api.tasks.task import ToolCall
from opsgym_domains.email.domain import DOMAIN
from opsgym_domains.email.tables import (
    Attachment,
    AutoForwarding,
    CseIdentity,
    CseKeyPair,
    CsePrivateKeyMetadata,
    Delegate,
    Draft,
    Filter,
    ForwardingAddress,
    ImapSettings,
    Label,
    LanguageSettings,
    Message,
    MessageHeader,
    MessageLabel,
    MessagePart,
    MessagePartBody,
    PopSettings,
    SendAsAlias,
    SmimeInfo,
    Thread,
    User,
    VacationSettings,
    WatchSubscription,
)
from opsgym_suites.email.calls import new_key, one_by_one
from opsgym_suites.email.seeds.world import World
from opsgym_suites.kit.effects import RowType, ToolEffects, Written, WrittenRow
from opsgym_suites.kit.verifiers import Between, Matches, May, Present

Arguments = Mapping[str, Any]
ADDRESSES = ("To", "Cc", "Bcc")
FREE_HEADERS = ("MIME-Version", "Content-Type", "Content-Transfer-Encoding", "Reply-To")
"""Headers that a correct message may have."""
THREADING = ("In-Reply-To", "References")
"""Headers that a correct answer or forwarded message may have."""


class Mail(Written[World]):
    """Rows that calls have written so far.

    Args:
        world: The rows before.
        calls: All calls that are followed.
        delivers: Whether messages arrive in the mailboxes of their recipients.
    """

    def __init__(self, world: World, calls: Sequence[ToolCall], *, delivers: bool) -> None:
        super().__init__(world)
        self.delivers = delivers
        sends = sum(made.name in {"send_message", "create_draft", "update_draft", "send_draft"} for made in calls)
        self.links = 1 < sends <= 4 and not delivers
        """Whether it matters which headers and texts belong to one message."""
        self.labels_made = 0

    def mailbox(self, given: Arguments) -> User:
        """Owner of the mailbox that a call names."""
        return self.world.user(given["userId"])

    def label(self, owner: str, name: str) -> str:
        """Key of a label by key or system name."""
        rows = self.world.all(Label, user_id=owner)
        return next((row.id for row in rows if row.type == "system" and row.name == name), name)

    def owner_of(self, message_id: str) -> str:
        """Owner of a message."""
        return str(self.world.all(Message, id=message_id)[0].user_id)

    def relabel(self, tool: str, message_id: str, add: Sequence[str] = (), remove: Sequence[str] = ()) -> None:
        """Labels of a message of the seed."""
        owner = self.owner_of(message_id)
        self.change(tool, Message, message_id, {})
        has = {
            self.value(MessageLabel, key, "label_id"): key for key in self.of(MessageLabel, "message_id", message_id)
        }
        for label in (self.label(owner, name) for name in add):
            if label not in has:
                has[label] = self.add(tool, MessageLabel, {"message_id": message_id, "label_id": label})
        for label in (self.label(owner, name) for name in remove):
            if label in has:
                self.remove(tool, MessageLabel, has.pop(label))

    def delete(self, tool: str, message_id: str) -> None:
        """A message with all that belongs to it, and its thread if it was the last one."""
        thread = self.value(Message, message_id, "thread_id")
        for key in self.of(Draft, "message_id", message_id):
            self.remove(tool, Draft, key)
        self.delete_content(tool, message_id)
        if not self.of(Message, "thread_id", thread):
            self.remove(tool, Thread, thread)

    def delete_content(self, tool: str, message_id: str) -> None:
        """A message with all that belongs to it, of which a draft and the thread stay."""
        for part in self.of(MessagePart, "message_id", message_id):
            for kind in (MessageHeader, MessagePartBody):
                for key in self.of(kind, "message_part_id", part):
                    self.remove(tool, kind, key)
            self.remove(tool, MessagePart, part)
        for of_message in (Attachment, MessageLabel):
            for key in self.of(of_message, "message_id", message_id):
                self.remove(tool, of_message, key)
        self.remove(tool, Message, message_id)


# --- messages --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Content:
    headers: Sequence[tuple[str, str]]
    text: str

    def header(self, name: str) -> str:
        return next((value for key, value in self.headers if key == name), "")

    @property
    def recipients(self) -> list[str]:
        values = [value for name, value in self.headers if name in ADDRESSES]
        return list(dict.fromkeys(address.lower() for _, address in getaddresses(values)))

    def without_bcc(self) -> _Content:
        return _Content([pair for pair in self.headers if pair[0] != "Bcc"], self.text)


def _content(given: Arguments) -> _Content:
    payload = given["payload"]
    return _Content([(one["name"], one["value"]) for one in payload["headers"]], payload["body"]["data"])


def _store(
    writes: Mail,
    tool: str,
    owner: str,
    content: _Content,
    labels: Sequence[str],
    thread: str | None,
    *,
    sent: bool = True,
    headers: Mapping[str, Any] | None = None,
) -> str:
    """A new message in a mailbox; returns its key. `headers` are conditions on further headers."""
    subject = _subject(content.header("Subject"))
    thread = thread or _thread_of(writes, owner, content)
    if thread is None:
        writes.add(tool, Thread, {"user_id": owner})
    message = writes.add(
        tool,
        Message,
        {
            "user_id": owner,
            "thread_id": thread or Present(),
            "snippet": subject,
            "internal_date_ms": May(),
            "size_estimate": May(),
        },
    )
    link = message if writes.links else Present()
    part = writes.add(tool, MessagePart, {"message_id": link, "part_id": "0", "mime_type": ["text/plain", "text/html"]})
    place = part if writes.links else Present()
    further = headers or {}
    for name, value in (*_header_conditions(content, sent=sent), *further.items()):
        writes.add(tool, MessageHeader, {"message_part_id": place, "name": [name, name.lower()], "value": value})
    answers = content.header("In-Reply-To") or content.header("Subject").startswith("Fwd: ")
    free = (*FREE_HEADERS, *(THREADING if answers else ()), *(() if sent else ("From", "Date", "Message-ID")))
    for name in (name for name in free if name not in further):
        values = {"message_part_id": place, "name": [name, name.lower()], "value": May()}
        writes.add(tool, MessageHeader, values, optional=True)
    writes.add(tool, MessagePartBody, {"message_part_id": place, "size": May(), "data": content.text})
    for label in labels:
        writes.add(tool, MessageLabel, {"message_id": link, "label_id": writes.label(owner, label)})
    return str(message)


def _header_conditions(content: _Content, *, sent: bool) -> Iterator[tuple[str, Any]]:
    if sent:
        yield "From", addresses(content.header("From")) if content.header("From") else Present()
        yield "Date", Present()
        yield "Message-ID", Present()
    yield "Subject", _subject(content.header("Subject"))
    for name in ADDRESSES:
        if content.header(name):
            yield name, addresses(content.header(name))


def addresses(value: str) -> Matches:
    """Condition: a header has exactly these addresses, in any order and with any names."""
    given = [re.escape(address.lower()) for _, address in getaddresses([value])]
    pattern = "".join(f"(?=.*(?<![\\w.]){address}(?![\\w.]))" for address in given)
    return Matches(f"(?is)^{pattern}[^@]*(?:@[^@]*){{{len(given)}}}$")


def _subject(subject: str) -> Matches:
    """Condition: a subject, with its `Re:` or `Fwd:`, in any case and spacing."""
    prefix, _, rest = subject.partition(": ") if subject.startswith(("Re: ", "Fwd: ")) else ("", "", subject)
    start = {"": "", "Re": r"re:\s*", "Fwd": r"fwd?:\s*"}[prefix]
    words = r"[\s_-]+".join(map(re.escape, rest.split()))
    return Matches(rf"(?i)^{start}{words}[.!]?$")


def _thread_of(writes: Mail, owner: str, content: _Content) -> str | None:
    """The thread of a mailbox with the message that a content answers."""
    answered = content.header("In-Reply-To")
    for message in writes.world.all(Message, user_id=owner) if answered else ():
        if writes.world.header(message, "Message-ID") == answered:
            return message.thread_id
    return None


def _send(writes: Mail, tool: str, given: Arguments) -> None:
    _sent(writes, tool, writes.mailbox(given), _content(given), given.get("threadId"))


def _sent(writes: Mail, tool: str, owner: User, content: _Content, thread: str | None) -> None:
    if not content.header("From"):
        content = _Content([("From", owner.primary_email), *content.headers], content.text)
    _store(writes, tool, owner.id, content, ["SENT"], thread)
    if not writes.delivers:
        return
    for address in content.recipients:
        users = writes.world.all(User, primary_email=address)
        if users:
            _store(writes, tool, users[0].id, content.without_bcc(), ["INBOX", "UNREAD"], None)


def _file(writes: Mail, tool: str, given: Arguments) -> None:
    """A message that is put into a mailbox without being sent, by whom and when its headers say."""
    content = _content(given)
    labels = given.get("labelIds") or (["INBOX", "UNREAD"] if tool == "import_message" else [])
    headers = {"From": addresses(content.header("From"))} | ({"Date": Present()} if content.header("Date") else {})
    owner = writes.mailbox(given).id
    thread = given.get("threadId") or _thread_of(writes, owner, content)
    _store(writes, tool, owner, content, labels, thread, sent=False, headers=headers)
    for name in THREADING if given.get("threadId") and not content.header("In-Reply-To") else ():
        writes.add(tool, MessageHeader, {"message_part_id": Present(), "name": name, "value": May()}, optional=True)


def _create_draft(writes: Mail, tool: str, given: Arguments) -> None:
    source = given["message"]
    key = _store(
        writes, tool, writes.mailbox(given).id, _content(source), ["DRAFT"], source.get("threadId"), sent=False
    )
    writes.add(tool, Draft, {"message_id": key if writes.links else Present()})


def _update_draft(writes: Mail, tool: str, given: Arguments) -> None:
    old = writes.value(Draft, given["id"], "message_id")
    thread = writes.value(Message, old, "thread_id")
    _store(writes, tool, writes.mailbox(given).id, _content(given["message"]), ["DRAFT"], thread, sent=False)
    writes.change(tool, Draft, given["id"], {"message_id": Present()})
    writes.delete_content(tool, old)


def _send_draft(writes: Mail, tool: str, given: Arguments) -> None:
    old = writes.value(Draft, given["id"], "message_id")
    thread = writes.world.all(Message, id=old)[0].thread_id
    _sent(writes, tool, writes.mailbox(given), _content(given["message"]), thread)
    writes.delete_content(tool, old)
    writes.remove(tool, Draft, given["id"])


def _delete_draft(writes: Mail, tool: str, given: Arguments) -> None:
    writes.delete(tool, writes.value(Draft, given["id"], "message_id"))


def _modify(writes: Mail, tool: str, given: Arguments) -> None:
    for key in given["ids"] if "ids" in given else [given["id"]]:
        writes.relabel(tool, key, given.get("addLabelIds", ()), given.get("removeLabelIds", ()))


def _modify_thread(writes: Mail, tool: str, given: Arguments) -> None:
    writes.change(tool, Thread, given["id"], {})
    for row in writes.world.all(Message, thread_id=given["id"]):
        writes.relabel(tool, row.id, given.get("addLabelIds", ()), given.get("removeLabelIds", ()))


def _trash(writes: Mail, tool: str, given: Arguments) -> None:
    writes.relabel(tool, given["id"], ["TRASH"], ["INBOX"])


def _untrash(writes: Mail, tool: str, given: Arguments) -> None:
    writes.relabel(tool, given["id"], (), ["TRASH"])


def _trash_thread(writes: Mail, tool: str, given: Arguments) -> None:
    writes.change(tool, Thread, given["id"], {})
    for row in writes.world.all(Message, thread_id=given["id"]):
        writes.relabel(tool, row.id, ["TRASH"], ["INBOX"])


def _untrash_thread(writes: Mail, tool: str, given: Arguments) -> None:
    writes.change(tool, Thread, given["id"], {})
    for row in writes.world.all(Message, thread_id=given["id"]):
        writes.relabel(tool, row.id, (), ["TRASH"])


def _delete_thread(writes: Mail, tool: str, given: Arguments) -> None:
    for row in writes.world.all(Message, thread_id=given["id"]):
        writes.delete(tool, row.id)


def _delete_messages(writes: Mail, tool: str, given: Arguments) -> None:
    for key in given["ids"] if "ids" in given else [given["id"]]:
        writes.delete(tool, key)


# --- labels, filters -------------------------------------------------------------------------------------------------


def _create_label(writes: Mail, tool: str, given: Arguments) -> None:
    writes.labels_made += 1
    values = {
        "user_id": writes.mailbox(given).id,
        "name": given["name"],
        "message_list_visibility": ["show", "hide"],
        "label_list_visibility": ["labelShow", "labelShowIfUnread"],
        "type": "user",
        "color_json": May(),
    }
    writes.add(tool, Label, values, new_key(writes.labels_made))


def _change_label(writes: Mail, tool: str, given: Arguments) -> None:
    writes.change(tool, Label, given["id"], {"name": given["name"]} if "name" in given else {})


def _update_label(writes: Mail, tool: str, given: Arguments) -> None:
    values = {
        "name": given["name"],
        "message_list_visibility": given["messageListVisibility"],
        "label_list_visibility": given["labelListVisibility"],
        "color_json": None,
    }
    writes.change(tool, Label, given["id"], values)


def _delete_label(writes: Mail, tool: str, given: Arguments) -> None:
    for key in writes.of(MessageLabel, "label_id", given["id"]):
        writes.remove(tool, MessageLabel, key)
    writes.remove(tool, Label, given["id"])


def _create_filter(writes: Mail, tool: str, given: Arguments) -> None:
    owner, action = writes.mailbox(given), given["action"]
    made = {row.key for row in writes.rows.values() if row.kind is Label and row.operation == "adds"}

    def listed(name: str) -> str:
        keys = [writes.label(owner.id, label) for label in action.get(name, ())]
        pattern = "".join(rf'(?=[^\]]*"{"[0-9a-f-]{36}" if key in made else key}")' for key in keys)
        return rf'(?=.*"{name}":\s*\[{pattern}(?:\s*"[^"]*"\s*,?){{{len(keys)}}}\s*\])' if keys else ""

    forward = (
        rf'(?=.*"forward":\s*"{re.escape(action["forward"])}")' if "forward" in action else r'(?!.*"forward":\s*"[^"])'
    )
    values = {
        "user_id": owner.id,
        "criteria_json": Matches(_criteria(given["criteria"])),
        "action_json": Matches(f"(?s)^{listed('addLabelIds')}{listed('removeLabelIds')}{forward}\\{{"),
        "created_by": May(),
    }
    writes.add(tool, Filter, values)


def _criteria(criteria: Arguments) -> str:
    """Pattern of criteria: what the request fixes, and no other restriction."""
    texts = "".join(
        rf'(?=.*"{name}":\s*"{_loosely(criteria[name])}")' for name in ("from", "to", "subject") if criteria[name]
    )
    without = "".join(
        rf'(?=.*"{name}":\s*"\s*")' for name in ("from", "to", "subject", "negatedQuery") if not criteria[name]
    )
    if criteria["query"]:
        texts += rf'(?=.*"query":\s*"{_loosely(criteria["query"])}")'
    attached = str(bool(criteria["hasAttachment"])).lower()
    sizes = rf'(?=.*"sizeComparison":\s*"{criteria["sizeComparison"]}")' if criteria["size"] else ""
    return rf'(?is)^{texts}{without}(?=.*"hasAttachment":\s*{attached}){sizes}\{{'


def _loosely(text: str) -> str:
    """A text of a criterion, with or without quotes around it."""
    return rf'(?:\\?["(])?{re.escape(text)}(?:\\?[")])?'


# --- settings --------------------------------------------------------------------------------------------------------


def _setting(kind: RowType, columns: Mapping[str, str]) -> Callable[[Mail, str, Arguments], None]:
    """Follows the tool that sets a mailbox' row of settings."""

    def follow(writes: Mail, tool: str, given: Arguments) -> None:
        (row,) = writes.world.all(kind, user_id=writes.mailbox(given).id)
        values = {column: given[name] for name, column in columns.items() if name in given}
        writes.change(tool, kind, row.id, values)  # type: ignore[attr-defined]

    return follow


def _vacation(writes: Mail, tool: str, given: Arguments) -> None:
    (row,) = writes.world.all(VacationSettings, user_id=writes.mailbox(given).id)
    if not given["enableAutoReply"]:
        others = ("response_subject", "response_body_plain_text", "response_body_html", "start_time", "end_time")
        free = {name: May() for name in (*others, "restrict_to_contacts", "restrict_to_domain")}
        writes.change(tool, VacationSettings, row.id, {"enable_auto_reply": False, **free})
        return
    values = {
        "enable_auto_reply": True,
        "response_subject": May(),
        "response_body_plain_text": given["responseBodyPlainText"],
        "response_body_html": May(),
        "restrict_to_contacts": given["restrictToContacts"],
        "restrict_to_domain": given["restrictToDomain"],
        "start_time": _near(datetime.fromisoformat(given["startTime"]), row.start_time),
        "end_time": _near(datetime.fromisoformat(given["endTime"]), row.end_time),
    }
    writes.change(tool, VacationSettings, row.id, values)


def _near(time: datetime, before: datetime | None) -> Between | May:
    """A time with a minute of play: the last minute of a day is its end. One that the row has may stay."""
    play = Between(time - timedelta(minutes=1), time + timedelta(minutes=1))
    return May(play) if before is not None and play.first <= before <= play.last else play


def _forwarding(writes: Mail, tool: str, given: Arguments) -> None:
    (row,) = writes.world.all(AutoForwarding, user_id=writes.mailbox(given).id)
    if given["enabled"]:
        values = {
            "enabled": True,
            "email_address": given["emailAddress"],
            "disposition": given["disposition"],
        }
    else:
        values = {"enabled": False, "email_address": May(), "disposition": May()}
    writes.change(tool, AutoForwarding, row.id, values)


def _add_delegate(writes: Mail, tool: str, given: Arguments) -> None:
    values = {"user_id": writes.mailbox(given).id, "delegate_email": given["delegateEmail"]}
    writes.add(tool, Delegate, values | {"verification_status": "accepted"})


def _end_delegate(writes: Mail, tool: str, given: Arguments) -> None:
    (row,) = writes.world.all(Delegate, user_id=writes.mailbox(given).id, delegate_email=given["delegateEmail"])
    writes.remove(tool, Delegate, row.id)


def _add_forwarding(writes: Mail, tool: str, given: Arguments) -> None:
    owner, address = writes.mailbox(given), given["forwardingEmail"]
    own = address.partition("@")[2] == owner.primary_email.partition("@")[2]
    values = {"user_id": owner.id, "forwarding_email": address}
    writes.add(tool, ForwardingAddress, values | {"verification_status": "accepted" if own else "pending"})


def _remove_forwarding(writes: Mail, tool: str, given: Arguments) -> None:
    (row,) = writes.world.all(
        ForwardingAddress, user_id=writes.mailbox(given).id, forwarding_email=given["forwardingEmail"]
    )
    writes.remove(tool, ForwardingAddress, row.id)


def _delete_filter(writes: Mail, tool: str, given: Arguments) -> None:
    writes.remove(tool, Filter, given["id"])


def _alias(writes: Mail, given: Arguments) -> SendAsAlias:
    return writes.world.one(SendAsAlias, user_id=writes.mailbox(given).id, send_as_email=given["sendAsEmail"])


def _alias_key(writes: Mail, given: Arguments) -> str:
    """Key of an alias of the seed; a new one has its address as key."""
    is_new = (SendAsAlias, given["sendAsEmail"]) in writes.rows
    return str(given["sendAsEmail"] if is_new else _alias(writes, given).id)


_ALIAS = {
    "displayName": "display_name",
    "replyToAddress": "reply_to_address",
    "signature": "signature",
    "treatAsAlias": "treat_as_alias",
}


def _create_alias(writes: Mail, tool: str, given: Arguments) -> None:
    values = {column: given[name] for name, column in _ALIAS.items() if name in given}
    more = {
        "user_id": writes.mailbox(given).id,
        "send_as_email": given["sendAsEmail"],
        "is_primary": False,
        "is_default": given.get("isDefault", False),
        "treat_as_alias": May(),
        "verification_status": "pending",
        "verification_token": May(),
        "verification_token_expires": May(),
        "signature": May(),
        "reply_to_address": May(),
    }
    writes.add(tool, SendAsAlias, more | values, given["sendAsEmail"])
    if given.get("isDefault"):
        _other_default(writes, tool, given)


def _patch_alias(writes: Mail, tool: str, given: Arguments) -> None:
    key = _alias_key(writes, given)
    values: dict[str, Any] = {column: given[name] for name, column in _ALIAS.items() if name in given}
    for row in writes.world.all(SendAsAlias, id=key):
        values = {column: value for column, value in values.items() if getattr(row, column) != value}
    if given.get("isDefault"):
        values["is_default"] = True
        _other_default(writes, tool, given)
    if server := given.get("smtpMsa"):
        fields = "".join(rf'(?=.*"{name}":\s*"?{re.escape(str(value))}"?\s*[,}}])' for name, value in server.items())
        values["smtp_msa"] = Matches(f"^{fields}")
    writes.change(tool, SendAsAlias, key, values)


def _other_default(writes: Mail, tool: str, given: Arguments) -> None:
    for row in writes.world.all(SendAsAlias, user_id=writes.mailbox(given).id, is_default=True):
        if row.send_as_email != given["sendAsEmail"]:
            writes.change(tool, SendAsAlias, row.id, {"is_default": False})


def _verify_alias(writes: Mail, tool: str, given: Arguments) -> None:
    values = {"verification_status": "accepted", "verification_token": None, "verification_token_expires": None}
    writes.change(tool, SendAsAlias, _alias_key(writes, given), values)


def _delete_alias(writes: Mail, tool: str, given: Arguments) -> None:
    row = _alias(writes, given)
    for certificate in writes.world.certificates(row):
        writes.remove(tool, SmimeInfo, certificate.id)
    writes.remove(tool, SendAsAlias, row.id)
    if row.is_default:
        (primary,) = writes.world.all(SendAsAlias, user_id=row.user_id, is_primary=True)
        writes.change(tool, SendAsAlias, primary.id, {"is_default": True})


def _default_certificate(writes: Mail, tool: str, given: Arguments) -> None:
    for row in writes.world.certificates(_alias(writes, given)):
        writes.change(tool, SmimeInfo, row.id, {"is_default": row.id == given["id"]})


def _delete_certificate(writes: Mail, tool: str, given: Arguments) -> None:
    writes.remove(tool, SmimeInfo, given["id"])


def _add_certificate(writes: Mail, tool: str, given: Arguments) -> None:
    alias = _alias(writes, given)
    others = writes.world.certificates(alias)
    is_default = given.get("isDefault", False) or not others
    values = {
        "send_as_alias_id": alias.id,
        "user_id": alias.user_id,
        "send_as_email": alias.send_as_email,
        "issuer_cn": given["issuerCn"],
        "expiration": given["expiration"],
        "is_default": is_default,
        "pem": _pem(given["pem"]),
    }
    writes.add(tool, SmimeInfo, values)
    for row in others if is_default else ():
        writes.change(tool, SmimeInfo, row.id, {"is_default": False})


def _pem(text: str) -> Matches:
    """Condition: a text in PEM, with any white space between its lines."""
    lines = r"\s+".join(map(re.escape, text.split()))
    return Matches(rf"^\s*{lines}\s*$")


def _add_key_pair(writes: Mail, tool: str, given: Arguments) -> None:
    owner = writes.mailbox(given)
    values = {
        "user_id": owner.id,
        "key_pair_id": Matches("^kp_"),
        "pkcs7": _pem(given["pkcs7"]),
        "subject_email_addresses": owner.primary_email,
        "enablement_state": "enabled",
    }
    pair = writes.add(tool, CseKeyPair, values)
    for metadata in given.get("privateKeyMetadata", ()):
        words = metadata["hardwareKeyMetadata"]["description"]
        values = {
            "private_key_metadata_id": Present(),
            "key_pair_id": pair,
            "metadata_type": "HSM",
            "hardware_description": Matches(rf"(?i)^{re.escape(words)}[.]?$"),
        }
        writes.add(tool, CsePrivateKeyMetadata, values)


def _key_pair(writes: Mail, given: Arguments) -> CseKeyPair:
    return writes.world.one(CseKeyPair, user_id=writes.mailbox(given).id, key_pair_id=given["keyPairId"])


def _disable_key_pair(writes: Mail, tool: str, given: Arguments) -> None:
    values = {"enablement_state": "disabled", "disable_time": Present()}
    writes.change(tool, CseKeyPair, _key_pair(writes, given).id, values)


def _enable_key_pair(writes: Mail, tool: str, given: Arguments) -> None:
    writes.change(tool, CseKeyPair, _key_pair(writes, given).id, {"enablement_state": "enabled", "disable_time": None})


def _obliterate_key_pair(writes: Mail, tool: str, given: Arguments) -> None:
    pair = _key_pair(writes, given)
    for key in writes.of(CsePrivateKeyMetadata, "key_pair_id", pair.id):
        writes.remove(tool, CsePrivateKeyMetadata, key)
    writes.remove(tool, CseKeyPair, pair.id)


def _keys(writes: Mail, given: Arguments) -> dict[str, Any]:
    apart = given.get("signAndEncryptKeyPairs", {})
    keys = {
        "primary_key_pair_id": given.get("primaryKeyPairId"),
        "signing_key_pair_id": apart.get("signingKeyPairId"),
        "encryption_key_pair_id": apart.get("encryptionKeyPairId"),
    }
    known = [row.key_pair_id for row in writes.world.all(CseKeyPair)]
    new = Matches(rf"^(?!{'|'.join(known)})kp_")
    return {name: new if key and key not in known else key for name, key in keys.items()}


def _create_identity(writes: Mail, tool: str, given: Arguments) -> None:
    values = {"user_id": writes.mailbox(given).id, "email_address": given["emailAddress"], **_keys(writes, given)}
    writes.add(tool, CseIdentity, values)


def _patch_identity(writes: Mail, tool: str, given: Arguments) -> None:
    row = writes.world.one(CseIdentity, user_id=writes.mailbox(given).id, email_address=given["emailAddress"])
    writes.change(tool, CseIdentity, row.id, _keys(writes, given))


def _delete_identity(writes: Mail, tool: str, given: Arguments) -> None:
    row = writes.world.one(CseIdentity, user_id=writes.mailbox(given).id, email_address=given["cseEmailAddress"])
    writes.remove(tool, CseIdentity, row.id)


def _stop_watch(writes: Mail, tool: str, given: Arguments) -> None:
    for row in writes.world.all(WatchSubscription, user_id=writes.mailbox(given).id, is_active=True):
        writes.change(tool, WatchSubscription, row.id, {"is_active": False})
    for written in writes.rows.values():
        if written.kind is WatchSubscription and written.operation == "adds":
            written.values["is_active"] = False


def _watch(writes: Mail, tool: str, given: Arguments) -> None:
    owner = writes.mailbox(given)
    labels = [writes.label(owner.id, name) for name in given["labelIds"]]
    listed = "".join(rf'(?=.*"{key}")' for key in labels)
    values = {
        "user_id": owner.id,
        "topic_name": given["topicName"],
        "label_ids": Matches(rf'^{listed}\[(?:\s*"[^"]*"\s*,?){{{len(labels)}}}\s*\]$') if labels else None,
        "label_filter_behavior": given.get("labelFilterBehavior") or ("include" if labels else May()),
        "history_id": May(),
        "expiration": Present(),
        "is_active": True,
    }
    writes.add(tool, WatchSubscription, values)


_FOLLOWED: Mapping[str, Callable[[Mail, str, Arguments], None]] = {
    "send_message": _send,
    "import_message": _file,
    "insert_message": _file,
    "create_draft": _create_draft,
    "update_draft": _update_draft,
    "send_draft": _send_draft,
    "delete_draft": _delete_draft,
    "modify_message": _modify,
    "batch_modify_messages": _modify,
    "modify_thread": _modify_thread,
    "trash_message": _trash,
    "untrash_message": _untrash,
    "trash_thread": _trash_thread,
    "untrash_thread": _untrash_thread,
    "delete_thread": _delete_thread,
    "delete_message": _delete_messages,
    "batch_delete_messages": _delete_messages,
    "create_label": _create_label,
    "patch_label": _change_label,
    "update_label": _update_label,
    "delete_label": _delete_label,
    "create_filter": _create_filter,
    "delete_filter": _delete_filter,
    "update_vacation_settings": _vacation,
    "update_auto_forwarding": _forwarding,
    "update_imap_settings": _setting(ImapSettings, {"enabled": "enabled"}),
    "update_pop_settings": _setting(PopSettings, {"accessWindow": "access_window", "disposition": "disposition"}),
    "update_language_settings": _setting(LanguageSettings, {"displayLanguage": "display_language"}),
    "email_create_delegate": _add_delegate,
    "email_delete_delegate": _end_delegate,
    "create_forwarding_address": _add_forwarding,
    "delete_forwarding_address": _remove_forwarding,
    "create_send_as_alias": _create_alias,
    "patch_send_as_alias": _patch_alias,
    "update_send_as_alias": _patch_alias,
    "verify_send_as_alias": _verify_alias,
    "delete_send_as_alias": _delete_alias,
    "insert_smime_config": _add_certificate,
    "set_default_smime_config": _default_certificate,
    "delete_smime_config": _delete_certificate,
    "email_create_cse_keypair": _add_key_pair,
    "email_disable_cse_keypair": _disable_key_pair,
    "email_enable_cse_keypair": _enable_key_pair,
    "email_obliterate_cse_keypair": _obliterate_key_pair,
    "create_cse_identity": _create_identity,
    "patch_cse_identity": _patch_identity,
    "delete_cse_identity": _delete_identity,
    "watch_user_mailbox": _watch,
    "stop_user_watch": _stop_watch,
}


@dataclass(frozen=True)
class EmailEffects(ToolEffects):
    """Effects of email's tools, whose calls write rows of several tables."""

    delivers: bool = False
    """Whether messages arrive in the mailboxes of their recipients, as in access `strict`."""

    def written(self, world: Any, calls: Sequence[ToolCall]) -> list[WrittenRow]:
        """Rows that calls write on a seed, in the order in which they are first written.

        Raises:
            LookupError: A call names a row that does not exist.
        """
        writes = Mail(world, calls, delivers=self.delivers)
        for made in calls:
            if made.name in _FOLLOWED:
                _FOLLOWED[made.name](writes, made.name, made.arguments)
        return list(writes.rows.values())


def _equivalents(made: ToolCall) -> Iterator[ToolCall]:
    """Single changes in place of one for several messages."""
    if made.name == "batch_modify_messages":
        yield from one_by_one(made)


EFFECTS = EmailEffects(DOMAIN.toolbox, link_types=frozenset({MessageLabel}), equivalents=_equivalents)
STRICT_EFFECTS = EmailEffects(DOMAIN.toolbox, frozenset({MessageLabel}), equivalents=_equivalents, delivers=True)
