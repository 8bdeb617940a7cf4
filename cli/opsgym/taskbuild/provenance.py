"""Where the value of an argument comes from: the request, the policy, the tool's schema, or a result that was read.

Invariant: a literal that an agent could not know is refused. Of prose only the parts that must be exact are traced:
words with digits or an address.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from opsgym_api.tasks.references import is_reference

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ][\d:.]+(?:Z|[+-]\d{2}:?\d{2})?)?")
_TIME = re.compile(r"T?(\d{2}:\d{2})")
_EXACT = re.compile(r"\S*(?:\d|@)\S*")
_IDENTIFIER = re.compile(r"\S*@\S*|\S*_\S*|[A-Za-z]{2,}-?\d{3,}|\d+")
_NAMED = ("default", "minimum", "maximum")
"""Fields of a schema with a value that a call may have."""
_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


@dataclass(frozen=True)
class Sources:
    """What an agent has read before a call."""

    instructions: str
    """Request and policy."""
    results: str
    """Results of earlier calls."""

    def has(self, text: str) -> bool:
        """Whether a text stands in the request, the policy or an earlier result."""
        return self.states(text) or (not text.isdecimal() and _stands_in(text, self.results))

    def states(self, text: str) -> bool:
        """Whether a text stands in the request or the policy."""
        return _stands_in(text, self.instructions)


def unsourced(
    arguments: Mapping[str, Any],
    why: Mapping[str, str],
    schema: Mapping[str, Any],
    read: Sources,
    *,
    reads: bool = False,
) -> list[str]:
    """What is wrong with the literals of a call, a sentence for each.

    Args:
        arguments: Arguments as they are written, with references.
        why: How values follow that stand nowhere, by argument.
        schema: The tool's schema.
        read: What was read before the call.
        reads: Whether the call only reads: its times are bounds of a search, which an agent chooses.
    """
    problems = []
    for name, value in arguments.items():
        described = schema.get("properties", {}).get(name, {})
        for text in _literals(value):
            if _is_known(text, described, read) or (reads and _MOMENT.fullmatch(text)):
                continue
            if name not in why:
                advice = "refer to the result that has it ($name.field), or say under why how it follows"
                problems.append(
                    f"{name}: {text!r} stands in no request, policy, tool schema or earlier result; {advice}"
                )
            elif _IDENTIFIER.fullmatch(text) and not _DATE.fullmatch(text) and name.lower().endswith(("id", "ids")):
                problems.append(
                    f"{name}: {text!r} is an identifier, which no rule gives; refer to the result that has it"
                )
    return problems


def _literals(value: Any) -> Iterator[str]:
    """The texts and numbers of an argument other than references."""
    if isinstance(value, Mapping):
        for part in value.values():
            yield from _literals(part)
    elif isinstance(value, list):
        for part in value:
            yield from _literals(part)
    elif isinstance(value, str) and not is_reference(value):
        yield re.sub(r"\$\{[^{}]*\}", " ", value).strip()
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)


def _is_known(text: str, described: Mapping[str, Any], read: Sources) -> bool:
    if not text or text in _of_schema(described) or read.has(text) or _is_stated(text, read):
        return True
    if " " not in text and "\n" not in text:
        return False
    form = described.get("description", "")
    return all(read.has(word) or _is_stated(word, read) or word in form for word in _exact_words(text))


def _exact_words(text: str) -> list[str]:
    return [word.strip(".,;:!?()\"'") for word in _EXACT.findall(text)]


def _of_schema(described: Mapping[str, Any]) -> set[str]:
    """Values that a schema names: of enumerations, examples, defaults and bounds, also of the items of a list."""
    parts = [described, described.get("items", {}), *described.get("anyOf", [])]
    named = [
        value for part in parts for value in [*part.get("enum", []), *part.get("examples", []), *map(part.get, _NAMED)]
    ]
    return {str(value) for value in named if value is not None} | set(
        re.findall(r"[\w.-]+", described.get("description", ""))
    )


def _is_stated(text: str, read: Sources) -> bool:
    """Whether a number, date, time or address is stated in words: `three`, `1 December`, `at 9:30`, `Ann Lee`."""
    if "@" in text:
        name, _, host = text.partition("@")
        plain = Sources(_without_accents(read.instructions), _without_accents(read.results))
        return read.states(host) and all(plain.has(part) for part in re.split(r"[._-]", name))
    if text.isdecimal() and int(text) < len(_NUMBERS):
        return read.states(_NUMBERS[int(text)])
    day = _DATE.match(text)
    if day is None:
        return False
    try:
        stated = date.fromisoformat(day[0])
    except ValueError:
        return False
    clock = _TIME.search(text[10:])
    has_time = clock is None or clock[1] == "00:00" or read.states(clock[1]) or read.states(clock[1].removeprefix("0"))
    return has_time and (read.states(day[0]) or any(read.states(form) for form in _spoken(stated)))


def _without_accents(text: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))


def _spoken(day: date) -> list[str]:
    return [f"{day.day} {day:%B}", f"{day:%B} {day.day}", f"{day.day} {day:%b}", f"{day:%B} {day.day}th"]


def _stands_in(text: str, where: str) -> bool:
    words = r"\s+".join(map(re.escape, text.split()))
    return re.search(rf"(?<!\w){words}(?!\w)", where, re.IGNORECASE) is not None
