"""Stops a run from starting episodes that would end in infrastructure errors like those before them.

Invariant: it opens only on the endings of attempts, given in the order in which they ended, and closes by time alone.
An open breaker kills nothing: pods wait at the start gate.

After a pause the gate opens for a probe: one scored attempt closes the breaker, a few more infrastructure errors open
it again for twice as long. Endings that come while it is open say nothing, since those attempts began before.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass

WINDOW = 10
"""Last endings that are looked at."""
TRIP = 5
"""Infrastructure errors in the window that open the breaker, if they are also more than half of it."""
PROBES = 3
"""Infrastructure errors in a row that open it again after a pause."""
PAUSE_FIRST_S = 60.0
PAUSE_MAX_S = 600.0


@dataclass(frozen=True)
class Fault:
    """What keeps attempts from being scored."""

    reason: str
    """One of `InfraReason`."""
    message: str
    """What the last attempt that ended so said."""


class Breaker:
    """Watches the endings of a run's attempts. Times are seconds since the epoch."""

    def __init__(self) -> None:
        self._window: deque[Fault | None] = deque(maxlen=WINDOW)
        self._trips = 0
        self._until: float | None = None
        self._cause = Fault("", "")

    def note(self, at: float, fault: Fault | None) -> None:
        """Takes an ending.

        Args:
            at: When the attempt ended; not before any noted earlier.
            fault: Its infrastructure error; None if it was scored.
        """
        if self.open(at):
            return
        if fault is None:
            if self._until is not None:
                self._window.clear()
            self._trips, self._until = 0, None
        self._window.append(fault)
        faults = [found for found in self._window if found is not None]
        most = PROBES if self._until is not None else TRIP
        if len(faults) >= most and 2 * len(faults) > len(self._window):
            self._trip(at, faults)

    def _trip(self, at: float, faults: list[Fault]) -> None:
        self._trips += 1
        self._until = at + min(PAUSE_FIRST_S * 2 ** (self._trips - 1), PAUSE_MAX_S)
        reason, count = Counter(fault.reason for fault in faults).most_common(1)[0]
        last = next(fault for fault in reversed(faults) if fault.reason == reason)
        self._cause = Fault(reason, f"{count} of the last {len(self._window)} attempts ended so; {last.message}")
        self._window.clear()

    def open(self, now: float) -> bool:
        """Whether nothing should start now."""
        return self._until is not None and now < self._until

    def closes_in(self, now: float) -> float:
        """Seconds until the next probe; 0 if it is not open."""
        return max(0.0, self._until - now) if self._until is not None else 0.0

    @property
    def cause(self) -> Fault:
        """What opened it last: the most frequent reason and its last message."""
        return self._cause
