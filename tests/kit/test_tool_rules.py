"""The rules that the kit keeps for every tool, proved exhaustively on a made-up domain, on HTTP and a real Postgres.

`tests/domains` tries a sample of each real domain's tools.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from typing import Any

import apsw
import pytest
from tests.kit.bookshop import DOMAIN, HEADER, NOW, SEED
from tests.kit.conftest import serving
from tests.support.gym import Gym, GymDatabase

from opsgym_domains.kit.schema import sqlite_ddl

BOOK = {"title": "New", "author": "AUTHOR_001"}
FIRST = {"book_id": "BOOK_001"}
COLUMN = {"writer": "author"}
EXACT = ("genre", "writer", "pages", "price", "in_print", "printed")
PARTIAL = ("title", "notes")


@pytest.fixture(scope="module")
def gym(toy_postgres: str) -> Iterator[Gym]:
    with serving(DOMAIN, toy_postgres) as server:
        yield Gym(str(server.client.base_url), server.client, toy_postgres)


def new_database(gym: Gym) -> GymDatabase:
    made = gym.database(SEED, **{HEADER: "a1"})
    made.set_clock(NOW)
    return made


@pytest.fixture
def database(gym: Gym) -> Iterator[GymDatabase]:
    made = new_database(gym)
    yield made
    gym.drop(made)


@pytest.fixture(scope="module")
def unchanged(gym: Gym) -> Iterator[GymDatabase]:
    made = new_database(gym)
    before = made.digest()
    yield made
    assert made.digest() == before, "a call that must be refused, or only reads, changed the database"
    gym.drop(made)


@pytest.fixture(scope="module")
def sqlite() -> apsw.Connection:
    db = apsw.Connection(":memory:")
    db.execute(sqlite_ddl(DOMAIN.metadata))
    for _ in db.execute(SEED):
        pass
    return db


def ids(database: GymDatabase, **filters: Any) -> list[str]:
    return [row["book_id"] for row in database.call("list_books", **filters).data]


def expected(sqlite: apsw.Connection, where: str = "1", *values: Any) -> list[str]:
    query = f"SELECT book_id FROM book WHERE {where} ORDER BY added_on DESC, rowid DESC"
    return [str(row[0]) for row in sqlite.execute(query, values)]


def stored_values(sqlite: apsw.Connection, name: str) -> list[Any]:
    column = COLUMN.get(name, name)
    values = [value for (value,) in sqlite.execute(f"SELECT DISTINCT {column} FROM book WHERE {column} NOTNULL")]
    return [bool(value) for value in values] if name == "in_print" else values


# --- lists ---------------------------------------------------------------------------------------------------------


def test_lists_are_ordered_newest_first_or_by_key(unchanged: GymDatabase) -> None:
    assert ids(unchanged) == ["BOOK_001", "BOOK_004", "BOOK_007", "BOOK_002"]
    assert [row["review_id"] for row in unchanged.call("list_reviews").data] == [1, 3]


def test_rows_of_one_time_are_listed_last_written_first(database: GymDatabase) -> None:
    for title in ("One", "Two", "Three"):
        assert database.call_with("add_book", BOOK | {"title": title}).data
    assert [row["title"] for row in database.call("list_books").data[:3]] == ["Three", "Two", "One"]


@pytest.mark.parametrize("blank", [None, ""])
def test_a_null_or_blank_filter_does_not_filter(unchanged: GymDatabase, blank: str | None) -> None:
    texts = ("title", "notes", "genre", "writer", "printed", "created_after", "created_before")
    names = (*texts, "pages", "price", "in_print") if blank is None else texts
    for count in (1, len(names)):
        for chosen in combinations(names, count):
            assert ids(unchanged, **dict.fromkeys(chosen, blank)) == ids(unchanged), chosen


@pytest.mark.parametrize("name", EXACT)
def test_an_exact_filter_selects_the_rows_with_the_value(
    unchanged: GymDatabase, sqlite: apsw.Connection, name: str
) -> None:
    for value in stored_values(sqlite, name):
        assert ids(unchanged, **{name: value}) == expected(sqlite, f"{COLUMN.get(name, name)} = ?", value), value


def test_a_part_of_a_value_selects_nothing_with_an_exact_filter(unchanged: GymDatabase) -> None:
    assert ids(unchanged, writer="AUTHOR_00") == []
    assert ids(unchanged, pages=12) == []
    assert ids(unchanged, price=9) == []


@pytest.mark.parametrize(
    ("filters", "selected"),
    [
        ({"title": "RAIN"}, ["BOOK_001", "BOOK_004", "BOOK_002"]),
        ({"title": "%"}, ["BOOK_002"]),
        ({"title": "0% r"}, ["BOOK_002"]),
        ({"title": "_"}, ["BOOK_007"]),
        ({"title": "s_a"}, ["BOOK_007"]),
        ({"title": "R_in"}, []),
        ({"title": "\\"}, []),
        ({"title": "snow"}, []),
        ({"notes": "SIGNED"}, ["BOOK_007", "BOOK_002"]),
        ({"title": "rain", "notes": "e"}, ["BOOK_004", "BOOK_002"]),
    ],
)
def test_a_text_filter_matches_in_part_in_any_case_and_without_wildcards(
    unchanged: GymDatabase, filters: dict[str, str], selected: list[str]
) -> None:
    assert ids(unchanged, **filters) == selected


def test_filters_are_combined_with_and(unchanged: GymDatabase, sqlite: apsw.Connection) -> None:
    for one, other in combinations(EXACT, 2):
        where = f"{COLUMN.get(one, one)} = ? AND {COLUMN.get(other, other)} = ?"
        for a, b in product(stored_values(sqlite, one), stored_values(sqlite, other)):
            assert ids(unchanged, **{one: a, other: b}) == expected(sqlite, where, a, b), (one, a, other, b)


def test_a_date_range_includes_both_ends(unchanged: GymDatabase, sqlite: apsw.Connection) -> None:
    for (time,) in sqlite.execute("SELECT DISTINCT added_on FROM book"):
        assert ids(unchanged, created_after=time) == expected(sqlite, "added_on >= ?", time)
        assert ids(unchanged, created_before=time) == expected(sqlite, "added_on <= ?", time)
        assert ids(unchanged, created_after=time, created_before=time) == expected(sqlite, "added_on = ?", time)


@pytest.mark.parametrize("text", ["soon", "2025-13-01", "31/12/2025", "2025-02-30T00:00:00", "1e9", "0000-00-00"])
def test_an_unreadable_date_is_refused_and_named(unchanged: GymDatabase, text: str) -> None:
    for name in ("created_after", "created_before", "printed"):
        outcome = unchanged.call_with("list_books", {name: text})
        assert outcome.code == "INVALID_DATE"
        assert text in outcome.message
    assert unchanged.call_with("add_book", BOOK | {"printed": text}).code == "INVALID_DATE"


def test_an_inverted_range_is_refused(unchanged: GymDatabase) -> None:
    outcome = unchanged.call("list_books", created_after="2025-03-02", created_before="2025-03-01T23:59:59")
    assert outcome.code == "INVALID_DATE_RANGE"


@pytest.mark.parametrize(
    "text",
    [
        "2025-01-02T08:00:00", "2025-01-02 08:00:00", "2025-01-02T08:00:00Z", "2025-01-02T08:00",
        "2025-01-02T10:00:00+02:00", "2025-01-02T08:00:00.000Z", " 2025-01-02 08:00 ", "20250102T08",
        "01/02/2025 08:00", "01/02/2025 08:00:00",
    ],
)  # fmt: skip
def test_a_time_is_read_in_every_usual_form(unchanged: GymDatabase, text: str) -> None:
    assert ids(unchanged, created_after=text, created_before=text) == ["BOOK_004", "BOOK_007"]


@pytest.mark.parametrize("text", ["2025-01-02", "01/02/2025", "01-02-2025", "20250102"])
def test_a_day_is_its_midnight(unchanged: GymDatabase, text: str) -> None:
    assert ids(unchanged, created_before=text) == ["BOOK_002"]


def test_counts_by_a_column_leave_out_null_and_include_requested_values(unchanged: GymDatabase) -> None:
    assert unchanged.call("count_books").data == {"field-guide": 1, "novel": 1, "poetry": 1}
    assert unchanged.call("count_books", genres=["poetry", ""]).data == {"poetry": 1}


# --- arguments -----------------------------------------------------------------------------------------------------

ENUMS: list[tuple[str, dict[str, Any], Any]] = [
    ("list_books", {}, lambda value: {"genre": value}),
    ("count_books", {}, lambda value: {"genres": ["novel", value]}),
    ("add_book", BOOK, lambda value: {"genre": value}),
    ("update_book", {"book_id": "NO_SUCH_ID"}, lambda value: {"genre": value}),
    ("add_series", {}, lambda value: {"details": {"title": "x", "genre": value}}),
]


@pytest.mark.parametrize(("tool", "given", "with_value"), ENUMS)
def test_a_value_outside_of_an_enumeration_is_refused_before_anything_is_looked_up(
    unchanged: GymDatabase, tool: str, given: dict[str, Any], with_value: Any
) -> None:
    for wrong in ("Novel", "NOVEL", "field_guide", " novel", "novel ", "diary"):
        outcome = unchanged.call_with(tool, given | with_value(wrong))
        assert outcome.codes == ["INVALID_ENUM_VALUE"], wrong
        assert all(allowed in outcome.text for allowed in ("novel", "poetry", "field-guide"))


@pytest.mark.parametrize("genre", ["novel", "poetry", "field-guide"])
def test_every_allowed_value_is_accepted(database: GymDatabase, genre: str) -> None:
    assert database.call_with("add_book", BOOK | {"genre": genre}).data["genre"] == genre
    assert database.call("add_series", details={"title": "x", "genre": genre}).data["genre"] == genre


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("add_book", {"title": "x"}, "MISSING_FIELD"),
        ("add_book", BOOK | {"author": None}, "MISSING_FIELD"),
        ("add_book", BOOK | {"title": ""}, "STRING_TOO_SHORT"),
        ("add_book", BOOK | {"title": "   "}, "MISSING_FIELD"),
        ("add_book", BOOK | {"title": "x" * 61}, "STRING_TOO_LONG"),
        ("add_book", BOOK | {"title": "x" * 41}, "STRING_TOO_LONG"),
        ("add_book", BOOK | {"notes": "x" * 21}, "STRING_TOO_LONG"),
        ("add_book", BOOK | {"title": 5}, "INVALID_TYPE"),
        ("add_book", BOOK | {"pages": 1.5}, "INVALID_TYPE"),
        ("add_book", BOOK | {"pages": True}, "INVALID_TYPE"),
        ("add_book", BOOK | {"pages": "120"}, "INVALID_TYPE"),
        ("add_book", BOOK | {"pages": -6}, "VALUE_TOO_SMALL"),
        ("add_book", BOOK | {"pages": 0}, "NO_PAGES"),
        ("add_book", BOOK | {"pages": 2**31}, "NUMBER_TOO_LARGE"),
        ("add_book", BOOK | {"pages": 10**400}, "NUMBER_TOO_LARGE"),
        ("add_book", BOOK | {"price": 1e8}, "NUMBER_TOO_LARGE"),
        ("add_book", BOOK | {"price": float("nan")}, "INVALID_VALUE"),
        ("add_book", BOOK | {"price": float("inf")}, "INVALID_VALUE"),
        ("add_book", BOOK | {"notes": "a\x00b"}, "INVALID_VALUE"),
        ("add_book", BOOK | {"notes": "\ud800"}, "INVALID_VALUE"),
        ("add_book", BOOK | {"isbn_form": "12"}, "INVALID_ISBN"),
        ("add_book", BOOK | {"contact": "ada@"}, "INVALID_FORMAT"),
        ("add_book", BOOK | {"colour": "red"}, "UNKNOWN_FIELD"),
        ("add_series", {"details": {}}, "MISSING_FIELD"),
        ("add_series", {"details": []}, "INVALID_TYPE"),
        ("add_series", {"details": {"title": 5}}, "INVALID_TYPE"),
        ("list_books", {"in_print": "true"}, "INVALID_TYPE"),
        ("list_books", {"in_print": 1}, "INVALID_TYPE"),
        ("list_books", {"pages": 10**400}, "NUMBER_TOO_LARGE"),
        ("count_books", {"genres": "novel"}, "INVALID_TYPE"),
        ("count_books", {"genres": [5]}, "INVALID_TYPE"),
    ],
)
def test_an_argument_that_does_not_fit_is_refused(
    unchanged: GymDatabase, tool: str, arguments: dict[str, Any], code: str
) -> None:
    assert code in unchanged.call_with(tool, arguments).codes


def test_every_wrong_argument_is_reported_at_once(unchanged: GymDatabase) -> None:
    outcome = unchanged.call("add_book", title=5, genre="diary", colour="red")
    assert sorted(outcome.codes) == ["INVALID_ENUM_VALUE", "INVALID_TYPE", "MISSING_FIELD", "UNKNOWN_FIELD"]


def test_an_open_tool_ignores_unknown_arguments(database: GymDatabase) -> None:
    assert database.call_with("update_book", FIRST | {"notes": "x", "colour": "red"}).data["notes"] == "x"


def test_a_whole_number_may_be_written_with_a_point(database: GymDatabase) -> None:
    assert database.call_with("add_book", BOOK | {"pages": 45.0}).data["pages"] == 45


def test_a_price_is_stored_to_the_cent(database: GymDatabase) -> None:
    assert database.call_with("add_book", BOOK | {"price": 12.344}).data["price"] == 12.34
    assert len(ids(database, price=12.34)) == 1


# --- creates -------------------------------------------------------------------------------------------------------


def test_a_new_row_has_the_next_key_the_clocks_time_and_null_for_absent_values(database: GymDatabase) -> None:
    row = database.call_with("add_book", BOOK).data
    absent = dict.fromkeys(("genre", "editor", "pages", "price", "printed", "notes"))
    assert row == {"book_id": "BOOK_008", **BOOK, **absent, "in_print": True, "added_on": NOW, "changed_on": NOW}


def test_prefixed_keys_grow_beyond_three_digits(gym: Gym) -> None:
    database = gym.database(SEED + "UPDATE book SET book_id = 'BOOK_999' WHERE book_id = 'BOOK_007';")
    assert [database.call_with("add_book", BOOK).data["book_id"] for _ in range(2)] == ["BOOK_1000", "BOOK_1001"]
    gym.drop(database)


def test_the_first_key_of_an_empty_table_is_one(gym: Gym) -> None:
    database = gym.database("INSERT INTO author VALUES ('AUTHOR_001', 'Ada', 'a1');")
    assert database.call_with("add_book", BOOK).data["book_id"] == "BOOK_001"
    assert database.call("add_review", book_id="BOOK_001", stars=1).data["review_id"] == 1
    gym.drop(database)


def test_a_counted_key_is_one_more_than_any_row_ever_had(database: GymDatabase) -> None:
    assert database.call("add_review", book_id="BOOK_001", stars=1).data["review_id"] == 10
    assert database.call("add_review", book_id="BOOK_404", stars=1).code == "BOOK_NOT_FOUND"
    assert database.call("add_review", book_id="BOOK_001", stars=1).data["review_id"] == 11


def test_a_refused_create_uses_up_no_key(database: GymDatabase) -> None:
    assert database.call_with("add_book", BOOK | {"editor": "AUTHOR_404"}).code == "AUTHOR_NOT_FOUND"
    assert database.call_with("add_book", BOOK).data["book_id"] == "BOOK_008"


@pytest.mark.parametrize("blank", ["", "  "])
@pytest.mark.parametrize("name", ["editor", "notes", "printed"])
def test_a_blank_text_reference_or_date_is_stored_as_null(database: GymDatabase, name: str, blank: str) -> None:
    assert database.call_with("add_book", BOOK | {name: blank}).data[name] is None
    assert database.value(f"SELECT count(*) FROM book WHERE {name} = ''") == 0


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("add_book", BOOK | {"author": "AUTHOR_404"}, "AUTHOR_NOT_FOUND"),
        ("add_book", BOOK | {"editor": "author_001"}, "AUTHOR_NOT_FOUND"),
        ("update_book", FIRST | {"editor": "AUTHOR_404"}, "AUTHOR_NOT_FOUND"),
        ("add_review", {"book_id": "BOOK_404", "stars": 1}, "BOOK_NOT_FOUND"),
        ("get_book", {"book_id": "BOOK_404"}, "BOOK_NOT_FOUND"),
        ("get_book", {"book_id": "book_001"}, "BOOK_NOT_FOUND"),
        ("update_book", {"book_id": "BOOK_404", "notes": "x"}, "BOOK_NOT_FOUND"),
        ("remove_author", {"author_id": "AUTHOR_404"}, "AUTHOR_NOT_FOUND"),
    ],
)
def test_an_unknown_row_is_refused_by_its_name(
    unchanged: GymDatabase, tool: str, arguments: dict[str, Any], code: str
) -> None:
    outcome = unchanged.call_with(tool, arguments)
    assert outcome.code == code
    assert any(repr(value) in outcome.message for value in arguments.values())


@pytest.mark.parametrize("key", [0, -1, 404, 2**31, 2**80])
def test_a_counted_key_that_no_row_has_is_refused(unchanged: GymDatabase, key: int) -> None:
    assert unchanged.call("update_review", review_id=key, stars=1).code == "REVIEW_NOT_FOUND"


# --- updates -------------------------------------------------------------------------------------------------------


def test_an_update_changes_the_given_fields_and_the_time_of_update_only(database: GymDatabase) -> None:
    before = database.rows("SELECT * FROM book ORDER BY rowid")
    row = database.call_with("update_book", FIRST | {"pages": 99, "notes": "x"}).data
    assert (row["pages"], row["notes"], row["changed_on"]) == (99, "x", NOW)
    after = database.rows("SELECT * FROM book ORDER BY rowid")
    assert after[1:] == before[1:]
    assert after[0] == before[0] | {"pages": 99, "notes": "x", "changed_on": NOW.replace("T", " ")}


def test_an_update_without_a_field_is_refused_before_its_row_is_looked_up(unchanged: GymDatabase) -> None:
    for key in ("BOOK_001", "BOOK_404"):
        assert unchanged.call("update_book", book_id=key).code == "NO_FIELDS_TO_UPDATE"
        assert unchanged.call("update_book", book_id=key, notes=None, pages=None).code == "NO_FIELDS_TO_UPDATE"


def test_an_update_to_the_stored_values_is_refused(unchanged: GymDatabase) -> None:
    stored: dict[str, Any] = {"title": "Rain", "genre": "novel", "author": "AUTHOR_001", "pages": 120, "price": 9.5,
              "in_print": True, "printed": "2024-01-31"}  # fmt: skip
    calls: list[dict[str, Any]] = [{name: value} for name, value in stored.items()]
    for given in (*calls, stored, {"notes": ""}, {"price": 9.501}):
        assert unchanged.call_with("update_book", FIRST | given).code == "NO_CHANGES_DETECTED", given


def test_a_table_may_accept_an_update_to_the_stored_values(database: GymDatabase) -> None:
    row = database.call("update_review", review_id=1, stars=5).data
    assert (row["stars"], row["changed_on"]) == (5, NOW)


def test_a_blank_value_clears_an_optional_field_and_not_a_required_one(database: GymDatabase) -> None:
    two = {"book_id": "BOOK_002"}
    assert database.call_with("update_book", two | {"notes": "", "editor": " "}).data["notes"] is None
    assert database.call_with("update_book", two | {"notes": ""}).code == "NO_CHANGES_DETECTED"
    for name in ("title", "author"):
        assert database.call_with("update_book", two | {name: ""}).code == "MISSING_FIELD", name


def test_null_inside_an_object_is_a_value_and_an_absent_field_is_not_given(database: GymDatabase) -> None:
    assert database.call("add_series", details={"title": "x", "genre": None}).data["genre"] is None
    assert database.call("add_series", details={"title": "x"}).data["genre"] == "novel"


# --- deletes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("filters", [{}, {"title": None}, {"title": "", "genre": ""}, {"pages": 40}])
def test_a_delete_without_one_of_its_selecting_filters_is_refused(
    unchanged: GymDatabase, filters: dict[str, Any]
) -> None:
    assert unchanged.call_with("remove_books", filters).codes == ["MISSING_FIELD"]


@pytest.mark.parametrize(
    ("filters", "removed"),
    [
        ({"writer": "AUTHOR_002"}, {"BOOK_002", "BOOK_004"}),
        ({"writer": "AUTHOR_002", "in_print": True}, {"BOOK_004"}),
        ({"created_before": "2025-01-02 08:00:00"}, {"BOOK_002", "BOOK_004", "BOOK_007"}),
        ({"created_before": "2025-01-02 07:59:59"}, {"BOOK_002"}),
        ({"genre": "novel"}, {"BOOK_001"}),
    ],
)
def test_a_delete_removes_the_rows_that_meet_every_filter(
    database: GymDatabase, filters: dict[str, Any], removed: set[str]
) -> None:
    before = set(ids(database))
    assert database.call_with("remove_books", filters).data == {"deleted": len(removed)}
    assert before - set(ids(database)) == removed


def test_a_delete_takes_dependent_rows_along_where_the_table_says_so(database: GymDatabase) -> None:
    assert database.call("remove_books", genre="novel").data == {"deleted": 1}
    assert database.call("list_reviews").data == []


def test_a_delete_of_a_row_that_others_refer_to_is_refused(unchanged: GymDatabase) -> None:
    outcome = unchanged.call("remove_author", author_id="AUTHOR_002")
    assert outcome.code == "STILL_REFERENCED"
    assert "book" in outcome.message


def test_a_delete_that_no_row_meets_is_refused(unchanged: GymDatabase) -> None:
    assert unchanged.call("remove_books", genre="poetry", writer="AUTHOR_001").code == "BOOK_NOT_FOUND"


# --- identity ------------------------------------------------------------------------------------------------------


def test_an_unknown_user_is_refused_by_every_tool_before_its_arguments_are_checked(unchanged: GymDatabase) -> None:
    for tool in DOMAIN.toolbox.tools:
        outcome = unchanged.call_with(tool, {"title": 5}, **{HEADER: "stolen"})
        assert outcome.code == "UNAUTHORIZED", tool
        assert "stolen" not in outcome.text
