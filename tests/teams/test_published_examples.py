"""Every example that the published schemas give of an argument is understood."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

import pytest
from tests.support.gym import GymDatabase
from tests.support.upstream import upstream
from tests.teams.examples import EXAMPLES, moment

pytestmark = pytest.mark.published

MISSING = re.compile(r"not found|does not exist|has no channel")
"""In the refusal of an example that is understood and names what the seed does not have."""
_STATUS = {"message": {"content": "Away", "contentType": "text"}, "expiryDateTime": moment("2026-03-03T09:00:00")}
CALLS = {**EXAMPLES, "set_user_status_message": {"user_id": "ann@acme.test", "statusMessage": _STATUS}}
_QUOTED = re.compile(r"""=\s*'[^']*' | "([^"]*)" | '((?:\\.|[^'\\])*)'""", re.VERBOSE)
"""An example in a sentence; one behind a = is the value of another argument."""

Path = tuple[str, ...]


def examples(schema: Mapping[str, Any], path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Path and value of every example: those of the schema, and for query options also those of its sentences."""
    for name, argument in schema.get("properties", {}).items():
        here = (*path, name)
        yield from ((here, value) for value in argument.get("examples", ()))
        if name in ("_filter", "_select", "_orderby", "_expand", "_search"):
            yield from ((here, value) for value in _in_sentences(name, argument["description"]))
        yield from examples(argument, here)


def _in_sentences(name: str, description: str) -> Iterator[str]:
    start = re.search(r"[Ee]xamples?:|e\.g\.|\bUse '", description)
    for double, single in _QUOTED.findall(description, start.start() if start else len(description)):
        value = (double or single).replace("\\'", "'")
        if value and (name != "_filter" or " " in value):
            yield value


def with_value(arguments: Mapping[str, Any], path: Path, value: Any) -> dict[str, Any]:
    """Arguments with a value at a path."""
    changed = deepcopy(dict(arguments))
    place = changed
    for name in path[:-1]:
        place = place.setdefault(name, {})
    place[path[-1]] = value
    return changed


def test_every_published_example_of_an_argument_is_understood(ann: GymDatabase) -> None:
    tools = json.loads((upstream() / "tools" / "teams.json").read_text(encoding="utf-8"))["tools"]
    shown = [(tool["name"], path, value) for tool in tools for path, value in examples(tool["input_schema"])]
    refused = []
    for name, path, value in shown:
        outcome = ann.call_with(name, with_value(CALLS[name], path, value))
        if outcome.is_error and not MISSING.search(outcome.text):
            refused.append(f"{name} {path[-1]}={value}: {outcome.text}")
    assert refused == []
    assert len(shown) >= 80
