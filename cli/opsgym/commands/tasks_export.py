"""`opsgym tasks export`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import click

from opsgym.commands.suite_tasks import suite_tasks
from opsgym.exits import Exit
from opsgym.taskexport.dataset import DatasetFormat, write_dataset
from opsgym.taskexport.files import MODE, SEED_FOLDER
from opsgym.taskexport.suite import LEFT_OUT, SuiteExporter
from opsgym.taskimport.seeds import Seeds
from opsgym_api.tasks.task import Task

ExportFormat = Literal["published"] | DatasetFormat


def export_tasks(suite: str, form: ExportFormat, out: Path, seeds: Path | None) -> int:
    """Writes a suite: whole, or in the published form, where what was left out of each task is printed to stderr.

    Raises:
        InputError: There is no such suite, a row is not valid, a seed is missing, a file cannot be written, or pyarrow
            is needed and not installed.
    """
    tasks = suite_tasks(suite)
    if form == "published":
        return _published(tasks, out, seeds)
    with _progress(tasks) as bar:
        files = write_dataset(tasks, out, form, Seeds(seeds), lambda: bar.update(1))
    click.echo(f"{len(tasks)} tasks in {', '.join(map(str, files))}; their seeds are in {out / SEED_FOLDER}")
    return Exit.OK


def _progress(tasks: Sequence[Task]) -> Any:
    return click.progressbar(length=len(tasks), label="tasks", file=sys.stderr)


def _published(tasks: Sequence[Task], out: Path, seeds: Path | None) -> int:
    with _progress(tasks) as bar:
        exporter = SuiteExporter(out, Seeds(seeds), datetime.now(UTC).replace(tzinfo=None))
        results = exporter.run(tasks, lambda: bar.update(1))
    for task_id, result in results.items():
        for missing in result.left_out:
            click.echo(f"{task_id}{'' if result.row else ' (not exported)'}: {missing}", err=True)
    written = sum(result.row is not None for result in results.values())
    click.echo(f"{written} of {len(results)} tasks in {out / MODE}; what was left out is in {out / LEFT_OUT}")
    return Exit.OK
