"""What a domain's tables say about the data in results: which object is a row, what its values refer to.

Invariant: nothing here knows a domain. A row is recognised by its table's key and columns alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from sqlalchemy import Boolean, Column, Date, DateTime, Integer, MetaData, Numeric, Table
from sqlalchemy.orm import DeclarativeBase

from opsgym_domains.kit.domain import Domain
from opsgym_domains.kit.schema import Row, load_order

_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:?\d{2})?")
_NO_TEXT = (Boolean, Integer, Numeric, DateTime, Date)

Values = dict[str, Any]


@dataclass(frozen=True)
class Sighting:
    """A row as a result shows it: some of its columns."""

    table: str
    key: Any
    values: Values


def time_of(value: Any) -> datetime | None:
    """The time that a value is, without its zone; None if it is none."""
    if not isinstance(value, str) or not _TIME.fullmatch(value):
        return None
    return datetime.fromisoformat(value).replace(tzinfo=None)


class Tables:
    """A domain's tables, as recordings meet them."""

    def __init__(self, domain: Domain) -> None:
        self.metadata: MetaData = domain.metadata
        self._domain = domain
        self.by_name: Mapping[str, Table] = {table.name: table for table in load_order(domain.metadata)}
        self.keys: Mapping[str, str] = {
            name: key.name for name, table in self.by_name.items() for key in _single(table.primary_key.columns)
        }
        """Key column by table, of tables whose key is one column."""

    # --- columns -----------------------------------------------------------------------------------------------------

    def columns(self, table: str) -> Mapping[str, Column[Any]]:
        """A table's columns by name, in order."""
        return {column.name: column for column in self.by_name[table].columns}

    def parent(self, table: str, column: str) -> str | None:
        """Table whose key a column refers to, if it refers to one."""
        for key in self.by_name[table].columns[column].foreign_keys:
            target = key.column
            if self.keys.get(target.table.name) == target.name:
                return str(target.table.name)
        return None

    def named_parents(self, table: str, column: str) -> Iterator[tuple[str, str]]:
        """Tables, and columns of theirs that are not the key, which a column refers to."""
        for reference in self.by_name[table].columns[column].foreign_keys:
            target = reference.column
            if target.table.name in self.keys and self.keys[target.table.name] != target.name:
                yield str(target.table.name), str(target.name)

    def is_exact(self, table: str, column: str) -> bool:
        """Whether a filter of a column's name can only mean equality."""
        declared = self.by_name[table].columns[column]
        keyed = column == self.keys.get(table) or bool(declared.foreign_keys)
        return keyed or isinstance(declared.type, Boolean | Integer) or bool(self.choices(table, column))

    def choices(self, table: str, column: str) -> tuple[Any, ...]:
        """Values of an enumerated column: as declared, or as every tool that has such an argument lists them."""
        declared = self.by_name[table].columns[column]
        if "choices" in declared.info:
            return tuple(declared.info["choices"])
        return () if isinstance(declared.type, _NO_TEXT) else self._listed.get(column, ())

    @cached_property
    def _listed(self) -> Mapping[str, tuple[Any, ...]]:
        collected: dict[str, list[tuple[Any, ...]]] = {}
        for tool in self._domain.toolbox.tools.values():
            for name, parameter in tool.parameters.items():
                if parameter.allowed:
                    collected.setdefault(name, []).append(parameter.allowed)
        return {name: _common(lists) for name, lists in collected.items()}

    def stamps(self, table: str) -> tuple[str | None, str | None]:
        """Columns that tell when a row was made and when it changed last."""
        kind = self._kinds[table]
        return kind.created, kind.updated

    def is_time(self, table: str, column: str) -> bool:
        """Whether a column holds a time of day."""
        return isinstance(self.by_name[table].columns[column].type, DateTime)

    def is_text(self, table: str, column: str) -> bool:
        """Whether a column holds free text."""
        kind = self.by_name[table].columns[column].type
        return not isinstance(kind, _NO_TEXT) and not self.choices(table, column)

    @cached_property
    def _kinds(self) -> Mapping[str, type[Row]]:
        mapped = (kind for kind in _subclasses(Row) if "__tablename__" in vars(kind) and kind.metadata is self.metadata)
        return {str(kind.__tablename__): kind for kind in mapped}

    @cached_property
    def targets(self) -> Mapping[str, str]:
        """Table that a name refers to, for every key's and reference's name that means the same table everywhere."""
        collected: dict[str, set[str]] = {}
        for name, table in self.by_name.items():
            for column in table.columns:
                target = name if self.keys.get(name) == column.name else self.parent(name, column.name)
                if target is not None:
                    collected.setdefault(column.name, set()).add(target)
        return {name: tables.pop() for name, tables in collected.items() if len(tables) == 1}

    def said_first(self, tool: str, tables: Sequence[str]) -> str | None:
        """The table that a tool's name says first, by its whole name or its last word; the only one if it says none."""
        positions: list[tuple[int, int, str]] = []
        for table in tables:
            words = {table, table.rpartition("_")[2]}
            positions += [(tool.find(word), -len(word), table) for word in words if word in tool]
        return min(positions)[2] if positions else tables[0] if len(tables) == 1 else None

    # --- rows --------------------------------------------------------------------------------------------------------

    def sightings(self, result: Any) -> Iterator[Sighting]:
        """The rows that a result shows, wherever in it they are."""
        if isinstance(result, dict):
            seen = self._row(result)
            if seen is not None:
                yield seen
            for value in result.values():
                if isinstance(value, dict | list):
                    yield from self.sightings(value)
        elif isinstance(result, list):
            for item in result:
                yield from self.sightings(item)

    def has_numbers(self, result: Any) -> bool:
        """Whether a result holds numbers that stand in no column: counts, sums, averages."""
        if isinstance(result, list):
            return any(map(self.has_numbers, result))
        if not isinstance(result, dict):
            return isinstance(result, int | float) and not isinstance(result, bool)
        row = self._row(result)
        columns = row.values if row is not None else {}
        return any(self.has_numbers(value) for name, value in result.items() if name not in columns)

    def _row(self, collected: Mapping[str, Any]) -> Sighting | None:
        """The row that an object is: of the table that has its key and most of its names."""
        best: tuple[int, int, str] | None = None
        for order, (table, key) in enumerate(self.keys.items()):
            if collected.get(key) is None or isinstance(collected[key], dict | list):
                continue
            shared = sum(name in self.by_name[table].columns for name in collected)
            if best is None or (shared, -order) > best[:2]:
                best = (shared, -order, table)
        if best is None:
            return None
        table = best[2]
        names = self.by_name[table].columns
        values = {
            name: value for name, value in collected.items() if name in names and not isinstance(value, dict | list)
        }
        return Sighting(table, collected[self.keys[table]], values)


def _common(lists: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    return tuple(value for value in lists[0] if all(value in other for other in lists))


def _single(columns: Any) -> Iterator[Column[Any]]:
    listed = list(columns)
    if len(listed) == 1:
        yield listed[0]


def _subclasses(kind: type[DeclarativeBase]) -> Iterator[type[Any]]:
    for child in kind.__subclasses__():
        yield child
        yield from _subclasses(child)
