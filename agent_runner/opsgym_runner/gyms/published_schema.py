"""Tool schemas as the published harness simplifies them for providers that refuse parts of JSON Schema.

Invariant: a schema is read, never changed: the published harness edits schemas in place, with the same result, because
simplifying twice changes nothing more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def simplified(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema without alternatives at its top and without `null` among the types of its properties.

    Of `oneOf` and `anyOf` the first object remains, of `allOf` the union. A property that may be null is not required,
    and has its first other type. Objects with properties, and items of arrays, are simplified alike; a schema without
    a type becomes an object. Alternatives within a property stay.
    """
    chosen = _without_alternatives(schema)
    if chosen is None:
        return {"type": "object", "properties": {}, "required": []}
    result = {"type": "object", **chosen} if "type" not in chosen else dict(chosen)
    if result["type"] == "object":
        result.setdefault("properties", {})
    if "properties" in result:
        properties: Mapping[str, Any] = result["properties"]
        optional = [name for name, value in properties.items() if _nullable(value)]
        result["properties"] = {name: _property(value) for name, value in properties.items()}
        if optional and "required" in result:
            result["required"] = [name for name in result["required"] if name not in optional]
    return result


def _without_alternatives(schema: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The schema with its top-level alternatives resolved, in the published order; None if no object is among them."""
    chosen = _first_object(schema["oneOf"]) if "oneOf" in schema else schema
    if chosen is not None and "allOf" in chosen:
        chosen = _merged(chosen["allOf"])
    if chosen is not None and "anyOf" in chosen:
        chosen = _first_object(chosen["anyOf"])
    return chosen


def _first_object(options: Sequence[Any]) -> Mapping[str, Any] | None:
    return next((option for option in options if isinstance(option, Mapping) and option.get("type") == "object"), None)


def _merged(parts: Sequence[Any]) -> dict[str, Any]:
    objects = [part for part in parts if isinstance(part, Mapping)]
    return {
        "type": "object",
        "properties": {name: value for part in objects for name, value in part.get("properties", {}).items()},
        "required": [name for part in objects for name in part.get("required", [])],
    }


def _nullable(schema: Any) -> bool:
    types = schema.get("type") if isinstance(schema, Mapping) else None
    return isinstance(types, list) and any(str(kind).lower() == "null" for kind in types)


def _property(schema: Any) -> Any:
    if not isinstance(schema, Mapping):
        return schema
    result = dict(schema)
    if isinstance(types := result.get("type"), list):
        result["type"] = next((kind for kind in types if str(kind).lower() != "null"), "string")
    if result.get("type") == "object" and "properties" in result:
        result = simplified(result)
    if result.get("type") == "array" and isinstance(result.get("items"), Mapping):
        result["items"] = simplified(result["items"])
    return result
