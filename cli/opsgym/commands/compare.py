"""`opsgym compare`: changes from one run to another."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from opsgym.commands.run_locator import RunLocator
from opsgym.exits import Exit
from opsgym.formats.gate_text import check_line
from opsgym.formats.score_table import console
from opsgym.formats.tabular import Column, Kind, Table, write_out
from opsgym_api.errors import InputError, Problem
from opsgym_api.kinds.evalrun import Gate
from opsgym_api.records.attempt import Cell
from opsgym_api.records.gate import GateCheck
from opsgym_api.records.run import profile_of
from opsgym_core.common.numbers import cell_name
from opsgym_core.gates.judge import Baseline, Judgement, judge, judged_run, run_scores
from opsgym_core.results.compare import NAMED, Change, Comparison, compare, new_names, rename_cells
from opsgym_core.results.differences import (
    Difference,
    changed_tasks,
    changed_tasks_note,
    setting_differences,
    version_differences,
    without_tasks,
)
from opsgym_core.results.frozen_suite import task_digests
from opsgym_core.results.provenance import Provenance
from opsgym_core.results.rows import RunRows
from opsgym_core.results.score import summarise

CELLS = (
    *(Column(name, Kind.TEXT, name) for name in ("model", "agent", "profile", "mode", "domain")),
    Column("tasks", Kind.COUNT, "tasks"),
    Column("trials", Kind.COUNT, "trials"),
    Column("before", Kind.SHARE, "before"),
    Column("after", Kind.SHARE, "after"),
    Column("difference", Kind.CHANGE, "points"),
    Column("difference_low", Kind.CHANGE, "95 % from"),
    Column("difference_high", Kind.CHANGE, "to"),
    Column("lost", Kind.COUNT, "lost"),
    Column("won", Kind.COUNT, "won"),
    Column("p_value", Kind.PROBABILITY, "p"),
    Column("only_before", Kind.COUNT, "only before"),
    Column("only_after", Kind.COUNT, "only after"),
)
FLIPS = (
    Column("task_id", Kind.TEXT, "task"),
    *(Column(name, Kind.TEXT, name) for name in ("model", "agent", "mode", "domain")),
    Column("trials", Kind.COUNT, "trials"),
    Column("passed_before", Kind.COUNT, "passed before"),
    Column("passed_after", Kind.COUNT, "after"),
    Column("lost", Kind.COUNT, "lost"),
    Column("won", Kind.COUNT, "won"),
)


@dataclass(frozen=True)
class CompareRequest:
    """Arguments of `opsgym compare`."""

    before: str
    """The first run, as for `results`."""
    after: str
    """The second run, as for `results`."""
    form: str
    """`table`, `markdown` or `json`."""
    names: Sequence[str]
    """Values of `--map`, each PART:BEFORE=AFTER."""
    max_regression: float | None
    """Largest allowed drop of the success rate; None does not judge."""
    out: Path | None
    """File to write to; None for stdout."""


def compare_runs(request: CompareRequest, locator: RunLocator) -> int:
    """Prints the changes from one run to another.

    Raises:
        InputError: There is no such run, or the runs have no cell in common.
        StoreError: The store cannot be read.
        ClusterError: The cluster cannot be queried.
    """
    names = _names(request.names)
    (store, own), (other_store, after) = locator.load_rows(request.before), locator.load_rows(request.after)
    # In one run, cells that keep their name would be compared with themselves.
    renamed = rename_cells(own, names, only_renamed=own.run.run == after.run.run and bool(names))
    changed = changed_tasks(task_digests(store, own.run.run), task_digests(other_store, after.run.run))
    before = without_tasks(renamed, lambda _, task_id: task_id in changed)
    comparison = compare(before, after)
    if not comparison.cells:
        raise InputError(f"{comparison.before} and {comparison.after}", [Problem("", _no_common_cell(comparison))])
    judgement = _judge(before, after, request.max_regression)
    original = {now: then for then, now in new_names([cell.cell for cell in own.cells], names).items()}
    cells = {cell.cell: original[cell.cell] for cell in comparison.cells if cell.cell in original}
    context = _Context(
        changed,
        [
            *setting_differences(own.run, after.run, names),
            *version_differences((store, own), (other_store, after), cells),
        ],
        after.run.spec,
        judgement.checks,
        [Provenance.of(own.run), Provenance.of(after.run)],
    )
    write_out(_formatted(comparison, context, request.form), request.out)
    return Exit.of_gate(judgement.verdict)


@dataclass(frozen=True)
class _Context:
    """What is printed besides the numbers of a comparison."""

    changed: frozenset[str]
    """Tasks that are other rows in the second run, and are not compared."""
    differences: Sequence[Difference]
    spec: Mapping[str, Any]
    """Spec of the second run."""
    checks: Sequence[GateCheck]
    origins: Sequence[Provenance]
    """Of the scores of both runs."""


def _names(mappings: Sequence[str]) -> dict[str, dict[str, str]]:
    """New name by old name, by part of the cell."""
    new_names: dict[str, dict[str, str]] = {}
    for text in mappings:
        part, colon, names = text.partition(":")
        old, equals, new = names.partition("=")
        if part not in NAMED or not (colon and equals and old and new):
            expected = f"is not of the form PART:BEFORE=AFTER, PART being one of {', '.join(NAMED)}"
            raise click.BadParameter(f"{text!r} {expected}", param_hint="--map")
        new_names.setdefault(part, {})[old] = new
    return new_names


def _no_common_cell(comparison: Comparison) -> str:
    first, second = (
        ", ".join(map(cell_name, cells)) or "none" for cells in (comparison.only_before, comparison.only_after)
    )
    return f"have no cell in common; pair names with --map; cells of the first: {first}; of the second: {second}"


def _judge(before: RunRows, after: RunRows, max_regression: float | None) -> Judgement:
    if max_regression is None:
        return Judgement(())
    gate = Gate(baseline=before.run.run, max_regression=max_regression, max_infra_error_rate=1, max_unscored_rate=1)
    return judge(gate, judged_run(after, summarise(after), {}), Baseline(run_scores(before, {})))


def _formatted(comparison: Comparison, context: _Context, form: str) -> str:
    cells, flips = _cells(comparison, context.spec), _flips(comparison)
    if form == "json":
        return json.dumps(_document(comparison, context, cells, flips)) + "\n"
    if form == "markdown":
        tables = [cells.markdown(), *([flips.markdown()] if flips.rows else [])]
        return "\n".join(
            [f"{_headline(comparison)}\n", *tables, *(f"{note}\n" for note in _notes(comparison, context))]
        )
    screen = console()
    with screen.capture() as captured:
        screen.print(f"{_headline(comparison)}\n")
        cells.for_console().print(screen)
        if flips.rows:
            screen.print("\ntasks that changed, losses first\n")
            flips.for_console().print(screen)
        for note in ("", *_notes(comparison, context)):
            screen.print(note)
    return captured.get()


def _headline(comparison: Comparison) -> str:
    return f"from {comparison.before} to {comparison.after}"


def _notes(comparison: Comparison, context: _Context) -> list[str]:
    """Remarks below the tables."""
    notes = [] if comparison.same_suite else ["the suites of the runs differ: only tasks of both are compared"]
    if context.changed:
        notes.append(changed_tasks_note(context.changed))
    for position, cells in (("first", comparison.only_before), ("second", comparison.only_after)):
        # Of one run, the cells that are not compared are those that the user did not pair.
        if cells and comparison.before != comparison.after:
            notes.append(f"only in the {position} run, not compared: {', '.join(map(cell_name, cells))}")
    settings = [f"differs: {difference}" for difference in context.differences]
    origins = [str(origin) for origin in dict.fromkeys(context.origins)]
    return [*notes, *settings, *map(check_line, context.checks), *origins]


def _cells(comparison: Comparison, spec: Mapping[str, Any]) -> Table:
    rows = [
        {**cell.cell.model_dump(), "profile": profile_of(spec, cell.cell.agent), **_change(cell.change)}
        for cell in comparison.cells
    ]
    total = {"model": "total", "agent": "", "profile": "", "mode": "", "domain": "", **_change(comparison.total)}
    return Table(CELLS, [*rows, *([total] if len(rows) > 1 else [])])


def _change(change: Change) -> dict[str, Any]:
    low, high = (None, None) if change.interval is None else (change.interval.low, change.interval.high)
    return {
        "tasks": change.tasks,
        "trials": change.trials,
        "before": change.before,
        "after": change.after,
        "difference": change.difference,
        "difference_low": low,
        "difference_high": high,
        "lost": change.lost,
        "won": change.won,
        "p_value": change.p_value,
        "only_before": change.only_before,
        "only_after": change.only_after,
    }


def _flips(comparison: Comparison) -> Table:
    return Table(
        FLIPS,
        [
            {
                "task_id": pair.task_id,
                **pair.cell.model_dump(),
                "trials": pair.before.total,
                "passed_before": pair.before.passed,
                "passed_after": pair.after.passed,
                "lost": pair.lost,
                "won": pair.won,
            }
            for pair in comparison.flips
        ],
    )


def _document(comparison: Comparison, context: _Context, cells: Table, flips: Table) -> Mapping[str, Any]:
    def names(only: Sequence[Cell]) -> list[dict[str, Any]]:
        return [cell.model_dump() for cell in only]

    return {
        "before": comparison.before,
        "after": comparison.after,
        "same_suite": comparison.same_suite,
        "cells": cells.records()[: len(comparison.cells)],
        "total": _change(comparison.total),
        "flips": flips.records(),
        "only_before": names(comparison.only_before),
        "only_after": names(comparison.only_after),
        "changed_tasks": sorted(context.changed),
        "differences": [asdict(difference) for difference in context.differences],
        "checks": [check.model_dump() for check in context.checks],
        "provenance": [asdict(origin) for origin in context.origins],
    }
