"""Whether the operator still works. Invariant: it is called unhealthy only for what a restart fixes.

No restart is needed for an API server or a store that does not answer: the operator waits for it. A restart fixes a
watch that reports nothing, and a reconcile that does not end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TypeAlias

LONGEST_RECONCILE_S = 600.0
"""A reconcile that takes longer hangs: each request and each access to a store has a time limit of its own."""

Check: TypeAlias = Callable[[], str]
"""Returns a problem; empty if there is none."""


class Health:
    """Checks that `/healthz` runs."""

    def __init__(self) -> None:
        self._checks: list[Check] = []

    def add(self, check: Check) -> None:
        """Adds a check."""
        self._checks.append(check)

    @property
    def problems(self) -> list[str]:
        """Current problems; empty if the operator is healthy."""
        return [problem for check in self._checks if (problem := check())]


def hung_reconciles(
    running: Callable[[], Iterable[tuple[str, float]]], clock: Callable[[], float] = time.monotonic
) -> Check:
    """A check for reconciles that do not end.

    Args:
        running: Returns the namespaces of current reconciles, and when each began.
        clock: Monotonic seconds.
    """

    def check() -> str:
        hung = [name for name, began_at in running() if clock() - began_at > LONGEST_RECONCILE_S]
        return f"the reconcile of {', '.join(hung)} does not end" if hung else ""

    return check
