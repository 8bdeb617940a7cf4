"""Any call of a tool ends in a result or in a refusal with a code, and leaves the rows whole.

Invariant that every test here checks: never HTTP 5xx, no reference to a missing row, no trace of a refused call.
OPSGYM_SOAK=1 makes the runs long and random; otherwise they are short and the same every time.
`tests/kit/test_fuzz.py` does the same with messages that are not calls.
"""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.domains.declaration import SOAK, DomainDeclaration, sample
from tests.support.fuzz import NASTY, TEXTS, runs, stored_values
from tests.support.gym import Gym, GymDatabase, Outcome

from opsgym_domains.kit.arguments import Parameter

CALLS_IN_A_ROW = 25

pytestmark = pytest.mark.timeout(3 * 3600 if SOAK else 300)


# --- what to send --------------------------------------------------------------------------------------------------


LONG = "x" * 3_000_000
DATES = st.sampled_from(
    ["2025-02-11", "2025-02-12T08:00:00Z", "2026-01-01 00:00:00", "02/12/2025", "2024-06-01T00:00+02:00"]
)
PHONES = st.integers(0, 9999).map(lambda number: f"+47-555-010-{number:04d}")
DATED = {
    "resolved", "start_time", "breach_time", "completed_time", "start_date", "end_date", "on_date", "warranty_end",
    "closed_on", "started_at", "ended_at", "sys_created_on",
}  # fmt: skip
"""Arguments that are dates."""
Call = tuple[str, dict[str, Any]]


class Calls:
    """Calls of a domain's tools.

    Args:
        declared: The domain.
    """

    def __init__(self, declared: DomainDeclaration) -> None:
        self._world = declared
        self._stored = stored_values(declared)

    def any(self) -> st.SearchStrategy[Call]:
        """A call of some tool: its example with some arguments replaced, added or left out."""
        return st.sampled_from(sorted(self._world.tools)).flatmap(self._of)

    def _of(self, name: str) -> st.SearchStrategy[Call]:
        fuzzed = {argument: self._mixed(argument, p) for argument, p in self._world.tools[name].parameters.items()}

        @st.composite
        def call(draw: st.DrawFn) -> Call:
            arguments = dict(self._world.examples[name])
            for argument in draw(st.lists(st.sampled_from(sorted(fuzzed)), max_size=4, unique=True)) if fuzzed else []:
                arguments[argument] = draw(fuzzed[argument])
            for argument in draw(st.lists(st.sampled_from(sorted(arguments)), max_size=1)) if arguments else []:
                if draw(st.integers(0, 9)) == 0:
                    del arguments[argument]
            return name, arguments

        return call()

    def _mixed(self, name: str, parameter: Parameter) -> st.SearchStrategy[Any]:
        """Mostly values that fit, now and then one that does not."""
        fits = self._fitting(name, parameter)
        return st.one_of(fits, fits, fits, fits, fits, NASTY)

    def _fitting(self, name: str, parameter: Parameter) -> st.SearchStrategy[Any]:
        """Values that the schema allows, often ones that rows have."""
        schema = parameter.schema
        kind = schema["type"] if isinstance(schema["type"], str) else schema["type"][0]
        stored = self._stored.get(name, [])
        if parameter.allowed is not None:
            return st.sampled_from(parameter.allowed)
        if parameter.fields:
            inside = {inner: self._mixed(inner, field) for inner, field in parameter.fields.items()}
            return st.fixed_dictionaries({}, optional=inside)
        if kind == "array":
            return st.lists(st.sampled_from(schema["items"].get("enum", stored or ["x"])), max_size=4)
        if kind == "boolean":
            return st.booleans()
        if kind in ("integer", "number"):
            return st.sampled_from([*stored, 1, 7, 250]) | st.integers(0, 10_000)
        if "pattern" in schema and name not in self._world.column_of:
            return PHONES
        if name in DATED or name.endswith(("_before", "_after")):
            return DATES
        return st.sampled_from(stored or ["x"]) | TEXTS.filter(bool)


