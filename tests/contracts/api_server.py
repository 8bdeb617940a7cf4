"""Defaulting, pruning and validation of a custom resource by its schema, as an API server does it.

It drops unknown fields, applies defaults, then checks the schema, list types and CEL rules. It does not estimate the
cost of rules, nor check that a definition is itself acceptable.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Any

import celpy
import jsonschema
from celpy.adapter import json_to_cel

Schema = dict[str, Any]

FORMATS = jsonschema.FormatChecker(formats=())


@FORMATS.checks("date-time")
def _is_time(value: object) -> bool:
    pattern = r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)"
    return not isinstance(value, str) or re.fullmatch(pattern, value) is not None


def _number_or_text(_: object, flag: bool, value: object, __: object) -> Iterator[jsonschema.ValidationError]:
    if flag and (isinstance(value, bool) or not isinstance(value, int | str)):
        yield jsonschema.ValidationError(f"{value!r} is not of type 'integer' or 'string'")


CHECKS = jsonschema.validators.extend(jsonschema.Draft4Validator, {"x-kubernetes-int-or-string": _number_or_text})  # type: ignore[no-untyped-call]
"""A structural schema has the flags beside bounds that Draft 4 had."""


def refusals(schema: Schema, document: Mapping[str, Any], old: Mapping[str, Any] | None = None) -> list[str]:
    """Why a document is refused; empty if it is not.

    Args:
        schema: `openAPIV3Schema` of its kind.
        document: The document to create, or to put in place of `old`.
        old: The stored document, on an update.
    """
    new = admitted(schema, document)
    stored = None if old is None else admitted(schema, old)
    checker = CHECKS(schema, format_checker=FORMATS)
    broken = [f"{error.json_path}: {error.message}" for error in checker.iter_errors(new)]
    return broken or [*_twice("", schema, new), *_broken_rules("", schema, new, stored)]


def admitted(schema: Schema, value: Any) -> Any:
    """A value as it is stored: no unknown fields, defaults at every level, floats where the schema says number."""
    if isinstance(value, Mapping):
        return _object(schema, value)
    if isinstance(value, list):
        return [admitted(schema.get("items", {}), item) for item in value]
    if schema.get("type") == "number" and type(value) is int:
        return float(value)
    return value


def _object(schema: Schema, value: Mapping[str, Any]) -> Any:
    if schema.get("x-kubernetes-preserve-unknown-fields") or "additionalProperties" in schema:
        return copy.deepcopy(value)
    known = schema.get("properties", {})
    filled = {name: copy.deepcopy(part["default"]) for name, part in known.items() if "default" in part} | dict(value)
    return {name: admitted(known[name], item) for name, item in filled.items() if name in known}


def _twice(path: str, schema: Schema, value: Any) -> Iterator[str]:
    """Items that a set, or a list kept by keys, holds twice."""
    kind = schema.get("x-kubernetes-list-type")
    if kind in ("set", "map"):
        keys = schema.get("x-kubernetes-list-map-keys", [])
        ids = [json.dumps([item[key] for key in keys] if kind == "map" else item) for item in value]
        yield from (f"{path}: duplicate {item}" for item in sorted(set(ids)) if ids.count(item) > 1)
    for name, part, item, _ in _parts(schema, value, None):
        yield from _twice(f"{path}.{name}", part, item)


def _broken_rules(path: str, schema: Schema, value: Any, old: Any) -> Iterator[str]:
    for rule in schema.get("x-kubernetes-validations", []):
        if "oldSelf" in rule["rule"] and old is None:
            continue
        if not _holds(rule["rule"], json.dumps(value), json.dumps(old)):
            yield f"{path}{rule.get('fieldPath', '')}: {rule['message']}"
    for name, part, item, before in _parts(schema, value, old):
        yield from _broken_rules(f"{path}.{name}", part, item, before)


def _parts(schema: Schema, value: Any, old: Any) -> Iterator[tuple[str, Schema, Any, Any]]:
    """Parts of a value: name, schema, the part, and its old value where the API server can correlate the two."""
    if isinstance(value, Mapping):
        for name, part in schema.get("properties", {}).items():
            if name in value:
                yield name, part, value[name], (old or {}).get(name)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield str(index), schema["items"], item, None


@lru_cache(maxsize=10_000)
def _holds(rule: str, value: str, old: str) -> bool:
    """Whether a rule holds for values, as JSON: most documents of the tests differ in one part, so most rules recur."""
    return bool(
        _program(rule).evaluate({"self": json_to_cel(json.loads(value)), "oldSelf": json_to_cel(json.loads(old))})
    )


@cache
def _program(rule: str) -> celpy.Runner:
    environment = celpy.Environment()
    return environment.program(environment.compile(rule))
