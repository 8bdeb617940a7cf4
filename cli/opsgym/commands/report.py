"""`opsgym report`."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import click

from opsgym.commands.where import Where
from opsgym.exits import Exit
from opsgym.report.build import render
from opsgym_api.errors import InputError, Problem


def report(run: str, out: Path, where: Where) -> int:
    """Writes the page about a run as `index.html` into a folder.

    Raises:
        InputError: There is no such run, or the folder cannot be written.
        StoreError: The store cannot be read.
        ClusterError: The cluster cannot be asked.
    """
    store, results = where.load(run)
    page = render(results, store).encode()
    file = out / "index.html"
    draft = out / ".index.html.tmp"
    try:
        out.mkdir(parents=True, exist_ok=True)
        draft.write_bytes(page)
        draft.replace(file)
    except OSError as error:
        with suppress(OSError):
            draft.unlink()
        raise InputError(str(out), [Problem("--out", f"cannot be written: {error.strerror}")]) from None
    click.echo(f"{file}: {len(results.trials)} scored trials of run {results.run.run}, {len(page) / 1e6:.1f} MB")
    return Exit.OK
