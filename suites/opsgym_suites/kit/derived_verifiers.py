"""Verifiers that are derived from a reference solution: its rows exist, nothing else has changed, and what it changes
was looked up.

Invariant: a verifier requires the exact words of a text only where the request gives them, and a value of a column that
policy and tools leave to the agent never.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from opsgym_api.kinds.evalrun import Access
from opsgym_api.tasks.task import ToolCall
from opsgym_api.tasks.verifiers import Category, Verifier
from opsgym_suites.kit.drafts import Draft, Person
from opsgym_suites.kit.effects import RowType, ToolEffects, WrittenRow
from opsgym_suites.kit.expected_rows import (
    CHANGE_OF,
    Difference,
    changed_meanwhile,
    generated_columns,
    given,
    rows_by_tool,
    same,
)
from opsgym_suites.kit.scenarios import ScenarioEvent
from opsgym_suites.kit.verifiers import Between, Has, HasAll, Matches, May, Present, looked_up, state_difference
from opsgym_suites.kit.world import World, key_of

Conditions = Mapping[str, Any] | Callable[[WrittenRow], Mapping[str, Any]]
Expected = Mapping[str, Conditions]
"""Conditions on columns, by tool, in place of the values that a solution gives; of each row, if it is a function."""


@dataclass(frozen=True)
class OfActor:
    """A default that is a value of the acting user."""

    column: str


@dataclass(frozen=True)
class Harmless:
    """A column that a correct solution may set although the reference solution does not."""

    column: str
    sample: Any
    """A value, as an argument of the tool; tests give it. It is computed from the world if it is a function."""
    allowed: Any = None
    """Condition on the value; any value if None. It is computed from the world if it is a function."""
    when: Mapping[str, Any] = field(default_factory=dict)
    """Values that the same row must get."""

    def sample_in(self, world: World) -> Any:
        """The value that tests give in a world."""
        return _in_world(self.sample, world)

    def allowed_in(self, world: World) -> Any:
        """The condition in a world; None if any value is allowed."""
        return _in_world(self.allowed, world)


def during_the_work(world: World) -> Between:
    """Condition: a time that an agent may give as that of its work, also on a later day of the task."""
    return Between(world.now - timedelta(minutes=1), world.now + timedelta(days=31))


@dataclass(frozen=True)
class Derived:
    """Verifiers that follow from a reference solution, in the order of a row; a draft's own come after `rows`."""

    rows: Sequence[Verifier]
    looked_up: Sequence[Verifier]
    nothing_else: Verifier


