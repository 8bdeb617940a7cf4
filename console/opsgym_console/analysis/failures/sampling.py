"""Which failed trials people label.

Invariant: the sample depends on the run alone; every prefix of it has each cell's share of the failed trials.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from opsgym_api.records.attempt import Cell
from opsgym_api.records.outcomes import Outcome
from opsgym_core.results.rows import RunRows


def labelling_order(rows: RunRows) -> Sequence[tuple[Cell, str, int]]:
    """A run's failed trials in the order in which people label them: stratified by cell, random within a cell."""
    placed: list[tuple[float, bytes, tuple[Cell, str, int]]] = []
    for cell in rows.cells:
        failed = [
            (_digest(cell.cell.key, trial.task_id, trial.trial), (cell.cell, trial.task_id, trial.trial))
            for trial in cell.trials
            if trial.outcome is Outcome.FAILED
        ]
        for rank, (digest, trial) in enumerate(sorted(failed, key=lambda one: one[0])):
            placed.append(((rank + 0.5) / len(failed), digest, trial))
    return [trial for _, _, trial in sorted(placed, key=lambda one: one[:2])]


def _digest(cell: str, task_id: str, trial: int) -> bytes:
    return hashlib.sha256(f"{cell}/{task_id}/{trial}".encode()).digest()
