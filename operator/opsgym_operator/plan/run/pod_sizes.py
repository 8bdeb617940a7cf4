"""How many trials a pod plays in turn, for each cell of a run.

Invariant: a size is that of new Jobs; a Job keeps the size with which it was created.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

from opsgym_api.kinds.evalrun import MOST_PER_POD
from opsgym_operator.plan.run.progress import RunProgress

BUSY_S = 300.0
"""Seconds for which `trialsPerPod: auto` keeps a pod busy: long beside a start, short for who waits for a slot."""


def pod_sizes(progress: RunProgress, ceilings: Mapping[str, int]) -> Mapping[str, int]:
    """Trials of a pod, by cell key.

    Args:
        progress: The run.
        ceilings: Slots of each model, by its name in the run.
    """
    size, record = progress.resolved.spec.trials_per_pod, progress.stored.record
    if record is None or size != "auto":
        return dict.fromkeys(progress.stored.cells, 1 if size == "auto" else size)
    left: Counter[str] = Counter()
    for planned in record.cells:
        key = planned.cell.key
        left[planned.cell.model] += progress.stored.cells[key] - progress.ledger.settled_in(key)
    return {
        planned.cell.key: _size(
            progress.ledger.seconds_in(planned.cell.key), left[planned.cell.model], ceilings[planned.cell.model]
        )
        for planned in record.cells
    }


def _size(seconds: float | None, left: int, ceiling: int) -> int:
    """Trials that take `BUSY_S`, while each slot of the model has as many; 1 while no duration is known.

    Args:
        seconds: Of a trial.
        left: Trials of the model that need an attempt.
        ceiling: Slots of the model.
    """
    if seconds is None:
        return 1
    busy = BUSY_S / max(seconds, BUSY_S / MOST_PER_POD)
    return max(1, min(int(busy), math.ceil(left / max(1, ceiling))))
