"""Limit on the number of databases that are connected to Postgres.

Invariant: at most a fixed number of databases is connected; the least recently used idle one is disconnected first.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol


class Connectable(Protocol):
    """A database that connects on use, also after it was disconnected."""

    @property
    def idle(self) -> bool:
        """Whether no use is running or waiting."""
        ...

    async def disconnect(self) -> None:
        """Closes the connection."""
        ...


class Connections:
    """Keeps the number of connections below a limit.

    Args:
        limit: Maximum number of connected databases.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._busy = asyncio.Semaphore(limit)
        self._used = 0
        self._unused: OrderedDict[Connectable, None] = OrderedDict()
        """Connected databases that are not in use, least recently used first."""

    @asynccontextmanager
    async def use(self, database: Connectable) -> AsyncIterator[None]:
        """Surrounds every use of a database; waits while the maximum number of databases is in use."""
        async with self._busy:
            self._unused.pop(database, None)
            self._used += 1
            try:
                await self._make_room()
                yield
            finally:
                self._used -= 1
                self._unused[database] = None

    def forget(self, database: Connectable) -> None:
        """Removes a database that was closed."""
        self._unused.pop(database, None)

    async def _make_room(self) -> None:
        for database in list(self._unused):
            if self._used + len(self._unused) <= self._limit:
                return
            # A database with a waiting use is about to be used again.
            if database.idle and self._unused.pop(database, self) is None:
                await database.disconnect()
