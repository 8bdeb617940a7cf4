"""`/api/apply-event`: scenario events change rows and clock completely or not at all."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.kit.conftest import ToyServer

RENAME = "UPDATE animal SET name = 'Max' WHERE animal_id = 'ANIMAL_007'"


def apply(toy: ToyServer, *sql: object, status: int = 200, **body: object) -> dict[str, Any]:
    answer = toy.client.post("/api/apply-event", json={"database_id": "db", "sql": list(sql), **body})
    assert answer.status_code == status, answer.text
    body_of_answer: dict[str, Any] = answer.json()
    return body_of_answer


def state(toy: ToyServer) -> object:
    return [toy.sql(f"SELECT * FROM {table}").json()["data"] for table in ("animal", "keeper")]


def added(toy: ToyServer) -> dict[str, Any]:
    result = toy.call("add_animal", {"name": "Tom", "kind": "cat"})
    row: dict[str, Any] = json.loads(result["content"][0]["text"])
    return row


@pytest.mark.parametrize(
    ("statement", "detail"),
    [
        ("UPDATE animal SET name = ", "statement 2: syntax error at end of input"),
        ("UPDATE plants SET name = 'x'", 'statement 2: relation "plants" does not exist'),
        ("UPDATE animal SET keeper = 'KEEPER_404'", '(Key (keeper)=(KEEPER_404) is not present in table "keeper".)'),
        ("UPDATE animal SET weight = -1", 'violates check constraint "ck_animal_weight"'),
        ("DELETE FROM keeper", 'is still referenced from table "animal".)'),
        ("INSERT INTO keeper VALUES ('KEEPER_003', 'Ada', 't')", "(Key (name)=(Ada) already exists.)"),
        ("UPDATE animal SET name = 'x'; DELETE FROM animal", "statement 2: cannot insert multiple commands"),
        ("COMMIT", "statement 2: only INSERT, UPDATE and DELETE are allowed"),
        ("-- quiet\n ROLLBACK", "statement 2: only INSERT, UPDATE and DELETE are allowed"),
        ("DROP TABLE animal", "statement 2: only INSERT, UPDATE and DELETE are allowed"),
        ("SELECT 1", "statement 2: only INSERT, UPDATE and DELETE are allowed"),
        ("WITH one AS (SELECT 1) SELECT * FROM one", "statement 2: it only reads"),
        ("DELETE FROM pg_authid", "statement 2: permission denied for table pg_authid"),
        ("UPDATE animal SET name = pg_read_file('/etc/hostname')", "statement 2: permission denied for function"),
        ("", "statement 2: only INSERT, UPDATE and DELETE are allowed"),
    ],
)
def test_an_event_that_is_refused_changes_neither_rows_nor_clock(toy: ToyServer, statement: str, detail: str) -> None:
    toy.seed("db")
    before = state(toy)
    refused = apply(toy, RENAME, statement, RENAME, time="2030-01-01T00:00:00", status=400)
    assert detail in refused["detail"]
    assert state(toy) == before
    assert toy.client.get("/api/clock", headers={"x-database-id": "db"}).json()["set"] is False
    assert apply(toy, RENAME)["rows"] == [1]


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({"sql": "DELETE FROM animal"}, "sql must be a list of statements"),
        ({"sql": [5]}, "sql must be a list of statements"),
        ({"sql": ["DELETE FROM animal\x00"]}, "sql: statement 1 contains a NUL character"),
        ({"sql": [RENAME], "time": "soon"}, "'soon' is not a valid date"),
        ({"sql": [RENAME], "advance_seconds": -1}, "advance_seconds must be a number of seconds"),
        ({"sql": [RENAME], "advance_seconds": None}, "advance_seconds must be a number of seconds"),
        ({"sql": [RENAME], "time": "9999-12-31", "advance_seconds": 9e9}, "exceeds the year 9999"),
    ],
)
def test_a_malformed_event_is_refused_before_anything_happens(
    toy: ToyServer, body: dict[str, Any], detail: str
) -> None:
    toy.seed("db")
    before = state(toy)
    assert detail in apply(toy, **body, status=422)["detail"]
    assert state(toy) == before


def test_an_event_without_a_known_database_is_refused(toy: ToyServer) -> None:
    assert "'db'" in apply(toy, RENAME, status=404)["detail"]


def test_an_event_changes_rows_that_tools_and_queries_see_at_once(toy: ToyServer) -> None:
    toy.seed("db")
    assert toy.value("SELECT name FROM animal WHERE animal_id = 'ANIMAL_007'") == "Rex"
    join = "INSERT INTO keeper VALUES ('KEEPER_009', 'Eve', 't9')"
    hand_over = "/* all */ WITH new AS (SELECT 'KEEPER_009' AS id) UPDATE animal SET keeper = new.id FROM new"
    assert apply(toy, RENAME, join, hand_over, "DELETE FROM keeper WHERE name = 'Bob'")["rows"] == [1, 1, 2, 1]
    assert toy.value("SELECT name || keeper FROM animal WHERE animal_id = 'ANIMAL_007'") == "MaxKEEPER_009"
    assert "Max" in toy.call("list_animals", {"name": "max"})["content"][0]["text"]
    assert toy.call("list_animals", {}, **{"x-toy-token": "t9"})["isError"] is False
    assert toy.value("SELECT group_concat(keeper_id) FROM keeper") == "KEEPER_001,KEEPER_009"


def test_a_moved_clock_is_the_time_of_new_rows_and_of_queries(toy: ToyServer) -> None:
    toy.seed("db")
    assert apply(toy, time="2027-03-01T08:00:00+02:00") == {"success": True, "rows": [], "time": "2027-03-01T06:00:00"}
    assert added(toy)["arrived"] == "2027-03-01T06:00:00"
    assert apply(toy, RENAME, advance_seconds=3 * 86_400)["time"] == "2027-03-04T06:00:00"
    assert added(toy)["arrived"] == "2027-03-04T06:00:00"
    assert toy.value("SELECT datetime('now')") == "2027-03-04 06:00:00"
    assert toy.value("SELECT max(arrived) < datetime('now', '+1 second') FROM animal") == 1


def test_an_event_without_effect_changes_nothing(toy: ToyServer) -> None:
    toy.seed("db")
    apply(toy, time="2027-03-01T08:00:00")
    before = state(toy)
    assert apply(toy)["time"] == "2027-03-01T08:00:00"
    assert apply(toy, advance_seconds=0)["time"] == "2027-03-01T08:00:00"
    assert state(toy) == before
