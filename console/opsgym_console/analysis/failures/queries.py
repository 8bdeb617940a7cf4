"""Reads conditions from SQL queries of verifiers.

Invariant: a condition is read only where the query makes it necessary: a comparison of a column with a literal (`=`,
`LIKE`, `IS NULL`, `IN (...)`), also through functions such as `LOWER` and `json_extract`. Negations, alternatives that
concern several tables, and look-ups of a value are left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import sqlglot
from sqlglot import exp

from opsgym_console.analysis.failures.conditions import Condition
from opsgym_console.analysis.failures.values import snake

CACHED = 2_048
"""Queries whose reading is kept: the trials of a task repeat its queries."""
_COMPARISONS = (exp.EQ, exp.NullSafeEQ, exp.Is, exp.Like, exp.ILike)
_NARROWING = (
    exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.Or, exp.In, exp.Join,
)  # fmt: skip
"""Expressions that narrow a query in ways that are not read, or not in full."""

Table = tuple[int, str]
"""A table of a query: position of its SELECT in the query, and its alias."""
Conditions = Mapping[Table, Sequence[Condition]]


@dataclass(frozen=True)
class Query:
    """What is read of a query."""

    conditions: Conditions
    selected: tuple[Table, str] | None
    """Table and column, for a query that selects a single column."""
    lists: Mapping[Table, Sequence[tuple[str, Sequence[Any]]]]
    """Columns with the values of their `column IN (...)`."""
    alternatives: Sequence[Conditions]
    """Conditions of each part of `(...) OR (...)`; empty for other queries."""
    complete: bool
    """Whether nothing in the query narrows it further."""


@lru_cache(CACHED)
def read_query(sql: str) -> Query | None:
    """Reads a query; None if it is not valid SQL."""
    tree = _parse(sql)
    if tree is None:
        return None
    selects = {id(select): place for place, select in enumerate(tree.find_all(exp.Select, bfs=False))}
    reader = _Reader(selects)
    selected = None
    if isinstance(tree, exp.Select) and len(tree.selects) == 1 and isinstance(tree.selects[0], exp.Column):
        column = tree.selects[0]
        selected = (reader.table(column), snake(column.name))
    alternatives: list[Conditions] = []
    lists: defaultdict[Table, list[tuple[str, Sequence[Any]]]] = defaultdict(list)
    for node in reader.necessary(tree):
        if isinstance(node, exp.Or) and not alternatives:
            parts = node.flatten(unnest=False)
            alternatives = [reader.conditions(part) for part in parts if isinstance(part, exp.Paren)]
        elif isinstance(node, exp.In) and isinstance(node.this, exp.Column) and (values := _list_values(node)):
            lists[reader.table(node.this)].append((snake(node.this.name), values))
    complete = not any(isinstance(node, _NARROWING) or _is_negated(node) for node in tree.walk())
    return Query(reader.conditions(tree), selected, lists, alternatives, complete)


def _parse(sql: str) -> exp.Expr | None:
    """The syntax tree of a query of SQLite or else of Postgres: the result of a verifier does not name its dialect."""
    for dialect in ("sqlite", "postgres"):
        with suppress(sqlglot.errors.SqlglotError):
            return sqlglot.parse_one(sql, dialect=dialect)
    return None


class _Reader:
    """Reads conditions of a parsed query.

    Args:
        selects: Positions of the query's SELECTs, by identity.
    """

    def __init__(self, selects: Mapping[int, int]) -> None:
        self._selects = selects

    def table(self, column: exp.Expr) -> Table:
        """The table that a column belongs to, as far as the query names it."""
        select = column.parent_select
        alias: str = column.text("table")
        return self._selects.get(id(select), 0), alias

    def conditions(self, node: exp.Expr) -> Conditions:
        """Conditions of a part of the query, by table, in the order of the text."""
        by_table: defaultdict[Table, list[Condition]] = defaultdict(list)
        for part in self.necessary(node):
            options = list(part.flatten()) if isinstance(part, exp.Or) else [part]
            read = [condition for option in options if (condition := self._condition(option)) is not None]
            tables = {table for table, _ in read}
            # `a = 1 OR b = 2` of one table is one condition with an alternative; any other OR says nothing certain.
            if len(read) == len(options) and len(tables) == 1:
                first, *others = (condition for _, condition in read)
                (table,) = tables
                by_table[table].append(Condition(first.column, first.value, first.partial, tuple(others)))
        return by_table

    def necessary(self, node: exp.Expr) -> Iterator[exp.Expr]:
        """Comparisons, lists and alternatives that a row must fulfil: nothing negated, and no look-up of a value."""
        if _is_negated(node):
            return
        if isinstance(node, _COMPARISONS):
            yield node
            yield from self.necessary(node.this)
        elif isinstance(node, exp.Or | exp.In):
            yield node
        else:
            for child in node.iter_expressions():
                yield from self.necessary(child)

    def _condition(self, node: exp.Expr) -> tuple[Table, Condition] | None:
        """The condition of a comparison, with its table; None unless it compares a column with a literal."""
        if not isinstance(node, _COMPARISONS):
            return None
        value = _literal(node.expression)
        column, path = _column(node.this)
        if value is None or column is None:
            return None
        # A path into a column of JSON compares a part of it; a path into a row of json_each names a column.
        inside = path is not None and column.name.lower() != "value"
        name = column.name if inside or path is None else path.rpartition(".")[2]
        (actual,) = value
        return self.table(column), Condition(snake(name), actual, inside or isinstance(node, exp.Like | exp.ILike))


def _is_negated(node: exp.Expr) -> bool:
    """Whether an expression is a negation; sqlglot keeps `NOT LIKE` in one node."""
    return isinstance(node, exp.Not) or bool(node.args.get("negate"))


def _column(node: exp.Expr) -> tuple[exp.Column | None, str | None]:
    """The column inside function calls, and the JSON path into it; None where there is none."""
    path: str | None = None
    while not isinstance(node, exp.Column):
        if isinstance(node, exp.JSONExtract | exp.JSONExtractScalar):
            path = node.expression.sql("sqlite").strip("'")
        elif not isinstance(node, exp.Lower | exp.Upper | exp.Trim | exp.Coalesce | exp.Cast | exp.Paren):
            return None, None
        node = node.this
    return node, path


def _literal(node: exp.Expr) -> tuple[Any] | None:
    """The value of a literal, as text or None for NULL; nothing if the expression is not a literal."""
    if isinstance(node, exp.Lower | exp.Paren):
        return _literal(node.this)
    if isinstance(node, exp.Null):
        return (None,)
    if isinstance(node, exp.Boolean):
        return (str(node.this).lower(),)
    if isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal):
        return (f"-{node.this.this}",)
    # SQLite reads a name in double quotes that is not a column as a text.
    quoted = isinstance(node, exp.Column) and not node.table and bool(node.this.args.get("quoted"))
    return (node.name,) if quoted or isinstance(node, exp.Literal) else None


def _list_values(node: exp.In) -> list[Any]:
    """Values of `IN (...)`; empty if one of them is not a literal."""
    values = [_literal(item) for item in node.expressions]
    return [value[0] for value in values if value is not None] if None not in values else []
