"""Lists of every domain: filters, order, dates, columns. SQLite returns what is expected, from the same rows.

Which column a filter reads, and whether it matches in part, is the domain's: every filter is tried. How conditions are
combined and dates are read is the kit's (`tests/kit/test_tool_lists.py`): a sample of the tools is tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import pytest
from sqlalchemy import String
from tests.domains.declaration import SOAK, DomainDeclaration, ListTool, sample
from tests.support.gym import GymDatabase, Outcome

ENDS = ("_after", "_before")

pytestmark = pytest.mark.declares("lists")


class Lists:
    """The list tools of a domain on a database of its seed."""

    def __init__(self, declared: DomainDeclaration, database: GymDatabase) -> None:
        self.declared = declared
        self.database = database

    def __iter__(self) -> Iterator[tuple[str, ListTool]]:
        return iter(self.declared.lists.items())

    def filters(self, tool: str) -> list[str]:
        """Filters that compare a column with a value."""
        own_rules = self.declared.lists[tool].own_rules
        return [
            name for name in self.declared.tools[tool].parameters if not name.endswith(ENDS) and name not in own_rules
        ]

    def column(self, tool: str, name: str) -> str:
        return self.declared.lists[tool].columns.get(name, name)

    def ranges(self, tool: str) -> Iterator[tuple[str, str]]:
        """Name of each date range with its column."""
        for argument in self.declared.tools[tool].parameters:
            name = argument.removesuffix("_after")
            if name != argument:
                created = self.declared.time_column(self.declared.lists[tool].table, "created") or ""
                yield name, created if name == "created" else self.column(tool, name)

    def values(self, tool: str, name: str) -> list[Any]:
        """The values of a filter's column, the rarest first."""
        column, table = self.column(tool, name), self.declared.lists[tool].table
        seen = self.declared.visible_rows(table)
        query = f'SELECT "{column}" FROM "{table}" WHERE "{column}" NOTNULL AND {seen} GROUP BY 1 ORDER BY count(*), 1'
        return [value for (value,) in self.declared.sqlite().execute(query)]

    def expected(self, tool: str, where: str = "1", *values: Any) -> list[Any]:
        """Keys of the rows that meet a condition, in the order of the list."""
        listing = self.declared.lists[tool]
        created = self.declared.time_column(listing.table, "created")
        order = (listing.order or self.declared.order).format(created=created)
        key, seen = self.declared.key_column(listing.table), self.declared.visible_rows(listing.table)
        query = f'SELECT {key} FROM "{listing.table}" WHERE {where} AND {seen} ORDER BY {order}'
        return [row[0] for row in self.declared.sqlite().execute(query, values)]

    def rows(self, tool: str, outcome: Outcome) -> list[dict[str, Any]]:
        data, rows_in = outcome.data, self.declared.lists[tool].rows_in
        if rows_in is None:
            return list(data)
        assert data["total_count"] == len(data[rows_in])
        return list(data[rows_in])

    def returned(self, tool: str, arguments: Mapping[str, Any]) -> list[Any]:
        """Keys of the rows that a call returns, or the error codes of its refusal."""
        outcome = self.database.call_with(tool, arguments)
        if outcome.is_error:
            return outcome.codes
        key = self.declared.key_column(self.declared.lists[tool].table)
        return [row[key] for row in self.rows(tool, outcome)]

    def argument(self, tool: str, name: str, value: Any) -> Any:
        return self.declared.as_argument(tool, name, value, self.declared.lists[tool].by_name)


def wrong_answers(
    lists: Lists, calls: Iterator[tuple[str, Mapping[str, Any], list[Any]]]
) -> list[tuple[str, Mapping[str, Any], list[Any], list[Any]]]:
    """The calls that do not return the expected keys: tool, arguments, returned keys, expected keys."""
    answers = [(tool, given, lists.returned(tool, given), expected) for tool, given, expected in calls]
    assert answers
    return [answer for answer in answers if answer[2] != answer[3]]


