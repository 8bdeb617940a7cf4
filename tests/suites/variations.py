"""End states that differ a little from that of a reference solution, and of which none may pass.

Invariant: a variation is made from the recorded difference alone: the solution is played once, and each of hundreds of
variations costs a comparison and no episode.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from opsgym_api.records.state_difference import RowDifference, StateDifference, TableDifference
from opsgym_api.tasks.expected_difference import ExpectedDifference, ExpectedRow
from opsgym_suites.kit.effects import RowType
from opsgym_suites.kit.world import World

JUNK = "junk of the test"
"""A text that no solution writes."""


def variations(
    expected: Collection[ExpectedDifference], solved: StateDifference, world: World
) -> Iterator[tuple[str, StateDifference]]:
    """Wrong end states, by what is wrong with each.

    Args:
        expected: What the task's verifiers expect; they say which columns are free.
        solved: The difference after the reference solution.
        world: The seed's rows.
    """
    unjudged = {table for config in expected for table, columns in config.ignored.items() if "*" in columns}
    tables = {table.table: list(table.rows) for table in solved.tables if table.table not in unjudged}
    for name, rows in tables.items():
        for index, row in enumerate(rows):
            for label, changed in _of_row(expected, name, row):
                rest = [*rows[:index], *changed, *rows[index + 1 :]]
                yield f"{name} {'/'.join(map(str, row.key.values()))}: {label}", _with(tables, name, rest)
    for kind in (kind for kind in world.kinds if kind.__tablename__ not in unjudged):
        yield from _strays(expected, tables, kind, world)


def _with(tables: Mapping[str, list[RowDifference]], name: str, rows: list[RowDifference]) -> StateDifference:
    merged = {**tables, name: rows}
    return StateDifference(
        tables=[
            TableDifference(
                table=table,
                rows=differing,
                **{
                    change: sum(row.change == change for row in differing) for change in ("added", "changed", "removed")
                },
            )
            for table, differing in sorted(merged.items())
            if differing
        ]
    )


# --- rows of the solution ------------------------------------------------------------------------------------------


def _of_row(
    expected: Collection[ExpectedDifference], table: str, row: RowDifference
) -> Iterator[tuple[str, list[RowDifference]]]:
    """Replacements of a row that the solution writes."""
    free = _free_columns(expected, table)
    if row.change == "changed" and not row.after.keys() - free:
        return  # changed and changed back
    if not _is_optional(expected, table, row):
        yield "is undone", []
    if row.change == "added":
        yield "is there twice", [row, row.model_copy(update={"key": _other_key(row.key)})]
    if row.change == "removed":
        return
    for column, value in row.after.items():
        if column in free or column in row.key:
            continue
        stored = row.before.get(column)
        if row.change == "changed" and stored != value:
            yield f"{column} is undone", [_without(row, column)]
        if value is not None or row.change == "added":
            yield f"{column} holds something else", [_holding(row, column, _another(value))]


def _without(row: RowDifference, column: str) -> RowDifference:
    before = {name: value for name, value in row.before.items() if name != column}
    after = {name: value for name, value in row.after.items() if name != column}
    return row.model_copy(update={"before": before, "after": after})


def _holding(row: RowDifference, column: str, value: Any) -> RowDifference:
    return row.model_copy(update={"after": {**row.after, column: value}})


def _another(value: Any) -> Any:
    """A value of the same kind that no solution writes."""
    return value + 4711 if isinstance(value, int | float) and not isinstance(value, bool) else JUNK


def _other_key(key: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value + 4711 if isinstance(value, int) else f"{value}x" for name, value in key.items()}


def _rows_of(expected: Collection[ExpectedDifference], table: str) -> list[ExpectedRow]:
    return [row for config in expected for row in config.every_row() if row.table == table]


def _free_columns(expected: Collection[ExpectedDifference], table: str) -> set[str]:
    """Columns that some expectation leaves to the agent: generated ones, free ones, and texts with conditions."""
    ignored = {column for config in expected for column in config.ignored.get(table, [])}
    rows = _rows_of(expected, table)
    may = {column for row in rows for column in row.may}
    present = {name for row in rows for name, condition in row.values.items() if condition.not_null}
    return ignored | may | present


def _is_optional(expected: Collection[ExpectedDifference], table: str, row: RowDifference) -> bool:
    return any(item.optional and item.change == row.change for item in _rows_of(expected, table))


# --- rows that no solution writes ----------------------------------------------------------------------------------


def _strays(
    expected: Collection[ExpectedDifference], tables: Mapping[str, list[RowDifference]], kind: RowType, world: World
) -> Iterator[tuple[str, StateDifference]]:
    """A changed, a removed and a new row of a table."""
    name = kind.__tablename__
    rows = tables.get(name, [])
    keys = [column.name for column in kind.__table__.primary_key]
    ignored = {column for config in expected for column in config.ignored.get(name, [])}
    columns = [column.name for column in kind.__table__.columns if column.name not in {*keys, *ignored}]
    known = [row.key for row in rows]
    stored = ({key: getattr(row, key) for key in keys} for row in reversed(world.all(kind)))
    free = next((key for key in stored if key not in known), None)
    if free is not None and columns:
        stray = RowDifference(change="changed", key=free, before={columns[-1]: None}, after={columns[-1]: JUNK})
        yield f"stray change in {name}", _with(tables, name, [*rows, stray])
    if free is not None:
        gone = RowDifference(change="removed", key=free, before=dict.fromkeys(columns, JUNK))
        yield f"a row of {name} is gone", _with(tables, name, [*rows, gone])
    new = RowDifference(change="added", key=dict.fromkeys(keys, "new"), after=dict.fromkeys([*keys, *columns], JUNK))
    yield f"new row of {name}", _with(tables, name, [*rows, new])
