"""Precision and recall of the rules, mode by mode."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from opsgym_console.analysis.failures import Mode


@dataclass(frozen=True)
class Score:
    """How well a mode is detected."""

    mode: Mode
    true: int
    """Trials in which the mode holds and is detected."""
    false: int
    """Trials in which it is detected but does not hold."""
    missed: int
    """Trials in which it holds but is not detected."""

    @property
    def holds(self) -> int:
        """Trials in which the mode holds."""
        return self.true + self.missed

    @property
    def precision(self) -> float | None:
        """Share of detections that hold; None without detections."""
        return self.true / (self.true + self.false) if self.true + self.false else None

    @property
    def recall(self) -> float | None:
        """Share of the trials with the mode in which it is detected; None if there are none."""
        return self.true / self.holds if self.holds else None


def scores(pairs: Sequence[tuple[Collection[Mode], Collection[Mode]]]) -> list[Score]:
    """Scores of every mode.

    Args:
        pairs: For each trial the modes that hold, and the detected ones.
    """
    return [
        Score(
            mode,
            sum(mode in actual and mode in detected for actual, detected in pairs),
            sum(mode not in actual and mode in detected for actual, detected in pairs),
            sum(mode in actual and mode not in detected for actual, detected in pairs),
        )
        for mode in Mode
    ]
