"""Reads the SQL of verifiers: which values a query can give, and whether rows can meet its conditions.

Invariant: what is reported holds in every state of the database. A condition or a form that is not read counts as one
that can be met, so nothing is reported of it. SQLite itself decides whether a value meets conditions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import apsw
import sqlglot
from sqlalchemy import Boolean, Column, Integer, MetaData, Numeric, String, Table
from sqlglot import exp

from opsgym_api.tasks.verifiers import Comparison
from opsgym_domains.kit.schema import CHOICES
from opsgym_runner.verification.comparison import holds

_CACHED = 512
"""Queries whose reading is kept: several checks read the same one."""
_ORDERS = (exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between)
_TRUTHS = (exp.Predicate, exp.Not, exp.And, exp.Or)
_READ = (
    exp.EQ, exp.NEQ, *_ORDERS, exp.In, exp.Is, exp.Like, exp.Not, exp.And, exp.Or, exp.Paren, exp.Lower, exp.Upper,
    exp.Trim, exp.Column, exp.Identifier, exp.Literal, exp.Null, exp.Boolean, exp.Neg, exp.Var,
)  # fmt: skip
"""Parts of conditions that are decided."""
_NUMBER = re.compile(r"\s*[+-]?\d+(\.\d+)?\s*")


@dataclass(frozen=True)
class Range:
    """Numbers that a query can give."""

    least: float
    most: float = float("inf")


Values = Range | frozenset[Any]
"""What a query's single cell can be."""


@dataclass(frozen=True)
class Unmet:
    """Conditions of a SELECT that no row meets."""

    column: str
    sql: str
    """The conditions."""
    mixes_types: bool
    """Whether the reason is a text that is compared with a column of numbers."""


@lru_cache(_CACHED)
def parsed(sql: str) -> exp.Expr | None:
    """The syntax tree of a query in SQLite's dialect; None if it is not one statement that can be read."""
    with suppress(sqlglot.errors.SqlglotError, RecursionError):
        statements = [
            statement
            for statement in sqlglot.parse(sql, dialect="sqlite")
            if not isinstance(statement, exp.Semicolon | None)
        ]
        return statements[0] if len(statements) == 1 else None
    return None


def tables_of(tree: exp.Expr, metadata: MetaData) -> list[Table]:
    """Tables of the domain that a query reads, each once."""
    own = {name.lower(): table for name, table in metadata.tables.items()}
    names = dict.fromkeys(node.name.lower() for node in tree.find_all(exp.Table))
    return [own[name] for name in names if name in own]


# --- conditions ----------------------------------------------------------------------------------------------------


def conditions(select: exp.Select) -> Iterator[exp.Expr]:
    """Conditions that each row of a SELECT meets: of its WHERE and of its inner joins."""
    joined = [join.args["on"] for join in select.args.get("joins") or () if join.args.get("on") and not join.side]
    where = select.args.get("where")
    for condition in [*([where.this] if where else ()), *joined]:
        bare = condition.unnest()
        yield from bare.flatten() if isinstance(bare, exp.And) else (bare,)


def column_of(node: exp.Expr, select: exp.Select, metadata: MetaData) -> Column[Any] | None:
    """The column of the domain that a name in a SELECT stands for; None if that is not certain."""
    if not isinstance(node, exp.Column):
        return None
    joins = [join.this for join in select.args.get("joins") or ()]
    source = select.args.get("from_")
    sources = [one for one in ([source.this] if source else []) + joins if isinstance(one, exp.Table)]
    own = {name.lower(): table for name, table in metadata.tables.items()}
    named = [one for one in sources if node.table.lower() in ("", one.alias_or_name.lower())]
    columns = [
        column
        for one in named
        if (table := own.get(one.name.lower())) is not None
        for column in table.columns
        if column.name.lower() == node.name.lower()
    ]
    return columns[0] if len(columns) == 1 else None


def unmet(tree: exp.Expr, metadata: MetaData) -> Iterator[Unmet]:
    """Conditions of the query's SELECTs that contradict each other, or that no value of their column meets."""
    for select in tree.find_all(exp.Select):
        by_column: dict[Any, list[exp.Expr]] = {}
        for condition in conditions(select):
            place = _only_column(condition, select, metadata)
            if place is not None:
                by_column.setdefault(place, []).append(condition)
        for (_, column), parts in by_column.items():
            if not _can_hold(column, parts):
                sql = " AND ".join(part.sql("sqlite") for part in parts)
                mixed = not _is_text(column) and any(not _can_hold(column, [part]) and _texts(part) for part in parts)
                yield Unmet(column.name, sql, mixed)


def _only_column(condition: exp.Expr, select: exp.Select, metadata: MetaData) -> tuple[str, Column[Any]] | None:
    """The one column that a condition is about, with its table's name in the query; None if it is not read."""
    if not all(isinstance(node, _READ) for node in condition.walk()):
        return None
    columns = {
        (node.table.lower(), column)
        for node in condition.find_all(exp.Column)
        if (column := column_of(node, select, metadata)) is not None or not _is_quoted_text(node)
    }
    if len(columns) != 1:
        return None
    ((name, own),) = columns
    return None if own is None else (name, own)


