"""Drive's search language: from the text of `q` to a tree of conditions.

Invariant: a text is either a whole tree, whose terms have operators and values of their kind, or refused with the
place of the first fault. `and` and `or` bind alike, from left to right, `not` binds tighter; parsing reads no row.

Sources: "Search query terms and operators", developers.google.com/drive/api/guides/ref-search-terms; "Search for files
with a specific label or field value", developers.google.com/drive/api/guides/search-labels.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Literal

from opsgym_domains.kit.errors import ToolError, short

Kind = Literal[
    "text", "words", "choice", "time", "flag", "number", "members", "pairs",
    "text field", "choice field", "flag field", "number field", "date field",
]  # fmt: skip
"""Kinds of terms; those of fields are values of labels, which a file may have or not."""
COMPARISONS = ("<=", "<", "=", "!=", ">", ">=")
PRESENCE = ("is null", "is not null")
OPERATORS: Mapping[Kind, Sequence[str]] = {
    "text": ("contains", "=", "!="),
    "words": ("contains",),
    "choice": ("=", "!="),
    "time": COMPARISONS,
    "number": COMPARISONS,
    "flag": ("=", "!="),
    "members": ("in",),
    "pairs": ("has",),
    "text field": ("contains", "starts with", "=", *PRESENCE),
    "choice field": ("=", "!=", *PRESENCE),
    "flag field": ("=", "!=", *PRESENCE),
    "number field": (*COMPARISONS, *PRESENCE),
    "date field": (*COMPARISONS, *PRESENCE),
}
"""Operators that a term of each kind has."""
MOST_CONDITIONS, DEEPEST = 100, 30
"""Limits of one search: conditions, and brackets within brackets."""


@dataclass(frozen=True)
class Term:
    """What a search may ask about.

    Attributes:
        kind: Decides operators and values.
        values: Allowed values of a choice; empty for any text.
    """

    kind: Kind
    values: tuple[str, ...] = field(default=())


Value = str | bool | float | date | tuple[str, str]


@dataclass(frozen=True)
class Condition:
    """A term that has a value in the way that an operator says; `has` has a key and a value, `is null` has True."""

    term: str
    operator: str
    value: Value


@dataclass(frozen=True)
class Not:
    """What is found if the part is not."""

    part: Node


@dataclass(frozen=True)
class Joined:
    """Two parts: both must be met for `and`, one for `or`."""

    operator: Literal["and", "or"]
    left: Node
    right: Node


Node = Condition | Not | Joined

_TOKEN = re.compile(
    r"""\s*(?:
        '(?P<text>(?:[^'\\]|\\.)*)'
      | (?P<operator><=|>=|!=|<|>|=)
      | (?P<bracket>[(){}])
      | (?P<word>labels/[A-Za-z0-9_.-]+|[A-Za-z_][A-Za-z0-9_.]*)
      | (?P<number>-?\d+(?:\.\d+)?)
    )""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    position: int


def parse(text: str, terms: Mapping[str, Term]) -> Node:
    """The tree of a search.

    Args:
        text: The search.
        terms: What it may ask about.

    Raises:
        ToolError: `INVALID_QUERY`, with the place and what is expected there.
    """
    reader = _Reader([*_tokens(text), _Token("end", "the end", len(text))], terms)
    tree = reader.sequence()
    reader.expect("end", "and, or, or the end")
    return tree


def _invalid(position: int, message: str) -> ToolError:
    return ToolError("INVALID_QUERY", f"q is not a valid search: at character {position + 1}: {message}", "q")


def _tokens(text: str) -> Iterator[_Token]:
    position, end = 0, len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:
            raise _invalid(
                position, f"{short(text[position:].lstrip()[:40])} is not a term, an operator or a quoted text"
            )
        kind = str(match.lastgroup)
        token = match[kind]
        if kind == "text":
            token = re.sub(r"\\(.)", r"\1", token, flags=re.DOTALL)
        yield _Token(kind, token, match.start() + len(match.group()) - len(match.group().lstrip()))
        position = match.end()


