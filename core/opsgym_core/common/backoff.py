"""Exponential backoff: the delay between attempts of anything that is retried.

Invariant: without jitter, delays never decrease and never exceed `maximum_s`; jitter only shortens them.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Backoff:
    """Delays that grow by a constant factor up to a maximum."""

    initial_s: float
    """Delay after the first failed attempt, in seconds."""
    factor: float = 2.0
    """Each further delay is the previous one times this; 1 for a constant delay."""
    maximum_s: float = 600.0
    """Upper bound of a delay, in seconds."""
    jitter: float = 0.0
    """Largest share of a delay that is taken off at random, 0 to 1: attempts that failed together must not be repeated
    together."""
    draw: Callable[[], float] = random.random
    """Draws from [0, 1) for the jitter; tests replace it."""

    def __post_init__(self) -> None:
        """Raises `ValueError` if a delay could be negative, shrink, or exceed its own maximum."""
        if not (0 <= self.initial_s <= self.maximum_s and self.factor >= 1 and 0 <= self.jitter <= 1):
            raise ValueError(f"not a valid backoff: {self}")

    def delay(self, attempt: int) -> float:
        """Seconds to wait after a failed attempt.

        Args:
            attempt: Number of the failed attempt, counted from 1.
        """
        if attempt < 1:
            raise ValueError(f"attempts are counted from 1, got {attempt}")
        try:
            delay = min(self.initial_s * self.factor ** (attempt - 1), self.maximum_s)
        except OverflowError:
            delay = self.maximum_s
        return delay * (1 - self.jitter * self.draw()) if self.jitter else delay
