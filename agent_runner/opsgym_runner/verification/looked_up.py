"""Judges from the calls of an episode whether rows were read before they were written.

Invariant: only successful calls count, in the order in which they were made. The JSON of each result is parsed once,
and only if a verifier needs it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

from opsgym_api.tasks.verifiers import LookedUp, LookedUpRow
from opsgym_runner.verification.comparison import equal

_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
"""Where a word of a name in camel case begins."""


@dataclass(frozen=True)
class ToolCallResult:
    """A tool call of the agent with its result."""

    tool: str
    """The gym's own name of the tool."""
    arguments: Mapping[str, Any]
    result: str
    """The JSON-RPC result as the model read it."""
    is_error: bool
    gym: str | None = None
    """Gym server that executed it; None if none did."""

    @cached_property
    def objects(self) -> Sequence[Mapping[str, Any]]:
        """Every JSON object in the result, at any depth; texts of the content are parsed."""
        try:
            result = json.loads(self.result)
        except (ValueError, RecursionError):
            return ()
        content = result.get("content") if isinstance(result, dict) else None
        texts = [item.get("text") for item in content if isinstance(item, dict)] if isinstance(content, list) else []
        structured = result.get("structuredContent") if isinstance(result, dict) else None
        parsed = [*(_parsed(text) for text in texts), structured]
        return [value for one in parsed for value in _values_in(one) if isinstance(value, dict)]


def not_looked_up(
    check: LookedUp,
    calls: Sequence[ToolCallResult],
    writing: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> list[str]:
    """Rows that were written before they were read, or that had to be read and were not, as messages that name the row.

    Args:
        check: The verifier's configuration.
        calls: Calls of the episode, in order.
        writing: Names of the tools that write, by gym server; only read if the check has `writes`.
    """
    if not check.writes and not check.writing_tools:
        unread = (row for row in check.rows if not any(shows(call, row) for call in calls))
        return [f"{row.column} {row.value}: no result showed it" for row in unread]
    writes = [call.tool in (writing.get(call.gym or "", ()) if check.writes else check.writing_tools) for call in calls]
    messages = []
    for row in check.rows:
        position = _first_write(row, calls, writes)
        if position is None or any(
            shows(call, row) and not is_write for call, is_write in zip(calls[:position], writes, strict=False)
        ):
            continue
        tool = f"{calls[position].tool} (call {position + 1})"
        messages.append(f"{row.column} {row.value}: {tool} wrote it before any result showed it")
    return messages


def _first_write(row: LookedUpRow, calls: Sequence[ToolCallResult], writes: Sequence[bool]) -> int | None:
    """Position of the first successful call of a writing tool that names the row."""
    return next(
        (
            position
            for position, (call, is_write) in enumerate(zip(calls, writes, strict=True))
            if is_write and not call.is_error and _names(call.arguments, row)
        ),
        None,
    )


def _names(arguments: Mapping[str, Any], row: LookedUpRow) -> bool:
    """Whether arguments name the row: a number does so only in an argument that is named after the row's column."""
    is_number = str(row.value).isdecimal()
    return any(
        _same(value, row.value) and (not is_number or _is_named_after(name, row.column))
        for name, value in _named_values(arguments)
    )


def _is_named_after(argument: str, column: str) -> bool:
    """Whether an argument holds values of a column: `case_id`, `parent_case_id`, `caseIds` for the column `case_id`."""
    name, named_after = (_CAPITAL.sub("_", text).lower() for text in (argument, column))
    return f"_{name}".removesuffix("s").endswith(f"_{named_after}".removesuffix("s"))


def shows(call: ToolCallResult, row: LookedUpRow) -> bool:
    """Whether a call returned the row."""
    return not call.is_error and any(
        _same(fields[row.column], row.value) for fields in call.objects if row.column in fields
    )


def _same(value: Any, expected: str | int) -> bool:
    """Whether a value identifies the row; a boolean never does, although it equals 0 or 1."""
    return isinstance(value, str | int | float) and not isinstance(value, bool) and equal(value, expected)


def _values_in(value: Any) -> Iterator[Any]:
    """A JSON value and every value inside it, names of fields left out."""
    return (one for _name, one in _named_values(value))


def _named_values(value: Any) -> Iterator[tuple[str, Any]]:
    """A JSON value and every value inside it, each with the name of the innermost field that it is in, or ''."""
    pending = [("", value)]
    while pending:
        name, one = pending.pop()
        yield name, one
        if isinstance(one, Mapping):
            pending += one.items()
        elif isinstance(one, list):
            pending += ((name, item) for item in one)


def _parsed(text: object) -> Any:
    """The JSON value of a text; None for any other text."""
    try:
        return json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None
