"""The query options of Microsoft Graph: `$filter`, `$select`, `$orderby`, `$expand`.

Invariant: an option is parsed as a whole before anything is read, and one that does not fit the grammar or names an
unknown property is refused with what is wrong and where. A filter means the same on rows (`condition`) and on objects
that are kept as JSON (`matches`). Words of the grammar may be in any case, names of properties may not. Texts are
compared without regard to case, as Graph compares properties of the directory; null equals null only.

Grammar: https://docs.oasis-open.org/odata/odata/v4.01/odata-v4.01-part2-url-conventions.html
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NoReturn

from sqlalchemy import (
    Boolean,
    ColumnElement,
    DateTime,
    Integer,
    Text,
    and_,
    cast,
    false,
    func,
    literal,
    not_,
    or_,
    select,
)
from sqlalchemy.dialects.postgresql import JSONB

from opsgym_domains.kit.errors import ToolError, short, unfit_text

Value = str | int | float | bool | datetime | None
COMPARISONS = ("eq", "ne", "gt", "ge", "lt", "le")
_MATCHES: Mapping[str, Callable[[str, str], bool]] = {
    "contains": str.__contains__,
    "startswith": str.startswith,
    "endswith": str.endswith,
}
FUNCTIONS = tuple(_MATCHES)
DEEPEST, MOST = 40, 100
"""Levels of brackets and `not` that a filter may have, and conditions."""
_LONGEST = 10_000

# --- what a filter says ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Comparison:
    """A property compared with a value."""

    path: str
    operator: str
    value: Value


@dataclass(frozen=True)
class Member:
    """A property that has one of several values: `id in ('a', 'b')`."""

    path: str
    values: tuple[Value, ...]


@dataclass(frozen=True)
class Match:
    """A text function of a property: `startswith(displayName, 'A')`."""

    function: str
    path: str
    value: str


@dataclass(frozen=True)
class Some:
    """A list with an item that meets a condition: `groupTypes/any(c:c eq 'Unified')`; `all` is not supported."""

    path: str
    item: Filter


@dataclass(frozen=True)
class Both:
    """Both conditions."""

    left: Filter
    right: Filter


@dataclass(frozen=True)
class Either:
    """One of two conditions."""

    left: Filter
    right: Filter


@dataclass(frozen=True)
class Negation:
    """The opposite of a condition."""

    of: Filter


Filter = Comparison | Member | Match | Some | Both | Either | Negation
ITEM = ""
"""Path of the item itself within `Some`."""

# --- parser ----------------------------------------------------------------------------------------------------------

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<text>'(?:[^']|'')*')
      | (?P<time>\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?(?![\w-]))
      | (?P<guid>[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})
      | (?P<number>-?\d+(?:\.\d+)?(?![\w.]))
      | (?P<name>[A-Za-z_@][\w.@]*(?:/[A-Za-z_@$][\w.@]*)*)
      | (?P<sign>[(),:])
    )""",
    re.VERBOSE,
)


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    position: int


def parse_filter(text: str) -> Filter:
    """The condition that a `$filter` states.

    Raises:
        ToolError: `INVALID_FILTER`; the message says what is wrong and at which character.
    """
    if len(text) > _LONGEST:
        raise ToolError("INVALID_FILTER", f"Invalid filter clause: longer than {_LONGEST} characters", "_filter")
    if reason := unfit_text(text):
        raise ToolError("INVALID_FILTER", f"Invalid filter clause: the text {reason}", "_filter")
    parser = _Parser(list(_tokens(text)))
    parsed = parser.either(0)
    parser.end()
    return parsed


def _tokens(text: str) -> Iterator[_Token]:
    position, end = 0, len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:
            start = position + len(text[position:]) - len(text[position:].lstrip())
            _refuse(f"Syntax error: {short(text[start : start + 20])} is not understood", start)
        kind = str(match.lastgroup)
        yield _Token(kind, match[kind], match.start(kind))
        position = match.end()
    yield _Token("end", "", end)


def _refuse(problem: str, position: int) -> NoReturn:
    raise ToolError("INVALID_FILTER", f"Invalid filter clause: {problem} at position {position}.", "_filter")


