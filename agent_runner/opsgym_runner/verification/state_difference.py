"""Judges a gym's difference from its seed by what its `state_difference` verifiers expect.

Invariant: the verdict depends neither on the order of rows and expectations nor on which of several equal rows serves
which expectation: the assignment that leaves the least unmet, then the least unexpected, decides. Rows of one component
share candidates or names; components are independent, so each is solved exactly on its own.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, TypeAlias

from opsgym_api.records.state_difference import RowDifference, StateDifference
from opsgym_api.tasks.expected_difference import Condition, ExpectedDifference, ExpectedRow
from opsgym_runner.verification.comparison import alike, meets, same_value, shown, shown_condition

MAX_ASSIGNMENTS = 5_000
"""Combinations of alternatives and named rows that are tried for a component; one or two seconds of computing."""
MAX_NEAR = 3
"""Rows that an unmet named expectation is tried with, so that references to it can be judged all the same."""
MAX_FAULTS = 5
"""Columns that a message names."""


class TooManyAssignmentsError(Exception):
    """Alternatives and named rows of a component have more combinations than are tried."""


@dataclass(frozen=True)
class Findings:
    """What is wrong by one verifier, as messages that name table, row and column."""

    unmet: Sequence[str]
    """Expected rows that are missing or differ."""
    unexpected: Sequence[str]
    """Rows and columns that no verifier of the gym expects; only with `nothing_else`."""


@dataclass(frozen=True, eq=False)
class _Actual:
    """A row of the difference."""

    table: str
    row: RowDifference

    @property
    def label(self) -> str:
        content = self.row.key or self.row.before or self.row.after
        return f"{self.table} {'/'.join(map(str, content.values()))}"


@dataclass(frozen=True, eq=False)
class _Slot:
    """One occurrence of an expected row: one of its keys, or one of its count."""

    verifier: int
    row: ExpectedRow
    key: Mapping[str, Any] | None
    alternatives: int
    """Number of alternatives that it stands in one of."""


_Item: TypeAlias = Sequence[Sequence[_Slot]]
"""An entry of `rows`: the slots of each alternative."""
_Binding: TypeAlias = Mapping[str, _Actual]
"""Added rows by the name that refers to them."""


@dataclass
class _Solution:
    """Rows assigned to the slots of the chosen alternatives."""

    slots: Sequence[_Slot]
    bound: _Binding
    met: dict[_Slot, _Actual] = field(default_factory=dict)
    near: dict[_Slot, _Actual] = field(default_factory=dict)
    """Rows that unmet required slots are compared with."""

    @property
    def unmet(self) -> list[_Slot]:
        """Required slots without a row that meets them."""
        return [slot for slot in self.slots if slot not in self.met and not slot.row.optional]


def judge_difference(
    expected: Mapping[int, ExpectedDifference],
    difference: StateDifference,
    others: Iterable[ExpectedDifference] = (),
) -> dict[int, Findings]:
    """Judges all `state_difference` verifiers of one gym and one day together.

    Args:
        expected: Their configurations, by the verifier's position in the task row.
        difference: The gym's whole difference.
        others: Configurations of other days; what they ignore is ignored.

    Returns:
        What is wrong, by the verifier's position; empty findings mean that it passes.

    Raises:
        TooManyAssignmentsError: There are too many combinations to find the best one.
    """
    return _Judgement(expected, difference, others).findings()


class _Judgement:
    def __init__(
        self,
        expected: Mapping[int, ExpectedDifference],
        difference: StateDifference,
        others: Iterable[ExpectedDifference],
    ) -> None:
        self._expected = expected
        self._ignored = _ignored_columns([*expected.values(), *others])
        judged = [table for table in difference.tables if "*" not in self._ignored.get(table.table, ())]
        self._rows = [_Actual(table.table, row) for table in judged for row in table.rows]
        self._by_kind: dict[tuple[str, str], list[_Actual]] = {}
        self._by_key: dict[tuple[str, str, Hashable], list[_Actual]] = {}
        """Rows that can have a key, by kind and what is alike in equal keys: difference and solution may be long."""
        for row in self._rows:
            kind = row.table, row.row.change
            self._by_kind.setdefault(kind, []).append(row)
            self._by_key.setdefault((*kind, _alike(row.row.key)), []).append(row)
        self._known_faults: dict[tuple[_Slot, _Actual], list[str]] = {}
        """Of pairs whose comparison depends on no reference: a search compares them many times."""
        self._items = [item for index, config in expected.items() for item in _items(index, config)]
        self._candidates = {slot: self._candidates_of(slot) for item in self._items for slot in _slots(item)}
        self._claimed = {row for rows in self._candidates.values() for row in rows}

    def findings(self) -> dict[int, Findings]:
        """Messages by verifier."""
        merged = _merged([self._solved(items) for items in self._components()])
        self._pair_unmet(merged)
        unmet = [(slot.verifier, self._unmet_message(slot, merged)) for slot in merged.unmet]
        unexpected = self._unexpected(merged)
        return {
            index: Findings(
                [message for verifier, message in unmet if verifier == index],
                unexpected if config.nothing_else else [],
            )
            for index, config in self._expected.items()
        }

    # --- comparing a slot with a row ------------------------------------------------------------------------------

    def _candidates_of(self, slot: _Slot) -> list[_Actual]:
        """Rows that the slot is about: those with its key, or the added ones that meet all but its references."""
        if slot.key is not None:
            kind = slot.row.table, slot.row.change
            alike = [row for key in (slot.key, {}) for row in self._by_key.get((*kind, _alike(key)), [])]
            return [row for row in alike if _has_key(row.row, slot.key)]
        return [row for row in self._rows_like(slot) if not self._faults(slot, row, None)]

    def _rows_like(self, slot: _Slot) -> Sequence[_Actual]:
        return self._by_kind.get((slot.row.table, slot.row.change), [])

    def _faults(self, slot: _Slot, actual: _Actual, bound: _Binding | None) -> list[str]:
        """Columns that differ from the expectation, in words.

        Args:
            slot: The expectation.
            actual: The row.
            bound: Rows that references mean; None takes every reference for met.
        """
        if slot.row.references:
            return self._compared(slot, actual, bound)
        if (slot, actual) not in self._known_faults:
            self._known_faults[slot, actual] = self._compared(slot, actual, bound)
        return self._known_faults[slot, actual]

    def _compared(self, slot: _Slot, actual: _Actual, bound: _Binding | None) -> list[str]:
        after, expected = actual.row.after, slot.row
        faults: list[str] = []
        for column, condition in expected.values.items():
            if expected.change == "changed" and column not in after:
                faults.append(f"column {column} is unchanged, expected {shown_condition(condition)}")
            elif not _meets(after.get(column), column, condition, bound):
                faults.append(_fault(column, after.get(column), shown_condition(condition)))
        for column, free in expected.may.items():
            is_set = column in after and (expected.change == "changed" or after[column] is not None)
            if is_set and free is not None and not _meets(after[column], column, free, bound):
                faults.append(_fault(column, after[column], shown_condition(free)))
        if expected.change == "added":
            faults += [_fault(column, after[column], "null") for column in self._surplus(slot, actual)]
        return faults

    def _surplus(self, slot: _Slot, actual: _Actual) -> list[str]:
        """Columns of an added row that hold something the expectation does not mention."""
        mentioned = slot.row.values.keys() | slot.row.may.keys() | self._ignored.get(actual.table, set())
        return [column for column, value in actual.row.after.items() if value is not None and column not in mentioned]

    # --- assignment -----------------------------------------------------------------------------------------------

    def _components(self) -> list[list[_Item]]:
        """Entries that share a candidate row or a name, together."""
        components: list[tuple[set[object], list[_Item]]] = []
        for item in self._items:
            tokens: set[object] = {row for slot in _slots(item) for row in self._candidates[slot]}
            tokens |= {name for slot in _slots(item) for name in (slot.row.name, *slot.row.references) if name}
            joined = [component for component in components if component[0] & tokens]
            components = [component for component in components if component not in joined]
            items = [one for _, items in joined for one in items]
            components.append((tokens.union(*(shared for shared, _ in joined)), [*items, item]))
        return [items for _, items in components]

    def _solved(self, items: Sequence[_Item]) -> _Solution:
        """The best assignment for the entries of a component."""
        rows = {row for item in items for slot in _slots(item) for row in self._candidates[slot]}
        best: tuple[tuple[int, int, int], _Solution] | None = None
        tried = 0
        for choice in product(*items):
            slots = [slot for alternative in choice for slot in alternative]
            for bound in self._bindings(slots):
                tried += 1
                if tried > MAX_ASSIGNMENTS:
                    raise TooManyAssignmentsError
                solution = self._assigned(slots, bound)
                cost = self._cost(solution, rows)
                if best is None or cost < best[0]:
                    best = cost, solution
                if cost == (0, 0, 0):
                    return solution
        assert best is not None
        return best[1]

    def _bindings(self, slots: Sequence[_Slot]) -> Iterator[dict[str, _Actual]]:
        """Every way to give rows to the names that conditions refer to; a name may stay without one."""
        referenced = {name for slot in slots for name in slot.row.references}
        named = [slot for slot in slots if slot.row.name in referenced]

        def extended(position: int, bound: dict[str, _Actual]) -> Iterator[dict[str, _Actual]]:
            if position == len(named):
                yield bound
                return
            slot = named[position]
            for row in self._candidates[slot] or self._near(slot):
                if row not in bound.values():
                    yield from extended(position + 1, {**bound, str(slot.row.name): row})
            yield from extended(position + 1, bound)

        return extended(0, {})

    def _near(self, slot: _Slot) -> list[_Actual]:
        """Added rows that nothing expects as they are, those with the fewest differences first."""
        if slot.row.optional:
            return []
        rows = [row for row in self._rows_like(slot) if row not in self._claimed]
        return sorted(rows, key=lambda row: len(self._faults(slot, row, None)))[:MAX_NEAR]

    def _assigned(self, slots: Sequence[_Slot], bound: dict[str, _Actual]) -> _Solution:
        """The largest assignment under a binding; required slots come first."""
        solution = _Solution(slots, bound)
        for slot in slots:
            rows = self._candidates[slot] if slot.key is not None else []
            row = next((row for row in rows if not self._faults(slot, row, bound)), None)
            if row is not None:
                solution.met[slot] = row
        added = sorted((slot for slot in slots if slot.key is None), key=lambda slot: slot.row.optional)
        edges = {slot: self._edges(slot, solution) for slot in added}
        fixed = {row for slot, row in solution.met.items() if slot.key is None} | set(solution.near.values())
        solution.met |= _matching({slot: [row for row in rows if row not in fixed] for slot, rows in edges.items()})
        return solution

    def _edges(self, slot: _Slot, solution: _Solution) -> list[_Actual]:
        """Rows that a slot of an added row may take; a bound one is settled at once."""
        bound_row = solution.bound.get(slot.row.name or "")
        if bound_row is not None:
            if not self._faults(slot, bound_row, solution.bound):
                solution.met[slot] = bound_row
            elif not slot.row.optional:
                solution.near[slot] = bound_row
            return []
        if not slot.row.references:
            return self._candidates[slot]
        return [row for row in self._candidates[slot] if not self._faults(slot, row, solution.bound)]

    def _cost(self, solution: _Solution, rows: Iterable[_Actual]) -> tuple[int, int, int]:
        """Unmet slots, unexpected rows and columns among the component's, and columns that differ; less is better."""
        taken = set(solution.met.values()) | set(solution.near.values())
        unexpected = sum(
            len(self._uncovered_columns(row, solution)) if row.row.change == "changed" else row not in taken
            for row in rows
            if not row.row.neutral
        )
        return len(solution.unmet), unexpected, sum(self._distance(slot, solution) for slot in solution.unmet)

    def _distance(self, slot: _Slot, solution: _Solution) -> int:
        """Columns by which the nearest row differs from an unmet expectation."""
        near = self._candidates[slot] if slot.key is not None else list(self._rows_like(slot))
        absent = len(slot.row.values) + 1
        return min((len(self._faults(slot, row, solution.bound)) for row in near), default=absent)

    def _uncovered_columns(self, actual: _Actual, solution: _Solution) -> list[str]:
        """Columns of a changed row that no expectation mentions. An optional one counts if it is met."""
        mentioned = set(self._ignored.get(actual.table, ()))
        for slot in solution.slots:
            if actual in self._candidates[slot] and (slot in solution.met or not slot.row.optional):
                mentioned |= slot.row.values.keys() | slot.row.may.keys()
        return [column for column in actual.row.after if column not in mentioned]

    # --- messages -------------------------------------------------------------------------------------------------

    def _pair_unmet(self, solution: _Solution) -> None:
        """Gives each unmet added row the nearest row that is still free, to compare it with."""
        free = set(self._rows) - set(solution.met.values()) - set(solution.near.values())
        pairs = [
            (len(self._faults(slot, row, solution.bound)), position, slot, row)
            for position, slot in enumerate(solution.unmet)
            if slot.key is None and slot not in solution.near
            for row in self._rows_like(slot)
            if row in free
        ]
        for _, _, slot, row in sorted(pairs, key=lambda pair: pair[:2]):
            if slot not in solution.near and row in free:
                solution.near[slot] = row
                free.discard(row)

    def _unmet_message(self, slot: _Slot, solution: _Solution) -> str:
        ending = "" if slot.alternatives == 1 else f" (the nearest of {slot.alternatives} alternatives)"
        return self._missing(slot, solution) + ending

    def _missing(self, slot: _Slot, solution: _Solution) -> str:
        expected = slot.row
        if slot.key is None:
            near = solution.near.get(slot)
            conditions = _some(
                f"{column} {shown_condition(condition)}" for column, condition in expected.values.items()
            )
            if near is None:
                return f"{expected.table}: no row was added with {conditions or 'any values'}"
            return f"{near.label}, the nearest added row: {_some(self._faults(slot, near, solution.bound))}"
        label = f"{expected.table} {'/'.join(map(str, slot.key.values()))}"
        rows = self._candidates[slot]
        if rows:
            return f"{label}: {_some(self._faults(slot, rows[0], solution.bound))}"
        other = [row for row in self._rows if row.table == expected.table and _has_key(row.row, slot.key)]
        if other or expected.change == "removed":
            state = f"was {other[0].row.change}" if other else "is still there"
            return f"{label}: {state}, expected it to be {expected.change}"
        unchanged = _Actual(expected.table, RowDifference(change="changed", key=dict(slot.key)))
        return f"{label}: {_some(self._faults(slot, unchanged, solution.bound)) or 'is unchanged'}"

    def _unexpected(self, solution: _Solution) -> list[str]:
        """Rows and columns that no expectation covers."""
        taken = set(solution.met.values()) | set(solution.near.values())
        messages: list[str] = []
        for row in self._rows:
            if row.row.neutral:
                continue
            if row.row.change == "changed":
                messages += [
                    f"{row.label}: column {column} is {shown(row.row.after[column])}, "
                    f"expected it to stay {shown(row.row.before.get(column))}"
                    for column in self._uncovered_columns(row, solution)
                ]
            elif row not in taken and not self._equal_taken(row, taken):
                messages.append(f"{row.label}: was {row.row.change}, unexpected{self._near_optional(row, solution)}")
        return messages

    def _equal_taken(self, row: _Actual, taken: Iterable[_Actual]) -> bool:
        """Whether an expectation names all equal removed rows of a table without a key."""
        return row.row.change == "removed" and any(
            one.table == row.table and one.row == row.row for one in taken if not one.row.key
        )

    def _near_optional(self, row: _Actual, solution: _Solution) -> str:
        """What keeps an added row from meeting the optional expectation that is nearest to it."""
        if row.row.change != "added":
            return ""
        faults: list[str] | None = None
        for slot in solution.slots:
            is_open = slot.row.optional and slot.key is None and slot not in solution.met
            if is_open and slot.row.table == row.table:
                compared = self._faults(slot, row, solution.bound)
                faults = compared if faults is None or len(compared) < len(faults) else faults
        return f"; as an optional row: {_some(faults)}" if faults else ""


