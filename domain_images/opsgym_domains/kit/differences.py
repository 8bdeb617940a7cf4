"""How a database's rows differ from those it was seeded with.

Invariant: of every row that was touched since seeding, what it was then is kept, written by a trigger in the very
transaction that touched it; rows that nobody touched are as they were. So a difference takes as long as there are
touched rows, however large the database. Loading a seed fires no trigger (`session_replication_role`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import asyncpg
from sqlalchemy import Boolean, Column, DateTime, MetaData, Numeric, Table

from opsgym_api.records import RowDifference, StateDifference, TableDifference
from opsgym_domains.kit.schema import ROW_ORDER, load_order

MAX_ROWS = 200
"""Rows kept of a difference: some ten times what the longest reference solution touches; a page shows no more."""
MAX_BYTES = 64 * 1024
"""Bytes of JSON that they take together, so that records stay small beside transcripts."""
MAX_TEXT = 2000
"""Characters kept of a value: the longest that a column declares. Only free text is longer."""
CHANGES = ("added", "changed", "removed")
TOUCHED = "_touched"
"""Table of every Postgres database that has what touched rows were in the seed; null for rows that are new."""


def tracking_ddl(metadata: MetaData) -> list[str]:
    """Statements that keep what rows of the domain's tables were before they are first touched."""
    keep = f"INSERT INTO public.{TOUCHED} VALUES (TG_TABLE_NAME, %s) ON CONFLICT DO NOTHING"  # noqa: S608 - names of our own
    return [
        f"CREATE TABLE {TOUCHED} (table_name text, row_id bigint, seed jsonb, PRIMARY KEY (table_name, row_id))",
        # Runs as its owner: the role that carries out events may not write this table itself.
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


async def read_difference(connection: asyncpg.Connection, metadata: MetaData) -> StateDifference:
    """The present state against the seed. Values are as SQLite snapshots have them.

    Counts are exact. Rows are those with the lowest keys of each table, `MAX_ROWS` and `MAX_BYTES` in all, dealt out to
    tables in turn; a text longer than `MAX_TEXT` is cut and says how long it was. Rows of a table without primary key
    are added and removed, never changed.

    Raises:
        asyncpg.PostgresError: Postgres went away.
    """
    touched = {row[0] for row in await connection.fetch(f"SELECT DISTINCT table_name FROM {TOUCHED}")}  # noqa: S608 - ours
    tables = sorted((table for table in load_order(metadata) if table.name in touched), key=lambda table: table.name)
    found = [(table, await connection.fetch(difference_sql(table))) for table in tables]
    return StateDifference(tables=_bounded([(table, rows) for table, rows in found if rows]))


def difference_sql(table: Table) -> str:
    """Query for the rows of a table that differ from the seed, by key, with counts of all of them."""
    columns = [f"content -> '{column.name}'" for column in table.primary_key]
    key = f"jsonb_build_array({', '.join(columns)})" if columns else "content"
    # Rows that are equal in all columns of a table without key are told apart by their number.
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
        shown AS (SELECT *, {", ".join(map(_count, CHANGES))} FROM pair ORDER BY key, nth LIMIT {MAX_ROWS})
        SELECT change, {", ".join(CHANGES)}, coalesce(after, before)::text AS keyed,
            {_values("before", "after")} AS before, {_values("after", "before")} AS after
        FROM shown ORDER BY key, nth
    """  # noqa: S608 - names of our own tables


def _count(change: str) -> str:
    return f"count(*) FILTER (WHERE change = '{change}') OVER () AS {change}"


def _values(row: str, other: str) -> str:
    """SQL for a row's values, cut; of a changed row those that differ from the other one's."""
    text = "value #>> '{}'"
    cut = f"to_jsonb(left({text}, {MAX_TEXT}) || '… (' || length({text}) || ' characters)')"
    return f"""(
        SELECT jsonb_object_agg(name, CASE WHEN length({text}) > {MAX_TEXT} THEN {cut} ELSE value END)
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
    """Values of a JSON object as SQLite snapshots have them, in the order of columns."""
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


def _bounded(found: Sequence[tuple[Table, Sequence[Mapping[str, Any]]]]) -> list[TableDifference]:
    """Tables with the rows that fit: in rounds, a row of each table. One whose next row does not fit gets no more."""
    kept: dict[str, list[RowDifference]] = {table.name: [] for table, _ in found}
    waiting = [(kept[table.name], map(partial(_row, table), rows)) for table, rows in found]
    count = size = 0
    while waiting:
        going_on = []
        for rows, more in waiting:
            row = next(more, None) if count < MAX_ROWS else None
            taken = 0 if row is None else len(row.model_dump_json().encode())
            if row is not None and size + taken <= MAX_BYTES:
                rows.append(row)
                count, size = count + 1, size + taken
                going_on.append((rows, more))
        waiting = going_on
    return [
        TableDifference(table=table.name, **{change: rows[0][change] for change in CHANGES}, rows=kept[table.name])
        for table, rows in found
    ]
