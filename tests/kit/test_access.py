"""Access `strict`: who may call, which rows a caller reads, which writes are accepted; `published` checks none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
from sqlalchemy import FromClause
from sqlalchemy.sql.elements import ColumnElement
from tests.kit.conftest import ToyServer, serving
from tests.kit.library import DOMAIN, Shift

from opsgym_domains.kit.gym import Actor


@dataclass(frozen=True)
class Library:
    server: ToyServer

    def open(self, access: str | None) -> None:
        self.server.seed("db", builtin="branches", **({"access": access} if access else {})).raise_for_status()

    def call(self, clerk: str | None, tool: str, **arguments: Any) -> Any:
        """What a tool returns, or `CODE: message` of its refusal."""
        result = self.server.call(tool, arguments, **({"x-clerk": clerk} if clerk else {}))
        answer = json.loads(result["content"][0]["text"])
        if not result["isError"]:
            return answer
        (detail,) = answer["detail"]["details"]
        return f"{detail['code']}: {detail['message']}"

    def state(self) -> list[Any]:
        return [self.server.sql(f"SELECT * FROM {table}").json()["data"] for table in ("book", "loan", "clerk")]


@pytest.fixture(scope="module")
def library(toy_postgres: str) -> Iterator[Library]:
    with serving(DOMAIN, toy_postgres) as server:
        yield Library(server)


@pytest.fixture
def strict(library: Library) -> Library:
    library.open("strict")
    return library


REFUSED: list[tuple[str | None, str, dict[str, str], str]] = [
    (None, "list_books", {}, "ACTING_USER_REQUIRED: rule A-1: "),
    (None, "add_book", {"title": "new", "keeper": "c1"}, "ACTING_USER_REQUIRED: rule A-1: "),
    ("nobody", "list_books", {}, "UNAUTHORIZED: "),
    ("c3", "list_books", {}, "USER_INACTIVE: rule A-1: the account c3 "),
    ("c2", "add_book", {"title": "new", "keeper": "c3"}, "PERMISSION_DENIED: rule A-2: c2 (guest) may not change"),
    ("c4", "list_books", {}, "PERMISSION_DENIED: rule A-2: c4 (stranger) may not read books"),
    ("c4", "lend", {"book_id": "BOOK_001"}, "PERMISSION_DENIED: rule A-2: c4 (stranger) may not change books"),
    ("c1", "get_book", {"book_id": "BOOK_003"}, "BOOK_NOT_FOUND: there is no book 'BOOK_003'"),
    ("c1", "find_book", {"title": "far"}, "BOOK_NOT_FOUND: there is no book 'far'"),
    ("c1", "change_book", {"book_id": "BOOK_003", "column": "title", "value": "x"}, "BOOK_NOT_FOUND: "),
    ("c1", "drop_book", {"book_id": "BOOK_003"}, "BOOK_NOT_FOUND: "),
    ("c1", "lend", {"book_id": "BOOK_003"}, "BOOK_NOT_FOUND: there is no book 'BOOK_003'"),
    ("c1", "add_book", {"title": "new", "keeper": "s1"}, "CLERK_NOT_FOUND: there is no clerk 's1'"),
    ("c1", "add_book", {"title": "new", "keeper": "c9"}, "CLERK_NOT_FOUND: there is no clerk 'c9'"),
    ("c1", "change_book", {"book_id": "BOOK_001", "column": "keeper", "value": "s1"}, "CLERK_NOT_FOUND: "),
    ("c1", "change_book", {"book_id": "BOOK_001", "column": "org_id", "value": "south"}, "CROSS_ORGANIZATION_ACCESS: "),
    ("c1", "add_book", {"title": "far", "keeper": "c3"},
         "DUPLICATE_TITLE: a book that you may not see already has title"),
    ("c1", "add_book", {"title": "old", "keeper": "c3"}, "DUPLICATE_TITLE: book BOOK_001 already has title 'old'"),
    ("c1", "add_book", {"title": "NEW", "keeper": "c3"}, "SHOUTING: rule B-1: write the title in lower case"),
    ("c1", "add_book", {"title": "new", "keeper": "c1"}, "ONE_BOOK_EACH: rule B-2: find another keeper than c1"),
    ("c1", "change_book", {"book_id": "BOOK_001", "column": "title", "value": "NEW"}, "SHOUTING: "),
    ("c1", "change_book", {"book_id": "BOOK_001", "column": "keeper", "value": "c2"}, "ONE_BOOK_EACH: "),
    ("c1", "drop_book", {"book_id": "BOOK_001"}, "STILL_LENT: rule B-3: wait until it is back"),
]  # fmt: skip


@pytest.mark.parametrize(("clerk", "tool", "arguments", "refusal"), REFUSED)
def test_strict_access_refuses_with_the_rule_and_leaves_no_trace(
    strict: Library, clerk: str | None, tool: str, arguments: dict[str, str], refusal: str
) -> None:
    before = strict.state()
    assert str(strict.call(clerk, tool, **arguments)).startswith(refusal)
    assert strict.state() == before


@pytest.mark.parametrize("access", ["published", None])
@pytest.mark.parametrize(
    ("clerk", "tool", "arguments"),
    [(clerk, tool, given) for clerk, tool, given, refusal in REFUSED if refusal.split(":")[0] not in
     {"UNAUTHORIZED", "DUPLICATE_TITLE"} and given.get("keeper") != "c9"],
)  # fmt: skip
def test_published_access_accepts_the_same_calls(
    library: Library, access: str | None, clerk: str | None, tool: str, arguments: dict[str, str]
) -> None:
    library.open(access)
    assert isinstance(library.call(clerk, tool, **arguments), list | dict | int)


def test_strict_access_shows_only_the_rows_of_the_own_organisation(strict: Library) -> None:
    assert [row["book_id"] for row in strict.call("c2", "list_books")] == ["BOOK_002", "BOOK_001"]
    assert [row["loan_id"] for row in strict.call("c2", "list_loans")] == ["LOAN_001"]
    assert strict.call("c2", "count_books") == {"c1": 1, "c2": 1}
    assert [row["book_id"] for row in strict.call("s1", "list_books")] == ["BOOK_003"]


def test_strict_access_carries_out_allowed_calls(strict: Library) -> None:
    assert strict.call("c1", "add_book", title="new", keeper="c3")["book_id"] == "BOOK_004"
    assert strict.call("c1", "lend", book_id="BOOK_004")["loan_id"] == "LOAN_003"
    assert strict.call("c1", "change_book", book_id="BOOK_001", column="keeper", value="c4")["keeper"] == "c4"
    assert strict.call("c1", "drop_book", book_id="BOOK_002") == 1


def test_rules_judge_only_what_a_write_changes(strict: Library) -> None:
    changed = strict.call("c1", "change_book", book_id="BOOK_002", column="keeper", value="c4")
    assert (changed["title"], changed["keeper"]) == ("LOUD", "c4")


def test_strict_access_survives_a_reset(strict: Library) -> None:
    strict.server.client.post("/api/reset-database", json={"database_id": "db"}).raise_for_status()
    assert strict.call(None, "list_books").startswith("ACTING_USER_REQUIRED")


def test_a_domain_without_access_rules_offers_published_only(toy: ToyServer) -> None:
    answer = toy.seed("db", builtin="zoo", access="strict")
    assert (answer.status_code, answer.json()["detail"]) == (
        400,
        "access 'strict' is not available in toy; available: published",
    )


@pytest.mark.parametrize("access", ["published", "strict"])
def test_a_key_of_several_columns_finds_and_changes_one_row(library: Library, access: str) -> None:
    library.open(access)
    assert library.call("c1", "get_shift", clerk_id="c1", day=2)["desk"] == "back"
    assert library.call("c1", "change_shift", clerk_id="c1", day=2, desk="door")["desk"] == "door"
    assert library.call("c1", "get_shift", clerk_id="c1", day=1)["desk"] == "front"
    missing = "SHIFT_NOT_FOUND: there is no shift 'c1, 3'"
    assert library.call("c1", "change_shift", clerk_id="c1", day=3, desk="door") == missing
    assert library.call("c1", "get_shift", clerk_id="c1", day=2**40).startswith("SHIFT_NOT_FOUND")


def test_a_row_with_a_key_of_several_columns_is_visible_in_its_organisation_only(strict: Library) -> None:
    assert strict.call("c1", "get_shift", clerk_id="s1", day=1) == "SHIFT_NOT_FOUND: there is no shift 's1, 1'"
    strict.open("published")
    assert strict.call("c1", "get_shift", clerk_id="s1", day=1)["desk"] == "front"


@pytest.fixture
def private(toy_postgres: str) -> Iterator[Library]:
    """A library whose users see their own shifts only, in every access."""

    def own_shifts(table: FromClause, actor: Actor) -> list[ColumnElement[bool]]:
        return [table.columns["clerk_id"] == actor.user_id] if table is Shift.__table__ else []

    with serving(replace(DOMAIN, scope=own_shifts), toy_postgres) as server:
        yield Library(server)


@pytest.mark.parametrize("access", ["published", "strict"])
def test_the_scope_of_a_domain_hides_rows_in_every_access(private: Library, access: str) -> None:
    private.open(access)
    assert private.call("c1", "get_shift", clerk_id="c1", day=1)["desk"] == "front"
    assert private.call("s1", "get_shift", clerk_id="s1", day=1)["desk"] == "front"
    hidden = {"clerk_id": "c1", "day": 1}
    assert private.call("s1", "get_shift", **hidden) == "SHIFT_NOT_FOUND: there is no shift 'c1, 1'"
    assert private.call("s1", "change_shift", **hidden, desk="door").startswith("SHIFT_NOT_FOUND")
    assert private.call("s1", "count_shifts") == {"front": 1}
    assert private.call("c1", "get_shift", **hidden)["desk"] == "front"


def test_an_unknown_access_is_refused_with_the_available_ones(library: Library) -> None:
    answer = library.server.seed("db", builtin="branches", access="lenient")
    assert (answer.status_code, answer.json()["detail"]) == (
        400,
        "access 'lenient' is not available in library; available: published, strict",
    )


def test_access_rules_have_to_name_every_tool_and_no_other() -> None:
    assert DOMAIN.access is not None
    known = dict(DOMAIN.access.resources)
    for resources in ({"fly": "books", **known}, {name: known[name] for name in list(known)[1:]}):
        with pytest.raises(ValueError, match=r"differ: (fly|get_book)$"):
            replace(DOMAIN, access=replace(DOMAIN.access, resources=resources))
