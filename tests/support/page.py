"""The data of a page about a run in a store, as `opsgym report` and the console make it."""

from __future__ import annotations

from dataclasses import replace

from opsgym_console.report.data import load_context, page_data
from opsgym_console.report.model import PageData
from opsgym_console.report.modes import analyse_sample
from opsgym_core.results.load import load_rows
from opsgym_core.store.base import Store

WRITTEN_AT = "2026-01-02T03:04:05Z"


def page_of(store: Store, run: str) -> PageData:
    """The data of a page context a run."""
    rows = load_rows(store, run)
    context = load_context(store, rows, written_at=WRITTEN_AT)
    return page_data(rows, replace(context, findings=analyse_sample(store, rows), details="server"))
