"""Writes the page about a run.

Invariant: `index.html` is written last, so that whoever sees it finds everything that it refers to.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from opsgym.report.columns import ended_trials
from opsgym.report.data import About, Details, page_data
from opsgym.report.model import PageData
from opsgym.report.modes import SAMPLE, Findings, analyse_sample
from opsgym.report.packing import BESIDE_TRIALS, Packed, Place, Put, load_details, pack
from opsgym.report.shell import Embedded, page_html
from opsgym_api.rows import RunRows
from opsgym_api.store import Store

PAGE = "index.html"
_DETAILS: dict[Place, Details] = {Place.INLINE: "inline", Place.BESIDE: "beside", Place.NONE: "none"}


class Analysis(StrEnum):
    """Which failed trials are looked into."""

    AUTO = "auto"
    """All whose details are written; of a page without details, a sample."""
    ALL = "all"
    NONE = "none"


@dataclass(frozen=True)
class Choices:
    """What of a run is written."""

    details: Place = Place.AUTO
    analysis: Analysis = Analysis.AUTO


@dataclass(frozen=True)
class Written:
    """A page that is written."""

    page: PageData
    size: int
    """Bytes of it."""
    packed: Packed


def write_report(store: Store, rows: RunRows, about: About, choices: Choices, put: Put) -> Written:
    """Writes the page about a run, and what belongs beside it.

    Args:
        store: Where the run is.
        rows: The run.
        about: What the page tells besides; findings and details are added here.
        choices: What is written.
        put: Writes a file of the report, by its name.

    Raises:
        InputError: An object of the run cannot be read as what it should be.
        StoreError: The store cannot be read, or the report not written.
    """
    trials = ended_trials(rows)
    wanted = Place.NONE if choices.details is Place.AUTO and len(trials) > BESIDE_TRIALS else choices.details
    analysed = choices.analysis is not Analysis.NONE
    packed = pack(load_details(store, rows.run, trials, findings=analysed), wanted, put)
    page = page_data(
        rows,
        replace(
            about,
            findings=_findings(store, rows, choices.analysis, packed),
            details=_DETAILS[packed.place],
            details_per_file=packed.per_file,
            texts=packed.texts,
        ),
    )
    content = page_html(Embedded(page, packed.inline))
    put(PAGE, content)
    return Written(page, len(content), packed)


def _findings(store: Store, rows: RunRows, analysis: Analysis, packed: Packed) -> Findings | None:
    if analysis is Analysis.NONE:
        return None
    if packed.place is not Place.NONE:
        return packed.findings
    scored = sum(len(cell.trials) for cell in rows.cells)
    return analyse_sample(store, rows, SAMPLE if analysis is Analysis.AUTO else scored)