def test_every_list_tool_is_declared(declared: DomainDeclaration) -> None:
    def rows_of(schema: Mapping[str, Any]) -> set[str]:
        items = schema.get("items", {}) if schema["type"] == "array" else {}
        return set(items.get("properties", {}))

    filtered = {
        name
        for name, tool in declared.tools.items()
        if not tool.writes and any(argument.endswith(ENDS) for argument in tool.parameters)
    }
    assert filtered <= set(declared.lists)
    for tool, listing in declared.lists.items():
        returned = rows_of(declared.tools[tool].output_schema)
        columns = set(declared.domain.metadata.tables[listing.table].columns.keys())
        assert returned - listing.optional_fields <= columns


def test_a_list_without_filters_returns_every_row_in_order(declared: DomainDeclaration, unchanged: GymDatabase) -> None:
    lists = Lists(declared, unchanged)

    def calls() -> Iterator[tuple[str, Mapping[str, Any], list[Any]]]:
        for tool, listing in lists:
            rows = lists.expected(tool)
            assert len(rows) >= 2, f"the seed is too small for {tool}"
            parameters = declared.tools[tool].parameters
            texts = [name for name, parameter in parameters.items() if "string" in parameter.schema["type"]]
            answer = ["MISSING_FILTER"] if listing.needs_filter else rows
            yield from ((tool, given, answer) for given in ({}, dict.fromkeys(parameters), dict.fromkeys(texts, "")))

    assert wrong_answers(lists, calls()) == []


def test_a_listed_row_has_the_fields_of_the_schema_in_their_order(
    declared: DomainDeclaration, unchanged: GymDatabase
) -> None:
    lists, differing = Lists(declared, unchanged), {}
    for tool, listing in lists:
        schema = declared.tools[tool].output_schema
        items = schema["items"] if schema["type"] == "array" else {}
        columns = declared.domain.metadata.tables[listing.table].columns.keys()
        fields = [name for name in items.get("properties", columns) if name not in listing.optional_fields]
        rows = lists.rows(tool, unchanged.call_with(tool, declared.examples[tool] if listing.needs_filter else {}))
        if any([name for name in row if name not in listing.optional_fields] != fields for row in rows):
            differing[tool] = (list(rows[0]), fields)
    assert differing == {}


def test_each_exact_filter_selects_the_rows_with_its_value(declared: DomainDeclaration, unchanged: GymDatabase) -> None:
    lists = Lists(declared, unchanged)

    def calls() -> Iterator[tuple[str, Mapping[str, Any], list[Any]]]:
        for tool, listing in lists:
            for name in lists.filters(tool):
                if name in listing.partial:
                    continue
                for value in lists.values(tool, name)[: None if SOAK else 2]:
                    rows = lists.expected(tool, f'"{lists.column(tool, name)}" = ?', value)
                    yield tool, {name: lists.argument(tool, name, value)}, rows

    assert wrong_answers(lists, calls()) == []


def test_a_part_of_a_value_selects_nothing_with_an_exact_filter(
    declared: DomainDeclaration, unchanged: GymDatabase
) -> None:
    """The filter may refuse it, if only some values are allowed."""
    lists, matched = Lists(declared, unchanged), []
    for tool, listing in lists:
        columns = declared.domain.metadata.tables[listing.table].columns
        for name in lists.filters(tool):
            if name in listing.partial or not isinstance(columns[lists.column(tool, name)].type, String):
                continue
            for value in lists.values(tool, name)[:1]:
                outcome = unchanged.call_with(tool, {name: value[:-1]})
                if not outcome.is_error and lists.rows(tool, outcome):
                    matched.append((tool, name, value[:-1]))
    assert matched == []


