"""Values and refusals in each response style, and the output schema of a tool."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Literal, TypedDict

import pytest
from tests.kit.toy import Animal

from opsgym_domains.kit.errors import Invalid, InvalidArguments, TextTooLong, ToolError, Unidentified
from opsgym_domains.kit.json_schema import result_schema
from opsgym_domains.kit.response_style import ENVELOPED, PLAIN, Refusal, ResponseStyle

NOON = datetime.fromisoformat("2026-03-01T12:00:00")
ANIMAL = Animal(animal_id="ANI_001", name="Rex", tame=True, arrived=NOON)
MISFIT = Invalid("name", "string_too_long", "too long", "STRING_TOO_LONG", "x" * 9, {"max_length": 8})


class Verdict(TypedDict):
    """A result that is not a row."""

    good: bool
    at: datetime | None
    grade: Literal["a", "b"]


@pytest.mark.parametrize(
    ("response_style", "shown"),
    [
        (ENVELOPED, '[{"arrived": "2026-03-01T12:00:00", "tame": true, "weight": null}]'),
        (PLAIN, '[{"arrived": "2026-03-01 12:00:00", "tame": 1, "weight": null}]'),
    ],
)
def test_a_row_shows_the_columns_that_the_tool_names_in_their_order(response_style: ResponseStyle, shown: str) -> None:
    assert response_style.result([ANIMAL], ("arrived", "tame", "weight")) == shown


def test_values_outside_of_rows_keep_their_type() -> None:
    value = {"good": True, "at": NOON, "on": date(2026, 3, 1), "share": Decimal("1.50"), "none": None}
    assert json.loads(PLAIN.result(value, None)) == {
        "good": True, "at": "2026-03-01 12:00:00", "on": "2026-03-01", "share": 1.5, "none": None,
    }  # fmt: skip
    assert json.loads(ENVELOPED.result(value, None))["at"] == "2026-03-01T12:00:00"


@pytest.mark.parametrize("response_style", [ENVELOPED, PLAIN])
def test_no_row_is_an_empty_object_and_no_rows_an_empty_list(response_style: ResponseStyle) -> None:
    assert response_style.result(None, ("name",)) == "{}"
    assert response_style.result([], ("name",)) == "[]"


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (Unidentified("NOBODY", "who is it?"), "Error: who is it?"),
        (ToolError("TOO_LATE", "the shop is closed"), "API Error [buy]: the shop is closed [TOO_LATE]"),
        (
            ToolError("NO_SHOP", "there is no shop 7", "shop_id"),
            "API Error [buy]: shop_id: there is no shop 7 [NO_SHOP]",
        ),
        (
            InvalidArguments([MISFIT, Invalid("kind", "missing", "needed", "MISSING_FIELD")]),
            (
                "API Error [buy]: [{'type': 'string_too_long', 'loc': ['body', 'name'], 'msg': 'too long', "
                "'input': 'xxxxxxxxx', 'ctx': {'max_length': 8}}, "
                "{'type': 'missing', 'loc': ['body', 'kind'], 'msg': 'needed', 'input': None}]"
            ),
        ),
        (
            TextTooLong("name", "abc", 2),
            (
                "API Error [buy]: [{'type': 'string_too_long', 'loc': ['body', 'name'], "
                "'msg': 'name has 3 characters; the maximum is 2', 'input': 'abc', 'ctx': {'max_length': 2}}]"
            ),
        ),
    ],
)
def test_a_plain_refusal_says_tool_field_and_code(error: Refusal, text: str) -> None:
    assert PLAIN.refusal("buy", error) == text


def test_a_refusal_does_not_repeat_long_values() -> None:
    whole = InvalidArguments([Invalid("name", "enum", "no", "INVALID_ENUM_VALUE", "y" * 900)])
    assert "y" * 900 in PLAIN.refusal("buy", whole)
    cut = InvalidArguments([Invalid("name", "enum", "no", "INVALID_ENUM_VALUE", "y" * 100_000)])
    assert len(PLAIN.refusal("buy", cut)) < 300


def test_an_enveloped_refusal_has_its_codes_in_json() -> None:
    detail = json.loads(ENVELOPED.refusal("buy", ToolError("NO_SHOP", "there is no shop 7", "shop_id")))["detail"]
    assert detail["details"] == [{"code": "NO_SHOP", "message": "there is no shop 7", "field": "shop_id"}]
    (located,) = json.loads(ENVELOPED.refusal("buy", InvalidArguments([MISFIT])))["detail"]
    assert located["ctx"] == {"error_code": "STRING_TOO_LONG"}
    assert located["loc"] == ["body", "name"]


def test_the_output_schema_is_derived_from_the_return_type() -> None:
    rows = result_schema(Sequence[Animal], ("animal_id", "arrived"))
    assert rows["type"] == "array"
    assert rows["items"]["properties"] == {
        "animal_id": {"type": "string"},
        "arrived": {"type": ["string", "null"], "format": "date-time"},
    }
    assert list(result_schema(Animal | None, None)["properties"]) == [c.name for c in Animal.__table__.columns]
    assert result_schema(Verdict, None)["properties"] == {
        "good": {"type": "boolean"},
        "at": {"type": ["string", "null"], "format": "date-time"},
        "grade": {"type": "string", "enum": ["a", "b"]},
    }
    assert result_schema(dict[str, int], None) == {"type": "object"}
