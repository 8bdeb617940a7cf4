"""Difference between a database's current rows and its seed.

Invariant: a trigger stores the seeded content of every row in the transaction that first changes it; rows without
stored content are unchanged. Computing a difference therefore takes time in proportion to the changed rows, not to the
database. Loading a seed fires no trigger (`session_replication_role`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import asyncpg
from sqlalchemy import Boolean, Column, DateTime, MetaData, Numeric, Table

from opsgym_api.records.state_difference import RowDifference, StateDifference, TableDifference
from opsgym_domains.kit.schema import ROW_ORDER, load_order


@dataclass(frozen=True)
class Limits:
    """Size of a difference, so that an agent which rewrites a database costs no more memory than one that does not."""

    rows: int
    """Rows over all tables."""
    size: int
    """These rows as JSON, in bytes."""
    text: int
    """Characters of a value."""


BOUNDED = Limits(rows=200, size=64 * 1024, text=2000)
"""For records, which should stay small compared with transcripts. About ten times the rows that the longest reference
solution changes; the longest declared column, so that only free text is cut."""
WHOLE = Limits(rows=5000, size=16 * 1024 * 1024, text=200_000)
"""For verification. No episode of tool calls reaches it: a call changes a few rows, and an agent makes some dozens."""
CHANGES = ("added", "changed", "removed")
TOUCHED = "_touched"
"""Table with the seeded content of changed rows, null for new rows; in every Postgres database."""


def tracking_ddl(metadata: MetaData) -> list[str]:
    """Statements that create the table and the triggers that store rows before their first change."""
    keep = f"INSERT INTO public.{TOUCHED} VALUES (TG_TABLE_NAME, %s) ON CONFLICT DO NOTHING"  # noqa: S608 - names of our own
    return [
        f"CREATE TABLE {TOUCHED} (table_name text, row_id bigint, seed jsonb, PRIMARY KEY (table_name, row_id))",
        # Runs as its owner, because the role that runs event SQL may not write this table.
        f"""CREATE FUNCTION {TOUCHED}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
            IF TG_OP = 'INSERT' THEN {keep % f"NEW.{ROW_ORDER}, NULL"};
            ELSE {keep % f"OLD.{ROW_ORDER}, to_jsonb(OLD)"}; END IF;
            RETURN NULL; END $$""",
        *(
            f'CREATE TRIGGER {TOUCHED} AFTER INSERT OR UPDATE OR DELETE ON "{table.name}" '
            f"FOR EACH ROW EXECUTE FUNCTION {TOUCHED}()"
            for table in load_order(metadata)
        ),
    ]


async def read_difference(
    connection: asyncpg.Connection, metadata: MetaData, limits: Limits = BOUNDED
) -> StateDifference:
    """The difference between the current state and the seed, with values as in SQLite snapshots.

    Counts are exact. Within the limits, rows with the lowest keys are included, one row of each table in turn. A text
    that is too long is cut and followed by its length. Rows of a table without a primary key are added or removed,
    never changed.

    Raises:
        asyncpg.PostgresError: Postgres cannot be reached.
    """
    touched = {row[0] for row in await connection.fetch(f"SELECT DISTINCT table_name FROM {TOUCHED}")}  # noqa: S608 - ours
    tables = sorted((table for table in load_order(metadata) if table.name in touched), key=lambda table: table.name)
    differences = [(table, await connection.fetch(difference_sql(table, limits))) for table in tables]
    included = _bounded([(table, rows) for table, rows in differences if rows], limits)
    return StateDifference(tables=included, truncated=any(_truncated(table, limits) for table in included))


def difference_sql(table: Table, limits: Limits = BOUNDED) -> str:
    """Query for the rows of a table that differ from the seed, sorted by key, with the total counts."""
    columns = [f"content -> '{column.name}'" for column in table.primary_key]
    key = f"jsonb_build_array({', '.join(columns)})" if columns else "content"
    # Rows of a table without a key that are equal in all columns are distinguished by their number.
    nth = "1" if columns else "row_number() OVER (PARTITION BY content)"
    return f"""
        WITH touched AS (SELECT row_id, seed FROM {TOUCHED} WHERE table_name = '{table.name}'),
        past AS MATERIALIZED (SELECT seed - '{ROW_ORDER}' AS content FROM touched WHERE seed IS NOT NULL),
        now AS MATERIALIZED (
            SELECT to_jsonb(_row) - '{ROW_ORDER}' AS content
            FROM "{table.name}" AS _row JOIN touched ON _row.{ROW_ORDER} = touched.row_id
        ),
        seed AS (SELECT content, {key} AS key, {nth} AS nth FROM past),
        present AS (SELECT content, {key} AS key, {nth} AS nth FROM now),
        pair AS (
            SELECT key, nth, seed.content AS before, present.content AS after,
                CASE WHEN seed.content IS NULL THEN 'added' WHEN present.content IS NULL THEN 'removed' ELSE 'changed'
                END AS change
            FROM seed FULL JOIN present USING (key, nth) WHERE seed.content IS DISTINCT FROM present.content
        ),
        shown AS (SELECT *, {", ".join(map(_count, CHANGES))} FROM pair ORDER BY key, nth LIMIT {limits.rows})
        SELECT change, {", ".join(CHANGES)}, coalesce(after, before)::text AS keyed,
            {_values("before", "after", limits.text)} AS before, {_values("after", "before", limits.text)} AS after
        FROM shown ORDER BY key, nth
    """  # noqa: S608 - names of our own tables


def _count(change: str) -> str:
    return f"count(*) FILTER (WHERE change = '{change}') OVER () AS {change}"


def _values(row: str, other: str, max_text: int) -> str:
    """SQL for a row's truncated values; for a changed row only those that differ from the other version."""
    text = "value #>> '{}'"
    cut = f"to_jsonb(left({text}, {max_text}) || '… (' || length({text}) || ' characters)')"
    return f"""(
        SELECT jsonb_object_agg(name, CASE WHEN length({text}) > {max_text} THEN {cut} ELSE value END)
        FROM jsonb_each({row}) AS one (name, value)
        WHERE change <> 'changed' OR value IS DISTINCT FROM {other} -> name
    )::text"""  # noqa: S608 - names of our own


