"""Arguments of every domain's tools are checked before the tool runs.

The checks are the kit's (`tests/kit/test_tool_arguments.py`); here a sample of each domain's enumerations is tried, and
all of them when soaking.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

import pytest
from tests.domains.declaration import DomainDeclaration, sample
from tests.support.gym import GymDatabase

from opsgym_domains.kit.arguments import Parameter

Path = tuple[str, ...]


Enumeration = tuple[str, Path, Sequence[Any], bool]
"""Tool, path of the argument, allowed values, and whether the argument takes several of them."""


def enumerations(declared: DomainDeclaration) -> list[Enumeration]:
    """Every argument of the domain that takes a value of a list."""
    return [
        (name, path, allowed, several)
        for name, tool in declared.tools.items()
        for path, allowed, several in _within(tool.parameters)
    ]


def _within(parameters: Mapping[str, Parameter], outer: Path = ()) -> Iterator[tuple[Path, Sequence[Any], bool]]:
    for name, parameter in parameters.items():
        if parameter.allowed is not None:
            yield (*outer, name), parameter.allowed, False
        elif "enum" in parameter.schema.get("items", {}):
            yield (*outer, name), parameter.schema["items"]["enum"], True
        yield from _within(parameter.fields, (*outer, name))


def misspelt(allowed: Sequence[str]) -> list[str]:
    """Values that differ from an allowed one by case or space, and one that resembles none."""
    first = allowed[0]
    near = [first.lower(), first.upper(), first.title(), first.replace("-", "_"), f" {first}", f"{first} "]
    return [value for value in [*near, "no-such-value"] if value not in allowed]


def with_value(arguments: Mapping[str, Any], path: Path, value: Any) -> dict[str, Any]:
    changed = deepcopy(dict(arguments))
    inner = changed
    for name in path[:-1]:
        inner = inner.setdefault(name, {})
    inner[path[-1]] = value
    return changed


@pytest.mark.declares("checks_by_schema")
def test_a_misspelt_value_is_refused_with_the_allowed_ones(declared: DomainDeclaration, unchanged: GymDatabase) -> None:
    code, problems = declared.argument_code("INVALID_ENUM_VALUE"), []
    assert len(enumerations(declared)) > 5
    for tool, path, allowed, several in sample(enumerations(declared), 6):
        for wrong in misspelt(allowed):
            given = with_value(declared.examples[tool], path, [*allowed[1:], wrong] if several else wrong)
            outcome = unchanged.call_with(tool, given)
            if not outcome.is_error or code not in outcome.codes or not all(str(v) in outcome.text for v in allowed):
                problems.append(f"{tool} {path} {wrong!r}: {outcome.text}")
    assert problems == []


@pytest.mark.declares("checks_by_schema")
def test_every_allowed_value_passes_the_check(declared: DomainDeclaration, database: GymDatabase) -> None:
    code, problems = declared.argument_code("INVALID_ENUM_VALUE"), []
    for tool, path, allowed, several in sample(enumerations(declared), 12):
        for value in allowed:
            given = with_value(declared.examples[tool], path, [value] if several else value)
            outcome = database.call_with(tool, given)
            if outcome.is_error and code in outcome.codes:
                problems.append(f"{tool} {path} {value!r}: {outcome.text}")
    assert problems == []


def test_a_missing_required_argument_is_refused_by_its_name(
    declared: DomainDeclaration, unchanged: GymDatabase
) -> None:
    code, problems = declared.argument_code("MISSING_FIELD"), []
    required = [(name, argument) for name, tool in declared.tools.items() for argument in tool.input_schema["required"]]
    for tool, argument in sample(required, 6):
        others = {name: value for name, value in declared.examples[tool].items() if name != argument}
        for given in (others, {**others, argument: None}):
            outcome = unchanged.call_with(tool, given)
            has_code = outcome.is_error and (not declared.checks_by_schema or outcome.codes[0] == code)
            is_named = argument in outcome.text or (tool, argument) in declared.unnamed_arguments
            if not (has_code and is_named):
                problems.append(f"{tool} {given}: {outcome.text}")
    assert problems == []
