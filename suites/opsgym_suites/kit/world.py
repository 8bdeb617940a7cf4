"""The rows of a seed.

Invariant: a row gets its identifier when it is added, in the published form, counted per table. Identifiers
depend on the order of adding and on nothing else, and every row is found by the names that its company uses. A row's
number and its identifier cannot be computed from each other. Rows keep their values of primary keys and of `indexed`
columns once they are added, unless `World.change` sets them.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, ClassVar, TypeVar

from sqlalchemy import MetaData

from opsgym_domains.kit.passing import Deadline
from opsgym_domains.kit.schema import Row, is_counted

R = TypeVar("R", bound=Row)

NUMBER_COLUMNS = ("number", "kb_number")
"""Columns with the numbers that people use, in tables that have such numbers."""
FIRST_NUMBERS = range(1200, 4000)
"""Where the first number of a table lies."""
MOST_SKIPPED = 5
"""Most numbers between two rows of a seed that no row has."""

NOW = datetime(2026, 11, 16, 10, 0)  # noqa: DTZ001 - tables keep UTC without a zone
"""The time at which a world stands unless it states another one: a Monday morning."""


def at(text: str) -> datetime:
    """Parses a time, in 2026 if it names no year: `11-16 08:12` or `2027-03-09 08:12`."""
    year = "" if re.match(r"\d{4}-", text) else "2026-"
    return datetime.fromisoformat(f"{year}{text.replace(' ', 'T')}")


class World:
    """All rows, by table, in insertion order. Each domain derives a class with look-ups by name.

    Attributes:
        metadata: The domain's tables.
        deadlines: What time does to the rows by itself.
        indexed: Columns by which rows are found without reading their table, in every table that has them. Primary keys
            are, too.
        now: The time at which databases of the seed stand; no time in the seed is later.

    Args:
        now: The time at which this world stands; that of its class if None.
        first_id: Number of the first identifier that is generated for each table.
    """

    metadata: ClassVar[MetaData]
    deadlines: ClassVar[Sequence[Deadline]] = ()
    indexed: ClassVar[Collection[str]] = ()
    now: datetime = NOW

    def __init__(self, now: datetime | None = None, first_id: int = 1) -> None:
        self.now = now or type(self).now
        self.first_id = first_id
        self._rows: dict[str, list[Row]] = {name: [] for name in self.metadata.tables}
        self._indexes: defaultdict[type[Row], dict[str, defaultdict[Any, list[Row]]]] = defaultdict(dict)
        self._fixtures: dict[str, Row] = {}

    @property
    def kinds(self) -> Sequence[type[Row]]:
        """Row classes of the domain's tables that seeds write, by table name."""
        kinds = (mapper.class_ for mapper in Row.registry.mappers)  # all domains share one registry
        return sorted(
            (kind for kind in kinds if kind.__table__.metadata is self.metadata and not kind.has_presets),
            key=lambda kind: str(kind.__tablename__),
        )

    def add(self, row: R) -> R:
        """Adds a row; sets its identifier if the table generates identifiers and the row has none."""
        kind = type(row)
        if (kind.id_prefix is not None or is_counted(self.metadata.tables[kind.__tablename__])) and getattr(
            row, key_of(kind)
        ) is None:
            setattr(row, key_of(kind), self.next_id(kind))
        self._rows[kind.__tablename__].append(row)
        for column, index in self._indexes[kind].items():
            index[plain(row).get(column)].append(row)
        return row

    def change(self, row: Row, **values: Any) -> None:
        """Sets columns of a row of this world."""
        for column, value in values.items():
            setattr(row, column, value)
            self._indexes[type(row)].pop(column, None)

    def next_id(self, kind: type[Row], ahead: int = 0) -> Any:
        """The identifier of a table's next row, or of the one `ahead` rows after it: an integer or a string."""
        number = len(self._rows[kind.__tablename__]) + self.first_id + ahead
        return number if is_counted(self.metadata.tables[kind.__tablename__]) else f"{kind.id_prefix}{number:03d}"

    def next_number(self, kind: type[Row]) -> int:
        """The highest number in use plus one: what the ITSM server gives to a table's next row."""
        column = str(number_column(kind))
        numbers = (getattr(row, column) for row in self._rows[kind.__tablename__])
        return max((last_digits(number) for number in numbers if number), default=0) + 1

    def draw_number(self, kind: type[Row]) -> int:
        """A number for the row of a seed that is added next: higher than all before, and not ending in its id."""
        table, rows = kind.__tablename__, self._rows[kind.__tablename__]
        choices = random.Random(f"{table} {len(rows) + self.first_id - 1}")  # noqa: S311 - the same every time; nothing here is secret
        number = self.next_number(kind) if rows else choices.choice(FIRST_NUMBERS)
        number += choices.randint(0, MOST_SKIPPED)
        while str(number).endswith(str(last_digits(self.next_id(kind)))):
            number += 1
        return number

    def all(self, kind: type[R], **values: Any) -> list[R]:
        """A table's rows with these column values, oldest first."""
        indexed = next((name for name in values if name in self.indexed or name in primary_key(kind)), None)
        all_rows = self._rows[kind.__tablename__]
        candidates: Sequence[Row] = all_rows if indexed is None else self._index(kind, indexed).get(values[indexed], ())
        rows = [row for row in candidates if isinstance(row, kind)]
        for name, value in values.items():
            if name != indexed:
                rows = [row for row in rows if plain(row).get(name) == value]
        return rows

    def _index(self, kind: type[Row], column: str) -> Mapping[Any, Sequence[Row]]:
        """A table's rows by their value in a column, oldest first; made when it is first asked for."""
        indexes = self._indexes[kind]
        if column not in indexes:
            indexes[column] = defaultdict(list)
            for row in self._rows[kind.__tablename__]:
                indexes[column][plain(row).get(column)].append(row)
        return indexes[column]

    def one(self, kind: type[R], **values: Any) -> R:
        """The only row with these column values.

        Raises:
            LookupError: No row or several rows match.
        """
        rows = self.all(kind, **values)
        if len(rows) != 1:
            raise LookupError(f"{len(rows)} rows of {kind.__tablename__} have {values}, expected one")
        return rows[0]

    def register(self, key: str, row: Row) -> None:
        """Stores the row of a fixture record under the record's key."""
        self._fixtures[key] = row

    def fixture(self, kind: type[R], key: str) -> R:
        """The row of a fixture record, by the record's key.

        Raises:
            LookupError: The key is unknown, or its row is of another table.
        """
        row = self._fixtures.get(key)
        if isinstance(row, kind):
            return row
        raise LookupError(f"unknown fixture record {key!r} of {kind.__tablename__}")

    def tables(self) -> Sequence[tuple[str, Sequence[Row]]]:
        """Rows by table name, in the order in which the tables are declared."""
        return list(self._rows.items())


def plain(row: Row) -> Mapping[str, Any]:
    """The values that a row of a world was given, by column, and SQLAlchemy's own entry.

    Rows of worlds come from no session, so their dictionary is whole; SQLAlchemy's attributes take several times as
    long, and worlds are searched and copied for every task.
    """
    return vars(row)


@cache
def primary_key(kind: type[Row]) -> tuple[str, ...]:
    """Names of the columns of a table's primary key."""
    return tuple(str(column.name) for column in kind.__table__.primary_key)


def key_of(kind: type[Row]) -> str:
    """Name of a table's primary key column."""
    return primary_key(kind)[0]


def number_column(kind: type[Row]) -> str | None:
    """Name of the column with the numbers that people use; None if the table has no such numbers."""
    return next((name for name in NUMBER_COLUMNS if name in kind.__table__.columns), None)


@cache
def last_digits(text: Any) -> int:
    """The number at the end of an id or of a number with a prefix."""
    (digits,) = re.findall(r"\d+$", str(text))
    return int(digits)


def table_of(kind: type[Row]) -> str:
    """Name of a table for SQL; `user` is a reserved word and is quoted."""
    return '"user"' if kind.__tablename__ == "user" else str(kind.__tablename__)
