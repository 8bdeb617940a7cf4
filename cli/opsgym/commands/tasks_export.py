"""`opsgym tasks export`."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

import click

from opsgym.commands.suite_tasks import suite_tasks
from opsgym.exits import Exit
from opsgym.taskexport.suite import LEFT_OUT, MODE, SuiteExporter
from opsgym.taskimport.seeds import Seeds


def export_tasks(suite: str, out: Path, seeds: Path | None) -> int:
    """Writes a suite in the published form, and prints to stderr what was left out of each task.

    Raises:
        InputError: There is no such suite, a row is not valid, a seed is missing, or a file cannot be written.
    """
    tasks = suite_tasks(suite)
    with click.progressbar(length=len(tasks), label="tasks", file=sys.stderr) as bar:
        exporter = SuiteExporter(out, Seeds(seeds), datetime.now(UTC).replace(tzinfo=None))
        results = exporter.run(tasks, lambda: bar.update(1))
    for task_id, result in results.items():
        for missing in result.left_out:
            click.echo(f"{task_id}{'' if result.row else ' (not exported)'}: {missing}", err=True)
    written = sum(result.row is not None for result in results.values())
    click.echo(f"{written} of {len(results)} tasks in {out / MODE}; what was left out is in {out / LEFT_OUT}")
    return Exit.OK
