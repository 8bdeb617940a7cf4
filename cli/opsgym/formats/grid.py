"""A table for the terminal that never folds a name, an id or a number.

Invariant: every value that is shown is shown whole and on one line. Where the terminal is too narrow, headers take
several lines, then columns with the same value in every row become a note, then the columns that matter least are left
out and named. Only columns of prose are folded, between words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from opsgym_core.common.foreign import visible

if TYPE_CHECKING:
    from rich.console import Console

GAP = 2
"""Spaces between columns."""
PROSE_WIDTH = 30
"""Least width of a column of prose."""
LEAST_NEEDED = (
    "p95", "time p50", "time", "per success", "of it judge", "judge", "per task", "steps", "trials", "scored",
    "verifiers", "published rules", "cost", "failed", "passed",
)  # fmt: skip
"""Columns that are left out first, in this order; after them right-aligned columns from the right."""
KEPT = frozenset({"success", "95 % interval", "95 % from", "to", "not scored", "rate", "worst–best", "worst", "best"})
"""Columns that are never left out: a rate is shown with its interval, with what was not scored, and with the rates that
it could have had."""


@dataclass(frozen=True)
class GridColumn:
    """A column of a grid."""

    name: str
    right: bool = False
    """Whether values are right-aligned. Other columns identify the row and are never left out."""
    prose: bool = False
    """Whether values are sentences, which may be folded between words."""


@dataclass(frozen=True)
class Fit:
    """What of a grid is shown at a width."""

    shown: Sequence[int]
    """Indices of the columns that are shown."""
    constant: Sequence[int]
    """Indices of the columns that a note shows, because all rows agree on them."""
    left_out: Sequence[int]
    """Indices of the columns that are not shown."""


@dataclass
class Grid:
    """Rows of text under columns."""

    columns: Sequence[GridColumn]
    rows: list[Sequence[str]] = field(default_factory=list[Sequence[str]])
    total: Sequence[str] | None = None
    """Last row, in bold; its empty values stand for every row's."""

    def add_row(self, *values: str) -> None:
        """Adds a row with a value for each column."""
        self.rows.append([visible(" ".join(value.splitlines())) for value in values])

    def fit(self, width: int) -> Fit:
        """Chooses the columns to show at a width."""
        shown, constant, left_out = list(range(len(self.columns))), list[int](), list[int]()
        while self._least_width(shown) > width and (index := self._next_constant(shown)) is not None:
            shown.remove(index)
            constant.append(index)
        while self._least_width(shown) > width and (index := self._next_left_out(shown)) is not None:
            shown.remove(index)
            left_out.append(index)
        return Fit(shown, sorted(constant), sorted(left_out))

    def print(self, out: Console) -> None:
        """Prints the grid, as wide as the console at most unless the names of its rows are wider."""
        from rich.table import Table

        fit = self.fit(out.width)
        natural = sum(self._value_width(index, len(self.columns[index].name)) + GAP for index in fit.shown) - GAP
        table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0))
        for index in fit.shown:
            column = self.columns[index]
            least = self._width(index) if natural > out.width and not column.prose else None
            table.add_column(
                column.name, justify="right" if column.right else "left", min_width=least, max_width=least
            )  # fmt: skip
        for row in self.rows:
            table.add_row(*(row[index] for index in fit.shown))
        if self.total is not None:
            table.add_row(*(self.total[index] for index in fit.shown), style="bold")
        out.print(table, width=max(min(natural, out.width), self._least_width(fit.shown)), crop=False, soft_wrap=False)
        self._print_notes(fit, out)

    def _print_notes(self, fit: Fit, out: Console) -> None:
        if fit.constant:
            same = ", ".join(f"{self.columns[index].name} {self.rows[0][index]}" for index in fit.constant)
            out.print(f"all rows: {same}", style="dim")
        if fit.left_out:
            names = ", ".join(self.columns[index].name for index in fit.left_out)
            out.print(f"not shown at {out.width} columns: {names}", style="dim")

    def _least_width(self, indices: Iterable[int]) -> int:
        return sum(self._width(index) + GAP for index in indices) - GAP

    def _width(self, index: int) -> int:
        """Least width of a column: its values are whole, its header has a line for each word."""
        column = self.columns[index]
        longest = max(map(len, column.name.split()), default=0)
        return max(longest, PROSE_WIDTH) if column.prose else self._value_width(index, longest)

    def _value_width(self, index: int, least: int) -> int:
        total = 0 if self.total is None else len(self.total[index])
        return max(least, total, *(len(row[index]) for row in self.rows), 0)

    def _next_constant(self, shown: Sequence[int]) -> int | None:
        """The last identifying column but the first on which several rows agree."""
        if len(self.rows) < 2:
            return None
        names = [index for index in shown if not self.columns[index].right][1:]
        return next((index for index in reversed(names) if len({row[index] for row in self.rows}) == 1), None)

    def _next_left_out(self, shown: Sequence[int]) -> int | None:
        numbers = [index for index in shown if self.columns[index].right and self.columns[index].name not in KEPT]
        by_name = {self.columns[index].name: index for index in numbers}
        named = next((by_name[name] for name in LEAST_NEEDED if name in by_name), None)
        return named if named is not None else max(numbers, default=None)


def grid(*left: str, right: Sequence[str] = (), prose: Sequence[str] = ()) -> Grid:
    """An empty grid.

    Args:
        left: Names of the columns that identify a row.
        right: Names of the right-aligned columns after them.
        prose: Names of the columns of sentences after those.
    """
    return Grid(
        [
            *(GridColumn(name) for name in left),
            *(GridColumn(name, right=True) for name in right),
            *(GridColumn(name, prose=True) for name in prose),
        ]
    )
