"""`opsgym play`: a person plays a task by its tools alone and gets the verdict."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click
import yaml

from opsgym.commands.suite_tasks import find_task
from opsgym.exits import Exit
from opsgym.formats.verdict import verifier_lines
from opsgym.play.person import Person
from opsgym.play.server import endpoint_of
from opsgym_api.kinds.evalrun import Mode
from opsgym_api.records.attempt import Cell, TrialRecord
from opsgym_api.records.store_layout import RunKeys
from opsgym_api.tasks.task import Task
from opsgym_core.common.foreign import visible
from opsgym_core.results.load import find_run
from opsgym_core.store.location import open_store
from opsgym_core.store.objects import read_object
from opsgym_domains.editions import is_builtin

PERSON = "person"
"""Model and agent of the cell that a person's trials are recorded in."""
PROGRAM = (sys.executable, "-m", "opsgym.main")
"""Plays the run in a process of its own, which Ctrl-C and a person who leaves can end."""
DAY_S = 86_400


def play(name: str, suite: str | None, store: str, mode: str) -> int:
    """Plays one task as a run of its own, and prints what its verifiers say.

    Args:
        name: Id of a task, or a file with one row.
        suite: Built-in suite, file or folder that the task is in; None for all built-in suites.
        store: Location of the store that the run is written to.
        mode: Which tools the person gets; see `Mode`.

    Raises:
        InputError: The task is not found, or a row is not valid.
        StoreError: The store cannot be used.
    """
    task, place = find_task(name, suite)
    source = {"builtin": place} if is_builtin(place) else {"path": str(Path(place).resolve())}
    person = Person(_read_line, click.echo)
    with tempfile.TemporaryDirectory() as folder:
        file, log = Path(folder) / "play.yaml", Path(folder) / "log"
        process: list[subprocess.Popen[bytes]] = []
        with endpoint_of(person, lambda: process[0].send_signal(signal.SIGINT)) as url, log.open("wb") as errors:
            file.write_text(yaml.safe_dump(_evalrun(task, source, url, mode)))
            click.echo(f"{task.task_id}: starting its gym servers …")
            command = [*PROGRAM, "run", str(file), "--store", store, "--fresh"]
            process.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors))
            code = _waited(process[0])
        if code == Exit.INTERRUPTED:
            click.echo("left without an answer: nothing is scored", err=True)
            return code
        record = _record(store, task, mode) if code == Exit.OK else None
        if record is None:
            click.echo(log.read_text(errors="replace"), err=True)
            return code or Exit.NOT_SCORED
    click.echo("\n".join(_verdict(record, task)))
    return Exit.OK


def _read_line(prompt: str) -> str:
    """The next line; the prompt is shown on terminals only."""
    return input(prompt if sys.stdin.isatty() else "")


def _waited(process: subprocess.Popen[bytes]) -> int:
    """Exit code of the run; Ctrl-C reaches it too, and it ends by itself."""
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue


def _evalrun(task: Task, source: dict[str, str], url: str, mode: str) -> dict[str, object]:
    model = {
        "model": f"openai/{PERSON}",
        "endpoints": [{"url": url}],
        "parameters": {"timeout": DAY_S},
        "stream": "never",
        "maxConcurrency": 1,
        "prices": {"inputUsd": 0, "outputUsd": 0},
    }
    return {
        "apiVersion": "opsgym.dev/v1alpha1",
        "kind": "EvalRun",
        "metadata": {"name": f"play-{PERSON}"},
        "spec": {
            "suite": {**source, "ids": [task.task_id], "modes": [mode]},
            "models": [{"name": PERSON, "inline": model}],
            "agents": [{"name": PERSON, "maxSteps": 1000}],
            "trials": 1,
            "limits": {"taskTimeoutSeconds": DAY_S},
        },
    }


def _record(store: str, task: Task, mode: str) -> TrialRecord | None:
    opened = open_store(store)
    run = find_run(opened, f"play-{PERSON}")
    cell = Cell(model=PERSON, agent=PERSON, mode=Mode(mode), domain=task.domain_name)
    return read_object(opened, RunKeys(run).trial(cell, task.task_id, 0).record, TrialRecord)


def _verdict(record: TrialRecord, task: Task) -> Iterator[str]:
    """Lines: whether the task is passed, then each verifier, those that failed with what they expected."""
    yield f"\n{'PASSED' if record.score else 'FAILED'}  {record.task_id}, {record.tool_calls} calls"
    yield from map(visible, verifier_lines(record, task))
    if all(verifier.passed for verifier in record.verifiers) and not record.score:
        yield f"  no verifier failed, but the trial ended by {record.stopped_by}"
    yield f"results in run {record.run}"
