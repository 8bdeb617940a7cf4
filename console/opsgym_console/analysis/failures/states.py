"""Primary keys in final databases.

Invariant: a database that cannot be read counts as empty; it never makes an analysis fail.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from functools import cached_property


class FinalState:
    """The final databases of an episode."""

    def __init__(self, states: Mapping[str, bytes]) -> None:
        self._states = states

    def table_of(self, key: str | int) -> str | None:
        """The table that has a primary key of this value; None if there is none, or no database is stored.

        Only texts are looked up: numbers are keys of many tables at once.
        """
        return None if isinstance(key, int) else self._keys.get(key)

    @property
    def known(self) -> bool:
        """Whether any database could be read."""
        return bool(self._keys)

    @cached_property
    def _keys(self) -> Mapping[str, str]:
        keys: dict[str, str] = {}
        for content in self._states.values():
            try:
                keys |= _text_keys(content)
            except sqlite3.Error:
                continue
        return keys


def _text_keys(content: bytes) -> dict[str, str]:
    with closing(sqlite3.connect(":memory:")) as db:
        db.deserialize(content)
        keys: dict[str, str] = {}
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()]
        for table in tables:
            columns = db.execute("SELECT name FROM pragma_table_info(?) WHERE pk = 1", (table,)).fetchall()
            for (column,) in columns:
                rows = db.execute(f'SELECT "{column}" FROM "{table}"').fetchall()  # noqa: S608 - names of its own
                keys |= {value: table for (value,) in rows if isinstance(value, str)}
        return keys