def _ignored_columns(configs: Iterable[ExpectedDifference]) -> dict[str, set[str]]:
    ignored: dict[str, set[str]] = {}
    for config in configs:
        for table, columns in config.ignored.items():
            ignored.setdefault(table, set()).update(columns)
    return ignored


def _items(verifier: int, config: ExpectedDifference) -> list[_Item]:
    return [
        [
            [slot for row in alternative for slot in _occurrences(verifier, row, len(alternatives))]
            for alternative in alternatives
        ]
        for alternatives in config.alternatives
    ]


def _occurrences(verifier: int, row: ExpectedRow, alternatives: int) -> list[_Slot]:
    keys: Sequence[Mapping[str, Any] | None] = row.keys if row.keys is not None else [None] * row.count
    return [_Slot(verifier, row, key, alternatives) for key in keys]


def _slots(item: _Item) -> Iterator[_Slot]:
    return (slot for alternative in item for slot in alternative)


def _alike(key: Mapping[str, Any]) -> Hashable:
    """What equal keys have in common; empty for a row of a table without a primary key."""
    return frozenset((column, alike(value)) for column, value in key.items())


def _has_key(row: RowDifference, key: Mapping[str, Any]) -> bool:
    """Whether a row has a primary key, or, in a table without one, these columns."""
    if row.key and row.key.keys() != key.keys():
        return False
    content = row.key or row.before
    return all(column in content and same_value(content[column], value) for column, value in key.items())