def _is_quoted_text(node: exp.Column) -> bool:
    """Whether a name may be a text: SQLite takes one in double quotes that is not the name of a column for a text."""
    return not node.table and bool(node.this.args.get("quoted"))


def _can_hold(column: Column[Any], parts: Sequence[exp.Expr]) -> bool:
    """Whether a value of a column meets conditions; true if that is not certain."""
    if not any(map(_is_closed, parts)) and any(part.find(exp.Like, exp.Lower, exp.Upper, exp.Trim) for part in parts):
        return True  # other values than those tried may meet them
    sql = " AND ".join(f"({_about_value(part, column).sql('sqlite')})" for part in parts)
    kind = "TEXT" if _is_text(column) else "NUMERIC"
    values = ", ".join(f"({value})" for value in _candidates(column, parts))
    statement = f"CREATE TABLE t (v {kind}); INSERT INTO t VALUES {values}; SELECT count(*) FROM t WHERE {sql}"  # noqa: S608
    try:
        return bool(next(apsw.Connection(":memory:").execute(statement))[0])
    except apsw.Error:
        return True


def _is_closed(part: exp.Expr) -> bool:
    """Whether a condition names every value that meets it, but for upper and lower case."""
    if isinstance(part, exp.Paren):
        return _is_closed(part.this)
    if isinstance(part, exp.Or):
        return all(map(_is_closed, part.flatten()))
    return isinstance(part, exp.EQ | exp.In) or (isinstance(part, exp.Is) and isinstance(part.expression, exp.Null))


def _about_value(part: exp.Expr, column: Column[Any]) -> exp.Expr:
    """A condition about `v` instead of a column, with texts in single quotes."""

    def put(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column):
            return node
        return exp.column("v") if node.name.lower() == column.name.lower() else exp.Literal.string(node.name)

    return part.copy().transform(put)


def _candidates(column: Column[Any], parts: Sequence[exp.Expr]) -> list[str]:
    """Values to try, as SQL: those that conditions name, in other cases, beside and between them, and null."""
    literals = list(dict.fromkeys(text for part in parts for text in _literals(part, column)))
    if isinstance(column.type, Boolean):
        return ["NULL", "0", "1"]
    if not _is_text(column):
        numbers = sorted({float(text) for text in literals if _NUMBER.fullmatch(text)})
        between = [(low + high) / 2 for low, high in pairwise(numbers)]
        beside = [number + step for number in numbers for step in (-1, 0, 1)]
        return ["NULL", "0", *(f"{number:.6f}" for number in dict.fromkeys([*between, *beside]))]
    texts = [
        each for text in literals for each in (text, text.lower(), text.upper(), f"{text} ", text[:-1], text.strip())
    ]
    return ["NULL", "''", *(exp.Literal.string(text).sql("sqlite") for text in dict.fromkeys(texts))]


def _literals(part: exp.Expr, column: Column[Any]) -> Iterator[str]:
    for node in part.walk():
        if isinstance(node, exp.Boolean):
            yield str(int(node.this))
        elif isinstance(node, exp.Literal):
            yield f"-{node.this}" if isinstance(node.parent, exp.Neg) else node.this
        elif isinstance(node, exp.Column) and node.name.lower() != column.name.lower():
            yield node.name


def _texts(part: exp.Expr) -> bool:
    return any(node.is_string and not _NUMBER.fullmatch(node.this) for node in part.find_all(exp.Literal))


def _is_text(column: Column[Any]) -> bool:
    """Whether a column may hold texts; dates and JSON are texts in SQLite."""
    return not isinstance(column.type, Boolean | Integer | Numeric)


# --- values --------------------------------------------------------------------------------------------------------


def never_gives(tree: exp.Expr, expected: Any, comparison: Comparison, metadata: MetaData) -> str:
    """Why a query can never give an expected value; empty if it can, or if that is not certain."""
    if not isinstance(tree, exp.Select) or comparison is Comparison.CONTAINS:
        return ""
    if len(tree.selects) > 1 and not tree.is_star:
        is_cell = not isinstance(expected, dict | list)
        return f"returns {len(tree.selects)} columns, which are never compared as one value" if is_cell else ""
    values = _values(tree, metadata)
    if values is None or _meets(values, expected, comparison):
        return ""
    return f"returns {_shown(values)}: {comparison.value.replace('_', ' ')} {expected!r} never holds"


def gives_numbers(tree: exp.Expr, metadata: MetaData) -> bool:
    """Whether the single cell of a query is always a number."""
    values = _values(tree, metadata) if isinstance(tree, exp.Select) else None
    return isinstance(values, Range) or (values is not None and not any(isinstance(one, str) for one in values))


def text_column(tree: exp.Expr, metadata: MetaData) -> str:
    """Name of the column of texts that a query returns; empty if it returns something else."""
    if not isinstance(tree, exp.Select) or len(tree.selects) != 1:
        return ""
    column = column_of(tree.selects[0].unalias(), tree, metadata)
    return column.name if column is not None and isinstance(column.type, String) else ""


