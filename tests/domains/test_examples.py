"""Every tool does what it is for, once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.domains.declaration import DomainDeclaration
from tests.support.gym import Gym


def test_every_tool_has_an_example_call(declared: DomainDeclaration) -> None:
    assert set(declared.examples) == set(declared.tools)
    assert len(declared.tools) == declared.tool_count


def test_an_example_call_returns_the_declared_fields_and_writes_only_if_the_tool_says_so(
    gym: Gym, declared: DomainDeclaration
) -> None:
    problems: list[str] = []
    for name, tool in declared.tools.items():
        with declared.database(gym) as database:
            before = database.digest()
            outcome = database.call_with(name, declared.examples[name])
            changed = database.digest() != before
        if outcome.is_error or not outcome.data or changed != tool.writes:
            problems.append(f"{name}: changed rows: {changed}; {outcome.text}")
        elif not has_declared_fields(outcome.data, tool.output_schema):
            problems.append(f"{name}: its output schema does not describe {outcome.text}")
    assert problems == []


def has_declared_fields(data: Any, schema: Mapping[str, Any]) -> bool:
    """Whether results have no other fields than the schema's, in its order."""
    is_list = schema["type"] == "array"
    fields = (schema["items"] if is_list else schema).get("properties")
    items = data if is_list else [data]
    return not fields or all(list(item) == [name for name in fields if name in item] for item in items)