def _meets(value: Any, column: str, condition: Condition, bound: _Binding | None) -> bool:
    if condition.key_of is None:
        return meets(value, condition)
    if bound is None:
        return True
    row = bound.get(condition.key_of)
    return row is not None and meets(value, condition, _key_for(column, row.row.key))


def _key_for(column: str, key: Mapping[str, Any]) -> Any:
    """The value of a key that a column refers to."""
    return next(iter(key.values())) if len(key) == 1 else key.get(column)


def _fault(column: str, value: Any, expected: str) -> str:
    return f"column {column} is {shown(value)}, expected {expected}"


def _some(messages: Iterable[str]) -> str:
    """The first messages, and how many there are beyond."""
    every = list(messages)
    more = f" and {len(every) - MAX_FAULTS} more" if len(every) > MAX_FAULTS else ""
    return ", ".join(every[:MAX_FAULTS]) + more


def _matching(edges: Mapping[_Slot, Sequence[_Actual]]) -> dict[_Slot, _Actual]:
    """A largest assignment of rows to slots, found by augmenting paths. A slot that has a row keeps one, so slots that
    come first go first. Neutral rows serve only slots for which no other row is left.
    """
    owner: dict[_Actual, _Slot] = {}
    neutral = {row for rows in edges.values() for row in rows if row.row.neutral}

    def placed(slot: _Slot, seen: set[_Actual]) -> bool:
        for row in edges[slot]:
            if row in seen:
                continue
            seen.add(row)
            if row not in owner or placed(owner[row], seen):
                owner[row] = slot
                return True
        return False

    for slot in edges:
        _ = placed(slot, set(neutral)) or placed(slot, set())
    return {slot: row for row, slot in owner.items()}


def _merged(solutions: Sequence[_Solution]) -> _Solution:
    merged = _Solution([slot for solution in solutions for slot in solution.slots], {})
    merged.bound = {name: row for solution in solutions for name, row in solution.bound.items()}
    for solution in solutions:
        merged.met |= solution.met
        merged.near |= solution.near
    return merged
