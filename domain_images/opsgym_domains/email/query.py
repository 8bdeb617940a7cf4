"""Gmail's search language: from the text of a search to a tree of conditions.

Invariant: parsing never fails and reads no row: text without a known operator is a word, as in Gmail's search box. A
tree says what a message must have; `search` turns it into a query.

Source: "Refine searches in Gmail", support.google.com/mail/answer/7190, and "Searching for messages" of the Gmail API.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

OPERATORS = frozenset(
    {
        "from",
        "to",
        "cc",
        "bcc",
        "subject",
        "label",
        "has",
        "list",
        "filename",
        "in",
        "is",
        "after",
        "before",
        "newer",
        "older",
        "newer_than",
        "older_than",
        "category",
        "size",
        "larger",
        "smaller",
        "rfc822msgid",
        "deliveredto",
    }
)
"""Names before a colon that select by a property of the message; any other name and its colon are part of a word."""


@dataclass(frozen=True)
class Text:
    """A word or a phrase that the message contains."""

    text: str
    is_phrase: bool = False


@dataclass(frozen=True)
class Near:
    """Two words or phrases that are at most some words apart.

    Attributes:
        first: One of them.
        second: The other one.
        distance: Number of words.
        is_ordered: Whether the first one stands before the second one.
    """

    first: str
    second: str
    distance: int
    is_ordered: bool = False


@dataclass(frozen=True)
class Operator:
    """A property that the message has.

    Attributes:
        name: One of `OPERATORS`.
        value: Value after the colon, without quotes.
        is_phrase: Whether the value was quoted.
    """

    name: str
    value: str
    is_phrase: bool = False


@dataclass(frozen=True)
class Not:
    """A condition that the message does not meet."""

    condition: Node


@dataclass(frozen=True)
class All:
    """Conditions that the message meets together; every message meets no conditions."""

    conditions: tuple[Node, ...]


@dataclass(frozen=True)
class Any:
    """Conditions of which the message meets at least one."""

    conditions: tuple[Node, ...]


Node = Text | Near | Operator | Not | All | Any

DEEPEST = 40
"""Number of brackets, signs and operators around a condition at most."""
FARTHEST = 50
"""Number of words between the two of `AROUND` at most."""
_AROUND = re.compile(r"(.*\S)\s+AROUND\s+(\d{1,4})\s+(\S.*)", re.DOTALL)
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<open>[({])
      | (?P<close>[)}])
      | (?P<minus>-(?=[^\s)}]))
      | (?P<plus>\+(?=[^\s)}]))
      | (?P<name>[A-Za-z0-9_]+):
      | "(?P<phrase>[^"]*)"?
      | (?P<word>[^\s(){}"]+)
    )""",
    re.VERBOSE,
)


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str


def parse(query: str) -> Node:
    """The tree of a search.

    Words that stand side by side must all be met; `OR` and braces need one of theirs, and `OR` binds tighter than
    standing side by side. A parenthesis that is not closed ends with the text; brackets, signs and operators that are
    nested deeper than `DEEPEST` are skipped.
    """
    reader = _Reader(list(_tokens(query)))
    parts: list[Node] = []
    while not reader.at_end:
        parts += reader.sequence()
        reader.skip("close")
    return _all(parts)


def _tokens(query: str) -> Iterator[_Token]:
    position = 0
    while match := _TOKEN.match(query, position):
        position = match.end()
        kind = str(match.lastgroup)
        text = match.group(kind)
        if kind == "name" and text.lower() not in OPERATORS:
            word = re.compile(r'[^\s(){}"]*').match(query, position)
            position = position if word is None else word.end()
            yield _Token("word", f"{text}:{'' if word is None else word.group()}")
        else:
            yield _Token(kind, text)


def _has_words(text: str) -> bool:
    """Whether a text has a letter or a digit; signs alone are ignored."""
    return any(character.isalnum() for character in text)


