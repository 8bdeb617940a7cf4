"""`opsgym tasks import`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

import click

from opsgym.exits import Exit
from opsgym.taskimport.catalogues import catalogues
from opsgym.taskimport.seeds import Seeds
from opsgym.taskimport.sources import read_rows
from opsgym.taskimport.suite import Importer, ImportResult

SHOWN = 3
"""Examples printed of each kind of fault; `faults.json` has all faults."""


@dataclass(frozen=True)
class ImportRequest:
    """Arguments of `opsgym tasks import`."""

    sources: Sequence[Path]
    """Files or folders of rows."""
    out: Path
    """Suite folder to write."""
    seeds: Path | None
    """Zip archive or folder of seed files; None without seeds."""
    tools: Path | None
    """Folder of files `<domain>.json` with tool lists; None for the tools of the installed domains."""
    as_json: bool


def import_rows(request: ImportRequest) -> int:
    """Makes a suite folder from published rows and seeds, and prints their faults.

    Raises:
        InputError: A file cannot be read or written.
    """
    tool_names = catalogues(request.tools)
    with click.progressbar(length=0, label="rows", file=sys.stderr, show_percent=False, show_pos=True) as bar:
        importer = Importer(request.out, Seeds(request.seeds), tool_names, datetime.now(UTC), lambda: bar.update(1))
        result = importer.run(read_rows(request.sources))
    if request.as_json:
        click.echo(json.dumps(_as_json(result), ensure_ascii=False))
    else:
        _print(result, request)
    return Exit.BAD_INPUT if result.invalid else Exit.OK


def _as_json(result: ImportResult) -> dict[str, object]:
    rows = [{"mode": mode, "domain": domain, "rows": count} for (mode, domain), count in sorted(result.rows.items())]
    return {
        "rows": rows,
        "seeds": len(result.seeds),
        "unchecked": dict(result.unchecked),
        "faults": [asdict(fault) for fault in result.faults],
    }


def _print(result: ImportResult, request: ImportRequest) -> None:
    for (mode, domain), count in sorted(result.rows.items()):
        click.echo(f"{mode:<14}  {domain:<10}  {count:>5} rows")
    click.echo(f"{len(result.seeds)} seeds in {request.out / 'seeds'}")
    by_kind = sorted(result.faults, key=lambda fault: fault.kind)
    for kind, group in groupby(by_kind, key=lambda fault: fault.kind):
        faults = list(group)
        click.echo(f"\n{kind}: {len(faults)}")
        for fault in faults[:SHOWN]:
            click.echo(f"  {fault.task_id}  {fault.where}: {' '.join(fault.detail.split())[:160]}")
        if len(faults) > SHOWN:
            click.echo(f"  ... {len(faults) - SHOWN} more in {request.out / 'faults.json'}")
    for domain, count in sorted(result.unchecked.items()):
        click.echo(f"\n{domain}: queries of {count} rows were not run: a seed is missing or a domain is not installed")
    click.echo("\nto run them:")
    for mode in sorted({mode for mode, _ in result.rows}):
        click.echo(f"  suite: {{path: {request.out / mode}, modes: [{mode}]}}")
