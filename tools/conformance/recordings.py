"""Recorded tool calls, whatever the file's form.

Invariant: a call is what an agent saw: a tool, its arguments, and the result as data, or as text where it is not JSON.
Calls of one task come in the order in which they were made.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tools.conformance.raw import RawResult, read_raw_results


@dataclass(frozen=True)
class Call:
    """One call and its answer."""

    tool: str
    arguments: Mapping[str, Any]
    result: Any
    """Data, or text."""
    is_error: bool = False
    raw: RawResult | None = None
    """Form of the result, where it was recorded."""
    unreadable: str | None = None
    """Why the recorded line cannot be read; None if it can."""

    @property
    def given(self) -> dict[str, Any]:
        """The arguments by name, those inside of object arguments too."""
        given: dict[str, Any] = {}
        for name, value in self.arguments.items():
            given |= value if isinstance(value, dict) else {name: value}
        return given

    @property
    def mute(self) -> str | None:
        """Why the answer is not evidence of the tool; None if it is."""
        if self.unreadable is not None:
            return self.unreadable
        if self.result is None:
            return "no answer was recorded"
        if self.is_error and "x-database-id" in str(self.result):
            return "the call named no database"
        return None


@dataclass(frozen=True)
class Recording:
    """The calls of one run of a task."""

    task_id: str
    source: str
    """File it comes from."""
    calls: tuple[Call, ...]
    around: datetime | None = None
    """Within some hours of every call, UTC; None if it is unknown."""


UNREADABLE = "unreadable"
"""Task and tool of a line that cannot be read and names none."""


def read_recordings(folder: Path) -> list[Recording]:
    """The recordings of a folder's `.jsonl` files, in order of files and lines; unreadable lines are calls that say so.

    Raw results are read from the folder above, where they are.
    """
    raw = read_raw_results(folder.parents[1], folder.name)
    return [recording for file in sorted(folder.glob("*.jsonl")) for recording in _read(file, raw)]


def _read(file: Path, raw: Mapping[tuple[str, int], RawResult]) -> Iterable[Recording]:
    runs: dict[str, list[tuple[Mapping[str, Any], Call]]] = {}
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        row = data_of(line)
        try:
            call = _call(row, raw)
        except (KeyError, TypeError, AttributeError) as error:
            row = row if isinstance(row, dict) else {}
            reason = f"line {number} of {file.name} cannot be read: {error!r}"
            call = Call(str(row.get("tool", UNREADABLE)), {}, None, unreadable=reason)
        runs.setdefault(str(row.get("task_id", UNREADABLE)), []).append((row, call))
    for task_id, rows in runs.items():
        yield Recording(task_id, file.name, tuple(call for _, call in rows), _around(rows[0][0]))


def _call(row: Mapping[str, Any], raw: Mapping[tuple[str, int], RawResult]) -> Call:
    answer = row.get("observation") or row.get("result")
    form = raw.get((row["task_id"], row["step"])) if "step" in row else None
    if answer is None:
        result = row.get("text") if row.get("json") is None else row["json"]
        return Call(row["tool"], dict(row["arguments"] or {}), result, bool(row.get("isError")), form)
    text = "".join(content.get("text", "") for content in answer["content"])
    whole = RawResult(tuple(answer), tuple(map(tuple, answer["content"])), text)
    return Call(row["tool"], dict(row["arguments"] or {}), data_of(text), bool(answer.get("isError")), form or whole)


def data_of(text: str) -> Any:
    """A result's text as data; the text itself if it is not JSON."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def _around(row: Mapping[str, Any]) -> datetime | None:
    written = row.get("recorded_at")
    return datetime.fromisoformat(written).astimezone(UTC).replace(tzinfo=None, microsecond=0) if written else None