class _Reader:
    """Reads tokens from left to right."""

    def __init__(self, tokens: Sequence[_Token]) -> None:
        self._tokens = tokens
        self._next = 0
        self._depth = 0

    @property
    def at_end(self) -> bool:
        return self._next >= len(self._tokens)

    def sequence(self) -> list[Node]:
        """Conditions that stand side by side, up to a closing bracket."""
        parts: list[Node] = []
        joins = False
        while not self.at_end and not self._is("close"):
            if self._is("word", "OR", "|"):
                self._next += 1
                joins = bool(parts)
            elif self._is("word", "AND"):
                self._next += 1
            elif (near := self._around(parts)) is not None:
                parts[-1] = near
            elif (part := self._one()) is not None:
                parts, joins = (self._joined(parts, part) if joins else [*parts, part]), False
        return parts

    def skip(self, kind: str) -> None:
        if self._is(kind):
            self._next += 1

    @staticmethod
    def _joined(parts: list[Node], part: Node) -> list[Node]:
        """The parts, the last of which is joined with another one by OR."""
        last = parts[-1]
        earlier = last.conditions if isinstance(last, Any) else (last,)
        return [*parts[:-1], Any((*earlier, part))]

    def _around(self, parts: Sequence[Node]) -> Near | None:
        """The last part and the next word, if `AROUND` and a number stand between them."""
        if not self._is("word", "AROUND") or not parts or not isinstance(parts[-1], Text):
            return None
        number, second = (*self._tokens[self._next + 1 : self._next + 3], None, None)[:2]
        if number is None or second is None or not number.text.isdecimal() or not _has_words(second.text):
            return None
        self._next += 3
        return Near(parts[-1].text, second.text, min(int(number.text[:4]), FARTHEST))

    def _one(self) -> Node | None:
        """One condition; None if there is none, such as an empty pair of brackets."""
        token = self._tokens[self._next]
        self._next += 1
        if self._depth >= DEEPEST and token.kind not in {"word", "phrase"}:
            return None
        self._depth += 1
        condition = self._read(token)
        self._depth -= 1
        return condition

    def _read(self, token: _Token) -> Node | None:
        if token.kind == "minus":
            condition = None if self.at_end else self._one()
            return None if condition is None else Not(condition)
        if token.kind == "plus":
            return None if self.at_end else self._one()
        if token.kind == "open":
            return self._group(token.text)
        if token.kind == "name":
            return self._operator(token.text.lower())
        if not _has_words(token.text):
            return None
        if token.kind == "phrase" and (near := _AROUND.fullmatch(token.text)):
            return Near(near[1], near[3], min(int(near[2]), FARTHEST), is_ordered=True)
        return Text(token.text, is_phrase=token.kind == "phrase")

    def _group(self, bracket: str) -> Node | None:
        parts = self.sequence()
        self.skip("close")
        if not parts:
            return None
        return Any(tuple(parts)) if bracket == "{" and len(parts) > 1 else _all(parts)

    def _operator(self, name: str) -> Node | None:
        """An operator with a word, a phrase, or a group of them, of which each part has the operator."""
        value = None if self.at_end or self._is("close") else self._one()
        return None if value is None else _applied(name, value)

    def _is(self, kind: str, *texts: str) -> bool:
        if self.at_end:
            return False
        token = self._tokens[self._next]
        return token.kind == kind and (not texts or token.text in texts)


def _applied(name: str, node: Node) -> Node:
    """A tree in which each word has the operator."""
    if isinstance(node, Text):
        return Operator(name, node.text, node.is_phrase)
    if isinstance(node, Not):
        return Not(_applied(name, node.condition))
    if isinstance(node, Near):
        return All((Operator(name, node.first), Operator(name, node.second)))
    if isinstance(node, Operator):
        return Operator(name, f"{node.name}:{node.value}", node.is_phrase)
    parts = tuple(_applied(name, part) for part in node.conditions)
    return Any(parts) if isinstance(node, Any) else All(parts)


def _all(parts: Sequence[Node]) -> Node:
    return parts[0] if len(parts) == 1 else All(tuple(parts))
