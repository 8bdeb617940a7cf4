"""Databases by id: isolated, seeded completely or not at all, queried in SQLite on a copy."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text
from tests.kit.toy import DOMAIN, SEED

from opsgym_domains.kit import sqlite
from opsgym_domains.kit.database import Database, Origin
from opsgym_domains.kit.databases import MAX_OPEN, Databases, UnknownDatabase
from opsgym_domains.kit.embedded import EmbeddedPostgres
from opsgym_domains.kit.errors import QueryError, SeedError
from opsgym_domains.kit.postgres_server import PostgresServer
from opsgym_domains.kit.templates import UnknownSeed

pytestmark = pytest.mark.anyio

LATER = datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC)


async def delete_all_and_fail(database: Database) -> None:
    async with database.transaction(writes=True) as session:
        await session.execute(text("DELETE FROM animal"))
        raise ZeroDivisionError


async def names(databases: Databases, database_id: str) -> list[str]:
    result = await databases.get(database_id).query("SELECT name FROM animal")
    return [row[0] for row in result.rows]


async def count_connections(databases: Databases) -> int:
    result = await databases.get("db0").query_postgres(
        "SELECT count(*) FROM pg_stat_activity WHERE datname LIKE 'gym%'"
    )
    return int(str(result.rows[0][0]))


async def until_connections_are_at_most(number: int, databases: Databases) -> None:
    """Waits, since Postgres ends a connection some time after it was closed."""
    async with asyncio.timeout(60):
        while await count_connections(databases) > number:  # noqa: ASYNC110 - Postgres signals no end of a connection
            await asyncio.sleep(0.05)


async def test_databases_do_not_see_each_other(databases: Databases) -> None:
    one = await databases.create("one", Origin(sql=SEED))
    await databases.create("two", Origin(builtin="zoo"))
    async with one.transaction(writes=True) as session:
        await session.execute(text("DELETE FROM animal"))
    assert await names(databases, "one") == []
    assert await names(databases, "two") == ["Rex", "Mia"]


@pytest.mark.parametrize("odd", ["it's", 'a"b', "x; DROP DATABASE postgres; --", "ü" * 300, "../..", "%s", "\\", " "])
async def test_any_text_is_a_database_id(databases: Databases, odd: str) -> None:
    await databases.create(odd, Origin(builtin="zoo"))
    assert await names(databases, odd) == ["Rex", "Mia"]
    assert await databases.drop(odd)
    with pytest.raises(UnknownDatabase):
        databases.get(odd)


@pytest.mark.parametrize(
    ("bad", "named"),
    [
        ("INSERT INTO nowhere VALUES (1)", "nowhere"),
        ("INSERT INTO keeper VALUES ('KEEPER_001', 'again', 't')", "keeper.keeper_id"),
        ("INSERT INTO animal VALUES ('A', 'x', 'KEEPER_001', 'maybe', 1, NULL, NULL)", "animal.tame: 'maybe'"),
        ("INSERT INTO animal VALUES ('A', 'x', 'KEEPER_001', 1, 1, 'yesterday', NULL)", "animal.arrived: 'yesterday'"),
        ("ATTACH DATABASE '/tmp/elsewhere.db' AS other", "authorized"),
        ("INSERT INTO keeper VALUES ('", "syntax error"),
    ],
)
async def test_a_seed_with_an_error_leaves_the_existing_database_unchanged(
    databases: Databases, bad: str, named: str
) -> None:
    await databases.create("db", Origin(builtin="zoo"))
    with pytest.raises(SeedError, match=named.replace(".", r"\.")):
        await databases.create("db", Origin(sql=f"{SEED};{bad};INSERT INTO keeper VALUES ('K', 'late', 't')"))
    assert await names(databases, "db") == ["Rex", "Mia"]
    with pytest.raises(SeedError):
        await databases.create("fresh", Origin(sql=f"{SEED};{bad}"))
    with pytest.raises(UnknownDatabase):
        databases.get("fresh")


async def test_a_seed_may_hold_transactions_pragmas_and_dangling_references(databases: Databases) -> None:
    dangling = "INSERT INTO animal VALUES ('A', 'lost', 'KEEPER_404', 1, NULL, NULL, NULL);"
    await databases.create("db", Origin(sql=f"PRAGMA foreign_keys=OFF; BEGIN; {SEED} {dangling} COMMIT;"))
    assert await names(databases, "db") == ["Rex", "Mia", "lost"]


async def test_a_seed_that_reads_the_time_is_executed_for_every_database(postgres: EmbeddedPostgres) -> None:
    times = iter([datetime(2031, 1, day, tzinfo=UTC).replace(tzinfo=None) for day in range(1, 32)])
    databases = Databases(
        PostgresServer(str(postgres.socket_folder)), "timed", DOMAIN.metadata, {}, lambda: next(times)
    )
    await databases.start()
    arrivals: list[object] = []
    for database_id in ("one", "two"):
        database = await databases.create(database_id, Origin(sql=SEED))
        arrivals += (await database.query("SELECT arrived FROM animal WHERE name = 'Mia'")).rows
        await databases.drop(database_id)
    await databases.stop()
    assert len(set(arrivals)) == 2


async def test_a_seed_that_does_not_read_the_time_is_copied_and_copies_are_independent(databases: Databases) -> None:
    timeless = SEED.replace("datetime('now')", "'2026-01-02 08:00:00'")
    first = await databases.create("one", Origin(sql=timeless))
    async with first.transaction(writes=True) as session:
        await session.execute(text("DELETE FROM animal"))
    await databases.create("two", Origin(sql=timeless))
    assert (await names(databases, "one"), await names(databases, "two")) == ([], ["Rex", "Mia"])


@pytest.mark.parametrize(("time", "prepared"), [("'2026-01-02 08:00:00'", True), ("datetime('now')", False)])
async def test_a_built_in_seed_is_prepared_once_unless_it_reads_the_time(
    postgres: EmbeddedPostgres, time: str, prepared: bool
) -> None:
    seed = SEED.replace("datetime('now')", time)
    name = f"prepared_{prepared}".lower()
    where = PostgresServer(str(postgres.socket_folder))
    databases = Databases(where, name, DOMAIN.metadata, {"zoo": lambda: seed})
    await databases.start()
    assert [await databases.prepare("zoo"), await databases.prepare("zoo")] == [prepared, prepared]
    made = "SELECT datname FROM pg_database WHERE datname = $1"
    connection = await where.connect("postgres")
    template = await connection.fetchval(made, f"template_{name}_zoo")
    await connection.close()
    assert (template is not None) == prepared
    await databases.create("db", Origin(builtin="zoo"))
    assert await names(databases, "db") == ["Rex", "Mia"]
    with pytest.raises(UnknownSeed):
        await databases.prepare("zoos")
    await databases.drop("db")
    await databases.stop()


async def test_an_unknown_builtin_seed_is_refused(databases: Databases) -> None:
    with pytest.raises(UnknownSeed):
        await databases.create("db", Origin(builtin="aquarium"))


async def test_a_reset_restores_the_seed_and_real_time(databases: Databases) -> None:
    database = await databases.create("db", Origin(sql=SEED))
    database.clock.set(LATER)
    async with database.transaction(writes=True) as session:
        await session.execute(text("DELETE FROM animal"))
    await databases.reset("db")
    assert await names(databases, "db") == ["Rex", "Mia"]
    assert not databases.get("db").clock.is_set


@pytest.mark.parametrize(
    ("line", "time"),
    [
        ("-- now: 2026-11-16T10:00:00", "2026-11-16 10:00:00"),
        ("--now: 2026-11-16T10:00:00+02:00 ", "2026-11-16 08:00:00"),
        ("-- now: 2026-11-16", "2026-11-16 00:00:00"),
    ],
)
async def test_a_database_stands_at_the_time_of_its_seed(databases: Databases, line: str, time: str) -> None:
    database = await databases.create("db", Origin(sql=f"{line}\n{SEED}"))
    assert database.clock.is_set
    assert (await database.query("SELECT datetime('now')")).rows == ((time,),)
    database.clock.set(LATER)
    again = await databases.reset("db")
    assert (await again.query("SELECT datetime('now'), count(*) FROM animal")).rows == ((time, 2),)


async def test_a_seed_reads_the_time_that_it_states(databases: Databases) -> None:
    insert = "INSERT INTO keeper VALUES ('KEEPER_009', datetime('now'), 't9')"
    database = await databases.create("db", Origin(sql=f"-- now: 2026-11-16T10:00:00\n{SEED};{insert}"))
    rows = (await database.query("SELECT name FROM keeper WHERE keeper_id = 'KEEPER_009'")).rows
    assert rows == (("2026-11-16 10:00:00",),)


async def test_a_seed_without_a_time_in_its_first_line_follows_real_time(databases: Databases) -> None:
    for script in (SEED, f"\n-- now: 2026-11-16T10:00:00\n{SEED}", f"-- it is now: 2026-11-16\n{SEED}"):
        assert not (await databases.create("db", Origin(sql=script))).clock.is_set
    assert not (await databases.create("db", Origin())).clock.is_set


@pytest.mark.parametrize("text", ["noon", "", "2026-13-01", "0001-01-01T00:00:00+23:00"])
async def test_a_seed_that_states_no_valid_time_is_refused(databases: Databases, text: str) -> None:
    await databases.create("db", Origin(builtin="zoo"))
    with pytest.raises(SeedError, match=r"line 1: .* is not a time; write it as `-- now: 2026-11-16T10:00:00`"):
        await databases.create("db", Origin(sql=f"-- now: {text}\n{SEED}"))
    assert await names(databases, "db") == ["Rex", "Mia"]


async def test_queries_read_every_committed_write_and_none_of_a_failed_call(databases: Databases) -> None:
    database = await databases.create("db", Origin(builtin="zoo"))
    assert len(await names(databases, "db")) == 2
    async with database.transaction(writes=True) as session:
        await session.execute(text("UPDATE animal SET name = 'Max' WHERE name = 'Rex'"))
    assert await names(databases, "db") == ["Max", "Mia"], "an update keeps the order of insertion"
    with pytest.raises(ZeroDivisionError):
        await delete_all_and_fail(database)
    assert await names(databases, "db") == ["Max", "Mia"]


async def test_a_query_returns_values_as_sqlite_has_them(databases: Databases) -> None:
    database = await databases.create("db", Origin(builtin="zoo"))
    result = await database.query(
        "SELECT tame, weight, arrived, typeof(weight), changed FROM animal WHERE name = 'Rex'"
    )
    assert result.rows == ((1, 12.5, "2026-01-01 08:00:00", "real", None),)
    result = await database.query("SELECT tame, weight, typeof(weight) FROM animal WHERE name = 'Mia'")
    assert result.rows == ((0, 4, "integer"),)


async def test_queries_tools_and_time_functions_share_the_clock(databases: Databases) -> None:
    database = await databases.create("db", Origin(builtin="zoo"))
    database.clock.set(LATER)
    now = "SELECT datetime('now'), CURRENT_TIMESTAMP, strftime('%Y', 'now')"
    assert (await database.query(now)).rows == (("2031-05-06 07:08:09", "2031-05-06 07:08:09", "2031"),)
    database.clock.set(database.clock.now() + timedelta(days=3))
    assert (await database.query("SELECT date('now')")).rows == (("2031-05-09",),)


@pytest.mark.parametrize(
    ("query", "refusal"),
    [
        ("DELETE FROM animal", "read-only"),
        ("SELECT 1; SELECT 2", "one statement"),
        ("PRAGMA table_info(animal)", "read-only"),
        ("", "empty"),
        ("-- nothing", "empty"),
        ("SELECT colour FROM animal", "no such column"),
        ("ATTACH 'x' AS y", "read-only"),
    ],
)
async def test_a_query_that_is_not_a_single_read_is_refused(databases: Databases, query: str, refusal: str) -> None:
    database = await databases.create("db", Origin(builtin="zoo"))
    with pytest.raises(QueryError, match=refusal):
        await database.query(query)
    assert await names(databases, "db") == ["Rex", "Mia"]


async def test_an_endless_query_is_cancelled(databases: Databases, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "QUERY_SECONDS", 0.05)
    database = await databases.create("db", Origin(builtin="zoo"))
    endless = "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT count(*) FROM r"
    with pytest.raises(QueryError, match="longer than"):
        await database.query(endless)
    assert len(await names(databases, "db")) == 2


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM animal",
        "SELECT 1; SELECT 2",
        "SELECT pg_read_file('/etc/passwd')",
        "COPY animal TO PROGRAM 'cat'",
        "SELECT colour FROM animal",
        "",
    ],
)
async def test_a_postgres_query_can_only_read_tables(databases: Databases, query: str) -> None:
    database = await databases.create("db", Origin(builtin="zoo"))
    with pytest.raises(QueryError):
        await database.query_postgres(query)
    counted = await database.query_postgres("SELECT count(*) AS n, sum(weight) AS kilograms FROM animal")
    assert (counted.columns, counted.rows) == (("n", "kilograms"), ((2, 16.5),))


async def test_databases_of_one_seed_that_are_made_at_once_read_it_as_often_as_one(postgres: EmbeddedPostgres) -> None:
    reads = {"first": 0, "second": 0}

    def reader(name: str) -> Callable[[], str]:
        def read() -> str:
            reads[name] += 1
            return SEED.replace("datetime('now')", "'2026-01-02 08:00:00'")

        return read

    seeds = {name: reader(name) for name in reads}
    opened = Databases(PostgresServer(str(postgres.socket_folder)), DOMAIN.name, DOMAIN.metadata, seeds)
    await opened.start()
    await opened.create("one", Origin(builtin="first"))
    await asyncio.gather(*(opened.create(f"of five {n}", Origin(builtin="second")) for n in range(5)))
    assert reads["second"] == reads["first"]
    for database_id in opened.ids():
        await opened.drop(database_id)
    await opened.stop()


async def test_more_databases_than_connections_work_side_by_side(databases: Databases) -> None:
    ids = [f"db{n}" for n in range(MAX_OPEN + 30)]
    await asyncio.gather(*(databases.create(name, Origin(builtin="zoo")) for name in ids))
    for _ in range(2):
        names_of_each = await asyncio.gather(*(names(databases, name) for name in ids))
        assert names_of_each == [["Rex", "Mia"]] * len(ids)
        await until_connections_are_at_most(MAX_OPEN + 10, databases)  # a server and its templates have some of theirs
