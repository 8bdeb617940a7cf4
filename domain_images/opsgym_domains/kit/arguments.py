"""Validation of a call's arguments against the tool's schema, before the tool runs.

Invariant: a tool's function only receives arguments of its declared types, with texts and numbers that a table can
store. Values that stand for "not given" are removed: null, and the empty string where the argument is a filter or has
the empty string as its default. Null is a value, which clears a field, only inside an object argument where the schema
allows it, and in a tool that declares it (`nulls`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import ValidationError

from opsgym_domains.kit.errors import Invalid, InvalidArguments, short, unfit_text

ToolFunction = Callable[..., Awaitable[Any]]

CONVERSIONS: Mapping[Any, Callable[[Any], Any]] = {
    int: int,  # JSON's 5.0 is an integer
    Decimal: lambda value: Decimal(str(value)),
}
"""Functions from a checked JSON value to a Python type that is narrower than the JSON type."""

_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s.]+")
_FORMATS = FormatChecker([])


@_FORMATS.checks("email")
def _is_email(value: object) -> bool:
    """Stricter than the validator's own check, which only requires an @."""
    return not isinstance(value, str) or _EMAIL.fullmatch(value) is not None


_CODES = {
    "type": ("type_error", "INVALID_TYPE"),
    "enum": ("enum", "INVALID_ENUM_VALUE"),
    "minLength": ("string_too_short", "STRING_TOO_SHORT"),
    "maxLength": ("string_too_long", "STRING_TOO_LONG"),
    "minimum": ("greater_than_equal", "VALUE_TOO_SMALL"),
    "maximum": ("less_than_equal", "VALUE_TOO_LARGE"),
    "minItems": ("too_short", "TOO_FEW_ITEMS"),
    "maxItems": ("too_long", "TOO_MANY_ITEMS"),
    "pattern": ("string_pattern_mismatch", "INVALID_FORMAT"),
    "format": ("value_error", "INVALID_FORMAT"),
    "required": ("missing", "MISSING_FIELD"),
}

_BOUNDS = {
    "minLength": "min_length",
    "maxLength": "max_length",
    "minimum": "ge",
    "maximum": "le",
    "minItems": "min_length",
    "maxItems": "max_length",
}
_MESSAGES = {
    "type": "{shown} has the wrong type; expected {limit}",
    "enum": "{shown} is not allowed; allowed: {limit}",
    "minLength": "must have at least {limit} character(s)",
    "maxLength": "must have at most {limit} characters, has {size}",
    "minimum": "{shown} is too small; the minimum is {limit}",
    "maximum": "{shown} is too large; the maximum is {limit}",
    "minItems": "must have at least {limit} item(s), has {size}",
    "maxItems": "must have at most {limit} items, has {size}",
    "pattern": "{shown} does not match the pattern {limit}",
    "format": "{shown} is not a valid {limit}",
}
_OBJECT_RULES = ("properties", "required", "additionalProperties", "anyOf", "oneOf", "minProperties")
"""Keywords of an object's schema that `_ObjectCheck` validates."""


@dataclass(frozen=True)
class Parameter:
    """One argument of a tool, a field of an object argument, or the items of a list argument."""

    name: str
    schema: Mapping[str, Any]
    required: bool
    allowed: tuple[Any, ...] | None = None
    """Allowed values, also where the schema mentions them only in the description."""
    blank_is_absent: bool = False
    """Whether an empty string counts as not given."""
    form_code: str | None = None
    """Error code for a wrong pattern or format; None for the general code."""
    convert: Callable[[Any], Any] | None = None
    """Converts a checked value to the function's type, where the JSON type is wider."""
    fields: Mapping[str, Parameter] = field(default_factory=dict)
    """Fields of an object argument."""
    item: Parameter | None = None
    """The objects of a list argument; None for any other argument."""
    passed_as: str = ""
    """Name of the function's parameter, where it differs from the argument's."""
    is_open: bool = False
    """For an object: whether it keeps fields that the schema does not name, since it is stored as a whole."""

    @property
    def nullable(self) -> bool:
        """Whether the schema allows null."""
        return "null" in self.schema.get("type", ())

    @cached_property
    def validator(self) -> Draft202012Validator:
        """Validator of one value; the fields of an object and the objects of a list are validated one by one."""
        left_out: tuple[str, ...] = _OBJECT_RULES if self.fields else ("items",) if self.item else ()
        schema = {keyword: value for keyword, value in self.schema.items() if keyword not in left_out}
        schema |= {"enum": list(self.allowed)} if self.allowed else {}
        return Draft202012Validator(schema, format_checker=_FORMATS)