class _Parser:
    """Recursive descent: `or` binds weakest, then `and`, then `not`."""

    def __init__(self, tokens: Sequence[_Token]) -> None:
        self._tokens = tokens
        self._next = 0
        self._variables: list[str] = []
        self._conditions = 0

    def either(self, depth: int) -> Filter:
        parsed = self._both(depth)
        while self._takes("or"):
            parsed = Either(parsed, self._both(depth))
        return parsed

    def end(self) -> None:
        token = self._peek()
        if token.kind != "end":
            _refuse(f"Syntax error: {short(token.text)} is not expected", token.position)

    def _both(self, depth: int) -> Filter:
        parsed = self._one(depth)
        while self._takes("and"):
            parsed = Both(parsed, self._one(depth))
        return parsed

    def _one(self, depth: int) -> Filter:
        if depth > DEEPEST:
            _refuse(f"more than {DEEPEST} levels", self._peek().position)
        if self._takes("not"):
            return Negation(self._one(depth + 1))
        if self._sign("("):
            parsed = self.either(depth + 1)
            self._expect(")")
            return parsed
        token = self._take("name", "a property name")
        self._conditions += 1
        if self._conditions > MOST:
            _refuse(f"more than {MOST} conditions", token.position)
        if self._sign("("):
            return self._truth(self._call(token, depth))
        return self._comparison(token)

    def _call(self, token: _Token, depth: int) -> Filter:
        path, _, name = token.text.rpartition("/")
        if path and name.lower() in ("any", "all"):
            return self._any(path, name.lower(), token, depth)
        function = token.text.lower()
        if function not in FUNCTIONS:
            known = ", ".join(FUNCTIONS)
            _refuse(f"An unknown function with name {short(token.text)} was found; known: {known}", token.position)
        named = self._take("name", "a property name")
        subject = self._path(named.text, named)
        self._expect(",")
        value = self._take("text", "a text in single quotes")
        self._expect(")")
        return Match(function, subject, _unquoted(value.text))

    def _truth(self, parsed: Filter) -> Filter:
        """A condition, or its opposite, where it is compared with true or false as in `contains(a, 'b') eq true`."""
        is_equal = self._takes("eq")
        if not is_equal and not self._takes("ne"):
            return parsed
        token = self._peek()
        value = self._value()
        if not isinstance(value, bool):
            _refuse(f"true or false is expected, not {short(token.text)}", token.position)
        return parsed if value == is_equal else Negation(parsed)

    def _any(self, path: str, name: str, token: _Token, depth: int) -> Filter:
        if name == "all":
            _refuse("the operator all is not supported; use any", token.position)
        listed = self._path(path, token)
        variable = self._take("name", "a variable")
        self._expect(":")
        self._variables.append(variable.text)
        item = self.either(depth + 1)
        self._variables.pop()
        self._expect(")")
        return Some(listed, item)

    def _comparison(self, token: _Token) -> Filter:
        path, operator = self._path(token.text, token), self._take("name", "an operator")
        word = operator.text.lower()
        if word == "in":
            self._expect("(")
            values = [self._value()]
            while self._sign(","):
                values.append(self._value())
            self._expect(")")
            return Member(path, tuple(values))
        if word not in COMPARISONS:
            known = ", ".join((*COMPARISONS, "in"))
            _refuse(f"{short(operator.text)} is not an operator; known: {known}", operator.position)
        return Comparison(path, word, self._value())

    def _path(self, text: str, token: _Token) -> str:
        """A property's path; without types that it is cast to, and within `any` without the variable."""
        *before, last = text.split("/")
        names = [*(name for name in before if "." not in name), last]
        if not self._variables:
            return "/".join(names)
        variable = self._variables[-1]
        if names[0] != variable:
            _refuse(f"within any a property is named by {variable}/, not {short(text)}", token.position)
        return "/".join(names[1:])

    def _value(self) -> Value:
        token = self._peek()
        self._next += 1
        if token.kind == "text":
            return _unquoted(token.text)
        if token.kind == "guid":
            return token.text
        if token.kind == "number":
            return float(token.text) if "." in token.text else int(token.text)
        if token.kind == "time":
            return _time(token)
        literals: Mapping[str, Value] = {"true": True, "false": False, "null": None}
        if token.kind == "name" and token.text.lower() in literals:
            return literals[token.text.lower()]
        _refuse(f"{short(token.text)} is not a value; texts are written in single quotes", token.position)

    # --- tokens ----------------------------------------------------------------------------------------------------

    def _peek(self) -> _Token:
        return self._tokens[min(self._next, len(self._tokens) - 1)]

    def _takes(self, word: str) -> bool:
        return self._skip(self._peek().kind == "name" and self._peek().text.lower() == word)

    def _sign(self, sign: str) -> bool:
        return self._skip(self._peek().kind == "sign" and self._peek().text == sign)

    def _skip(self, is_met: bool) -> bool:
        self._next += is_met
        return is_met

    def _expect(self, sign: str) -> None:
        token = self._peek()
        if not self._sign(sign):
            _refuse(f"{sign!r} is expected, not {short(token.text)}", token.position)

    def _take(self, kind: str, described: str) -> _Token:
        token = self._peek()
        if token.kind != kind:
            _refuse(f"{described} is expected, not {short(token.text)}", token.position)
        self._next += 1
        return token