def _row(table: Table, row: Mapping[str, Any]) -> RowDifference:
    return RowDifference(
        change=row["change"],
        key=_shown(list(table.primary_key), row["keyed"]),
        before=_shown(list(table.columns), row["before"]),
        after=_shown(list(table.columns), row["after"]),
    )


def _shown(columns: Sequence[Column[Any]], content: str | None) -> dict[str, Any]:
    """Values of a JSON object as in SQLite snapshots, in the order of the columns."""
    values = {} if content is None else json.loads(content)
    return {
        column.name: None if values[column.name] is None else _conversion(column)(values[column.name])
        for column in columns
        if column.name in values
    }


def _conversion(column: Column[Any]) -> Callable[[Any], Any]:
    if isinstance(column.type, Boolean):
        return int
    if isinstance(column.type, DateTime):
        return _time
    return _number if isinstance(column.type, Numeric) else lambda value: value


def _time(value: str) -> str:
    whole, _, fraction = value.replace("T", " ").partition(".")
    return f"{whole}.{fraction:0<6}" if fraction else whole


def _number(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _truncated(table: TableDifference, limits: Limits) -> bool:
    """Whether rows are missing, or a text was cut: its note makes it longer than the limit."""
    if len(table.rows) < table.added + table.changed + table.removed:
        return True
    values: Iterable[Any] = (value for row in table.rows for part in (row.before, row.after) for value in part.values())
    return any(isinstance(value, str) and len(value) > limits.text for value in values)


def _bounded(differences: Sequence[tuple[Table, Sequence[Mapping[str, Any]]]], limits: Limits) -> list[TableDifference]:
    """Tables with the rows that fit into the limits: rounds of one row per table. A table whose next row does not fit
    gets no further rows.
    """
    included: dict[str, list[RowDifference]] = {table.name: [] for table, _ in differences}
    open_tables = [(included[table.name], map(partial(_row, table), rows)) for table, rows in differences]
    count = size = 0
    while open_tables:
        still_open = []
        for rows, remaining in open_tables:
            row = next(remaining, None) if count < limits.rows else None
            row_size = 0 if row is None else len(row.model_dump_json().encode())
            if row is not None and size + row_size <= limits.size:
                rows.append(row)
                count, size = count + 1, size + row_size
                still_open.append((rows, remaining))
        open_tables = still_open
    return [
        TableDifference(table=table.name, **{change: rows[0][change] for change in CHANGES}, rows=included[table.name])
        for table, rows in differences
    ]


def added_rows(difference: StateDifference, table: str) -> list[Mapping[str, Any]]:
    """The added rows of a table."""
    tables = (one for one in difference.tables if one.table == table)
    return [row.after for one in tables for row in one.rows if row.change == "added"]


def with_rows(
    difference: StateDifference, changes: Mapping[str, Callable[[RowDifference], RowDifference]]
) -> StateDifference:
    """A difference with the rows of some tables, by name, in another form."""
    tables = [
        table.model_copy(update={"rows": list(map(changes[table.table], table.rows))})
        if table.table in changes
        else table
        for table in difference.tables
    ]
    return difference.model_copy(update={"tables": tables})


def marked(difference: StateDifference, rules: Mapping[str, Callable[[RowDifference], bool]]) -> StateDifference:
    """A difference whose rows are neutral where the rule of their table says so."""

    def marking(rule: Callable[[RowDifference], bool]) -> Callable[[RowDifference], RowDifference]:
        return lambda row: row.model_copy(update={"neutral": rule(row)})

    return with_rows(difference, {table: marking(rule) for table, rule in rules.items()})
