"""`opsgym results`: scores of a run, or the runs of a store."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from opsgym.commands.run_locator import RunLocator
from opsgym.exits import Exit
from opsgym.formats.breakdowns import (
    BREAKDOWNS,
    Results,
    by_agent,
    figures,
    nested_figures,
    with_provenance,
    with_unscored,
)
from opsgym.formats.score_table import console, print_summary
from opsgym.formats.tabular import Column, Kind, Table, write_out
from opsgym_api.records.run import RunRecord, is_held_out
from opsgym_core.planning.rounds import current_look, rounds_text
from opsgym_core.results.coverage import lost_text
from opsgym_core.results.load import list_runs, load_rows
from opsgym_core.results.provenance import Provenance
from opsgym_core.results.rows import RunRows
from opsgym_core.results.score import Summary, summarise
from opsgym_core.results.variants import runs_of_variants
from opsgym_core.store.base import Store

RUNS = (
    Column("run", Kind.TEXT, "run"),
    Column("name", Kind.TEXT),
    Column("profiles", Kind.TEXT, "profile"),
    Column("suite", Kind.TEXT, "suite"),
    *(Column(name, Kind.TEXT) for name in ("edition", "suite_digest", "opsgym")),
    Column("started", Kind.TEXT, "started"),
    Column("trials", Kind.COUNT),
    Column("total", Kind.COUNT, "trials"),
    Column("scored", Kind.COUNT, "scored"),
    Column("passed", Kind.COUNT, "passed"),
    Column("rate", Kind.SHARE, "rate"),
    Column("success_worst", Kind.SHARE, "worst"),
    Column("success_best", Kind.SHARE, "best"),
    Column("not_scored", Kind.TEXT, "not scored"),
    Column("attempts_per_scored", Kind.NUMBER, "attempts"),
    Column("cost_usd", Kind.DOLLARS, "cost"),
)
"""Columns of the list of runs."""


def list_results(locator: RunLocator, form: str, out: Path | None) -> int:
    """Prints or writes the runs of a store, the newest first.

    Args:
        locator: Location of the store.
        form: `table`, `markdown`, `csv` or `json`.
        out: File to write to; None for stdout.

    Raises:
        InputError: The location is not a store.
        StoreError: The store cannot be read.
    """
    store = locator.open()
    listed = list_runs(store)
    for error in listed.unreadable.values():
        click.echo(f"not listed: {error}", err=True)
    table = with_unscored(RUNS, [_run_row(store, run) for run in reversed(listed.runs)])
    if form == "table":
        screen = console()
        with screen.capture() as captured:
            table.for_console().print(screen)
        write_out(captured.get() if listed.runs else f"{store.name} has no runs\n", out)
    elif form == "json":
        write_out(json.dumps({"runs": table.records()}) + "\n", out)
    else:
        write_out(table.markdown() if form == "markdown" else table.csv(), out)
    return Exit.OK


def _run_row(store: Store, run: RunRecord) -> Mapping[str, Any]:
    summary = summarise(load_rows(store, run.run))
    total = summary.total
    return {
        **asdict(Provenance.of(run)),
        "name": run.name,
        "started": run.created_at,
        "total": total.total,
        "scored": total.scored,
        "passed": total.passed,
        "rate": total.success_rate,
        "success_worst": total.worst_rate,
        "success_best": total.best_rate,
        "attempts_per_scored": total.attempts_per_scored,
        "profiles": ", ".join(dict.fromkeys(agent.profile for agent in summary.agents)),
        "not_scored": lost_text(total.not_scored) or "0",
        "cost_usd": total.cost_usd,
    }


def results(run: str, form: str, by: str | None, out: Path | None, locator: RunLocator) -> int:
    """Prints or writes the results of a run.

    Args:
        run: Id of the run, its beginning, or the name of an EvalRun.
        form: `table`, `markdown`, `csv`, `json` or `parquet`.
        by: One of `BREAKDOWNS`; None for the default of the format.
        out: File to write to; None for stdout.
        locator: Location of the run.

    Raises:
        InputError: The run does not exist, or the file cannot be written.
        StoreError: The store cannot be read.
        ClusterError: The cluster cannot be queried.
    """
    store, rows = locator.load_rows(run)
    run_results = Results(rows, summarise(rows), _variants(store, rows.run) if by == "variant" else {})
    if form == "table":
        _print(run_results, by, out)
        return Exit.OK
    by = by or ("trial" if form == "parquet" else "cell")
    table = BREAKDOWNS[by](run_results)
    if form == "json":
        write_out(json.dumps(_document(run_results, by, table)) + "\n", out)
    else:
        origin = Provenance.of(rows.run)
        writers: dict[str, Callable[[], str | bytes]] = {
            "markdown": lambda: f"{table.markdown()}\n{origin}\n",
            "csv": with_provenance(table, origin).csv,
            "parquet": with_provenance(table, origin).parquet,
        }
        write_out(writers[form](), out)
    return Exit.OK


def _variants(store: Store, run: RunRecord) -> dict[str, Summary]:
    """Scores of the runs of a store that differ from a run in the variant only, by variant, in order."""
    return {
        "held-out" if is_held_out(run.spec) else str(variant): summarise(load_rows(store, name))
        for variant, name in runs_of_variants(store, run).items()
    }


def _print(run_results: Results, by: str | None, out: Path | None) -> None:
    screen = console()
    with screen.capture() as captured:
        screen.print(_headline(run_results.rows))
        for line in _rounds(run_results):
            screen.print(line)
        screen.print()
        if by is None:
            print_summary(run_results.summary, screen)
        else:
            BREAKDOWNS[by](run_results).for_console().print(screen)
    write_out(captured.get(), out)


def _headline(rows: RunRows) -> str:
    origin = f", rescored from {rows.run.rescored_from}" if rows.run.rescored_from else ""
    return f"{Provenance.of(rows.run)}{origin}"


def _rounds(run_results: Results) -> Iterator[str]:
    """How far the rounds of a run have come; nothing for a run with a fixed number of trials."""
    run = run_results.rows.run
    look = current_look(run)
    if look is not None:
        yield rounds_text(look, stopped=run.stopped is not None, total=run_results.summary.total.total)


def _document(run_results: Results, by: str, table: Table) -> dict[str, Any]:
    """The breakdown as JSON; rows of cells also have the nested values that a table has no room for."""
    rows = table.records()
    if by == "cell":
        rows = [
            {**row, **nested_figures(cell.score)} for row, cell in zip(rows, run_results.summary.cells, strict=True)
        ]
    return {
        "run": run_results.rows.run.run,
        "created_at": run_results.rows.run.created_at,
        "provenance": asdict(Provenance.of(run_results.rows.run)),
        "rounds": list(run_results.rows.run.rounds),
        "stopped_early": run_results.rows.run.stopped is not None,
        "by": by,
        "rows": rows,
        "averages": [
            {**row, **nested_figures(agent.score)}
            for row, agent in zip(by_agent(run_results).records(), run_results.summary.agents, strict=True)
        ],
        "total": {**figures(run_results.summary.total), **nested_figures(run_results.summary.total)},
    }
