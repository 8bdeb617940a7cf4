"""Measures the CPU time of parts of a reconcile.

Invariant: what is measured never waits, so the time is that of the reconcile alone, whatever else the process does.
"""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self


class Stopwatch:
    """Adds up the CPU time of this thread in its contexts, which are not nested.

    Attributes:
        seconds: The sum so far.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self._began = 0.0

    def __enter__(self) -> Self:
        """Begins to count."""
        self._began = time.thread_time()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Adds the CPU time since."""
        self.seconds += time.thread_time() - self._began
