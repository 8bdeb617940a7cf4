"""Shapes of published tools: every one can be loaded and shows the published schema again, without its descriptions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.orm import Mapped, mapped_column
from tests.domains.test_schemas import without_words
from tests.kit.bookshop import Book
from tests.support.upstream import upstream
from tools.shapes import DOMAINS, published_shapes, shapes_file, without_descriptions

from opsgym_domains.kit.arguments import checked
from opsgym_domains.kit.errors import InvalidArguments
from opsgym_domains.kit.gym import Gym
from opsgym_domains.kit.schema import Row, Str20, Str32, new_metadata, says, unique
from opsgym_domains.kit.shapes import ArgumentWords, shape_parameters, snake
from opsgym_domains.kit.tools import Tool, Toolbox

PUBLISHED = {"calendar": 37, "csm": 89, "drive": 55, "email": 79, "hr": 89, "itsm": 93, "teams": 70}

EVENT = {
    "type": "object",
    "properties": {
        "calendarId": {"type": "string"},
        "summary": {"type": "string", "maxLength": 8},
        "sendUpdates": {"type": "string", "enum": ["all", "none"], "default": "none"},
        "maxAttendees": {"type": "integer", "minimum": 1, "maximum": 9},
        "start": {
            "type": "object",
            "properties": {"dateTime": {"type": "string"}, "timeZone": {"type": "string"}},
            "required": ["dateTime"],
        },
        "attendees": {
            "type": "array",
            "maxItems": 2,
            "items": {
                "type": "object",
                "properties": {"email": {"type": "string", "format": "email"}, "optional": {"type": "boolean"}},
                "required": ["email"],
            },
        },
        "private": {"type": "object", "additionalProperties": {"type": "string"}},
        "place": {
            "type": "object",
            "properties": {"room": {"type": "string"}, "link": {"type": "string"}},
            "oneOf": [{"required": ["room"]}, {"required": ["link"]}],
            "additionalProperties": False,
        },
        "source": {"type": "object", "properties": {"url": {"type": "string"}}, "minProperties": 1},
    },
    "required": ["calendarId"],
}
WORDS = {"calendarId": "Calendar", "start.timeZone": "Zone of the start", "email": "Address", "timeZone": "Any zone"}


class LendingRow(Row):
    __abstract__ = True
    metadata = new_metadata()


class Lending(LendingRow):
    __tablename__ = "lending"
    uniques = (unique("DUPLICATE_CODE", "code"),)
    defaults = {"state": "open"}

    lending_id: Mapped[Str32] = mapped_column(primary_key=True)
    code: Mapped[Str20] = says("Code")
    state: Mapped[Str20] = says("State of the loan")


def declared(*, nulls: bool = False) -> Tool:
    box = Toolbox({"add_event": EVENT}, WORDS)

    @box.tool(writes=True, nulls=nulls)
    async def add_event(gym: Gym, calendar_id: str, **fields: Any) -> None:
        """Adds an event."""

    return box.tools["add_event"]


def accept(given: dict[str, Any], *, nulls: bool = False) -> dict[str, Any]:
    tool = declared(nulls=nulls)
    return checked(tool.parameters, {"calendarId": "c", **given}, tool.input_schema, nulls=tool.nulls)


def problems(given: dict[str, Any]) -> list[tuple[str, str]]:
    with pytest.raises(InvalidArguments) as refused:
        accept(given)
    return [(item.field, item.code) for item in refused.value.problems]


@pytest.mark.published
@pytest.mark.parametrize("domain", PUBLISHED)
def test_every_published_tool_loads_as_a_shape_and_shows_the_same_schema(domain: str) -> None:
    shapes = published_shapes(upstream(), domain)
    box = Toolbox(shapes)
    for name in shapes:
        box.tool()(_function(name))
    assert len(box.tools) == PUBLISHED[domain]
    assert [
        name for name, tool in box.tools.items() if without_words(tool.input_schema) != without_words(shapes[name])
    ] == []


def _function(name: str) -> Any:
    async def function(gym: Gym, **fields: Any) -> None: ...

    function.__name__ = name
    return function


@pytest.mark.published
@pytest.mark.parametrize("path", sorted(DOMAINS.glob("*/shapes.json")), ids=lambda path: path.parent.name)
def test_the_stored_shapes_are_the_published_ones(path: Path) -> None:
    stored = path.read_text(encoding="utf-8")
    assert stored == shapes_file(published_shapes(upstream(), path.parent.name)), "run python -m tools.shapes"


def test_a_shape_has_no_description_but_keeps_an_argument_of_that_name() -> None:
    inner = {"type": "string", "description": "Words of others", "default": "a"}
    schema = {"type": "object", "description": "More words", "properties": {"description": inner}}
    assert without_descriptions({"type": "array", "items": schema}) == {
        "type": "array",
        "items": {"type": "object", "properties": {"description": {"type": "string", "default": "a"}}},
    }


@pytest.mark.parametrize(
    ("name", "expected"),
    [("calendarId", "calendar_id"), ("iCalUID", "i_cal_uid"), ("$top", "top"), ("@odata.type", "odata_type")],
)
def test_an_argument_reaches_the_function_in_snake_case(name: str, expected: str) -> None:
    assert snake(name) == expected


def test_the_longest_path_describes_a_field() -> None:
    start = declared().input_schema["properties"]["start"]["properties"]
    assert start["timeZone"]["description"] == "Zone of the start"
    attendee = declared().input_schema["properties"]["attendees"]["items"]["properties"]
    assert attendee["email"]["description"] == "Address"


def test_a_column_describes_the_argument_of_its_name_with_what_the_table_adds() -> None:
    shape = {"properties": {"title": {"type": "string"}, "author": {"type": "string"}, "genre": {"type": "string"}}}
    change = shape_parameters(shape, ArgumentWords({}, Book, {}, "changes"), blank_is_absent=False)
    listing = shape_parameters(shape, ArgumentWords({"genre": "Kind"}, Book, {}), blank_is_absent=True)
    assert change["title"].schema["description"] == "Title, at most 40 characters"
    assert listing["title"].schema["description"] == "Title; a part of it, in any case"
    assert change["author"].schema["description"] == "Who wrote it (author id)"
    assert listing["genre"].schema["description"] == "Kind: novel, poetry or field-guide"
    assert listing["genre"].allowed == ("novel", "poetry", "field-guide")


def words_of(effect: str | None, row: type[Row], **arguments: str) -> dict[str, str]:
    """Descriptions of text arguments; the value is the name of the column, empty for the same name."""
    columns = {name: column for name, column in arguments.items() if column}
    shape = {"properties": {name: {"type": "string"} for name in arguments}}
    words = ArgumentWords({}, row, {}, effect, frozenset({"title"}), columns)
    parameters = shape_parameters(shape, words, blank_is_absent=False)
    return {name: parameter.schema.get("description", "") for name, parameter in parameters.items()}


def test_a_key_without_words_is_named_after_its_table() -> None:
    assert words_of("changes", Book, book_id="", editor="") == {
        "book_id": "Book id, for instance BOOK_042",
        "editor": "Author id",
    }


def test_a_create_says_what_is_unique_and_what_is_filled_in() -> None:
    assert words_of("adds", Lending, code="", state="") == {
        "code": "Code, at most 20 characters; must be unique",
        "state": "State of the loan, at most 20 characters; open unless given",
    }
    assert words_of("changes", Lending, state="") == {"state": "State of the loan, at most 20 characters"}


def test_a_text_that_the_function_looks_up_itself_is_not_searched() -> None:
    assert words_of(None, Book, title="") == {"title": "Title, in full"}


def test_a_column_of_another_name_describes_and_receives_an_argument() -> None:
    assert words_of(None, Book, writer="author") == {"writer": "Who wrote it (author id)"}
    box = Toolbox({"list_books": {"type": "object", "properties": {"writer": {"type": "string"}}}})

    @box.tool(row=Book, columns={"writer": "author"})
    async def list_books(gym: Gym, **filters: Any) -> None:
        """Lists."""

    tool = box.tools["list_books"]
    assert checked(tool.parameters, {"writer": "AUTHOR_001"}, tool.input_schema) == {"author": "AUTHOR_001"}


def test_nested_values_arrive_as_they_were_sent() -> None:
    given = {
        "start": {"dateTime": "2026-01-01T09:00:00", "unknown": 1},
        "attendees": [{"email": "a@b.de", "optional": True}, {"email": "c@d.de"}],
        "private": {"any": "text"},
        "maxAttendees": 5.0,
    }
    assert accept(given) == {
        "calendar_id": "c",
        "start": {"dateTime": "2026-01-01T09:00:00"},
        "attendees": [{"email": "a@b.de", "optional": True}, {"email": "c@d.de"}],
        "private": {"any": "text"},
        "max_attendees": 5,
    }


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"start": {}}, [("start.dateTime", "MISSING_FIELD")]),
        ({"start": []}, [("start", "INVALID_TYPE")]),
        ({"attendees": [{"email": "a@b.de"}, {"email": "a"}]}, [("attendees.1.email", "INVALID_FORMAT")]),
        ({"attendees": [{}]}, [("attendees.0.email", "MISSING_FIELD")]),
        ({"attendees": ["a@b.de"]}, [("attendees.0", "INVALID_TYPE")]),
        ({"attendees": [{"email": "a@b.de"}] * 3}, [("attendees", "TOO_MANY_ITEMS")]),
        ({"private": {"any": 1}}, [("private.any", "INVALID_TYPE")]),
        ({"private": {"any": "\x00"}}, [("private", "INVALID_VALUE")]),
        ({"place": {"room": "1", "door": "2"}}, [("place.door", "UNKNOWN_FIELD")]),
        ({"place": {"room": "1", "link": "2"}}, [("place.room", "MISSING_FIELD")]),
        ({"place": {}}, [("place.room", "MISSING_FIELD")]),
        ({"source": {}}, [("source", "MISSING_FIELD")]),
        ({"maxAttendees": 10}, [("maxAttendees", "VALUE_TOO_LARGE")]),
        ({"sendUpdates": "some"}, [("sendUpdates", "INVALID_ENUM_VALUE")]),
        ({"calendarId": None}, [("calendarId", "MISSING_FIELD")]),
    ],
)
def test_a_wrong_value_is_refused_by_its_path(given: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert problems(given) == expected


def test_null_counts_as_not_given_unless_the_tool_receives_nulls() -> None:
    given = {"summary": None, "start": {"dateTime": "x", "timeZone": None}}
    assert accept(given) == {"calendar_id": "c", "start": {"dateTime": "x"}}
    assert accept(given, nulls=True) == {
        "calendar_id": "c",
        "summary": None,
        "start": {"dateTime": "x", "timeZone": None},
    }


def test_a_function_that_cannot_receive_an_argument_is_refused() -> None:
    box = Toolbox({"add_event": EVENT})
    with pytest.raises(TypeError, match="cannot receive"):

        @box.tool(writes=True)
        async def add_event(gym: Gym, calendar_id: str) -> None:
            """Adds an event."""

    with pytest.raises(TypeError, match="no published argument calender_id"):

        @box.tool(writes=True)
        async def add_event(gym: Gym, calender_id: str, **fields: Any) -> None:
            """Adds an event."""

    with pytest.raises(TypeError, match="add_event: summary is optional and needs a default"):

        @box.tool(writes=True)
        async def add_event(gym: Gym, calendar_id: str, summary: str, **fields: Any) -> None:
            """Adds an event."""


def test_an_effect_says_which_rows_a_tool_writes() -> None:
    box = Toolbox()

    @box.tool(adds=Book)
    async def add(gym: Gym) -> None:
        """Adds."""

    @box.tool()
    async def read(gym: Gym) -> None:
        """Reads."""

    effect = box.tools["add"].effect
    assert effect is not None
    assert (effect.operation, effect.row, box.tools["add"].writes) == ("adds", Book, True)
    assert (box.tools["read"].effect, box.tools["read"].writes) == (None, False)
    with pytest.raises(TypeError, match="one effect"):
        box.tool(adds=Book, removes=Book)
