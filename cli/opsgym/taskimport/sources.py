"""Reads published rows: Parquet files of the data set, JSON, JSON lines, and folders of these.

Invariant: a row keeps every field of its source; only fields that hold JSON in a string are decoded.

The data set has a folder for each mode and in it a file for each domain, `oracle/csm-00000-of-00001.parquet`; the
published harness names the files it makes of rows `oracle__csm__<task>.json`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opsgym_api.errors import InputError, Problem
from opsgym_api.kinds.evalrun import Mode
from opsgym_core.common.extras import install_command

SUFFIXES = (".parquet", ".json", ".jsonl")
_SHORT = {f"+{number}_tools": Mode(f"plus_{number}_tools") for number in (5, 10, 15)}
MODES = {mode.value: mode for mode in Mode} | _SHORT
"""Modes by their names in published folders and files."""
_ID_AND_DOMAIN = 3  # parts of a name like `oracle__csm__task_1`


@dataclass(frozen=True)
class SourceRow:
    """A row as it was read from a source."""

    mode: Mode
    """Mode that the path of the file names; `oracle` if it names none."""
    source: str
    """File and number of the row, for messages."""
    default_id: str
    """Task id for a row that has none."""
    row: Any
    """The decoded row; an error message if it cannot be decoded."""


def read_rows(sources: Iterable[Path]) -> Iterator[SourceRow]:
    """Rows of files and folders, in the order of file names.

    Raises:
        InputError: A source cannot be read or has no rows, or pyarrow is needed and not installed.
    """
    for source in sources:
        for file in _files(source):
            mode, default_id = _mode_and_id(file)
            for where, row in _rows(file):
                yield SourceRow(mode, where, default_id, decoded(row))


def decoded(row: Any) -> Any:
    """A row whose fields that hold a list or object as JSON text are decoded."""
    if not isinstance(row, Mapping):
        return row
    return {name: _value(value) if name not in _TEXTS else value for name, value in row.items()}


_TEXTS = frozenset({"task_id", "domain", "system_prompt", "user_prompt", "gold_answer"})


def _value(value: Any) -> Any:
    if not isinstance(value, str) or not value.startswith(("[", "{")):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value  # the row's validation reports it


def _files(source: Path) -> list[Path]:
    try:
        if source.is_file():
            return [source]
        files = sorted(
            file for file in source.rglob("*") if file.suffix in SUFFIXES and not file.name.startswith(("_", "."))
        )
    except OSError as error:
        raise InputError(str(source), [Problem("", f"cannot be read: {error.strerror}")]) from None
    if not files:
        expected = f"expected a file of rows ({', '.join(SUFFIXES)}) or a folder of them"
        raise InputError(str(source), [Problem("", f"has no rows; {expected}")])
    return files


def _mode_and_id(file: Path) -> tuple[Mode, str]:
    """Mode and default task id that the path of a file names."""
    parts = file.stem.split("__", 2)
    if len(parts) == _ID_AND_DOMAIN and parts[0] in MODES:
        return MODES[parts[0]], parts[2]
    modes = [MODES[folder] for folder in file.parent.parts if folder in MODES]
    return (modes[-1] if modes else Mode.ORACLE), file.stem


def _rows(file: Path) -> Iterator[tuple[str, Any]]:
    if file.suffix == ".parquet":
        yield from _parquet_rows(file)
        return
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(str(file), [Problem("", f"cannot be read: {error.strerror}")]) from None
    except UnicodeDecodeError as error:
        raise InputError(str(file), [Problem(f"byte {error.start}", "is not UTF-8 text")]) from None
    if file.suffix == ".jsonl":
        # Not splitlines: JSON strings may hold line separators other than a newline.
        lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
        yield from ((f"{file.name} row {number}", _json(line)) for number, line in lines)
        return
    content = _json(text)
    rows = content if isinstance(content, list) else [content]
    for number, row in enumerate(rows, start=1):
        yield (f"{file.name} row {number}" if len(rows) > 1 else file.name), row


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        return f"line {error.lineno}, column {error.colno}: is not JSON: {error.msg}"
    except RecursionError:
        return "is nested too deeply"


def _parquet_rows(file: Path) -> Iterator[tuple[str, Any]]:
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError:
        advice = f"reading Parquet needs pyarrow: {install_command('opsgym', 'data')}"
        raise InputError(str(file), [Problem("", advice)]) from None
    number = 0
    try:
        with ParquetFile(file) as parquet:
            for batch in parquet.iter_batches(batch_size=256):
                for row in batch.to_pylist():
                    number += 1
                    yield f"{file.name} row {number}", row
    except (ArrowException, OSError) as error:
        problem = f"cannot be read as Parquet: {str(error).splitlines()[0]}"
        raise InputError(str(file), [Problem("", problem)]) from None
