"""`gate.json` and `looks/`: the verdicts of a quality gate on a run, when it has ended and between its rounds.

Invariant: a look is written once; what it decides of the run's trials stays, whatever is read of the run afterwards.
"""

from __future__ import annotations

from typing import Literal

from opsgym_api.base import Stored
from opsgym_api.records.version import RECORD_VERSION, RecordVersion

Verdict = Literal["GO", "NO-GO", "INCONCLUSIVE"]
"""What a gate says: the run is good, it is not, or there are too few trials to tell."""


class GateCheck(Stored):
    """One condition of a gate, judged."""

    condition: str
    """The condition's name in the spec, for instance `minSuccessRate`."""
    verdict: Verdict
    message: str
    """The condition with the numbers that decided it, for people."""


class Look(Stored):
    """Which of the looks at a run with rounds a verdict was given at."""

    rounds: tuple[int, ...]
    """Trials of each task at the end of each round, in order; see `RunRecord.rounds`."""
    number: int
    """Number of the look, from 1: it follows the round of that number."""

    @property
    def trials(self) -> int:
        """Trials of each task at the look."""
        return self.rounds[self.number - 1]

    @property
    def most(self) -> int:
        """Trials of each task if no look stops the run."""
        return self.rounds[-1]

    @property
    def last(self) -> bool:
        """Whether no round follows."""
        return self.number == len(self.rounds)


class GateRecord(Stored):
    """`gate.json`: what the gate of a finished run says; rewritten when a run that was ended goes on."""

    version: RecordVersion = RECORD_VERSION
    run: str
    verdict: Verdict
    """`NO-GO` if any condition is, else `INCONCLUSIVE` if any is, else `GO`."""
    checks: list[GateCheck]
    baseline: str = ""
    """Run it was compared with, by id; empty for none."""
    anchor: str = ""
    """First good run of the series, by id, from which drift is counted; empty without a baseline."""
    regression: float | None = None
    """Drop of the success rate, as the mean over tasks, against the baseline; negative if it rose. None without one."""
    success: float | None = None
    """Success rate, as the mean over tasks of all cells; None without a score."""
    worst: float | None = None
    """That rate if every planned trial without a score failed; None if it was not recorded."""
    look: Look | None = None
    """The look that the bounds are for; None for a run with a fixed number of trials."""
    decided_at: str
    """UTC, RFC 3339."""


class LookRecord(Stored):
    """`looks/<number>.json`: a look at a run after one of its rounds, except the last; written once."""

    version: RecordVersion = RECORD_VERSION
    look: Look
    stops: bool
    """Whether the gate is decided, so that no further round is played."""
    not_played: int
    """Trials that the remaining rounds would have had, and that are not part of the run; 0 if it goes on."""
    spent: float
    """Share of the gate's error probability, 1 - `confidence`, that the looks up to this one have spent."""
    confidence: float
    """Confidence of each bound of a mean at this look."""
    guard_confidence: float
    """Confidence of each guard of cells at this look."""
    judged: GateRecord
    """What the gate says at this look. The first look fixes the baseline of all."""
