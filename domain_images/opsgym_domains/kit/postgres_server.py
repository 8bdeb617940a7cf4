"""Connections to a Postgres server, for a role that may create databases.

Invariant: a server that cannot be reached is always reported as `DatabaseLost`, whichever layer noticed it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import asyncpg
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import StaticPool
from sqlalchemy.util import LRUCache

from opsgym_domains.kit.errors import DatabaseLost

_COMPILED: LRUCache[Any, Any] = LRUCache(1000)
"""Cache of compiled statements, shared by all engines because every database has the same tables."""


@contextmanager
def report_lost_server() -> Iterator[None]:
    """Raises `DatabaseLost` instead of asyncpg's and SQLAlchemy's connection errors."""
    try:
        yield
    except (OSError, asyncpg.PostgresConnectionError, asyncpg.InterfaceError) as error:
        raise DatabaseLost(f"the connection to Postgres was lost: {error}") from None
    except DBAPIError as error:
        cause = error.orig.__cause__ if error.orig is not None else None
        lost = isinstance(cause, OSError | asyncpg.PostgresConnectionError | asyncpg.InterfaceError)
        if error.connection_invalidated or lost:
            raise DatabaseLost(f"the connection to Postgres was lost: {error.orig}") from None
        raise


@dataclass(frozen=True)
class PostgresServer:
    """Address and credentials of a Postgres server."""

    host: str
    port: int = 5432
    user: str = "postgres"
    password: str | None = None

    async def connect(self, database: str) -> asyncpg.Connection:
        """Opens a connection to a database.

        Raises:
            DatabaseLost: The server cannot be reached.
        """
        try:
            return await asyncpg.connect(
                host=self.host,
                port=self.port,
                user=self.user,
                password=self.password,
                database=database,
                # Stated, since variables such as PGSSLMODE, which are for servers of the user's, would decide else.
                ssl=False,
                target_session_attrs="any",
            )
        except (OSError, asyncpg.PostgresError) as error:
            raise DatabaseLost(f"Postgres cannot be reached: {error}") from None

    async def wait(self, seconds: float) -> None:
        """Waits until the server accepts connections.

        Raises:
            DatabaseLost: The server does not accept connections within `seconds`.
        """
        deadline = asyncio.get_running_loop().time() + seconds
        while True:
            try:
                connection = await self.connect("postgres")
            except DatabaseLost:
                if asyncio.get_running_loop().time() > deadline:
                    raise
                await asyncio.sleep(0.05)
            else:
                await connection.close()
                return

    def engine(self, database: str) -> AsyncEngine:
        """An engine with a single connection to a database."""

        async def connect() -> asyncpg.Connection:
            return await self.connect(database)

        engine = create_async_engine("postgresql+asyncpg://", async_creator=connect, poolclass=StaticPool)
        return engine.execution_options(compiled_cache=_COMPILED)


class AdminConnection:
    """The connection that creates, copies and drops databases, one statement at a time.

    CREATE DATABASE locks its template, so concurrent statements would only wait for each other inside Postgres.

    Args:
        server: The server to connect to.
    """

    def __init__(self, server: PostgresServer) -> None:
        self._server = server
        self._connection: asyncpg.Connection | None = None
        self._lock = asyncio.Lock()

    async def open(self) -> None:
        """Opens the connection.

        Raises:
            DatabaseLost: The server cannot be reached.
        """
        self._connection = await self._server.connect("postgres")

    async def close(self) -> None:
        """Closes the connection; later statements raise `DatabaseLost`."""
        if self._connection is not None:
            await self._connection.close()
            self._connection = None

    async def execute(self, sql: str) -> None:
        """Runs a statement without a result.

        Raises:
            DatabaseLost: The server cannot be reached.
        """
        async with self._lock:
            with report_lost_server():
                await self._opened().execute(sql)

    async def fetch_column(self, sql: str) -> list[Any]:
        """Runs a query and returns the first column of its rows.

        Raises:
            DatabaseLost: The server cannot be reached.
        """
        async with self._lock:
            with report_lost_server():
                return [row[0] for row in await self._opened().fetch(sql)]

    async def drop_database(self, name: str) -> None:
        """Drops a database and ends its connections.

        Raises:
            DatabaseLost: The server cannot be reached.
        """
        await self.execute(f"DROP DATABASE {name} WITH (FORCE)")

    def _opened(self) -> asyncpg.Connection:
        if self._connection is None:
            raise DatabaseLost("the gym server is stopping")
        return self._connection
