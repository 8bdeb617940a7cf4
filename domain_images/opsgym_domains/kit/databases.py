"""One Postgres database for each `x-database-id`.

Invariant: calls on one database run one after the other, each in a transaction of its own; a failed call or seed
leaves nothing behind. Identifiers are counted from what is in the tables, so serial calls make runs repeatable.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import re
import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import apsw
import asyncpg
from sqlalchemy import MetaData, Table, create_mock_engine, make_url
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, create_async_engine
from sqlalchemy.pool import StaticPool
from sqlalchemy.util import LRUCache

from opsgym_api.evalrun import Access
from opsgym_api.records import StateDifference
from opsgym_domains.kit import sqlite
from opsgym_domains.kit.clock import Clock, utc_now
from opsgym_domains.kit.connections import Connections
from opsgym_domains.kit.differences import read_difference, tracking_ddl
from opsgym_domains.kit.errors import DatabaseLost, QueryError, SeedError
from opsgym_domains.kit.schema import COUNTERS, ROW_ORDER, is_counted, load_order
from opsgym_domains.kit.sqlite import QueryResult

__all__ = ["Database", "Databases", "Origin", "PostgresServer", "UnknownDatabase", "UnknownSeed"]

MAX_OPEN = 100
"""Databases that are connected at a time; others connect again in milliseconds. The server allows more than twice as
many, since closed connections take a moment to go."""
MAX_TEMPLATES = 32
"""Seeds that are kept as templates: a copy of one is made in half the time of loading it. Each takes about 8 MB."""
READER = "opsgym_reader"
"""Role that runs `postgres` verifier queries: it may read tables and nothing else."""
WRITER = "opsgym_writer"
"""Role that carries out events: it may change rows and nothing else."""
_CHANGES_ROWS = re.compile(r"(\s|--[^\n]*\n|/\*.*?\*/)*(INSERT|UPDATE|DELETE|WITH)\b", re.IGNORECASE | re.DOTALL)
"""How an event's statement begins; anything else could end the transaction that makes it all or nothing."""

_COMPILED: LRUCache[Any, Any] = LRUCache(1000)
"""Compiled statements, shared: every database has the same tables."""


class UnknownDatabase(Exception):
    """No database has this id."""


class UnknownSeed(Exception):
    """The domain ships no seed of this name."""


@dataclass(frozen=True)
class PostgresServer:
    """Where Postgres is, for a role that may create databases."""

    host: str
    port: int = 5432
    user: str = "postgres"
    password: str | None = None

    async def connect(self, database: str) -> asyncpg.Connection:
        """A connection to a database.

        Raises:
            DatabaseLost: The server cannot be reached.
        """
        try:
            return await asyncpg.connect(
                host=self.host, port=self.port, user=self.user, password=self.password, database=database
            )
        except (OSError, asyncpg.PostgresError) as error:
            raise DatabaseLost(f"Postgres cannot be reached: {error}") from None

    async def wait(self, seconds: float) -> None:
        """Waits until Postgres answers.

        Raises:
            DatabaseLost: It did not within `seconds`.
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


@dataclass(frozen=True)
class Origin:
    """What a database starts from, kept so that it can be reset."""

    sql: str | None = None
    """Seed script in SQLite's dialect."""
    builtin: str | None = None
    """Seed that ships with the domain."""
    access: Access = Access.PUBLISHED
    """How strictly calls on the database are judged."""


