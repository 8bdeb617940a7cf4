"""References of a task file to results of earlier calls.

`$case.opened_for` is a field of the result named `case`; `$tasks(task_type=survey).id` is that of the object in which a
field has a value; `$cases(state=open and lowest opened_at).id` that of the oldest of them; `$cases(all).id` the list of
all; `$rule.users(2)` the second value that a field lists. `${case.number}` stands for a value inside a longer text.

Invariant: a reference means one value. A field is looked up in the objects nearest to the top of a result that have it,
so an envelope around a record need not be named; if several have it, the author has to choose.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_NAME = r"[A-Za-z_]\w*"
_WHOLE = re.compile(rf"\$({_NAME})((?:\.[\w$@-]+|\([^()]*\))*)\.([\w$@-]+)(?:\((\d+)\))?")
_MEMBER = re.compile(r"[^\s,;\[\]\"']+")
_STEP = re.compile(r"\.([\w$@-]+)|\(([^()]*)\)")
_INSIDE = re.compile(r"\$\{([^{}]*)\}")
_CONDITION = re.compile(
    r"\s*(?:(?P<pick>lowest|highest) (?P<of>[\w$@-]+)|(?P<all>all)|(?P<field>[\w$@-]+)=(?P<value>.*?))\s*"
)

FORMS = "write $name.field, $name(field=value).field, $name(lowest field).field, $name(all).field or $name.field(2)"


class ReferenceFaultError(Exception):
    """A reference cannot be read, or finds nothing or several values; the message is one sentence."""


@dataclass(frozen=True)
class Reference:
    """A reference as it is written."""

    text: str
    name: str
    """Name of the call's result."""
    steps: Sequence[str]
    """Fields, and conditions in parentheses, in order."""
    field: str
    """The field that is referred to."""
    member: int | None = None
    """Which member of it, counted from 1, if it is a list or a text that lists values."""


def is_reference(value: object) -> bool:
    """Whether a value is a reference as a whole."""
    return isinstance(value, str) and value.startswith("$") and not value.startswith("${") and value[1:2].isalpha()


def parse(text: str) -> Reference:
    """Reads a reference.

    Raises:
        ReferenceFaultError: It has another form.
    """
    match = _WHOLE.fullmatch(text)
    if match is None:
        raise ReferenceFaultError(f"{text!r} is not a reference; {FORMS}")
    steps = [step[0].removeprefix(".") for step in _STEP.finditer(match[2])]
    for condition in (part for step in steps if step.startswith("(") for part in step[1:-1].split(" and ")):
        if _CONDITION.fullmatch(condition) is None:
            raise ReferenceFaultError(f"{text!r} has the condition {condition!r}; {FORMS}")
    return Reference(text, match[1], steps, match[3], int(match[4]) if match[4] else None)


def references_in(value: Any) -> Iterator[Reference]:
    """The references of an argument, at any depth.

    Raises:
        ReferenceFaultError: One has another form.
    """
    if isinstance(value, Mapping):
        yield from (one for part in value.values() for one in references_in(part))
    elif isinstance(value, list):
        yield from (one for part in value for one in references_in(part))
    elif is_reference(value):
        yield parse(value)
    elif isinstance(value, str):
        yield from (parse(f"${inside}") for inside in _INSIDE.findall(value))


def resolved(value: Any, results: Mapping[str, Any]) -> Any:
    """An argument with the values that its references find.

    Args:
        value: The argument as it is written.
        results: Results of earlier calls, as JSON values, by name.

    Raises:
        ReferenceFaultError: A reference finds nothing or several values.
    """
    return replaced(value, lambda reference: find(reference, results))


def replaced(value: Any, value_of: Callable[[Reference], Any]) -> Any:
    """An argument with values in the places of its references.

    Raises:
        ReferenceFaultError: A reference has another form.
    """
    if isinstance(value, Mapping):
        return {name: replaced(part, value_of) for name, part in value.items()}
    if isinstance(value, list):
        return [replaced(part, value_of) for part in value]
    if is_reference(value):
        return value_of(parse(value))
    if isinstance(value, str):
        return _INSIDE.sub(lambda inside: str(value_of(parse(f"${inside[1]}"))), value)
    return value


