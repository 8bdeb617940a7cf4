"""Labels of failed trials: failure modes that a model or a person gave, beside the run.

Invariant: a label is put once for each judge or person and trial, and never changed. What the rules reported is not
stored: it follows from the trial.
"""

from __future__ import annotations

from opsgym_api.base import Stored
from opsgym_api.records.attempt import Cell, Usage
from opsgym_api.records.version import RECORD_VERSION, RecordVersion


class CitedLabel(Stored):
    """A failure mode with the evidence that a judge cites for it."""

    mode: str
    step: int
    """Model call of the transcript."""
    verifier: int
    """Position of a verifier of the trial that did not pass."""
    reason: str


class JudgedTrial(Stored):
    """What a judge model says about a failed trial."""

    version: RecordVersion = RECORD_VERSION
    judge: str
    """Name of the model and digest of everything that its verdicts depend on."""
    model: str
    """Id that the provider knows the model by."""
    cell: Cell
    task_id: str
    trial: int
    labels: list[CitedLabel] | None
    """Modes whose citations exist; None if no reply was valid."""
    dropped: dict[str, int]
    """Labels that were dropped, by reason: `unknown_mode`, `unknown_step`, `unknown_verifier`, `repeated`."""
    problem: str = ""
    """Why no reply was valid; empty if one was."""
    usage: Usage
    """Tokens of all replies."""
    cost_usd: float
    """Cost of all replies."""
    judged_at: str


class PersonLabels(Stored):
    """What a person says about a failed trial."""

    version: RecordVersion = RECORD_VERSION
    person: str
    """Name that the person chose."""
    cell: Cell
    task_id: str
    trial: int
    modes: list[str]
    """Modes that hold, in the order of `Mode`; empty if none does."""
    remark: str = ""
    labelled_at: str