def test_each_text_filter_matches_in_part_and_in_any_case(declared: DomainDeclaration, unchanged: GymDatabase) -> None:
    lists = Lists(declared, unchanged)

    def calls() -> Iterator[tuple[str, Mapping[str, Any], list[Any]]]:
        for tool, listing in lists:
            for name in listing.partial:
                for value in lists.values(tool, name)[: None if SOAK else 1]:
                    part = value[1:-1].swapcase() or value
                    yield tool, {name: part}, lists.expected(tool, f'instr(lower("{name}"), lower(?))', part)

    assert wrong_answers(lists, calls()) == []


def test_the_values_of_one_row_as_filters_select_that_row(declared: DomainDeclaration, unchanged: GymDatabase) -> None:
    lists = Lists(declared, unchanged)

    def calls() -> Iterator[tuple[str, Mapping[str, Any], list[Any]]]:
        for tool, listing in lists:
            names = lists.filters(tool)
            columns = {name: lists.column(tool, name) for name in names}
            query = f'SELECT {", ".join(columns.values())} FROM "{listing.table}" ORDER BY rowid LIMIT 1'
            (row,) = declared.sqlite().execute(query)
            values = {name: value for name, value in zip(names, row, strict=True) if value is not None}
            where = " AND ".join(f'"{columns[name]}" = ?' for name in values)
            given = {name: lists.argument(tool, name, value) for name, value in values.items()}
            yield tool, given, lists.expected(tool, where, *values.values())

    assert wrong_answers(lists, calls()) == []


def test_filters_are_combined_with_and(declared: DomainDeclaration, unchanged: GymDatabase) -> None:
    lists = Lists(declared, unchanged)

    def calls() -> Iterator[tuple[str, Mapping[str, Any], list[Any]]]:
        several = [name for name, _ in lists if len(lists.filters(name)) > 1]
        for tool in sample(several, 2):
            first, second, *_ = lists.filters(tool)
            columns = [lists.column(tool, name) for name in (first, second)]
            for one, other in product(lists.values(tool, first)[:3], lists.values(tool, second)[:3]):
                given = {first: lists.argument(tool, first, one), second: lists.argument(tool, second, other)}
                yield tool, given, lists.expected(tool, f'"{columns[0]}" = ? AND "{columns[1]}" = ?', one, other)

    assert wrong_answers(lists, calls()) == []


def test_a_date_range_includes_both_of_its_ends(declared: DomainDeclaration, unchanged: GymDatabase) -> None:
    lists = Lists(declared, unchanged)

    def calls() -> Iterator[tuple[str, Mapping[str, Any], list[Any]]]:
        for tool, listing in lists:
            for name, column in lists.ranges(tool):
                query = f'SELECT DISTINCT "{column}" FROM "{listing.table}" WHERE "{column}" NOTNULL ORDER BY 1'
                times = [time for (time,) in declared.sqlite().execute(query)]
                for time in times if SOAK else times[len(times) // 2 :][:1]:
                    after, before = ({f"{name}{end}": time} for end in ENDS)
                    yield tool, after, lists.expected(tool, f'"{column}" >= ?', time)
                    yield tool, before, lists.expected(tool, f'"{column}" <= ?', time)
                    yield tool, after | before, lists.expected(tool, f'"{column}" = ?', time)

    assert wrong_answers(lists, calls()) == []


def test_unreadable_dates_and_inverted_ranges_are_refused(declared: DomainDeclaration, unchanged: GymDatabase) -> None:
    lists = Lists(declared, unchanged)

    def calls() -> Iterator[tuple[str, Mapping[str, Any], list[Any]]]:
        ranges = [(listed, name) for listed, _ in lists for name, _ in lists.ranges(listed)]
        for tool, name in sample(ranges):
            after, before = (f"{name}{end}" for end in ENDS)
            yield tool, {after: "2025-03-02", before: "2025-03-01T23:59:59"}, ["INVALID_DATE_RANGE"]
            yield from (
                (tool, {end: text}, ["INVALID_DATE"]) for end in (after, before) for text in ("soon", "2025-02-30", " ")
            )

    assert wrong_answers(lists, calls()) == []
