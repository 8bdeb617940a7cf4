"""Stores whose runs the console shows: one location, or the stores that a pod mounts.

Invariant: nothing is written but people's labels. Stores block, so they are read in threads; a store that failed is
reopened on next use.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol, TypeVar

from opsgym_console.server.config import ConsoleConfig
from opsgym_core.store.base import Store, StoreError
from opsgym_core.store.location import open_store
from opsgym_core.store.mounted import Stores

T = TypeVar("T")

THREADS = 8
"""Reads of a store at the same time; each may fetch several objects at once."""


class Source(Protocol):
    """A store of runs."""

    @property
    def name(self) -> str:
        """Name that users see."""
        ...

    async def read(self, query: Callable[[Store], T]) -> T:
        """Runs a query on the store in a thread.

        Raises:
            StoreError: The store cannot be reached.
        """
        ...

    def close(self) -> None:
        """Lets the store's threads end."""
        ...


def as_it_is(store: Store) -> Store:
    """The store, in which nothing of a held-out suite is opened."""
    return store


class StoreSource:
    """A store by its location.

    Args:
        location: A folder, or `s3://BUCKET/PREFIX`.
        opened: The store as queries need it.

    Raises:
        InputError: The location is not valid.
    """

    def __init__(self, location: str, opened: Callable[[Store], Store] = as_it_is) -> None:
        self.name = location
        self._as_needed = opened
        self._store: Store | None = opened(open_store(location))
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="store")

    async def read(self, query: Callable[[Store], T]) -> T:
        """Runs a query on the store in a thread; see `Source`."""
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, lambda: query(self._opened()))
        except StoreError:
            self._store = None
            raise

    def close(self) -> None:
        """Lets the store's threads end."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _opened(self) -> Store:
        store = self._store
        if store is None:
            store = self._store = self._as_needed(open_store(self.name))
        return store


class MountedSource:
    """A store of an installation, with credentials from its mounted Secret.

    Args:
        stores: The installation's stores.
        name: Name of this one.
    """

    def __init__(self, stores: Stores, name: str) -> None:
        self.name = name
        self._stores = stores

    async def read(self, query: Callable[[Store], T]) -> T:
        """Runs a query on the store in a thread; see `Source`."""
        return await self._stores.call(self.name, query)

    def close(self) -> None:
        """Lets the threads of all stores end."""
        self._stores.close()


def mounted_sources(config: ConsoleConfig, mounted: Path) -> Sequence[Source]:
    """The stores of an installation, the default one first.

    Args:
        config: Names the stores.
        mounted: Folder of their credentials.
    """
    stores = Stores(config.store_by_name, mounted)
    names = sorted(config.store_by_name, key=lambda name: (name != config.default_store, name))
    return [MountedSource(stores, name) for name in names]