def _meets(values: Values, expected: Any, comparison: Comparison) -> bool:
    if isinstance(values, frozenset):
        return any(holds(value, expected, comparison) for value in values)
    if isinstance(expected, str) and _NUMBER.fullmatch(expected):
        expected = float(expected)
    if not isinstance(expected, int | float):
        return False
    if comparison is Comparison.EQUALS:
        return values.least <= expected <= values.most and expected == int(expected)
    return values.most > expected if comparison is Comparison.GREATER_THAN else values.least < expected


def _shown(values: Values) -> str:
    if isinstance(values, frozenset):
        return "one of " + ", ".join(sorted(map(str, values)))
    most = "" if values.most == float("inf") else f" and at most {values.most:.0f}"
    return f"a count of at least {values.least:.0f}{most}"


def _values(select: exp.Select, metadata: MetaData) -> Values | None:
    """What the single cell of a SELECT can be; None if that is not known."""
    if len(select.selects) != 1:
        return None
    cell = select.selects[0].unalias()
    if isinstance(cell, exp.Count):
        grouped = select.args.get("group") is not None
        return Range(1 if grouped else 0, _most_rows(select, metadata))
    return _cell_values(cell, metadata)


def _cell_values(cell: exp.Expr, metadata: MetaData) -> Values | None:
    if isinstance(cell, exp.Paren):
        return _cell_values(cell.this, metadata)
    if isinstance(cell, exp.Subquery) and isinstance(cell.this, exp.Select):
        inner = cell.this
        return _values(inner, metadata) if isinstance(inner.selects[0].unalias(), exp.Count) else None
    if isinstance(cell, exp.Literal):
        return frozenset({cell.to_py()})
    if isinstance(cell, exp.Case):
        return _union([*(branch.args["true"] for branch in cell.args["ifs"]), cell.args.get("default")], metadata)
    if isinstance(cell, exp.Add):
        return _sum(_cell_values(cell.this, metadata), _cell_values(cell.expression, metadata))
    return frozenset({0, 1, None}) if isinstance(cell, _TRUTHS) else None


def _union(cells: Sequence[exp.Expr | None], metadata: MetaData) -> Values | None:
    parts = [frozenset({None}) if cell is None else _cell_values(cell, metadata) for cell in cells]
    sets = [part for part in parts if isinstance(part, frozenset)]
    return frozenset().union(*sets) if len(sets) == len(parts) else None


def _sum(left: Values | None, right: Values | None) -> Values | None:
    if not isinstance(left, Range) or not isinstance(right, Range):
        return None
    return Range(left.least + right.least, left.most + right.most)


def _most_rows(select: exp.Select, metadata: MetaData) -> float:
    """The highest number of rows that a SELECT of one table can return: those whose keys its conditions name."""
    source = select.args.get("from_")
    if source is None or not isinstance(source.this, exp.Table) or select.args.get("joins"):
        return float("inf")
    return min([float("inf"), *(_named_keys(part, select, metadata) for part in conditions(select))])


def _named_keys(part: exp.Expr, select: exp.Select, metadata: MetaData) -> float:
    column = column_of(part.this, select, metadata) if isinstance(part, exp.EQ | exp.In) else None
    if column is None or [key.name for key in column.table.primary_key] != [column.name]:
        return float("inf")
    if isinstance(part, exp.EQ):
        return 1 if isinstance(part.expression, exp.Literal) else float("inf")
    return len(part.expressions) or float("inf")


# --- texts ---------------------------------------------------------------------------------------------------------


def wanted_texts(tree: exp.Expr, expected: Any, metadata: MetaData) -> Iterator[tuple[str, Sequence[str]]]:
    """Columns with the texts of which a row that the query wants has one; those that are enumerated are left out."""
    for select in tree.find_all(exp.Select):
        if _is_unwanted(select):
            continue
        for condition in conditions(select):
            column = condition.this.find(exp.Column) if isinstance(condition, exp.EQ | exp.In | exp.Like) else None
            values = _alternatives(condition)
            if column is not None and values and not _is_enumerated(column, select, metadata):
                yield column.name, values
    if isinstance(expected, str) and (column_name := text_column(tree, metadata)):
        yield column_name, [expected]


def _alternatives(condition: exp.Expr) -> list[str]:
    """Texts that a condition compares with; empty if it compares with something else."""
    if condition.args.get("negate"):
        return []
    items = condition.expressions if isinstance(condition, exp.In) else [condition.expression]
    values = [item.this for item in items if isinstance(item, exp.Literal) and item.is_string]
    return values if len(values) == len(items) else []


def _is_unwanted(select: exp.Select) -> bool:
    """Whether a query wants a SELECT to be empty, or says nothing certain of it."""
    node = select.parent
    while node is not None:
        zero = isinstance(node, exp.EQ | exp.LT) and node.expression.sql() == "0"
        if zero or isinstance(node, exp.Not | exp.Or):
            return True
        node = node.parent
    return False


def _is_enumerated(column: exp.Column, select: exp.Select, metadata: MetaData) -> bool:
    own = column_of(column, select, metadata)
    return own is not None and CHOICES in own.info
