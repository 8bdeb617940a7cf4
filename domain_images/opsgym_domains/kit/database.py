"""One open Postgres database: its connection, its clock, and a SQLite snapshot of its current state.

Invariant: uses of a database run one after the other, each that writes in its own transaction; a failed use changes
nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import apsw
import asyncpg
from sqlalchemy import MetaData, text
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession

from opsgym_api.kinds.access import Access
from opsgym_api.records.state_difference import StateDifference
from opsgym_domains.kit import sqlite
from opsgym_domains.kit.clock import Clock
from opsgym_domains.kit.connections import Connections
from opsgym_domains.kit.errors import QueryError
from opsgym_domains.kit.event_sql import change_rows
from opsgym_domains.kit.postgres_schema import READER, select_in_order
from opsgym_domains.kit.postgres_server import report_lost_server
from opsgym_domains.kit.schema import load_order
from opsgym_domains.kit.sqlite import QueryResult
from opsgym_domains.kit.state_difference import BOUNDED, Limits, read_difference


@dataclass(frozen=True)
class Origin:
    """Initial content of a database, kept so that the database can be reset. Without a seed the tables are empty."""

    sql: str | None = None
    """Seed script in SQLite's dialect."""
    builtin: str | None = None
    """Name of a seed that ships with the domain."""
    access: Access = Access.PUBLISHED
    """Access mode of tool calls on the database."""


class Database:
    """An open database.

    Args:
        name: Name in Postgres.
        origin: Initial content.
        metadata: The domain's tables.
        engine: Engine with a single connection.
        clock: Clock of tools, column defaults and snapshot queries.
        connections: Limit on connected databases.
    """

    def __init__(
        self,
        name: str,
        origin: Origin,
        metadata: MetaData,
        engine: AsyncEngine,
        clock: Clock,
        connections: Connections,
    ) -> None:
        self.name = name
        self.origin = origin
        self.clock = clock
        self._metadata = metadata
        self._engine = engine
        self._reader = engine.execution_options(isolation_level="AUTOCOMMIT")
        """The same connection without BEGIN and COMMIT, each of which takes as long as a short query."""
        self._connections = connections
        self._lock = asyncio.Lock()
        self._users = 0
        """Running and waiting uses."""
        self._snapshot: apsw.Connection | None = None

    @asynccontextmanager
    async def transaction(self, *, writes: bool) -> AsyncIterator[AsyncSession]:
        """A session that is committed when the block ends and rolled back if it raises.

        A block that does not write has no transaction: nothing else uses the database until it ends.

        Args:
            writes: Whether the block may change rows.

        Raises:
            DatabaseLost: The connection to Postgres was lost.
        """
        async with self._exclusive_use():
            with report_lost_server():
                engine = self._engine if writes else self._reader
                async with AsyncSession(engine, expire_on_commit=False, autoflush=False) as session:
                    async with session.begin():
                        yield session
                    if writes:
                        self._discard_snapshot()

    async def query(self, sql: str) -> QueryResult:
        """Runs a query in SQLite's dialect on a snapshot of the current state.

        Raises:
            QueryError: The query fails or is not allowed.
            DatabaseLost: The connection to Postgres was lost.
        """
        async with self._exclusive_use():
            db = await self._current_snapshot()
            return await asyncio.to_thread(sqlite.query, db, sql, self.clock.now())

    async def query_postgres(self, sql: str) -> QueryResult:
        """Runs a read-only query in Postgres' dialect.

        Raises:
            QueryError: The query fails, writes, or exceeds the time limit.
            DatabaseLost: The connection to Postgres was lost.
        """
        async with self._exclusive_use(), self._driver_connection() as connection:
            try:
                async with connection.transaction(readonly=True):
                    await connection.execute(
                        f"SET LOCAL ROLE {READER}; SET LOCAL statement_timeout = {int(sqlite.QUERY_SECONDS * 1000)}"
                    )
                    statement = await connection.prepare(sql)
                    if not statement.get_attributes():
                        raise QueryError("only a query that returns columns is allowed")
                    rows = await statement.fetch()
                    columns = tuple(attribute.name for attribute in statement.get_attributes())
            except asyncpg.PostgresConnectionError:
                raise
            except (asyncpg.PostgresError, ValueError) as error:
                raise QueryError(str(error)) from None
        values = tuple(tuple(sqlite.sqlite_value(value) for value in row.values()) for row in rows)
        return QueryResult(columns, values)

    async def change(
        self, statements: Sequence[str], first: Callable[[AsyncSession], Awaitable[None]] | None = None
    ) -> list[int]:
        """Runs statements that change rows, all or none of them, and returns the row count of each.

        Args:
            statements: In Postgres' dialect.
            first: What happens before them in the same transaction; nothing if None.

        Raises:
            QueryError: A statement fails, violates a constraint, exceeds the time limit, or is not allowed.
            DatabaseLost: The connection to Postgres was lost.
        """
        async with self.transaction(writes=True) as session:
            if first is not None:
                await first(session)
            # SQLAlchemy opens the transaction with a statement of its own; the driver's statements then belong to it.
            await session.execute(text(f"SET LOCAL statement_timeout = {int(sqlite.QUERY_SECONDS * 1000)}"))
            raw = await (await session.connection()).get_raw_connection()
            connection = raw.driver_connection
            return [await change_rows(connection, number, sql) for number, sql in enumerate(statements, start=1)]

    async def snapshot_file(self) -> bytes:
        """The current state as a SQLite file."""
        async with self._exclusive_use():
            db = await self._current_snapshot()
            return await asyncio.to_thread(db.serialize, "main")

    async def difference(self, limits: Limits = BOUNDED) -> StateDifference:
        """The rows that differ between the current state and the seed.

        Args:
            limits: Size above which the difference is truncated.

        Raises:
            DatabaseLost: The connection to Postgres was lost.
        """
        async with (
            self._exclusive_use(),
            self._driver_connection() as connection,
            connection.transaction(readonly=True),
        ):
            return await read_difference(connection, self._metadata, limits)

    async def close(self) -> None:
        """Closes the connection and removes the database from the connection limit."""
        await self.disconnect()
        self._connections.forget(self)

    async def disconnect(self) -> None:
        """Closes the connection and discards the snapshot; the next use connects again."""
        async with self._lock:
            self._discard_snapshot()
            await self._engine.dispose()

    @property
    def idle(self) -> bool:
        """Whether no use is running or waiting."""
        return self._users == 0

    @asynccontextmanager
    async def _exclusive_use(self) -> AsyncIterator[None]:
        """Waits for the database and for a free connection."""
        self._users += 1
        try:
            async with self._lock, self._connections.use(self):
                yield
        finally:
            self._users -= 1

    async def _current_snapshot(self) -> apsw.Connection:
        if self._snapshot is None:
            tables = load_order(self._metadata)
            async with self._driver_connection() as connection, connection.transaction(readonly=True):
                rows = [(table.name, await connection.fetch(select_in_order(table))) for table in tables]
            self._snapshot = await asyncio.to_thread(sqlite.snapshot, self._metadata, rows)
        return self._snapshot

    @asynccontextmanager
    async def _driver_connection(self) -> AsyncIterator[asyncpg.Connection]:
        with report_lost_server():
            async with self._engine.connect() as connection:
                raw = await connection.get_raw_connection()
                yield raw.driver_connection

    def _discard_snapshot(self) -> None:
        if self._snapshot is not None:
            self._snapshot.close(True)
            self._snapshot = None
