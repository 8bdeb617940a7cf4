"""Results of failure analysis.

Invariant: every finding has evidence, and names what it is based on.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Mode(StrEnum):
    """Failure modes, as the literature names them; the first that holds is the primary one."""

    WRONG_REFUSAL = "wrong_refusal"
    MISSED_REFUSAL = "missed_refusal"
    PREMATURE_TERMINATION = "premature_termination"
    LOOPING = "looping"
    MISSING_LOOKUP = "missing_lookup"
    INCORRECT_ID = "incorrect_id"
    POLICY_VIOLATION = "policy_violation"
    STATE_CORRUPTION = "state_corruption"
    MISSED_FOLLOW_UP = "missed_follow_up"
    INVALID_ARGUMENTS = "invalid_arguments"
    INEFFICIENT_TOOLS = "inefficient_tools"


class Basis(StrEnum):
    """What a finding is based on, most reliable first."""

    GOLD_ACTIONS = "gold_actions"
    """The task's reference solution."""
    VERIFIERS = "verifiers"
    """Verifiers that failed or have an unknown verdict, and the values that their queries expect."""
    TRANSCRIPT = "transcript"
    """Calls and results alone."""
    RECORD = "record"
    """How the trial ended, and whether its task is feasible."""


@dataclass(frozen=True)
class Evidence:
    """Evidence of a failure, with the position of the step, call or verifier."""

    detail: str
    """Description for users."""
    step: int | None = None
    """Model call in the transcript."""
    call: int | None = None
    """Tool call, counted from 0 over the whole transcript."""
    tool: str | None = None
    argument: str | None = None
    verifier: int | None = None
    """Position of the verifier in the row."""

    def as_json(self) -> dict[str, Any]:
        """The fields that are set."""
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass(frozen=True)
class Finding:
    """A failure mode of a trial."""

    mode: Mode
    basis: Basis
    evidence: tuple[Evidence, ...]
    """At least one, in the order of the transcript."""
    primary: bool = False
    """Whether it explains the failure best: the trial's first one in the order of `Mode`."""

    def as_json(self) -> dict[str, Any]:
        """The finding as JSON."""
        evidence = [item.as_json() for item in self.evidence]
        return {"mode": self.mode.value, "primary": self.primary, "basis": self.basis.value, "evidence": evidence}
