"""The tasks of a suite that a command names."""

from __future__ import annotations

from pathlib import Path

from opsgym_api.errors import InputError, Problem
from opsgym_api.tasks.reading import read_tasks
from opsgym_api.tasks.task import Task
from opsgym_domains import registry
from opsgym_domains.editions import UnknownSuiteError, is_builtin
from opsgym_domains.suite_rows import load_suite


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
