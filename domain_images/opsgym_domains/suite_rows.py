"""Rows of the installed suites.

Invariant: laptop, operator and pods read a suite's rows here, so a name means the same tasks everywhere.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from opsgym_domains import registry
from opsgym_domains.data_files import read_data
from opsgym_domains.editions import FOLDER, NEXT, OWN, listing, resolved
from opsgym_domains.includes import complete

if TYPE_CHECKING:
    from opsgym_api.tasks.task import Task  # gym servers and lists of names need no task rows


def suite_rows(name: str, variant: int = 0) -> list[dict[str, Any]]:
    """Rows of a suite in order, with included files (`{{include FILE}}`) replaced by their text.

    Args:
        name: The suite, with or without an edition; see `editions.resolved`.
        variant: Variant of the rows and their seeds; 0 for the rows as they are written.

    Raises:
        UnknownSuiteError: There is no such suite, or no such edition of it.
        ValueError: The suite has a task of which there are no variants.
    """
    suite, _, edition = resolved(name).partition("@")
    chosen = _selected(suite, edition) if suite in registry.SELECTIONS else None
    return [row for part in _parts(suite) for row in _rows_of(part, edition, variant, chosen)]


def _parts(suite: str) -> Sequence[str]:
    """Declared suites that a suite is made of."""
    return registry.PARTS if suite in (registry.WHOLE, *registry.SELECTIONS) else (suite,)


def _selected(suite: str, edition: str) -> Collection[str]:
    """Ids of the tasks of the whole suite that a selection has."""
    if edition == NEXT:
        return frozenset(read_data(OWN, f"{suite}.txt").split())
    return listing(suite, edition).rows.keys()


def _rows_of(name: str, edition: str, variant: int, chosen: Collection[str] | None = None) -> list[dict[str, Any]]:
    """Rows of a declared suite, or those with the chosen ids."""
    package = registry.declared(registry.SUITES)[name].module
    file = f"{name}.jsonl" if edition == NEXT else f"{FOLDER}/{name}@{edition}.jsonl"
    rows: list[dict[str, Any]] = [json.loads(line) for line in read_data(package, file).splitlines()]
    rows = [
        row | {"system_prompt": complete(row["system_prompt"], package)}
        for row in rows
        if chosen is None or row["task_id"] in chosen
    ]
    if not variant:
        return rows
    # Imports SQLAlchemy, as a domain does; rows as they are written need none of it.
    from opsgym_domains.variants.companies import rewriting_of
    from opsgym_domains.variants.tasks import varied_rows

    return varied_rows(rows, variant, rewriting_of)


def load_suite(name: str, variant: int = 0) -> tuple[Task, ...]:
    """Tasks of a suite, in order.

    Raises:
        UnknownSuiteError: There is no such suite, or no such edition of it.
        ValueError: The suite has a task of which there are no variants.
    """
    return _tasks_of(resolved(name), variant)


@cache
def _tasks_of(name: str, variant: int) -> tuple[Task, ...]:
    from opsgym_api.tasks.task import Task

    suite, _, edition = name.partition("@")
    if variant or _parts(suite) == (suite,):
        return tuple(Task.model_validate(row) for row in suite_rows(name, variant))
    # A suite of suites has the very tasks of its parts: reading and checking rows takes milliseconds each.
    tasks = [task for part in _parts(suite) for task in _tasks_of(f"{part}@{edition}", 0)]
    if suite not in registry.SELECTIONS:
        return tuple(tasks)
    chosen = _selected(suite, edition)
    return tuple(task for task in tasks if task.task_id in chosen)