def checked(
    parameters: Mapping[str, Parameter], given: Mapping[str, Any], rules: Mapping[str, Any], *, nulls: bool = False
) -> dict[str, Any]:
    """Validates the arguments of a call and returns those that the tool's function receives.

    Args:
        parameters: The tool's arguments.
        given: Arguments as the agent sent them.
        rules: JSON schema of the arguments as a whole: `additionalProperties`, `anyOf`, `oneOf`, `minProperties`.
        nulls: Whether null is a value that the function receives for an argument that is not required.

    Raises:
        InvalidArguments: Lists every argument that violates the schema.
    """
    problems: list[Invalid] = []
    accepted = _ObjectCheck(parameters, rules, problems, nulls=nulls).accept(given)
    if problems:
        raise InvalidArguments(problems)
    return {parameters[name].passed_as or name: value for name, value in accepted.items() if name in parameters}


@dataclass(frozen=True)
class _ObjectCheck:
    """Validation of one object: all arguments of a call, an object argument, or an object in a list."""

    fields: Mapping[str, Parameter]
    rules: Mapping[str, Any]
    problems: list[Invalid]
    within: str = ""
    """Path of the object with a point at the end; empty for the arguments of a call."""
    nulls: bool | None = None
    """Whether null is a value; None if each field's schema decides."""
    is_open: bool = False
    """Whether fields that the schema does not name are kept."""

    def accept(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The valid values by name; appends to `problems` for the others."""
        before = len(self.problems)
        accepted: dict[str, Any] = {}
        for name, parameter in self.fields.items():
            value = _given(parameter, given.get(name))
            if value is None:
                if parameter.required:
                    expected = _type_of(parameter.schema.get("type", "")) if given.get(name, "") is None else ""
                    self.problems.append(_missing(self.within + name, expected))
                elif given.get(name, "") is None and self._clears(parameter):
                    accepted[name] = None
            elif self._is_valid(parameter, value):
                accepted[name] = self._inner(parameter, value)
        others = {name: value for name, value in given.items() if name not in self.fields}
        accepted |= {name: value for name, value in others.items() if self._keeps(name, value)}
        if len(self.problems) == before:
            self.problems.extend(self._combined(accepted))
        return accepted

    def _clears(self, parameter: Parameter) -> bool:
        return parameter.nullable if self.nulls is None else self.nulls

    def _keeps(self, name: str, value: Any) -> bool:
        """Whether a field that the schema does not name is part of the object; unknown arguments of a call are not."""
        extra = self.rules.get("additionalProperties")
        if extra is False:
            self.problems.append(_unknown(self.within + name, self.fields))
        if isinstance(extra, Mapping):
            return self._is_valid(Parameter(name, extra, required=False), value)
        return extra is True or self.is_open

    def _is_valid(self, parameter: Parameter, value: Any) -> bool:
        errors = list(_errors(parameter, value, self.within + parameter.name))
        self.problems.extend(errors)
        return not errors

    def _inner(self, parameter: Parameter, value: Any) -> Any:
        path = self.within + parameter.name
        if parameter.fields:
            return self._object(parameter, value, path)
        if parameter.item:
            return [self._item(parameter.item, item, f"{path}.{index}") for index, item in enumerate(value)]
        return parameter.convert(value) if parameter.convert else value

    def _item(self, parameter: Parameter, value: Any, path: str) -> Any:
        errors = list(_errors(parameter, value, path))
        self.problems.extend(errors)
        return value if errors else self._object(parameter, value, path)

    def _object(self, parameter: Parameter, value: Any, path: str) -> dict[str, Any]:
        nulls = self.nulls or None
        inner = _ObjectCheck(
            parameter.fields, parameter.schema, self.problems, f"{path}.", nulls, is_open=parameter.is_open
        )
        return inner.accept(value)

    def _combined(self, accepted: Mapping[str, Any]) -> Iterator[Invalid]:
        """Problems of the object as a whole."""
        one_of = [_names(alternative) for alternative in self.rules.get("oneOf", ())]
        any_of = [_names(alternative) for alternative in self.rules.get("anyOf", ())]
        met = sum(all(name in accepted for name in names) for names in one_of)
        if one_of and met != 1:
            yield self._choice("exactly one", one_of)
        if any_of and not any(all(name in accepted for name in names) for names in any_of):
            yield self._choice("at least one", any_of)
        least = self.rules.get("minProperties", 0)
        if len(accepted) < least:
            where = self.within.rstrip(".") or next(iter(self.fields), "")
            yield Invalid(where, "missing", f"give at least {least} field(s)", "MISSING_FIELD")

    def _choice(self, number: str, alternatives: Iterable[tuple[str, ...]]) -> Invalid:
        shown = [" and ".join(names) for names in alternatives]
        message = f"{number} of these is required: {', '.join(shown)}"
        return Invalid(self.within + shown[0], "missing", message, "MISSING_FIELD")


def _names(alternative: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(alternative["required"])


def _given(parameter: Parameter, value: Any) -> Any:
    """The value, or None if it counts as not given."""
    if not parameter.blank_is_absent:
        return value
    if isinstance(value, list):
        return [item for item in value if item != ""]
    return None if value == "" else value


def _errors(parameter: Parameter, value: Any, path: str) -> Iterator[Invalid]:
    reason = _unstorable(value)
    if reason is not None:
        yield Invalid(path, "value_error", reason, "INVALID_VALUE", value)
        return
    for error in parameter.validator.iter_errors(value):
        kind, code = _CODES.get(str(error.validator), ("value_error", "INVALID_VALUE"))
        if parameter.form_code is not None and error.validator in ("pattern", "format"):
            code = parameter.form_code
        where = ".".join([path, *(str(part) for part in error.absolute_path)])
        bound = _BOUNDS.get(str(error.validator))
        bounds = {bound: error.validator_value} if bound else {}
        expected = _type_of(error.validator_value) if error.validator == "type" else ""
        yield Invalid(where, kind, _message(error), code, error.instance, bounds, expected)


def _unstorable(value: Any) -> str | None:
    """Why a value cannot be stored, or None if it can: JSON parsers accept NaN and texts that Postgres rejects."""
    if isinstance(value, str):
        return unfit_text(value)
    if isinstance(value, float) and not math.isfinite(value):
        return "must be a finite number"
    parts = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else ()
    return next((reason for part in parts if (reason := _unstorable(part)) is not None), None)


def _message(error: ValidationError) -> str:
    limit: Any = error.validator_value
    message = _MESSAGES.get(str(error.validator))
    if error.validator == "type":
        limit = _type_of(limit)
    elif error.validator == "enum":
        limit = ", ".join(map(str, limit))
    if message is None:
        return error.message[:200]
    size = len(error.instance) if isinstance(error.instance, str | list) else 0
    return message.format(shown=short(error.instance), limit=limit, size=size)


def _type_of(names: str | Iterable[str]) -> str:
    """The types that the keyword `type` names, in words."""
    return names if isinstance(names, str) else " or ".join(names)


def _missing(name: str, expected: str) -> Invalid:
    return Invalid(name, "missing", "this argument is required", "MISSING_FIELD", expected=expected)


def _unknown(name: str, parameters: Mapping[str, Parameter]) -> Invalid:
    return Invalid(name, "extra_forbidden", f"unknown argument; allowed: {', '.join(parameters)}", "UNKNOWN_FIELD")