class _Reader:
    """Reads tokens from left to right.

    Args:
        tokens: Tokens, the last of which has the kind `end`.
        terms: What the search may ask about.
    """

    def __init__(self, tokens: Sequence[_Token], terms: Mapping[str, Term]) -> None:
        self._tokens, self._terms = tokens, terms
        self._next = self._conditions = self._depth = 0

    def sequence(self) -> Node:
        """Parts joined by `and` and `or`."""
        tree = self._part()
        while self._is_word("and", "or"):
            operator: Literal["and", "or"] = "and" if self._take().text.lower() == "and" else "or"
            tree = Joined(operator, tree, self._part())
        return tree

    def expect(self, kind: str, expected: str, *texts: str) -> _Token:
        """The next token, which must be of a kind and have one of the texts, if there are any."""
        token = self._take()
        if token.kind != kind or (texts and token.text not in texts):
            raise _invalid(token.position, f"expected {expected}, not {short(token.text[:40])}")
        return token

    def _part(self) -> Node:
        self._depth += 1
        if self._depth > DEEPEST:
            raise _invalid(self._peek().position, f"more than {DEEPEST} brackets or negations within each other")
        part = self._one()
        self._depth -= 1
        return part

    def _one(self) -> Node:
        if self._is_word("not"):
            self._take()
            return Not(self._part())
        if self._peek().kind == "bracket" and self._peek().text == "(":
            self._take()
            tree = self.sequence()
            self.expect("bracket", "a closing bracket", ")")
            return tree
        self._conditions += 1
        if self._conditions > MOST_CONDITIONS:
            raise _invalid(self._peek().position, f"more than {MOST_CONDITIONS} conditions; split the search")
        return self._membership() if self._peek().kind == "text" else self._comparison()

    def _membership(self) -> Condition:
        """`'value' in collection`."""
        value = self._take().text
        if not self._is_word("in"):
            raise _invalid(self._peek().position, "a quoted text at the start of a condition needs in after it")
        self._take()
        name, term = self._term()
        self._check(name, term, "in")
        return Condition(name, "in", value)

    def _comparison(self) -> Condition:
        """`term operator value`, or a flag alone."""
        name, term = self._term()
        if term.kind == "flag" and (self._peek().kind in ("end", "bracket") or self._is_word("and", "or")):
            return Condition(name, "=", value=True)
        token = self._take()
        operator = self._operator(token)
        if token.kind not in ("operator", "word") or operator not in OPERATORS[term.kind]:
            self._refuse_operator(name, term, token)
        if operator == "has":
            return Condition(name, operator, self._pair())
        if operator == "in":
            self._refuse_operator(name, term, token)
        if operator in PRESENCE:
            return Condition(name, operator, value=True)
        return Condition(name, operator, self._value(name, term))

    def _operator(self, first: _Token) -> str:
        """The operator that begins with a token: `starts with` and `is not null` have several words."""
        operator = first.text.lower() if first.kind == "word" else first.text
        while operator in ("starts", "is", "is not") and self._is_word("with", "not", "null"):
            operator += f" {self._take().text.lower()}"
        return operator

    def _term(self) -> tuple[str, Term]:
        token = self._take()
        if token.kind != "word" or token.text not in self._terms:
            raise _invalid(token.position, f"{short(token.text[:40])} is not a term; terms: {', '.join(self._terms)}")
        return token.text, self._terms[token.text]

    def _check(self, name: str, term: Term, operator: str) -> None:
        if operator not in OPERATORS[term.kind]:
            self._refuse_operator(name, term, self._tokens[self._next - 2])

    def _refuse_operator(self, name: str, term: Term, token: _Token) -> None:
        if term.kind == "members":
            raise _invalid(token.position, f"{name} is a collection: write 'value' in {name}")
        allowed = ", ".join(OPERATORS[term.kind])
        raise _invalid(token.position, f"{name} has no operator {short(token.text[:40])}; operators: {allowed}")

    def _value(self, name: str, term: Term) -> Value:
        token = self._take()
        if term.kind in ("flag", "flag field"):
            if token.text not in ("true", "false") or token.kind not in ("word", "text"):
                raise _invalid(token.position, f"{name} is true or false, not {short(token.text[:40])}")
            return token.text == "true"
        if term.kind in ("number", "number field"):
            return _number(name, term, token)
        if token.kind != "text":
            raise _invalid(token.position, f"the value of {name} needs single quotes, not {short(token.text[:40])}")
        if term.kind == "time":
            return _time(token)
        if term.kind == "date field":
            return _date(token)
        if term.values and token.text not in term.values:
            raise _invalid(token.position, f"{name} is one of {', '.join(term.values)}")
        return token.text

    def _pair(self) -> tuple[str, str]:
        """`{ key='…' and value='…' }`."""
        self.expect("bracket", "{", "{")
        parts = []
        for name in ("key", "value"):
            self.expect("word", name, name)
            self.expect("operator", "=", "=")
            parts.append(self.expect("text", "a text in single quotes").text)
            self.expect(*(("word", "and", "and") if name == "key" else ("bracket", "}", "}")))
        return parts[0], parts[1]

    def _is_word(self, *words: str) -> bool:
        token = self._peek()
        return token.kind == "word" and token.text.lower() in words

    def _peek(self) -> _Token:
        return self._tokens[self._next]

    def _take(self) -> _Token:
        token = self._tokens[self._next]
        self._next = min(self._next + 1, len(self._tokens) - 1)
        return token


def _number(name: str, term: Term, token: _Token) -> float:
    """A count, or the value of a label, which may be negative or have decimals."""
    if not re.fullmatch(r"[0-9]{1,9}" if term.kind == "number" else r"-?[0-9]{1,15}(\.[0-9]{1,9})?", token.text):
        raise _invalid(token.position, f"{name} is a number, not {short(token.text[:40])}")
    return int(token.text) if term.kind == "number" else float(token.text)


def _date(token: _Token) -> date:
    try:
        return date.fromisoformat(token.text)
    except ValueError:
        message = f"{short(token.text[:40])} is not a date; write it like 2026-11-16"
        raise _invalid(token.position, message) from None


def _time(token: _Token) -> datetime:
    """A time in RFC 3339, whose letters may be lower-case, in UTC where it names no zone, or a date."""
    try:
        time = datetime.fromisoformat(token.text.upper())
        return (time if time.tzinfo is None else time.astimezone(UTC)).replace(tzinfo=None)
    except (ValueError, OverflowError):
        message = f"{short(token.text[:40])} is not a time; write it like 2026-11-16T10:00:00Z"
        raise _invalid(token.position, message) from None