def typed(value: Any, described: Mapping[str, Any]) -> Any:
    """A value as a tool's schema types it: ids are numbers in some results and text in some arguments."""
    named = [part.get("type", ()) for part in (described, *described.get("anyOf", []))]
    kinds = {kind for one in named for kind in ([one] if isinstance(one, str) else one)}
    if (
        isinstance(value, int)
        and not isinstance(value, bool)
        and "string" in kinds
        and not kinds & {"integer", "number"}
    ):
        return str(value)
    if isinstance(value, str) and value.isdecimal() and "integer" in kinds and "string" not in kinds:
        return int(value)
    if isinstance(value, list):
        return [typed(part, described.get("items", {})) for part in value]
    return value


def find(reference: Reference, results: Mapping[str, Any]) -> Any:
    """The value that a reference means.

    Raises:
        ReferenceFaultError: It finds nothing or several values.
    """
    if reference.name not in results:
        known = ", ".join(f"${name}" for name in results) or "none"
        raise ReferenceFaultError(f"{reference.text}: no earlier call is named {reference.name}; named are: {known}")
    values_so_far, every = [results[reference.name]], False
    for step in reference.steps:
        if step.startswith("("):
            values_so_far, chooses_all = _chosen(reference, values_so_far, step[1:-1], results)
            every = every or chooses_all
        else:
            values_so_far = [one[step] for one in _having(values_so_far, step)]
    values = [one[reference.field] for one in _having(values_so_far, reference.field)]
    if every:
        return values
    if len(values) != 1:
        many = f"finds {len(values)} values; choose one by a condition" if values else "finds nothing"
        raise ReferenceFaultError(f"{reference.text} {many}")
    return values[0] if reference.member is None else _member(reference, values[0])


def _member(reference: Reference, value: Any) -> Any:
    """A member of a list, or of a text that lists values as `[9, 13]` does."""
    members = value if isinstance(value, list) else _MEMBER.findall(str(value))
    place = int(reference.member or 0)
    if not 0 < place <= len(members):
        raise ReferenceFaultError(f"{reference.text}: {reference.field} lists {len(members)} values")
    return members[place - 1]


def _chosen(
    reference: Reference, values_so_far: Sequence[Any], conditions: str, results: Mapping[str, Any]
) -> tuple[list[Any], bool]:
    """Objects that meet all conditions, and whether every one of them is meant."""
    chosen, every = list(values_so_far), False
    for condition in conditions.split(" and "):
        match = _CONDITION.fullmatch(condition)
        assert match is not None
        if match["all"]:
            every = True
        elif match["pick"]:
            chosen = _extreme(reference, _having(chosen, match["of"]), match["of"], match["pick"])
        else:
            value = resolved(match["value"], results)
            chosen = [one for one in _having(chosen, match["field"]) if _text(one[match["field"]]) == _text(value)]
    return chosen, every


def _extreme(reference: Reference, rows: Sequence[Mapping[str, Any]], field: str, pick: str) -> list[Any]:
    given = [row for row in rows if row[field] is not None]
    if not given:
        return []
    if len({isinstance(row[field], str) for row in given}) > 1:
        raise ReferenceFaultError(f"{reference.text}: {field} is text in some objects and a number in others")
    best = (min if pick == "lowest" else max)(row[field] for row in given)
    return [row for row in given if row[field] == best]


def _having(values_so_far: Sequence[Any], field: str) -> list[Mapping[str, Any]]:
    """The objects nearest to the top that have a field."""
    level = list(values_so_far)
    while level:
        objects = [one for one in level if isinstance(one, Mapping) and field in one]
        if objects:
            return objects
        level = [part for one in level for part in _parts(one)]
    return []


def _parts(value: Any) -> Sequence[Any]:
    if isinstance(value, Mapping):
        return list(value.values())
    return value if isinstance(value, list) else []


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
