"""What a state difference has to say, found out the long way: by comparing two SQLite snapshots in Python.

Invariant: nothing here knows how differences are made; bounds apart, both must say the same.
"""

from __future__ import annotations

from typing import Any

import apsw

from opsgym_api.records.state_difference import RowDifference, StateDifference, TableDifference

Rows = dict[tuple[Any, ...], dict[str, Any]]


def naive_difference(before: bytes, after: bytes) -> StateDifference:
    """How a SQLite file differs from an older one with the same tables, all of which have a primary key."""
    old, new = opened(before), opened(after)
    tables = [_table(name, rows_of(old, name), rows_of(new, name), keys_of(new, name)) for name in tables_of(new)]
    return StateDifference(tables=[table for table in tables if table.rows])


def applied(rows: Rows, difference: TableDifference) -> Rows:
    """Rows with a difference's changes made to them."""
    rebuilt = dict(rows)
    for row in difference.rows:
        key = tuple(row.key.values())
        if row.change == "removed":
            assert rebuilt.pop(key) == row.before
        elif row.change == "added":
            assert key not in rebuilt
            rebuilt[key] = row.after
        else:
            assert row.before.items() <= rebuilt[key].items()
            rebuilt[key] = rebuilt[key] | row.after
    return rebuilt


def opened(content: bytes) -> apsw.Connection:
    """A SQLite file as a database in memory."""
    db = apsw.Connection(":memory:")
    db.deserialize("main", content)
    return db


def tables_of(db: apsw.Connection) -> list[str]:
    """Names of all tables, in order."""
    named = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
    return [str(name) for (name,) in db.execute(named)]


def keys_of(db: apsw.Connection, table: str) -> list[str]:
    """Columns of a table's primary key."""
    return [str(column) for _, column, *_, place in db.execute(f'PRAGMA table_info("{table}")') if place]


def rows_of(db: apsw.Connection, table: str) -> Rows:
    """Rows of a table by their primary key."""
    keys = keys_of(db, table)
    columns = [str(column) for _, column, *_ in db.execute(f'PRAGMA table_info("{table}")')]
    rows = [dict(zip(columns, row, strict=True)) for row in db.execute(f'SELECT * FROM "{table}"')]
    return {tuple(row[key] for key in keys): row for row in rows}


def _table(name: str, old: Rows, new: Rows, keys: list[str]) -> TableDifference:
    rows: list[RowDifference] = []
    for key in sorted(old.keys() | new.keys()):
        before, after = old.get(key), new.get(key)
        if before != after:
            rows.append(_row(dict(zip(keys, key, strict=True)), before, after))
    counts = {change: sum(row.change == change for row in rows) for change in ("added", "changed", "removed")}
    return TableDifference(table=name, **counts, rows=rows)


def _row(key: dict[str, Any], before: dict[str, Any] | None, after: dict[str, Any] | None) -> RowDifference:
    if before is None:
        return RowDifference(change="added", key=key, after=after or {})
    if after is None:
        return RowDifference(change="removed", key=key, before=before)
    differ = [column for column in after if before[column] != after[column]]
    return RowDifference(
        change="changed", key=key, before={c: before[c] for c in differ}, after={c: after[c] for c in differ}
    )
