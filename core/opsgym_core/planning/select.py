"""Selects the rows of a suite that a run uses.

Invariant: the selection depends only on the filters and on the rows' ids and domains; a sample drawn with a seed does
not depend on the order of the rows.
"""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from typing_extensions import TypeVar

from opsgym_api.errors import InputError, Problem
from opsgym_api.kinds.evalrun import Suite
from opsgym_api.tasks.task import Task


class Row(Protocol):
    """The part of a suite row that planning needs; `Task` and `SuiteEntry` have it."""

    @property
    def task_id(self) -> str:
        """Unique in its suite."""
        ...

    @property
    def domain_name(self) -> str:
        """Domain as written in store keys and labels."""
        ...


R = TypeVar("R", bound=Row, default=Task)


def select_tasks(suite: Suite, tasks: Sequence[R], unreadable: Collection[str] = ()) -> list[R]:
    """Applies a suite's filters by domain, then by id, then by limit; the result is in the suite's order.

    With a seed, `limit` draws a sample that depends only on the seed and the task ids; a larger limit extends the
    sample of a smaller one.

    Args:
        suite: The filters.
        tasks: The suite's rows.
        unreadable: Ids of invalid rows, which `suite.ids` may name.

    Raises:
        InputError: A domain or id is unknown, or no task is selected.
    """
    selected = [task for task in tasks if not suite.domains or task.domain_name in suite.domains]
    problems = [*_unknown_domains(suite, tasks), *_unknown_ids(suite, tasks, selected, unreadable)]
    if problems:
        raise InputError(_source(suite), problems)
    if suite.ids:
        selected = [task for task in selected if task.task_id in suite.ids]
    if not selected and not unreadable:
        raise InputError(_source(suite), [Problem("spec.suite", "the filters select no task")])
    return _limited(suite, selected)


def _limited(suite: Suite, tasks: Sequence[R]) -> list[R]:
    if suite.limit is None:
        return list(tasks)
    if suite.seed is None:
        return list(tasks[: suite.limit])
    drawn = sorted(tasks, key=lambda task: hashlib.sha256(f"{suite.seed} {task.task_id}".encode()).digest())
    sample = {task.task_id for task in drawn[: suite.limit]}
    return [task for task in tasks if task.task_id in sample]


def _source(suite: Suite) -> str:
    return suite.builtin or suite.path or "suite"


def _unknown_domains(suite: Suite, tasks: Sequence[Row]) -> list[Problem]:
    known = list(dict.fromkeys(task.domain_name for task in tasks))
    return [
        Problem(f"spec.suite.domains[{index}]", f"unknown domain {domain!r}; the suite has {', '.join(known)}")
        for index, domain in enumerate(suite.domains)
        if domain not in known
    ]


def _unknown_ids(
    suite: Suite, tasks: Sequence[Row], selected: Sequence[Row], unreadable: Collection[str]
) -> list[Problem]:
    domains = {task.task_id: task.domain_name for task in tasks}
    valid = {task.task_id for task in selected} | set(unreadable)
    return [
        Problem(f"spec.suite.ids[{index}]", _unknown_id(task_id, domains))
        for index, task_id in enumerate(suite.ids)
        if task_id not in valid
    ]


def _unknown_id(task_id: str, domains: Mapping[str, str]) -> str:
    if task_id in domains:
        return f"task {task_id!r} is of domain {domains[task_id]!r}, which spec.suite.domains leaves out"
    near = difflib.get_close_matches(task_id, domains, n=3)
    hint = (
        f"similar ids: {', '.join(near)}"
        if near
        else f"the suite has {len(domains)} tasks, the first is {next(iter(domains), 'none')}"
    )
    return f"unknown task id {task_id!r}; {hint}"
