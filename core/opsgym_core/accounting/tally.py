"""Trials of a run by outcome: the counters of a status and of the metrics.

Invariant: every planned trial is counted exactly once. An infrastructure error counts once no retry is left; until then
its trial is pending.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from opsgym_api.records.outcomes import Outcome
from opsgym_core.accounting.ledger import AttemptLedger


@dataclass(frozen=True)
class Tally:
    """Trials of a run by outcome."""

    total: int
    passed: int
    failed: int
    infra_error: int
    config_error: int
    budget_skipped: int

    @property
    def scored(self) -> int:
        """Number of scored trials."""
        return self.passed + self.failed

    @property
    def not_scored(self) -> int:
        """Number of trials that ended without a score."""
        return self.infra_error + self.config_error + self.budget_skipped

    @property
    def lost(self) -> dict[str, int]:
        """Trials without a score by outcome, and `pending`; without zeros."""
        ended = (Outcome.INFRA_ERROR, Outcome.CONFIG_ERROR, Outcome.BUDGET_SKIPPED)
        return {name: self.counters[name] for name in (*map(str, ended), "pending") if self.counters[name]}

    @property
    def pending(self) -> int:
        """Number of trials that have not ended."""
        return self.total - self.scored - self.not_scored

    @property
    def counters(self) -> dict[str, int]:
        """Every number by name, including zeros, so that readers need no defaults."""
        return {
            "total": self.total,
            Outcome.PASSED.value: self.passed,
            Outcome.FAILED.value: self.failed,
            Outcome.INFRA_ERROR.value: self.infra_error,
            Outcome.CONFIG_ERROR.value: self.config_error,
            Outcome.BUDGET_SKIPPED.value: self.budget_skipped,
            "pending": self.pending,
        }


def tally_of(ledger: AttemptLedger, cells: Mapping[str, int]) -> Tally:
    """Counts trials by outcome.

    Args:
        ledger: Ledger of the run.
        cells: Planned trials by cell key; only these cells are counted.
    """
    ends = (Outcome.PASSED, Outcome.FAILED, Outcome.CONFIG_ERROR, Outcome.BUDGET_SKIPPED)
    passed, failed, config, skipped = (sum(ledger.count_in(cell, end) for cell in cells) for end in ends)
    settled = sum(ledger.settled_in(cell) for cell in cells)
    return Tally(
        total=sum(cells.values()),
        passed=passed,
        failed=failed,
        infra_error=settled - passed - failed - config,
        config_error=config,
        budget_skipped=skipped,
    )
