"""`opsgym tasks list`."""

from __future__ import annotations

import json
from typing import Any

import click

from opsgym.commands.suite_tasks import suite_tasks
from opsgym.exits import Exit
from opsgym.formats.score_table import console
from opsgym.formats.tabular import Column, Kind, Table
from opsgym_api.tasks.task import Task
from opsgym_domains import registry
from opsgym_domains.difficulty import difficulty_of

COLUMNS = (
    Column("task", Kind.TEXT, "task"),
    Column("domain", Kind.TEXT, "domain"),
    Column("steps", Kind.COUNT, "steps"),
    Column("feasible", Kind.FLAG, "feasible"),
    Column("difficulty", Kind.TEXT, "difficulty"),
    Column("points", Kind.COUNT, "points"),
    Column("writes", Kind.COUNT, "writes"),
    Column("writing_tools", Kind.COUNT, "writing tools"),
    Column("look_ups", Kind.COUNT, "look-ups"),
    Column("branches", Kind.COUNT, "branches"),
    Column("unused_tools", Kind.COUNT, "unused tools"),
)
_COUNTS = ("points", "writes", "writing_tools", "look_ups", "branches", "unused_tools")


def list_tasks(suite: str, form: str) -> int:
    """Prints the tasks of a suite with their difficulty.

    Args:
        suite: A built-in suite, or a file or folder of rows.
        form: `table`, `markdown` or `json`.

    Raises:
        InputError: There is no such suite, or a row is not valid.
    """
    table = Table(COLUMNS, [_row(task) for task in suite_tasks(suite)])
    if form == "table":
        table.for_console().print(console())
    else:
        click.echo(json.dumps(table.records()) if form == "json" else table.markdown(), nl=form == "json")
    return Exit.OK


def _row(task: Task) -> dict[str, Any]:
    difficulty = difficulty_of(task, registry.tools_of(task))
    return {
        "task": task.task_id,
        "domain": task.domain_name,
        "steps": task.steps,
        "feasible": task.feasible,
        "difficulty": difficulty and difficulty.band.value,
        **{name: difficulty and getattr(difficulty, name) for name in _COUNTS},
    }
