"""Values in arguments, results and queries: equality, and references to records.

Invariant: notations of published servers are equal: 1 is true, `displayName` is `display_name`, "7" is 7.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

_REFERENCE = re.compile(r"(^|_)ids?$|_(to|by|user|group|owner)$")
_IDENTIFIER = re.compile(r"[A-Z]{2,}[-_]\d{2,}|[0-9a-f]{8}-[0-9a-f-]{27}|(?=\w*\d)[a-z]+_\w{6,}")


def snake(name: str) -> str:
    """A field's name in the spelling of columns: `teamId` is `team_id`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def canonical(value: Any) -> Any:
    """A value in the form in which it is compared."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if not isinstance(value, str):
        return value
    text = value.strip().casefold()
    if text in ("true", "false"):
        return int(text == "true")
    if re.fullmatch(r"-?\d{1,15}", text):
        return int(text)
    return re.sub(r"^(\d{4}-\d\d-\d\d)[t ](\d\d:\d\d:\d\d).*$", r"\1 \2", text)


def same(left: Any, right: Any) -> bool:
    """Whether two values are equal in canonical form."""
    return bool(canonical(left) == canonical(right))


def is_prose(value: Any) -> bool:
    """Whether a value is running text, whose wording may differ between correct solutions."""
    return isinstance(value, str) and len(value.split()) >= 3


def is_reference(name: str, value: Any) -> bool:
    """Whether an argument or column refers to a record, by its name or the form of its value."""
    if isinstance(value, bool) or value is None or not isinstance(value, str | int):
        return False
    if isinstance(value, str) and (not value or is_prose(value)):
        return False
    if isinstance(value, int):
        return value > 0 and bool(_REFERENCE.search(snake(name)))
    named = bool(_REFERENCE.search(snake(name))) and bool(re.search(r"[\d.@]", value))
    return named or bool(_IDENTIFIER.fullmatch(value))


def leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every single value inside a JSON value, with the name of the field that holds it."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from leaves(inner, str(key))
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner, name)
    else:
        yield name, value


def records(value: Any) -> Iterator[Mapping[str, Any]]:
    """Every JSON object inside a value, outer ones first."""
    if isinstance(value, Mapping):
        yield value
        for inner in value.values():
            yield from records(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from records(inner)


def shown(value: Any) -> str:
    """A value as evidence repeats it: on one line, and mismatch."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:80]}…"
