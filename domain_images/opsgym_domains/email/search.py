"""Searches of a mailbox: from the tree of a search to the conditions of a query.

Invariant: words match whole words in any case, as in Gmail; an operator that no message can meet, such as a date that
is none, matches nothing. Messages in spam and trash are left out unless the search names them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Select, and_, cast, exists, false, func, not_, or_, select, true

from opsgym_domains.email import query
from opsgym_domains.email.mime import milliseconds
from opsgym_domains.email.query import Near, Node, Operator, Text
from opsgym_domains.email.tables import (
    Attachment,
    Label,
    Message,
    MessageHeader,
    MessageLabel,
    MessagePart,
    MessagePartBody,
)
from opsgym_domains.email.words import folded
from opsgym_domains.kit.errors import ToolError

Condition = ColumnElement[bool]
ARRIVED = cast(Message.internal_date_ms, BigInteger)
"""Time of arrival of a message in milliseconds since 1970."""
LONGEST = 2000
"""Number of characters of a search at most."""
HIDDEN = ("SPAM", "TRASH")
"""System labels whose messages a search leaves out."""
_PLACES = {
    "inbox": "INBOX",
    "sent": "SENT",
    "draft": "DRAFT",
    "drafts": "DRAFT",
    "spam": "SPAM",
    "trash": "TRASH",
    "bin": "TRASH",
}
_STATES = {"unread": "UNREAD", "starred": "STARRED", "important": "IMPORTANT", "sent": "SENT", "draft": "DRAFT"}
_SEARCHED = ("subject", "from", "to", "cc")
"""Headers in which a bare word is found."""
_UNITS = {"d": timedelta(days=1), "w": timedelta(weeks=1), "m": timedelta(days=30), "y": timedelta(days=365)}
_SIZES = {"": 1, "k": 1024, "kb": 1024, "m": 1024**2, "mb": 1024**2}


def matches(text: str, now: datetime, *, owner: str = "", everywhere: bool = False) -> list[Condition]:
    """Conditions of the messages that a search finds.

    Args:
        text: The search; empty for all messages.
        now: Current time, for `older_than` and its like.
        owner: Address that `me` stands for.
        everywhere: Whether messages in spam and trash are found too.

    Raises:
        ToolError: `QUERY_TOO_LONG`.
    """
    if len(text) > LONGEST:
        raise ToolError("QUERY_TOO_LONG", f"the search has {len(text)} characters; the maximum is {LONGEST}", "q")
    tree = query.parse(text)
    conditions = [_Conditions(now, owner).of(tree)]
    hidden = [] if everywhere else _hidden_labels(tree)
    return [*conditions, not_(has_label(*hidden))] if hidden else conditions


def as_search(criteria: Mapping[str, Any]) -> str:
    """The search that finds the messages which meet the criteria of a filter; an empty criterion does not count."""
    words = [f"{name}:({criteria[name]})" for name in ("from", "to", "subject") if criteria.get(name)]
    words += [f"({criteria['query']})"] if criteria.get("query") else []
    words += [f"-({criteria['negatedQuery']})"] if criteria.get("negatedQuery") else []
    words += ["has:attachment"] if criteria.get("hasAttachment") else []
    if criteria.get("sizeComparison") in {"smaller", "larger"}:
        words.append(f"{criteria['sizeComparison']}:{int(criteria.get('size') or 0)}")
    return " ".join(words)


@lru_cache
def has_label(*names: str) -> Condition:
    """Whether a message has one of some system labels."""
    return Message.id.in_(_labelled(Label.name.in_(names), Label.type == "system"))


def has_label_id(label_id: str) -> Condition:
    """Whether a message has a label, given by its id."""
    return Message.id.in_(select(MessageLabel.message_id).where(MessageLabel.label_id == label_id))


def _labelled(*conditions: Condition) -> Select[Any]:
    return select(MessageLabel.message_id).join(Label, Label.id == MessageLabel.label_id).where(*conditions)


def _operators(node: Node) -> Iterator[Operator]:
    """Operators of a tree, except those that a message must not meet."""
    if isinstance(node, Operator):
        yield node
    elif isinstance(node, query.All | query.Any):
        for part in node.conditions:
            yield from _operators(part)


def _hidden_labels(tree: Node) -> list[str]:
    """System labels whose messages a search leaves out: those of `HIDDEN` that it does not name."""
    places = {one.value.lower() for one in _operators(tree) if one.name in {"in", "label", "is"}}
    named = {_PLACES.get(place) for place in places}
    return [] if "anywhere" in places else [name for name in HIDDEN if name not in named]


class _Conditions:
    """Conditions of the parts of a search.

    Args:
        now: Current time.
        owner: Address that `me` stands for.
    """

    def __init__(self, now: datetime, owner: str) -> None:
        self._now = now
        self._owner = owner

    def of(self, node: Node) -> Condition:
        """The condition of a part."""
        if isinstance(node, Text):
            return _contains(_words(node.text))
        if isinstance(node, Near):
            return _contains(_words_near(node))
        if isinstance(node, query.Not):
            return not_(self.of(node.condition))
        if isinstance(node, query.Any):
            return or_(*map(self.of, node.conditions))
        if isinstance(node, query.All):
            return and_(true(), *map(self.of, node.conditions))
        return self._operator(node)

    def _operator(self, operator: Operator) -> Condition:
        name, value = operator.name, operator.value
        if (header := _HEADERS.get(name)) is not None:
            is_owner = value.lower() == "me" and name in _PEOPLE and self._owner
            value = self._owner if is_owner else value
            return _header_has(header, _words(value))
        if name in _DATES:
            return self._date(name, value)
        return _OPERATORS[name](value.lower())

    def _date(self, name: str, value: str) -> Condition:
        """`after:2026/11/16`, `before:` and `newer:`, `older:`; `older_than:3d`, `newer_than:`."""
        time = self._since(value) if name.endswith("_than") else _day(value)
        if time is None:
            return false()
        bound = int(milliseconds(time))
        return bound <= ARRIVED if _DATES[name] else bound > ARRIVED

    def _since(self, value: str) -> datetime | None:
        match = re.fullmatch(r"(\d{1,5})([dwmy])", value.lower())
        if match is None:
            return None
        try:
            return self._now - int(match[1]) * _UNITS[match[2]]
        except OverflowError:
            return datetime(1970, 1, 1)  # noqa: DTZ001 - tables keep UTC without zone


_DATES: Mapping[str, bool] = {
    "after": True,
    "newer": True,
    "newer_than": True,
    "before": False,
    "older": False,
    "older_than": False,
}
"""Operators with a date; whether messages at or after it are found."""
_HEADERS: Mapping[str, Sequence[str]] = {
    "from": ("from",),
    "to": ("to", "cc", "bcc"),
    "cc": ("cc",),
    "bcc": ("bcc",),
    "subject": ("subject",),
    "list": ("list-id", "list-post"),
    "deliveredto": ("delivered-to", "to"),
    "rfc822msgid": ("message-id",),
}
"""Headers in which an operator finds its value."""
_PEOPLE = frozenset({"from", "to", "cc", "bcc", "deliveredto"})
"""Operators whose value can be `me`."""


def _day(value: str) -> datetime | None:
    """A date as Gmail takes it, or seconds since 1970; None if the text is neither."""
    if re.fullmatch(r"\d{9,11}", value):
        return datetime(1970, 1, 1) + timedelta(seconds=int(value))  # noqa: DTZ001 - tables keep UTC without zone
    numbers = re.fullmatch(r"(\d{1,4})[/.-](\d{1,2})[/.-](\d{1,4})", value)
    if numbers is None:
        return None
    first, second, third = map(int, numbers.groups())
    year, month, day = (first, second, third) if len(numbers[1]) == 4 else (third, first, second)
    try:
        return datetime(year, month, day)  # noqa: DTZ001 - tables keep UTC without zone
    except ValueError:
        return None


# --- words -----------------------------------------------------------------------------------------------------------


def _words(text: str) -> Any:
    """Query of Postgres' text search for the words of a text in their order."""
    return func.phraseto_tsquery("simple", folded(text))


