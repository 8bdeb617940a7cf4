"""`opsgym doctor`: whether this machine can run an evaluation, and what to do where it cannot."""

from __future__ import annotations

import asyncio
import os
import platform
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from opsgym.exits import Exit
from opsgym.formats.grid import Grid, GridColumn
from opsgym.formats.score_table import console
from opsgym.local.inputs import read_inputs
from opsgym_api.errors import InputError, Problem
from opsgym_core.store.base import StoreError, write_once_problem
from opsgym_core.store.location import open_store
from opsgym_domains import registry
from opsgym_domains.kit.embedded import EmbeddedPostgres, PostgresError
from opsgym_runner.models.checks import missing_key
from opsgym_runner.models.prices import known_prices

LEAST_DISK = 2 * 1024**3
"""Bytes that the databases and transcripts of a run with eight episodes at a time need at most."""
PROBE = "opsgym-doctor-probe"


class Check(NamedTuple):
    """What was looked at, and the result."""

    name: str
    verdict: Literal["ok", "note", "FAILED"]
    detail: str


def doctor(file: Path | None, store: str) -> int:
    """Prints one line for each check; no value of a key is printed, and no model is called.

    Args:
        file: Document with the EvalRun to be run; None to look at the machine alone.
        store: Location of the store that results will be written to.

    Returns:
        `OK`, or `BAD_INPUT` if something must be corrected.
    """
    table = Grid([GridColumn("check"), GridColumn(""), GridColumn("detail", prose=True)])
    checks = [*_machine(), _store(store), *([] if file is None else [_file(file)])]
    for check in checks:
        table.add_row(*check)
    table.print(console())
    return Exit.BAD_INPUT if any(check.verdict == "FAILED" for check in checks) else Exit.OK


def _machine() -> Iterator[Check]:
    yield Check("python", "ok", f"{platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores")
    yield (
        Check("domains", "ok", ", ".join(registry.domains()))
        if registry.domains()
        else Check("domains", "FAILED", "none is installed; pip install opsgym[domains]")
    )
    yield _outcome("postgres", "starts and stops", lambda: asyncio.run(_postgres()))
    free = shutil.disk_usage(tempfile.gettempdir()).free
    room = f"{free / 1024**3:.1f} GiB free in {tempfile.gettempdir()}"
    yield Check("disk", "ok", room) if free >= LEAST_DISK else Check("disk", "note", f"{room}; 2 GiB are safe")
    keys = sorted(name for name, value in os.environ.items() if name.endswith("_API_KEY") and value.strip())
    yield (
        Check("keys", "ok", f"set: {', '.join(keys)}")
        if keys
        else Check("keys", "note", "no variable *_API_KEY is set")
    )


async def _postgres() -> None:
    server = await EmbeddedPostgres.start()
    await server.stop()


def _store(location: str) -> Check:
    def write() -> None:
        opened = open_store(location)
        if "://" in location and (problem := write_once_problem(opened, PROBE)):
            raise InputError(location, [Problem("", problem)])
        if "://" not in location:
            folder = Path(location).absolute()
            with tempfile.NamedTemporaryFile(dir=next(one for one in (folder, *folder.parents) if one.is_dir())):
                pass

    return _outcome("store", f"{location} takes objects", write)


def _file(file: Path) -> Check:
    def read() -> None:
        read_inputs(file, os.environ, known_prices, missing_key)

    return _outcome(str(file), "valid; every key that it needs is set", read)


def _outcome(name: str, detail: str, attempt: Callable[[], object]) -> Check:
    try:
        attempt()
    except (InputError, StoreError, PostgresError, OSError) as error:
        return Check(name, "FAILED", " ".join(str(error).split()))
    return Check(name, "ok", detail)
