"""`opsgym tasks validate`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from opsgym.exits import Exit
from opsgym.taskcheck.checks import Checker
from opsgym.taskcheck.findings import Finding
from opsgym.taskcheck.queries import SeedDatabases
from opsgym_api.tasks.reading import SourcedTask, read_sourced_tasks
from opsgym_api.tasks.task import GymServer
from opsgym_runner.gyms.seeds import SeedFinder


def validate(path: Path, seed_path: Path | None, *, proof: bool) -> int:
    """Reads every row of a file or folder and prints what is wrong with each.

    Args:
        path: The file or folder.
        seed_path: Folder of seed files; None to look for them around the rows, as a run does.
        proof: Whether to play the rows without problems on gym servers.

    Raises:
        InputError: There are no rows, or a file is not a file of rows.
    """
    rows, bad_rows = read_sourced_tasks(path)
    now = datetime.now(UTC).replace(tzinfo=None)
    finder = SeedFinder(path if path.is_dir() else path.parent, seed_path)
    databases = SeedDatabases(lambda name: _seed_text(finder, name), now)
    checker = Checker(finder, databases)
    by_task = {row.task.task_id: checker.findings(row.task) for row in rows}
    if proof:
        sound = [row.task for row in rows if not _has_problem(by_task[row.task.task_id])]
        seeds = {
            task.task_id: {s.mcp_server_name: finder.seed_for(s) for s in task.gym_servers_config} for task in sound
        }
        # Imports litellm and what runs episodes, which takes seconds.
        from opsgym.taskcheck.proof import prove

        for task_id, findings in prove(sound, seeds, databases, now).items():
            by_task[task_id] += findings
    for bad in bad_rows:
        click.echo(bad.message, err=True)
    for row in rows:
        for finding in by_task[row.task.task_id]:
            click.echo(f"{row.source}: {row.task.task_id}: {finding}", err=True)
    return _summary(path, rows, by_task, len(bad_rows), proof=proof)


def _seed_text(finder: SeedFinder, name: str) -> str | None:
    return finder.seed_for(GymServer(mcp_server_name="seed", seed_database_file=name)).sql


def _has_problem(findings: Sequence[Finding]) -> bool:
    return any(finding.is_problem for finding in findings)


def _summary(
    path: Path, rows: Sequence[SourcedTask], by_task: Mapping[str, Sequence[Finding]], bad: int, *, proof: bool
) -> int:
    """Prints how many rows are valid and returns the exit code."""
    count = len(rows) + bad
    bad += sum(map(_has_problem, by_task.values()))
    if bad:
        click.echo(f"{path}: {bad} of {count} {'row is' if count == 1 else 'rows are'} not valid", err=True)
        return Exit.BAD_INPUT
    by_domain = Counter(row.task.domain_name for row in rows)
    width = max(map(len, by_domain))
    for domain, number in sorted(by_domain.items()):
        click.echo(f"{domain:<{width}}  {number}")
    proved = " and proved" if proof else ""
    click.echo(f"{path}: {count} {'task' if count == 1 else 'tasks'}, all valid{proved}")
    return Exit.OK
