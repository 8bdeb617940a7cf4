"""Writes the page about a run.

Invariant: `index.html` is written last, so that every file that it refers to exists.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from opsgym_console.report.bundling import BESIDE_TRIALS, DetailBundle, DetailLocation, Put, load_details, pack
from opsgym_console.report.columns import finished_trials
from opsgym_console.report.data import Details, PageContext, page_data
from opsgym_console.report.model import PageData
from opsgym_console.report.modes import SAMPLE, Findings, analyse_sample
from opsgym_console.report.shell import Embedded, page_html
from opsgym_core.results.rows import RunRows
from opsgym_core.store.base import Store

PAGE = "index.html"
_DETAILS: dict[DetailLocation, Details] = {
    DetailLocation.INLINE: "inline",
    DetailLocation.BESIDE: "beside",
    DetailLocation.NONE: "none",
}


class Analysis(StrEnum):
    """Which failed trials are analysed."""

    AUTO = "auto"
    """All whose details are written; a sample if no details are written."""
    ALL = "all"
    NONE = "none"


@dataclass(frozen=True)
class ReportOptions:
    """What is written of a run."""

    details: DetailLocation = DetailLocation.AUTO
    analysis: Analysis = Analysis.AUTO


@dataclass(frozen=True)
class WrittenReport:
    """A written page."""

    page: PageData
    size: int
    """Bytes of `index.html`."""
    bundle: DetailBundle


def write_report(store: Store, rows: RunRows, context: PageContext, options: ReportOptions, put: Put) -> WrittenReport:
    """Writes the page about a run, and the files beside it.

    Args:
        store: Store of the run.
        rows: The run.
        context: What the page shows besides the rows; findings and details are added here.
        options: What is written.
        put: Writes a file of the report, by its name.

    Raises:
        InputError: An object of the run is not valid.
        StoreError: The store cannot be read, or the report not written.
    """
    trials = finished_trials(rows)
    location = (
        DetailLocation.NONE
        if options.details is DetailLocation.AUTO and len(trials) > BESIDE_TRIALS
        else options.details
    )
    analysed = options.analysis is not Analysis.NONE
    bundle = pack(load_details(store, rows.run, trials, findings=analysed), location, put)
    page = page_data(
        rows,
        replace(
            context,
            findings=_findings(store, rows, options.analysis, bundle),
            details=_DETAILS[bundle.location],
            details_per_file=bundle.per_file,
            texts=bundle.texts,
        ),
    )
    content = page_html(Embedded(page, bundle.inline))
    put(PAGE, content)
    return WrittenReport(page, len(content), bundle)


def _findings(store: Store, rows: RunRows, analysis: Analysis, bundle: DetailBundle) -> Findings | None:
    if analysis is Analysis.NONE:
        return None
    if bundle.location is not DetailLocation.NONE:
        return bundle.findings
    scored = sum(len(cell.trials) for cell in rows.cells)
    return analyse_sample(store, rows, SAMPLE if analysis is Analysis.AUTO else scored)
