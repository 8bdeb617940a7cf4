"""The rows that calls of a domain's tools write.

Invariant: what a tool does to which rows is read from the domain's toolbox; a domain states here only what the toolbox
does not say. The final state that a task's reference solution leads to is therefore derived from its calls and the
seed, without a server.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property
from typing import Any, Generic, TypeVar

from sqlalchemy import Date, DateTime

from opsgym_api.tasks.task import ToolCall
from opsgym_domains.kit import schema
from opsgym_domains.kit.tools import Effect, Operation, Toolbox
from opsgym_suites.kit.world import World, key_of

RowType = type[schema.Row]


@dataclass
class WrittenRow:
    """A row that calls write, in its final form."""

    tool: str
    """The first tool that wrote it."""
    kind: RowType
    operation: Operation
    key: Any
    values: dict[str, Any] = field(default_factory=dict)
    """Values of the columns that the calls give."""
    calls: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    """The calls that wrote it, in order: tool, and values by column."""
    named_by: dict[str, Any] = field(default_factory=dict)
    """Columns other than the key by which calls named it, with its values."""
    optional: bool = False
    """Whether a correct solution may leave it out."""


W = TypeVar("W", bound=World)


class Written(Generic[W]):
    """Rows that calls have written so far, for domains whose calls write rows of several tables.

    Args:
        world: The rows before.
    """

    def __init__(self, world: W) -> None:
        self.world = world
        self.rows: dict[tuple[RowType, Any], WrittenRow] = {}
        self._made = 0

    def add(
        self, tool: str, kind: RowType, values: Mapping[str, Any], key: Any = None, *, optional: bool = False
    ) -> Any:
        """A new row; returns its key."""
        self._made += 1
        key = key or f"new {self._made}"
        row = WrittenRow(tool, kind, "adds", key, dict(values), [(tool, dict(values))], optional=optional)
        self.rows[kind, key] = row
        return key

    def change(self, tool: str, kind: RowType, key: Any, values: Mapping[str, Any]) -> None:
        """Columns of a row."""
        row = self.rows.setdefault((kind, key), WrittenRow(tool, kind, "changes", key))
        row.values |= values
        row.calls.append((tool, dict(values)))

    def remove(self, tool: str, kind: RowType, key: Any) -> None:
        """A row that is gone; one that the solution added leaves no trace."""
        before = self.rows.pop((kind, key), None)
        if before is None or before.operation == "changes":
            self.rows[kind, key] = WrittenRow(tool, kind, "removes", key, {}, [(tool, {})])

    def of(self, kind: RowType, column: str, value: Any) -> list[Any]:
        """Keys of the present rows with a value in a column."""
        gone = {key for (of, key), row in self.rows.items() if of is kind and row.operation == "removes"}
        name = key_of(kind)
        seeded = [getattr(row, name) for row in self.world.all(kind, **{column: value})]
        added = [
            key
            for (of, key), row in self.rows.items()
            if of is kind and row.operation == "adds" and row.values.get(column) == value
        ]
        return [key for key in seeded if key not in gone] + added

    def value(self, kind: RowType, key: Any, column: str) -> Any:
        """Value of a column of a row that the seed has or the solution adds."""
        written = self.rows.get((kind, key))
        if written is not None and column in written.values:
            return written.values[column]
        return getattr(self.world.one(kind, **{key_of(kind): key}), column)


def _arguments(call: ToolCall) -> Iterator[Mapping[str, Any]]:
    yield call.arguments


def _no_rows(_world: Any, _rows: Iterable[WrittenRow]) -> list[WrittenRow]:
    return []


def _no_calls(_call: ToolCall) -> Iterable[ToolCall]:
    return ()


@dataclass(frozen=True)
class ToolEffects:
    """Effects of a domain's writing tools."""

    toolbox: Toolbox
    """The domain's tools, all of them declared."""
    link_types: frozenset[RowType]
    """Types of rows that only link other rows."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Columns by argument, where neither the argument's name nor the tool's declaration names the column."""
    alternate_keys: Collection[str] = ()
    """Columns other than the key by which calls name the row to change."""
    arguments_by_row: Callable[[ToolCall], Iterator[Mapping[str, Any]]] = _arguments
    """Arguments of a call, once for each row that it writes."""
    implicit_rows: Callable[[Any, Iterable[WrittenRow]], list[WrittenRow]] = _no_rows
    """Rows that a server writes in addition to those that calls name, from the seed's world and those rows."""
    equivalents: Callable[[ToolCall], Iterable[ToolCall]] = _no_calls
    """Calls of other tools that have the same effect as a call."""

    @cached_property
    def by_tool(self) -> Mapping[str, Effect]:
        """Effects by tool."""
        return {name: tool.effect for name, tool in self.toolbox.tools.items() if tool.effect is not None}

    def written(self, world: World, calls: Sequence[ToolCall]) -> list[WrittenRow]:
        """Rows that calls write on a seed, in the order in which they are first written.

        Raises:
            LookupError: A call names a row that does not exist.
        """
        rows: dict[tuple[RowType, Any], WrittenRow] = {}
        added: Counter[RowType] = Counter()
        for call in calls:
            if call.name not in self.by_tool:
                continue
            effect = self.by_tool[call.name]
            for arguments in self.arguments_by_row(call):
                values = self._values(call.name, effect.row, arguments)
                for key in self._keys(world, effect, values, added[effect.row]):
                    row = rows.setdefault((effect.row, key), WrittenRow(call.name, effect.row, effect.operation, key))
                    row.values |= {name: value for name, value in values.items() if name != key_of(effect.row)}
                    row.calls.append((call.name, values))
                    if effect.operation == "changes" and key_of(effect.row) not in values:
                        row.named_by |= {name: values[name] for name in self.alternate_keys if name in values}
                added[effect.row] += effect.operation == "adds"
        return [*rows.values(), *self.implicit_rows(world, rows.values())]

    def _values(self, tool: str, kind: RowType, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Values by column; an empty string clears a column."""
        declared = {name: parameter.passed_as for name, parameter in self.toolbox.tools[tool].parameters.items()}
        other = {**declared, **self.columns}
        columns = {name if name in kind.__table__.columns else other[name]: name for name in arguments}
        return {column: _stored(kind, column, arguments[name]) for column, name in columns.items()}

    def _keys(self, world: World, effect: Effect, values: Mapping[str, Any], added: int) -> list[Any]:
        """Keys of the rows that a call writes; `added` is the number of rows of the type that calls added before it."""
        column = key_of(effect.row)
        if effect.operation == "adds":
            return [world.next_id(effect.row, added)]
        if column in values:
            return [values[column]]
        alternate = {name: values[name] for name in self.alternate_keys if name in values}
        criteria = values if effect.operation == "removes" else alternate
        keys = [getattr(row, column) for row in world.all(effect.row, **criteria)]
        if not keys:
            raise LookupError(f"no row of {effect.row.__tablename__} has {criteria}")
        return keys


def _stored(kind: RowType, column: str, value: Any) -> Any:
    """The value that a column holds after a call gave this argument."""
    declared = kind.__table__.columns[column].type
    if value == "":
        return None
    if isinstance(declared, DateTime):
        return datetime.fromisoformat(value)
    return date.fromisoformat(value) if isinstance(declared, Date) else value
