"""`state_difference` verifiers of a gym as queries in SQLite's dialect.

Invariant: a query returns 1 exactly if the final tables differ from the seed as its verifier expects, whichever order
the rows came in. What SQL cannot state exactly is refused with the reason, never weakened. Rows that no expectation
mentions are compared by a checksum over all their columns, so a query holds no copy of the seed. Queries compare
tables: rows that by a domain's `meaning` change nothing, such as an explicit default reminder, count like others.

Several expectations may fit the same added rows. By Hall's theorem an assignment exists if every set of expectations
fits enough rows, and no set of rows fits too few expectations; both are counts.
"""

# ruff: noqa: S608 - names are those of the domain's tables, values are literals of `conditions`

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from sqlalchemy import MetaData, Table

from opsgym.taskexport.conditions import NotExpressibleError, all_of, equals, literal, meets, quoted, stored
from opsgym_api.tasks.expected_difference import ExpectedDifference, ExpectedRow

if TYPE_CHECKING:
    import apsw

MAX_ALIKE = 5
"""Expectations that may fit the same rows; each set of them is a term of the query."""
_FACTOR, _MODULUS = 1_000_003, 4_398_046_511_093
"""Of the checksum: a polynomial modulo a prime of 42 bits, so that products stay within 64 bits."""
_STEP = 16
"""Characters that a step of the checksum takes from each row's text: a step copies what is left of every text."""


def _mixed() -> str:
    """The checksum `sum` with the next characters of `text`; after its end they count 0, as no character does."""
    expression = "sum"
    for place in range(1, _STEP + 1):
        expression = f"({expression} * {_FACTOR} + coalesce(unicode(substr(text, {place}, 1)), 0)) % {_MODULUS}"
    return expression


@dataclass(frozen=True, eq=False)
class _Expected:
    """An expectation with the verifier that has it."""

    verifier: int
    row: ExpectedRow


def difference_queries(
    expected: Mapping[int, ExpectedDifference], metadata: MetaData, seed: apsw.Connection
) -> dict[int, str]:
    """A query for each verifier, which returns 1 if it passes and 0 if not.

    Args:
        expected: Configurations of all `state_difference` verifiers of a gym, by the verifier's position.
        metadata: The domain's tables.
        seed: The seed's rows, as SQLite snapshots have them.

    Raises:
        NotExpressibleError: SQL cannot state one of them.
    """
    return _Queries(expected, metadata, seed).by_verifier()


