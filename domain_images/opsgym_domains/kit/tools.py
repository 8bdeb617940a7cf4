"""Tool declaration: one async function whose docstring is the description and whose body is the rule.

Invariant: the JSON schema of a tool's arguments is the published shape with our own descriptions (`shapes`) or, where a
domain has no shapes, the function's signature (`signatures`). What a tool does to rows is declared once, as its effect.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args, get_type_hints

from opsgym_domains.kit.arguments import Parameter, ToolFunction
from opsgym_domains.kit.json_schema import result_schema
from opsgym_domains.kit.schema import Row
from opsgym_domains.kit.shapes import ArgumentWords, Shape, check_signature, shape_parameters, without_keywords
from opsgym_domains.kit.signatures import is_declared_by_signature, signature_parameters

Operation = Literal["adds", "changes", "removes"]


@dataclass(frozen=True)
class Effect:
    """What a tool does to the rows of a class."""

    operation: Operation
    row: type[Row]


@dataclass(frozen=True)
class Tool:
    """A declared tool."""

    name: str
    description: str
    run: ToolFunction
    effect: Effect | None
    """What the tool does to rows; None if it only reads, or writes in a way that no effect describes."""
    writes: bool
    """Whether the tool may change rows."""
    nulls: bool
    """Whether null is a value that the function receives."""
    parameters: Mapping[str, Parameter]
    """Arguments by their published names."""
    shows: Sequence[str] | None
    """Columns of returned rows that the agent sees, in this order; None for all."""
    input_schema: Mapping[str, Any] = field(repr=False)
    output_schema: Mapping[str, Any] = field(repr=False)


class Toolbox:
    """The tools of a domain, in the order of declaration.

    Args:
        shapes: Shapes of the published tools by name; empty for a domain whose tools are declared by signature.
        words: Descriptions of arguments that no column describes, by name or path.
        own_checks: True where `Domain.accept` gives functions the arguments in a form of the domain's.
        unchecked: Keywords of schemas that are shown and not enforced, as on the published server.
    """

    def __init__(
        self,
        shapes: Mapping[str, Shape] | None = None,
        words: Mapping[str, str] | None = None,
        *,
        own_checks: bool = False,
        unchecked: Collection[str] = (),
    ) -> None:
        self.tools: dict[str, Tool] = {}
        self._shapes = shapes or {}
        self._words = words or {}
        self._own_checks = own_checks
        self._unchecked = unchecked

    def tool(
        self,
        *,
        adds: type[Row] | None = None,
        changes: type[Row] | None = None,
        removes: type[Row] | None = None,
        writes: bool = False,
        row: type[Row] | None = None,
        words: Mapping[str, str] | None = None,
        columns: Mapping[str, str] | None = None,
        nulls: bool = False,
        shows: Sequence[str] | None = None,
        closed: bool = False,
        any_of: Sequence[str] = (),
    ) -> Callable[[ToolFunction], ToolFunction]:
        """Declares a function as a tool; its name is the function's name and its description the docstring.

        Args:
            adds: Class of the rows that the tool adds.
            changes: Class of the rows that it changes.
            removes: Class of the rows that it removes.
            writes: True for a tool that writes and has none of these effects.
            row: Class whose columns describe the arguments, where neither the effect nor the type of the result names
                one.
            words: Descriptions of arguments that differ from the column's and the domain's.
            columns: Column by argument, where the names differ; it is also the name by which the function receives it.
            nulls: Whether the function receives null, which clears a field, instead of ignoring the argument.
            shows: Columns of returned rows that the agent sees; None for all.
            closed: For a tool without a shape: whether unknown arguments are refused.
            any_of: For a tool without a shape: arguments of which at least one must be given.
        """
        effect = _effect(adds=adds, changes=changes, removes=removes)

        def declare(function: ToolFunction) -> ToolFunction:
            hints = get_type_hints(function, include_extras=True)
            returns = hints.get("return")
            described = row or (effect.row if effect else next(_rows_in(returns), None))
            operation = effect.operation if effect else "changes" if writes else None
            named = frozenset(inspect.signature(function).parameters)
            source = ArgumentWords(words or {}, described, self._words, operation, named, columns or {})
            shape = None if is_declared_by_signature(hints) else self._shapes.get(function.__name__)
            rules = _rules(closed=closed, any_of=any_of) if shape is None else shape
            # An empty string as a filter means that the filter is not set, in list and delete tools.
            blank_is_absent = not (effect or writes) or "anyOf" in rules
            parameters = self._parameters(function, shape, source, blank_is_absent=blank_is_absent)
            self._add(
                Tool(
                    name=function.__name__,
                    description=inspect.cleandoc(function.__doc__ or ""),
                    run=function,
                    effect=effect,
                    writes=writes or effect is not None,
                    nulls=nulls,
                    parameters=without_keywords(parameters, self._unchecked) if self._unchecked else parameters,
                    shows=shows,
                    input_schema=_input_schema(parameters, rules),
                    output_schema=result_schema(returns, shows),
                )
            )
            return function

        return declare

    def _parameters(
        self, function: ToolFunction, shape: Shape | None, words: ArgumentWords, *, blank_is_absent: bool
    ) -> Mapping[str, Parameter]:
        if shape is None:
            return signature_parameters(function, blank_is_absent=blank_is_absent)
        if not self._own_checks:
            check_signature(function, shape, words)
        return shape_parameters(shape, words, blank_is_absent=blank_is_absent)

    def _add(self, tool: Tool) -> None:
        if tool.name in self.tools:
            raise ValueError(f"tool {tool.name} is declared twice")
        self.tools[tool.name] = tool

    @property
    def listed(self) -> Sequence[Tool]:
        """The tools in the order of `tools/list`: that of the shapes, which is the published one, then others."""
        places = {name: place for place, name in enumerate(self._shapes)}
        return sorted(self.tools.values(), key=lambda tool: places.get(tool.name, len(places)))

    def describe(self, overlay: Mapping[str, str]) -> None:
        """Replaces descriptions, for instance by the published ones to compare results.

        Args:
            overlay: Description by tool name.

        Raises:
            ValueError: A name is not a tool of the domain; nothing was replaced.
        """
        if unknown := sorted(set(overlay) - set(self.tools)):
            raise ValueError(f"unknown tool {', '.join(map(repr, unknown))}")
        for name, description in overlay.items():
            self.tools[name] = replace(self.tools[name], description=description)


def _effect(**rows: type[Row] | None) -> Effect | None:
    effects = [Effect(operation, row) for operation, row in rows.items() if row is not None]  # type: ignore[arg-type]
    if len(effects) > 1:
        raise TypeError("a tool has one effect: adds, changes or removes")
    return effects[0] if effects else None


def _rows_in(kind: Any) -> Iterator[type[Row]]:
    """Row classes that a type names: `Problem`, `Sequence[Problem]`, `Counted[Problem]`."""
    if isinstance(kind, type) and issubclass(kind, Row):
        yield kind
    for part in get_args(kind):
        yield from _rows_in(part)


def _rules(*, closed: bool, any_of: Sequence[str]) -> dict[str, Any]:
    """The schema of arguments as a whole, for a tool that is declared by its signature."""
    rules: dict[str, Any] = {"type": "object"}
    if closed:
        rules["additionalProperties"] = False
    if any_of:
        rules["anyOf"] = [{"required": [name]} for name in any_of]
    return rules


def _input_schema(parameters: Mapping[str, Parameter], rules: Mapping[str, Any]) -> dict[str, Any]:
    properties = {name: dict(parameter.schema) for name, parameter in parameters.items()}
    required = [name for name, parameter in parameters.items() if parameter.required]
    return {**rules, "properties": properties, "required": required}