class Database:
    """An open database: its clock, its single connection, and the SQLite snapshot of its present state."""

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
        self._connections = connections
        self._lock = asyncio.Lock()
        self._wanted = 0
        self._snapshot: apsw.Connection | None = None

    @asynccontextmanager
    async def transaction(self, *, writes: bool) -> AsyncIterator[AsyncSession]:
        """A session whose work is kept if the block ends well and undone if it raises.

        Args:
            writes: Whether the block may change rows.

        Raises:
            DatabaseLost: Postgres went away.
        """
        async with self._used():
            try:
                async with AsyncSession(self._engine, expire_on_commit=False, autoflush=False) as session:
                    async with session.begin():
                        yield session
                    if writes:
                        self._forget_snapshot()
            except (OSError, asyncpg.InterfaceError) as error:
                raise DatabaseLost(f"Postgres went away: {error}") from None
            except DBAPIError as error:
                if error.connection_invalidated or _is_connection_error(error):
                    raise DatabaseLost(f"Postgres went away: {error.orig}") from None
                raise

    async def query(self, sql: str) -> QueryResult:
        """Runs a query in SQLite's dialect on a snapshot of the present state.

        Raises:
            QueryError: The query fails or may not be run.
            DatabaseLost: Postgres went away.
        """
        async with self._used():
            db = await self._current_snapshot()
            return await asyncio.to_thread(sqlite.query, db, sql, self.clock.now())

    async def query_postgres(self, sql: str) -> QueryResult:
        """Runs a query in Postgres' dialect, read-only.

        Raises:
            QueryError: The query fails, writes, or takes too long.
            DatabaseLost: Postgres went away.
        """
        async with self._used(), self._raw() as connection:
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

    async def change(self, statements: Sequence[str]) -> list[int]:
        """Runs statements in Postgres' dialect that change rows, all or none of them; how many rows each changed.

        Raises:
            QueryError: One fails, breaks a constraint, takes too long, or does not change rows.
            DatabaseLost: Postgres went away.
        """
        async with self._used(), self._raw() as connection:
            async with connection.transaction():
                await connection.execute(f"SET LOCAL statement_timeout = {int(sqlite.QUERY_SECONDS * 1000)}")
                changed = [await _change(connection, number, sql) for number, sql in enumerate(statements, start=1)]
            self._forget_snapshot()
        return changed

    async def snapshot_file(self) -> bytes:
        """The present state as a SQLite file."""
        async with self._used():
            db = await self._current_snapshot()
            return await asyncio.to_thread(db.serialize, "main")

    async def difference(self) -> StateDifference:
        """How the present state differs from the seed.

        Raises:
            DatabaseLost: Postgres went away.
        """
        async with self._used(), self._raw() as connection, connection.transaction(readonly=True):
            return await read_difference(connection, self._metadata)

    async def load(self, db: apsw.Connection) -> None:
        """Copies a seeded SQLite database into this empty one.

        Raises:
            SeedError: A value does not fit its column, or rows break a constraint that SQLite does not know.
        """
        async with self._used(), self._raw() as connection:
            try:
                async with connection.transaction():
                    # References are not checked while loading: published servers run with foreign keys off, and a
                    # published seed must load as it is. Later writes are checked. Nor do triggers fire: differences
                    # begin with what is loaded.
                    await connection.execute("SET LOCAL session_replication_role = replica")
                    for table in load_order(self._metadata):
                        await _copy_rows(connection, table, sqlite.postgres_rows(db, table))
                    if any(map(is_counted, load_order(self._metadata))):
                        counted = list(db.execute("SELECT name, seq FROM sqlite_sequence"))
                        await connection.copy_records_to_table(COUNTERS, records=counted)
            except asyncpg.IntegrityConstraintViolationError as error:
                raise SeedError(f"{error.table_name}: {error.detail or error}") from None
            except asyncpg.DataError as error:
                raise SeedError(str(error)) from None
            self._forget_snapshot()

    async def close(self) -> None:
        """Closes the connection and frees the snapshot."""
        await self.disconnect()
        self._connections.forget(self)

    async def disconnect(self) -> None:
        """Closes the connection; the next use opens another."""
        async with self._lock:
            self._forget_snapshot()
            await self._engine.dispose()

    @asynccontextmanager
    async def _used(self) -> AsyncIterator[None]:
        """Around every use: one at a time, and counted among the connected."""
        self._wanted += 1
        try:
            async with self._lock, self._connections.use(self):
                yield
        finally:
            self._wanted -= 1

    @property
    def idle(self) -> bool:
        """Whether nothing uses the database right now or waits for it."""
        return self._wanted == 0

    async def _current_snapshot(self) -> apsw.Connection:
        if self._snapshot is None:
            tables = load_order(self._metadata)
            async with self._raw() as connection, connection.transaction(readonly=True):
                rows = [(table.name, await connection.fetch(_select_in_order(table))) for table in tables]
            self._snapshot = await asyncio.to_thread(sqlite.snapshot, self._metadata, rows)
        return self._snapshot

    @asynccontextmanager
    async def _raw(self) -> AsyncIterator[asyncpg.Connection]:
        try:
            async with self._engine.connect() as connection:
                raw = await connection.get_raw_connection()
                yield raw.driver_connection
        except (OSError, asyncpg.PostgresConnectionError, asyncpg.InterfaceError) as error:
            raise DatabaseLost(f"Postgres went away: {error}") from None

    def _forget_snapshot(self) -> None:
        if self._snapshot is not None:
            self._snapshot.close(True)
            self._snapshot = None


