"""`opsgym results`."""

from __future__ import annotations

import click

from opsgym.commands.where import Where
from opsgym.exits import Exit
from opsgym.score_table import console, plain_table, print_summary
from opsgym.tables import dollars, endings, percent
from opsgym_api.results import list_runs, load_run
from opsgym_api.scores import summarise
from opsgym_api.store import Store


def results(run: str | None, where: Where) -> int:
    """Prints a run's score table, or the runs of a store.

    Raises:
        InputError: There is no such run.
        StoreError: The store cannot be read.
        ClusterError: The cluster cannot be asked.
    """
    if run is None:
        _list(where.open())
        return Exit.OK
    _, found = where.load(run)
    out = console()
    click.echo(f"run {found.run.run}, started {found.run.created_at}, opsgym {found.run.opsgym}\n")
    print_summary(summarise(found), out)
    return Exit.OK


def _list(store: Store) -> None:
    runs = list_runs(store)
    if not runs:
        click.echo(f"{store.name} holds no run")
        return
    table = plain_table("run", "started", right=("scored", "passed", "rate", "not scored", "cost"))
    for run in reversed(runs):
        total = summarise(load_run(store, run.run)).total
        scored = f"{total.scored}/{total.total}"
        unscored = endings(total.not_scored) or "0"
        cells = (str(total.passed), percent(total.success_rate), unscored, dollars(total.cost_usd))
        table.add_row(run.run, run.created_at, scored, *cells)
    console().print(table)
