"""Reads task rows from files.

Invariant: a row is read as it is, except that texts which it includes are inserted. A row that could not be scored is
reported with its file, its number and the field; the others are read all the same.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from pydantic import BaseModel, ConfigDict, ValidationError

from opsgym_api.errors import InputError, Problem
from opsgym_api.tasks.includes import IncludeError, complete
from opsgym_api.tasks.task import Task
from opsgym_api.validation import problems_of


class BadRow(BaseModel):
    """A row that could not be read, kept so that it is reported beside the tasks that ran."""

    model_config = ConfigDict(frozen=True)

    task_id: str
    source: str
    message: str


class SourcedTask(NamedTuple):
    """A task with the place that it was read from."""

    source: str
    """File and number of the row: `tasks.json row 2`."""
    task: Task


def read_tasks(path: Path) -> tuple[list[Task], list[BadRow]]:
    """Reads every row of a file or folder, in name order.

    Args:
        path: A `.json` file (one row or a list), a `.jsonl` file, or a folder of such files.

    Returns:
        The tasks, and the rows that are not valid. Files whose names begin with `_` are ignored.

    Raises:
        InputError: Nothing is there, nothing is a row file or can be read, or two rows share a task id.
    """
    tasks, bad = read_sourced_tasks(path)
    return [sourced.task for sourced in tasks], bad


def read_sourced_tasks(path: Path) -> tuple[list[SourcedTask], list[BadRow]]:
    """Reads rows as `read_tasks` does, and where each was read from.

    Raises:
        InputError: See `read_tasks`.
    """
    files = _files(path)
    tasks: list[SourcedTask] = []
    bad: list[BadRow] = []
    for file in files:
        for where, text in _row_texts(file):
            for source, row in _parse(text, default_id=file.stem, where=where, folder=file.parent):
                tasks.append(SourcedTask(source, row)) if isinstance(row, Task) else bad.append(row)
    _refuse_shared_ids(path, tasks)
    return tasks, bad


def parse_row(row: object, *, default_id: str, where: str, folder: Path | None = None) -> Task | BadRow:
    """One row as a task, or what is wrong with it.

    Args:
        row: The decoded row, or a row of a run's suite as stores have it (`suite.FrozenTask`).
        default_id: Task id of a row that has none, or null.
        where: File and row, for the message.
        folder: Folder of the texts that the row may include; None if it may include none.
    """
    if not isinstance(row, Mapping):
        return BadRow(task_id=default_id, source=where, message=f"{where}: a row must be a JSON object")
    row = _unwrapped(row)
    filled = row if row.get("task_id") is not None else {**row, "task_id": default_id}
    try:
        return Task.model_validate(_completed(filled, folder))
    except ValidationError as error:
        message = "\n".join(f"{where}: {problem}" for problem in problems_of(error, model=Task))
    except IncludeError as error:
        message = f"{where}: system_prompt: {error}"
    return BadRow(task_id=str(filled["task_id"]), source=where, message=message)


def _unwrapped(row: Mapping[str, object]) -> Mapping[str, object]:
    """The row inside a row of a stored suite; any other row as it is."""
    inner = row.get("row")
    return inner if isinstance(inner, Mapping) and {"version", "row"} <= row.keys() else row


def _completed(row: Mapping[str, object], folder: Path | None) -> Mapping[str, object]:
    """The row with the texts that its system prompt includes.

    Raises:
        IncludeError: A text cannot be read.
    """
    prompt = row.get("system_prompt")
    if folder is None or not isinstance(prompt, str):
        return row
    return {**row, "system_prompt": complete(prompt, folder)}


def _files(path: Path) -> list[Path]:
    """The file, or the folder's files that hold rows; at least one."""
    try:
        if path.is_file():
            return [path]
        files = sorted(filter(_holds_rows, path.iterdir()))
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: a null byte in the path
        raise InputError(str(path), [Problem("", f"does not exist; {_EXPECTED}")]) from None
    except OSError as error:
        raise InputError(str(path), [Problem("", f"cannot be read: {error.strerror}; {_EXPECTED}")]) from None
    if not files:
        raise InputError(str(path), [Problem("", f"is empty of .json and .jsonl files; {_EXPECTED}")])
    return files


_EXPECTED = "expected a task file, or a folder of them"


def _holds_rows(path: Path) -> bool:
    return path.suffix in (".json", ".jsonl") and not path.name.startswith(("_", ".")) and path.is_file()


def _row_texts(file: Path) -> Iterator[tuple[str, str]]:
    """Each JSON text of a file, with where it stands."""
    try:
        text = file.read_text(encoding="utf-8-sig")  # editors on Windows begin a file with a byte order mark
    except OSError as error:
        raise InputError(str(file), [Problem("", f"cannot be read: {error.strerror}")]) from None
    except UnicodeDecodeError as error:
        raise InputError(str(file), [Problem(f"byte {error.start}", "is not UTF-8 text")]) from None
    if file.suffix != ".jsonl":
        yield file.name, text
        return
    # Not splitlines: JSON strings may hold line separators other than a newline.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield f"{file.name} row {number}", line


def _parse(text: str, *, default_id: str, where: str, folder: Path) -> Iterator[tuple[str, Task | BadRow]]:
    """The rows in a JSON text with their places; text that is not JSON is a row that is not valid."""
    try:
        content = json.loads(text, object_pairs_hook=_unique, parse_constant=_refused, parse_float=_number)
    except _NotARowError as error:
        yield where, BadRow(task_id=default_id, source=where, message=f"{where}: {error}")
        return
    except json.JSONDecodeError as error:
        message = f"{where}: line {error.lineno}, column {error.colno}: is not JSON: {error.msg}"
        yield where, BadRow(task_id=default_id, source=where, message=message)
        return
    except RecursionError:
        yield where, BadRow(task_id=default_id, source=where, message=f"{where}: is nested too deeply")
        return
    if "\\ud" in text.lower() and not _is_encodable(content):
        message = f"{where}: has half of a surrogate pair, which cannot be stored"
        yield where, BadRow(task_id=default_id, source=where, message=message)
        return
    if not isinstance(content, list):
        yield where, parse_row(content, default_id=default_id, where=where, folder=folder)
        return
    for number, row in enumerate(content, start=1):
        place = f"{where} row {number}"
        yield place, parse_row(row, default_id=default_id, where=place, folder=folder)


class _NotARowError(ValueError):
    """JSON that no row may have; the text says why."""


def _unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; of a key that stands twice, JSON's readers silently keep the last value."""
    content = dict(pairs)
    if len(content) < len(pairs):
        twice = next(key for place, (key, _) in enumerate(pairs) if key in dict(pairs[:place]))
        raise _NotARowError(f"has the key {twice!r} twice in one object; remove one of them")
    return content


def _refused(number: str) -> NoReturn:
    raise _NotARowError(f"has the number {number}, which JSON does not have or no database can hold")


def _number(text: str) -> float:
    """A number with a fraction or an exponent."""
    number = float(text)
    return number if math.isfinite(number) else _refused(text)


def _is_encodable(content: Any) -> bool:
    try:
        json.dumps(content, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _refuse_shared_ids(path: Path, tasks: Sequence[SourcedTask]) -> None:
    places: dict[str, list[str]] = {}
    for sourced in tasks:
        places.setdefault(sourced.task.task_id, []).append(sourced.source)
    advice = "give each a task_id of its own (a row without one takes its file's name)"
    problems = [
        Problem("task_id", f"{task_id!r} names several rows: {', '.join(where)}; {advice}")
        for task_id, where in sorted(places.items())
        if len(where) > 1
    ]
    if problems:
        raise InputError(str(path), problems)
