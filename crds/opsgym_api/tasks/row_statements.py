"""Statements in Postgres' dialect that change one row, for events.

Invariant: names and values come from task authors, who may also write SQL; texts are quoted, nothing else is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any


def update_statement(
    table: str, key: Mapping[str, Any], values: Mapping[str, Any], parts: Mapping[str, Sequence[str]] | None = None
) -> str:
    """Sets columns of the row with a key.

    Args:
        table: The table.
        key: The key, by column.
        values: New values, by column.
        parts: A part of a text and what takes its place, by column; the rest of the text stays.
    """
    sets = [f"{_name(name)} = {_literal(value)}" for name, value in values.items()]
    for name, (before, after) in (parts or {}).items():
        sets.append(f"{_name(name)} = replace({_name(name)}, {_literal(before)}, {_literal(after)})")
    where = " AND ".join(f"{_name(name)} = {_literal(value)}" for name, value in key.items())
    return f"UPDATE {_name(table)} SET {', '.join(sets)} WHERE {where}"  # noqa: S608 - names of the author


def insert_statement(table: str, values: Mapping[str, Any]) -> str:
    """Adds a row."""
    columns, literals = ", ".join(map(_name, values)), ", ".join(map(_literal, values.values()))
    return f"INSERT INTO {_name(table)} ({columns}) VALUES ({literals})"  # noqa: S608 - names of the author


def _name(name: str) -> str:
    """A name for Postgres, which folds names that are not quoted, and to which `user` is a word of its own."""
    return name if name == name.lower() and name != "user" else f'"{name}"'


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime):
        return f"'{value:%Y-%m-%d %H:%M:%S}'"
    return "'" + str(value).replace("'", "''") + "'"
