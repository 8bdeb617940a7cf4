"""Template databases: the domain's empty tables, and one template for each seed that was loaded.

Invariant: a template's rows do not depend on the time of loading; a seed that reads the time is executed for every
database instead. At most `MAX_TEMPLATES` seeded templates exist; the least recently copied one is dropped.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import secrets
from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import datetime

import apsw
from sqlalchemy import MetaData

from opsgym_domains.kit import sqlite
from opsgym_domains.kit.clock import seed_time
from opsgym_domains.kit.database import Origin
from opsgym_domains.kit.postgres_schema import READER, WRITER, copy_seed, create_role, postgres_ddl
from opsgym_domains.kit.postgres_server import AdminConnection, PostgresServer, report_lost_server
from opsgym_domains.kit.state_difference import tracking_ddl

MAX_TEMPLATES = 32
"""Number of seeded templates. Copying a template takes half the time of loading its seed; each uses about 8 MB."""


class UnknownSeed(Exception):
    """The domain ships no seed of this name."""


class Templates:
    """Creates databases from templates.

    Args:
        server: Postgres.
        admin: Connection that creates and drops databases.
        domain: Name of the domain; part of template names.
        metadata: The domain's tables.
        seeds: Readers of the seeds that ship with the domain (scripts in SQLite's dialect), by name.
    """

    def __init__(
        self,
        server: PostgresServer,
        admin: AdminConnection,
        domain: str,
        metadata: MetaData,
        seeds: Mapping[str, Callable[[], str]],
    ) -> None:
        self._server = server
        self._admin = admin
        self._metadata = metadata
        self._seeds = seeds
        self._empty = f"template_{domain}"
        self._seeding_lock = asyncio.Lock()
        self._reading_lock = asyncio.Lock()
        self._copies: OrderedDict[str, int] = OrderedDict()
        """Number of copies by seeded template, least recently copied first."""
        self._start_times: dict[str, datetime | None] = {}
        """Time that a built-in seed states, by its name; reading a seed takes longer than copying its template."""
        self._spares: dict[str, asyncio.Task[str]] = {}
        """Copies that are made before they are needed, by template."""
        # Database ids are arbitrary text, so databases get generated names; the token separates servers that share
        # one Postgres.
        self._token = secrets.token_hex(4)
        self._numbers = itertools.count()

    async def start(self) -> None:
        """Creates the roles and the empty template unless they exist, and finds the seeded templates of the image.

        Raises:
            DatabaseLost: Postgres cannot be reached.
        """
        existing = await self._admin.fetch_column("SELECT datname FROM pg_database")
        for role in (READER, WRITER):
            await self._admin.execute(create_role(role))
        if self._empty not in existing:
            await self._create_empty_template()
        self._copies = OrderedDict((name, 0) for name in sorted(existing) if name.startswith(f"{self._empty}_"))

    async def stop(self) -> None:
        """Waits for copies that are being made."""
        await asyncio.gather(*self._spares.values(), return_exceptions=True)
        self._spares.clear()

    async def start_time(self, origin: Origin) -> datetime | None:
        """Time at which a database of this origin stands; None if it follows real time.

        Raises:
            SeedError: The seed states something that is not a time.
            UnknownSeed: The domain ships no such seed.
        """
        if origin.builtin is None:
            return seed_time(origin.sql or "")
        if origin.builtin not in self._seeds:
            raise UnknownSeed(origin.builtin)
        if origin.builtin not in self._start_times:
            async with self._reading_lock:
                await self._read_start_time(origin.builtin)
        return self._start_times[origin.builtin]

    async def _read_start_time(self, builtin: str) -> None:
        """Reads the time that a seed states, unless another database of the seed has just done so."""
        if builtin not in self._start_times:
            # The script of a variant takes up to some seconds to make; calls of other databases go on meanwhile.
            script = await asyncio.to_thread(self._seeds[builtin])
            self._start_times[builtin] = seed_time(script)

    async def create(self, origin: Origin, now: datetime) -> str:
        """Creates a database with an origin's rows and returns its name.

        Args:
            origin: Initial content.
            now: Time that the seed script reads, if it reads the time.

        Raises:
            SeedError: The seed cannot be loaded.
            UnknownSeed: The domain ships no such seed.
            DatabaseLost: Postgres cannot be reached.
        """
        if origin.sql is None and origin.builtin is None:
            return await self._copy(self._empty)
        template = self._template_name(origin)
        async with self._seeding_lock:
            if template not in self._copies:
                untemplated = await self._load_template(origin, template, now)
                if untemplated is not None:
                    return untemplated
            return await self._copy_seeded(template)

    async def prepare(self, builtin: str, now: datetime) -> bool:
        """Creates the template of a built-in seed; returns False if the seed reads the time and so has no template.

        Raises:
            UnknownSeed: The domain ships no such seed.
            DatabaseLost: Postgres cannot be reached.
        """
        origin = Origin(builtin=builtin)
        template = self._template_name(origin)
        async with self._seeding_lock:
            if template in self._copies:
                return True
            untemplated = await self._load_template(origin, template, now)
        if untemplated is None:
            return True
        await self._admin.drop_database(untemplated)
        return False

    async def _create_empty_template(self) -> None:
        await self._admin.execute(f"CREATE DATABASE {self._empty}")
        connection = await self._server.connect(self._empty)
        try:
            async with connection.transaction():
                for statement in [*postgres_ddl(self._metadata), *tracking_ddl(self._metadata)]:
                    await connection.execute(statement)
        finally:
            await connection.close()

    async def _load_template(self, origin: Origin, template: str, now: datetime) -> str | None:
        """Loads a seed as a template. If the seed reads the time, loads it as a database and returns its name."""
        sql = origin.sql if origin.builtin is None else self._seeds[origin.builtin]()
        seeded = await asyncio.to_thread(sqlite.run_seed, self._metadata, sql or "", now)
        try:
            if not seeded.timeless:
                return await self._load(seeded.db, self._new_name())
            await self._load(seeded.db, template)
        finally:
            seeded.db.close(True)
        self._copies[template] = 0
        await self._drop_unused_templates()
        return None

    async def _load(self, seeded: apsw.Connection, name: str) -> str:
        """Creates a database with the rows of a SQLite database."""
        await self._copy(self._empty, name)
        try:
            connection = await self._server.connect(name)
            try:
                with report_lost_server():
                    await copy_seed(connection, self._metadata, seeded)
            finally:
                await connection.close()
        except BaseException:
            await self._admin.drop_database(name)
            raise
        return name

    async def _copy_seeded(self, template: str) -> str:
        """Copies a seeded template. From the second copy on, the next copy is made in advance."""
        self._copies[template] += 1
        self._copies.move_to_end(template)
        spare = self._spares.pop(template, None)
        name = await (self._copy(template) if spare is None else spare)
        if self._copies[template] > 1:
            self._spares[template] = asyncio.create_task(self._copy(template))
        return name

    async def _copy(self, template: str, name: str | None = None) -> str:
        name = name or self._new_name()
        await self._admin.execute(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy")
        return name

    async def _drop_unused_templates(self) -> None:
        while len(self._copies) > MAX_TEMPLATES:
            template, _ = self._copies.popitem(last=False)
            if (spare := self._spares.pop(template, None)) is not None:
                await self._admin.drop_database(await spare)
            await self._admin.drop_database(template)

    def _template_name(self, origin: Origin) -> str:
        if origin.builtin is None:
            return f"{self._empty}_sql_{hashlib.sha256((origin.sql or '').encode()).hexdigest()[:24]}"
        if origin.builtin not in self._seeds:
            raise UnknownSeed(origin.builtin)
        return f"{self._empty}_{origin.builtin.replace('-', '_').replace('@', '_v')}"

    def _new_name(self) -> str:
        return f"gym_{self._token}_{next(self._numbers)}"