def _words_near(near: Near) -> ColumnElement[Any]:
    """Query of Postgres' text search for words at most some words apart."""
    first, second = _words(near.first), _words(near.second)
    before: ColumnElement[Any] = func.email_near(first, second, near.distance + 1)
    return before if near.is_ordered else before.op("||")(func.email_near(second, first, near.distance + 1))


def _contains(words: Any) -> Condition:
    """Whether a message has words in a searched header or in a text."""
    bodies = (
        select(MessagePart.message_id)
        .join(MessagePartBody, MessagePartBody.message_part_id == MessagePart.id)
        .where(
            MessagePartBody.attachment_id.is_(None),
            func.email_words(func.email_text(MessagePartBody.data, MessagePartBody.size)).op("@@")(words),
        )
    )
    return or_(_header_has(_SEARCHED, words), Message.id.in_(bodies))


def _header_has(names: Sequence[str], words: Any) -> Condition:
    """Whether a message has words in one of the headers."""
    headers = (
        select(MessagePart.message_id)
        .join(MessageHeader, MessageHeader.message_part_id == MessagePart.id)
        .where(func.lower(MessageHeader.name).in_(names), func.email_words(MessageHeader.value).op("@@")(words))
    )
    return Message.id.in_(headers)


# --- operators -------------------------------------------------------------------------------------------------------


