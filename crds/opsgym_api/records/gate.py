"""`gate.json`: the verdict of a quality gate on a finished run."""

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
    decided_at: str
    """UTC, RFC 3339."""
