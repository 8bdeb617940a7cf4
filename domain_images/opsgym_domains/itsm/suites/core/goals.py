"""Verifiers that follow from a reference solution: what it writes is there, and nothing else has changed.

Invariant: a verifier names no row that the solution makes by its id, since another good solution may make them in
another order; and it asks for a text word by word only where the request gives the words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from opsgym_api.task import Category, Verifier
from opsgym_domains.itsm.seeds.world import World
from opsgym_domains.itsm.suites.checks import (
    Has,
    HasAll,
    OneOf,
    Present,
    all_else_unchanged,
    matches,
    nothing_else_added,
    state,
    used,
    written_rows_else_unchanged,
)
from opsgym_domains.itsm.suites.drafts import Draft
from opsgym_domains.itsm.suites.effects import EFFECTS, LINKS, Kind, Row, key_of, written
from opsgym_domains.itsm.tables import Notification, UserRole

FREE = frozenset(
    {
        "short_description", "description", "worknotes", "resolution_notes", "close_notes", "problem_statement",
        "workaround", "fix_notes", "subject", "message", "body", "implementation_plan", "testing_plan",
    }
)  # fmt: skip
"""Columns whose text is the agent's own unless the request gives it."""
NUMBER = re.compile(r"\bINC-?\d+")
APART = 3
"""So many rows that a tool writes are judged one by one; more are judged together."""

Expected = Mapping[str, Mapping[str, Any]]


def drafted(
    world: World,
    draft: Draft,
    *,
    rules: Mapping[str, str],
    expect: Expected | None = None,
    spared: Sequence[Row] = (),
    meanwhile: Mapping[Kind, int] | None = None,
) -> Draft:
    """A draft with the verifiers that follow from its reference solution before its own ones.

    Args:
        world: The seed's rows.
        draft: The task with the verifiers that only its author can think of.
        rules: The policy's rules that say what each writing tool has to write, for instance `INC-4, INC-5`.
        expect: Conditions on columns, by tool, in place of the values that the solution gives; see `checks`.
        spared: Rows that events change and the request does not touch.
        meanwhile: How many rows events add, by table.
    """
    rows = written(world, draft.gold)
    goals = _goals(world, rows, draft.prompt, rules, expect or {})
    rest = written_rows_else_unchanged(world, rows)
    return replace(
        draft,
        verifiers=(
            *goals,
            *draft.verifiers,
            *([_looked_first(draft)] if rows else []),
            *([rest] if rest else []),
            all_else_unchanged(world, [*rows, *spared]),
            nothing_else_added(world, draft.gold, meanwhile),
        ),
    )


def _looked_first(draft: Draft) -> Verifier:
    tools = list(dict.fromkeys(call.name for call in draft.gold if call.name in EFFECTS))
    calls = sum(call.name in EFFECTS for call in draft.gold) + 1
    return used("looked_up_before_writing", "What is written to was looked up [LKP-1]", *tools[:1], calls=calls)


def _goals(
    world: World, rows: Sequence[Row], prompt: str, rules: Mapping[str, str], expect: Expected
) -> list[Verifier]:
    wanted: dict[tuple[str, bool], list[str]] = {}
    tables: dict[str, Kind] = {}
    made: dict[str, str] = {}
    for row in rows:
        if row.kind is UserRole:
            continue
        values = {
            name: _refer(made, _wanted(world, row, name, value, prompt)) for name, value in row.values.items()
        } | dict(expect.get(row.tool, {}))
        if row.kind is Notification and row.way == "adds":
            values = {"status": "queued", **values}  # those of the seed were sent long ago
        key = {} if row.way == "adds" else {key_of(row.kind): _refer(made, row.key)}
        condition = matches(**key, **({} if row.way == "removes" else values))
        if row.way == "adds":
            made[row.key] = f"SELECT {key_of(row.kind)} FROM {row.kind.__tablename__} WHERE {condition}"  # noqa: S608
        wanted.setdefault((row.tool, row.way == "removes"), []).append(condition)
        tables[row.tool] = row.kind
    return [
        verifier
        for (tool, removes), conditions in wanted.items()
        for verifier in _judged(tool, tables[tool], conditions, rules[tool], removes=removes)
    ]


def _judged(tool: str, kind: Kind, conditions: Sequence[str], rules: str, *, removes: bool) -> list[Verifier]:
    table, link = kind.__tablename__, Category.INTEGRITY if kind in LINKS else Category.TASK_COMPLETION
    what = "gone" if removes else "as the request and the policy ask"
    if len(conditions) <= APART:
        return [
            state(
                f"{tool}_{number}",
                f"A row of {table} is {what} [{rules}]",
                f"SELECT COUNT(*) FROM {table} WHERE {condition}",  # noqa: S608 - our own names
                0 if removes else 1,
                category=link,
                dialect="postgres",
            )
            for number, condition in enumerate(conditions, start=1)
        ]
    either = " OR ".join(f"({condition})" for condition in conditions)
    return [
        state(
            f"{tool}_all",
            f"{len(conditions)} rows of {table} are {what} [{rules}]",
            f"SELECT COUNT(*) FROM {table} WHERE {either}",  # noqa: S608 - our own names
            0 if removes else len(conditions),
            category=link,
            dialect="postgres",
        )
    ]


def _wanted(world: World, row: Row, column: str, value: Any, prompt: str) -> Any:
    if column not in FREE or not isinstance(value, str):
        return value
    before = _before(world, row, column)
    if before and before in value:
        added = value.replace(before, "").strip()
        return HasAll((before, added)) if added in prompt else HasAll((before,))
    if column == "subject":
        numbers = NUMBER.findall(value)
        return HasAll(tuple(numbers)) if numbers else Present()
    return Has(value) if value in prompt else Present()


def _before(world: World, row: Row, column: str) -> str | None:
    if row.way != "changes":
        return None
    seed = world.all(row.kind, **{key_of(row.kind): row.key})
    return getattr(seed[0], column) if seed else None


def _refer(made: Mapping[str, str], value: Any) -> Any:
    return OneOf(made[value]) if isinstance(value, str) and value in made else value
