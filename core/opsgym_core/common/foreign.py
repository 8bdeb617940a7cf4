"""Text and JSON from outside (models, gym servers, files), made storable.

Invariant: what these functions return can be encoded as UTF-8, written as JSON and read back, and what they replaced
is still visible in it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

MAX_DEPTH = 100
"""Levels of lists and objects in a value; pydantic writes about twice as many."""
MAX_DIGITS = 1000
"""Digits of an integer that is kept as a number; Python converts about four times as many."""


_CONTROLS = {code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\t\n"}
_CONTROLS |= {0x7F: "\u2421"} | dict.fromkeys(
    (*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)), "\ufffd"
)


class TooDeepError(ValueError):
    """A JSON text nests too deeply to be read."""


def storable_text(text: str) -> str:
    r"""The text with each half of a surrogate pair as its escape, for instance `\ud83d`."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def visible(text: str) -> str:
    """The text with a picture of each control character but tabs and line breaks, so that it never drives a terminal.

    Characters that turn the direction of writing count as control characters.
    """
    if text.isprintable():
        return text
    return "\r\n".join(part.translate(_CONTROLS) for part in text.split("\r\n"))


def one_line(text: str) -> str:
    """The visible text on one line, so that no part of it looks like a line of its own."""
    return visible(" ".join(text.split()))


def storable(value: Any) -> Any:
    """A JSON value with storable texts and numbers; what is nested below `MAX_DEPTH` becomes `…`.

    Numbers that JSON does not have, and integers of more than `MAX_DIGITS` digits, become text.
    """
    return _storable(value, MAX_DEPTH)


def _storable(value: Any, levels: int) -> Any:
    if isinstance(value, str):
        return storable_text(value)
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return value if value.bit_length() <= MAX_DIGITS * 10 // 3 + 1 else hex(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if not isinstance(value, dict | list | tuple):
        return storable_text(str(value))
    if levels == 0:
        return "…"
    if isinstance(value, dict):
        return {storable_text(str(name)): _storable(part, levels - 1) for name, part in value.items()}
    return [_storable(part, levels - 1) for part in value]


def read_json(text: str | bytes, *, strict: bool = True, unique: bool = False) -> Any:
    """The storable value of a JSON text.

    Args:
        text: The text.
        strict: Whether line breaks and tabs must be escaped in strings.
        unique: Whether a field may stand only once in an object; otherwise its last value counts.

    Raises:
        TooDeepError: The text nests too deeply to be read.
        ValueError: The text is not JSON.
    """
    pairs = _unique if unique else None
    try:
        value = json.loads(
            text, parse_int=_integer, parse_float=_number, parse_constant=str, strict=strict, object_pairs_hook=pairs
        )
    except RecursionError:
        raise TooDeepError("it nests too deeply to be read") from None
    return storable(value)


def _unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        twice = next(name for place, (name, _) in enumerate(pairs) if name in dict(pairs[:place]))
        raise ValueError(f"the field {twice!r} stands twice in one object")
    return content


def _integer(digits: str) -> int | str:
    return int(digits) if len(digits) <= MAX_DIGITS else digits


def _number(digits: str) -> float | str:
    number = float(digits)
    return number if math.isfinite(number) else digits
