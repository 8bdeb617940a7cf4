"""The tools as agents see them: the published schemas to the letter, with descriptions of our own."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.domains.declaration import DomainDeclaration
from tests.support.upstream import upstream

from opsgym_domains import kit
from opsgym_domains.kit.tools import Tool

SHARED_WORDS = 8
"""A run of this many words that two descriptions share was copied."""


@cache
def published(domain: str) -> dict[str, dict[str, Any]]:
    listed = json.loads((upstream() / "tools" / f"{domain}.json").read_text(encoding="utf-8"))["tools"]
    return {tool["name"]: tool for tool in listed}


def without_words(schema: Any) -> Any:
    """A schema without descriptions, and without the difference between no list of required fields and an empty one."""
    if not isinstance(schema, Mapping):
        return schema
    bare = {name: without_words(part) for name, part in schema.items() if not _is_description(name, part)}
    if bare.get("type") == "object":
        bare = {**bare, "required": sorted(bare.get("required", [])), "properties": bare.get("properties", {})}
    return bare


def _is_description(name: str, part: Any) -> bool:
    return name == "description" and isinstance(part, str)


def fields_of(schema: Mapping[str, Any]) -> tuple[str, list[tuple[str, str, list[Any]]]]:
    """Kind of a result, and its fields: name, type and allowed values, null apart."""
    fields = (schema["items"] if schema["type"] == "array" else schema).get("properties", {})
    return schema["type"], [(name, _kind(field), _allowed(field)) for name, field in fields.items()]


def _kind(field: Mapping[str, Any]) -> str:
    return str(field["type"] if isinstance(field["type"], str) else field["type"][0])


def _allowed(field: Mapping[str, Any]) -> list[Any]:
    return [value for value in field.get("enum", []) if value is not None]


def descriptions(schema: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    """Path and description of every argument, also within objects and lists of objects."""
    for name, argument in schema.get("properties", {}).items():
        yield f"{path}{name}", argument.get("description", "")
        yield from descriptions(argument, f"{path}{name}.")
        yield from descriptions(argument.get("items", {}), f"{path}{name}.")


def runs_of_words(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"[a-z0-9_]+", text.lower())
    return {tuple(words[start : start + SHARED_WORDS]) for start in range(len(words) - SHARED_WORDS + 1)}


@pytest.mark.published
def test_the_tools_are_exactly_the_published_ones(declared: DomainDeclaration) -> None:
    assert set(declared.tools) == set(published(declared.domain.name))


@pytest.mark.published
def test_tools_are_listed_in_the_published_order(declared: DomainDeclaration) -> None:
    assert [tool.name for tool in declared.domain.toolbox.listed] == list(published(declared.domain.name))


@pytest.mark.published
def test_every_input_schema_is_the_published_one_apart_from_descriptions(declared: DomainDeclaration) -> None:
    tools = published(declared.domain.name)
    assert [
        name
        for name, tool in declared.tools.items()
        if without_words(tool.input_schema) != without_words(tools[name]["input_schema"])
    ] == []


@pytest.mark.published
def test_every_result_has_the_published_fields(declared: DomainDeclaration) -> None:
    """Names in their order, types, and values of enumerations; more fields may be null here."""
    tools = published(declared.domain.name)
    schemas = {name: tool["output_schema"] for name, tool in tools.items() if tool.get("output_schema")}
    assert declared.domain.lists_results == bool(schemas)
    assert [
        name
        for name, tool in declared.tools.items()
        if name in schemas and fields_of(tool.output_schema) != fields_of(schemas[name])
    ] == []


@pytest.mark.published
def test_no_sentence_is_copied_from_the_published_descriptions(declared: DomainDeclaration) -> None:
    assert {name: copied for name, tool in declared.tools.items() if (copied := copied_words(declared, tool))} == {}


def copied_words(declared: DomainDeclaration, tool: Tool) -> list[str]:
    """Paths of the descriptions that share a run of words with the published ones, the tool's own as an empty path."""
    origin = published(declared.domain.name)[tool.name]
    taken = runs_of_words(origin["description"])
    for _, text in descriptions(origin["input_schema"]):
        taken |= runs_of_words(text)
    own = {"": tool.description, **dict(descriptions(tool.input_schema))}
    # A list of allowed values in their order is not a sentence.
    return [path for path, text in own.items() if runs_of_words(text) & taken and not _is_enumeration(tool, path)]


def _is_enumeration(tool: Tool, path: str) -> bool:
    return path in tool.parameters and tool.parameters[path].allowed is not None


def test_every_tool_and_argument_is_described(declared: DomainDeclaration) -> None:
    """The first line says in one sentence what the tool does; the rest says what it returns or when it refuses."""
    problems: list[str] = []
    for name, tool in declared.tools.items():
        summary, _, rest = tool.description.partition("\n\n")
        if not re.fullmatch(r"[A-Z].{15,110}[.]", summary) or not rest.strip():
            problems.append(name)
        problems += [f"{name} {path}" for path, text in descriptions(tool.input_schema) if not text.strip()]
    assert problems == []


def test_allowed_values_without_an_enum_in_the_schema_are_described(declared: DomainDeclaration) -> None:
    assert [
        f"{name} {parameter.name} {value}"
        for name, tool in declared.tools.items()
        for parameter in tool.parameters.values()
        if parameter.allowed is not None and "enum" not in parameter.schema
        for value in parameter.allowed
        if str(value) not in parameter.schema["description"]
    ] == []


def test_every_error_code_in_a_description_exists(declared: DomainDeclaration) -> None:
    """An agent would wait in vain for a misspelt code."""
    folders = {Path(sys.modules[tool.run.__module__].__file__ or "").parent for tool in declared.tools.values()}
    folders.add(Path(kit.__file__).parent)
    source = "".join(path.read_text(encoding="utf-8") for folder in folders for path in folder.glob("*.py"))
    tables = declared.domain.metadata.tables.values()
    codes = {f"{table.info['label'].upper().replace(' ', '_')}_NOT_FOUND" for table in tables}
    codes |= {f"DUPLICATE_{column}" for column in ("EMAIL", "PHONE", "USER_NAME")}
    assert [
        f"{name} {code}"
        for name, tool in declared.tools.items()
        for code in re.findall(r"\b[A-Z]+(?:_[A-Z]+)+\b", tool.description)
        if code not in codes and f'"{code}"' not in source
    ] == []
