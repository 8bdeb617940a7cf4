"""The data of a page about a run in a store, as `opsgym report` and the console make it."""

from __future__ import annotations

from dataclasses import replace

from opsgym.report.data import load_about, page_data
from opsgym.report.model import PageData
from opsgym.report.modes import analyse_sample
from opsgym_api.results import load_rows
from opsgym_api.store import Store

WRITTEN_AT = "2026-01-02T03:04:05Z"


def page_of(store: Store, run: str) -> PageData:
    """The data of a page about a run."""
    rows = load_rows(store, run)
    about = load_about(store, rows, written_at=WRITTEN_AT)
    return page_data(rows, replace(about, findings=analyse_sample(store, rows), details="server"))
