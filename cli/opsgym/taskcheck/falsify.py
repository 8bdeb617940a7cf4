"""Looks for a database state in which a verifier's query would make it fail.

Invariant: the database is left as it was. That no state is discovered proves nothing: only simple changes of one table
are tried.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from opsgym.taskcheck.queries import QueryFailedError, read_rows

if TYPE_CHECKING:
    from sqlalchemy import MetaData

    from opsgym_domains.kit.sqlite import Seeded

Statement = tuple[str, Sequence[Any]]
"""SQL and its parameters."""

_LITERAL = re.compile(r"'((?:[^']|'')*)'|\b(\d+(?:\.\d+)?)\b")
_COMPARED = re.compile(r"(\w+)\s*(?:=|LIKE)\s*(?:'((?:[^']|'')*)'|(\d+(?:\.\d+)?)\b)", re.IGNORECASE)


def can_fail(
    seeded: Seeded, metadata: MetaData, query: str, holds: Callable[[list[dict[str, Any]]], bool], now: datetime
) -> bool:
    """Whether some changed state makes the verifier of a query fail.

    Args:
        seeded: Database in a state in which the verifier passes.
        metadata: Its tables.
        query: The query.
        holds: Whether the verifier passes with these rows.
        now: Time that the query reads.
    """
    from opsgym_domains.kit.errors import QueryError
    from opsgym_domains.kit.sqlite import changed

    for sql, values in _changes(metadata, query):
        try:
            with changed(seeded.db, sql, values):
                if not holds(read_rows(seeded, query, now)):
                    return True
        except (QueryError, QueryFailedError):
            continue  # a constraint refuses the change, or the query cannot read the changed rows
    return False


def _changes(metadata: MetaData, query: str) -> Iterator[Statement]:
    """Changes of the tables that a query names: without rows; with the query's own values; with null."""
    words = set(re.findall(r"\w+", query.lower()))
    values = dict.fromkeys(_value(*match) for match in _LITERAL.findall(query))
    compared = [(name.lower(), _value(text, number)) for name, text, number in _COMPARED.findall(query)]
    for table in metadata.tables.values():
        if table.name.lower() not in words:
            continue
        yield f'DELETE FROM "{table.name}"', ()  # noqa: S608 - names of our own tables
        pairs = {name: value for name, value in compared if name in table.columns}
        if pairs:
            assignments = ", ".join(f'"{name}" = ?' for name in pairs)
            # One row, since the values may be those of a unique key.
            last = f'(SELECT max(rowid) FROM "{table.name}")'  # noqa: S608 - as above
            sql = f'UPDATE OR IGNORE "{table.name}" SET {assignments} WHERE rowid = {last}'  # noqa: S608 - as above
            yield sql, list(pairs.values())
        for column in map(str, table.columns.keys()):
            if column.lower() in words:
                for value in [None, *values]:
                    yield f'UPDATE OR IGNORE "{table.name}" SET "{column}" = ?', [value]  # noqa: S608 - as above


def _value(text: str, number: str) -> str | float | int:
    if not number:
        return text.replace("''", "'")
    return float(number) if "." in number else int(number)
