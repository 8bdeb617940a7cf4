"""Comparison of a run with an earlier one, for its page.

Invariant: all numbers are those of `opsgym_core.results.compare`; this module only chooses the baseline and the order.
"""

from __future__ import annotations

from opsgym_api.errors import InputError, Problem
from opsgym_api.records.gate import GateRecord
from opsgym_api.records.store_layout import RunKeys
from opsgym_console.report.columns import Positions, TrialKey
from opsgym_console.report.model import BaselineView, CellChangeView, FlipView
from opsgym_core.common.numbers import cell_name
from opsgym_core.results.compare import TaskPair, compare
from opsgym_core.results.differences import changed_tasks, without_tasks
from opsgym_core.results.frozen_suite import task_digests
from opsgym_core.results.load import find_run, load_rows
from opsgym_core.results.rows import RunRows
from opsgym_core.store.base import Store


def baseline_rows(
    store: Store, rows: RunRows, requested: str | RunRows | None, gate: GateRecord | None
) -> RunRows | None:
    """The run to compare with: the requested one, otherwise the baseline of the gate.

    Args:
        store: Store of both runs.
        rows: The run that the page is about.
        requested: Rows of a run, or what `opsgym_core.results.load.find_run` accepts; None for the gate's baseline.
        gate: Verdict of the run's gate; None if there is none.

    Returns:
        Its rows; None if no run is requested and the gate has no baseline, or its baseline is not in this store.

    Raises:
        InputError: There is no such run, or the runs have no cell in common.
        StoreError: The store cannot be read.
    """
    if isinstance(requested, str):
        requested = load_rows(store, find_run(store, requested))
    if requested is not None:
        _require_comparable(requested, rows)
        return _same_tasks(store, requested, rows)
    if gate is None or not gate.baseline or store.get(RunKeys(gate.baseline).run_json) is None:
        return None
    return _same_tasks(store, load_rows(store, gate.baseline), rows)


def _same_tasks(store: Store, before: RunRows, rows: RunRows) -> RunRows:
    """An earlier run without the tasks that are other rows in this one."""
    changed = changed_tasks(task_digests(store, before.run.run), task_digests(store, rows.run.run))
    return without_tasks(before, lambda _, task_id: task_id in changed) if changed else before


def _require_comparable(before: RunRows, after: RunRows) -> None:
    if before.run.run == after.run.run:
        raise InputError(before.run.run, [Problem("baseline", "is this run itself; name an earlier one")])
    if not Positions.of(before).cells.keys() & Positions.of(after).cells.keys():
        change = compare(before, after)
        missing, new = (", ".join(map(cell_name, cells)) or "none" for cells in (change.only_before, change.only_after))
        message = f"has no cell in common with {after.run.run}; its cells: {missing}; cells of the run: {new}"
        raise InputError(before.run.run, [Problem("baseline", message)])


def baseline_view(before: RunRows, after: RunRows, positions: Positions) -> BaselineView:
    """The comparison.

    Args:
        before: The baseline.
        after: The run that the page is about.
        positions: Positions of its cells and tasks in the page.
    """
    comparison = compare(before, after)
    return BaselineView(
        run=before.run.run,
        name=before.run.name,
        created_at=before.run.created_at,
        same_suite=comparison.same_suite,
        total=comparison.total,
        cells=[CellChangeView(cell=positions.cells[one.cell.key], change=one.change) for one in comparison.cells],
        flips=[
            FlipView(
                cell=positions.cells[pair.cell.key],
                task=positions.tasks[pair.task_id],
                before=pair.before,
                after=pair.after,
            )
            for pair in sorted(comparison.flips, key=_order)
        ],
    )


def scores_of(rows: RunRows) -> dict[TrialKey, int]:
    """The score of every trial that has one."""
    return {(cell.cell.key, trial.task_id, trial.trial): trial.score for cell in rows.cells for trial in cell.trials}


def _order(pair: TaskPair) -> tuple[bool, bool, float, str, str]:
    """Losses, wins, then tasks that lost as many trials as they won; each with the largest change first."""
    change = pair.difference
    return change == 0, change > 0, -abs(change), pair.cell.key, pair.task_id
