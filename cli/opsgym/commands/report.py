"""`opsgym report`: writes the HTML page of a run."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import click

from opsgym.commands.run_locator import LOCAL, RunLocator
from opsgym.exits import Exit
from opsgym_api.errors import InputError, Problem
from opsgym_api.records.store_layout import RunKeys
from opsgym_console.report.bundling import BESIDE_TRIALS, INLINE_BYTES, DetailLocation
from opsgym_console.report.data import load_context
from opsgym_console.report.modes import SAMPLE
from opsgym_console.report.write import PAGE, Analysis, ReportOptions, WrittenReport, write_report
from opsgym_core.common.clock import now_text
from opsgym_core.store.base import Store, StoreError
from opsgym_core.store.local import LocalStore


@dataclass(frozen=True)
class ReportRequest:
    """Arguments of `opsgym report`."""

    run: str
    """The run, as for `opsgym results`."""
    out: Path | None
    """Folder to write to; None for the store of the run."""
    baseline: str | None
    """Run to compare with; None for the one that the run's gate compared with."""
    options: ReportOptions


def report(request: ReportRequest, locator: RunLocator) -> int:
    """Writes the page of a run as `index.html`.

    Raises:
        InputError: The run or the baseline does not exist, or the folder cannot be written.
        StoreError: The store cannot be used.
        ClusterError: The cluster cannot be queried.
    """
    store, rows = locator.load_rows(request.run)
    before = None if request.baseline is None else locator.load_rows(request.baseline)[1]
    context = load_context(store, rows, written_at=now_text(), baseline=before)
    context = replace(context, store="" if store.name == str(Path(LOCAL)) else store.name)
    output = _Folder(request.out) if request.out is not None else _Output(store, RunKeys(rows.run.run).report)
    written = write_report(store, rows, context, request.options, output.put)
    if request.out is not None:
        _remove_stale_files(request.out, written.bundle.files)
    click.echo(f"{output.location}/{PAGE}: {_summary_line(written)}")
    for note in _notes(written, request.options):
        click.echo(f"  {note}")
    return Exit.OK


@dataclass(frozen=True)
class _Output:
    """Destination of a report: keys of a store that start with a prefix."""

    store: Store
    prefix: str

    @property
    def location(self) -> str:
        """Location of the destination in messages."""
        return f"{self.store.name}/{self.prefix}".rstrip("/")

    def put(self, name: str, content: bytes) -> None:
        self.store.put(self.prefix + name, content)


class _Folder(_Output):
    """A folder as destination; errors are the user's to correct."""

    def __init__(self, folder: Path) -> None:
        super().__init__(LocalStore(folder), "")

    def put(self, name: str, content: bytes) -> None:
        try:
            super().put(name, content)
        except StoreError as error:
            cause = error.__cause__
            problem = cause.strerror if isinstance(cause, OSError) else str(error)
            raise InputError(self.location, [Problem("--out", f"cannot be written: {problem}")]) from None


def _remove_stale_files(folder: Path, files: int) -> None:
    """Removes trial files of an earlier report that the new page does not refer to."""
    for file in folder.glob("trials/*.js"):
        if re.fullmatch(r"[0-9]+", file.stem) and int(file.stem) >= files:
            with suppress(OSError):
                file.unlink()


def _summary_line(written: WrittenReport) -> str:
    total = written.page.total
    return f"{total.passed + total.failed} scored trials of run {written.page.run.id}, {_megabytes(written.size)}"


def _notes(written: WrittenReport, options: ReportOptions) -> list[str]:
    """Remarks on transcripts and failure modes: what was written, what was not, and the option that changes it."""
    bundle, page = written.bundle, written.page
    trials = len(page.trials.cell)
    automatic = options.details is DetailLocation.AUTO
    notes = []
    if bundle.location is DetailLocation.BESIDE:
        advice = f", because they exceed {_megabytes(INLINE_BYTES)}; --transcripts inline puts them into the page"
        note = f"transcripts of {trials} trials are in trials/ beside the page, {_megabytes(bundle.size)}"
        notes.append(f"{note}{advice if automatic else ''}")
    elif bundle.location is DetailLocation.NONE and automatic:
        notes.append(
            f"no transcripts, because there are more than {BESIDE_TRIALS} trials; --transcripts beside writes them"
        )
    modes = page.failure_modes
    if modes is not None and modes.analysed < modes.failed:
        note = f"failure modes cover {modes.analysed} of {modes.failed} failed trials"
        sampled = bundle.location is DetailLocation.NONE and options.analysis is Analysis.AUTO and modes.failed > SAMPLE
        notes.append(f"{note}; --failure-modes all covers all" if sampled else f"{note}, those with a transcript")
    if page.baseline is not None:
        notes.append(f"compared with run {page.baseline.run}")
    return notes


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
