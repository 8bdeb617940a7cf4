"""Turns pydantic's errors into problems for the user: where, what is wrong, what is allowed."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any, TypeAlias, get_args

from pydantic import BaseModel, ValidationError

from opsgym_api.errors import Problem
from opsgym_api.patterns import WORDS

Location: TypeAlias = Sequence[int | str]
"""Steps from a document to one of its fields: names and list positions."""


def problems_of(error: ValidationError, prefix: str = "", model: type[BaseModel] | None = None) -> list[Problem]:
    """Every problem of a validation error, in document order.

    Args:
        error: What pydantic raised.
        prefix: Path of the validated part inside its document.
        model: What the part was validated as; with it, an unknown field is answered with the known ones.
    """
    return [Problem(path_of(item["loc"], prefix), message_of(item, model)) for item in error.errors(include_url=False)]


def path_of(loc: Location, prefix: str = "") -> str:
    """A location as people write it: `spec.models[0].name`."""
    path = prefix
    for part in loc:
        if isinstance(part, int):
            path += f"[{part}]"
        else:
            path += f".{part}" if path else part
    return path


def message_of(item: Any, model: type[BaseModel] | None = None) -> str:
    """What is wrong with one field, and what is allowed there.

    Args:
        item: One of pydantic's error details.
        model: What the whole was validated as.
    """
    kind, given, context = item["type"], item.get("input"), item.get("ctx", {})
    if kind == "missing":
        return "is required"
    if kind == "extra_forbidden":
        return _unknown(str(item["loc"][-1]), fields_at(model, item["loc"][:-1]) if model else [])
    if kind == "value_error":
        return str(context["error"])
    if kind in ("enum", "literal_error"):
        return f"{_shown(given)} is not allowed; allowed: {context['expected']}"
    if kind == "string_pattern_mismatch":
        words = WORDS.get(context["pattern"])
        return f"{_shown(given)} must be {words}" if words else f"{_shown(given)} does not match {context['pattern']}"
    if kind in ("model_type", "model_attributes_type", "dict_type"):
        return f"must be a map of fields, found {_shown(given)}"
    if kind == "too_short":
        return f"must have at least {context['min_length']} items, found {context['actual_length']}"
    message = item["msg"].replace("Input should be", "must be", 1).replace("a valid array", "a list", 1)
    message = message[0].lower() + message[1:]
    return f"{message}, found {_shown(given)}" if isinstance(given, str | int | float | bool | None) else message


def _shown(value: object) -> str:
    """A value as a message shows it: whole prompts would hide what is wrong."""
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:99]}…"


def _unknown(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    if near:
        return f"is not a field here; did you mean {near[0]}?"
    return f"is not a field here; allowed: {', '.join(known)}" if known else "is not a field here"


def fields_at(model: type[BaseModel], loc: Location) -> list[str]:
    """Names of the fields that a place inside a model may have; empty where anything goes."""
    here: type[BaseModel] | None = model
    for step in loc:
        if here is None:
            return []
        if isinstance(step, str):
            here = _model_in(_annotation(here, step))
    return [field.alias or name for name, field in here.model_fields.items()] if here else []


def _annotation(model: type[BaseModel], name: str) -> object:
    for key, field in model.model_fields.items():
        if name in (key, field.alias):
            return field.annotation
    return None


def _model_in(annotation: object) -> type[BaseModel] | None:
    """The model that an annotation such as `list[Model] | None` holds."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((model for part in get_args(annotation) if (model := _model_in(part))), None)
