"""What a number needs to be cited: of which tasks, when, with which version. Pure.

Invariant: everything with scores that leaves opsgym (a table, a page, a file) names it, so that no rate is read as one
of other tasks.
"""

from __future__ import annotations

from dataclasses import dataclass

from opsgym_api.records.run import RunRecord

_SHORT_DIGEST = 12
"""Characters of a digest that texts show."""


@dataclass(frozen=True)
class Provenance:
    """Where the scores of a run come from."""

    run: str
    suite: str
    """Name of the suite with its edition and variant, see `opsgym_api.records.run.suite_label`."""
    edition: str
    """Pinned state of the suite; empty if the run's record names none."""
    suite_digest: str
    opsgym: str
    """Version."""
    created_at: str
    trials: int
    """Trials of each task."""

    @classmethod
    def of(cls, run: RunRecord) -> Provenance:
        """Provenance of a run's scores."""
        return cls(
            run=run.run,
            suite=run.suite,
            edition=run.edition,
            suite_digest=run.suite_digest,
            opsgym=run.opsgym,
            created_at=run.created_at,
            trials=run.trials,
        )

    def __str__(self) -> str:
        trials = "1 trial" if self.trials == 1 else f"{self.trials} trials"
        return (
            f"run {self.run}: suite {self.suite}, digest {self.suite_digest[:_SHORT_DIGEST]}, "
            f"opsgym {self.opsgym}, started {self.created_at}, {trials} of each task"
        )
