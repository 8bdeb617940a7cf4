"""The circuit breaker of a run: after many infrastructure errors no episode starts for a while.

A model's quota has a breaker of its own, which the first error opens, because every further attempt with the model
would end the same way.

Invariant: the breaker opens only when an attempt ends, with ends recorded in order, and closes by time alone. It kills
nothing: while it is open, pods wait at the start gate.

When it closes, the next attempts are probes: one scored attempt resets the breaker, a few more infrastructure errors
open it again for twice as long. Attempts that end while it is open are ignored, since they began before.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass

from opsgym_api.records.outcomes import InfraReason
from opsgym_core.common.backoff import Backoff

WINDOW = 10
"""Number of latest attempts that are considered."""
TRIP = 5
"""Infrastructure errors in the window that open the breaker, if they are also more than half of it."""
PROBES = 3
"""Infrastructure errors in a row that open the breaker again after a pause."""
OPENS_AT_ONCE = frozenset({InfraReason.MODEL_QUOTA})
"""Infrastructure errors that no other attempt can escape: one opens the breaker."""
PAUSE = Backoff(initial_s=60.0, maximum_s=600.0)
"""How long the breaker stays open, by the number of times it has opened since an attempt was last scored."""


@dataclass(frozen=True)
class Fault:
    """An infrastructure error of an attempt."""

    reason: str
    """An `InfraReason`; empty for no error."""
    message: str


class Breaker:
    """Circuit breaker over the attempts of a run. Times are seconds since the epoch."""

    def __init__(self) -> None:
        self._window: deque[Fault | None] = deque(maxlen=WINDOW)
        self._trips = 0
        self._until: float | None = None
        self._cause = Fault("", "")

    def record(self, at: float, fault: Fault | None) -> None:
        """Records the end of an attempt.

        Args:
            at: When the attempt ended; not before the one recorded last.
            fault: Its infrastructure error; None if it was scored.
        """
        if self.is_open(at):
            return
        if fault is None:
            if self._until is not None:
                self._window.clear()
            self._trips, self._until = 0, None
        self._window.append(fault)
        faults = [item for item in self._window if item is not None]
        most = PROBES if self._until is not None else TRIP
        if fault is not None and fault.reason in OPENS_AT_ONCE:
            self._trip(at, [fault])
        elif len(faults) >= most and 2 * len(faults) > len(self._window):
            self._trip(at, faults)

    def _trip(self, at: float, faults: list[Fault]) -> None:
        self._trips += 1
        self._until = at + PAUSE.delay(self._trips)
        reason, count = Counter(fault.reason for fault in faults).most_common(1)[0]
        last = next(fault for fault in reversed(faults) if fault.reason == reason)
        self._cause = Fault(
            reason, f"{count} of the last {len(self._window)} attempts ended for this reason; {last.message}"
        )
        self._window.clear()

    def is_open(self, now: float) -> bool:
        """Whether no episode should start now."""
        return self._until is not None and now < self._until

    def closes_in(self, now: float) -> float:
        """Seconds until the breaker closes; 0 if it is closed."""
        return max(0.0, self._until - now) if self._until is not None else 0.0

    @property
    def cause(self) -> Fault:
        """What opened the breaker last: the most frequent error's reason, with a count and its latest message."""
        return self._cause
