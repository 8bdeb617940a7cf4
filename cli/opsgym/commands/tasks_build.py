"""`opsgym tasks build`: rows from task files."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from opsgym.exits import Exit
from opsgym.local.gym_servers import GymServers
from opsgym.taskbuild.build import Builder
from opsgym.taskbuild.files import task_files
from opsgym_api.errors import InputError, Problem
from opsgym_api.tasks.task import Task
from opsgym_api.tasks.task_file import TaskFile
from opsgym_domains import registry
from opsgym_domains.difficulty import difficulty_of
from opsgym_runner.errors import NotScored
from opsgym_runner.gyms.client import http_client


def build(path: Path) -> int:
    """Builds every task file of a file or folder, and writes each row beside its file.

    Raises:
        InputError: There is no task file, or one is not valid.
    """
    files = task_files(path)
    failed = asyncio.run(_build(files))
    if failed:
        click.echo(f"{failed} of {len(files)} {'task is' if len(files) == 1 else 'tasks are'} not built", err=True)
        return Exit.BAD_INPUT
    return Exit.OK


async def _build(files: Sequence[tuple[Path, TaskFile]]) -> int:
    """Number of tasks that cannot be built."""
    domains = {domain for _, file in files for domain, _seed in file.worlds} & set(registry.domains())
    now, failed = datetime.now(UTC).replace(tzinfo=None), 0
    async with GymServers(sorted(domains), lambda text: click.echo(text, err=True)) as servers:
        await servers.start()
        async with http_client(admin_tokens=servers.admin_tokens) as http:
            builder = Builder(http, servers.urls, now)
            for path, file in files:
                try:
                    click.echo(await _written(builder, path, file))
                except InputError as error:
                    failed += 1
                    click.echo(str(error), err=True)
                except NotScored as error:
                    failed += 1
                    click.echo(str(InputError(str(path), [Problem("", str(error))])), err=True)
    return failed


async def _written(builder: Builder, path: Path, file: TaskFile) -> str:
    """Writes the row of a task, and describes it."""
    row = await builder.build(path, file)
    out = path.with_suffix(".jsonl")
    out.write_text(json.dumps(row, ensure_ascii=False) + "\n", encoding="utf-8")
    task = Task.model_validate(row)
    difficulty = difficulty_of(task, registry.tools_of(task))
    ways = f"{len(file.also)} other right ways pass, {len(file.wrong)} mistakes fail"
    band = f", {difficulty.band.value}" if difficulty else ""
    return f"{out}: {file.id}: {task.steps} calls, {len(task.verifiers)} verifiers{band}; {ways}"