# --- what must hold ------------------------------------------------------------------------------------------------


def dangling(declared: DomainDeclaration) -> str:
    """A query for every reference to a missing row, over all foreign keys."""
    parts = []
    for table in declared.domain.metadata.tables.values():
        for key in table.foreign_keys:
            column, target = key.parent.name, key.column
            parts.append(
                f'SELECT \'{table.name}.{column}\' AS place, "{column}"::text AS value FROM "{table.name}" AS t '
                f'WHERE "{column}" IS NOT NULL AND NOT EXISTS '
                f'(SELECT 1 FROM "{target.table.name}" AS r WHERE r."{target.name}" = t."{column}")'
            )
    return " UNION ALL ".join(parts)


def assert_whole(declared: DomainDeclaration, database: GymDatabase) -> None:
    assert database.rows(dangling(declared), dialect="postgres") == []


def assert_refusal_is_plain(outcome: Outcome) -> None:
    assert len(outcome.text) < 10_000, "a refusal repeats too much of what was sent"
    assert outcome.codes
    for code in outcome.codes:
        assert re.fullmatch(r"[A-Za-z]+(_[A-Za-z]+)*", code), outcome.text
    assert "Traceback" not in outcome.text
    assert "sqlalchemy" not in outcome.text.lower()


def test_the_check_for_dangling_references_reports_one(gym: Gym, declared: DomainDeclaration) -> None:
    """Seeds load without checks, as published ones must, so a seed can have a dangling reference."""
    text, wrong, row = declared.dangling
    with declared.database(gym, declared.seed.replace(text, wrong)) as database:
        assert row in database.rows(dangling(declared), dialect="postgres")


def test_the_generated_calls_reach_both_successes_and_refusals(
    declared: DomainDeclaration, database: GymDatabase
) -> None:
    seen: dict[bool, set[str]] = {True: set(), False: set()}

    @runs(200)
    @given(Calls(declared).any())
    def explore(call: Call) -> None:
        seen[database.call_with(*call).is_error].add(call[0])

    explore()
    assert len(seen[False]) > min(40, len(declared.tools) // 2)
    assert len(seen[True]) > min(25, len(declared.tools) // 3)


def test_calls_in_a_row_leave_the_rows_whole_and_refused_ones_leave_no_trace(
    declared: DomainDeclaration, database: GymDatabase
) -> None:
    @runs(5)
    @given(st.lists(Calls(declared).any(), min_size=CALLS_IN_A_ROW, max_size=CALLS_IN_A_ROW))
    def explore(batch: list[Call]) -> None:
        before = database.digest()
        for name, arguments in batch:
            outcome = database.call_with(name, arguments)
            if outcome.is_error:
                assert_refusal_is_plain(outcome)
                assert database.digest() == before, f"{name} was refused and changed rows"
            elif declared.tools[name].writes:
                before = database.digest()
        assert_whole(declared, database)

    explore()


def test_concurrent_calls_leave_the_rows_whole(declared: DomainDeclaration, database: GymDatabase) -> None:
    @runs(8)
    @given(st.lists(Calls(declared).any(), min_size=CALLS_IN_A_ROW, max_size=CALLS_IN_A_ROW))
    def explore(batch: list[Call]) -> None:
        for outcome in pool.map(lambda call: database.call_with(*call), batch):
            if outcome.is_error:
                assert_refusal_is_plain(outcome)
        assert_whole(declared, database)

    with ThreadPoolExecutor(8) as pool:
        explore()


def test_three_megabytes_in_an_argument_are_answered_in_few_words(
    declared: DomainDeclaration, database: GymDatabase
) -> None:
    texts = [
        (name, argument)
        for name, tool in declared.tools.items()
        for argument, parameter in tool.parameters.items()
        if "string" in parameter.schema["type"]
    ]
    for name, argument in sample(texts, 10):
        outcome = database.call_with(name, {**declared.examples[name], argument: LONG})
        if outcome.is_error:
            assert_refusal_is_plain(outcome)
