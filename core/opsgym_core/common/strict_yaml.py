"""YAML with JSON's types, and the line of every field.

Invariant: scalars that YAML parsers read differently (`on`, `010`, `1_000`, dates) stay text, keys are unique, and
every value is valid in JSON.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError
from yaml.composer import ComposerError
from yaml.constructor import ConstructorError

from opsgym_api.errors import InputError, Problem
from opsgym_api.validation import Location, message_of, path_of

M = TypeVar("M", bound=BaseModel)

MAX_VALUES = 100_000
"""Values of a document, each alias counted as what it repeats: a few lines of aliases may stand for billions."""
_CORE = "tag:yaml.org,2002:"


def parts_of(source: str, text: str) -> list[yaml.Node]:
    """The documents of a text that are not empty.

    Raises:
        InputError: The text is not YAML; names line and column.
    """
    try:
        nodes = list(yaml.compose_all(text, _Loader))
    except yaml.MarkedYAMLError as error:
        raise _syntax(source, error) from None
    except yaml.YAMLError as error:
        raise InputError(source, [Problem("", f"is not YAML: {error}")]) from None
    except RecursionError:
        raise InputError(source, [Problem("", "is nested too deeply")]) from None
    return [node for node in nodes if node is not None and node.tag != f"{_CORE}null"]


def value_of(source: str, node: yaml.Node) -> Any:
    """The value of a document: maps, lists, text, numbers, booleans and None.

    Raises:
        InputError: A value does not fit its tag or is too large.
    """
    if (size := _size(node, {})) > MAX_VALUES:
        raise InputError(source, [Problem("", f"its aliases repeat {size:.0e} values; at most {MAX_VALUES} are read")])
    loader = _Loader("")
    try:
        return loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        raise _syntax(source, error) from None
    except (ValueError, KeyError):
        raise InputError(source, [Problem("", "a value does not fit its `!!` tag; leave the tag out")]) from None
    finally:
        loader.dispose()


def model_of(source: str, node: yaml.Node, kind: type[M]) -> M:
    """A document, validated as a model.

    Raises:
        InputError: The document is not valid; names each invalid field with its line.
    """
    content = value_of(source, node)
    try:
        # As JSON, which is what a cluster receives and what strict types are defined for.
        return kind.model_validate_json(json.dumps(content), strict=True)
    except ValidationError as error:
        problems = [
            Problem(f"{path_of(item['loc'])} (line {line_of(node, item['loc'])})", message_of(item, kind))
            for item in error.errors(include_url=False)
        ]
        raise InputError(source, problems) from None


def line_of(node: yaml.Node, loc: Location) -> int:
    """Line, from 1, of the field at a location, or of the nearest field around it."""
    line = node.start_mark.line
    for step in loc:
        child = _child(node, step)
        if child is None:
            break
        line, node = child
    return int(line) + 1


def _size(node: yaml.Node, known: dict[int, int]) -> int:
    """Number of values of a node, those that its aliases repeat included."""
    if id(node) not in known:
        known[id(node)] = 1  # of a node inside itself, which the loader refuses
        parts = [part for pair in node.value for part in pair] if isinstance(node, yaml.MappingNode) else node.value
        known[id(node)] = 1 + (0 if isinstance(node, yaml.ScalarNode) else sum(_size(part, known) for part in parts))
    return known[id(node)]


def _child(node: yaml.Node, step: int | str) -> tuple[int, yaml.Node] | None:
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        return node.value[step].start_mark.line, node.value[step]
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == step:
                return key.start_mark.line, value
    return None


def _syntax(source: str, error: yaml.MarkedYAMLError) -> InputError:
    mark = error.problem_mark or error.context_mark
    where = f"line {mark.line + 1}, column {mark.column + 1}" if mark else ""
    cause = "; ".join(part for part in (error.context, error.problem) if part)
    return InputError(source, [Problem(where, f"is not YAML: {cause}")])


class _Loader(yaml.SafeLoader):
    """Reads plain scalars as JSON would; any other plain scalar is text."""

    yaml_implicit_resolvers = {}
    yaml_constructors = {
        tag: yaml.SafeLoader.yaml_constructors[tag]
        for tag in (*(f"{_CORE}{kind}" for kind in ("null", "bool", "int", "str", "seq", "map")), None)
    }

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        """A map whose keys are unique texts."""
        node = super().compose_mapping_node(anchor)
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise ComposerError(None, None, "a key must be text", key.start_mark)
            if key.value in seen:
                raise ComposerError(None, None, f"the key {key.value!r} is used twice", key.start_mark)
            seen.add(key.value)
            key.tag = f"{_CORE}merge" if key.value == "<<" else f"{_CORE}str"
        return node

    def construct_number(self, node: yaml.ScalarNode) -> float:
        """A number with a fraction or an exponent."""
        number = float(node.value)
        if not math.isfinite(number):
            raise ConstructorError(None, None, f"the number {node.value} is too large", node.start_mark)
        return number


_NUMERAL = r"[-+]?(?:0|[1-9][0-9]{0,17})"
for _tag, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", _NUMERAL, list("-+0123456789")),
    ("float", rf"(?:{_NUMERAL}(?:\.[0-9]*)?|[-+]?\.[0-9]+)(?:[eE][-+]?[0-9]+)?", list("-+.0123456789")),
):
    _Loader.add_implicit_resolver(f"{_CORE}{_tag}", re.compile(rf"^(?:{_pattern})$"), _first)
_Loader.add_constructor(f"{_CORE}float", _Loader.construct_number)
