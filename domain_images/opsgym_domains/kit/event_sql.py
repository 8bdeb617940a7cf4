"""SQL of scenario events: statements in Postgres' dialect that change rows.

Invariant: a statement runs as the role `WRITER`, alone, inside the caller's transaction. It cannot end that
transaction, change the schema, or touch tables of the kit.
"""

from __future__ import annotations

import re

import asyncpg

from opsgym_domains.kit.errors import QueryError
from opsgym_domains.kit.postgres_schema import WRITER

_CHANGES_ROWS = re.compile(r"(\s|--[^\n]*\n|/\*.*?\*/)*(INSERT|UPDATE|DELETE|WITH)\b", re.IGNORECASE | re.DOTALL)
"""Start of an allowed statement, after white space and comments; any other statement, for instance COMMIT, could end
the transaction."""


async def change_rows(connection: asyncpg.Connection, number: int, sql: str) -> int:
    """Runs one statement of an event and returns the number of rows that it changed.

    Args:
        connection: Connection with an open transaction.
        number: Number of the statement in the event, counted from 1, for errors.
        sql: INSERT, UPDATE or DELETE.

    Raises:
        QueryError: The statement fails, violates a constraint, or is not allowed.
    """
    if not _CHANGES_ROWS.match(sql):
        raise QueryError(f"statement {number}: only INSERT, UPDATE and DELETE are allowed")
    try:
        await connection.execute(f"SET LOCAL ROLE {WRITER}")  # for each statement, since one could reset the role
        statement = await connection.prepare(sql)  # refuses several statements in one text
        await statement.fetch()
        verb, *_, count = statement.get_statusmsg().split()
    except asyncpg.PostgresConnectionError:
        raise
    except (asyncpg.PostgresError, ValueError) as error:
        detail = getattr(error, "detail", None)
        raise QueryError(f"statement {number}: {error}{f' ({detail})' if detail else ''}") from None
    if verb == "SELECT":
        raise QueryError(f"statement {number}: it only reads; only INSERT, UPDATE and DELETE are allowed")
    return int(count)
