"""The SQL script of a world's rows.

Invariant: equal worlds give equal scripts, byte for byte. A script contains literals only, so executing it does not
read a clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

from opsgym_domains.kit.schema import Row, as_dict
from opsgym_suites.kit.world import World

RESERVED = {"constraint"}
"""Names of columns that SQLite reads as keywords."""


def seed_sql(world: World) -> str:
    """The world's time, and one INSERT statement per table with rows, in SQLite's dialect, in one transaction."""
    inserts = (_insert(name, rows) for name, rows in world.tables() if rows)
    return "\n".join([f"-- now: {world.now.isoformat()}", "BEGIN;", *inserts, "COMMIT;", ""])


def _insert(table: str, rows: Sequence[Row]) -> str:
    columns = ", ".join(f'"{name}"' if name in RESERVED else name for name in as_dict(rows[0]))
    values = ",\n".join(f"({', '.join(map(_literal, as_dict(row).values()))})" for row in rows)
    return f"INSERT INTO {table} ({columns}) VALUES\n{values};"


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, datetime):
        return f"'{value:%Y-%m-%d %H:%M:%S}'"
    if isinstance(value, date):
        return f"'{value}'"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return str(value)
