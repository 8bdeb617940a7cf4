"""References of a task file to results of earlier calls.

`$case.opened_for` is a field of the result named `case`; `$tasks(task_type=survey).id` is that of the object in which a
field has a value; `$cases(state=open and lowest opened_at).id` that of the oldest of them; `$cases(all).id` the list of
all. `${case.number}` stands for a value inside a longer text.

Invariant: a reference means one value. A field is looked up in the objects nearest to the top of a result that have it,
so an envelope around a record need not be named; if several have it, the author has to choose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_NAME = r"[A-Za-z_]\w*"
_WHOLE = re.compile(rf"\$({_NAME})((?:\.[\w$@-]+|\([^()]*\))*)\.([\w$@-]+)")
_STEP = re.compile(r"\.([\w$@-]+)|\(([^()]*)\)")
_INSIDE = re.compile(r"\$\{([^{}]*)\}")
_CONDITION = re.compile(
    r"\s*(?:(?P<pick>lowest|highest) (?P<of>[\w$@-]+)|(?P<all>all)|(?P<field>[\w$@-]+)=(?P<value>.*?))\s*"
)

FORMS = "write $name.field, $name(field=value).field, $name(lowest field).field or $name(all).field"


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
    return Reference(text, match[1], steps, match[3])


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
    if isinstance(value, Mapping):
        return {name: resolved(part, results) for name, part in value.items()}
    if isinstance(value, list):
        return [resolved(part, results) for part in value]
    if is_reference(value):
        return find(parse(value), results)
    if isinstance(value, str):
        return _INSIDE.sub(lambda inside: str(find(parse(f"${inside[1]}"), results)), value)
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
    return values[0]


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
