"""Arguments of the tools, as the REST interface behind the published tools takes them apart.

Invariant: an argument that is part of the path is a text and never empty; one of the query string is checked as text;
all others form the body, which keeps its JSON types. Every violation of a call is reported in one refusal, in the order
query string, body; a missing part of the path is reported alone.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, get_type_hints
from urllib.parse import unquote

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails

from opsgym_domains.kit.arguments import ToolFunction
from opsgym_domains.kit.errors import Invalid, InvalidArguments, ToolError, unfit_text
from opsgym_domains.kit.tools import Tool

_END_OF_PATH = re.compile(r"[?#]")


class Part(BaseModel):
    """Arguments of the body, or an object in it. Attributes are the arguments' names in snake case."""

    model_config = ConfigDict(extra="ignore", alias_generator=to_camel)

    def given(self) -> dict[str, Any]:
        """The arguments that the call contains, by attribute, null included."""
        return {name: getattr(self, name) for name in self.model_fields_set}

    def as_json(self) -> dict[str, Any]:
        """The object under its published names, with null for what is not given."""
        return self.model_dump(mode="json", by_alias=True)


class Query(Part):
    """Arguments of the query string."""


def accept(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that the tool's function receives.

    Raises:
        ToolError: A part of the path is missing or empty.
        InvalidArguments: Lists every argument of the query string and the body that is invalid.
    """
    parts = _parts(tool.run)
    accepted: dict[str, Any] = {}
    rest = dict(arguments)
    for name, kind in parts.items():
        if kind is None:
            accepted[name] = _path(to_camel(name), rest.pop(to_camel(name), None))
    problems: list[Invalid] = []
    for name, kind in parts.items():
        if kind is not None:
            sent = _query(kind, rest) if issubclass(kind, Query) else rest
            accepted[name] = _checked(kind, sent, problems)
    if problems:
        raise InvalidArguments(problems)
    return accepted


@cache
def _parts(function: ToolFunction) -> dict[str, type[Part] | None]:
    """Class of each parameter but the first, queries first; None for a text, which is a part of the path."""
    hints = get_type_hints(function)
    names = list(inspect.signature(function).parameters)[1:]
    kinds = {name: None if hints[name] is str else hints[name] for name in names}
    return dict(sorted(kinds.items(), key=lambda item: item[1] is not None and not issubclass(item[1], Query)))


def _path(name: str, value: Any) -> str:
    if value is None or value == "":
        raise ToolError("MISSING_FIELD", f"The parameter '{name}' is required and cannot be empty.", name)
    text = unquote(_END_OF_PATH.split(str(value))[0])
    if "/" in text or unfit_text(text):
        raise ToolError("NOT_FOUND", "Not Found", name)
    return text


def _query(kind: type[Query], rest: dict[str, Any]) -> dict[str, Any]:
    """Takes the query string out of the rest; of a list the last item counts, and an empty one is not sent."""
    names = [field.alias or name for name, field in kind.model_fields.items()]
    given = {name: rest.pop(name) for name in names if name in rest}
    return {
        name: _sent(value[-1] if isinstance(value, list) else value) for name, value in given.items() if value != []
    }


def _sent(value: Any) -> str:
    """A value as a query string carries it."""
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


def _checked(kind: type[Part], sent: Mapping[str, Any], problems: list[Invalid]) -> Part | None:
    problems.extend(
        Invalid(path, "value_error", f"the text {reason}", "INVALID_VALUE") for path, reason in _unfit(dict(sent), "")
    )
    try:
        return TypeAdapter(kind).validate_python(dict(sent), from_attributes=True)
    except ValidationError as error:
        problems.extend(_problem(detail) for detail in error.errors(include_url=False))
        return None


def _unfit(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Texts within a value that cannot be stored, with the reason."""
    if isinstance(value, str) and (reason := unfit_text(value)):
        yield path, reason
    elif isinstance(value, Mapping):
        for name, part in value.items():
            yield from _unfit(part, f"{path}.{name}".lstrip("."))
            yield from _unfit(name, path)
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from _unfit(part, f"{path}[{index}]")


def _problem(detail: ErrorDetails) -> Invalid:
    return Invalid(_joined(detail["loc"]), detail["type"], _message(detail), detail["type"].upper(), detail["input"])


def _joined(location: tuple[int | str, ...]) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location).lstrip(".")


def _message(detail: ErrorDetails) -> str:
    if detail["type"] == "missing":
        return "is required"
    message = detail["msg"].removeprefix("Value error, ")
    return message.replace("String should have at least", "must have at least")
