"""Arguments of a tool from its function's signature, for domains without published schemas.

Invariant: schema and function share one declaration. Parameters are `Annotated` with an `Arg`; optional parameters
without a default are fields of a `TypedDict` that the function unpacks.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NotRequired, Required, Unpack, get_args, get_origin, get_type_hints, is_typeddict

from opsgym_domains.kit.arguments import CONVERSIONS, Parameter, ToolFunction
from opsgym_domains.kit.json_schema import kind_schema, without_none


@dataclass(frozen=True)
class Arg:
    """Description and constraints of an argument, in addition to its Python type.

    Attributes:
        description: Description for the agent: meaning of the value and where it comes from.
        min_length: Minimum length of a text.
        max_length: Maximum length of a text.
        minimum: Minimum of a number.
        pattern: Regular expression that the text must match.
        format: JSON schema format; only `email` is checked.
        null: Whether the schema allows null; None means that the type (`X | None`) decides.
        enum_shown: False where the published schema mentions the allowed values only in the description; they are
            checked nevertheless.
        required: True for a parameter that is required although its schema has a default.
        default: Default in the schema of an argument for which the function needs no default.
        code: Error code for a violated pattern or format; None for the general code.
    """

    description: str
    min_length: int | None = None
    max_length: int | None = None
    minimum: float | None = None
    pattern: str | None = None
    format: str | None = None
    null: bool | None = None
    enum_shown: bool = True
    required: bool = False
    default: Any = None
    code: str | None = None

    def keywords(self) -> dict[str, Any]:
        """JSON schema keywords of the given constraints."""
        bounds = {
            "minLength": self.min_length,
            "maxLength": self.max_length,
            "minimum": self.minimum,
            "pattern": self.pattern,
            "format": self.format,
        }
        return {name: value for name, value in bounds.items() if value is not None}


def is_declared_by_signature(hints: Mapping[str, Any]) -> bool:
    """Whether the types of a function's parameters declare arguments."""
    return any(get_origin(hint) in (Annotated, Unpack) for name, hint in hints.items() if name != "return")


def signature_parameters(function: ToolFunction, *, blank_is_absent: bool) -> dict[str, Parameter]:
    """Arguments that a signature declares, by name.

    Args:
        function: The tool's function; its first parameter is the gym.
        blank_is_absent: Whether an empty string counts as not given.
    """
    hints = get_type_hints(function, include_extras=True)
    parameters: dict[str, Parameter] = {}
    for name, given in list(inspect.signature(function).parameters.items())[1:]:
        if given.kind is inspect.Parameter.VAR_KEYWORD:
            (fields,) = get_args(hints[name])
            parameters |= _fields(fields, blank_is_absent=blank_is_absent)
        else:
            parameters[name] = _parameter(name, hints[name], given.default, blank_is_absent=blank_is_absent)
    return parameters


def _fields(fields: Any, *, blank_is_absent: bool) -> dict[str, Parameter]:
    """Parameters from the fields of a `TypedDict`; its required keys are required parameters."""
    defaults = dict.fromkeys(fields.__required_keys__, inspect.Parameter.empty)
    return {
        name: _parameter(name, hint, defaults.get(name), blank_is_absent=blank_is_absent)
        for name, hint in get_type_hints(fields, include_extras=True).items()
    }


def _parameter(name: str, hint: Any, default: Any, *, blank_is_absent: bool) -> Parameter:
    kind, arg = _annotated(name, hint)
    bare, optional = without_none(kind)
    required = default is inspect.Parameter.empty or arg.required
    fields = _object_fields(bare, arg.default or {}) if is_typeddict(bare) else {}
    schema, allowed = _schema(bare, arg, fields, nullable=optional if arg.null is None else arg.null)
    shown_default = arg.default if default in (None, inspect.Parameter.empty) else default
    if shown_default is not None:
        schema["default"] = shown_default
    return Parameter(
        name=name,
        schema=schema,
        required=required,
        allowed=allowed,
        blank_is_absent=not required and (blank_is_absent or shown_default == ""),
        form_code=arg.code,
        convert=CONVERSIONS.get(bare),
        fields=fields,
    )


def _object_fields(kind: Any, shown_default: Mapping[str, Any]) -> dict[str, Parameter]:
    """Fields of an object argument, from a `TypedDict`; a field with an empty default may be empty."""
    return {
        name: _parameter(
            name,
            hint,
            inspect.Parameter.empty if name in kind.__required_keys__ else None,
            blank_is_absent=shown_default.get(name) == "",
        )
        for name, hint in get_type_hints(kind, include_extras=True).items()
    }


def _annotated(name: str, hint: Any) -> tuple[Any, Arg]:
    while get_origin(hint) in (Required, NotRequired):
        (hint,) = get_args(hint)
    if get_origin(hint) is Annotated:
        kind, *extras = get_args(hint)
        for extra in reversed(extras):  # the outermost description takes precedence over an alias's
            if isinstance(extra, Arg):
                return kind, extra
    raise TypeError(f"argument {name} has no Arg")


def _schema(
    kind: Any, arg: Arg, fields: Mapping[str, Parameter], *, nullable: bool
) -> tuple[dict[str, Any], tuple[Any, ...] | None]:
    schema, allowed = (_object_schema(fields), None) if fields else kind_schema(kind)
    if nullable:
        schema["type"] = [schema["type"], "null"]
    if allowed is not None and arg.enum_shown:
        schema["enum"] = list(allowed)
    return {**schema, "description": arg.description, **arg.keywords()}, allowed


def _object_schema(fields: Mapping[str, Parameter]) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": {name: dict(f.schema) for name, f in fields.items()}}
    required = [name for name, f in fields.items() if f.required]
    return schema | ({"required": required} if required else {})