@dataclass(frozen=True)
class VerifierBuilder:
    """Builds verifiers from the reference solutions of a domain's tasks."""

    effects: ToolEffects
    rules: Mapping[str, str]
    """The policy's rules that each writing tool must follow, for instance `INC-4, INC-5`; a draft may replace them."""
    free_text: Collection[str] = ()
    """Columns whose text the agent chooses unless the request gives it."""
    numbers_in: tuple[str, re.Pattern[str]] | None = None
    """A free-text column that must contain the record numbers of the solution's text, and the pattern of a number."""
    defaults: Mapping[RowType, Mapping[str, Any]] = field(default_factory=dict)
    """Values that the server gives new rows in columns that calls do not set, by table; a function computes one from
    the world.
    """
    harmless: Mapping[str, Sequence[Harmless]] = field(default_factory=dict)
    """Columns that policy or tool offers and a solution may omit, by tool."""
    unjudged: Mapping[RowType, Collection[str]] = field(default_factory=dict)
    """Columns that the server keeps up to date itself, by table; `*` for a table that only logs."""
    shown_keys: Mapping[RowType, str] | None = None
    """Names under which results show the keys of rows; None if they show every key as its column. Rows of tables that
    are missing here have no key in results, so nothing asks that they were read."""

    def with_verifiers(
        self,
        world: World,
        draft: Draft,
        event: ScenarioEvent[Any] | None = None,
        *,
        rules: Mapping[str, str] | None = None,
        expect: Expected | None = None,
        optional: Sequence[ToolCall] = (),
    ) -> Draft:
        """A draft with derived verifiers in addition to its own.

        Args:
            world: The seed's rows.
            draft: The task with the verifiers that cannot be derived.
            event: What changes rows without the agent; its rows belong to the expected final state.
            rules: Rules by tool, in place of the builder's.
            expect: Conditions on columns, by tool, in place of the values that the solution gives; see `verifiers`.
            optional: Further calls that a correct solution may make, each or none of them.
        """
        derived = self.derived(world, draft, event, rules=rules, expect=expect, optional=optional)
        return replace(draft, verifiers=(*derived.rows, *draft.verifiers, *derived.looked_up, derived.nothing_else))

    def derived(
        self,
        world: World,
        draft: Draft,
        event: ScenarioEvent[Any] | None = None,
        *,
        rules: Mapping[str, str] | None = None,
        expect: Expected | None = None,
        optional: Sequence[ToolCall] = (),
    ) -> Derived:
        """The verifiers that `with_verifiers` adds."""
        now = world if event is None else event.after
        calls, more = draft.accepted_calls, draft.evidence
        solution = _Solution(self, world, now, draft, expect or {})
        differences = solution.differences(calls, optional)
        by_tool = rows_by_tool(differences)
        cited = {tool: _cited(of_tool, draft.access) for tool, of_tool in {**self.rules, **(rules or {})}.items()}
        rows = [verifier for tool, of_tool in by_tool.items() if tool for verifier in self._rows(tool, of_tool, cited)]
        rows += self._of_earlier_days(replace(solution, before_the_end=True), calls, cited)
        written = self.effects.written(now, [*calls, *optional])
        looked = [*self._looked_up(world, written), *([self._evidence(more)] if more else [])]
        return Derived(rows, looked, self._nothing_else(world, by_tool.get(None, [])))

    def with_scenario_verifiers(
        self,
        draft: Draft,
        event: ScenarioEvent[Any] | None = None,
        *,
        world: World,
        rules: Mapping[str, str] | None = None,
        expect: Expected | None = None,
        optional: Sequence[ToolCall] = (),
    ) -> Draft:
        """`with_verifiers` for a scenario."""
        return self.with_verifiers(world, draft, event, rules=rules, expect=expect, optional=optional)

    def _rows(self, tool: str, rows: Sequence[Mapping[str, Any]], rules: Mapping[str, str]) -> Iterator[Verifier]:
        """A verifier for the rows that a tool writes, and one for those of other tables that follow from them."""
        links = {kind.__tablename__ for kind in self.effects.link_types}
        tables = list(dict.fromkeys(row["table"] for row in rows))
        for table in tables:
            of_table = [row for row in rows if row["table"] == table]
            gone = all(row["change"] == "removed" for row in of_table)
            condition = "gone" if gone else "as the request and the policy ask"
            yield state_difference(
                tool if table == tables[0] else f"{tool}_{table}",
                f"Rows of {table} are {condition} [{rules[tool]}]",
                of_table,
                category=Category.INTEGRITY if table in links else Category.TASK_COMPLETION,
            )

    def _of_earlier_days(
        self, solution: _Solution, calls: Sequence[ToolCall], rules: Mapping[str, str]
    ) -> Iterator[Verifier]:
        """Verifiers of what stands at the end of each day before the last one, where the day has changed it."""
        before: Mapping[str | None, Any] = {}
        for day in range(1, len(solution.draft.days) + 1):
            by_tool = rows_by_tool(solution.by_then([call for call in calls if (call.day or 1) <= day]))
            checks = [check for tool, of_tool in by_tool.items() for check in self._rows(str(tool), of_tool, rules)]
            for check in checks if by_tool != before else ():
                config = {**check.validation_config, "day": day}
                yield check.model_copy(update={"name": f"{check.name}_on_day_{day}", "validation_config": config})
            before = by_tool

    def _looked_up(self, world: World, written: Sequence[WrittenRow]) -> Iterator[Verifier]:
        """What is changed or removed was read before."""
        changed = [row for row in written if row.operation != "adds" and not isinstance(row.key, dict)]
        shown = changed if self.shown_keys is None else [row for row in changed if row.kind in self.shown_keys]
        rows = [row for row in shown if world.all(row.kind, **{key_of(row.kind): row.key})]
        if rows:
            named = [
                (name, value)
                for row in rows
                for name, value in [(self._shown_key(row.kind), row.key), *row.named_by.items()]
            ]
            keys = list(dict.fromkeys(named))
            yield looked_up("looked_up_before_writing", "What is written to was read before [LKP-1]", keys, writes=True)

    def _evidence(self, rows: Sequence[Any]) -> Verifier:
        keys = [
            row if isinstance(row, tuple) else (self._shown_key(type(row)), getattr(row, key_of(type(row))))
            for row in rows
        ]
        described = "The records that settle the matter were read [LKP-1]"
        return looked_up("looked_up_what_stands_in_the_way", described, keys, writes=False)

    def _nothing_else(self, world: World, meanwhile: Sequence[Mapping[str, Any]]) -> Verifier:
        made = {kind.__tablename__: [*generated_columns(kind), *self.unjudged.get(kind, ())] for kind in world.kinds}
        return state_difference(
            "nothing_else_changes",
            "Nothing else has been added, changed or removed [ID-4]",
            meanwhile,
            category=Category.SIDE_EFFECT,
            ignored={table: columns for table, columns in made.items() if columns},
            nothing_else=True,
        )

    def _shown_key(self, kind: RowType) -> str:
        return (self.shown_keys or {}).get(kind, key_of(kind))