def _label(value: str) -> Condition:
    """Labels by name; a space or a slash of the name may be written as a hyphen."""
    name = func.translate(func.lower(Label.name), " /", "--")
    return Message.id.in_(_labelled(name == value.replace(" ", "-").replace("/", "-")))


def _in(value: str) -> Condition:
    if value == "anywhere":
        return true()
    if value == "archive":
        return not_(has_label("INBOX", "SENT", "DRAFT", *HIDDEN))
    return has_label(_PLACES[value]) if value in _PLACES else _label(value)


def _is(value: str) -> Condition:
    if value == "read":
        return not_(has_label("UNREAD"))
    return has_label(_STATES[value]) if value in _STATES else false()


def _has(value: str) -> Condition:
    if value == "attachment":
        return exists().where(Attachment.message_id == Message.id)
    if value == "userlabels":
        return Message.id.in_(_labelled(Label.type == "user"))
    if value == "nouserlabels":
        return not_(Message.id.in_(_labelled(Label.type == "user")))
    return has_label("STARRED") if value.endswith("-star") else false()


def _category(value: str) -> Condition:
    name = "personal" if value == "primary" else value
    return has_label(f"CATEGORY_{name.upper()}")


def _filename(value: str) -> Condition:
    """Attachments by a part of their name, for instance its ending."""
    return exists().where(Attachment.message_id == Message.id, Attachment.filename.icontains(value, autoescape=True))


def _size(value: str, compare: Callable[[Any, int], Condition]) -> Condition:
    match = re.fullmatch(r"(\d{1,12})(k|kb|m|mb)?", value)
    return false() if match is None else compare(Message.size_estimate, int(match[1]) * _SIZES[match[2] or ""])


_OPERATORS: Mapping[str, Callable[[str], Condition]] = {
    "label": _label,
    "in": _in,
    "is": _is,
    "has": _has,
    "category": _category,
    "filename": _filename,
    "size": lambda value: _size(value, lambda column, size: column >= size),
    "larger": lambda value: _size(value, lambda column, size: column > size),
    "smaller": lambda value: _size(value, lambda column, size: column < size),
}
"""Condition of an operator by its name, from its value in lower case."""
