"""Comparison of an actual answer with the recorded one.

Invariant: everything in an answer is compared: names, values, their JSON types, the order of lists. Only two things may
differ: a time that the call itself wrote, by the seconds that recorded calls took, and the sentence of a refusal, of
which kind and field count.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from tools.conformance.tables import time_of

TOLERANCE = timedelta(seconds=2)
_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class Difference:
    """Where two answers differ."""

    path: str
    recorded: Any
    actual: Any

    def __str__(self) -> str:
        return f"{self.path or 'answer'}: recorded {_short(self.recorded)}, actual {_short(self.actual)}"


class _Missing:
    def __repr__(self) -> str:
        return "nothing"


MISSING = _Missing()


def differences(recorded: Any, actual: Any, since: datetime | None, path: str = "") -> Iterator[Difference]:
    """Where our answer differs from the recorded one.

    Args:
        recorded: Data.
        actual: Data.
        since: When the run began: times from then on were written by it; None if it is not known.
        path: Where in the answer both are.
    """
    if isinstance(recorded, dict) and isinstance(actual, dict):
        for name in [*recorded, *(name for name in actual if name not in recorded)]:
            inner = f"{path}.{name}" if path else str(name)
            yield from differences(recorded.get(name, MISSING), actual.get(name, MISSING), since, inner)
    elif isinstance(recorded, list) and isinstance(actual, list):
        if len(recorded) != len(actual):
            yield Difference(f"{path}[]", f"{len(recorded)} items", f"{len(actual)} items")
        for index, (left, right) in enumerate(zip(recorded, actual, strict=False)):
            yield from differences(left, right, since, f"{path}[{index}]")
    elif not _same(recorded, actual, since):
        yield Difference(path, recorded, actual)


def _same(recorded: Any, actual: Any, since: datetime | None) -> bool:
    times = time_of(recorded), time_of(actual)
    if times[0] is not None and times[1] is not None and since is not None and _form(recorded) == _form(actual):
        return recorded == actual or (times[0] >= since and abs(times[0] - times[1]) <= TOLERANCE)
    return type(recorded) is type(actual) and bool(recorded == actual)


def _form(time: str) -> str:
    return re.sub(r"\d", "0", time)


@dataclass(frozen=True)
class Refusal:
    """What counts of an error: its code, and which arguments it is about. A mere sentence has no code."""

    kind: str
    fields: tuple[str, ...]


def refusal_of(error: Any, arguments: Sequence[str]) -> Refusal:
    """What an error says, whichever of the known forms it has.

    Args:
        error: Data, or text.
        arguments: Names of the call's arguments; what a sentence is about is one of them.
    """
    if isinstance(error, Mapping):
        details = error.get("detail", error)
        items_of_error = details.get("details", []) if isinstance(details, Mapping) else details
        kinds = [item.get("code") or item.get("type") for item in items_of_error]
        fields = [item.get("field") or (item.get("loc") or [""])[-1] for item in items_of_error]
        return Refusal(",".join(map(str, kinds)), tuple(map(str, fields)))
    text = str(error)
    if listed := _listed(text):
        types = ",".join(str(item["type"]) for item in listed)
        return Refusal(types, tuple(str(item["loc"][-1]) for item in listed))
    named = [word for word in dict.fromkeys(_WORD.findall(text)) if word in arguments]
    return Refusal("rule", tuple(named))


def _listed(text: str) -> list[dict[str, Any]]:
    """The findings in `API Error [tool]: [{'type': …, 'loc': …}]`; none if a sentence stands there."""
    items_of_error = re.search(r": (\[\{.*\}\])\s*$", text, re.DOTALL)
    try:
        items = ast.literal_eval(items_of_error[1]) if items_of_error else []
    except (ValueError, SyntaxError):
        return []
    return [item for item in items if isinstance(item, dict) and item.get("loc") and "type" in item]


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}…"
