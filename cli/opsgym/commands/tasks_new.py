"""`opsgym tasks new`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from opsgym.exits import Exit
from opsgym.taskcheck.findings import unknown
from opsgym_api.errors import InputError, Problem
from opsgym_api.tasks.task import GymServer, Task
from opsgym_domains import registry
from opsgym_domains.suite_rows import suite_rows

POLICY = "policy.md"
_LEFT_OUT = ("user_prompts", "variant", "horizon", "mode_tools")
"""Fields that belong to the suite of the task that a new row starts from."""


def new_task(file: Path, domain: str, like: str | None) -> int:
    """Writes a row that starts as a copy of a built-in task, and its policy beside it.

    Args:
        file: File to write.
        domain: Domain of the task; not used with `like`.
        like: Id of the task to start from; None for the domain's shortest one.

    Raises:
        InputError: The file exists or cannot be written, or the domain or task does not exist.
    """
    if file.exists():
        raise InputError(str(file), [Problem("", "exists already; name a new file")])
    row = _template(domain) if like is None else _row_of(like)
    policy = file.parent / POLICY
    content = {name: value for name, value in row.items() if name not in _LEFT_OUT}
    content |= {"task_id": file.stem, "system_prompt": f"{{{{include {POLICY}}}}}"}
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        # A policy that is there serves all rows of the folder, and may have been edited.
        written = [] if policy.exists() else [policy]
        if written:
            policy.write_text(row["system_prompt"], encoding="utf-8")
        file.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(str(file), [Problem("", f"cannot be written: {error.strerror}")]) from None
    click.echo(f"wrote {' and '.join(map(str, [file, *written]))}, a copy of {row['task_id']}")
    click.echo(f"  opsgym tasks validate {file} --prove")
    return Exit.OK


def _rows() -> dict[str, dict[str, Any]]:
    """Rows of all built-in suites by task id; the larger suites have none of their own."""
    return {row["task_id"]: row for suite in registry.declared(registry.SUITES) for row in suite_rows(suite)}


def _row_of(task_id: str) -> dict[str, Any]:
    rows = _rows()
    if task_id not in rows:
        lists = "`opsgym tasks list SUITE` lists the tasks of a suite"
        raise InputError("tasks new", [Problem("--like", unknown("built-in task", task_id, rows, lists))])
    return rows[task_id]


def _template(domain: str) -> dict[str, Any]:
    """The domain's feasible task with the fewest gold actions, without events and days."""
    for row in sorted(_rows().values(), key=lambda row: (len(row.get("gold_actions") or ()), row["task_id"])):
        # Checking a row takes longer than reading it, so only those are checked that may be the one.
        if row.get("gold_actions") and _domains(row) == [domain]:
            task = Task.model_validate(row)
            if task.feasible and not (task.events or task.days):
                return row
    known = registry.domains()
    problem = unknown("domain", domain, known)
    if domain in known:
        problem = f"no built-in task of {domain} can serve as a template; name a task of another domain with --like"
    raise InputError("tasks new", [Problem("--domain", problem)])


def _domains(row: Mapping[str, Any]) -> list[str]:
    return [GymServer.model_validate(server).domain for server in row["gym_servers_config"]]
