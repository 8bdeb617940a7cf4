"""Coverage: of which planned trials a rate says something. Pure.

Invariant: every rate over trials carries one, so that what has no score is limited, shown and bounded, and never
silently left out of a denominator.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from opsgym_api.records.outcomes import Outcome
from opsgym_core.common.numbers import percent


@dataclass(frozen=True)
class Coverage:
    """Planned and scored trials behind a rate."""

    planned: int
    scored: int
    lost: Mapping[str, int]
    """Planned trials without a score by `outcome` or `outcome/reason`, and `pending`."""
    worst: float | None
    """The rate if every trial without a score failed; None without a planned trial."""
    best: float | None
    """The rate if every trial without a score passed; None without a planned trial."""

    @property
    def unscored(self) -> int:
        """Number of planned trials without a score."""
        return self.planned - self.scored

    @property
    def unscored_rate(self) -> float | None:
        """Share of planned trials without a score; None without a planned trial."""
        return self.unscored / self.planned if self.planned else None


def rate_text(rate: float | None, coverage: Coverage) -> str:
    """A rate with what it leaves out: `28.6% (20.0–50.0% with 30 of 100 not scored)`; a dash if it is unknown."""
    if not coverage.unscored or coverage.worst is None:
        return percent(rate)
    bounds = f"{100 * coverage.worst:.1f}–{percent(coverage.best)}"
    return f"{percent(rate)} ({bounds} with {coverage.unscored} of {coverage.planned} not scored)"


def count_lost(lost: Mapping[str, int], outcome: Outcome) -> int:
    """Number of trials without a score that have an outcome, for any reason."""
    return sum(count for ending, count in lost.items() if ending.partition("/")[0] == outcome.value)


def lost_text(lost: Mapping[str, int]) -> str:
    """Trials without a score by reason: `2 gym_lost, 1 pending`; empty if there are none."""
    return ", ".join(f"{count} {reason.rpartition('/')[2]}" for reason, count in lost.items())
