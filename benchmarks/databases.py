"""A fresh database for a task, compared with creating one and loading the same rows as SQL."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

import asyncpg
from sqlalchemy import text

from benchmarks.timing import alternate, milliseconds, p50
from opsgym_domains import registry
from opsgym_domains.kit import sqlite
from opsgym_domains.kit.clock import utc_now
from opsgym_domains.kit.database import Origin
from opsgym_domains.kit.databases import Databases
from opsgym_domains.kit.domain import Domain
from opsgym_domains.kit.embedded import EmbeddedPostgres
from opsgym_domains.kit.postgres_schema import postgres_ddl
from opsgym_domains.kit.postgres_server import PostgresServer
from opsgym_domains.kit.schema import load_order

ROUNDS = 30

Insert = tuple[str, tuple[object, ...]]
"""A statement and its values."""


@dataclass(frozen=True)
class Subject:
    """What databases are made of."""

    domain: str
    table: str
    """Table of the first query."""
    builtin: str
    """Name of a seed of the domain."""


SUBJECTS = (
    Subject("itsm", "incident", "quickstart"),
    Subject("drive", "files", "foundation"),
    Subject("hr", "hr_case", "hospital"),
    Subject("email", "messages", "ferries"),
    Subject("teams", "channel_messages", "bridges"),
)


async def measure() -> list[str]:
    """Lines of the report."""
    return [line for subject in SUBJECTS for line in await _measure(subject)]


async def _measure(subject: Subject) -> list[str]:
    domain = registry.load(subject.domain)
    server = await EmbeddedPostgres.start()
    where = PostgresServer(str(server.socket_folder))
    databases = Databases(where, domain.name, domain.metadata, dict(domain.seeds))
    try:
        await databases.start()
        return await _compare(where, databases, domain, subject)
    finally:
        await databases.stop()
        await server.stop()


async def _compare(where: PostgresServer, databases: Databases, domain: Domain, subject: Subject) -> list[str]:
    sql = domain.seeds[subject.builtin]()
    statements = _inserts(domain, sql)
    ddl = postgres_ddl(domain.metadata)

    async def ready(name: str, origin: Origin) -> None:
        database = await databases.create(name, origin)
        async with database.transaction(writes=False) as session:
            await session.execute(text(f"SELECT count(*) FROM {subject.table}"))

    async def builtin(number: int) -> None:
        await ready(f"builtin-{number}", Origin(builtin=subject.builtin))

    async def again(number: int) -> None:
        await ready(f"again-{number}", Origin(sql=sql))

    async def first(number: int) -> None:
        await ready(f"first-{number}", Origin(sql=f"{sql}\n-- {number}"))

    async def as_sql(number: int) -> None:
        admin = await where.connect("postgres")
        await admin.execute(f"CREATE DATABASE plain_{number} TEMPLATE template0")
        await admin.close()
        await _fill(where, f"plain_{number}", ddl, statements)

    for warm_up in (-1, -2):
        await builtin(warm_up)
        await again(warm_up)
    times = await alternate(ROUNDS, builtin, again, first, as_sql)
    names = ["built-in seed", "known seed script", "new seed script", "created and loaded as SQL"]
    count, tables = len(statements), len(load_order(domain.metadata))
    lines = [f"{subject.domain}: fresh database with {count:,} rows in {tables} tables, {ROUNDS} each:", ""]
    lines += ["| database | p50 | ratio to loading as SQL |", "| --- | --- | --- |"]
    started = time.perf_counter()
    await asyncio.gather(*(builtin(ROUNDS + number) for number in range(ROUNDS)))
    concurrent = (time.perf_counter() - started) / ROUNDS
    note = f"Until the first query returns. {ROUNDS} built-in ones at the same time: {milliseconds(concurrent)} each."
    return [*lines, *_rows(names, times, p50(times[-1])), "", note, ""]


def _rows(names: Sequence[str], times: Sequence[Sequence[float]], base: float) -> list[str]:
    return [
        f"| {name} | {milliseconds(p50(taken))} | {p50(taken) / base:.2f} |"
        for name, taken in zip(names, times, strict=True)
    ]


async def _fill(
    where: PostgresServer, database: str, ddl: list[str], statements: list[tuple[str, tuple[object, ...]]]
) -> None:
    connection: asyncpg.Connection = await where.connect(database)
    for statement in ddl:
        await connection.execute(statement)
    # As the fast path does: foreign keys are not checked while rows are loaded.
    await connection.execute("SET session_replication_role = replica")
    for statement, values in statements:
        await connection.execute(statement, *values)
    await connection.close()


def _inserts(domain: Domain, sql: str) -> list[Insert]:
    seeded = sqlite.run_seed(domain.metadata, sql, utc_now())
    inserts: list[Insert] = []
    for table in load_order(domain.metadata):
        columns = ", ".join(f'"{column.name}"' for column in table.columns)
        marks = ", ".join(f"${n}" for n in range(1, len(table.columns) + 1))
        statement = f'INSERT INTO "{table.name}" ({columns}) VALUES ({marks})'
        inserts += [(statement, row) for row in sqlite.postgres_rows(seeded.db, table)]
    return inserts