class Databases:
    """All databases of one domain's server.

    Args:
        server: Postgres.
        domain: Name of the domain; part of template names.
        metadata: The domain's tables.
        seeds: Seeds that ship with the domain: scripts in SQLite's dialect, by name.
        real_time: Source of real time for every database's clock.
    """

    def __init__(
        self,
        server: PostgresServer,
        domain: str,
        metadata: MetaData,
        seeds: dict[str, Callable[[], str]],
        real_time: Callable[[], datetime] = utc_now,
    ) -> None:
        self._server = server
        self._metadata = metadata
        self._seeds = seeds
        self._real_time = real_time
        self._template = f"template_{domain}"
        self._open: dict[str, Database] = {}
        self._connections = Connections(MAX_OPEN)
        self._admin: asyncpg.Connection | None = None
        # CREATE DATABASE locks its template; one at a time is also the fastest.
        self._admin_lock = asyncio.Lock()
        self._seeding_lock = asyncio.Lock()
        self._uses: OrderedDict[str, int] = OrderedDict()
        """Seeded templates by how often they were copied, the one used last at the end."""
        self._spares: dict[str, asyncio.Task[str]] = {}
        # Ids are any text, so databases have names of our own; the token keeps two servers of one Postgres apart.
        self._token = secrets.token_hex(4)
        self._numbers = itertools.count()

    async def start(self) -> None:
        """Connects and makes the schema template, unless the image brought one.

        Raises:
            DatabaseLost: Postgres cannot be reached.
        """
        self._admin = await self._server.connect("postgres")
        async with self._admin_lock:
            known = {row["datname"] for row in await self._admin.fetch("SELECT datname FROM pg_database")}
            for role in (READER, WRITER):
                await self._admin.execute(
                    f"DO $$ BEGIN CREATE ROLE {role} NOLOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$"
                )
            if self._template not in known:
                await self._make_template()
            self._uses = OrderedDict((name, 0) for name in sorted(known) if name.startswith(f"{self._template}_"))

    async def stop(self) -> None:
        """Closes every connection; databases stay."""
        await asyncio.gather(*self._spares.values(), return_exceptions=True)
        self._spares.clear()
        for database in self._open.values():
            await database.close()
        self._open.clear()
        if self._admin is not None:
            await self._admin.close()
            self._admin = None

    def get(self, database_id: str) -> Database:
        """An existing database.

        Raises:
            UnknownDatabase: There is none with this id.
        """
        try:
            return self._open[database_id]
        except KeyError:
            raise UnknownDatabase(database_id) from None

    async def create(self, database_id: str, origin: Origin) -> Database:
        """Makes a database, replacing one of the same id.

        Raises:
            SeedError: The seed cannot be loaded; the older database of this id, if any, stays.
            UnknownSeed: The domain ships no such seed.
            DatabaseLost: Postgres went away.
        """
        clock = Clock(self._real_time)
        empty = origin.sql is None and origin.builtin is None
        name = await (self._copy(self._template) if empty else self._seeded(origin, clock))
        await self.drop(database_id)
        database = Database(name, origin, self._metadata, self._server.engine(name), clock, self._connections)
        self._open[database_id] = database
        return database

    async def reset(self, database_id: str) -> Database:
        """Puts a database back to what it started from; its clock is real again.

        Raises:
            UnknownDatabase: There is none with this id.
        """
        return await self.create(database_id, self.get(database_id).origin)

    async def drop(self, database_id: str) -> int | None:
        """Removes a database; its size in bytes, or None if there was none."""
        database = self._open.pop(database_id, None)
        if database is None:
            return None
        await database.close()
        size = await self._execute_admin(f"SELECT pg_database_size('{database.name}')")
        await self._execute_admin(f"DROP DATABASE {database.name} WITH (FORCE)")
        return size

    async def prepare(self, builtin: str) -> bool:
        """Makes a built-in seed's template; False if the seed reads the time, and so is executed whenever it is used.

        Raises:
            UnknownSeed: The domain ships no such seed.
            DatabaseLost: Postgres went away.
        """
        origin = Origin(builtin=builtin)
        template = self._template_name(origin)
        async with self._seeding_lock:
            if template in self._uses:
                return True
            leftover = await self._make_seeded(origin, template, Clock(self._real_time))
        if leftover is None:
            return True
        await self._execute_admin(f"DROP DATABASE {leftover} WITH (FORCE)")
        return False

    def ids(self) -> list[str]:
        """Ids of all databases."""
        return list(self._open)

    async def alive(self) -> bool:
        """Whether Postgres answers."""
        try:
            await self._execute_admin("SELECT 1")
        except DatabaseLost:
            return False
        return True

    async def _execute_admin(self, sql: str) -> int | None:
        async with self._admin_lock:
            try:
                if self._admin is None:
                    raise DatabaseLost("the server is stopping")
                if sql.startswith("SELECT"):
                    value: int | None = await self._admin.fetchval(sql)
                    return value
                await self._admin.execute(sql)
            except (OSError, asyncpg.PostgresConnectionError, asyncpg.InterfaceError) as error:
                raise DatabaseLost(f"Postgres went away: {error}") from None
            return None

    async def _make_template(self) -> None:
        assert self._admin is not None
        await self._admin.execute(f"CREATE DATABASE {self._template}")
        connection = await self._server.connect(self._template)
        try:
            async with connection.transaction():
                for statement in [*postgres_ddl(self._metadata), *tracking_ddl(self._metadata)]:
                    await connection.execute(statement)
        finally:
            await connection.close()

    async def _seeded(self, origin: Origin, clock: Clock) -> str:
        """Makes a database with an origin's rows, from a template if the same rows were made before; its name."""
        template = self._template_name(origin)
        async with self._seeding_lock:
            if template not in self._uses and (name := await self._make_seeded(origin, template, clock)) is not None:
                return name
            return await self._take(template)

    async def _make_seeded(self, origin: Origin, template: str, clock: Clock) -> str | None:
        """Makes the template of an origin's rows. One that reads the time has none: a database's name instead."""
        sql = origin.sql if origin.builtin is None else self._seeds[origin.builtin]()
        seeded = await asyncio.to_thread(sqlite.run_seed, self._metadata, sql or "", clock.now())
        if not seeded.timeless:
            return await self._load(seeded.db, self._new_name())
        self._uses[await self._load(seeded.db, template)] = 0
        await self._forget_templates()
        return None

    async def _take(self, template: str) -> str:
        """A copy of a template. One that is asked for again has the next copy made before it is needed."""
        self._uses[template] += 1
        self._uses.move_to_end(template)
        spare = self._spares.pop(template, None)
        name = await (self._copy(template) if spare is None else spare)
        if self._uses[template] > 1:
            self._spares[template] = asyncio.create_task(self._copy(template))
        return name

    async def _forget_templates(self) -> None:
        while len(self._uses) > MAX_TEMPLATES:
            template, _ = self._uses.popitem(last=False)
            if (spare := self._spares.pop(template, None)) is not None:
                await self._execute_admin(f"DROP DATABASE {await spare} WITH (FORCE)")
            await self._execute_admin(f"DROP DATABASE {template} WITH (FORCE)")

    def _template_name(self, origin: Origin) -> str:
        if origin.builtin is None:
            return f"{self._template}_sql_{hashlib.sha256((origin.sql or '').encode()).hexdigest()[:24]}"
        if origin.builtin not in self._seeds:
            raise UnknownSeed(origin.builtin)
        return f"{self._template}_{origin.builtin.replace('-', '_')}"

    async def _load(self, db: apsw.Connection, name: str) -> str:
        """Makes a database with the rows of a SQLite one; its name."""
        await self._copy(self._template, name)
        clock = Clock(self._real_time)
        database = Database(name, Origin(), self._metadata, self._server.engine(name), clock, self._connections)
        try:
            await database.load(db)
        except BaseException:
            await database.close()
            await self._execute_admin(f"DROP DATABASE {name} WITH (FORCE)")
            raise
        finally:
            db.close(True)
        await database.close()
        return name

    async def _copy(self, template: str, name: str | None = None) -> str:
        """Copies a database; the copy's name."""
        name = name or self._new_name()
        await self._execute_admin(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy")
        return name

    def _new_name(self) -> str:
        return f"gym_{self._token}_{next(self._numbers)}"


def postgres_ddl(metadata: MetaData) -> list[str]:
    """Statements that make the domain's tables in Postgres, the order of rows kept in a column of its own."""
    statements: list[str] = []
    dialect = make_url("postgresql+asyncpg://").get_dialect()()

    def keep(statement: Any, *_args: Any, **_options: Any) -> None:
        statements.append(str(statement.compile(dialect=dialect)))

    engine = create_mock_engine("postgresql+asyncpg://", keep)
    metadata.create_all(engine, checkfirst=False)
    for table in load_order(metadata):
        quoted = f'"{table.name}"'
        statements.append(f"ALTER TABLE {quoted} ADD COLUMN {ROW_ORDER} bigint GENERATED BY DEFAULT AS IDENTITY")
    statements.append(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {READER}")
    statements.append(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {WRITER}")
    if any(map(is_counted, load_order(metadata))):
        statements.append(f"CREATE TABLE {COUNTERS} (name text PRIMARY KEY, last integer NOT NULL)")
    return statements


async def _change(connection: asyncpg.Connection, number: int, sql: str) -> int:
    """Runs one statement of several; how many rows it changed."""
    if not _CHANGES_ROWS.match(sql):
        raise QueryError(f"statement {number}: only INSERT, UPDATE and DELETE are allowed")
    try:
        await connection.execute(f"SET LOCAL ROLE {WRITER}")  # again and again: a statement could have changed it
        statement = await connection.prepare(sql)  # refuses several statements in one
        await statement.fetch()
        verb, *_, count = statement.get_statusmsg().split()
    except asyncpg.PostgresConnectionError:
        raise
    except (asyncpg.PostgresError, ValueError) as error:
        detail = getattr(error, "detail", None)
        raise QueryError(f"statement {number}: {error}{f' ({detail})' if detail else ''}") from None
    if verb == "SELECT":
        raise QueryError(f"statement {number}: it only reads")
    return int(count)


async def _copy_rows(connection: asyncpg.Connection, table: Table, rows: Sequence[tuple[Any, ...]]) -> None:
    if rows:
        await connection.copy_records_to_table(table.name, records=rows, columns=[c.name for c in table.columns])


def _select_in_order(table: Table) -> str:
    columns = ", ".join(f'"{column.name}"' for column in table.columns)
    return f'SELECT {columns} FROM "{table.name}" ORDER BY {ROW_ORDER}'  # noqa: S608 - names of our own tables


def _is_connection_error(error: DBAPIError) -> bool:
    cause = error.orig.__cause__ if error.orig is not None else None
    return isinstance(cause, OSError | asyncpg.PostgresConnectionError | asyncpg.InterfaceError)
