"""The clock of a task's time limit.

Invariant: it measures the agent: its model's answers, its tools and its own work. It stands still while the harness
waits for its store, for a slot of the concurrency limit or for a provider that refused, and a request that failed is
taken off it again. So no rate limit decides whether a trial passes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class AgentClock:
    """Clock of one task.

    Args:
        limit_s: Seconds after which the task's time is over; None measures without a limit.
    """

    def __init__(self, limit_s: float | None) -> None:
        self.timeout = asyncio.timeout(limit_s)
        """Cancels the agent's loop, which runs inside it, when the time is over."""

    @property
    def now(self) -> float:
        """Time of the event loop in seconds; comparable with other values of this property only."""
        return asyncio.get_running_loop().time()

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Stops the clock inside the block."""
        end = self._end
        if end is None:
            yield
            return
        began = self.now
        self.timeout.reschedule(None)
        try:
            yield
        finally:
            self.timeout.reschedule(end + self.now - began)

    def turn_back(self, since: float) -> None:
        """Takes the time since an earlier `now` off the clock."""
        if (end := self._end) is not None:
            self.timeout.reschedule(end + self.now - since)

    @property
    def _end(self) -> float | None:
        """When the time is over; None without a limit, while the clock is stopped, or if it is over already."""
        return None if self.timeout.expired() else self.timeout.when()
