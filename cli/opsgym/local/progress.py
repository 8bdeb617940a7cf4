"""Progress of a local run, cell by cell.

Invariant: outcomes and costs come from the attempt ledger alone; only facts that no record holds are kept here: which
trials run, which wait for a retry, and since when. A trial that waits for a retry is not done.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from opsgym_api.records.attempt import Cell, TrialId
from opsgym_api.records.outcomes import Outcome
from opsgym_core.accounting.ledger import AttemptLedger
from opsgym_core.planning.trials import PlannedTrial
from opsgym_core.results.statistics import Interval, mean_interval


class Progress:
    """Counts the trials of a run as they start and end.

    Args:
        cells: Number of trials of each cell, in the order of the plan.
        ledger: Attempts of the run.
        now: Monotonic clock, in seconds.
        trials: Trials of each task in each cell.
    """

    def __init__(
        self, cells: Mapping[Cell, int], ledger: AttemptLedger, now: Callable[[], float], trials: int = 1
    ) -> None:
        self.cells = cells
        self.ledger = ledger
        self._trials = trials
        self._now = now
        self._created_at = now()
        self._first_start: float | None = None
        self._ended = 0
        self._running: Counter[str] = Counter()
        self._retrying: set[TrialId] = set()

    def started(self, planned: PlannedTrial) -> None:
        """Counts an attempt that starts."""
        if self._first_start is None:
            self._first_start = self._now()
        self._running[planned.cell.key] += 1

    def retrying(self, planned: PlannedTrial) -> None:
        """Counts an attempt that ended and will be followed by another one."""
        self._running[planned.cell.key] -= 1
        self._retrying.add(planned.key)

    def settled(self, planned: PlannedTrial) -> None:
        """Counts a trial that ended."""
        self._running[planned.cell.key] -= 1
        self._retrying.discard(planned.key)
        self._ended += 1

    @property
    def total(self) -> int:
        """Number of trials of the run."""
        return sum(self.cells.values())

    @property
    def done(self) -> int:
        """Number of trials that ended, scored or not."""
        return sum(self.done_in(cell) for cell in self.cells)

    @property
    def elapsed_s(self) -> float:
        """Seconds since the progress was created."""
        return self._now() - self._created_at

    @property
    def eta_s(self) -> float | None:
        """Seconds until the last trial ends, at the pace since the first start; None before the first trial ended."""
        remaining = self.total - self.done
        if self._first_start is None or not self._ended or not remaining:
            return None
        return (self._now() - self._first_start) / self._ended * remaining

    def running_in(self, cell: Cell) -> int:
        """Number of trials of a cell that run now."""
        return self._running[cell.key]

    def done_in(self, cell: Cell) -> int:
        """Number of trials of a cell that ended, scored or not."""
        return self.ledger.ended_in(cell.key) - sum(key.cell == cell.key for key in self._retrying)

    def passed_in(self, cell: Cell) -> int:
        """Number of trials of a cell that passed."""
        return self.ledger.count_in(cell.key, Outcome.PASSED)

    def failed_in(self, cell: Cell) -> int:
        """Number of trials of a cell that failed."""
        return self.ledger.count_in(cell.key, Outcome.FAILED)

    def success_in(self, cell: Cell) -> tuple[float, Interval | None] | None:
        """Share of a cell's scored trials that passed, with its interval; None before the first one.

        Trials of one task depend on each other, and counts do not say which are whose: several trials of each task have
        no interval until the run has ended.
        """
        passed, failed = self.passed_in(cell), self.failed_in(cell)
        if not passed + failed:
            return None
        rates = [1.0] * passed + [0.0] * failed
        return passed / len(rates), mean_interval(rates, len(rates)) if self._trials == 1 else None

    @property
    def has_started(self) -> bool:
        """Whether a trial has started in this invocation."""
        return self._first_start is not None

    def reasons_in(self, cell: Cell) -> Mapping[str, int]:
        """Number of trials of a cell that ended without a score, by reason, or by outcome where there is no reason."""
        reasons = Counter(self.ledger.reasons_in(cell.key))
        states = (self.ledger.state(key) for key in self._retrying if key.cell == cell.key)
        reasons.subtract(state.reason or state.outcome for state in states if state.outcome is not None)
        return {reason: count for reason, count in reasons.items() if count}
