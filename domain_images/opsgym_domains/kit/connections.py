"""Which databases keep a connection to Postgres.

Invariant: no more than a fixed number of databases is connected, however many there are and whichever are used; the
one used longest ago gives way.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol


class Connected(Protocol):
    """Something that connects when it is used, and again after it was disconnected."""

    @property
    def idle(self) -> bool:
        """Whether nothing uses it or waits for it right now."""
        ...

    async def disconnect(self) -> None:
        """Closes its connection."""
        ...


class Connections:
    """Counts connections.

    Args:
        limit: How many may be open.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._busy = asyncio.Semaphore(limit)
        self._used = 0
        self._kept: OrderedDict[Connected, None] = OrderedDict()
        """Connected, not used right now; the one used longest ago first."""

    @asynccontextmanager
    async def use(self, database: Connected) -> AsyncIterator[None]:
        """Around every use of a database; waits while as many as may be connected are in use."""
        async with self._busy:
            self._kept.pop(database, None)
            self._used += 1
            try:
                await self._make_room()
                yield
            finally:
                self._used -= 1
                self._kept[database] = None

    def forget(self, database: Connected) -> None:
        """Takes note that a database was closed for good."""
        self._kept.pop(database, None)

    async def _make_room(self) -> None:
        for database in list(self._kept):
            if self._used + len(self._kept) <= self._limit:
                return
            # One that somebody waits for is about to be in use.
            if database.idle and self._kept.pop(database, self) is None:
                await database.disconnect()
