"""`opsgym leaderboard --beside`: own rows among those of a published table."""

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
from opsgym_api.errors import InputError, Problem
from opsgym_core.results.provenance import Provenance
from opsgym_core.results.published import Beside, BesideRow, BesideTest, beside, published_table, refusal
from opsgym_core.results.score import summarise

TESTS = (
    Column("own", Kind.TEXT, "own"),
    Column("published", Kind.TEXT, "published"),
    Column("difference", Kind.CHANGE, "points"),
    Column("difference_low", Kind.CHANGE, "95 % from"),
    Column("difference_high", Kind.CHANGE, "to"),
    Column("p_value", Kind.PROBABILITY, "p"),
)


def leaderboard_beside(runs: Sequence[str], table: str, form: str, out: Path | None, locator: RunLocator) -> int:
    """Prints own rows among the published ones, and a two-sample test of each own row against each published one.

    Args:
        runs: Runs, as for `opsgym results`; a run that is named twice counts once.
        table: One of `opsgym_core.results.published.TABLES`.
        form: `table`, `markdown`, `csv` or `json`.
        out: File to write to; None for stdout.
        locator: Location of the runs.

    Raises:
        InputError: A run does not exist, is not of the published rows, or the file cannot be written.
        StoreError: The store cannot be read.
        ClusterError: The cluster cannot be queried.
    """
    published = published_table(table)
    loaded = {rows.run.run: rows for _, rows in map(locator.load_rows, runs)}
    for rows in loaded.values():
        if reason := refusal(published, rows.run):
            raise InputError("--beside", [Problem("", reason)])
    shown = beside(published, [summarise(rows) for rows in loaded.values()])
    origins = [Provenance.of(rows.run) for rows in loaded.values()]
    write_out(_formatted(shown, origins, form), out)
    return Exit.OK


def _formatted(shown: Beside, origins: Sequence[Provenance], form: str) -> str:
    rows, tests = _rows(shown), Table(TESTS, [_test(test) for test in shown.tests])
    notes = [*shown.notes, *map(str, origins)]
    if form == "json":
        document = {
            "beside": shown.table,
            "rows": rows.records(),
            "tests": tests.records(),
            "notes": list(shown.notes),
            "provenance": [asdict(origin) for origin in origins],
        }
        return json.dumps(document) + "\n"
    if form == "csv":
        return rows.csv()
    if form == "markdown":
        return "\n".join([f"{shown.title}\n", rows.markdown(), tests.markdown(), *(f"{note}\n" for note in notes)])
    screen = console()
    with screen.capture() as captured:
        screen.print(f"{shown.title}\n")
        rows.for_console().print(screen)
        screen.print()
        tests.for_console().print(screen)
        for note in ("", *notes):
            screen.print(note)
    return captured.get()


def _rows(shown: Beside) -> Table:
    domains = list(shown.rows[0].domains)
    columns = (
        Column("model", Kind.TEXT, "model"),
        Column("source", Kind.TEXT, "source"),
        *(Column(f"success_{domain}", Kind.SHARE, domain) for domain in domains),
        Column("average", Kind.SHARE, f"mean over {shown.average}"),
        Column("stated", Kind.SHARE, "as stated"),
        Column("mean_over_tasks", Kind.SHARE, "" if shown.average == "tasks" else "mean over tasks"),
        Column("tasks_low", Kind.SHARE, "95 % from"),
        Column("tasks_high", Kind.SHARE, "to"),
        Column("tasks", Kind.COUNT, "tasks"),
    )
    return Table(columns, [_row(row) for row in shown.rows])


def _row(row: BesideRow) -> dict[str, Any]:
    return {
        "model": row.model,
        "source": row.agent if row.own else "published",
        **{f"success_{domain}": rate for domain, rate in row.domains.items()},
        "average": row.average,
        "stated": row.stated,
        "mean_over_tasks": row.mean_over_tasks,
        "tasks_low": row.interval.low if row.interval else None,
        "tasks_high": row.interval.high if row.interval else None,
        "tasks": row.tasks,
    }


def _test(test: BesideTest) -> dict[str, Any]:
    return {
        "own": test.own,
        "published": test.published,
        "difference": test.difference,
        "difference_low": test.interval.low,
        "difference_high": test.interval.high,
        "p_value": test.p_value,
    }
