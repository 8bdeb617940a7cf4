"""The databases of one domain's server, by `x-database-id`.

Invariant: each id has a Postgres database of its own; a seed that cannot be loaded leaves nothing behind. Identifiers
are counted from the rows of the tables, so that serial calls make runs repeatable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from sqlalchemy import MetaData

from opsgym_domains.kit.clock import Clock, utc_now
from opsgym_domains.kit.connections import Connections
from opsgym_domains.kit.database import Database, Origin
from opsgym_domains.kit.errors import DatabaseLost
from opsgym_domains.kit.postgres_server import AdminConnection, PostgresServer
from opsgym_domains.kit.templates import Templates

MAX_OPEN = 100
"""Number of databases that are connected at a time; the others reconnect within milliseconds. The embedded Postgres
allows more than twice as many connections, since closed connections take a moment to disappear."""


class UnknownDatabase(Exception):
    """No database has this id."""


class Databases:
    """All databases of one domain's server.

    Args:
        server: Postgres.
        domain: Name of the domain; part of template names.
        metadata: The domain's tables.
        seeds: Readers of the seeds that ship with the domain (scripts in SQLite's dialect), by name.
        real_time: Source of real time for every database's clock.
    """

    def __init__(
        self,
        server: PostgresServer,
        domain: str,
        metadata: MetaData,
        seeds: Mapping[str, Callable[[], str]],
        real_time: Callable[[], datetime] = utc_now,
    ) -> None:
        self._server = server
        self._metadata = metadata
        self._real_time = real_time
        self._admin = AdminConnection(server)
        self._templates = Templates(server, self._admin, domain, metadata, seeds)
        self._open: dict[str, Database] = {}
        self._connections = Connections(MAX_OPEN)

    async def start(self) -> None:
        """Connects and creates the templates that the image does not contain.

        Raises:
            DatabaseLost: Postgres cannot be reached.
        """
        await self._admin.open()
        await self._templates.start()

    async def stop(self) -> None:
        """Closes every connection; the databases remain in Postgres."""
        await self._templates.stop()
        for database in self._open.values():
            await database.close()
        self._open.clear()
        await self._admin.close()

    def get(self, database_id: str) -> Database:
        """An existing database.

        Raises:
            UnknownDatabase: No database has this id.
        """
        try:
            return self._open[database_id]
        except KeyError:
            raise UnknownDatabase(database_id) from None

    async def create(self, database_id: str, origin: Origin) -> Database:
        """Creates a database and replaces an existing one with the same id.

        Raises:
            SeedError: The seed cannot be loaded; an existing database with this id is kept.
            UnknownSeed: The domain ships no such seed.
            DatabaseLost: Postgres cannot be reached.
        """
        clock = Clock(self._real_time, await self._templates.start_time(origin))
        name = await self._templates.create(origin, clock.now())
        await self.drop(database_id)
        database = Database(name, origin, self._metadata, self._server.engine(name), clock, self._connections)
        self._open[database_id] = database
        return database

    async def reset(self, database_id: str) -> Database:
        """Restores a database's initial content and the time of its seed; without one its clock runs with real time.

        Raises:
            UnknownDatabase: No database has this id.
        """
        return await self.create(database_id, self.get(database_id).origin)

    async def drop(self, database_id: str) -> int | None:
        """Drops a database and returns its size in bytes; None if no database has this id."""
        database = self._open.pop(database_id, None)
        if database is None:
            return None
        await database.close()
        (size,) = await self._admin.fetch_column(f"SELECT pg_database_size('{database.name}')")
        await self._admin.drop_database(database.name)
        return int(size)

    async def prepare(self, builtin: str) -> bool:
        """Creates the template of a built-in seed; returns False if the seed reads the time and so has no template.

        Raises:
            UnknownSeed: The domain ships no such seed.
            DatabaseLost: Postgres cannot be reached.
        """
        clock = Clock(self._real_time, await self._templates.start_time(Origin(builtin=builtin)))
        return await self._templates.prepare(builtin, clock.now())

    def ids(self) -> list[str]:
        """Ids of all databases."""
        return list(self._open)

    async def alive(self) -> bool:
        """Whether Postgres answers."""
        try:
            await self._admin.fetch_column("SELECT 1")
        except DatabaseLost:
            return False
        return True
