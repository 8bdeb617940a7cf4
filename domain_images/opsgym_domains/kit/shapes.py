"""Arguments of a tool from its shape: the published JSON schema without descriptions, which a domain keeps as data.

Invariant: the schema that a tool shows is its shape with descriptions of our own added, and nothing else. A shape is
read from `shapes.json` of the domain's package, which `python -m tools.shapes` writes.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from importlib.resources import files
from typing import Any

from sqlalchemy import Boolean, Column, DateTime, Numeric, String

from opsgym_domains.kit.arguments import CONVERSIONS, Parameter, ToolFunction
from opsgym_domains.kit.schema import CHOICES, FORM_CODE, SEARCHED, Row, table_of, uniques_of

Shape = Mapping[str, Any]
"""JSON schema of a tool's arguments, without descriptions."""


def read_shapes(package: str) -> Mapping[str, Shape]:
    """Shapes of a domain's tools by name, from `shapes.json` of its package."""
    shapes: dict[str, Shape] = json.loads(files(package).joinpath("shapes.json").read_text(encoding="utf-8"))
    return shapes


def snake(name: str) -> str:
    """A published name as Python and the tables write it: `timeMin` is `time_min`, `$top` is `top`."""
    return re.sub(r"\W+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)).strip("_").lower()


@dataclass(frozen=True)
class ArgumentWords:
    """Where descriptions of a tool's arguments come from: the first of these that describes an argument.

    Attributes:
        tool: The tool's own words, by name; a field of an object by its path (`start.timeZone`) or the end of it.
        row: Row class whose columns describe the arguments of the same name; None if there is none.
        domain: The domain's words, as the tool's.
        effect: What the tool does to rows of the class; None if it selects them.
        named: Arguments that the function's signature names; the others reach the rows as they are.
        columns: Column by argument, where the names differ.
    """

    tool: Mapping[str, str]
    row: type[Row] | None
    domain: Mapping[str, str]
    effect: str | None = None
    named: frozenset[str] = frozenset()
    columns: Mapping[str, str] = field(default_factory=dict)

    def passed_as(self, argument: str) -> str:
        """Name by which the function receives an argument."""
        return self.columns.get(argument) or snake(argument)

    def column(self, path: tuple[str, ...]) -> Column[Any] | None:
        """The column that an argument sets or is compared with; None for a field of an object."""
        if self.row is None or len(path) != 1:
            return None
        return table_of(self.row).columns.get(self.passed_as(path[0]))

    def describe(self, path: tuple[str, ...], schema: Shape) -> str:
        """Description of an argument; empty if nothing describes it, which a test refuses."""
        column, own = self.column(path), _by_path(self.tool, path)
        choices = _in_words(hidden_choices(column, schema))
        if own is not None:
            return own + choices
        if column is not None and self.row is not None and (words := _column_words(column, self.row)):
            return words + self._detail(column, self.row, schema) + choices
        return _by_path(self.domain, path) or ""

    def _detail(self, column: Column[Any], row: type[Row], schema: Shape) -> str:
        """What the table adds: a part of the text is enough; the longest text, uniqueness and the default."""
        form = " (ISO 8601)" if isinstance(column.type, DateTime) else ""
        if self.effect not in ("adds", "changes"):
            extent = ", in full" if column.name in self.named else "; a part of it, in any case"
            return form + (extent if column.info.get(SEARCHED) else "")
        if column.primary_key or column.foreign_keys:
            return self._default(column, row, schema)
        limit = column.type.length if isinstance(column.type, String) else None
        shown = limit and not {"enum", "maxLength"} & set(schema) and not column.info.get(CHOICES)
        is_unique = any(unique.columns == (column.name,) for unique in uniques_of(row))
        return (
            form
            + (f", at most {limit:,} characters" if shown else "")
            + ("; must be unique" if is_unique else "")
            + self._default(column, row, schema)
        )

    def _default(self, column: Column[Any], row: type[Row], schema: Shape) -> str:
        value = "the acting user" if row.actor == column.name else row.defaults.get(column.name)
        if self.effect != "adds" or value is None or "default" in schema:
            return ""
        return f"; {str(value).lower() if isinstance(value, bool) else value} unless given"


def _column_words(column: Column[Any], row: type[Row]) -> str | None:
    """A column's words, with the record that it refers to; a key that has none is named after its table."""
    labels = [key.column.table.info["label"] for key in column.foreign_keys]
    if column.doc:
        return column.doc + (f" ({labels[0]} id)" if labels else "")
    if labels:
        return _capitalized(f"{labels[0]} id")
    if not column.primary_key:
        return None
    return _capitalized(f"{row.label} id" + (f", for instance {row.id_prefix}042" if row.id_prefix else ""))


def _capitalized(words: str) -> str:
    return words[:1].upper() + words[1:]


def _by_path(words: Mapping[str, str], path: tuple[str, ...]) -> str | None:
    ends = (".".join(path[start:]) for start in range(len(path)))
    return next((words[end] for end in ends if end in words), None)


def _in_words(choices: tuple[str, ...]) -> str:
    return f": {', '.join(choices[:-1])} or {choices[-1]}" if choices else ""


def hidden_choices(column: Column[Any] | None, schema: Shape) -> tuple[str, ...]:
    """Values that a text argument may have although the shape does not list them: those of its column."""
    if column is None or "enum" in schema or not _has_type(schema, "string"):
        return ()
    return ("true", "false") if isinstance(column.type, Boolean) else tuple(column.info.get(CHOICES, ()))


def shape_parameters(shape: Shape, words: ArgumentWords, *, blank_is_absent: bool) -> dict[str, Parameter]:
    """Arguments of a tool by their published names.

    Args:
        shape: The tool's shape.
        words: Descriptions.
        blank_is_absent: Whether an empty string counts as not given.
    """
    return _fields(shape, words, (), dict.fromkeys(shape["properties"], blank_is_absent))


def _fields(
    shape: Shape, words: ArgumentWords, path: tuple[str, ...], blank: Mapping[str, bool]
) -> dict[str, Parameter]:
    required = shape.get("required", ())
    return {
        name: _parameter((*path, name), schema, words, required=name in required, blank_is_absent=blank[name])
        for name, schema in shape.get("properties", {}).items()
    }


def _parameter(
    path: tuple[str, ...], shape: Shape, words: ArgumentWords, *, required: bool, blank_is_absent: bool
) -> Parameter:
    column = words.column(path)
    choices = tuple(shape.get("enum", ())) or hidden_choices(column, shape)
    fields = _inner_fields(path, shape, words)
    item = _item(path, shape["items"], words) if "items" in shape else None
    return Parameter(
        name=path[-1],
        schema=_described(shape, words.describe(path, shape), fields, item),
        required=required,
        allowed=choices or None,
        blank_is_absent=not required and (blank_is_absent or shape.get("default") == ""),
        form_code=None if column is None else column.info.get(FORM_CODE),
        convert=_conversion(shape, column),
        fields=fields,
        item=item if item is not None and item.fields else None,
        passed_as=words.passed_as(path[-1]) if len(path) == 1 else "",
        is_open=column is not None and bool(fields),
    )


def _inner_fields(path: tuple[str, ...], shape: Shape, words: ArgumentWords) -> dict[str, Parameter]:
    """Fields of an object; one that the object's default leaves empty may be empty."""
    names, default = shape.get("properties", {}), shape.get("default") or {}
    return _fields(shape, words, path, {name: default.get(name) == "" for name in names})


def _item(path: tuple[str, ...], shape: Shape, words: ArgumentWords) -> Parameter:
    fields = _inner_fields(path, shape, words)
    item = _item(path, shape["items"], words) if "items" in shape else None
    return Parameter(path[-1], _described(shape, "", fields, item), required=True, fields=fields)


def _described(shape: Shape, text: str, fields: Mapping[str, Parameter], item: Parameter | None) -> dict[str, Any]:
    """A shape with descriptions, its own after the type."""
    described = {**shape, **({"description": text} if text else {})}
    if fields:
        described["properties"] = {name: dict(parameter.schema) for name, parameter in fields.items()}
    if item is not None:
        described["items"] = dict(item.schema)
    return described


def _conversion(shape: Shape, column: Column[Any] | None) -> Any:
    if _has_type(shape, "integer"):
        return CONVERSIONS[int]
    decimal = column is not None and isinstance(column.type, Numeric) and _has_type(shape, "number")
    return CONVERSIONS[Decimal] if decimal else None


def _has_type(schema: Shape, name: str) -> bool:
    kinds = schema.get("type", ())
    return name == kinds or (not isinstance(kinds, str) and name in kinds)


def without_keywords(parameters: Mapping[str, Parameter], keywords: Collection[str]) -> dict[str, Parameter]:
    """Arguments that are checked without some keywords of their schemas."""
    return {
        name: replace(
            parameter,
            schema=_stripped(parameter.schema, keywords),
            fields=without_keywords(parameter.fields, keywords),
            item=parameter.item and without_keywords({"": parameter.item}, keywords)[""],
        )
        for name, parameter in parameters.items()
    }


def _stripped(schema: Shape, keywords: Collection[str]) -> dict[str, Any]:
    """A schema, and that of its items, without keywords."""
    checked = {keyword: value for keyword, value in schema.items() if keyword not in keywords}
    return checked | ({"items": _stripped(schema["items"], keywords)} if "items" in schema else {})


def check_signature(function: ToolFunction, shape: Shape, words: ArgumentWords) -> None:
    """Refuses a function that cannot receive the arguments of its shape.

    Raises:
        TypeError: A parameter is not an argument of the shape, an argument has no parameter, or the function requires
            an argument that the shape does not.
    """
    given = list(inspect.signature(function).parameters.values())[1:]
    names = {parameter.name for parameter in given if parameter.kind is not inspect.Parameter.VAR_KEYWORD}
    arguments = {words.passed_as(name) for name in shape["properties"]}
    if unknown := names - arguments:
        raise TypeError(f"{function.__name__} has no published argument {', '.join(sorted(unknown))}")
    required = {words.passed_as(name) for name in shape.get("required", ())}
    needed = {parameter.name for parameter in given if parameter.name in names and parameter.default is parameter.empty}
    if optional := needed - required:
        raise TypeError(f"{function.__name__}: {', '.join(sorted(optional))} is optional and needs a default")
    if len(names) == len(given) and (missing := arguments - names):
        raise TypeError(f"{function.__name__} cannot receive {', '.join(sorted(missing))}; add **fields: Any")
