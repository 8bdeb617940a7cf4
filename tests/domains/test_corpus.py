"""No call that a model may make ends in an internal error: some 29,000 calls, the same ones every time.

Each tool is called with its required arguments alone, with all that it takes, and once for each argument and each way
in which models are known to misuse it, in both accesses. `test_fuzz.py` combines arguments at random.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from tests.domains.declaration import DomainDeclaration
from tests.support.fuzz import stored_values
from tests.support.gym import Gym, GymDatabase

from opsgym_api.gym_http import INTERNAL_ERROR_HEADER
from opsgym_api.kinds.evalrun import Access
from opsgym_domains.kit.arguments import Parameter

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]

MANY = 10_000
EMPTY: Mapping[str, Any] = {"array": [], "object": {}}
"""By the type of an argument; a text of all others."""
HUGE: Mapping[str, Any] = {
    "array": ["x"] * MANY,
    "object": {f"key_{number}": number for number in range(MANY)},
    "integer": 10**40,
    "number": 1e300,
}
"""As `EMPTY`."""


def kind_of(parameter: Parameter) -> str:
    """The type that an argument's schema names first."""
    kind = parameter.schema["type"]
    return str(kind if isinstance(kind, str) else kind[0])


def fitting(name: str, parameter: Parameter, stored: Mapping[str, list[Any]]) -> Any:
    """A value that the schema allows: of an enumeration, else one that a row has, else any of the type."""
    kind, known = kind_of(parameter), stored.get(name, ["2025-02-11T08:00:00Z" if "time" in name else "x"])
    if parameter.allowed is not None:
        return parameter.allowed[0]
    if kind == "array":
        return [parameter.schema["items"].get("enum", known)[0]]
    others = {"boolean": True, "integer": 1, "number": 1, "object": _inside(parameter, stored)}
    return others[kind] if kind in others else str(known[0])


def _inside(parameter: Parameter, stored: Mapping[str, list[Any]]) -> dict[str, Any]:
    return {name: fitting(name, field, stored) for name, field in parameter.fields.items()}


MISUSES: Mapping[str, Callable[[Parameter], Any]] = {
    "null": lambda _parameter: None,
    "empty": lambda parameter: EMPTY.get(kind_of(parameter), ""),
    "huge": lambda parameter: HUGE.get(kind_of(parameter), "x" * MANY),
    "another type": lambda parameter: 7 if kind_of(parameter) == "string" else "x",
}


def calls_of(declared: DomainDeclaration, name: str, stored: Mapping[str, list[Any]]) -> Iterator[dict[str, Any]]:
    """Arguments of the calls of a tool."""
    tool, example = declared.tools[name], declared.examples[name]
    least = {argument: example[argument] for argument in tool.input_schema["required"]}
    fits = {argument: fitting(argument, parameter, stored) for argument, parameter in tool.parameters.items()}
    yield least
    yield {**fits, **example}
    for argument, parameter in tool.parameters.items():
        yield {**least, argument: example.get(argument, fits[argument])}
        for misused in MISUSES.values():
            yield {**least, argument: misused(parameter)}


def problem(database: GymDatabase, name: str, arguments: Mapping[str, Any]) -> str:
    """What is wrong with the answer to a call: nothing, or that it is an internal error."""
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    headers = {"x-database-id": database.id, **database.headers}
    answer = database.client.post("/mcp", content=json.dumps(message), headers=headers)
    if answer.status_code == 200 and INTERNAL_ERROR_HEADER not in answer.headers:
        return ""
    return f"{name} {json.dumps(arguments)[:300]}: HTTP {answer.status_code} {answer.text[:300]}"


@pytest.mark.parametrize("access", Access)
def test_no_call_of_the_corpus_is_an_internal_error(declared: DomainDeclaration, gym: Gym, access: Access) -> None:
    stored, problems = stored_values(declared), list[str]()
    for name in declared.tools:
        database = gym.database(declared.seed, access=access, **declared.headers)
        database.set_clock(declared.now)
        answers = (problem(database, name, arguments) for arguments in calls_of(declared, name, stored))
        problems += filter(None, answers)
        gym.drop(database)
    assert problems == []
