"""`opsgym compare`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from opsgym.commands.where import Where
from opsgym.exits import Exit
from opsgym.gates import told
from opsgym.score_table import console
from opsgym.tabular import Column, Kind, Table, write_out
from opsgym_api.compare import NAMED, Change, Comparison, compare, renamed
from opsgym_api.errors import InputError, Problem
from opsgym_api.evalrun import Gate
from opsgym_api.figures import cell_name
from opsgym_api.gate import Baseline, Judgement, judge, run_scores, standing_of
from opsgym_api.records import Cell, GateCheck
from opsgym_api.rows import RunRows
from opsgym_api.scores import summarise

CELLS = (
    *(Column(name, Kind.TEXT, name) for name in ("model", "agent", "mode", "domain")),
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
class Request:
    """What the user asked for."""

    before: str
    """The first run, as the user names it."""
    after: str
    form: str
    """`table`, `markdown` or `json`."""
    names: Sequence[str]
    """Values of `--map`."""
    max_regression: float | None
    """Largest drop of a cell's success rate."""
    out: Path | None


def compare_runs(request: Request, where: Where) -> int:
    """Prints what changed from one run to another.

    Raises:
        InputError: There is no such run, or the runs have no cell in common.
        StoreError: The store cannot be read.
        ClusterError: The cluster cannot be asked.
    """
    before = renamed(where.load_rows(request.before)[1], _names(request.names))
    after = where.load_rows(request.after)[1]
    found = compare(before, after)
    if not found.cells:
        raise InputError(f"{found.before} and {found.after}", [Problem("", _nothing_common(found))])
    judgement = _judged(before, after, request.max_regression)
    write_out(_written(found, judgement.checks, request.form), request.out)
    return Exit.of_gate(judgement.verdict)


def _names(given: Sequence[str]) -> dict[str, dict[str, str]]:
    """New name by old name, by what is named."""
    found: dict[str, dict[str, str]] = {}
    for text in given:
        part, colon, names = text.partition(":")
        old, equals, new = names.partition("=")
        if part not in NAMED or not (colon and equals and old and new):
            expected = f"is not PART:BEFORE=AFTER with one of {', '.join(NAMED)}, for instance model:gpt-5=gpt-6"
            raise click.BadParameter(f"{text!r} {expected}", param_hint="--map")
        found.setdefault(part, {})[old] = new
    return found


def _nothing_common(found: Comparison) -> str:
    first, second = (", ".join(map(cell_name, cells)) or "none" for cells in (found.only_before, found.only_after))
    return f"have no cell in common; --map pairs names; cells of the first: {first}; of the second: {second}"


def _judged(before: RunRows, after: RunRows, max_regression: float | None) -> Judgement:
    if max_regression is None:
        return Judgement(())
    gate = Gate(baseline=before.run.run, max_regression=max_regression)
    return judge(gate, standing_of(after, summarise(after)), Baseline(run_scores(before)))


def _written(found: Comparison, checks: Sequence[GateCheck], form: str) -> str:
    cells, flips = _cells(found), _flips(found)
    if form == "json":
        return json.dumps(_document(found, checks, cells, flips)) + "\n"
    if form == "markdown":
        tables = [cells.markdown(), *([flips.markdown()] if flips.rows else [])]
        return "\n".join([f"{_headline(found)}\n", *tables, *(f"{note}\n" for note in _notes(found, checks))])
    screen = console()
    with screen.capture() as captured:
        screen.print(f"{_headline(found)}\n")
        screen.print(cells.for_console())
        if flips.rows:
            screen.print("\ntasks that changed, losses first\n")
            screen.print(flips.for_console())
        for note in ("", *_notes(found, checks)):
            screen.print(note)
    return captured.get()


def _headline(found: Comparison) -> str:
    return f"from {found.before} to {found.after}"


def _notes(found: Comparison, checks: Sequence[GateCheck]) -> list[str]:
    """What stands beside the numbers."""
    notes = [] if found.same_suite else ["the runs' suites differ: tasks of the same id may not be the same task"]
    for which, cells in (("first", found.only_before), ("second", found.only_after)):
        if cells:
            notes.append(f"only in the {which} run, not compared: {', '.join(map(cell_name, cells))}")
    return [*notes, *map(told, checks)]


def _cells(found: Comparison) -> Table:
    rows = [{**cell.cell.model_dump(), **_change(cell.change)} for cell in found.cells]
    total = {"model": "total", "agent": "", "mode": "", "domain": "", **_change(found.total)}
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


def _flips(found: Comparison) -> Table:
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
            for pair in found.flips
        ],
    )


def _document(found: Comparison, checks: Sequence[GateCheck], cells: Table, flips: Table) -> Mapping[str, Any]:
    def names(only: Sequence[Cell]) -> list[dict[str, Any]]:
        return [cell.model_dump() for cell in only]

    return {
        "before": found.before,
        "after": found.after,
        "same_suite": found.same_suite,
        "cells": cells.records()[: len(found.cells)],
        "total": _change(found.total),
        "flips": flips.records(),
        "only_before": names(found.only_before),
        "only_after": names(found.only_after),
        "checks": [check.model_dump() for check in checks],
    }
