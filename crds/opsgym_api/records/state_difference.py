"""How the final database of a gym server differs from its seed."""

from __future__ import annotations

from typing import Any, Literal

from opsgym_api.base import Stored

Change = Literal["added", "changed", "removed"]


class RowDifference(Stored):
    """A row that is not in the final database as it was in the seed."""

    change: Change
    key: dict[str, Any]
    """Primary key, by column."""
    before: dict[str, Any] = {}
    """The row in the seed; of a changed one, only the columns that differ. Empty for an added one."""
    after: dict[str, Any] = {}
    """The same in the final database. Empty for a removed one."""
    neutral: bool = False
    """Whether the database means the same without this change, for instance a default that was given explicitly. Such a
    row meets an expectation, and is never unexpected."""


class TableDifference(Stored):
    """What differs in a table."""

    table: str
    added: int = 0
    changed: int = 0
    removed: int = 0
    rows: list[RowDifference] = []
    """In the order of keys; fewer than the counts say where the difference is too large to keep."""


class StateDifference(Stored):
    """How a gym server's final database differs from its seed. Counts are exact; rows and long values are bounded."""

    tables: list[TableDifference] = []
    """Tables that differ, by name."""
    truncated: bool = False
    """Whether rows were left out or texts were cut."""
