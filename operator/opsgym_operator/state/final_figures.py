"""Figures of a run that has ended, in one small object, so that a restarted operator does not read the whole run.

Invariant: the object is a copy that may be absent or deleted. It counts only for the end that it names, so the figures
of a run that was resumed and ended again are never those of its earlier end.
"""

from __future__ import annotations

from datetime import datetime

from pydantic import TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from opsgym_api.records.attempt import Cell
from opsgym_api.records.store_layout import RunKeys
from opsgym_core.metrics.registry import RunFigures
from opsgym_core.store.base import Store


@dataclass(frozen=True)
class _CellFigures:
    cell: Cell
    trials: dict[str, int]
    """By outcome, `pending` included."""


@dataclass(frozen=True)
class _FinalFigures:
    finished_at: datetime
    """`status.finishedAt` of the end that the figures are of."""
    cells: list[_CellFigures]
    success: float | None
    spent_usd: float
    budget_usd: float | None


_FINAL_FIGURES = TypeAdapter(_FinalFigures)


def put_figures(store: Store, run: str, figures: RunFigures, finished_at: datetime) -> None:
    """Writes the figures of a run that has ended.

    Raises:
        StoreError: The store cannot be written.
    """
    cells = [_CellFigures(cell, dict(trials)) for cell, trials in figures.cells.items()]
    final = _FinalFigures(finished_at, cells, figures.success, figures.spent_usd, figures.budget_usd)
    store.put(RunKeys(run).figures_json, _FINAL_FIGURES.dump_json(final))


def read_figures(store: Store, run: str, finished_at: datetime) -> RunFigures | None:
    """Figures of a run that ended at this time; None if they were not written, or not by this version.

    Raises:
        StoreError: The store cannot be read.
    """
    content = store.get(RunKeys(run).figures_json)
    if content is None:
        return None
    try:
        final = _FINAL_FIGURES.validate_json(content)
    except ValidationError:
        return None
    if final.finished_at != finished_at:
        return None
    return RunFigures(
        {item.cell: item.trials for item in final.cells}, final.success, final.spent_usd, final.budget_usd
    )
