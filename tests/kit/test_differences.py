"""`/api/state-difference`: the rows that were added, changed and removed since a database was seeded."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import date, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Column, Integer, String, Table
from sqlalchemy.orm import Mapped, mapped_column
from tests.kit.conftest import ToyServer
from tests.kit.toy import SEED
from tests.support.differences import applied, opened, rows_of

from opsgym_api.records.state_difference import RowDifference, StateDifference, TableDifference
from opsgym_domains.kit.database import Database, Origin
from opsgym_domains.kit.databases import Databases
from opsgym_domains.kit.embedded import EmbeddedPostgres
from opsgym_domains.kit.errors import QueryError
from opsgym_domains.kit.postgres_server import PostgresServer
from opsgym_domains.kit.schema import Money, Row, new_metadata
from opsgym_domains.kit.state_difference import BOUNDED, WHOLE, Limits

REX = {
    "animal_id": "ANIMAL_007", "name": "Rex", "keeper": "KEEPER_001", "tame": 1, "weight": 12.5,
    "arrived": "2026-01-01 08:00:00", "changed": None,
}  # fmt: skip


def difference(toy: ToyServer) -> list[TableDifference]:
    answer = toy.client.get("/api/state-difference", headers={"x-database-id": "db"})
    return StateDifference.model_validate(answer.raise_for_status().json()).tables


def happens(toy: ToyServer, *sql: str, status: int = 200) -> None:
    assert toy.client.post("/api/apply-event", json={"database_id": "db", "sql": sql}).status_code == status


def test_a_fresh_database_does_not_differ(toy: ToyServer) -> None:
    toy.seed("db")
    assert difference(toy) == []


def test_differences_begin_with_the_seed_whether_or_not_it_reads_the_time(toy: ToyServer) -> None:
    for seed in (SEED, SEED.replace("datetime('now')", "NULL")):
        toy.seed("db", sql_content=seed)
        assert difference(toy) == []
        toy.call("rename_animal", {"animal_id": "ANIMAL_007", "name": "Max"})
        assert [(table.table, table.changed) for table in difference(toy)] == [("animal", 1)]


def test_every_row_is_added_in_a_database_without_a_seed(toy: ToyServer) -> None:
    toy.seed("db", sql_content="")
    happens(toy, "INSERT INTO keeper VALUES ('KEEPER_009', 'Zoe', 't9')")
    row = {"keeper_id": "KEEPER_009", "name": "Zoe", "token": "t9"}
    added = RowDifference(change="added", key={"keeper_id": "KEEPER_009"}, after=row)
    assert difference(toy) == [TableDifference(table="keeper", added=1, rows=[added])]


def test_tools_and_events_add_change_and_remove_rows(toy: ToyServer) -> None:
    toy.seed("db")
    toy.client.post("/api/clock", json={"database_id": "db", "time": "2026-03-01T09:30:00"}).raise_for_status()
    toy.call("add_animal", {"name": "Tom", "kind": "cat", "weight": 3})
    toy.call("rename_animal", {"animal_id": "ANIMAL_003", "name": "Mimi"})
    toy.call("dismiss_keeper", {"keeper_id": "KEEPER_002"})
    happens(toy, "DELETE FROM animal WHERE animal_id = 'ANIMAL_007'")
    tom = {**REX, "animal_id": "ANIMAL_008", "name": "Tom the cat", "weight": 3}
    tom |= {"arrived": "2026-03-01 09:30:00", "changed": "2026-03-01 09:30:00"}
    mia = {"name": "Mia", "changed": None}, {"name": "Mimi", "changed": "2026-03-01 09:30:00"}
    bob = {"keeper_id": "KEEPER_002", "name": "Bob", "token": "t2"}
    animals = [
        RowDifference(change="changed", key={"animal_id": "ANIMAL_003"}, before=mia[0], after=mia[1]),
        RowDifference(change="removed", key={"animal_id": "ANIMAL_007"}, before=REX),
        RowDifference(change="added", key={"animal_id": "ANIMAL_008"}, after=tom),
    ]
    keepers = [RowDifference(change="removed", key={"keeper_id": "KEEPER_002"}, before=bob)]
    assert difference(toy) == [
        TableDifference(table="animal", added=1, changed=1, removed=1, rows=animals),
        TableDifference(table="keeper", removed=1, rows=keepers),
    ]


@pytest.mark.parametrize(
    "statements",
    [
        ["UPDATE animal SET name = name"],
        ["UPDATE animal SET name = 'x'", "UPDATE animal SET name = 'Rex' WHERE animal_id = 'ANIMAL_007'",
         "UPDATE animal SET name = 'Mia' WHERE animal_id = 'ANIMAL_003'"],
        ["INSERT INTO keeper VALUES ('KEEPER_009', 'Zoe', 't9')", "DELETE FROM keeper WHERE name = 'Zoe'"],
        ["DELETE FROM keeper WHERE name = 'Bob'", "INSERT INTO keeper VALUES ('KEEPER_002', 'Bob', 't2')"],
        ["UPDATE keeper SET keeper_id = 'K' WHERE name = 'Bob'",
         "UPDATE keeper SET keeper_id = 'KEEPER_002' WHERE name = 'Bob'"],
        ["INSERT INTO keeper VALUES ('KEEPER_002', 'Bob', 't2') ON CONFLICT DO NOTHING"],
    ],
    ids=["nothing", "back again", "added, removed", "removed, added", "key and back", "not added"],
)  # fmt: skip
def test_a_change_that_is_undone_is_not_a_difference(toy: ToyServer, statements: list[str]) -> None:
    toy.seed("db")
    for statement in statements:
        happens(toy, statement)
    assert difference(toy) == []


def test_a_row_with_the_key_of_a_removed_one_is_a_changed_row(toy: ToyServer) -> None:
    toy.seed("db")
    happens(toy, "DELETE FROM keeper WHERE name = 'Bob'", "INSERT INTO keeper VALUES ('KEEPER_002', 'Bill', 't2')")
    (table,) = difference(toy)
    key, before, after = {"keeper_id": "KEEPER_002"}, {"name": "Bob"}, {"name": "Bill"}
    assert table.rows == [RowDifference(change="changed", key=key, before=before, after=after)]


def test_a_row_with_another_key_is_another_row(toy: ToyServer) -> None:
    toy.seed("db")
    happens(toy, "UPDATE keeper SET keeper_id = 'KEEPER_000' WHERE name = 'Bob'")
    (table,) = difference(toy)
    assert [(row.change, row.key) for row in table.rows] == [
        ("added", {"keeper_id": "KEEPER_000"}),
        ("removed", {"keeper_id": "KEEPER_002"}),
    ]


def test_refused_calls_and_events_leave_no_trace(toy: ToyServer) -> None:
    toy.seed("db")
    assert toy.call("add_then_fail", {})["isError"]
    happens(toy, "UPDATE animal SET name = 'Max'", "UPDATE animal SET weight = -1", status=400)
    assert difference(toy) == []


def test_a_reset_database_has_no_difference(toy: ToyServer) -> None:
    toy.seed("db")
    happens(toy, "DELETE FROM animal")
    assert [table.removed for table in difference(toy)] == [2]
    toy.client.post("/api/reset-database", json={"database_id": "db"}).raise_for_status()
    assert difference(toy) == []


def test_each_database_is_compared_with_its_own_seed(toy: ToyServer) -> None:
    toy.seed("other")
    toy.seed("db")
    happens(toy, "DELETE FROM animal")
    answer = toy.client.get("/api/state-difference", headers={"x-database-id": "other"})
    assert answer.json() == {"tables": [], "truncated": False}


def test_events_and_queries_cannot_reach_the_stored_seed(toy: ToyServer) -> None:
    toy.seed("db")
    happens(toy, "DELETE FROM animal")
    for statement in ("DELETE FROM _touched", "INSERT INTO _touched VALUES ('keeper', 1, NULL)"):
        happens(toy, statement, status=400)
    assert toy.sql("SELECT * FROM _touched", dialect="postgres").status_code == 400
    assert [table.removed for table in difference(toy)] == [2]


def test_the_whole_difference_is_returned_on_request(toy: ToyServer) -> None:
    toy.seed("db", sql_content="")
    rows = ", ".join(f"('KEEPER_{number:03}', 'Zoe {number}', 't{number}')" for number in range(BOUNDED.rows + 1))
    happens(toy, f"INSERT INTO keeper VALUES {rows}")
    for query, count in (("", BOUNDED.rows), ("?whole=false", BOUNDED.rows), ("?whole=true", BOUNDED.rows + 1)):
        answer = toy.client.get(f"/api/state-difference{query}", headers={"x-database-id": "db"})
        read = StateDifference.model_validate(answer.raise_for_status().json())
        assert (len(read.tables[0].rows), read.truncated) == (count, count == BOUNDED.rows)
    answer = toy.client.get("/api/state-difference?whole=yes", headers={"x-database-id": "db"})
    assert (answer.status_code, answer.json()) == (422, {"detail": "whole must be true or false, found 'yes'"})


@pytest.mark.parametrize(("headers", "status"), [({}, 422), ({"x-database-id": "nobody"}, 404)])
def test_a_missing_or_unknown_database_id_is_refused(toy: ToyServer, headers: dict[str, str], status: int) -> None:
    assert toy.client.get("/api/state-difference", headers=headers).status_code == status


# --- values, keys, bounds ----------------------------------------------------------------------------------------


class KindsRow(Row):
    __abstract__ = True
    metadata = new_metadata()


class Sample(KindsRow):
    """One of each type, under a name that has to be quoted."""

    __tablename__ = "order"

    number: Mapped[int] = mapped_column(primary_key=True)
    batch: Mapped[int] = mapped_column(primary_key=True)
    flag: Mapped[bool | None]
    price: Mapped[Money | None]
    day: Mapped[date | None]
    moment: Mapped[datetime | None]
    words: Mapped[str | None]


Table("visit", KindsRow.metadata, Column("who", String), Column("place", Integer))


KINDS_SEED = """
INSERT INTO "order" VALUES (2, 1, 0, 4.00, '2026-01-02', '2026-01-02 03:04:05', 'two');
INSERT INTO "order" VALUES (10, 1, 1, 10.5, NULL, NULL, NULL);
INSERT INTO visit VALUES ('ann', 1), ('ann', 1), ('ann', 1), (NULL, 2);
"""


@pytest.fixture
async def kinds(postgres: EmbeddedPostgres) -> AsyncIterator[Databases]:
    opened = Databases(PostgresServer(str(postgres.socket_folder)), "kinds", KindsRow.metadata, {})
    await opened.start()
    yield opened
    for database_id in opened.ids():
        await opened.drop(database_id)
    await opened.stop()


async def changed(kinds: Databases, *sql: str) -> Database:
    database = await kinds.create("db", Origin(sql=KINDS_SEED))
    await database.change(sql)
    return database


def stored(content: bytes, table: str) -> list[dict[str, Any]]:
    return list(rows_of(opened(content), table).values())


@pytest.mark.anyio
async def test_values_are_as_snapshots_have_them(kinds: Databases) -> None:
    one = "(1, 1, true, 12.50, '2026-02-03', '2026-02-03 04:05:06.5', 'it''s \"ü\" 😀')"
    other = "(1, 0, false, 7.00, NULL, NULL, '')"
    database = await changed(
        kinds, f'INSERT INTO "order" VALUES {one}, {other}', 'DELETE FROM "order" WHERE number > 1'
    )
    (table,) = (await database.difference()).tables
    seed = await kinds.create("seed", Origin(sql=KINDS_SEED))
    assert [row.key for row in table.rows] == [
        {"number": number, "batch": batch} for number, batch in [(1, 0), (1, 1), (2, 1), (10, 1)]
    ]
    final = stored(await database.snapshot_file(), "order")
    assert [row.after for row in table.rows[:2]] == [final[1], final[0]]
    assert [row.before for row in table.rows[2:]] == stored(await seed.snapshot_file(), "order")
    assert table.rows[1].after["moment"] == "2026-02-03 04:05:06.500000"
    assert [type(row.after["price"]) for row in table.rows[:2]] == [int, float]


@pytest.mark.anyio
async def test_infinite_and_other_special_values_of_postgres_are_compared(kinds: Databases) -> None:
    database = await changed(kinds, "UPDATE \"order\" SET price = 'NaN', day = 'infinity', moment = '-infinity'")
    (table,) = (await database.difference()).tables
    assert table.rows[0].after == {"price": "NaN", "day": "infinity", "moment": "-infinity"}
    assert StateDifference.model_validate_json((await database.difference()).model_dump_json()).tables == [table]


@pytest.mark.anyio
async def test_equal_rows_of_a_table_without_key_are_counted(kinds: Databases) -> None:
    one = "WHERE ctid = (SELECT min(ctid) FROM visit WHERE who = 'ann')"
    database = await changed(
        kinds, f"DELETE FROM visit {one}", f"UPDATE visit SET place = 3 {one}", "UPDATE visit SET who = who"
    )
    (table,) = (await database.difference()).tables
    assert (table.added, table.changed, table.removed) == (1, 0, 2)
    ann = {"who": "ann", "place": 1}
    assert [(row.change, row.key, row.before, row.after) for row in table.rows] == [
        ("removed", {}, ann, {}),
        ("removed", {}, ann, {}),
        ("added", {}, {}, {"who": "ann", "place": 3}),
    ]


@pytest.mark.anyio
async def test_rows_of_all_tables_share_one_bound_and_counts_stay_exact(kinds: Databases) -> None:
    many = f'INSERT INTO "order" SELECT n, 0 FROM generate_series(1, {3 * BOUNDED.rows}) AS n'
    few = f"INSERT INTO visit SELECT 'bob', n FROM generate_series(1, {BOUNDED.rows // 4}) AS n"
    database = await changed(kinds, few, many)
    orders, visits = (await database.difference()).tables
    assert (orders.added, visits.added) == (3 * BOUNDED.rows, BOUNDED.rows // 4)
    assert [row.key["number"] for row in orders.rows] == list(range(1, BOUNDED.rows - BOUNDED.rows // 4 + 1))
    assert [row.after["place"] for row in visits.rows] == list(range(1, BOUNDED.rows // 4 + 1))


@pytest.mark.anyio
async def test_long_texts_are_shortened_and_large_differences_bounded(kinds: Databases) -> None:
    rows = f"SELECT n, 0, repeat('ä', 5000) FROM generate_series(1, {BOUNDED.rows}) AS n"
    database = await changed(
        kinds, f'INSERT INTO "order" (number, batch, words) {rows}', "INSERT INTO visit VALUES ('eve', 1)"
    )
    difference = await database.difference()
    orders, visits = difference.tables
    assert orders.rows[0].after["words"] == "ä" * BOUNDED.text + "… (5000 characters)"
    size = sum(len(row.model_dump_json().encode()) for table in difference.tables for row in table.rows)
    row_size = len(orders.rows[0].model_dump_json().encode())
    assert BOUNDED.size - row_size <= size <= BOUNDED.size
    assert (orders.added, len(visits.rows)) == (BOUNDED.rows, 1)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("limits", "truncated"),
    [
        (Limits(rows=2, size=10_000, text=100), False),
        (Limits(rows=1, size=10_000, text=100), True),
        (Limits(rows=2, size=100, text=100), True),
        (Limits(rows=2, size=10_000, text=99), True),
        (WHOLE, False),
    ],
    ids=["all", "rows", "size", "text", "whole"],
)
async def test_a_difference_says_whether_anything_was_left_out(
    kinds: Databases, limits: Limits, truncated: bool
) -> None:
    database = await changed(
        kinds, "UPDATE \"order\" SET words = repeat('x', 100) WHERE number = 2", "INSERT INTO visit VALUES ('eve', 1)"
    )
    assert (await database.difference(limits)).truncated == truncated


@pytest.mark.anyio
async def test_a_text_that_differs_behind_the_cut_has_changed(kinds: Databases) -> None:
    database = await changed(kinds, "UPDATE \"order\" SET words = 'x'")
    await database.change([f"UPDATE \"order\" SET words = repeat('y', {BOUNDED.text}) WHERE number = 2"])
    (table,) = (await database.difference()).tables
    assert table.rows[0].after == {"words": "y" * BOUNDED.text}


@pytest.mark.anyio
async def test_differences_of_many_databases_are_read_concurrently(kinds: Databases) -> None:
    async def removed(number: int) -> int:
        database = await kinds.create(f"db{number}", Origin(sql=KINDS_SEED))
        await database.change([f'DELETE FROM "order" WHERE number <= {number}'])
        tables = (await database.difference()).tables
        return sum(table.removed for table in tables)

    assert await asyncio.gather(*map(removed, range(12))) == [0, 0, *[1] * 8, 2, 2]


# --- any changes -------------------------------------------------------------------------------------------------

numbers, texts = st.integers(1, 4), st.sampled_from(["NULL", "''", "'a'", "'two'"])
writes = st.one_of(
    st.builds(
        'INSERT INTO "order" (number, batch, words) VALUES ({}, {}, {}) ON CONFLICT DO NOTHING'.format,
        numbers, numbers, texts,
    ),
    st.builds('UPDATE "order" SET words = {}, flag = NOT flag WHERE number = {}'.format, texts, numbers),
    st.builds('UPDATE "order" SET number = number + 10 * {} WHERE batch = {} AND number < 10'.format, numbers, numbers),
    st.builds('DELETE FROM "order" WHERE batch = {}'.format, numbers),
)  # fmt: skip


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(statements=st.lists(writes, max_size=8))
@pytest.mark.anyio
async def test_a_seed_with_its_difference_applied_is_the_final_state(kinds: Databases, statements: list[str]) -> None:
    database = await kinds.create("db", Origin(sql=KINDS_SEED))
    seed = rows_of(opened(await database.snapshot_file()), "order")
    for statement in statements:
        with suppress(QueryError):  # a key that is taken
            await database.change([statement])
    final = rows_of(opened(await database.snapshot_file()), "order")
    tables = (await database.difference()).tables
    assert (applied(seed, tables[0]) if tables else seed) == final
    assert sum(len(table.rows) for table in tables) == sum(seed.get(key) != final.get(key) for key in {*seed, *final})
