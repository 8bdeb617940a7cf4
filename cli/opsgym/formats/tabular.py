"""A table that can be written for the terminal, as Markdown, CSV, JSON or Parquet.

Invariant: every format is made from the same rows. An unknown value is `unknown` or a dash in text formats and empty in
machine formats, never 0.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import click

from opsgym.formats.grid import Grid, GridColumn
from opsgym.formats.numbers import NOTHING, dollars, number, percent, seconds
from opsgym.formats.parquet import parquet_bytes, pyarrow
from opsgym_api.errors import InputError, Problem


class Kind(StrEnum):
    """Kind of the values of a column, which decides how they are written."""

    TEXT = "text"
    COUNT = "count"
    SHARE = "share"
    CHANGE = "change"
    """Change of a share; percentage points in text formats."""
    DOLLARS = "dollars"
    """None stands for an unknown amount."""
    SECONDS = "seconds"
    NUMBER = "number"
    PROBABILITY = "probability"
    FLAG = "flag"


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    key: str
    """Name in machine formats."""
    kind: Kind
    label: str = ""
    """Header in text formats; empty leaves the column out of them."""


@dataclass(frozen=True)
class Table:
    """Rows of values under columns."""

    columns: Sequence[Column]
    rows: Sequence[Mapping[str, Any]]
    """Values by column key; None for a missing value."""

    def for_console(self) -> Grid:
        """The table for the terminal."""
        columns = [GridColumn(column.label, right=column.kind is not Kind.TEXT) for column in self._text_columns]
        shown = Grid(columns)
        for row in self.rows:
            shown.add_row(*(value_text(column.kind, row[column.key]) for column in self._text_columns))
        return shown

    def markdown(self) -> str:
        """The table as Markdown."""
        rules = ["---" if column.kind is Kind.TEXT else "---:" for column in self._text_columns]
        lines = [
            [column.label for column in self._text_columns],
            rules,
            *([value_text(column.kind, row[column.key]) for column in self._text_columns] for row in self.rows),
        ]
        return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)

    def csv(self) -> str:
        """The table as comma-separated values with a header."""
        out = io.StringIO()
        writer = csv.DictWriter(out, [column.key for column in self.columns], lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.records())
        return out.getvalue()

    def records(self) -> list[dict[str, Any]]:
        """Rows with exactly the keys of the columns."""
        return [{column.key: row[column.key] for column in self.columns} for row in self.rows]

    def parquet(self) -> bytes:
        """The table as a Parquet file.

        Raises:
            InputError: pyarrow is not installed.
        """
        pa = pyarrow()
        types = {Kind.TEXT: pa.string(), Kind.COUNT: pa.int64(), Kind.FLAG: pa.bool_()}
        schema = pa.schema([(column.key, types.get(column.kind, pa.float64())) for column in self.columns])
        return parquet_bytes(pa.Table.from_pylist(self.records(), schema))

    @property
    def _text_columns(self) -> Sequence[Column]:
        return [column for column in self.columns if column.label]


def value_text(kind: Kind, value: Any) -> str:
    """A value in text formats."""
    if kind is Kind.DOLLARS:
        return dollars(value)
    if value is None:
        return NOTHING
    return _TEXT_BY_KIND[kind](value)


def write_out(content: str | bytes, out: Path | None) -> None:
    """Prints the content, or writes it to a file atomically.

    Args:
        content: The content.
        out: The file; None for stdout.

    Raises:
        InputError: The file cannot be written.
    """
    if out is None:
        click.echo(content, nl=False)
        return
    draft = out.with_name(f".{out.name}.tmp")
    try:
        draft.write_bytes(content if isinstance(content, bytes) else content.encode())
        draft.replace(out)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise InputError(str(out), [Problem("--out", f"cannot be written: {error.strerror}")]) from None


def _points(change: float) -> str:
    return f"{100 * change:+.1f}"


def _probability(value: float) -> str:
    return "<0.001" if value < 0.001 else f"{value:.3f}"


_TEXT_BY_KIND: Mapping[Kind, Callable[[Any], str]] = {
    Kind.TEXT: str,
    Kind.COUNT: lambda value: f"{value:,}",
    Kind.SHARE: percent,
    Kind.CHANGE: _points,
    Kind.SECONDS: seconds,
    Kind.NUMBER: number,
    Kind.PROBABILITY: _probability,
    Kind.FLAG: lambda value: "yes" if value else "no",
}
