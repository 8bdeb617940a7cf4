"""Formats of results and refusals, as the published servers write them. Each domain has one response style.

Invariant: no other module of the kit decides how a value or an error is written for an agent.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from opsgym_domains.kit.errors import (
    INTERNAL_ERROR,
    CallError,
    Invalid,
    InvalidArguments,
    TextTooLong,
    ToolError,
    Unidentified,
    short,
)
from opsgym_domains.kit.schema import Row, as_dict
from opsgym_domains.kit.sqlite import sqlite_value

Refusal = ToolError | InvalidArguments
Envelope = Callable[[str, bool], dict[str, Any]]
"""Makes the result object of a call from its text and from whether it failed (`isError`)."""
_REPEATED = 1000
"""Maximum number of characters of a rejected value that is repeated in full."""


def with_every_key(text: str, is_error: bool) -> dict[str, Any]:
    """The result object of the ServiceNow-like servers: keys without a value are null."""
    content = {"type": "text", "text": text, "annotations": None, "meta": None}
    return {"meta": None, "content": [content], "structuredContent": None, "isError": is_error}


def with_text_only(text: str, is_error: bool) -> dict[str, Any]:
    """The result object of the servers of office applications: nothing but the text and whether the call failed."""
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


@dataclass(frozen=True)
class ResponseStyle:
    """Format of a server's results and refusals."""

    refusal: Callable[[str, Refusal], str]
    """Formats a refusal; the first argument is the name of the tool."""
    row_value: Callable[[Any], Any] = sqlite_value
    """Converts a column's value for a result."""
    time: Callable[[datetime], str] = sqlite_value
    """Formats a time that is not part of a row."""
    result_text: Callable[[Any], str] | None = None
    """Formats a result, for servers whose tools return data that is JSON already; None for `to_json` of rows."""
    envelope: Envelope = with_every_key
    published_errors_are_flagged: bool = True
    """Whether `isError` is set for a refusal in access `published`; in `strict` it always is."""

    def result(self, value: Any, columns: Sequence[str] | None) -> str:
        """A tool's result as JSON; `{}` for None.

        Args:
            value: Return value of the tool.
            columns: Columns of rows that are shown, in this order; None for all.
        """
        if self.result_text is not None:
            return self.result_text(value)

        def plain(part: Any) -> Any:
            if isinstance(part, Row):
                shown = as_dict(part)
                return {name: self.row_value(shown[name]) for name in columns or shown}
            if isinstance(part, datetime):
                return self.time(part)
            if isinstance(part, date):
                return part.isoformat()
            if isinstance(part, Decimal):
                return float(part)
            raise TypeError(f"a tool returned {type(part).__name__}, which has no JSON form")

        return to_json({} if value is None else value, plain)


def to_json(value: Any, plain: Callable[[Any], Any] | None = None) -> str:
    """JSON in one line, as the ServiceNow-like servers write it."""
    return json.dumps(value, default=plain, ensure_ascii=False)


def to_indented_json(value: Any, plain: Callable[[Any], Any] | None = None) -> str:
    """JSON in ASCII, a line for each value, as the servers of office applications write it."""
    return json.dumps(value, default=plain, indent=2)


def _in_envelope(_tool: str, error: Refusal) -> str:
    if isinstance(error, CallError):
        return f"Error: {error.message}"
    return to_json(
        {"detail": _detail(error) if isinstance(error, ToolError) else [_located(i) for i in error.problems]}
    )


def _detail(error: ToolError) -> dict[str, Any]:
    detail = {"code": error.code, "message": error.message}
    if error.field is not None:
        detail["field"] = error.field
    error_code = error.code if error.code == INTERNAL_ERROR.code else "VALIDATION_ERROR"
    return {"error": True, "error_code": error_code, "message": error.message, "details": [detail]}


def _located(item: Invalid) -> dict[str, Any]:
    return {"type": item.type, "loc": ["body", item.field], "msg": item.message, "ctx": {"error_code": item.code}}


def _in_a_sentence(tool: str, error: Refusal) -> str:
    """Errors in the format of the published customer service server: a sentence, or a Python list of problems."""
    if isinstance(error, CallError | Unidentified):
        return f"Error: {error.message}"
    if isinstance(error, InvalidArguments):
        return f"API Error [{tool}]: {[_listed(item) for item in error.problems]}"
    if isinstance(error, TextTooLong):
        bounds = {"max_length": error.limit}
        item = Invalid(error.field or "", "string_too_long", error.message, error.code, error.text, bounds)
        return f"API Error [{tool}]: {[_listed(item)]}"
    field = f"{error.field}: " if error.field else ""
    return f"API Error [{tool}]: {field}{error.message} [{error.code}]"


def _listed(item: Invalid) -> dict[str, Any]:
    given = item.given if len(repr(item.given)) <= _REPEATED else short(item.given)
    listed = {"type": item.type, "loc": ["body", item.field], "msg": item.message, "input": given}
    return listed | ({"ctx": dict(item.bounds)} if item.bounds else {})


_LONGEST = 8000
"""Number of characters after which a refusal in plain text that repeats an argument is cut."""
_PLAIN_TEXTS = {"DATABASE_REQUIRED": "database_id is required"}
"""Published sentences by code, where the kit has its own."""


def in_plain_text(tool: str, error: Refusal) -> str:
    """Errors in the format of the published calendar server: sentences; only a rule of access `strict` has its code."""
    text = _in_plain_text(tool, error)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _in_plain_text(tool: str, error: Refusal) -> str:
    if isinstance(error, InvalidArguments):
        return "Validation errors:\n" + "\n".join(f"- {item.field}: {item.message}" for item in error.problems)
    if error.code == "UNKNOWN_TOOL":
        return f"Unknown tool: {tool}"
    if isinstance(error, CallError | Unidentified):
        return f"Tool execution failed: {_PLAIN_TEXTS.get(error.code, error.message)}"
    return f"{error.message} [{error.code}]" if error.message.startswith("rule ") else error.message


ENVELOPED = ResponseStyle(row_value=lambda value: value, time=datetime.isoformat, refusal=_in_envelope)
"""JSON only: booleans and ISO times in rows, errors as objects with codes."""
PLAIN = ResponseStyle(row_value=sqlite_value, time=sqlite_value, refusal=_in_a_sentence)
"""Rows as SQLite returns them (0 and 1, times with a space), errors as sentences."""
