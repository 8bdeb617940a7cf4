"""The tasks of a suite that a command names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from opsgym.taskcheck.findings import unknown
from opsgym_api.errors import InputError, Problem
from opsgym_api.tasks.reading import read_tasks
from opsgym_api.tasks.task import Task
from opsgym_domains import registry
from opsgym_domains.editions import UnknownSuiteError, is_builtin
from opsgym_domains.suite_rows import load_suite, suite_rows


def suite_tasks(suite: str) -> list[Task]:
    """Tasks of a built-in suite, or of a file or folder.

    Raises:
        InputError: There is no such suite, or a row is not valid.
    """
    if is_builtin(suite):
        try:
            return list(load_suite(suite))
        except UnknownSuiteError as error:
            raise InputError(suite, [Problem("", str(error))]) from None
    if not Path(suite).exists():
        known = ", ".join(registry.suites())
        raise InputError(
            suite, [Problem("", f"is neither a file or folder of rows nor a built-in suite; those are {known}")]
        )
    tasks, bad_rows = read_tasks(Path(suite))
    if bad_rows:
        raise InputError(suite, [Problem("", row.message) for row in bad_rows])
    return tasks


def find_task(name: str, suite: str | None) -> tuple[Task, str]:
    """A task, and the built-in suite, file or folder that it is in.

    Args:
        name: Id of a task, or a file with one row.
        suite: Built-in suite, file or folder that the task is in; None for all built-in suites.

    Raises:
        InputError: The task is not found, or a row is not valid.
    """
    if suite is None and Path(name).is_file():
        tasks = suite_tasks(name)
        if len(tasks) == 1:
            return tasks[0], name
        raise InputError(name, [Problem("", f"has {len(tasks)} rows; name one: TASK --suite {name}")])
    places = _builtin_rows() if suite is None else {task.task_id: (task, suite) for task in suite_tasks(suite)}
    if name not in places:
        where = "the built-in suites; --suite names a file or folder" if suite is None else suite
        raise InputError("tasks", [Problem("TASK", unknown(f"task of {where}:", name, places, "see `tasks list`"))])
    row, place = places[name]
    return Task.model_validate(row), place


def _builtin_rows() -> dict[str, tuple[Mapping[str, Any] | Task, str]]:
    """The row of each built-in task and its suite: that of its domain, since the larger ones take longer to read."""
    suites = registry.declared(registry.SUITES)
    return {row["task_id"]: (row, suite) for suite in suites for row in suite_rows(suite)}
