"""`opsgym compact`: stores the records of a run in few objects."""

from __future__ import annotations

import click

from opsgym.commands.run_locator import RunLocator
from opsgym.exits import Exit
from opsgym_core.results.compaction import compact


def compact_run(run: str, locator: RunLocator) -> int:
    """Compacts the records of a run that are not compacted yet.

    Raises:
        InputError: The run does not exist, or one of its objects cannot be read.
        StoreError: The store cannot be read or written.
        ClusterError: The cluster cannot be queried.
    """
    store, record = locator.load_record(run)
    rows = compact(store, record)
    click.echo(f"{record.run}: {rows} attempts compacted" if rows else f"{record.run}: nothing to compact")
    return Exit.OK
