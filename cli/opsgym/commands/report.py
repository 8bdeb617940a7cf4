"""`opsgym report`."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import click

from opsgym.commands.where import Where
from opsgym.exits import Exit
from opsgym.local.clock import utc_now
from opsgym.report.data import load_about
from opsgym.report.modes import SAMPLE
from opsgym.report.packing import BESIDE_TRIALS, INLINE_BYTES, Place
from opsgym.report.write import PAGE, Analysis, Choices, Written, write_report
from opsgym_api.errors import InputError, Problem
from opsgym_api.layout import RunKeys
from opsgym_api.store import LocalStore, Store, StoreError


@dataclass(frozen=True)
class Request:
    """What the user asked for."""

    run: str
    """The run, as the user names it."""
    out: Path | None
    """Folder to write to; the run's store if None."""
    baseline: str | None
    """Run to compare with; the one that the run's gate compared with if None."""
    choices: Choices


def report(request: Request, where: Where) -> int:
    """Writes the page about a run as `index.html`.

    Raises:
        InputError: There is no such run or baseline, or the folder cannot be written.
        StoreError: The store cannot be used.
        ClusterError: The cluster cannot be asked.
    """
    store, rows = where.load_rows(request.run)
    before = None if request.baseline is None else where.load_rows(request.baseline)[1]
    about = load_about(store, rows, written_at=utc_now(), baseline=before)
    output = _Folder(request.out) if request.out is not None else _Output(store, RunKeys(rows.run.run).report)
    written = write_report(store, rows, about, request.choices, output.put)
    if request.out is not None:
        _remove_older(request.out, written.packed.files)
    click.echo(f"{output.place}/{PAGE}: {_told(written)}")
    for note in _notes(written, request.choices):
        click.echo(f"  {note}")
    return Exit.OK


@dataclass(frozen=True)
class _Output:
    """Where a report is written to."""

    store: Store
    prefix: str

    @property
    def place(self) -> str:
        """What a user knows it by."""
        return f"{self.store.name}/{self.prefix}".rstrip("/")

    def put(self, name: str, content: bytes) -> None:
        self.store.put(self.prefix + name, content)


class _Folder(_Output):
    """A folder that the user named."""

    def __init__(self, folder: Path) -> None:
        super().__init__(LocalStore(folder), "")

    def put(self, name: str, content: bytes) -> None:
        try:
            super().put(name, content)
        except StoreError as error:
            cause = error.__cause__
            told = cause.strerror if isinstance(cause, OSError) else str(error)
            raise InputError(self.place, [Problem("--out", f"cannot be written: {told}")]) from None


def _remove_older(folder: Path, files: int) -> None:
    """Removes details that an earlier report left in the folder: nobody expects them beside a page without."""
    for file in folder.glob("trials/*.js"):
        if re.fullmatch(r"[0-9]+", file.stem) and int(file.stem) >= files:
            with suppress(OSError):
                file.unlink()


def _told(written: Written) -> str:
    total = written.page.total
    return f"{total.passed + total.failed} scored trials of run {written.page.run.id}, {_megabytes(written.size)}"


def _notes(written: Written, choices: Choices) -> list[str]:
    """What was written besides scores, what was not, and how to get it."""
    packed, page = written.packed, written.page
    trials = len(page.trials.cell)
    automatic = choices.details is Place.AUTO
    notes = []
    if packed.place is Place.BESIDE:
        advice = f", as they are more than {_megabytes(INLINE_BYTES)}; --transcripts inline puts them into the page"
        told = f"transcripts of {trials} trials are beside it in trials/, {_megabytes(packed.size)}"
        notes.append(f"{told}{advice if automatic else ''}")
    elif packed.place is Place.NONE and automatic:
        notes.append(f"no transcripts, as there are more than {BESIDE_TRIALS} trials; --transcripts beside writes them")
    modes = page.failure_modes
    if modes is not None and modes.analysed < modes.failed:
        told = f"failure modes are those of {modes.analysed} of {modes.failed} failed trials"
        sampled = packed.place is Place.NONE and choices.analysis is Analysis.AUTO and modes.failed > SAMPLE
        notes.append(f"{told}; --failure-modes all looks into all" if sampled else f"{told}, which left transcripts")
    if page.baseline is not None:
        notes.append(f"compared with run {page.baseline.run}")
    return notes


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
