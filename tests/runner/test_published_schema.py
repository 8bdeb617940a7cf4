"""Tool schemas as the published harness simplifies them."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from opsgym_runner.gyms.published_schema import simplified

TEXT = {"type": "string"}
EMPTY = {"type": "object", "properties": {}, "required": []}
ID = {"type": "object", "properties": {"id": TEXT}, "required": ["id"]}


def of(required: list[str] | None = None, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, **({} if required is None else {"required": required})}


CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "plain": (of(["a"], a=TEXT), of(["a"], a=TEXT)),
    "null among types": (of(["a", "b"], a={"type": ["string", "null"]}, b=TEXT), of(["b"], a=TEXT, b=TEXT)),
    "NULL in capitals": (of(["a"], a={"type": ["NULL", "INTEGER"]}), of([], a={"type": "INTEGER"})),
    "null alone": (of(["a"], a={"type": ["null"]}), of([], a=TEXT)),
    "several types": (of(["a"], a={"type": ["integer", "string"]}), of(["a"], a={"type": "integer"})),
    "no required list": (of(None, a={"type": ["string", "null"]}), of(None, a=TEXT)),
    "anyOf in a property": (of(None, a={"anyOf": [TEXT, {"type": "null"}]}),) * 2,
    "first object of oneOf": ({"description": "d", "oneOf": [TEXT, ID, EMPTY]}, ID),
    "first object of anyOf": ({"anyOf": [ID, EMPTY]}, ID),
    "no object in anyOf": ({"anyOf": [TEXT]}, EMPTY),
    "no object in oneOf": ({"oneOf": [TEXT], "type": "object"}, EMPTY),
    "allOf": ({"allOf": [ID, of(["b"], b=TEXT), {"title": "t"}]}, of(["id", "b"], id=TEXT, b=TEXT)),
    "no type": ({}, {"type": "object", "properties": {}}),
    "nested object": (of(None, a=of(["b"], b={"type": ["string", "null"]})), of(None, a=of([], b=TEXT))),
    "nested object without properties": (of(None, a={"type": "object"}),) * 2,
    "items of an array": (
        of(None, a={"type": "array", "items": of(["b"], b={"type": ["string", "null"]})}),
        of(None, a={"type": "array", "items": of([], b=TEXT)}),
    ),
    "items with alternatives": (
        of(None, a={"type": ["array", "null"], "items": {"anyOf": [TEXT, ID]}}),
        of(None, a={"type": "array", "items": ID}),
    ),
    "items without a type": (
        of(None, a={"type": "array", "items": {"enum": ["x"]}}),
        of(None, a={"type": "array", "items": {"type": "object", "enum": ["x"], "properties": {}}}),
    ),
    "plain items": (of(None, a={"type": "array", "items": TEXT}),) * 2,
    "a property without a schema": (of(None, a=True),) * 2,
}


@pytest.mark.parametrize(("schema", "published"), CASES.values(), ids=CASES)
def test_a_schema_is_simplified_once_and_for_all(schema: dict[str, Any], published: dict[str, Any]) -> None:
    before = copy.deepcopy(schema)

    assert simplified(schema) == published
    assert simplified(published) == published
    assert schema == before
