"""Plays the built-in tasks that are files, and writes down what their references mean.

    python -m tools.play_tasks                                   # files whose calls have changed
    python -m tools.play_tasks suites/tasks/hr/works/a-task.yaml

Invariant: a value is written only if the whole solution could be played with it: every argument has a source, no call
is refused that the file does not expect, and every reference means one value.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from opsgym.local.gym_servers import GymServers
from opsgym.taskbuild.build import Builder
from opsgym_api.errors import InputError
from opsgym_api.tasks.references import Reference, find, replaced
from opsgym_api.tasks.task_file import TaskFile
from opsgym_domains.includes import complete
from opsgym_runner.gyms.client import http_client
from opsgym_suites.kit.drafts import Draft, Person
from opsgym_suites.kit.suite import SeedTasks, Suite
from opsgym_suites.kit.task_files import FOLDER, VALUES, played_digest, read_task, values_played

Values = dict[str, Mapping[str, Any]]
"""Digest and values by task id, as a line of the file of values has them."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point of `python -m tools.play_tasks`; the process's exit code."""
    parser = argparse.ArgumentParser(prog="play_tasks", description="Plays built-in tasks that are files.")
    parser.add_argument("file", nargs="*", type=Path, help="only these, whether or not they have changed")
    options = parser.parse_args(arguments)
    files = {path.resolve(): read_task(path) for path in options.file or sorted(FOLDER.glob("*/*/*.yaml"))}
    domains = sorted({path.parent.parent.name for path in files})
    return asyncio.run(_play(domains, files, every=bool(options.file)))


async def _play(domains: Sequence[str], files: Mapping[Path, TaskFile], *, every: bool) -> int:
    failed = 0
    for domain in domains:
        known: Values = dict(values_played(FOLDER / domain))
        of_domain = {path: file for path, file in files.items() if path.parent.parent.name == domain}
        due = {
            path: file
            for path, file in of_domain.items()
            if every or known.get(file.id, {}).get("digest") != played_digest(file)
        }
        if due:
            failed += await _play_domain(domain, due, known)
        present = {file.id for file in map(read_task, (FOLDER / domain).glob("*/*.yaml"))}
        _write(FOLDER / domain / VALUES, {name: line for name, line in known.items() if name in present})
    return int(failed > 0)


async def _play_domain(domain: str, due: Mapping[Path, TaskFile], known: Values) -> int:
    """Plays files of a domain; the number of those that cannot be played."""
    failed = 0
    async with AsyncExitStack() as stack:
        servers = await stack.enter_async_context(GymServers([domain], lambda text: print(text, file=sys.stderr)))
        await servers.start()
        http = await stack.enter_async_context(http_client(admin_tokens=servers.admin_tokens))
        builder = SuiteBuilder(http, servers.urls, datetime.now(UTC).replace(tzinfo=None))
        for path, file in due.items():
            try:
                values = await values_read(builder, path, file)
            except InputError as error:
                failed += 1
                print(error, file=sys.stderr)
            else:
                known[file.id] = {"id": file.id, "digest": played_digest(file), "values": values}
                print(f"{path}: {len(file.solution)} calls, {len(values)} references")
    return failed


async def values_read(builder: Builder, path: Path, file: TaskFile) -> dict[str, Any]:
    """The values of all references of a file, after a play of its solution.

    Raises:
        InputError: The solution cannot be played as the file says.
        ReferenceFaultError: A reference finds nothing or several values.
    """
    _, player = builder.prepared(path, file)
    results = (await player.solution()).named
    values: dict[str, Any] = {}

    def value_of(reference: Reference) -> Any:
        values[reference.text] = find(reference, results)
        return values[reference.text]

    replaced(file.model_dump(mode="json"), value_of)
    return dict(sorted(values.items()))


class SuiteBuilder(Builder):
    """A builder that knows the instructions of built-in suites, and their users, also those who share a name."""

    def policy(self, path: Path, file: TaskFile) -> str:
        """The instructions of the agent."""
        suite, part, actor = _placed(path, file)
        draft = Draft("", actor, file.request, (), (), "", (), access=file.access)
        return complete(suite.system_prompt(draft, part), f"opsgym_domains.{suite.domain}")

    def identity(self, path: Path, file: TaskFile, *_place: object) -> str:
        """The value by which the gym server knows the acting user."""
        suite, _part, actor = _placed(path, file)
        (identity,) = suite.server.identity(actor).values()
        return identity


def _placed(path: Path, file: TaskFile) -> tuple[Suite, SeedTasks, Person]:
    """The suite of a file, its part, and the acting user."""
    authored = import_module(f"opsgym_suites.{path.parent.parent.name}.authored")
    suite: Suite = authored.CORE
    part = next(part for part in suite.parts if part.seed == path.parent.name)
    return suite, part, authored.TASKS.user(part.world(), file.actor)


def _write(path: Path, lines: Values) -> None:
    ordered = (json.dumps(lines[name], ensure_ascii=False) for name in sorted(lines))
    path.write_text("".join(f"{line}\n" for line in ordered), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
