"""Delay after the API server has refused a write of one object's reconcile.

Invariant: a refusal delays only what it concerns; each run has a delay of its own, and each schedule one of its
creations, one of its deletions and one of its status.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from opsgym_core.common.backoff import Backoff

BACKOFF = Backoff(initial_s=5.0, factor=2.0, maximum_s=120.0)
"""Delay after refusals in a row: a quota is raised and a policy is changed by people."""


@dataclass
class WriteBackoff:
    """Refused writes of one EvalRun, or of one sort for one EvalSchedule."""

    refusal: str = ""
    """Why the last write was refused, in the words of the API server; empty if none was."""
    _failures: int = 0
    _not_before: float = 0.0

    @property
    def active(self) -> bool:
        """Whether the delay is not over."""
        return time.monotonic() < self._not_before

    @property
    def retry_after_s(self) -> float | None:
        """Seconds until the write may be repeated; None if none was refused."""
        return max(0.0, self._not_before - time.monotonic()) + 0.05 if self.refusal else None

    def record(self, problem: str) -> bool:
        """Records a refusal and begins the delay; returns whether it differs from the previous one."""
        changed = problem != self.refusal
        self.refusal = problem
        self._failures += 1
        self._not_before = time.monotonic() + BACKOFF.delay(self._failures)
        return changed

    def clear(self) -> bool:
        """Ends the delay after a success; returns whether there was a refusal."""
        refused = bool(self.refusal)
        self.refusal, self._failures, self._not_before = "", 0, 0.0
        return refused
