"""The run beside an earlier one, as a page has it.

Invariant: the comparison is that of `opsgym_api.compare`; here it is only put in the order in which people read it.
"""

from __future__ import annotations

from opsgym.report.columns import Positions, TrialPlace
from opsgym.report.model import BaselineView, CellChangeView, ChangeView, FlipView
from opsgym.report.views import interval_view, share_view
from opsgym_api.compare import Change, TaskPair, compare
from opsgym_api.errors import InputError, Problem
from opsgym_api.figures import cell_name
from opsgym_api.layout import RunKeys
from opsgym_api.records import GateRecord
from opsgym_api.results import find_run, load_rows
from opsgym_api.rows import RunRows
from opsgym_api.store import Store


def baseline_rows(store: Store, rows: RunRows, wanted: str | RunRows | None, gate: GateRecord | None) -> RunRows | None:
    """The run to compare with: the one that is wanted, otherwise the one that the gate compared with.

    Args:
        store: Where both are.
        rows: The run that the page is about.
        wanted: A run's rows, or its id, the beginning of one, or a name, see `opsgym_api.results.find_run`; None for
            the gate's.
        gate: What the run's gate said; None if it said nothing.

    Returns:
        Its rows; None where nothing is wanted and the gate's baseline is none, or is not in this store any more.

    Raises:
        InputError: There is no such run, or it cannot be compared with.
        StoreError: The store cannot be read.
    """
    if isinstance(wanted, str):
        wanted = load_rows(store, find_run(store, wanted))
    if wanted is not None:
        _require_comparable(wanted, rows)
        return wanted
    if gate is None or not gate.baseline or store.get(RunKeys(gate.baseline).run_json) is None:
        return None
    return load_rows(store, gate.baseline)


def _require_comparable(before: RunRows, after: RunRows) -> None:
    if before.run.run == after.run.run:
        raise InputError(before.run.run, [Problem("baseline", "is the run itself; name an earlier one")])
    if not Positions.of(before).cells.keys() & Positions.of(after).cells.keys():
        found = compare(before, after)
        theirs, ours = (", ".join(map(cell_name, cells)) or "none" for cells in (found.only_before, found.only_after))
        told = f"has no cell in common with {after.run.run}; its cells: {theirs}; those of the run: {ours}"
        raise InputError(before.run.run, [Problem("baseline", told)])


def baseline_view(before: RunRows, after: RunRows, positions: Positions) -> BaselineView:
    """The comparison.

    Args:
        before: The baseline.
        after: The run that the page is about.
        positions: Where its cells and tasks stand in the page.
    """
    found = compare(before, after)
    return BaselineView(
        run=before.run.run,
        name=before.run.name,
        created_at=before.run.created_at,
        same_suite=found.same_suite,
        total=_change_view(found.total),
        cells=[
            CellChangeView(cell=positions.cells[one.cell.key], change=_change_view(one.change)) for one in found.cells
        ],
        flips=[
            FlipView(
                cell=positions.cells[pair.cell.key],
                task=positions.tasks[pair.task_id],
                before=share_view(pair.before),
                after=share_view(pair.after),
            )
            for pair in sorted(found.flips, key=_interest)
        ],
    )


def scores_of(rows: RunRows) -> dict[TrialPlace, int]:
    """The score of every trial that has one."""
    return {(cell.cell.key, trial.task_id, trial.trial): trial.score for cell in rows.cells for trial in cell.trials}


def _interest(pair: TaskPair) -> tuple[bool, bool, float, str, str]:
    """Losses, then wins, then tasks of which as many trials were lost as won; the largest change first."""
    change = pair.difference
    return change == 0, change > 0, -abs(change), pair.cell.key, pair.task_id


def _change_view(change: Change) -> ChangeView:
    return ChangeView(
        tasks=change.tasks,
        lost=change.lost,
        won=change.won,
        before=change.before,
        after=change.after,
        difference=change.difference,
        interval=interval_view(change.interval),
        p_value=change.p_value,
    )
