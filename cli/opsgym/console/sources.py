"""Where runs are: one store, or the stores that an installation mounts.

Invariant: nothing here writes. Stores block, so they are asked in threads; one that failed is opened anew next time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol, TypeVar

from opsgym_api.store import Store, StoreError, open_store
from opsgym_operator.config import OperatorConfig
from opsgym_operator.stores import Stores

T = TypeVar("T")

THREADS = 8
"""Questions to a store at the same time; each may fetch several objects at once."""


class Source(Protocol):
    """A store."""

    @property
    def name(self) -> str:
        """What people call it."""
        ...

    async def ask(self, question: Callable[[Store], T]) -> T:
        """Asks the store in a thread.

        Raises:
            StoreError: It cannot be reached.
        """
        ...

    def close(self) -> None:
        """Lets its threads end."""
        ...


class StoreSource:
    """A store by its location.

    Args:
        location: A folder, or `s3://BUCKET/PREFIX`.

    Raises:
        InputError: The location names no store.
    """

    def __init__(self, location: str) -> None:
        self.name = location
        self._store: Store | None = open_store(location)
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="store")

    async def ask(self, question: Callable[[Store], T]) -> T:
        """Asks the store in a thread; see `Source`."""
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, lambda: question(self._opened()))
        except StoreError:
            self._store = None
            raise

    def close(self) -> None:
        """Lets its threads end."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _opened(self) -> Store:
        store = self._store
        if store is None:
            store = self._store = open_store(self.name)
        return store


class MountedSource:
    """A store of an installation, reached as the operator reaches it.

    Args:
        stores: The installation's stores.
        name: Which of them.
    """

    def __init__(self, stores: Stores, name: str) -> None:
        self.name = name
        self._stores = stores

    async def ask(self, question: Callable[[Store], T]) -> T:
        """Asks the store in a thread; see `Source`."""
        return await self._stores.ask(self.name, question)

    def close(self) -> None:
        """Lets the threads of all stores end."""
        self._stores.close()


def mounted_sources(config: OperatorConfig, mounted: Path) -> Sequence[Source]:
    """The stores of an installation, the default one first.

    Args:
        config: Names them.
        mounted: Folder of their credentials.
    """
    stores = Stores(config.store_by_name, mounted)
    names = sorted(config.store_by_name, key=lambda name: (name != config.default_store, name))
    return [MountedSource(stores, name) for name in names]
