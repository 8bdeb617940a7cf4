"""Whole runs are read from stores one at a time, because each is unpacked in memory.

Invariant: a store that hangs costs the others one turn, for as long as it may be silent: runs that wait to be read from
it fail at once for a while.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from opsgym_core.store.base import StoreError
from opsgym_core.store.mounted import NoAnswerError

REST_S = 60.0
"""Seconds for which a store has no turn after it has not answered a read."""


class Turns:
    """Turns to read a whole run; one for all stores of an operator.

    Args:
        clock: Monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._turn = asyncio.Semaphore(1)
        self._resting: dict[str, float] = {}
        """By store: when it may have a turn again."""

    @asynccontextmanager
    async def turn(self, store: str) -> AsyncIterator[None]:
        """Waits for a turn and holds it within the context.

        Args:
            store: Name of the store that is read.

        Raises:
            StoreError: The store has just not answered another read.
        """
        async with self._turn:
            if self._clock() < self._resting.get(store, float("-inf")):
                raise StoreError(f"store {store}", "runs", "it has just not answered another read")
            try:
                yield
            except NoAnswerError:
                self._resting[store] = self._clock() + REST_S
                raise