def _unquoted(text: str) -> str:
    return text[1:-1].replace("''", "'")


def _time(token: _Token) -> datetime:
    try:
        return as_time(token.text)
    except ValueError:
        _refuse(f"{short(token.text)} is not a time", token.position)


def as_time(text: str) -> datetime:
    """A time in ISO 8601 as UTC without zone.

    Raises:
        ValueError: The text is not a time.
    """
    time = datetime.fromisoformat(text)
    try:
        return time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo else time
    except OverflowError:
        raise ValueError(text) from None


# --- on rows ---------------------------------------------------------------------------------------------------------

Columns = Mapping[str, Any]
"""Column or list by property, for instance `displayName`; a property of an object by its path."""


@dataclass(frozen=True)
class JsonList:
    """A column that holds a list as JSON; a filter asks for its items by `any`."""

    column: Any
    properties: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Where an item has the text of a property: paths, of which the first that is there counts; empty if items are
    texts."""


@dataclass(frozen=True)
class RowList:
    """Rows of another table that belong to a row; a filter asks for them by `any`."""

    belongs: ColumnElement[bool]
    """Whether a row of the other table belongs to the row."""
    columns: Columns
    """Column of the other table, or list, by property."""


LISTS = (JsonList, RowList)


def condition(parsed: Filter, columns: Columns) -> ColumnElement[bool]:
    """A filter as a condition of rows.

    Raises:
        ToolError: `INVALID_FILTER`: a property is unknown, or a value does not fit it.
    """
    match parsed:
        case Both(left, right):
            return and_(condition(left, columns), condition(right, columns))
        case Either(left, right):
            return or_(condition(left, columns), condition(right, columns))
        case Negation(inner):
            return not_(func.coalesce(condition(inner, columns), false()))
        case Comparison(path, operator, value):
            return _compared(_column(path, columns), path, operator, value)
        case Member(path, values):
            return or_(*(_compared(_column(path, columns), path, "eq", value) for value in values))
        case Match(function, path, value):
            return _matched(_column(path, columns), path, function, value)
        case Some(path, item):
            return _some(_column(path, columns), path, item)


def _column(path: str, columns: Columns) -> Any:
    if path not in columns:
        raise unknown_property(path, columns, "_filter")
    return columns[path]


def _some(listed: Any, path: str, item: Filter) -> ColumnElement[bool]:
    """Whether a list has an item that meets a condition."""
    if isinstance(listed, RowList):
        return select(literal(1)).where(listed.belongs, condition(item, listed.columns)).exists()
    if not isinstance(listed, JsonList):
        raise ToolError("INVALID_FILTER", f"Invalid filter clause: {path} is not a list.", "_filter")
    whole = cast(func.coalesce(listed.column, "[]"), JSONB)
    if not listed.properties:
        texts = func.jsonb_array_elements_text(whole).table_valued("value")
        return select(texts.c.value).where(condition(item, {ITEM: texts.c.value})).exists()
    objects = func.jsonb_array_elements(whole).table_valued("value")
    columns = {name: _text_at(objects.c.value, paths) for name, paths in listed.properties.items()}
    return select(objects.c.value).where(condition(item, columns)).exists()


def _text_at(item: Any, paths: Sequence[str]) -> ColumnElement[str]:
    """The text at the first path of a JSON object that leads to one; NULL if none does."""
    texts = [func.jsonb_extract_path_text(cast(item, JSONB), *path.split("/"), type_=Text) for path in paths]
    return func.coalesce(*texts)


def unknown_property(path: str, known: Mapping[str, Any] | Sequence[str], option: str) -> ToolError:
    """The refusal of a property that a resource does not have."""
    message = f"Could not find a property named {short(path)}; properties: {', '.join(known)}."
    return ToolError("UNKNOWN_PROPERTY", message, option)


def _compared(column: ColumnElement[Any], path: str, operator: str, value: Value) -> ColumnElement[bool]:
    if isinstance(column, LISTS):
        _unfit(path, value)
    if value is None:
        if operator not in ("eq", "ne"):
            _unfit(path, value)
        return column.is_(None) if operator == "eq" else column.is_not(None)
    left, right = _operands(column, path, value)
    comparisons: Mapping[str, Callable[[Any, Any], Any]] = {
        "eq": lambda a, b: a == b,
        "ne": lambda a, b: or_(a != b, column.is_(None)),
        "gt": lambda a, b: a > b,
        "ge": lambda a, b: a >= b,
        "lt": lambda a, b: a < b,
        "le": lambda a, b: a <= b,
    }
    compared: ColumnElement[bool] = comparisons[operator](left, right)
    return compared


def _operands(column: ColumnElement[Any], path: str, value: Value) -> tuple[ColumnElement[Any], Any]:
    """A column and a value that it is compared with; texts in lower case."""
    if isinstance(column.type, DateTime):
        return column, _instant(path, value)
    if isinstance(column.type, Boolean):
        return (column, value) if isinstance(value, bool) else _unfit(path, value)
    if isinstance(column.type, Integer):
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return (column, value) if is_number else _unfit(path, value)
    if not isinstance(value, str):
        _unfit(path, value)
    return func.lower(column), value.lower()


def _instant(path: str, value: Value) -> datetime:
    if isinstance(value, datetime):
        return value
    try:
        return as_time(value) if isinstance(value, str) else _unfit(path, value)
    except ValueError:
        _unfit(path, value)


def _unfit(path: str, value: Value) -> NoReturn:
    message = f"Invalid filter clause: {path} cannot be compared with {short(value)}."
    raise ToolError("INVALID_FILTER", message, "_filter")


def _matched(column: ColumnElement[Any], path: str, function: str, value: str) -> ColumnElement[bool]:
    if isinstance(column, LISTS) or isinstance(column.type, DateTime | Boolean | Integer):
        _unfit(path, value)
    lower, text = func.lower(column), value.lower()
    if function == "contains":
        return lower.contains(text, autoescape=True)
    return (lower.startswith if function == "startswith" else lower.endswith)(text, autoescape=True)


def properties_of(parsed: Filter) -> set[str]:
    """Properties that a filter names; of a list only the list itself."""
    match parsed:
        case Both(left, right) | Either(left, right):
            return properties_of(left) | properties_of(right)
        case Negation(inner):
            return properties_of(inner)
        case _:
            return {parsed.path}


# --- on objects ------------------------------------------------------------------------------------------------------


def matches(parsed: Filter, item: Any, known: Sequence[str]) -> bool:
    """Whether an object meets a filter.

    Args:
        parsed: The filter.
        item: The object, or a value within `Some`.
        known: Properties that a filter may name; only the first name of a path counts.

    Raises:
        ToolError: `UNKNOWN_PROPERTY`.
    """
    match parsed:
        case Both(left, right):
            # Both are read, so that a wrong filter is refused whatever the objects hold.
            return all([matches(left, item, known), matches(right, item, known)])
        case Either(left, right):
            return any([matches(left, item, known), matches(right, item, known)])
        case Negation(inner):
            return not matches(inner, item, known)
        case Comparison(path, operator, value):
            return _object_compared(_property(item, path, known), operator, value)
        case Member(path, values):
            actual = _property(item, path, known)
            return any(_object_compared(actual, "eq", value) for value in values)
        case Match(function, path, value):
            text = str(_property(item, path, known) or "").lower()
            return _MATCHES[function](text, value.lower())
        case Some(path, inner):
            items = _property(item, path, known)
            return isinstance(items, list) and any(matches(inner, one, ()) for one in items)


def _property(item: Any, path: str, known: Sequence[str]) -> Any:
    if path == ITEM:
        return item
    if known and path.partition("/")[0] not in known:
        raise unknown_property(path, known, "_filter")
    for name in path.split("/"):
        item = item.get(name) if isinstance(item, Mapping) else None
    return item


def _object_compared(actual: Any, operator: str, value: Value) -> bool:
    left, right = _lowered(actual, value), value.lower() if isinstance(value, str) else value
    if operator == "eq":
        return bool(left == right)
    if operator == "ne":
        return bool(left != right)
    if left is None or right is None or type(left) is not type(right):
        return False
    comparisons: Mapping[str, Callable[[Any, Any], bool]] = {
        "gt": lambda a, b: a > b,
        "ge": lambda a, b: a >= b,
        "lt": lambda a, b: a < b,
        "le": lambda a, b: a <= b,
    }
    return comparisons[operator](left, right)


def _lowered(actual: Any, value: Value) -> Any:
    if isinstance(value, datetime) and isinstance(actual, str):
        try:
            return as_time(actual)
        except ValueError:
            return None
    return actual.lower() if isinstance(actual, str) else actual


# --- the other options -----------------------------------------------------------------------------------------------


def parse_select(text: str | None, known: Sequence[str]) -> tuple[str, ...] | None:
    """Properties that a `$select` names, in its order; None if all are shown.

    Raises:
        ToolError: `UNKNOWN_PROPERTY`.
    """
    names = tuple(name.strip() for name in (text or "").split(",") if name.strip())
    for name in names:
        if name not in known and name != "*":
            raise unknown_property(name, known, "_select")
    return names if names and "*" not in names else None


def parse_order(text: str | None, columns: Columns) -> list[ColumnElement[Any]]:
    """The order that an `$orderby` states; empty if none is given.

    Raises:
        ToolError: `UNKNOWN_PROPERTY`, `INVALID_ORDER`.
    """
    order: list[ColumnElement[Any]] = []
    for part in filter(None, map(str.strip, (text or "").split(","))):
        name, *direction = part.split()
        direction = [word.lower() for word in direction]
        if direction not in ([], ["asc"], ["desc"]):
            message = f"Invalid orderby clause: {short(part)}; write a property and asc or desc."
            raise ToolError("INVALID_ORDER", message, "_orderby")
        if name not in columns or isinstance(columns[name], LISTS):
            raise unknown_property(name, columns, "_orderby")
        column = columns[name]
        order.append(column.desc().nulls_last() if direction == ["desc"] else column.asc().nulls_first())
    return order


@dataclass(frozen=True)
class Related:
    """A resource that an `$expand` may add to another one."""

    properties: Sequence[str]
    is_list: bool = True
    related: Mapping[str, Related] = field(default_factory=dict)
    """What may be expanded in it in turn."""


@dataclass(frozen=True)
class Expansion:
    """What an `$expand` says of one related resource."""

    select: tuple[str, ...] | None = None
    """Properties to show; None for all."""
    top: int | None = None
    """Most items of a list; None for all."""


_EXPANDED = re.compile(r"\s*([A-Za-z_][\w.]*)\s*(?:\((.*)\))?\s*", re.DOTALL)
_OPTION = re.compile(r"\s*[$_]?(\w+)\s*=(.*)", re.DOTALL)


def parse_expand(text: str | None, known: Mapping[str, Related]) -> dict[str, Expansion]:
    """What to add, by name: `members($select=id;$top=5)` is `{"members": Expansion(("id",), 5)}`.

    Raises:
        ToolError: `INVALID_EXPAND`, `UNKNOWN_PROPERTY`.
    """
    expanded: dict[str, Expansion] = {}
    for part in _outside_brackets(text or "", ","):
        parsed = _EXPANDED.fullmatch(part)
        if parsed is None:
            raise _invalid_expand(f"{short(part)} is not a name with options in brackets")
        if parsed[1] not in known:
            raise unknown_property(parsed[1], known, "_expand")
        expanded[parsed[1]] = _expansion(parsed[1], parsed[2] or "", known[parsed[1]])
    return expanded


def _expansion(name: str, options: str, related: Related) -> Expansion:
    select: tuple[str, ...] | None = None
    top: int | None = None
    for option in _outside_brackets(options, ";"):
        parsed = _OPTION.fullmatch(option)
        word, value = (parsed[1].lower(), parsed[2].strip()) if parsed else (option.strip(), "")
        if word == "select" and value:
            select = parse_select(value, related.properties)
        elif word == "top" and related.is_list and re.fullmatch(r"[0-9]{1,9}", value):
            top = int(value)
        elif word == "expand" and related.related:
            parse_expand(value, related.related)  # no tool shows a resource that has related ones
        else:
            options_of_it = ("$select", *["$top"] * related.is_list, *["$expand"] * bool(related.related))
            known = ", ".join(options_of_it)
            raise _invalid_expand(f"{name} does not take {short(option.strip())}; it takes {known}, each with = behind")
    return Expansion(select, top)


def _invalid_expand(problem: str) -> ToolError:
    return ToolError("INVALID_EXPAND", f"Invalid expand clause: {problem}.", "_expand")


def _outside_brackets(text: str, separator: str) -> Iterator[str]:
    """Parts between separators that are not in brackets, blank ones left out."""
    depth, start = 0, 0
    for index, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if sign == separator and depth == 0:
            yield from filter(str.strip, [text[start:index]])
            start = index + 1
    yield from filter(str.strip, [text[start:]])
