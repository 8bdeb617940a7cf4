"""Exceptions of the kit. `response_style` renders those that agents see."""

from __future__ import annotations

import dataclasses
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 80


def short(value: Any) -> str:
    """A rejected value for an error message, abbreviated."""
    return _SHORT.repr(value)


def unfit_text(text: str) -> str | None:
    """Why a text cannot be stored, or None if it can: JSON strings may contain characters that Postgres rejects."""
    if "\x00" in text:
        return "contains a NUL character"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "contains an unpaired surrogate, which is not a valid character"
    return None


class ToolError(Exception):
    """A refused tool call. The transaction is rolled back; the call changes nothing.

    Args:
        code: Upper-case error code, for instance `NO_CHANGES_DETECTED`.
        message: What is wrong and what the agent can do about it.
        field: Name of the rejected argument, if the error concerns one.
    """

    def __init__(self, code: str, message: str, field: str | None = None) -> None:
        self.code = code
        self.message = message
        self.field = field
        super().__init__(message)


class TextTooLong(ToolError):
    """A text that is longer than its column allows.

    Args:
        field: Name of the column.
        text: The rejected text.
        limit: Maximum number of characters.
    """

    def __init__(self, field: str, text: str, limit: int) -> None:
        super().__init__("STRING_TOO_LONG", f"{field} has {len(text)} characters; the maximum is {limit}", field)
        self.text = text
        self.limit = limit


INTERNAL_ERROR = ToolError("INTERNAL_ERROR", "Internal server error; nothing was changed.")
"""What an agent is shown of a fault in a tool; the server's log has the traceback."""


class CallError(ToolError):
    """A call that names no tool or no database of the server."""


class Unidentified(ToolError):
    """A call without a valid acting user; raised before the tool runs."""


@dataclass(frozen=True)
class Invalid:
    """One argument that violates the tool's schema."""

    field: str
    type: str
    message: str
    code: str
    given: Any = None
    """The rejected value, None if the argument was missing."""
    bounds: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """Violated limits, by the name that the published servers use."""
    expected: str = ""
    """JSON type of the schema, where the value has another one or is null; empty otherwise."""


class InvalidArguments(Exception):
    """Arguments that violate the tool's schema; nothing was executed."""

    def __init__(self, problems: Sequence[Invalid]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(f"{item.field}: {item.message}" for item in problems))


class DatabaseLost(Exception):
    """Postgres cannot be reached; an infrastructure error, not caused by the agent."""


class SeedError(Exception):
    """A seed that cannot be loaded; nothing of it is kept."""


class QueryError(Exception):
    """A query that fails or is not allowed."""
