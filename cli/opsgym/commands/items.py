"""`opsgym items`: tasks and verifiers of runs as items, to find those that measure nothing or the wrong thing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from opsgym.commands.run_locator import RunLocator
from opsgym.exits import Exit
from opsgym.formats.score_table import console
from opsgym.formats.tabular import Column, Kind, Table, write_out
from opsgym_core.results.frozen_suite import task_digests
from opsgym_core.results.items import MIN_AGENTS, Items, TaskItem, VerifierItem, items_of
from opsgym_core.results.provenance import Provenance

AGENTS = (
    *(Column(name, Kind.TEXT, name) for name in ("model", "agent", "mode", "run")),
    Column("tasks", Kind.COUNT, "tasks"),
    Column("rate", Kind.SHARE, "success"),
    Column("repeated", Kind.COUNT, "with 2 trials"),
    Column("flips", Kind.SHARE, "flips"),
    Column("icc", Kind.NUMBER),
    Column("icc_share", Kind.SHARE, "variance between tasks"),
)
TASKS = (
    Column("task_id", Kind.TEXT, "task"),
    Column("domain", Kind.TEXT, "domain"),
    Column("agents", Kind.COUNT, "agents"),
    Column("passed", Kind.COUNT, "passed"),
    Column("trials", Kind.COUNT, "of"),
    Column("rate", Kind.SHARE),
    Column("discrimination", Kind.NUMBER, "discrimination"),
    Column("unanimous", Kind.TEXT, "unanimous"),
)
VERIFIERS = (
    Column("task_id", Kind.TEXT, "task"),
    Column("domain", Kind.TEXT, "domain"),
    Column("index", Kind.COUNT, "number"),
    Column("name", Kind.TEXT, "verifier"),
    Column("agents", Kind.COUNT, "agents"),
    Column("passed", Kind.COUNT, "passed"),
    Column("executed", Kind.COUNT, "of"),
    Column("alone", Kind.COUNT, "near-passes decided"),
    Column("near_passes", Kind.COUNT, "of"),
    Column("suspicious", Kind.TEXT, "why"),
)


def items(runs: Sequence[str], by: str | None, form: str, out: Path | None, locator: RunLocator) -> int:
    """Prints how far outcomes repeat, which tasks do not tell agents apart, and which verifiers to look at.

    Args:
        runs: Runs, as for `opsgym results`; a run that is named twice counts once.
        by: `agent`, `task` or `verifier`, with every row; None for all three, with the conspicuous rows alone.
        form: `table`, `markdown`, `csv` or `json`.
        out: File to write to; None for stdout.
        locator: Location of the runs.

    Raises:
        InputError: A run does not exist, or the file cannot be written.
        StoreError: The store cannot be read.
        ClusterError: The cluster cannot be queried.
    """
    loaded = {rows.run.run: (store, rows) for store, rows in map(locator.load_rows, runs)}
    measured = items_of([(rows, task_digests(store, rows.run.run)) for store, rows in loaded.values()])
    origins = [Provenance.of(rows.run) for _, rows in loaded.values()]
    write_out(_formatted(measured, by, form, origins), out)
    return Exit.OK


def _formatted(measured: Items, by: str | None, form: str, origins: Sequence[Provenance]) -> str:
    if form == "csv":
        by = by or "task"
    tables = {
        "agent": Table(AGENTS, [{**asdict(one), "icc_share": one.icc} for one in measured.agents]),
        "task": Table(TASKS, [_task(one) for one in measured.tasks if by or _is_conspicuous(one)]),
        "verifier": Table(VERIFIERS, [_verifier(one) for one in measured.verifiers if by or one.suspicious]),
    }
    shown = {by: tables[by]} if by else tables
    if form == "json":
        rows = {f"{name}s": table.records() for name, table in shown.items()}
        return json.dumps({**rows, "provenance": [asdict(origin) for origin in origins]}) + "\n"
    if by is not None and form == "csv":
        return tables[by].csv()
    notes = [*_notes(measured), *map(str, origins)]
    if form == "markdown":
        return "\n".join([*(table.markdown() for table in shown.values()), *(f"{note}\n" for note in notes)])
    screen = console()
    with screen.capture() as captured:
        for table in shown.values():
            if table.rows:
                table.for_console().print(screen)
                screen.print()
        for note in notes:
            screen.print(note)
    return captured.get()


def _is_conspicuous(task: TaskItem) -> bool:
    return bool(task.unanimous) or (task.discrimination is not None and task.discrimination < 0)


def _notes(measured: Items) -> list[str]:
    tasks = measured.tasks
    known = [task.discrimination for task in tasks if task.discrimination is not None]
    passed, failed = (sum(task.unanimous == verdict for task in tasks) for verdict in ("passed", "failed"))
    negative = sum(value < 0 for value in known)
    enough = f"of {len(known)} with one, {negative} negative" if known else f"none: it needs {MIN_AGENTS} agents"
    return [
        f"discrimination, the correlation over agents with the success at other tasks: {enough}",
        f"unanimous tasks: {passed} passed and {failed} failed by every trial, of {len(tasks)}",
        "flips: the chance that two trials of a task differ; differences of single runs below it are noise",
    ]


def _task(task: TaskItem) -> dict[str, Any]:
    return {**vars(task), "passed": task.trials.passed, "trials": task.trials.total}


def _verifier(verifier: VerifierItem) -> dict[str, Any]:
    counts = {"passed": verifier.trials.passed, "executed": verifier.trials.total}
    return {**vars(verifier), **counts, "suspicious": verifier.suspicious}
