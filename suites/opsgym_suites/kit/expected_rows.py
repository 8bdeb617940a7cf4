"""The rows that differ from the seed once a task is solved: by the reference solution, and by what happens meanwhile.

Invariant: an expectation judges every column of a new row, and of a changed row exactly those that end with another
value than the seed's. It names no created row by its id, since another correct solution may create rows in another
order.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from opsgym_domains.kit.schema import Row, as_dict, is_counted, table_of
from opsgym_domains.kit.tools import Operation
from opsgym_suites.kit.effects import RowType
from opsgym_suites.kit.verifiers import CONDITIONS, KeyOf, May, condition_json
from opsgym_suites.kit.world import World, key_of, plain

CHANGE_OF: Mapping[Operation, str] = {"adds": "added", "changes": "changed", "removes": "removed"}


@dataclass(frozen=True)
class Difference:
    """A row of the expected difference, before it is written as JSON."""

    tool: str | None
    """The first tool that wrote it; None for what happens without the agent or may be left out."""
    kind: RowType
    change: str
    key: Any
    """Key in the seed or, of a new row, in the reference solution: a value, or values by column."""
    values: Mapping[str, Any]
    """Conditions by column; `May` where the column may stay as it was."""
    optional: bool = False
    """Whether the row may be missing."""

    @property
    def name(self) -> str:
        """Name by which expectations refer to a new row."""
        return f"{self.kind.__tablename__} {self.key}"


def keys_of(kind: RowType, key: Any) -> dict[str, Any]:
    """A primary key by column."""
    if isinstance(key, dict):
        return {column.name: key[column.name] for column in kind.__table__.primary_key}
    return {key_of(kind): key}


def generated_columns(kind: RowType) -> list[str]:
    """Columns that the server fills itself in every row, and that no verifier judges."""
    has_made_key = kind.id_prefix is not None or kind.has_uuid or is_counted(table_of(kind))
    columns = [*([key_of(kind)] if has_made_key else []), kind.created, kind.updated]
    return [column for column in columns if column is not None]


def changed_meanwhile(before: World, after: World) -> Iterator[Difference]:
    """Rows in which two worlds differ; the second one has all rows of the first, and possibly more."""
    if before is after:
        return
    for kind in before.kinds:
        old, new = before.all(kind), after.all(kind)
        for past, present in zip(old, new, strict=False):
            if _seem_equal(past, present):
                continue
            yield from _changed_row(kind, as_dict(past), as_dict(present))
        for row in new[len(old) :]:
            yield Difference(None, kind, "added", getattr(row, key_of(kind)), given(kind, row))


def _seem_equal(past: Row, present: Row) -> bool:
    """Whether two rows were given the same values; faster than to compare all columns, and true of most rows."""
    return {**plain(past), "_sa_instance_state": None} == {**plain(present), "_sa_instance_state": None}


def _changed_row(kind: RowType, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Difference]:
    columns = {name: value for name, value in after.items() if value != before[name]}
    key = {column.name: before[column.name] for column in kind.__table__.primary_key}
    if not columns:
        return
    if columns.keys() & key.keys():
        yield Difference(None, kind, "removed", key, {})
        yield Difference(None, kind, "added", {name: after[name] for name in key}, after)
    else:
        yield Difference(None, kind, "changed", next(iter(key.values())) if len(key) == 1 else key, columns)


def given(kind: RowType, row: Row) -> dict[str, Any]:
    """A row's values without NULLs and without the columns that the server fills."""
    made = generated_columns(kind)
    return {name: value for name, value in as_dict(row).items() if value is not None and name not in made}


def same(stored: Any, expected: Any) -> bool:
    """Whether a condition is a plain value that equals a stored one."""
    if isinstance(expected, (*CONDITIONS, May, list, tuple)):
        return False
    if isinstance(stored, Decimal) or isinstance(expected, Decimal):
        return stored is not None and expected is not None and Decimal(str(stored)) == Decimal(str(expected))
    return bool(stored == expected)


def rows_by_tool(differences: Sequence[Difference]) -> Mapping[str | None, list[dict[str, Any]]]:
    """Rows as JSON by the tool that writes them. Like rows share one, with the keys of all; a row to which others refer
    has a name.
    """
    created = {
        (row.kind.__tablename__, row.key): row
        for row in differences
        if row.change == "added" and row.tool is not None and not isinstance(row.key, dict)
    }
    written = [(row, _conditions(row, created)) for row in differences]
    named = {value.name for _row, values in written for value in values.values() if isinstance(value, KeyOf)}
    result: dict[str | None, list[dict[str, Any]]] = {}
    for row, values in written:
        result.setdefault(row.tool, []).append(_json(row, values, named))
    return {tool: _joined(rows) for tool, rows in result.items()}


def _conditions(row: Difference, created: Mapping[tuple[str, Any], Difference]) -> dict[str, Any]:
    return {column: _reference(row, column, value, created) for column, value in row.values.items()}


def _reference(row: Difference, column: str, value: Any, created: Mapping[tuple[str, Any], Difference]) -> Any:
    """A value; if it is the id of a row that the solution creates, a reference to that row instead."""
    if isinstance(value, (*CONDITIONS, May, list, tuple)):
        return value
    tables = [key.column.table.name for key in row.kind.__table__.columns[column].foreign_keys]
    return next((KeyOf(created[table, value].name) for table in tables if (table, value) in created), value)


def _json(row: Difference, values: Mapping[str, Any], named: Collection[str]) -> dict[str, Any]:
    must = {column: condition_json(value) for column, value in values.items() if not isinstance(value, May)}
    if row.change == "added":
        must = {column: value for column, value in must.items() if value is not None}
    may = {column: condition_json(value.condition) for column, value in values.items() if isinstance(value, May)}
    fields: dict[str, Any] = {"table": row.kind.__tablename__, "change": row.change}
    if row.change != "added":
        fields["keys"] = [{name: condition_json(value) for name, value in keys_of(row.kind, row.key).items()}]
    if must:
        fields["values"] = must
    if may:
        fields["may"] = may if any(value is not None for value in may.values()) else list(may)
    if row.optional:
        fields["optional"] = True
    if row.change == "added" and row.name in named:
        fields["as"] = row.name
    return fields


def _joined(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    joined: dict[str, dict[str, Any]] = {}
    for row in rows:
        like = json.dumps({name: value for name, value in row.items() if name != "keys"}, sort_keys=True, default=str)
        if "as" in row or like not in joined:
            joined[like] = row
        elif "keys" in row:
            joined[like]["keys"] += row["keys"]
        else:
            joined[like]["count"] = joined[like].get("count", 1) + 1
    return list(joined.values())