def _cited(rules: str, access: Access) -> str:
    """Those of a tool's rules that the policy contains: only that of `strict` has rules of the enforced process."""
    known = [rule for rule in rules.split(", ") if access is Access.STRICT or not rule.startswith("PRC-")]
    return ", ".join(known or ["ID-4"])


@dataclass(frozen=True)
class _Solution:
    """The rows in which a solved task differs from its seed."""

    builder: VerifierBuilder
    seed: World
    now: World
    """The rows after what happens without the agent."""
    draft: Draft
    expect: Expected
    before_the_end: bool = False
    """Whether the rows are those of an earlier day."""

    def by_then(self, calls: Sequence[ToolCall]) -> list[Difference]:
        """Rows that calls must leave, without the columns that change without the agent, whenever that happens."""
        meanwhile = {_place(row): row for row in changed_meanwhile(self.seed, self.now)}
        rows = []
        for row in self.builder.effects.written(self.now, calls):
            event = meanwhile.get(_place(row))
            if row.optional or (event is not None and event.change != "changed"):
                continue
            made = self._difference(row, None)
            values = {name: value for name, value in made.values.items() if event is None or name not in event.values}
            if made.change == "removed" or any(not isinstance(value, May) for value in values.values()):
                rows.append(replace(made, values=values))
        return rows

    def differences(self, calls: Sequence[ToolCall], optional: Sequence[ToolCall]) -> list[Difference]:
        """Rows of the solution, those that it may write, and those that change without it."""
        meanwhile = {_place(row): row for row in changed_meanwhile(self.seed, self.now)}
        written = self.builder.effects.written(self.now, calls)
        of_solution = {_place(row) for row in written}
        more = [
            row for row in self.builder.effects.written(self.now, [*calls, *optional]) if _place(row) not in of_solution
        ]
        pairs = [(row, meanwhile.pop(_place(row), None)) for row in written]
        rows = [
            replace(self._difference(row, before), optional=row.optional)
            for row, before in pairs
            if not (row.operation == "removes" and before is not None and before.change == "added")
        ]
        rows += [replace(self._difference(row, None), tool=None, optional=True) for row in more]
        return [*(row for row in rows if row.values or row.change == "removed"), *meanwhile.values()]

    def _difference(self, row: WrittenRow, meanwhile: Difference | None) -> Difference:
        if row.operation == "removes":
            return Difference(row.tool, row.kind, "removed", row.key, {})
        values = {name: self._expected(row, name, value) for name, value in row.values.items()}
        for tool, _given in row.calls:
            conditions = self.expect.get(tool, {})
            stated = conditions(row) if callable(conditions) else conditions
            values |= {name: self._stated(condition, row, name) for name, condition in stated.items()}
        if row.operation == "adds":
            return Difference(row.tool, row.kind, "added", row.key, self._defaults(row) | self._harmless(row) | values)
        if meanwhile is not None and meanwhile.change == "added":
            (added,) = self.now.all(row.kind, **{key_of(row.kind): row.key})
            return Difference(
                row.tool, row.kind, "added", row.key, self._harmless(row) | given(row.kind, added) | values
            )
        (seed,) = self.seed.all(row.kind, **{key_of(row.kind): row.key})
        before = {} if meanwhile is None else dict(meanwhile.values)
        changed = {name: value for name, value in (before | values).items() if not same(getattr(seed, name), value)}
        return Difference(row.tool, row.kind, CHANGE_OF[row.operation], row.key, self._harmless(row) | changed)

    def _stated(self, condition: Any, row: WrittenRow, column: str) -> Any:
        """A condition that the draft states, which is one of the end: on an earlier day a text must be there, and keeps
        to the condition where the solution's text of that day does; other columns are free.
        """
        text = row.values.get(column)
        if not self.before_the_end:
            return condition
        if not isinstance(text, str) or not isinstance(condition, Matches):
            return May()
        return condition if re.search(condition.pattern, text) else Present()

    def _defaults(self, row: WrittenRow) -> dict[str, Any]:
        defaults = self.builder.defaults.get(row.kind, {})
        return {name: _default(value, self.draft.actor, self.seed) for name, value in defaults.items()}

    def _harmless(self, row: WrittenRow) -> dict[str, Any]:
        return {
            harmless.column: May(harmless.allowed_in(self.seed))
            for tool, values in row.calls
            for harmless in self.builder.harmless.get(tool, ())
            if all(values.get(name) == value for name, value in harmless.when.items())
        }

    def _expected(self, row: WrittenRow, column: str, value: Any) -> Any:
        request, numbers_in = self.draft.request, self.builder.numbers_in
        if column not in self.builder.free_text or not isinstance(value, str):
            return value
        before = self._before(row, column)
        if before and before in value:
            added = value.replace(before, "").strip()
            return HasAll((before, added)) if added in request else HasAll((before,))
        if numbers_in is not None and column == numbers_in[0]:
            numbers = numbers_in[1].findall(value)
            return HasAll(tuple(numbers)) if numbers else Present()
        if value in request:
            return Has(value)
        may_lack = row.operation == "adds" and column in self._harmless(row)
        return May() if may_lack else Present()

    def _before(self, row: WrittenRow, column: str) -> str | None:
        if row.operation != "changes":
            return None
        rows = self.now.all(row.kind, **{key_of(row.kind): row.key})
        return getattr(rows[0], column) if rows else None


def _default(value: Any, actor: Person, world: World) -> Any:
    if isinstance(value, OfActor):
        return getattr(actor, value.column)
    return _in_world(value, world)


def _in_world(value: Any, world: World) -> Any:
    """A value that may be given as a function of the world."""
    return value(world) if callable(value) else value


def _place(row: WrittenRow | Difference) -> tuple[str, str]:
    """Where a row stands: its table and key."""
    return str(row.kind.__tablename__), repr(row.key)