class _Queries:
    def __init__(self, expected: Mapping[int, ExpectedDifference], metadata: MetaData, seed: apsw.Connection) -> None:
        self._expected = expected
        self._tables = metadata.tables
        self._seed = seed
        self._ignored: dict[str, set[str]] = {}
        for config in expected.values():
            for table, columns in config.ignored.items():
                self._ignored.setdefault(table, set()).update(columns)
        self._rows = [
            _Expected(verifier, _only(alternatives))
            for verifier, config in expected.items()
            for alternatives in config.alternatives
        ]
        self._added = [one for one in self._rows if one.row.change == "added"]
        self._named = {one.row.name: one for one in self._added if one.row.name is not None}
        self._alike = _components(self._added)
        self._fits = {one: self._fit(one.row, frozenset()) for one in self._added}

    def by_verifier(self) -> dict[int, str]:
        """SQL by the verifier's position."""
        terms: dict[int, list[str]] = {verifier: [] for verifier in self._expected}
        for one in self._rows:
            if one.row.change != "added" and not one.row.optional:
                terms[one.verifier] += [self._met(one.row, key) for key in one.row.keys or ()]
        for group in self._alike:
            for verifier in {one.verifier for one in group}:
                terms[verifier] += self._enough_rows(group)
        rest = self._nothing_else() if any(config.nothing_else for config in self._expected.values()) else []
        return {
            verifier: f"SELECT {all_of(own + (rest if self._expected[verifier].nothing_else else []))} AS passes"
            for verifier, own in terms.items()
        }

    # --- added rows -----------------------------------------------------------------------------------------------

    def _fit(self, row: ExpectedRow, within: frozenset[str]) -> str:
        """Whether an added row meets an expectation."""
        table = self._table(row.table)
        references = {name: self._key_query(name, within) for name in row.references}
        parts: list[str] = []
        for column in table.columns:
            if (condition := row.values.get(column.name)) is not None:
                parts.append(meets(column, condition, references))
            elif (free := row.may.get(column.name)) is not None:
                parts.append(f"{quoted(column.name)} IS NULL OR {meets(column, free, references)}")
            elif column.name not in row.may and column.name not in self._ignored.get(table.name, ()):
                parts.append(f"{quoted(column.name)} IS NULL")
        _require_columns(table, [*row.values, *row.may])
        fit = all_of(parts)
        stored_keys = self._keys_in_seed(table, fit)
        return fit if not stored_keys else f"{fit} AND NOT {_among(stored_keys)}"

    def _key_query(self, name: str, within: frozenset[str]) -> str:
        """Query for the key of an added row that others refer to."""
        if name in within:
            raise NotExpressibleError(f"the added rows {name!r} and others refer to each other")
        one = self._named[name]
        if any(one in group and len(group) > 1 for group in self._alike):
            raise NotExpressibleError(f"the row that key_of {name!r} means is not determined by its columns")
        table = self._table(one.row.table)
        keys = list(table.primary_key.columns)
        if len(keys) != 1:
            raise NotExpressibleError(f"key_of {name!r} refers to a key of {len(keys)} columns")
        return f"SELECT {quoted(keys[0].name)} FROM {quoted(table.name)} WHERE {self._fit(one.row, within | {name})}"

    def _keys_in_seed(self, table: Table, condition: str) -> list[dict[str, Any]]:
        """Keys of the seed's rows that meet a condition: they were not added."""
        names = [column.name for column in table.primary_key.columns]
        if not names:
            count = self._query_seed(f"SELECT count(*) FROM {quoted(table.name)} WHERE {condition}")
            if count[0][0]:
                raise NotExpressibleError(f"rows of {table.name}, which has no key, look like rows of the seed")
            return []
        columns = ", ".join(map(quoted, names))
        rows = self._query_seed(f"SELECT {columns} FROM {quoted(table.name)} WHERE {condition} ORDER BY {columns}")
        return [dict(zip(names, row, strict=True)) for row in rows]

    def _enough_rows(self, group: Sequence[_Expected]) -> Iterator[str]:
        """Every set of expectations fits as many rows as it requires."""
        for some in _sets(group):
            required = sum(one.row.count for one in some if not one.row.optional)
            if required:
                yield f"{self._count(some, ())} >= {required}"

    def _few_rows(self, group: Sequence[_Expected]) -> Iterator[str]:
        """No more rows fit a set of expectations alone than the set has places for."""
        for some in _sets(group):
            others = [one for one in group if one not in some]
            yield f"{self._count(some, others)} <= {sum(one.row.count for one in some)}"

    def _count(self, some: Sequence[_Expected], others: Sequence[_Expected]) -> str:
        fits = " OR ".join(f"({self._fits[one]})" for one in some)
        without = "".join(f" AND ({self._fits[one]}) IS NOT TRUE" for one in others)
        return f"(SELECT count(*) FROM {quoted(some[0].row.table)} WHERE ({fits}){without})"

    # --- changed and removed rows ---------------------------------------------------------------------------------

    def _met(self, row: ExpectedRow, key: Mapping[str, Any]) -> str:
        """Whether the row with a key is as expected."""
        table = self._table(row.table)
        before = self._before(table, key)
        if before is None:
            return "0"
        if row.change == "removed":
            return f"NOT {_exists(table, key, [])}"
        _require_columns(table, [*row.values, *row.may])
        references = {name: self._key_query(name, frozenset()) for name in row.references}
        parts: list[str] = []
        for name, condition in row.values.items():
            column = table.columns[name]
            parts += [meets(column, condition, references), f"NOT ({equals(column, before[name])})"]
        for name, free in row.may.items():
            if free is not None:
                column = table.columns[name]
                parts.append(f"{equals(column, before[name])} OR {meets(column, free, references)}")
        return _exists(table, key, parts)

    def _before(self, table: Table, key: Mapping[str, Any]) -> dict[str, Any] | None:
        """The seed's row with a key; None if there is none."""
        names = {column.name for column in table.primary_key.columns}
        if names != key.keys():
            raise NotExpressibleError(f"a row of {table.name} is named by other columns than its key")
        columns = [column.name for column in table.columns]
        rows = self._query_seed(
            f"SELECT {', '.join(map(quoted, columns))} FROM {quoted(table.name)} WHERE {_is_row(key)}"
        )
        return dict(zip(columns, rows[0], strict=True)) if rows else None

    # --- everything else ------------------------------------------------------------------------------------------

    def _nothing_else(self) -> list[str]:
        """Terms for columns and rows that no expectation mentions."""
        terms = [term for group in self._alike for term in self._few_rows(group)]
        mentioned: dict[str, list[dict[str, Any]]] = {}
        for one in self._rows:
            for key in one.row.keys or ():
                known = mentioned.setdefault(one.row.table, [])
                if key not in known:
                    known.append(key)
        terms += [term for table, keys in mentioned.items() for key in keys for term in self._rest_of_row(table, key)]
        return [*terms, self._same_rest(mentioned)]

    def _rest_of_row(self, name: str, key: Mapping[str, Any]) -> Iterator[str]:
        """A row with expectations has changed in no other column."""
        table = self._table(name)
        before = self._before(table, key)
        matching_rows = [one.row for one in self._rows if one.row.table == name and key in (one.row.keys or ())]
        if before is None:
            yield f"NOT {_exists(table, key, [])}"
            return
        same = {column.name: equals(column, before[column.name]) for column in table.columns}
        required = [row for row in matching_rows if not row.optional]
        optional = [row for row in matching_rows if row.optional]
        free = set(self._ignored.get(name, ())).union(*([*row.values, *row.may] for row in required))
        if len(optional) > 1 or (any(row.change == "removed" for row in required) and optional):
            raise NotExpressibleError(f"several optional expectations of {name} {'/'.join(map(str, key.values()))}")
        if any(row.change == "removed" for row in required):
            return
        untouched = _exists(table, key, [term for column, term in same.items() if column not in free])
        if not optional:
            yield untouched
            return
        more = {*free, *optional[0].values, *optional[0].may}
        rest = (
            []
            if optional[0].change == "removed"
            else [_exists(table, key, [term for column, term in same.items() if column not in more])]
        )
        yield f"{untouched} OR {all_of([self._met(optional[0], key), *rest])}"

    def _same_rest(self, mentioned: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
        """All rows without expectations have the checksum that those of the seed have."""
        selects: list[str] = []
        for table in self._tables.values():
            if "*" in self._ignored.get(table.name, ()):
                continue
            ignored = self._ignored.get(table.name, set()) - {column.name for column in table.primary_key.columns}
            columns = [column for column in table.columns if column.name not in ignored]
            text = "||','||".join([literal(table.name), *(f"quote({stored(column)})" for column in columns)])
            keys = mentioned.get(table.name, ())
            fits = [self._fits[one] for one in self._added if one.row.table == table.name]
            others = [*([_among(keys)] if keys else []), *fits]
            where = " WHERE " + " AND ".join(f"({other}) IS NOT TRUE" for other in others) if others else ""
            selects.append(f"SELECT {text}, 0 FROM {quoted(table.name)}{where}")
        checksum = (
            f"(WITH RECURSIVE rest(text, sum) AS ({' UNION ALL '.join(selects)} UNION ALL "
            f"SELECT substr(text, {_STEP + 1}), {_mixed()} FROM rest WHERE text <> '') "
            "SELECT coalesce(sum(sum), 0) FROM rest WHERE text = '')"
        )
        return f"{checksum} = {self._query_seed(f'SELECT {checksum}')[0][0]}"

    def _table(self, name: str) -> Table:
        if name not in self._tables:
            raise NotExpressibleError(f"the domain has no table {name}")
        return self._tables[name]

    def _query_seed(self, sql: str) -> list[Any]:
        return list(self._seed.execute(sql))


def _only(alternatives: Sequence[Sequence[ExpectedRow]]) -> ExpectedRow:
    if len(alternatives) > 1:
        raise NotExpressibleError("either: alternatives are not written as SQL")
    return alternatives[0][0]


def _require_columns(table: Table, names: Sequence[str]) -> None:
    unknown = [name for name in names if name not in table.columns]
    if unknown:
        raise NotExpressibleError(f"{table.name} has no column {unknown[0]}")


def _components(added: Sequence[_Expected]) -> list[list[_Expected]]:
    """Expectations of added rows, those together that may fit the same row."""
    groups: list[list[_Expected]] = []
    for one in added:
        joined = [group for group in groups if any(_may_share(one.row, other.row) for other in group)]
        groups = [group for group in groups if group not in joined]
        groups.append([*(other for group in joined for other in group), one])
    if any(len(group) > MAX_ALIKE for group in groups):
        raise NotExpressibleError(f"more than {MAX_ALIKE} expectations may fit the same added rows")
    return groups


def _may_share(one: ExpectedRow, other: ExpectedRow) -> bool:
    """Whether a row might meet both: no column must have different values."""
    if one.table != other.table:
        return False
    for name, condition in one.values.items():
        against = other.values.get(name)
        if against is None or "equals" not in condition.model_fields_set:
            continue
        if "equals" in against.model_fields_set and str(condition.equals) != str(against.equals):
            return False
    return True


def _sets(group: Sequence[_Expected]) -> Iterator[Sequence[_Expected]]:
    return (some for size in range(1, len(group) + 1) for some in combinations(group, size))


def _is_row(key: Mapping[str, Any]) -> str:
    return " AND ".join(f"{quoted(name)} = {literal(value)}" for name, value in key.items())


def _among(keys: Sequence[Mapping[str, Any]]) -> str:
    """Whether a row has one of several keys."""
    return "(" + " OR ".join(_is_row(key) for key in keys) + ")"


def _exists(table: Table, key: Mapping[str, Any], parts: Sequence[str]) -> str:
    where = " AND ".join([_is_row(key), *(f"({part})" for part in parts)])
    return f"EXISTS (SELECT 1 FROM {quoted(table.name)} WHERE {where})"
